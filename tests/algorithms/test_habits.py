"""What a user of scikit-learn tries first: pipelines, clones, seeds, faces, early attributes."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from input_tools import frame, schema
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import pdsynth as pds
from pdsynth import SchemaError

MAKES = [
    *(getattr(pds.baselines, name) for name in pds.baselines.__all__),
    *(pds.PrivBayes, pds.HPPrivBayes, pds.HMPrivBayes, pds.PrivABN, pds.PPBA),
    *(pds.GeneticBayes, pds.Synthesizer),
]


@pytest.fixture(scope="module")
def fitted():
    return pds.PrivBayes(20, k=1, random_state=1).fit(frame, schema)


def test_all_ways_to_call_fit_are_the_same(fitted):
    x, y = frame.drop(columns="sex"), frame["sex"]
    ways = [
        pds.PrivBayes(20, k=1, random_state=1).fit(frame, schema=schema),
        pds.PrivBayes(20, k=1, random_state=1).fit(frame, None, schema),
        pds.PrivBayes(20, k=1, random_state=1).fit(x, y, schema),
        pds.PrivBayes(20, k=1, random_state=1).fit(x, y=y, schema=schema),
        pds.PrivBayes(20, k=1, random_state=1).fit(x, y.to_frame(), schema=schema),
    ]
    assert all(way.network_ == fitted.network_ for way in ways)
    assert all(way.sample(9, 3).equals(fitted.sample(9, 3)) for way in ways)


def test_a_target_may_stand_anywhere_in_the_schema():
    first = schema.select(["sex", "job", "kids", "pay"])
    made = pds.baselines.Independent(20, random_state=1)
    made.fit(frame.drop(columns="sex"), frame["sex"], first)
    assert list(made.sample(2).columns) == list(first.names)


def test_pipelines_take_it_as_their_last_step():
    pipe = Pipeline([("as it is", FunctionTransformer()), ("synth", pds.PrivBayes(20, k=1))])
    pipe.fit(frame, synth__schema=schema)
    assert list(pipe["synth"].sample(3).columns) == list(schema.names)
    pipe = make_pipeline(FunctionTransformer(), pds.baselines.Independent(20))
    assert "not fitted" in pipe[-1]._repr_html_()
    pipe.fit(frame.drop(columns="sex"), frame["sex"], independent__schema=schema)
    assert "sk-" in pipe._repr_html_() and "Independent" in repr(pipe)
    assert clone(pipe)[-1].epsilon == 20


@pytest.mark.parametrize("make", MAKES)
def test_clones_are_unfitted_and_the_same(make):
    made = make(epsilon=2.5)
    twin = clone(made)
    assert twin is not made and repr(twin) == repr(made)
    assert not hasattr(twin, "model_")


def test_copies_and_pickles_sample_the_same(fitted):
    for twin in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert twin.sample(9, 3).equals(fitted.sample(9, 3))


def test_a_seed_of_one_sample_leaves_the_order_of_the_others_alone():
    one, two = (pds.PrivBayes(20, k=1, random_state=4).fit(frame, schema) for _ in range(2))
    first = one.sample(20, random_state=9)
    assert first.equals(two.model_.sample(20, random_state=9))
    assert one.sample(20).equals(two.sample(20))
    assert not first.equals(one.sample(20, random_state=10))


@pytest.mark.parametrize("name", ["ledger_", "network_", "model_", "schema_", "n_", "learnt_"])
def test_an_attribute_before_fit_says_what_to_do(name):
    with pytest.raises(AttributeError, match=rf"no '{name}': call fit\(frame, schema=schema\)"):
        getattr(pds.PrivBayes(), name)
    assert not hasattr(pds.PrivBayes(), name)


@pytest.mark.parametrize("make", MAKES)
def test_it_shows_its_parameters_before_and_its_verdict_after_fit(make):
    made = make(epsilon=20)
    before = made._repr_html_()
    assert "not fitted yet" in before and "<details open>" in before
    assert all(f"<th style='text-align:left'>{name}</th>" in before for name in made.get_params())


def test_the_face_of_a_fit(fitted):
    after = fitted._repr_html_()
    assert fitted.ledger_.verdict() in after and "400 records" in after
    assert f"<td style='text-align:left'>{fitted.network_.degree}</td>" in after
    assert "<details>" in after and "&#x27;strict&#x27;" in after
    raw = pds.PrivBayes(k=1, guarantee="none").fit(frame, schema)
    assert "NOT DIFFERENTIALLY PRIVATE" in raw._repr_html_()
    printed = pds.PrivBayes(k=1, guarantee="published")._repr_html_()
    assert "as published: see ledger_" in printed


def test_a_face_escapes_and_shortens_what_it_is_given():
    face = pds.PrivBayes(k="<b>" + "x" * 500)._repr_html_()
    assert "<b>x" not in face and len(face) < 4_000


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (frame["sex"].to_numpy(), "without a name"),
        (frame["sex"].rename(None), "without a name"),
        (frame["sex"].head(3), "another index"),
        (pd.Series(frame["sex"].to_list(), np.arange(400) + 1, name="sex"), "another index"),
        (frame["pay"], "has already"),
        (frame["sex"].rename("gender"), "missing column"),
    ],
)
def test_a_target_that_can_not_be_joined_is_refused_in_words(y, words):
    with pytest.raises(SchemaError, match=words):
        pds.PrivBayes().fit(frame.drop(columns="sex"), y, schema=schema)

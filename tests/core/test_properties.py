"""What must hold for any schema, frame and policy: refused in our words, or fitted and true to it.

A few examples of each here; ``python tests/fuzz.py --minutes 10`` draws new ones for as long.
"""

import json
import math
import warnings
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth import Attribute, Model, Restriction, Schema

OURS = pds.SchemaError, pds.BudgetError, pds.PrivacyError
NAMES = ["age", "job", "self", "Ünï", "a b", "0", "a:1"]
few = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    print_blob=True,
)

texts = st.text(max_size=6)
numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
    st.complex_numbers(),
    st.fractions(),
    st.decimals().filter(lambda x: not x.is_snan()),
    st.sampled_from([10**400, -1, 0, 2**63, 5e-324, 1e20]),
)
things = st.one_of(
    st.none(),
    numbers,
    texts,
    st.binary(max_size=3),
    st.dates(),
    st.just(pd.NA),
    st.just(pd.NaT),
    st.just(object()),
    st.just(len),
    st.just(Decimal("NaN")),
    st.just(date(2020, 1, 1)),
    numbers.map(lambda x: np.array(x)),
    st.just(pd.DataFrame({"a": [1]})),
    st.just(np.eye(2)),
)
junk = st.recursive(
    things,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(texts, inner, max_size=3),
        st.frozensets(st.one_of(texts, st.integers())),
    ),
    max_leaves=6,
)


@st.composite
def attributes(draw, name):
    """Listed texts, numbers or truth values, or a range in bins; missing or not."""
    missing = draw(st.booleans())
    kind = draw(st.sampled_from(["text", "int", "bool", "float", "numeric", "integer", "binned"]))
    if kind == "bool":
        return Attribute.categorical(name, [False, True], missing=missing)
    if kind in ("text", "int", "float"):
        item = {
            "text": st.text(st.characters(codec="utf-8"), max_size=4),
            "int": st.integers(-(2**40), 2**40),
            "float": st.floats(-1e6, 1e6).map(lambda x: round(x, 3) + 0.0),
        }[kind]
        values = draw(st.lists(item, min_size=2, max_size=9, unique=True))
        return Attribute.categorical(name, values, missing=missing)
    if kind == "binned":
        cuts = st.floats(-1e6, 1e6).map(lambda x: round(x, 2) + 0.0)
        edges = sorted(draw(st.lists(cuts, min_size=3, max_size=8, unique=True)))
        return Attribute.binned(name, edges, missing=missing)
    low = draw(st.integers(-1000, 1000))
    high = low + draw(st.integers(1, 5000))
    spread = draw(st.sampled_from(["uniform", "lower", "middle"]))
    bins, whole = draw(st.integers(2, 12)), kind == "integer"
    return Attribute.numeric(
        name, low, high, bins=bins, integer=whole, missing=missing, spread=spread
    )


@st.composite
def schemas(draw, least=2):
    """Two to five attributes."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=least, max_size=5, unique=True))
    return Schema(tuple(draw(attributes(name)) for name in names))


@st.composite
def tables(draw):
    """A schema, and a frame over it."""
    schema = draw(schemas())
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.sampled_from([1, 2, 7, 60, 400]))
    codes = np.column_stack([rng.integers(0, size, n) for size in schema.sizes])
    return schema, schema.decode(codes, rng.random(codes.shape))


@st.composite
def policies(draw, names):
    """Any restriction of some attributes, contradictions included."""
    names = [*names, "stranger"] if draw(st.integers(0, 9)) == 0 else list(names)
    name = st.sampled_from(names)
    edges = st.lists(st.tuples(name, name), max_size=3)
    target = draw(st.one_of(st.none(), name))
    return Restriction(target, draw(st.lists(name, max_size=2)), draw(edges), draw(edges))


@st.composite
def synthesizers(draw, names):
    """Any synthesizer with parameters that are mostly possible."""
    epsilon = draw(st.sampled_from([0.01, 0.5, 1, "1/3", 5, 100, 1e6]))
    guarantee = draw(st.sampled_from(["strict", "strict", "published", "none"]))
    common = {"epsilon": epsilon, "guarantee": guarantee}
    k = draw(st.sampled_from(["auto", 0, 1, 2]))
    name = draw(st.sampled_from(list(names)))
    small = {"population": 12, "elite": 3, "generations": 3}
    makes = [
        lambda: pds.PrivBayes(k=k, restriction=draw(policies(names)), **common),
        lambda: pds.HPPrivBayes(k=k, sensitive=name, restriction=draw(policies(names)), **common),
        lambda: pds.GeneticBayes(k=k, restriction=draw(policies(names)), **small, **common),
        lambda: pds.PPBA(k=k, **common),
        lambda: pds.HMPrivBayes(k=draw(st.integers(1, 3)), l=draw(st.integers(1, 3)), **common),
        lambda: pds.PrivABN(k=k, **common),
        lambda: pds.baselines.CSAPrivBayes(k=k, sensitive=name, **common),
        lambda: pds.baselines.ELPrivBayes(k=k, **common),
        lambda: pds.baselines.SAPrivBayes(k=k, **common),
        lambda: pds.baselines.WeightedPrivBayes(k=k, **common),
        lambda: pds.baselines.Independent(**common),
        lambda: pds.baselines.JTree(**common),
        lambda: pds.baselines.PriView(size=draw(st.integers(2, 4)), t=2, **common),
        lambda: pds.baselines.PrivSCBN(k=1, l=2, **common),
    ]
    return draw(st.sampled_from(makes))()


def check_words(problem, *words, most=1_500):
    """A refusal must be a sentence that can be read."""
    assert 10 < len(str(problem)) < most
    assert not words or any(word in str(problem) for word in words)


def respects(network, policy):
    """Whether a network keeps to a policy."""
    edges = set(network.edges)
    hidden = all(
        network.parents(name) == (policy.target,) and not any(p == name for p, _ in edges)
        for name in policy.sensitive
    )
    root = policy.target is None or not network.parents(policy.target)
    return hidden and root and set(policy.forced) <= edges and not edges & set(policy.forbidden)


@pytest.mark.slow
@few
@given(st.data(), tables())
def test_a_fit_is_refused_in_our_words_or_true_to_its_schema_policy_and_ledger(data, table):
    schema, frame = table
    try:
        made = data.draw(synthesizers(schema.names))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.fit(frame, schema)
    except OURS as problem:
        return check_words(problem)
    fake = made.sample(25, random_state=1)
    assert list(fake.columns) == list(schema.names) and len(fake) == 25
    schema.encode(fake)  # no value outside the domain
    assert fake.dtypes.equals(schema.decode(schema.encode(fake)).dtypes)
    ledger, policy = made.ledger_, getattr(made, "restriction", None)
    if made.guarantee == "strict":
        assert ledger.check() == [] and ledger.epsilon <= ledger.claimed
        assert not ledger.unaccounted
    assert policy is None or respects(made.network_, policy)
    assert made._repr_html_() and repr(made) and ledger._repr_html_()
    again = Model.from_dict(json.loads(json.dumps(made.model_.to_dict())))
    assert again.sample(25, random_state=1).equals(fake)


@few
@given(st.data(), tables(), st.integers(0, 9))
def test_a_conditional_sample_meets_its_condition(data, table, seed):
    schema, frame = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = pds.PrivBayes(20, k=1).fit(frame, schema)
    where = {}
    for name in data.draw(st.sets(st.sampled_from(schema.names), min_size=1)):
        attribute = schema[name]
        known = attribute.labels if attribute.numeric_bins else attribute.values
        listed = list(known[: len(attribute.values)]) + [None] * attribute.missing
        where[name] = data.draw(st.lists(st.sampled_from(listed), min_size=1, max_size=3))
    try:
        drawn = made.sample(40, seed, where=where)
    except OURS as problem:
        return check_words(problem, "no mass", "met the condition")
    codes = schema.encode(drawn)
    for name, asked in where.items():
        attribute = schema[name]
        known = [*attribute.labels[: len(attribute.values)]]
        known = known if attribute.numeric_bins else list(attribute.values)
        allowed = {len(known) if v is None else known.index(v) for v in asked}
        assert set(codes[:, schema.index(name)].tolist()) <= allowed


@few
@given(schemas(least=1), st.integers(0, 10**6))
def test_schemas_and_codes_come_back(schema, seed):
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, 30) for size in schema.sizes])
    assume(len(schema) >= 2)
    for uniforms in (None, rng.random(codes.shape)):
        assert (schema.encode(schema.decode(codes, uniforms)) == codes).all()


@few
@given(st.data(), st.sampled_from(["categorical", "numeric", "binned", "itself"]))
def test_any_declaration_is_refused_in_our_words_or_works(data, how):
    given_ = {
        "categorical": ("values",),
        "numeric": ("low", "high", "bins"),
        "binned": ("edges",),
        "itself": ("values", "edges"),
    }[how]
    good = {"low": 0, "high": 10, "bins": 4, "edges": [0, 1, 2], "values": ["a", "b"]}
    keywords = {name: data.draw(st.one_of(junk, st.just(good[name]))) for name in given_}
    keywords["name"] = data.draw(st.one_of(st.just("x"), st.just("x"), junk))
    keywords["missing"] = data.draw(st.booleans())  # another type is Python's to refuse
    make = Attribute if how == "itself" else getattr(Attribute, how)
    try:
        attribute = make(**keywords)
    except OURS as problem:
        return check_words(problem)
    codes = np.arange(attribute.size)
    assert attribute.size >= 2 and len(set(attribute.labels)) <= attribute.size
    if how != "itself":  # given by hand, its type may be wrong
        assert (attribute.encode(attribute.decode(codes)) == codes).all()


@pytest.mark.slow
@few
@given(st.data(), tables())
def test_any_column_is_refused_in_our_words_or_encoded(data, table):
    schema, frame = table
    name = data.draw(st.sampled_from(schema.names))
    cells = data.draw(st.lists(things.filter(np.isscalar), min_size=1, max_size=len(frame)))
    column = pd.Series((cells * len(frame))[: len(frame)], index=frame.index, dtype=object)
    if data.draw(st.booleans()):
        column = column.infer_objects()
    if data.draw(st.booleans()):
        column = column.astype("category") if column.map(np.isscalar).all() else column
    changed = frame.copy()
    changed[name] = column
    try:
        codes = schema.encode(changed)
    except OURS as problem:
        return check_words(problem)
    assert (codes < np.array(schema.sizes)).all()


@few
@given(st.data())
def test_any_parameter_is_refused_in_our_words_or_fitted(data):
    schema = Schema([Attribute.categorical(name, [0, 1, 2]) for name in ("a", "b", "c")])
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (300, 3)), columns=list("abc"))
    try:
        made = data.draw(synthesizers(schema.names))
        name = data.draw(st.sampled_from(made._parameter_names()))
        made.set_params(**{name: data.draw(junk)})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.fit(frame, schema).sample(3)
    except OURS as problem:
        check_words(problem)


@few
@given(junk, junk, junk, junk)
def test_any_policy_is_refused_in_our_words_or_a_policy(target, sensitive, forced, forbidden):
    for make in (
        lambda: Restriction(target, sensitive, forced, forbidden),
        lambda: Restriction(None, (), forced),
        lambda: pds.Network(forced),
        lambda: pds.Network.from_edges(sensitive, forbidden),
        lambda: pds.Network.from_dict(target),
        lambda: Schema.from_dict(target),
        lambda: Schema(forced, groups=sensitive),
    ):
        try:
            assert make() is not None
        except OURS as problem:
            check_words(problem)


@few
@given(st.data())
def test_any_call_of_a_measure_is_refused_in_our_words_or_answered(data):
    schema = Schema([Attribute.categorical(name, [0, 1, 2]) for name in ("a", "b", "c")])
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (60, 3)), columns=list("abc"))
    evaluate, two = pds.evaluate, {"real": frame, "schema": schema}
    function, usual = data.draw(
        st.sampled_from(
            [
                (
                    evaluate.marginal_distance,
                    two | {"fake": frame, "alpha": 2, "sets": 2, "seed": 0},
                ),
                (
                    evaluate.counting_errors,
                    two | {"fake": frame, "alpha": 2, "queries": 2, "seed": 0},
                ),
                (evaluate.gcap, two | {"synthetic": frame, "key": ["a"], "target": "b"}),
                (evaluate.leak_probability, two | {"synthetic": frame, "target": "b"}),
                (evaluate.padded, two | {"rows": 9, "seed": 0}),
                (evaluate.split, {"frame": frame, "test": 0.5, "seed": 0}),
                (pds.plan, {"schema": schema, "n": 100, "epsilon": 1, "share_structure": 0.3}),
            ]
        )
    )
    changed = data.draw(st.sampled_from(list(usual)))
    value = data.draw(junk)
    assume(not (isinstance(value, int) and not isinstance(value, bool) and value > 10**6))
    try:
        answer = function(**(usual | {changed: value}))
    except OURS as problem:
        return check_words(problem)
    assert not (isinstance(answer, float) and math.isnan(answer))

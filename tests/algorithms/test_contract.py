"""The one contract of every algorithm: scikit-learn manners, the table that comes out, the ledger,
the file, what is refused."""

import builtins
import contextlib
import copy
import functools
import inspect
import itertools
import json
import math
import os
import pickle
import random
import subprocess
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn.base
from contract_cases import (
    ALGORITHMS,
    CASES,
    GUARANTEES,
    TABLES,
    binary,
    document,
    gaps,
    make,
    mixed,
    spending,
    total,
)
from late import late

from pdsynth import (
    Attribute,
    BudgetError,
    HPPrivBayes,
    Model,
    PrivacyError,
    PrivBayes,
    Schema,
    SchemaError,
)
from pdsynth.algorithms import parts
from pdsynth.algorithms.hpprivbayes import SensitivityGroups
from pdsynth.core.errors import BudgetDegenerate, as_fraction
from pdsynth.core.records import Records

algorithms = pytest.mark.parametrize("name", ALGORITHMS)
guarantees = pytest.mark.parametrize("guarantee", late(GUARANTEES, "none".__eq__))
# Every guarantee and every table; strict, which is the default, on all of them.
promises = pytest.mark.parametrize(
    ("guarantee", "table"),
    [
        ("strict", "binary"),
        ("strict", "mixed"),
        ("published", "mixed"),
        pytest.param("strict", "gaps", marks=pytest.mark.slow),
        pytest.param("none", "gaps", marks=pytest.mark.slow),
    ],
)


@functools.cache
def fitted_once(name, guarantee="strict", table="mixed"):
    """An algorithm fitted to a table of the contract; whoever changes it takes a copy."""
    frame, schema = TABLES[table]()
    return make(name, schema, k=1, guarantee=guarantee).fit(frame, schema)


class TestManners:
    @algorithms
    def test_keywords_are_stored_untouched(self, name):
        given = {key: object() for key in ALGORITHMS[name]._parameter_names()}
        made = ALGORITHMS[name](**given)
        assert all(getattr(made, key) is value for key, value in given.items())
        assert all(made.get_params()[key] is value for key, value in given.items())
        assert set(vars(made)) == set(given)

    @algorithms
    def test_only_epsilon_is_positional(self, name):
        kinds = {n: p.kind for n, p in inspect.signature(ALGORITHMS[name]).parameters.items()}
        assert kinds.pop("epsilon") is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}
        assert inspect.signature(ALGORITHMS[name]).parameters["guarantee"].default == "strict"

    @algorithms
    @guarantees
    def test_clones(self, name, guarantee):
        frame, schema = binary()
        made = make(name, schema, epsilon=0.7, k=1, guarantee=guarantee).fit(frame, schema)
        for twin in (made.clone(), sklearn.base.clone(made)):
            assert type(twin) is type(made)
            assert twin is not made
            assert twin.get_params() == made.get_params()
            assert not hasattr(twin, "ledger_")

    @algorithms
    def test_groups_survive_a_clone(self, name):
        groups = {"A": ["b0"], "B": ["b1"]}
        if name == "HPPrivBayes":
            assert (
                sklearn.base.clone(
                    HPPrivBayes(personal=SensitivityGroups(groups=groups))
                ).personal.groups
                == groups
            )

    @algorithms
    def test_set_params(self, name):
        made, degree = ALGORITHMS[name](), CASES[name].degree or "random_state"
        assert made.set_params(epsilon=3, **{degree: 2}) is made
        assert (made.epsilon, getattr(made, degree)) == (3, 2)
        with pytest.raises(BudgetError, match="'mystery'.*epsilon"):
            made.set_params(mystery=1)

    @algorithms
    @guarantees
    def test_fit_leaves_parameters_and_table_alone(self, name, guarantee):
        frame, schema = mixed()
        kept = frame.copy(deep=True)
        made = make(name, schema, k=1, guarantee=guarantee)
        before = dict(made.get_params())
        assert made.fit(frame, schema=schema) is made
        assert made.get_params() == before
        pd.testing.assert_frame_equal(frame, kept)
        for attribute in ("ledger_", "network_", "model_", "schema_"):
            assert hasattr(made, attribute)
        assert set(made.network_.order) == set(made.model_.domain.names)
        assert made.model_.ledger is made.ledger_

    @algorithms
    def test_unfitted_sample_is_refused(self, name):
        with pytest.raises(BudgetError, match="not fitted yet: call fit"):
            ALGORITHMS[name]().sample(10)


class TestTable:
    @algorithms
    @promises
    def test_same_columns_order_types_and_categories(self, name, guarantee, table):
        frame, schema = TABLES[table]()
        fitted = fitted_once(name, guarantee, table)
        for n in (1, 7, 300):
            fake = fitted.sample(n)
            assert len(fake) == n
            assert list(fake.columns) == list(frame.columns)
            pd.testing.assert_series_equal(fake.dtypes, frame.dtypes)
            schema.encode(fake)  # inside the declared domain, too
        assert len(fitted.sample()) == len(frame)

    @algorithms
    def test_column_order_of_the_schema_rules(self, name):
        frame, schema = binary()
        fake = make(name, schema, k=1).fit(frame[list(reversed(schema.names))], schema).sample(5)
        assert tuple(fake.columns) == schema.names

    @algorithms
    def test_strange_sample_sizes_are_refused(self, name):
        for n in (0, -1, 2.5, "3", True):
            with pytest.raises(SchemaError, match="whole number of rows"):
                fitted_once(name).sample(n)

    @algorithms
    @guarantees
    def test_tables_of_one_two_and_three_records(self, name, guarantee):
        for n in (1, 2, 3):
            frame, schema = binary(3, n)
            fitted = make(name, schema, k=1, guarantee=guarantee).fit(frame, schema)
            assert len(fitted.sample(4)) == 4
            assert guarantee != "strict" or fitted.ledger_.epsilon == 1, n


class TestSeeds:
    @algorithms
    @promises
    def test_same_seed_same_bytes(self, name, guarantee, table):
        frame, schema = TABLES[table]()
        one, two = (
            make(name, schema, k=1, guarantee=guarantee, random_state=11).fit(frame, schema)
            for _ in range(2)
        )
        assert json.dumps(one.model_.to_dict()) == json.dumps(two.model_.to_dict())
        for _ in range(2):
            pd.testing.assert_frame_equal(one.sample(50), two.sample(50))
        other = make(name, schema, k=1, guarantee=guarantee, random_state=12).fit(frame, schema)
        assert not one.sample(50).equals(other.sample(50))

    @algorithms
    def test_refit_repeats_and_two_samples_differ(self, name):
        frame, schema = binary()
        fitted = make(name, schema, k=1, random_state=5).fit(frame, schema)
        first, second = fitted.sample(60), fitted.sample(60)
        assert not first.equals(second)
        pd.testing.assert_frame_equal(fitted.fit(frame, schema).sample(60), first)

    @algorithms
    @guarantees
    def test_no_seed_differs_and_says_nothing(self, name, guarantee):
        frame, schema = mixed()
        one, two = (
            make(name, schema, k=1, guarantee=guarantee).fit(frame, schema) for _ in range(2)
        )
        assert not one.sample(80).equals(two.sample(80))
        same = [
            a.shape == b.shape and bool((a == b).all())
            for a, b in zip(one.model_.tables, two.model_.tables, strict=True)
        ]
        assert guarantee == "none" or not all(same)
        assert not any("reproducible" in note for note in one.ledger_.notes)

    @algorithms
    @pytest.mark.parametrize("params", [{"random_state": 3}, {"noise": "common"}])
    def test_reproducible_noise_is_marked(self, name, params):
        frame, schema = binary()
        fitted = make(name, schema, k=1, **params).fit(frame, schema)
        assert "noise is reproducible: do not release" in fitted.ledger_.notes
        assert [v for v in fitted.ledger_.check() if not v.startswith("L10")] == []
        assert any(v.startswith("L10") for v in fitted.ledger_.check())
        assert "do not release" in str(fitted.ledger_)
        assert len(fitted.ledger_.story()) <= 5, "a ledger tells a story in five lines"
        assert "do not release" in fitted.ledger_._repr_html_()
        assert "do not release" in json.dumps(fitted.model_.to_dict())

    @algorithms
    def test_strange_seeds_are_refused(self, name):
        frame, schema = binary()
        for seed in ("x", -1, 1.5, True, np.random.default_rng(0)):
            with pytest.raises(BudgetError, match="random_state"):
                make(name, schema, random_state=seed).fit(frame, schema)


class TestLedger:
    EPSILONS = [1.0, 0.7, 1 / 3, 2.345, 0.1, 8, "0.25", math.pi, 0.123456789012345, np.float32(0.3)]

    @algorithms
    def test_closes_at_exactly_epsilon(self, name):
        frame, schema = mixed(40)
        own = {"theta": 0.1} if name == "HPPrivBayes" else {}
        for epsilon, k in zip(self.EPSILONS, itertools.cycle([0, 1, "auto"])):
            ledger = make(name, schema, epsilon=epsilon, k=k, **own).fit(frame, schema).ledger_
            assert isinstance(ledger.epsilon, Fraction)
            assert ledger.epsilon == ledger.claimed == as_fraction(epsilon)
            assert ledger.unaccounted == []
            assert ledger.check() == [], (epsilon, k)

    # Each number of attributes, each degree, and both at the ends.
    WIDTHS = [
        *[(2, 0), (2, 1), (2, "auto"), (3, 2), (4, "auto"), (5, 1)],
        *[(6, 2), (7, "auto"), (8, 0), (8, 2), (8, "auto")],
    ]

    @algorithms
    def test_at_every_width(self, name):
        for d, k in self.WIDTHS:
            frame, schema = binary(d, 40)
            ledger = make(name, schema, epsilon=0.7, k=k).fit(frame, schema).ledger_
            assert ledger.epsilon == total(ledger) == Fraction(7, 10)
            assert ledger.check() == [], (d, k)

    @algorithms
    @pytest.mark.parametrize("table", TABLES)
    def test_on_every_kind_of_table(self, name, table):
        frame, schema = TABLES[table]()
        for k in (0, 1, 2, "auto"):
            ledger = make(name, schema, epsilon=2.345, k=k).fit(frame, schema).ledger_
            assert ledger.epsilon == Fraction(469, 200)
            assert ledger.check() == []
            for entry in ledger.entries:
                assert entry.n_records in (None, len(frame))
            loss = ledger.attribute_epsilon()
            assert (loss <= ledger.epsilon).all(), k
            assert list(loss.index) == list(schema.names)

    @algorithms
    def test_none_is_infinite_and_draws_nothing_private(self, name):
        frame, schema = binary()
        fitted = make(name, schema, k=1, guarantee="none").fit(frame, schema)
        assert fitted.ledger_.epsilon == math.inf
        if not CASES[name].counts:
            return
        for (child, parents), table in zip(
            fitted.network_.pairs, fitted.model_.tables, strict=True
        ):
            raw = (
                pd.crosstab(frame[child], [frame[p] for p in parents]).to_numpy()
                if parents
                else frame[child].value_counts()
            )
            assert table.sum() == len(frame)
            assert sorted(table.ravel()) == sorted(
                np.ravel(raw).tolist() + [0] * (table.size - np.size(raw))
            )

    @algorithms
    @guarantees
    def test_nothing_can_be_mistaken_for_private(self, name, guarantee):
        fitted = fitted_once(name, guarantee, "mixed")
        texts = [
            repr(fitted.model_),
            str(fitted.ledger_),
            fitted.ledger_._repr_html_(),
            json.dumps(document(fitted.model_)),
        ]
        if guarantee == "strict":
            assert all("NOT" not in t for t in texts)
            assert repr(fitted).startswith(f"{type(fitted).__name__}(")
            assert "guarantee='strict'" in repr(fitted)
            assert fitted.model_.private
            return
        assert f"guarantee='{guarantee}'" in repr(fitted)
        assert "published" in repr(fitted) or "NOT DIFFERENTIALLY PRIVATE" in repr(fitted)
        broken = guarantee == "none" or not CASES[name].sound
        assert fitted.model_.private is not broken
        assert document(fitted.model_)["private"] is not broken
        if broken:
            words = ("NOT", "PRIVATE") if fitted.ledger_.epsilon == math.inf else ("OVERSPENT",)
            assert all(word in t for t in texts for word in words)
            assert repr(fitted.model_).startswith("Model(NOT PRIVATE")
            assert "Pure ε-differential privacy" not in "".join(texts)

    @algorithms
    def test_defaults_are_strict(self, name):
        frame, schema = binary()
        assert make(name, schema).fit(frame, schema).ledger_.epsilon == 1


def bad_tables():
    frame, schema = mixed()
    unseen = frame["city"].copy()
    unseen.iloc[[3, 5]] = "Paris"
    gone = frame["city"].copy()
    gone.iloc[2] = None
    high = frame["wage"].copy()
    high.iloc[0] = 20.5
    one = Schema((Attribute.categorical("city", ["Bern", "Oslo", "Rome"]),))
    return {
        "unseen value": (
            frame.assign(city=unseen),
            schema,
            SchemaError,
            r"2 value\(s\).*3 declared values.*widen",
        ),
        "outside the range": (
            frame.assign(wage=high),
            schema,
            SchemaError,
            r"1 value.*\[0.0, 20.0\].*widen",
        ),
        "undeclared missing": (
            frame.assign(city=gone),
            schema,
            SchemaError,
            r"1 missing value.*declare missing=True",
        ),
        "missing number": (
            frame.assign(wage=high.mask(high > 0)),
            schema,
            SchemaError,
            r"missing value.*declare missing=True",
        ),
        "infinite number": (
            frame.assign(wage=high * np.inf),
            schema,
            SchemaError,
            r"outside|missing",
        ),
        "not a number": (
            frame.assign(wage="much"),
            schema,
            SchemaError,
            r"declared numeric.*convert",
        ),
        "not a plain value": (
            frame.assign(city=[["Bern"]] * len(frame)),
            schema,
            SchemaError,
            r"plain values.*recode",
        ),
        "no rows": (frame.head(0), schema, SchemaError, r"no rows"),
        "missing column": (
            frame.drop(columns="age"),
            schema,
            SchemaError,
            r"missing column.*age.*7 columns.*8",
        ),
        "duplicate column": (
            pd.concat([frame, frame[["age"]]], axis=1),
            schema,
            SchemaError,
            r"duplicate column.*age.*drop",
        ),
        "undeclared column": (
            frame.assign(extra=1),
            schema,
            SchemaError,
            r"undeclared column.*extra.*drop",
        ),
        "one attribute": (frame[["city"]], one, SchemaError, r"1 attribute.*at least 2"),
        "not a frame": (frame.to_numpy(), schema, SchemaError, r"DataFrame.*ndarray"),
        "no schema": (frame, None, SchemaError, r"needs the public schema"),
        "not a schema": (frame, schema.to_dict(), SchemaError, r"Schema.*dict"),
        "inferred schema": (
            frame,
            Schema.infer(frame),
            PrivacyError,
            r"inferred from the data.*declare_public",
        ),
    }


BAD_TABLES = bad_tables()
BAD_PARAMETERS = {
    "ε zero": ({"epsilon": 0}, r"epsilon must be.*got 0"),
    "ε negative": ({"epsilon": -0.5}, r"epsilon must be.*-0.5"),
    "ε infinite": ({"epsilon": math.inf}, r"finite.*inf"),
    "ε nan": ({"epsilon": math.nan}, r"finite.*nan"),
    "ε none": ({"epsilon": None}, r"finite.*None"),
    "ε a word": ({"epsilon": "much"}, r"finite.*much"),
    "ε a list": ({"epsilon": [1]}, r"finite"),
    "ε true": ({"epsilon": True}, r"finite"),
    "ε beyond 64 bits": ({"epsilon": 1e-30}, r"epsilon = 1e-30.*n = 80.*larger epsilon"),
    "k = d": ({"k": 8}, r"k = 8.*d = 8.*at most 7.*choose k < 8"),
    "k > d": ({"k": 50}, r"k = 50.*d = 8"),
    "k negative": ({"k": -1}, r"0 to 7, got -1"),
    "k a float": ({"k": 1.0}, r"0 to 7, got 1.0"),
    "k a word": ({"k": "all"}, r"0 to 7, got 'all'"),
    "k true": ({"k": True}, r"0 to 7, got True"),
    "guarantee": ({"guarantee": "maybe"}, r"strict.*got 'maybe'"),
    "noise": ({"noise": "pink"}, r"exact.*got 'pink'"),
    "theta_usefulness": ({"theta_usefulness": 0}, r"usefulness.*got 0"),
}


def refused(name):
    """Bad parameters of an algorithm: those that all share as far as it has the keyword, and its
    own."""
    case = CASES[name]
    shared = {
        w: bad
        for w, bad in BAD_PARAMETERS.items()
        if set(bad[0]) <= set(case.cls._parameter_names())
    }
    return {
        **{w: bad for w, bad in shared.items() if "k" not in bad[0] or case.degree == "k"},
        **case.bad,
    }


class TestRefusals:
    @pytest.mark.slow
    @algorithms
    def test_bad_tables_before_any_budget_is_spent(self, name, monkeypatch):
        for frame, schema, error, words in BAD_TABLES.values():
            fitted = copy.copy(fitted_once(name))
            before = dict(vars(fitted))
            with spending(monkeypatch) as seen, pytest.raises(error, match=words):
                fitted.fit(frame, schema)
            assert seen == []
            assert vars(fitted) == before  # nothing is lost

    @algorithms
    def test_bad_parameters_before_any_budget_is_spent(self, name, monkeypatch):
        frame, schema = mixed()
        records = Records(schema.encode(frame), schema)
        for params, words in refused(name).values():
            fitted = copy.copy(fitted_once(name))
            before = {key: value for key, value in vars(fitted).items() if key.endswith("_")}
            fitted.set_params(**params)
            for table in ((frame, schema), (records,)):
                with (
                    spending(monkeypatch) as seen,
                    pytest.raises((BudgetError, SchemaError, PrivacyError), match=words),
                ):
                    fitted.fit(*table)
                assert seen == []
            after = {key: value for key, value in vars(fitted).items() if key.endswith("_")}
            assert after == before

    @algorithms
    def test_the_spy_sees_a_fit(self, name, monkeypatch):
        frame, schema = mixed()
        with spending(monkeypatch) as seen:
            make(name, schema, k=1).fit(frame, schema)
        assert {"Ledger.write", "ExactNoise._words"} <= set(seen)
        assert {"ExactNoise.discrete_laplace", "ExactNoise.zero_sum_laplace"} & set(seen)
        assert ("ExactNoise.select" in seen) is CASES[name].selects

    @pytest.mark.slow
    @algorithms
    def test_domains_too_large_for_memory_come_with_their_size(self, name, monkeypatch):
        schema = Schema(tuple(Attribute.categorical(f"x{j}", range(500)) for j in range(4)))
        frame = pd.DataFrame({n: range(20) for n in schema.names})
        if CASES[name].degree == "k" and not CASES[name].bits:
            with (
                spending(monkeypatch) as seen,
                pytest.raises(BudgetError, match=r"62,500,000,000 cells \(465.7 GiB\).*lower k"),
            ):
                make(name, schema).set_params(k=3).fit(frame, schema)
            assert seen == []
        assert make(name, schema, k="auto").fit(frame, schema).ledger_.epsilon == 1

    @pytest.mark.slow
    @algorithms
    def test_an_enormous_epsilon_asks_for_no_enormous_table(self, name):
        schema = Schema(tuple(Attribute.categorical(f"x{j}", range(128)) for j in range(3)))
        frame = pd.DataFrame({n: range(20) for n in schema.names})
        fitted = make(name, schema, epsilon=1e9).fit(frame, schema)
        assert max(t.size for t in fitted.model_.tables) <= 2**20

    @pytest.mark.parametrize("values", [[], ["only"]])
    def test_an_attribute_needs_two_declared_values(self, values):
        with pytest.raises(SchemaError, match=rf"declares {len(values)} value.*at least 2"):
            Attribute.categorical("city", values)

    @algorithms
    @pytest.mark.parametrize("guarantee", ["published", "none"])
    def test_inferred_schemas_are_unaccounted_elsewhere(self, name, guarantee):
        frame, _ = binary()
        schema = Schema.infer(frame)
        ledger = make(name, schema, k=1, guarantee=guarantee).fit(frame, schema).ledger_
        assert ledger.epsilon == math.inf
        assert guarantee == "none" or "domains" in [e.step for e in ledger.unaccounted]

    @algorithms
    def test_records_of_an_inferred_schema_are_refused_under_strict(self, name, monkeypatch):
        frame, _ = binary()
        schema = Schema.infer(frame)
        with spending(monkeypatch) as seen, pytest.raises(PrivacyError):
            make(name, schema).fit(Records(schema.encode(frame), schema))
        assert seen == []
        public = schema.declare_public()
        assert make(name, public).fit(frame, public).ledger_.epsilon == 1

    @algorithms
    def test_refusals_never_depend_on_the_records(self, name):
        """Ten very different tables over one schema: all are accepted with one set of parameters,
        also ε with many digits."""
        schema = Schema(tuple(Attribute.categorical(f"x{j}", range(3)) for j in range(3)))
        for seed in range(5):
            for n in (40, 41):
                rows = np.random.default_rng(seed).integers(0, 1 + seed % 3, (n, 3))
                frame = pd.DataFrame(rows, columns=schema.names)
                assert make(name, schema, epsilon=0.1234567891, k=1).fit(
                    frame, schema
                ).ledger_.epsilon == as_fraction(0.1234567891)


AGREED = "HPPrivBayes", "GeneticBayes", "PPBA", "CSAPrivBayes"


class TestDomain:
    """T9: what is released is the declared domain, whatever the records."""

    @staticmethod
    def public_part(fitted) -> dict:
        data = document(fitted.model_)
        data.pop("tables")
        data.pop("network")
        data.pop("sources")
        data.pop("measured")
        data["ledger"].pop("entries")
        return data

    @pytest.mark.slow
    @algorithms
    def test_constant_columns_and_deleted_categories_are_fine(self, name):
        frame, schema = mixed()
        odd = frame.assign(city="Bern", kids=np.int8(0), member=True)
        one, two = (make(name, schema, k=1, random_state=1).fit(f, schema) for f in (frame, odd))
        assert self.public_part(one) == self.public_part(two)
        cities, seeds = set(), iter(range(64))  # one city has nearly all rows of a fit
        while cities != {"Bern", "Oslo", "Rome"}:  # noise is everywhere: none is lost for good
            made = make(name, schema, k=1, epsilon=0.01, random_state=next(seeds))
            cities |= set(made.fit(odd, schema).sample(200)["city"])

    def test_twin_a_domain_that_is_read_off_the_records_shows(self):
        frame, _ = mixed()
        odd = frame.assign(city=frame["city"].replace("Rome", "Bern"))
        one, two = (
            make("PrivBayes", s := Schema.infer(f), k=1, guarantee="published", random_state=1).fit(
                f, s
            )
            for f in (frame, odd)
        )
        assert self.public_part(one) != self.public_part(two)
        assert [one.model_.schema["city"].size, two.model_.schema["city"].size] == [3, 2]

    @algorithms
    def test_a_column_of_nothing_but_declared_missing(self, name):
        frame, schema = gaps()
        fake = make(name, schema, k=1, epsilon=1000).fit(frame, schema).sample(400)
        assert fake["nothing"].isna().mean() > 0.95
        assert (
            make(name, schema, k=1)
            .fit(frame.assign(hours=np.nan, grade=np.nan, answer=None), schema)
            .ledger_.epsilon
            == 1
        )

    @algorithms
    def test_neighbours_release_the_same_support_and_metadata(self, name):
        """The last missing value is replaced: column types as pandas reads them change, the release
        doesn't."""
        schema = Schema(
            (
                Attribute.categorical("kids", [0, 1, 2], missing=True),
                Attribute.categorical("city", ["Bern", "Oslo"]),
                Attribute.numeric("age", 0, 99, bins=3, integer=True, missing=True),
            )
        )
        rows = [(0, "Bern", 4), (1, "Oslo", 50), (2, "Oslo", 77), (0, "Bern", 8)]
        last = [(None, "Bern", None), (1, "Bern", 4)]
        frames = [pd.DataFrame([*rows, tail], columns=schema.names) for tail in last]
        assert frames[0].dtypes["kids"] != frames[1].dtypes["kids"]
        one, two = (make(name, schema, k=1, random_state=1).fit(f, schema) for f in frames)
        assert self.public_part(one) == self.public_part(two)
        pd.testing.assert_series_equal(one.sample(50).dtypes, two.sample(50).dtypes)
        assert {t.shape for t in one.model_.tables} == {
            tuple(one.model_.domain[a].size for a in (child, *parents))
            for child, parents in one.network_.pairs
        }

    @algorithms
    def test_every_table_covers_its_declared_cells(self, name):
        frame, schema = mixed()
        made = make(name, schema, k=2, epsilon=0.05, random_state=4)
        if name in AGREED:  # agreement leaves no cell below 0, and many at 0
            made.set_params(reconcile=parts.AsMeasured())
        fitted = made.fit(frame, schema)
        for (child, parents), table in zip(
            fitted.network_.pairs, fitted.model_.tables, strict=True
        ):
            assert table.shape == tuple(fitted.model_.domain[a].size for a in (child, *parents))
            assert table.dtype == np.int64
        measured = fitted.learnt_.measurements if "learnt_" in vars(fitted) else ()
        for table in [m.table for m in measured] or fitted.model_.tables:
            assert (
                table.size < 8 or (table != 0).mean() > 0.3
            )  # unseen cells have noise as well; derived tables are clipped at 0


class TestFile:
    @algorithms
    @promises
    def test_round_trip(self, name, guarantee, table, tmp_path):
        model = fitted_once(name, guarantee, table).model_
        model.to_json(tmp_path / "model.json")
        back = Model.from_json(tmp_path / "model.json")
        assert document(back) == document(model)
        assert back.schema == model.schema
        assert back.network == model.network
        assert all(np.array_equal(a, b) for a, b in zip(back.tables, model.tables, strict=True))
        assert (back.ledger.epsilon, back.ledger.claimed, back.private) == (
            model.ledger.epsilon,
            model.ledger.claimed,
            model.private,
        )
        assert back.ledger.check() == model.ledger.check()
        pd.testing.assert_frame_equal(
            back.sample(30, random_state=1), model.sample(30, random_state=1)
        )

    def test_a_file_that_calls_itself_private_is_checked(self, tmp_path):
        frame, schema = binary()
        data = document(
            make("HPPrivBayes", schema, k=1, guarantee="published").fit(frame, schema).model_
        )
        (tmp_path / "m.json").write_text(json.dumps({**data, "private": True}))
        with pytest.raises(SchemaError, match="says private=True.*NOT DIFFERENTIALLY PRIVATE"):
            Model.from_json(tmp_path / "m.json")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "[]",
            "null",
            "3",
            '{"format": "other"}',
            '{"format": "pdsynth-model-2"}',
            "\x00",
            "é" * 9,
            "[" * 100_000,
            '{"format": "pdsynth-model-2", "n": ' + "9" * 5000 + "}",
        ],
    )
    def test_what_is_no_model_is_refused(self, text, tmp_path):
        (tmp_path / "m.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(SchemaError):
            Model.from_json(tmp_path / "m.json")

    FILES = {  # of few columns each: the format's fields are all there
        "binary": ("HPPrivBayes", "binary", ["b0", "b1"]),
        "mixed": ("HPPrivBayes", "mixed", ["wage", "grade", "member"]),
        "gaps": ("PrivBayes", "gaps", ["hours", "grade", "nothing"]),
        "bits": ("HMPrivBayes", "gaps", ["answer", "hours", "nothing"]),
        "sparse": ("PrivABN", "gaps", ["answer", "grade", "nothing"]),
    }

    @pytest.mark.parametrize(
        ("file", "seed", "mutants"),
        [
            ("binary", 7, 200),
            ("gaps", 7, 200),
            *(
                pytest.param(
                    file, 8, 2000 - 200 * (file in ("binary", "gaps")), marks=pytest.mark.slow
                )
                for file in FILES
            ),
        ],
    )
    def test_mutated_files_give_a_typed_error_or_a_model(
        self, file, seed, mutants, tmp_path, executed
    ):
        """T16: 10,000 mutants in all; nothing runs, no other exception, and what loads also
        samples."""
        name, table, columns = self.FILES[file]
        frame, schema = TABLES[table]()
        schema = Schema(tuple(map(schema.__getitem__, columns)))
        made = make(name, schema, k=1, random_state=1).fit(frame[columns], schema)
        text = json.dumps(document(made.model_))
        where, rng, loaded, refused = fields(json.loads(text)), random.Random(seed), 0, 0
        # Kept open: some file systems write to the disk whenever a file is opened anew.
        written = (tmp_path / "m.json").open("w", encoding="utf-8")
        for i in range(mutants):
            mutant = scramble(text, rng)
            if i % 4:
                mutant = json.dumps(mutate(json.loads(text), where, rng))
            written.seek(0)
            written.write(mutant)
            written.truncate()
            written.flush()
            try:
                model = Model.from_json(tmp_path / "m.json")
            except SchemaError:
                refused += 1
                continue
            assert list(model.sample(5).columns) == list(model.schema.names)
            (
                repr(model),
                str(model.ledger),
                model.ledger._repr_html_(),
                model.ledger.check(),
                model.to_dict(),
            )
            loaded += 1
        written.close()
        assert executed == []
        assert min(loaded, refused) > mutants // 40

    @pytest.mark.parametrize(
        "careless",
        [lambda v: eval(v), lambda v: pickle.loads(v.encode()), lambda v: os.system(v)],
        ids=["eval", "pickle", "shell"],
    )
    def test_twin_a_loader_that_runs_what_it_reads_is_seen(self, careless, executed):
        rng, data = (
            random.Random(7),
            {"a": ["b", {"c": {"d": {"e": ["f"]}}}], "g": {"h": {"i": {"j": "k"}}}},
        )
        for _ in range(300):
            mutant = mutate(json.loads(json.dumps(data)), fields(data), rng)
            for value in (v for path in places(mutant) if isinstance(v := at(mutant, path), str)):
                with contextlib.suppress(Exception):
                    careless(value)
        assert executed != []


@pytest.fixture
def executed(monkeypatch):
    """What was run, unpickled or evaluated while a test ran."""
    run = []
    for owner, function in (
        (os, "system"),
        (os, "popen"),
        (subprocess, "Popen"),
        (pickle, "loads"),
        (pickle, "load"),
    ):
        monkeypatch.setattr(owner, function, lambda *a, **k: run.append(a))
    original = builtins.eval  # the standard library builds its named tuples with it
    monkeypatch.setattr(
        builtins,
        "eval",
        lambda code, *a: run.append(code) if "import" in str(code) else original(code, *a),
    )
    return run


def at(data, path):
    """The part of a JSON document at a place."""
    for key in path:
        data = data[key]
    return data


STRANGE = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**70,
    -(2**63),
    1.5,
    math.nan,
    math.inf,
    "",
    "x",
    "__import__('os').system('true')",
    "1/0",
    "-1/2",
    "inf",
    "nan",
    [],
    {},
    [None],
    ["a", "a"],
    [[]],
    {"a": 1},
    "raw:D",
    "strict",
    "none",
    "category",
    "int8",
]


def places(data) -> list[tuple]:
    """Every place of a JSON document."""
    found = [((), data)]
    for path, part in found:  # it grows while it is read
        if isinstance(part, (dict, list)):
            items = part.items() if isinstance(part, dict) else enumerate(part)
            found += [((*path, key), value) for key, value in items]
    return [path for path, _ in found[1:]]


def fields(data) -> list[list[tuple]]:
    """The places of a JSON document, those that differ in the numbers of lists alone together: a
    field of the format is as likely to be drawn as any other, however many cells a table has."""
    found: dict[tuple, list[tuple]] = {}
    for path in places(data):
        key = tuple(None if isinstance(step, int) else step for step in path)
        found.setdefault(key, []).append(path)
    return [*found.values()]


def mutate(data, where, rng):
    """One to three of the places ``where`` replaced, removed, doubled or swapped for another part
    of the document."""
    for _ in range(rng.randint(1, 3)):
        path, other = (rng.choice(rng.choice(where)) for _ in range(2))
        with contextlib.suppress(LookupError, TypeError):  # gone with a change before
            parent, last, act = at(data, path[:-1]), path[-1], rng.randrange(5)
            if act == 0:
                del parent[last]
            elif act == 1 and isinstance(parent, list):
                parent.append(parent[last])
            elif act == 2 and isinstance(parent, dict):
                parent["surprise"] = parent[last]
            elif act == 3:
                parent[last] = copy.deepcopy(at(data, other))
            else:
                parent[last] = copy.deepcopy(rng.choice(STRANGE))  # else they would change, too
    return data


def scramble(text: str, rng) -> str:
    """Characters lost, doubled or replaced."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text))
        text = (
            text[:at]
            + rng.choice(["", '"', "}", "0", "é", "-", text[at] * 2])
            + text[at + rng.randint(0, 3) :]
        )
    return text


def distance(real, made, sizes, ways=2) -> float:
    """Average total variation distance of two tables of codes over all pairs (or ``ways``-sets) of
    attributes, counted here."""
    out = []
    for columns in map(list, itertools.combinations(range(len(sizes)), ways)):
        inside = [sizes[j] for j in columns]
        key = [np.ravel_multi_index(c[:, columns].T.astype(int), inside) for c in (real, made)]
        p, q = (np.bincount(x, minlength=math.prod(inside)) / len(x) for x in key)
        out.append(0.5 * np.abs(p - q).sum())
    return float(np.mean(out))


def draw(fitted, n):
    """Codes of n synthetic records, from the synthesizer's own seed."""
    generator = np.random.default_rng(fitted.random_state)
    return fitted.model_.sample_codes(n, generator, "balanced")


def ranks(values) -> np.ndarray:
    return np.argsort(np.argsort(values)).astype(float)


class TestUtility:
    """T13: the noise is all that strict costs."""

    @algorithms
    @pytest.mark.parametrize("table", late(["binary", "mixed"], "mixed".__eq__))
    def test_at_a_million_strict_equals_none(self, name, table):
        frame, schema = TABLES[table](n=600)
        real, errors = schema.encode(frame), []
        for guarantee in ("strict", "none"):
            fitted = make(name, schema, epsilon=1e6, k=2, guarantee=guarantee, random_state=2).fit(
                frame, schema
            )
            errors.append(distance(real, draw(fitted, 20_000), schema.sizes, CASES[name].ways))
        assert errors[0] == pytest.approx(errors[1], abs=CASES[name].agree)
        assert errors[0] < CASES[name].near

    BUDGETS = (0.02, 0.08, 0.3, 1.2, 5, 40)

    def errors(self, made, ways=2) -> list[float]:
        """Mean distance of four fits at each ε; ``made(ε, seed, schema)`` is unfitted."""
        frame, schema = binary(5, 500)
        real = schema.encode(frame)

        def error(e, seed):
            fitted = made(e, seed, schema).fit(Records(real, schema))
            return distance(real, draw(fitted, 2000), schema.sizes, ways)

        return [np.mean([error(e, seed) for seed in range(4)]) for e in self.BUDGETS]

    def trend(self, errors) -> float:
        """Spearman's correlation of ε and error."""
        return np.corrcoef(ranks(self.BUDGETS), ranks(errors))[0, 1]

    @pytest.mark.slow
    @algorithms
    def test_error_falls_with_epsilon(self, name):
        errors = self.errors(
            lambda e, s, schema: make(name, schema, epsilon=e, k=1, random_state=s),
            CASES[name].ways,
        )
        assert self.trend(errors) <= CASES[name].trend
        assert errors[-1] < errors[0] / CASES[name].falls

    def test_twin_an_algorithm_that_wastes_its_budget_is_seen(self):
        errors = self.errors(
            lambda e, s, schema: PrivBayes(0.1, k=1, random_state=[s, int(100 * e)])
        )
        assert self.trend(errors) > -0.9 or errors[-1] > errors[0] / 1.5
        frame, schema = binary(4, 600)
        drowned = PrivBayes(0.1, k=2, random_state=2).fit(
            frame, schema
        )  # as if it stopped at a small part of a million
        far = distance(schema.encode(frame), draw(drowned, 20_000), schema.sizes)
        assert far > CASES["PrivBayes"].near


def test_degenerate_errors_are_budget_errors():
    assert issubclass(BudgetDegenerate, BudgetError)
    assert all(issubclass(e, ValueError) for e in (BudgetError, SchemaError, PrivacyError))
    assert PrivBayes().get_params()["score"] == "auto"

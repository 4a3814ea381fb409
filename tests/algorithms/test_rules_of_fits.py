"""Rules between columns in whole fits: no row breaks one, whatever is fitted; no promise moves.

A rule is a public mask. Noise is drawn in all cells as without it, so the exact loss is replayed
with records that break a rule; the twin leaves noise out where no record "can" be, and is found.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from contract_cases import CASES, GUARANTEES
from privacy_tools import as_measured, frames_of

import pdsynth as pds
from pdsynth import Attribute, BudgetError, ConsistentBayes, PrivBayes, Restriction, Rule, Schema
from pdsynth.algorithms.consistent_look import Gate
from pdsynth.audit import replay
from pdsynth.core import Facts, association
from pdsynth.core.agreement import GrowingModel
from pdsynth.core.curator import Curator
from pdsynth.core.errors import SchemaError
from pdsynth.core.records import Records

KEEP = {"on_violation": "keep"}
AGES = Attribute.binned("age", [0, 15, 30, 60, 99], integer=True)
SCHEMA = Schema(
    (
        AGES,
        Attribute.categorical("work", ["none", "part", "full"]),
        Attribute.categorical("married", ["no", "yes"], missing=True),
        Attribute.binned("school", [0, 8, 12, 20, 40], integer=True),
        Attribute.categorical("sex", ["f", "m"]),
    ),
    rules=[
        Rule.determines("age", "work", {3: "none"}, **KEEP),
        Rule.impossible({"age": 3, "married": ["yes", None]}, **KEEP),
        Rule.at_most("school", "age", **KEEP),
        Rule.impossible({"work": "full", "married": None, "sex": "f"}, **KEEP),
    ],
)


def table(n=400, seed=0, keep_rules=True):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, SCHEMA.sizes, size=(4 * n, len(SCHEMA)))
    codes = codes[~SCHEMA.break_rules(codes)] if keep_rules else codes
    return codes[:n].astype(np.uint8)


CODES = table()
OWN = {  # parameters of the contract's cases that fit another schema
    "HMPrivBayes": {"clusters": [["age", "work", "married"], ["school", "sex"]], "eta": 0},
    "PrivSCBN": {"clusters": [["age", "work", "married"], ["school", "sex"]]},
}


def make(name, **options):
    case = CASES[name]
    return case.cls(**(OWN.get(name) or case.own(SCHEMA)) | options)


def ask(model, where):
    """500 records that meet a condition; no rows where the noisy model has none that does."""
    try:
        return model.sample(500, 0, where=where)
    except SchemaError as refused:
        if "no mass" not in str(refused):
            raise
        return SCHEMA.decode(CODES[:0])


def breaks(codes):
    return int(SCHEMA.break_rules(codes).sum())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("name", CASES)
def test_no_row_of_any_method_breaks_a_rule(name, guarantee, tmp_path):
    for epsilon in (1,) if guarantee == "none" else (0.01, 1, 40):
        made = make(name, epsilon=epsilon, guarantee=guarantee, random_state=3)
        try:
            model = made.fit(Records(np.asfortranarray(CODES), SCHEMA)).model_
        except pds.core.errors.BudgetDegenerate:
            continue
        models = [model]
        if epsilon == 1:  # a file says the rules, whatever was fitted
            model.to_json(tmp_path / "model.json", allow_reproducible=True)
            models.append(pds.Model.from_json(tmp_path / "model.json"))
        for one in models:
            for method in ("independent", "balanced"):
                assert not breaks(one.sample_codes(2_000, np.random.default_rng(0), method))
        for where in ({"work": ["none", "full"]}, {"age": 20, "sex": "f"}):
            asked = ask(model, where)
            assert not breaks(SCHEMA.encode(asked, empty=True))
            assert (asked["school"] <= asked["age"]).all()
        model.sample_to(tmp_path / "rows.csv", 700, 0)
        assert not breaks(SCHEMA.encode(pd.read_csv(tmp_path / "rows.csv").astype({"sex": "str"})))


def test_twin_the_same_fit_without_rules_breaks_them():
    plain = replace(SCHEMA, rules=())
    model = PrivBayes(1, random_state=3).fit(Records(CODES, plain)).model_
    assert breaks(model.sample_codes(2_000, np.random.default_rng(0))) > 20


SETTINGS = {
    "add_remove": {"relation": "add_remove"},
    "records_per_person": {"records_per_person": 3},
    "delta": {"delta": 1e-9},
    "rounds": {"rounds": 4, "epsilon": 20, "share_one_way": 0.2},
    "forest": {"rounds": 0, "epsilon": 20, "share_one_way": 0.2},
    "target": {"target": "sex", "epsilon": 20},
    "sensitive": {"sensitive": "work", "epsilon": 20},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", SETTINGS)
def test_no_setting_of_consistent_bayes_breaks_a_rule(how):
    frame = SCHEMA.decode(CODES)
    fitted = ConsistentBayes(**{"random_state": 1} | SETTINGS[how]).fit(frame, SCHEMA)
    assert not breaks(SCHEMA.encode(fitted.sample(3_000)))
    tables = fitted.model_.draw_codes(20_000, np.random.default_rng(0))
    assert breaks(tables) <= 2, "its tables keep the rules, before any conditioning"


@pytest.mark.filterwarnings("ignore")
def test_blocks_and_persons_keep_rules_too(tmp_path):
    frame = SCHEMA.decode(CODES)
    frame.to_parquet(tmp_path / "people.parquet")
    whole, parts = (
        ConsistentBayes(20, rounds=3, random_state=1, share_one_way=0.2).fit(data, SCHEMA)
        for data in (frame, tmp_path / "people.parquet")
    )
    assert all(map(np.array_equal, whole.model_.tables, parts.model_.tables))
    own = ConsistentBayes(4, relation="add_remove", random_state=1).fit(
        frame, SCHEMA, person_epsilon={"sex": {"f": 1, "m": 4}}
    )
    assert not breaks(SCHEMA.encode(own.sample(2_000)))


@pytest.mark.parametrize("place", [0, -1])
def test_a_refused_record_costs_nothing(tmp_path, place):
    """Also in blocks, wherever it stands, and the session keeps all of its ε."""
    refusing = replace(SCHEMA, rules=[replace(r, on_violation="refuse") for r in SCHEMA.rules])
    codes = table(70_000)
    codes[place, :2] = 0, 1  # a child with work
    frame = SCHEMA.decode(codes)
    frame.to_parquet(tmp_path / "people.parquet")
    account = pds.Session(5)
    for data in (frame, tmp_path / "people.parquet"):
        with pytest.raises(SchemaError, match=r"rule «determines: age decides work"):
            PrivBayes(1).fit(data, refusing, session=account)
    assert account.spent == 0
    PrivBayes(1, k=0).fit(frame, SCHEMA, session=account)
    assert account.spent == 1


class TestRefusals:
    """From public facts alone, before any ε is spent."""

    def test_rules_that_no_record_can_keep(self):
        """No value of any pair of columns is struck out, and yet: two colours for a triangle."""
        names = "abc"
        columns = [Attribute.categorical(x, [0, 1]) for x in names]
        apart = [
            Rule.impossible({x: value, y: value}, **KEEP)
            for x, y in ("ab", "bc", "ac")
            for value in (0, 1)
        ]
        schema = Schema(columns, rules=apart)
        with pytest.raises(SchemaError, match="no record can keep all of them"):
            PrivBayes(1).prepare(schema, 100)

    def test_rules_that_need_too_large_a_table(self):
        names = [f"x{j}" for j in range(5)]
        columns = [Attribute.numeric(x, 0, 1, bins=40) for x in names]
        tied = [Rule.at_most(x, y) for x in names for y in names if x < y]
        with pytest.raises(SchemaError, match=r"more than 4,194,304 cells: use coarser bins"):
            PrivBayes(1).prepare(Schema(columns, rules=tied), 100)
        four = [rule for rule in tied if "x4" not in rule.columns]
        with pytest.raises(BudgetError, match=r"more than 1,048,576 cells.*another method"):
            ConsistentBayes(1).prepare(Schema(columns, rules=four), 100)

    def test_a_rule_over_a_pair_that_policy_keeps_apart(self):
        apart = Restriction(forbidden=(("work", "age"),))
        with pytest.raises(BudgetError, match=r"a rule is about age and work.*drop one"):
            ConsistentBayes(1, restriction=apart).prepare(SCHEMA, 100)


# --- the promise ---------------------------------------------------------------------------------


SIZES, N = (3, 3, 2, 2), 10
RULES = [
    Rule.determines("x0", "x1", {0: 0, 1: 1, 2: 2}, **KEEP),
    Rule.impossible({"x1": 2, "x2": 1}, **KEEP),
]
STRICT = {
    "PrivBayes": PrivBayes(k=1),
    "PrivBayes agrees": PrivBayes(k=1, reconcile=pds.parts.Agree()),
    "Independent": pds.baselines.Independent(),
    "columns": ConsistentBayes(epsilon=3),
    "rounds": ConsistentBayes(epsilon=20, rounds=4, share_one_way=0.2),
    "forest": ConsistentBayes(epsilon=3, rounds=0, share_one_way=0.2),
    "bits": pds.PrivABN(k=1),
}


def pairs_of_tables(count):
    """Tables whose last record breaks a rule in one of them, in both or in none."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        codes = rng.integers(0, SIZES, size=(N, len(SIZES)))
        other = codes.copy()
        other[-1] = rng.integers(0, SIZES)
        yield codes, other


def loss(synthesizer, codes, other, seed):
    frames, schema = frames_of((codes, other), SIZES)
    return replay(synthesizer, *frames, replace(schema, rules=RULES), walks=2, seed=seed)


@pytest.mark.parametrize("name", STRICT)
def test_a_fit_with_rules_never_loses_more_than_its_ledger_says(name):
    found = [loss(STRICT[name], *pair, seed) for seed, pair in enumerate(pairs_of_tables(6))]
    assert all(seen.ok for seen in found), found
    epsilon = float(STRICT[name].epsilon)
    assert 0.3 * epsilon <= max(seen.log_ratio for seen in found) <= epsilon * (1 + 1e-9)


def test_twin_noise_only_where_records_can_be_is_found(monkeypatch):
    """A kept record that breaks a rule would stand in the release as it is."""
    honest = Curator._add_noise

    def planted(self, integers, scale, step, zero_sum=False):
        noisy = honest(self, integers, scale, step, zero_sum)
        if noisy.shape == SIZES[:2]:
            noisy = np.where(np.eye(3, dtype=bool), noisy, integers)
        return noisy

    monkeypatch.setattr(Curator, "_add_noise", planted)
    codes = np.zeros((N, len(SIZES)), dtype=np.int64)
    other = codes.copy()
    other[-1, 0] = 1  # breaks the first rule
    fixed = pds.Synthesizer(
        1, structure=pds.Network((("x0", ()), ("x1", ("x0",)), ("x2", ()), ("x3", ())))
    )
    assert not loss(fixed, codes, other, 0).ok


def two_tables_with_a_ruled_tie(keep):
    """(c0, c1) is tied most and ruled; if ``keep`` a neighbour's record breaks it."""
    rng, sizes = np.random.default_rng(0), [6, 6, 3, 4, 5, 2]
    codes = np.column_stack([rng.integers(0, size, 1500) for size in sizes])
    codes[:, 1] = np.where(rng.random(1500) < 0.7, codes[:, 0], codes[:, 1])
    codes[(codes[:, 0] == 0) & (codes[:, 1] == 5), 1] = 0
    other = codes.copy()
    other[0] = [0, 5 if keep else 3, 2, 3, 4, 1]
    attributes = (
        pds.Attribute.categorical(f"c{j}", list(range(size))) for j, size in enumerate(sizes)
    )
    how = "keep" if keep else "refuse"
    rule = pds.Rule.impossible({"c0": 0, "c1": 5}, on_violation=how)
    schema = pds.Schema(tuple(attributes), rules=(rule,))
    return *(pd.DataFrame(x, columns=list(schema.names)) for x in (codes, other)), schema


@pytest.mark.parametrize("options", [{}, {"delta": 1e-9}], ids=["pure", "delta"])
@pytest.mark.parametrize("keep", [True, False])
def test_exact_replay_where_the_gate_names_a_ruled_pair(keep, options, monkeypatch):
    honest, named = Gate.name, set()
    monkeypatch.setattr(
        Gate, "name", lambda gate, epsilon: named.add(found := honest(gate, epsilon)) or found
    )
    quick = as_measured(ConsistentBayes(1, **options))
    found = replay(quick, *two_tables_with_a_ruled_tie(keep), walks=4)
    assert found.ok, found.violations
    assert (0, 1) in named
    assert any(s.step.startswith("strongest tie") and s.log_ratio > 0 for s in found.steps)


def test_twin_what_rules_make_is_read_off_the_records(monkeypatch):
    """Offsets that follow the records move the largest R further than its line says."""
    honest = Gate._offsets

    def planted(gate):
        seen = [association(gate.run.curator._records.table(pair)) for pair in gate.pairs]
        return honest(gate) + 3 * np.array(seen)

    monkeypatch.setattr(Gate, "_offsets", planted)
    quick = as_measured(ConsistentBayes(1))
    assert not replay(quick, *two_tables_with_a_ruled_tie(True), walks=4).ok


def test_kept_records_are_expected_beside_the_model_and_nothing_twice(monkeypatch):
    """A round expects of a table n records and those of them that a measured table showed."""
    honest, sums = Curator.choose_table, []

    def watch(curator, sets, expected, *rest, **more):
        sums.extend(int(table.sum()) for table in expected)
        return honest(curator, sets, expected, *rest, **more)

    monkeypatch.setattr(Curator, "choose_table", watch)
    codes = table(n=2000, keep_rules=False)
    broken = int(SCHEMA.break_rules(codes).sum())
    ConsistentBayes(50, rounds=9).fit(SCHEMA.decode(codes, np.full(codes.shape, 0.5)), SCHEMA)
    assert 2000 + broken / 4 < max(sums) < 2000 + broken + 50


def test_rules_change_no_noise_and_no_line_of_a_public_network():
    """The curator doesn't know them: the same seeds give the same tables, and the same ledger."""
    fixed = pds.Synthesizer(1, structure=pds.parts.Fixed(), random_state=4)
    plain = fixed.clone().fit(Records(CODES, replace(SCHEMA, rules=())))
    ruled = fixed.clone().fit(Records(CODES, SCHEMA))
    assert all(map(np.array_equal, plain.model_.tables, ruled.model_.tables))
    assert list(plain.ledger_.entries) == list(ruled.ledger_.entries)


def test_the_model_that_rounds_grow_has_nothing_where_no_record_can_be():
    """Else rounds would be bought to learn what the rules say."""
    model = GrowingModel(Facts(SCHEMA, 1000, Fraction(1), "strict", Fraction(1)))
    for j, size in enumerate(SCHEMA.sizes):
        model.add((j,), np.full(size, 1000 / size), Fraction(1), f"s{j}")
    for fit in (model.fit_columns(), model.fit()):
        for columns, mask in SCHEMA.masks:
            assert np.abs(fit.margin(columns)[~mask]).max() < 1e-6

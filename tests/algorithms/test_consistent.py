"""ConsistentBayes: the ledger closes, policy holds, and the score moves by no more than it says."""

import warnings
from dataclasses import replace
from fractions import Fraction as Q
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from contract_cases import binary, mixed
from privacy_tools import largest_change, records_of

from pdsynth import (
    PPBA,
    Attribute,
    BudgetError,
    ConsistentBayes,
    HPPrivBayes,
    PrivBayes,
    Schema,
    Session,
    baselines,
)
from pdsynth.algorithms.consistent_policy import clique_limit
from pdsynth.algorithms.hpprivbayes import SensitivityGroups
from pdsynth.audit.tape import Explorer, Tape
from pdsynth.core.budgets import AsMeasured
from pdsynth.core.network import Restriction
from pdsynth.core.recipe import largest_scale

POLICY = Restriction("age", ("city",), forced=(("wage", "kids"),), forbidden=(("age", "score"),))
GROUPS = SensitivityGroups(
    groups={"A": ["city"], "B": ["age", "kids"]}, weights={"kids": [1, 2, 4]}
)
OPTIONS = {
    "forest": {"rounds": 0},
    "rounds": {},
    "one round": {"rounds": 1},
    "more rounds than shares": {"rounds": 10**6},
    "sensitive": {"sensitive": "city"},
    "sensitive forest": {"sensitive": "city", "rounds": 0},
    "policy": {"restriction": POLICY, "rounds": 3},
    "one round, a forced pair": {"restriction": POLICY, "rounds": 1},
    "policy forest": {"restriction": POLICY, "rounds": 0},
    "groups": {"personal": GROUPS, "rounds": 3},
    "groups, more for A": {"personal": GROUPS, "r": 50, "rounds": 3},
    "groups, hardly any for A": {"personal": GROUPS, "r": 1e-3, "rounds": 3},
    "added": {"relation": "add_remove", "rounds": 3},
    "two records": {"records_per_person": 2, "rounds": 3},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("epsilon", ["1/50", "3", "300"])
def test_the_ledger_closes_at_exactly_epsilon(name, epsilon):
    frame, schema = mixed()
    fitted = ConsistentBayes(epsilon=epsilon, **OPTIONS[name]).fit(frame, schema)
    assert fitted.ledger_.epsilon == Q(epsilon)
    assert fitted.ledger_.check() == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rounds", [0, "auto"])
def test_a_sensitive_attribute_stands_in_one_table_and_loses_what_was_known(seed, rounds):
    """After STOP, too: at ε = 0.02 most partners aren't worth their noise."""
    frame, schema = mixed()
    losses = set()
    for epsilon in (Q(1, 50), Q(50)):
        fitted = ConsistentBayes(
            epsilon=str(epsilon), rounds=rounds, sensitive="city", random_state=seed
        ).fit(frame, schema)
        tables = {frozenset(m) for m in fitted.measured_ if "city" in m and len(m) > 1}
        assert len(tables) <= 1
        lines = fitted.ledger_.attribute_epsilon()
        losses.add(Q(lines["city"]) / epsilon)
    assert len(losses) == 1, "a fixed share of ε"


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_policy_holds(rounds):
    frame, schema = mixed()
    for seed in range(3):
        fitted = ConsistentBayes(
            epsilon=50, rounds=rounds, restriction=POLICY, random_state=seed
        ).fit(frame, schema)
        assert {"wage", "kids"} in [{*m} for m in fitted.measured_]
        assert fitted.network_.pairs[0] == ("age", ())
        for child, parents in fitted.network_.pairs:
            assert not {"age", "score"} <= {child, *parents}


@pytest.mark.parametrize(
    ("weights", "rare", "known"),
    [(None, "less_noise", False), (None, "same_noise", True), ([1, 2, 4], "less_noise", True)],
)
def test_what_a_sensitive_value_loses_is_known_unless_its_weights_were_asked_for(
    weights, rare, known
):
    """What the attribute loses is known in each case."""
    frame, schema = mixed()
    groups = SensitivityGroups(
        groups={"A": ["age"], "B": ["city"]},
        weights=weights and {"city": weights},
        rare_values=rare,
    )
    policy = Restriction("age", ("city",))
    fitted = ConsistentBayes(3, restriction=policy, personal=groups, rounds=2).fit(frame, schema)
    said = fitted.ledger_.value_epsilon("city").attrs["known"]
    assert said.startswith("before the run" if known else "ex post")
    assert "city" in fitted.ledger_.guaranteed_ex_ante


@pytest.mark.parametrize("rounds", [0, 2, "auto"])
@pytest.mark.parametrize("sensitive", [None, "a"])
def test_policy_holds_though_the_strongest_tie_is_forbidden(rounds, sensitive):
    """Forest, rounds and the one partner of a sensitive attribute would all take this pair."""
    codes = np.random.default_rng(0).integers(0, 4, (2000, 4))
    codes[:, 1] = codes[:, 0]
    frame = pd.DataFrame(codes, columns=list("abcd"))
    schema = Schema(tuple(Attribute.categorical(x, range(4)) for x in frame))
    for forbidden in ((("a", "b"),), (("b", "a"),), ()):
        policy = Restriction(forbidden=forbidden)
        fitted = ConsistentBayes(
            epsilon=50, rounds=rounds, restriction=policy, sensitive=sensitive, random_state=0
        ).fit(frame, schema)
        assert any({"a", "b"} <= {*m} for m in fitted.measured_) == (not forbidden)


class Last(Explorer):
    """Chooses the last candidate, which is STOP, from some question on."""

    def __init__(self, walk, seed, after):
        super().__init__(walk, seed)
        self.after = after

    def draw(self, question):
        choices = sum(asked.kind == "choice" for asked in self.asked)
        if question.kind == "choice" and choices >= self.after:
            return len(question.data) - 1
        return super().draw(question)


TIGHT = SensitivityGroups(groups={"A": ["city"], "B": ["age", "kids"]}, v_min=1e-3)
SCALES = {name: OPTIONS[name] for name in OPTIONS if name not in ("two records",)} | {
    "least share of columns": {"share_one_way": 1e-6},
    "least share of the sensitive": {"sensitive": "city", "share_sensitive": 1e-6},
    "an odd share": {"sensitive": "city", "share_sensitive": 0.123456789, "share_one_way": 0.37},
    "values, rare ones less": {"personal": TIGHT, "r": 1e-3},
    "values, r = 1000": {"personal": TIGHT, "r": 1e3, "rounds": 0},
}


def scales(synthesizer, frame, schema, recorder):
    """All noise scales that a run asks for, whatever the mechanisms answer."""
    synthesizer.clone().fit(frame, schema, noise=Tape(recorder))
    asked = (q for q in recorder.asked if q.kind == "table")
    return [scale for q in asked for scale in np.ravel(q.law)]


@pytest.mark.parametrize("name", SCALES)
def test_no_run_asks_for_a_larger_scale_than_the_public_bound(name):
    """By brute force over answers: any candidate, STOP at once or later, noise near and far. So
    what is too large to draw is refused before anything is spent, and nothing is refused after."""
    frame, schema = mixed()
    synthesizer = ConsistentBayes(3, **SCALES[name])
    most = largest_scale(synthesizer.prepare(schema, len(frame)))
    for walk, after in ((0, 0), (1, 0), (2, 1), (2, 4), (3, 10**6), (4, 10**6)):
        seen = scales(synthesizer, frame, schema, Last(walk, 7, after))
        assert max(seen) <= most


def test_twin_a_bound_that_knows_no_shares_is_passed():
    """As it was: 2^18 d/ε, whatever r, v_min and the shares are."""
    frame, schema = mixed()
    synthesizer = ConsistentBayes(3, **SCALES["values, r = 1000"] | {"share_one_way": 1e-6})
    seen = scales(synthesizer, frame, schema, Last(1, 7, 10**6))
    assert max(seen) > Q(2 * 2**17 * len(schema), 3)


@pytest.mark.parametrize("rounds", [0, "auto"])
def test_a_scale_too_large_to_draw_is_refused_before_anything_is_spent(rounds):
    frame, schema = mixed()
    synthesizer = ConsistentBayes("1e-6", rounds=rounds, personal=TIGHT, r=1e-3, share_one_way=1e-6)
    with pytest.raises(BudgetError, match="exact sampling ends"):
        synthesizer.fit(frame, schema)
    assert synthesizer.spent_ == 0


@pytest.mark.parametrize("walk", [0, 1, 2])
def test_with_a_delta_the_bound_is_one_of_roots(walk):
    """Small ε and many columns, of which δ makes most, were refused: 1/ρ was taken for a scale."""
    schema = Schema(tuple(Attribute.categorical(f"x{j}", [0, 1]) for j in range(40)))
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (500, 40)), columns=schema.names)
    synthesizer = ConsistentBayes(0.02, delta=1e-9, random_state=walk, rounds=0)
    most = largest_scale(synthesizer.prepare(schema, len(frame)))
    ledger = synthesizer.fit(frame, schema).ledger_
    seen = [e.scale for e in ledger.entries if e.mechanism == "discrete_gaussian"]
    assert max(seen) <= most**2
    with pytest.raises(BudgetError, match="exact sampling ends"):
        synthesizer.clone().set_params(epsilon="1e-12").prepare(schema, len(frame))


@pytest.mark.parametrize("n", [20, 2000])
def test_a_table_with_noise_of_less_than_a_record_is_measured_once(n):
    """Fewer records than cells: the fit expects none in any cell, however well it knows them."""
    schema = Schema(tuple(Attribute.categorical(f"x{j}", range(32)) for j in range(3)))
    frame = pd.DataFrame(dict.fromkeys(schema.names, np.arange(n) % 32))
    fitted = ConsistentBayes(1e6, share_one_way=0.2, random_state=1).fit(frame, schema)
    pairs = [names for names in fitted.measured_ if len(names) > 1]
    assert len(pairs) == len(set(pairs)) >= 2
    assert fitted.ledger_.epsilon == 10**6
    rows = fitted.sample(n, method="balanced")
    assert (rows["x0"] == rows["x1"]).all() and (rows["x0"] == rows["x2"]).all()


@pytest.mark.parametrize(("shape", "n"), [((2, 2), 5), ((2, 3), 4), ((3, 3), 3), ((2, 2, 2), 3)])
def test_a_replaced_record_moves_the_residual_by_two(shape, n):
    rng = np.random.default_rng(1)
    for _ in range(3):
        expected = rng.integers(0, n + 1, shape)
        assert largest_change(lambda c, e=expected: int(np.abs(c - e).sum()), n, shape) <= 2
    assert largest_change(lambda c: int(np.abs(c - n).sum()), n, shape) == 0
    zero = np.zeros(shape, int)
    zero.flat[0] = n
    assert largest_change(lambda c: int(np.abs(c - zero).sum()), n, shape) == 2


def test_twin_a_residual_against_raw_columns_moves_by_more():
    def raw(c):
        return float(np.abs(c - np.outer(c.sum(axis=1), c.sum(axis=0)) / c.sum()).sum())

    assert largest_change(raw, 5, (3, 3)) > 2.5


def test_forced_partners_of_a_sensitive_attribute():
    frame, schema = binary()
    given = Restriction(forced=(("b1", "b2"),))
    fitted = ConsistentBayes(epsilon=1, sensitive="b2", restriction=given).fit(frame, schema)
    assert [set(m) for m in fitted.measured_ if "b2" in m and len(m) > 1] == [{"b1", "b2"}]
    two = Restriction(forced=(("b1", "b2"), ("b0", "b2")))
    with pytest.raises(BudgetError, match="one table"):
        ConsistentBayes(epsilon=1, sensitive="b2", restriction=two).fit(frame, schema)


def test_what_is_left_over_goes_to_no_group_that_has_less():
    """The last column is in group A, and so is the one pair that is chosen: what rounding and the
    choices that policy spared leave is more than a thousand times its part."""
    names = [f"x{j}" for j in range(5)]
    codes = np.random.default_rng(7).integers(0, 2, (400, 5))
    codes[:, 4] = codes[:, 0]  # chosen at this ε, and no STOP
    fitted = ConsistentBayes(
        epsilon=1000,
        rounds=0,
        r=1e-3,
        restriction=Restriction(forced=tuple(zip(names[:3], names[1:4], strict=True))),
        personal=SensitivityGroups({"A": names[4:], "B": names[:4]}, rare_values="same_noise"),
    ).fit(records_of(codes, (2,) * 5))
    lines = [e for e in fitted.ledger_.entries if e.kind == "mechanism" and e.sensitivity]
    for number in (1, 2):
        tables = [e for e in lines if len(e.attributes) == number and "laplace" in e.mechanism]
        in_a = [e.epsilon for e in tables if "x4" in e.attributes]
        in_b = [e.epsilon for e in tables if "x4" not in e.attributes]
        assert len(in_a) == 1 and max(in_a) <= min(in_b) * Q(11, 10_000)
    assert fitted.ledger_.epsilon == 1000


@pytest.mark.parametrize("r", [1 / 3, 1e-3])
def test_a_group_that_stands_in_all_tables_gets_its_part_of_them(r):
    """Nobody is left that could have more in a table: single columns have the rest."""
    star = tuple((f"x{j}", "x4") for j in range(4))
    personal = SensitivityGroups({"A": ["x4"], "B": ["x0"]}, rare_values="same_noise")
    synthesizer = ConsistentBayes(
        epsilon=1000, rounds=0, r=r, restriction=Restriction(forced=star), personal=personal
    )
    codes = np.random.default_rng(7).integers(0, 2, (400, 5))
    ledger = synthesizer.fit(records_of(codes, (2,) * 5)).ledger_
    pairs = [e for e in ledger.entries if len(e.attributes) == 2 and "laplace" in e.mechanism]
    assert len(pairs) == 4 and sum(e.epsilon for e in pairs) <= 720 * Q(str(r))
    assert ledger.epsilon == 1000


def test_a_column_that_is_mostly_noise_is_tied_to_nobody():
    """Of a column in group A with hardly any ε nothing is known, so all of its pairs seem far from
    what is expected; it stood in every table, which then had all of ε."""
    codes = np.repeat(np.arange(400)[:, None] % 2, 5, axis=1)
    codes[:, 4] = np.random.default_rng(7).integers(0, 2, 400)
    personal = SensitivityGroups({"A": ["x4"], "B": ["x0"]}, rare_values="same_noise")
    synthesizer = ConsistentBayes(epsilon=10, rounds=0, r=1e-3, personal=personal)
    measured = synthesizer.fit(records_of(codes, (2,) * 5)).measured_
    assert {name for m in measured if len(m) > 1 for name in m} == {"x0", "x1", "x2", "x3"}


def tied_in_pairs():
    """x1 and x2, x3 and x4 are tied; x0 and x5 to nobody."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, (20_000, 6))
    for child, part in ((2, 0.7), (4, 0.6)):
        codes[:, child] = np.where(rng.random(20_000) < part, codes[:, child - 1], codes[:, child])
    return records_of(codes, (3,) * 6)


@pytest.mark.parametrize("rounds", [0, "auto"])
@pytest.mark.parametrize(
    ("a", "ratios", "name"),
    [
        (["x1", "x3"], (1, 1 / 3, 1 / 30), "x1"),
        (["x1", "x2", "x3", "x4", "x5"], (1, 100), "x0"),
    ],
)
def test_the_less_a_group_may_lose_the_less_it_loses(a, ratios, name, rounds):
    """In rounds, what cheap tables spared paid for further choices, which cost all columns; above 1
    the other group had its part of ε only where no column of group A stood beside it."""
    records, losses = tied_in_pairs(), list[float]()
    personal = SensitivityGroups({"A": a}, rare_values="same_noise")
    for r in ratios:
        one = ConsistentBayes(epsilon=1, rounds=rounds, r=r, personal=personal)
        runs = [one.clone().set_params(random_state=seed).fit(records).ledger_ for seed in range(5)]
        assert all(ledger.epsilon == 1 for ledger in runs)
        losses.append(np.mean([float(run.attribute_epsilon([name]).iloc[0]) for run in runs]))
        choices = [sum(e.epsilon for e in x.entries if e.mechanism == "exponential") for x in runs]
        assert max(choices) < 0.28
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("rounds", [0, "auto"])
def test_of_a_group_of_all_attributes_nobody_loses_less(rounds):
    frame, schema = binary()
    personal = SensitivityGroups({"A": list(schema.names)}, rare_values="same_noise")
    one = ConsistentBayes(epsilon=1, rounds=rounds, r=0.01, personal=personal, random_state=7)
    with pytest.warns(UserWarning, match="all attributes were to have more noise"):
        fitted = one.fit(frame, schema)
    same = one.clone().set_params(r=1).fit(frame, schema)
    assert [e.epsilon for e in fitted.ledger_.entries] == [e.epsilon for e in same.ledger_.entries]


@pytest.mark.parametrize("n", [300, 20_000])  # one table of all columns; the look and rounds
@pytest.mark.parametrize(("a", "r"), [(["x0"], 1), (["x0", "x1", "x2"], 1 / 3)])
def test_where_all_are_alike_the_run_is_that_without_groups(n, a, r):
    """Groups took the look and the one table away, also where nobody had less noise by them."""
    sizes = (4, 8, 3) if n == 300 else (40, 30, 20)
    records = records_of(np.random.default_rng(1).integers(0, sizes, (n, 3)), sizes)
    personal = SensitivityGroups({"A": a}, rare_values="same_noise")
    plain = ConsistentBayes(epsilon=4, random_state=3)
    runs = [plain, plain.clone().set_params(personal=personal, r=r)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="all attributes were to have more noise")
        lines = [run.fit(records).ledger_.entries for run in runs]
    assert lines[0] == lines[1]
    assert (len(lines[0]) == 1) == (n == 300)


@pytest.mark.parametrize("own", [{}, {"weights": {"x1": [1, 0.5, 0.5]}}])
def test_twin_values_that_weigh_differently_are_no_equal_preferences(own):
    records, kind = tied_in_pairs(), "same_noise" if own else "less_noise"
    personal = SensitivityGroups({"A": ["x0"]}, rare_values=kind, **own)
    entries = ConsistentBayes(epsilon=1, r=1, personal=personal).fit(records).ledger_.entries
    assert entries[0].step == "table(x0)" and any(isinstance(e.scale, tuple) for e in entries)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"x1": [1, 1]}, "'x1' has 3 values, but 2 weights"),
        ({"x1": [1, 1, 5000]}, "lie more than 1,000 apart"),
        ({"x1": "abc"}, "one weight per value"),
        ({"x0": [1, 1, 0.5]}, "in B; 'x0' isn't one of them"),
        ({"age": [1, 2]}, "in B; 'age' isn't one of them"),
    ],
)
def test_weights_that_mean_nothing_are_refused_before_an_account_is_charged(weights, says):
    """Of wrong ones an account had lost ε; those of group A, or misspelt, were ignored."""
    personal, account = SensitivityGroups({"A": ["x0"]}, weights=weights), Session(2)
    with pytest.raises(BudgetError, match=says):
        ConsistentBayes(1, personal=personal).fit(tied_in_pairs(), session=account)
    assert account.spent == 0


def test_tables_that_overlap_must_agree():
    frame, schema = binary()
    with pytest.raises(BudgetError, match="made to agree"):
        ConsistentBayes(reconcile=AsMeasured()).fit(frame, schema)


def test_pairs_are_tables_of_two():
    frame, schema = binary()
    fitted = ConsistentBayes(epsilon=50, rounds=0).fit(frame, schema)
    pairs = [m for m in fitted.measured_ if len(m) == 2]
    assert {frozenset(p) for p in pairs} <= {frozenset(p) for p in combinations(schema.names, 2)}


@pytest.mark.parametrize(
    ("mass", "columns", "cells"),
    [
        (1, 8, 2**14),
        (10**5, 8, 2**14),
        (2 * 10**5, 8, 2**15),
        (10**9, 8, 2**17),  # 2^20 over 8 columns
        (10**9, 64, 2**14),
        (10**9, 100, 2**14),
        (Q(3, 2) * 10**5, 8, 3 * 2**13),
    ],
)
def test_room_in_cliques_by_hand(mass, columns, cells):
    assert clique_limit(Q(mass), columns) == cells


def test_a_pair_of_many_declared_cells_is_measured_once_merged():
    """300 × 300 values, of which eight each occur: as tables of declared values no candidate."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 8, 5_000)
    frame = pd.DataFrame({"x": 30 * kind, "y": 20 * kind, "z": rng.integers(0, 2, 5_000)})
    schema = Schema(
        (
            Attribute.categorical("x", range(300)),
            Attribute.categorical("y", range(300)),
            Attribute.categorical("z", range(2)),
        )
    )
    fitted = ConsistentBayes(4, share_one_way=0.3, random_state=0).fit(frame, schema)
    assert ("x", "y") in fitted.measured_
    rows = fitted.sample(5_000, random_state=0)
    kept = [(rows["x"] == 30 * i) & (rows["y"] == 20 * i) for i in range(8)]
    assert np.mean(np.any(kept, axis=0)) > 0.8
    assert all(line.startswith("L10") for line in fitted.model_.check())


class TestGroupsOfASchema:
    """What a schema declares held where ``plan`` made the method, and was lost without a word."""

    FRAME, PLAIN = mixed()
    SCHEMA = replace(PLAIN, groups={"city": "A"})

    def test_they_are_those_of_personal(self):
        same = SensitivityGroups(groups={"A": ["city"]}, rare_values="same_noise")
        ledgers = [
            ConsistentBayes(2, random_state=5, personal=personal).fit(self.FRAME, schema).ledger_
            for schema, personal in ((self.SCHEMA, None), (self.PLAIN, same))
        ]
        assert ledgers[0].attribute_epsilon().equals(ledgers[1].attribute_epsilon())

    def test_with_delta_they_are_refused_as_those_of_personal(self):
        with pytest.raises(BudgetError, match="groups that the schema declares"):
            ConsistentBayes(2, delta=1e-9).fit(self.FRAME, self.SCHEMA)

    @pytest.mark.parametrize("method", [PrivBayes, PPBA, baselines.Independent])
    def test_a_method_without_groups_says_so(self, method):
        words = f"declares groups, of which {method.__name__} makes no use"
        with pytest.warns(UserWarning, match=words):  # a comparison said "this method" of each
            method(2).fit(self.FRAME, self.SCHEMA)

    def test_a_fit_without_noise_promises_no_group_anything(self, recwarn):
        PrivBayes(guarantee="none").fit(self.FRAME, self.SCHEMA)
        assert not [w for w in recwarn if "declares groups" in str(w.message)]

    @pytest.mark.parametrize("method", [ConsistentBayes, HPPrivBayes, baselines.CSAPrivBayes])
    def test_a_method_with_groups_doesn_t(self, method, recwarn):
        method(2).fit(self.FRAME, self.SCHEMA)
        assert not [w for w in recwarn if "declares groups" in str(w.message)]

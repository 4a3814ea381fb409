"""A strong pair among weak ones is asked for by name, kept, and paid for; so is the label's."""

import math
from collections import Counter
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from privacy_tools import as_measured
from script_tools import load

import pdsynth as pds
from pdsynth.algorithms import consistent, consistent_look
from pdsynth.algorithms.consistent_look import (
    ASK,
    chance_of_columns,
    clear_tie,
    cost_of_tie,
    worth_asking,
)
from pdsynth.algorithms.consistent_policy import LABEL, UNIT, Policy, PolicyOptions
from pdsynth.core import Curator, Entry
from pdsynth.core.errors import BudgetError
from pdsynth.core.network import Restriction
from pdsynth.files import count_pairs, say_pairs

ties = load(Path(__file__).resolve().parents[2] / "benchmarks" / "ties.py")
FRAME, SCHEMA = ties.one_tie(8_000, 10, 0.5, 0)
PAIR = ("c0", "c1")


def fit(seed=0, epsilon=1.0, **options):
    return pds.ConsistentBayes(epsilon, random_state=seed, **options).fit(FRAME, SCHEMA)


def several(model):
    return [set(m) for m in model.measured_ if len(m) > 1]


def test_what_a_tie_costs_by_hand():
    sizes = [6] * 4
    # noise of a quarter of the tie: 4 · 36 / (8000 · .1) = .18; the fair share 6 / (6 + 4√6) = .38
    assert cost_of_tie(0.1, 36, sizes, 8_000, Q(1)) == (pytest.approx(0.18), Q(1, 4))
    assert cost_of_tie(0.1, 36, [6] * 40, 8_000, Q(1)) == pytest.approx((0.18, 0.18))
    fair = 6 / (6 + 40 * math.sqrt(6))
    assert cost_of_tie(0.9, 36, [6] * 40, 80_000, Q(2)) == pytest.approx((0.002, 2 * fair))
    assert cost_of_tie(0.04, 36, sizes, 8_000, Q(1)) == (Q(1, 4), Q(1, 4))
    assert cost_of_tie(0.035, 36, sizes, 8_000, Q(1)) == (0, 0)  # more than twice a quarter
    assert cost_of_tie(0.0, 36, sizes, 8_000, Q(1)) == (0, 0)


def test_what_is_clear_of_a_tie_by_hand():
    """Chance is taken off; the noise has a scale of 3 / 400, or 2 / 400 for two values each."""
    chance = math.sqrt(36 / (2 * math.pi * 8_000))
    assert clear_tie(0.4, (0, 1), [6, 6], 8_000, 0.05) == pytest.approx(0.4 - chance)
    assert clear_tie(chance + 0.0151, (0, 1), [6, 6], 8_000, 0.05) == pytest.approx(0.0151)
    assert clear_tie(chance + 0.0149, (0, 1), [6, 6], 8_000, 0.05) == 0
    chance /= 3
    assert clear_tie(chance + 0.0101, (0, 1), [2, 2], 8_000, 0.05) == pytest.approx(0.0101)
    assert clear_tie(chance + 0.0099, (0, 1), [2, 2], 8_000, 0.05) == 0


def test_when_it_is_worth_asking_by_hand():
    """Three quarters, named by a choice with exponent 1, where a record moves R by 3/n: e^(n / 8)
    against m pairs and e; three tenths: e^(n / 20)."""
    pairs, odds = [(0, 1)] * 45, math.e
    needed = 8 * (math.log(45) + 1)
    assert not worth_asking(pairs, [3, 3], math.floor(needed), 1.0, 0.75, odds)
    assert worth_asking(pairs, [3, 3], math.ceil(needed), 1.0, 0.75, odds)
    assert not worth_asking(pairs, [3, 3], math.floor(needed * 2.5), 1.0, 0.3, odds)
    assert worth_asking(pairs, [3, 3], math.ceil(needed * 2.5), 1.0, 0.3, odds)
    assert not worth_asking(pairs, [3, 3], math.floor(needed + 8), 1.0, 0.75, odds**2)
    assert worth_asking(pairs, [3, 3], math.ceil(needed + 8), 1.0, 0.75, odds**2)
    assert not worth_asking([], [3, 3], 10**9, 1.0, 0.75, odds)


@given(
    st.floats(-1, 1), st.integers(4, 2**14), st.lists(st.integers(2, 99), min_size=2, max_size=30),
    st.integers(1, 10**7), st.fractions(Q(1, 1000), 100),
)  # fmt: skip
def test_no_pair_costs_more_than_a_quarter(tie, cells, sizes, n, epsilon):
    least, most = cost_of_tie(tie, cells, sizes, n, epsilon)
    assert 0 <= least <= most <= epsilon / 4


@pytest.mark.parametrize("copied", [0.5, 0.9])
@pytest.mark.parametrize("columns", [10, 20])
def test_a_strong_tie_is_kept_where_a_network_keeps_it(columns, copied):
    rows = [r for seed in range(5) for r in ties.measure(8_000, columns, copied, 1.0, seed)]
    found = ties.summary(pd.DataFrame(rows), ["epsilon"])
    assert found["part"].item() == 1 and found["PrivBayes"].item() >= 4


def test_the_question_costs_more_where_less_would_name_no_plain_tie():
    """A tie of .3, named for three quarters of ε / 20, has the exponent .3 · .01875 n / 6.

    With 2,000 records that is 1.9, less than ln 45 + 1, with 8,000 it is 7.5. One of .75, named
    for those of ε / 12, has .75 · .03125 n / 6: 7.8 with 2,000, less than ln 4,500 = 8.4, and 11.7
    with 3,000.
    """
    asked = {}
    for n in (2_000, 3_000, 8_000):
        frame, schema = ties.one_tie(n, 10, 0.9, 0)
        entries = pds.ConsistentBayes(0.5, random_state=0).fit(frame, schema).ledger_.entries
        asked[n] = sum(e.epsilon for e in entries if "tie 1" in e.step)
    assert asked[2_000] == pytest.approx(0.5 / 10, abs=1e-4)
    assert asked[3_000] == pytest.approx(0.5 / 12, abs=1e-4)
    assert asked[8_000] == pytest.approx(0.5 / 20, abs=1e-4)


def test_a_very_strong_tie_of_few_records_is_kept():
    rows = [ties.measure(2_000, 10, 0.9, 0.5, s, ("ConsistentBayes",))[0] for s in range(5)]
    assert sum(row["kept"] for row in rows) >= 4


TIED = (68, 80, 114)  # seeds in which the columns' own tables can hardly tell their values


def kept_in(seeds):
    rows = [ties.measure(2_000, 10, 0.9, 0.5, s, ("ConsistentBayes",))[0] for s in seeds]
    return [row["kept"] for row in rows]


def test_the_columns_of_a_clear_tie_keep_their_values():
    """Its table is paid for with all cells: merged by their columns' noise, they lost the tie."""
    assert all(kept_in(TIED))


def test_twin_with_merged_values_a_measured_tie_is_lost(monkeypatch):
    honest = consistent.Run.merge_rare_values
    monkeypatch.setattr(consistent.Run, "merge_rare_values", lambda run, ties: honest(run, ()))
    assert not all(kept_in(TIED))


def test_twin_without_the_question_the_tie_is_lost(monkeypatch):
    monkeypatch.setattr(consistent_look, "worth_asking", lambda *_: False)
    kept = [ties.measure(8_000, 20, 0.5, 4.0, s, ("ConsistentBayes",))[0]["kept"] for s in range(3)]
    assert not any(kept)


def named_first(epsilon=2.0):
    """Which pairs 20 fits name first: (c0, c1) are tied by .09, wide columns by chance alone.

    Of 6,000 records 12 × 16 independent values show .07. Less chance the tie is .08 above all
    others, and its exponent .0375 ε n R / 6 is 6 larger, ln of 400, against 14 pairs.
    """
    rng, sizes = np.random.default_rng(0), [2, 6, 12, 16, 12, 16]
    codes = np.column_stack([rng.integers(0, size, 6_000) for size in sizes])
    copied = rng.random(6_000) < 0.18
    codes[:, 0] = np.where(copied, codes[:, 1] % 2, codes[:, 0])
    frame = pd.DataFrame(codes, columns=[f"c{j}" for j in range(6)])
    kinds = zip(frame, sizes, strict=True)
    schema = pds.Schema(tuple(pds.Attribute.categorical(c, range(m)) for c, m in kinds))
    fits = [pds.ConsistentBayes(epsilon, random_state=i).fit(frame, schema) for i in range(20)]
    asked = [e for f in fits for e in f.ledger_.entries if e.step == "strength of the tie 1"]
    assert len(asked) == 20
    return [e.attributes for e in asked]


def test_a_narrow_tie_is_named_before_the_chance_of_wide_columns():
    assert named_first().count(PAIR) >= 18


def test_twin_without_chance_taken_off_wide_columns_are_named(monkeypatch):
    honest = Curator.select
    monkeypatch.setattr(Curator, "select", lambda *args, offsets, **how: honest(*args, **how))
    assert named_first().count(PAIR) <= 14


@pytest.mark.parametrize("seed", range(3))
def test_questions_and_tables_are_paid_for(seed):
    model = fit(seed)
    entries = model.ledger_.entries
    asked = [e for e in entries if e.source == "gate"]
    first = sum(e.epsilon for e in asked[:2])
    assert ASK - Q(2, UNIT) <= first <= ASK
    (table,) = [e for e in entries if {*e.attributes} == {*PAIR} and e.step.startswith("table(")]
    assert table.epsilon <= Q(1, 4) and table.scale_depends_on == tuple(e.id for e in asked[1::2])
    assert model.ledger_.epsilon == 1
    assert all(line.startswith("L10") for line in model.ledger_.check())  # the seed


def test_policy_decides_whom_nobody_asks_about():
    forbidden = fit(restriction=Restriction(forbidden=[PAIR]))
    assert {*PAIR} not in several(forbidden)
    hidden = fit(sensitive="c1")
    asked = [e for e in hidden.ledger_.entries if e.source == "gate"]
    assert asked and not any("c1" in e.attributes for e in asked)


def test_before_the_first_table_four_stops_end_the_rounds(monkeypatch):
    asked = []
    monkeypatch.setattr(consistent.Run, "choose", lambda *_, step, **__: asked.append(step))
    model = fit(share_one_way=0.3)  # no look, so rounds in any case
    assert len(asked) == consistent.FIRST_STOPS and several(model) == []


def facts_policy(**options):
    return Policy(PolicyOptions(**options), pds.ConsistentBayes(1).prepare(SCHEMA, 8_000).facts)


def test_a_round_s_price_follows_the_size_and_has_bounds():
    policy = facts_policy()
    cells = policy.usual_cells(policy.candidates())
    assert cells == int(np.median([policy.cells(some) for some in policy.candidates()])) == 32
    small, large = min(policy.pairs(), key=policy.cells), max(policy.pairs(), key=policy.cells)
    budget_of = policy.round_budgets(Q(1, 10), Q(1, 2), cells)
    for pair in (small, large):
        wanted = 0.1 * math.sqrt(policy.cells(pair) / cells)
        assert float(budget_of(pair).epsilon) == pytest.approx(wanted, abs=0.1 / 16 + 1e-4)
    assert policy.round_budgets(Q(9, 20), Q(1), cells)(large).epsilon == Q(1, 4)
    assert policy.round_budgets(Q(1, 10), Q(1, 9), cells)(large).epsilon <= Q(1, 9)
    assert policy.round_budgets(Q(1, 9), Q(1, 9), cells)(small).epsilon == Q(
        1, 9
    )  # the last one: all


def bits(d):
    """The policy of a table of so many two-valued columns."""
    schema = pds.Schema(tuple(pds.Attribute.categorical(f"b{i}", range(2)) for i in range(d)))
    return Policy(PolicyOptions(), pds.ConsistentBayes(1).prepare(schema, 8_000).facts)


def test_a_round_is_planned_for_sets_of_four_where_these_are_usual():
    """Sixteen columns of two values: 120 pairs of 4 cells, 560 triples of 8, 1,820 fours of 16."""
    policy = bits(16)
    assert policy.usual_cells(policy.candidates()) == 16
    assert policy.usual_cells(policy.pairs()) == 4
    budget_of = policy.round_budgets(Q(1, 100), Q(1, 2), 16)
    assert budget_of((0, 1, 2, 3)).epsilon == policy.shorten(Q(1, 100))
    assert float(budget_of((0, 1)).epsilon) == pytest.approx(0.01 / 2, abs=1e-4)


@pytest.mark.parametrize(
    ("d", "sets"),
    [
        (3, {2: 3, 3: 1}),
        (16, {2: 120, 3: 560, 4: 1_820}),
        (25, {2: 300, 3: 2_300, 4: 12_650}),
        (26, {2: 325, 3: 2_600}),  # with 14,950 fours more than 2^14
        (47, {2: 1_081}),  # with 16,215 triples more than 2^14
    ],
)
def test_candidates_are_pairs_and_small_sets_as_long_as_they_are_not_too_many(d, sets):
    candidates = bits(d).candidates()
    assert Counter(map(len, candidates)) == sets
    assert len({*candidates}) == len(candidates)


@pytest.mark.parametrize(
    ("values", "d", "planned"),
    [(2, 16, 16), (4, 8, 11), (6, 8, 16)],  # fours of 16 cells; triples of 64; pairs of 36
)
def test_rounds_are_planned_so_that_each_column_stands_in_four_tables(values, d, planned):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{i}": rng.integers(0, values, 500) for i in range(d)})
    schema = pds.Schema(tuple(pds.Attribute.categorical(c, range(values)) for c in frame))
    model = pds.ConsistentBayes(1, share_one_way=0.3, random_state=0).fit(frame, schema)
    first = next(e for e in model.ledger_.entries if e.step == "round 1")
    assert float(first.epsilon) == pytest.approx(0.7 / planned / 5, abs=1e-4)


def test_sets_of_larger_tables_are_left_to_their_pairs():
    """Of 2, 4, 4, 4 and 7 values: 2 · 4 · 4 = 32, 2 · 4 · 7 = 56 and 4 · 4 · 4 = 64 cells."""
    schema = pds.Schema(
        tuple(
            pds.Attribute.categorical(f"c{m}{i}", range(m)) for i, m in enumerate((2, 4, 4, 4, 7))
        )
    )
    policy = Policy(PolicyOptions(), pds.ConsistentBayes(1).prepare(schema, 8_000).facts)
    larger = [s for s in policy.candidates() if len(s) > 2]
    with_two = [(0, i, j) for i in (1, 2, 3) for j in (2, 3, 4) if i < j]
    assert sorted(larger) == sorted([*with_two, (1, 2, 3)])


@pytest.mark.parametrize("rounds", ["auto", 0])
def test_the_label_s_pairs_come_first(rounds):
    model = fit(target="c5", rounds=rounds, share_one_way=0.3)
    wanted = [{"c5", name} for name in SCHEMA.names if name != "c5"]
    assert sorted(map(sorted, several(model)[:9])) == sorted(map(sorted, wanted))
    assert model.ledger_.epsilon == 1
    if rounds == "auto":
        paid = sum(
            e.epsilon for e in model.ledger_.entries if len(e.attributes) == 2 and "c5" in e.step
        )
        assert LABEL * Q(7, 10) - Q(9, UNIT) <= paid


def test_a_label_that_is_sensitive_or_forbidden():
    with pytest.raises(BudgetError, match="sensitive and stands in one table"):
        fit(target="c5", sensitive="c5")
    pair = ("c5", "c2")
    assert {*pair} not in several(fit(target="c5", restriction=Restriction(forbidden=[pair])))
    label = facts_policy(target="c5", sensitive="c3").label
    assert len(label) == 8 and not any(3 in pair for pair in label)


def test_pairs_kept_are_counted_by_hand():
    names = (("a",), ("b",), ("c",), ("d",), ("a", "b", "c"), ("b", "a"))
    entries = [
        Entry(f"s{i}", "mechanism", f"table({' '.join(n)})", attributes=n)
        for i, n in enumerate(names)
    ]
    assert count_pairs(entries) == (3, 6) and count_pairs(entries[:4]) == (0, 6)
    assert count_pairs([]) is None and say_pairs(None) == ""
    chosen = Entry("s9", "mechanism", "round 1", attributes=("a", "d"))
    assert count_pairs([*entries, chosen]) == (3, 6)
    assert "Pairs kept: 0 of 6: in this table everything is independent" in say_pairs((0, 6))
    kept, of = len({frozenset(m) for m in several(fit()) if len(m) == 2}), 45
    assert f"Pairs kept: {kept} of {of}" in str(fit().ledger_)


def test_a_forecast_of_the_look_is_how_often_it_is_weak():
    sizes, n = [3] * 8, 4_000
    rng, scale = np.random.default_rng(0), 3 / (0.05 * n)
    drawn = 0.06 + rng.laplace(0, scale, 40_000)
    sure = [consistent_look.sure_ties(x, n, 1.0, sizes, 2) for x in drawn]
    weak = [consistent_look.share_of_columns(s, n, sizes) > consistent_look.ALONE for s in sure]
    assert np.mean(weak) == pytest.approx(chance_of_columns(0.06, n, 1.0, sizes), abs=0.01)


@pytest.mark.parametrize("options", [{}, {"target": "c3"}])
def test_exact_replay_of_questions_and_tables(options):
    """One record replaced: no step loses more than its line says, whatever the gate answers."""
    frame, schema = ties.one_tie(1_500, 10, 0.5, 1)
    other = frame.copy()
    other.iloc[0] = [(v + 1) % m for v, m in zip(frame.iloc[0], schema.sizes, strict=True)]
    quick = as_measured(pds.ConsistentBayes(4, **options))
    found = pds.audit.replay(quick, frame, other, schema, walks=4)
    assert found.ok, found.violations
    asked = [s for s in found.steps if "tie" in s.step]
    assert bool(asked) == (not options)
    assert found.log_ratio <= 4


def second_kept(epsilon=1.0, seeds=10):
    """In how many fits the second of two ties, .33 and .18 from independence, is kept."""
    rng, sizes = np.random.default_rng(0), [6, 6, 8, 2, 12, 16, 10, 7, 16]
    codes = np.column_stack([rng.integers(0, size, 9_000) for size in sizes])
    codes[:, 1] = np.where(rng.random(9_000) < 0.4, codes[:, 0], codes[:, 1])
    codes[:, 3] = np.where(rng.random(9_000) < 0.36, codes[:, 2] < 4, codes[:, 3])
    frame = pd.DataFrame(codes, columns=[f"c{j}" for j in range(9)])
    kinds = zip(frame, sizes, strict=True)
    schema = pds.Schema(tuple(pds.Attribute.categorical(c, range(m)) for c, m in kinds))
    fits = [pds.ConsistentBayes(epsilon, random_state=i).fit(frame, schema) for i in range(seeds)]
    return sum({"c2", "c3"} in several(fit) for fit in fits)


def test_a_second_tie_that_is_fainter_is_kept():
    """R moves by 3/n. To name a FAINT tie of 36 pairs with 20 : 1 needs .039 of ε = 1."""
    assert second_kept() >= 8


def test_twin_with_an_eightieth_for_each_further_question_it_is_lost(monkeypatch):
    monkeypatch.setattr(consistent_look, "FAINT", math.inf)
    assert second_kept() <= 5


def test_a_tie_gets_what_is_left_where_that_is_enough(monkeypatch):
    """Half of ε is for ties. Each wants 3/20, 1/20 is enough: the third gets the rest."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (20_000, 24))
    for child in (1, 3, 5):
        codes[:, child] = np.where(rng.random(20_000) < 0.8, codes[:, child - 1], codes[:, child])
    frame = pd.DataFrame(codes, columns=[f"c{j}" for j in range(24)])
    kinds = [pds.Attribute.categorical(c, range(5)) for c in frame]
    schema = pds.Schema(tuple(kinds))

    def spend(least):
        costs = lambda tie, *_: (least, Q(3, 20)) if tie else (Q(0), Q(0))  # noqa: E731
        monkeypatch.setattr(consistent_look, "cost_of_tie", costs)
        entries = pds.ConsistentBayes(1.0, random_state=0).fit(frame, schema).ledger_.entries
        asked = sum(float(e.epsilon) for e in entries if "tie" in e.step)
        return asked, [float(e.epsilon) for e in entries if "table(" in e.step and "," in e.step]

    asked, tables = spend(Q(1, 20))
    assert sorted(tables)[1:] == pytest.approx([0.15, 0.15], abs=1e-3)
    assert 0.05 <= min(tables) < 0.14 and sum(tables) + asked <= 0.5 + 1e-3, (tables, asked)
    assert len(spend(Q(3, 20))[1]) == 2, "the third would have too little"

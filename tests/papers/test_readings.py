"""Readings: declared, run, charged; and the statistics that their verdicts rest on, by hand."""

import math
from dataclasses import replace
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from paper_tools import BOARDS

import pdsynth as pds
from pdsynth.papers import privabn, scoreboard
from pdsynth.papers.engine import PAPERS, find
from pdsynth.papers.grids import Curve, matches, read
from pdsynth.papers.judging import judge, judge_together
from pdsynth.papers.readings import Reading
from pdsynth.papers.results import (
    FAILS,
    PARTLY,
    REPLICATES,
    TRIAL,
    WIDE,
    Result,
    Verdict,
    _level,
    decide,
    equivalence_verdict,
)
from pdsynth.papers.rules import RULES, Question, times_apart
from pdsynth.published.at_most import AtMost
from pdsynth.published.partitions import Partitions
from pdsynth.published.privabn import ParentChoice
from pdsynth.published.privabn_readings import AscendingChoice

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = privabn.PAPER.settings(epsilons=(0.1,))

# --- declared


@pytest.mark.parametrize("name", PAPERS)
def test_every_reading_that_a_claim_names_is_declared_with_its_cost(name):
    paper = find(name)
    for claim in paper.file["claim"]:
        base = claim.get("base", paper.file.get("claims", {}).get("base", "printed"))
        keys, named = claim.get("of", paper.experiments), claim.get("readings", [])
        assert all(base in paper.readings(key) for key in keys)
        assert all(any(reading in paper.readings(key) for key in keys) for reading in named)
        for reading in (base, *named):
            found = paper.readings()[reading]
            assert found.says and (found.cost or reading == "printed")
    for reading in paper.readings().values():
        paper.read_settings({}), paper.settings(**reading.options)


def test_an_owner_or_a_reading_that_does_not_exist_is_refused():
    with pytest.raises(pds.BudgetError, match="forensic"):
        Reading("x", "says", "theirs")
    with pytest.raises(pds.BudgetError, match="no reading 'best'"):
        pds.papers.reproduce("privabn", 2, 1, reading="best")


def test_readings_are_told_as_a_table():
    told = pds.papers.readings("privabn").set_index("name")
    assert told.loc["undivided", "whose"] == "forensic"
    assert told.loc["undivided", "options"] == {"reading": "undivided"}


# --- run


def test_only_what_a_reading_changes_is_replaced_and_only_what_it_judges_kept():
    base = pd.DataFrame(
        {"method": ["A", "B", "A", "B"], "dataset": ["x", "x", "y", "y"], "value": [1, 2, 3, 4]}
    )
    own = pd.DataFrame({"method": ["A"], "dataset": ["x"], "value": [9]})
    only = Reading("r", "", "ours", runs={"method": "A", "dataset": "x"}, keep={"dataset": "x"})
    assert only.combine(base, own)["value"].tolist() == [2, 9]
    assert replace(only, runs={}, keep={}).combine(base, None).equals(base)
    with pytest.raises(pds.BudgetError, match="of its own"):
        only.combine(base, None)
    assert matches({"a": "1"}, {"a": ["1", "2"], "not there": "x"})


@pytest.fixture(scope="module")
def bits():
    rng = np.random.default_rng(0)
    base = rng.random((400, 1)) < 0.4
    frame = pd.DataFrame(base ^ (rng.random((400, 5)) < 0.15), columns=list("abcde")).astype(int)
    schema = pds.Schema(tuple(pds.Attribute.categorical(n, (0, 1)) for n in frame.columns))
    return frame, schema


def test_reproduce_runs_a_reading(bits):
    frame, schema = bits
    data = pds.datasets.Dataset(frame, schema, "NLTCS", "a", "b", "drawn here", "none")
    options = {"fine": (0.4, 1.0), "alphas": (3,), "queries": 5, "data": data, "jobs": 1}
    found = {
        reading: pds.papers.reproduce("privabn", 2, 2, reading=reading, **options)
        for reading in (None, "exact")
    }
    assert found["exact"].parameters["reading"] == "exact"
    assert [v.reading for v in found["exact"].verdicts] == ["exact"]
    assert not found["exact"].data["value"].equals(found[None].data["value"])


# --- charged


def ledger(bits, selection):
    frame, schema = bits
    settings = privabn.PAPER.settings(reading=selection)
    made = privabn.synthesizer(Curve("PrivABN", "published"), settings)
    return made.set_params(epsilon=1, random_state=1).fit(frame, schema).ledger_


def test_the_ledger_charges_what_a_forensic_reading_leaves_out(bits):
    """Selections of ε₁/(m−1) and formula (10), against ε₁ and 1/n: the ratio of both, by hand."""
    n, m = 400, 5
    costs = {}
    for name in ("printed", "undivided"):
        entries = [e for e in ledger(bits, name).entries if e.step.startswith("pair ")]
        assert len(entries) == m - 1 and {e.claimed for e in entries} == {Q(1, 8)}
        costs[name] = float(entries[0].epsilon)
    nats = costs["undivided"] / costs["printed"] / (m - 1)  # n times formula (10)
    two_valued = math.log(n) + (n - 1) * math.log(n / (n - 1))
    assert nats == pytest.approx(two_valued, rel=2e-3)
    exact = ledger(bits, "exact")
    assert not [e for e in exact.entries if e.step.startswith("pair ")]
    assert exact.epsilon == math.inf and not exact.private


# --- judged


def claim(p, favoured=REPLICATES):
    """A claim whose verdict holds at every level of at least p."""
    return lambda: Verdict(
        str(p), "", favoured if p is not None and _level.get() >= p else WIDE, "", "", ""
    )


def test_holm_by_hand():
    """.05/3 = .0167, .05/2 = .025, .05: Bonferroni would drop .02, Holm drops what follows .03."""

    def kept(*ps):
        return [v.verdict == REPLICATES for v in judge([claim(p) for p in ps])]

    assert kept(0.01, 0.02, 0.04) == [True, True, True]
    assert kept(0.04, 0.01, 0.03) == [False, True, False]
    assert kept(0.02, 0.02, 0.02) == [False, False, False], "the first of three needs .0167"
    assert kept(0.04) == [True] and kept(0.06) == [False]
    assert kept(0.01, None) == [True, False]
    said = judge([claim(0.04), claim(0.01), claim(0.03)])[0].held
    assert said == "alone, without Holm's correction: replicates"


def test_a_claim_without_an_answer_is_no_member_of_the_family():
    assert judge_together([lambda: None, claim(0.04)])[0] is None
    assert judge([lambda: None, claim(0.04)])[0].verdict == REPLICATES


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ([(0.1, 0.2), (-0.3, 0.2)], REPLICATES),
        ([(0.1, 0.2), (0.9, 0.2)], PARTLY),
        ([(0.9, 0.2), (0.4, 0.2)], FAILS),
        ([(0.1, 0.6)], WIDE),
        ([(0.0, math.inf)], WIDE),
        ([], WIDE),
    ],
)
def test_close_means_an_interval_inside_the_tolerance(gaps, verdict):
    assert equivalence_verdict(gaps, 0.5) == verdict


def test_a_verdict_has_four_values():
    assert [decide(*at) for at in ((1, 0, 0), (0, 0, 1), (0, 1, 1), (0, 0, 0))] == [
        REPLICATES,
        PARTLY,
        FAILS,
        WIDE,
    ]


def test_first_below_by_hand():
    grid = (0.1, 0.2, 0.3, 0.4)
    assert privabn.first_below((0.02, 0.009, 0.011, 0.008), grid, 0.01) == 0.4
    assert privabn.first_below((0.001,) * 4, grid, 0.01) == 0.1
    assert privabn.first_below((0.02,) * 4, grid, 0.01) == math.inf
    runs = [np.array([0.02, 0.021]), np.array([0.009, 0.0091]), *[np.array([0.008, 0.0081])] * 2]
    assert privabn.say_first(runs, grid, 0.01) == "0.2 (95 % 0.2 … 0.2, 2 runs)"


# --- further readings of what the papers leave open


@pytest.mark.parametrize("board", BOARDS, ids=lambda b: b.paper.name)
def test_what_is_declared_was_run(board):
    """A reading whose curves differ has its trials beside the figure, at every figure it names."""
    named = {n for c in board.paper.file["claim"] for n in c.get("readings", [])}
    readings = {n: r for n, r in board.paper.readings().items() if n in named and r.runs}
    files = {
        (key, name): board.file(key, "_trials.csv", name)
        for name, reading in readings.items()
        for key in reading.of
    }
    assert all(file.exists() for file in files.values()), files
    assert len(set(files.values())) == len(files), "two readings share a file"
    assert all(str(file.name).isascii() for file in files.values())


def test_a_reading_that_stands_on_another_replaces_its_curves_only():
    base = pd.DataFrame({"method": ["A", "B"], "value": [1, 2]})
    own = {
        "bits": pd.DataFrame({"method": ["A", "B"], "value": [3, 4]}),
        "bits, η = 0": pd.DataFrame({"method": ["B"], "value": [5]}),
    }
    first = Reading("bits", "", "ours", runs={"method": ["A", "B"]})
    second = Reading("bits, η = 0", "", "ours", runs={"method": "B"}, over="bits")
    paper = find("hmprivbayes")
    known = {r.name: r for r in (first, second)}
    paper = replace(paper, file={**paper.file, "readings": {}})
    object.__setattr__(paper, "find_reading", lambda key, name: known[name])
    result = Result("", base, None, (), (), {})
    data, _ = paper.under(5, result, "bits, η = 0", own)
    assert dict(zip(data["method"], data["value"], strict=True)) == {"A": 3, "B": 5}


def by_hand(columns, weights, order):
    """Algorithm 3 to the letter, with sets of attributes: dp after each newly placed attribute."""

    def information(child, parents):
        table = {}
        for row, weight in zip(columns.T.tolist(), weights.tolist(), strict=True):
            at = tuple(row[p] for p in sorted(parents))
            table.setdefault(at, [0, 0])[row[child]] += weight
        n = weights.sum()
        ones = [sum(t[v] for t in table.values()) for v in (0, 1)]
        return sum(
            c / n * math.log2(c * n / (sum(t) * ones[v]))
            for t in table.values()
            for v, c in enumerate(t)
            if c
        )

    child = order[-1]
    dp = {0: frozenset()}
    for placed, f in enumerate(order[:-1], 1):
        for j in range(1, placed + 1):  # upwards, in place
            grown = dp[j - 1] | {f}
            if j not in dp or information(child, grown) >= information(child, dp[j]) - 1e-12:
                dp[j] = grown
    return [tuple(sorted(dp[j])) for j in range(1, len(dp))]


def test_ascending_parent_sets_are_algorithm_3_to_the_letter():
    rng = np.random.default_rng(3)
    codes = (rng.random((300, 5)) < 0.4).astype(int)
    codes[:, 4] = codes[:, 0] ^ (rng.random(300) < 0.1)
    partitions = Partitions(codes, (2,) * 5)
    ends = {}
    for choice in (AscendingChoice, ParentChoice):
        store, chosen = partitions.parent_sets([4]), choice([4])
        for f in (1, 0, 2, 3):
            chosen.update(store, f)
        ends[choice] = [tuple(sorted(s)) for s in chosen.sets[4]]
    expected = by_hand(partitions.columns, partitions.weights, [1, 0, 2, 3, 4])
    assert ends[AscendingChoice] == expected
    assert ends[ParentChoice] != expected, "twin: a descending j keeps sets of j attributes"
    assert [len(s) for s in ends[ParentChoice]] == [1, 2, 3, 4]


def test_at_most_k_parents_compete_with_fewer_and_are_all_paid_for(bits):
    frame, schema = bits
    rule = AtMost(2)
    found = rule.parent_sets((0, 1, 3), 2, schema.sizes)
    assert [len(rows) for rows in found] == [1, 3, 3] and found[2].tolist()[0] == [0, 1]
    fitted = pds.PrivBayes(
        k=2, reading="at most k", epsilon=1, guarantee="published", random_state=1
    ).fit(frame, schema)
    exact = pds.PrivBayes(k=2, epsilon=1, guarantee="published", random_state=1).fit(frame, schema)
    measured = [
        sum(e.step.startswith("table") or "table" in e.released for e in f.ledger_.entries)
        for f in (fitted, exact)
    ]
    assert measured[0] - measured[1] == 2, "the first k tables can't be derived any more"
    assert fitted.ledger_.epsilon == exact.ledger_.epsilon == 1


@pytest.mark.parametrize(
    ("made", "reading"),
    [
        (pds.PrivBayes(k=2), "at most k"),
        (pds.PrivBayes(k=2), "bits"),
        (pds.PrivBayes(k=2), "thesis"),
        (pds.HPPrivBayes(k=2, sensitive="a", r=1.0), "at most k"),
        (pds.PrivABN(), "ascending"),
        (pds.PrivABN(), "undivided"),
        (pds.PrivABN(), "exact"),
        (pds.baselines.JTree(), "bits"),
    ],
)
def test_a_reading_is_an_option_of_its_class_and_strict_refuses_it(bits, made, reading):
    frame, schema = bits
    made = made.set_params(reading=reading, random_state=1)
    with pytest.raises(pds.BudgetError, match="published"):
        made.fit(frame, schema)
    assert not made.spent_ and made.unfinished_ == ()
    fitted = made.set_params(guarantee="published").fit(frame, schema)
    assert len(fitted.sample(50)) == 50
    with pytest.raises(pds.BudgetError, match="reading must be"):
        made.set_params(reading="mine").fit(frame, schema)


def test_on_bits_k_counts_bits(tiny):
    """Five attributes of three values are ten bits, and each bit has its table."""
    made = pds.PrivBayes(k=2, reading="bits", guarantee="published", random_state=1)
    fitted = made.fit(tiny.frame, tiny.schema)
    assert len(fitted.network_) == 10 and fitted.network_.degree == 2
    assert fitted.ledger_.epsilon == 1


def test_at_most_k_needs_a_number(bits):
    for made in (pds.PrivBayes(), pds.HPPrivBayes(sensitive="a")):
        with pytest.raises(pds.BudgetError, match="whole number"):
            made.set_params(reading="at most k", guarantee="published").fit(*bits)


# --- times and intervals


def test_a_single_time_may_be_off_by_a_half():
    one = np.array([1.0])
    assert times_apart(np.array([1.4]), one)[0] < times_apart(one, one)[1]
    assert times_apart(np.array([1.6]), one)[0] > times_apart(one, one)[1]
    gap, half = times_apart(np.array([2.0, 2.2]), np.array([1.0, 1.1]))
    assert gap == pytest.approx(math.log(2), abs=1e-9) and 0.05 < half < 1


def test_errors_of_different_sizes_are_compared_with_an_interval():
    def asked(spread, runs=20):
        rng = np.random.default_rng(0)
        rows = [
            ("L2", "x", a, "PrivABN", "published", 0.1, size + spread * rng.normal())
            for a, size in (("3", 1.0), ("7", 1.7))
            for _ in range(runs)
        ]
        names = ["metric", "dataset", "alpha", "method", "guarantee", "epsilon", "value"]
        return Question(1, pd.DataFrame(rows, columns=names), SETTINGS, {})

    assert RULES["hardly_differs"][0](asked(0.01))[0] == REPLICATES
    assert RULES["hardly_differs"][0](asked(0.6))[0] == WIDE, "twin: means alone would replicate"


# --- for researchers


def test_all_trials_are_one_tidy_table():
    every = scoreboard.all_trials(BOARDS)
    lines = sum(len(read(f)) for f in ROOT.glob("figures/*/**/*_trials.csv"))
    assert len(every) == lines
    assert list(every.columns[:3]) == ["paper", "figure", "reading"]
    assert tuple(every.columns[-4:]) == TRIAL
    undivided = every[(every["paper"] == "privabn") & (every["reading"] == "undivided")]
    assert set(undivided["method"]) == {"PrivABN"} and set(undivided["figure"]) == {"fig2"}

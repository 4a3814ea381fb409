"""Readings: declared, run, charged; and the statistics that their verdicts rest on, by hand."""

import math
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.papers import PAPERS, privabn
from pdsynth.papers.engine import Curve, find
from pdsynth.papers.grids import matches
from pdsynth.papers.judging import judge, judge_together
from pdsynth.papers.readings import Reading
from pdsynth.papers.results import (
    FAILS,
    OPEN,
    PARTLY,
    REPLICATES,
    Verdict,
    _level,
    decide,
    equivalence_verdict,
)

# --- declared


@pytest.mark.parametrize("name", PAPERS)
def test_every_reading_that_a_claim_names_is_declared_with_its_cost(name):
    paper = find(name)
    for claim in paper.file["claim"]:
        base = claim.get("base", paper.file.get("claims", {}).get("base", "printed"))
        for key in claim.get("of", paper.experiments):
            for reading in (base, *claim.get("readings", [])):
                found = paper.find_reading(key, reading)
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
    assert told.loc["undivided", "options"] == {"selection": "undivided"}


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
    assert found["exact"].parameters["selection"] == "exact"
    assert [v.reading for v in found["exact"].verdicts] == ["exact"]
    assert not found["exact"].data["value"].equals(found[None].data["value"])


# --- charged


def ledger(bits, selection):
    frame, schema = bits
    settings = privabn.PAPER.settings(selection=selection)
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
        str(p), "", favoured if p is not None and _level.get() >= p else OPEN, "", "", ""
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
        ([(0.1, 0.6)], OPEN),
        ([(0.0, math.inf)], OPEN),
        ([], OPEN),
    ],
)
def test_close_means_an_interval_inside_the_tolerance(gaps, verdict):
    assert equivalence_verdict(gaps, 0.5) == verdict


def test_a_verdict_has_four_values():
    assert [decide(*at) for at in ((1, 0, 0), (0, 0, 1), (0, 1, 1), (0, 0, 0))] == [
        REPLICATES,
        PARTLY,
        FAILS,
        OPEN,
    ]


def test_first_below_by_hand():
    grid = (0.1, 0.2, 0.3, 0.4)
    assert privabn.first_below((0.02, 0.009, 0.011, 0.008), grid, 0.01) == 0.4
    assert privabn.first_below((0.001,) * 4, grid, 0.01) == 0.1
    assert privabn.first_below((0.02,) * 4, grid, 0.01) == math.inf
    runs = [np.array([0.02, 0.021]), np.array([0.009, 0.0091]), *[np.array([0.008, 0.0081])] * 2]
    assert privabn.say_first(runs, grid, 0.01) == "0.2 (95 % 0.2 … 0.2, 2 runs)"

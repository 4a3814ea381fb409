"""Several holders: a value for each method and point, arithmetic that holds, rules on plants."""

from dataclasses import replace

import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.datasets.adult import load_adult
from pdsynth.papers import holders
from pdsynth.papers.results import judged_at
from pdsynth.papers.rules import Question

QUICK = {"epsilons": (1.0,), "holders": (2,)}


@pytest.mark.filterwarnings("ignore")
def test_a_figure_has_a_number_for_each_method_at_each_point():
    data = load_adult(coding="thesis")
    few = replace(data, frame=data.frame.iloc[:600], name="a few", split=None)
    options = {**QUICK, "synthesizers": ("HPPrivBayes", "ConsistentBayes"), "data": few}
    result = pds.papers.reproduce("holders", 1, 1, jobs=1, **options)
    count = result.data.groupby("synthesizer")["method"].nunique()
    assert count.to_dict() == {"HPPrivBayes": 4, "ConsistentBayes": 4}
    assert result.data["value"].between(0, 1).all()
    assert {v.verdict for v in result.verdicts}


def test_what_colluding_holders_learn():
    data = pds.papers.reproduce("holders", 2, 1, jobs=1).data
    at = data.set_index(["method", "holders", "colluding"])["value"]
    assert at[holders.SHARES, "20", "0"] == pytest.approx(0.1)
    assert at[holders.SHARES, "2", "1"] > 0.9 and at[holders.LOCAL, "2", "1"] == pytest.approx(0.1)
    assert at["shares for half", "20", "10"] == pytest.approx(0.1)
    assert at["shares for half", "20", "11"] > 0.1
    for _, part in data.groupby(["method", "holders"]):
        assert part["value"].is_monotonic_increasing


def planted(**means):
    """Four runs of each method at two numbers of holders; one curator has none."""
    rows = [
        {"metric": holders.DISTANCE, "synthesizer": "HPPrivBayes", "method": method,
         "guarantee": "strict", "holders": str(m), "colluding": "0", "epsilon": 1.0,
         "repeat": repeat, "seed": 0, "value": value + 1e-4 * repeat, "note": ""}
        for method, values in means.items()
        for m, value in values.items()
        for repeat in range(4)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("shared", "other", "said"),
    [
        ({2: 0.05, 5: 0.05}, {1: 0.05}, "replicates"),
        ({2: 0.05, 5: 0.09}, {1: 0.05}, "partly"),
        ({2: 0.09, 5: 0.09}, {1: 0.05}, "does not"),
    ],
)
def test_as_near_asks_at_every_point(shared, other, said):
    data = planted(**{holders.SHARES: shared, holders.CURATOR: other})
    claim = {"method": holders.SHARES, "other": holders.CURATOR}
    assert holders.as_near(Question(1, data, holders.PAPER.settings(), claim))[0] == said


@pytest.mark.parametrize(
    ("shared", "other", "said"),
    [
        ({2: 0.03, 5: 0.03}, {2: 0.05, 5: 0.05}, "replicates"),
        ({2: 0.05, 5: 0.05}, {2: 0.03, 5: 0.03}, "does not"),
    ],
)
def test_nearer_at_all_says_who_is_nearer(shared, other, said):
    data = planted(**{holders.SHARES: shared, holders.LOCAL: other})
    claim = {"method": holders.SHARES, "other": holders.LOCAL}
    assert holders.nearer_at_all(Question(1, data, holders.PAPER.settings(), claim))[0] == said


def test_intervals_widen_with_the_level_that_holm_asks_for():
    data = planted(**{holders.SHARES: {2: 0.03}, holders.LOCAL: {2: 0.05}})
    claim = {"method": holders.SHARES, "other": holders.LOCAL}
    question = Question(1, data, holders.PAPER.settings(), claim)
    ((gap, half),) = holders.compared(question)[0]
    with judged_at(0.05 / 3):
        ((same, wider),) = holders.compared(question)[0]
    assert same == gap and wider / half == pytest.approx(2.39398 / 1.959964, rel=1e-5)


def test_nearness_is_sized_as_a_part_of_the_other_s_distance():
    data = planted(**{holders.SHARES: {2: 0.05, 5: 0.04}, holders.CURATOR: {1: 0.05}})
    data["value"] = data["value"].round(2)
    claim = {"method": holders.SHARES, "other": holders.CURATOR}
    _, words = holders.as_near(Question(1, data, holders.PAPER.settings(), claim))
    assert words["size"] == "+10.0% (+0.0% … +20.0%)"

"""The scoreboard's sizes: by hand on small boards, as the page's legend says them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pdsynth.papers import hpprivbayes, persons, privabn, results
from pdsynth.papers.judging import ask_all, judge
from pdsynth.papers.results import PARTLY, REPLICATES
from pdsynth.papers.rules import Question

EPSILONS = (0.2, 0.4, 0.6, 0.8)
RATIOS = {0.2: (0.5, 0.9), 0.4: (1.0, 1.2), 0.6: (1.1, 1.5), 0.8: (2.0, 3.0)}
CLAIM = {
    "rule": "above",
    "says": "",
    "source": "",
    "why": "",
    "numbers": "",
    "a": {"method": "A"},
    "b": {"method": "B"},
    "at": {"dataset": ["x", "y"], "epsilon": "$epsilons"},
}


def board():
    """A is so many times B as RATIOS says, on two tables, with a little noise."""
    rows = [
        (method, table, e, level * (1 + i / 1e6), i)
        for e, both in RATIOS.items()
        for table, ratio in zip("xy", both, strict=True)
        for method, level in (("A", ratio), ("B", 1.0))
        for i in (-1, 0, 1)
    ]
    return pd.DataFrame(rows, columns=["method", "dataset", "epsilon", "value", "repeat"])


def size(**change):
    settings = SimpleNamespace(epsilons=EPSILONS)
    (verdict,) = judge(ask_all([{**CLAIM, **change}], 1, board(), settings, {}))
    return verdict.size


def test_the_median_at_the_middle_and_the_range_over_all_points():
    assert size() == "1.30 × B at ε = 0.6 (0.50 … 3.00)"


def test_middle_and_range_are_those_of_the_claim_s_own_points():
    assert size(at={"dataset": ["x", "y"], "epsilon": [0.2, 0.4]}) == (
        "1.10 × B at ε = 0.4 (0.50 … 1.20)"
    )
    assert size(at={"dataset": "x", "epsilon": 0.4}) == "1.00 × B at ε = 0.4"


def test_a_claim_says_what_a_rival_without_a_method_is():
    assert size(named="no tree").startswith("1.30 × no tree at")


def test_without_an_epsilon_the_median_is_of_all_points():
    data = board().query("epsilon == 0.6").drop(columns="epsilon")
    question = Question(1, data, None, CLAIM | {"at": {"dataset": ["x", "y"]}})
    assert question.size() == "1.30 × B (1.10 … 1.50)"


def test_close_at_first_is_sized_where_it_is_judged():
    claim = CLAIM | {"at": {"dataset": "x", "epsilon": "$epsilons"}}
    question = Question(4, board(), SimpleNamespace(epsilons=EPSILONS), claim)
    _, words = hpprivbayes.close_at_first(question)
    assert words["size"] == "1.00 × B at ε = 0.4 (0.50 … 1.00)", "not at ε = 0.6"


def test_a_claim_about_ranges_is_sized_by_ranges():
    rows = [
        (method, a, 1.0, level + i / 1e6, i)
        for method, levels in (("JTree", (9.0, 12.0)), ("PrivABN", (1.0, 2.5)))
        for a, level in zip(("4", "8"), levels, strict=True)
        for i in (-1, 0, 1)
    ]
    data = pd.DataFrame(rows, columns=["method", "alpha", "epsilon", "value", "repeat"])
    claim = {"at": {"method": "JTree", "epsilon": 1.0}, "b": {"method": "PrivABN"}}
    question = Question(3, data, SimpleNamespace(retail_alphas=("4", "8")), claim)
    verdict, words = privabn.steadier(question)
    assert words["size"] == "range 2.00 × PrivABN at ε = 1", "not 10.5 / 1.75 = 6"
    assert verdict == REPLICATES


def test_without_ratios_the_median_difference_and_its_range():
    """A rule that compares what no selector names."""
    rows = [
        (who, mix, "1", "1", 10, level + i / 1e4, i)
        for mix, gap in (("a", 0.1), ("b", 0.2), ("c", 0.6), ("d", 0.8))
        for who, level in (("mine", 1.0), ("other", 1.0 + gap))
        for i in (-1, 0, 1)
    ]
    names = ["method", "mix", "tie", "bins", "n", "value", "repeat"]
    claim = {n: v for n, v in CLAIM.items() if n != "at"} | {
        "rule": persons.nearer_everywhere.__name__,
        "method": "mine",
        "other": "other",
    }
    (verdict,) = judge(ask_all([claim], 1, pd.DataFrame(rows, columns=names), None, {}))
    assert verdict.size == "+0.4 (+0.1 … +0.8)"


@pytest.mark.parametrize(
    ("curves", "sign", "said"),
    [
        ({"one": (4.0, 1.0)}, -1, "4 → 1"),
        ({"one": (4.0, 1.0), "two": (3.0, 2.0)}, -1, "3 → 2 (two)"),
        ({"one": (1.0, 4.0), "two": (2.0, 3.0)}, 1, "2 → 3 (two)"),
        ({"a": (4.0, 1.0), "b": (4.0, 3.0), "c": (4.0, 2.0)}, -1, "4 → 2 (c)"),
        ({"a": (-0.2, -0.1), "b": (-0.2, -0.3), "c": (0.1, 0.1)}, -1, "0.1 → 0.1 (c)"),
        ({"a": (4.0, 1.0), "b": (np.nan, 1.0)}, -1, "4 → 1 (a)"),
    ],
)
def test_a_trend_shows_its_middle_curve_by_name(curves, sign, said):
    assert results.say_move(curves, sign) == said


def test_the_curve_named_is_the_one_whose_ends_are_shown():
    runs = {"A": (0.5, 0.4, 0.1), "B": (0.5, 0.6, 0.7), "C": (0.5, 0.45, 0.4)}
    curves = {n: [np.array([m, m + 1e-6]) for m in means] for n, means in runs.items()}
    verdict, _, shown = results.trend(curves, [1.0, 2.0, 3.0], -1)
    assert (verdict, shown) == (PARTLY, "0.5 → 0.4 (C)")

"""Exercises of lesson 12, PPBA."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...network import Network
from .exercise import Exercise, word


def _shares(heaviest: Any, scale: Any) -> str | None:
    a, b = Fraction(str(heaviest)).limit_denominator(10**6), Fraction(str(scale)).limit_denominator(10**6)
    right, noise = Fraction(1, 20), 40
    if a != right:
        mistakes = {
            Fraction(2, 5): "heaviest: that is the lightest table. q > 1 gives the heaviest table the least.",
            Fraction(1, 15): "heaviest is its *share*, 1/15; its budget is that share of ε₂ = 3/4.",
            Fraction(3, 16): "heaviest: that is an equal share. The budgets are 1 : 2 : 4 : 8.",
        }
        return mistakes.get(a, f"heaviest = {a}: four budgets in the ratio 1 : 2 : 4 : 8 add up to 3/4.")
    if b == noise:
        return None
    if b == noise // 2:
        return "scale is half of what is needed: a replaced record moves two cells, so the sensitivity is 2."
    return f"heaviest is right. scale = {b}: sensitivity 2 divided by the table's budget."


def _loss(function: Callable[[Network, dict[str, Fraction], str], Any]) -> str | None:
    network = Network((("a", ()), ("b", ("a",)), ("c", ("a",)), ("d", ("c", "a"))))
    budgets = {"a": Fraction(2, 5), "b": Fraction(3, 10), "c": Fraction(1, 5), "d": Fraction(1, 10)}
    if function(network, dict(budgets), "a") is None:
        return "loss returns nothing yet."
    for name, right in {"a": Fraction(1), "b": Fraction(3, 10), "c": Fraction(3, 10), "d": Fraction(1, 10)}.items():
        got = Fraction(function(network, dict(budgets), name))
        if got == right:
            continue
        if got == budgets[name]:
            return f"loss gives {got} for {name!r}, the budget of its own table. It also stands in the tables of its children."
        if got == right - budgets[name]:
            return f"loss gives {got} for {name!r}: its own table is missing."
        return f"loss gives {got} for {name!r}; the tables that it stands in have {right} together."
    return None


q1 = Exercise(
    _shares,
    "1 + 2 + 4 + 8 = 15 parts of 3/4; the heaviest table has one of them. Its noise scale is 2 divided by its budget.",
    "heaviest = Fraction(3, 4) / 15 = 1/20, scale = 2 / (1/20) = 40 records.",
    "Question 1",
    "Correct: 40 records of noise in each cell of the table that matters most, 5 in the one that matters least.",
)
q2 = Exercise(
    _loss,
    "for child, parents in network.pairs: does the attribute stand in (child, *parents)?",
    "def loss(network, budgets, attribute):\n"
    "    return sum(budgets[child] for child, parents in network.pairs if attribute in (child, *parents))",
    "Question 2",
    "Correct. That is what the ledger adds up, with the selections on top.",
)
q3 = Exercise(
    word(
        ("weights", "weight"),
        {
            "matrix": "leak: the matrix is noisy, and its noise is paid for.",
            "network": "leak: the network is chosen by exponential mechanisms that are paid for, along a tree of the noisy matrix.",
            "budgets": "leak: budgets are a function of the weights. Where do those come from?",
            "tables": "leak: each table gets the noise of its budget. But what decides that budget?",
        },
        'leak: answer with the name on the left of a line: "matrix", "network", "weights", "budgets" or "tables".',
    ),
    "Which line touches `frame` and no ε?",
    "'weights': information(frame, …) is exact. The repair is a word: sum the noisy matrix over the parents.",
    "Question 3",
    "Correct: the ranks, and with them all noise scales, become an exact function of the records. Take the weights from the noisy matrix.",
)

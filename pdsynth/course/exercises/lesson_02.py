"""Exercises of lesson 02, composition and the ledger."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .exercise import Exercise, each, number, word


def _cost(function: Callable[..., Any]) -> str | None:
    if function([(1, 2)]) is None:
        return "true_cost returns nothing yet."
    cases: list[list[tuple[Any, Any]]] = [
        [(1, 2), (1, 3), (1, 6)],
        [(2, 24)] * 12,
        [(Fraction(4, 5), Fraction(8)), (2, Fraction(1, 2))],
        [],
    ]
    for steps in cases:
        right = sum((Fraction(s) / Fraction(b) for s, b in steps), Fraction(0))
        got = function(steps)
        if math.isclose(float(got), float(sum(Fraction(b) / Fraction(s) for s, b in steps))) and steps and got != right:
            return "true_cost divides scale by sensitivity: more noise must cost less."
        if not math.isclose(float(got), float(right)):
            return f"true_cost({steps[:3]}…) gives {float(got):.4g}: add sensitivity ÷ scale over all steps."
        if not isinstance(got, (Fraction, int)):
            return (
                f"the value is right, but it is a {type(got).__name__}: "
                "start from Fraction(0) and use Fraction(s) / Fraction(b), so that nothing drifts."
            )
    return None


q1 = Exercise(
    number(
        0.5,
        {
            1.0: "pair_cost adds the two sets as if one record were in both. "
            "A replaced record changes at most two cells of both histograms together.",
            0.25: "pair_cost counts one cell. A replaced record leaves one cell and enters another, perhaps in the other set.",
        },
        "pair_cost = {value:g}. How many cells can one replaced record change, over both histograms? Divide by the scale.",
    ),
    "Both releases together are one histogram of (sex, occupation). What is its sensitivity?",
    "2/4 = 1/2: one cell loses a record, one gains it, in the same set or in two.",
    "Question 1",
    "Correct: the same as one of them alone. Splitting by records is free, because a record has one place.",
)
q2 = Exercise(
    _cost,
    "Sequential composition: the sum of sensitivity ÷ scale.",
    "def true_cost(steps):\n    return sum((Fraction(s) / Fraction(b) for s, b in steps), Fraction(0))",
    "Question 2",
    "Correct: this is rule L3 and rule L8 of the ledger in one line.",
)
q3 = Exercise(
    each(
        word("records", {}, "word: the attributes *are* disjoint. But what has to be disjoint in Definition 7?"),
        number(
            14,
            {
                1: "word is right; then cost can't be 1: every record is in each of the 14 histograms.",
                28: "word is right. The 2 of a replaced record is already in the scale 2/ε: one histogram costs ε.",
            },
            "word is right. cost = {value:g}: one histogram costs ε = 1; how many are there?",
        ),
    ),
    "One person has an age, a sex, an occupation …: in how many histograms does this one record stand?",
    "'records', 14: each record is in all 14 columns, so the costs add up to 14 times ε.",
    "Question 3",
    "Correct: columns compose sequentially. Rule L6 of the ledger rejects a parallel group whose parts are columns.",
)

"""Exercises of lesson 09, normalised risk entropy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .exercise import Exercise, number, word


def _shares(function: Callable[[Sequence[float]], Sequence[float] | None]) -> str | None:
    for oe in ([0.0, 1.0], [0.9, 0.5, 0.1, 0.1], [0.3]):
        got = function(oe)
        if got is None:
            return "shares returns nothing yet."
        mine = [float(x) for x in got]
        if len(mine) != len(oe):
            return f"shares({oe}) has {len(mine)} numbers for {len(oe)} attributes."
        right = [math.exp(-x) / sum(math.exp(-y) for y in oe) for x in oe]
        if all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(mine, right, strict=True)):
            continue
        if not math.isclose(sum(mine), 1, abs_tol=1e-9):
            return f"shares({oe}) add up to {sum(mine):.4g}: divide by the sum of the weights, or the tables cost more than ε₃."
        if all(math.isclose(a, math.exp(x) / sum(math.exp(y) for y in oe), abs_tol=1e-9) for a, x in zip(mine, oe, strict=True)):
            return "shares has the sign turned round: a larger OE must get a *smaller* share."
        return f"shares({oe}) = {[round(x, 3) for x in mine]}: the weights are exp(−OE)."
    return None


q1 = Exercise(
    number(
        7 / 12,
        {
            7 / 8: "oe divides by log₂ 4, the values that occur. The formula's n is the number of *declared* values, eight.",
            7 / 16: "oe divides by log₂ 16, the number of records. n means records everywhere else in the paper, but not in formula (11).",
            7 / 4: "oe is the entropy itself, in bits: it is not normalised yet.",
            7 / 12 * math.log(2): "oe mixes nats and bits: use the same logarithm above and below the line, and its base cancels.",
        },
        "oe = {value:g}. H = 7/4 bits; and n?",
    ),
    "Shares 1/2, 1/4, 1/8, 1/8 with surprises of 1, 2, 3 and 3 bits. And log₂ of how many declared values?",
    "H = 1/2 + 1/2 + 3/8 + 3/8 = 7/4 bits; eight declared values: log₂ 8 = 3; OE = 7/12.",
    "Question 1",
    "Correct: 7/12. The four empty values count, because they are declared.",
)
q2 = Exercise(
    _shares,
    "Weights exp(−OE), divided by their sum.",
    "def shares(oe):\n    w = np.exp(-np.array(oe))\n    return w / w.sum()",
    "Question 2",
    "Correct. They add up to one, so the tables together cost exactly ε₃.",
)
q3 = Exercise(
    word(
        ("len(column)", "len( column )", "len (column)"),
        {
            "log2": "bug: any logarithm would do, as long as it is the same above and below the line.",
            "p > 0": "bug: leaving out empty values is right, since p log p tends to 0.",
            "p>0": "bug: leaving out empty values is right, since p log p tends to 0.",
        },
        "bug: answer 'log2', 'len(column)' or 'p > 0'.",
    ),
    "A column of 45,222 records with 2 values: by what should H be divided?",
    "'len(column)': the number of records. n in formula (11) is the number of declared values; with records in its place all OE are "
    "small, the shares nearly equal, and doubling the table changes them.",
    "Question 3",
    "Correct: the paper uses the letter n for records and for values. Here it must be the number of declared values.",
)

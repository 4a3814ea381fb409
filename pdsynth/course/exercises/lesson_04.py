"""Exercises of lesson 04, PrivBayes."""

from __future__ import annotations

from collections.abc import Callable
from math import comb

from .exercise import Exercise, number


def _pairs(function: Callable[[int, int, int], int]) -> str | None:
    if function(2, 5, 1) is None:
        return "pairs returns nothing yet."
    for i, d, k in ((2, 14, 2), (3, 14, 2), (7, 14, 2), (14, 14, 4), (2, 3, 1)):
        right, got = (d - i + 1) * comb(i - 1, min(k, i - 1)), function(i, d, k)
        if got == right:
            continue
        if got == (d - i + 1) * comb(i - 1, k):
            return f"pairs({i}, {d}, {k}) gives {got}: while fewer than k attributes are placed, all are parents: min(k, i − 1)."
        if got == (d - i) * comb(i - 1, min(k, i - 1)):
            return f"pairs({i}, {d}, {k}) gives {got}: i − 1 attributes are placed, so d − (i − 1) children are left, not d − i."
        if got == (d - i + 1) * sum(comb(i - 1, s) for s in range(min(k, i - 1) + 1)):
            return f"pairs({i}, {d}, {k}) gives {got}: that counts all |Π| ≤ k; take exactly min(k, i − 1) parents."
        return f"pairs({i}, {d}, {k}) gives {got}, not {right}. Count the children that are left, times the parent sets among i − 1."
    return None


q1 = Exercise(
    number(
        2 * 12 / 0.7,
        {
            12 / 0.7: "scale is half of what is needed: replacing a record moves two cells, so the sensitivity is 2, not 1.",
            24: "scale spends all of ε on the tables; 0.3 of it went to the structure.",
            2 * 14 / 0.7: "scale pays for 14 tables; the first k = 2 are derived, only d − k = 12 are measured.",
            2 * 12 / 0.3: "scale uses ε₁ = 0.3; the tables get ε₂ = 0.7.",
        },
        "scale = {value:.4g} is not 2(d − k)/ε₂. How many tables are measured, and what is left of ε?",
        within=5e-3,
    ),
    "d − k tables share ε₂ = (1 − β)ε, and one replaced record moves two cells of each.",
    "2 · (14 − 2) / 0.7 = 240/7 ≈ 34.3 records.",
    "Question 1",
    "Correct: about 34 records in every cell of every table, whatever the table is about.",
)
q2 = Exercise(
    _pairs,
    "At step i there are i − 1 attributes placed: how many children are left, and how many parent sets of size min(k, i − 1)?",
    "def pairs(i, d, k):\n    return (d - i + 1) * comb(i - 1, min(k, i - 1))",
    "Question 2",
    "Correct. With d = 14 and k = 2 the largest Ω has 180 pairs: more pairs, more noise to fool the choice.",
)
q3 = Exercise(
    number(
        14 / 10,
        {
            1: "multiple: that is what is claimed. Count the tables that get noise: the loop runs over all of them.",
            10 / 14: "multiple is upside down: more tables than were paid for cost more, not less.",
        },
        "multiple = {value:.4g}. One table costs 2/scale = ε₂/(d − k). How many tables does the loop noise?",
        within=5e-3,
    ),
    "Look at the list comprehension: does it skip the first k tables?",
    "All d tables are noised with the scale for d − k, so the cost is d/(d − k) · ε₂ = 14/10 ε₂. "
    "Derive the first k tables, or use the scale 2d/ε₂.",
    "Question 3",
    "Correct: 1.4 ε₂. Public code for the thesis does exactly this.",
)

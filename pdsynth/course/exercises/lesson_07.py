"""Exercises of lesson 07, HPPrivBayes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .exercise import Exercise, number, word


def _cost(function: Callable[[int, int, int, Fraction], Fraction]) -> str | None:
    if function(14, 4, 7, Fraction(1)) is None:
        return "true_cost returns nothing yet."
    for d, k, l_, eps in ((14, 4, 7, Fraction(1)), (14, 4, 9, Fraction(1)), (6, 2, 3, Fraction(1, 2))):
        right, got = Fraction(d - l_, d - k - l_) * eps, function(d, k, l_, eps)
        if abs(Fraction(got) - right) > Fraction(1, 10**9):
            if abs(Fraction(got) - eps) < Fraction(1, 10**9):
                return "true_cost returns what is claimed. Count the tables that are noised: d − l of them, not d − k − l."
            return f"true_cost({d}, {k}, {l_}, {eps}) gives {float(got):.4g}. One table costs 2/scale; how many tables are there?"
    return None


q1 = Exercise(
    number(
        2 * 7 / (0.65 / 4),
        {
            7 / (0.65 / 4): "scale_a is half of what is needed: replacing a record moves two cells, so the sensitivity is 2, not 1.",
            2 * 7 / (0.65 / 3): "scale_a uses ε₂ = r · rest. r is L2/L3, so ε₂ is r/(1+r) = 1/4 of the rest, not 1/3.",
            2 * 7 * 4: "scale_a forgets that order, groups, weights and structure have been paid first: only 1 − L0 − L1 = 0.65 is left.",
        },
        "scale_a = {value:.4g} is not 2|A|/ε₂. What is ε₂?",
        within=1e-4,
    ),
    "Sensitivity 2, |A| = 7 tables share ε₂; ε₂ is r/(1+r) of what L0 and L1 leave.",
    "2 · 7 / ((1 − 0.05 − 0.3) · 1/4) = 1120/13 ≈ 86.15 records.",
    "Question 1",
    "Correct: about 86 records in every cell of every group-A table.",
)
q2 = Exercise(
    _cost,
    "Each of the d − l tables costs 2 / scale = ε₂ / (d − k − l).",
    "def true_cost(d, k, l, epsilon2):\n    return Fraction(d - l, d - k - l) * epsilon2",
    "Question 2",
    "Correct: 7/3 ε₂ on Adult with k = 4 and l = 7. The ledger computes the same from sensitivity and scale.",
)
q3 = Exercise(
    word(
        "shared",
        {"negative": "bug: negative counts are clipped later, that is post-processing and harmless."},
        "bug: the scale is whatever the caller passes. Look at the shape of the noise, and subtract two cells of one row.",
        inside=True,
    ),
    "One draw a row: what is counts[0, 0] − counts[0, 1] after the noise?",
    "'shared noise': the differences inside a row are published exactly, so no finite ε holds. Public code has done this.",
    "Question 3",
    "Correct: one draw a row cancels in the difference of two cells. Draw one number a cell.",
)

"""Exercises of lesson 10, HMPrivBayes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .exercise import Exercise, word


def _scales(strict: Any, published: Any) -> str | None:
    a, b = float(strict), float(published)
    if abs(a - 40) < 1e-6 and abs(b - 20) < 1e-6:
        return None
    if abs(a - 20) < 1e-6 and abs(b - 40) < 1e-6:
        return "the two are turned round: published lets each cluster spend all of ε₃, so its noise is smaller."
    if abs(a - 20) < 1e-6 and abs(b - 10) < 1e-6:
        return "both are half of what is needed: a replaced record leaves one cell and enters another, so the sensitivity is 2."
    if abs(a - b) < 1e-6:
        return "the two can't be equal: strict shares ε₃ among all ten tables, published gives it to each cluster of five."
    if abs(a - 40) < 1e-6:
        return f"strict is right. published = {b:g}: five tables share ε₃ = 1/2, sensitivity 2."
    return f"strict = {a:g}: ten tables share ε₃ = 1/2, so each has 1/20, and the sensitivity of its counts is 2."


def _true_cost(function: Callable[[int, int], Fraction]) -> str | None:
    if function(6, 3) is None:
        return "true_cost returns nothing yet."
    for d, k in ((6, 3), (52, 3), (175, 3), (9, 2)):
        a1, a2 = Fraction(d - 1), Fraction(2 * d, k)
        whole = a1 + 2 * a2
        right, got = (d // 2) * a1 / whole + k * 2 * a2 / whole, Fraction(function(d, k))
        if abs(got - right) < Fraction(1, 10**6):
            continue
        if abs(got - 1) < Fraction(1, 10**6):
            return "true_cost returns what is claimed, 1. Multiply ε₁ by ⌊d/2⌋, and ε₂ + ε₃ by k."
        if abs(got - (d // 2 * a1 / whole + 2 * a2 / whole)) < Fraction(1, 10**6):
            return "true_cost forgets the clusters: each of the k spends ε₂ + ε₃ on the same records."
        if abs(got - (a1 / whole + k * 2 * a2 / whole)) < Fraction(1, 10**6):
            return "true_cost forgets DPSC: one record is in all pairs, ⌊d/2⌋ times what is paid."
        if abs(got - (Fraction(d, 2) * a1 / whole + k * 2 * a2 / whole)) < Fraction(1, 10**6):
            return f"true_cost({d}, {k}): an odd number of columns has ⌊d/2⌋ disjoint pairs; use d // 2."
        return f"true_cost({d}, {k}) = {float(got):.4g}, not {float(right):.4g}. Start from a1, a2, a3 and divide by their sum."
    return None


q1 = Exercise(
    _scales,
    "Equal entropies are equal shares: ε₃ divided by the number of tables that share it; scale = 2 / share.",
    "strict: 2 · 10 / (1/2) = 40 records; published: 2 · 5 / (1/2) = 20.",
    "Question 1",
    "Correct: 40 and 20. Half of the noise is not saved, it is not paid for.",
)
q2 = Exercise(
    _true_cost,
    "a1 = d − 1, a2 = a3 = 2d/k; ε_j = a_j / (a1 + a2 + a3).",
    "def true_cost(d, k):\n    a1, a2 = Fraction(d - 1), Fraction(2 * d, k)\n    whole = a1 + 2 * a2\n"
    "    return (d // 2) * a1 / whole + k * 2 * a2 / whole",
    "Question 2",
    "Correct: 12.75 for the 52 bits of Adult, 38.9 for the 175 of Big5, of a claimed 1.",
)
q3 = Exercise(
    word(
        "records",
        {
            "noisy": "bug: the noisy matrix has been paid for. It is the other source of similarities that isn't.",
            "eta": "bug: η is a public number.",
        },
        "bug: answer 'records', 'noisy' or 'eta'.",
    ),
    "Which of its inputs has not gone through a mechanism?",
    "'records': the candidates are filtered by raw similarities, so which candidates exist depends on the records: support mismatch.",
    "Question 3",
    "Correct. Formula (9) is harmless on the noisy matrix only.",
)

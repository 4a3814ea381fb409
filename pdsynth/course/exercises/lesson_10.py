"""Exercises of lesson 10, HMPrivBayes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .judges import Computation, same
from .lesson import exercises


def judge_scales(strict: Any, published: Any) -> str | None:
    """40 records when ten tables share ε₃ = 1/2, 20 when five do."""
    scales = float(strict), float(published)
    if same(scales, (40, 20)):
        return None
    if same(scales, (20, 40)):
        return ("the two are turned round: published lets each cluster spend all of ε₃, "
                "so its noise is smaller.")
    if same(scales, (20, 10)):
        return ("both are half of what is needed: a replaced record leaves one cell and enters "
                "another, so the sensitivity is 2.")
    if same(*scales):
        return ("the two can't be equal: strict shares ε₃ among all ten tables, "
                "published gives it to each cluster of five.")
    if same(scales[0], 40):
        return (f"strict is right. published = {scales[1]:g}: five tables share ε₃ = 1/2, "
                "sensitivity 2.")
    return (f"strict = {scales[0]:g}: ten tables share ε₃ = 1/2, so each has 1/20, "
            "and the sensitivity of its counts is 2.")


def true_cost(d: int, k: int, pairs: int | Fraction, clusters: int) -> Fraction:
    """ε₁ for each of the pairs of a round, ε₂ + ε₃ for each of the clusters that see a record."""
    a1, a2 = Fraction(d - 1), Fraction(2 * d, k)
    return (pairs * a1 + clusters * 2 * a2) / (a1 + 2 * a2)


q1, q2, q3 = exercises("lesson_10", q1=judge_scales, q2=Computation(
    lambda d, k: true_cost(d, k, d // 2, k),
    cases=[(6, 3), (52, 3), (175, 3), (9, 2)],
    mistakes={
        "true_cost returns what is claimed, 1. Multiply ε₁ by ⌊d/2⌋, and ε₂ + ε₃ by k.":
            lambda d, k: 1,
        "true_cost forgets the clusters: each of the k spends ε₂ + ε₃ on the same records.":
            lambda d, k: true_cost(d, k, d // 2, 1),
        "true_cost forgets DPSC: one record is in all pairs, ⌊d/2⌋ times what is paid.":
            lambda d, k: true_cost(d, k, 1, k),
        "true_cost{case}: an odd number of columns has ⌊d/2⌋ disjoint pairs; use d // 2.":
            lambda d, k: true_cost(d, k, Fraction(d, 2), k),
    },
    otherwise="true_cost{case} = {got:.4g}, not {wanted:.4g}. "
              "Start from a1, a2, a3 and divide by their sum.",
))

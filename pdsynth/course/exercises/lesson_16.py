"""Exercises of lesson 16, auditing."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ...audit.estimator import lower_limit, upper_limit
from ...audit.zoo import check
from ...privacy.noise import ExactNoise
from .judges import Computation
from .lesson import exercises


def bound_at(hits: int, misses: int, runs: int, level: float) -> float:
    """The bound on ε when each of the two limits may fail with probability ``level``."""
    return math.log(lower_limit(hits, runs, level) / upper_limit(misses, runs, level))


bound = Computation(
    lambda hits, misses, runs: bound_at(hits, misses, runs, 0.025),
    cases=[(600, 200, 1000), (5000, 0, 5000), (30, 10, 400)],
    mistakes={
        "bound takes the shares for the probabilities: in one of two audits that claims too much.":
            lambda hits, misses, runs: math.log(hits / misses) if misses else math.inf,
        "bound has level 0.05 on each side, so together they fail in up to 10 % of all audits: "
        "0.025 each.":
            lambda hits, misses, runs: bound_at(hits, misses, runs, 0.05),
        "bound divides the upper limit by the lower one: that is how bad it could be, "
        "not how bad it is for certain.":
            lambda hits, misses, runs: -bound_at(misses, hits, runs, 0.025) if misses else math.inf,
    },
    otherwise="bound{case} gives {got:.4g}. "
              "It is ln(lower limit of the hits ÷ upper limit of the misses).",
)


def judge_private_table(private_table: Callable[..., Any]) -> str | None:
    """Still the table, and the auditor finds nothing."""
    found = check(private_table, "table", runs=3000, seed=16)
    if not found.sound:
        return f"the auditor objects.\n{found}"
    codes = np.array([[0, 0], [0, 2], [1, 1], [0, 2]], dtype=np.uint8)
    nearly_exact = np.asarray(private_table(codes, (2, 3), Fraction(10**6), ExactNoise(16)))
    if (nearly_exact.shape != (2, 3)
            or np.abs(nearly_exact - [[1, 0, 2], [0, 1, 0]]).max() > 1):
        return ("private_table must still be the table: "
                "without noise, its (2, 3) cells should hold the counts.")
    return None


q1, q2, q3 = exercises("lesson_16", q2=bound, q3=judge_private_table)

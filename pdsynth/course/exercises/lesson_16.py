"""Exercises of lesson 16, auditing."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ...audit.estimator import lower_limit, upper_limit
from ...audit.zoo import check
from ...core import ExactNoise
from .games import Exposing
from .judges import Computation
from .lesson import exercises


def bound_at(hits: float, misses: float, runs: int, level: float) -> float:
    """The bound on ε when each of the two limits may fail with probability ``level``."""
    low, high = lower_limit(np.array(hits), runs, level), upper_limit(np.array(misses), runs, level)
    return math.log(low / high)


bound = Computation(
    lambda hits, misses, runs: bound_at(hits, misses, runs, 0.025),
    cases=[(600, 200, 1000), (5000, 0, 5000), (30, 10, 400)],
    mistakes={
        "bound takes the shares for the probabilities: in one of two audits that claims too much.": lambda hits, misses, runs: (
            math.log(hits / misses) if misses else math.inf
        ),
        "bound has level 0.05 on each side, so together they fail in up to 10 % of all audits: 0.025 each.": lambda hits, misses, runs: (
            bound_at(hits, misses, runs, 0.05)
        ),
        "bound divides the upper limit by the lower one: that is how bad it could be, not how bad it is for certain.": lambda hits, misses, runs: (
            -bound_at(misses, hits, runs, 0.025) if misses else math.inf
        ),
        "bound uses lower limits for both. The misses may be *more* than they seem.": (
            lambda hits, misses, runs: math.log(
                lower_limit(hits, runs, 0.025) / lower_limit(misses, runs, 0.025)
            )
        ),
        "bound uses upper limits for both. The hits may be *fewer* than they seem.": (
            lambda hits, misses, runs: math.log(
                upper_limit(hits, runs, 0.025) / upper_limit(misses, runs, 0.025)
            )
        ),
        "bound takes no logarithm: a ratio of probabilities is e^ε.": lambda hits, misses, runs: (
            math.exp(bound_at(hits, misses, runs, 0.025))
        ),
        "bound is in bits: ε has the natural logarithm.": lambda hits, misses, runs: (
            bound_at(hits, misses, runs, 0.025) / math.log(2)
        ),
        "bound has hits and misses turned round.": lambda hits, misses, runs: math.log(
            lower_limit(misses, runs, 0.025) / upper_limit(hits, runs, 0.025)
        ),
        "bound is a difference of probabilities. ε is about their ratio.": (
            lambda hits, misses, runs: float(
                lower_limit(hits, runs, 0.025) - upper_limit(misses, runs, 0.025)
            )
        ),
        "bound has level 0.0125 on each side: more doubt than 5 % asks for.": (
            lambda hits, misses, runs: bound_at(hits, misses, runs, 0.0125)
        ),
        "bound has level 0.95, the confidence: alpha is the doubt, 0.025 on each side.": (
            lambda hits, misses, runs: bound_at(hits, misses, runs, 0.95)
        ),
        "bound hands over shares. The limits take counts, and the number of runs beside them.": (
            lambda hits, misses, runs: bound_at(hits / runs, misses / runs, runs, 0.025)
        ),
        "bound has level 0.975 in the place of 0.025.": lambda hits, misses, runs: bound_at(
            hits, misses, runs, 0.975
        ),
    },
    otherwise=(
        "bound{case} gives {got:.4g}. "
        "It is ln(lower limit of the hits ÷ upper limit of the misses)."
    ),
)


LIKELY = (  # what the table looks like when a likely mistake was made: words, and the test
    ("private_table adds no noise to the counts.", lambda spread, epsilon: spread == 0),
    (
        "private_table multiplies by ε: a smaller ε must mean more noise.",
        lambda spread, epsilon: spread < 2 * epsilon * 1.2 < 2 / epsilon,
    ),
    (
        (
            "private_table has noise of scale 1/ε, half of the noise that is needed: a replaced"
            " record changes two cells."
        ),
        lambda spread, epsilon: 0.8 < spread * epsilon < 1.2,
    ),
)


def name_mistake(private_table: Callable[..., Any]) -> str:
    """The likely mistake that the mean noise in an occupied cell at ε = 1/4 shows, or nothing."""
    codes = np.zeros((9, 2), dtype=np.uint8)
    noise = ExactNoise(16)
    released = [
        np.asarray(private_table(codes, (2, 3), Fraction(1, 4), noise.child(f"run {i}")))
        for i in range(400)
    ]
    spread = float(np.mean([abs(table.flat[0] - 9) for table in released]))
    return next((words for words, holds in LIKELY if holds(spread, 0.25)), "")


def judge_private_table(private_table: Callable[..., Any]) -> str | None:
    """Still the table, and the auditor finds nothing."""
    report = check(private_table, "table", runs=3000, seed=16)
    if not report.sound:
        return f"{name_mistake(private_table) or 'the auditor objects.'}\n{report}"
    codes = np.array([[0, 0], [0, 2], [1, 1], [0, 2]], dtype=np.uint8)
    nearly_exact = np.asarray(private_table(codes, (2, 3), Fraction(10**6), ExactNoise(16)))
    words = (
        "private_table must still be the table: "
        "without noise, its (2, 3) cells should hold the counts."
    )
    if nearly_exact.shape != (2, 3):
        return words
    if np.abs(nearly_exact - [[1, 0, 2], [0, 1, 0]]).max() > 1:
        return name_mistake(private_table) or words
    return None


def cut_off(counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Discrete Laplace noise of scale 1, cut off at ±3."""
    stay = 1 - np.exp(-1.0)
    return counts + np.clip(
        rng.geometric(stay, len(counts)) - rng.geometric(stay, len(counts)), -3, 3
    )


event = Exposing(
    cut_off,
    worlds=(10, 11),
    mistakes={
        "event is always true: it says nothing about her.": lambda released: True,
        "event is never true: what doesn't happen proves nothing.": lambda released: False,
        "event is right for her, but it is as often true as noise of scale 1 allows: ε = 1, and that is the claim. Where is the noise cut off?": (
            lambda released: released >= 11
        ),
        "event holds most of what both worlds release. Look for a number that one of them can't.": (
            lambda released: released >= 10
        ),
        "event says where most of her noise lies. Both worlds release that: look beyond it, at the ends.": (
            lambda released: 8 < released < 14
        ),
        "event starts at 13, which both worlds release. One more.": lambda released: released >= 13,
        "event asks for 13: without her that is where all the cut-off noise piles up.": (
            lambda released: released == 13
        ),
        "event asks for more than 14. The noise is cut at +3: nothing is there.": lambda released: (
            released > 14
        ),
        "event is true at both ends. One end belongs to her world, the other to the world without her: together they tell nothing.": lambda released: (
            released in (7, 14)
        ),
        "event looks at odd and even. Both worlds release both.": lambda released: (
            released % 2 == 0
        ),
        "event asks for her exact count. Noise of 0 is the likeliest in both worlds.": (
            lambda released: released == 11
        ),
        "event is true for small numbers, as often as noise of scale 1 allows. Where is the noise cut off?": lambda released: (
            released <= 10
        ),
    },
)

q1, q2, q3, q4 = exercises("lesson_16", q2=bound, q3=judge_private_table, q4=event)

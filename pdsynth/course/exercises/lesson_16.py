"""Exercises of lesson 16, auditing."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ...audit.bugs import count
from ...audit.detectors import RecordedNoise
from ...audit.estimator import ceiling, lower_limit, upper_limit
from ...audit.zoo import check
from .exercise import Exercise, number


def _bound(function: Callable[..., Any]) -> str | None:
    if function(600, 200, 1000) is None:
        return "bound returns nothing yet."
    for hits, misses, runs in ((600, 200, 1000), (5000, 0, 5000), (30, 10, 400)):
        low, high = float(lower_limit(hits, runs, 0.025)), float(upper_limit(misses, runs, 0.025))
        got = float(function(hits, misses, runs))
        if math.isclose(got, math.log(low / high), abs_tol=1e-6):
            continue
        if misses and math.isclose(got, math.log(hits / misses), abs_tol=1e-6):
            return "bound takes the shares for the probabilities: in one of two audits that claims too much."
        wide = math.log(float(lower_limit(hits, runs, 0.05)) / float(upper_limit(misses, runs, 0.05)))
        if math.isclose(got, wide, abs_tol=1e-6):
            return "bound has level 0.05 on each side, so together they fail in up to 10 % of all audits: 0.025 each."
        other = math.log(float(upper_limit(hits, runs, 0.025)) / max(float(lower_limit(misses, runs, 0.025)), 1e-12))
        if math.isclose(got, other, abs_tol=1e-6):
            return "bound divides the upper limit by the lower one: that is how bad it could be, not how bad it is for certain."
        return f"bound({hits}, {misses}, {runs}) gives {got:.4g}. It is ln(lower limit of the hits ÷ upper limit of the misses)."
    return None


def _repaired(function: Callable[..., Any]) -> str | None:
    found = check(function, "table", runs=3000, seed=16)
    if not found.sound:
        return f"the auditor objects.\n{found}"
    codes, sizes = np.array([[0, 0], [0, 2], [1, 1], [0, 2]], dtype=np.uint8), (2, 3)
    quiet = np.asarray(function(codes, sizes, Fraction(1), RecordedNoise()))
    if quiet.shape != sizes or np.abs(quiet - count(codes, sizes)).max() > 1:
        return "private_table must still be the table: without noise, its (2, 3) cells should hold the counts."
    return None


q1 = Exercise(
    number(
        ceiling(20_000),
        {
            math.log(20_000): "best = {value:.3g} counts all runs and no doubt. Half of them choose the event, and zero hits in h runs "
            "don't prove zero.",
            math.log(10_000): "best = {value:.3g} takes zero hits for a probability of 1/h. With 97.5 % confidence it may be as large as "
            "3.69/h.",
            math.log(20_000 / 3.69): "best = {value:.3g} forgets that only half of the runs measure: the other half has chosen the event.",
        },
        "best = {value:.3g}. The event happens in all of h runs of one world and in none of the other: ln(h ÷ what?)",
        within=2e-2,
    ),
    "h = 10,000 runs measure. The lower limit of 10,000 of 10,000 is nearly 1; the upper limit of 0 of h is about 3.69/h.",
    "ln(10,000 / 3.69) = 7.9, however private or leaky the mechanism is.",
    "Question 1",
    "Correct. A bound of 7.9 from 20,000 runs reads: at least 7.9, perhaps infinite.",
)
q2 = Exercise(
    _bound,
    "np.log(lower_limit(hits, runs, 0.025) / upper_limit(misses, runs, 0.025))",
    "def bound(hits, misses, runs):\n    return np.log(lower_limit(hits, runs, 0.025) / upper_limit(misses, runs, 0.025))",
    "Question 2",
    "Correct: both limits fail in 2.5 % of all audits, so the bound holds in at least 95 %.",
)
q3 = Exercise(
    _repaired,
    "Read the witness: in which of the two tables does a cell have no noise? And how many cells does a replaced record change?",
    "noisy = laplace_mechanism(counts, 2 / epsilon, noise.child('table')), and no line after it.",
    "Question 3",
    "Not refuted: noise in every declared cell, scale 2/ε. The auditor can't prove it, but the lemma does.",
)

"""Exercises of lesson 01, DP mechanisms."""

from __future__ import annotations

import math

import numpy as np

from ...privacy.mechanisms import exponential_probabilities
from .judges import Computation
from .lesson import exercises

choose: Computation = Computation(
    lambda scores, delta, epsilon: exponential_probabilities(np.array(scores), delta, epsilon),
    cases=[([3, 1, 0], 1, 1.0), ([10, 10, 4], 2, 0.5), ([90_000, 89_990], 1, 0.2)],
    faults={
        "choose overflows for scores in the thousands: subtract scores.max() first, the "
        "probabilities stay the same.":
            lambda got, *case: not np.isfinite(got).all(),
        "the probabilities of choose add up to {total:.4g}: divide by their sum.":
            lambda got, *case: not math.isclose(got.sum(), 1),
    },
    mistakes={
        "choose forgets the 2 in e^(εu/2Δ): that spends 2ε.":
            lambda scores, delta, epsilon: choose.right(scores, delta / 2, epsilon),
    },
    otherwise="choose{case} gives {got}: compare with e^(εu/2Δ).",
)

q1, q2, q3, q4 = exercises("lesson_01", q2=choose)

"""Exercises of lesson 09, normalised risk entropy."""

from __future__ import annotations

import math

import numpy as np

from .judges import Computation
from .lesson import exercises


def softmax(exponents: np.ndarray) -> np.ndarray:
    """Shares proportional to e to these powers."""
    return np.exp(exponents) / np.exp(exponents).sum()


shares = Computation(
    lambda oe: softmax(-np.array(oe)),
    cases=[([0.0, 1.0],), ([0.9, 0.5, 0.1, 0.1],), ([0.3],)],
    faults={
        "shares({case[0]}) add up to {total:.4g}: divide by the sum of the weights, "
        "or the tables cost more than ε₃.":
            lambda got, oe: not math.isclose(got.sum(), 1, abs_tol=1e-9),
    },
    mistakes={
        "shares has the sign turned round: a larger OE must get a *smaller* share.":
            lambda oe: softmax(np.array(oe)),
    },
    otherwise="shares({case[0]}) = {got}: the weights are exp(−OE).",
)

q1, q2, q3 = exercises("lesson_09", q2=shares)

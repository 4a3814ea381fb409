"""Exercises of lesson 08, the maximal information coefficient and private spectral clustering."""

from collections.abc import Callable

import numpy as np

from .lesson import exercises

SIMILARITIES = np.array(
    [[0.0, 0.9, 0.1, -0.05], [0.9, 0.0, 0.15, 1.2], [0.1, 0.15, 0.0, 0.8], [-0.05, 1.2, 0.8, 0.0]]
)


def judge_affinity(affinity: Callable[[np.ndarray], np.ndarray]) -> str | None:
    """Symmetric weights in [0, 1], large for relatives, none on the diagonal."""
    similarities = SIMILARITIES.copy()
    weights = np.asarray(affinity(similarities), dtype=float)
    if weights.shape != similarities.shape:
        return f"affinity returns an array of shape {weights.shape}, not (4, 4)."
    others = weights[~np.eye(4, dtype=bool)]
    faults = {
        "affinity changes the matrix that it was given: take a copy first.": not np.array_equal(
            similarities, SIMILARITIES
        ),
        "affinity has a weight that is not a finite number.": not np.isfinite(weights).all(),
        "affinity gives relatives a smaller weight than strangers: that is the printed sign.": (
            weights[0, 1] < weights[0, 2]
        ),
        "affinity gives relatives (0.9) and strangers (0.1) the same weight.": (
            weights[0, 1] == weights[0, 2]
        ),
        "affinity has a negative weight: noise can push a similarity below 0. Clip it.": (
            (others < 0).any()
        ),
        "affinity turns a similarity below 0 into a weight. Below 0 means noise around nothing: a similarity below 0 means no tie.": (
            weights[0, 3] > 0
        ),
        "affinity has a weight above 1: noise can push a similarity above 1. Clip it.": (
            (others > 1).any()
        ),
        "affinity ties attributes to themselves: the diagonal must be 0.": np.diag(weights).any(),
        "affinity is not symmetric.": not np.allclose(weights, weights.T),
    }
    return next((words for words, holds in faults.items() if holds), None)


q1, q2, q3 = exercises("lesson_08", q2=judge_affinity)

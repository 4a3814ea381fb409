"""Exercises of lesson 08, the maximal information coefficient and private spectral clustering."""

from collections.abc import Callable

import numpy as np

from .lesson import exercises

PAIRS = (0.9, 0.1, -0.05, 0.0, 0.15, 1.2, 1.0, 0.8, 0.3, 0.5)  # above the diagonal, row by row
SIMILARITIES = np.zeros((5, 5))
SIMILARITIES[np.triu_indices(5, 1)] = PAIRS
SIMILARITIES += SIMILARITIES.T


def judge_affinity(affinity: Callable[[np.ndarray], np.ndarray]) -> str | None:
    """Symmetric weights in [0, 1] that grow with the clipped similarity, none on the diagonal."""
    similarities = SIMILARITIES.copy()
    weights = np.asarray(affinity(similarities), dtype=float)
    if weights.shape != similarities.shape:
        return f"affinity returns an array of shape {weights.shape}, not (5, 5)."
    others = weights[~np.eye(5, dtype=bool)]
    ties = dict(zip(PAIRS, weights[np.triu_indices(5, 1)], strict=True))
    inner = [ties[similarity] for similarity in sorted(PAIRS) if 0 <= similarity <= 1]
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
        "affinity gives a similarity below 0 another weight than 0. Below 0 means noise around nothing: it counts as 0.": (
            not np.isclose(ties[-0.05], ties[0.0])
        ),
        "affinity has a weight above 1: noise can push a similarity above 1. Clip it.": (
            (others > 1).any()
        ),
        "affinity ties attributes to themselves: the diagonal must be 0.": np.diag(weights).any(),
        "affinity is not symmetric.": not np.allclose(weights, weights.T),
        "affinity gives a similarity above 1 another weight than 1. Above 1 means noise: it counts as 1.": (
            not np.isclose(ties[1.2], ties[1.0])
        ),
        "affinity gives two similarities between 0 and 1 one weight, or the larger one the smaller weight. Between them a weight grows with the similarity.": (
            (np.diff(inner) <= 0).any()
        ),
    }
    return next((words for words, holds in faults.items() if holds), None)


q1, q2, q3 = exercises("lesson_08", q2=judge_affinity)

"""Exercises of lesson 05, the AMI order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .exercise import Exercise, number


def _ami(function: Callable[[Any], Any]) -> str | None:
    matrix = np.array([[1.5, 1.0, 0.5, 0.0], [1.0, 1.0, 0.25, 0.25], [0.5, 0.25, 2.0, 0.0], [0.0, 0.25, 0.0, 0.8]])
    before = matrix.copy()
    got = function(matrix)
    if got is None:
        return "ami returns nothing yet."
    if not np.array_equal(matrix, before):
        return "ami changes the matrix that it was given: work on a copy."
    values = np.asarray(got, dtype=float)
    zero = before - np.diag(np.diag(before))
    if values.shape != (4,):
        return f"ami returns an array of shape {values.shape}; one number an attribute is wanted."
    if np.allclose(values, zero.sum(axis=1) / 3):
        return None
    if np.allclose(values, before.sum(axis=1) / 3) or np.allclose(values, before.sum(axis=1) / 4):
        return "ami counts the diagonal: an attribute's entropy isn't its tie to the others; Definition 10 sets I(S,S) = 0."
    if np.allclose(values, zero.sum(axis=1) / 4):
        return "ami divides by d; there are d − 1 other attributes."
    if np.allclose(values, zero.sum(axis=1)):
        return "ami forgets to divide by d − 1."
    return f"ami gives {np.round(values, 3).tolist()}, not {np.round(zero.sum(axis=1) / 3, 3).tolist()}."


q1 = Exercise(
    number(
        6 * 99 * 4 * 3,
        {
            6 * 99 * 6: "sensitivity counts every pair once; K(i,j) stands in A_i and in A_j, so it counts twice.",
            6 * 100 * 4 * 3: "sensitivity uses n; one record of n stays out of its own comparison: it is n − 1.",
            4 * 99 * 4 * 3: "sensitivity uses 4(n − 1), which holds only when one side of a pair has two values.",
            6 * 99: "sensitivity is that of a single K; the vector sums over all pairs.",
            6 * 99 * 4 * 4: "sensitivity counts 16 pairs; an attribute isn't paired with itself: d(d − 1) = 12.",
        },
        "sensitivity = {value:g} is not 6(n − 1)·d(d − 1). How many ordered pairs are there?",
    ),
    "One K moves by 6(n − 1) at most. How often does each of the 6 pairs appear in the four sums?",
    "6 · (100 − 1) · 4 · 3 = 7128.",
    "Question 1",
    "Correct: 7128. For ε₀ = 1 that is also the scale of the noise on each sum.",
)
q2 = Exercise(
    _ami,
    "Set the diagonal of a copy to zero, add up the rows, divide by d − 1.",
    "def ami(matrix):\n    m = np.array(matrix, dtype=float)\n    np.fill_diagonal(m, 0)\n    return m.sum(axis=1) / (len(m) - 1)",
    "Question 2",
    "Correct. With the diagonal left in, attributes with many values would win for nothing.",
)
q3 = Exercise(
    number(
        14,
        {
            1: "multiple: the scale covers one mutual information; here d numbers are released, and all can move together.",
            91: "multiple counts the pairs; AMI divides by d − 1, and each pair stands in two sums: d(d − 1)/(d − 1).",
            182: "multiple forgets that AMI divides by d − 1.",
            13: "multiple is d − 1; each of the d values moves by s (d − 1 terms of s, divided by d − 1).",
        },
        "multiple = {value:g}. By how much does one AMI move when its d − 1 terms rise by s? And all d together?",
    ),
    "In the worst case each AMI rises by exactly s. How many are released, each with noise of scale s/ε?",
    "Each of the d = 14 averages rises by s, and each has noise of scale s/ε: 14 times ε. The scale should be d·s/ε.",
    "Question 3",
    "Correct: 14 ε. A vector needs the L1 sensitivity of the whole vector.",
)

"""Exercises of lesson 05, the AMI order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .judges import Computation
from .lesson import exercises

MATRIX = np.array(
    [[1.5, 1.0, 0.5, 0.0], [1.0, 1.0, 0.25, 0.25], [0.5, 0.25, 2.0, 0.0], [0.0, 0.25, 0.0, 0.8]]
)
DIAGONAL = (
    "ami counts the diagonal: an attribute's entropy isn't its tie to the others; "
    "Definition 10 sets I(S,S) = 0."
)


def add_others(matrix: np.ndarray) -> np.ndarray:
    """The sum of each row without the diagonal."""
    return matrix.sum(axis=1) - np.diag(matrix)


def judge_copy(function: Callable[..., Any]) -> str | None:
    """A matrix that stays as it is."""
    matrix = MATRIX.copy()
    function(matrix)
    if np.array_equal(matrix, MATRIX):
        return None
    return "ami changes the matrix that it was given: work on a copy."


ami = Computation(
    lambda matrix: add_others(matrix) / 3,
    cases=[(MATRIX,)],
    also=judge_copy,
    mistakes={
        DIAGONAL: lambda matrix: matrix.sum(axis=1) / 3,
        DIAGONAL + " And there are d − 1 others.": lambda matrix: matrix.sum(axis=1) / 4,
        "ami divides by d; there are d − 1 other attributes.": lambda matrix: (
            add_others(matrix) / 4
        ),
        "ami forgets to divide by d − 1.": add_others,
        "ami takes the strongest tie. Definition 10 is the mean.": (
            lambda matrix: (matrix - np.diag(np.diag(matrix))).max(axis=1)
        ),
        "ami takes the median. Definition 10 is the mean.": lambda matrix: np.median(
            matrix[~np.eye(4, dtype=bool)].reshape(4, 3), axis=1
        ),
        "ami counts each pair twice.": lambda matrix: 2 * add_others(matrix) / 3,
        "ami gives the entropies, the diagonal: that is everything but the ties.": lambda matrix: (
            np.diag(matrix)
        ),
        "ami gives all attributes the same mean: one number for each row.": lambda matrix: np.full(
            4, add_others(matrix).mean() / 3
        ),
        "ami divides by d(d − 1), the number of all ordered pairs. Each row has d − 1.": (
            lambda matrix: add_others(matrix) / 12
        ),
        "ami normalises the ties by the attribute's entropy. Definition 10 doesn't.": (
            lambda matrix: add_others(matrix) / 3 / np.diag(matrix)
        ),
    },
    otherwise="ami gives {got}, not {wanted}.",
)


q1, q2, q3 = exercises("lesson_05", q2=ami)

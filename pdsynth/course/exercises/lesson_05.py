"""Exercises of lesson 05, the AMI order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .judges import Computation
from .lesson import exercises

MATRIX = np.array([[1.5, 1.0, 0.5, 0.0], [1.0, 1.0, 0.25, 0.25],
                   [0.5, 0.25, 2.0, 0.0], [0.0, 0.25, 0.0, 0.8]])
DIAGONAL = "ami counts the diagonal: an attribute's entropy isn't its tie to the others; " \
           "Definition 10 sets I(S,S) = 0."


def add_others(matrix: np.ndarray) -> np.ndarray:
    """The sum of each row without the diagonal."""
    return matrix.sum(axis=1) - np.diag(matrix)


ami = Computation(
    lambda matrix: add_others(matrix) / 3,
    cases=[(MATRIX,)],
    mistakes={
        DIAGONAL: lambda matrix: matrix.sum(axis=1) / 3,
        DIAGONAL + " And there are d − 1 others.": lambda matrix: matrix.sum(axis=1) / 4,
        "ami divides by d; there are d − 1 other attributes.":
            lambda matrix: add_others(matrix) / 4,
        "ami forgets to divide by d − 1.": add_others,
    },
    otherwise="ami gives {got}, not {wanted}.",
)


def judge_ami(function: Callable[..., Any]) -> str | None:
    """The right averages, of a matrix that stays as it is."""
    given = MATRIX.copy()
    function(given)
    if not np.array_equal(given, MATRIX):
        return "ami changes the matrix that it was given: work on a copy."
    return ami(function)


q1, q2, q3 = exercises("lesson_05", q2=judge_ami)

"""Exercises of lesson 07, HPPrivBayes."""

from fractions import Fraction

import numpy as np

from .judges import Computation
from .lesson import exercises

true_cost = Computation(
    lambda d, k, in_b, epsilon2: Fraction(d - in_b, d - k - in_b) * epsilon2,
    cases=[(14, 4, 7, Fraction(1)), (14, 4, 9, Fraction(1)), (6, 2, 3, Fraction(1, 2))],
    mistakes={
        "true_cost returns what is claimed. Count the tables that are noised: d − |B| of them, not d − k − |B|.": (
            lambda d, k, in_b, epsilon2: epsilon2
        ),
        "true_cost is upside down: more tables than were paid for cost more, not less.": (
            lambda d, k, in_b, epsilon2: Fraction(d - k - in_b, d - in_b) * epsilon2
        ),
        "true_cost noises all d tables. Those of group B have their own budget: d − |B| are A's.": (
            lambda d, k, in_b, epsilon2: Fraction(d, d - k - in_b) * epsilon2
        ),
        "true_cost charges ε₂ for each table. Each costs ε₂/(d − k − |B|).": (
            lambda d, k, in_b, epsilon2: (d - in_b) * epsilon2
        ),
        "true_cost is what is spent *too much*. Add the ε₂ that was paid for.": (
            lambda d, k, in_b, epsilon2: Fraction(k, d - k - in_b) * epsilon2
        ),
        "true_cost forgets ε₂: that is the multiple.": lambda d, k, in_b, epsilon2: Fraction(
            d - in_b, d - k - in_b
        ),
        "true_cost is doubled: the sensitivity 2 is in the scale.": lambda d, k, in_b, epsilon2: (
            2 * Fraction(d - in_b, d - k - in_b) * epsilon2
        ),
        "true_cost is halved: a replaced record moves two cells, so one table costs 2/scale.": (
            lambda d, k, in_b, epsilon2: Fraction(d - in_b, d - k - in_b) * epsilon2 / 2
        ),
        "true_cost is that of PrivBayes, d/(d − k). Here the scale was made for d − k − |B| tables.": lambda d, k, in_b, epsilon2: (
            Fraction(d, d - k) * epsilon2
        ),
        "true_cost counts the tables of B. A has the other d − |B|.": lambda d, k, in_b, epsilon2: (
            Fraction(in_b, d - k - in_b) * epsilon2
        ),
        "true_cost is the scale over ε₂: multiply the price of one table by their number.": (
            lambda d, k, in_b, epsilon2: Fraction(2 * (d - k - in_b)) / epsilon2
        ),
    },
    otherwise=(
        "true_cost({case[0]}, {case[1]}, {case[2]}, {case[3]}) gives {got:.4g}. "
        "One table costs 2/scale; how many tables are there?"
    ),
)

COUNTS = np.array([[31, 4, 0], [7, 7, 90]])
reveal = Computation(
    lambda released: released - released[:, :1],
    cases=[(COUNTS + np.array([[14.7], [-3.2]]),), (COUNTS.T + np.array([[5.5], [0.1], [-8.8]]),)],
    mistakes={
        "reveal gives back what was released. Which combination of cells holds no noise?": (
            lambda released: released
        ),
        "reveal subtracts two rows: each row has noise of its own.": lambda released: (
            released - released[:1]
        ),
        "reveal subtracts the mean of the row. That holds no noise either, but the question is the difference to the first cell.": lambda released: (
            released - released.mean(axis=1, keepdims=True)
        ),
        "reveal subtracts the mean of all cells: the rows have different noise.": lambda released: (
            released - released.mean()
        ),
        "reveal has the wrong sign: each cell minus the first one of its row.": lambda released: (
            released[:, :1] - released
        ),
        "reveal rounds. The noise of the whole row is several people large.": lambda released: (
            np.round(released)
        ),
        "reveal clips at zero. Negative counts are harmless; the shape of the noise isn't.": (
            lambda released: np.maximum(released, 0)
        ),
        "reveal subtracts the smallest cell of the row. The question is the first one.": (
            lambda released: released - released.min(axis=1, keepdims=True)
        ),
        "reveal subtracts the last cell of the row. The question is the first one.": (
            lambda released: released - released[:, -1:]
        ),
        "reveal divides by the first cell: a ratio still holds the noise.": lambda released: (
            released / released[:, :1]
        ),
        "reveal adds the first cell: that holds the noise twice.": lambda released: (
            released + released[:, :1]
        ),
    },
    otherwise="reveal gives {got}, not the exact differences {wanted}.",
)

q1, q2, q3 = exercises("lesson_07", q2=true_cost, q3=reveal)

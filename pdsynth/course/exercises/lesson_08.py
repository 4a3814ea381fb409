"""Exercises of lesson 08, the maximal information coefficient and private spectral clustering."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .exercise import Exercise, each, number, word


def _affinity(function: Callable[[np.ndarray], np.ndarray | None]) -> str | None:
    s = np.array([[0.0, 0.9, 0.1, -0.05], [0.9, 0.0, 0.15, 1.2], [0.1, 0.15, 0.0, 0.8], [-0.05, 1.2, 0.8, 0.0]])
    given = s.copy()
    got = function(given)
    if got is None:
        return "affinity returns nothing yet."
    w = np.asarray(got, dtype=float)
    off = ~np.eye(4, dtype=bool)
    faults = [
        (w.shape != s.shape, f"affinity returns an array of shape {w.shape}, not (4, 4)."),
        (not np.array_equal(given, s), "affinity changes the matrix that it was given: take a copy first."),
        (w.shape == s.shape and not np.isfinite(w).all(), "affinity has a weight that is not a finite number."),
        (
            w.shape == s.shape and w[0, 1] < w[0, 2],
            "affinity gives relatives a smaller weight than strangers: that is the printed sign.",
        ),
        (w.shape == s.shape and w[0, 1] == w[0, 2], "affinity gives relatives (0.9) and strangers (0.1) the same weight."),
        (w.shape == s.shape and (w[off] < 0).any(), "affinity has a negative weight: noise can push a similarity below 0. Clip it."),
        (w.shape == s.shape and (w[off] > 1).any(), "affinity has a weight above 1: noise can push a similarity above 1. Clip it."),
        (w.shape == s.shape and np.diag(w).any(), "affinity ties attributes to themselves: the diagonal must be 0."),
        (w.shape == s.shape and not np.allclose(w, w.T), "affinity is not symmetric."),
    ]
    return next((text for wrong, text in faults if wrong), None)


q1 = Exercise(
    number(
        1,
        {
            2: "mic is the mutual information itself. Divide by log₂ of the shorter side of the grid.",
            0.5: "mic divides by log₂ 16, the number of cells. The normaliser is log₂ min(a, b) = log₂ 4.",
            0.8113: "mic is that of the grid that cuts off one value only. The maximum runs over all grids, also the full one.",
        },
        "mic = {value:g}. I = 2 bits on 4 × 4.",
    ),
    "I(X, Y) = H(X) here. Which grid has the largest I / log₂ min(a, b)?",
    "I = log₂ 4 = 2 bits on the full 4 × 4 grid, divided by log₂ 4 = 2: MIC = 1.",
    "Question 1",
    "Correct: 1, as for any table in which each value of one tells the value of the other.",
)
q2 = Exercise(
    _affinity,
    "A similarity is almost an affinity already: keep it in [0, 1] and empty the diagonal.",
    "def affinity(s):\n    w = np.clip(s, 0, 1)\n    np.fill_diagonal(w, 0)\n    return w",
    "Question 2",
    "Correct. Relatives get large weights, strangers none.",
)
q3 = Exercise(
    each(
        word(
            "disjoint",
            {
                "clip": "word: clipping noisy numbers is post-processing. Look at the comment.",
                "scale": "word: the scale follows correctly from the comment. Is the comment true?",
            },
            "word: answer 'disjoint', 'scale' or 'clip'.",
        ),
        number(
            26,
            {
                1: "word is right; then cost can't be 1: one record stands in all 26 pairs of a round.",
                51: "word is right. 51 is the number of rounds, and those are paid for. How many pairs has a round?",
                1326: "word is right. 1,326 pairs, of which each was paid with ε/51: divide.",
                52: "word is right. A round has 52 columns, but how many pairs?",
            },
            "word is right. cost = {value:g}: how many pairs has a round?",
        ),
    ),
    "One person answers all 52 questions. In how many pairs of one round does her record stand?",
    "'disjoint', 26: the pairs of a round share no column, but every record is in each of them. A round costs 26 times what was paid.",
    "Question 3",
    "Correct: disjoint columns are not disjoint records. ⌊d/2⌋ = 26 times the claim.",
)

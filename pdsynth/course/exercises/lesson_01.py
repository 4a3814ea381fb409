"""Exercises of lesson 01, DP mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...privacy.mechanisms import exponential_probabilities
from .exercise import Exercise, each, number, word


def _choose(function: Callable[..., Any]) -> str | None:
    if function([1, 0], 1, 1.0) is None:
        return "choose returns nothing yet."
    for scores, sensitivity, epsilon in (([3, 1, 0], 1, 1.0), ([10, 10, 4], 2, 0.5), ([90_000, 89_990], 1, 0.2)):
        right = exponential_probabilities(np.array(scores), sensitivity, epsilon)
        got = np.asarray(function(scores, sensitivity, epsilon), dtype=float)
        if got.shape != right.shape:
            return f"choose returns an array of shape {got.shape}; one probability a score is asked for, shape {right.shape}."
        if not np.isfinite(got).all():
            return "choose overflows for scores in the thousands: subtract scores.max() first, the probabilities stay the same."
        if not math.isclose(got.sum(), 1):
            return f"the probabilities of choose add up to {got.sum():.4g}: divide by their sum."
        if not np.allclose(got, right):
            if np.allclose(got, exponential_probabilities(np.array(scores), sensitivity / 2, epsilon)):
                return "choose forgets the 2 in e^(εu/2Δ): that spends 2ε."
            return f"choose({scores}, {sensitivity}, {epsilon}) gives {got.round(4).tolist()}: compare with e^(εu/2Δ)."
    return None


q1 = Exercise(
    number(
        8,
        {
            4: "cell_scale uses sensitivity 1. A replaced record leaves one cell and enters another: two cells move.",
            0.5: "cell_scale multiplies by ε. Less budget must mean more noise: divide.",
            0.25: "cell_scale multiplies by ε. Less budget must mean more noise: divide.",
        },
        "cell_scale = {value:g}. The number of attributes or cells doesn't matter: how far can one record move the whole table?",
    ),
    "Sensitivity of any table of counts under replacing one record, divided by ε.",
    "2 / (1/4) = 8 people in every cell, however many cells there are.",
    "Question 1",
    "Correct: scale 8, in every declared cell. More attributes cost no more ε, but they spread people over more cells.",
)
q2 = Exercise(
    _choose,
    "weights = exp(ε (u − max u) / (2Δ)), then divide by their sum.",
    "def choose(scores, sensitivity, epsilon):\n"
    "    scores = np.asarray(scores, dtype=float)\n"
    "    weights = np.exp(epsilon * (scores - scores.max()) / (2 * sensitivity))\n"
    "    return weights / weights.sum()",
    "Question 2",
    "Correct: this is exponential_probabilities of the library.",
)
q3 = Exercise(
    each(
        word(
            "scale",
            {"seed": "bug: the generator is handed in, nothing says that it is seeded. Compare the noise with a count."},
            "bug: rounding is a weakness of any floating-point noise, but here something larger is wrong. Compare the noise with a count.",
        ),
        number(
            1000,
            {500: "bug is right. For true_epsilon divide the sensitivity of the counts, 2, by the scale 2/1000."},
            "bug is right. true_epsilon = {value:g}: it is sensitivity ÷ scale, with the sensitivity of *counts*.",
        ),
    ),
    "The noise has scale 0.002 for n = 1000 and ε = 1. What does one person do to a count?",
    "'scale', and 2 / (2/1000) = 1000: the scale of a probability was added to counts, so the noise is n times too small.",
    "Question 3",
    "Correct: the promise was 1, the truth is n = 1000. Counts need scale 2/ε.",
)
q4 = Exercise(
    word(
        "difference",
        {"sum": "the sum of the two tables holds the noise twice. Which combination holds it not at all?"},
        "both tables got the very same numbers as noise. Which combination of the two holds none of it?",
    ),
    "Call table_noise twice with one seed and subtract.",
    "'difference': the same noise cancels, and the number of people who are in town and not at work is out, value by value.",
    "Question 4",
    "Correct: noise that is drawn again from the same seed cancels. Every release needs its own stream, and a step drawn "
    "twice gets a new one.",
)

"""Exercises of lesson 03, Bayesian networks and mutual information."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...measures import mutual_information
from .exercise import Exercise, each, number, word


def _information(function: Callable[..., Any]) -> str | None:
    if function(np.array([[2, 1], [1, 2]])) is None:
        return "information returns nothing yet."
    for table in (np.array([[3, 1], [1, 3]]), np.array([[4, 0, 1], [0, 5, 2]]), np.array([[2, 2], [2, 2]])):
        got, right = float(function(table)), mutual_information(table)
        if math.isnan(got):
            return "information gives NaN for an empty cell: 0 · log 0 counts as 0, so leave those cells out."
        if not math.isclose(got, right, abs_tol=1e-9):
            if math.isclose(got, right * math.log(2), abs_tol=1e-9):
                return "information is in nats: use np.log2."
            if math.isclose(got, -right, abs_tol=1e-9):
                return "information has the wrong sign: it is log p/q, not log q/p."
            return f"information({table.tolist()}) gives {got:.4f}, expected {right:.4f}: p log2(p / (row share · column share)), summed."
    return None


q1 = Exercise(
    number(
        1.5,
        {
            1.5 * math.log(2): "copy_information is in nats. In bits, use log2.",
            math.log2(3): "copy_information would be right for three equally frequent values. Here they are ½, ¼, ¼.",
            0: "copy_information = 0. A copy removes all the uncertainty in the attribute: how much is that?",
            1: "copy_information = 1. A copy removes all the uncertainty in the attribute: how much is that?",
        },
        "copy_information = {value:.4g}. I(X, X) = H(X) + H(X) − H(X, X), and (X, X) has the entropy of X.",
    ),
    "I(X, X) = H(X).",
    "H = ½·1 + ¼·2 + ¼·2 = 1.5 bits.",
    "Question 1",
    "Correct: an attribute knows everything about its copy, which is its own entropy, 1.5 bits.",
)
q2 = Exercise(
    _information,
    "p = table / table.sum(); the product of the margins with keepdims=True; sum over cells with p > 0 only.",
    "def information(table):\n"
    "    p = table / table.sum()\n"
    "    q = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)\n"
    "    return float((p[p > 0] * np.log2(p[p > 0] / q[p > 0])).sum())",
    "Question 2",
    "Correct, empty cells included. A public program got NaN from 0 · log 0 there, and set the whole mutual information to 0.",
)
q3 = Exercise(
    each(
        word(
            "units",
            {"sign": "bug: the sign is right, a larger score gets a larger weight. Compare the two logarithms."},
            "bug: nothing here says where the candidates come from. Compare the logarithm of the score with that of the sensitivity.",
        ),
        number(
            1 / math.log(2),
            {math.log(2): "bug is right. factor is upside down: a sensitivity in nats is too small, so more than ε is spent."},
            "bug is right. factor = {value:g}: one bit is how many nats?",
            within=0.01,
        ),
    ),
    "log2 in one place, log in the other.",
    "'units', 1/ln 2 ≈ 1.44: the score is in bits, its sensitivity in nats, so the exponent is 1.44 times too large.",
    "Question 3",
    "Correct: 1.44 ε instead of ε. In this library score and sensitivity carry their unit, and the mechanism refuses to mix them.",
)
q4 = Exercise(
    word(
        "empty",
        {"scale": "leak: 2/ε is the right scale for counts. Look at which rows the output has."},
        "leak: the rows are sorted by value, which is public. Look at which rows are there at all.",
        inside=True,
    ),
    "Add one person with a combination that nobody else has. What changes in the output, whatever the noise?",
    "'empty cells': a row is in the output only if somebody has that combination, so a single person shows. "
    "Every declared cell needs noise.",
    "Question 4",
    "Correct: which cells exist is a fact about the records. Noise every cell of the declared domain, the empty ones first of all.",
)

"""Exercises of lesson 00, start here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from .exercise import Exercise, number, word


def _first_table(function: Callable[[float], Any]) -> str | None:
    answer = function(0.5)
    if answer is None:
        return "first_table returns nothing yet."
    if not isinstance(answer, tuple) or len(answer) != 2:
        return "first_table should return a pair: the synthetic table, and the ledger's ε."
    table, epsilon = answer
    if not isinstance(table, pd.DataFrame):
        return f"the first part is a {type(table).__name__}, not a DataFrame: call .sample() on the fitted synthesizer."
    if epsilon == 1:
        return "the ledger says ε = 1: pass epsilon on to PrivBayes(epsilon=epsilon)."
    if callable(epsilon) or not math.isclose(float(epsilon), 0.5):
        return "the second part should be synth.ledger_.epsilon, which is 1/2 for first_table(0.5)."
    return None


q1 = Exercise(
    number(
        1.5,
        {
            1.0: "spent counts only the larger release. Both tables are out: whoever has both knows more than from either.",
            0.5: "spent counts only the last release. Monday's table can't be taken back.",
        },
        "spent = {value:g}. What was known on Monday is still known on Tuesday: budgets of releases from the same records add up.",
    ),
    "An attacker may hold both tables. Lesson 02 calls this sequential composition.",
    "1 + 0.5 = 1.5: releases from the same records add up.",
    "Question 1",
    "Correct: budgets add, however good the reasons for the second release were.",
)
q2 = Exercise(
    _first_table,
    "Three lines: fit, sample, and the attribute ledger_.epsilon of the fitted synthesizer.",
    "def first_table(epsilon):\n"
    "    synth = pds.PrivBayes(epsilon=epsilon).fit(adult.frame, schema=adult.schema)\n"
    "    return synth.sample(), synth.ledger_.epsilon",
    "Question 2",
    "Correct: and the ledger's ε is exactly what you asked for, as a fraction.",
)
q3 = Exercise(
    word(
        "seed",
        {"scale": "bug: 2/ε is right for a histogram of counts. Who else can call default_rng(0)?"},
        "bug: the function never looks at the values themselves, only at the counts it is given. Who else can draw this noise?",
    ),
    "Call publish twice with the same counts. Then try publish(np.zeros(5), 1.0).",
    "'seed': the default seed is public, so everyone can draw the same noise and subtract it. In this library a seeded run is "
    "marked 'noise is reproducible: do not release' in its ledger.",
    "Question 3",
    "Correct: publish(counts, ε) − publish(zeros, ε) gives the exact counts back. Noise that everyone can draw again hides nothing.",
)

"""Exercises of lesson 00, start here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from .lesson import exercises


def judge_first_table(first_table: Callable[[float], Any]) -> str | None:
    """A pair of a synthetic table and the ε that was asked for."""
    answer = first_table(0.5)
    if not isinstance(answer, tuple) or len(answer) != 2:
        return "first_table should return a pair: the synthetic table, and the ledger's ε."
    table, epsilon = answer
    if not isinstance(table, pd.DataFrame):
        return (f"the first part is a {type(table).__name__}, not a DataFrame: "
                "call .sample() on the fitted synthesizer.")
    if epsilon == 1:
        return "the ledger says ε = 1: pass epsilon on to PrivBayes(epsilon=epsilon)."
    if callable(epsilon) or not math.isclose(float(epsilon), 0.5):
        return "the second part should be synth.ledger_.epsilon, which is 1/2 for first_table(0.5)."
    return None


q1, q2, q3 = exercises("lesson_00", q2=judge_first_table)

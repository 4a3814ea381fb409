"""Exercises of lesson 15, evaluating a synthetic table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from .exercise import Exercise


def _beyond(answer: Any) -> str | None:
    value = float(answer)
    if math.isclose(value, -1) or math.isclose(value, -0.01):
        return None
    if math.isclose(abs(value), 17) or math.isclose(abs(value), 0.17):
        return "beyond compares with the zero rule. How relationship goes with age and sex can be learnt from other people's records."
    if value in (57, 0.57):
        return "beyond = 57 would be a loss only if nobody could guess anything without the table."
    if value in (1, 0.01):
        return "beyond has the wrong sign: the synthetic table taught less than other people's records."
    return f"beyond = {value:g}: right with the table, minus right with what these people had no part in."


def _share(table: pd.DataFrame, columns: list[str]) -> dict[tuple[str, ...], float]:
    rows = [tuple(row) for row in table[columns].astype(str).itertuples(index=False)]
    return {cell: rows.count(cell) / len(rows) for cell in set(rows)}


def _distance(function: Callable[..., Any]) -> str | None:
    real = pd.DataFrame({"a": list("xxxyyyzz"), "b": list("ppqqppqq"), "c": list("mnmnmnmn")})
    fake = pd.DataFrame({"a": list("xxyyw"), "b": list("pqqqp"), "c": list("mmmnn")})
    if function(real, fake, ["a"]) is None:
        return "variation_distance returns nothing yet."
    for columns in (["a"], ["a", "b"], ["a", "b", "c"]):
        got, p, q = float(function(real, fake, columns)), _share(real, columns), _share(fake, columns)
        gaps = {cell: abs(p.get(cell, 0) - q.get(cell, 0)) for cell in {*p, *q}}
        if math.isclose(got, sum(gaps.values()) / 2, abs_tol=1e-9):
            continue
        mistakes = {
            sum(gaps.values()): "gives the L1 norm, twice the distance: who is missing in one cell is too many in another.",
            max(gaps.values()): "gives the largest difference of one cell, as some public code does. Half of the sum of all of them.",
            sum(gaps[cell] for cell in {*p} & {*q}) / 2: "forgets the cells that only one of the two tables has (a missing cell is a 0).",
            sum(gaps[cell] for cell in p) / 2: "forgets the cells that only the synthetic table has.",
            sum(gaps.values()) / 2 / len(gaps): "gives a mean over cells. The distance is half of the sum.",
            sum(abs(p.get(c, 0) * 8 - q.get(c, 0) * 5) for c in gaps) / 2: "compares counts. The tables have 8 and 5 rows: compare shares.",
        }
        said = next((text for wrong, text in mistakes.items() if math.isclose(got, wrong, abs_tol=1e-9)), None)
        return f"variation_distance(real, fake, {columns}) {said or f'gives {got:.4g}, not {sum(gaps.values()) / 2:.4g}: ½ Σ |P − Q|.'}"
    return None


class Witness:
    """Notes which rows a synthetic table was made from, and what a classifier learnt from and was tested on."""

    def __init__(self) -> None:
        self.real = pd.DataFrame({"id": np.arange(60), "salary": ["<=50K", ">50K", "<=50K"] * 20})
        self.made: set[int] = set()
        self.taught: set[int] = set()
        self.tested: set[int] = set()
        self.right = math.nan

    def make(self, rows: pd.DataFrame) -> pd.DataFrame:
        """A synthetic table, whose rows have negative numbers."""
        self.made |= set(rows["id"])
        return pd.DataFrame({"id": -1 - np.arange(len(rows)), "salary": ["<=50K", ">50K"] * (len(rows) // 2) + ["<=50K"] * (len(rows) % 2)})

    def classify(self, learnt: pd.DataFrame, asked: pd.DataFrame) -> np.ndarray:
        """One guess a row asked about."""
        self.taught |= set(learnt["id"])
        self.tested |= set(asked["id"])
        said = np.full(len(asked), "<=50K")
        self.right = float((said == asked["salary"]).mean())
        return said


def _honest(function: Callable[..., Any]) -> str | None:
    seen = Witness()
    got = function(seen.real, seen.make, seen.classify)
    if got is None:
        return "accuracy returns nothing yet."
    if not seen.made or not seen.tested:
        return "accuracy must make a table with make(...) and ask classify(learnt, asked)."
    if min(seen.tested) < 0:
        return "accuracy tests on synthetic rows: a table that agrees with itself may be wrong about everybody."
    if max(seen.taught) >= 0:
        return "accuracy teaches the classifier with real rows: then it says nothing about the synthetic table."
    if seen.made & seen.tested:
        both = "all" if seen.tested <= seen.made else f"{len(seen.made & seen.tested)}"
        return f"accuracy tests on {both} of the rows that the synthetic table was made from: a copy of them would look perfect."
    if not math.isclose(float(got), seen.right):
        return f"accuracy gives {float(got):.3g}; classify was right for {seen.right:.3g} of the rows it was asked about."
    return None


q1 = Exercise(
    _beyond,
    "What would the attacker have got right if none of these people had been in any table? Subtract that.",
    "beyond = 57 − 58 = −1 point.",
    "Question 1",
    "Correct: 57 − 58 = −1. Nothing that these people lost by taking part.",
)
q2 = Exercise(
    _distance,
    "Shares with value_counts(normalize=True); a cell that one table lacks has share 0 there (fill_value=0).",
    "def variation_distance(real, fake, columns):\n"
    "    p, q = (table[columns].value_counts(normalize=True) for table in (real, fake))\n"
    "    return p.sub(q, fill_value=0).abs().sum() / 2",
    "Question 2",
    "Correct: cells that only one table has, tables of two lengths, and the half.",
)
q3 = Exercise(
    _honest,
    "Split the real rows first. Which part does make see? Which part is asked about?",
    "train, test = pds.evaluate.split(real, 1 / 5)\nreturn (classify(make(train), test) == test['salary']).mean()",
    "Question 3",
    "Correct: made from one part, taught by the synthetic rows, tested on people whom nothing of it has seen.",
)

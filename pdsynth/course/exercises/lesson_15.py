"""Exercises of lesson 15, evaluating a synthetic table."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from .judges import Computation
from .lesson import exercises

REAL = pd.DataFrame({"a": list("xxxyyyzz"), "b": list("ppqqppqq"), "c": list("mnmnmnmn")})
FAKE = pd.DataFrame({"a": list("xxyyw"), "b": list("pqqqp"), "c": list("mmmnn")})


def shares(table: pd.DataFrame, columns: list[str]) -> pd.Series:
    """The share of the rows in each cell that occurs."""
    return table[columns].value_counts(normalize=True)


def gaps(real: pd.DataFrame, fake: pd.DataFrame, columns: list[str]) -> pd.Series:
    """|P − Q| in each cell that one of the tables has."""
    return shares(real, columns).sub(shares(fake, columns), fill_value=0).abs()


def subtract_counts(real: pd.DataFrame, fake: pd.DataFrame, columns: list[str]) -> float:
    """Half of the sum of the differences of counts."""
    counts = real[columns].value_counts().sub(fake[columns].value_counts(), fill_value=0)
    return counts.abs().sum() / 2


WHICH = "variation_distance(real, fake, {case[2]}) "
variation_distance = Computation(
    lambda *tables: gaps(*tables).sum() / 2,
    cases=[(REAL, FAKE, ["a"]), (REAL, FAKE, ["a", "b"]), (REAL, FAKE, ["a", "b", "c"])],
    mistakes={
        WHICH
        + "gives the L1 norm, twice the distance: who is missing in one cell is too many in another.": (
            lambda *tables: gaps(*tables).sum()
        ),
        WHICH
        + "gives the largest difference of one cell, as some public code does. Half of the sum of all of them.": (
            lambda *tables: gaps(*tables).max()
        ),
        WHICH + "forgets the cells that only one of the two tables has (a missing cell is a 0).": (
            lambda real, fake, columns: (
                (shares(real, columns) - shares(fake, columns)).abs().sum() / 2
            )
        ),
        WHICH + "forgets the cells that only the synthetic table has.": (
            lambda real, fake, columns: (
                gaps(real, fake, columns)[shares(real, columns).index].sum() / 2
            )
        ),
        WHICH + "gives a mean over cells. The distance is half of the sum.": lambda *tables: (
            gaps(*tables).mean() / 2
        ),
        WHICH + "compares counts. The tables have 8 and 5 rows: compare shares.": subtract_counts,
        WHICH + "gives what the tables share. The distance is 1 minus that.": lambda *tables: (
            1 - gaps(*tables).sum() / 2
        ),
        WHICH + "lets too many and too few cancel: take absolute differences.": lambda *tables: 0.0,
        WHICH + "looks at the first column alone.": lambda real, fake, columns: (
            gaps(real, fake, columns[:1]).sum() / 2
        ),
        WHICH + "is the Euclidean distance. Total variation adds absolute differences.": (
            lambda *tables: float((gaps(*tables) ** 2).sum() ** 0.5)
        ),
        WHICH
        + "is the mean over columns one by one. The cells are those of all columns together.": (
            lambda real, fake, columns: float(
                np.mean([gaps(real, fake, [column]).sum() / 2 for column in columns])
            )
        ),
    },
    otherwise=WHICH + "gives {got:.4g}, not {wanted:.4g}: ½ Σ |P − Q|.",
)


class Witness:
    """Notes what a table is made of, and what a classifier learns from and is tested on."""

    def __init__(self) -> None:
        self.real = pd.DataFrame({"id": np.arange(60), "salary": ["<=50K", ">50K", "<=50K"] * 20})
        self.made: set[int] = set()
        self.taught: set[int] = set()
        self.tested: set[int] = set()
        self.right = math.nan

    def make(self, rows: pd.DataFrame) -> pd.DataFrame:
        """A synthetic table, whose rows have negative numbers."""
        self.made |= set(rows["id"])
        salaries = ["<=50K", ">50K"] * len(rows)
        return pd.DataFrame({"id": -1 - np.arange(len(rows)), "salary": salaries[: len(rows)]})

    def classify(self, learnt: pd.DataFrame, asked: pd.DataFrame) -> np.ndarray:
        """One guess for each row that is asked about."""
        self.taught |= set(learnt["id"])
        self.tested |= set(asked["id"])
        self.right = float((asked["salary"] == "<=50K").mean())
        return np.full(len(asked), "<=50K")


def judge_accuracy(accuracy: Callable[..., Any]) -> str | None:
    """Made from one part, taught by synthetic rows, tested on the other part."""
    witness = Witness()
    got = float(accuracy(witness.real, witness.make, witness.classify))
    if not witness.made:
        return "accuracy must make a table with make(...) and ask classify(learnt, asked)."
    if not witness.tested:
        return "accuracy never asks classify: rows of two tables don't belong together by place."
    if min(witness.tested) < 0:
        return (
            "accuracy tests on synthetic rows: "
            "a table that agrees with itself may be wrong about everybody."
        )
    if max(witness.taught) >= 0:
        return (
            "accuracy teaches the classifier with real rows: "
            "then it says nothing about the synthetic table."
        )
    if both := witness.made & witness.tested:
        if len(witness.tested) == len(witness.real):
            return (
                "accuracy tests on both parts, also on the rows that the table was made "
                "from. Ask about the held-out part alone."
            )
        part = "all" if both == witness.tested else len(both)
        return (
            f"accuracy tests on {part} of the rows that the synthetic table was made from: "
            "a copy of them would look perfect."
        )
    if len(witness.tested) < 5:
        return "accuracy tests on one person, or nearly: hold out a fifth or so."
    if math.isclose(got, 1 - witness.right):
        return "accuracy gives the errors. How often was classify right?"
    if got > 1:
        return f"accuracy gives {got:g}, a number of rows. Divide by how many were asked about."
    if not math.isclose(got, witness.right):
        return (
            f"accuracy gives {got:.3g}; classify was right for {witness.right:.3g} of the rows "
            "it was asked about."
        )
    return None


q1, q2, q3 = exercises("lesson_15", q2=variation_distance, q3=judge_accuracy)

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


MADE = 10_000  # more rows than a table has that is made here


class Untraced(Exception):
    """Rows came without the column ``id``."""


class Witness:
    """Notes what tables are made of, and what a classifier learns from and is tested on."""

    def __init__(self) -> None:
        salaries = pd.Series(["<=50K", ">50K", "<=50K"] * 20)
        self.real = pd.DataFrame({"id": salaries.index, "salary": salaries})
        self.made: list[set[int]] = []
        self.asked: list[tuple[set[int], set[int]]] = []  # what was learnt from, who is tested
        self.correct: list[float] = []

    def make(self, rows: pd.DataFrame) -> pd.DataFrame:
        """A synthetic table, whose rows have negative numbers, others in each table."""
        salaries = (["<=50K", ">50K"] * len(rows))[: len(rows)]
        self.insist(rows)
        numbers = -1 - MADE * len(self.made) - np.arange(len(rows))
        self.made.append(set(rows["id"]))
        return pd.DataFrame({"id": numbers, "salary": salaries})

    def classify(self, learnt: pd.DataFrame, asked: pd.DataFrame) -> np.ndarray:
        """One guess for each row that is asked about."""
        self.insist(learnt, asked)
        self.asked.append((set(learnt["id"]), set(asked["id"])))
        truth = self.real["salary"].reindex(asked["id"])
        self.correct.append(float((truth == "<=50K").mean()))
        return np.full(len(asked), "<=50K")

    @staticmethod
    def insist(*tables: pd.DataFrame) -> None:
        """Raise where a table has no ``id``: by it the judge knows whose rows these are."""
        if any("id" not in table for table in tables):
            raise Untraced

    def behind(self, learnt: set[int]) -> set[int]:
        """The real rows that some synthetic rows were made of."""
        return set().union(*(self.made[(-1 - number) // MADE] for number in learnt))


def judge_accuracy(accuracy: Callable[..., Any]) -> str | None:
    """Made from one part, taught by synthetic rows, tested on the other part; or so in folds."""
    witness = Witness()
    try:
        got = float(accuracy(witness.real, witness.make, witness.classify))
    except Untraced:
        return "accuracy drops the column id, by which it is judged whose rows are used: keep it."
    if not witness.made:
        return "accuracy must make a table with make(...) and ask classify(learnt, asked)."
    if not witness.asked:
        return "accuracy never asks classify: rows of two tables don't belong together by place."
    for learnt, tested in witness.asked:
        if words := judge_call(witness, learnt, tested):
            return words
    if len(set().union(*(tested for _, tested in witness.asked))) < 5:
        return "accuracy tests on one person, or nearly: hold out a fifth or so."
    sizes = [len(tested) for _, tested in witness.asked]
    right = [float(np.mean(witness.correct)), float(np.average(witness.correct, weights=sizes))]
    if any(math.isclose(got, 1 - share) for share in right):
        return "accuracy gives the errors. How often was classify right?"
    if any(math.isclose(got, 100 * share) for share in right):
        return f"accuracy gives {got:.3g}, a per cent. Give the share, from 0 to 1."
    if got > 1:
        return f"accuracy gives {got:g}, a number of rows. Divide by how many were asked about."
    if not any(math.isclose(got, share) for share in right):
        return (
            f"accuracy gives {got:.3g}; classify was right for {right[1]:.3g} of the rows "
            "it was asked about."
        )
    return None


def judge_call(witness: Witness, learnt: set[int], tested: set[int]) -> str | None:
    """What is wrong with one call of classify."""
    if min(tested) < 0:
        return (
            "accuracy tests on synthetic rows: "
            "a table that agrees with itself may be wrong about everybody."
        )
    if max(learnt) >= 0:
        return (
            "accuracy teaches the classifier with real rows: "
            "then it says nothing about the synthetic table."
        )
    both = witness.behind(learnt) & tested
    if not both:
        return None
    if len(tested) == len(witness.real):
        return (
            "accuracy tests on both parts, also on the rows that the table was made "
            "from. Ask about the held-out part alone."
        )
    part = "all" if both == tested else len(both)
    return (
        f"accuracy tests on {part} of the rows that the synthetic table was made from: "
        "a copy of them would look perfect."
    )


q1, q2, q3 = exercises("lesson_15", q2=variation_distance, q3=judge_accuracy)

"""Exercises of lesson 09, normalised risk entropy."""

import math

import numpy as np
import pandas as pd

from .judges import Computation
from .lesson import exercises


def softmax(exponents: np.ndarray) -> np.ndarray:
    """Shares proportional to e to these powers."""
    return np.exp(exponents) / np.exp(exponents).sum()


shares = Computation(
    lambda oe: softmax(-np.array(oe)),
    cases=[([0.9, 0.5, 0.1, 0.3],), ([0.0, 1.0],), ([0.3],)],
    faults={
        "shares({case[0]}) add up to {total:.4g}: divide by the sum of the weights, or the tables cost more than ε₃.": lambda got, oe: (
            np.isfinite(got).all() and not math.isclose(got.sum(), 1, abs_tol=1e-9)
        ),
    },
    mistakes={
        "shares has the sign turned round: a larger OE must get a *smaller* share.": lambda oe: (
            softmax(np.array(oe))
        ),
        "shares gives all tables the same: formula (12) looks at OE.": lambda oe: np.full(
            len(oe), 1 / len(oe)
        ),
        "shares is proportional to 1 − OE. Formula (12) has exp(−OE): nobody gets nothing.": (
            lambda oe: (1 - np.array(oe)) / (1 - np.array(oe)).sum()
        ),
        "shares is proportional to OE: a larger OE must get a smaller share, by exp(−OE).": (
            lambda oe: np.array(oe) / np.sum(oe)
        ),
        "shares is proportional to 1/OE. Formula (12) has exp(−OE), which also bears OE = 0.": (
            lambda oe: (1 / np.array(oe)) / (1 / np.array(oe)).sum()
        ),
        "shares uses 2 in the place of e.": lambda oe: softmax(-np.array(oe) * math.log(2)),
        "shares uses exp(−2 OE): twice as sharp as formula (12).": lambda oe: softmax(
            -2 * np.array(oe)
        ),
        "shares squares OE.": lambda oe: softmax(-(np.array(oe) ** 2)),
        "shares gives everything to the table with the smallest OE; the others would get no noise that is finite.": (
            lambda oe: (np.array(oe) == min(oe)) / oe.count(min(oe))
        ),
        "shares are in the wrong order: the share of a table stands where its OE stands.": (
            lambda oe: np.sort(softmax(-np.array(oe)))[::-1]
        ),
    },
    otherwise="shares({case[0]}) = {got}: the weights are exp(−OE).",
)


def bits(column: pd.Series) -> float:
    """Entropy of the values that occur."""
    p = column.value_counts(normalize=True)
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


COLUMN = pd.Series(list("aaaaaaaabbbbccdd"))
OPEN = pd.Series(pd.Categorical(list("xxyx"), categories=list("xyz")))
risk_entropy: Computation = Computation(
    lambda column, declared: bits(column) / math.log2(declared),
    cases=[(COLUMN, 8), (OPEN, 3), (pd.Series([1, 2, 3, 1]), 6)],
    faults={
        "risk_entropy is not a number: a declared value that nobody has makes 0 · log 0. Leave it out of the sum (p > 0).": lambda got, *case: (
            not np.isfinite(got)
        ),
    },
    mistakes={
        "risk_entropy divides by log₂ of the number of *records*: with n records in the place of n values all OE are small, and doubling the table changes them.": lambda column, declared: (
            bits(column) / math.log2(len(column))
        ),
        "risk_entropy divides by log₂ of the values that *occur*. One person more may bring a new one: the number of declared values is public, theirs isn't.": lambda column, declared: (
            bits(column) / math.log2(column.nunique())
        ),
        "risk_entropy isn't normalised: divide by log₂ of the declared values.": (
            lambda column, declared: bits(column)
        ),
        "risk_entropy divides by the number of values. Divide by its log₂, the largest entropy.": (
            lambda column, declared: bits(column) / declared
        ),
        "risk_entropy mixes bits above the line with nats below it.": lambda column, declared: (
            bits(column) / math.log(declared)
        ),
        "risk_entropy mixes nats above the line with bits below it.": lambda column, declared: (
            bits(column) * math.log(2) / math.log2(declared)
        ),
        "risk_entropy has the wrong sign: −Σ p log p.": lambda column, declared: (
            -bits(column) / math.log2(declared)
        ),
        "risk_entropy is 1 − OE.": lambda column, declared: (
            1 - risk_entropy.right(column, declared)
        ),
        "risk_entropy is the share of the most frequent value.": lambda column, declared: (
            column.value_counts(normalize=True).max()
        ),
        "risk_entropy is the Gini index, not an entropy.": lambda column, declared: (
            1 - (column.value_counts(normalize=True) ** 2).sum()
        ),
        "risk_entropy is upside down: it is at most 1.": lambda column, declared: (
            math.log2(declared) / bits(column)
        ),
    },
    otherwise="risk_entropy gives {got:.4g} where H / log₂ (declared) is {wanted:.4g}.",
)

q1, q2, q3 = exercises("lesson_09", q2=shares, q3=risk_entropy)

"""Exercises of lesson 03, Bayesian networks and mutual information."""

import math

import numpy as np
import pandas as pd

from ...core import entropy, mutual_information
from .judges import Computation
from .lesson import exercises


def expected(table: np.ndarray) -> np.ndarray:
    """Shares if rows and columns had nothing to do with each other."""
    p = table / table.sum()
    return p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)


def divergence(table: np.ndarray, weights: np.ndarray) -> float:
    """Σ weight · log₂(share ÷ expected share) over the cells that occur."""
    p = table / table.sum()
    return float(
        (weights * np.log2(np.where(p > 0, p, 1) / np.where(p > 0, expected(table), 1))).sum()
    )


information = Computation(
    mutual_information,
    cases=[
        (np.array(table),) for table in ([[4, 1, 0], [0, 5, 2]], [[3, 1], [1, 3]], [[2, 2], [2, 2]])
    ],
    faults={
        "information gives NaN for an empty cell: 0 · log 0 counts as 0, so leave those cells out.": lambda got, table: (
            np.isnan(got)
        ),
    },
    mistakes={
        "information is in nats: use np.log2.": lambda table: (
            mutual_information(table) * math.log(2)
        ),
        "information is in units of log10: use np.log2.": lambda table: (
            mutual_information(table) * math.log10(2)
        ),
        "information has the wrong sign: it is log p/q, not log q/p.": lambda table: (
            -mutual_information(table)
        ),
        "information weights with counts: use shares, p = table / table.sum().": lambda table: (
            divergence(table, table)
        ),
        "information adds log p/q without the weight p of each cell.": lambda table: divergence(
            table, np.ones(table.shape)
        ),
        "information weights with the expected shares: weight with p.": lambda table: divergence(
            table, expected(table)
        ),
        "information is the entropy of the whole table: subtract it from those of the margins.": (
            entropy
        ),
        "information is the entropy of the rows, H(X). Subtract what is left of it: H(X | Y).": (
            lambda table: entropy(table.sum(axis=1))
        ),
        "information is H(X | Y), what is *left* to know.": lambda table: (
            entropy(table) - entropy(table.sum(axis=0))
        ),
        "information is the distance Σ |p − q|, not an information.": (
            lambda table: abs(table / table.sum() - expected(table)).sum()
        ),
        "information is doubled: each cell counts once.": lambda table: (
            2 * mutual_information(table)
        ),
        "information divides by the number of cells: it is a sum.": lambda table: (
            mutual_information(table) / table.size
        ),
    },
    otherwise=(
        "information({case[0]}) gives {got:.4f}, expected {wanted:.4f}: "
        "p log2(p / (row share · column share)), summed."
    ),
)


def make_noisy(cells: dict[tuple[str, str], float]) -> pd.Series:
    """A released table: only the combinations that occur have a row."""
    return pd.Series(cells.values(), index=pd.MultiIndex.from_tuples(cells, names=["x", "y"]))


NOISY = make_noisy(
    {
        ("a", "p"): 7.3,
        ("a", "q"): -2.4,
        ("b", "p"): 0.6,
        ("c", "q"): 31.0,
        ("b", "q"): 3.1,
        ("d", "p"): 0.3,
    }
)
anybody = Computation(
    lambda noisy, x, y: (x, y) in noisy.index,
    cases=[(NOISY, x, y) for x in "abcde" for y in "pqr"],
    mistakes={
        "anybody asks whether the noisy count is positive. A negative one was a person, too: no row at all would be nobody.": (
            lambda noisy, x, y: noisy.get((x, y), 0) > 0
        ),
        "anybody asks whether the noisy count is at least 1. Noise moves the count, never the row.": lambda noisy, x, y: (
            noisy.get((x, y), 0) >= 1
        ),
        "anybody rounds the noisy count. It isn't the number that tells.": lambda noisy, x, y: (
            round(noisy.get((x, y), 0)) > 0
        ),
        "anybody is turned round: a row means that somebody has the combination.": (
            lambda noisy, x, y: (x, y) not in noisy.index
        ),
        "anybody always says yes.": lambda noisy, x, y: True,
        "anybody always says no. One of the two is right, and the output says which.": (
            lambda noisy, x, y: False
        ),
        "anybody asks whether x occurs at all. Ask for the pair.": lambda noisy, x, y: (
            x in noisy.index.get_level_values(0)
        ),
        "anybody asks whether y occurs at all. Ask for the pair.": lambda noisy, x, y: (
            y in noisy.index.get_level_values(1)
        ),
        "anybody asks whether x and y occur, each for itself. They may never meet.": (
            lambda noisy, x, y: (
                x in noisy.index.get_level_values(0) and y in noisy.index.get_level_values(1)
            )
        ),
        "anybody looks for a large count. Also a lone person has a row.": lambda noisy, x, y: (
            noisy.get((x, y), 0) > 5
        ),
        "anybody gives the noisy count. Say True or False: is somebody there?": (
            lambda noisy, x, y: noisy.get((x, y), 0)
        ),
    },
    otherwise=(
        "anybody(noisy, {case[1]!r}, {case[2]!r}) gives {got}. Look at which rows the "
        "output has, not at their numbers."
    ),
)

q1, q2, q3, q4 = exercises("lesson_03", q2=information, q4=anybody)

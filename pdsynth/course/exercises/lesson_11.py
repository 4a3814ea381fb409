"""Exercises of lesson 11, PrivABN."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ...core import mutual_information
from .lesson import exercises


def information(rows: np.ndarray, child: int, parents: Sequence[int]) -> float:
    """I(child, parents) in bits of yes–no rows (n, d)."""
    table = np.zeros((2, 2 ** len(parents)))
    key = sum((rows[:, p] << i for i, p in enumerate(parents)), np.zeros(len(rows), dtype=int))
    np.add.at(table, (rows[:, child], key), 1)
    return mutual_information(table)


def gparentset(rows: np.ndarray, child: int, order: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """dp[S, j] of PrivABN's Algorithm 3 after the parents of ``order`` have come one by one.

    j runs downwards, and a tie goes to the newcomer.
    """
    dp: dict[int, tuple[int, ...]] = {0: ()}
    for newcomer in order:
        for j in range(len(dp), 0, -1):
            grown = (*dp[j - 1], newcomer)
            if j not in dp or (
                information(rows, child, grown) >= information(rows, child, dp[j]) - 1e-12
            ):
                dp[j] = grown
    return dp


def judge_rows(answer: Any) -> str | None:
    """Rows of (A, B, C, S) for which GParentSet misses the best two parents of S."""
    rows = np.asarray(answer)
    if rows.ndim != 2 or rows.shape[1] != 4 or len(rows) < 2:
        return "rows has four columns, (A, B, C, S), and at least two rows."
    if not np.isin(rows, (0, 1)).all():
        return "rows is a list of (A, B, C, S), each 0 or 1."
    rows = rows.astype(int)
    parents = gparentset(rows, 3, (0, 2, 1))[2]
    bits = information(rows, 3, parents)
    best = max(information(rows, 3, pair) for pair in combinations(range(3), 2))
    if best > bits + 1e-9:
        return None
    return "rows: " + explain_found(rows, parents, bits)


def explain_found(rows: np.ndarray, found: Sequence[int], bits: float) -> str:
    """Why GParentSet misses nothing here."""
    if len(set(rows[:, 3])) == 1:
        return "S is always the same, so there is nothing to tell."
    for i, name in enumerate("ABC"):
        if (rows[:, 3] == rows[:, i]).all():
            return f"S is a copy of {name}: the best pair holds it, and is found."
    if bits < 1e-9:
        return "no pair of parents tells anything about S. Make S depend on two of them."
    for i, name in enumerate("ABC"):
        if information(rows, 3, (i,)) > 1e-9:
            return (
                f"{name} alone tells something, so it is remembered until its partner comes. "
                "Let neither A nor B alone tell S."
            )
    first = min(found, key=(0, 2, 1).index)
    names = " and ".join("ABC"[i] for i in sorted(found))
    return (
        f"S needs {names}, and the second of them comes while {'ABC'[first]} is still "
        "remembered. A, then C, then B: who is forgotten by the time B comes?"
    )


class NoiseTape:
    """A random source that writes down what it is asked for and gives a fixed noise."""

    def __init__(self, noise: np.ndarray) -> None:
        self.noise, self.asked = noise, list[tuple[float, Any]]()

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> np.ndarray:
        """The fixed noise, whatever ``scale`` and ``size``."""
        self.asked.append((float(np.max(scale)), size))
        return loc + self.noise


def judge_sdg(sdg: Callable[..., Any]) -> str | None:
    """Noise of scale 2m/ε₂ on every count, then a conditional of each column."""
    counts, m, epsilon2 = np.array([[30, 0, 5], [10, 1, 0]]), 4, 0.8
    tape = NoiseTape(np.array([[2.0, -3.0, -9.0], [-4.0, 3.0, -1.0]]))
    p = np.asarray(sdg(counts.copy(), m, epsilon2, tape), dtype=float)
    if p.shape != counts.shape:
        return f"sdg returns shape {p.shape}, not that of counts, {counts.shape}."
    if len(tape.asked) != 1:
        return f"sdg asks for noise {len(tape.asked)} times: once, for the whole table."
    scale, size = tape.asked[0]
    if size is None or tuple(np.atleast_1d(size)) != counts.shape:
        return f"sdg draws noise of size {size}: every cell, also an empty one, needs its own."
    if math.isclose(scale, 2 * m / (counts.sum() * epsilon2)):
        return (
            "sdg keeps the printed scale 2m/(n ε₂). That is for probabilities; counts need 2m/ε₂."
        )
    for mistake, words in {
        m / epsilon2: "uses sensitivity 1: a replaced record moves two counts",
        2 / epsilon2: "means that one table spends all of ε₂; m tables share it",
        2 * m * epsilon2: "multiplies by ε₂: less budget, more noise",
        4 * m / epsilon2: "is doubled: the 2 is both cells",
    }.items():
        if math.isclose(scale, mistake):
            return f"sdg's scale {scale:g} {words}."
    if not math.isclose(scale, 2 * m / epsilon2):
        return (
            f"sdg's scale is {scale:g}. A replaced record moves two counts by one, and "
            f"m tables share ε₂: 2m/ε₂ = {2 * m / epsilon2:g}."
        )
    if (p < 0).any():
        return "sdg: negative counts must become 0 before the columns are normalised."
    if not np.allclose(p[:, :2], [[32 / 38, 0], [6 / 38, 1]]):
        return (
            "sdg: the noise goes onto the counts, first; then clip, "
            "then divide each column by its sum."
        )
    if not np.allclose(p.sum(axis=0), 1):
        return (
            "sdg: the last column has no positive count left. "
            "Give it a distribution, for example the uniform one."
        )
    return None


q1, q2, q3 = exercises("lesson_11", q1=judge_rows, q3=judge_sdg)

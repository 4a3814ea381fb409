"""Exercises of lesson 11, PrivABN."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ...measures import mutual_information
from .exercise import Exercise, each, number

COST = 21_574 / 40 / 16  # n ε₂/m of NLTCS at ε = 0.05


def information(rows: np.ndarray, child: int, parents: Sequence[int]) -> float:
    """I(child, parents) in bits of yes–no rows (n, d)."""
    table = np.zeros((2, 2 ** len(parents)))
    key = sum((rows[:, p] << i for i, p in enumerate(parents)), np.zeros(len(rows), dtype=int))
    np.add.at(table, (rows[:, child], key), 1)
    return mutual_information(table)


def gparentset(rows: np.ndarray, child: int, order: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """dp[S, j] of PrivABN's Algorithm 3 after the parents of ``order`` have come one by one; descending j, ties to the newcomer."""
    dp: dict[int, tuple[int, ...]] = {0: ()}
    for f in order:
        for j in range(len(dp), 0, -1):
            grown = (*dp[j - 1], f)
            if j not in dp or information(rows, child, grown) >= information(rows, child, dp[j]) - 1e-12:
                dp[j] = grown
    return dp


def _table(answer: Any) -> str | None:
    rows = np.asarray(answer)
    if rows.ndim != 2 or rows.shape[1] != 4 or len(rows) < 2 or not np.isin(rows, (0, 1)).all():
        return "rows must be a list of (A, B, C, S), each 0 or 1; at least two."
    rows = rows.astype(int)
    found = gparentset(rows, 3, (0, 2, 1))[2]
    pairs = {pair: information(rows, 3, pair) for pair in combinations(range(3), 2)}
    best = max(pairs, key=pairs.__getitem__)
    mine, top = information(rows, 3, found), pairs[best]
    if top > mine + 1e-9:
        return None
    names = " and ".join("ABC"[i] for i in sorted(found))
    if top < 1e-9:
        return "rows: no pair of parents tells anything about S. Make S depend on two of them."
    return f"rows: GParentSet ends with {names}, which tell {mine:.3f} bits, as much as any pair. Let neither A nor B alone tell S."


class _Tape:
    """A random source that writes down what it is asked for and hands out a fixed noise."""

    def __init__(self, noise: np.ndarray) -> None:
        self.noise, self.asked = noise, list[tuple[float, Any]]()

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> np.ndarray:
        self.asked.append((float(np.max(scale)), size))
        return loc + self.noise


def _sdg(function: Callable[..., Any]) -> str | None:
    counts, m, epsilon2 = np.array([[30, 0, 5], [10, 1, 0]]), 4, 0.5
    noise = np.array([[2.0, -3.0, -9.0], [-4.0, 3.0, -1.0]])
    tape = _Tape(noise)
    got = function(counts.copy(), m, epsilon2, tape)
    if got is None:
        return "sdg returns nothing yet."
    p = np.asarray(got, dtype=float)
    if p.shape != counts.shape:
        return f"sdg returns shape {p.shape}, not that of counts, {counts.shape}."
    if len(tape.asked) != 1:
        return f"sdg asks for noise {len(tape.asked)} times: once, for the whole table."
    scale, size = tape.asked[0]
    if size is None or tuple(np.atleast_1d(size)) != counts.shape:
        return f"sdg draws noise of size {size}: every cell, also an empty one, needs its own."
    if math.isclose(scale, 2 * m / (counts.sum() * epsilon2)):
        return "sdg keeps the printed scale 2m/(n ε₂). That is for probabilities; counts need 2m/ε₂."
    if not math.isclose(scale, 2 * m / epsilon2):
        return f"sdg's scale is {scale:g}. A replaced record moves two counts by one, and m tables share ε₂: 2m/ε₂ = {2 * m / epsilon2:g}."
    if (p < 0).any():
        return "sdg: negative counts must become 0 before the columns are normalised."
    if np.allclose(p[:, 0], [32 / 38, 6 / 38]) and np.allclose(p[:, 1], [0, 1]):
        if np.isfinite(p).all() and np.allclose(p.sum(axis=0), 1):
            return None
        return "sdg: the last column has no positive count left. Give it a distribution, for example the uniform one."
    return "sdg: the noise goes onto the counts, first; then clip, then divide each column by its sum."


q1 = Exercise(
    _table,
    "Which function of two bits is a coin toss given either of them? Let C be anything.",
    "rows = [(a, b, c, a ^ b) for a in (0, 1) for b in (0, 1) for c in (0, 1)]: alone A, B and C tell nothing, so when B comes, "
    "dp[S, 1] has already forgotten A.",
    "Question 1",
    "Correct: the best pair isn't made of the best single parent and one more. There is no optimal substructure.",
)
q2 = Exercise(
    each(
        number(
            2,
            {
                2 / 21_574: "change: that is how far the *joint* probabilities move. Divided by P(π) = 1/n they move n times as far.",
                1: "change: one probability goes from 0 to 1, and the other one comes back from 1 to 0.",
            },
            "change = {value:g}: the column is (0, 1) or (1, 0).",
        ),
        number(
            COST,
            {
                1 / 640: "change is right. cost is what the paper claims for a node, ε₂/m: divide the true change by the scale instead.",
                COST / 2: "change is right, and cost uses 1 in its place.",
                COST * 16: "change is right. cost is that of all nodes; the question is about one.",
                2 / COST: "change is right. cost is the scale: divide the change by it.",
                1 / COST: "change is right. cost is upside down.",
            },
            "change is right. cost = {value:g}: change ÷ scale.",
            within=1e-2,
        ),
    ),
    "The column of a lone person is (0, 1) or (1, 0). Cost is change divided by the scale 2m/(n ε₂).",
    "change = 2; cost = 2 / (2m/(n ε₂)) = n ε₂/m = 21,574 / 40 / 16 ≈ 33.7.",
    "Question 2",
    "Correct: 33.7 for one node, of a claimed 0.0016.",
)
q3 = Exercise(
    _sdg,
    "noisy = counts + rng.laplace(scale=2 * m / epsilon2, size=counts.shape), and only then a conditional.",
    "def sdg(counts, m, epsilon2, rng):\n    noisy = np.maximum(counts + rng.laplace(scale=2 * m / epsilon2, size=counts.shape), 0)\n"
    "    total = noisy.sum(axis=0)\n    return np.where(total > 0, noisy / np.where(total > 0, total, 1), 0.5)",
    "Question 3",
    "Correct. Noise first, division afterwards: post-processing of counts that have been paid for.",
)

"""Exercises of lesson 11, PrivABN."""

import math
from collections.abc import Callable, Iterator, Sequence, Set
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
    if isinstance(answer, Set | Iterator):  # NumPy makes one object of either
        answer = [*answer]
    try:
        rows = np.asarray(answer)
    except ValueError:  # rows of different lengths
        rows = np.array([])
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
    """A random source of fixed noise that writes down the scales and how much it is asked for."""

    units = (0.2, -0.3, -0.9, -0.4, 0.3, -0.1)

    def __init__(self) -> None:
        self.scales: list[float] = []
        self.drawn = 0

    def __getattr__(self, name: str) -> Any:
        """Any other law."""
        raise AttributeError(f"this noise is drawn by rng.laplace, not by rng.{name}")

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """The next fixed numbers times ``scale``: one, or an array of shape ``size``."""
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        many = int(np.prod(shape))
        places = (self.drawn + np.arange(many)) % len(self.units)
        self.scales.append(float(np.max(scale)))
        self.drawn += many
        return loc + scale * np.array(self.units)[places].reshape(shape)[()]


COUNTS, NODES, SHARE = np.array([[30, 0, 5], [10, 1, 0]]), 4, 0.8


def fits(p: np.ndarray, scale: float) -> bool:
    """Whether ``p`` is the conditional of COUNTS plus the tape's noise of this scale.

    Cells may be asked row by row or column by column. Columns that noise leaves empty don't count.
    """
    for order in ("C", "F"):
        noise = scale * np.reshape(NoiseTape.units, COUNTS.shape, order=order)  # type: ignore[call-overload]
        noisy = np.maximum(COUNTS + noise, 0)
        alive = noisy.sum(axis=0) > 0
        if np.allclose(p[:, alive], (noisy / np.maximum(noisy.sum(axis=0), 1e-9))[:, alive]):
            return True
    return False


def wrong_scale(scale: float) -> str | None:
    """Words for noise that hasn't the scale 2m/ε₂."""
    m, epsilon2 = NODES, SHARE
    if math.isclose(scale, 2 * m / (COUNTS.sum() * epsilon2)):
        return (
            "sdg keeps the printed scale 2m/(n ε₂). That is for probabilities; counts need 2m/ε₂."
        )
    for mistake, words in MISTAKEN.items():
        if math.isclose(scale, mistake):
            return f"sdg's scale {scale:g} {words}."
    if not math.isclose(scale, 2 * m / epsilon2):
        return (
            f"sdg's scale is {scale:g}. A replaced record moves two counts by one, and "
            f"m tables share ε₂: 2m/ε₂ = {2 * m / epsilon2:g}."
        )
    return None


MISTAKEN = {
    NODES / SHARE: "uses sensitivity 1: a replaced record moves two counts",
    2 / SHARE: "means that one table spends all of ε₂; m tables share it",
    2 * NODES * SHARE: "multiplies by ε₂: less budget, more noise",
    4 * NODES / SHARE: "is doubled: the 2 is both cells",
}


def judge_sdg(sdg: Callable[..., Any]) -> str | None:
    """Noise of scale 2m/ε₂ on every count, then a conditional of each column.

    What comes out is judged: noise may be asked for in one call or cell by cell, and be scaled
    afterwards.
    """
    tape = NoiseTape()
    p = np.asarray(sdg(COUNTS.copy(), NODES, SHARE, tape), dtype=float)
    if p.shape != COUNTS.shape:
        return f"sdg returns shape {p.shape}, not that of counts, {COUNTS.shape}."
    if not tape.drawn:
        return "sdg draws nothing from rng: take its noise from there, once for the whole table."
    if tape.drawn != COUNTS.size:
        return (
            f"sdg draws noise {tape.drawn} times for {COUNTS.size} cells: "
            "every cell, also an empty one, needs its own."
        )
    right = fits(p, 2 * NODES / SHARE)
    if not right:
        used = next((scale for scale in MISTAKEN if fits(p, scale)), max(tape.scales))
        if words := wrong_scale(used):
            return words
    if (p < 0).any():
        return "sdg: negative counts must become 0 before the columns are normalised."
    if not right:
        return (
            "sdg: the noise goes onto the counts, first; then clip, "
            "then divide each column by its sum."
        )
    if not np.allclose(p.sum(axis=0), 1):
        return (
            "sdg: a column has no positive count left. "
            "Give it a distribution, for example the uniform one."
        )
    return None


q1, q2, q3 = exercises("lesson_11", q1=judge_rows, q3=judge_sdg)

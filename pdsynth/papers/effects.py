"""Effect sizes: every point that a claim compares, with its difference in three units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .engine import stem
from .judging import Ask
from .scoreboard import Committed

RULES_OF_GAPS = ("above", "mostly_above", "everywhere", "within", "alike", "close_at_first")


def hedges(a: np.ndarray, b: np.ndarray) -> float:
    """Hedges' g: the difference of means in pooled standard deviations, small samples corrected.

    >>> round(hedges(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])), 3)
    0.8
    """
    freedom = len(a) + len(b) - 2
    if min(len(a), len(b)) < 2:
        return float("nan")
    pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / freedom
    if not pooled > 0:
        return float("nan")
    return float((a.mean() - b.mean()) / np.sqrt(pooled) * (1 - 3 / (4 * freedom - 1)))


def measure(boards: Sequence[Committed]) -> pd.DataFrame:
    """One row per point at which a rule compares means of a and b, under every reading.

    Columns: paper, figure, claim, part, reading, a and b (what differs between the two), point
    (what they share), difference (mean of a minus mean of b, in the claim's unit), half (half-width
    of its 95 % interval without Holm's correction: of pairs where repeats share a split, else
    Welch's), ratio (of the means), g (Hedges' g, the difference in standard deviations), runs_a,
    runs_b. Empty: a single run has no interval.
    """
    rows = [
        row
        for board in boards
        for key, ask in board.asked
        for row in _points(board.paper.name, stem(key), ask)
    ]
    return pd.DataFrame(rows)


def _points(paper: str, figure: str, ask: Ask) -> Iterator[dict[str, Any]]:
    claim = ask.question
    if claim["rule"] not in RULES_OF_GAPS:
        return
    at = {
        "paper": paper,
        "figure": figure,
        "claim": claim["brief"],
        "part": claim.claim.get("part", ""),
        "reading": ask.reading,
    }
    for _, one, two in claim.pairs():
        a, b = claim.values(**one), claim.values(**two)
        gap, half = claim.compare(one, two)
        shared = {n: v for n, v in one.items() if two.get(n) == v}
        yield at | {
            "a": _say(one, shared),
            "b": _say(two, shared),
            "point": _say(shared, {}),
            "difference": gap,
            "half": half if np.isfinite(half) else np.nan,
            "ratio": a.mean() / b.mean() if len(b) and b.mean() else np.nan,
            "g": hedges(a, b),
            "runs_a": len(a),
            "runs_b": len(b),
        }


def _say(point: dict[str, Any], without: dict[str, Any]) -> str:
    return ", ".join(f"{n} = {v}" for n, v in point.items() if n not in without and v != "")

"""Covering designs: few sets of l attributes that together hold every t of them. Knows d, l, t and a public seed, no record."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..errors import BudgetError

MAX_SETS = 250_000  # t-sets that one design keeps track of
TRIES = 16


@lru_cache(maxsize=64)
def covering_design(d: int, size: int, t: int, seed: int = 0) -> tuple[tuple[int, ...], ...]:
    """Sets of ``size`` of the columns 0 … d−1 such that every t columns lie in one of them together; sorted column numbers.

    Greedy, the best of ``TRIES`` runs with random ties (fewer where there are many t-sets); at most two thirds more sets than
    the best designs known for the tables of the PriView paper. d ≤ size: one set of all columns. BudgetError where
    there are more than 250,000 t-sets. Source: Qardaji, Yang, Li (SIGMOD 2014), who look their designs up in a repository.

    >>> covering_design(4, 8, 2)
    ((0, 1, 2, 3),)
    """
    if d <= size:
        return (tuple(range(d)),)
    if math.comb(d, t) > MAX_SETS:
        raise BudgetError(
            f"a covering design of all {t}-sets of d = {d} columns keeps track of {math.comb(d, t):,} sets, at most {MAX_SETS:,}: use t = 2"
        )
    tries = max(1, min(TRIES, TRIES * 2000 // math.comb(d, t)))
    return min((_greedy(d, size, t, np.random.default_rng([seed, i])) for i in range(tries)), key=len)


def _greedy(d: int, size: int, t: int, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    open_sets = np.zeros((d,) * t, dtype=bool)  # symmetric: which t-sets aren't covered yet
    grid = np.indices(open_sets.shape).reshape(t, -1)
    open_sets.ravel()[:] = np.all([grid[a] != grid[b] for a in range(t) for b in range(a)], axis=0)
    found = []
    while open_sets.any():
        view: list[int] = []
        while len(view) < size:
            gain = _gain(open_sets, view, t).astype(float) + rng.random(d) / 2  # gains are whole: ties are broken at random
            gain[view] = -1
            view.append(int(gain.argmax()))
        open_sets[np.ix_(*[view] * t)] = False
        found.append(tuple(sorted(view)))
    return tuple(found)


def _gain(open_sets: np.ndarray, view: list[int], t: int) -> np.ndarray:
    """Open t-sets that each column would close, or, while the view holds fewer than t−1, those that it would still leave possible."""
    if len(view) < t - 1:
        return open_sets[tuple(view)].reshape(len(open_sets), -1).sum(axis=1)
    return open_sets[np.ix_(range(len(open_sets)), *[view] * (t - 1))].reshape(len(open_sets), -1).sum(axis=1)

"""Covering designs: few sets of columns that together hold every t of them. Knows no record."""

import itertools
import math
from functools import lru_cache

import numpy as np

from ..errors import BudgetError

MAX_SETS = 250_000  # t-sets that one design keeps track of
TRIES = 16


@lru_cache(maxsize=64)
def covering_design(d: int, size: int, t: int, seed: int = 0) -> tuple[tuple[int, ...], ...]:
    """Sets of ``size`` of the columns 0 … d−1 such that every t columns lie in one of them.

    Greedy, the best of ``TRIES`` runs with random ties (fewer where there are many t-sets); at most
    two thirds more sets than the designs that the PriView paper takes from a repository (Qardaji,
    Yang, Li, SIGMOD 2014). BudgetError for more than 250,000 t-sets.

    >>> covering_design(4, 8, 2)
    ((0, 1, 2, 3),)
    """
    if d <= size:
        return (tuple(range(d)),)
    sets = math.comb(d, t)
    if sets > MAX_SETS:
        raise BudgetError(
            f"a covering design of all {t}-sets of d = {d} columns keeps track of "
            f"{sets:,} sets, at most {MAX_SETS:,}: use t = 2"
        )
    tries = range(max(1, min(TRIES, TRIES * 2000 // sets)))
    return min((_greedy(d, size, t, np.random.default_rng([seed, i])) for i in tries), key=len)


def _greedy(d: int, size: int, t: int, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    left, found = np.ones((d,) * t, dtype=bool), []  # t-sets that aren't covered yet: symmetric
    for one, other in itertools.combinations(np.indices(left.shape), 2):
        left &= one != other
    while left.any():
        view: list[int] = []
        while len(view) < size:
            gain = _gain(left, view) + rng.random(d) / 2  # gains are whole: ties break at random
            gain[view] = -1
            view.append(int(gain.argmax()))
        left[np.ix_(*[view] * t)] = False
        found.append(tuple(sorted(view)))
    return tuple(found)


def _gain(left: np.ndarray, view: list[int]) -> np.ndarray:
    """Open t-sets that each column would close, or leave possible while the view is small."""
    d, t = len(left), left.ndim
    closed = left[tuple(view)] if len(view) < t - 1 else left[np.ix_(range(d), *[view] * (t - 1))]
    return closed.reshape(d, -1).sum(axis=1)

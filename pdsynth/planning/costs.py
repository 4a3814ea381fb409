"""Seconds and memory of a fit, from the machine's speed; constants by benchmarks/forecast.py."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..algorithms import MASS, MOST_CELLS, clique_limit

CODE, ROW, BIT_ROW = 2.8e-8, 3e-9, 1.5e-10  # seconds of a cell to encode, of a record in one table
STEP, SET, CANDIDATE, NOISY = 2e-4, 1.5e-5, 3e-7, 8e-7  # of a mechanism, a set, a noisy cell
SCORED, FITTED, GROWN = 3e-5, 8e-4, 1.5e-8  # of a round: a set, a column, a column and 1 of ε n
TOLD = 6e-9  # of a round: a value of the largest column, and a cell of a clique
EDGES = 0.05  # of a column whose edges the fit chooses
BASE, JOINED = 0.005, 0.006  # of a fit; of a forest's column where n is 10^4, in proportion to √n
REFERENCE = 5.3e-4  # seconds of `_count` where the constants were measured


def _count() -> float:
    """Seconds of one table of 2^18 records, and of many of a few records, as in most fits."""
    key = np.arange(2**18) % 1000
    start = time.process_time()
    np.bincount(key)
    for _ in range(200):
        np.bincount(key[:100]).sum()
    return time.process_time() - start


@lru_cache(maxsize=1)
def slowness() -> float:
    """How many times slower this machine counts, asked once, in half octaves from 1/8 to 8."""
    ratio = max(min(_count() for _ in range(9)), 1e-5) / REFERENCE
    return 2.0 ** (max(-6, min(6, round(2 * math.log2(ratio)))) / 2)


class Cost:
    """Seconds of one core and MiB beyond what is loaded, for n records over columns of sizes.

    ``private``: of how many columns the fit chooses the edges.
    """

    def __init__(self, n: int, sizes: Sequence[int], private: int = 0) -> None:
        self.n, self.sizes, self.d = n, np.array(sizes, dtype=float), len(sizes)
        self.row = BIT_ROW if self.sizes.max() == 2 else ROW
        self.encode = BASE + CODE * n * self.d + STEP * self.d + EDGES * private

    def degree(self, k: int) -> tuple[float, float]:
        """PrivBayes with k parents; 0: single columns."""
        cells, tables = self._mean_cells(k + 1), self.d - k
        sets = sum(math.comb(self.d, m + 1) for m in range(1, k + 1))
        seconds = sets * (self.n * self.row + SET + 8e-9 * cells)
        seconds += CANDIDATE * math.comb(self.d + 1, k + 2) * (k > 0) + STEP * self.d * (k > 0)
        return self._sum(seconds + NOISY * tables * cells, tables * cells, k)

    def forest(self, pairs: int) -> tuple[float, float]:
        """A forest of pairs, chosen one after the other, and tables that agree."""
        cells = self._mean_cells(2)
        seconds = pairs * (self.n * ROW + SET) + 1.5e-6 * self.d * pairs
        seconds += JOINED * self.d * math.sqrt(self.n / 1e4) + NOISY * self.d * cells
        return self._sum(seconds, pairs * cells, 0)

    def look(self, pairs: int) -> tuple[float, float]:
        """Single columns, after a look at so many pairs."""
        return self._sum(pairs * (self.n * ROW + SET) + STEP * self.d, 0, 0)

    def rounds(self, sets: int, rounds: float, mass: float, power: int = 1) -> tuple[float, float]:
        """So many rounds, each of which scores all sets and fits the model anew.

        With ``mass`` = ε n the cliques grow to their limit, and with them the time of a fit. What
        a clique's cells tell of the values of other columns stands in one array. ``power``: 2 with
        a δ, where cliques may be larger.
        """
        room = clique_limit(mass, self.d, power)
        told = float(self.sizes.sum()) * room
        each = SCORED * sets + self.d * (FITTED + GROWN * min(mass, MASS * room / MOST_CELLS))
        each += TOLD * float(self.sizes.max()) * room
        seconds = sets * (self.n * ROW + SET) + rounds * each
        return self._sum(seconds, sets * min(self._mean_cells(2), 4096) + told / 10, 0)

    def _sum(self, seconds: float, cells: float, columns: int) -> tuple[float, float]:
        memory = self.n * (self.d + 30 + 28 * columns) + 80 * min(cells, 2**24)
        return (self.encode + seconds) * slowness(), max(20.0, memory / 2**20)

    def _mean_cells(self, members: int) -> float:
        """The mean joint cells of so many columns: their elementary symmetric mean."""
        sums = np.zeros(members + 1)
        sums[0] = 1
        for i, size in enumerate(self.sizes):
            top = min(i + 1, members)
            sums[1 : top + 1] += size * sums[:top].copy()
        return float(sums[members]) / max(math.comb(self.d, members), 1)

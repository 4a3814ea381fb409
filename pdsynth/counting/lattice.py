"""The entropy lattice: entropies and associations of sets, which every structure search looks up.

Only ``counting`` may import this module: what it holds is raw.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from .bits import CountLogs, associations, entropies, subsets
from .counter import MAX_CELLS, Counter
from .subset_tables import SubsetTables

MAX_KEPT = 2**23  # sets of one size whose values are kept: 0.3 GB of four associations each
MAX_MEMBERS = 8  # attributes of a set whose indices fit a 64-bit key; larger ones are counted anew


def pack(sets: np.ndarray, base: int = 256) -> np.ndarray:
    """One uint64 key for each row of rising attribute indices (m, s ≤ 8).

    Keys rise as rows do, so that sets in lexicographic order are found side by side.
    ``base``: more than the number of attributes.
    """
    keys = np.zeros(len(sets), dtype=np.uint64)
    for members in sets.T:
        keys = keys * np.uint64(base) + members.astype(np.uint64) + np.uint64(1)
    return keys


class Lattice:
    """Entropies H(S), in bits, and associations K(X, S∖X) of sets of attributes, found by look-up.

    I(X;Π) = H(X) + H(Π) − H(X∪Π), so one pass over all (k+1)-subsets serves every root, order, ε,
    r, θ and k' ≤ k.

    **Privacy:** raw; it lives inside the curator, which turns look-ups into scores of a mechanism.
    """

    def __init__(self, counter: Counter) -> None:
        self.counter, self.n, self.sizes = counter, counter.n, counter.sizes
        self._logs = CountLogs(self.n)
        self._base = max(256, len(self.sizes) + 1)
        self._members = min(MAX_MEMBERS, int(64 / math.log2(self._base)))
        self._two_valued = np.array([size == 2 for size in self.sizes])
        self._kept: dict[tuple[str, int], _SortedRuns] = {}
        self._complete: dict[tuple[str, tuple[int, ...]], int] = {}

    def entropies(self, sets: np.ndarray) -> np.ndarray:
        """H of each row of ``sets`` (m, s), in bits; what is missing is counted and kept."""
        return self._look_up("H", np.sort(sets, axis=1))

    def information(self, children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """I(X;Π) in bits for children (m,) and parents (m, s)."""
        if parents.shape[1] == 0:
            return np.zeros(len(children))
        h = self.entropies
        return h(children[:, None]) + h(parents) - h(np.column_stack([children, parents]))

    def association(self, children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """K(X,Π), int64, for children (m,) and parents (m, s)."""
        if parents.shape[1] == 0:
            return np.zeros(len(children), dtype=np.int64)
        sets = np.sort(np.column_stack([children, parents]), axis=1)
        place = (sets == children[:, None]).argmax(axis=1)
        return self._look_up("K", sets, (place,))

    def build(
        self, max_size: int, *, kind: str = "H", members: Sequence[int] | None = None
    ) -> Lattice:
        """Fill every set of at most ``max_size`` (and 8) attributes, only of ``members`` if given.

        A sum over few cells is cheaper than a pass over all records: see :class:`SubsetTables` for
        which sets are counted. Sets of two-valued attributes only are counted together: see
        :class:`~pdsynth.counting.bits.BitTables`.
        """
        chosen = tuple(range(len(self.sizes)) if members is None else sorted(members))
        max_size = min(max_size, self._members, len(chosen))
        if max_size <= self._complete.get((kind, chosen), 0):
            return self
        if self._two_valued[list(chosen)].all():
            for size in range(1, max_size + 1):
                self._look_up(kind, subsets(chosen, size))
        else:
            self._sum_up(kind, chosen, max_size)
        self._complete[kind, chosen] = max_size
        return self

    def _sum_up(self, kind: str, chosen: tuple[int, ...], max_size: int) -> None:
        sets, values = defaultdict(list), defaultdict(list)
        for member, table in SubsetTables(self.counter, chosen, max_size, MAX_CELLS):
            ordered = tuple(sorted(member))
            value = self._value(kind, member, table)
            sets[len(member)].append(ordered)
            values[len(member)].append(
                value if kind == "H" else [value[member.index(j)] for j in ordered]
            )
        for size, found in values.items():
            self._runs(kind, size).add(pack(np.array(sets[size]), self._base), np.array(found))

    def _runs(self, kind: str, size: int) -> _SortedRuns:
        new = _SortedRuns(float if kind == "H" else (np.int64, (size,)))
        return self._kept.setdefault((kind, size), new)

    def _value(self, kind: str, member: tuple[int, ...], table: np.ndarray) -> Any:
        if kind == "H":
            return math.log2(self.n) - int(self._logs.take(table).sum()) * self._logs.unit / self.n
        return _associations(table.reshape([self.sizes[j] for j in member]), self.n)

    def _look_up(
        self, kind: str, sets: np.ndarray, part: tuple[np.ndarray, ...] = ()
    ) -> np.ndarray:
        """The values of sets (m, s), members rising; of each only the number ``part`` (m,)."""
        if sets.shape[1] > self._members:
            rows, back = np.unique(sets, axis=0, return_inverse=True)
            return np.array(self._one_by_one(kind, rows))[back.ravel(), *part]
        wanted, runs = pack(sets, self._base), self._runs(kind, sets.shape[1])
        values, found = runs.find(wanted, part)
        if not found.all():
            keys, first, back = np.unique(wanted[~found], return_index=True, return_inverse=True)
            counted = self._fill(kind, sets[~found][first])
            runs.add(keys, counted)
            values[~found] = counted[back, *(p[~found] for p in part)]
        return values

    def _fill(self, kind: str, sets: np.ndarray) -> np.ndarray:
        """Count some sets (m, s), members rising."""
        out = np.empty(len(sets), dtype=self._runs(kind, sets.shape[1]).kind)
        many = self._two_valued[sets].all(axis=1)
        if many.sum() < 2 ** (sets.shape[1] - 4):  # so few large sets are counted sooner one by one
            many[:] = False
        if many.any():
            cells = self.counter.cells(sets[many])
            out[many] = (
                entropies(cells, self.n, self._logs) if kind == "H" else associations(cells, self.n)
            )
        if not many.all():
            out[~many] = self._one_by_one(kind, sets[~many])
        return out

    def _one_by_one(self, kind: str, sets: np.ndarray) -> list:
        rows = [tuple(row) for row in sets.tolist()]
        tables = self.counter.tables(((), row) for row in rows)
        return [self._value(kind, row, table) for row, table in zip(rows, tables, strict=True)]


class _SortedRuns:
    """Values under 64-bit keys, in a few sorted runs, each at least twice as long as the next."""

    def __init__(self, kind: Any) -> None:
        self.kind = np.dtype(kind)  # of one value
        self.runs: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Keep values; what is full is emptied first, and counted again when it is asked for."""
        if sum(len(kept) for kept, _ in self.runs) + len(keys) > MAX_KEPT:
            self.runs.clear()
        self.runs.append(_sort(keys, values))
        while len(self.runs) > 1 and len(self.runs[-2][0]) < 2 * len(self.runs[-1][0]):
            keys, values = map(np.concatenate, zip(*self.runs[-2:], strict=True))
            self.runs[-2:] = [_sort(keys, values)]

    def find(
        self, wanted: np.ndarray, part: tuple[np.ndarray, ...] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values of some keys, or of each value its number ``part``; and which keys are there."""
        kind = self.kind.base if part else self.kind
        out, left = np.empty(len(wanted), dtype=kind), np.ones(len(wanted), dtype=bool)
        for keys, values in self.runs:
            asked = wanted[left]
            at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
            hit = keys[at] == asked
            where = np.flatnonzero(left)[hit]
            out[where] = values[at[hit], *(p[where] for p in part)]
            left[where] = False
        return out, ~left


def _sort(keys: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys, kind="stable")
    return keys[order], values[order]


def _associations(table: np.ndarray, n: int) -> list[int]:
    """K = Σ|n·t − c·p| = n² + Σ_occupied (|n·t − c·p| − c·p) of every member against the others."""
    if table.ndim == 1:
        return [0]
    at = np.flatnonzero(table)
    count = table.ravel()[at]
    out, inner = [], table.size
    for size in table.shape:
        inner //= size
        upper = at // inner
        above = upper // size
        value = upper - above * size
        c = np.bincount(value, weights=count)[value].astype(np.int64)
        rest = at - (upper - above) * inner
        p = np.bincount(rest, weights=count)[rest].astype(np.int64)
        expected = c * p
        out.append(n * n + int((np.abs(n * count - expected) - expected).sum()))
    return out

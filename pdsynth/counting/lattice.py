"""The entropy lattice: entropies and associations of sets of attributes, which every structure search looks up.

Only ``counts`` may import this module: what it holds is raw.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import BudgetError
from .bits import BitTables, fixed_point, subsets

MAX_CELLS = 2**27  # one table of counts may take 1 GiB
MAX_KEPT = 2**23  # sets of one size whose values are kept: 0.3 GB of four associations each
MAX_MEMBERS = 8  # attributes in one kept lattice set: their indices are packed into one 64-bit key; larger sets are counted anew


def pack(sets: np.ndarray) -> np.ndarray:
    """One uint64 key for each row of attribute indices (m, s ≤ 8), the same for every order of the row."""
    if sets.shape[1] == 0:
        return np.zeros(len(sets), dtype=np.uint64)
    place = np.uint64(256) ** np.arange(sets.shape[1], dtype=np.uint64)
    return ((np.sort(sets, axis=1).astype(np.uint64) + np.uint64(1)) * place).sum(axis=1, dtype=np.uint64)


class Lattice:
    """Entropies H(S), in bits, and associations K(X, S∖X) of sets of attributes, found by look-up.

    For any set the last member to enter is scored against the rest, so one pass over all (k+1)-subsets serves every root,
    order, ε, r, θ and k' ≤ k: I(X;Π) = H(X) + H(Π) − H(X∪Π).

    **Privacy:** raw; it lives inside the curator, which turns look-ups into scores of a mechanism.
    """

    def __init__(self, codes: np.ndarray, sizes: Sequence[int]) -> None:
        if len(sizes) > 255:
            raise BudgetError(f"{len(sizes)} attributes; the lattice packs at most 255 into its keys: cluster or select attributes first")
        self.n, self.sizes = len(codes), tuple(sizes)
        self._columns = [np.ascontiguousarray(codes[:, j], dtype=np.int64) for j in range(len(sizes))]
        self._xlogx, self._unit = fixed_point(self.n)
        self._two_valued = np.array([size == 2 for size in sizes])
        self._shelves: dict[tuple[str, int], _Shelf] = {}
        self._complete: dict[tuple[str, tuple[int, ...]], tuple[int, int]] = {}

    def entropies(self, sets: np.ndarray) -> np.ndarray:
        """H of each row of ``sets`` (m, s), in bits; what is missing is counted and kept."""
        return self._look_up("H", sets)

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
        rows = self._look_up("K", sets)
        return rows[np.arange(len(sets)), (sets == children[:, None]).argmax(axis=1)]

    @cached_property
    def _bits(self) -> BitTables:
        return BitTables([c if two else None for c, two in zip(self._columns, self._two_valued, strict=True)], self.n)

    def build(self, max_size: int, *, max_cells: int = MAX_CELLS, kind: str = "H", members: Sequence[int] | None = None) -> Lattice:
        """Fill every set of at most ``max_size`` (and 8) attributes and ``max_cells`` cells; only of ``members`` if given.

        A sum over few cells is cheaper than a pass over all records: see :class:`_Tables` for which sets are counted. Sets of
        two-valued attributes only are counted together: :class:`~pdsynth.counting.bits.BitTables`.
        """
        chosen = tuple(sorted(members)) if members is not None else tuple(range(len(self.sizes)))
        max_size = min(max_size, MAX_MEMBERS, len(chosen))
        done_size, done_cells = self._complete.get((kind, chosen), (0, 0))
        if max_size <= done_size and max_cells <= done_cells:
            return self
        if self._two_valued[list(chosen)].all():
            for size in range(1, min(max_size, max_cells.bit_length() - 1) + 1):
                self._look_up(kind, subsets(chosen, size))
        else:
            self._sum_up(kind, chosen, max_size, max_cells)
        self._complete[kind, chosen] = (max_size, max_cells)
        return self

    def _sum_up(self, kind: str, chosen: tuple[int, ...], max_size: int, max_cells: int) -> None:
        keys: dict[int, list[int]] = {}
        values: dict[int, list] = {}
        columns, sizes = [self._columns[j] for j in chosen], [self.sizes[j] for j in chosen]
        for places, table in _Tables(columns, sizes, self.n, max_size, max_cells):
            member = tuple(chosen[j] for j in places)
            ordered = tuple(sorted(member))
            value = self._value(kind, member, table)
            keys.setdefault(len(member), []).append(_pack_one(ordered))
            values.setdefault(len(member), []).append(value if kind == "H" else [value[member.index(j)] for j in ordered])
        for size, found in values.items():
            self._shelf(kind, size).add(np.array(keys[size], dtype=np.uint64), np.array(found))

    def _shelf(self, kind: str, size: int) -> _Shelf:
        return self._shelves.setdefault((kind, size), _Shelf(float if kind == "H" else (np.int64, (size,))))

    def _value(self, kind: str, member: tuple[int, ...], table: np.ndarray) -> Any:
        if kind == "H":
            return math.log2(self.n) - int(self._xlogx.take(table).sum()) * self._unit / self.n
        return _associations(table.reshape([self.sizes[j] for j in member]), self.n)

    def _look_up(self, kind: str, sets: np.ndarray) -> np.ndarray:
        if sets.shape[1] > MAX_MEMBERS:
            rows, back = np.unique(np.sort(sets, axis=1), axis=0, return_inverse=True)
            return np.array([self._value(kind, tuple(row), self._count(tuple(row))) for row in rows.tolist()])[back.ravel()]
        wanted, shelf = pack(sets), self._shelf(kind, sets.shape[1])
        values, found = shelf.find(wanted)
        if not found.all():
            missing, first, back = np.unique(wanted[~found], return_index=True, return_inverse=True)
            counted = self._fill(kind, np.sort(sets[~found][first], axis=1))
            shelf.add(missing, counted)
            values[~found] = counted[back]
        return values

    def _fill(self, kind: str, sets: np.ndarray) -> np.ndarray:
        """Count some sets (m, s), members rising."""
        out = np.empty(len(sets), dtype=self._shelf(kind, sets.shape[1]).kind)
        many = self._two_valued[sets].all(axis=1)
        if many.sum() < 2 ** (sets.shape[1] - 4):  # so few large sets are counted sooner one by one
            many[:] = False
        if many.any():
            of = sets[many]
            out[many] = self._bits.entropies(of, self._xlogx, self._unit) if kind == "H" else self._bits.associations(of)
        if not many.all():
            out[~many] = [self._value(kind, tuple(row), self._count(tuple(row))) for row in sets[~many].tolist()]
        return out

    def _count(self, member: tuple[int, ...]) -> np.ndarray:
        cells = math.prod(self.sizes[j] for j in member)
        if cells > MAX_CELLS:
            raise BudgetError(f"a set of {len(member)} attributes has {cells:,} cells, more than {MAX_CELLS:,}: lower k, or use k='auto'")
        key = self._columns[member[0]].copy()
        for j in member[1:]:
            key *= self.sizes[j]
            key += self._columns[j]
        return np.bincount(key, minlength=cells)


class _Shelf:
    """Values under 64-bit keys, in a few sorted runs, each at least twice as long as the next, so that adding stays cheap."""

    def __init__(self, kind: Any) -> None:
        self.kind = np.dtype(kind)  # of one value
        self.runs: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Put some values on the shelf; one that is full is emptied first, and what it held is counted again when it is asked for."""
        if sum(len(kept) for kept, _ in self.runs) + len(keys) > MAX_KEPT:
            self.runs.clear()
        order = np.argsort(keys, kind="stable")
        self.runs.append((keys[order], values[order]))
        while len(self.runs) > 1 and len(self.runs[-2][0]) < 2 * len(self.runs[-1][0]):
            (a, x), (b, y) = self.runs[-2:]
            keys = np.concatenate([a, b])
            order = np.argsort(keys, kind="stable")
            self.runs[-2:] = [(keys[order], np.concatenate([x, y])[order])]

    def find(self, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values of some keys, and which of them are there."""
        out, left = np.empty(len(wanted), dtype=self.kind), np.ones(len(wanted), dtype=bool)
        for keys, values in self.runs:
            asked = wanted[left]
            at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
            hit = keys[at] == asked
            if hit.all() and len(asked) == len(wanted):
                return values[at], hit
            where = np.flatnonzero(left)[hit]
            out[where] = values[at[hit]]
            left[where] = False
        return out, ~left


class _Tables:
    """Flat tables of all sets of at most ``max_size`` attributes, each ``(members, int64 counts)``, first member slowest.

    Large domains come first (place 0), small ones last. A set is summed from itself plus the last attribute that it lacks
    while that table has at most n cells; so only sets ``prefix + last attributes from place s on`` are counted from the
    records, each of which serves every set that lacks some of its last attributes. Yields each set once.
    """

    def __init__(self, columns: Sequence[np.ndarray], sizes: Sequence[int], n: int, max_size: int, max_cells: int) -> None:
        self.names = sorted(range(len(sizes)), key=lambda j: (-sizes[j], j))
        self.columns, self.sizes = [columns[j] for j in self.names], [int(sizes[j]) for j in self.names]
        self.n, self.max_size, self.max_cells, self.room = n, max_size, max_cells, min(n, max_cells)
        self.runs: dict[int, np.ndarray] = {}
        self.work = np.empty(n, dtype=np.int64)

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        return self._prefix((), [np.zeros(self.n, dtype=np.int64)], [1])

    def _prefix(self, prefix: tuple[int, ...], keys: list[np.ndarray], cells: list[int]) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        d, here, after = len(self.sizes), cells[-1], prefix[-1] + 1 if prefix else 0
        start = d
        while start > after and here <= self.room and here * math.prod(self.sizes[start - 1 :]) <= self.room:
            start -= 1
        if (start > after or here > self.room or not prefix) and (prefix or start < d):  # otherwise it is summed from a larger run
            key = self._key(prefix, keys, cells)
            width = math.prod(self.sizes[start:])
            if start < d:
                key = np.multiply(self._run(start), here, out=self.work)
                key += keys[len(prefix)]
            yield from self._sums(prefix, tuple(range(start, d)), np.bincount(key, minlength=here * width), start)
        if len(prefix) < self.max_size:
            for e in range(after, d):
                if here * self.sizes[e] <= self.max_cells:
                    yield from self._prefix((*prefix, e), keys[: len(prefix) + 1], [*cells, here * self.sizes[e]])

    def _key(self, prefix: tuple[int, ...], keys: list[np.ndarray], cells: list[int]) -> np.ndarray:
        """The cell of every record, first member fastest; prefixes share their keys, ``keys`` is extended as needed."""
        while len(keys) <= len(prefix):
            i = len(keys) - 1
            keys.append(self.columns[prefix[i]] * cells[i] + keys[i] if i else self.columns[prefix[0]])
        return keys[len(prefix)]

    def _run(self, start: int) -> np.ndarray:
        if start not in self.runs:
            key, cells = self.columns[start].copy(), self.sizes[start]
            for j in range(start + 1, len(self.sizes)):
                key += self.columns[j] * cells
                cells *= self.sizes[j]
            self.runs[start] = key
        return self.runs[start]

    def _sums(
        self, prefix: tuple[int, ...], run: tuple[int, ...], table: np.ndarray, first: int
    ) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
        """A table, and all its sums over attributes of the run from place ``first`` on."""
        size = len(prefix) + len(run)
        if 0 < size <= self.max_size:
            yield tuple(self.names[j] for j in reversed((*prefix, *run))), table
        fewest = size - sum(e >= first for e in run)
        if fewest > self.max_size:
            return
        outer = 1
        for e in reversed(run):
            if e < first:
                break
            if size > 1:
                kept = np.add.reduce(table.reshape(outer, self.sizes[e], -1), axis=1).ravel()
                yield from self._sums(prefix, tuple(j for j in run if j != e), kept, e + 1)
            outer *= self.sizes[e]


def _pack_one(member: tuple[int, ...]) -> int:
    return sum((j + 1) << (8 * i) for i, j in enumerate(member))


def _associations(table: np.ndarray, n: int) -> list[int]:
    """K of every member of a set against the other members: Σ|n·t − c·p| = n² + Σ over occupied cells of |n·t − c·p| − c·p."""
    if table.ndim == 1:
        return [0]
    at = np.flatnonzero(table)
    mine = n * table.ravel()[at]
    out, inner = [], table.size
    for axis, size in enumerate(table.shape):
        inner //= size
        t = table.reshape(math.prod(table.shape[:axis]), size, inner)
        above, below = np.divmod(at, inner)
        above, value = np.divmod(above, size)
        expected = t.sum(axis=(0, 2))[value] * t.sum(axis=1).ravel()[above * inner + below]
        out.append(n * n + int((np.abs(mine - expected) - expected).sum()))
    return out

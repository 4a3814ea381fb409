"""Counts of coded records in memory: tables of columns, and many small tables of bits at once.

**Privacy:** raw counts; they live inside the door, and in the evaluation of released tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np

from .errors import BudgetError
from .schema import Encoding

WORDS = 2**15  # 64-bit words of sets at a time: 256 kB stay in the cache
CELLS = 2**18  # cells that are held at a time
KEPT = 2**25  # moments of one size that are kept
LISTED = 2**22  # records up to which the logarithms of all counts are listed: 32 MiB


class CountLogs:
    """c·log2(c) of counts c = 0 … n, in integers of ``unit``: no sum depends on the order of cells.

    Looked up where n is small enough to list them all, else computed.
    """

    def __init__(self, n: int) -> None:
        top = n * math.log2(max(n, 2))
        self.unit = 2.0 ** -(60 - math.ceil(math.log2(max(top, 2))))
        self._listed: np.ndarray | None = None
        if n <= LISTED:
            self._listed = self.take(np.arange(n + 1))

    def take(self, counts: np.ndarray) -> np.ndarray:
        """One integer for each count: int64. **Privacy:** of raw counts they are raw."""
        if self._listed is not None:
            return self._listed.take(counts)
        values = counts.astype(float)
        values *= np.log2(np.maximum(values, 1.0))
        return np.rint(values / self.unit).astype(np.int64)


class BitTables:
    """Tables of many small sets of two-valued columns at once.

    The 2^s cells of a set of s columns follow by inclusion and exclusion from the moments of its
    subsets: the numbers of records in which all of a subset are 1. A moment is the popcount of an
    "and" of packed columns; those of small subsets are kept. ``columns``: two-valued codes (n,), or
    None for a column that is not; sets don't name those.

    **Privacy:** raw counts; it lives inside the lattice, inside the curator.
    """

    def __init__(self, columns: Sequence[np.ndarray | None], n: int) -> None:
        words = max(-(-n // 64), 1)
        self._kind = np.int32 if n < 2**31 else np.int64
        self.n, self.d = n, len(columns)
        self.words = np.zeros((self.d, words), dtype=np.uint64)
        for j, column in enumerate(columns):
            if column is not None:
                self.words[j].view(np.uint8)[: -(-n // 8)] = np.packbits(column.astype(bool))
        self._kept: dict[int, np.ndarray] = {}

    def cells(self, sets: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Counts of sets (m, s), some at a time: int64 (2^s, rows), first column highest bit."""
        s = sets.shape[1]
        step = max(CELLS >> s, 1)
        for start in range(0, len(sets), step):
            rows = np.ascontiguousarray(sets[start : start + step].T)
            table = np.empty((2**s, rows.shape[1]), dtype=np.int64)
            table[-1] = self._count(rows)
            for cell in range(2**s - 1):
                table[cell] = self._moments(rows[[i for i in range(s) if cell >> (s - 1 - i) & 1]])
            for i in range(s):
                halves = table.reshape(2**i, 2, -1)
                halves[:, 0] -= halves[:, 1]
            yield slice(start, start + rows.shape[1]), table

    def _moments(self, rows: np.ndarray) -> np.ndarray:
        """Moments of sets; ``rows`` (r, m) holds one set per column, members rising."""
        r = len(rows)
        if r == 0:
            return np.full(rows.shape[1], self.n, dtype=np.int64)
        if self.d**r > KEPT:
            return self._count(rows)
        if r not in self._kept:
            self._kept[r] = np.full(self.d**r, -1, dtype=self._kind)
        moments = self._kept[r]
        at = np.ravel_multi_index(tuple(rows[::-1]), (self.d,) * r)
        missing = at[moments[at] < 0]
        if len(missing):
            missing = np.unique(missing)
            moments[missing] = self._count(np.array(np.unravel_index(missing, (self.d,) * r))[::-1])
        return moments[at].astype(np.int64)

    def _count(self, rows: np.ndarray) -> np.ndarray:
        """Popcounts; neighbours that differ in their first member only share the others' "and"."""
        m = rows.shape[1]
        out = np.empty(m, dtype=np.int64)
        step = max(WORDS // self.words.shape[1], 1)
        for start in range(0, m, step):
            part = rows[:, start : start + step]
            both = self.words[part[0]]
            if len(part) > 1:
                new = np.ones(part.shape[1], dtype=bool)
                new[1:] = (part[1:, 1:] != part[1:, :-1]).any(axis=0)
                shared = self.words[part[1, new]]
                for member in part[2:, new]:
                    shared &= self.words[member]
                both &= shared[np.cumsum(new) - 1]
            out[start : start + step] = np.bitwise_count(both).sum(axis=1, dtype=self._kind)
        return out


def entropies(cells: Iterable[tuple[slice, np.ndarray]], n: int, logs: CountLogs) -> np.ndarray:
    """H in bits of each set of :meth:`BitTables.cells`: float64 (m,)."""
    blocks = [math.log2(n) - logs.take(table).sum(axis=0) * logs.unit / n for _, table in cells]
    return np.concatenate(blocks) if blocks else np.empty(0)


def associations(cells: Iterable[tuple[slice, np.ndarray]], n: int) -> np.ndarray:
    """K = Σ|n·t − c·p| of every member against the others, int64 (m, s): two opposite rows."""
    blocks = [np.empty((0, 0), dtype=np.int64)]
    for _, table in cells:
        s = len(table).bit_length() - 1
        out = np.zeros((table.shape[1], s), dtype=np.int64)
        for i in range(s if s > 1 else 0):
            parts = table.reshape(2**i, 2, 2 ** (s - 1 - i), -1)
            zero = parts[:, 0].sum(axis=(0, 1))
            gaps = np.abs(n * parts[:, 0] - zero * parts.sum(axis=1))
            out[:, i] = 2 * gaps.sum(axis=(0, 1))
        blocks.append(out)
    return np.concatenate(blocks[1:] or blocks)


MAX_CELLS = 2**27  # one table of counts may take 1 GiB
Members: TypeAlias = tuple[int, ...]
Split: TypeAlias = tuple[Members, Members]  # the columns of one table are head + tail


class Counter(Protocol):
    """Counts of coded records: in memory (:class:`Codes`), or as :mod:`pdsynth.scale` has them.

    ``n``: records; ``sizes``: values of each column; ``at_once``: records that are counted in one
    go, so that a table with more cells costs more than a pass over them.

    **Privacy:** raw counts, for the curator and for evaluation only. What a counter gives is tables
    whose size depends on public domains, never rows.
    """

    n: int
    sizes: tuple[int, ...]
    at_once: int

    def tables(self, sets: Iterable[Split]) -> Iterator[np.ndarray]:
        """Flat tables of sets of columns, in their order: int64 (cells,), first column slowest.

        All of them in one pass over the records, or in as few as memory permits. Sets that follow
        one another share the work on the last columns of their tails, and on equal heads.
        """

    def cells(self, sets: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Tables of sets (m, s) of two-valued columns, many at once: as :meth:`BitTables.cells`."""

    def encoded(self, encoding: Encoding) -> Counter:
        """The same records as two-valued columns, or with rare values merged."""


def count_cells(sizes: Sequence[int]) -> int:
    """Cells of a joint table; BudgetError where it doesn't fit in memory."""
    cells = math.prod(sizes)
    if cells > MAX_CELLS:
        raise BudgetError(
            f"the joint table of {len(sizes)} attributes has {cells:,} cells "
            f"({cells * 8 / 2**30:.1f} GiB); at most {MAX_CELLS:,} fit: lower k, or use k='auto'"
        )
    return cells


class Codes:
    """Coded records in memory: a whole table, or a part of it.

    ``codes``: uint8/uint16 array (n_records, n_attributes), best stored by column.

    **Privacy:** raw records; it lives inside the curator.
    """

    def __init__(self, codes: np.ndarray, sizes: Sequence[int]) -> None:
        self.codes, self.sizes = codes, tuple(int(size) for size in sizes)
        self.n = self.at_once = len(codes)

    def tables(self, sets: Iterable[Split]) -> Iterator[np.ndarray]:
        """As :meth:`Counter.tables`; one after the other, as it is asked."""
        for cells, key in self.keys(sets):
            yield np.bincount(key, minlength=cells)

    def cells(self, sets: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """As :meth:`Counter.cells`."""
        return self._bit_tables.cells(sets)

    def encoded(self, encoding: Encoding) -> Codes:
        """As :meth:`Counter.encoded`."""
        return Codes(encoding.encode(self.codes), encoding.schema.sizes)

    @cached_property
    def _bit_tables(self) -> BitTables:
        pairs = zip(self.codes.T, self.sizes, strict=True)
        return BitTables([column if size == 2 else None for column, size in pairs], self.n)

    def keys(self, sets: Iterable[Split]) -> Iterator[tuple[int, np.ndarray]]:
        """Cells of each table, and the cell of every record: int64 (n,), good until the next one.

        ``keys[i]`` is of the last i members of the tail before, ``heads`` of every head so far.
        """
        heads: dict[Members, np.ndarray] = {}
        rooms = list[np.ndarray]()  # one for each depth, used again: new ones cost more than counts
        keys, cells, work = [np.zeros(0, dtype=np.int64)], [1], None
        before: Members = ()
        for head, tail in sets:
            total = count_cells([self.sizes[j] for j in (*head, *tail)])
            shared = _common(before, tail)
            del keys[shared + 1 :], cells[shared + 1 :]
            for j in reversed(tail[: len(tail) - shared]):
                if len(rooms) < len(keys):
                    rooms.append(np.empty(self.n, dtype=np.int64))
                keys.append(rooms[len(keys) - 1])
                np.copyto(keys[-1], self.codes[:, j])
                if len(keys) > 2:
                    keys[-1] *= cells[-1]
                    keys[-1] += keys[-2]
                cells.append(cells[-1] * self.sizes[j])
            before, key = tail, keys[-1]
            if head:
                if head not in heads:
                    heads[head] = self._head(head)
                key = work = np.multiply(heads[head], cells[-1], out=work)
                if tail:
                    key += keys[-1]
            elif not tail:
                key = np.zeros(self.n, dtype=np.int64)
            yield total, key

    def _head(self, head: Members) -> np.ndarray:
        key = self.codes[:, head[0]].astype(np.int64)
        for j in head[1:]:
            key *= self.sizes[j]
            key += self.codes[:, j]
        return key


def _common(before: Members, tail: Members) -> int:
    """How many last members two tails share."""
    shared = 0
    while shared < min(len(before), len(tail)) and before[-1 - shared] == tail[-1 - shared]:
        shared += 1
    return shared

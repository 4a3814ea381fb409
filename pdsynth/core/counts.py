"""Counts of coded records in memory: tables of columns.

**Privacy:** raw counts; they live inside the door, and in the evaluation of released tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Protocol, TypeAlias

import numpy as np

from .errors import BudgetError
from .views import BitTables, Encoding

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

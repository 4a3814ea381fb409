"""Tables of all small sets of attributes at once, most of them summed from larger ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

Tables = Iterator[tuple[tuple[int, ...], np.ndarray]]


class SubsetTables:
    """Flat tables of all sets of at most ``max_size`` attributes and ``max_cells`` cells.

    Yields each set once: ``(members, int64 counts)``, first member slowest. Large domains come
    first (place 0), small ones last. A set is summed from itself plus the last attribute that it
    lacks while that table has at most n cells; so only sets ``prefix + last attributes from place s
    on`` are counted from the records, each of which serves every set that lacks some of its last
    attributes.

    **Privacy:** raw counts; it lives inside the lattice, inside the curator.
    """

    def __init__(
        self, columns: Sequence[np.ndarray], sizes: Sequence[int], n: int, max_size: int,
        max_cells: int,
    ) -> None:
        self.names = sorted(range(len(sizes)), key=lambda j: (-sizes[j], j))
        self.columns = [columns[j] for j in self.names]
        self.sizes = [int(sizes[j]) for j in self.names]
        self.n, self.max_size, self.max_cells = n, max_size, max_cells
        self.most_summed = min(n, max_cells)
        self.runs: dict[int, np.ndarray] = {}
        self.work = np.empty(n, dtype=np.int64)

    def __iter__(self) -> Tables:
        return self._prefix((), [np.zeros(self.n, dtype=np.int64)], [1])

    def _prefix(self, prefix: tuple[int, ...], keys: list[np.ndarray], cells: list[int]) -> Tables:
        d, own, after = len(self.sizes), cells[-1], prefix[-1] + 1 if prefix else 0
        fits, start, width = own <= self.most_summed, d, 1  # of the run from ``start`` on
        while fits and start > after and own * width * self.sizes[start - 1] <= self.most_summed:
            start -= 1
            width *= self.sizes[start]
        larger = fits and start == after and bool(prefix)  # then it is summed from a larger run
        if not larger and (prefix or start < d):
            key = self._key(prefix, keys, cells)
            if start < d:
                key = np.multiply(self._run(start), own, out=self.work)
                key += keys[len(prefix)]
            table = np.bincount(key, minlength=own * width)
            yield from self._sums(prefix, tuple(range(start, d)), table, start)
        if len(prefix) < self.max_size:
            for e in range(after, d):
                grown = own * self.sizes[e]
                if grown <= self.max_cells:
                    yield from self._prefix((*prefix, e), keys[: len(prefix) + 1], [*cells, grown])

    def _key(
        self, prefix: tuple[int, ...], keys: list[np.ndarray], cells: list[int]
    ) -> np.ndarray:
        """The cell of every record, first member fastest; prefixes share ``keys``, which grow."""
        while len(keys) <= len(prefix):
            i = len(keys) - 1
            column = self.columns[prefix[i]]
            keys.append(column * cells[i] + keys[i] if i else column)
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
    ) -> Tables:
        """A table, and all its sums over attributes of the run from place ``first`` on."""
        size = len(prefix) + len(run)
        if 0 < size <= self.max_size:
            yield tuple(self.names[j] for j in reversed((*prefix, *run))), table
        if size - sum(e >= first for e in run) > self.max_size:
            return
        outer = 1
        for e in reversed(run):
            if e < first:
                break
            if size > 1:
                kept = np.add.reduce(table.reshape(outer, self.sizes[e], -1), axis=1).ravel()
                yield from self._sums(prefix, tuple(j for j in run if j != e), kept, e + 1)
            outer *= self.sizes[e]

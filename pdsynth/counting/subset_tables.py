"""Tables of all small sets of attributes at once, most of them summed from larger ones."""

from collections.abc import Iterator, Sequence

import numpy as np

from .counter import Counter

Tables = Iterator[tuple[tuple[int, ...], np.ndarray]]


class SubsetTables:
    """Flat tables of all sets of at most ``max_size`` of some columns and ``max_cells`` cells.

    Yields each set once: ``(columns, int64 counts)``, first column slowest. Large domains come
    first (place 0), small ones last. A set is summed from itself plus the last attribute that it
    lacks while that table has no more cells than the ``counter`` takes records at once; so only
    sets ``prefix + last attributes from place s on`` are counted from the records, each of which
    serves every set that lacks some of its last attributes.

    **Privacy:** raw counts; it lives inside the lattice, inside the curator.
    """

    def __init__(
        self, counter: Counter, columns: Sequence[int], max_size: int, max_cells: int
    ) -> None:
        self.counter = counter
        self.names = sorted(columns, key=lambda j: (-counter.sizes[j], j))
        self.sizes = [counter.sizes[j] for j in self.names]
        self.max_size, self.max_cells = max_size, max_cells
        self.most_summed = min(counter.at_once, max_cells)

    def __iter__(self) -> Tables:
        counted = list(self._plan((), 1))
        last = [*reversed(self.names)]
        sets = (
            (tuple(last[: len(last) - start]), self._named(prefix)) for prefix, start in counted
        )
        for (prefix, start), table in zip(counted, self.counter.tables(sets), strict=True):
            yield from self._sums(prefix, tuple(range(start, len(last))), table, start)

    def _named(self, places: Sequence[int]) -> tuple[int, ...]:
        """Columns at some places, the last place first: the slowest of their table."""
        return tuple(self.names[j] for j in reversed(places))

    def _plan(self, prefix: tuple[int, ...], own: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """Sets to count: a prefix of ``own`` cells, and where the run of last places begins."""
        d, after = len(self.sizes), prefix[-1] + 1 if prefix else 0
        fits, start, width = own <= self.most_summed, d, 1  # of the run from ``start`` on
        while fits and start > after and own * width * self.sizes[start - 1] <= self.most_summed:
            start -= 1
            width *= self.sizes[start]
        larger = fits and start == after and bool(prefix)  # then it is summed from a larger run
        if not larger and (prefix or start < d):
            yield prefix, start
        if len(prefix) < self.max_size:
            for e in range(after, d):
                if own * self.sizes[e] <= self.max_cells:
                    yield from self._plan((*prefix, e), own * self.sizes[e])

    def _sums(
        self, prefix: tuple[int, ...], run: tuple[int, ...], table: np.ndarray, first: int
    ) -> Tables:
        """A table, and all its sums over attributes of the run from place ``first`` on."""
        size = len(prefix) + len(run)
        if 0 < size <= self.max_size:
            yield self._named((*prefix, *run)), table
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

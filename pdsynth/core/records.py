"""The coded records of one table, what counts them, and all that was counted, kept for the next
question.

A :class:`Counter` counts tables of columns; :class:`Codes` does in memory. The lattice holds
entropies and associations of small sets of columns; larger tables are counted once and summed down.

**Privacy:** raw counts; only a door and the evaluation may ask.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from .errors import BudgetError
from .measures import GRID, CountLogs, Score
from .network import subsets
from .schema import Schema
from .views import BinaryEncoding, BitTables, Encoding, Merging, associations, entropies

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


# --- tables of many sets -------------------------------------------------------------------------

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
                margin = np.add.reduce(table.reshape(outer, self.sizes[e], -1), axis=1).ravel()
                yield from self._sums(prefix, tuple(j for j in run if j != e), margin, e + 1)
            outer *= self.sizes[e]


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
        :class:`~pdsynth.core.views.BitTables`.
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
        for size, batch in values.items():
            self._runs(kind, size).add(pack(np.array(sets[size]), self._base), np.array(batch))

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
        all_keys, runs = pack(sets, self._base), self._runs(kind, sets.shape[1])
        values, hits = runs.find(all_keys, part)
        if not hits.all():
            keys, first, back = np.unique(all_keys[~hits], return_index=True, return_inverse=True)
            counted = self._fill(kind, sets[~hits][first])
            runs.add(keys, counted)
            values[~hits] = counted[back, *(p[~hits] for p in part)]
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
        if sum(len(run) for run, _ in self.runs) + len(keys) > MAX_KEPT:
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
        out, rest = np.empty(len(wanted), dtype=kind), np.ones(len(wanted), dtype=bool)
        for keys, values in self.runs:
            targets = wanted[rest]
            at = np.minimum(np.searchsorted(keys, targets), len(keys) - 1)
            hit = keys[at] == targets
            where = np.flatnonzero(rest)[hit]
            out[where] = values[at[hit], *(p[where] for p in part)]
            rest[where] = False
        return out, ~rest


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


KEPT_CELLS = 2**24  # of the tables that are kept for the next question
STEP_CELLS = 2**21  # of the tables that are counted in one pass, before they are asked for


def marginal(codes: np.ndarray, sizes: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """Contingency table of some columns of codes (n_records, n_attributes): int64, one axis each.

    **Privacy:** raw counts, for the curator and for evaluation only; L1 sensitivity 2 under
    replacing one record.
    """
    (table,) = Codes(codes, sizes).tables([((), tuple(columns))])
    return table.reshape([sizes[j] for j in columns])


class Records:
    """Coded raw records of one table and everything counted from them, kept for the next question.

    ``data``: codes, a uint8/uint16 array (n_records, n_attributes), or the counter that holds them.
    Nothing outside the curator may hold one of these on the way to a release; a live panel or
    ``compare`` keeps one so that a moved slider recounts nothing. ``owners``: the attribute that
    each column belongs to.

    **Privacy:** raw records and raw counts; only a :class:`~pdsynth.core.curator.Curator` may
    answer from them.
    """

    def __init__(
        self, data: np.ndarray | Counter, schema: Schema, owners: Sequence[str] | None = None
    ) -> None:
        counter: Counter
        if isinstance(data, np.ndarray):
            counter = Codes(np.asfortranarray(data), schema.sizes)
        else:
            counter = data
        self.counter, self.schema, self.n = counter, schema, counter.n
        self.owners = schema.names if owners is None else tuple(owners)
        self._tables: dict[tuple[int, ...], np.ndarray] = {}
        self._expected: dict[tuple[int, ...], None] = {}
        self._cells = 0

    @property
    def codes(self) -> np.ndarray:
        """Every record: uint8/uint16 (n_records, n_attributes); BudgetError unless in memory."""
        if isinstance(self.counter, Codes):
            return self.counter.codes
        raise BudgetError(
            "this works on whole records, and those that lie outside memory give counts only: "
            "read the table into a pandas DataFrame"
        )

    def expect(self, sets: Iterable[Sequence[int]]) -> None:
        """Tables that are asked for next: the first of them brings the others in the same pass."""
        keys = (tuple(columns) for columns in sets)
        self._expected = dict.fromkeys(s for s in keys if s not in self._tables)

    def table(self, columns: tuple[int, ...]) -> np.ndarray:
        """Counts of some columns, axes in that order: int64, read-only, kept up to 2^24 cells."""
        if columns not in self._tables:
            self._count(columns)
        return self._tables[columns]

    def _count(self, columns: tuple[int, ...]) -> None:
        sizes, chosen, cells = self.schema.sizes, [columns], 0
        for members in self._expected:
            cells += math.prod(sizes[j] for j in members)
            if cells > STEP_CELLS:
                break
            if members != columns and columns in self._expected:
                chosen.append(members)
        counted = self.counter.tables(((), members) for members in chosen)
        for members, table in zip(chosen, counted, strict=True):
            self._expected.pop(members, None)
            self._tables[members] = table.reshape([sizes[j] for j in members])
            self._tables[members].flags.writeable = False
            self._cells += table.size
        if self._cells > KEPT_CELLS:
            self._tables = {members: self._tables[members] for members in chosen}
            self._cells = sum(table.size for table in self._tables.values())

    def scores(self, measure: Score, children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Scores of children (m,) with parents (m, s), in the integers of a measure: int64 (m,)."""
        if measure.name == "R":
            return self.lattice.association(children, parents)
        if measure.name in ("I", "H"):
            bits = (
                self.lattice.information(children, parents)
                if measure.name == "I"
                else self.lattice.entropies(children[:, None])
            )
            return np.rint(bits * GRID).astype(np.int64)
        pairs = zip(children.tolist(), parents.tolist(), strict=True)
        sets = [(child, *others) for child, others in pairs]
        self.expect(sets)
        tables = map(self.table, sets)
        return np.array([measure.of(t.reshape(len(t), -1)) for t in tables], dtype=np.int64)

    def pairwise(self, measure: str) -> np.ndarray:
        """I (bits) or K (records²) of all pairs: (d, d), zero diagonal."""
        d = len(self.schema)
        of = self.lattice.association if measure == "K" else self.lattice.information
        matrix = np.zeros((d, d), dtype=np.int64 if measure == "K" else float)
        i, j = np.triu_indices(d, 1)
        matrix[i, j] = matrix[j, i] = of(i, j[:, None])
        return matrix

    def binary(self) -> Records:
        """The same records as two-valued columns, kept."""
        return self._binary

    @cached_property
    def _binary(self) -> Records:
        encoding = BinaryEncoding(self.schema)
        return Records(self.counter.encoded(encoding), encoding.schema, encoding.owners)

    def merged(self, merging: Merging) -> Records:
        """The same records with some values standing as one.

        **Privacy:** raw records in, raw records out.
        """
        return Records(self.counter.encoded(merging), merging.schema, self.owners)

    @cached_property
    def lattice(self) -> Lattice:
        """The entropy lattice of these records, filled as it is asked."""
        return Lattice(self.counter)

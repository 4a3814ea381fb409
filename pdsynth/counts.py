"""Counting coded records: contingency tables, and the entropy lattice that every structure search looks up.

Only the curator and the evaluation of published tables may import this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from .errors import BudgetError
from .schema import Schema

MAX_CELLS = 2**27  # one table of counts may take 1 GiB
MAX_MEMBERS = 8  # attributes in one kept lattice set: their indices are packed into one 64-bit key; larger sets are counted anew


def marginal(codes: np.ndarray, sizes: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """Contingency table of some columns: codes (n_records, n_attributes) → int64 counts of shape ``sizes[columns]``.

    **Privacy:** raw counts, for the curator and for evaluation only; L1 sensitivity 2 under replacing one record.
    """
    shape = tuple(sizes[j] for j in columns)
    cells = math.prod(shape)
    if cells > MAX_CELLS:
        raise BudgetError(
            f"the joint table of {len(shape)} attributes has {cells:,} cells ({cells * 8 / 2**30:.1f} GiB); "
            f"at most {MAX_CELLS:,} fit: lower k, or use k='auto'"
        )
    key = np.zeros(len(codes), dtype=np.int64)
    for j, size in zip(columns, shape, strict=True):
        key *= size
        key += codes[:, j]
    return np.bincount(key, minlength=cells).reshape(shape)


def marginal_of_parts(parts: Iterable[np.ndarray], sizes: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """The same table from partitions of the records that need not fit in memory together: counts add.

    **Privacy:** raw counts, as :func:`marginal`.
    """
    total = np.zeros(tuple(sizes[j] for j in columns), dtype=np.int64)
    for codes in parts:
        total += marginal(codes, sizes, columns)
    return total


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
        self._xlogx = np.arange(self.n + 1, dtype=float)
        self._xlogx[1:] *= np.log2(self._xlogx[1:])
        self._store: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._complete: dict[str, tuple[int, int]] = {}

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

    def build(self, max_size: int, *, max_cells: int = MAX_CELLS, kind: str = "H") -> Lattice:
        """Fill every set of at most ``max_size`` (and 8) attributes and ``max_cells`` cells, depth first with shared prefix keys."""
        max_size = min(max_size, MAX_MEMBERS)
        done_size, done_cells = self._complete.get(kind, (0, 0))
        if max_size <= done_size and max_cells <= done_cells:
            return self
        keys: list[int] = []
        values: list = []
        everything = range(len(self.sizes))

        def visit(member: tuple[int, ...], key: np.ndarray, cells: int) -> np.ndarray:
            table, scaled = None, {}
            for e in everything[member[-1] + 1 :] if len(member) < max_size else ():
                size = self.sizes[e]
                if cells * size > max_cells:
                    continue
                if size not in scaled:
                    scaled[size] = key * size
                larger = visit((*member, e), scaled[size] + self._columns[e], cells * size)
                if table is None and cells * size < self.n:  # a sum over few cells is cheaper than one over all records
                    table = _drop_last(larger, size)
            if table is None:
                table = np.bincount(key, minlength=cells)
            keys.append(_pack_one(member))
            values.append(self._value(kind, member, table))
            return table

        for j in everything:
            visit((j,), self._columns[j], self.sizes[j])
        self._complete[kind] = (max_size, max_cells)
        self._merge(kind, np.array(keys, dtype=np.uint64), _stack(kind, values))
        return self

    def _value(self, kind: str, member: tuple[int, ...], table: np.ndarray) -> float | list[int]:
        if kind == "H":
            return math.log2(self.n) - self._xlogx[table].sum() / self.n
        return _associations(table.reshape([self.sizes[j] for j in member]), self.n)

    def _look_up(self, kind: str, sets: np.ndarray) -> np.ndarray:
        if sets.shape[1] > MAX_MEMBERS:
            rows, back = np.unique(np.sort(sets, axis=1), axis=0, return_inverse=True)
            return np.array([self._value(kind, tuple(row), self._count(tuple(row))) for row in rows.tolist()])[back.ravel()]
        wanted = pack(sets)
        keys, values = self._store.get(kind, (np.zeros(0, np.uint64), None))
        at = np.searchsorted(keys, wanted)
        found = at < len(keys)
        found[found] = keys[at[found]] == wanted[found]
        if not found.all():
            self._fill(kind, np.unique(np.sort(sets[~found], axis=1), axis=0))
            keys, values = self._store[kind]
            at = np.searchsorted(keys, wanted)
        assert values is not None
        return values[at]

    def _fill(self, kind: str, sets: np.ndarray) -> None:
        values = []
        for row in sets.tolist():
            values.append(self._value(kind, tuple(row), self._count(tuple(row))))
        self._merge(kind, pack(sets), _stack(kind, values))

    def _count(self, member: tuple[int, ...]) -> np.ndarray:
        cells = math.prod(self.sizes[j] for j in member)
        if cells > MAX_CELLS:
            raise BudgetError(f"a set of {len(member)} attributes has {cells:,} cells, more than {MAX_CELLS:,}: lower k, or use k='auto'")
        key = self._columns[member[0]].copy()
        for j in member[1:]:
            key *= self.sizes[j]
            key += self._columns[j]
        return np.bincount(key, minlength=cells)

    def _merge(self, kind: str, keys: np.ndarray, values: np.ndarray) -> None:
        if kind in self._store:
            old_keys, old_values = self._store[kind]
            keys, values = np.concatenate([old_keys, keys]), np.concatenate([old_values, values])
        keys, first = np.unique(keys, return_index=True)
        self._store[kind] = keys, values[first]


def _drop_last(table: np.ndarray, size: int) -> np.ndarray:
    """Sum a flat table over its last member: strided adds, several times faster than a sum over a short inner axis."""
    total = table[::size].copy()
    for value in range(1, size):
        total += table[value::size]
    return total


def _pack_one(member: tuple[int, ...]) -> int:
    return sum((j + 1) << (8 * i) for i, j in enumerate(member))


def _stack(kind: str, values: list) -> np.ndarray:
    if kind == "H":
        return np.array(values, dtype=float)
    out = np.zeros((len(values), MAX_MEMBERS), dtype=np.int64)
    for i, row in enumerate(values):
        out[i, : len(row)] = row
    return out


def _associations(table: np.ndarray, n: int) -> list[int]:
    """K of every member of a set against the other members."""
    if table.ndim == 1:
        return [0]
    out = []
    for axis, size in enumerate(table.shape):
        t = table.reshape(math.prod(table.shape[:axis]), size, -1)
        child = t.sum(axis=(0, 2))
        out.append(int(np.abs(n * t - child[None, :, None] * t.sum(axis=1)[:, None, :]).sum()))
    return out


class Records:
    """Coded raw records of one table and everything counted from them, kept for the next question.

    ``codes``: uint8/uint16 array (n_records, n_attributes). Nothing outside the curator may hold one of these on the way to a
    release; a live panel or ``compare`` keeps one so that a moved slider recounts nothing.

    **Privacy:** raw records and raw counts; only a :class:`~pdsynth.curator.Curator` may answer from them.
    """

    def __init__(self, codes: np.ndarray, schema: Schema) -> None:
        self.codes, self.schema, self.n = np.asfortranarray(codes), schema, len(codes)
        self._tables: dict[tuple[int, ...], np.ndarray] = {}
        self._cells = 0
        self._lattice: Lattice | None = None

    def table(self, columns: tuple[int, ...]) -> np.ndarray:
        """Counts of some columns, axes in the order asked; int64, kept (read-only) while 16 million cells suffice."""
        kept = self._tables.get(columns)
        if kept is None:
            kept = marginal(self.codes, self.schema.sizes, columns)
            kept.flags.writeable = False
            self._cells += kept.size
            if self._cells > 2**24:
                self._tables.clear()
                self._cells = kept.size
            self._tables[columns] = kept
        return kept

    @property
    def lattice(self) -> Lattice:
        """The entropy lattice of these records, filled as it is asked."""
        if self._lattice is None:
            self._lattice = Lattice(self.codes, self.schema.sizes)
        return self._lattice

"""Counting coded records: contingency tables, and what is kept of one table for the next question.

Only the curator and the evaluation of published tables may import this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..domain.encoding import BinaryEncoding
from ..domain.schema import Schema
from ..errors import BudgetError
from ..measures import GRID, Score, jaccard_distances
from .equivalence_classes import Partitions
from .lattice import MAX_CELLS, MAX_MEMBERS, Lattice, pack

__all__ = ["MAX_CELLS", "MAX_MEMBERS", "Lattice", "Records", "marginal", "marginal_of_parts", "pack"]


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


class Records:
    """Coded raw records of one table and everything counted from them, kept for the next question.

    ``codes``: uint8/uint16 array (n_records, n_attributes). Nothing outside the curator may hold one of these on the way to a
    release; a live panel or ``compare`` keeps one so that a moved slider recounts nothing.

    **Privacy:** raw records and raw counts; only a :class:`~pdsynth.privacy.curator.Curator` may answer from them.
    """

    def __init__(self, codes: np.ndarray, schema: Schema, owners: Sequence[str] | None = None) -> None:
        self.codes, self.schema, self.n = np.asfortranarray(codes), schema, len(codes)
        self.owners = schema.names if owners is None else tuple(owners)
        self._bits: Records | None = None
        self._tables: dict[tuple[int, ...], np.ndarray] = {}
        self._cells = 0
        self._lattice: Lattice | None = None
        self._partitions: Partitions | None = None

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

    def scores(self, measure: Score, children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Scores of pairs in the integers of a measure: int64 (m,) for children (m,), parents (m, s)."""
        if measure.name == "I":
            return np.rint(self.lattice.information(children, parents) * GRID).astype(np.int64)
        if measure.name == "H":
            return np.rint(self.lattice.entropies(children[:, None]) * GRID).astype(np.int64)
        if measure.name == "R":
            return self.lattice.association(children, parents)
        pairs = zip(children.tolist(), parents.tolist(), strict=True)
        tables = (self.table((child, *others)) for child, others in pairs)
        return np.array([measure.of(t.reshape(len(t), -1)) for t in tables], dtype=np.int64)

    def pairwise(self, measure: str) -> np.ndarray:
        """I (bits), K (records²) or J (Jaccard distance) of all pairs of columns: (d, d), zero diagonal."""
        if measure == "J":
            return jaccard_distances(self.codes)
        d = len(self.schema)
        of = self.lattice.association if measure == "K" else self.lattice.information
        matrix = np.zeros((d, d), dtype=np.int64 if measure == "K" else float)
        i, j = np.triu_indices(d, 1)
        matrix[i, j] = matrix[j, i] = of(i, j[:, None])
        return matrix

    def binary(self) -> Records:
        """The same records as two-valued columns; ``owners`` says which attribute each belongs to. Kept."""
        if self._bits is None:
            encoding = BinaryEncoding(self.schema)
            self._bits = Records(encoding.encode(self.codes), encoding.schema, encoding.owners)
        return self._bits

    def occurring(self, columns: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Counts of a child (first column) at the parent configurations that occur: their numbers int64 (r,), int64 (|X|, r).

        A configuration's number has the first parent as its most significant digit; it must stay below 2^63.
        """
        rows, weights = self.partitions.columns, self.partitions.weights
        key = np.zeros(rows.shape[1], dtype=np.int64)
        for j in columns[1:]:
            key = key * self.schema.sizes[j] + rows[j]
        keys, back = np.unique(key, return_inverse=True)
        size = self.schema.sizes[columns[0]]
        counts = np.bincount(rows[columns[0]].astype(np.int64) * len(keys) + back, weights=weights, minlength=size * len(keys))
        return keys, counts.astype(np.int64).reshape(size, len(keys))

    @property
    def partitions(self) -> Partitions:
        """The distinct rows of these records and how often each occurs. Kept."""
        if self._partitions is None:
            self._partitions = Partitions(self.codes, self.schema.sizes)
        return self._partitions

    @property
    def lattice(self) -> Lattice:
        """The entropy lattice of these records, filled as it is asked."""
        if self._lattice is None:
            self._lattice = Lattice(self.codes, self.schema.sizes)
        return self._lattice

"""Counting coded records: contingency tables, and what is kept of one table for the next question.

Only the curator and the evaluation of published tables may import this module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..domain.encoding import BinaryEncoding
from ..domain.schema import Schema
from ..measures import GRID, Score, jaccard_distances
from .equivalence_classes import Partitions
from .lattice import MAX_CELLS, MAX_MEMBERS, Lattice, count, pack

__all__ = ["MAX_CELLS", "MAX_MEMBERS", "Lattice", "Records", "marginal", "pack"]


def marginal(codes: np.ndarray, sizes: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """Contingency table of some columns of codes (n_records, n_attributes): int64, one axis each.

    **Privacy:** raw counts, for the curator and for evaluation only; L1 sensitivity 2 under
    replacing one record.
    """
    shape = [sizes[j] for j in columns]
    return count([codes[:, j] for j in columns], shape, len(codes)).reshape(shape)


class Records:
    """Coded raw records of one table and everything counted from them, kept for the next question.

    ``codes``: uint8/uint16 array (n_records, n_attributes). Nothing outside the curator may hold
    one of these on the way to a release; a live panel or ``compare`` keeps one so that a moved
    slider recounts nothing. ``owners``: the attribute that each column belongs to.

    **Privacy:** raw records and raw counts; only a :class:`~pdsynth.privacy.curator.Curator` may
    answer from them.
    """

    def __init__(
        self, codes: np.ndarray, schema: Schema, owners: Sequence[str] | None = None
    ) -> None:
        self.codes, self.schema, self.n = np.asfortranarray(codes), schema, len(codes)
        self.owners = schema.names if owners is None else tuple(owners)
        self._tables: dict[tuple[int, ...], np.ndarray] = {}
        self._cells = 0

    def table(self, columns: tuple[int, ...]) -> np.ndarray:
        """Counts of some columns, axes in that order: int64, read-only, kept up to 2^24 cells."""
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

    def sparse_table(self, columns: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Counts of a child (first column) at the parent configurations that occur.

        Their numbers, int64 (r,) and below 2^63, first parent most significant; counts int64 (|X|,
        r).
        """
        rows, weights = self.partitions.columns, self.partitions.weights
        key = np.zeros(rows.shape[1], dtype=np.int64)
        for j in columns[1:]:
            key = key * self.schema.sizes[j] + rows[j]
        keys, back = np.unique(key, return_inverse=True)
        shape = self.schema.sizes[columns[0]], len(keys)
        cell = rows[columns[0]].astype(np.int64) * len(keys) + back
        counts = np.bincount(cell, weights=weights, minlength=math.prod(shape))
        return keys, counts.astype(np.int64).reshape(shape)

    def scores(self, measure: Score, children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        """Scores of children (m,) with parents (m, s), in the integers of a measure: int64 (m,)."""
        if measure.name == "R":
            return self.lattice.association(children, parents)
        if measure.name in ("I", "H"):
            bits = (self.lattice.information(children, parents) if measure.name == "I"
                    else self.lattice.entropies(children[:, None]))
            return np.rint(bits * GRID).astype(np.int64)
        pairs = zip(children.tolist(), parents.tolist(), strict=True)
        tables = (self.table((child, *others)) for child, others in pairs)
        return np.array([measure.of(t.reshape(len(t), -1)) for t in tables], dtype=np.int64)

    def pairwise(self, measure: str) -> np.ndarray:
        """I (bits), K (records²) or J (Jaccard distance) of all pairs: (d, d), zero diagonal."""
        if measure == "J":
            return jaccard_distances(self.codes)
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
        return Records(encoding.encode(self.codes), encoding.schema, encoding.owners)

    @cached_property
    def partitions(self) -> Partitions:
        """The distinct rows of these records and how often each occurs."""
        return Partitions(self.codes, self.schema.sizes)

    @cached_property
    def lattice(self) -> Lattice:
        """The entropy lattice of these records, filled as it is asked."""
        return Lattice(self.codes, self.schema.sizes)

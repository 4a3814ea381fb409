"""Counting coded records: contingency tables, and what is kept of one table for the next question.

Only the curator and the evaluation of released tables may import this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..domain.encoding import BinaryEncoding
from ..domain.schema import Schema
from ..errors import BudgetError
from ..measures import GRID, Score, jaccard_distances
from .bits import subsets
from .counter import MAX_CELLS, Codes, Counter
from .lattice import MAX_MEMBERS, Lattice, pack

__all__ = ["MAX_CELLS", "MAX_MEMBERS", "Codes", "Counter", "Lattice", "Records", "marginal", "pack"]

Derived = TypeVar("Derived")
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

    **Privacy:** raw records and raw counts; only a :class:`~pdsynth.privacy.curator.Curator` may
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
        self._derived: dict[Any, Any] = {}
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
        wanted = (tuple(columns) for columns in sets)
        self._expected = dict.fromkeys(s for s in wanted if s not in self._tables)

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
        """I (bits), K (records²) or J (Jaccard distance) of all pairs: (d, d), zero diagonal."""
        d = len(self.schema)
        if measure == "J":
            both = np.zeros((d, d), dtype=np.int64)
            for size in (1, 2):
                sets = subsets(range(d), size)
                for rows, table in self.counter.cells(sets):
                    both[sets[rows, 0], sets[rows, -1]] = both[sets[rows, -1], sets[rows, 0]] = (
                        table[-1]
                    )
            return jaccard_distances(both)
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
        return Records(self.counter.bits(encoding), encoding.schema, encoding.owners)

    @cached_property
    def lattice(self) -> Lattice:
        """The entropy lattice of these records, filled as it is asked."""
        return Lattice(self.counter)

    def derive(self, make: Callable[[Records], Derived]) -> Derived:
        """What ``make`` computes from these records, once; kept for the next question."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: Derived = self._derived[make]
        return found

"""Small tables and their neighbours under replacing one record, for audits by enumeration and by sampling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..counting.tables import Records
from ..domain.schema import Attribute, Schema
from ..privacy.curator import Curator
from ..privacy.ledger import Ledger
from ..privacy.mechanisms import Noise


def schema_of(sizes: Sequence[int], **options: Any) -> Schema:
    """A public schema with attributes x0, x1, … of these domain sizes."""
    return Schema(tuple(Attribute.categorical(f"x{j}", range(size)) for j, size in enumerate(sizes)), **options)


def records_of(rows: Any, sizes: Sequence[int]) -> Records:
    """Records from rows of codes (n, d)."""
    return Records(np.array(rows, dtype=np.uint8).reshape(-1, len(sizes)), schema_of(sizes))


def curator_of(
    rows: Any, sizes: Sequence[int], noise: Noise, epsilon: Fraction = Fraction(1), guarantee: str = "strict", **options: Any
) -> Curator:
    """A curator of these rows with a fresh ledger."""
    return Curator(records_of(rows, sizes), Ledger(epsilon, guarantee), noise, **options)


def cells_of(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """All possible records."""
    return list(itertools.product(*map(range, sizes)))


def multisets(n: int, cells: int) -> Iterator[tuple[int, ...]]:
    """All tables of n records over some cells, as sorted tuples of cell numbers."""
    return itertools.combinations_with_replacement(range(cells), n)


def neighbourhoods(n: int, cells: int) -> Iterator[list[tuple[int, ...]]]:
    """All tables that share n−1 records: any two of a list are neighbours under replacing one record, and every pair is in one."""
    for shared in multisets(n - 1, cells):
        yield [tuple(sorted((*shared, extra))) for extra in range(cells)]


def largest_change(score: Callable[[np.ndarray], float], n: int, shape: tuple[int, ...]) -> float:
    """The largest difference of a score of count tables over all neighbours of all tables with n records."""
    cells = math.prod(shape)
    known: dict[tuple[int, ...], float] = {}

    def value(records: tuple[int, ...]) -> float:
        if records not in known:
            known[records] = score(np.bincount(records, minlength=cells).reshape(shape))
        return known[records]

    return max(max(v) - min(v) for v in (list(map(value, around)) for around in neighbourhoods(n, cells)))


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables: rows of codes (n, d) each, domain sizes (d,), and in words how they differ."""

    before: np.ndarray = field(repr=False)
    after: np.ndarray = field(repr=False)
    sizes: tuple[int, ...]
    words: str = ""
    _kept: dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def records(self) -> tuple[Records, Records]:
        """The two tables as records that keep their counts."""
        return records_of(self.before, self.sizes), records_of(self.after, self.sizes)

    def counts(self, names: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The raw counts of both tables over some attributes, or bits of attributes. Kept."""
        if names not in self._kept:
            owners = [r if set(names) <= set(r.schema.names) else r.binary() for r in self.records]
            before, after = (r.table(tuple(map(r.schema.index, names))) for r in owners)
            self._kept[names] = before, after
        return self._kept[names]

    def swapped(self) -> Pair:
        """The same pair the other way round."""
        return Pair(self.after, self.before, self.sizes, self.words)

    def __str__(self) -> str:
        if len(self.before) != len(self.after):
            return f"{self.words} (n = {len(self.before):,} → {len(self.after):,})"
        moved = np.flatnonzero((np.asarray(self.before) != np.asarray(self.after)).any(axis=1))
        return f"{self.words} (n = {len(self.before):,}, {len(moved)} record replaced)"


def zeros_to_ones(d: int, n: int = 9) -> Pair:
    """N records of zeros; in the neighbour one of them is all ones: a record that moves two cells of every table."""
    before = np.zeros((n, d), dtype=np.uint8)
    after = before.copy()
    after[-1] = 1
    return Pair(before, after, (2,) * d, "all records are zeros → one is all ones")


def bond_breaks(n: int = 12) -> Pair:
    """x1 repeats x0, half zeros and half ones, x2 alternates; in the neighbour one record's x1 differs: information falls most."""
    before = np.column_stack([np.arange(n) % 2, np.arange(n) % 2, np.arange(n) // 2 % 2]).astype(np.uint8)
    after = before.copy()
    after[-1, 1] ^= 1
    return Pair(before, after, (2, 2, 2), "x1 repeats x0 → in one record it doesn't")


@cache
def one_step_pair(n: int, before: tuple[int, ...], after: tuple[int, ...], sizes: tuple[int, ...], words: str) -> Pair:
    """N records of zeros but for the last one, which changes as told."""
    first = np.zeros((n, len(sizes)), dtype=np.uint8)
    second = first.copy()
    first[-1], second[-1] = before, after
    return Pair(first, second, sizes, words)

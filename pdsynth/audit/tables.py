"""Small tables, their curators, and pairs of neighbours under replacing one record."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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
    names = (f"x{j}" for j in range(len(sizes)))
    attributes = (Attribute.categorical(n, range(s)) for n, s in zip(names, sizes, strict=True))
    return Schema(tuple(attributes), **options)


def records_of(rows: Any, sizes: Sequence[int]) -> Records:
    """Records from rows of codes (n, d)."""
    return Records(np.array(rows, dtype=np.uint8).reshape(-1, len(sizes)), schema_of(sizes))


def curator_of(rows: Any, sizes: Sequence[int], noise: Noise, epsilon: Fraction = Fraction(1),
               guarantee: str = "strict", **options: Any) -> Curator:
    """A curator of these rows with a fresh ledger."""
    return Curator(records_of(rows, sizes), Ledger(epsilon, guarantee), noise, **options)


def cells_of(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """All possible records."""
    return list(itertools.product(*map(range, sizes)))


@dataclass(frozen=True)
class Pair:
    """Two neighbouring tables: rows of codes (n, d), domain sizes (d,), and how they differ."""

    before: np.ndarray = field(repr=False)
    after: np.ndarray = field(repr=False)
    sizes: tuple[int, ...]
    words: str = ""

    @cached_property
    def records(self) -> tuple[Records, Records]:
        """The two tables as records that keep their counts."""
        return records_of(self.before, self.sizes), records_of(self.after, self.sizes)

    def swapped(self) -> Pair:
        """The same pair the other way round."""
        return Pair(self.after, self.before, self.sizes, self.words)

    def __str__(self) -> str:
        n, m = len(self.before), len(self.after)
        if n != m:
            return f"{self.words} (n = {n:,} → {m:,})"
        moved = (np.asarray(self.before) != np.asarray(self.after)).any(axis=1).sum()
        return f"{self.words} (n = {n:,}, {moved} record replaced)"


def replace_last(before: Any, record: Any, sizes: Sequence[int], words: str) -> Pair:
    """A table, and the same with another last record."""
    before = np.asarray(before, dtype=np.uint8)
    after = before.copy()
    after[-1] = record
    return Pair(before, after, tuple(sizes), words)


def zeros_to_ones(d: int, n: int = 9) -> Pair:
    """N records of zeros; then one is all ones, which moves two cells of every table."""
    return replace_last(np.zeros((n, d)), 1, (2,) * d, "all records are zeros → one is all ones")


@cache
def one_step_pair(n: int, before: tuple[int, ...], after: tuple[int, ...], sizes: tuple[int, ...],
                  words: str) -> Pair:
    """N records of zeros but for the last one, which changes from ``before`` to ``after``."""
    first = np.zeros((n, len(sizes)))
    first[-1] = before
    return replace_last(first, after, sizes, words)

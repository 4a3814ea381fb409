"""Small tables with their curators, and the pairs of neighbours on which steps lose most.

Made up, and public.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from ..core import Attribute, Curator, Ledger, Noise, Records, Schema, mutual_information
from ..published.doors import open_door

CHILDREN, PARENTS, ELP_PARENTS = 9, 40, 30  # of the pairs that lose what one pair gains
NLTCS = 21_574  # records of PrivABN's first table
THESIS = 27_504  # records of the thesis' table


def schema_of(sizes: Sequence[int], **options: Any) -> Schema:
    """A public schema with attributes x0, x1, … of these domain sizes."""
    names = (f"x{j}" for j in range(len(sizes)))
    attributes = (Attribute.categorical(n, range(s)) for n, s in zip(names, sizes, strict=True))
    return Schema(tuple(attributes), **options)


def records_of(rows: Any, sizes: Sequence[int]) -> Records:
    """Records from rows of codes (n, d)."""
    return Records(np.array(rows, dtype=np.uint8).reshape(-1, len(sizes)), schema_of(sizes))


def curator_of(
    rows: Any,
    sizes: Sequence[int],
    noise: Noise,
    epsilon: Fraction = Fraction(1),
    guarantee: str = "strict",
    **options: Any,
) -> Curator:
    """A curator of these rows with a fresh ledger."""
    return open_door(records_of(rows, sizes), Ledger(epsilon, guarantee), noise, **options)


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
def one_step_pair(
    n: int, before: tuple[int, ...], after: tuple[int, ...], sizes: tuple[int, ...], words: str
) -> Pair:
    """N records of zeros but for the last one, which changes from ``before`` to ``after``."""
    first = np.zeros((n, len(sizes)))
    first[-1] = before
    return replace_last(first, after, sizes, words)


# --- for noisy tables ---------------------------------------------------------


def one_step(*arguments: Any) -> Callable[[], Pair]:
    """Makes a :func:`one_step_pair`."""
    return lambda: one_step_pair(*arguments)


lone_record = one_step(
    NLTCS, (1, 1), (1, 0), (2, 2), "the only record with x0 = 1 changes from x1 = 1 to x1 = 0"
)
row_moves = one_step(
    90, (0, 0), (0, 1), (2, 3), "one record moves from column 0 to column 1 of row 0"
)
first_deviates = one_step(
    9, (0, 0, 0), (1, 0, 0), (2, 2, 2), "x0 is constant → one record deviates"
)
tie_moves = one_step(
    9, (1, 1, 0), (0, 1, 1), (2, 2, 2), "the lone 1 of x1 leaves that of x0 and meets that of x2"
)


def one_more(d: int = 2) -> Pair:
    """A record of ones is added to nine of zeros."""
    before = np.zeros((9, d), dtype=np.uint8)
    after = np.vstack([before, np.ones((1, d), dtype=np.uint8)])
    return Pair(before, after, (2,) * d, "a record of ones is added")


@cache
def rare_value() -> Pair:
    """x0 = 1 is seen once, then twice; x1 … x4, with 64 configurations, are its parents."""
    sizes = (2, 4, 4, 2, 2, *[2] * 9)
    before = np.zeros((THESIS, len(sizes)), dtype=np.uint8)
    before[:, 1:] = np.arange(THESIS * 13).reshape(THESIS, 13) % np.array(sizes[1:])
    before[-1, 0] = 1
    after = before.copy()
    after[-2, 0] = 1
    return Pair(before, after, sizes, "a value of x0 that one record has → two records have it")


@cache
def across_theta() -> Pair:
    """I(x1; S) falls below θ, S = x0; x2 … x7 follow S, x8 … x13 are constant."""
    s = np.arange(THESIS) % 4
    before = np.zeros((THESIS, 14), dtype=np.uint8)
    before[:, 0] = s
    before[:, 1] = (np.arange(THESIS) % 40 < 4) & (s < 2)
    before[:, [2, 3, 6, 7]], before[:, [4, 5]] = s[:, None], s[:, None] // 2
    after = before.copy()
    after[np.argmax((s == 3) & (before[:, 1] == 0)), 1] = 1
    sizes = (4, 2, 4, 4, 2, 2, 4, 4, *[2] * 6)
    return Pair(before, after, sizes, "I(x1; x0) is just above θ → just below")


@cache
def many_comparisons() -> Pair:
    """x1 … x50 follow a rare x0 in one record more, x51 … x100 in one less."""
    rare = np.arange(1000) >= 980
    before = np.repeat(rare[:, None], 101, axis=1).astype(np.uint8)
    before[-1, 1:51] = 0
    words = "x1 … x50 agree with x0 in one record more, x51 … x100 in one less"
    return replace_last(before, [1] * 51 + [0] * 50, (2,) * 101, words)


# --- for edges ------------------------------------------------------------------


@cache
def to_the_other_end(n: int, cells: int) -> Pair:
    """x0 is a number: records stand before the last edge, and one goes from end to end.

    All edges but the last lose then what the last one gains.
    """
    before = np.full((n, 1), cells - 2)
    before[-(n // 2) :] = 0
    words = f"a record goes from the least of {cells} values to the largest"
    return replace_last(before, cells - 1, (cells,), words)


# --- for structures -----------------------------------------------------------


@cache
def straddle() -> Pair:
    """x0 and x1 follow x2 but for 99 and 100 records, 90 in common; then but for 100 and 99."""
    before = np.repeat(np.arange(1001)[:, None] % 2, 3, axis=1).astype(np.uint8)
    before[1:100, 0] ^= 1
    before[10:110, 1] ^= 1
    after = before.copy()
    after[105, :2] ^= 1
    words = "x0 agrees with x2 in one record more than x1 does → in one record less"
    return Pair(before, after, (2, 2, 2), words)


@cache
def straddle_in_order() -> Pair:
    """The same with a copy of x0, which keeps the order of all attributes by their associations."""
    first = straddle()
    before, after = (np.column_stack([t, t[:, 0]]) for t in (first.before, first.after))
    return Pair(before, after, (2,) * 4, first.words)


@cache
def lone_ones(n: int = 1000) -> Pair:
    """One record's ones go from C₁ … C₉, D₁ … D₄₀ to A and B: every score moves by S_bin."""
    d = 2 + CHILDREN + PARENTS
    before = np.zeros((n, d), dtype=np.uint8)
    before[-1, 2:] = 1
    words = f"x0 and x1 gain a joint lone 1, the other {d - 2} lose theirs"
    return replace_last(before, [1, 1] + [0] * (d - 2), (2,) * d, words)


@cache
def three_values(n: int = 2001) -> Pair:
    """The same with three values: halves of (1, 2) and (2, 1), one record at (0, 0) or (2, 2)."""
    half, d = np.arange(n) % 2, 2 + CHILDREN + PARENTS
    before = np.repeat(2 - half[:, None], d, axis=1)
    before[:, [0, *range(2, 2 + CHILDREN)]] = 1 + half[:, None]
    before[-1] = [2, 2] + [0] * (d - 2)
    words = "one record goes from (2, 2) to (0, 0) in x0 and x1, and back in all other pairs"
    return replace_last(before, [0, 0] + [2] * (d - 2), (3,) * d, words)


@cache
def parents_together(k: int) -> Pair:
    """x0 is rare; k attributes follow it in one record more, ``ELP_PARENTS`` others in one less."""
    rare = np.arange(10_001) >= 9951
    before = np.repeat(rare[:, None], 1 + k + ELP_PARENTS, axis=1).astype(np.uint8)
    before[-1, 1 : k + 1] = 0
    words = f"x0's {k} parents x1 … x{k} agree in one record more, the others in one less"
    last = [1] * (k + 1) + [0] * ELP_PARENTS
    return replace_last(before, last, (2,) * before.shape[1], words)


# --- for the bug zoo ----------------------------------------------------------


@cache
def table_pairs() -> tuple[Pair, ...]:
    """Moves along a row, across the table, and to values that nobody has."""
    crowd, zeros = [[i % 2, i // 2 % 2] for i in range(11)], [[0, 0]] * 11
    return (
        replace_last([*crowd, (1, 0)], (1, 1), (2, 3), "one record changes its second attribute"),
        replace_last([*crowd, (0, 0)], (1, 1), (2, 3), "one record moves across the table"),
        replace_last([*zeros, (0, 0)], (1, 2), (2, 3), "one record takes values that nobody has"),
    )


@cache
def added_pairs() -> tuple[Pair, ...]:
    """A record more, of values that others have or that nobody has."""
    crowd = np.array([[i % 2, i // 2 % 2] for i in range(11)], dtype=np.uint8)
    return tuple(
        Pair(crowd, np.vstack([crowd, np.array([record], dtype=np.uint8)]), (2, 3), words)
        for record, words in (
            ((1, 1), "a record is added, as others are"),
            ((1, 2), "a record is added, with values that nobody has"),
        )
    )


@cache
def list_pairs() -> tuple[Pair, ...]:
    """A record that changes one attribute or all, among mixed ones, or among others all alike."""
    mixed = [[i >> j & 1 for j in range(6)] for i in range(0, 60, 7)]
    words = "one record changes its first attribute", "one record changes every attribute"
    return (
        replace_last([*mixed, [0] * 6], [1] + [0] * 5, (2,) * 6, words[0]),
        replace_last([*mixed, [0] * 6], 1, (2,) * 6, words[1]),
        zeros_to_ones(6, 10),
    )


@cache
def conditional_pairs() -> tuple[Pair, ...]:
    """A record alone in its parent configuration changes the child: (0, 1) becomes (1, 0)."""
    rows = [*([i % 2, 0] for i in range(400)), (1, 1)]
    words = "the only record with parent 1 changes the child"
    return (replace_last(rows, (0, 1), (2, 2), words),)


@cache
def selection_pairs() -> tuple[Pair, ...]:
    """Where exponential mechanisms lose most: lone ones, three values, two parents, a tie."""
    return lone_ones(), three_values(), parents_together(2), straddle()


@cache
def choice_pairs() -> tuple[Pair, ...]:
    """Records that decide which attribute stands first, and whether a threshold is reached."""
    return straddle(), straddle().swapped(), across_a_threshold()


def across_a_threshold(bits: float = 0.1, n: int = 1000) -> Pair:
    """x0 follows x2 just so often that one record more brings their information to ``bits``."""

    def rows(wrong: int) -> np.ndarray:
        out = np.repeat(np.arange(n)[:, None] % 2, 3, axis=1).astype(np.uint8)
        out[:wrong, 0] ^= 1
        out[: n // 2, 1] ^= 1
        return out

    def information(codes: np.ndarray) -> float:
        counts = np.bincount(codes[:, 2] * 2 + codes[:, 0], minlength=4)
        return mutual_information(counts.reshape(2, 2))

    wrong = next(w for w in range(n // 2) if information(rows(w + 1)) < bits)
    words = f"the mutual information of x0 and x2 crosses {bits:g} bit"
    return Pair(rows(wrong), rows(wrong + 1), (2, 2, 2), words)

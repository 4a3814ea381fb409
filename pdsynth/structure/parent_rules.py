"""Which parent sets a child may have: rules that know domain, n and ε, never a record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ..counting.tables import MAX_CELLS
from ..domain.facts import Facts
from ..domain.schema import Schema
from ..errors import BudgetError, is_whole, plural, show
from ..network import Network
from ..privacy.unit import ONE_REPLACED
from .limits import limit_tables, most_sets

MAX_PARENTS = 63  # two-valued parents whose configuration is one 64-bit word
MAX_PAIRS = 1_000_000  # candidates of one selection
AUTO_CELLS = 2**20  # largest table that k='auto' ever asks for
SEARCH_CELLS = 2**12  # and where parent sets are searched on general domains: beyond, the number
# of sets would grow with n, and a fit's time faster than n
AUTO_PAIRS = 100_000  # candidates of one selection that k='auto' ever asks for
NOISE_DOMINATES = 1.0  # noise as large as the mean cell: a table tells most about the noise
USEFUL = 4.0  # θ of TODS 2017: a mean cell of at least four noise scales


@dataclass(frozen=True)
class MaxParents:
    """Exactly min(k, |V|) parents (TODS 2017; with |Π| ≤ k the thesis' Algorithm 2 can't work)."""

    k: int

    def parent_sets(
        self, placed: tuple[int, ...], child_size: int, sizes: Sequence[int]
    ) -> list[np.ndarray]:
        """Arrays (m, s) of parent sets among ``placed``."""
        return [subsets(tuple(sorted(placed)), min(self.k, len(placed)))]

    def after_forcing(self, taken: int) -> MaxParents:
        """The same rule when some parents are forced."""
        return MaxParents(max(self.k - taken, 0))

    def label(self) -> str:
        """For plots and the ledger."""
        return f"k = {self.k}"


@dataclass(frozen=True)
class MaxCells:
    """Every maximal parent set with |X|·|Π| ≤ cells, where n ε₂ / (2 d cells) = θ (TODS 2017).

    ``most`` caps the number of parents; a set that has reached it is maximal, too, unless one more
    parent makes a table of at most ``fewer`` cells (0: never).
    """

    cells: Fraction
    most: int = 7  # with the child, as many as one kept set of the lattice holds
    fewer: int = 0

    @classmethod
    def of(cls, n: int, d: int, epsilon2: Fraction, theta: Fraction) -> MaxCells:
        """The bound τ = n ε₂ / (2 d θ) from public facts."""
        return cls(n / (ONE_REPLACED.scale(epsilon2, tables=d) * theta))

    def parent_sets(
        self, placed: tuple[int, ...], child_size: int, sizes: Sequence[int]
    ) -> list[np.ndarray]:
        """Arrays (m, s), one per parent number, of the sets that no further attribute fits into."""
        bound = max(math.floor(self.cells / child_size), 1)
        by_cells = tuple(sorted(placed, key=lambda j: (sizes[j], j)))
        by_number: dict[int, list[tuple[int, ...]]] = {}
        every = _maximal(by_cells, tuple(sizes), bound, self.most)
        if self.fewer:
            every = _one_more(by_cells, tuple(sizes), every, self.fewer // child_size, self.most)
        for found in every:
            by_number.setdefault(len(found), []).append(found)
        return [
            np.array(rows, dtype=np.int64).reshape(len(rows), s)
            for s, rows in sorted(by_number.items())
        ]

    def after_forcing(self, taken: int) -> MaxCells:
        """The same rule when some parents are forced."""
        return replace(self, most=self.most - taken)

    def label(self) -> str:
        """For plots and the ledger."""
        words = f"tables of at most {math.floor(self.cells):,} cells"
        more = f"; with {self.most + 1} parents of at most {self.fewer:,}" if self.fewer else ""
        return words + f", {plural(self.most, 'parent')}{more}" * (self.most < 7)


ParentRule = MaxParents | MaxCells


def useful_degree(n: int, d: int, epsilon2: float, theta: float) -> int:
    """Largest k with n ε₂ / ((d−k) 2^(k+2)) ≥ θ on binary attributes, 0 if none (TODS 2017, §4.4).

    Average cell mass 1/2^(k+1) against the noise scale 2(d−k)/(n ε₂): public numbers, so k is free.
    """
    fits = [k for k in range(1, d) if n * epsilon2 / ((d - k) * 2 ** (k + 2)) >= theta]
    return max(fits, default=0)


def choose_rule(k: Any, facts: Facts, theta: Fraction) -> ParentRule | None:
    """The rule for parent sets; None where no edge is worth its noise.

    ``k='auto'``: θ-usefulness on binary tables, maximal admissible parent sets on general domains
    (TODS 2017); no table gets more than ``SEARCH_CELLS`` cells and no selection more than
    ``AUTO_PAIRS`` candidates, however large ε: where the records and columns are so many that all
    admissible sets would be more than :func:`~.limits.most_sets`, parents are fewer.
    """
    if not isinstance(k, str):
        return MaxParents(int(k)) if k > 0 else None
    sizes, d = sorted(facts.schema.sizes), len(facts.schema)
    if sizes[-1] == 2:
        useful = useful_degree(facts.n, d, float(facts.epsilon2), float(theta))
        while useful > 1 and largest_selection(d, useful) > AUTO_PAIRS:
            useful -= 1
        return MaxParents(useful) if useful else None
    cells = min(MaxCells.of(facts.n, d, facts.epsilon2, theta).cells, Fraction(SEARCH_CELLS))
    if sizes[0] * sizes[1] > cells:
        return None
    most, fewer = limit_tables(sizes, math.floor(cells), MaxCells.most, most_sets(facts.n, d))
    return MaxCells(cells, most, fewer)


def largest_selection(d: int, k: int) -> int:
    """Candidates of the largest of d−1 selections of a child together with k parents."""
    return max((d - placed) * math.comb(placed, k) for placed in range(1, d))


def check_parents(k: Any, d: int) -> None:
    """Refuse a largest number of parents that isn't 'auto' or a whole number in 0 … d−1."""
    if isinstance(k, str) and k == "auto":
        return
    if not is_whole(k, 0):
        raise BudgetError(f"k must be 'auto' or a whole number from 0 to {d - 1}, got {show(k)}")
    if k >= d:
        raise BudgetError(
            f"k = {show(k)}, but with d = {d} attributes a node has at most "
            f"{plural(d - 1, 'parent')}: choose k < {d}"
        )


def check_degree(k: Any, schema: Schema) -> None:
    """:func:`check_parents`; refuse tables beyond memory and choices among too many parent sets."""
    d = len(schema)
    check_parents(k, d)
    check_cells(k, schema)
    pairs = 0 if isinstance(k, str) else largest_selection(d, int(k))
    if pairs > MAX_PAIRS:
        raise BudgetError(
            f"k = {k} with d = {d} attributes means choosing among {pairs:,} attribute–parent "
            f"pairs in one step; at most {MAX_PAIRS:,}: lower k, or use k='auto'"
        )


def check_cells(k: Any, schema: Schema) -> None:
    """Refuse tables beyond memory."""
    if isinstance(k, str):
        return
    cells = math.prod(sorted(schema.sizes)[-(int(k) + 1) :])
    if cells > MAX_CELLS:
        raise BudgetError(
            f"k = {k} can need a table of {cells:,} cells ({cells * 8 / 2**30:,.1f} GiB); "
            f"at most {MAX_CELLS:,}: lower k, or use k='auto'"
        )


def check_tables(network: Network, schema: Schema) -> None:
    """Refuse a network drawn by policy when a table of it can't fit in memory, with its size."""
    for child, parents in network.pairs:
        cells = schema.cells((child, *parents))
        if cells > MAX_CELLS:
            raise BudgetError(
                f"the table of {child!r} and its {plural(len(parents), 'parent')} has "
                f"{cells:,} cells ({cells * 8 / 2**30:,.1f} GiB); at most "
                f"{MAX_CELLS:,} fit: give {child!r} fewer parents, or coarser bins"
            )


@lru_cache(maxsize=4096)
def subsets(placed: tuple[int, ...], size: int) -> np.ndarray:
    """All sets of so many columns: int64 (m, size)."""
    rows = list(itertools.combinations(placed, size))
    return np.array(rows, dtype=np.int64).reshape(len(rows), size)


@lru_cache(maxsize=4096)
def _maximal(
    placed: tuple[int, ...], sizes: tuple[int, ...], bound: int, most: int
) -> list[tuple[int, ...]]:
    """Maximal subsets of ``placed`` (rising in size): at most ``most`` members, ``bound`` cells."""
    found: list[tuple[int, ...]] = []

    def grow(start: int, chosen: tuple[int, ...], cells: int, smallest_left_out: int) -> None:
        if len(chosen) == most:
            found.append(chosen)
            return
        # sizes rise along `placed`: the first attribute left out is the cheapest that might fit
        if start == len(placed) or cells * sizes[placed[start]] > bound:
            left = min([smallest_left_out, *(sizes[j] for j in placed[start:])])
            if cells * left > bound:
                found.append(chosen)
            return
        size = sizes[placed[start]]
        grow(start + 1, (*chosen, placed[start]), cells * size, smallest_left_out)
        if cells * min(smallest_left_out, size) <= bound:
            grow(start + 1, chosen, cells, min(smallest_left_out, size))

    grow(0, (), 1, bound + 1)
    return [tuple(sorted(s)) for s in found]


def _one_more(
    placed: tuple[int, ...],
    sizes: tuple[int, ...],
    found: list[tuple[int, ...]],
    bound: int,
    most: int,
) -> list[tuple[int, ...]]:
    """Maximal sets where ``most`` + 1 members may have ``bound`` cells."""
    longer = [s for s in _maximal(placed, sizes, bound, most + 1) if len(s) > most]

    def grows(chosen: tuple[int, ...]) -> bool:
        left = next((sizes[j] for j in placed if j not in chosen), bound + 1)
        return math.prod(sizes[j] for j in chosen) * left <= bound

    return [s for s in found if len(s) < most or not grows(s)] + longer


# --- what tables of k parents are worth under noise -----------------------------------------------


def typical_cells(schema: Schema, k: int) -> float:
    """Cells of a table of k+1 attributes of typical size, the geometric mean of the sizes."""
    return math.exp(float(np.mean(np.log(schema.sizes)))) ** (k + 1)


def noise_to_cell(
    schema: Schema, n: int, epsilon: Fraction, k: int, share_structure: Fraction = Fraction(3, 10)
) -> float:
    """Noise scale of a typical table over its mean cell, both in records.

    d−k tables share (1−β)ε, or all of ε for k = 0.
    """
    rest = epsilon * (1 - share_structure) if k else epsilon
    scale = float(ONE_REPLACED.scale(rest, tables=len(schema) - k))
    return scale * typical_cells(schema, k) / n


def describe_facts(schema: Schema, n: int, epsilon: Fraction) -> str:
    """Rows, columns and ε in words."""
    return f"{n:,} rows × {len(schema)} columns at ε = {float(epsilon):g}: "


def noise_dominates(schema: Schema, n: int, epsilon: Fraction, k: int) -> str | None:
    """A warning where a typical table of this degree is more noise than signal, else None."""
    ratio, cells = noise_to_cell(schema, n, epsilon, k), typical_cells(schema, k)
    if ratio <= NOISE_DOMINATES:
        return None
    return describe_facts(schema, n, epsilon) + (
        f"with k = {k} a typical table has {cells:,.0f} cells of {n / cells:.2g} records, under "
        f"noise of {ratio * n / cells:.2g} records in every cell; k='auto' chooses what n and ε "
        "can bear (see pds.plan)"
    )

"""How many parents, and how much noise: chosen and refused from public facts alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..counting.tables import MAX_CELLS
from ..domain.schema import Schema
from ..errors import BudgetError
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.mechanisms import WORD
from ..structure import MaxCells, MaxParents, ParentRule, useful_degree

MAX_PAIRS = 1_000_000  # candidates of one selection
AUTO_CELLS = 2**20  # largest table that k='auto' ever asks for
AUTO_PAIRS = 100_000  # candidates of one selection that k='auto' ever asks for


def check_noise(epsilon: Any, n: int, largest: Fraction) -> None:
    """Refuse an ε so small that the widest noise of a recipe, ``largest`` (a public bound of its scales), leaves 64-bit integers."""
    if largest >= WORD:
        raise BudgetError(
            f"epsilon = {epsilon} asks for noise of scale {float(largest):.3g} on a table of n = {n:,} records, "
            f"and exact sampling ends at {WORD:.3g}: choose a larger epsilon"
        )


def check_parents(k: Any, d: int) -> None:
    """Refuse a degree that isn't 'auto' or an integer in 0 … d−1."""
    if isinstance(k, str) and k == "auto":
        return
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 0:
        raise BudgetError(f"k must be 'auto' or a whole number from 0 to {d - 1}, got {k!r}")
    if k >= d:
        raise BudgetError(f"k = {k}, but with d = {d} attributes a node has at most {d - 1} parents: choose k < {d}")


def largest_selection(d: int, k: int) -> int:
    """Candidates of the largest of d−1 selections with k parents each, child and parents chosen together."""
    return max((d - placed) * math.comb(placed, k) for placed in range(1, d))


def check_degree(k: Any, schema: Schema) -> None:
    """:func:`check_parents`, and refuse tables that can't fit in memory, with their size, and choices among too many parent sets."""
    d = len(schema)
    check_parents(k, d)
    if isinstance(k, str):
        return
    cells = int(np.prod(sorted(schema.sizes)[-(int(k) + 1) :], dtype=object))
    if cells > MAX_CELLS:
        raise BudgetError(
            f"k = {k} can need a table of {cells:,} cells ({cells * 8 / 2**30:,.1f} GiB); at most {MAX_CELLS:,}: lower k, or use k='auto'"
        )
    pairs = largest_selection(d, int(k))
    if pairs > MAX_PAIRS:
        raise BudgetError(
            f"k = {k} with d = {d} attributes means choosing among {pairs:,} attribute–parent pairs in one step; "
            f"at most {MAX_PAIRS:,}: lower k, or use k='auto'"
        )


def check_tables(network: Network, schema: Schema) -> None:
    """Refuse a network that policy has drawn, whole or in part, when a table of it can't fit in memory, with its size."""
    for child, parents in network.pairs:
        cells = schema.cells((child, *parents))
        if cells > MAX_CELLS:
            raise BudgetError(
                f"the table of {child!r} and its {len(parents)} parents has {cells:,} cells ({cells * 8 / 2**30:,.1f} GiB); "
                f"at most {MAX_CELLS:,} fit: give {child!r} fewer parents, or coarser bins"
            )


def choose_degree(k: Any, schema: Schema, n: int, epsilon2: Fraction, usefulness: Fraction) -> ParentRule | None:
    """The rule for parent sets from public facts only; None when no edge is worth its noise (then nothing is spent on structure).

    ``k='auto'``: θ-usefulness on binary tables, maximal admissible parent sets on general domains (TODS 2017); no table
    gets more than ``AUTO_CELLS`` cells and no selection more than ``AUTO_PAIRS`` candidates, however large ε.
    """
    d = len(schema)
    if not isinstance(k, str):
        return MaxParents(int(k)) if k > 0 else None
    if max(schema.sizes) == 2:
        useful = useful_degree(n, d, float(epsilon2), float(usefulness))
        while useful > 1 and largest_selection(d, useful) > AUTO_PAIRS:
            useful -= 1
        return MaxParents(useful) if useful else None
    rule = MaxCells.of(n, d, epsilon2, usefulness)
    rule = MaxCells(min(rule.cells, Fraction(AUTO_CELLS)))
    small = sorted(schema.sizes)[:2]
    return rule if small[0] * small[1] <= rule.cells else None


def prepare(curator: Curator, degree: ParentRule, score: str) -> None:
    """Count what the selections will look up, in one pass where that is cheaper than on demand.

    **Privacy:** nothing leaves the curator, nothing is charged.
    """
    if isinstance(degree, MaxParents) and len(curator.schema) <= 24:
        curator.prepare(degree.k + 1, score)

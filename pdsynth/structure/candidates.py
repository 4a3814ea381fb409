"""Which parent sets a child may have: rules that know the public domain, n and ε, and never a record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..privacy.curator import Candidates
from .restrictions import Permitted


def useful_degree(n: int, d: int, epsilon2: float, usefulness: float) -> int:
    """Largest k whose tables are θ-useful on binary attributes: n ε₂ / ((d−k) 2^(k+2)) ≥ θ, 0 if none (TODS 2017, §4.4).

    Average cell mass 1/2^(k+1) against the noise scale 2(d−k)/(n ε₂); n, d, ε and θ are public, so k is free.
    """
    fits = [k for k in range(1, d) if n * epsilon2 / ((d - k) * 2 ** (k + 2)) >= usefulness]
    return max(fits, default=0)


@dataclass(frozen=True)
class MaxParents:
    """Exactly min(k, |V|) parents (Zhang et al. 2017; the thesis prints |Π| ≤ k, under which its Algorithm 2 can't work)."""

    k: int

    def parent_sets(self, placed: tuple[int, ...], child_size: int, sizes: Sequence[int]) -> list[np.ndarray]:
        """Arrays (m, s) of parent sets among ``placed``."""
        return [_subsets(tuple(sorted(placed)), min(self.k, len(placed)))]

    def after_forcing(self, taken: int) -> MaxParents:
        """The same rule when some parents are forced."""
        return MaxParents(max(self.k - taken, 0))

    def label(self) -> str:
        """For plots and the ledger."""
        return f"k = {self.k}"


@dataclass(frozen=True)
class MaxCells:
    """Every maximal parent set with |X|·|Π| ≤ cells, where n ε₂ / (2 d cells) = θ (TODS 2017, general domains).

    ``most`` caps the number of parents; a set that has reached it is maximal, too.
    """

    cells: Fraction
    most: int = 7  # with the child, as many as one kept set of the lattice holds

    @classmethod
    def of(cls, n: int, d: int, epsilon2: Fraction, usefulness: Fraction) -> MaxCells:
        """The bound τ = n ε₂ / (2 d θ) from public facts."""
        return cls(Fraction(n) * epsilon2 / (2 * d * usefulness))

    def parent_sets(self, placed: tuple[int, ...], child_size: int, sizes: Sequence[int]) -> list[np.ndarray]:
        """Arrays (m, s), one a parent number, of the admissible sets that no further attribute fits into."""
        bound = math.floor(self.cells / child_size)
        found = _maximal(tuple(sorted(placed, key=lambda j: (sizes[j], j))), tuple(sizes), max(bound, 1), self.most)
        by_size: dict[int, list[tuple[int, ...]]] = {}
        for s in found:
            by_size.setdefault(len(s), []).append(s)
        return [np.array(rows, dtype=np.int64).reshape(len(rows), s) for s, rows in sorted(by_size.items())]

    def after_forcing(self, taken: int) -> MaxCells:
        """The same rule when some parents are forced."""
        return MaxCells(self.cells, self.most - taken)

    def label(self) -> str:
        """For plots and the ledger."""
        return f"tables of at most {math.floor(self.cells):,} cells"


ParentRule = MaxParents | MaxCells


def block(
    degree: ParentRule,
    placed: tuple[int, ...],
    children: Sequence[int],
    sizes: Sequence[int],
    depends_on: str = "public",
    restriction: Permitted | None = None,
) -> Candidates:
    """All candidate pairs of some children with parents among ``placed``, as far as a restriction permits them.

    A child whose forced parents aren't all placed has no candidates yet; the others keep their forced parents in every set.
    """
    ready = children if restriction is None else restriction.ready(children, placed)
    found = ((child, parents) for child in ready for parents in _parent_sets(degree, placed, child, sizes, restriction))
    return joined(((np.full(len(parents), child, dtype=np.int64), parents) for child, parents in found), depends_on)


def joined(parts: Iterable[tuple[np.ndarray, np.ndarray]], depends_on: str) -> Candidates:
    """Candidates from pieces (children (m,), parents (m, s)): one block a parent number, smaller sets first, otherwise in their order."""
    by_size: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    for children, parents in parts:
        by_size.setdefault(parents.shape[1], []).append((children, parents))
    blocks = [(np.concatenate([c for c, _ in rows]), np.concatenate([p for _, p in rows])) for _, rows in sorted(by_size.items())]
    return Candidates(tuple(blocks), depends_on)


def _parent_sets(
    degree: ParentRule, placed: tuple[int, ...], child: int, sizes: Sequence[int], restriction: Permitted | None
) -> list[np.ndarray]:
    if restriction is None:
        return degree.parent_sets(placed, sizes[child], sizes)
    forced, free = restriction.parents(child, placed)
    taken = sizes[child] * math.prod(sizes[p] for p in forced)
    found = degree.after_forcing(len(forced)).parent_sets(free, taken, sizes)
    return [np.hstack([np.tile(np.array(forced, dtype=np.int64), (len(rows), 1)), rows]) for rows in found]


@lru_cache(maxsize=4096)
def _subsets(placed: tuple[int, ...], size: int) -> np.ndarray:
    rows = list(itertools.combinations(placed, size))
    return np.array(rows, dtype=np.int64).reshape(len(rows), size)


@lru_cache(maxsize=4096)
def _maximal(placed: tuple[int, ...], sizes: tuple[int, ...], bound: int, most: int) -> list[tuple[int, ...]]:
    """Maximal subsets of ``placed`` (sorted by size) with at most ``most`` members and ``bound`` joint cells."""
    found: list[tuple[int, ...]] = []

    def grow(start: int, chosen: tuple[int, ...], cells: int, smallest_left_out: int) -> None:
        if len(chosen) == most:
            found.append(chosen)
            return
        # sizes rise along `placed`, so the first attribute left out is the cheapest one that might still fit
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

"""Attribute–parent pairs that a structure may choose from, and what a record can move of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .errors import BudgetError
from .measures import Score


@dataclass(frozen=True)
class Candidates:
    """Attribute–parent pairs to choose from, by their number of parents.

    ``by_size``: for each number s of parents the columns of children (m,) and of their parents (m,
    s). ``depends_on`` is
    ``"public"`` or the id of the ledger entry that the candidates are computed from.
    """

    by_size: tuple[tuple[np.ndarray, np.ndarray], ...]
    depends_on: str = "public"

    def __len__(self) -> int:
        return sum(len(children) for children, _ in self.by_size)

    def __getitem__(self, index: int) -> tuple[int, tuple[int, ...]]:
        for children, parents in self.by_size:
            if index < len(children):
                return int(children[index]), tuple(int(p) for p in parents[index])
            index -= len(children)
        raise IndexError(index)

    def columns(self, d: int) -> list[int]:
        """The columns, of ``d``, that occur in any pair, rising."""
        found = sum(np.bincount(c.ravel(), minlength=d) for pair in self.by_size for c in pair)
        return np.flatnonzero(found).tolist()

    def single(self) -> Candidates:
        """The pairs (child, one parent) that a pairwise score adds up."""
        alone = ((np.repeat(c, p.shape[1]), p.reshape(-1, 1)) for c, p in self.by_size)
        return Candidates(tuple(alone), self.depends_on)

    def add_up(self, found: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of the pairs from those of :meth:`single`, in their order: (len(self),)."""
        scored = zip(found, self.by_size, strict=True)
        return np.concatenate([f.reshape(parents.shape).sum(axis=1) for f, (_, parents) in scored])

    def sensitivity(
        self, measure: Score, n: int, sizes: Sequence[int]
    ) -> tuple[int, tuple[int, int]]:
        """The largest sensitivity of the scores of ``n`` records, and domain sizes that attain it.

        Only whether child and parents have 1, 2 or more declared values matters.
        """
        size, worst = np.array(sizes), (0, (1, 1))
        for children, parents in self.by_size:
            x = np.minimum(size[children], 3)
            pi = np.minimum(size[parents].astype(float).prod(axis=1), 3).astype(np.int64)
            for kind in np.flatnonzero(np.bincount(4 * x + pi)).tolist():
                domain = divmod(kind, 4)
                worst = max(worst, (measure.sensitivity(n, *domain), domain))
            if measure.name == "F" and (x != 2).any():
                raise BudgetError(
                    "score 'F' needs children with two values: use score='R', or a binary table"
                )
        return worst

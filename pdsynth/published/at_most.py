"""|Π| ≤ k, as the thesis' Algorithms 1 and 3 print it: a reading of PrivBayes and HPPrivBayes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..algorithms import Greedy, Ordered
from ..core import BudgetError, Facts, MaxParents, ParentRule


@dataclass(frozen=True)
class AtMost(MaxParents):
    """Up to k parents; smaller sets compete with larger ones."""

    def parent_sets(
        self, placed: tuple[int, ...], child_size: int, sizes: Sequence[int]
    ) -> list[np.ndarray]:
        """Arrays (m, s) of parent sets among ``placed``, s from 0 to k."""
        return [
            rows
            for k in range(min(self.k, len(placed)) + 1)
            for rows in MaxParents(k).parent_sets(placed, child_size, sizes)
        ]


class AtMostGreedy(Greedy):
    """GreedyBayes whose parent sets have up to k attributes."""

    def check(self, facts: Facts) -> None:
        """Refuse ``k="auto"``, too."""
        super().check(facts)
        self.rule(facts)

    def rule(self, facts: Facts) -> AtMost:
        """Up to k parents; BudgetError for ``k="auto"``, which is no number of parents."""
        if isinstance(self.k, str):
            raise BudgetError(f"reading='at most k' needs k as a whole number, got {self.k!r}")
        return AtMost(int(self.k))

    def derived(self, rule: ParentRule, facts: Facts) -> int:
        """None: the first k pairs needn't lie in table k + 1."""
        return 0


class AtMostOrdered(Ordered):
    """The thesis' Algorithm 3 whose parent sets have up to k attributes."""

    rule, derived = AtMostGreedy.rule, AtMostGreedy.derived  # type: ignore[assignment]

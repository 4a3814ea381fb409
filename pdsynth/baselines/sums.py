"""One matrix of pairwise associations gives order and parent sets (ELPrivBayes, SA-PrivBayes)."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..algorithms import result_of_sums, symmetric_matrix
from ..core import (
    BudgetError,
    Candidates,
    Curator,
    Facts,
    Learner,
    Pair,
    ParentRule,
    Permitted,
    Shares,
    StructureResult,
    check_width,
    list_candidates,
    number,
    progress,
    show,
)

MATRIX, STEP = "ELPrivBayes: mutual information matrix", "pairwise associations"


@dataclass(frozen=True)
class PairwiseSums(Learner):
    """One matrix of associations gives the order, and parent sets score the sums of their pairs.

    ``keep``: the share of candidate sets that stay before a selection (SA-PrivBayes: 2/3); the best
    set of a noisy sketch is free, so here a filter changes nothing.
    """

    keep: float | None = None

    def check(self, facts: Facts) -> None:
        """Refuse a share out of range."""
        super().check(facts)
        check_width(len(facts.schema), "a sketch of associations")
        if self.keep is not None and not 0 < number("keep", self.keep) <= 1:
            raise BudgetError(f"keep must lie in (0, 1], got {show(self.keep)}")

    def steps(self, facts: Facts) -> Shares:
        """All for the sketch."""
        return {"associations": Fraction(1)}

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """Attributes enter by row sums, each with the parent set of the largest sum.

        **Privacy:** one sketch of ε₁; all else is post-processing.
        """
        schema, d = curator.schema, len(curator.schema)
        pairs = list(combinations(range(d), 2))
        values, entry = curator.noisy_associations(
            pairs, shares["associations"], step=STEP, source=MATRIX
        )
        matrix = symmetric_matrix(d, pairs, values)
        permitted = self.permitted(facts)
        order, chosen = enter_by_sums(matrix, permitted)
        for i in progress(range(len(chosen), d), "parents", unit="attribute"):
            candidates = list_candidates(
                rule, tuple(order[:i]), [order[i]], schema.sizes, permitted, entry
            )
            chosen.append(candidates[int(np.argmax(sum_over_pairs(matrix, candidates)))])
        return result_of_sums(matrix, chosen, schema, entry)


def enter_by_sums(matrix: np.ndarray, permitted: Permitted) -> tuple[list[int], list[Pair]]:
    """Columns by falling row sum of an association matrix, and the pairs that open the network."""
    order = permitted.reorder(np.argsort(-matrix.sum(axis=1), kind="stable").tolist())
    return order, list(permitted.fixed_pairs) or [(order[0], ())]


def sum_over_pairs(matrix: np.ndarray, candidates: Candidates) -> np.ndarray:
    """Σ association(child, parent) over the parents of each candidate: float (candidates,)."""
    return np.concatenate([matrix[c[:, None], p].sum(axis=1) for c, p in candidates.by_size])

"""ELPrivBayes, SA-PrivBayes and PPBA with the raw association matrices that their texts imply."""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..algorithms import (
    TREE_STEP,
    SpanningTree,
    result_of_sums,
    symmetric_matrix,
)
from ..algorithms import TREE_WEIGHTS as WEIGHTS
from ..baselines import MATRIX, STEP, PairwiseSums, enter_by_sums, sum_over_pairs
from ..core import (
    SCORES,
    Candidates,
    Curator,
    Facts,
    Pairs,
    ParentRule,
    Shares,
    StructureResult,
    list_candidates,
    number,
    progress,
)
from .doors import raw_door

SOURCE = "ELPrivBayes: sum of pairwise mutual information (as in public code)"
RAW_MATRIX = "order and filter are functions of the raw matrix of mutual information"
RAW_TREE = "tree, candidates and ranking are functions of the records"


@dataclass(frozen=True)
class PrintedSums(PairwiseSums):
    """The raw matrix gives order and filter; each parent set is drawn by its sum.

    **Privacy:** none: the matrix is an unaccounted access, and each selection truly costs k times
    its claim.
    """

    def steps(self, facts: Facts) -> Shares:
        """All for the selections."""
        return {"associations": Fraction(0), "selections": Fraction(1)}

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """Attributes enter by row sums; a set is drawn with the sensitivity of one pair.

        **Privacy:** one unaccounted access; each selection claims ε₁/(d−1) and truly costs k times
        that, since a record moves all k terms of the sum.
        """
        schema, d = curator.schema, len(curator.schema)
        pairs = list(combinations(range(d), 2))
        values, entry = raw_door(curator).noisy_associations(
            pairs,
            shares["associations"],
            step=STEP,
            source=MATRIX,
            raw_measure="I",
            reason=RAW_MATRIX,
        )
        matrix = symmetric_matrix(d, pairs, values)
        permitted = self.permitted(facts)
        order, chosen = enter_by_sums(matrix, permitted)
        each = shares["selections"] / max(d - len(chosen), 1)
        for i in progress(range(len(chosen), d), "parents", unit="attribute"):
            candidates = list_candidates(
                rule, tuple(order[:i]), [order[i]], schema.sizes, permitted, entry
            )
            candidates = self.keep_best(candidates, sum_over_pairs(matrix, candidates))
            chosen.append(
                raw_door(curator).select(
                    candidates,
                    "I",
                    each,
                    step=f"parents of {schema.names[order[i]]}",
                    source=SOURCE,
                    pairwise=True,
                    printed_sensitivity=sensitivity_of_one_pair(curator, candidates),
                )
            )
        return result_of_sums(matrix, chosen, schema, entry)

    def keep_best(self, candidates: Candidates, sums: np.ndarray) -> Candidates:
        """The best share of the candidate sets by their raw sums (SA-PrivBayes)."""
        if self.keep is None:
            return candidates
        best = np.zeros(len(sums), dtype=bool)
        most = max(1, math.ceil(len(sums) * number("keep", self.keep)))
        best[np.argsort(-sums, kind="stable")[:most]] = True
        ends = np.cumsum([len(c) for c, _ in candidates.by_size])[:-1]
        pairs = [
            (c[has], p[has])
            for (c, p), has in zip(candidates.by_size, np.split(best, ends), strict=True)
            if has.any()
        ]
        return Candidates(tuple(pairs), candidates.depends_on)


def sensitivity_of_one_pair(curator: Curator, candidates: Candidates) -> int:
    """As printed: that of the most sensitive single pair among the candidates, in 2^-30 bit.

    **Privacy:** reads nothing; it is the k-th part of the true one.
    """
    sizes = curator.schema.sizes
    pairs = {(sizes[c[0]], sizes[j]) for c, p in candidates.by_size for j in np.unique(p).tolist()}
    return max((int(SCORES["I"].sensitivity(curator.n, x, y)) for x, y in pairs), default=1)


@dataclass(frozen=True)
class PrintedTree(SpanningTree):
    """The strongest tree of the raw matrix.

    **Privacy:** none: tree, candidates and ranking are functions of the records.
    """

    def steps(self, facts: Facts) -> Shares:
        """All for the selections."""
        return {"associations": Fraction(0), "selections": Fraction(1)}

    def sketch(self, curator: Curator, pairs: Pairs, shares: Shares) -> tuple[np.ndarray, str]:
        """Raw mutual information of pairs of columns, float (pairs,), and its ledger entry.

        **Privacy:** none.
        """
        return raw_door(curator).noisy_associations(
            pairs, Fraction(0), step=TREE_STEP, source=WEIGHTS, raw_measure="I", reason=RAW_TREE
        )

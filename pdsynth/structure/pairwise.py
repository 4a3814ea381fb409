"""Structure from one matrix of pairwise associations (ELPrivBayes, SA-PrivBayes)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..domain.facts import Facts
from ..domain.progress import progress
from ..errors import BudgetError, show
from ..measures import SCORES
from ..network import Network
from ..privacy.curator import Candidates, Curator
from ..privacy.numbers import number
from .candidates import list_candidates
from .learner import Learner, Shares, StructureResult
from .limits import check_width
from .parent_rules import ParentRule

SOURCE = "ELPrivBayes: sum of pairwise mutual information (as in public code)"
MATRIX = "ELPrivBayes: mutual information matrix"
RAW = "order and filter are functions of the raw matrix of mutual information"


@dataclass(frozen=True)
class PairwiseSums(Learner):
    """One matrix of associations gives the order, and parent sets score the sums of their pairs.

    ``keep``: published only: the share of candidate sets that stay before the selection
    (SA-PrivBayes: 2/3).
    """

    keep: float | None = None

    def check(self, facts: Facts) -> None:
        """Refuse a share out of range."""
        super().check(facts)
        check_width(len(facts.schema), "a sketch of associations")
        if self.keep is not None and not 0 < number("keep", self.keep) <= 1:
            raise BudgetError(f"keep must lie in (0, 1], got {show(self.keep)}")

    def steps(self, facts: Facts) -> Shares:
        """All for the sketch under strict; the selections where the matrix is read raw."""
        sketch = facts.pay(Fraction(1))
        return {"associations": sketch, "selections": 1 - sketch}

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """Attributes enter by row sums, each with the parent set of the largest sum.

        ``strict``: the matrix is all that the method needs, so the whole share buys one noisy
        sketch and the rest is post-processing. ``published``: the raw matrix gives order and filter
        (``keep``), and each set is drawn by the exponential mechanism with the sensitivity of one
        pair, ε₁/(d−1) claimed.

        **Privacy:** strict: one sketch of ε₁. Published: one unaccounted access; each selection
        truly costs k·ε₁/(d−1), since a record moves all k terms of the sum.
        """
        schema, d = curator.schema, len(curator.schema)
        pairs = list(combinations(range(d), 2))
        values, entry = curator.noisy_associations(
            pairs,
            shares["associations"],
            step="pairwise associations",
            source=MATRIX,
            raw_measure="I",
            reason=RAW,
        )
        matrix = symmetric_matrix(d, pairs, values)
        permitted = self.permitted(facts)
        order = permitted.reorder(np.argsort(-matrix.sum(axis=1), kind="stable").tolist())
        chosen = list(permitted.fixed_pairs) or [(order[0], ())]
        each = shares["selections"] / max(d - len(chosen), 1)
        for i in progress(range(len(chosen), d), "parents", unit="attribute"):
            candidates = list_candidates(
                rule, tuple(order[:i]), [order[i]], schema.sizes, permitted, entry
            )
            sums = np.concatenate([matrix[c[:, None], p].sum(axis=1) for c, p in candidates.blocks])
            if not each:
                chosen.append(candidates[int(np.argmax(sums))])
                continue
            candidates = self._keep_best(candidates, sums)
            chosen.append(
                curator.select(
                    candidates,
                    "I",
                    each,
                    step=f"parents of {schema.names[order[i]]}",
                    source=SOURCE,
                    pairwise=True,
                    printed_sensitivity=_sensitivity_of_one_pair(curator, candidates),
                )
            )
        weights = {schema.names[c]: float(matrix[c, list(p)].sum()) for c, p in chosen}
        return StructureResult(Network.of_columns(chosen, schema.names), weights, entry)

    def _keep_best(self, candidates: Candidates, sums: np.ndarray) -> Candidates:
        """The best share of the candidate sets by their raw sums (SA-PrivBayes)."""
        if self.keep is None:
            return candidates
        best = np.zeros(len(sums), dtype=bool)
        most = max(1, math.ceil(len(sums) * number("keep", self.keep)))
        best[np.argsort(-sums, kind="stable")[:most]] = True
        ends = np.cumsum([len(c) for c, _ in candidates.blocks])[:-1]
        blocks = [
            (c[has], p[has])
            for (c, p), has in zip(candidates.blocks, np.split(best, ends), strict=True)
            if has.any()
        ]
        return Candidates(tuple(blocks), candidates.depends_on)


def symmetric_matrix(d: int, pairs: Sequence[tuple[int, int]], values: np.ndarray) -> np.ndarray:
    """One value per pair as a symmetric float matrix (d, d), 0 where no pair names it."""
    matrix = np.zeros((d, d))
    i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
    matrix[i, j] = matrix[j, i] = values
    return matrix


def _sensitivity_of_one_pair(curator: Curator, candidates: Candidates) -> int:
    """As printed: that of the most sensitive single pair among the candidates, in 2^-30 bit."""
    sizes = curator.schema.sizes
    pairs = {(sizes[c[0]], sizes[j]) for c, p in candidates.blocks for j in np.unique(p).tolist()}
    return max((int(SCORES["I"].sensitivity(curator.n, x, y)) for x, y in pairs), default=1)

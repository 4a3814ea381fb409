"""Structure from one matrix of pairwise associations (ELPrivBayes, SA-PrivBayes): order by row sums, parent sets by sums of pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..measures import SCORES
from ..network import Network
from ..privacy.curator import Candidates, Curator
from .candidates import ParentRule, block
from .restrictions import Restriction

SOURCE = "ELPrivBayes: sum of pairwise mutual information (as in public code)"
RAW = "order and filter are functions of the raw matrix of mutual information"


def pairwise(
    curator: Curator, degree: ParentRule, epsilon: Fraction, *, keep: Fraction | None = None, restriction: Restriction | None = None
) -> tuple[Network, dict[str, float], str]:
    """A network whose attributes enter by their row sums, each with the parent set of the largest sum of pairwise associations.

    Returns the network, the sum that every node was chosen with (its weight), and the ledger id that both come from.
    ``strict``: the matrix is all that the method needs, so all of ε buys one noisy sketch and the rest is post-processing.
    ``published``: the raw matrix gives order and filter (``keep``, the share of candidate sets that stay), and each set is drawn
    by the exponential mechanism with the sensitivity of one pair, ε/(d−1) claimed.

    **Privacy:** strict: one sketch, ε. Published: one unaccounted access; each selection truly costs k·ε/(d−1), since a record
    moves all k terms of the sum.
    """
    schema, d = curator.schema, len(curator.schema)
    pairs = list(combinations(range(d), 2))
    found, entry = curator.noisy_associations(pairs, epsilon, step="pairwise associations", source="ELPrivBayes: mutual information matrix",
                                  raw_measure="I", reason=RAW)  # fmt: skip
    matrix = symmetric(d, pairs, found)
    permitted = (restriction or Restriction()).on(schema.names)
    order = permitted.reorder(np.argsort(-matrix.sum(axis=1), kind="stable").tolist())
    chosen = list(permitted.fixed_pairs) or [(order[0], ())]
    first = len(chosen)
    depends_on = entry
    for i in range(first, d):
        candidates = block(degree, tuple(order[:i]), [order[i]], schema.sizes, depends_on, permitted if restriction else None)
        if curator.guarantee != "published":
            chosen.append(candidates[int(np.argmax(_sums(candidates, matrix)))])
            continue
        candidates = _filtered(candidates, matrix, keep)
        chosen.append(curator.select(candidates, "I", epsilon / (d - first), step=f"parents of {schema.names[order[i]]}", source=SOURCE,
                                     pairwise=True, printed_sensitivity=_of_one_pair(curator, candidates)))  # fmt: skip
    weights = {schema.names[c]: float(matrix[c, list(p)].sum()) for c, p in chosen}
    return Network.of_columns(chosen, schema.names), weights, entry


def symmetric(d: int, pairs: Sequence[tuple[int, int]], values: np.ndarray) -> np.ndarray:
    """One value a pair as a symmetric float matrix (d, d), 0 where no pair names it."""
    matrix = np.zeros((d, d))
    i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
    matrix[i, j] = matrix[j, i] = values
    return matrix


def _sums(candidates: Candidates, matrix: np.ndarray) -> np.ndarray:
    return np.concatenate([matrix[c[:, None], p].sum(axis=1) for c, p in candidates.blocks])


def _of_one_pair(curator: Curator, candidates: Candidates) -> int:
    """The printed sensitivity: that of the most sensitive single pair among the candidates, in 2^-30 bit."""
    sizes = curator.schema.sizes
    pairs = {(sizes[c[0]], sizes[j]) for c, p in candidates.blocks for j in np.unique(p).tolist()}
    return max((int(SCORES["I"].sensitivity(curator.n, x, y)) for x, y in pairs), default=1)


def _filtered(candidates: Candidates, matrix: np.ndarray, keep: Fraction | None) -> Candidates:
    """The best share of the candidate sets by their raw sums (SA-PrivBayes)."""
    if keep is None:
        return candidates
    sums = _sums(candidates, matrix)
    best = np.zeros(len(sums), dtype=bool)
    best[np.argsort(-sums, kind="stable")[: max(1, math.ceil(len(sums) * keep))]] = True
    blocks, at = [], 0
    for c, p in candidates.blocks:
        has = best[at : at + len(c)]
        at += len(c)
        if has.any():
            blocks.append((c[has], p[has]))
    return Candidates(tuple(blocks), candidates.depends_on)

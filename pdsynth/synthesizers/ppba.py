"""PPBA: personalised privacy by ranking low-dimensional tables (Ma et al. 2021; only the abstract is public)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from .base import Synthesizer
from .parts import Geometric, SpanningTree


@dataclass(eq=False, repr=False)
class PPBA(Synthesizer):
    """PPBA, a reconstruction: a spanning tree shrinks the candidates, and table budgets follow node weights in the ratio q.

    From the abstract: a maximum spanning tree and node weights shrink the candidate space of the exponential mechanism; dynamic
    node weights rank the sensitivity of the tables; a constant ratio q sets the Laplace noise over the ranks. Everything else is a
    reconstruction: the association, the root (largest row sum), that a pair contains its tree neighbour, the weight of a node
    (sum of its associations with its parents at its entry), a geometric split over all d tables.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    q : budget of a table against the one ranked before it. q > 1: tables of strongly tied attributes get less budget and more
        noise ("security"); q < 1: they get more ("availability"); 1: equal shares.
    share_sketch : share of βε for the associations (strict).

    **Privacy:** strict: pure ε-DP under replacing one record: one sketch of all pairs, from which tree, root, weights and ranking
    follow; d−1 exponential mechanisms; d discrete Laplace tables. Published: the associations are raw, so tree, candidates and
    ranking are functions of the records and no finite ε holds.

    >>> PPBA(q=1.2)
    PPBA(epsilon=1.0, q=1.2, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    q: float = 1.1
    share_structure: float = 0.3
    share_sketch: float = 0.5
    theta_usefulness: float = 4
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _parts(self) -> tuple[Any, Any]:
        return SpanningTree(self.k, self.theta_usefulness, share_sketch=self.share_sketch), Geometric(self.q)

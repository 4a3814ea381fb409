"""PPBA (Ma et al. 2021): a reconstruction.

:class:`SpanningTree` draws pairs along the maximum spanning tree of pairwise associations,
:class:`Geometric` splits ε in a constant ratio.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..core.agreement import AgreeByDefault
from ..core.budgets import BudgetRule, Parts, by_weight
from ..core.curator import Curator, Pairs, split_pairs
from ..core.errors import BudgetError, is_whole, positive, progress, share, show
from ..core.factors import maximum_spanning_tree
from ..core.network import Candidates, Network, Permitted
from ..core.schema import Facts, Schema
from ..core.structure import (
    Learner,
    Pair,
    ParentRule,
    Shares,
    StructureResult,
    check_width,
    join_parts,
    list_candidates,
)
from ..core.unit import TableBudget
from .privbayes import Preset

TREE_WEIGHTS, TREE_STEP = "PPBA abstract: spanning tree and node weights", "associations"
RATIO = "PPBA abstract: constant ratio q"
SOURCE = "PPBA (reconstruction): candidates along the maximum spanning tree"


def result_of_sums(
    matrix: np.ndarray, chosen: Sequence[Pair], schema: Schema, entry: str
) -> StructureResult:
    """The network of the chosen pairs; a node weighs what its parents' associations add up to."""
    weights = {schema.names[c]: float(matrix[c, list(p)].sum()) for c, p in chosen}
    return StructureResult(Network.of_columns(chosen, schema.names), weights, entry)


def sketch_ties(
    curator: Curator, pairs: Pairs, shares: Shares, step: str, source: str, alone: bool = False
) -> tuple[np.ndarray, str]:
    """How far pairs of columns are from independence, R, float (pairs,), and the ledger entry.

    ``alone``: nothing else asks for columns, so that only those of these pairs are measured.

    **Privacy:** the share "columns", unless they were measured before, and "associations" for the
    residuals.
    """
    members = sorted({j for pair in pairs for j in pair}) if alone else None
    curator.columns(shares["columns"], members)
    return curator.residuals(pairs, shares["associations"], step=step, source=source)


def symmetric_matrix(d: int, pairs: Sequence[tuple[int, int]], values: np.ndarray) -> np.ndarray:
    """One value per pair as a symmetric float matrix (d, d), 0 where no pair names it."""
    matrix, (i, j, _) = np.zeros((d, d)), split_pairs(pairs)
    matrix[i, j] = matrix[j, i] = values
    return matrix


@dataclass(frozen=True)
class SpanningTree(Learner):
    """PPBA (reconstruction): a maximum spanning tree shrinks the candidates.

    The root is the attribute with the largest row sum of associations. Only neighbours in the tree
    of what is placed may enter, and their tree neighbour is one of their parents. The weight of X
    at its entry is Σ association(X, p) over its parents p. ``share_sketch``: part of the
    structure's share for single columns and for the associations, in equal parts.
    """

    share_sketch: float = 0.5

    def check(self, facts: Facts) -> None:
        """Refuse a share out of range."""
        super().check(facts)
        share("share_sketch", self.share_sketch)
        check_width(len(facts.schema), "a spanning tree")

    def steps(self, facts: Facts) -> Shares:
        """Single columns, associations and selections."""
        sketch = share("share_sketch", self.share_sketch)
        return {"columns": sketch / 2, "associations": sketch / 2, "selections": 1 - sketch}

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """Associations, tree, then pairs along the tree.

        **Privacy:** the shares of columns and associations, then d−1 exponential mechanisms that
        share the rest (fewer and larger where a restriction settles pairs); tree, root and weights
        are functions of the associations.
        """
        schema, d = facts.schema, len(facts.schema)
        tied = list(combinations(range(d), 2))
        values, entry = self.sketch(curator, tied, shares)
        matrix, permitted = symmetric_matrix(d, tied, values), self.permitted(facts)
        edges, pairs = maximum_spanning_tree(matrix), list(permitted.fixed_pairs)
        if not pairs:
            roots = permitted.ready(range(d), ())
            pairs = [(max(roots, key=lambda j: matrix[j].sum()), ())]
        each = shares["selections"] / max(d - len(pairs), 1)
        for t in progress(range(len(pairs) + 1, d + 1), "network", unit="attribute"):
            placed = tuple(child for child, _ in pairs)
            leaving = [
                (b, a) if a in placed else (a, b)
                for a, b in edges
                if (a in placed) != (b in placed)
            ]
            outside = sorted((c, p) for c, p in leaving if permitted.ready([c], placed))
            others = [j for j in range(d) if j not in placed]
            outside = outside or [(c, -1) for c in permitted.ready(others, placed)]
            candidates = _along(outside, rule, placed, schema.sizes, entry, permitted)
            step = f"pair {t} of {d}"
            pairs.append(curator.select(candidates, self.measure, each, source=SOURCE, step=step))
        return result_of_sums(matrix, pairs, schema, entry)

    def sketch(self, curator: Curator, pairs: Pairs, shares: Shares) -> tuple[np.ndarray, str]:
        """How strongly pairs of columns are tied, float (pairs,), and its ledger entry.

        **Privacy:** the shares of columns and associations.
        """
        return sketch_ties(curator, pairs, shares, TREE_STEP, TREE_WEIGHTS)


def _along(
    outside: Sequence[tuple[int, int]],
    rule: ParentRule,
    placed: tuple[int, ...],
    sizes: Sequence[int],
    depends_on: str,
    permitted: Permitted,
) -> Candidates:
    """All pairs of an attribute beside the tree so far, with its tree neighbour among the parents.

    Where a bound on the table or a policy has no room for that neighbour, the attribute keeps all
    its sets.
    """
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    for child, neighbour in outside:
        every = list_candidates(rule, placed, [child], sizes, permitted).by_size
        along = [(p == neighbour).any(axis=1) for _, p in every]
        pairs = [(c[has], p[has]) for (c, p), has in zip(every, along, strict=True) if has.any()]
        parts += pairs or every
    return join_parts(parts, depends_on)


def geometric(
    ranked: Sequence[str], q: Fraction, classes: int | None = None
) -> dict[str, Fraction]:
    """Weights in the ratio q over ranked tables, the last q times the one before it (PPBA).

    ``classes`` puts ⌈m/classes⌉ tables at a time into one class; the class budgets are in the ratio
    q and split evenly inside (SA-PrivBayes). Rounded to 2^-20 of the largest, so that noise scales
    stay short fractions.

    >>> geometric(["a", "b", "c"], Fraction(2))
    {'a': Fraction(1, 4), 'b': Fraction(1, 2), 'c': Fraction(1, 1)}
    """
    size = 1 if classes is None else math.ceil(len(ranked) / classes)
    place = {name: i // size for i, name in enumerate(ranked)}
    members = [list(place.values()).count(c) for c in range(max(place.values()) + 1)]
    raw = {name: float(q) ** c / members[c] for name, c in place.items()}
    top = max(raw.values())
    return {
        name: Fraction(max(1, round(value / top * 2**20)), 2**20) for name, value in raw.items()
    }


@dataclass(frozen=True)
class Geometric(BudgetRule):
    """PPBA: tables ranked by the weight of their node, budgets in the ratio q.

    q > 1 gives the tables that weigh most the least budget ("security"), q < 1 the most
    ("availability"). ``classes``: the same over classes of tables (SA-PrivBayes); where the last
    class has fewer, each of its tables has more, also with q < 1. A structure without weights ranks
    its tables in sampling order.
    """

    q: float = 1.1
    classes: int | None = None

    def check(self, facts: Facts) -> None:
        """Refuse q ≤ 0, and fewer than one class."""
        if not Fraction(1, 1000) <= positive("q", self.q) <= 1000:
            raise BudgetError(f"q must lie between 1/1000 and 1000, got {show(self.q)}")
        if self.classes is not None and not is_whole(self.classes, 1, 1000):
            raise BudgetError(
                f"classes must be a whole number from 1 to 1,000, or None, got {show(self.classes)}"
            )

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """Ranks, then shares.

        **Privacy:** reads nothing: ranks come from weights that stand in the ledger; the tables
        cost ε.
        """
        ranked = list(learnt.network.order)
        if learnt.weights:
            ranked.sort(key=lambda name: -learnt.weights[name])
        weights = geometric(ranked, positive("q", self.q), self.classes)
        return by_weight(shares["tables"], weights, RATIO, learnt.depends_on)


@dataclass(eq=False, repr=False, kw_only=True)
class PPBA(Preset):
    """PPBA, a reconstruction: a tree shrinks the candidates, budgets follow weights in ratio q.

    From the abstract (Ma et al. 2021): a maximum spanning tree and node weights shrink the
    candidate space of the exponential mechanism; dynamic node weights rank the sensitivity of the
    tables; a constant ratio q sets the Laplace noise over the ranks. Everything else is a
    reconstruction: what :class:`SpanningTree` says, and a geometric split over all d tables.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    q : budget of a table against the one ranked before it. q > 1: tables that weigh most get the
        least budget and the most noise ("security"); q < 1: the most budget ("availability"); 1:
        equal shares. The root's table weighs nothing, however strongly it is tied.
    share_sketch : share of the structure's ε for single columns and associations (strict).
    reconcile : ``Agree()`` where None; ``AsMeasured()`` leaves tables as they were measured.

    **Privacy:** strict: pure ε-DP under replacing one record: d noisy columns; the residuals of all
    pairs against independence, from which tree, root, weights and ranking follow; d−1 exponential
    mechanisms; d noisy tables.
    """

    q: float = 1.1
    share_sketch: float = 0.5

    def _parts(self, facts: Facts) -> Parts:
        tree = SpanningTree(self.k, self.theta_usefulness, share_sketch=self.share_sketch)
        return Parts(tree, Geometric(q=self.q), reconcile=AgreeByDefault())

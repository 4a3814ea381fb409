"""Structure along a spanning tree: the strongest tree shrinks what may be chosen (PPBA)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..domain.facts import Facts
from ..domain.progress import progress
from ..factors import maximum_spanning_tree
from ..network import Network
from ..privacy.curator import Candidates, Curator, Pairs
from ..privacy.numbers import share
from .candidates import join_parts, list_candidates
from .learner import Learner, Shares, StructureResult
from .limits import check_width
from .pairwise import symmetric_matrix
from .parent_rules import ParentRule
from .restrictions import Permitted, Restriction

SOURCE = "PPBA (reconstruction): candidates along the maximum spanning tree"
WEIGHTS, STEP = "PPBA abstract: spanning tree and node weights", "associations"


@dataclass(frozen=True)
class SpanningTree(Learner):
    """PPBA (reconstruction): a maximum spanning tree shrinks the candidates.

    ``share_sketch``: part of the structure's share for the associations.
    """

    share_sketch: float = 0.5

    def check(self, facts: Facts) -> None:
        """Refuse a share out of range."""
        super().check(facts)
        share("share_sketch", self.share_sketch)
        check_width(len(facts.schema), "a spanning tree")

    def steps(self, facts: Facts) -> Shares:
        """The associations and the selections."""
        sketch = share("share_sketch", self.share_sketch)
        return {"associations": sketch, "selections": 1 - sketch}

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """Associations, tree, then pairs along the tree.

        **Privacy:** the associations' share, the rest as :func:`spanning_tree_bayes`.
        """
        d = len(facts.schema)
        pairs = list(combinations(range(d), 2))
        values, entry = self.sketch(curator, pairs, shares["associations"])
        network, weights = spanning_tree_bayes(
            curator,
            symmetric_matrix(d, pairs, values),
            rule,
            shares["selections"],
            self.measure,
            depends_on=entry,
            restriction=self.restriction,
        )
        return StructureResult(network, weights, entry)

    def sketch(self, curator: Curator, pairs: Pairs, epsilon: Fraction) -> tuple[np.ndarray, str]:
        """How strongly pairs of columns are tied, float (pairs,), and its ledger entry.

        **Privacy:** ``epsilon``.
        """
        return curator.noisy_associations(pairs, epsilon, step=STEP, source=WEIGHTS)


def spanning_tree_bayes(
    curator: Curator,
    association: np.ndarray,
    rule: ParentRule,
    epsilon: Fraction,
    score: str,
    *,
    depends_on: str = "public",
    restriction: Restriction | None = None,
) -> tuple[Network, dict[str, float]]:
    """A network grown along the maximum spanning tree, and the dynamic weight of every node.

    PPBA, reconstruction. The root is the attribute with the largest row sum of ``association`` (d,
    d). Only neighbours in the tree of what is placed may enter, and their tree neighbour is one of
    their parents. The weight of X at its entry is Σ association(X, p) over its parents p.
    ``depends_on`` is the ledger id that ``association`` comes from, or ``"public"``. What a
    ``restriction`` settles stands first.

    **Privacy:** d−1 exponential mechanisms of ε/(d−1) (fewer and larger where a restriction settles
    pairs), ε in all; tree, root and weights are functions of ``association``, paid for before.
    """
    schema, names = curator.schema, curator.schema.names
    edges = maximum_spanning_tree(association)
    permitted = (restriction or Restriction()).on(names)
    pairs = list(permitted.fixed_pairs)
    if not pairs:
        roots = permitted.ready(range(len(names)), ())
        pairs = [(max(roots, key=lambda j: association[j].sum()), ())]
    share = epsilon / max(len(names) - len(pairs), 1)
    for _ in progress(range(len(pairs), len(names)), "network", unit="attribute"):
        placed = tuple(child for child, _ in pairs)
        leaving = [
            (b, a) if a in placed else (a, b) for a, b in edges if (a in placed) != (b in placed)
        ]
        outside = sorted((c, p) for c, p in leaving if permitted.ready([c], placed))
        others = [j for j in range(len(names)) if j not in placed]
        candidates = _along(
            outside or [(c, -1) for c in permitted.ready(others, placed)],
            rule,
            placed,
            schema.sizes,
            depends_on,
            permitted,
        )
        pairs.append(
            curator.select(
                candidates,
                score,
                share,
                source=SOURCE,
                step=f"pair {len(placed) + 1} of {len(names)}",
            )
        )
    weights = {names[c]: float(association[c, list(p)].sum()) for c, p in pairs}
    return Network.of_columns(pairs, names), weights


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
        kept = [(c[has], p[has]) for (c, p), has in zip(every, along, strict=True) if has.any()]
        parts += kept or every
    return join_parts(parts, depends_on)

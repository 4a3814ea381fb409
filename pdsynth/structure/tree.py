"""Spanning-tree structure learning: the strongest tree over the attributes shrinks what may be chosen (PPBA)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..network import Network
from ..privacy.curator import Candidates, Curator
from .candidates import ParentRule, block, joined
from .junction import maximum_spanning_tree
from .restrictions import Permitted, Restriction

SOURCE = "PPBA (reconstruction): candidates along the maximum spanning tree"


def spanning_tree_bayes(
    curator: Curator,
    association: np.ndarray,
    degree: ParentRule,
    epsilon: Fraction,
    score: str,
    *,
    depends_on: str = "public",
    restriction: Restriction | None = None,
) -> tuple[Network, dict[str, float]]:
    """A network grown along the maximum spanning tree, and the dynamic weight of every node (PPBA, reconstruction).

    The root is the attribute with the largest row sum of ``association`` (d, d). Only neighbours in the tree of what is placed
    may enter, and their tree neighbour is one of their parents. The weight of X at its entry is Σ association(X, p) over its
    parents p. ``depends_on`` is the ledger id that ``association`` comes from, or ``"public"``. What a ``restriction`` settles
    stands first.

    **Privacy:** d−1 exponential mechanisms of ε/(d−1) (fewer and larger where a restriction settles pairs), ε in all; tree, root
    and weights are functions of ``association``, which must have been paid for before.
    """
    schema, names = curator.schema, curator.schema.names
    edges, permitted = maximum_spanning_tree(association), (restriction or Restriction()).on(names)
    pairs = list(permitted.fixed_pairs)
    if not pairs:
        roots = permitted.ready(range(len(names)), ())
        pairs = [(max(roots, key=lambda j: association[j].sum()), ())]
    placed = [child for child, _ in pairs]
    share = epsilon / max(len(names) - len(pairs), 1)
    while len(placed) < len(names):
        leaving = [(b, a) if a in placed else (a, b) for a, b in edges if (a in placed) != (b in placed)]
        outside = sorted((c, p) for c, p in leaving if permitted.ready([c], placed))
        others = permitted.ready([j for j in range(len(names)) if j not in placed], placed)
        candidates = _along(outside or [(c, -1) for c in others], degree, tuple(placed), schema.sizes, depends_on, permitted)
        pair = curator.select(candidates, score, share, step=f"pair {len(placed) + 1} of {len(names)}", source=SOURCE)
        pairs.append(pair)
        placed.append(pair[0])
    weights = {names[c]: float(association[c, list(p)].sum()) for c, p in pairs}
    return Network.of_columns(pairs, names), weights


def _along(
    outside: Sequence[tuple[int, int]], degree: ParentRule, placed: tuple[int, ...], sizes: Sequence[int], depends_on: str, permitted: Permitted
) -> Candidates:
    """All pairs of an attribute beside the tree so far, with its tree neighbour among the parents.

    Where a bound on the table or a policy has no room for that neighbour, the attribute keeps all its sets.
    """
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    for child, neighbour in outside:
        every = block(degree, placed, [child], sizes, restriction=permitted).blocks
        kept = [(c[has], p[has]) for c, p in every for has in [(p == neighbour).any(axis=1)] if has.any()]
        blocks += kept or every
    return joined(blocks, depends_on)

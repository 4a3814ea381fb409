"""Exact conditioning of a Bayesian network: the same distribution, given what some nodes hold.

Variable elimination (Zhang and Poole 1996) turns the network into another one, over the same nodes,
whose distribution is the first one's given the evidence; ancestral sampling from it is exact.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

MOST_CELLS = 2**22  # of one table on the way: 32 MiB


class Pair(NamedTuple):
    """A node, its parents, and P(node | parents): float (|X|, cells of the parents), or None."""

    child: int
    parents: tuple[int, ...]
    p: np.ndarray | None


class Impossible(Exception):
    """The network gives the evidence no mass at all."""


def condition(
    pairs: Sequence[tuple[int, tuple[int, ...]]],
    tables: Sequence[np.ndarray | None],
    sizes: Sequence[int],
    evidence: Mapping[int, np.ndarray],
    most: int = MOST_CELLS,
) -> list[Pair] | None:
    """The network given that each node of ``evidence`` holds one of its marked values.

    ``pairs``: (child, parents) in sampling order; ``tables``: P(child | parents), float (|X|, cells
    of the parents), None for one that isn't kept whole; ``evidence``: bool (|X|,) by node. Returns
    pairs in a new sampling order. Nodes that aren't above the evidence keep their pair, and their
    table where it is None. None: a table on the way would have more than ``most`` cells. Raises
    Impossible.

    >>> p = np.array([[0.5], [0.5]]), np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> found = condition([(0, ()), (1, (0,))], p, (2, 2), {1: np.array([False, True])})
    >>> [(pair.child, pair.parents) for pair in found]
    [(1, ()), (0, (1,))]
    >>> found[1].p[:, 1].round(3).tolist()
    [0.111, 0.889]
    """
    above = _ancestors(pairs, evidence)
    factors: list[tuple[tuple[int, ...], np.ndarray]] = []
    for (child, parents), p in zip(pairs, tables, strict=True):
        if child in above:
            scope = (child, *parents)
            if p is None or math.prod(sizes[j] for j in scope) > most:
                return None
            table = p.reshape([sizes[j] for j in scope])
            if child in evidence:
                table = table * evidence[child].reshape(-1, *[1] * len(parents))
            factors.append((scope, table))
    found = list[Pair]()
    while above:
        scopes = {j: _neighbours(j, factors) for j in sorted(above)}
        node = min(scopes, key=lambda j: math.prod(sizes[i] for i in scopes[j]))
        scope = (node, *scopes[node])
        if math.prod(sizes[j] for j in scope) > most:
            return None
        product = _multiply([f for f in factors if node in f[0]], scope)
        rest = product.sum(axis=0)
        if not rest.any():
            raise Impossible
        with np.errstate(invalid="ignore"):
            share = np.where(rest > 0, product / np.where(rest > 0, rest, 1), 1 / len(product))
        found.append(Pair(node, scope[1:], share.reshape(len(product), -1)))
        factors = [f for f in factors if node not in f[0]]
        factors.append((scope[1:], rest / rest.max()))  # only ratios matter, and none may vanish
        above.remove(node)
    done = {pair.child for pair in found}
    below = [Pair(c, ps, p) for (c, ps), p in zip(pairs, tables, strict=True) if c not in done]
    return [*reversed(found), *below]


def _ancestors(
    pairs: Sequence[tuple[int, tuple[int, ...]]], nodes: Mapping[int, np.ndarray]
) -> set[int]:
    """The nodes and all that stand above them."""
    found = set(nodes)
    for child, parents in reversed(pairs):
        if child in found:
            found.update(parents)
    return found


def _neighbours(
    node: int, factors: Sequence[tuple[tuple[int, ...], np.ndarray]]
) -> tuple[int, ...]:
    """The other nodes of all factors that a node stands in."""
    return tuple(sorted({j for scope, _ in factors if node in scope for j in scope} - {node}))


def _multiply(
    factors: Sequence[tuple[tuple[int, ...], np.ndarray]], scope: tuple[int, ...]
) -> np.ndarray:
    """The product of factors as one array, axes as in ``scope``."""
    product = np.ones([1] * len(scope))
    for members, table in factors:
        kept = [j for j in scope if j in members]
        ordered = np.transpose(table, [members.index(j) for j in kept])
        shape = iter(ordered.shape)
        product = product * ordered.reshape([next(shape) if j in members else 1 for j in scope])
    return product

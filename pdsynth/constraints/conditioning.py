"""A Bayesian network given evidence, exactly."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core import (
    NEVER,
    CliqueTree,
    Columns,
    JunctionTree,
    Place,
    eliminate,
    marginalise,
    neighbours,
)

MOST_CELLS = 2**22  # of one table of a conditioned network: 32 MiB


class Family(NamedTuple):
    """A node, its parents, and P(node | parents): float (|X|, cells of the parents), or None."""

    child: int
    parents: Columns
    p: np.ndarray | None


class Impossible(Exception):
    """The network gives the evidence no mass at all."""


def condition(
    pairs: Sequence[tuple[int, Columns]],
    tables: Sequence[np.ndarray | None],
    sizes: Sequence[int],
    evidence: Sequence[tuple[Columns, np.ndarray]],
    most: int = MOST_CELLS,
) -> list[Family] | None:
    """The network whose records are weighed by each ``evidence``, or, of marked cells, given that
    they stand in one of these: exactly.

    ``pairs``: (child, parents) in sampling order; ``tables``: P(child | parents), float (|X|, cells
    of the parents), None for one that isn't kept whole; ``evidence``: rising nodes, and bool or
    float ≥ 0, one axis each. Returns families in a new sampling order. Nodes that aren't above the
    evidence keep their pair, and their table where it is None. None: a table on the way would have
    more than ``most`` cells. Raises Impossible.

    >>> p = np.array([[0.5], [0.5]]), np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> families = condition([(0, ()), (1, (0,))], p, (2, 2), [((1,), np.array([False, True]))])
    >>> [(family.child, family.parents) for family in families]
    [(1, ()), (0, (1,))]
    >>> families[1].p[:, 1].round(3).tolist()
    [0.111, 0.889]
    """
    part = above(pairs, tables, sizes, [columns for columns, _ in evidence], most)
    if part is None:
        return None
    nodes, tree, factors = part
    factors = [*factors, *(tree.weigh(columns, weights) for columns, weights in evidence)]
    joint, normaliser = tree.calibrate(tree.multiply(factors), 1.0)
    if normaliser < NEVER / 2:
        raise Impossible
    new = []
    for child, parents, at in tree.graph.families():
        mass = marginalise(joint[at], tree.cliques[at], (child, *parents))
        p = np.full(mass.shape, 1 / len(mass))
        np.divide(mass, mass.sum(axis=0), out=p, where=mass.sum(axis=0) > 0)
        new.append(Family(child, parents, p.reshape(len(p), -1)))
    rest = zip(pairs, tables, strict=True)
    return [*new, *(Family(*pair, p) for pair, p in rest if pair[0] not in nodes)]


def above(
    pairs: Sequence[tuple[int, Columns]],
    tables: Sequence[np.ndarray | None],
    sizes: Sequence[int],
    scopes: Sequence[Columns],
    most: int = MOST_CELLS,
) -> tuple[set[int], CliqueTree, list[tuple[Place, np.ndarray]]] | None:
    """What stands above some nodes of a network, themselves included: these nodes, a tree whose
    cliques hold their families and the ``scopes``, and their tables as factors on it.

    None where a clique would have more than ``most`` cells, or a table isn't kept whole.
    """
    nodes = {j for columns in scopes for j in columns}
    for child, parents in reversed(pairs):
        nodes.update(parents if child in nodes else ())
    families = [Family(*f, p) for f, p in zip(pairs, tables, strict=True) if f[0] in nodes]
    own = [(child, *parents) for child, parents, _ in families]
    tree = CliqueTree(elimination_tree([*own, *scopes], sizes), tuple(sizes))
    if max(map(math.prod, tree.shapes)) > most:
        return None
    factors = []
    for scope, (_, _, p) in zip(own, families, strict=True):
        if p is None:
            return None
        log = np.log(p, out=np.full(p.shape, NEVER), where=p > 0)
        log = marginalise(log.reshape([sizes[j] for j in scope]), scope, sorted(scope))
        factors.append((tree.place(tree.home(scope), scope), log))
    return nodes, tree, factors


def elimination_tree(scopes: Sequence[Columns], sizes: Sequence[int]) -> JunctionTree:
    """Every node of some scopes with its neighbours when it is eliminated, the last one first.

    The node whose neighbours have the fewest joint cells goes first, ties by number. One clique per
    node, so that each node is given exactly its separator; cliques need not be maximal.
    """
    edges = [edge for scope in scopes for edge in itertools.combinations(scope, 2)]
    nodes = sorted({j for scope in scopes for j in scope})

    def around_cells(adjacent: Sequence[set[int]], v: int) -> tuple[int, ...]:
        return math.prod(sizes[j] for j in adjacent[v]), v

    steps = [*eliminate(neighbours(len(sizes), edges), nodes, around_cells)][::-1]
    place = {node: at for at, (node, _) in enumerate(steps)}
    hung = [max((place[j] for j in around), default=0) for _, around in steps]
    cliques = tuple(tuple(sorted({node, *around})) for node, around in steps)
    return JunctionTree(cliques, (-1, *hung[1:]))

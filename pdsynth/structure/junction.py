"""Undirected graphs of attributes: junction trees and spanning trees. Knows no record.

A set of nodes is a whole number: bit v says whether node v is a member.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Edge = tuple[int, int]


@dataclass(frozen=True)
class JunctionTree:
    """Maximal cliques of a chordal graph (sorted columns), each hung on an earlier one.

    The root's parent is −1. What a clique shares with all cliques before it lies in its parent.
    """

    cliques: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]

    @property
    def separators(self) -> tuple[tuple[int, ...], ...]:
        """What each clique but the root shares with its parent; may be empty."""
        pairs = zip(self.cliques[1:], self.parents[1:], strict=True)
        return tuple(tuple(sorted({*clique} & {*self.cliques[up]})) for clique, up in pairs)

    def families(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(child, parents, number of their clique) in sampling order: cliques given separators."""
        for at, known in enumerate(((), *self.separators)):
            for node in self.cliques[at]:
                if node not in known:
                    yield node, known, at
                    known = (*known, node)


def junction_tree(d: int, edges: Iterable[Edge]) -> JunctionTree:
    """The tree with the largest separators of the graph on 0 … d−1, triangulated by min-fill."""
    near = [0] * d
    for u, v in edges:
        near[u] |= 1 << v
        near[v] |= 1 << u
    cliques: list[int] = []
    for clique in eliminate(near, (1 << d) - 1):  # no later one holds an earlier one
        if not any(clique & ~other == 0 for other in cliques):
            cliques.append(clique)
    shared = [[(a & b).bit_count() for b in cliques] for a in cliques]
    order, above = spanning_tree(np.array(shared))
    parents = (order.index(above[i]) if i else -1 for i in order)
    return JunctionTree(tuple(_members(cliques[i]) for i in order), tuple(parents))


def spanning_tree(weights: np.ndarray) -> tuple[list[int], list[int]]:
    """Maximum spanning tree of a symmetric matrix (m, m), by Prim.

    Returns the nodes as they join, from 0, and what each node hangs on (−1: the root). Ties go to
    the smaller number and to what joined earlier, so the tree depends on the weights alone.
    """
    best = np.array(weights[0], dtype=float)
    order, above, left = [0], np.zeros(len(best), dtype=int), np.ones(len(best), dtype=bool)
    above[0], left[0] = -1, False
    while left.any():
        node = int(np.where(left, best, -math.inf).argmax())
        order.append(node)
        left[node] = False
        closer = left & (weights[node] > best)
        best[closer], above[closer] = weights[node][closer], node
    return order, above.tolist()


def maximum_spanning_tree(association: np.ndarray) -> tuple[Edge, ...]:
    """Edges (i, j), i < j, of a maximum spanning tree, heaviest first; ties go by index.

    Always d−1 edges: attributes that aren't tied at all are joined in index order.

    >>> maximum_spanning_tree(np.array([[0, 3, 1], [3, 0, 2], [1, 2, 0]]))
    ((0, 1), (1, 2))
    """
    i, j = np.triu_indices(len(association), 1)
    rank = np.zeros(np.shape(association))
    heaviest = np.argsort(-np.asarray(association)[i, j], kind="stable")
    rank[i[heaviest], j[heaviest]] = range(len(i), 0, -1)
    _, above = spanning_tree(rank + rank.T)
    edges = [(min(v, up), max(v, up)) for v, up in enumerate(above) if up >= 0]
    return tuple(sorted(edges, key=lambda edge: -rank[edge]))


def strongest_graph(sizes: Sequence[int], ranked: Iterable[Edge], cells: float
                    ) -> tuple[list[Edge], JunctionTree]:
    """Edges of ``ranked``, strongest first, that keep every clique within ``cells`` joint cells.

    An edge that would make a larger clique of two or more is dropped, so the weakest ones go first.
    Returns the edges that are kept and the tree of their cliques.
    """
    bits = [math.log2(s) for s in sizes]
    most = math.log2(cells) + 1e-9 if cells > 0 else -1.0
    near, kept, part = [0] * len(sizes), [], [1 << v for v in range(len(sizes))]
    cliques = part.copy()
    for u, v in ranked:
        both, whole = 1 << u | 1 << v, part[u] | part[v]
        grown = list(near)
        grown[u] |= 1 << v
        grown[v] |= 1 << u
        if not any(clique & both == both for clique in cliques):
            new = list(itertools.takewhile(lambda c: sum(bits[w] for w in _members(c)) <= most,
                                           eliminate(grown, whole)))
            if len(new) < whole.bit_count():
                continue
            cliques = [c for c in cliques if not c & whole] + new
        for w in _members(whole):  # the connected part that each node lies in
            part[w] = whole
        near = grown
        kept.append((u, v))
    # the edges inside cliques: chordal already, where eliminating anew could find larger cliques
    filled = {pair for clique in cliques for pair in itertools.combinations(_members(clique), 2)}
    return kept, junction_tree(len(sizes), filled)


def eliminate(adjacent: Sequence[int], nodes: int) -> Iterator[int]:
    """Min-fill elimination of a set of nodes: the clique of each with its later neighbours.

    The node that needs the fewest new edges goes first. Ties go to the smaller clique and then,
    as among the nodes that need none, to the smaller number.
    """
    near = list(adjacent)
    turn = {v: _turn(near, v) for v in _members(nodes)}
    while turn:
        missing, _, v = min(turn.values())
        around = touched = near[v]
        yield around | 1 << v
        for u in _members(around):
            if missing:
                near[u] |= around & ~(1 << u)
                touched |= near[u]
            near[u] &= ~(1 << v)
        del turn[v]
        turn |= {u: _turn(near, u) for u in _members(touched & ~(1 << v))}


def _turn(near: Sequence[int], v: int) -> tuple[int, int, int]:
    """What the elimination goes by: edges missing between a node's neighbours (twice), its size."""
    missing = sum((near[v] & ~near[u]).bit_count() - 1 for u in _members(near[v]))
    return missing, near[v].bit_count() if missing else 0, v


@lru_cache(maxsize=2**14)
def _members(nodes: int) -> tuple[int, ...]:
    return tuple(v for v in range(nodes.bit_length()) if nodes >> v & 1)

"""Undirected graphs of attributes: triangulation, maximal cliques, junction trees, spanning trees. Knows no record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Edge = tuple[int, int]


@dataclass(frozen=True)
class JunctionTree:
    """Maximal cliques of a chordal graph (sorted column numbers), each hung on an earlier one: ``parents[0] = -1`` is the root.

    Running intersection: what a clique shares with all cliques before it lies in the one that it hangs on.
    """

    cliques: tuple[tuple[int, ...], ...]
    parents: tuple[int, ...]

    @property
    def separators(self) -> tuple[tuple[int, ...], ...]:
        """What each clique but the root shares with the one it hangs on; empty between separate parts of the graph."""
        pairs = zip(self.cliques[1:], self.parents[1:], strict=True)
        return tuple(tuple(sorted({*clique} & {*self.cliques[up]})) for clique, up in pairs)

    def families(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(child, parents, place of its clique) in sampling order: the root clique, then each clique given its separator."""
        for at, clique in enumerate(self.cliques):
            known = list(self.separators[at - 1]) if at else []
            for node in clique:
                if node not in known:
                    yield node, tuple(known), at
                    known.append(node)


def junction_tree(d: int, edges: Iterable[Edge]) -> JunctionTree:
    """A junction tree of the graph on 0 … d−1, triangulated by min-fill: the spanning tree of cliques with the largest separators."""
    found = _maximal(list(eliminate(_neighbours(d, edges), (1 << d) - 1)))
    shared = np.array([[(a & b).bit_count() for b in found] for a in found])
    order, above = spanning_tree(shared)
    place = {clique: i for i, clique in enumerate(order)}
    return JunctionTree(tuple(_members(found[i]) for i in order), tuple(place.get(above[i], -1) for i in order))


def spanning_tree(weights: np.ndarray) -> tuple[list[int], list[int]]:
    """Maximum spanning tree of a symmetric matrix (m, m) by Prim: nodes as they join, and what each node hangs on (−1: the root, 0).

    Ties go to the smaller node number and to the node that joined earlier, so the tree depends on the weights alone.
    """
    m = len(weights)
    order, above, left = [0], np.zeros(m, dtype=int), np.ones(m, dtype=bool)
    above[0], left[0] = -1, False
    best = np.array(weights[0], dtype=float)
    while len(order) < m:
        node = int(np.where(left, best, -math.inf).argmax())
        order.append(node)
        left[node] = False
        closer = left & (weights[node] > best)
        best[closer], above[closer] = weights[node][closer], node
    return order, above.tolist()


def strongest_graph(sizes: Sequence[int], ranked: Iterable[Edge], cells: float) -> tuple[list[Edge], JunctionTree]:
    """Edges of ``ranked``, strongest first, that keep every clique within ``cells`` joint cells, and the tree of these cliques.

    An edge that would make a larger clique of two or more is dropped, so the weakest ones go first.
    """
    weight = [math.log2(s) for s in sizes]
    room = math.log2(cells) + 1e-9 if cells > 0 else -1.0
    adjacent, cliques, kept = [0] * len(sizes), [1 << v for v in range(len(sizes))], []
    for u, v in ranked:
        both = 1 << u | 1 << v
        if not any(clique & both == both for clique in cliques):
            part = _component(adjacent, u) | _component(adjacent, v)
            grown = list(adjacent)
            grown[u] |= 1 << v
            grown[v] |= 1 << u
            new = list(itertools.takewhile(lambda c: sum(weight[j] for j in _members(c)) <= room, eliminate(grown, part)))
            if len(new) < part.bit_count():
                continue
            cliques = [c for c in cliques if not c & part] + new
        adjacent[u] |= 1 << v
        adjacent[v] |= 1 << u
        kept.append((u, v))
    filled = {pair for clique in cliques for pair in itertools.combinations(_members(clique), 2)}
    return kept, junction_tree(len(sizes), filled)  # chordal already: eliminating anew could find larger cliques


def eliminate(adjacent: Sequence[int], nodes: int) -> Iterator[int]:
    """Min-fill elimination of the nodes in a bit set: the clique of each node with its later neighbours, as bit sets.

    The node that needs the fewest new edges goes first, ties to the smaller clique and then to the smaller number.
    """
    near = list(adjacent)
    fill = {v: _fill(near, v) for v in _members(nodes)}
    free = sum(1 << v for v, missing in fill.items() if not missing)
    while fill:
        v = (free & -free).bit_length() - 1 if free else min(fill, key=lambda i: (fill[i], near[i].bit_count(), i))
        around, fills = near[v], fill.pop(v)
        yield around | 1 << v
        touched = around
        for u in _members(around):
            if fills:
                near[u] |= around & ~(1 << u)
                touched |= near[u]
            near[u] &= ~(1 << v)
        free &= ~(touched | 1 << v)
        for u in _members(touched & ~(1 << v)):
            fill[u] = _fill(near, u)
            free |= 0 if fill[u] else 1 << u


def _fill(near: Sequence[int], v: int) -> int:
    """Missing edges, counted twice, between the neighbours of a node."""
    around, missing = near[v], 0
    for u in _members(around):
        missing += (around & ~near[u]).bit_count() - 1
    return missing


def _maximal(cliques: Sequence[int]) -> list[int]:
    return [c for i, c in enumerate(cliques) if not any(c & o == c and (c != o or j < i) for j, o in enumerate(cliques) if i != j)]


def _neighbours(d: int, edges: Iterable[Edge]) -> list[int]:
    adjacent = [0] * d
    for u, v in edges:
        adjacent[u] |= 1 << v
        adjacent[v] |= 1 << u
    return adjacent


def _component(adjacent: Sequence[int], start: int) -> int:
    seen = new = 1 << start
    while new:
        reached = 0
        for v in _members(new):
            reached |= adjacent[v]
        new = reached & ~seen
        seen |= new
    return seen


def _members(bits: int) -> tuple[int, ...]:
    out = []
    while bits:
        low = bits & -bits
        out.append(low.bit_length() - 1)
        bits ^= low
    return tuple(out)

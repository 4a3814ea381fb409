"""Undirected graphs of attributes: junction trees and spanning trees. Knows no record."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

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

    def families(
        self, first: int | None = None, last: Sequence[int] = ()
    ) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(child, parents, number of their clique) in sampling order: cliques given separators.

        ``first``, ``last``: nodes that come before or after the others of their clique.
        """
        for at, known in enumerate(((), *self.separators)):
            for node in sorted(self.cliques[at], key=lambda node: (node != first, node in last)):
                if node not in known:
                    yield node, known, at
                    known = (*known, node)


def junction_tree(d: int, edges: Iterable[Edge], root: int | None = None) -> JunctionTree:
    """The tree with the largest separators of the graph on 0 … d−1, triangulated by min-fill.

    ``root``: a node that the first clique holds.
    """
    near: list[set[int]] = [set() for _ in range(d)]
    for u, v in edges:
        near[u].add(v)
        near[v].add(u)
    cliques: list[set[int]] = []
    for clique in eliminate(near, range(d)):  # no later one holds an earlier one
        if not any(clique <= other for other in cliques):
            cliques.append(clique)
    cliques.sort(key=lambda clique: root not in clique)
    tree = spanning_tree(np.array([[len(a & b) for b in cliques] for a in cliques]))
    place = {i: at for at, (i, _) in enumerate(tree)}
    return JunctionTree(
        tuple(tuple(sorted(cliques[i])) for i, _ in tree),
        tuple(place.get(above, -1) for _, above in tree),
    )


def spanning_tree(weights: np.ndarray) -> list[Edge]:
    """Maximum spanning tree of a symmetric matrix (m, m), by Prim: (node, what it hangs on).

    As nodes join; the root is (0, −1). Ties go to the smaller number and to what joined earlier, so
    the tree depends on the weights alone.
    """
    m, tree = len(weights), []
    best, above, left = np.full(m, -math.inf), np.full(m, -1), np.ones(m, dtype=bool)
    while left.any():
        node = int(np.where(left, best, -math.inf).argmax())
        tree.append((node, int(above[node])))
        left[node] = False
        closer = left & (weights[node] > best)
        best[closer], above[closer] = weights[node][closer], node
    return tree


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
    edges = [(min(edge), max(edge)) for edge in spanning_tree(rank + rank.T)[1:]]
    return tuple(sorted(edges, key=lambda edge: -rank[edge]))


def strongest_graph(
    sizes: Sequence[int], ranked: Iterable[Edge], cells: float
) -> tuple[list[Edge], JunctionTree]:
    """Edges of ``ranked`` that keep every clique within ``cells`` joint cells, and their tree.

    Strongest first: an edge that would make a larger clique of two or more is dropped.
    """
    d, kept = len(sizes), list[Edge]()
    near: list[set[int]] = [set() for _ in range(d)]
    part = [{v} for v in range(d)]  # the connected part that each node lies in
    cliques = part.copy()
    for u, v in ranked:
        both, whole, grown = {u, v}, part[u] | part[v], near.copy()
        grown[u], grown[v] = near[u] | {v}, near[v] | {u}
        if not any(both <= clique for clique in cliques):
            new = list(
                itertools.takewhile(
                    lambda c: math.prod(sizes[w] for w in c) <= cells, eliminate(grown, whole)
                )
            )
            if len(new) < len(whole):
                continue
            cliques = [c for c in cliques if not c & whole] + new
        part = [whole if w in whole else part[w] for w in range(d)]
        near = grown
        kept.append((u, v))
    # the edges inside cliques: chordal already, where eliminating anew could find larger cliques
    return kept, junction_tree(d, {e for c in cliques for e in itertools.combinations(c, 2)})


def eliminate(adjacent: Sequence[set[int]], nodes: Iterable[int]) -> Iterator[set[int]]:
    """Min-fill elimination of some nodes: the clique of each with its later neighbours.

    The node that needs the fewest new edges goes first. Ties go to the smaller clique and then,
    as among the nodes that need none, to the smaller number.
    """
    near = [set(around) for around in adjacent]
    keys = {v: _key(near, v) for v in nodes}
    while keys:
        missing, _, v = min(keys.values())
        around = near[v]
        yield around | {v}
        touched = around.copy()
        for u in around:
            if missing:
                near[u] |= around - {u}
                touched |= near[u]
            near[u].discard(v)
        del keys[v]
        keys |= {u: _key(near, u) for u in touched - {v}}


def _key(near: Sequence[set[int]], v: int) -> tuple[int, int, int]:
    """Edges missing between a node's neighbours (each twice), number of neighbours, node."""
    missing = sum(len(near[v] - near[u]) - 1 for u in near[v])
    return missing, len(near[v]) if missing else 0, v


def eliminate_smallest(
    adjacent: np.ndarray, cells: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Eliminate the nodes of many graphs at once, each time the one of the fewest joint cells.

    ``adjacent``: bool (m, d, d), symmetric, false on the diagonal. ``cells``: float (d,), the
    logarithms of the sizes. Yields the cliques, bool (m, d), and the logarithms of their cells,
    (m,).
    """
    near, graphs = adjacent.copy(), np.arange(len(adjacent))
    left = np.ones(adjacent.shape[:2], dtype=bool)
    for _ in range(adjacent.shape[1]):
        joint = near @ cells + cells
        node = np.where(left, joint, np.inf).argmin(axis=1)
        around = near[graphs, node]
        clique = around.copy()
        clique[graphs, node] = True
        yield clique, joint[graphs, node]
        near |= around[:, :, None] & around[:, None, :]
        near[:, range(near.shape[1]), range(near.shape[1])] = False
        near[graphs, node] = near[graphs, :, node] = left[graphs, node] = False


def may_join(
    linked: np.ndarray,
    sets: Sequence[Sequence[int]],
    sizes: Sequence[int],
    most: int,
    apart: np.ndarray,
    batch: int = 2**24,
) -> np.ndarray:
    """Which sets of nodes, each alone linked into a graph, leave it :func:`within_bounds`.

    ``linked``: bool (d, d). More edges make their own nodes dearer and no others, so every graph is
    eliminated as the one without the set until that comes to a node of the set: only what is left
    then is done graph by graph, at most ``batch`` booleans at once.
    """
    member = np.zeros((len(sets), len(linked)), dtype=bool)
    for row, nodes in zip(member, sets, strict=True):
        row[[*nodes]] = True
    fine, waiting = np.zeros((2, len(sets)), dtype=bool)
    waiting[:] = True
    left = np.arange(len(linked))
    near = linked.copy()
    while len(left) and waiting.any():
        cells = np.log(np.take(sizes, left))
        node = int((near @ cells + cells).argmin())
        mine = np.flatnonzero(waiting & member[:, left[node]])
        for part in np.array_split(mine, max(1, -(-len(mine) * near.size // batch))):
            some = member[part][:, left]
            graphs = near | (some[:, :, None] & some[:, None, :])
            graphs[:, range(len(left)), range(len(left))] = False
            fine[part] = within_bounds(
                graphs, [sizes[int(j)] for j in left], most, apart[np.ix_(left, left)]
            )
        waiting[mine] = False
        around = near[node]
        clique = around.copy()
        clique[node] = True
        held = left[clique]
        if math.prod(sizes[j] for j in held) > most or apart[np.ix_(held, held)].any():
            break
        near = near | (around[:, None] & around)
        near[range(len(left)), range(len(left))] = False
        keep = np.arange(len(left)) != node
        near, left = near[np.ix_(keep, keep)], left[keep]
    return fine


def within_bounds(
    adjacent: np.ndarray, sizes: Sequence[int], most: int, apart: np.ndarray
) -> np.ndarray:
    """Which graphs (m, d, d) have cliques of at most ``most`` cells and none with a pair ``apart``.

    ``apart``: bool (d, d). The cliques are those of :func:`eliminate_smallest`.
    """
    fine = np.ones(len(adjacent), dtype=bool)
    forbids = bool(apart.any())
    for clique, cells in eliminate_smallest(adjacent, np.log(sizes)):
        fine &= cells <= math.log(most) + 1e-9
        if forbids:
            fine &= ~((clique @ apart) & clique).any(axis=1)
    return fine

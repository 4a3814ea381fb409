"""Factors over columns, on a junction tree: multiplied, summed out, conditioned. Knows no record.

A factor is an array with one axis per column. Its logarithm is added to a clique that holds its
columns (:class:`Place`); one passing of messages (:meth:`CliqueTree.calibrate`) then gives every
clique its table. The agreement of noisy tables, the expected tables of any columns
(:meth:`Distribution.margins`) and a network given evidence (``constraints``) all read these tables.
Before them, the graphs: elimination, junction trees, spanning trees.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from .measures import marginalise

Columns = tuple[int, ...]
Edge = tuple[int, int]
AT_ONCE = 2**12  # cells of a clique in one product of matrices
DEEP, PIECE = 2**7, 2**17  # of these cells; multiplications, about, in a piece of such a product
SMALL = 8000  # cells: NumPy itself sums smaller tables soon enough
NEVER = -1e9  # the logarithm that stands for a probability of 0
NEAR = 1e-7  # of a logarithm of cells: less than one cell of 2^21


# --- graphs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JunctionTree:
    """Cliques of a chordal graph (sorted columns), each hung on an earlier one.

    The root's parent is −1. What a clique shares with all cliques before it lies in its parent.
    """

    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]

    @property
    def separators(self) -> tuple[Columns, ...]:
        """What each clique but the root shares with its parent; may be empty."""
        pairs = zip(self.cliques[1:], self.parents[1:], strict=True)
        return tuple(tuple(sorted({*clique} & {*self.cliques[up]})) for clique, up in pairs)

    def families(
        self, first: int | None = None, last: Sequence[int] = ()
    ) -> Iterator[tuple[int, Columns, int]]:
        """(child, parents, number of their clique) in sampling order: cliques given separators.

        ``first``, ``last``: nodes that come before or after the others of their clique.
        """
        for at, parents in enumerate(((), *self.separators)):
            for node in sorted(self.cliques[at], key=lambda node: (node != first, node in last)):
                if node not in parents:
                    yield node, parents, at
                    parents = (*parents, node)


def junction_tree(d: int, edges: Iterable[Edge], root: int | None = None) -> JunctionTree:
    """The tree of maximal cliques with the largest separators of the graph on 0 … d−1.

    The graph is triangulated by min-fill. ``root``: a node that the first clique holds.
    """
    cliques: list[set[int]] = []
    for node, around in eliminate(neighbours(d, edges), range(d)):
        clique = around | {node}  # no later one holds an earlier one
        if not any(clique <= other for other in cliques):
            cliques.append(clique)
    cliques.sort(key=lambda clique: root not in clique)
    tree = spanning_tree(np.array([[len(a & b) for b in cliques] for a in cliques]))
    place = {i: at for at, (i, _) in enumerate(tree)}
    return JunctionTree(
        tuple(tuple(sorted(cliques[i])) for i, _ in tree),
        tuple(place.get(above, -1) for _, above in tree),
    )


def neighbours(d: int, edges: Iterable[Edge]) -> list[set[int]]:
    """The neighbours of each of the nodes 0 … d−1."""
    adjacent: list[set[int]] = [set() for _ in range(d)]
    for u, v in edges:
        adjacent[u].add(v)
        adjacent[v].add(u)
    return adjacent


def spanning_tree(weights: np.ndarray) -> list[Edge]:
    """Maximum spanning tree of a symmetric matrix (m, m), by Prim: (node, what it hangs on).

    As nodes join; the root is (0, −1). Ties go to the smaller number and to what joined earlier, so
    the tree depends on the weights alone.
    """
    m, tree = len(weights), []
    best, above, outside = np.full(m, -math.inf), np.full(m, -1), np.ones(m, dtype=bool)
    while outside.any():
        node = int(np.where(outside, best, -math.inf).argmax())
        tree.append((node, int(above[node])))
        outside[node] = False
        closer = outside & (weights[node] > best)
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


def min_fill(adjacent: Sequence[set[int]], v: int) -> tuple[int, ...]:
    """Edges missing between a node's neighbours (each twice), number of neighbours, node."""
    missing = sum(len(adjacent[v] - adjacent[u]) - 1 for u in adjacent[v])
    return missing, len(adjacent[v]) if missing else 0, v


def eliminate(
    graph: Sequence[set[int]],
    nodes: Iterable[int],
    key: Callable[[Sequence[set[int]], int], tuple[int, ...]] = min_fill,
) -> Iterator[tuple[int, set[int]]]:
    """Eliminate some nodes, the smallest key first: each with its neighbours among later ones.

    ``key`` (neighbours of every node, node): a tuple that ends with the node and starts with 0
    only where no edge is missing between the node's neighbours. By min-fill the node that needs
    the fewest new edges goes first. Ties go to the smaller clique and then, as among the nodes that
    need none, to the smaller number.
    """
    adjacent = [set(around) for around in graph]
    keys = {v: key(adjacent, v) for v in nodes}
    while keys:
        missing, *_, v = min(keys.values())
        around = adjacent[v]
        yield v, around
        touched = around.copy()
        for u in around:
            if missing:
                adjacent[u] |= around - {u}
                touched |= adjacent[u]
            adjacent[u].discard(v)
        del keys[v]
        keys |= {u: key(adjacent, u) for u in touched - {v}}


def log_cells(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Logarithms of sizes, float (d,), in steps of 2^-30.

    Their sums are exact in whatever order, so that ties are ties in every part of a graph.
    """
    return np.rint(np.log(sizes) * 2**30) / 2**30


def eliminate_smallest(adjacent: np.ndarray, cells: np.ndarray) -> Iterator[np.ndarray]:
    """Eliminate the nodes of many graphs at once, each time the one of the fewest joint cells.

    ``adjacent``: bool (m, d, d), symmetric, false on the diagonal. ``cells``: float (d,), the
    :func:`log_cells` of the sizes. Yields the cliques, bool (m, d).
    """
    adjacent, graphs = adjacent.copy(), np.arange(len(adjacent))
    joint = adjacent @ cells + cells
    for _ in range(adjacent.shape[1]):
        node = joint.argmin(axis=1)
        around = adjacent[graphs, node]
        clique = around.copy()
        clique[graphs, node] = True
        yield clique
        graph, near = np.nonzero(around)  # whose rows change
        each = np.arange(len(near))
        rows = adjacent[graph, near] | around[graph]
        rows[each, near] = rows[each, node[graph]] = False
        adjacent[graph, near] = rows
        joint[graph, near] = rows @ cells + cells[near]
        joint[graphs, node] = np.inf


Limits = Sequence[tuple[Sequence[int], int]]  # sizes of nodes; cells of a clique by them, at most


def may_join(
    linked: np.ndarray,
    sets: Sequence[Sequence[int]],
    limits: Limits,
    apart: np.ndarray,
    at_once: int = 2**24,
) -> np.ndarray:
    """Which sets of nodes, each alone linked into a graph, leave it :func:`within_bounds`.

    ``linked``: bool (d, d). More edges make their own nodes dearer and no others, so every graph is
    eliminated as the one without the set until that comes to a node of the set: only what is left
    then is done graph by graph, at most ``at_once`` booleans at once.
    """
    member = np.zeros((len(sets), len(linked)), dtype=bool)
    for row, nodes in zip(member, sets, strict=True):
        row[[*nodes]] = True
    fine, waiting = np.zeros((2, len(sets)), dtype=bool)
    waiting[:] = True
    rest = np.arange(len(linked))
    adjacent = linked.copy()
    while len(rest) and waiting.any():
        own = [(np.take(sizes, rest).tolist(), most) for sizes, most in limits]
        cells = log_cells(own[0][0])
        node = int((adjacent @ cells + cells).argmin())
        mine = np.flatnonzero(waiting & member[:, rest[node]])
        for part in np.array_split(mine, max(1, -(-len(mine) * adjacent.size // at_once))):
            some = member[part][:, rest]
            graphs = adjacent | (some[:, :, None] & some[:, None, :])
            graphs[:, range(len(rest)), range(len(rest))] = False
            fine[part] = within_bounds(graphs, own, apart[np.ix_(rest, rest)])
        waiting[mine] = False
        around = adjacent[node]
        clique = around.copy()
        clique[node] = True
        members = rest[clique]
        large = any(math.prod(sizes[j] for j in members) > most for sizes, most in limits)
        if large or apart[np.ix_(members, members)].any():
            break
        adjacent = adjacent | (around[:, None] & around)
        adjacent[range(len(rest)), range(len(rest))] = False
        keep = np.arange(len(rest)) != node
        adjacent, rest = adjacent[np.ix_(keep, keep)], rest[keep]
    return fine


def within_bounds(adjacent: np.ndarray, limits: Limits, apart: np.ndarray) -> np.ndarray:
    """Which graphs (m, d, d) have cliques within all ``limits`` and none with a pair ``apart``.

    ``apart``: bool (d, d). The cliques are those of :func:`eliminate_smallest`, by the sizes of the
    first limit.
    """
    bounds = [(log_cells(sizes), math.log(most) + NEAR) for sizes, most in limits]
    fine = np.ones(len(adjacent), dtype=bool)
    forbids = bool(apart.any())
    for clique in eliminate_smallest(adjacent, bounds[0][0]):
        for cells, most in bounds:
            fine &= clique @ cells <= most
        if forbids:
            fine &= ~((clique @ apart) & clique).any(axis=1)
    return fine


# --- factors on the cliques of a tree ------------------------------------------------------------


class Place(NamedTuple):
    """Where some columns stand in a clique: what is summed out, the shape that spreads over it."""

    clique: int
    out: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class CliqueTree:
    """A junction tree over columns of known sizes, on whose cliques factors stand."""

    graph: JunctionTree
    sizes: tuple[int, ...]

    @property
    def cliques(self) -> tuple[Columns, ...]:
        """The columns of each clique."""
        return self.graph.cliques

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each clique's table."""
        return tuple(tuple(self.sizes[j] for j in clique) for clique in self.cliques)

    @cached_property
    def links(self) -> tuple[tuple[Place, Place], ...]:
        """Each separator in its clique and in the parent; parents before children."""
        joints = zip(self.graph.parents[1:], self.graph.separators, strict=True)
        return tuple(
            (self.place(below, both), self.place(above, both))
            for below, (above, both) in enumerate(joints, 1)
        )

    def home(self, columns: Sequence[int]) -> int:
        """The smallest clique that holds some columns; −1 where none does."""
        members = {*columns}
        holders = [i for i, clique in enumerate(self.cliques) if members <= {*clique}]
        return min(holders, key=lambda i: math.prod(self.shapes[i]), default=-1)

    def place(self, clique: int, columns: Sequence[int]) -> Place:
        """Where columns, rising, stand in a clique that holds them."""
        axes = self.cliques[clique]
        return Place(
            clique,
            tuple(a for a, j in enumerate(axes) if j not in columns),
            tuple(self.sizes[j] if j in columns else 1 for j in axes),
        )

    def weigh(self, columns: Sequence[int], weights: np.ndarray) -> tuple[Place, np.ndarray]:
        """The factor of weights ≥ 0 of some columns, rising; of marked cells 1, of others 0."""
        numbers = np.asarray(weights, dtype=float)  # the logarithm of booleans has half precision
        logs = np.log(numbers, out=np.full(numbers.shape, NEVER), where=numbers > 0)
        return self.place(self.home(columns), columns), logs

    def multiply(self, factors: Iterable[tuple[Place, np.ndarray]]) -> list[np.ndarray]:
        """The logarithm of the product of factors, clique by clique; factors as logarithms."""
        logs = [np.zeros(shape) for shape in self.shapes]
        for place, factor in factors:
            logs[place.clique] += factor.reshape(place.shape)
        return logs

    def calibrate(self, logs: Sequence[np.ndarray], n: float) -> tuple[list[np.ndarray], float]:
        """Tables of all cliques, each of sum n, of P ∝ exp(Σ logs), and log Σ exp(Σ logs)."""
        logs, tables = list(logs), [np.empty(0)] * len(logs)
        sums: dict[int, np.ndarray] = {}
        for below, above in reversed(self.links):  # messages to the root
            i = below.clique
            top = fold(np.maximum, logs[i], below.out)
            tables[i] = np.exp(logs[i] - top.reshape(below.shape))
            sums[i] = fold(np.add, tables[i], below.out)
            message = np.log(sums[i]).reshape(above.shape) + top.reshape(above.shape)
            logs[above.clique] = logs[above.clique] + message
        top = logs[0].max()
        root = np.exp(logs[0] - top)
        mass = root.sum()
        tables[0] = root * (n / mass)
        for below, above in self.links:  # and back: each gets the separator's sums of its parent
            margin = fold(np.add, tables[above.clique], above.out)
            tables[below.clique] *= (margin / sums[below.clique]).reshape(below.shape)
        return tables, float(top + np.log(mass))


def fold(ufunc: np.ufunc, table: np.ndarray, out: tuple[int, ...]) -> np.ndarray:
    """What ``ufunc.reduce(table, out)`` gives, in the same order, so to the last bit; but sooner.

    NumPy starts a loop for every row of the last axis, which takes long where rows are short.
    """
    last = table.ndim - 1
    if table.size < SMALL or not out or out == (*range(len(out)),) or 1 in table.shape:
        return ufunc.reduce(table, out)
    if last not in out:  # one long row for each cell that is folded
        kept = [axis for axis in range(table.ndim) if axis not in out]
        rows = table.transpose(*out, *kept)
        shape = rows.shape[len(out) :]
        return ufunc.reduce(rows.reshape(-1, math.prod(shape))).reshape(shape)
    if last - 1 in out or table.shape[last] > 7:  # NumPy sums eight and more in another order
        return ufunc.reduce(table, out)
    total = table[..., 0].copy()
    for value in range(1, table.shape[last]):
        ufunc(total, table[..., value], out=total)
    return ufunc.reduce(total, out[:-1])


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b.T``; of few rows in pieces for which BLAS takes one thread: several would wait."""
    if a.size * len(b) <= PIECE or len(a) > DEEP // 2:
        return a @ b.T
    deep = [slice(at, at + DEEP) for at in range(0, a.shape[1], DEEP)]
    pieces = np.array_split(b, -(-len(a) * len(b) * DEEP // PIECE))
    return np.concatenate([sum(a[:, k] @ some[:, k].T for k in deep) for some in pieces], axis=1)


@dataclass(frozen=True)
class Distribution:
    """A distribution of n records on a junction tree: tables of its cliques, which agree."""

    tree: CliqueTree
    tables: list[np.ndarray]
    n: float

    def margin(self, columns: Columns) -> np.ndarray:
        """Expected counts of columns that one clique holds, axes in the order of ``columns``."""
        at = self.tree.home(columns)
        return marginalise(self.tables[at], self.tree.cliques[at], columns)

    def margins(self, sets: Iterable[Columns]) -> dict[Columns, np.ndarray]:
        """Tables of one to four columns each, rising: expected counts, one axis per column.

        Parts of a set between which a separator is empty are independent. For the others there is a
        clique that holds the columns, or has them behind different neighbours, and given its cell
        they are independent: P(i, j, k) = Σ_c P(c) P(i | c) P(j | c) P(k | c). Four columns may lie
        in pairs at the two ends of a path instead; such sets are left out.
        """
        island, parts = self._islands(), dict[Columns, list[Columns]]()
        for s in sets:
            by_island: dict[int, Columns] = {}
            for j in s:
                by_island[island[j]] = (*by_island.get(island[j], ()), j)
            parts[s] = [*by_island.values()]
        tables = self._meet({part for several in parts.values() for part in several})
        margins: dict[Columns, np.ndarray] = {}
        for s, several in parts.items():
            if all(part in tables for part in several):
                joint, order = tables[several[0]], [*itertools.chain(*several)]
                for part in several[1:]:
                    joint = np.multiply.outer(joint, tables[part] / self.n)
                margins[s] = joint if order == sorted(order) else joint.transpose(np.argsort(order))
        return margins

    def _islands(self) -> list[int]:
        """For every column the island it lies on: the cliques that separators connect."""
        island = [0] * len(self.tree.sizes)
        for at, separator in enumerate(((), *self.tree.graph.separators)):
            here = island[separator[0]] if separator else at  # its parent came before
            for j in self.tree.cliques[at]:
                island[j] = here
        return island

    def _meet(self, sets: Iterable[Columns]) -> dict[Columns, np.ndarray]:
        """The tables of sets that some clique sees in as many directions as they have columns."""
        tables: dict[Columns, np.ndarray] = {s: self.margin(s) for s in sets if len(s) == 1}
        waiting = {m: np.array(sorted(s for s in sets if len(s) == m), int) for m in (2, 3, 4)}
        by_cell, branches = self._given_cells() if any(map(len, waiting.values())) else ([], [])
        for at in sorted(range(len(by_cell)), key=lambda i: self.tables[i].size):
            branch = np.array(branches[at])
            for m, asked in waiting.items():
                if len(asked):
                    ways = np.sort(branch[asked], axis=1)
                    seen = (ways[:, 1:] != ways[:, :-1]).all(axis=1)
                    tables |= self._joint(by_cell[at], self.tables[at].ravel(), asked[seen])
                    waiting[m] = asked[~seen]
        return tables

    def _joint(
        self, by_cell: np.ndarray, weights: np.ndarray, asked: np.ndarray
    ) -> dict[Columns, np.ndarray]:
        """Tables of sets, sorted and equally long, that are independent given a clique's cells.

        Each set is cut in two; all that share their first half are one product of matrices.
        """
        if not len(asked):
            return {}
        sizes, start = self.tree.sizes, np.cumsum([0, *self.tree.sizes])
        half = -(-asked.shape[1] // 2)
        sets = [(s[:half], s[half:]) for s in map(tuple, asked.tolist())]
        tails = sorted({tail for _, tail in sets})
        cells = [math.prod(sizes[j] for j in tail) for tail in tails]
        row = dict(zip(tails, itertools.accumulate(cells, initial=0), strict=False))
        lowest = {head: row[tail] for head, tail in reversed(sets)}

        def together(columns: Columns, p: np.ndarray) -> np.ndarray:
            """P(values of these columns | cell), one row for each cell of theirs."""
            own = (p[start[j] : start[j + 1]] for j in columns)
            return reduce(lambda a, b: (a[:, None] * b).reshape(-1, p.shape[1]), own)

        joint = dict.fromkeys(lowest, np.zeros(()))
        for at in range(0, len(weights), AT_ONCE):
            p, mass = by_cell[:, at : at + AT_ONCE], weights[at : at + AT_ONCE]
            last = np.concatenate([together(tail, p) for tail in tails])
            for head, low in lowest.items():
                joint[head] = joint[head] + product(together(head, p) * mass, last[low:])
        tables = {}
        for head, tail in sets:
            shape, low = [sizes[j] for j in head + tail], row[tail] - lowest[head]
            width = math.prod(shape[half:])
            tables[head + tail] = joint[head][:, low : low + width].reshape(shape)
        return tables

    def _given_cells(self) -> tuple[list[np.ndarray], list[list[int]]]:
        """For every clique: P(value | cell) of all values of all columns, and columns' branches.

        One array (values, cells) per clique. A column's branch is −1 − column in its own cliques,
        else the neighbouring clique behind which it lies.
        """
        cliques, sizes, tables = self.tree.cliques, self.tree.sizes, self.tables
        start, unseen = np.cumsum([0, *sizes]), len(cliques)
        by_cell = [np.zeros((start[-1], table.size)) for table in tables]
        branches = [
            [-1 - j if j in clique else unseen for j in range(len(sizes))] for clique in cliques
        ]
        for at, clique in enumerate(cliques):
            cell = np.indices(tables[at].shape).reshape(len(clique), -1)
            for axis, j in enumerate(clique):
                by_cell[at][start[j] + cell[axis], np.arange(tables[at].size)] = 1.0

        def carry(source: Place, to: Place) -> None:
            """What a clique tells of columns that its neighbour hasn't seen, by their separator."""
            mine, theirs = branches[to.clique], branches[source.clique]
            new = [j for j, b in enumerate(mine) if b == unseen and theirs[j] not in (b, to.clique)]
            if not new:
                return
            table, members = tables[source.clique], cliques[source.clique]
            mass = table.sum(axis=source.out)
            mass = np.where(mass > 0, mass, math.inf)
            for j in new:
                if j in members:  # its own table says it, without a row of cells for each value
                    axis = members.index(j)
                    rest = tuple(a for a in source.out if a != axis)
                    joint = np.moveaxis(table.sum(axis=rest, keepdims=True), axis, 0)
                else:
                    rows = by_cell[source.clique][start[j] : start[j + 1]]
                    joint = (rows * table.ravel()).reshape(-1, *table.shape)
                    joint = joint.sum(axis=tuple(a + 1 for a in source.out))
                p = (joint.reshape(sizes[j], *mass.shape) / mass).reshape(sizes[j], *to.shape)
                spread = np.broadcast_to(p, (sizes[j], *tables[to.clique].shape))
                by_cell[to.clique][start[j] : start[j + 1]] = spread.reshape(sizes[j], -1)
                mine[j] = source.clique

        for below, above in reversed(self.tree.links):
            carry(below, above)
        for below, above in self.tree.links:
            carry(above, below)
        return by_cell, branches

"""Expected tables of two to four columns, against the whole joint table."""

import itertools
import math

import numpy as np
import pytest

from pdsynth.core import factors
from pdsynth.core.factors import (
    CliqueTree,
    Distribution,
    eliminate_smallest,
    junction_tree,
    log_cells,
    may_join,
    within_bounds,
)


def random_fit(seed):
    """A random junction tree over five or six columns, its tables, and the joint table."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(5, 7))
    sizes = tuple(int(s) for s in rng.integers(1, 4, d))
    share = rng.choice([0.0, 0.2, 0.35, 0.6])  # 0: separators are all empty
    edges = [e for e in itertools.combinations(range(d), 2) if rng.random() < share]
    tree = CliqueTree(junction_tree(d, edges), sizes)
    n = 100.0
    logs = [rng.normal(size=shape) * 2 for shape in tree.shapes]
    if seed % 3 == 0:  # cells without any record
        logs = [np.where(rng.random(log.shape) < 0.3, -800, log) for log in logs]
    tables, _ = tree.calibrate(logs, n)
    whole = np.zeros(sizes)
    for clique, log in zip(tree.cliques, logs, strict=True):
        whole = whole + log.reshape([sizes[j] if j in clique else 1 for j in range(d)])
    joint = np.exp(whole - whole.max())
    joint *= n / joint.sum()
    return Distribution(tree, tables, n), joint


def summed(joint, columns):
    return joint.sum(axis=tuple(j for j in range(joint.ndim) if j not in columns))


def in_pairs(distribution, columns):
    """Whether four columns lie in two pairs at the ends of a path, so that no clique parts them."""
    tree = distribution.tree
    near = {at: set() for at in range(len(tree.cliques))}
    for at, (up, both) in enumerate(
        zip(tree.graph.parents[1:], tree.graph.separators, strict=True), 1
    ):
        if both:
            near[at].add(up)
            near[up].add(at)

    def behind(at, back):
        """Columns of the cliques behind a neighbour."""
        found = {*tree.cliques[at]}
        return found.union(*(behind(up, at) for up in near[at] - {back}))

    def parted(at):
        """Whether a clique sees at most one column in each direction."""
        ways = [({*columns} & behind(up, at)) - {*tree.cliques[at]} for up in near[at]]
        return all(len(way) <= 1 for way in ways)

    island = [at for at in near if {*columns} <= behind(at, None)]
    return len(columns) == 4 and bool(island) and not any(map(parted, island))


@pytest.mark.parametrize("seed", range(30))
def test_margins_are_those_of_the_joint_table(seed, monkeypatch):
    monkeypatch.setattr("pdsynth.core.factors.AT_ONCE", 2 if seed % 2 else 2**12)
    distribution, joint = random_fit(seed)
    d = joint.ndim
    sets = [c for size in (1, 2, 3, 4) for c in itertools.combinations(range(d), size)]
    found = distribution.margins(sets)
    assert [*found] == [s for s in sets if s in found], "in the order in which they were asked"
    assert {s for s in sets if s not in found} == {s for s in sets if in_pairs(distribution, s)}
    for columns, table in found.items():
        assert table.shape == tuple(joint.shape[j] for j in columns)
        assert table == pytest.approx(summed(joint, columns), abs=1e-6), columns
    for clique, table in zip(distribution.tree.cliques, distribution.tables, strict=True):
        assert table == pytest.approx(summed(joint, clique), abs=1e-6)


def test_four_columns_in_two_pairs_at_the_ends_of_a_path_are_left_out():
    """0, 1 – 2 – 3 – 4, 5: no clique sees 0, 1, 4 and 5 in four directions."""
    tree = CliqueTree(junction_tree(6, [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)]), (2,) * 6)
    tables, _ = tree.calibrate([np.zeros(shape) for shape in tree.shapes], 64.0)
    distribution = Distribution(tree, tables, 64.0)
    found = distribution.margins([(0, 1, 4, 5), (0, 1, 2, 4), (0, 1, 4)])
    assert [*found] == [(0, 1, 2, 4), (0, 1, 4)]
    assert found[0, 1, 2, 4] == pytest.approx(np.full((2,) * 4, 4.0))


def test_columns_of_two_islands_are_independent_and_stand_in_their_own_order():
    """0 – 2 and 1 – 3, nothing between them."""
    tree = CliqueTree(junction_tree(4, [(0, 2), (1, 3)]), (2, 2, 2, 2))
    one, two = np.array([[30.0, 10], [20, 40]]), np.array([[25.0, 25], [10, 40]])
    tables = [one if clique == (0, 2) else two for clique in tree.cliques]
    (table,) = Distribution(tree, tables, 100.0).margins([(0, 1, 2, 3)]).values()
    assert table == pytest.approx(np.einsum("ac,bd->abcd", one, two) / 100)


def test_a_chain_by_hand():
    """0 – 1 – 2: P(0, 2) = Σ P(0, 1) P(1, 2) / P(1)."""
    tree = CliqueTree(junction_tree(3, [(0, 1), (1, 2)]), (2, 2, 2))
    one, two = np.array([[30.0, 10], [20, 40]]), np.array([[25.0, 25], [10, 40]])
    tables = [one if clique == (0, 1) else two for clique in tree.cliques]
    distribution = Distribution(tree, tables, 100.0)
    by_hand = np.array(
        [
            [30 * 25 / 50 + 10 * 10 / 50, 30 * 25 / 50 + 10 * 40 / 50],
            [20 * 25 / 50 + 40 * 10 / 50, 20 * 25 / 50 + 40 * 40 / 50],
        ]
    )
    assert distribution.margins([(0, 2)])[0, 2] == pytest.approx(by_hand)


class Spied(np.ndarray):
    """An array that notes how many multiplications each product of two matrices takes."""

    sizes: list[int] = []

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(x) for x in inputs]
        if ufunc is np.matmul:
            Spied.sizes.append(math.prod(plain[0].shape) * plain[1].shape[1])
        found = getattr(ufunc, method)(*plain, **options)
        return found.view(Spied) if isinstance(found, np.ndarray) else found


ONE_THREAD = 2**18  # multiplications of a product for which OpenBLAS takes one thread at most


@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (4, 480, 4096), (4, 480, 1000), (16, 600, 130), (64, 40, 129)]
)
def test_products_come_in_pieces_that_blas_computes_with_one_thread(shape):
    """On a busy machine several threads of a small product wait a hundred times as long."""
    rows, others, cells = shape
    rng = np.random.default_rng(1)
    a, b = rng.random((rows, cells)), rng.random((others, cells))
    Spied.sizes = []
    found = factors.product(a.view(Spied), b.view(Spied))
    assert max(Spied.sizes) <= ONE_THREAD
    assert np.asarray(found) == pytest.approx(a @ b.T)


def test_products_of_many_rows_are_worth_threads():
    Spied.sizes = []
    a, b = np.ones((65, 4096)), np.ones((70, 4096))
    assert (np.asarray(factors.product(a.view(Spied), b)) == 4096).all()
    assert Spied.sizes == [65 * 4096 * 70]


def test_a_product_at_once_would_be_noticed():
    Spied.sizes = []
    _ = np.ones((4, 4096)).view(Spied) @ np.ones((4096, 480))
    assert max(Spied.sizes) > ONE_THREAD


# --- graphs ---------------------------------------------------------------------------------------


def graph(d, edges):
    adjacent = np.zeros((d, d), dtype=bool)
    for i, j in edges:
        adjacent[i, j] = adjacent[j, i] = True
    return adjacent


def random_graphs(seed, count=20):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 8))
    sizes = [int(s) for s in rng.integers(2, 7, d)]
    upper = np.triu(rng.random((count, d, d)) < rng.random((count, 1, 1)), 1)
    return sizes, upper | upper.transpose(0, 2, 1)


def eliminated(adjacent, sizes):
    """The cliques of eliminating the node of the fewest joint cells first, one graph at a time."""
    near = [set(np.flatnonzero(row)) for row in adjacent]
    left, cliques = set(range(len(sizes))), []
    while left:
        cells = {v: math.prod(sizes[w] for w in near[v] | {v}) for v in left}
        v = min(left, key=lambda v: (cells[v], v))
        cliques.append(near[v] | {v})
        for u in near[v]:
            near[u] = (near[u] | near[v]) - {u, v}
        left.remove(v)
    return cliques


@pytest.mark.parametrize("seed", range(15))
def test_many_graphs_at_once_are_eliminated_as_one_by_one(seed):
    sizes, graphs = random_graphs(seed)
    found = [[] for _ in graphs]
    for cliques in eliminate_smallest(graphs, np.log(sizes)):
        for at, clique in enumerate(cliques):
            held = set(np.flatnonzero(clique))
            found[at].append(held)
    for at, adjacent in enumerate(graphs):
        largest = max(math.prod(sizes[j] for j in c) for c in found[at])
        brute = max(math.prod(sizes[j] for j in c) for c in eliminated(adjacent, sizes))
        assert largest == brute or len({*sizes}) < len(sizes), "ties may be broken otherwise"
        edges = {tuple(sorted(e)) for c in found[at] for e in itertools.combinations(c, 2)}
        assert {tuple(e) for e in np.argwhere(np.triu(adjacent))} <= edges
        tree = junction_tree(len(sizes), edges)  # triangulated: nothing is added
        assert {*map(frozenset, tree.cliques)} <= {*map(frozenset, found[at])}


@pytest.mark.parametrize("seed", range(15))
def test_bounds_are_those_of_the_cliques(seed):
    sizes, graphs = random_graphs(seed)
    rng = np.random.default_rng(seed)
    apart = graph(len(sizes), [tuple(rng.choice(len(sizes), 2, replace=False))])
    none, declared = np.zeros_like(apart), sizes + rng.integers(0, 4, len(sizes))
    limits = ((most, d) for most in (4, 30, 200, 10**6) for d in (2**62, 300))
    for most, most_declared in limits:
        for forbidden in (none, apart):
            fine = within_bounds(graphs, [(sizes, most), (declared, most_declared)], forbidden)
            for at in range(len(graphs)):
                cliques = [
                    set(np.flatnonzero(c[0]))
                    for c in eliminate_smallest(graphs[at : at + 1], log_cells(sizes))
                ]
                good = all(
                    math.prod(sizes[j] for j in c) <= most
                    and math.prod(map(int, declared[[*c]])) <= most_declared
                    and not any(forbidden[i, j] for i, j in itertools.combinations(c, 2))
                    for c in cliques
                )
                assert fine[at] == good
    assert graphs.dtype == bool, "not written over"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15))
def test_a_set_may_join_where_its_own_graph_is_within_bounds(seed):
    """Prefixes shared with the graph without the set change nothing."""
    sizes, graphs = random_graphs(seed)
    d, linked = len(sizes), graphs[0]
    sets = [s for m in (2, 3) for s in itertools.combinations(range(d), m)]
    apart = graph(d, [sets[seed % len(sets)][:2]])
    joined = np.array([linked | graph(d, itertools.combinations(s, 2)) for s in sets])
    declared = np.array(sizes) + np.random.default_rng(seed).integers(0, 4, d)
    for most, most_declared in ((4, 90), (30, 2**62), (200, 300), (10**6, 900)):
        for forbidden in (np.zeros_like(apart), apart):
            limits = [(sizes, most), (declared, most_declared)]
            wanted = within_bounds(joined, limits, forbidden)
            for batch in (d * d, 2**24):  # one graph at a time, and all at once
                found = may_join(linked, sets, limits, forbidden, batch)
                assert (found == wanted).all()


def joins_that_differ():
    """In how many graphs of 20 two-valued columns the answer isn't that of the graph with the set.

    Equal sizes make ties, which fall alike in a part of the graph only where sums are exact.
    """
    differ = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        linked = np.triu(rng.random((20, 20)) < 0.4, 1)
        linked |= linked.T
        nodes = tuple(map(int, rng.choice(20, 3, replace=False)))
        joined = linked | graph(20, itertools.combinations(nodes, 2))
        none, sizes = np.zeros_like(linked), [2] * 20
        for most in (1024, 4096):
            (alone,) = may_join(linked, [nodes], [(sizes, most)], none)
            differ += alone != within_bounds(joined[None], [(sizes, most)], none)[0]
    return differ


def test_ties_fall_alike_with_and_without_what_both_share():
    assert joins_that_differ() == 0


def test_twin_with_plain_logarithms_they_do_not(monkeypatch):
    monkeypatch.setattr(factors, "log_cells", np.log)
    assert joins_that_differ() > 0


@pytest.mark.parametrize("seed", range(10))
def test_families_are_the_cliques_given_their_separators(seed):
    sizes, graphs = random_graphs(seed, count=5)
    d = len(sizes)
    for adjacent in graphs:
        edges = [tuple(e) for e in np.argwhere(np.triu(adjacent)).tolist()]
        for root in (None, 0, d - 1):
            tree = junction_tree(d, edges, root)
            families = list(tree.families(root))
            assert sorted(child for child, _, _ in families) == list(range(d))
            placed = set()
            for child, parents, at in families:
                assert {*parents} <= placed and {child, *parents} <= {*tree.cliques[at]}
                placed.add(child)
            together = [frozenset((c, *p)) for c, p, _ in families]
            assert all(any({*clique} <= f for f in together) for clique in tree.cliques)
            if root is not None:
                assert families[0][:2] == (root, ())


def test_some_come_last_in_their_clique():
    tree = junction_tree(4, [(0, 1), (1, 2), (1, 3)], root=1)
    families = {child: parents for child, parents, _ in tree.families(1, last=(0, 2))}
    assert families == {1: (), 0: (1,), 2: (1,), 3: (1,)}

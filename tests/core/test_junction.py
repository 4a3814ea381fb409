"""Triangulation, cliques, junction trees, spanning trees, bounded graphs and covering designs,
against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth import BudgetError
from pdsynth.baselines.priview import covering_design
from pdsynth.baselines.relatives import strongest_graph
from pdsynth.core.factors import (
    JunctionTree,
    eliminate,
    junction_tree,
    spanning_tree,
)


@st.composite
def graphs(draw, most=8):
    d = draw(st.integers(2, most))
    pairs = list(itertools.combinations(range(d), 2))
    return d, draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))


def faults(tree: JunctionTree, d: int, edges) -> list[str]:
    """Everything that a junction tree of a graph must be, checked from its definition."""
    sets, found = [set(c) for c in tree.cliques], []
    if set().union(*sets) != set(range(d)) or not all(any({*e} <= s for s in sets) for e in edges):
        found.append("a node or an edge lies in no clique")
    if any(a < b or (a == b and i != j) for i, a in enumerate(sets) for j, b in enumerate(sets)):
        found.append("a clique isn't maximal")
    for at in range(1, len(sets)):
        shared = sets[at] & set().union(*sets[:at])
        if not 0 <= tree.parents[at] < at or not shared <= sets[tree.parents[at]]:
            found.append("no running intersection")
    return found


def maximal_cliques(d, edges):
    joined = {frozenset(e) for e in edges}
    cliques = [
        s
        for r in range(1, d + 1)
        for s in itertools.combinations(range(d), r)
        if all(frozenset(p) in joined for p in itertools.combinations(s, 2))
    ]
    return {frozenset(c) for c in cliques if not any(set(c) < set(o) for o in cliques)}


def chordal(d, edges) -> bool:
    """No cycle of four or more without a chord: brute force over node sets."""
    joined = {frozenset(e) for e in edges}
    for size in range(4, d + 1):
        for nodes in itertools.combinations(range(d), size):
            inside = [e for e in joined if e <= set(nodes)]
            if (
                len(inside) == size
                and all(sum(v in e for e in inside) == 2 for v in nodes)
                and connected(nodes, inside)
            ):
                return False
    return True


def connected(nodes, edges) -> bool:
    seen, new = {nodes[0]}, {nodes[0]}
    while new:
        new = {v for e in edges if e & new for v in e} - seen
        seen |= new
    return seen == set(nodes)


class TestJunctionTree:
    @given(graphs())
    @settings(deadline=None, max_examples=120)
    def test_of_any_graph(self, graph):
        d, edges = graph
        tree = junction_tree(d, edges)
        assert faults(tree, d, edges) == []
        filled = {p for c in tree.cliques for p in itertools.combinations(c, 2)}
        assert chordal(d, filled)
        if chordal(d, edges):
            assert {frozenset(c) for c in tree.cliques} == maximal_cliques(d, edges), (
                "a chordal graph needs no new edge"
            )

    @given(graphs())
    @settings(deadline=None, max_examples=80)
    def test_families_are_a_sampling_order_inside_the_cliques(self, graph):
        d, edges = graph
        tree, seen, joined = junction_tree(d, edges), set(), set()
        for child, parents, at in tree.families():
            assert child not in seen
            assert set(parents) <= seen
            assert {child, *parents} <= set(tree.cliques[at])
            seen.add(child)
            joined |= {frozenset((child, p)) for p in parents}
        assert seen == set(range(d))
        assert joined == {frozenset(p) for c in tree.cliques for p in itertools.combinations(c, 2)}

    def test_a_square_by_hand(self):
        tree = junction_tree(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
        assert set(tree.cliques) == {(0, 1, 3), (1, 2, 3)}  # node 0 goes first and joins 1 and 3
        assert tree.separators == ((1, 3),)

    @pytest.mark.parametrize(
        ("edges", "cliques"),
        [([], 5), (list(itertools.combinations(range(5), 2)), 1), ([(0, 1)], 4)],
    )
    def test_no_edge_every_edge_one_edge(self, edges, cliques):
        tree = junction_tree(5, edges)
        assert len(tree.cliques) == cliques
        assert faults(tree, 5, edges) == []

    def test_min_fill_joins_the_neighbours_that_lack_least(self):
        """A wheel without its hub's help: eliminating a rim node needs one edge, the hub would need
        five."""
        rim = [(i, (i + 1) % 5) for i in range(5)]
        spokes = [(i, 5) for i in range(5)]
        tree = junction_tree(6, rim + spokes)
        assert sorted(map(len, tree.cliques)) == [4, 4, 4]

    def test_elimination_of_a_part_leaves_the_rest_alone(self):
        assert list(eliminate([{1}, {0}, {3}, {2}], (0, 1))) == [(0, {1}), (1, set())]

    def test_twin_a_tree_that_hangs_on_the_wrong_clique_is_found(self):
        edges = [(0, 1), (1, 2), (2, 3)]
        assert faults(JunctionTree(((0, 1), (1, 2), (2, 3)), (-1, 0, 0)), 4, edges) == [
            "no running intersection"
        ]
        assert faults(JunctionTree(((0, 1), (1, 2), (2,)), (-1, 0, 1)), 4, edges) != []


class TestSpanningTree:
    @given(st.integers(2, 6), st.integers(0, 2**32))
    @settings(deadline=None, max_examples=60)
    def test_is_the_heaviest(self, m, seed):
        weights = np.random.default_rng(seed).integers(0, 9, (m, m))
        weights = weights + weights.T
        tree = spanning_tree(weights)
        order, above = [node for node, _ in tree], dict(tree)
        assert sorted(order) == list(range(m))
        assert above[0] == -1 and all(order.index(above[j]) < order.index(j) for j in order[1:])
        mine = sum(weights[j, above[j]] for j in order[1:])
        pairs = list(itertools.combinations(range(m), 2))
        trees = (
            t
            for t in itertools.combinations(pairs, m - 1)
            if connected(range(m), [set(e) for e in t])
        )
        assert mine == max(sum(weights[e] for e in t) for t in trees)

    def test_one_node(self):
        assert spanning_tree(np.zeros((1, 1))) == [(0, -1)]


class TestStrongestGraph:
    @given(graphs(), st.integers(0, 40), st.integers(0, 2**32))
    @settings(deadline=None, max_examples=80)
    def test_cliques_stay_within_the_bound_and_edges_keep_their_order(self, graph, cells, seed):
        d, edges = graph
        sizes = np.random.default_rng(seed).integers(2, 4, d).tolist()
        kept, tree = strongest_graph(sizes, edges, cells)
        assert kept == [e for e in edges if e in kept]
        assert faults(tree, d, kept) == []
        for clique in tree.cliques:
            assert len(clique) == 1 or math.prod(sizes[j] for j in clique) <= cells
        if math.prod(sizes) <= cells:
            assert kept == edges

    def test_the_weakest_edge_of_a_triangle_goes(self):
        triangle = [(1, 2), (0, 2), (0, 1)]
        assert strongest_graph([2, 2, 2], triangle, 8)[0] == triangle
        assert strongest_graph([2, 2, 2], triangle, 7)[0] == triangle[:2]
        assert strongest_graph([2, 2, 2], triangle, 3)[0] == []

    def test_a_dropped_edge_doesn_t_stop_the_weaker_ones(self):
        assert strongest_graph([2, 9, 2, 2], [(0, 1), (0, 2), (2, 3)], 8)[0] == [(0, 2), (2, 3)]

    def test_a_complete_graph_of_fifty(self):
        kept, tree = strongest_graph([2] * 50, list(itertools.combinations(range(50), 2)), 16)
        assert max(map(len, tree.cliques)) == 4
        assert (
            len(kept) >= 3 * 46
        )  # as many edges as cliques of four can hold: a 3-tree has 3·50 − 6 = 144


class TestCoveringDesign:
    @given(st.integers(2, 14), st.integers(3, 6), st.integers(1, 3), st.integers(0, 99))
    @settings(deadline=None, max_examples=60)
    def test_covers_every_t_set(self, d, size, t, seed):
        views = covering_design(d, size, t, seed)
        assert uncovered(views, d, t) == []
        assert all(len(set(v)) == min(size, d) and v == tuple(sorted(v)) for v in views)
        assert len(views) >= math.comb(d, min(t, d)) / math.comb(min(size, d), min(t, d))

    def test_twin_a_missing_view_is_found(self):
        views = covering_design(16, 8, 2)
        assert uncovered(views[1:], 16, 2) != []

    def test_sizes_that_the_papers_meet(self):
        """At most two thirds more than the best known ones, which the PriView paper uses (6, 20 and
        42; 106 of triples)."""
        assert [len(covering_design(d, 8, 2)) for d in (16, 32, 45)] == [6, 27, 52]
        assert len(covering_design(32, 8, 3)) <= 177

    def test_public_and_reproducible(self):
        assert covering_design(20, 8, 2, 5) == covering_design(20, 8, 2, 5)
        assert covering_design(20, 8, 2, 5) != covering_design(20, 8, 2, 6)
        assert covering_design(8, 8, 2) == covering_design(8, 8, 3) == (tuple(range(8)),)

    def test_too_many_sets_come_with_their_number(self):
        with pytest.raises(BudgetError, match=r"877,975 sets.*use t = 2"):
            covering_design(175, 8, 3)


def uncovered(views, d, t):
    return [
        s for s in itertools.combinations(range(d), t) if not any(set(s) <= set(v) for v in views)
    ]

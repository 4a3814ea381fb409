"""Parent sets from public facts, and the two learners that draw among them."""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import Silent, curator_of, law

from pdsynth.algorithms.hpprivbayes import ordered
from pdsynth.algorithms.privbayes import greedy
from pdsynth.core.measures import association
from pdsynth.core.network import Candidates, Restriction
from pdsynth.core.structure import MaxCells, MaxParents, list_candidates, useful_degree
from pdsynth.published.noise import NoNoise


def rows(arrays):
    return {tuple(sorted(r)) for a in arrays for r in a.tolist()}


class TestUsefulDegree:
    @given(
        st.integers(1, 10**6),
        st.integers(2, 60),
        st.fractions(Q(1, 100), Q(10)),
        st.fractions(Q(1, 2), Q(20)),
    )
    def test_the_largest_k_that_is_useful(self, n, d, epsilon2, theta):
        useful = [k for k in range(1, d) if n * epsilon2 / ((d - k) * 2 ** (k + 2)) >= theta]
        assert useful_degree(n, d, epsilon2, theta) == max(useful, default=0)

    def test_by_hand(self):
        # n ε₂ = 1000, d = 5: k = 3 gives 1000/(2·32) = 15.6, k = 4 gives 1000/(1·64) = 15.6
        assert useful_degree(1000, 5, 1.0, 15.625) == 4
        assert useful_degree(1000, 5, 1.0, 15.7) == 2, "k = 2: 1000/(3·16) = 20.8"
        assert useful_degree(1000, 5, 1.0, 32) == 0, "k = 1: 1000/(4·8) = 31.25"

    def test_the_public_matlab_code_is_one_too_high(self):
        """n = 27504, d = 14, ε = 0.12, θ = 7: that code returns the first k that is not useful,
        4.
        """
        assert useful_degree(27504, 14, 0.12, 7) == 3

    @given(st.integers(1, 10**6), st.integers(2, 60))
    def test_more_budget_never_means_fewer_parents(self, n, d):
        degrees = [useful_degree(n, d, e, 4) for e in (0.1, 0.5, 1, 2, 8)]
        assert degrees == sorted(degrees)


@st.composite
def domains(draw):
    sizes = draw(st.lists(st.integers(2, 6), min_size=2, max_size=7))
    child = draw(st.integers(0, len(sizes) - 1))
    others = [j for j in range(len(sizes)) if j != child]
    placed = draw(st.permutations(others))[: draw(st.integers(1, len(others)))]
    return tuple(sizes), child, tuple(placed)


class TestParentSets:
    @given(domains(), st.fractions(Q(1), Q(400)), st.integers(1, 7))
    @settings(max_examples=250)
    def test_maximal_sets_against_all_subsets(self, case, cells, most):
        sizes, child, placed = case
        found = MaxCells(cells, most).parent_sets(placed, sizes[child], sizes)

        def admissible(s):
            return len(s) <= most and sizes[child] * math.prod(sizes[j] for j in s) <= cells

        subsets = [
            s for r in range(len(placed) + 1) for s in itertools.combinations(sorted(placed), r)
        ]
        allowed = [set(s) for s in subsets if admissible(s)] or [set()]
        maximal = {tuple(sorted(s)) for s in allowed if not any(s < t for t in allowed)}
        assert rows(found) == maximal
        assert sum(len(a) for a in found) == len(maximal), "none twice"

    @given(domains(), st.integers(1, 6))
    def test_a_fixed_degree_takes_exactly_that_many_or_all(self, case, k):
        sizes, child, placed = case
        found = MaxParents(k).parent_sets(placed, sizes[child], sizes)
        assert rows(found) == set(itertools.combinations(sorted(placed), min(k, len(placed))))

    def test_the_bound_is_the_paper_s(self):
        """τ = n ε₂ / (2 d θ): 1000 · 0.7 / (2 · 5 · 4) = 17.5 cells, child and parents together."""
        rule = MaxCells.of(1000, 5, Q(7, 10), Q(4))
        assert rule.cells == Q(35, 2)
        assert rows(rule.parent_sets((0, 1, 2), 2, (4, 2, 9, 2))) == {(0, 1)}, (
            "2·4·2 = 16 fits, 2·9 = 18 does not"
        )
        assert rows(rule.parent_sets((0, 1, 2), 5, (4, 2, 9, 5))) == {(1,)}, "5·2 = 10 fits"
        assert rows(rule.parent_sets((0, 1, 2), 9, (4, 4, 9, 9))) == {()}, (
            "nothing fits: the attribute stays alone"
        )

    def test_every_admissible_table_is_useful(self):
        """What the bound means: n / cells, the mean count of a cell, is θ times the noise scale
        2d/ε₂."""
        n, d, epsilon2, theta = 45_222, 14, Q(7, 10), Q(4)
        cells = MaxCells.of(n, d, epsilon2, theta).cells
        assert Q(n) / cells == theta * (2 * d / epsilon2)

    @given(domains())
    def test_candidates_of_several_children(self, case):
        sizes, _, placed = case
        left = [j for j in range(len(sizes)) if j not in placed]
        candidates = list_candidates(
            MaxParents(2),
            placed,
            left,
            sizes,
            Restriction().on(range(len(sizes))),
            depends_on="s01",
        )
        pairs = {candidates[i] for i in range(len(candidates))}
        expected = {
            (c, s)
            for c in left
            for s in itertools.combinations(sorted(placed), min(2, len(placed)))
        }
        assert pairs == expected
        assert len(candidates) == len(expected)
        assert candidates.depends_on == "s01"
        with pytest.raises(IndexError):
            candidates[len(candidates)]

    def test_blocks_are_indexed_in_the_order_of_their_scores(self):
        candidates = Candidates(
            ((np.array([3, 4]), np.zeros((2, 0), dtype=np.int64)), (np.array([3]), np.array([[1]])))
        )
        assert [candidates[i] for i in range(3)] == [(3, ()), (4, ()), (3, (1,))]


TABLE = [
    [0, 0, 0],
    [0, 0, 1],
    [1, 1, 0],
    [1, 1, 1],
    [0, 0, 2],
    [1, 0, 2],
]  # x0 and x1 nearly equal, x2 alone
SIZES = (2, 2, 3)


class TestLearners:
    def test_greedy_without_noise_takes_the_best_pair_each_time(self):
        curator = curator_of(TABLE, SIZES, NoNoise(), guarantee="none")
        network = greedy(curator, MaxParents(1), Q(1), "R", first=0)
        assert network.pairs == (("x0", ()), ("x1", ("x0",)), ("x2", (network.parents("x2"))))
        tables = {p: association(curator.peek("test", "", (2, p))) for p in (0, 1)}
        assert network.parents("x2") == (f"x{max(tables, key=tables.get)}",)

    def test_ordered_keeps_the_order_it_is_given(self):
        for order in itertools.permutations(range(3)):
            network, _ = ordered(
                curator_of(TABLE, SIZES, Silent()), order, MaxParents(2), Q(1), "R"
            )
            assert network.order == tuple(f"x{j}" for j in order)
            assert [len(p) for _, p in network.pairs] == [0, 1, 2]

    def test_the_root_is_uniform_and_free(self):
        found = law(
            lambda noise: greedy(curator_of(TABLE, SIZES, noise), MaxParents(1), Q(1), "R").order[0]
        )
        assert found == pytest.approx({"x0": 1 / 3, "x1": 1 / 3, "x2": 1 / 3})

    @pytest.mark.parametrize("learn", ["greedy", "ordered"])
    def test_d_minus_one_selections_share_the_budget_exactly(self, learn):
        noise = Silent()
        curator = curator_of(TABLE, SIZES, noise, epsilon=Q(3, 10))
        if learn == "greedy":
            greedy(curator, MaxParents(1), Q(3, 10), "I")
        else:
            ordered(curator, (2, 1, 0), MaxParents(1), Q(3, 10), "I")
        assert [e.epsilon for e in curator.ledger.entries] == [Q(3, 20)] * 2
        assert curator.ledger.epsilon == Q(3, 10)
        assert curator.ledger.check() == []
        assert all(e.source.startswith("thesis Alg") for e in curator.ledger.entries)

    def test_a_child_that_nothing_fits_stays_alone(self):
        curator = curator_of(TABLE, SIZES, Silent())
        network, _ = ordered(curator, (0, 1, 2), MaxCells(Q(4)), Q(1), "R")
        assert network.pairs == (("x0", ()), ("x1", ("x0",)), ("x2", ()))
        assert curator.ledger.check() == []

"""From noisy tables to conditionals: by hand in exact fractions, and what is derived without
paying."""

from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from privacy_tools import Silent, curator_of

from pdsynth.core.budgets import AsMeasured, measure_joint_counts, uniform
from pdsynth.core.model import conditional
from pdsynth.core.network import Network
from pdsynth.core.noise import ExactNoise
from pdsynth.core.unit import TableBudget

SIZES = (2, 3, 2)
ROWS = [(0, 0, 0), (0, 1, 0), (1, 2, 1), (1, 2, 0), (0, 0, 1), (1, 1, 1), (1, 2, 1)]


def noisy_tables(curator, network, budget, derived=0):
    measured = measure_joint_counts(curator, network, budget, derived)
    return AsMeasured().reconcile(measured, network, None)


def fractions(table) -> list[list[Q]]:
    return [[Q(x).limit_denominator(1000) for x in row] for row in table.tolist()]


class TestConditional:
    def test_by_hand(self):
        assert fractions(conditional(np.array([[3, 0, -1], [1, 2, 4]]))) == [
            [Q(3, 4), 0, 0],
            [Q(1, 4), 1, 1],
        ]

    def test_an_empty_column_gets_the_noisy_marginal(self):
        table = np.array([[3, -2, 1], [1, 0, 4]])  # after clipping: rows 4 and 5 of 9
        assert fractions(conditional(table)) == [
            [Q(3, 4), Q(4, 9), Q(1, 5)],
            [Q(1, 4), Q(5, 9), Q(4, 5)],
        ]

    def test_an_empty_table_is_uniform(self):
        assert fractions(conditional(np.array([[-3, 0], [0, -1], [-7, -7]]))) == [[Q(1, 3)] * 2] * 3

    def test_no_parents(self):
        assert fractions(conditional(np.array([2, -5, 6]))) == [[Q(1, 4)], [0], [Q(3, 4)]]

    @given(
        hnp.arrays(
            np.int64,
            hnp.array_shapes(min_dims=1, max_dims=4, max_side=5),
            elements=st.integers(-(10**9), 10**9),
        )
    )
    def test_always_distributions(self, table):
        p = conditional(table)
        assert p.shape == (len(table), table.size // len(table))
        assert (p >= 0).all()
        assert p.sum(axis=0) == pytest.approx(np.ones(p.shape[1]))


class TestNoisyTables:
    NETWORK = Network((("x0", ()), ("x1", ("x0",)), ("x2", ("x1", "x0"))))

    def test_without_noise_they_are_the_counts(self):
        curator = curator_of(ROWS, SIZES, Silent(), Q(3))
        tables = noisy_tables(
            curator, self.NETWORK, dict.fromkeys(("x0", "x1", "x2"), uniform(3, Q(3)))
        )
        assert [t.shape for t in tables] == [
            (2,),
            (3, 2),
            (2, 3, 2),
        ]  # child first, parents as the network lists them
        for x0, x1, x2 in ROWS:
            assert tables[2][x2, x1, x0] == ROWS.count((x0, x1, x2))
        assert curator.ledger.epsilon == 3
        assert len(curator.ledger.entries) == 3

    @pytest.mark.parametrize("noise", [Silent(), ExactNoise(4)])
    def test_the_first_k_are_marginals_of_the_next(self, noise):
        curator = curator_of(ROWS, SIZES, noise, Q(1))
        first, second, third = noisy_tables(
            curator, self.NETWORK, {"x2": uniform(1, Q(1))}, derived=2
        )
        positive = np.maximum(third, 0)
        assert np.array_equal(first, positive.sum(axis=(0, 1)))
        assert np.array_equal(second, positive.sum(axis=0))  # (x1, x0), child first
        assert len(curator.ledger.entries) == 1  # deriving is free
        assert curator.ledger.epsilon == 1

    def test_derived_conditionals_by_hand(self):
        curator = curator_of(ROWS, SIZES, Silent(), Q(1))
        first, second, _ = noisy_tables(curator, self.NETWORK, {"x2": uniform(1, Q(1))}, derived=2)
        assert fractions(conditional(first)) == [[Q(3, 7)], [Q(4, 7)]]
        assert fractions(conditional(second)) == [[Q(2, 3), 0], [Q(1, 3), Q(1, 4)], [0, Q(3, 4)]]

    def test_axes_follow_the_network_when_parents_are_in_another_order(self):
        network = Network((("x2", ()), ("x0", ("x2",)), ("x1", ("x0", "x2"))))
        curator = curator_of(ROWS, SIZES, Silent(), Q(1))
        first, second, _ = noisy_tables(curator, network, {"x1": uniform(1, Q(1))}, derived=2)
        assert first.tolist() == [3, 4]
        assert second.tolist() == [
            [sum(r[0] == a and r[2] == b for r in ROWS) for b in (0, 1)] for a in (0, 1)
        ]

    def test_each_table_gets_its_own_scales(self):
        noise = Silent()
        curator = curator_of(ROWS, SIZES, noise, Q(3))
        scales, weights = (Q(2), Q(4), Q(4)), (Q(1), Q(1, 2), Q(1, 2))
        budget = {
            "x0": uniform(1, Q(1)),
            "x1": TableBudget(Q(1), weights, ("public:policy",), "line 6"),
            "x2": uniform(1, Q(1)),
        }
        noisy_tables(curator, self.NETWORK, budget)
        entry = curator.ledger.entries[1]
        assert (entry.scale, entry.epsilon, entry.source, entry.scale_depends_on) == (
            scales,
            Q(1),
            "line 6",
            ("public:policy",),
        )
        assert [np.ravel(a[1]).tolist() for a in noise.asked] == [[2], [2, 4, 4], [2]]

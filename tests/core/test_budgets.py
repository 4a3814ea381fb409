"""How a budget is split: exact fractions, tight scales against every move of one record, the
printed formulas."""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdsynth.algorithms import value_weights
from pdsynth.core.budgets import proportional, uniform
from pdsynth.core.errors import BudgetDegenerate, BudgetError, as_fraction, positive, share
from pdsynth.core.unit import Unit, histogram_cost, tight_scales
from pdsynth.published.budgets import printed_group_a, printed_scales, sensitivity_weights

fractions = st.fractions(Q(1, 50), Q(50), max_denominator=60)


def worst_move(scales, columns) -> Q:
    """The largest loss over all moves of one record between two cells: one count falls by 1,
    another rises by 1."""
    cells = [b for b in scales for _ in range(columns)]
    return max((1 / a + 1 / b for a, b in itertools.combinations(cells, 2)), default=Q(0))


class TestNumbers:
    @pytest.mark.parametrize(
        ("value", "written"),
        [
            (0.1, Q(1, 10)),
            (1 / 3, Q(1, 3)),
            (2.345, Q(469, 200)),
            ("3/7", Q(3, 7)),
            (7, Q(7)),
            (math.pi, Q("3.141592653589793")),
            (Q(5, 9), Q(5, 9)),
            (1e-7, Q(1, 10**7)),
        ],
    )
    def test_enter_as_written(self, value, written):
        assert positive("x", value) == as_fraction(value) == written

    @pytest.mark.parametrize(
        "value", [0, -1, math.inf, -math.inf, math.nan, None, "x", "1/0", [1], True, 1j]
    )
    def test_others_are_refused_by_name(self, value):
        with pytest.raises(BudgetError, match="budget_of_x"):
            positive("budget_of_x", value)

    def test_a_share_lies_between_0_and_1(self):
        assert share("beta", 0.3) == Q(3, 10)
        for value in (1, 1.5, 0):
            with pytest.raises(BudgetError, match=f"beta.*got {value}"):
                share("beta", value)

    @given(fractions, st.lists(fractions, min_size=1, max_size=9))
    def test_proportional_parts_add_up_exactly(self, total, shares):
        weights = {f"part {i}": share for i, share in enumerate(shares)}
        parts = proportional(total, weights)
        assert sum(parts.values()) == total
        for a, b in itertools.combinations(weights, 2):
            assert parts[a] * weights[b] == parts[b] * weights[a]

    @given(st.integers(1, 60), fractions)
    def test_uniform_tables_cost_epsilon_together(self, tables, epsilon):
        budget = uniform(tables, epsilon, source="line 4")
        scale = Unit().scale(budget.epsilon)
        assert scale == Unit().scale(epsilon, tables) == 2 * tables / epsilon
        assert tables * Unit().cost(scale, 3) == tables * budget.epsilon == epsilon
        assert Unit("add_remove").scale(epsilon, tables) == tables / epsilon
        assert budget.source == "line 4"


class TestTightScales:
    @given(st.lists(fractions, min_size=2, max_size=6), fractions, st.integers(1, 4))
    def test_the_worst_move_costs_exactly_epsilon(self, weights, epsilon, columns):
        scales = tight_scales(weights, epsilon, columns)
        assert worst_move(scales, columns) == histogram_cost(scales, columns) == epsilon
        for (v, b), (u, c) in itertools.combinations(zip(weights, scales, strict=True), 2):
            assert v * b == u * c  # b ∝ 1/v

    @given(st.lists(fractions, min_size=2, max_size=6), st.integers(1, 4))
    def test_histogram_cost_is_the_worst_move(self, scales, columns):
        assert histogram_cost(scales, columns) == worst_move(scales, columns)

    @given(st.lists(fractions, min_size=2, max_size=6), fractions, st.integers(1, 4))
    def test_a_record_that_is_added_changes_one_cell(self, weights, epsilon, columns):
        """So its worst cell costs ε exactly, which is less than the move of a replaced one."""
        unit = Unit("add_remove")
        scales = tight_scales(weights, epsilon, columns, unit)
        assert max(1 / b for b in scales) == unit.cost(scales, columns) == epsilon
        assert epsilon <= worst_move(scales, columns) <= 2 * epsilon
        replaced = tight_scales(weights, epsilon, columns)
        assert all(b < other for b, other in zip(scales, replaced, strict=True))

    def test_equal_weights_are_the_uniform_scale(self):
        for unit, columns in itertools.product((Unit(), Unit("add_remove")), (1, 2, 7)):
            scales = tight_scales([Q(3)] * 4, Q(1, 5), columns, unit)
            assert set(scales) == {unit.scale(Q(1, 5))}

    def test_twin_adding_the_values_up_is_not_the_cost(self):
        """The thesis pays for each value; cells are disjoint,
        so its scales cost max w·ε and not ε.
        """
        w = [Q(1, 2), Q(1, 4), Q(1, 4)]
        printed = [2 / (x * Q(1)) for x in w]
        assert sum(w) == 1
        assert histogram_cost(printed, 3) == max(w)
        assert histogram_cost(printed, 1) == (w[0] + w[1]) / 2


class TestValueWeights:
    def test_by_hand(self):
        counts = np.array([4, 2, 1, 1])  # surprises 1, 2, 3, 3 bits
        assert value_weights(counts, "less_noise", Q(1, 10)) == (Q(1, 3), Q(2, 3), Q(1), Q(1))
        assert value_weights(counts, "less_noise", Q(1, 2)) == (Q(1, 2), Q(2, 3), Q(1), Q(1))
        assert value_weights(counts, "more_noise", Q(1, 10)) == (Q(1), Q(1, 2), Q(1, 3), Q(1, 3))
        assert value_weights(counts, "same_noise", Q(1, 2)) == (Q(1),) * 4

    @given(
        st.lists(st.integers(-50, 10**6), min_size=2, max_size=20),
        st.sampled_from(["less_noise", "more_noise", "same_noise"]),
        st.fractions(Q(1, 100), Q(1), max_denominator=100),
    )
    def test_largest_is_one_and_none_is_below_the_floor(self, counts, rare_values, floor):
        weights = value_weights(np.array(counts), rare_values, floor)
        assert max(weights) == 1
        assert min(weights) >= floor
        order = np.argsort(counts, kind="stable")
        rising = [weights[i] for i in order]
        if rare_values == "less_noise":
            assert rising == sorted(
                rising, reverse=True
            )  # rare values first, with the larger budget
        if rare_values == "more_noise":
            assert rising == sorted(rising)

    def test_noisy_counts_below_one_half_count_as_one_half(self):
        assert value_weights(np.array([-9, 0, 8]), "less_noise", Q(1, 9)) == value_weights(
            np.array([0.5, 0.5, 8]), "less_noise", Q(1, 9)
        )


class TestPrinted:
    def test_group_a_by_hand(self):
        assert printed_group_a(14, 4, 7, Q(1, 5)) == Q(2 * 3) / Q(1, 5)

    @pytest.mark.parametrize(("d", "k", "l"), [(14, 4, 10), (14, 4, 12), (3, 1, 2), (2, 1, 1)])
    def test_degenerate(self, d, k, l):  # noqa: E741
        with pytest.raises(
            BudgetDegenerate, match=rf"{d} − {k} − {l} = {d - k - l}.*lower k or θ.*strict"
        ):
            printed_group_a(d, k, l, Q(1))

    def test_group_b_by_hand(self):
        w = sensitivity_weights(np.array([4, 2, 2]))
        assert w.tolist() == [0.2, 0.4, 0.4]
        assert printed_scales(w, 3, Q(1, 2)) == (Q(60), Q(30), Q(30))

    def test_a_weight_of_zero_gets_a_floor(self):
        assert max(printed_scales(np.array([0.0, 1.0]), 1, Q(1))) == 2 * 10**6

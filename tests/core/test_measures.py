"""Measures against a table small enough to work by hand, against brute force, and against their own
laws."""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth.algorithms import value_weights
from pdsynth.answers.laws import discrete_laplace_pmf, exponential_probabilities
from pdsynth.core.measures import (
    GRID,
    SCORES,
    association,
    association_sensitivity,
    entropy,
    entropy_sensitivity,
    f_shortfall,
    mutual_information,
    mutual_information_sensitivity,
    normalised_risk_entropy,
    total_variation,
    tvd_from_independence,
    tvd_sensitivity,
)
from pdsynth.core.model import conditional
from pdsynth.core.records import marginal
from pdsynth.core.unit import histogram_cost, tight_scales
from pdsynth.published.budgets import printed_scales, sensitivity_weights
from pdsynth.published.curator import average_mutual_information

# Eight records (A, B, C) with |A| = |B| = 2, |C| = 4. All frequencies are powers of two, so every
# entropy is a short sum:
# c(C) = 4, 2, 1, 1; A is decided by C (C = 0 ⇔ A = 0); A and B are independent.
SIZES = (2, 2, 4)
A, B, C = 0, 1, 2
HAND = np.array(
    [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 1], [1, 1, 2], [1, 1, 3]],
    dtype=np.uint8,
)

tables = st.integers(2, 4).flatmap(
    lambda rows: st.integers(1, 4).flatmap(
        lambda columns: (
            st.lists(st.integers(0, 6), min_size=rows * columns, max_size=rows * columns)
            .filter(any)
            .map(lambda c: np.array(c, dtype=np.int64).reshape(rows, columns))
        )
    )
)


def hand(*columns):
    """The counts of some columns, child first."""
    t = marginal(HAND, SIZES, columns)
    return t.reshape(len(t), -1)


class TestByHand:
    @pytest.mark.parametrize(
        ("columns", "bits"),
        [
            ((A,), 1),
            ((B,), 1),
            ((C,), 1.75),
            ((A, B), 2),
            ((A, C), 1.75),
            ((B, C), 2.25),
            ((A, B, C), 2.25),
        ],
    )
    def test_entropy_in_bits(self, columns, bits):
        assert entropy(marginal(HAND, SIZES, columns)) == bits

    @pytest.mark.parametrize(
        ("child", "parents", "bits"),
        [(A, (B,), 0), (A, (C,), 1), (B, (C,), 0.5), (A, (B, C), 1), (B, (A, C), 0.5)],
    )
    def test_mutual_information_in_bits(self, child, parents, bits):
        assert mutual_information(hand(child, *parents)) == bits

    @pytest.mark.parametrize(
        ("child", "parents", "k"),
        # K(A,C): |8·4−4·4| + |0−4·2| + |0−4·1|·2, and the same for the other row; K(B,C): 0 + 8 + 4
        # + 4, twice
        [(A, (B,), 0), (A, (C,), 64), (C, (A,), 64), (B, (C,), 32), (A, (B, C), 64)],
    )
    def test_association_is_an_exact_integer(self, child, parents, k):
        assert association(hand(child, *parents)) == k
        assert isinstance(association(hand(child, *parents)), int)
        assert tvd_from_independence(hand(child, *parents)) == Q(k, 2 * 64)

    @pytest.mark.parametrize(
        ("child", "parents", "f"),
        # F(A;C): side 0 for C = 0 gets 4 = n/2 zeros, side 1 elsewhere 4 ones: nothing is short.
        # F(A;B): any sides miss n/2.
        # F(B;C): sides 0, 0, 1, 1 get 4 zeros and 2 ones: short of one half by (8 − 2·2)/16
        [(A, (C,), Q(0)), (A, (B,), Q(-1, 2)), (B, (C,), Q(-1, 4)), (A, (B, C), Q(0))],
    )
    def test_score_f(self, child, parents, f):
        assert Q(-f_shortfall(hand(child, *parents)), 2 * 8) == f
        assert Q(SCORES["F"].of(hand(child, *parents)), 2 * 8) == f

    def test_average_mutual_information_and_its_order(self):
        matrix = np.array(
            [[mutual_information(hand(i, j)) if i != j else 99 for j in range(3)] for i in range(3)]
        )
        ami = average_mutual_information(matrix)
        assert ami.tolist() == [0.5, 0.25, 0.75]
        assert np.argsort(-ami).tolist() == [C, A, B]
        assert matrix[0, 0] == 99, "the argument is left alone"

    def test_sensitivity_weights(self):
        # SD = −log₂(4/8, 2/8, 1/8, 1/8) = 1, 2, 3, 3, and 9 in all
        assert sensitivity_weights(hand(C).ravel()).tolist() == pytest.approx(
            [1 / 9, 2 / 9, 3 / 9, 3 / 9], rel=1e-15
        )
        assert sensitivity_weights(hand(A).ravel()).tolist() == [0.5, 0.5]
        # a declared value without records: one is added everywhere, 1, 0, 0 → 2, 1, 1
        assert sensitivity_weights(np.array([1, 0, 0])).tolist() == pytest.approx(
            [1 / 5, 2 / 5, 2 / 5], rel=1e-15
        )

    def test_relative_weights_in_three_rare_valuess(self):
        counts = np.array([4, 2, 1, 1])
        assert value_weights(counts, "less_noise", Q(1, 10)) == (Q(1, 3), Q(2, 3), Q(1), Q(1))
        assert value_weights(counts, "less_noise", Q(1, 2)) == (Q(1, 2), Q(2, 3), Q(1), Q(1)), (
            "the floor"
        )
        assert value_weights(counts, "more_noise", Q(1, 10)) == (Q(1), Q(1, 2), Q(1, 3), Q(1, 3))
        assert value_weights(counts, "same_noise", Q(1, 2)) == (Q(1),) * 4

    def test_printed_scales_are_too_large_by_one_over_the_largest_weight(self):
        scales = printed_scales(np.array([1 / 9, 2 / 9, 3 / 9, 3 / 9]), 1, Q(1))
        assert [round(float(s), 4) for s in scales] == [18, 9, 6, 6]
        assert histogram_cost([Q(18), Q(9), Q(6), Q(6)], 2) == Q(1, 3), "max w · ε₃/l, not ε₃/l"
        assert histogram_cost([Q(18), Q(9), Q(6), Q(6)], 1) == Q(1, 3), (
            "(w₁ + w₂)/2 · ε₃/l: the two rarest values"
        )
        assert histogram_cost([Q(18), Q(9), Q(6)], 1) == (Q(1, 9) + Q(1, 6)), (
            "a root table: the two largest weights differ"
        )

    def test_tight_scales_cost_what_they_should(self):
        v = (Q(1, 3), Q(2, 3), Q(1), Q(1))
        assert tight_scales(v, Q(1), 2) == (6, 3, 2, 2)
        assert tight_scales((Q(1), Q(1, 2)), Q(1), 1) == (Q(3, 2), Q(3)), (
            "one column: a record must change its row"
        )
        for columns, epsilon in itertools.product((1, 2, 7), (Q(1), Q(1, 30))):
            assert histogram_cost(tight_scales(v, epsilon, columns), columns) == epsilon

    def test_the_worst_move_of_a_record_by_brute_force(self):
        scales, columns = [Q(2), Q(5), Q(3)], 2
        cells = list(itertools.product(range(3), range(columns)))
        moves = [
            1 / scales[x] + 1 / scales[y] for (x, a), (y, b) in itertools.permutations(cells, 2)
        ]
        assert histogram_cost(scales, columns) == max(moves) == 1
        moves = [1 / scales[x] + 1 / scales[y] for x, y in itertools.permutations(range(3), 2)]
        assert histogram_cost(scales, 1) == max(moves) == Q(5, 6)

    def test_exponential_mechanism_probabilities(self):
        # ε = 2 ln 2 and Δ = 1: each point of score doubles the chance
        epsilon = 2 * math.log(2)
        assert exponential_probabilities(np.array([2, 1, 0]), 1, epsilon).tolist() == pytest.approx(
            [4 / 7, 2 / 7, 1 / 7], rel=1e-15
        )
        assert exponential_probabilities(
            np.array([0, -1, -1]) * 10**9, 10**9, epsilon
        ).tolist() == pytest.approx([1 / 2, 1 / 4, 1 / 4])

    def test_discrete_laplace_probabilities(self):
        # scale 1/ln 2: P(0) = 1/3, and each step outwards halves it
        pmf = discrete_laplace_pmf(np.arange(-3, 4), 1 / math.log(2))
        assert pmf.tolist() == pytest.approx(
            [1 / 24, 1 / 12, 1 / 6, 1 / 3, 1 / 6, 1 / 12, 1 / 24], rel=1e-14
        )

    def test_conditionals(self):
        table = np.array(
            [[3, -1, 1], [1, -2, 0]]
        )  # the middle column has no mass: the marginal (4/5, 1/5) of the same table
        assert conditional(table).tolist() == [[0.75, 0.8, 1.0], [0.25, pytest.approx(0.2), 0.0]]
        assert conditional(np.array([[-1, 0], [0, -3]])).tolist() == [[0.5, 0.5], [0.5, 0.5]]

    def test_total_variation(self):
        assert total_variation(np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.25, 0.5])) == 0.25

    def test_sensitivities_of_eight_records(self):
        s_bin = 3 / 8 + 7 / 8 * math.log2(8 / 7)
        s_gen = 2 / 8 * math.log2(9 / 2) + 7 / 8 * math.log2(9 / 7)
        assert entropy_sensitivity(8) == pytest.approx(s_bin, rel=1e-15)
        assert (
            mutual_information_sensitivity(8, 2, 4)
            == mutual_information_sensitivity(8, 5, 2)
            == pytest.approx(s_bin, rel=1e-15)
        )
        assert mutual_information_sensitivity(8, 3, 3) == pytest.approx(s_gen, rel=1e-15)
        assert (
            association_sensitivity(8, 2, 4),
            association_sensitivity(8, 3, 2),
            association_sensitivity(8, 3, 4),
        ) == (28, 28, 42)
        assert tvd_sensitivity(8, 2, 2) == Q(2 * 7, 64)
        assert tvd_sensitivity(8, 3, 3) == Q(3 * 7, 64)
        assert mutual_information_sensitivity(8, 2, 1) == association_sensitivity(8, 2, 1) == 0, (
            "no parents, nothing to change"
        )


class TestLaws:
    def test_the_sensitivity_for_larger_domains_is_nearly_twice_the_other(self):
        assert mutual_information_sensitivity(2001, 3, 3) / entropy_sensitivity(
            2001
        ) == pytest.approx(1.84, abs=0.005)
        assert mutual_information_sensitivity(27504, 3, 3) / entropy_sensitivity(
            27504
        ) == pytest.approx(1.876, abs=0.001)

    @given(tables)
    @settings(max_examples=60)
    def test_ranges_and_symmetry(self, table):
        n, rows, columns = table.sum(), *table.shape
        bits = mutual_information(table)
        assert -1e-9 <= bits <= math.log2(min(rows, columns)) + 1e-9
        assert bits == pytest.approx(mutual_information(table.T), abs=1e-9)
        assert association(table) == association(table.T)
        assert association(table) % 2 == 0
        assert 0 <= tvd_from_independence(table) < 1
        assert 0 <= entropy(table) <= math.log2(table.size) + 1e-9
        p = table / n
        assert float(tvd_from_independence(table)) == pytest.approx(
            total_variation(p, np.outer(p.sum(1), p.sum(0))), abs=1e-12
        )

    @given(tables)
    @settings(max_examples=60)
    def test_pinsker_ties_association_to_information(self, table):
        nats = mutual_information(table) * math.log(2)
        assert nats >= 2 * float(tvd_from_independence(table)) ** 2 - 1e-9

    @given(tables)
    @settings(max_examples=60)
    def test_entropy_is_the_textbook_sum_in_bits(self, table):
        p = table[table > 0] / table.sum()
        assert entropy(table) == pytest.approx(-(p * np.log2(p)).sum(), abs=1e-12)
        nats = -(p * np.log(p)).sum()
        assert nats < 0.05 or entropy(table) != pytest.approx(nats, rel=0.3), "failing twin: nats"

    @given(
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=7).filter(
            lambda c: any(map(any, c))
        )
    )
    @settings(max_examples=120)
    def test_score_f_against_every_assignment_of_sides(self, columns):
        n = sum(map(sum, columns))
        shortfalls = []
        for sides in itertools.product((0, 1), repeat=len(columns)):
            a = sum(c[0] for c, s in zip(columns, sides, strict=True) if s == 0)
            b = sum(c[1] for c, s in zip(columns, sides, strict=True) if s == 1)
            shortfalls.append(max(n - 2 * a, 0) + max(n - 2 * b, 0))
        assert f_shortfall(np.array(columns).T) == min(shortfalls)
        assert 0 <= f_shortfall(np.array(columns).T) <= n

    @given(st.lists(st.integers(0, 50), min_size=2, max_size=8).filter(any))
    def test_weights_are_a_distribution_and_rare_values_weigh_more(self, counts):
        w = sensitivity_weights(np.array(counts))
        assert w.sum() == pytest.approx(1)
        assert (w > 0).all()
        order = np.argsort(counts, kind="stable")
        assert (np.diff(w[order]) <= 1e-12).all()

    @given(
        st.lists(st.integers(1, 40).map(lambda v: Q(v, 40)), min_size=2, max_size=6),
        st.integers(1, 4),
    )
    def test_tight_scales_spend_the_budget_exactly_whatever_the_weights(self, weights, columns):
        assert histogram_cost(tight_scales(weights, Q(1, 7), columns), columns) == Q(1, 7)


class TestScores:
    def test_every_score_is_an_integer_in_the_unit_of_its_sensitivity(self):
        for score in SCORES.values():
            assert isinstance(score.of(hand(A, C)), int)
            assert isinstance(score.sensitivity(8, 2, 4), int)
            assert score.unit
        assert {s.unit for s in SCORES.values()} == {"2^-30 bit", "records^2", "half records"}

    def test_values_by_hand_in_their_units(self):
        assert SCORES["I"].of(hand(A, C)) == GRID, "1 bit"
        assert SCORES["R"].of(hand(A, C)) == 8**2, "R = 1/2, K = 2n²R"

    def test_information_enters_mechanisms_rounded_up_to_the_grid(self):
        for n, x, pi in ((2, 2, 2), (8, 2, 4), (9, 3, 3), (45_222, 16, 200)):
            steps = SCORES["I"].sensitivity(n, x, pi)
            bits = mutual_information_sensitivity(n, x, pi)
            assert bits * GRID + 1 <= steps < bits * GRID + 2, (
                "both neighbours are rounded by at most half a step"
            )


def test_counts_below_zero_are_no_records():
    """Noise leaves them; they are as good as empty, and not as many records."""
    assert normalised_risk_entropy(np.array([4, 4, 0, -3])) == 0.5
    assert normalised_risk_entropy(np.array([4, 4, 0, 3])) > 0.5, "failing twin: mirrored"

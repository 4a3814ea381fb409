"""The maximal information coefficient against hand-worked tables, every grid, minepy, and every
neighbour of small tables."""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth.algorithms import risk_entropy_weights
from pdsynth.core.errors import SchemaError
from pdsynth.core.measures import (
    entropy,
    entropy_sensitivity,
    mutual_information,
    mutual_information_sensitivity,
    normalised_risk_entropy,
)
from pdsynth.course.mic import (
    maximal_grid,
    maximal_information_coefficient,
    maximal_information_sensitivity,
)
from pdsynth.published.budgets import printed_thirds

shapes = st.tuples(st.integers(2, 5), st.integers(2, 5))
tables = shapes.flatmap(
    lambda shape: (
        st.lists(st.integers(0, 30), min_size=math.prod(shape), max_size=math.prod(shape))
        .filter(any)
        .map(lambda cells: np.array(cells).reshape(shape))
    )
)


def groupings(size):
    """All ways to cut 0 … size−1 into runs, as start places; at least two runs."""
    for a in range(2, size + 1):
        yield from ((0, *cuts) for cuts in itertools.combinations(range(1, size), a - 1))


def every_grid(table, exponent=0.6):
    """The oracle: all grids, one after the other."""
    best, n = 0.0, table.sum()
    for rows, columns in itertools.product(groupings(table.shape[0]), groupings(table.shape[1])):
        a, b = len(rows), len(columns)
        if a * b < n**exponent or a == b == 2:
            grid = np.add.reduceat(np.add.reduceat(table, rows, axis=0), columns, axis=1)
            best = max(best, mutual_information(grid) / math.log2(min(a, b)))
    return best


class TestByHand:
    def test_two_by_two_is_mutual_information_in_bits(self):
        for table in ([[2, 0], [0, 2]], [[5, 1], [1, 5]], [[1, 1], [1, 1]], [[3, 0], [0, 0]]):
            assert maximal_information_coefficient(np.array(table)) == pytest.approx(
                mutual_information(np.array(table)), abs=1e-15
            )
        assert maximal_information_coefficient(np.array([[2, 0], [0, 2]])) == 1
        assert maximal_information_coefficient(np.array([[1, 1], [1, 1]])) == 0

    def test_a_diagonal_of_three_with_room_for_one_grid_only(self):
        # n = 12, B = 12^0.6 = 4.44: only 2 × 2. Any cut splits 4 from 8 on both sides: H(1/3) bits
        # over log₂ 2
        diagonal = 4 * np.eye(3, dtype=int)
        assert maximal_information_coefficient(diagonal) == pytest.approx(
            math.log2(3) - 2 / 3, rel=1e-14
        )
        # n = 120, B = 17.7: the 3 × 3 grid reads log₂ 3 bits over log₂ 3
        assert maximal_information_coefficient(10 * diagonal) == pytest.approx(1, rel=1e-14)

    def test_a_parabola_has_no_correlation_and_full_information(self):
        # y = |x − 1|: x = 0, 1, 2 with 16, 32, 16 records; no line, but {0}, {1}, {2} against y: 1
        # bit in a 2 × 3 grid
        table = np.array([[0, 16], [32, 0], [0, 16]])
        assert maximal_information_coefficient(table) == pytest.approx(1, rel=1e-14)
        assert maximal_information_coefficient(table[:, ::-1].T) == pytest.approx(1, rel=1e-14)

    def test_only_neighbouring_codes_are_joined(self):
        """Codes are ordered: with B = 8^0.6 = 3.5 only 2 × 2 grids count, and no cut of 0, 1, 2
        isolates the 1."""
        table = np.array([[0, 2], [4, 0], [0, 2]])
        assert maximal_information_coefficient(table) == pytest.approx(
            mutual_information(np.array([[0, 2], [4, 2]])), rel=1e-14
        )
        assert maximal_information_coefficient(table[[0, 2, 1]]) == pytest.approx(1, rel=1e-14)

    def test_the_exponent_decides_which_grids_count(self):
        diagonal = np.diag([30, 30, 30])  # 90^0.45 = 7.6 forbids 3 × 3, 90^0.55 = 11.9 allows it
        assert maximal_information_coefficient(diagonal, exponent=0.45) < 0.92
        assert maximal_information_coefficient(diagonal, exponent=0.55) == pytest.approx(1)

    def test_one_value_has_no_information_and_one_record_neither(self):
        assert maximal_information_coefficient(np.array([[3, 4]])) == 0
        assert maximal_information_coefficient(np.array([[0, 0], [0, 1]])) == 0


class TestOracle:
    @given(tables, st.sampled_from([0.45, 0.55, 0.6, 0.8]))
    @settings(max_examples=150, deadline=None)
    def test_against_all_grids_one_by_one(self, table, exponent):
        assert maximal_information_coefficient(table, exponent) == pytest.approx(
            every_grid(table, exponent), abs=1e-12
        )

    @given(tables, st.sampled_from([0.45, 0.6, 0.8]))
    @settings(max_examples=100, deadline=None)
    def test_the_winning_grid_attains_the_maximum(self, table, exponent):
        grid = maximal_grid(table, exponent)
        assert grid.value == maximal_information_coefficient(table, exponent)
        rows, columns = [0, *grid.row_cuts], [0, *grid.column_cuts]
        assert rows == sorted(set(rows)) and columns == sorted(set(columns))
        grouped = np.add.reduceat(np.add.reduceat(table, rows, axis=0), columns, axis=1)
        if grid.value > 1e-12:
            assert min(grouped.shape) >= 2
            assert mutual_information(grouped) / math.log2(min(grouped.shape)) == pytest.approx(
                grid.value, abs=1e-12
            )

    @given(tables)
    @settings(max_examples=60, deadline=None)
    def test_range_and_symmetries(self, table):
        mic = maximal_information_coefficient(table)
        assert 0 <= mic <= 1
        assert maximal_information_coefficient(table.T) == pytest.approx(mic, abs=1e-12)
        assert maximal_information_coefficient(table[::-1]) == pytest.approx(mic, abs=1e-12)
        halves = (
            np.add.reduceat(table, [0, len(table) // 2 or 1], axis=0) if len(table) > 2 else table
        )
        assert maximal_information_coefficient(halves) <= mic + 1e-12, (
            "a coarser declared domain has fewer grids"
        )

    def test_sixteen_values_are_feasible_and_more_are_refused_with_their_size(self):
        table = np.random.default_rng(0).integers(0, 200, (5, 42))
        assert 0 < maximal_information_coefficient(table) < 1
        with pytest.raises(SchemaError, match=r"16 × 42 values would try 32,768 groupings"):
            maximal_information_coefficient(np.ones((42, 16), dtype=int))

    @pytest.mark.parametrize("seed", range(6))
    def test_minepy_never_finds_more(self, seed):
        """minepy searches heuristically (rows in equal shares) over the same bound B, so the exact
        maximum can't lie below its own."""
        minepy = pytest.importorskip("minepy")
        table = np.random.default_rng(seed).integers(0, 40, (4, 5)) * np.random.default_rng(
            seed + 9
        ).integers(0, 2, (4, 5))
        x, y = np.nonzero(table)
        x, y = np.repeat(x, table[x, y]).astype(float), np.repeat(y, table[table > 0]).astype(float)
        mine = minepy.MINE(alpha=0.6, c=50, est="mic_approx")
        mine.compute_score(x, y)
        assert mine.mic() <= maximal_information_coefficient(table) + 1e-9

    @pytest.mark.parametrize(
        ("table", "theirs"),
        [
            ([[20, 5], [5, 20]], 0.2780719051126378),
            ([[30, 2, 1], [4, 25, 3], [2, 6, 27]], 0.5131095652050746),
            ([[0, 40], [80, 0], [0, 40]], 1.0),
            ([[10, 0, 3, 7], [2, 14, 0, 5], [9, 1, 22, 0], [0, 6, 2, 18]], 0.3675416301636142),
            ([[12, 0, 1], [0, 25, 2], [3, 1, 40], [9, 9, 9], [2, 30, 2]], 0.4966585124691012),
            ([[7, 1, 0, 2, 9, 0], [1, 8, 3, 0, 0, 12], [0, 2, 15, 4, 1, 1]], 0.5722878750216316),
            (
                [[0, 25, 20, 0, 0], [1, 3, 0, 7, 32], [25, 36, 20, 24, 38], [29, 0, 0, 22, 0]],
                0.3313406946822354,
            ),
            (
                [[29, 37, 35, 20, 0], [39, 38, 0, 0, 0], [11, 15, 25, 32, 23], [0, 27, 34, 0, 21]],
                0.2733125913726734,
            ),
        ],
    )
    def test_what_minepy_answered(self, table, theirs):
        """Answers of minepy 1.2.6 (alpha 0.6, c 50), written down because it doesn't build with
        current compilers and numpy.

        On these tables its heuristic finds the maximum.
        """
        assert maximal_information_coefficient(np.array(table)) == pytest.approx(theirs, abs=1e-9)


class TestSensitivity:
    @staticmethod
    def worst(measure, n, shape):
        """
        he largest change of a measure over all tables of n records and all replacements of one.
        """
        cells = math.prod(shape)
        value = {}
        for counts in itertools.product(range(n + 1), repeat=cells - 1):
            if sum(counts) <= n:
                full = (*counts, n - sum(counts))
                value[full] = measure(np.array(full).reshape(shape))
        worst = 0.0
        for full, v in value.items():
            for i, j in itertools.permutations(range(cells), 2):
                if full[i]:
                    moved = list(full)
                    moved[i] -= 1
                    moved[j] += 1
                    worst = max(worst, abs(v - value[tuple(moved)]))
        return worst

    @pytest.mark.parametrize(
        ("n", "shape"),
        [(3, (2, 2)), (8, (2, 2)), (12, (2, 2)), (5, (2, 3)), (3, (3, 3)), (4, (3, 3))],
    )
    @pytest.mark.parametrize("exponent", [0.6, 3.0])
    def test_all_neighbours_of_small_tables(self, n, shape, exponent):
        """Exponent 3 lets all grids count, which 0.6 does not at this size."""
        bound = maximal_information_sensitivity(n, *shape)
        found = self.worst(lambda t: maximal_information_coefficient(t, exponent), n, shape)
        assert found <= bound + 1e-12
        if shape == (2, 2):
            assert found == pytest.approx(bound, abs=1e-12), "attained on bits"

    def test_formulas(self):
        assert (
            maximal_information_sensitivity(1000, 2, 2)
            == entropy_sensitivity(1000)
            == pytest.approx(0.011408, abs=5e-7)
        )
        assert maximal_information_sensitivity(1000, 2, 9) == entropy_sensitivity(1000)
        assert maximal_information_sensitivity(1000, 3, 4) == mutual_information_sensitivity(
            1000, 3, 3
        ) / math.log2(3)
        assert maximal_information_sensitivity(45222, 5, 5) / entropy_sensitivity(
            45222
        ) == pytest.approx(1.2, abs=0.02)
        assert maximal_information_sensitivity(2, 3, 3) == entropy_sensitivity(2), (
            "of two records, the 2 × 2 grids change most"
        )
        assert maximal_information_sensitivity(50, 1, 5) == 0

    @pytest.mark.parametrize("n", [10, 1000, 10**6])
    def test_twin_information_over_entropy_has_no_bound(self, n):
        """All records alike, one replaced by a record that differs twice: I/H jumps from 0 to 1
        whatever n; MIC moves by S_bin."""

        def by_entropy(table):
            smaller = min(entropy(table.sum(0)), entropy(table.sum(1)))
            return mutual_information(table) / smaller if smaller > 1e-9 else 0.0

        before, after = np.array([[n, 0], [0, 0]]), np.array([[n - 1, 0], [0, 1]])
        assert by_entropy(after) - by_entropy(before) == pytest.approx(1)
        moved = maximal_information_coefficient(after) - maximal_information_coefficient(before)
        assert moved == pytest.approx(maximal_information_sensitivity(n, 2, 2), rel=1e-6)
        assert moved < 4 * math.log2(n) / n


class TestRiskEntropy:
    def test_by_hand(self):
        assert normalised_risk_entropy(np.array([4, 2, 1, 1])) == 1.75 / 2
        assert normalised_risk_entropy(np.array([5, 5])) == 1
        assert normalised_risk_entropy(np.array([9, 0, 0])) == 0
        assert normalised_risk_entropy(np.array([4, 4, 0, 0])) == 0.5, (
            "declared values count, also those without records"
        )
        assert normalised_risk_entropy(np.array([7])) == 0

    def test_noisy_counts(self):
        assert normalised_risk_entropy(np.array([4, -3, 4, -1])) == 0.5
        assert normalised_risk_entropy(np.array([-1, 0, -8])) == 1, "nothing known: as if uniform"

    @given(st.lists(st.integers(-5, 50), min_size=2, max_size=9))
    def test_range(self, counts):
        assert 0 <= normalised_risk_entropy(np.array(counts)) <= 1

    @pytest.mark.parametrize(("n", "size"), [(4, 2), (9, 2), (5, 3), (4, 4)])
    def test_one_record_moves_it_by_the_sensitivity_of_entropy(self, n, size):
        found = TestSensitivity.worst(normalised_risk_entropy, n, (size,))
        assert found == pytest.approx(entropy_sensitivity(n) / math.log2(size), abs=1e-12)

    @given(st.dictionaries(st.text(min_size=1), st.floats(0, 1), min_size=1, max_size=9))
    def test_shares_add_up_exactly_and_risk_costs_budget(self, entropies):
        shares = risk_entropy_weights(entropies)
        assert sum(shares.values()) == 1
        assert all(share.denominator <= 1024 * len(entropies) for share in shares.values())
        exact = {
            name: math.exp(-value) / sum(math.exp(-v) for v in entropies.values())
            for name, value in entropies.items()
        }
        for a, b in itertools.permutations(entropies, 2):
            assert entropies[a] < entropies[b] or shares[a] <= shares[b]
            assert float(shares[a]) == pytest.approx(exact[a], rel=3e-3)

    def test_the_printed_split(self):
        adult, big5 = printed_thirds(52, 3, Q(1)), printed_thirds(175, 3, Q(1))
        assert [round(float(e), 4) for e in adult] == [0.4238, 0.2881, 0.2881]
        assert [round(float(e), 4) for e in big5] == [0.4272, 0.2864, 0.2864]
        assert sum(adult) == sum(big5) == 1
        assert adult[0] / adult[1] == Q(51 * 3, 104)
        assert round(float(26 * adult[0] + 3 * (adult[1] + adult[2])), 2) == 12.75
        assert round(float(87 * big5[0] + 3 * (big5[1] + big5[2])), 1) == 38.9

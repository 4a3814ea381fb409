"""T1: every declared sensitivity against all tables of a size and all their neighbours. Each check
has a twin that must fail."""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pytest
from privacy_tools import (
    Silent,
    cells_of,
    curator_of,
    largest_change,
    multisets,
    neighbourhoods,
    records_of,
)

from pdsynth.core.curator import Curator
from pdsynth.core.ledger import Ledger
from pdsynth.core.measures import (
    SCORES,
    association,
    association_sensitivity,
    entropy,
    entropy_sensitivity,
    f_shortfall,
    mutual_information,
    mutual_information_sensitivity,
    tvd_from_independence,
    tvd_sensitivity,
)
from pdsynth.core.network import Candidates
from pdsynth.core.unit import TableBudget

# Shapes of at most 8 cells with all n ≤ 6; one of 9 cells because 3 × 3 is the smallest domain with
# the larger sensitivities.
TWO_VALUED = (
    [((2, 2), n) for n in range(2, 7)]
    + [((2, 3), n) for n in range(2, 7)]
    + [((2, 4), n) for n in (2, 3, 4, 5, 6)]
)
LARGER = [((3, 3), n) for n in (2, 3, 4, 5)]
ALL = TWO_VALUED + [((4, 2), 5), ((3, 2), 6)] + LARGER
TIGHT = 1e-12


def shapes(cases):
    return pytest.mark.parametrize(
        ("shape", "n"),
        cases,
        ids=lambda v: "x".join(map(str, v)) if isinstance(v, tuple) else f"n{v}",
    )


def test_the_tool_visits_every_table_and_every_neighbour():
    tables = {t for around in neighbourhoods(3, 4) for t in around}
    assert tables == set(multisets(3, 4))
    pairs = {
        frozenset(p) for around in neighbourhoods(3, 4) for p in itertools.combinations(around, 2)
    }
    counts = {t: np.bincount(t, minlength=4) for t in tables}
    replaced = {
        frozenset((s, t))
        for s, t in itertools.combinations(tables, 2)
        if np.abs(counts[s] - counts[t]).sum() == 2
    }
    assert pairs == replaced


class TestMutualInformation:
    @shapes(ALL)
    def test_largest_change_is_at_most_declared(self, shape, n):
        true, declared = (
            largest_change(mutual_information, n, shape),
            mutual_information_sensitivity(n, *shape),
        )
        assert true <= declared + TIGHT
        if (
            min(shape) == 2 or n % 2
        ):  # the bound is attained, except on larger domains with an even n
            assert declared / true <= 1.05
            assert true == pytest.approx(declared, abs=1e-12)

    def test_it_is_attained_far_beyond_tiny_tables(self):
        """(n−1)/2 records (1,2), as many (2,1), and one (2,2) that becomes (0,0)."""
        n = 2001
        before, after = np.zeros((3, 3), dtype=np.int64), np.zeros((3, 3), dtype=np.int64)
        for table in (before, after):
            table[1, 2] = table[2, 1] = (n - 1) // 2
        before[2, 2] = after[0, 0] = 1
        change = abs(mutual_information(before) - mutual_information(after))
        assert change == pytest.approx(mutual_information_sensitivity(n, 3, 3), rel=1e-9)

    @shapes(LARGER)
    def test_twin_the_binary_sensitivity_is_false_on_larger_domains(self, shape, n):
        if n > 2:  # two records can't show the difference
            assert largest_change(mutual_information, n, shape) > entropy_sensitivity(n) + 1e-3

    @shapes(TWO_VALUED)
    def test_twin_a_sensitivity_in_nats_is_false_for_a_score_in_bits(self, shape, n):
        nats = mutual_information_sensitivity(n, *shape) * math.log(2)
        assert largest_change(mutual_information, n, shape) > nats + 1e-3

    def test_twin_the_normalised_score_has_a_larger_change(self):
        def normalised(t):
            h = entropy(t)
            return mutual_information(t) / h if h > 0 else 0.0

        assert (
            largest_change(normalised, 6, (2, 2)) > mutual_information_sensitivity(6, 2, 2) + 0.01
        )


class TestEntropy:
    @pytest.mark.parametrize("values", [2, 3, 5, 8])
    @pytest.mark.parametrize("n", [2, 3, 6])
    def test_the_declared_change_is_attained_on_every_domain(self, values, n):
        assert largest_change(entropy, n, (values,)) == pytest.approx(
            entropy_sensitivity(n), abs=1e-12
        )

    def test_twin_one_over_n_is_false(self):
        assert largest_change(entropy, 6, (3,)) > 1 / 6 + 0.1


class TestAssociation:
    @shapes(TWO_VALUED + [((4, 2), 5)])
    def test_two_valued_sides_attain_four_times_n_minus_one(self, shape, n):
        assert association_sensitivity(n, *shape) == 4 * (n - 1)
        true = largest_change(association, n, shape)
        assert true <= 4 * (n - 1)
        if shape in ((2, 2), (2, 3)):
            assert true == 4 * (n - 1)

    @shapes(LARGER)
    def test_larger_domains_stay_within_six_times_n_minus_one(self, shape, n):
        assert (
            largest_change(association, n, shape)
            <= association_sensitivity(n, *shape)
            == 6 * (n - 1)
        )

    def test_three_by_three_reaches_eighteen_of_twenty_four(self):
        assert largest_change(association, 5, (3, 3)) == 18

    def test_twin_the_smaller_constant_is_false_for_three_values(self):
        assert largest_change(association, 5, (3, 3)) > 4 * (5 - 1)

    def test_twin_two_over_n_is_false_for_the_distance(self):
        """R moves by up to 2.77/n on a table found by search; here 3·3 values and n = 1000 already
        pass 2/n."""
        n = 1000
        best = 0
        for p, q, r in itertools.product(range(100, 800, 100), repeat=3):
            if p + q + r <= n - 1:
                t = np.zeros((3, 3), dtype=np.int64)
                t[0, 1], t[1, 0], t[2, 2] = p, q, r
                t[0, 0] = n - 1 - p - q - r
                values = []
                for cell in np.ndindex(3, 3):
                    t[cell] += 1
                    values.append(tvd_from_independence(t))
                    t[cell] -= 1
                best = max(best, max(values) - min(values))
        assert Q(2, n) < best <= tvd_sensitivity(n, 3, 3) < Q(3, n)

    @shapes([((2, 2), 5), ((3, 3), 4)])
    def test_the_distance_is_the_integer_over_two_n_squared(self, shape, n):
        assert largest_change(tvd_from_independence, n, shape) == Q(
            largest_change(association, n, shape), 2 * n * n
        )
        assert largest_change(tvd_from_independence, n, shape) <= tvd_sensitivity(n, *shape)


class TestScoreF:
    @shapes(TWO_VALUED)
    def test_the_change_is_two_half_records(self, shape, n):
        true = largest_change(f_shortfall, n, shape)
        assert true <= SCORES["F"].sensitivity(n, *shape) == 2
        assert true == 2, "attained: 1/n in the paper's unit"

    def test_twin_half_of_it_is_false(self):
        assert largest_change(f_shortfall, 4, (2, 3)) > 1


class TestCounts:
    """A table whose rows have their own scales; all other questions: test_every_sensitivity."""

    @pytest.mark.parametrize("columns", [(0, 1), (0,)])
    @pytest.mark.parametrize("weights", [(Q(1), Q(2, 5), Q(2, 3)), (Q(1, 7), Q(1, 7), Q(1, 9))])
    def test_a_table_with_a_scale_a_value_loses_what_it_was_given(self, columns, weights):
        """Weighted L1: every cell's change over the scale of its row; the worst replacement attains
        the budget, which is the charged ε, exactly."""
        sizes, n, budget = (3, 2), 3, TableBudget(Q(3, 4), weights)
        cells = cells_of(sizes)
        losses, charged = [], set()
        for around in neighbourhoods(n, len(cells)):
            tables = []
            for t in around:
                curator = curator_of([cells[c] for c in t], sizes, Silent(), epsilon=Q(10))
                counts, scales, _ = curator.table(columns, budget, step="t")
                tables.append(counts.reshape(3, -1))
                charged.add(curator.ledger.entries[-1].epsilon)
                assert np.ravel(curator.noise.asked[-1][1]).tolist() == list(scales)
            for one, other in itertools.combinations(tables, 2):
                losses.append(
                    sum(
                        Q(int(c)) / b
                        for c, b in zip(np.abs(one - other).sum(axis=1), scales, strict=True)
                    )
                )
        assert charged == {max(losses)} == {Q(3, 4)}
        assert max(losses) > 2 / max(scales), "failing twin: the largest scale taken for all"

    @pytest.mark.parametrize("columns", [(0, 1), (0,)])
    def test_where_n_is_secret_the_same_noise_costs_no_more(self, columns):
        """A record more or less moves one cell: less than the worst move that is charged."""
        weights = Q(1), Q(2, 5), Q(2, 3)
        ledger = Ledger(Q(1), relation="add_remove")
        door = Curator(records_of([[0, 0]], (3, 2)), ledger, Silent())
        _, scales, _ = door.table(columns, TableBudget(Q(3, 4), weights), step="t")
        (line,) = ledger.entries
        assert line.epsilon == Q(3, 4) >= max(1 / b for b in scales)
        assert (line.relation, line.sensitivity, ledger.check()) == ("add_remove", 1, [])


class TestSelections:
    """The sensitivity of a block of candidates is that of its worst one."""

    def test_a_mixed_block_takes_the_larger_domain_s_sensitivity(self):
        rows, sizes = [[0, 0, 0], [1, 2, 2], [0, 1, 1], [1, 0, 2], [0, 2, 0]], (2, 3, 3)
        binary, ternary = (
            Candidates(((np.array([2]), np.array([[0]])),)),
            Candidates(((np.array([2]), np.array([[1]])),)),
        )
        mixed = Candidates(((np.array([2, 2]), np.array([[0], [1]])),))
        for score, small, large in (
            ("R", 4 * 4, 6 * 4),
            ("I", SCORES["I"].sensitivity(5, 2, 3), SCORES["I"].sensitivity(5, 3, 3)),
        ):
            for candidates, due in ((binary, small), (ternary, large), (mixed, large)):
                curator = curator_of(rows, sizes, Silent())
                curator.select(candidates, score, Q(1), step="s", source="")
                assert curator.ledger.entries[0].sensitivity == due
                assert curator.ledger.check() == []

    @pytest.mark.parametrize("turn", [1, -1])
    def test_the_worst_of_several_blocks_counts_whichever_comes_last(self, turn):
        blocks = ((np.array([2]), np.array([[1]])), (np.array([2]), np.array([[0]])))
        candidates = Candidates(blocks[::turn])
        assert candidates.sensitivity(SCORES["R"], 5, (2, 3, 3)) == (6 * 4, (3, 3))

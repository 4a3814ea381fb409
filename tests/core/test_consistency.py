"""Overlapping noisy tables: they really agree, nothing is lost, and every step matches its
brute-force oracle."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pdsynth.baselines.pairs import clip_and_scale, intersections, make_consistent
from pdsynth.baselines.priview import covering_design, maximum_entropy, ripple
from pdsynth.core.agreement import integer_weights
from pdsynth.core.measures import marginalise as margin

TOTAL = 100.0


@st.composite
def noisy_views(draw, most=6):
    """Views over a few attributes of two to four values, with noisy tables that are far from
    agreeing."""
    d = draw(st.integers(2, most))
    sizes = [draw(st.integers(2, 4)) for _ in range(d)]
    columns = st.sets(st.integers(0, d - 1), min_size=1, max_size=4).map(lambda s: tuple(sorted(s)))
    views = draw(st.lists(columns, min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return views, [rng.laplace(5, 20, [sizes[j] for j in view]) for view in views], sizes


def disagreement(tables, views) -> float:
    """The largest difference of two views on what they share."""
    gaps = [0.0]
    for (a, va), (b, vb) in itertools.combinations(zip(tables, views, strict=True), 2):
        shared = tuple(sorted(set(va) & set(vb)))
        gaps.append(float(np.abs(margin(a, va, shared) - margin(b, vb, shared)).max()))
    return max(gaps)


class TestIntersections:
    def test_by_hand(self):
        assert intersections([(0, 1), (2, 3)]) == [()]
        assert intersections([(0, 1, 2)]) == [()]
        assert intersections([(0, 1), (0, 1)]) == [(), (0, 1)]
        assert intersections([(0, 1, 2), (1, 2, 3), (0, 2, 3)]) == [
            (),
            (2,),
            (0, 2),
            (1, 2),
            (2, 3),
        ]

    @given(noisy_views())
    @settings(deadline=None, max_examples=60)
    def test_brute_force(self, case):
        views = case[0]
        found = {()}
        for r in range(2, len(views) + 1):
            found |= {
                tuple(sorted(set.intersection(*map(set, group))))
                for group in itertools.combinations(views, r)
            }
        assert intersections(views) == sorted(found, key=lambda s: (len(s), s))


class TestMargin:
    def test_axes_come_as_asked(self):
        table = np.arange(24.0).reshape(2, 3, 4)
        assert np.array_equal(margin(table, (3, 5, 7), (7, 3)), table.sum(axis=1).T)
        assert np.array_equal(margin(table, (3, 5, 7), (5, 7, 3)), table.transpose(1, 2, 0))
        assert margin(table, (3, 5, 7), ()) == table.sum()


class TestConsistent:
    @given(noisy_views())
    @settings(deadline=None, max_examples=100)
    def test_all_pairs_agree_and_the_total_is_n(self, case):
        views, tables, _ = case
        assume_disagree = disagreement(tables, views)
        agreed = make_consistent(tables, views, TOTAL)
        assert disagreement(agreed, views) < 1e-9
        assert len(views) == 1 or assume_disagree > 1e-9
        assert [t.shape for t in agreed] == [t.shape for t in tables]
        assert all(t.sum() == pytest.approx(TOTAL, abs=1e-8) for t in agreed)

    def test_on_a_whole_covering_design(self):
        views = covering_design(23, 8, 2)
        tables = [np.random.default_rng(i).laplace(0, 300, (2,) * 8) for i in range(len(views))]
        assert disagreement(tables, views) > 1000
        assert disagreement(make_consistent(tables, views, 47461), views) < 1e-9

    @given(noisy_views())
    @settings(deadline=None, max_examples=40)
    def test_tables_that_agree_stay(self, case):
        views, _, sizes = case
        whole = np.random.default_rng(0).integers(0, 9, sizes).astype(float)
        tables = [margin(whole, tuple(range(len(sizes))), view) for view in views]
        for before, after in zip(tables, make_consistent(tables, views, whole.sum()), strict=True):
            assert np.allclose(before, after, atol=1e-9)

    def test_two_tables_by_hand(self):
        """Both know B: (6, 4) and (4, 6), so (5, 5); each cell behind B = 0 moves by half of the
        difference."""
        ab, bc = np.array([[2.0, 3.0], [4.0, 1.0]]), np.array([[1.0, 3.0], [4.0, 2.0]])
        one, two = make_consistent([ab, bc], [(0, 1), (1, 2)], 10)
        assert np.allclose(one, [[1.5, 3.5], [3.5, 1.5]])
        assert np.allclose(two, [[1.5, 3.5], [3.5, 1.5]])

    def test_precision_counts(self):
        """A margin of 4 noisy cells a value is known half as well as one of 2:
        weights 1/4 and 1/8.
        """
        small, large = np.full((2, 2), 5.0), np.full((2, 2, 2), 2.5)
        small[0] += 3  # A = 0: 16 of 26, so 13 of 20 once the total is 20
        one, _ = make_consistent([small, large], [(0, 1), (0, 2, 3)], 20)
        assert one.sum(axis=1) == pytest.approx([10 + 3 * 2 / 3, 10 - 3 * 2 / 3])

    @given(st.integers(0, 2**32), st.integers(2, 3), st.integers(2, 3))
    @settings(deadline=None, max_examples=15)
    def test_two_overlapping_tables_get_the_least_squares_answer(self, seed, x, z):
        """The closest pair of tables (in squares) that agree on B and have n records: an oracle
        that knows nothing of averages."""
        rng = np.random.default_rng(seed)
        tables, views = [rng.laplace(5, 9, (x, 2)), rng.laplace(5, 9, (2, z))], [(0, 1), (1, 2)]
        rows = [np.concatenate([np.ones(2 * x), np.zeros(2 * z)])]
        for b in range(2):
            one, two = np.zeros((x, 2)), np.zeros((2, z))
            one[:, b], two[b] = 1, -1
            rows.append(np.concatenate([one.ravel(), two.ravel()]))
        start = np.concatenate([t.ravel() for t in tables])
        a = np.array(rows)
        moved = start + a.T @ np.linalg.solve(a @ a.T, np.array([TOTAL, 0, 0]) - a @ start)
        mine = np.concatenate([t.ravel() for t in make_consistent(tables, views, TOTAL)])
        assert np.allclose(mine, moved, atol=1e-8)

    def test_twin_pairs_alone_are_not_enough(self, monkeypatch):
        """Without what three views share, a later step undoes an earlier one."""
        views = [(0, 1, 2), (0, 1, 3), (0, 2, 3)]
        tables = [np.random.default_rng(i).laplace(5, 20, (2, 2, 2)) for i in range(3)]
        assert disagreement(make_consistent(tables, views, TOTAL), views) < 1e-9
        monkeypatch.setattr(
            "pdsynth.baselines.pairs.intersections", lambda v: [(), (0, 1), (0, 2), (0, 3)]
        )
        assert disagreement(make_consistent(tables, views, TOTAL), views) > 1e-3


class TestRipple:
    def test_by_hand(self):
        assert ripple(np.array([-1.0, 5.0]), 0.1).tolist() == [0, 4]
        assert ripple(np.array([[-2.0, 4.0], [4.0, 4.0]]), 0.1).tolist() == [[0, 3], [3, 4]]
        assert ripple(np.array([[-0.05, 4.0], [4.0, 4.0]]), 0.1).tolist() == [
            [-0.05, 4],
            [4, 4],
        ]  # within the threshold

    @given(st.integers(1, 8), st.integers(0, 2**32), st.floats(0.01, 1))
    @settings(deadline=None, max_examples=60)
    def test_no_cell_is_far_below_zero_and_nothing_is_lost(self, bits, seed, threshold):
        table = np.random.default_rng(seed).laplace(3, 10, (2,) * bits)
        done = ripple(table, threshold)
        assert done.sum() == pytest.approx(table.sum(), abs=1e-6)
        if table.sum() > 2**bits:
            assert done.min() >= -threshold

    @pytest.mark.parametrize("table", [np.zeros((2, 2)), np.full((2, 2), -1.0), np.array(3.0)])
    def test_nothing_to_take_from(self, table):
        assert np.array_equal(ripple(table, 0.1), table)

    def test_a_deficit_stays_near_where_clipping_would_tilt_the_whole_table(self):
        table = np.full((2,) * 8, 4.0)
        table[(0,) * 8] = -80
        done = ripple(table, 0.1)
        assert done[(1,) * 8] == 4, "the far corner pays nothing"
        assert clip_and_scale(table, table.sum())[(1,) * 8] < 3.7


class TestClipped:
    def test_by_hand(self):
        assert clip_and_scale(np.array([-1.0, 1.0, 3.0]), 8).tolist() == [0, 2, 6]
        assert clip_and_scale(np.array([-1.0, 0.0]), 8).tolist() == [4, 4]


class TestMaximumEntropy:
    @given(st.integers(0, 2**32))
    @settings(deadline=None, max_examples=30)
    def test_three_bits_with_all_pairs_against_brute_force(self, seed):
        """Distributions with the same three pairs form a line, p ± δ; its point of largest entropy
        is found by search."""
        p = np.random.default_rng(seed).dirichlet(np.ones(8)).reshape(2, 2, 2)
        sign = np.fromfunction(lambda x, y, z: (-1.0) ** (x + y + z), (2, 2, 2))
        low, high = -p[sign > 0].min(), p[sign < 0].min()

        def entropy(delta):
            q = np.maximum(p + delta * sign, 1e-300)
            return float((q * np.log(q)).sum())

        best = minimize_scalar(
            entropy, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        pairs = [
            ((a, b), margin(p, (0, 1, 2), (a, b))) for a, b in itertools.combinations(range(3), 2)
        ]
        assert (
            np.abs(
                maximum_entropy((2, 2, 2), pairs, tolerance=1e-10, sweeps=2000) - (p + best * sign)
            ).max()
            < 1e-5
        )

    def test_a_chain_has_a_closed_form(self):
        p = np.random.default_rng(1).dirichlet(np.ones(24)).reshape(2, 3, 4)
        xy, yz, y = p.sum(axis=2), p.sum(axis=0), p.sum(axis=(0, 2))
        found = maximum_entropy((2, 3, 4), [((0, 1), xy), ((1, 2), yz)])
        assert np.allclose(found, xy[:, :, None] * yz[None] / y[None, :, None])

    def test_axes_in_any_order_and_counts_of_any_sum(self):
        table = np.array([[3.0, 1.0], [0.0, 4.0]])
        assert np.allclose(maximum_entropy((2, 2), [((1, 0), table)]), table.T / 8)

    def test_axes_without_a_margin_are_uniform(self):
        assert np.allclose(
            maximum_entropy((2, 3), [((0,), np.array([1.0, 3.0]))]), [[1 / 12] * 3, [1 / 4] * 3]
        )

    def test_margins_that_contradict_each_other_or_hold_nothing(self):
        one, other = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])
        found = maximum_entropy(
            (2, 2, 2), [((0, 1), one), ((1, 2), other), ((0, 2), np.zeros((2, 2)))]
        )
        assert np.isfinite(found).all()
        assert found.sum() == pytest.approx(1)

    def test_stops_after_so_many_sweeps(self):
        p = np.random.default_rng(3).dirichlet(np.ones(8) / 5).reshape(2, 2, 2)
        pairs = [
            ((a, b), margin(p, (0, 1, 2), (a, b))) for a, b in itertools.combinations(range(3), 2)
        ]
        gap = [
            np.abs(
                margin(maximum_entropy((2, 2, 2), pairs, tolerance=0, sweeps=s), (0, 1, 2), (0, 1))
                - pairs[0][1]
            ).max()
            for s in (1, 50)
        ]
        assert gap[1] < gap[0] / 10


class TestIntegerWeights:
    def test_whole_counts_stay_and_others_get_a_unit(self):
        assert integer_weights(np.array([3.0, 0.0])).tolist() == [3, 0]
        assert integer_weights(np.array([1.5, 0.25])).tolist() == [3 * 2**19, 2**18]
        assert integer_weights(np.array([1.5])).dtype == np.int64

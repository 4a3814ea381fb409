"""The released model: sampling follows the conditionals, and a mistaken model can't be built."""

import itertools
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from privacy_tools import schema_of

from pdsynth import Attribute, Ledger, Model, Network, PrivBayes, Schema, SchemaError
from pdsynth.datasets.adult import load_adult
from pdsynth.evaluation.marginals import Marginals
from pdsynth.published.sparse import SparseTable


def model_of(tables, pairs, sizes, **options) -> Model:
    return Model(
        schema_of(sizes), Network(pairs), tuple(map(np.array, tables)), Ledger(Q(1)), 20, **options
    )


TABLES = [[3, 1], [[2, 0], [1, 1], [-4, 2]], [[[5, 0], [1, 1], [0, -3]], [[5, 1], [3, 1], [0, 0]]]]
PAIRS = (("x0", ()), ("x1", ("x0",)), ("x2", ("x1", "x0")))
SIZES = (2, 3, 2)


def joint() -> dict[tuple[int, ...], Q]:
    """The law of a sampled record, worked by hand from TABLES: negative counts are 0, an empty
    column takes the row sums."""
    x0 = [Q(3, 4), Q(1, 4)]
    x1 = [[Q(2, 3), Q(1, 3), Q(0)], [Q(0), Q(1, 3), Q(2, 3)]]
    x2 = {
        (0, 0): Q(1, 2),
        (0, 1): Q(0),
        (1, 0): Q(1, 4),
        (1, 1): Q(1, 2),
        (2, 0): Q(7, 17),
        (2, 1): Q(7, 17),
    }  # P(x2 = 0 | x1, x0)
    return {
        (a, b, c): x0[a] * x1[a][b] * (x2[b, a] if c == 0 else 1 - x2[b, a])
        for a, b, c in itertools.product(*map(range, SIZES))
    }


def chi_square(codes: np.ndarray, law) -> tuple[float, int]:
    n = len(codes)
    seen = {cell: int((codes == cell).all(axis=1).sum()) for cell in law}
    assert all(
        seen[cell] == 0 for cell, p in law.items() if p == 0
    )  # what has no probability is never drawn
    live = [cell for cell, p in law.items() if p > 0]
    return sum((seen[c] - n * float(law[c])) ** 2 / (n * float(law[c])) for c in live), len(
        live
    ) - 1


class TestSampling:
    @pytest.mark.parametrize("seed", range(3))
    def test_follows_the_conditionals(self, seed):
        law = joint()
        assert sum(law.values()) == 1
        codes = model_of(TABLES, PAIRS, SIZES).sample_codes(200_000, np.random.default_rng(seed))
        assert codes.shape == (200_000, 3)
        statistic, freedom = chi_square(codes, law)
        assert statistic < freedom + 6 * np.sqrt(2 * freedom) + 12  # p < 1e-6 beyond it

    def test_the_chi_square_bites(self):
        law = joint()
        wrong = {
            cell: (p + Q(1, 50) * (1 if cell == (0, 0, 0) else -1 if cell == (0, 0, 1) else 0))
            for cell, p in law.items()
        }
        codes = model_of(TABLES, PAIRS, SIZES).sample_codes(200_000, np.random.default_rng(0))
        statistic, freedom = chi_square(codes, wrong)
        assert statistic > freedom + 6 * np.sqrt(2 * freedom) + 12

    @pytest.mark.parametrize("size", [2, 47, 48, 49, 50, 300])
    def test_many_values(self, size):
        """Both ways of drawing, by comparison and by binary search, obey the table."""
        rng = np.random.default_rng(1)
        table = rng.integers(0, 9, (size, 2)) * (rng.random((size, 2)) < 0.7)
        table[0] += 1
        codes = model_of([[1, 3], table], (("x0", ()), ("x1", ("x0",))), (2, size)).sample_codes(
            100_000, rng
        )
        p = table / table.sum(axis=0) * np.array([0.25, 0.75])
        law = {(a, x): p[x, a] for a in range(2) for x in range(size)}
        statistic, freedom = chi_square(codes, law)
        assert statistic < freedom + 6 * np.sqrt(2 * freedom) + 12

    def test_network_order_needn_t_be_column_order(self):
        one = model_of([[0, 7], [[0, 0], [0, 0], [9, 9]]], (("x1", ()), ("x0", ("x1",))), (3, 2))
        assert one.sample_codes(9, np.random.default_rng(0)).tolist() == [[2, 1]] * 9

    def test_seeds(self):
        model = model_of(TABLES, PAIRS, SIZES)
        pd.testing.assert_frame_equal(
            model.sample(99, random_state=4), model.sample(99, random_state=4)
        )
        assert not model.sample(99, random_state=4).equals(model.sample(99, random_state=5))
        assert not model.sample(99).equals(model.sample(99))
        assert len(model.sample()) == 20

    def test_numbers_fill_their_bins(self):
        schema = Schema(
            (
                Attribute.numeric("age", 0, 99, bins=2, integer=True),
                Attribute.numeric("wage", 0, 1, bins=2),
            )
        )
        model = Model(
            schema,
            Network((("age", ()), ("wage", ("age",)))),
            (np.array([1, 0]), np.array([[0, 0], [1, 1]])),
            Ledger(Q(1)),
            9,
        )
        frame = model.sample(4000, random_state=1)
        assert set(frame["age"]) == set(range(50))
        assert frame["wage"].between(0.5, 1).all()
        assert frame["wage"].mean() == pytest.approx(0.75, abs=0.02)


def farthest(codes: np.ndarray, model: Model) -> float:
    """Largest distance of a count from its configuration's proportional share, over all tables."""
    worst = 0.0
    for child, parents in model.network.pairs:
        p, sizes = model.conditionals[child], [model.domain[name].size for name in parents]
        x, *above = (codes[:, model.domain.index(name)].astype(int) for name in (child, *parents))
        key = np.ravel_multi_index(above, sizes) if above else np.zeros(len(codes), dtype=int)
        counts = np.bincount(x * p.shape[1] + key, minlength=p.size).reshape(p.shape)
        worst = max(worst, float(np.abs(counts - counts.sum(axis=0) * p).max()))
    return worst


COUNTS = st.lists(st.integers(-3, 9), min_size=12, max_size=12)


class TestBalanced:
    @given(COUNTS, COUNTS, st.integers(1, 300), st.integers(0, 99))
    def test_each_count_is_within_one_of_its_configuration_s_share(self, one, two, n, seed):
        tables = [[1, 0, 2], np.reshape(one, (4, 3)), np.reshape(two, (3, 4))]
        pairs = (("x0", ()), ("x1", ("x0",)), ("x2", ("x1",)))
        model = model_of(tables, pairs, (3, 4, 3))
        codes = model.sample_codes(n, np.random.default_rng(seed), "balanced")
        assert farthest(codes, model) < 1 + 1e-9

    def test_twin_independent_rows_are_farther(self):
        model = model_of(TABLES, PAIRS, SIZES)
        assert farthest(model.sample_codes(300, np.random.default_rng(0)), model) > 3

    def test_expected_counts_are_the_model_s_in_every_cell_and_every_row(self):
        """A row alone follows the law, wherever it stands: so every count does in the mean."""
        law, model, runs = joint(), model_of(TABLES, PAIRS, SIZES), 4000
        rng = np.random.default_rng(0)
        drawn = np.array([model.sample_codes(11, rng, "balanced") for _ in range(runs)])
        for row in (0, 5, 10):
            statistic, freedom = chi_square(drawn[:, row], law)
            assert statistic < freedom + 6 * np.sqrt(2 * freedom) + 12
        for cell, p in law.items():
            mean = (drawn == cell).all(axis=2).mean()
            assert abs(mean - float(p)) <= 5 * np.sqrt(float(p * (1 - p)) / (11 * runs))

    def test_many_values_take_the_other_way_of_drawing(self):
        table = np.random.default_rng(3).integers(0, 9, (300, 2))
        model = model_of([[1, 3], table], (("x0", ()), ("x1", ("x0",))), (2, 300))
        codes = model.sample_codes(5000, np.random.default_rng(0), "balanced")
        assert farthest(codes, model) < 1 + 1e-9

    def test_tables_of_what_occurs_and_configurations_that_never_did(self):
        """x1 has weights for x0 = 1 alone; x0 = 0 gets its own distribution, (1, 3)/4."""
        sparse = SparseTable((2, 2), np.array([1]), np.array([[1], [3]]))
        model = Model(
            schema_of((2, 2)),
            Network((("x0", ()), ("x1", ("x0",)))),
            (np.array([1, 1]), sparse),
            Ledger(Q(1)),
            9,
        )
        codes = model.sample_codes(80, np.random.default_rng(0), "balanced").tolist()
        cells = [(0, 0), (0, 1), (1, 0), (1, 1)]
        assert [codes.count([*cell]) for cell in cells] == [10, 30, 10, 30]

    @pytest.mark.slow
    def test_most_of_the_sampling_error_is_gone_on_adult(self):
        """Of all pairs, most of which no table holds; single columns lose nearly all of it."""
        adult = load_adult(coding="thesis")
        fitted = PrivBayes(epsilon=1, k=1, random_state=0).fit(adult.frame, schema=adult.schema)
        model, left = fitted.model_, {}
        many = model.sample_codes(1_000_000, np.random.default_rng(0), "balanced")
        for alpha in (1, 2):
            expected = Marginals(many, adult.schema, alpha)
            for method in ("independent", "balanced"):
                tables = [
                    model.sample_codes(len(adult.frame), np.random.default_rng(seed), method)
                    for seed in (1, 2, 3)
                ]
                squares = [expected.distance(table) ** 2 for table in tables]
                left[alpha, method] = np.mean(squares)
        assert left[1, "balanced"] < 0.05 * left[1, "independent"]
        assert left[2, "balanced"] < 0.45 * left[2, "independent"]
        sampled = adult.schema.encode(fitted.sample(method="balanced"))
        assert farthest(sampled, model) < 1 + 1e-9 < farthest(many[:9999], model)

    def test_seeds_and_the_method_of_old(self):
        model = model_of(TABLES, PAIRS, SIZES)
        one, again, other = (model.sample(99, seed, method="balanced") for seed in (4, 4, 5))
        pd.testing.assert_frame_equal(one, again)
        assert not one.equals(other)
        same = model.sample(99, 4, method="independent")
        pd.testing.assert_frame_equal(model.sample(99, 4), one)
        assert not same.equals(one)
        old = model.sample_codes(12, np.random.default_rng(0))[:6]
        assert old.tolist() == [[0, 1, 1], [0, 0, 0], [0, 1, 1], [0, 0, 1], [1, 2, 1], [1, 2, 1]]

    def test_another_method_is_refused(self):
        with pytest.raises(SchemaError, match=r"method must be one of .*'balanced'.* 'stratified'"):
            model_of(TABLES, PAIRS, SIZES).sample(9, method="stratified")


class TestShape:
    def test_conditionals_by_hand(self):
        p = model_of(TABLES, PAIRS, SIZES).conditionals
        assert [[Q(x).limit_denominator(50) for x in row] for row in p["x1"]] == [
            [Q(2, 3), 0],
            [Q(1, 3), Q(1, 3)],
            [0, Q(2, 3)],
        ]
        assert [Q(x).limit_denominator(50) for x in p["x2"][0]] == [
            Q(1, 2),
            0,
            Q(1, 4),
            Q(1, 2),
            Q(7, 17),
            Q(7, 17),
        ]

    def test_tables_of_another_shape_are_refused(self):
        with pytest.raises(SchemaError, match=r"'x1' has shape \(2, 2\).*\(3, 2\)"):
            model_of([[3, 1], [[1, 1], [1, 1]]], PAIRS[:2], (2, 3))

    def test_another_network_is_refused(self):
        with pytest.raises(SchemaError, match="not those of the schema"):
            model_of([[3, 1]], PAIRS[:1], (2, 3))

    def test_a_missing_table_is_refused(self):
        with pytest.raises(SchemaError, match="2 pairs, but the number of tables is 1"):
            model_of([[3, 1]], PAIRS[:2], (2, 3))

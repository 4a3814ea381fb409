"""The released model: sampling follows the conditionals, and a mistaken model can't be built."""

import itertools
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from privacy_tools import schema_of

from pdsynth import Attribute, Ledger, Model, Network, Schema, SchemaError


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
        with pytest.raises(ValueError, match="shorter"):
            model_of([[3, 1]], PAIRS[:2], (2, 3))

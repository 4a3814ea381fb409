"""An ε with many digits needs integers beyond 64 bits: the same laws, sampled as exactly; and what
is refused doesn't depend on records."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from privacy_tools import permute_and_flip_law

from pdsynth.answers.laws import discrete_laplace_pmf, exponential_probabilities
from pdsynth.core.errors import BudgetError
from pdsynth.core.noise import (
    LIMIT,
    WORD,
    ExactNoise,
    Quantity,
    exponential_mechanism,
    laplace_mechanism,
)

LONG = Q("0.7182818284590452353")


def chi_square(seen, expected) -> float:
    return float(((seen - expected) ** 2 / expected).sum())


def critical(freedom: int) -> float:
    return freedom + 6 * math.sqrt(2 * freedom) + 12  # p < 1e-6 beyond it


def histogram(values, reach: int) -> np.ndarray:
    return np.bincount(np.clip(values, -reach, reach) + reach, minlength=2 * reach + 1)


@pytest.mark.parametrize(
    "scale",
    [2 / LONG, Q(10**30 + 7, 10**30), Q(1, 3) + Q(1, 10**25), Q(2**63 - 25, 2**61 - 1)],
    ids=str,  # the last fits 64 bits, and what is computed with it doesn't
)
def test_discrete_laplace(scale):
    assert max(scale.numerator, scale.denominator) >= WORD
    n, reach = 20_000, max(1, round(4 * scale))
    seen = histogram(laplace_mechanism(np.zeros(n, dtype=np.int64), scale, ExactNoise(1)), reach)
    p = discrete_laplace_pmf(np.arange(-reach, reach + 1), float(scale))
    p[0] = p[-1] = (1 - p[1:-1].sum()) / 2
    assert chi_square(seen, n * p) < critical(2 * reach)


def test_the_test_bites():
    n, reach = 20_000, 8
    seen = histogram(
        laplace_mechanism(
            np.zeros(n, dtype=np.int64), 2 * Q("1.0625") + Q(1, 10**25), ExactNoise(1)
        ),
        reach,
    )
    p = discrete_laplace_pmf(np.arange(-reach, reach + 1), 2.0)
    p[0] = p[-1] = (1 - p[1:-1].sum()) / 2
    assert chi_square(seen, n * p) > critical(2 * reach)


def test_short_and_long_scales_in_one_table():
    scales = (Q(1), 3 + Q(1, 10**30))
    noisy = laplace_mechanism(np.zeros((2, 20_000), dtype=np.int64), scales, ExactNoise(2))
    assert noisy.dtype == np.int64
    for row, scale in zip(noisy, scales, strict=True):
        b = float(scale)
        q = math.exp(-1 / b)
        assert row.var() == pytest.approx(2 * q / (1 - q) ** 2, rel=0.08)
        assert abs(row.mean()) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("permute", [False, True])
def test_selection(permute):
    scores, sensitivity, runs = np.array([0, 10, 25, 40]), 20, 4000
    assert 40 * LONG.numerator >= LIMIT
    noise = ExactNoise(3)
    chosen = [
        exponential_mechanism(
            Quantity(scores, "u"),
            Quantity(sensitivity, "u"),
            LONG,
            noise.child("s"),
            permute_and_flip=permute,
        )
        for _ in range(runs)
    ]
    seen = np.bincount(chosen, minlength=4)
    laws = [exponential_probabilities(scores, sensitivity, float(LONG * m)) for m in (1, Q(3, 2))]
    if permute:
        laws = [permute_and_flip_law(law / law.max()) for law in laws]
    assert chi_square(seen, runs * laws[0]) < critical(3)
    assert chi_square(seen, runs * laws[1]) > critical(3), "failing twin: a larger ε"


def test_noise_beyond_64_bits_is_refused():
    with pytest.raises(BudgetError, match="raise ε"):
        laplace_mechanism(np.zeros(3, dtype=np.int64), Q(2**53), ExactNoise(1))

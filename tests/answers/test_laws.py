"""Half widths against the law of each noise, summed cell by cell."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction as Q

import numpy as np
import pytest

from pdsynth.answers.laws import half_of_mean, half_width
from pdsynth.core.noise import ExactNoise

REACH = 40


def laplace(b):
    mass = {z: math.exp(-abs(z) / b) for z in range(-REACH, REACH + 1)}
    total = sum(mass.values())
    return {z: p / total for z, p in mass.items()}


def added(laws):
    out = {0: 1.0}
    for law in laws:
        new = defaultdict(float)
        for (a, p), (b, q) in itertools.product(out.items(), law.items()):
            new[a + b] += p * q
        out = new
    return out


def least(mass, level):
    total = sum(mass.values())
    for t in itertools.count():
        if sum(p for z, p in mass.items() if abs(z) <= t) / total >= level - 1e-12:
            return t
    raise AssertionError


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("b", [Q(1, 2), Q(2), Q(7, 2)])
def test_laplace_cells_and_their_sums(b, level):
    one = laplace(float(b))
    for cells in (1, 2, 3):
        found = half_width("discrete_laplace", b, cells, 8, level)
        assert found == least(added([one] * cells), level)
    two = added([one, laplace(3.0)])
    assert half_width("discrete_laplace", (b, Q(3)), 2, 8, level) == least(two, level)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(("cells", "of"), [(1, 2), (1, 4), (2, 4), (3, 4)])
def test_zero_sum_cells_given_that_all_sum_to_zero(cells, of, level):
    one = laplace(1.5)
    mine, others = added([one] * cells), added([one] * (of - cells))
    mass = {z: p * others.get(-z, 0.0) for z, p in mine.items()}
    assert half_width("zero_sum_laplace", Q(3, 2), cells, of, level) == least(mass, level)
    assert half_width("zero_sum_laplace", Q(3, 2), of, of, level) == 0


def test_a_wide_scale_is_stretched_and_never_too_short():
    exact, wide = (half_width("discrete_laplace", Q(b), 3, 8, 0.9) for b in (2000, 2_000_000))
    assert 0 <= wide / 1000 - exact < 3


@pytest.mark.parametrize("variance", [Q(1, 3), Q(4), Q(2500)])
def test_gaussian(variance):
    s = float(variance)
    mass = {z: math.exp(-(z**2) / (2 * s)) for z in range(-600, 601)}
    assert half_width("discrete_gaussian", variance, 1, 8, 0.9) == least(mass, 0.9)
    spread = half_width("discrete_gaussian", variance, 4, 8, 0.9)
    assert spread >= least({z: math.exp(-(z**2) / (8 * s)) for z in mass}, 0.9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_a_mean_of_noisy_numbers(level):
    """Alone it has the law of a sum of cells; of three, that of what is drawn, weighted by hand."""
    for cells, shares in ((1, Q(1)), (6, Q(1)), (6, Q(3, 2))):
        one = half_width("discrete_laplace", Q(300), cells, 99, level, shares)
        assert half_of_mean([(2 * 300**2, cells)], False, level, shares) == pytest.approx(
            one, abs=1
        )
    one = half_width("discrete_gaussian", Q(400), 3, 99, level)
    assert half_of_mean([(400, 3)], True, level) == pytest.approx(one, abs=1)
    rng, parts = np.random.default_rng(0), [(200, 1), (50, 7), (1000, 60)]
    weights = [1 / (v * cells) for v, cells in parts]
    drawn = sum(
        w * rng.laplace(size=(100_000, cells)).sum(axis=1) * math.sqrt(v / 2)
        for w, (v, cells) in zip(weights, parts, strict=True)
    ) / sum(weights)
    assert half_of_mean(parts, False, level) == pytest.approx(
        np.quantile(np.abs(drawn), level), abs=1
    )


def test_what_is_drawn_is_held_as_often_as_asked():
    """Twin: half widths of nine tenths of the scale hold too seldom."""
    noise, b, runs = ExactNoise(5), Q(20), 4000
    drawn = np.array([noise.zero_sum_laplace(b, (6,)) for _ in range(runs)])
    for cells in (1, 2, 5):
        t = half_width("zero_sum_laplace", b, cells, 6, 0.9)
        off = np.abs(drawn[:, :cells].sum(axis=1))
        assert abs((off <= t).mean() - 0.9) < 0.02
        short = half_width("zero_sum_laplace", b * Q(8, 10), cells, 6, 0.9)
        assert (off <= short).mean() < 0.88

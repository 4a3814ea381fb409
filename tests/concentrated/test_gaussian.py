"""The discrete Gaussian: its sampler against its law, and what it loses, exactly."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from fit_tools import PASS
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

from pdsynth.concentrated import (
    DiscreteGaussian,
    discrete_gaussian_pmf,
    exact_gaussian,
    renyi_losses,
)
from pdsynth.core import BudgetError, ExactNoise
from pdsynth.published.noise import CommonNoise, NoNoise
from pdsynth.secure import OpenDPNoise

DRAWS = 20_000
VARIANCES = Q(1, 9), Q(1), Q(7, 3), Q(65_536 * 10**6, 14_973 * 1024)
ALPHAS = 1.01, 1.5, 2, 5, 20


def p_value(drawn, variance):
    """Chi-square against the law: cells with 20 draws or more, and the two tails."""
    sigma = math.sqrt(variance)
    values = np.arange(-math.ceil(9 * sigma) - 1, math.ceil(9 * sigma) + 2)
    law = discrete_gaussian_pmf(values, float(variance)) * len(drawn)
    width = max(1, int(sigma / 4))
    kept = law >= 20 / width
    low, high = values[kept][0], values[kept][-1]
    edges = np.arange(low, high + 1, width)
    at = np.clip((values - edges[0]) // width, -1, len(edges)) + 1
    expected = np.bincount(at, law, len(edges) + 2)
    classes = np.clip((drawn - edges[0]) // width, -1, len(edges)) + 1
    found = np.bincount(classes, minlength=len(expected))
    full = expected > 1
    if found[~full].sum() > 3:
        return 0.0
    scaled = expected[full] * found[full].sum() / expected[full].sum()
    return stats.chisquare(found[full], scaled).pvalue


@pytest.mark.parametrize("variance", VARIANCES)
def test_the_sampler_has_its_law(variance):
    drawn = exact_gaussian(ExactNoise(3), variance, DRAWS)
    assert drawn.dtype == np.int64 and p_value(drawn, variance) > PASS
    assert p_value(drawn, variance * Q(5, 4)) < PASS, "failing twin: another variance"
    shift = math.ceil(math.sqrt(variance) / 4)
    assert p_value(drawn + shift, variance) < PASS, "failing twin: a shift"


@pytest.mark.parametrize("variance", [Q(2), Q(400, 3)])
def test_twin_a_sampler_that_takes_sigma_for_its_square_is_seen(variance):
    root = Q(math.sqrt(variance)).limit_denominator(1000)
    assert p_value(exact_gaussian(ExactNoise(3), root, DRAWS), variance) < PASS


def test_other_sources_have_the_law_too():
    law = DiscreteGaussian(Q(50))
    assert p_value(law.draw(OpenDPNoise(), (DRAWS,)), 50) > PASS
    common = CommonNoise(4).child("t")
    first = law.draw(common, (DRAWS,))
    assert np.abs(first).mean() == pytest.approx(law.mean_size, rel=0.03)
    assert (first == law.draw(CommonNoise(4).child("t"), (DRAWS,))).all()
    with pytest.raises(BudgetError, match="draws no Gaussian noise"):
        law.draw(NoNoise(), (3,))


@given(st.fractions(Q(1, 10**6), Q(10**9), max_denominator=10**6))
def test_opendp_never_gets_a_smaller_sigma_than_the_line_says(variance):
    """σ is a double there, and the line says σ² exactly."""
    source, seen = OpenDPNoise(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            source._dp.m,
            "make_gaussian",
            lambda domain, metric, scale: seen.append(scale) or (lambda zeros: zeros),
        )
        DiscreteGaussian(variance).draw(source, (2, 3))
    (sigma,) = seen
    assert variance <= Q(sigma) ** 2 <= variance * (1 + Q(1, 2**48))


def test_a_shape_and_a_seed_are_kept():
    law = DiscreteGaussian(Q(9, 2))
    first, again = (law.draw(ExactNoise(1), (3, 4)) for _ in range(2))
    assert first.shape == (3, 4) and (first == again).all()
    assert (ExactNoise(1).add_law(np.full((3, 4), 7), law) == first + 7).all()


@pytest.mark.parametrize("variance", [Q(0), Q(-1), Q(2**104)])
def test_what_is_no_variance_is_refused(variance):
    with pytest.raises(BudgetError):
        DiscreteGaussian(variance)


def test_noise_as_large_as_the_ties_of_a_large_table_has_its_law():
    """A tie is counted in records², so its noise has σ far beyond any count."""
    variance = Q(7 * 2**90, 3)
    drawn = exact_gaussian(ExactNoise(5), variance, 2_000) / math.sqrt(variance)
    assert stats.kstest(drawn, "norm").pvalue > PASS


def divergence(p, q, order):
    """From the logarithms of two laws."""
    return float(logsumexp(order * p + (1 - order) * q)) / (order - 1)


@pytest.mark.parametrize("variance", [0.7, 3.0, 40.0])
@pytest.mark.parametrize("shift", [1, 2])
def test_the_loss_bounds_every_renyi_divergence_of_the_enumerated_law(variance, shift):
    """Canonne, Kamath, Steinke 2020, proposition 5: at most αρ, with equality where α is whole."""
    reach = math.ceil(36 * math.sqrt(variance)) + 20 * shift
    values = np.arange(-reach, reach + 1)
    norm = logsumexp(-(values**2) / (2 * variance))
    p, q = (-(v**2) / (2 * variance) - norm for v in (values, values - shift))
    rho = float(DiscreteGaussian(Q(str(variance))).loss(np.array([shift])))
    assert rho == pytest.approx(shift**2 / (2 * variance))
    for order in ALPHAS:
        assert divergence(p, q, order) <= order * rho * (1 + 1e-9) + 1e-12
        assert order % 1 or divergence(p, q, order) == pytest.approx(order * rho, rel=1e-6)
    assert divergence(p, q, 2) > 2 * rho / 2, "failing twin: Δ²/4σ² bounds nothing"
    assert np.allclose(np.exp(p), discrete_gaussian_pmf(values, variance))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-9, 9), min_size=2, max_size=6),
    st.lists(st.integers(-2, 2), min_size=6, max_size=6),
    st.fractions(min_value=Q(1, 50), max_value=3),
)
def test_a_choice_with_exponent_epsilon_costs_an_eighth_of_its_square(scores, moves, epsilon):
    """Cesar, Rogers 2021: scores that move by Δ = 2 each, P(i) ∝ exp(εQ/4)."""
    before = np.array(scores) * float(epsilon) / 4
    after = (np.array(scores) + moves[: len(scores)]) * float(epsilon) / 4
    laws = [x - np.log(np.exp(x).sum()) for x in (before, after)]
    assert max(renyi_losses(*laws)) <= float(epsilon) ** 2 / 8 * (1 + 1e-9) + 1e-12


def test_twin_without_the_factor_two_a_choice_costs_half_of_its_square():
    """Two scores that move apart: near ε²/2 where the exponent is εQ/Δ."""
    epsilon = 0.1
    laws = [np.array([a, -a]) for a in (epsilon / 2, -epsilon / 2)]
    found = max(renyi_losses(*(x - np.log(np.exp(x).sum()) for x in laws)))
    assert epsilon**2 / 8 < found <= epsilon**2 / 2
    honest = max(renyi_losses(*(x / 2 - np.log(np.exp(x / 2).sum()) for x in laws)))
    assert 0.99 * epsilon**2 / 8 < honest <= epsilon**2 / 8


def test_the_scale_that_weighs_a_table_has_the_variance():
    for variance in (Q(1, 3), Q(50), Q(10**9, 7)):
        b = DiscreteGaussian(variance).laplace_scale
        assert float(2 * b**2) == pytest.approx(float(variance), rel=1e-4)

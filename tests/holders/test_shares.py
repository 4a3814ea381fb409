"""Shares of noise: their sum has the curator's law, exactly, and each is drawn from its own law."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from scipy.stats import chi2, chisquare
from share_tools import polya_law

from pdsynth.answers.laws import discrete_laplace_pmf
from pdsynth.audit.detectors import permute_and_flip_law
from pdsynth.core import BudgetError, ExactNoise, PrivacyError
from pdsynth.core.noise import laplace_mechanism
from pdsynth.holders.shares import SharedNoise, draw_polya, draw_share, keep_some, throw

TERMS = 24  # of power series


def rising(shape, terms=TERMS):
    """C(k + r − 1, k), k = 0, 1, …: the series of (1 − x)^−r, in exact fractions."""
    out = [Q(1)]
    for k in range(1, terms):
        out.append(out[-1] * (Q(shape) + k - 1) / k)
    return out


def times(a, b):
    """The product of two power series."""
    return [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a))]


def power(series, r, terms=TERMS):
    """A power series with constant term 1, to a power: n c_n = Σ (rk − n + k) a_k c_(n−k)."""
    out = [Q(1)]
    for n in range(1, terms):
        total = sum((r * k - n + k) * series[k] * out[n - k] for k in range(1, n + 1))
        out.append(total / n)
    return out


# --- the law, in exact fractions ------------------------------------------------------------------


@pytest.mark.parametrize("holders", [1, 2, 3, 5, 20])
def test_shares_sum_to_a_geometric_number(holders):
    """P(k) ∝ C(k + 1/h − 1, k) qᵏ each: their sum is P(k) ∝ qᵏ, whatever q."""
    total = share = rising(Q(1, holders))
    for _ in range(holders - 1):
        total = times(total, share)
    assert total == [1] * TERMS


def test_two_geometric_numbers_differ_by_laplace_noise():
    q = Q(2, 3)
    for z in range(6):
        found = sum((1 - q) ** 2 * q ** (2 * j + z) for j in range(400))
        assert abs(found - (1 - q) / (1 + q) * q**z) < Q(1, 10**60)


@pytest.mark.parametrize("h", [1, 2, 3, 20])
def test_what_a_squaring_leaves_out(h):
    """(1 − q²s)^−r times the sum of N positive numbers is (1 − qs)^−r, up to a factor."""
    q, r = Q(3, 5), Q(1, h)
    first = [c * q ** (2 * k) for k, c in enumerate(rising(r))]
    a = q / (1 + q)
    phi = [Q(0)] + [(1 - q**2) * q ** (2 * k) for k in range(TERMS - 1)]
    jumps = power([Q(1)] + [-a * p for p in phi[1:]], -r)
    assert times(first, jumps) == [c * q**k for k, c in enumerate(rising(r))]


def test_coins_that_count_with_q():
    """A Pólya number of ratio 1/2, each counted with q, is one of ratio q/(1 + q)."""
    q, r = Q(3, 5), Q(1, 7)
    thinned = power([Q(1), -q / (1 + q)] + [Q(0)] * TERMS, -r)
    assert thinned == [c * (q / (1 + q)) ** k for k, c in enumerate(rising(r))]


# --- what is drawn --------------------------------------------------------------------------------


def surprise(drawn, chances, edges):
    """The p-value of Pearson's test of drawn whole numbers, in bins."""
    expected = np.array([chances[a:b].sum() for a, b in zip(edges, edges[1:], strict=False)])
    seen, expected = np.histogram(drawn, edges)[0], expected * len(drawn)
    kept = expected > 5
    return chi2.sf(((seen - expected)[kept] ** 2 / expected[kept]).sum(), kept.sum() - 1)


EDGES = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 2000]


@pytest.mark.parametrize("h", [1, 2, 5, 20])
@pytest.mark.parametrize("scale", [Q(1, 2), Q(3), Q(40), Q(123, 2)])
def test_polya_numbers(scale, h):
    drawn = draw_polya(ExactNoise([h, 7]), scale, h, 30_000)
    q = math.exp(-1 / scale)
    chances = polya_law(Q(1, h), q, 2000)
    assert surprise(drawn, chances, EDGES) > 1e-4


def test_a_large_scale_is_no_slower():
    drawn = draw_polya(ExactNoise(5), Q(10**12, 3), 4, 2000)
    assert abs(drawn.mean() * 4 / (10**12 / 3) - 1) < 0.3 and (drawn == 0).any()


def test_scales_beyond_64_bits():
    """What doesn't fit 64 bits is computed with Python's integers."""
    assert draw_polya(ExactNoise(5), Q(2**60 + 1, 2**60), 3, 50).min() >= 0
    drawn = draw_polya(ExactNoise(2), Q(40) + Q(1, 10**25), 3, 2_000)
    assert surprise(drawn, polya_law(Q(1, 3), math.exp(-1 / 40), 2000), EDGES) > 1e-4


def test_proposals_are_thinned_by_the_shape():
    drawn = keep_some(ExactNoise(1), Q(2, 3), 30_000, lambda m: throw(ExactNoise([m, 2]), m))
    chances = np.array([float(c) for c in rising(Q(2, 3))]) * 0.5 ** np.arange(TERMS)
    assert surprise(drawn, chances * 0.5 ** (2 / 3), [0, 1, 2, 3, 5, 8]) > 1e-4


@pytest.mark.parametrize("holders", [2, 5])
def test_the_sum_of_all_shares_is_laplace_noise(holders):
    drawn = SharedNoise(holders, seed=holders).discrete_laplace(np.array(Q(7, 2)), (30_000,))
    values = np.arange(-60, 61)
    chances = discrete_laplace_pmf(values, 3.5)
    assert surprise(drawn + 60, chances, [0, *range(52, 70), 121]) > 1e-4


def test_each_value_has_its_own_scale():
    wide = np.array([[Q(1, 3)], [Q(30)]], dtype=object)
    drawn = SharedNoise(3, seed=1).discrete_laplace(wide, (2, 4000))
    assert abs(drawn[0]).mean() < 0.2 and 27 < abs(drawn[1]).mean() < 33
    noisy = laplace_mechanism(np.zeros((2, 4), int), [Q(1, 3), Q(30)], SharedNoise(3, seed=1))
    assert noisy.shape == (2, 4)


def test_fewer_honest_holders_add_more_noise():
    spread = {
        honest: SharedNoise(4, honest, seed=3).discrete_laplace(np.array(Q(20)), (4000,)).var()
        for honest in (4, 2, 1)
    }
    assert 1.7 < spread[2] / spread[4] < 2.3 and 3.4 < spread[1] / spread[4] < 4.6


def test_choices_are_permute_and_flip():
    gaps, runs, noise = np.array([0, 1, 2, 2]), 800, SharedNoise(3, seed=3)
    found = np.bincount([noise.choose(gaps, 1, 1, permute=True) for _ in range(runs)], minlength=4)
    weights = np.exp(-gaps)
    assert chisquare(found, permute_and_flip_law(weights) * runs).pvalue > 1e-4
    assert chisquare(found, weights / weights.sum() * runs).pvalue < 1e-4, "the other mechanism"


def test_the_largest_geometric_sum_is_permute_and_flip():
    """The exact law of the largest score with geometric noise, ties at random."""
    gaps, q = np.array([0, 1, 3]), 0.7
    k = np.arange(120)
    chances = (1 - q) * q**k
    joint = np.einsum("a,b,c->abc", chances, chances, chances)
    places = np.stack(np.meshgrid(k - gaps[0], k - gaps[1], k - gaps[2], indexing="ij"))
    wins = places == places.max(axis=0)
    found = (wins / wins.sum(axis=0) * joint).sum(axis=(1, 2, 3))
    assert found == pytest.approx(permute_and_flip_law(q**gaps), abs=1e-12)


# --- streams and refusals -------------------------------------------------------------------------


def test_streams_of_holders_and_steps_differ():
    source = SharedNoise(2, seed=5)
    one, two = source.child("a"), source.child("a")
    again = SharedNoise(2, seed=5).child("a")
    draw = [s.discrete_laplace(np.array(Q(50)), (6,)).tolist() for s in (one, two, again)]
    assert draw[0] == draw[2] != draw[1]
    own = SharedNoise(2, seed=5).shares(np.array(Q(50)), (8,)).tolist()
    assert own[0] != own[1] and source.reproducible and not SharedNoise(2).reproducible
    assert SharedNoise(2).child("x").discrete_laplace(np.array(Q(1)), (3,)).shape == (3,)
    assert source.generator().random() == SharedNoise(2, seed=5).generator().random()


@pytest.mark.parametrize(
    ("holders", "honest"), [(1, None), (2.5, None), (3, 0), (3, 4), (10**6, 2)]
)
def test_numbers_of_holders_that_mean_nothing(holders, honest):
    with pytest.raises(BudgetError, match=r"shared by at least 2|honest must be"):
        SharedNoise(holders, honest)


def test_laws_without_shares():
    source = SharedNoise(2, seed=1)
    with pytest.raises(PrivacyError, match="permute-and-flip alone"):
        source.choose(np.array([0, 1]), 1, 2, permute=False)
    with pytest.raises(PrivacyError, match="permute-and-flip alone"):
        source.select(np.array([0, 1]), 2, permute=False)
    with pytest.raises(PrivacyError, match="sum 0"):
        source.zero_sum_laplace(Q(2), (2, 2))
    with pytest.raises(PrivacyError, match="leave delta"):
        source.add_law(np.zeros(2, int), object())


@pytest.mark.parametrize(
    ("scale", "honest", "word"), [(-1, 3, "positive"), (0, 3, "positive"), (2, 0, "whole number")]
)
def test_what_a_holder_alone_can_mistake_is_refused(scale, honest, word):
    """A negative scale was drawn for ever."""
    with pytest.raises(BudgetError, match=word):
        draw_share(ExactNoise(1), np.array(Q(scale)), honest, (2, 2))

"""Mechanisms against their exact laws, and what they refuse."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import Silent, law, log_ratio, permute_and_flip_law
from scipy import stats

from pdsynth.answers.laws import discrete_laplace_pmf, exponential_probabilities
from pdsynth.core.errors import BudgetError, PrivacyError
from pdsynth.core.noise import ExactNoise, Quantity, exponential_mechanism, laplace_mechanism
from pdsynth.published.noise import CommonNoise

SCORES = np.array([5, 3, 3, 0])


def fits(drawn: np.ndarray, expected: np.ndarray) -> float:
    """The p-value of drawn indices under an exact law."""
    return stats.chisquare(
        np.bincount(drawn, minlength=len(expected)), expected * len(drawn)
    ).pvalue


def draw(times, scores=SCORES, sensitivity=2, epsilon=Q(3, 2), *, seed=1, **options):
    noise = ExactNoise(seed)
    ask = Quantity(np.asarray(scores), "u"), Quantity(sensitivity, "u"), epsilon
    return np.array([exponential_mechanism(*ask, noise, **options) for _ in range(times)])


class TestSelecting:
    def test_large_gaps_use_whole_factors_of_e(self):
        """Gaps of more than one unit in the exponent take the loop over Bernoulli(exp(−1))."""
        drawn = draw(3000, [0, -5, -7], 1, Q(2, 3))
        assert fits(drawn, exponential_probabilities(np.array([0, -5, -7]), 1, 2 / 3)) > 1e-6

    def test_bernoulli_exp(self):
        for numerator, denominator in ((0, 3), (1, 3), (3, 3), (7, 3)):
            ones = np.ones(20_000, dtype=np.int64)
            success = ExactNoise(5).bernoulli_exp(ones * numerator, ones * denominator)
            assert (
                stats.binomtest(
                    int(success.sum()), 20_000, math.exp(-numerator / denominator)
                ).pvalue
                > 1e-6
            )

    @given(st.lists(st.integers(-20, 20), min_size=1, max_size=5), st.integers(1, 9), st.booleans())
    @settings(max_examples=60)
    def test_the_exponents_are_epsilon_times_the_gap_over_twice_the_sensitivity(
        self, scores, sensitivity, permute
    ):
        ask = Quantity(np.array(scores), "u"), Quantity(sensitivity, "u"), Q(7, 5)

        def run(noise):
            return exponential_mechanism(*ask, noise, permute_and_flip=permute)

        found = law(run)
        accept = np.exp(1.4 * (np.array(scores) - max(scores)) / (2 * sensitivity))
        expected = (
            permute_and_flip_law(accept)
            if permute
            else exponential_probabilities(np.array(scores), sensitivity, 1.4)
        )
        assert [found[i] for i in range(len(scores))] == pytest.approx(expected.tolist(), rel=1e-12)

    @pytest.mark.parametrize("permute", [False, True])
    def test_the_privacy_loss_is_at_most_epsilon_and_a_half_sensitivity_is_caught(self, permute):
        """The worst case: the winner loses Δ while all others gain Δ."""
        before, after = np.array([4, 4, 4, 4]), np.array([4 - 2, 4 + 2, 4 + 2, 4 + 2])

        def loss(sensitivity):
            laws = [
                law(
                    lambda noise, s=scores: exponential_mechanism(
                        Quantity(s, "u"),
                        Quantity(sensitivity, "u"),
                        Q(1),
                        noise,
                        permute_and_flip=permute,
                    )
                )
                for scores in (before, after)
            ]
            return log_ratio(*laws)

        assert loss(2) <= 1 + 1e-12
        assert loss(1) > 1.05, "failing twin: half of the sensitivity"

    def test_permute_and_flip_is_never_less_useful(self):
        accept = np.exp((SCORES - SCORES.max()) / 3)
        flip, exponential = permute_and_flip_law(accept), accept / accept.sum()
        assert flip @ SCORES >= exponential @ SCORES

    def test_a_score_that_no_record_can_change_is_public(self):
        drawn = draw(3000, [0, 0, 0], 0)
        assert fits(drawn, np.full(3, 1 / 3)) > 1e-6

    @pytest.mark.parametrize("permute", [False, True])
    def test_an_epsilon_of_forty_digits_stays_exact(self, permute):
        """Beyond 64 bits the sampler goes on in whole numbers of any length."""
        scores = np.array([2, 1, 0]) * 2**50
        drawn = draw(1500, scores, 2**50, Q(3, 2) + Q(1, 10**40), permute_and_flip=permute)
        accept = np.exp(-0.75 * np.arange(3))
        assert (
            fits(drawn, permute_and_flip_law(accept) if permute else accept / accept.sum()) > 1e-6
        )
        assert fits(drawn, np.full(3, 1 / 3)) < 1e-6

    def test_one_candidate(self):
        assert set(draw(5, [7])) == {0}
        assert set(draw(5, [7], permute_and_flip=True)) == {0}

    @pytest.mark.parametrize(
        ("scores", "unit", "epsilon", "error", "message"),
        [
            (SCORES, "nat", Q(1), PrivacyError, "score is in 'u', its sensitivity in 'nat'"),
            (SCORES[:0], "u", Q(1), BudgetError, "candidate set is empty"),
            (SCORES / 2, "u", Q(1), PrivacyError, "must be integers"),
        ],
    )
    def test_refusals_before_any_randomness(self, scores, unit, epsilon, error, message):
        noise = Silent()
        with pytest.raises(error, match=message):
            exponential_mechanism(Quantity(scores, "u"), Quantity(2, unit), epsilon, noise)
        assert noise.asked == []


class TestCountsWithNoise:
    def test_every_cell_gets_its_own_noise_empty_ones_too(self):
        counts = np.zeros((40, 50), dtype=np.int64)
        noisy = laplace_mechanism(counts, Q(20), ExactNoise(3))
        assert noisy.dtype == np.int64
        assert (noisy != 0).mean() == pytest.approx(1 - math.tanh(1 / 40), abs=0.02)
        assert all(len(np.unique(row)) > 20 for row in noisy), (
            "one draw shared by a row would be a single value"
        )
        assert all(len(np.unique(column)) > 20 for column in noisy.T)
        assert counts.sum() == 0

    def test_a_scale_a_row(self):
        """Which axis a per-value scale belongs to: row x of the table has scale b_x."""
        counts = np.zeros((3, 4, 1000), dtype=np.int64)
        scales = (Q(1), Q(10), Q(100))
        noisy = laplace_mechanism(counts, scales, ExactNoise(3))
        for row, scale in zip(noisy, scales, strict=True):
            assert np.abs(row).mean() == pytest.approx(1 / math.sinh(1 / scale), rel=0.1)

    def test_one_way_counts_with_a_scale_a_value(self):
        noise = Silent()
        laplace_mechanism(np.zeros(3, dtype=np.int64), (Q(1), Q(2), Q(3)), noise)
        (_, scale, shape), *_ = noise.asked
        assert np.broadcast_to(scale, shape).tolist() == [1, 2, 3]

    def test_zero_and_negative_scales_are_refused(self):
        for scale in (Q(0), Q(-1), (Q(1), Q(0))):
            with pytest.raises(BudgetError, match="scale must be positive"):
                laplace_mechanism(np.zeros((2, 2), dtype=np.int64), scale, Silent())

    def test_a_scale_with_a_long_fraction_stays_exact(self):
        scale = Q(7, 3) + Q(1, 10**40)
        noisy = laplace_mechanism(np.zeros(4000, dtype=np.int64), scale, ExactNoise(1))
        assert noisy.dtype == np.int64
        values = np.arange(-7, 8)
        expected = discrete_laplace_pmf(values, 7 / 3)
        observed = np.array([(noisy == v).sum() for v in values])
        p = stats.chisquare(
            [*observed, 4000 - observed.sum()], np.array([*expected, 1 - expected.sum()]) * 4000
        ).pvalue
        assert p > 1e-6
        mixed = laplace_mechanism(
            np.zeros((2, 3000), dtype=np.int64), (Q(1), scale * 10), ExactNoise(1)
        )
        assert np.abs(mixed).mean(axis=1).tolist() == pytest.approx(
            [1 / math.sinh(1), 1 / math.sinh(3 / 70)], rel=0.1
        )

    def test_a_scale_beyond_all_counts_is_refused(self):
        with pytest.raises(BudgetError, match="raise ε"):
            laplace_mechanism(np.zeros(2, dtype=np.int64), Q(2**52), ExactNoise(1))

    @given(st.fractions(Q(1, 20), Q(50)))
    def test_the_probabilities_sum_to_one_and_lose_one_over_b_a_step(self, scale):
        reach = int(60 * scale) + 60
        pmf = discrete_laplace_pmf(np.arange(-reach, reach + 1), float(scale))
        assert pmf.sum() == pytest.approx(1, abs=1e-12)
        assert pmf[reach] / pmf[reach + 1] == pytest.approx(math.exp(1 / scale))


class TestOtherSources:
    def test_common_noise_rescales_the_same_draws(self):
        cache_of = CommonNoise(4)
        first = cache_of.child("t").discrete_laplace(Q(10), (500,))
        again = cache_of.fresh().child("t").discrete_laplace(Q(10), (500,))
        wider = cache_of.fresh().child("t").discrete_laplace(Q(20), (500,))
        assert first.tolist() == again.tolist()
        assert np.abs(wider - 2 * first).max() <= 4, "the same draws, twice as wide up to rounding"
        assert (wider != first).any()

    def test_common_noise_has_one_stream_a_path(self):
        noise = CommonNoise(4)
        streams = [
            noise.child("a").child("x"),
            noise.child("b").child("x"),
            noise.child("x"),
            noise.child("a").child("x"),
        ]
        drawn = {tuple(s.discrete_laplace(Q(50), (20,)).tolist()) for s in streams}
        assert len(drawn) == 4

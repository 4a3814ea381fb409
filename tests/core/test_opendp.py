"""T3 for OpenDP's samplers: ``noise="opendp"`` draws from the laws of ``noise="exact"``; both are
held to the same test."""

import itertools
import math
import sys
from collections import Counter
from fractions import Fraction as Q

import numpy as np
import pytest
from fit_tools import PASS, p_value
from privacy_tools import curator_of
from scipy import stats

import pdsynth as pds
from pdsynth.algorithms.privbayes import greedy
from pdsynth.audit.detectors import law
from pdsynth.core.errors import BudgetError
from pdsynth.core.noise import ExactNoise, Quantity, exponential_mechanism
from pdsynth.core.structure import MaxParents
from pdsynth.core.unit import TableBudget
from pdsynth.secure import OpenDPNoise, float_above

SCORES = np.array([5, 3, 3, 0])


def test_each_row_has_its_own_scale():
    scales = np.array([Q(1, 2), Q(30)], dtype=object).reshape(2, 1)
    drawn = OpenDPNoise().discrete_laplace(scales, (2, 20_000))
    for row, scale in zip(drawn, scales.ravel(), strict=True):
        assert p_value(row, scale) > PASS
    assert p_value(drawn[0], Q(30)) < PASS


class Asked:
    """Stands in for OpenDP's noisy max: keeps its scale and the scores, and takes the first."""

    def __init__(self, monkeypatch, source):
        self.seen = []
        monkeypatch.setattr(
            source._dp.m,
            "make_noisy_max",
            lambda domain, metric, law, scale: (
                lambda scores: self.seen.append((scale, scores)) or 0
            ),
        )


@pytest.mark.parametrize("epsilon", [Q(3, 2), Q(6), Q(1, 7), Q(10**17 + 3, 10**17 + 9)], ids=str)
def test_the_scale_of_a_selection_is_public_and_its_law_the_exact_one(epsilon, monkeypatch):
    """T24: for all scores of three candidates. Noisy max draws P(i) ∝ exp(score ÷ scale) with
    Gumbel noise, so equal exponents are equal laws; the scale never depends on the scores."""
    source, sensitivity = OpenDPNoise(), 4
    spy, scales = Asked(monkeypatch, source), set()
    for scores in itertools.product(range(0, 9, 2), repeat=3):
        exponential_mechanism(
            Quantity(np.array(scores), "u"), Quantity(sensitivity, "u"), epsilon, source
        )
        scale, given = spy.seen[-1]
        scales.add(scale)
        due = [epsilon * (score - max(scores)) / (2 * sensitivity) for score in scores]
        exact = Q(scale) == 2 * sensitivity / epsilon
        for mine, wanted in zip(given, due, strict=True):
            assert Q(mine) / Q(scale) == wanted if exact else wanted <= Q(mine) / Q(scale) <= 0
            assert abs(Q(mine) / Q(scale) - wanted) <= abs(wanted) * Q(1, 2**51)
    assert len(scales) == 1


def test_twin_a_common_divisor_of_the_scores_shows_in_the_scale(monkeypatch):
    """As it was: scores 0, 4 and 0, 6 asked for another scale each."""
    source = OpenDPNoise()
    spy = Asked(monkeypatch, source)

    def divided(gaps, times, denominator, *, permute, among=None):
        common = math.gcd(*(gaps * times).tolist()) or denominator
        sampler = source._dp.m.make_noisy_max(None, None, None, scale=float(denominator / common))
        return sampler((-(gaps * times) // common).tolist())

    monkeypatch.setattr(source, "choose", divided)
    for scores in ([0, 4], [0, 6]):
        exponential_mechanism(Quantity(np.array(scores), "u"), Quantity(2, "u"), Q(1), source)
    assert len({scale for scale, _ in spy.seen}) == 2


RUNS = 700  # whole networks


@pytest.mark.slow
def test_end_to_end_the_networks_have_the_exact_law():
    """Whole fits with OpenDP: how often each network comes, against its enumerated law."""
    rows = [(0, 0, 0)] * 4 + [(1, 1, 0)] * 4 + [(1, 1, 1)] * 2

    def networks(noise):
        door = curator_of(rows, (2, 2, 2), noise, Q(3))
        return str(greedy(door, MaxParents(1), Q(3), "R", first=0).pairs)

    exact = law(networks)
    found = Counter(networks(OpenDPNoise()) for _ in range(RUNS))
    assert set(found) <= set(exact)
    counts = [found[name] for name in exact]
    assert stats.chisquare(counts, [p * RUNS for p in exact.values()]).pvalue > PASS
    wrong = np.array(list(exact.values())) ** 2
    assert stats.chisquare(counts, wrong / wrong.sum() * RUNS).pvalue < PASS, (
        "failing twin: twice the ε"
    )


def test_long_fractions_and_ties_are_selected_from():
    epsilon = Q(10**17 + 3, 10**17 + 9)
    chosen = [
        exponential_mechanism(
            Quantity(np.array([0, 900]), "u"), Quantity(1, "u"), epsilon, OpenDPNoise()
        )
        for _ in range(3)
    ]
    assert chosen == [1, 1, 1]
    ties = {
        exponential_mechanism(
            Quantity(np.array([4, 4]), "u"), Quantity(1, "u"), epsilon, OpenDPNoise()
        )
        for _ in range(60)
    }
    assert ties == {0, 1}


def test_scales_are_rounded_up_so_that_nothing_costs_more_than_it_says():
    for value in (Q(1, 10), Q(1, 3), Q(240, 7), Q(2), Q(10**20 + 1, 3)):
        assert 0 <= Q(float_above(value)) / value - 1 < Q(1, 2**50)
    with pytest.raises(BudgetError, match="leaves nothing"):
        OpenDPNoise().discrete_laplace(Q(2**53), (1,))


def test_a_release_with_opendp_is_strict_and_unmarked(small_table):
    frame, schema = small_table
    fitted = pds.PrivBayes(1.0, k=1, noise="opendp").fit(frame, schema=schema)
    assert fitted.ledger_.epsilon == 1 and not fitted.ledger_.check() and not fitted.ledger_.notes
    assert len(fitted.sample()) == len(frame)
    again = pds.HPPrivBayes(1.0, k=1, sensitive="x0", noise="opendp").fit(frame, schema=schema)
    assert again.ledger_.epsilon == 1


@pytest.fixture
def small_table():
    schema = pds.Schema(
        tuple(pds.Attribute.categorical(f"x{j}", range(s)) for j, s in enumerate((2, 3, 2)))
    )
    codes = np.random.default_rng(1).integers(0, [2, 3, 2], (300, 3))
    return schema.decode(codes.astype(np.uint8)), schema


def test_a_seed_is_refused_before_anything_is_read(small_table):
    with pytest.raises(BudgetError, match="takes no seed"):
        pds.PrivBayes(1.0, noise="opendp", random_state=1).fit(
            small_table[0], schema=small_table[1]
        )


def test_large_tables_and_scales_sum_to_0_too():
    drawn = [OpenDPNoise().zero_sum_laplace(Q(10**9), (4, 8)) for _ in range(40)]
    assert all(v.shape == (4, 8) and v.dtype == np.int64 and not v.sum() for v in drawn)
    assert np.mean([np.abs(v).sum() for v in drawn]) / 31 == pytest.approx(1e9, rel=0.15)


def test_the_same_door_the_same_ledger():
    both = [
        curator_of([[0, 0], [1, 1]], (2, 17), noise, epsilon=Q(3))
        for noise in (OpenDPNoise(), ExactNoise())
    ]
    for curator in both:
        curator.table((0, 1), TableBudget(Q(1)), step="t")
        curator.table((0,), TableBudget(Q(1)), step="small")
    assert both[0].ledger.entries == both[1].ledger.entries
    assert both[0].ledger.entries[-1].mechanism == "zero_sum_laplace"
    assert not any(curator.ledger.check()[1:] for curator in both)


def test_without_opendp_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r"noise='opendp' needs opendp: .*pdsynth\[secure\]"):
        OpenDPNoise()

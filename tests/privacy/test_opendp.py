"""T3 for OpenDP's samplers: ``noise="opendp"`` draws from the laws of ``noise="exact"``; both are
held to the same test."""

import sys
from fractions import Fraction as Q

import numpy as np
import pytest
from fit_tools import PASS, p_value
from privacy_tools import curator_of, permute_and_flip_law
from scipy import stats

import pdsynth as pds
from pdsynth.errors import BudgetError
from pdsynth.privacy.mechanisms import ExactNoise, OpenDPNoise, Quantity, exponential_mechanism
from pdsynth.privacy.noise import float_above

pytest.importorskip("opendp")
SCORES = np.array([5, 3, 3, 0])


@pytest.mark.parametrize("source", [OpenDPNoise, ExactNoise])
def test_both_samplers_fit_the_discrete_laplace_law(source):
    drawn = source().discrete_laplace(Q(240, 7), (100_000,))
    assert drawn.dtype == np.int64
    assert p_value(drawn, Q(240, 7)) > PASS
    assert p_value(drawn, Q(240, 7) * Q(17, 16)) < PASS, "failing twin: another scale"
    assert p_value(drawn + 3, Q(240, 7)) < PASS, "failing twin: a shift"


@pytest.mark.parametrize("scale", [Q(1, 3), Q(7, 3)], ids=str)
def test_small_scales_fit_too(scale):
    assert p_value(OpenDPNoise().discrete_laplace(scale, (30_000,)), scale) > PASS


def test_each_row_has_its_own_scale():
    scales = np.array([Q(1, 2), Q(30)], dtype=object).reshape(2, 1)
    drawn = OpenDPNoise().discrete_laplace(scales, (2, 20_000))
    for row, scale in zip(drawn, scales.ravel(), strict=True):
        assert p_value(row, scale) > PASS
    assert p_value(drawn[0], Q(30)) < PASS


def selections(source, permute, runs=2500):
    chosen = [
        exponential_mechanism(
            Quantity(SCORES, "u"), Quantity(2, "u"), Q(3, 2), source, permute_and_flip=permute
        )
        for _ in range(runs)
    ]
    return np.bincount(chosen, minlength=len(SCORES))


@pytest.mark.parametrize("source", [OpenDPNoise, ExactNoise])
@pytest.mark.parametrize("permute", [False, True], ids=["exponential", "permute_and_flip"])
def test_selections_fit_their_law(source, permute):
    weight = np.exp((SCORES - 5) * 3 / 8)
    laws = [weight / weight.sum(), permute_and_flip_law(weight)]
    found = selections(source(), permute)
    assert stats.chisquare(found, laws[permute] * found.sum()).pvalue > PASS
    assert stats.chisquare(found, laws[not permute] * found.sum()).pvalue < PASS, (
        "failing twin: the other mechanism"
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


def test_the_same_door_the_same_ledger():
    both = [
        curator_of([[0, 0], [1, 1]], (2, 2), noise, epsilon=Q(2))
        for noise in (OpenDPNoise(), ExactNoise())
    ]
    for curator in both:
        curator.table((0, 1), Q(2), step="t", source="", claimed=Q(1))
    assert both[0].ledger.entries == both[1].ledger.entries


def test_without_opendp_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r"pdsynth\[secure\]"):
        OpenDPNoise()

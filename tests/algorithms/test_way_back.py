"""The way back: the ε of a distance inverts the forecast of an ε, on a grid of schemas."""

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth import Attribute, BudgetError, Schema
from pdsynth.planning.way_back import GRID, least_epsilon


def of_sizes(sizes):
    return Schema(tuple(Attribute.categorical(f"x{j}", range(s)) for j, s in enumerate(sizes)))


SIZES = st.lists(st.sampled_from([2, 3, 5, 16, 60]), min_size=2, max_size=12)


@settings(max_examples=60, deadline=None)
@given(SIZES, st.sampled_from([200, 5_000, 50_000, 10**6]), st.floats(0.01, 0.9))
def test_it_is_the_least_epsilon_whose_forecast_is_near_enough(sizes, n, distance):
    schema = of_sizes(sizes)
    if pds.plan(schema, n, 10).distance > distance:
        with pytest.raises(BudgetError, match="no ε up to 10"):
            pds.plan(schema, n, distance=distance)
        return
    found = pds.plan(schema, n, distance=distance)
    assert found.distance == pds.plan(schema, n, found.epsilon).distance <= distance
    at = GRID.index(found.epsilon)
    assert at == 0 or pds.plan(schema, n, GRID[at - 1]).distance > distance


@settings(max_examples=60, deadline=None)
@given(SIZES, st.sampled_from([200, 5_000, 50_000]), st.sampled_from(GRID))
def test_there_and_back_is_never_dearer_and_as_near(sizes, n, epsilon):
    schema = of_sizes(sizes)
    there = pds.plan(schema, n, epsilon)
    if there.distance < 1:
        back = pds.plan(schema, n, distance=there.distance * (1 + 1e-12))
        assert back.epsilon <= epsilon and back.distance <= there.distance * (1 + 1e-9)


@pytest.mark.parametrize("sizes", [[2] * 16, [16, 9, 7, 2, 42], [60] * 6])
def test_the_forecast_falls_with_epsilon(sizes):
    """Bisection finds the least ε of all only where it does."""
    distances = [pds.plan(of_sizes(sizes), 20_000, e).distance for e in GRID[::5]]
    assert distances == sorted(distances, reverse=True)


def test_by_hand_it_is_a_step_of_two_digits():
    assert least_epsilon(0.25, lambda e: [0.1 / e]) == Fraction(2, 5)
    assert least_epsilon(0.99, lambda e: [0.0]) == GRID[0] == Fraction(1, 1000)
    assert least_epsilon(0.3, lambda e: [1 / e]) == Fraction(17, 5)


@pytest.mark.parametrize("distance", [0, 1, -0.1, 2, "near", float("nan"), None, [0.1]])
def test_what_is_no_distance_is_refused(distance):
    with pytest.raises(BudgetError):
        pds.plan(of_sizes([2, 3]), 1000, distance=distance)


def test_one_of_both_is_asked_for():
    for both in ({}, {"epsilon": 1, "distance": 0.1}):
        with pytest.raises(BudgetError, match="one of epsilon and distance"):
            pds.plan(of_sizes([2, 3]), 1000, **both)


def test_a_distance_out_of_reach_says_how_near_ten_comes():
    with pytest.raises(BudgetError, match=r"no ε up to 10 .* at ε = 10 the forecast is 0\.\d{4}"):
        pds.plan(of_sizes([60] * 6), 300, distance=0.01)


def test_the_sentence_says_it():
    found = pds.plan(of_sizes([16, 9, 7, 2]), 50_000, distance=0.05)
    assert str(found).endswith(
        f"ε = {float(found.epsilon):g} is the least, of two digits, whose forecast is at most 0.05."
    )
    assert found.synthesizer().epsilon == float(found.epsilon)
    assert not re.search("least, of two", str(pds.plan(of_sizes([16, 9]), 50_000, 1)))


def test_the_way_back_knows_that_a_named_forecast_may_rise():
    """A δ comes as near as .00514 at ε = 5.7; from 6.5 on pure ε is named, which is hardly farther,
    and nothing up to 10: an error said that no ε reaches it."""
    found = pds.plan(of_sizes([2] * 40), 30_000, distance=0.00514, delta=1e-9)
    assert found.epsilon == Fraction("5.7") and found.distance <= 0.00514
    assert pds.plan(of_sizes([2] * 40), 30_000, 6.5, delta=1e-9).distance > 0.00514
    assert pds.plan(of_sizes([2] * 40), 30_000, 5.6, delta=1e-9).distance > 0.00514

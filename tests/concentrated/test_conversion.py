"""From (ε, δ) to ρ and back: on the safe side, and not far from the best."""

import math
from fractions import Fraction as Q

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth.concentrated import check_delta, epsilon_of, implies, rho_of
from pdsynth.core import BudgetError

NINE = Q(1, 10**9)


def delta_by_grid(rho, epsilon):
    """The least δ over many orders, in doubles: Canonne, Kamath, Steinke 2020, corollary 13."""
    logs = []
    for step in range(1, 4000):
        a = 1 + 1.01 ** (step - 1000) if step < 3500 else 1 + 2.0 ** (step - 3460)
        if a > 1 + 1e-9 and a < 1e14:
            more = a - 1
            logs.append(more * (a * rho - epsilon) - math.log(more) + a * math.log1p(-1 / a))
    return math.exp(min(logs))


def test_the_number_of_the_issue():
    assert rho_of(Q(1), NINE) == Q(14973, 10**6)


@pytest.mark.parametrize("epsilon", [Q(1, 100), Q(1, 5), Q(1), Q(4), Q(20)])
@pytest.mark.parametrize("delta", [NINE, Q(1, 10**5), Q(1, 10**30)])
def test_rho_keeps_its_delta_and_nearly_spends_it(epsilon, delta):
    rho = rho_of(epsilon, delta)
    assert implies(rho, epsilon, delta)
    assert not implies(rho * Q(10001, 10000), epsilon, delta)
    found = delta_by_grid(float(rho), float(epsilon))
    assert 0.99 * float(delta) < found <= float(delta) * 1.002  # the grid's step


def test_there_and_back():
    for epsilon in (Q(1, 5), Q(1), Q(4)):
        rho = rho_of(epsilon, NINE)
        back = epsilon_of(rho, NINE)
        assert implies(rho, back, NINE) and Q(99999, 100000) * epsilon < back <= epsilon
    assert epsilon_of(Q(0), NINE) == 0


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(min_value=Q(1, 1000), max_value=50, max_denominator=1000),
    st.integers(3, 40),
)
def test_more_is_never_less(epsilon, digits):
    delta = Q(1, 10**digits)
    rho = rho_of(epsilon, delta)
    assert 0 < rho <= rho_of(2 * epsilon, delta)
    assert rho_of(epsilon, delta / 10) <= rho
    assert rho <= epsilon  # the older bound: ε ≥ ρ + 2√(ρ ln 1/δ)
    older = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
    assert rho >= older * 0.9999


@pytest.mark.parametrize("delta", [0, -1, 1, 2, "x", math.nan, math.inf, None, [1]])
def test_what_is_no_chance_is_refused(delta):
    with pytest.raises(BudgetError, match="delta"):
        check_delta(delta)

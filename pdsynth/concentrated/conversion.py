"""From (ε, δ) to ρ, and back: what zero-concentrated differential privacy promises.

ρ-zCDP (Bun, Steinke 2016): for neighbours D, D' and every order α > 1 the Rényi divergence of the
outputs is at most ρα. Costs ρ add up. ρ-zCDP implies (ε, δ) for every ε with

    ln δ ≥ (α − 1)(αρ − ε) − ln(α − 1) + α ln(1 − 1/α)        for one α > 1

(Canonne, Kamath, Steinke 2020, corollary 13). Doubles choose α and a first guess, which may be any;
what is promised is checked in decimals of 60 digits, whose logarithms are rounded correctly, with
room that no rounding comes near.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from ..core import BudgetError, number, show

DIGITS = 60  # of the decimals
ROOM = Decimal("1e-40")  # relative; their rounding is below 1e-55
SHORT = 6  # digits of a ρ or ε that is promised, which is written in a ledger


def check_delta(delta: Any) -> Fraction:
    """A chance strictly between 0 and 1; BudgetError for anything else.

    >>> check_delta(1e-9)
    Fraction(1, 1000000000)
    """
    chance = number("delta", delta)
    if not 0 < chance < 1:
        raise BudgetError(
            f"delta must lie between 0 and 1, got {show(delta)}: it is a small chance, such as "
            "1e-9; leave it out for pure ε"
        )
    return chance


@cache
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """A ρ for which ρ-zCDP implies (ε, δ)-DP: the largest with six digits, or next to it.

    >>> rho_of(Fraction(1), Fraction(1, 10**9))
    Fraction(14973, 1000000)
    """
    low, high = 0.0, float(epsilon) + 1
    for _ in range(200):
        middle = (low + high) / 2
        best = _best_order(middle, float(epsilon), float(delta)) if middle else 2.0
        fine = _log_delta(middle, float(epsilon), best) <= math.log(delta)
        low, high = (middle, high) if fine else (low, middle)
    rho = shorten(Fraction(low), ROUND_FLOOR)
    step = Fraction(10) ** (_exponent(rho) - SHORT + 1) if rho else Fraction(0)
    while rho > 0 and not implies(rho, epsilon, delta):
        rho -= step
    if rho <= 0:
        raise BudgetError(f"no ρ is small enough for ε = {epsilon}, δ = {delta}: raise them")
    return rho


@cache
def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """An ε for which ρ-zCDP implies (ε, δ)-DP: the least with six digits, or next to it; 0 for 0.

    >>> float(epsilon_of(Fraction(14973, 10**6), Fraction(1, 10**9)))
    0.999998
    """
    if rho == 0:
        return Fraction(0)
    low, high = 0.0, float(rho) + 2 * math.sqrt(float(rho) * -math.log(delta)) + 1e-300
    for _ in range(200):
        middle = (low + high) / 2
        best = _best_order(float(rho), middle, float(delta))
        fine = _log_delta(float(rho), middle, best) <= math.log(delta)
        low, high = (low, middle) if fine else (middle, high)
    epsilon = shorten(Fraction(high), ROUND_CEILING)
    step = Fraction(10) ** (_exponent(epsilon) - SHORT + 1)
    while not implies(rho, epsilon, delta):
        epsilon += step
    return epsilon


def implies(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether the inequality above proves that ρ-zCDP implies (ε, δ)-DP, with room to spare."""
    order = Fraction(_best_order(float(rho), float(epsilon), float(delta))).limit_denominator(10**9)
    if order <= 1:
        return False
    with localcontext(Context(prec=DIGITS)):
        a, r, e, d = (
            Decimal(x.numerator) / Decimal(x.denominator) for x in (order, rho, epsilon, delta)
        )
        terms = (a - 1) * (a * r - e), -(a - 1).ln(), a * (1 - 1 / a).ln(), -d.ln()
        return sum(terms) + ROOM * sum(map(abs, terms)) <= 0


def shorten(value: Fraction, rounding: str) -> Fraction:
    """A positive number with six digits, rounded up or down."""
    if not value:
        return value
    with localcontext(Context(prec=SHORT, rounding=rounding)):
        return Fraction(Decimal(value.numerator) / Decimal(value.denominator))


def _exponent(value: Fraction) -> int:
    """The power of ten of the first digit."""
    with localcontext(Context(prec=DIGITS)):
        return (Decimal(value.numerator) / Decimal(value.denominator)).adjusted()


def _log_delta(rho: float, epsilon: float, order: float) -> float:
    """The right side of the inequality above, in doubles."""
    more = order - 1
    return more * (order * rho - epsilon) - math.log(more) + order * math.log1p(-1 / order)


def _best_order(rho: float, epsilon: float, delta: float) -> float:
    """The order α at which the right side is least: its slope, which rises, is 0 there."""
    low, high = 1.0 + 1e-9, (epsilon + 1) / (2 * rho) + 2 if rho else 1e15
    for _ in range(200):
        order = (low + high) / 2
        slope = (2 * order - 1) * rho - epsilon + math.log1p(-1 / order)
        low, high = (order, high) if slope < 0 else (low, order)
    return max(order, 1.0 + 1e-9)

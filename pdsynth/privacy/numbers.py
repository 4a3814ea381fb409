"""Numbers that a user writes, as exact fractions, or a BudgetError that says what was wrong."""

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from ..errors import BudgetError, show

LARGEST, SMALLEST = 10**15, Fraction(1, 10**100)  # of any parameter, unless it is 0
LEAST_SHARE = Fraction(1, 10**6)


def as_fraction(value: float | int | str | Fraction) -> Fraction:
    """A share or ε as written: 0.1 becomes 1/10, never the nearest binary float.

    >>> as_fraction(0.1), as_fraction(1/3)
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise BudgetError(f"a budget or share must be finite, got {value}")
    written = Fraction(str(value))
    near = written.limit_denominator(1000)  # 0.3333333333333333 is how a float writes 1/3
    return near if isinstance(value, float) and float(near) == value else written


def number(name: str, value: float | int | str | Fraction) -> Fraction:
    """A finite number: 0, or from 1e-100 to 1e15 in size."""
    try:
        given = Fraction(LARGEST + 1) if _is_long(value) else as_fraction(value)
    except (ValueError, TypeError, ZeroDivisionError) as problem:
        raise BudgetError(f"{name} must be a finite number, got {show(value)}") from problem
    if given and not SMALLEST <= abs(given) <= LARGEST:
        raise BudgetError(
            f"{name} = {show(value)} is beyond any use: a number must lie between "
            "1e-100 and 1e15 in size"
        )
    return given


def _is_long(value: Any) -> bool:
    """Whether a decimal, written out, would be too long to compute with."""
    try:
        return isinstance(value, (str, Decimal)) and abs(Decimal(value).adjusted()) > 1000
    except InvalidOperation:  # 1/3, or no number at all
        return False


def positive(name: str, value: float | int | str | Fraction) -> Fraction:
    """A number above zero."""
    given = number(name, value)
    if given <= 0:
        raise BudgetError(f"{name} must be a positive finite number, got {show(value)}")
    return given


def share(name: str, value: float | Fraction) -> Fraction:
    """A share strictly between 0 and 1, and at least a millionth."""
    given = positive(name, value)
    if not LEAST_SHARE <= given < 1:
        raise BudgetError(f"{name} must lie between 0 and 1, got {show(value)} (1e-6 is the least)")
    return given

"""Numbers that a user writes, as exact fractions, or a BudgetError that says what was wrong."""

from __future__ import annotations

from fractions import Fraction

from ..errors import BudgetError
from .entries import as_fraction


def number(name: str, value: float | int | str | Fraction) -> Fraction:
    """A finite number."""
    try:
        return as_fraction(value)
    except (ValueError, TypeError, ZeroDivisionError) as problem:
        raise BudgetError(f"{name} must be a finite number, got {value!r}") from problem


def positive(name: str, value: float | int | str | Fraction) -> Fraction:
    """A number above zero."""
    given = number(name, value)
    if given <= 0:
        raise BudgetError(f"{name} must be a positive finite number, got {value!r}")
    return given


def share(name: str, value: float | Fraction) -> Fraction:
    """A share strictly between 0 and 1."""
    given = positive(name, value)
    if given >= 1:
        raise BudgetError(f"{name} must lie between 0 and 1, got {value!r}")
    return given

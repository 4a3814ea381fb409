"""The way back: the least ε whose forecast reaches a distance, from public facts alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ..core import BudgetError, number, show

# Every ε with two digits from 0.001 to 10, rising: what the way back may answer.
GRID = (*(Fraction(m, 10**k) for k in (4, 3, 2, 1) for m in range(10, 100)), Fraction(10))


def least_epsilon(distance: Any, forecast: Callable[[float], Sequence[float]]) -> Fraction:
    """The least ε of two digits, from 0.001 to 10, whose forecast is at most ``distance``.

    ``forecast``: the mean two-way distances of all methods for each ε, all falling, that of the
    method that is named first: it may rise where another is named, which is hardly farther. Raises
    BudgetError for a distance that isn't between 0 and 1, or that no ε up to 10 reaches.

    **Privacy:** as the forecast, which is a function of public facts.
    """
    target = float(number("distance", distance))
    if not 0 < target < 1:
        raise BudgetError(
            f"distance must lie between 0 and 1, got {show(distance)}: it is the mean total "
            "variation distance of all pairs of columns"
        )
    at = bisect_left(GRID, True, key=lambda epsilon: min(forecast(float(epsilon))) <= target)
    for epsilon in GRID[at:]:
        if forecast(float(epsilon))[0] <= target:
            return epsilon
    raise BudgetError(
        f"no ε up to {GRID[-1]} is forecast to come as near as {target:g}: at ε = {GRID[-1]} the "
        f"forecast is {forecast(float(GRID[-1]))[0]:.4f}; it takes more records, fewer columns, "
        "coarser bins, or a larger distance"
    )

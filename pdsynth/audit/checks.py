"""What an audit may be asked for, checked before it runs."""

from __future__ import annotations

import math
from typing import Any

from ..errors import BudgetError, check_seed, is_whole, show
from ..privacy.numbers import number

MOST_RUNS = 10**9


def check_effort(runs: Any, seed: Any, audits: Any) -> None:
    """Refuse numbers of runs and audits that aren't, and strange seeds."""
    if not is_whole(runs, 4, MOST_RUNS):
        raise BudgetError("runs must be a whole number: an audit needs at least four runs of each "
                          f"world, and at most {MOST_RUNS:,}, got {show(runs)}")
    if not is_whole(audits, 1, 10**6):
        raise BudgetError(f"audits must be a whole number from 1 to 1,000,000, got {show(audits)}")
    check_seed(seed)


def check_black_box(
    make_release: Any, pair: Any, statistic: Any, claimed: Any, theory: Any, name: Any
) -> tuple[float, float]:
    """The claimed and the true ε; refuses what can't be audited: no functions, no two tables."""
    for what, given in (("make_release", make_release), ("statistic", statistic)):
        if not callable(given):
            raise BudgetError(f"{what} must be a function, got {show(given)}")
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise BudgetError(f"pair must be two neighbouring tables, or a Pair, got {show(pair)}")
    if not isinstance(name, str):
        raise BudgetError(f"name must be a text, got {show(name)}")
    return _epsilon("claimed", claimed), _epsilon("theory", theory, unknown=True)


def _epsilon(name: str, given: Any, *, unknown: bool = False) -> float:
    """ε as a number of at least 0; ∞ where nothing is promised; nan where that may be said."""
    if isinstance(given, float) and (given == math.inf or (unknown and math.isnan(given))):
        return given
    value = number(name, given)
    if value < 0:
        raise BudgetError(f"{name} must be at least 0, got {show(given)}")
    return float(value)

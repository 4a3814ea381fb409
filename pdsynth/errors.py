"""The three errors of the library: each says what happened, with the numbers, and what to do."""

import math
from numbers import Integral
from typing import Any


class SchemaError(ValueError):
    """The table and its declared public domain do not agree, or a declaration is impossible."""


class BudgetError(ValueError):
    """A budget or a parameter of an algorithm is impossible, or would be overdrawn."""


class BudgetDegenerate(BudgetError):
    """The printed formula divides by zero or fewer tables (thesis, Algorithm 5)."""


class PrivacyError(ValueError):
    """A step would touch raw records outside a mechanism while the guarantee is strict."""


def is_whole(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether a parameter is a whole number from ``low`` to ``high``; ``True`` and 1.0 are none."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and bool(low <= value <= high)

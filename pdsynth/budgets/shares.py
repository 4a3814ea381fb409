"""How a budget is split over tables and over the values of one table, in exact fractions."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..privacy.unit import TableBudget

RARE_VALUES = ("less_noise", "more_noise", "same_noise")


def proportional(total: Fraction, weights: Mapping[str, int | Fraction]) -> dict[str, Fraction]:
    """Split a budget in proportion to weights; the parts add up to ``total`` exactly."""
    whole = sum((Fraction(w) for w in weights.values()), Fraction(0))
    return {name: total * Fraction(w) / whole for name, w in weights.items()}


def uniform(tables: int, epsilon: Fraction, *, source: str = "") -> TableBudget:
    """The same for each of m tables: ε/m."""
    return TableBudget(epsilon / tables, source=source)


def by_weight(
    epsilon: Fraction, weights: Mapping[str, Fraction], source: str, depends_on: str = "public"
) -> dict[str, TableBudget]:
    """A part of ε for each table, in proportion to its weight."""
    entries = () if depends_on == "public" else (depends_on,)
    return {
        name: TableBudget(part, depends_on=entries, source=source)
        for name, part in proportional(epsilon, weights).items()
    }


def risk_entropy_weights(entropies: Mapping[str, float]) -> dict[str, Fraction]:
    """Shares ∝ exp(−OE) from normalised risk entropies that are already released; their sum is 1.

    More risk, less budget, more noise (HMPrivBayes, Algorithm 5 and formula (12)). The weights are
    rounded to 1/1024, so that noise scales stay short fractions.

    >>> shares = risk_entropy_weights({"sex": 0.0, "age": 0.0})
    >>> {name: float(share) for name, share in shares.items()}
    {'sex': 0.5, 'age': 0.5}
    """
    weights = {name: round(1024 * float(np.exp(-value))) for name, value in entropies.items()}
    return proportional(Fraction(1), weights)


def geometric(
    ranked: Sequence[str], q: Fraction, classes: int | None = None
) -> dict[str, Fraction]:
    """Weights in the ratio q over ranked tables, the last q times the one before it (PPBA).

    ``classes`` puts ⌈m/classes⌉ tables at a time into one class; the class budgets are in the ratio
    q and split evenly inside (SA-PrivBayes). Rounded to 2^-20 of the largest, so that noise scales
    stay short fractions.

    >>> geometric(["a", "b", "c"], Fraction(2))
    {'a': Fraction(1, 4), 'b': Fraction(1, 2), 'c': Fraction(1, 1)}
    """
    size = 1 if classes is None else math.ceil(len(ranked) / classes)
    place = {name: i // size for i, name in enumerate(ranked)}
    members = [list(place.values()).count(c) for c in range(max(place.values()) + 1)]
    raw = {name: float(q) ** c / members[c] for name, c in place.items()}
    top = max(raw.values())
    return {
        name: Fraction(max(1, round(value / top * 2**20)), 2**20) for name, value in raw.items()
    }


def value_weights(histogram: np.ndarray, rare_values: str, floor: Fraction) -> tuple[Fraction, ...]:
    """Relative budgets of the values of one attribute from released counts: largest 1, least floor.

    ``less_noise``: w_x ∝ −log₂ P(x), the thesis' choice for rare values (Definition 11);
    ``more_noise``: w_x ∝ 1/−log₂ P(x); ``same_noise``: all 1.
    """
    if rare_values == "same_noise":
        return (Fraction(1),) * len(histogram)
    p = np.maximum(np.asarray(histogram, dtype=float), 0.5)
    surprise = -np.log2(p / p.sum())
    w = surprise if rare_values == "less_noise" else 1 / np.maximum(surprise, 1e-9)
    return tuple(max(Fraction(float(x)).limit_denominator(1000), floor) for x in w / w.max())

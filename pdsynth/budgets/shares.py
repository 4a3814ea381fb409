"""How a budget is split over tables and over the values of one table, in exact fractions."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..errors import BudgetDegenerate
from ..measures import sensitivity_weights
from ..privacy.ledger import histogram_cost

RARE_VALUES = ("less_noise", "more_noise", "same_noise")


@dataclass(frozen=True)
class TableBudget:
    """Noise of one table: ``scale`` in records (one, or one per value of the child).

    ``claimed``: the ε that it is advertised to cost. ``scale_depends_on``: ledger entries that the
    scale comes from.
    """

    scale: Fraction | tuple[Fraction, ...]
    claimed: Fraction
    scale_depends_on: tuple[str, ...] = ()
    source: str = ""


def proportional(total: Fraction, weights: Mapping[str, int | Fraction]) -> dict[str, Fraction]:
    """Split a budget in proportion to weights; the parts add up to ``total`` exactly."""
    whole = sum((Fraction(w) for w in weights.values()), Fraction(0))
    return {name: total * Fraction(w) / whole for name, w in weights.items()}


def uniform(tables: int, epsilon: Fraction, *, source: str = "", moved: int = 2) -> TableBudget:
    """The same noise for each of m tables: scale 2m/ε records, ε/m each.

    ``moved``: L1 sensitivity of a table; 1 where a record is added or removed.
    """
    return TableBudget(Fraction(moved * tables) / epsilon, epsilon / tables, source=source)


def by_weight(
    epsilon: Fraction, weights: Mapping[str, Fraction], source: str, depends_on: str = "public"
) -> dict[str, TableBudget]:
    """Noise of scale 2/ε_j where ε_j is in proportion to a table's weight."""
    entries = () if depends_on in ("public", "none") else (depends_on,)
    return {
        name: TableBudget(2 / part, part, entries, source)
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


def printed_thirds(
    bits: int, clusters: int, epsilon: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    """ε₁, ε₂, ε₃ of HMPrivBayes §4.1: in proportion to a₁ = (d−1)/n, a₂ = a₃ = 2d/(nk); n cancels.

    >>> [round(float(e), 4) for e in printed_thirds(52, 3, Fraction(1))]
    [0.4238, 0.2881, 0.2881]
    """
    one, two = Fraction(bits - 1), Fraction(2 * bits, clusters)
    whole = one + 2 * two
    return epsilon * one / whole, epsilon * two / whole, epsilon * two / whole


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


def printed_weights(histogram: np.ndarray, rare_values: str) -> np.ndarray:
    """The weights w of Definition 11, their inverse scaled to sum 1, or all ones."""
    if rare_values == "same_noise":
        return np.ones(len(histogram))
    w = sensitivity_weights(histogram)
    inverse = 1 / np.maximum(w, 1e-9)
    return w if rare_values == "less_noise" else inverse / inverse.sum()


def tight_scales(
    weights: Sequence[Fraction], epsilon: Fraction, columns: int
) -> tuple[Fraction, ...]:
    """Noise scales b_x ∝ 1/v_x for which the table costs exactly ε (`algorithms` §3.3.5).

    A record moves from one cell to one other cell, so the budgets of values don't add: only the
    worst move counts.

    >>> tight_scales([Fraction(1), Fraction(1, 2)], Fraction(1), 3)
    (Fraction(2, 1), Fraction(4, 1))
    """
    relative = [1 / Fraction(v) for v in weights]
    cost = histogram_cost(relative, columns)
    return tuple(b * cost / epsilon for b in relative)


def printed_scales(weights: np.ndarray, tables: int, epsilon: Fraction) -> tuple[Fraction, ...]:
    """The printed scales 2l/(w_x ε₃) of thesis Algorithm 6, line 6, in records."""
    exact = [Fraction(float(w)).limit_denominator(10**7) for w in np.maximum(weights, 1e-6)]
    return tuple(Fraction(2 * tables) / (w * epsilon) for w in exact)


def printed_group_a(d: int, k: int, in_b: int, epsilon: Fraction) -> Fraction:
    """The printed scale 2(d−k−l)/ε₂ (thesis, Alg. 5, line 4); BudgetDegenerate if d−k−l ≤ 0."""
    paid = d - k - in_b
    if paid <= 0:
        raise BudgetDegenerate(
            f"d − k − l = {d} − {k} − {in_b} = {paid}: the thesis' Algorithm 5 divides ε₂ by it; "
            "lower k or θ, or use guarantee='strict', which divides by the tables it really noises"
        )
    return Fraction(2 * paid) / epsilon


class Scales(NamedTuple):
    """How noise follows the budgets of groups A and B: as printed, or divided by what is noised.

    ``group_a`` (d, k, |B|, ε₂): scale of a table of A. ``weights`` (histogram, rare values, floor):
    relative budgets of the values of an attribute of B; ``group_b`` (weights, |B|, ε₃, columns):
    its scales. ``words``: what the ledger says besides.
    """

    group_a: Callable[[int, int, int, Fraction], Fraction]
    weights: Callable[[np.ndarray, str, Fraction], Any]
    group_b: Callable[[Any, int, Fraction, int], tuple[Fraction, ...]]
    words: str = ""


TIGHT = Scales(
    lambda d, k, in_b, epsilon: 2 * (d - in_b) / epsilon,
    value_weights,
    lambda w, in_b, epsilon, columns: tight_scales(w, epsilon / in_b, columns),
    ", v = w / max w",
)
PRINTED = Scales(
    printed_group_a,
    lambda h, rare, floor: printed_weights(h, rare),
    lambda w, in_b, epsilon, columns: printed_scales(np.array(w, dtype=float), in_b, epsilon),
)
# without noise scales don't matter, and d − k − l needn't be positive
SCALES = {"strict": TIGHT, "published": PRINTED, "none": TIGHT}

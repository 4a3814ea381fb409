"""Noise scales as the papers print them, whatever they cost; only the raw door takes them."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..core import BudgetDegenerate, Scale, TableBudget, Unit


@dataclass(frozen=True)
class PrintedBudget(TableBudget):
    """A table whose noise a paper prints: ``epsilon`` is what it claims, and needn't be the cost.

    ``scale`` in records: one number, or one per value of the child. ``unit``: what neighbours
    differ in for the paper; None: as for the run.
    """

    scale: Scale = Fraction(0)
    unit: Unit | None = None


def printed_half(tables: int, epsilon: Fraction, claimed: Fraction, source: str) -> PrintedBudget:
    """The printed scale 2m/ε of m tables that are announced to cost ε/2 (thesis, Algorithm 2)."""
    return PrintedBudget(claimed / tables, source=source, scale=Fraction(2 * tables) / epsilon)


def sensitivity_weights(counts: np.ndarray) -> np.ndarray:
    """w_x = SD_x / Σ SD with SD_x = −log₂ P(x), one weight per value; thesis, Definition 11.

    A declared value without records has no SD, and the thesis doesn't say what then: here one is
    then added to every count.

    **Privacy:** of raw counts they are raw, and no ε covers a noise scale computed from them.

    >>> sensitivity_weights(np.array([4, 2, 2])).tolist()
    [0.2, 0.4, 0.4]
    """
    c = np.asarray(counts, dtype=float)
    c = c + 1 if (c <= 0).any() else c
    surprise = -np.log2(c / c.sum())
    return surprise / surprise.sum()


def printed_weights(histogram: np.ndarray, rare_values: str) -> np.ndarray:
    """The weights w of Definition 11, their inverse scaled to sum 1, or all ones."""
    if rare_values == "same_noise":
        return np.ones(len(histogram))
    w = sensitivity_weights(histogram)
    inverse = 1 / np.maximum(w, 1e-9)
    return w if rare_values == "less_noise" else inverse / inverse.sum()


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


def tool_budget(d: int, parents: int, epsilon: Fraction, source: str) -> PrintedBudget:
    """The scale (d−k)/(ε/2) of a table of k parents, which claims ε/2d (the GA paper's tool)."""
    scale = Fraction(2 * (d - parents)) / epsilon
    return PrintedBudget(epsilon / (2 * d), source=source, scale=scale)


def one_record_more(epsilon: Fraction, source: str) -> PrintedBudget:
    """The scale 1/ε of papers whose neighbours have a record more or less (PriView)."""
    unit = Unit("add_remove")
    return PrintedBudget(epsilon, source=source, scale=unit.scale(epsilon), unit=unit)


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

"""The door of a run with δ: budgets are ρ, numbers get Gaussian noise, choices cost ε²/8."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..core import Curator, Measured, PrivacyError, TableBudget
from .gaussian import DiscreteGaussian
from .ledger import GAUSSIAN

EXPONENT_BITS = 20  # of an exponent: less than a millionth of it is lost by rounding down


class ConcentratedCurator(Curator):
    """Answers as the strict door's; whatever it takes as ε is ρ of zCDP.

    **Privacy:** each answer is ρ-zCDP for the ρ of its line. A question whose cost in ρ isn't
    worked out raises PrivacyError, in the ledger, before noise is drawn for it.
    """

    def table(self, columns: Sequence[int], budget: TableBudget, *, step: str) -> Measured:
        """Noisy joint counts of a child (first column) and its parents, one axis each.

        The scale that is returned weighs the table: that of Laplace noise with the same variance.
        PrivacyError for a budget with weights, or with a scale of its own.

        **Privacy:** discrete Gaussian noise in every declared cell, empty ones included, of
        variance σ² = 1/ρ where a record is replaced (Δ² = 2), 1/2ρ where n is secret (Δ² = 1).
        Costs ρ = ``budget.epsilon``.
        """
        if type(budget) is not TableBudget or budget.weights is not None:
            raise PrivacyError(f"{step!r}: with delta a table has one variance, from its ρ")
        unit, (child, cells) = self.ledger.unit, self._shape(columns)
        law = DiscreteGaussian(unit.scale(budget.epsilon))
        entry = self._charge(
            step,
            budget.source,
            f"joint counts {child} × {cells}",
            columns,
            epsilon=unit.cost(law.variance, cells),
            mechanism=GAUSSIAN,
            sensitivity=Fraction(unit.moved),
            scale=law.variance,
            scale_depends_on=budget.depends_on,
            columns=cells,
            lemma=unit.lemma("joint_counts"),
            unit=unit,
            domain_sizes=(child, cells),
        )
        counts = self._noise.child(step).add_law(self._records.table(tuple(columns)), law)
        return Measured(counts, law.laplace_scale, entry)

    def count_records(self, epsilon: Fraction) -> int:
        """The noisy number of records, at least 1, which is ``n`` from here on.

        **Privacy:** where n is secret: Δ² = 1, so variance 1/2ρ; costs ρ = ``epsilon``. Where n is
        public, or was asked, it stays, and costs nothing.
        """
        if self._n is not None:
            return self._n
        step, law = "number of records", DiscreteGaussian(1 / (2 * epsilon))
        self._charge(
            step,
            "discrete Gaussian count",
            "n",
            (),
            epsilon=epsilon,
            mechanism=GAUSSIAN,
            scale=law.variance,
            sensitivity=Fraction(1),
            unit=self.ledger.unit,
        )
        self._n = max(1, int(self._noise.child(step).add_law(np.array([self._records.n]), law)[0]))
        return self._n

    def expected_noise(self, epsilon: Fraction, cells: int) -> Fraction:
        """Expected Σ |noise| of a table for ρ, in records: σ √(2/π) per cell.

        **Privacy:** public; reads nothing, costs nothing.
        """
        return cells * Fraction(DiscreteGaussian(self.ledger.unit.scale(epsilon)).mean_size)

    def _price_choice(self, epsilon: Fraction) -> tuple[Fraction, dict[str, Fraction]]:
        """An exponent ε with ε²/8 ≤ ρ, rounded down to a short fraction, and its exact cost.

        What rounding saves is charged as unused at the end of the run.
        """
        exponent = round_root(8 * epsilon)
        return exponent, {"epsilon": exponent**2 / 8, "scale": exponent}

    def _noisy(
        self,
        k: np.ndarray,
        sensitivity: Fraction,
        epsilon: Fraction,
        step: str,
        *said: Any,
        **fields: Any,
    ) -> tuple[np.ndarray, str]:
        """Integers with noise that costs ρ, and their entry id.

        The Euclidean length of a change of integers is at most their sum, the given sensitivity.
        """
        squared = max(sensitivity, Fraction(1)) ** 2
        law = DiscreteGaussian(squared / (2 * epsilon))
        entry = self._charge(
            step,
            *said,
            epsilon=epsilon,
            mechanism=GAUSSIAN,
            sensitivity=squared,
            scale=law.variance,
        )
        return self._noise.child(step).add_law(k, law), entry


def round_root(square: Fraction) -> Fraction:
    """The root of a number, rounded down to 20 binary digits.

    >>> round_root(Fraction(2)) ** 2 <= 2 < (round_root(Fraction(2)) + Fraction(1, 2**19)) ** 2
    True
    """
    shift = EXPONENT_BITS - math.floor(math.log2(square)) // 2
    whole = math.isqrt(math.floor(square * Fraction(4) ** shift))
    return whole / Fraction(2) ** shift

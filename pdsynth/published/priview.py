"""PriView as it prints: with the sensitivity of a record that is added or removed.

n is public here, so the views are given the sum n, where the paper averages their sums.
"""

from dataclasses import dataclass
from fractions import Fraction

from ..baselines import SOURCE, Views
from ..core import Facts, Unit
from .budgets import PrintedBudget, one_record_more


@dataclass(frozen=True)
class PrintedViews(Views):
    """Views of scale w/ε.

    **Privacy:** ε for one record more or less, and so truly 2ε for a replaced one (rule L7).
    """

    def unit(self, facts: Facts) -> Unit:
        """One record more or less."""
        return Unit("add_remove")

    def budget(self, epsilon: Fraction) -> PrintedBudget:
        """The scale 1/ε of one view."""
        return one_record_more(epsilon, SOURCE)

"""PriView as it prints: with the sensitivity of a record that is added or removed."""

from dataclasses import dataclass

from ..domain.facts import Facts
from ..synthesizers.baselines.priview import Views


@dataclass(frozen=True)
class PrintedViews(Views):
    """Views of scale w/ε.

    **Privacy:** ε for one record more or less, and so truly 2ε for a replaced one (rule L7).
    """

    def moved(self, facts: Facts) -> tuple[int, str]:
        """One record, added or removed."""
        return 1, "add_remove"

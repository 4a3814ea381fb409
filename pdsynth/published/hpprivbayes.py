"""HPPrivBayes as the thesis prints it: order, groups and weights are raw, scales are printed."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..budgets import Groups, share
from ..domain.facts import Facts
from ..privacy.curator import Curator
from ..structure.learner import Shares
from ..structure.ordered import AVERAGES, WEIGHTS, Ordered, entropies
from ..synthesizers.hpprivbayes import HPPrivBayes
from ..synthesizers.recipe import Parts
from .doors import raw_door

RAW_ORDER = (
    "'the order … does not directly leak the mutual information' (thesis §3.1), but the "
    "network that is released depends on it"
)


@dataclass(frozen=True)
class PrintedOrdered(Ordered):
    """An order by raw mutual information or raw entropies, which costs nothing.

    **Privacy:** none: the order is an unaccounted access.
    """

    def steps(self, facts: Facts) -> Shares:
        """All for the selections."""
        return {"order": Fraction(0), "selections": Fraction(1)}

    def sketch(self, curator: Curator, epsilon: Fraction, step: str) -> tuple[np.ndarray, str]:
        """Raw averages of mutual information, or raw entropies, float (d,), and their entry.

        **Privacy:** none.
        """
        door = raw_door(curator)
        if self.by == "association":
            return door.average_association(epsilon, step=step, source=AVERAGES, reason=self.reason)
        columns = range(len(curator.schema))
        counts, entry = door.histograms(
            columns, epsilon, step=step, source=WEIGHTS, reason=self.reason
        )
        return entropies(counts), entry


def printed_hpprivbayes(recipe: HPPrivBayes, facts: Facts, parts: Parts) -> tuple[Facts, Parts]:
    """Nothing is spent on sketches; the d − k − l of Algorithm 5 has the network's k.

    **Privacy:** order, groups and weights are raw, so no finite ε holds; the ledger lists them.
    """
    tables = 1 - share("share_structure", recipe.share_structure)
    facts, (structure, budget, *_) = replace(facts, epsilon2=facts.epsilon * tables), parts
    if isinstance(structure, Ordered) and not structure.reason:
        parts = parts._replace(structure=replace(structure, reason=RAW_ORDER))
    if isinstance(structure, Ordered) and isinstance(budget, Groups):
        k = getattr(structure.rule(facts), "k", 0)
        parts = parts._replace(budget=replace(budget, printed_k=k))
    return facts, parts

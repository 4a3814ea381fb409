"""HPPrivBayes as the thesis prints it: order, groups and weights are raw, scales are printed.

All d tables are noised while d−k−l in group A are paid for, literally, and the ledger shows the
overrun; d−k−l ≤ 0 raises BudgetDegenerate. Where a declared value has no records, one is added to
every count of that attribute, so that it has a weight. CSAPrivBayes has the same groups.

How ambiguous lines of the thesis are read: 1. Algorithm 6 loops over B. 2. Its input is ε₃, each
attribute has ε₃/l. 3. A table is normalised once. 4. Strict noises all tables and divides the
budgets by |A| and |B|, not by the d−k−l of Algorithm 5. 5. S is in A. 6. Nothing assumes that the
first k attributes lie in A. 7. θ is in bits. 8. A declared value without records: noisy counts are
at least one half. 9. w = 0 gets a floor. 10. r = L2/L3; L1 is never given, 0.3 here. 11.
``rare_values`` chooses. 12. n is that of the table. 13. A pair is added once: line 9 of Algorithm 3
repeats line 8.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..algorithms import (
    AVERAGES,
    LINES,
    Groups,
    GroupsOfNames,
    HPPrivBayes,
    Ordered,
    entropies,
)
from ..core import (
    Allocation,
    Curator,
    Facts,
    Parts,
    Scale,
    Shares,
    StructureResult,
    TableBudget,
    number,
    positive,
    share,
)
from .at_most import AtMostOrdered
from .budgets import PrintedBudget, printed_group_a, printed_scales, printed_weights
from .doors import raw_door

SCALES, HISTOGRAMS = "thesis Alg 6 line 6", "thesis Alg 6 line 5"
WEIGHTS = "weighted PrivBayes: weights"
WEIGHTS_STEP = "sensitivity weights of group B"
RAW_GROUPS = (
    "'no privacy protection involved … as we consider the data publisher safe' "
    "(thesis, proof of Theorem 1, step 2)"
)
RAW_WEIGHTS = (
    "frequencies of the raw records set the noise scales, so the scales differ between neighbours"
)
RAW_ORDER = (
    "'the order … does not directly leak the mutual information' (thesis §3.1), but the "
    "network that is released depends on it"
)


@dataclass(frozen=True)
class PrintedOrdered(Ordered):
    """An order by raw mutual information or raw entropies, which costs nothing.

    **Privacy:** none: the order is an unaccounted access.
    """

    spares: ClassVar[bool] = False  # the paper charges every attribute

    def steps(self, facts: Facts) -> Shares:
        """All for the selections."""
        return {"order": Fraction(0), "selections": Fraction(1)}

    def sketch(self, curator: Curator, shares: Shares, step: str) -> tuple[np.ndarray, str]:
        """Raw averages of mutual information, or raw entropies, float (d,), and their entry.

        **Privacy:** none.
        """
        door = raw_door(curator)
        if self.by == "association":
            return door.average_association(step=step, source=AVERAGES, reason=self.reason)
        columns = range(len(curator.schema))
        counts, entry = door.histograms(columns, step=step, source=WEIGHTS, reason=self.reason)
        return entropies(counts), entry


@dataclass(frozen=True)
class RawGroups(Groups):
    """Groups and weights from raw associations and histograms, which cost nothing.

    **Privacy:** none: each is an unaccounted access.
    """

    def asks(self, facts: Facts) -> Shares:
        """Nothing."""
        return {}

    def parts_of(self, groups: GroupsOfNames) -> dict[str, Fraction]:
        """Shares of the groups, r : 1, also where one has no member (§4.2.4: r = L2/L3)."""
        return {"A": positive("r", self.r), "B": Fraction(1)}

    def threshold(self) -> float:
        """θ, bits of mutual information."""
        return float(number("theta", self.theta))

    def associations(self, curator: Curator, shares: Shares) -> tuple[np.ndarray, str]:
        """Raw mutual information with the sensitive attribute, float (d,), and the entry.

        **Privacy:** none.
        """
        s = str(self.sensitive)
        return raw_door(curator).association_with(
            curator.schema.index(s),
            step=f"groups by association with {s}",
            source=LINES,
            reason=RAW_GROUPS,
        )

    def histograms(
        self, curator: Curator, columns: Sequence[int], shares: Shares
    ) -> tuple[list[np.ndarray], tuple[str, ...]]:
        """Raw counts of the values of some attributes, and their ledger entry.

        **Privacy:** none.
        """
        counts, entry = raw_door(curator).histograms(
            columns, step=WEIGHTS_STEP, source=HISTOGRAMS, reason=RAW_WEIGHTS
        )
        return counts, (entry,)


@dataclass(frozen=True)
class PrintedGroups(RawGroups):
    """The scales of Algorithms 5 and 6: d tables are noised and d − k − l of group A paid for.

    **Privacy:** none: besides the raw accesses each table costs 2/scale, whatever it claims.
    """

    def foresee(self, curator: Curator, shares: Shares, facts: Facts) -> Any:
        """The groups; BudgetDegenerate where d − k − l ≤ 0, before anything else is drawn.

        **Privacy:** none.
        """
        groups, *origin = super().foresee(curator, shares, facts)
        printed_group_a(len(facts.schema), self.degree, len(groups["B"]), Fraction(1))
        return groups, *origin

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Allocation:
        """The same shares, with the printed scales.

        **Privacy:** none.
        """
        shared, groups = super().allocate(curator, learnt, shares, facts), learnt.foreseen[0]
        a, b = len(groups["A"]), len(groups["B"])
        tables = dict[str, TableBudget]()
        for name, budget in shared.items():
            scale: Scale
            if budget.weights is None:
                scale = printed_group_a(len(facts.schema), self.degree, b, budget.epsilon * a)
            else:
                weights = np.array(budget.weights, dtype=float)
                scale = printed_scales(weights, b, budget.epsilon * b)
            source = SCALES if budget.weights is not None else budget.source
            tables[name] = PrintedBudget(budget.epsilon, None, budget.depends_on, source, scale)
        return Allocation(tables, shared.attributes)

    def weigh(self, counts: np.ndarray) -> Any:
        """The weights of Definition 11."""
        return printed_weights(counts, self.personal.rare_values)


def printed_hpprivbayes(recipe: HPPrivBayes, facts: Facts, parts: Parts) -> tuple[Facts, Parts]:
    """Nothing is spent on sketches; the d − k − l of Algorithm 5 has the network's k.

    **Privacy:** order, groups and weights are raw, so no finite ε holds; the ledger lists them.
    """
    tables = 1 - share("share_structure", recipe.share_structure)
    facts, (structure, budget, *_) = replace(facts, epsilon2=facts.epsilon * tables), parts
    if recipe.reading == "at most k":
        structure = AtMostOrdered(**vars(structure))
        parts = parts._replace(structure=structure)
    if isinstance(structure, Ordered) and not structure.reason:
        parts = parts._replace(structure=replace(structure, reason=RAW_ORDER))
    if isinstance(structure, Ordered) and isinstance(budget, Groups):
        k = getattr(structure.rule(facts), "k", 0)
        parts = parts._replace(budget=replace(budget, degree=k))
    return facts, parts

"""What HPPrivBayes' groups are measured against: a budget for each attribute, without groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..algorithms import FARTHEST, ties_with
from ..core import (
    Allocation,
    BudgetError,
    BudgetRule,
    Curator,
    Facts,
    Schema,
    Shares,
    StructureResult,
    by_weight,
    positive,
    proportional,
    share,
    show,
)
from ..persons import warn_of_loss

TIES = "ε by association, without groups"


@dataclass(frozen=True)
class ByTies(BudgetRule):
    """No groups: the more an attribute is tied to the sensitive one, the less ε its table gets.

    ε_j ∝ 1 / (1 + R_j/half), so that no threshold misplaces anybody. R is the distance of the pair
    from independence; the sensitive attribute itself has R = 1.

    ``half``: the R at which a table gets half of what an untied attribute's has.
    ``policy``: ``{attribute: relative ε}`` by public policy in place of ties, 1 for those that it
    doesn't name; it costs nothing. ``share_sketch``: part of the tables' ε for single columns and
    the d−1 ties, as 3 : 1.

    **Privacy:** noisy columns and associations for their share, or nothing under a policy; the
    tables cost the rest.

    >>> ByTies("occupation").half
    0.14
    """

    sensitive: str | None = None
    half: float = 0.14
    policy: Mapping[str, float] | None = None
    share_sketch: float = 0.2

    foresees: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse parameters out of range, and attributes that the schema doesn't have."""
        share("share_sketch", self.share_sketch)
        if not Fraction(1, FARTHEST) <= positive("half", self.half) <= 1:
            raise BudgetError(f"half must lie between 1/{FARTHEST} and 1, got {show(self.half)}")
        if (self.sensitive is None) == (self.policy is None):
            raise BudgetError(
                "name either the sensitive attribute (sensitive=…) or a policy "
                f"(policy={{attribute: relative ε}}), of {', '.join(facts.schema.names)}"
            )
        if self.sensitive is not None:
            facts.schema.index(self.sensitive)
        elif not (isinstance(self.policy, Mapping) and self.policy):
            raise BudgetError(f"policy must be {{attribute: relative ε}}, got {show(self.policy)}")
        for name in self.policy or ():
            facts.schema.index(name)
        relative = self.declared(facts.schema).values()
        if max(relative) > FARTHEST * min(relative):
            raise BudgetError(
                "relative ε of a policy lie more than 1,000 apart: the noise of some tables would "
                "leave nothing of them"
            )

    def declared(self, schema: Schema) -> dict[str, Fraction]:
        """The relative ε of every attribute by policy; 1 where it says nothing."""
        policy = self.policy or {}
        return {n: positive(f"policy[{n!r}]", policy.get(n, 1)) for n in schema.names}

    def asks(self, facts: Facts) -> Shares:
        """Single columns and associations, as 3 : 1, where there is no policy."""
        if self.policy is not None:
            return {}
        return proportional(share("share_sketch", self.share_sketch), {"columns": 3, "groups": 1})

    def foresee(self, curator: Curator, shares: Shares, facts: Facts) -> Any:
        """The relative ε of every attribute, its ties, and their entry.

        **Privacy:** as :func:`ties_with`; a policy is free.
        """
        if self.policy is not None:
            return self.declared(facts.schema), None, "public"
        strengths, entry = ties_with(curator, str(self.sensitive), shares)
        ties, half = np.clip(strengths, 0, 1), float(self.half)
        weights = {
            name: Fraction(max(1, round(1024 / (1 + tie / half))), 1024)
            for name, tie in zip(facts.schema.names, ties.tolist(), strict=True)
        }
        return weights, dict(zip(facts.schema.names, strengths.tolist(), strict=True)), entry

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Allocation:
        """Shares in proportion. **Privacy:** reads nothing; the tables cost ε."""
        weights, associations, entry = learnt.foreseen
        tables = by_weight(shares["tables"], weights, TIES, entry)
        mean = sum(weights.values()) / len(weights)
        careful = [name for name in weights if weights[name] < mean]
        warn_of_loss(facts, learnt.network, tables, careful)
        spent = {name: float(t.epsilon * facts.unit.records) for name, t in tables.items()}
        return Allocation(tables, {"association_": associations, "table_epsilon_": spent})

"""Ordered structure learning: attributes enter in a given order, only their parents are chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ..domain.facts import Facts
from ..domain.progress import progress
from ..errors import BudgetError, SchemaError, is_one_of, show, to_list
from ..measures import entropy
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.numbers import share
from .candidates import list_candidates
from .learner import Learner, Shares, StructureResult
from .limits import check_width
from .parent_rules import ParentRule
from .restrictions import Restriction

SOURCE, AVERAGES = "thesis Alg 3 line 7", "thesis Alg 3 line 2"
WEIGHTS = "weighted PrivBayes: weights"


@dataclass(frozen=True)
class Ordered(Learner):
    """Attributes enter in an order, only their parents are chosen.

    ``by``: ``"association"`` (thesis, average mutual information), ``"entropy"`` (weighted
    PrivBayes), ``"domain"`` (largest first, public), or the names in their order.
    ``share_sketch``: part of the structure's share for an order that must be asked for.
    ``step``, ``reason``: how the ledger names that question, and why it matters where the answer
    isn't paid for.
    """

    by: str | Sequence[str] = "association"
    share_sketch: float = 0.15
    step: str = ""
    reason: str = ""

    def check(self, facts: Facts) -> None:
        """Refuse an order that isn't one."""
        super().check(facts)
        share("share_sketch", self.share_sketch)
        if is_one_of(self.by, ("association",)):
            check_width(len(facts.schema), "an order by association")
        if not isinstance(self.step, str) or not isinstance(self.reason, str):
            raise BudgetError(
                "step and reason are texts for the ledger, got "
                f"{show(self.step)} and {show(self.reason)}"
            )
        names, known = list(facts.schema.names), ("association", "entropy", "domain")
        kind = "'association', 'entropy', 'domain' or a list of all attributes"
        if isinstance(self.by, str) and self.by not in known:
            raise BudgetError(f"by must be {kind}, got {show(self.by)}")
        if not isinstance(self.by, str):
            order = to_list("by", self.by, BudgetError, kind)
            if not all(isinstance(n, str) for n in order) or sorted(order) != sorted(names):
                raise SchemaError(
                    f"an order must name every attribute once; got {show(order)}, "
                    f"the schema has {names}"
                )

    def steps(self, facts: Facts) -> Shares:
        """The order's sketch, where one is asked for, and the selections."""
        asked = self.by in ("association", "entropy") if isinstance(self.by, str) else False
        sketch = share("share_sketch", self.share_sketch) if asked else Fraction(0)
        return {"order": sketch, "selections": 1 - sketch}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network; without a choice to make, its order is the one that policy gives.

        **Privacy:** as :meth:`grow`.
        """
        found = super().learn(curator, shares, facts)
        shown = {"order_": found.network.order, "average_association_": None}
        return replace(found, attributes=shown | dict(found.attributes))

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """The order, then the parent sets.

        **Privacy:** the order's share where it depends on records, then as :func:`ordered`.
        """
        order, depends_on, strength = self._order(curator, shares["order"])
        network = ordered(
            curator,
            order,
            rule,
            shares["selections"],
            self.measure,
            depends_on=depends_on,
            restriction=self.restriction,
        )
        names = facts.schema.names
        shown = {"order_": tuple(names[j] for j in order), "average_association_": strength}
        return StructureResult(network, derived=self.derived(rule, facts), attributes=shown)

    def _order(
        self, curator: Curator, epsilon: Fraction
    ) -> tuple[list[int], str, dict[str, float] | None]:
        """Columns in their order, the entry it comes from, the strengths that were asked for."""
        schema, depends_on = curator.schema, "public"
        if not isinstance(self.by, str):
            return [schema.index(name) for name in self.by], depends_on, None
        if self.by == "domain":
            strength = np.array(schema.sizes, dtype=float)
        else:
            strength, depends_on = self.sketch(curator, epsilon, self.step or f"order by {self.by}")
        order = np.argsort(-strength, kind="stable").tolist()  # ties by column
        return order, depends_on, dict(zip(schema.names, strength.tolist(), strict=True))

    def sketch(self, curator: Curator, epsilon: Fraction, step: str) -> tuple[np.ndarray, str]:
        """What the attributes are ordered by, float (d,), and its ledger entry.

        **Privacy:** ``epsilon``, for average associations or for one-way histograms.
        """
        if self.by == "association":
            return curator.average_association(epsilon, step=step, source=AVERAGES)
        columns = range(len(curator.schema))
        counts, entry = curator.histograms(columns, epsilon, step=step, source=WEIGHTS)
        return entropies(counts), entry


def entropies(histograms: Sequence[np.ndarray]) -> np.ndarray:
    """Entropy of each histogram in bits, float (d,); negative counts are taken for 0."""
    counts = [np.maximum(h, 0) for h in histograms]
    return np.array([entropy(h) if h.any() else 0.0 for h in counts])


def ordered(
    curator: Curator,
    order: Sequence[int],
    rule: ParentRule,
    epsilon: Fraction,
    score: str,
    *,
    depends_on: str = "public",
    restriction: Restriction | None = None,
) -> Network:
    """Attributes enter as ``order`` says (columns); parent sets are drawn (thesis, Alg. 3, 3–10).

    ``depends_on`` is the ledger id that the order comes from, or ``"public"``. The pair is added
    once: line 9 of the print repeats line 8. A ``restriction`` opens the order with what it
    settles, and moves no attribute before its forced parents.

    **Privacy:** d−1 exponential mechanisms of ε₁/(d−1) (fewer and larger where a restriction
    settles pairs), ε₁ in all. The order itself must have been paid for before.
    """
    schema, d = curator.schema, len(curator.schema)
    permitted = (restriction or Restriction()).on(schema.names)
    order = permitted.reorder(order)
    pairs = list(permitted.fixed_pairs) or [(order[0], ())]  # line 3
    share = epsilon / max(d - len(pairs), 1)
    for i in progress(range(len(pairs), d), "parents", unit="attribute"):
        candidates = list_candidates(
            rule, tuple(order[:i]), [order[i]], schema.sizes, permitted, depends_on
        )  # lines 5–6
        pairs.append(
            curator.select(
                candidates, score, share, source=SOURCE, step=f"parents of {schema.names[order[i]]}"
            )
        )  # lines 7–9
    return Network.of_columns(pairs, schema.names)

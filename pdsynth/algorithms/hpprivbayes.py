"""HPPrivBayes: attributes enter by average association, noise follows two groups.

:class:`Ordered` lets attributes enter in an order and draws their parents. The groups are
:class:`~pdsynth.algorithms.personal.Groups`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np

from ..core.agreement import AgreeByDefault
from ..core.budgets import Parts, proportional
from ..core.curator import Curator
from ..core.errors import as_fraction, check_word, progress, share
from ..core.measures import entropy
from ..core.network import Network, Restriction, permit
from ..core.recipe import Recipe
from ..core.schema import Facts
from ..core.structure import (
    Learner,
    ParentRule,
    Shares,
    StructureResult,
    check_width,
    list_candidates,
)
from .personal import Groups, SensitivityGroups

SOURCE, AVERAGES = "thesis Alg 3 line 7", "thesis Alg 3 line 2"
ORDERS = "association", "entropy", "domain"


@dataclass(frozen=True)
class Ordered(Learner):
    """Attributes enter in an order, only their parents are chosen.

    ``by``: ``"association"`` (thesis, average mutual information), ``"entropy"`` (weighted
    PrivBayes) or ``"domain"`` (largest first, public).
    ``share_sketch``: part of the structure's share for an order that must be asked for: three
    quarters for single columns and one for what ties them, or all for single columns.
    ``step``, ``reason``: how the ledger names that question, and why it matters where the answer
    isn't paid for.
    """

    by: str = "association"
    share_sketch: float = 0.3
    step: str = ""
    reason: str = ""

    spares: ClassVar[bool] = True  # a choice among one candidate isn't asked for

    def check(self, facts: Facts) -> None:
        """Refuse an order that isn't one."""
        super().check(facts)
        share("share_sketch", self.share_sketch)
        check_word("by", self.by, ORDERS)
        if self.by == "association":
            check_width(len(facts.schema), "an order by association")

    def steps(self, facts: Facts) -> Shares:
        """Single columns and the order's sketch, where they are asked for, and the selections."""
        ratios = {"association": {"columns": 3, "order": 1}, "entropy": {"columns": 1}}
        parts = ratios.get(self.by, {})
        sketch = share("share_sketch", self.share_sketch) if parts else Fraction(0)
        return {"selections": 1 - sketch} | (proportional(sketch, parts) if parts else {})

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network; without a choice to make, its order is the one that policy gives.

        **Privacy:** as :meth:`grow`.
        """
        result = super().learn(curator, shares, facts)
        shown = {"order_": result.network.order, "average_association_": None}
        return replace(result, attributes=shown | dict(result.attributes))

    def grow(
        self, curator: Curator, shares: Shares, rule: ParentRule, facts: Facts
    ) -> StructureResult:
        """The order, then the parent sets; what choices without a choice spare goes to tables.

        **Privacy:** the order's share where it depends on records, then as :func:`ordered`.
        """
        schema, depends_on = facts.schema, "public"
        strength = np.array(schema.sizes, dtype=float)
        if self.by != "domain":
            step = self.step or f"order by {self.by}"
            strength, depends_on = self.sketch(curator, shares, step)
        order = self.rank(strength)
        network, spared = ordered(
            curator,
            order,
            rule,
            shares["selections"],
            self.measure,
            depends_on=depends_on,
            restriction=self.restriction,
            spares=self.spares,
        )
        shown = {
            "order_": tuple(schema.names[j] for j in order),
            "average_association_": dict(zip(schema.names, strength.tolist(), strict=True)),
        }
        derived = self.derived(rule, facts)
        return StructureResult(network, derived=derived, attributes=shown, spared=spared)

    def rank(self, strength: np.ndarray) -> list[int]:
        """Columns, the strongest first, ties by column."""
        return np.argsort(-strength, kind="stable").tolist()

    def sketch(self, curator: Curator, shares: Shares, step: str) -> tuple[np.ndarray, str]:
        """What the attributes are ordered by, float (d,), and its ledger entry.

        **Privacy:** the shares "columns" and, for average associations, "order".
        """
        released = curator.columns(shares.get("columns", Fraction(0)))
        if self.by == "entropy":
            last = [*released.values()][-1]
            return entropies([answer.counts for answer in released.values()]), last.entry
        d = len(curator.schema)
        pairs = list(combinations(range(d), 2))
        sums, entry = curator.residuals(
            pairs, shares["order"], step=step, source=AVERAGES, sums=True
        )
        return sums / (d - 1), entry


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
    spares: bool = False,
) -> tuple[Network, Fraction]:
    """Attributes enter as ``order`` says (columns); parent sets are drawn (thesis, Alg. 3, 3–10).

    ``depends_on`` is the ledger id that the order comes from, or ``"public"``. A ``restriction``
    opens the order with what it settles, and moves no attribute before its forced parents.
    ``spares``: a single candidate is taken without asking; what that spares is the second result.
    Where policy promises losses, nothing is spared: they would depend on the order.

    **Privacy:** d−1 exponential mechanisms of ε₁/(d−1) (fewer and larger where a restriction
    settles pairs), less what is spared: how many candidates there are follows from the order, which
    must have been paid for before, and from public sizes.
    """
    schema, d = curator.schema, len(curator.schema)
    permitted = permit(restriction, schema.names)
    order = permitted.reorder(order)
    pairs = list(permitted.fixed_pairs) or [(order[0], ())]  # line 3
    share, spared = epsilon / max(d - len(pairs), 1), Fraction(0)
    spares = spares and not permitted.fixed_order
    for i in progress(range(len(pairs), d), "parents", unit="attribute"):
        candidates = list_candidates(
            rule, tuple(order[:i]), [order[i]], schema.sizes, permitted, depends_on
        )  # lines 5–6
        if spares and len(candidates) == 1:
            pairs.append(candidates[0])
            spared += share
            continue
        step = f"parents of {schema.names[order[i]]}"  # lines 7–9
        pairs.append(curator.select(candidates, score, share, source=SOURCE, step=step))
    return Network.of_columns(pairs, schema.names), spared


@dataclass(eq=False, repr=False, kw_only=True)
class HPPrivBayes(Recipe):
    """HPPrivBayes: attributes enter by average mutual information, noise follows two groups.

    Parameters
    ----------
    epsilon, k, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive : the sensitive attribute S; always in group A.
    theta : threshold of group A in bits of I(X, S). Under strict, where R is compared, it becomes
        ``0.752·sqrt(θ ln 2 / 2)`` (Pinsker's cap scaled so that 0.1 bit gives 0.14).
    r : budget of a table of group A (more sensitive) against one of group B, however many are in
        either. The thesis' r = L2/L3 is that of the whole groups.
    personal : :class:`SensitivityGroups`: groups and weights by public policy, and who gets less
        noise. None: as the thesis.
    share_histograms : share of the single columns, which tell value weights and what independent
        pairs would be, and are used again where tables are made to agree.
    share_sketch, share_structure : shares of associations for order and groups, as 1 : 4 (L0), and
        of the structure (the thesis' L1); the rest is split by r.
    reconcile : ``Agree()`` where None; ``AsMeasured()`` leaves tables as the thesis does.
    restriction : edges that the network must or may not have, by public policy; the order gives
        way.
    reading : ``"exactly k"``; ``"at most k"``, which strict refuses: parent sets of fewer than k
        attributes compete, too.

    Attributes
    ----------
    groups_ : ``{"A": names, "B": names}``. ``association_``: how strongly each attribute is tied to
        S.
    order_ : the attributes by ``average_association_``.
    weights_ : relative budgets of the values of each attribute of group B.
    table_epsilon_ : ε of the table of each attribute.

    Warns where an attribute of group A loses as much in tables as with equal budgets, because it is
    a parent of tables of group B.

    **Privacy:** strict: pure ε-DP under replacing one record. A noisy table per column
    (share_histograms·ε); order and groups from residuals against independence (share_sketch·ε,
    sensitivity 2 per pair), everything that follows from them is post-processing; an exponential
    mechanism for each attribute that has a choice of parents (share_structure·ε, score R; where the
    order leaves some no choice, tables get their part); one noisy table per attribute, r : 1 by its
    group, with per-value scales whose worst move costs exactly that. Agreement is post-processing.
    """

    k: int | str = "auto"
    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups | None = None
    share_histograms: float = 0.15
    share_sketch: float = 0.05
    share_structure: float = 0.3
    theta_usefulness: float = 4
    restriction: Restriction | None = None
    reading: str = "exactly k"

    shares: ClassVar[tuple[str, ...]] = ("share_histograms", "share_sketch", "share_structure")
    readings: ClassVar[tuple[str, ...]] = ("exactly k", "at most k")

    def threshold(self) -> float:
        """The threshold of group A: the R that stands for θ under strict, else θ, bits of I."""
        strict = self.guarantee == "strict"  # the measure itself changes
        return self._groups().threshold() if strict else float(self.theta)

    def _groups(self) -> Groups:
        personal = SensitivityGroups() if self.personal is None else self.personal
        return Groups(self.sensitive, self.theta, self.r, personal, self.share_sketch)

    def _parts(self, facts: Facts) -> Parts:
        structure = Ordered(
            self.k, self.theta_usefulness, restriction=self.restriction, step="AMI order"
        )
        return Parts(structure, self._groups(), reconcile=AgreeByDefault())

    def _split(self, facts: Facts, parts: Parts) -> dict[str, Fraction]:
        """Columns, order and groups, as far as they are asked for; selections; tables."""
        learns, sketched = parts.structure.asks(facts), parts.budget.asks(facts)
        sketch = as_fraction(self.share_sketch) / 5
        ratios = {
            "columns": as_fraction(self.share_histograms) * bool(learns or sketched),
            "order": sketch * bool(learns),
            "groups": 4 * sketch * ("groups" in sketched),
        }
        epsilon1 = facts.epsilon * as_fraction(self.share_structure)
        epsilon0 = facts.epsilon - epsilon1 - facts.epsilon2
        tables = facts.epsilon2 + (Fraction(0) if learns else epsilon1)
        split = {"selections": epsilon1} if learns else {}
        if any(ratios.values()):
            return split | proportional(epsilon0, ratios) | {"tables": tables}
        return split | {"tables": tables + epsilon0}

"""Budget rules: how the tables' ε is split over the tables of a network.

A new rule is one class with ``check``, ``asks`` and ``allocate``, here, and its test.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..domain.facts import Facts
from ..errors import BudgetError, is_one_of, is_whole, show
from ..measures import normalised_risk_entropy
from ..privacy.curator import UNPROTECTED, Curator
from ..privacy.numbers import positive, share
from ..privacy.unit import TableBudget
from ..structure.learner import Shares, StructureResult
from .shares import by_weight, geometric, risk_entropy_weights, uniform

ENTROPIES, HISTOGRAMS = "risk entropies", "HMPrivBayes Alg 5 line 2"
RISK, RATIO = "HMPrivBayes Alg 5 line 4", "PPBA abstract: constant ratio q"


class Allocation(dict[str, TableBudget]):
    """Noise of every table, by child; ``attributes``: what a fitted synthesizer shows besides."""

    def __init__(
        self, tables: Mapping[str, TableBudget], attributes: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(tables)
        self.attributes = dict(attributes or {})


class BudgetRule:
    """What every rule shares; a new one says at least how it allocates."""

    one_scale_per_table: ClassVar[bool] = True
    counts_only: ClassVar[bool] = False  # whether all that it asks the records for is counts
    foresees: ClassVar[bool] = False  # asks before a network is learnt

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be split."""

    def asks(self, facts: Facts) -> Shares:
        """Steps that cost ε, and their parts of the tables' share; the tables have the rest."""
        return {}

    def foresee(self, curator: Curator, shares: Shares, facts: Facts) -> Any:
        """What must be known before a network is learnt.

        **Privacy:** what the rule says; reads nothing here.
        """

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """Noise of every table that is measured, by child.

        **Privacy:** what the rule says; sketches and tables together cost what it was given.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Uniform(BudgetRule):
    """The same noise for every table that is measured (PrivBayes).

    ``source``: the paper's line in the ledger. ``reading``: ``"tods"``; strict runs no other.
    """

    source: str = "equal shares"
    reading: str = "tods"

    readings: ClassVar[tuple[str, ...]] = ("tods",)
    counts_only: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse a reading that isn't private, or isn't one."""
        if not is_one_of(self.reading, self.readings):
            raise BudgetError(
                f"reading must be 'tods', or 'thesis' with {UNPROTECTED}; got {show(self.reading)} "
                f"with {facts.guarantee!r}"
            )
        if not isinstance(self.source, str):
            raise BudgetError(f"source must be a text, got {show(self.source)}")

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """ε/m per table.

        **Privacy:** reads nothing; the tables cost ε.
        """
        measured = learnt.network.order[learnt.derived :]
        return dict.fromkeys(measured, uniform(len(measured), shares["tables"], source=self.source))


@dataclass(frozen=True)
class RiskEntropy(BudgetRule):
    """HMPrivBayes: the larger an attribute's risk entropy, the smaller its table's share.

    ``share_sketch``: part of the tables' ε for the histograms that the entropies come from.
    """

    share_sketch: float = 0.1

    def check(self, facts: Facts) -> None:
        """Refuse a share out of range."""
        share("share_sketch", self.share_sketch)

    def asks(self, facts: Facts) -> Shares:
        """The histograms."""
        return {"entropies": share("share_sketch", self.share_sketch)}

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """Histograms, then shares ∝ exp(−OE).

        **Privacy:** noisy histograms for their share; the tables cost the rest.
        """
        counts, entry = self.histograms(curator, shares["entropies"])
        risk = {
            name: normalised_risk_entropy(np.maximum(h, 0))
            for name, h in zip(facts.schema.names, counts, strict=True)
        }
        return by_weight(shares["tables"], risk_entropy_weights(risk), RISK, entry)

    def histograms(self, curator: Curator, epsilon: Fraction) -> tuple[list[np.ndarray], str]:
        """Counts of the values of each attribute, and their ledger entry.

        **Privacy:** ``epsilon``.
        """
        columns = range(len(curator.schema))
        return curator.histograms(columns, epsilon, step=ENTROPIES, source=HISTOGRAMS)


@dataclass(frozen=True)
class Geometric(BudgetRule):
    """PPBA: tables ranked by the weight of their node, budgets in the ratio q.

    q > 1 gives the tables that weigh most the least budget ("security"), q < 1 the most
    ("availability"). ``classes``: the same over classes of tables (SA-PrivBayes). A structure
    without weights ranks its tables in sampling order.
    """

    q: float = 1.1
    classes: int | None = None

    def check(self, facts: Facts) -> None:
        """Refuse q ≤ 0, and fewer than one class."""
        if not Fraction(1, 1000) <= positive("q", self.q) <= 1000:
            raise BudgetError(f"q must lie between 1/1000 and 1000, got {show(self.q)}")
        if self.classes is not None and not is_whole(self.classes, 1, 1000):
            raise BudgetError(
                "classes must be a whole number of at least 1 (and at most 1,000), "
                f"or None, got {show(self.classes)}"
            )

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """Ranks, then shares.

        **Privacy:** reads nothing: ranks come from weights that stand in the ledger; the tables
        cost ε.
        """
        ranked = list(learnt.network.order)
        if learnt.weights:
            ranked.sort(key=lambda name: -learnt.weights[name])
        weights = geometric(ranked, positive("q", self.q), self.classes)
        return by_weight(shares["tables"], weights, RATIO, learnt.depends_on)

"""Allocations: how the budget of the tables is split over them, by group, risk or rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from ..budgets import TableBudget, geometric, positive, proportional, risk_entropy_weights, share
from ..domain.schema import Schema
from ..errors import BudgetError
from ..measures import normalised_risk_entropy
from ..privacy.curator import Curator
from .groups import TwoGroups
from .structures import StructureResult


class Budget(Protocol):
    """Splits ``epsilon`` over the tables of a network."""

    def check(self, schema: Schema) -> None:
        """Refuse, from public facts, what can't be split."""

    def split(self, curator: Curator, learnt: StructureResult, epsilon: Fraction) -> dict[str, TableBudget]:
        """Noise of every table, by child.

        **Privacy:** what the part says; sketches and tables together cost ``epsilon``.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Uniform:
    """The same noise for every table that is measured (PrivBayes)."""

    def check(self, schema: Schema) -> None:
        """Fits every schema."""

    def split(self, curator: Curator, learnt: StructureResult, epsilon: Fraction) -> dict[str, TableBudget]:
        """ε/m a table.

        **Privacy:** reads nothing; the tables cost ε.
        """
        names = learnt.network.order
        measured = names[learnt.derived :]
        return even(measured, epsilon)


def even(names: Sequence[str], epsilon: Fraction, source: str = "equal shares") -> dict[str, TableBudget]:
    """Noise of scale 2m/ε for each of m tables."""
    return weighted(epsilon, dict.fromkeys(names, Fraction(1)), source)


def weighted(epsilon: Fraction, weights: dict[str, Fraction], source: str, depends_on: str = "public") -> dict[str, TableBudget]:
    """Noise of scale 2/ε_j where ε_j is in proportion to a table's weight."""
    parts = proportional(epsilon, weights)
    scale_depends_on = () if depends_on in ("public", "none") else (depends_on,)
    return {name: TableBudget(2 / part, part, scale_depends_on, source) for name, part in parts.items()}


@dataclass(frozen=True)
class Groups:
    """Two groups, A : B = r : 1, and value weights inside B (HPPrivBayes; CSAPrivBayes: the same noise for all values).

    ``two`` holds the parameters; ``share_sketch`` is the share for associations and histograms that must be asked for.
    """

    two: TwoGroups
    share_sketch: float = 0.05

    def check(self, schema: Schema) -> None:
        """Refuse parameters and groups that don't fit."""
        self.two.check()
        self.two.check_schema(schema)
        share("share_sketch", self.share_sketch)

    def split(self, curator: Curator, learnt: StructureResult, epsilon: Fraction) -> dict[str, TableBudget]:
        """Groups, weights, then scales.

        **Privacy:** as :class:`TwoGroups`; sketches and tables together ε.
        """
        asked = {"groups": 2 * (self.two.policy(curator.schema) is None), "weights": int(self.two.asks_weights(curator.schema))}
        strict = curator.guarantee == "strict"
        first = epsilon * share("share_sketch", self.share_sketch) if strict and any(asked.values()) else Fraction(0)
        parts = proportional(first, asked) if first else dict.fromkeys(asked, Fraction(0))
        groups, _, groups_from = self.two.split(curator, parts["groups"])
        histograms, weights_from = self.two.histograms(curator, groups["B"], parts["weights"])
        left = epsilon - first + (Fraction(0) if groups["B"] else parts["weights"])
        budgets = self.two.budgets(left, groups, curator.guarantee)
        out, _ = self.two.tables(curator, learnt.network, groups, histograms, budgets)
        depends_on = tuple(x for x in (groups_from, weights_from) if x != "public")
        return {name: TableBudget(b.scale, b.claimed, depends_on, b.source) for name, b in out.items()}


@dataclass(frozen=True)
class RiskEntropy:
    """HMPrivBayes: the larger an attribute's normalised risk entropy, the smaller its table's share. ``share_sketch``: share of ε asked for."""

    share_sketch: float = 0.1

    def check(self, schema: Schema) -> None:
        """Refuse a share out of range."""
        share("share_sketch", self.share_sketch)

    def split(self, curator: Curator, learnt: StructureResult, epsilon: Fraction) -> dict[str, TableBudget]:
        """Histograms, then shares ∝ exp(−OE).

        **Privacy:** noisy histograms for the sketch's share of ε; published: raw histograms, unaccounted; the tables cost the rest.
        """
        first = epsilon * share("share_sketch", self.share_sketch) if curator.guarantee == "strict" else Fraction(0)
        schema = curator.schema
        counts, entry = curator.histograms(range(len(schema)), first, step="risk entropies", source="HMPrivBayes Alg 5 line 2",
                                           reason="raw entropies set the noise scales")  # fmt: skip
        entropies = {name: normalised_risk_entropy(np.maximum(h, 0)) for name, h in zip(schema.names, counts, strict=True)}
        return weighted(epsilon - first, risk_entropy_weights(entropies), "HMPrivBayes Alg 5 line 4", entry)


@dataclass(frozen=True)
class Geometric:
    """PPBA: tables ranked by the weight of their node, budgets in the ratio q; SA-PrivBayes: the same over ``classes`` of tables.

    q > 1 gives the tables that weigh most the least budget ("security"), q < 1 the most ("availability"). A structure without
    weights ranks its tables in sampling order.
    """

    q: float = 1.1
    classes: int | None = None

    def check(self, schema: Schema) -> None:
        """Refuse q ≤ 0, and fewer than one class."""
        positive("q", self.q)
        if self.classes is not None and (isinstance(self.classes, bool) or not isinstance(self.classes, int) or self.classes < 1):
            raise BudgetError(f"classes must be a whole number of at least 1, or None, got {self.classes!r}")

    def split(self, curator: Curator, learnt: StructureResult, epsilon: Fraction) -> dict[str, TableBudget]:
        """Ranks, then shares.

        **Privacy:** reads nothing: ranks come from weights that were paid for, or are unaccounted; the tables cost ε.
        """
        names = learnt.network.order
        ranked = sorted(names, key=lambda name: -learnt.weights[name]) if learnt.weights else list(names)
        # without weights the ranks are the order that was drawn, last of all in the ledger
        drawn = curator.ledger.entries[-1].id if learnt.spent and curator.ledger.entries else "public"
        depends_on = learnt.depends_on if learnt.weights else drawn
        return weighted(epsilon, geometric(ranked, positive("q", self.q), self.classes), "PPBA abstract: constant ratio q", depends_on)

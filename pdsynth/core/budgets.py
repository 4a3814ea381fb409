"""The four kinds of parts that a paper combines, and how they split ε, in exact fractions.

First the splits themselves, pure functions of public or released numbers; then the rules that a
recipe may name (of them :class:`Uniform`; the others stand with their papers), the measuring of the
tables, and what all parts promise a recipe. No noise scale is computed here: the curator does that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from .curator import Curator
from .errors import BudgetError, is_one_of, progress, show
from .ledger import UNPROTECTED
from .measures import marginalise
from .network import Network
from .schema import Facts
from .structure import Measurement, Shares, Structure, StructureResult
from .unit import TableBudget


@runtime_checkable
class Sparse(Protocol):
    """A table of which only some parent configurations are kept, as the papers' replicas do."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The declared domain, child first."""

    @property
    def weights(self) -> np.ndarray:
        """Int64 (|X|, configurations that are kept)."""

    @property
    def size(self) -> int:
        """Cells that are kept."""

    def look_up(self, p: np.ndarray, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``p``, P(X | π), with missing configurations appended; where each ``key`` stands."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""


Table = np.ndarray | Sparse
Sources = tuple[tuple[str, ...], ...]  # of each table of a model, the ids of ledger entries


def proportional(total: Fraction, weights: Mapping[str, int | Fraction]) -> dict[str, Fraction]:
    """Split a budget in proportion to weights; the parts add up to ``total`` exactly."""
    whole = sum((Fraction(w) for w in weights.values()), Fraction(0))
    return {name: total * Fraction(w) / whole for name, w in weights.items()}


def uniform(tables: int, epsilon: Fraction, *, source: str = "") -> TableBudget:
    """The same for each of m tables: ε/m."""
    return TableBudget(epsilon / tables, source=source)


def by_weight(
    epsilon: Fraction, weights: Mapping[str, Fraction], source: str, depends_on: str = "public"
) -> dict[str, TableBudget]:
    """A part of ε for each table, in proportion to its weight."""
    entries = () if depends_on == "public" else (depends_on,)
    return {
        name: TableBudget(part, depends_on=entries, source=source)
        for name, part in proportional(epsilon, weights).items()
    }


# --- rules ---------------------------------------------------------------------------------------


class Allocation(dict[str, TableBudget]):
    """Noise of every table, by child; ``attributes``: what a fitted synthesizer shows besides."""

    def __init__(
        self, tables: Mapping[str, TableBudget], attributes: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(tables)
        self.attributes = dict(attributes or {})


class BudgetRule:
    """What every rule shares; a new one says at least how it allocates."""

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


def allocate(
    rule: BudgetRule, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
) -> Mapping[str, TableBudget]:
    """Noise of every table, by child, with the ε that choices without a choice spared.

    Then all scales follow from the release that says so, and rule L5 wants its entry named.

    **Privacy:** as the rule's own ``allocate``.
    """
    if not learnt.spared:
        return rule.allocate(curator, learnt, shares, facts)
    more = {**shares, "tables": shares["tables"] + learnt.spared}
    noise = rule.allocate(curator, learnt, more, facts)
    tables = {
        name: replace(budget, depends_on=(*budget.depends_on, learnt.depends_on))
        for name, budget in noise.items()
    }
    return Allocation(tables, getattr(noise, "attributes", {}))


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

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """ε/m per table. **Privacy:** reads nothing; the tables cost ε."""
        measured = learnt.network.order[learnt.derived :]
        return dict.fromkeys(measured, uniform(len(measured), shares["tables"], source=self.source))


# --- tables --------------------------------------------------------------------------------------


class Conditionals:
    """What measures the tables of a network."""

    counts_only: ClassVar[bool] = False  # whether all that it asks the records for is counts
    derives: ClassVar[bool] = False  # whether a table inside a larger one needn't be measured

    def check(self, facts: Facts, budget: BudgetRule) -> None:
        """Refuse, from public facts, what can't be measured."""

    def measure(
        self, curator: Curator, learnt: StructureResult, budget: Mapping[str, TableBudget]
    ) -> Sequence[Measurement]:
        """Noisy tables.

        **Privacy:** each costs its budget.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class JointCounts(Conditionals):
    """Noise on the joint counts of every pair (PrivBayes): zero-sum in small tables, or Laplace."""

    counts_only: ClassVar[bool] = True
    derives: ClassVar[bool] = True

    def measure(
        self, curator: Curator, learnt: StructureResult, budget: Mapping[str, TableBudget]
    ) -> list[Measurement]:
        """One table per pair that has a budget. **Privacy:** as :func:`measure_joint_counts`."""
        derived = learnt.derived if len(budget) < len(learnt.network) else 0
        return measure_joint_counts(curator, learnt.network, budget, derived)


def measure_joint_counts(
    curator: Curator, network: Network, budget: Mapping[str, TableBudget], derived: int = 0
) -> list[Measurement]:
    """Noisy joint counts of the pairs after the first ``derived``, which are contained in the next.

    PrivBayes, NoisyConditionals; thesis, Algorithm 2, lines 8–10. Where a filter has left that next
    pair fewer parents (HMPrivBayes, Algorithm 5), the missing attributes are added to its table for
    the same noise.

    **Privacy:** one noisy table per measured pair (:meth:`.Curator.table`), for ``budget[child]``.
    """
    first, index = [child for child, _ in network.pairs[:derived]], curator.schema.index
    pairs = list(network.pairs[derived:])
    if pairs:
        child, parents = pairs[0]
        pairs[0] = child, (*parents, *(name for name in first if name not in parents))
    answers = curator.tables(
        (
            [index(name) for name in (child, *parents)],
            budget[child],
            f"table({child}{' | ' + ', '.join(parents) if parents else ''})",
        )
        for child, parents in pairs
    )
    shown = progress(zip(pairs, answers, strict=True), "tables", len(pairs), "table")
    return [Measurement((child, *parents), *answer) for (child, parents), answer in shown]


class Reconcile:
    """What is done to noisy tables afterwards: post-processing."""

    must_stay: ClassVar[bool] = False  # a recipe with this default has tables that overlap

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be reconciled."""

    def reconcile(
        self, measured: Sequence[Measurement], network: Network, facts: Facts
    ) -> tuple[Table, ...]:
        """One table per pair of the network, child first."""
        raise NotImplementedError

    def sources(self, measured: Sequence[Measurement], network: Network) -> Sources:
        """The ledger's lines behind each of these tables; (): all that was measured."""
        return ()


@dataclass(frozen=True)
class AsMeasured(Reconcile):
    """Tables stay as measured; one that wasn't is summed from a larger one (the papers).

    **Privacy:** post-processing of noisy tables: costs no ε.
    """

    def reconcile(
        self, measured: Sequence[Measurement], network: Network, facts: Facts
    ) -> tuple[np.ndarray, ...]:
        """One table per pair of the network, child first: its own, or summed from a larger one."""
        return tuple(
            m.table
            if m.attributes == pair
            else marginalise(np.maximum(m.table, 0), m.attributes, pair)
            for m, pair in _match(measured, network)
        )

    def sources(self, measured: Sequence[Measurement], network: Network) -> Sources:
        """The ledger's line behind each of these tables; none where one has no line of its own."""
        entries = [m.entry for m, _ in _match(measured, network)]
        return tuple((entry,) for entry in entries) if all(entries) else ()


def _match(
    measured: Sequence[Measurement], network: Network
) -> Iterator[tuple[Measurement, tuple[str, ...]]]:
    """Every pair of the network with its own measurement, or the first that contains it."""
    own = {m.attributes: m for m in measured}
    for child, parents in network.pairs:
        pair = (child, *parents)
        yield own.get(pair) or next(m for m in measured if {*pair} <= {*m.attributes}), pair


def choose_reconcile(own: Any, default: Reconcile) -> Reconcile:
    """The part that a user names, or the recipe's own; where that is ``Agree()`` it must stay.

    BudgetError for what isn't a part that reconciles.
    """
    chosen: Reconcile = default if own is None else own
    if not hasattr(chosen, "reconcile") or isinstance(chosen, type):
        raise BudgetError(
            f"reconcile must be Agree() or AsMeasured() of pds.parts, got {show(own)}"
        )
    if isinstance(chosen, AsMeasured) and getattr(default, "must_stay", False):
        raise BudgetError(
            "this structure measures overlapping tables, which must be made to "
            "agree: use reconcile=Agree()"
        )
    return chosen


class Parts(NamedTuple):
    """What a synthesizer is made of."""

    structure: Structure
    budget: BudgetRule = Uniform()
    conditionals: Conditionals = JointCounts()
    reconcile: Reconcile = AsMeasured()

    @property
    def counts_only(self) -> bool:
        """Whether all that the parts ask the records for is counts."""
        asking = self.structure, self.budget, self.conditionals
        return all(part.counts_only for part in asking)

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be combined or fitted."""
        self.structure.check(facts)
        self.budget.check(facts)
        if self.structure.measures and not isinstance(self.budget, Uniform):  # it isn't asked
            raise BudgetError(
                f"{type(self.structure).__name__} measures its own tables, so "
                f"{type(self.budget).__name__} has nothing to split: leave budget= out"
            )
        self.conditionals.check(facts, self.budget)
        self.reconcile.check(facts)

    def split(self, facts: Facts) -> dict[str, Fraction]:
        """ε of every step: what the structure asks for, then what the budget rule asks for."""
        learns = self.structure.asks(facts)
        rest = facts.epsilon2 if learns else facts.epsilon
        rest = Fraction(0) if self.structure.measures else rest
        costs = {step: rest * part for step, part in self.budget.asks(facts).items()}
        split = costs | {"tables": rest - sum(costs.values())}
        for step, part in learns.items():  # what both ask for has the shares of both
            split[step] = split.get(step, Fraction(0)) + (facts.epsilon - rest) * part
        return split


class Plan(NamedTuple):
    """What a fit will do, known before any record is read: facts, parts, ε of every step, door."""

    facts: Facts
    parts: Parts
    shares: Shares
    door: type[Curator] = Curator

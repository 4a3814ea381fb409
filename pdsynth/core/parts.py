"""The four kinds of parts that a paper combines, and the plan of a fit that follows from them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from .agreement import AsMeasured
from .budgets import JointCounts, Uniform
from .curator import Curator
from .errors import BudgetError
from .model import Sources, Table
from .network import Network
from .noise import TableBudget
from .schema import Facts
from .structure import Measurement, Shares, StructureResult


class Structure(Protocol):
    """What learns a network; :class:`~pdsynth.core.structure.Structure` has defaults."""

    @property
    def counts_only(self) -> bool:
        """Whether all that it asks the records for is counts."""

    @property
    def measures(self) -> bool:
        """Whether it measures its own tables, so that a budget has nothing to split."""

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be learnt."""

    def asks(self, facts: Facts) -> Shares:
        """Steps that cost ε, and their parts of the structure's share; none: learns nothing."""

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network. **Privacy:** costs at most what was asked for."""


class Budget(Protocol):
    """What splits ε over the tables; :class:`~pdsynth.core.budgets.BudgetRule` has defaults."""

    @property
    def counts_only(self) -> bool:
        """Whether all that it asks the records for is counts."""

    @property
    def foresees(self) -> bool:
        """Whether it asks before a network is learnt, for which it must have a share."""

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be split."""

    def asks(self, facts: Facts) -> Shares:
        """Steps that cost ε, and their parts of the tables' share."""

    def foresee(self, curator: Curator, shares: Shares, facts: Facts) -> Any:
        """What must be known before a network is learnt. **Privacy:** costs its share."""

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """Noise of every table that is measured. **Privacy:** costs its share."""


class Conditionals(Protocol):
    """What measures the tables of a network."""

    @property
    def counts_only(self) -> bool:
        """Whether all that it asks the records for is counts."""

    @property
    def derives(self) -> bool:
        """Whether a table that a larger one contains needn't be measured."""

    def check(self, facts: Facts, budget: Any) -> None:
        """Refuse, from public facts, what can't be measured."""

    def measure(
        self, curator: Curator, learnt: StructureResult, budget: Mapping[str, TableBudget]
    ) -> Sequence[Measurement]:
        """Noisy tables. **Privacy:** each costs its budget."""


class Reconcile(Protocol):
    """What is done to noisy tables afterwards: post-processing."""

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be reconciled."""

    def reconcile(
        self, found: Sequence[Measurement], network: Network, facts: Facts
    ) -> tuple[Table, ...]:
        """One table per pair of the network."""

    def sources(self, found: Sequence[Measurement], network: Network) -> Sources:
        """Of each table, the ids of the ledger's lines that it was made from."""


class Parts(NamedTuple):
    """What a synthesizer is made of."""

    structure: Structure
    budget: Budget = Uniform()
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
        if self.budget.foresees and self.structure.measures:  # it would have ε = 0
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
        asked = {step: rest * part for step, part in self.budget.asks(facts).items()}
        learning = {step: (facts.epsilon - rest) * part for step, part in learns.items()}
        return asked | {"tables": rest - sum(asked.values())} | learning


class Plan(NamedTuple):
    """What a fit will do, known before any record is read: facts, parts, ε of every step, door."""

    facts: Facts
    parts: Parts
    shares: Shares
    door: type[Curator] = Curator

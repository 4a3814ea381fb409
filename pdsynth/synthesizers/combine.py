"""The one recipe: what four kinds of parts do together."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from ..budgets import Uniform
from ..conditionals import JointCounts, Sources, Table
from ..domain.facts import Facts
from ..network import Network
from ..privacy.curator import Curator
from ..reconcile import AsMeasured
from ..structure.learner import Shares


class Released(NamedTuple):
    """A network, its tables, the ledger lines behind each, and what a synthesizer shows besides.

    Where no lines are said, those of all noisy answers of the run, or of raw reads.
    """

    network: Network
    tables: tuple[Table, ...]
    sources: Sources
    shown: Mapping[str, Any]


class Parts(NamedTuple):
    """What a synthesizer is made of."""

    structure: Any
    budget: Any = Uniform()
    conditionals: Any = JointCounts()
    reconcile: Any = AsMeasured()

    @property
    def measures(self) -> bool:
        """Whether the structure measures its tables itself, for all of ε."""
        return getattr(self.structure, "measures", False)

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be combined or fitted."""
        self.structure.check(facts)
        self.budget.check(facts)
        self.conditionals.check(facts, self.budget)
        self.reconcile.check(facts)

    def split(self, facts: Facts) -> dict[str, Fraction]:
        """ε of every step: what the structure asks for, then what the budget rule asks for."""
        learns = self.structure.asks(facts)
        rest = facts.epsilon2 if learns else facts.epsilon
        rest = Fraction(0) if self.measures else rest
        shares = {step: rest * part for step, part in self.budget.asks(facts).items()}
        tables = rest - sum(shares.values())
        learning = {step: (facts.epsilon - rest) * part for step, part in learns.items()}
        return shares | {"tables": tables} | learning

    def largest_scale(self, facts: Facts, shares: Shares) -> Fraction:
        """A public bound of all noise scales: in records or, for sketches, in records²."""
        if self.measures:
            return self.structure.largest_scale(facts)
        d, grid = len(facts.schema), self.conditionals.grid
        sketches = [e for step, e in shares.items() if e and step not in ("selections", "tables")]
        unit = Fraction(grid, facts.n) if grid else 1
        return max(
            [
                2 * d * unit * self.budget.spread / shares["tables"],
                *(Fraction(6 * facts.n * d**2) / e for e in sketches),
            ]
        )

    def release(self, curator: Curator, facts: Facts, shares: Shares) -> Released:
        """Learn, split, measure, reconcile.

        **Privacy:** the sum of what the parts say.
        """
        foreseen = self.budget.foresee(curator, shares, facts)
        learnt = self.structure.learn(curator, shares, facts)
        derived = learnt.derived if self.conditionals.derives else 0
        learnt = replace(learnt, foreseen=foreseen, derived=derived)
        tables: Mapping[str, Any] = {}
        if not learnt.measurements:
            tables = self.budget.allocate(curator, learnt, shares, facts)
        if not any(b.scale_depends_on for b in tables.values()):  # read off this run's sketches
            curator.ledger.guaranteed_ex_ante = learnt.known
        found = learnt.measurements or self.conditionals.measure(curator, learnt, tables)
        facts = replace(facts, schema=learnt.schema or facts.schema)
        shown = {"degree_rule_": learnt.rule, "learnt_": learnt, **learnt.attributes}
        released = self.reconcile.reconcile(found, learnt.network, facts)
        every = (close(curator),) * len(released)
        return Released(
            learnt.network,
            released,
            self.reconcile.sources(found, learnt.network) or every,
            shown | getattr(tables, "attributes", {}),
        )


def close(curator: Curator) -> tuple[str, ...]:
    """Charge what no step asked for, and name all noisy answers of the run, or raw reads.

    So each strict ledger closes at its ε, and a line that is cut out of a file leaves a gap.

    **Privacy:** reads nothing; charges what is left.
    """
    ledger = curator.ledger
    if ledger.guarantee == "strict" and ledger.claimed > ledger.finite:  # no print says so
        rest = (ledger.claimed - ledger.finite) / ledger.records_per_person
        curator.charge_unused(rest, "unused", "what no step asked for")
    return tuple(
        e.id
        for e in ledger.entries
        if e.kind == "unaccounted_access" or e.mechanism == "discrete_laplace"
    )

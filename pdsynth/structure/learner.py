"""What every structure is: it says what it asks for, then learns a network through the curator."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

from ..domain.facts import Facts
from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError, is_one_of, show
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.numbers import positive
from .limits import check_width
from .parent_rules import MaxParents, ParentRule, check_degree, check_tables, choose_rule
from .restrictions import Permitted, Restriction, check_restriction

Shares = Mapping[str, Fraction]


@dataclass(frozen=True)
class Measurement:
    """A noisy table: its attributes, child first, what was released, and the scale of its noise.

    ``scale`` in records: one number, or one per value of the child. ``entry``: the ledger's line.
    ``counts``: whether it holds counts, and not conditional probabilities.
    """

    attributes: tuple[str, ...]
    table: Any
    scale: Fraction | tuple[Fraction, ...]
    entry: str = ""
    counts: bool = True


@dataclass(frozen=True)
class StructureResult:
    """A network, and what a budget may use: weights of its nodes, the ledger entry they come from.

    ``derived``: so many first pairs are contained in the next table and needn't be measured.
    ``known``: attributes whose loss policy fixed before the run; True: all. ``rule``: how many
    parents, in words. ``foreseen``: what the budget asked before. ``attributes``: what a fitted
    synthesizer shows besides, by name. ``measurements``: tables of a structure that measures.
    ``schema``: of the nodes, where they aren't those of the facts but their bits.
    """

    network: Network
    weights: Mapping[str, float] = field(default_factory=dict)
    depends_on: str = "public"
    derived: int = 0
    known: bool | tuple[str, ...] = False
    rule: str = "independent"
    foreseen: Any = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    measurements: tuple[Measurement, ...] = ()
    schema: Schema | None = None


def name_origin(found: StructureResult, curator: Curator) -> StructureResult:
    """A network that was drawn depends on its last draw, unless it says what it comes from.

    **Privacy:** reads the ledger's last id, and no records.
    """
    entries = curator.ledger.entries
    if found.depends_on != "public" or not entries:
        return found
    return replace(found, depends_on=entries[-1].id)


class Structure:
    """What every structure shares; a new one says at least how it learns."""

    measures: ClassVar[bool] = False  # its own tables, so that a budget rule has nothing to split
    counts_only: ClassVar[bool] = False  # whether all that it asks the records for is counts

    def check(self, facts: Facts) -> None:
        """Refuse, from public facts, what can't be learnt."""

    def asks(self, facts: Facts) -> Shares:
        """Steps that cost ε, and their parts of the structure's share; none: nothing is learnt."""
        return {}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network, and what was measured on the way.

        **Privacy:** what the structure says; it costs at most what was asked for.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Fixed(Structure):
    """A network drawn by policy or an expert: public, so it costs nothing. None: no edges."""

    network: Network | None = None

    counts_only: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse a network over other attributes, and tables that can't fit in memory."""
        if self.network is None:
            return
        if not isinstance(self.network, Network):
            raise BudgetError(f"a fixed structure is a Network, got {show(self.network)}")
        strange = sorted(set(self.network.order) ^ set(facts.schema.names))
        if strange:
            raise SchemaError(
                "the network and the schema must have the same attributes; "
                f"they differ in {strange}"
            )
        check_tables(self.network, facts.schema)

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network as given; which table holds which attribute is known before the run.

        **Privacy:** reads nothing, costs nothing.
        """
        if self.network is None:
            return StructureResult(Network(tuple((name, ()) for name in facts.schema.names)))
        return StructureResult(self.network, known=True, rule="by policy")


@dataclass(frozen=True)
class Learner(Structure):
    """What the learnt structures share: a rule for parent sets, the score, a public policy.

    ``k``: number of parents, or ``"auto"``. ``theta_usefulness``: θ of TODS for ``"auto"``.
    ``score``: ``"I"``, ``"R"``, or ``"auto"`` for R.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    score: str = "auto"
    restriction: Restriction | None = None

    scores: ClassVar[tuple[str, ...]] = ("auto", "I", "R")
    grow: ClassVar[Any]  # the network where there is something to choose, within its shares

    def check(self, facts: Facts) -> None:
        """Refuse degrees, scores and restrictions that don't fit the schema."""
        check_degree(self.k, facts.schema)
        positive("theta_usefulness", self.theta_usefulness)
        if not is_one_of(self.score, self.scores):
            raise BudgetError(
                f"score must be one of {', '.join(map(repr, self.scores))}, got {show(self.score)}"
            )
        if isinstance(self.k, str):
            check_width(len(facts.schema), "k='auto'")
        permitted = check_restriction(self.restriction, self.k, facts.schema)
        check_tables(permitted.forced_network(facts.schema.names), facts.schema)

    def asks(self, facts: Facts) -> Shares:
        """The steps of :meth:`grow`, where there is an edge to choose that is worth its noise."""
        learns = self.rule(facts) is not None and self.permitted(facts).pairs
        return self.steps(facts) if learns else {}

    def steps(self, facts: Facts) -> Shares:
        """Parts of the structure's share, by step; they add up to 1."""
        return {"selections": Fraction(1)}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The network.

        **Privacy:** what the subclass says; where nothing was asked for, reads nothing.
        """
        names, permitted, rule = facts.schema.names, self.permitted(facts), self.rule(facts)
        known = tuple(names[j] for j in permitted.fixed_order[1:])
        if rule is None or not permitted.pairs:
            label = "independent" if rule is None else rule.label()
            return StructureResult(permitted.forced_network(names), known=known, rule=label)
        if isinstance(rule, MaxParents) and len(names) <= 24:
            curator.prepare(rule.k + 1, self.measure)  # one pass over the records for all
        found = self.grow(curator, shares, rule, facts)
        return replace(name_origin(found, curator), known=known, rule=rule.label())

    def rule(self, facts: Facts) -> ParentRule | None:
        """The rule for parent sets, None where no edge is worth its noise."""
        return choose_rule(self.k, facts, positive("theta_usefulness", self.theta_usefulness))

    def permitted(self, facts: Facts) -> Permitted:
        """The restriction over the columns of the schema."""
        return (self.restriction or Restriction()).on(facts.schema.names)

    @property
    def measure(self) -> str:
        """The score that is named, else R, whose sensitivity is the smallest."""
        return "R" if self.score == "auto" else self.score

    def derived(self, rule: ParentRule, facts: Facts) -> int:
        """With exactly min(k, i−1) parents the first k pairs lie in table k+1."""
        return rule.k if isinstance(rule, MaxParents) and self.restriction is None else 0

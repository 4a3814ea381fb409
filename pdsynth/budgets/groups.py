"""Two sensitivity groups with budgets of their own, and value weights inside the second."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..domain.facts import Facts
from ..domain.schema import Schema
from ..errors import BudgetError, is_one_of, is_whole, show
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.numbers import number, positive, share
from ..privacy.unit import TableBudget
from ..structure.learner import Shares, StructureResult
from .rules import Allocation, BudgetRule
from .shares import RARE_VALUES, proportional, value_weights

GroupsOfNames = dict[str, list[str]]
WIDEST = 1000  # how far budgets may lie apart
GROUP_A, GROUP_B = "thesis Alg 5 line 4", "thesis Alg 6 line 6, v = w / max w"
LINES, WEIGHTS = "thesis Alg 4 lines 3–10", "thesis Alg 6 line 5"
WEIGHTS_STEP = "sensitivity weights of group B"


@dataclass(frozen=True)
class SensitivityGroups:
    """How group B treats rare values, and what public policy has settled beforehand.

    ``groups``: ``{"A": [...], "B": [...]}`` by public policy: costs nothing, and is the cleanest
    personalisation. None: ``schema.groups`` where it is declared, else association with the
    sensitive attribute. What it doesn't name goes to B. ``rare_values``: ``"less_noise"`` (thesis),
    ``"more_noise"``, or ``"same_noise"``, for which nothing is asked. ``v_min``: smallest relative
    weight of a value under strict. ``theta_tvd``: threshold of R in place of θ under strict.
    ``weights``: ``{attribute: [one weight per value]}`` of attributes of group B by public policy:
    who gets which noise is then decided by people and not by the records, and
    ``ledger_.value_epsilon(attribute)`` says what each value loses, if that attribute alone
    changes. An attribute that goes with it tells it, too: put both into one group, and see
    ``ledger_.attribute_epsilon([…])``.

    >>> SensitivityGroups(rare_values="same_noise").v_min
    0.5
    """

    groups: Mapping[str, Sequence[str]] | None = None
    rare_values: str = "less_noise"
    v_min: float = 0.5
    theta_tvd: float | None = None
    weights: Mapping[str, Sequence[float]] | None = None

    def check(self) -> None:
        """Refuse what is out of range."""
        theta_tvd = 0 if self.theta_tvd is None else number("theta_tvd", self.theta_tvd)
        if not 0 <= theta_tvd <= 1:
            raise BudgetError(f"theta_tvd must lie in [0, 1], got {show(self.theta_tvd)}")
        if not is_one_of(self.rare_values, RARE_VALUES):
            raise BudgetError(
                f"rare_values must be one of {RARE_VALUES}, got {show(self.rare_values)}"
            )
        if not 0 < number("v_min", self.v_min) <= 1:
            raise BudgetError(f"v_min must lie in (0, 1], got {show(self.v_min)}")
        for name in ("groups", "weights"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, Mapping) and given):
                raise BudgetError(
                    f"{name} must be a mapping that names attributes, or None, got {show(given)}"
                )

    def public_weights(self, name: str, size: int) -> tuple[Fraction, ...]:
        """Relative budgets of an attribute's values as declared in public, the largest 1."""
        declared: Any = (self.weights or {})[name]
        if isinstance(declared, str) or not isinstance(declared, (Sequence, np.ndarray)):
            raise BudgetError(
                "weights must be {attribute: [one weight per value]}, "
                f"got {show(declared)} for {name!r}"
            )
        given = [positive(f"a weight of {name!r}", w) for w in declared]
        if len(given) != size:
            raise BudgetError(f"{name!r} has {size} values, but {len(given)} weights")
        if max(given) > WIDEST * min(given):
            raise BudgetError(
                f"weights of {name!r} lie more than 1,000 apart: the noise of some "
                "values would leave nothing of them"
            )
        return tuple(w / max(given) for w in given)

    def policy(self, schema: Schema, sensitive: str | None) -> GroupsOfNames | None:
        """Groups declared in public, or None."""
        declared = self.groups
        if declared is None and not schema.groups:
            return None
        if declared is None:
            declared = {g: [n for n in schema.names if schema.groups.get(n) == g] for g in "AB"}
        if any(isinstance(v, str) or not isinstance(v, Sequence) for v in declared.values()):
            raise BudgetError("groups must be {'A': [names], 'B': [names]}, got " + show(declared))
        named = [*declared.get("A", []), *declared.get("B", [])]
        for name in named:
            schema.index(name)
        if len(set(named)) != len(named) or not set(declared) <= {"A", "B"}:
            raise BudgetError(
                f"groups must name each attribute once, under 'A' or 'B'; got {dict(declared)}"
            )
        if sensitive in declared.get("B", []):
            raise BudgetError(
                f"the sensitive attribute {sensitive!r} is always in group A, but "
                "the groups put it in B: take it out"
            )
        a = [n for n in schema.names if n in declared.get("A", []) or n == sensitive]
        if not a:
            raise BudgetError(
                "the declared group A is empty: name a sensitive attribute, or put "
                "an attribute in A"
            )
        return {"A": a, "B": [n for n in schema.names if n not in a]}


def check_personal(personal: Any, r: Any) -> None:
    """Refuse groups and a ratio of budgets that mean nothing."""
    if not isinstance(personal, SensitivityGroups):
        raise BudgetError(
            f"personal must be a SensitivityGroups(...) of pds.parts, got {show(personal)}"
        )
    personal.check()
    if not Fraction(1, WIDEST) <= positive("r", r) <= WIDEST:
        raise BudgetError(f"r must lie between 1/{WIDEST} and {WIDEST}, got {show(r)}")


@dataclass(frozen=True)
class Groups(BudgetRule):
    """Groups A (more sensitive) and B share the tables' ε as r : 1 (thesis, Algorithms 4 to 6).

    Parameters as in :class:`HPPrivBayes`; ``share_sketch``: part of the tables' ε for associations
    and histograms that must be asked for. ``printed_k``: k in the d−k−l of Algorithm 5, by which
    strict doesn't divide.

    **Privacy:** noisy associations and histograms, paid for; the tables of A cost ε₂/|A| each,
    those of B ε₃/|B|.
    """

    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups = SensitivityGroups()
    share_sketch: float = 0.05
    printed_k: int = 0

    one_scale_per_table: ClassVar[bool] = False
    foresees: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse parameters out of range, and attributes that the schema doesn't have."""
        check_personal(self.personal, self.r)
        share("share_sketch", self.share_sketch)
        if number("theta", self.theta) < 0:
            raise BudgetError(f"theta must be at least 0 bits, got {show(self.theta)}")
        if not is_whole(self.printed_k, 0):
            raise BudgetError(
                f"printed_k must be a whole number of at least 0, got {show(self.printed_k)}"
            )
        policy, schema = self.policy(facts), facts.schema
        if self.sensitive is None and policy is None:
            raise BudgetError(
                "name the sensitive attribute (sensitive=…, one of "
                f"{', '.join(schema.names)}) or declare groups by policy"
            )
        if self.sensitive is not None:
            schema.index(self.sensitive)
        for name in self.personal.weights or ():
            if policy is None or name not in policy["B"]:
                raise BudgetError(
                    "public weights are for attributes that groups={...} puts in B; "
                    f"{name!r} isn't one of them"
                )
            self.personal.public_weights(name, schema[name].size)

    def questions(self, facts: Facts) -> dict[str, bool]:
        """Which of groups and value weights have to be asked for; a fact of the policy alone."""
        policy, given = self.policy(facts), self.personal.weights or ()
        weighs = self.personal.rare_values != "same_noise"
        open_values = policy is None or any(name not in given for name in policy["B"])
        return {"groups": policy is None, "weights": weighs and open_values}

    def asks(self, facts: Facts) -> Shares:
        """The sketches of associations and histograms, as 2 : 1, where they are needed."""
        asked = self.questions(facts)
        wanted = {"groups": 2 * asked["groups"], "weights": int(asked["weights"])}
        if not any(wanted.values()):
            return {}
        return proportional(share("share_sketch", self.share_sketch), wanted)

    def foresee(self, curator: Curator, shares: Shares, facts: Facts) -> Any:
        """Groups A and B (thesis, Algorithm 4), the associations they come from, and their entry.

        **Privacy:** policy is free; otherwise as :meth:`Curator.association_with`, their share.
        """
        policy, values, entry = self.policy(facts), None, "public"
        if policy is None:
            names, bound = facts.schema.names, self.threshold()
            strength, entry = self.associations(curator, shares.get("groups", Fraction(0)))
            a = [n for n, v in zip(names, strength, strict=True) if v >= bound]
            policy = {"A": a, "B": [n for n in names if n not in a]}
            values = dict(zip(names, strength.tolist(), strict=True))
        return policy, values, entry

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Allocation:
        """Value weights, then shares.

        **Privacy:** histograms for their share; the tables cost the rest.
        """
        groups, associations, groups_from = learnt.foreseen
        (a, b), schema = groups.values(), facts.schema
        weights = shares.get("weights", Fraction(0))
        counts, weights_from = self._weights_from(curator, b, weights)
        parts = proportional(shares["tables"] + (0 if b else weights), self.parts_of(groups))
        entries = tuple(x for x in (groups_from, weights_from) if x != "public")
        tables, shown = dict[str, TableBudget](), dict[str, tuple[float, ...]]()
        for name in a:
            tables[name] = TableBudget(parts["A"] / len(a), None, entries, GROUP_A)
        for name in b:
            weighed = (
                self.weigh(counts[name])
                if name in counts
                else self.personal.public_weights(name, schema[name].size)
            )
            shown[name] = tuple(map(float, weighed))
            tables[name] = TableBudget(parts["B"] / len(b), weighed, entries, GROUP_B)
        return Allocation(
            tables, {"groups_": groups, "association_": associations, "weights_": shown}
        )

    def parts_of(self, groups: GroupsOfNames) -> dict[str, Fraction]:
        """What the groups that have members get of the tables' ε, as r : 1."""
        parts = {"A": positive("r", self.r), "B": Fraction(1)}
        return {group: part for group, part in parts.items() if groups[group]}

    def weigh(self, counts: np.ndarray) -> tuple[Fraction, ...]:
        """Relative budgets of an attribute's values from its counts, the largest 1."""
        floor = as_fraction(self.personal.v_min)
        return value_weights(counts, self.personal.rare_values, floor)

    def policy(self, facts: Facts) -> GroupsOfNames | None:
        """Groups declared in public, or None."""
        return self.personal.policy(facts.schema, self.sensitive)

    def threshold(self) -> float:
        """The least R of group A: that which stands for θ bits of I."""
        if self.personal.theta_tvd is not None:
            return float(number("theta_tvd", self.personal.theta_tvd))
        return float(0.752 * np.sqrt(float(number("theta", self.theta)) * np.log(2) / 2))

    def associations(self, curator: Curator, epsilon: Fraction) -> tuple[np.ndarray, str]:
        """How strongly attributes are tied to the sensitive one, float (d,), and the entry.

        **Privacy:** ``epsilon``.
        """
        s = str(self.sensitive)
        column, step = curator.schema.index(s), f"groups by association with {s}"
        return curator.association_with(column, epsilon, step=step, source=LINES)

    def histograms(
        self, curator: Curator, columns: list[int], epsilon: Fraction
    ) -> tuple[list[np.ndarray], str]:
        """Counts of the values of some attributes, and their ledger entry.

        **Privacy:** ``epsilon``.
        """
        return curator.histograms(columns, epsilon, step=WEIGHTS_STEP, source=WEIGHTS)

    def _weights_from(
        self, curator: Curator, b: list[str], epsilon: Fraction
    ) -> tuple[dict[str, np.ndarray], str]:
        """Histograms of the B attributes whose weights aren't public, and their entry."""
        schema = curator.schema
        b = [name for name in b if name not in (self.personal.weights or ())]
        if self.personal.rare_values == "same_noise" or not b:
            return {name: np.ones(schema[name].size) for name in b}, "public"
        counts, entry = self.histograms(curator, [schema.index(name) for name in b], epsilon)
        return dict(zip(b, counts, strict=True)), entry

"""HPPrivBayes: attributes enter by average mutual information, noise follows two groups.

:class:`Ordered` lets attributes enter in an order and draws their parents. :class:`Groups` gives
two groups of attributes their own part of ε, and rare values their own noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..core.budgets import RARE_VALUES, Allocation, BudgetRule, Parts, proportional, value_weights
from ..core.curator import Curator
from ..core.errors import BudgetError, is_one_of, progress, show
from ..core.measures import entropy
from ..core.network import Network, Restriction
from ..core.noise import TableBudget, as_fraction, number, positive, share
from ..core.recipe import Recipe
from ..core.schema import Facts, Schema
from ..core.structure import (
    Learner,
    ParentRule,
    Shares,
    StructureResult,
    check_width,
    list_candidates,
)

SOURCE, AVERAGES = "thesis Alg 3 line 7", "thesis Alg 3 line 2"
LINES, WEIGHTS = "thesis Alg 4 lines 3–10", "thesis Alg 6 line 5"
GROUP_A, GROUP_B = "thesis Alg 5 line 4", "thesis Alg 6 line 6, v = w / max w"
ORDER_WEIGHTS = "weighted PrivBayes: weights"
WEIGHTS_STEP = "sensitivity weights of group B"
ORDERS = "association", "entropy", "domain"
FARTHEST = 1000  # how far budgets may lie apart

GroupsOfNames = dict[str, list[str]]


@dataclass(frozen=True)
class Ordered(Learner):
    """Attributes enter in an order, only their parents are chosen.

    ``by``: ``"association"`` (thesis, average mutual information), ``"entropy"`` (weighted
    PrivBayes) or ``"domain"`` (largest first, public).
    ``share_sketch``: part of the structure's share for an order that must be asked for.
    ``step``, ``reason``: how the ledger names that question, and why it matters where the answer
    isn't paid for.
    """

    by: str = "association"
    share_sketch: float = 0.15
    step: str = ""
    reason: str = ""

    def check(self, facts: Facts) -> None:
        """Refuse an order that isn't one."""
        super().check(facts)
        share("share_sketch", self.share_sketch)
        if not is_one_of(self.by, ORDERS):
            raise BudgetError(f"by must be one of {ORDERS}, got {show(self.by)}")
        if self.by == "association":
            check_width(len(facts.schema), "an order by association")

    def steps(self, facts: Facts) -> Shares:
        """The order's sketch, where one is asked for, and the selections."""
        public = self.by == "domain"
        sketch = Fraction(0) if public else share("share_sketch", self.share_sketch)
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
        schema, depends_on = facts.schema, "public"
        strength = np.array(schema.sizes, dtype=float)
        if self.by != "domain":
            step = self.step or f"order by {self.by}"
            strength, depends_on = self.sketch(curator, shares["order"], step)
        order = self.rank(strength)
        network = ordered(
            curator,
            order,
            rule,
            shares["selections"],
            self.measure,
            depends_on=depends_on,
            restriction=self.restriction,
        )
        shown = {
            "order_": tuple(schema.names[j] for j in order),
            "average_association_": dict(zip(schema.names, strength.tolist(), strict=True)),
        }
        return StructureResult(network, derived=self.derived(rule, facts), attributes=shown)

    def rank(self, strength: np.ndarray) -> list[int]:
        """Columns, the strongest first, ties by column."""
        return np.argsort(-strength, kind="stable").tolist()

    def sketch(self, curator: Curator, epsilon: Fraction, step: str) -> tuple[np.ndarray, str]:
        """What the attributes are ordered by, float (d,), and its ledger entry.

        **Privacy:** ``epsilon``, for average associations or for one-way histograms.
        """
        if self.by == "association":
            return curator.average_association(epsilon, step=step, source=AVERAGES)
        columns = range(len(curator.schema))
        counts, entry = curator.histograms(columns, epsilon, step=step, source=ORDER_WEIGHTS)
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

    ``depends_on`` is the ledger id that the order comes from, or ``"public"``. A ``restriction``
    opens the order with what it settles, and moves no attribute before its forced parents.

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


@dataclass(frozen=True)
class SensitivityGroups:
    """How group B treats rare values, and what public policy has settled beforehand.

    ``groups``: ``{"A": [...], "B": [...]}`` by public policy: costs nothing, and is the cleanest
    personalisation. None: ``schema.groups`` where it is declared, else association with the
    sensitive attribute. What it doesn't name goes to B. ``rare_values``: ``"less_noise"`` (thesis),
    ``"more_noise"``, or ``"same_noise"``, for which nothing is asked. ``v_min``: smallest relative
    weight of a value under strict.
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
    weights: Mapping[str, Sequence[float]] | None = None

    def check(self) -> None:
        """Refuse what is out of range."""
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
        if max(given) > FARTHEST * min(given):
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
    if not Fraction(1, FARTHEST) <= positive("r", r) <= FARTHEST:
        raise BudgetError(f"r must lie between 1/{FARTHEST} and {FARTHEST}, got {show(r)}")


@dataclass(frozen=True)
class Groups(BudgetRule):
    """Groups A (more sensitive) and B share the tables' ε as r : 1 (thesis, Algorithms 4 to 6).

    Parameters as in :class:`HPPrivBayes`; ``share_sketch``: part of the tables' ε for associations
    and histograms that must be asked for. ``degree``: k in the d−k−l of Algorithm 5, by which
    strict doesn't divide.

    **Privacy:** noisy associations and histograms, paid for; the tables of A cost ε₂/|A| each,
    those of B ε₃/|B|.
    """

    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups = SensitivityGroups()
    share_sketch: float = 0.05
    degree: int = 0

    one_scale_per_table: ClassVar[bool] = False
    foresees: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse parameters out of range, and attributes that the schema doesn't have."""
        check_personal(self.personal, self.r)
        share("share_sketch", self.share_sketch)
        if number("theta", self.theta) < 0:
            raise BudgetError(f"theta must be at least 0 bits, got {show(self.theta)}")
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
            if name in counts:
                weighed = self.weigh(counts[name])
            else:
                weighed = self.personal.public_weights(name, schema[name].size)
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


@dataclass(eq=False, repr=False, kw_only=True)
class HPPrivBayes(Recipe):
    """HPPrivBayes: attributes enter by average mutual information, noise follows two groups.

    Parameters
    ----------
    epsilon, k, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive : the sensitive attribute S; always in group A.
    theta : threshold of group A in bits of I(X, S). Under strict, where R is compared, it becomes
        ``0.752·sqrt(θ ln 2 / 2)`` (Pinsker's cap scaled so that 0.1 bit gives 0.14).
    r : L2/L3, the budget of group A (more sensitive) against group B.
    personal : :class:`SensitivityGroups`: groups and weights by public policy, and who gets less
        noise. None: as the thesis.
    share_sketch, share_structure : shares of the private sketches (L0) and of the structure (the
        thesis' L1); the rest is split by r.
    restriction : edges that the network must or may not have, by public policy; the order gives
        way.

    Attributes
    ----------
    groups_ : ``{"A": names, "B": names}``. ``association_``: how strongly each attribute is tied to
        S.
    order_ : the attributes by ``average_association_``.
    weights_ : relative budgets of the values of each attribute of group B.

    **Privacy:** strict: pure ε-DP under replacing one record. Order, groups and weights come from
    three discrete Laplace sketches (share_sketch·ε, split 0.4/0.4/0.2), everything that follows
    from them is post-processing; d−1 exponential mechanisms (share_structure·ε, score R); one noisy
    table per attribute, ε₂/|A| or ε₃/|B| each, with per-value scales whose worst move costs exactly
    that.
    """

    k: int | str = "auto"
    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups | None = None
    share_sketch: float = 0.05
    share_structure: float = 0.3
    theta_usefulness: float = 4
    restriction: Restriction | None = None

    shares: ClassVar[tuple[str, ...]] = ("share_sketch", "share_structure")

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
        return Parts(structure, self._groups())

    def _split(self, facts: Facts, parts: Parts) -> dict[str, Fraction]:
        """One sketch budget for order, groups and weights (4 : 4 : 2), as far as they are asked."""
        learns, sketched = parts.structure.asks(facts), parts.budget.asks(facts)
        asked = {
            "order": 4 * bool(learns),
            "groups": 4 * bool(sketched.get("groups")),
            "weights": 2 * bool(sketched.get("weights")),
        }
        epsilon1 = facts.epsilon * as_fraction(self.share_structure)
        epsilon0 = facts.epsilon - epsilon1 - facts.epsilon2
        sketches = dict.fromkeys(asked, Fraction(0))
        tables = facts.epsilon2 + (Fraction(0) if learns else epsilon1)
        if any(asked.values()):
            sketches = proportional(epsilon0, asked)
        else:
            tables += epsilon0
        return sketches | ({"selections": epsilon1} if learns else {}) | {"tables": tables}

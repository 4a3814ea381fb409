"""Who gets how much of the tables' ε: two groups of attributes, or each by its risk entropy.

:class:`Groups` gives the tables of group A (more sensitive) r times the ε of those of group B, and
rare values of group B their own noise (HPPrivBayes). :class:`RiskEntropy` gives less to the tables
of risky attributes (HMPrivBayes), :func:`bit_entropies` says how risky each bit is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..core.budgets import Allocation, BudgetRule, by_weight, proportional
from ..core.curator import Curator, Measured
from ..core.errors import BudgetError, as_fraction, check_word, door, number, positive, share, show
from ..core.measures import normalised_risk_entropy
from ..core.schema import Facts, Schema
from ..core.structure import Measurement, Shares, StructureResult
from ..core.unit import TableBudget
from ..core.views import BinaryEncoding

LINES = "thesis Alg 4 lines 3–10"
GROUP_A, GROUP_B = "thesis Alg 5 line 4", "thesis Alg 6 line 6, v = w / max w"
RARE_VALUES = ("less_noise", "more_noise", "same_noise")
ENTROPIES, RISK = "risk entropies", "HMPrivBayes Alg 5 line 4"
FARTHEST = 1000  # how far budgets may lie apart

GroupsOfNames = dict[str, list[str]]


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
        check_word("rare_values", self.rare_values, RARE_VALUES)
        if not 0 < number("v_min", self.v_min) <= 1:
            raise BudgetError(f"v_min must lie in (0, 1], got {show(self.v_min)}")
        for name in ("groups", "weights"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Mapping) and value):
                raise BudgetError(
                    f"{name} must be a mapping that names attributes, or None, got {show(value)}"
                )

    def public_weights(self, name: str, schema: Schema, groups: Any) -> tuple[Fraction, ...]:
        """Relative budgets of an attribute's values as declared in public, the largest 1."""
        if groups is None or name not in groups["B"]:
            raise BudgetError(
                "public weights are for attributes that groups={...} puts in B; "
                f"{name!r} isn't one of them"
            )
        declared: Any = (self.weights or {})[name]
        if isinstance(declared, str) or not isinstance(declared, (Sequence, np.ndarray)):
            raise BudgetError(
                "weights must be {attribute: [one weight per value]}, "
                f"got {show(declared)} for {name!r}"
            )
        weights = [positive(f"a weight of {name!r}", w) for w in declared]
        if len(weights) != (size := schema[name].size):
            raise BudgetError(f"{name!r} has {size} values, but {len(weights)} weights")
        if max(weights) > FARTHEST * min(weights):
            raise BudgetError(
                f"weights of {name!r} lie more than 1,000 apart: the noise of some "
                "values would leave nothing of them"
            )
        return tuple(w / max(weights) for w in weights)

    def policy(self, schema: Schema, sensitive: str | None) -> GroupsOfNames | None:
        """Groups declared in public, or None."""
        declared = self.groups
        if declared is None and not schema.groups:
            return None
        if declared is None:
            declared = {g: [n for n in schema.names if schema.groups.get(n) == g] for g in "AB"}
        if any(isinstance(v, str) or not isinstance(v, Sequence) for v in declared.values()):
            raise BudgetError("groups must be {'A': [names], 'B': [names]}, got " + show(declared))
        names = [*declared.get("A", []), *declared.get("B", [])]
        for name in names:
            schema.index(name)
        if len(set(names)) != len(names) or not set(declared) <= {"A", "B"}:
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
                "the declared group A is empty, so nothing would be protected more: put an "
                "attribute in A, name a sensitive attribute that isn't in B, or leave groups out"
            )
        return {"A": a, "B": [n for n in schema.names if n not in a]}


def value_weights(histogram: np.ndarray, rare_values: str, floor: Fraction) -> tuple[Fraction, ...]:
    """Relative budgets of the values of one attribute from released counts: largest 1, least floor.

    ``less_noise``: w_x ∝ −log₂ P(x), the thesis' choice for rare values (Definition 11);
    ``more_noise``: w_x ∝ 1/−log₂ P(x); ``same_noise``: all 1.
    """
    if rare_values == "same_noise":
        return (Fraction(1),) * len(histogram)
    p = np.maximum(np.asarray(histogram, dtype=float), 0.5)
    surprise = -np.log2(p / p.sum())
    w = surprise if rare_values == "less_noise" else 1 / np.maximum(surprise, 1e-9)
    return tuple(max(Fraction(float(x)).limit_denominator(1000), floor) for x in w / w.max())


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
    """A table of group A (more sensitive) gets r times the ε of one of B (thesis, Alg. 4 to 6).

    So the noise of A's tables is 1/r times that of B's, however many are in either group; the
    thesis' r is that of whole groups. Parameters as in :class:`HPPrivBayes`; ``share_sketch``: part
    of the tables' ε for single columns and for the associations with the sensitive attribute, as
    3 : 1, where they must be asked for. ``degree``: k in the d−k−l of Algorithm 5, by which strict
    doesn't divide.

    **Privacy:** noisy columns and associations, paid for; a table of A costs r/(r|A| + |B|) of the
    rest, one of B 1/(r|A| + |B|).
    """

    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups = SensitivityGroups()
    share_sketch: float = 0.2
    degree: int = 0

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
            self.personal.public_weights(name, schema, policy)

    def questions(self, facts: Facts) -> dict[str, bool]:
        """Which of groups and value weights have to be asked for; a fact of the policy alone."""
        policy, weights = self.policy(facts), self.personal.weights or ()
        weighs = self.personal.rare_values != "same_noise"
        open_values = policy is None or any(name not in weights for name in policy["B"])
        return {"groups": policy is None, "weights": weighs and open_values}

    def asks(self, facts: Facts) -> Shares:
        """Single columns and associations, as 3 : 1, where they are needed."""
        questions = self.questions(facts)
        ratios = {"columns": 3} | ({"groups": 1} if questions["groups"] else {})
        if not any(questions.values()):
            return {}
        return proportional(share("share_sketch", self.share_sketch), ratios)

    def foresee(self, curator: Curator, shares: Shares, facts: Facts) -> Any:
        """Groups A and B (thesis, Algorithm 4), the associations they come from, and their entry.

        **Privacy:** policy is free; otherwise as :meth:`.Curator.residuals`, their share.
        """
        policy, values, entry = self.policy(facts), None, "public"
        if policy is None:
            names, bound = facts.schema.names, self.threshold()
            strength, entry = self.associations(curator, shares)
            known = np.maximum(strength, 0)  # noise puts some below 0, where no R is
            a = [n for n, v in zip(names, known, strict=True) if v >= bound]
            policy = {"A": a, "B": [n for n in names if n not in a]}
            values = dict(zip(names, strength.tolist(), strict=True))
        return policy, values, entry

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Allocation:
        """Value weights, then shares.

        **Privacy:** columns for their share, where they aren't there yet; the tables cost the rest.
        """
        groups, associations, groups_from = learnt.foreseen
        (a, b), schema, m = groups.values(), facts.schema, facts.unit.records
        counts, weights_from = self._weights_from(curator, b, shares)
        parts = proportional(shares["tables"], self.parts_of(groups))
        entries = tuple(x for x in (groups_from, *weights_from) if x != "public")
        tables, shown = dict[str, TableBudget](), dict[str, tuple[float, ...]]()
        for name in a:
            tables[name] = TableBudget(parts["A"] / len(a), None, entries, GROUP_A)
        for name in b:
            if name in counts:
                weighed = self.weigh(counts[name])
            else:
                weighed = self.personal.public_weights(name, schema, groups)
            shown[name] = tuple(map(float, weighed))
            tables[name] = TableBudget(parts["B"] / len(b), weighed, entries, GROUP_B)
        careful = a if positive("r", self.r) < 1 else b if self.r > 1 else []
        door("persons").warn_of_loss(facts, learnt.network, tables, careful)
        return Allocation(
            tables,
            {
                "groups_": groups,
                "association_": associations,
                "weights_": shown,
                "table_epsilon_": {name: float(m * t.epsilon) for name, t in tables.items()},
            },
        )

    def parts_of(self, groups: GroupsOfNames) -> dict[str, Fraction]:
        """What the groups that have members get of the tables' ε: r for each table of A, else 1."""
        parts = {"A": positive("r", self.r), "B": Fraction(1)}
        return {g: part * len(groups[g]) for g, part in parts.items() if groups[g]}

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

    def associations(self, curator: Curator, shares: Shares) -> tuple[np.ndarray, str]:
        """How strongly attributes are tied to the sensitive one, float (d,), and the entry.

        **Privacy:** as :func:`ties_with`.
        """
        return ties_with(curator, str(self.sensitive), shares)

    def histograms(
        self, curator: Curator, columns: Sequence[int], shares: Shares
    ) -> tuple[list[np.ndarray], tuple[str, ...]]:
        """Counts of the values of some attributes, and their ledger entries.

        **Privacy:** the share of columns, where they aren't there yet.
        """
        released = curator.columns(shares.get("columns", Fraction(0)))
        return [released[j].counts for j in columns], tuple(released[j].entry for j in columns)

    def _weights_from(
        self, curator: Curator, b: list[str], shares: Shares
    ) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
        """Counts of the B attributes whose weights aren't public, and their entries."""
        schema = curator.schema
        b = [name for name in b if name not in (self.personal.weights or ())]
        if self.personal.rare_values == "same_noise" or not b:
            return {name: np.ones(schema[name].size) for name in b}, ()
        counts, entries = self.histograms(curator, [schema.index(name) for name in b], shares)
        return dict(zip(b, counts, strict=True)), entries


def ties_with(curator: Curator, sensitive: str, shares: Shares) -> tuple[np.ndarray, str]:
    """How strongly attributes are tied to the sensitive one, R, float (d,), and the entry.

    Infinite at the sensitive one itself.

    **Privacy:** the share "columns", where these aren't there yet, and "groups" for d−1 residuals.
    """
    schema = curator.schema
    s = schema.index(sensitive)
    curator.columns(shares["columns"])
    others, values = [j for j in range(len(schema)) if j != s], np.full(len(schema), np.inf)
    values[others], entry = curator.residuals(
        [(j, s) for j in others],
        shares["groups"],
        step=f"groups by association with {sensitive}",
        source=LINES,
    )
    return values, entry


# --- risk entropies ----------------------------------------------------------------------------


def risk_entropy_weights(entropies: Mapping[str, float]) -> dict[str, Fraction]:
    """Shares ∝ exp(−OE) from normalised risk entropies that are already released; their sum is 1.

    More risk, less budget, more noise (HMPrivBayes, Algorithm 5 and formula (12)). The weights are
    rounded to 1/1024, so that noise scales stay short fractions.

    >>> shares = risk_entropy_weights({"sex": 0.0, "age": 0.0})
    >>> {name: float(share) for name, share in shares.items()}
    {'sex': 0.5, 'age': 0.5}
    """
    weights = {name: round(1024 * float(np.exp(-value))) for name, value in entropies.items()}
    return proportional(Fraction(1), weights)


@dataclass(frozen=True)
class RiskEntropy(BudgetRule):
    """HMPrivBayes: the larger an attribute's risk entropy, the smaller its table's share.

    ``share_sketch``: part of the tables' ε for single columns, which the entropies come from.
    """

    share_sketch: float = 0.1

    def check(self, facts: Facts) -> None:
        """Refuse a share out of range."""
        share("share_sketch", self.share_sketch)

    def asks(self, facts: Facts) -> Shares:
        """Single columns."""
        return {"columns": share("share_sketch", self.share_sketch)}

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """Single columns, then shares ∝ exp(−OE).

        **Privacy:** noisy columns for their share; the tables cost the rest.
        """
        counts, entry = self.histograms(curator, shares["columns"])
        risk = {
            name: normalised_risk_entropy(np.maximum(h, 0))
            for name, h in zip(facts.schema.names, counts, strict=True)
        }
        return by_weight(shares["tables"], risk_entropy_weights(risk), RISK, entry)

    def histograms(self, curator: Curator, epsilon: Fraction) -> tuple[list[np.ndarray], str]:
        """Counts of the values of each attribute, and the ledger entry of their entropies.

        **Privacy:** ``epsilon``.
        """
        released = curator.columns(epsilon)
        entries = tuple(answer.entry for answer in released.values())
        entry = curator.note_post_processing(ENTROPIES, entries, "normalised risk entropies")
        return [answer.counts for answer in released.values()], entry


MOST_SPREAD = 1 / 64  # the largest variance that p(1 − p) in [0, 1/4] can have


def columns_over_bits(
    released: Mapping[int, Measured], encoding: BinaryEncoding
) -> tuple[Measurement, ...]:
    """Released tables of attributes as tables of their bits: one axis per bit, its first bit first.

    A configuration that stands for no value has no records, and so the count 0.
    """
    measurements = []
    for j, answer in released.items():
        columns = encoding.bits(encoding.original.names[j])
        names = tuple(encoding.schema.names[c] for c in columns)
        table = np.pad(answer.counts, (0, 2 ** len(names) - len(answer.counts)))
        shaped = table.reshape((2,) * len(names))
        measurements.append(Measurement(names, shaped, answer.scale, answer.entry))
    return tuple(measurements)


def bit_entropies(columns: Sequence[Measurement], schema: Schema, n: int) -> dict[str, float]:
    """Normalised risk entropy of every bit; of two values, so it is the binary entropy of p.

    ``columns``: as :func:`columns_over_bits` gives them, of the attributes of ``schema`` in order.
    p is the noisy part of ones among n records, where what the table lacks of n, or has too much,
    is spread over the values. The noise is known, so p(1 − p) is known without bias, and is shrunk
    to the mean of all bits by the part of its spread that is noise: with much noise all bits get
    nearly the same entropy, with little each keeps its own.
    """
    names, parts, variances = list[str](), list[float](), list[float]()
    for measured, size in zip(columns, schema.sizes, strict=True):
        table = np.asarray(measured.table, dtype=float)
        cell = 2 * float(measured.scale) ** 2  # type: ignore[arg-type] # one for all values
        bits = len(measured.attributes)
        codes = np.arange(size)
        for b, name in enumerate(measured.attributes):
            ones = int((codes >> (bits - 1 - b) & 1).sum())
            over = (table.sum() - n) * ones / size
            names.append(name)
            parts.append((table.take(1, axis=b).sum() - over) / n)
            variances.append(cell * ones * (size - ones) / size / n**2)
    p, noise = np.array(parts), np.array(variances)
    spread = p * (1 - p) + noise  # its mean is the true p(1 − p)
    trust = 1 / (MOST_SPREAD + noise)
    mean = np.clip(np.average(spread, weights=trust), 0, 1 / 4)
    doubt = (1 - 4 * mean) * noise + 2 * noise**2  # the variance of ``spread`` by noise
    true = max(np.average((spread - mean) ** 2 - doubt, weights=trust), 0.0)
    factor = np.divide(true, true + doubt, out=np.ones_like(doubt), where=true + doubt > 0)
    spread = np.clip(mean + factor * (spread - mean), 0, 1 / 4)
    p = np.clip((1 - np.sqrt(1 - 4 * spread)) / 2, 1e-300, 1)
    entropies = -p * np.log2(p) - (1 - p) * np.log2(1 - p)
    return dict(zip(names, np.clip(entropies, 0, 1).tolist(), strict=True))

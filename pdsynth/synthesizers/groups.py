"""Two sensitivity groups with their own budgets, and value weights inside the second (HPPrivBayes; flat: CSAPrivBayes)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..budgets import (
    RARE_VALUES,
    TableBudget,
    number,
    positive,
    printed_group_a,
    printed_scales,
    tight_scales,
    value_weights,
)
from ..domain.schema import Schema
from ..errors import BudgetError
from ..measures import sensitivity_weights
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction

Groups = dict[str, list[str]]
Budgets = tuple[Fraction, Fraction]

RAW_GROUPS = "'no privacy protection involved … as we consider the data publisher safe' (thesis, proof of Theorem 1, step 2)"
RAW_WEIGHTS = "frequencies of the raw records set the noise scales, so the scales differ between neighbours"


@dataclass(frozen=True)
class SensitivityGroups:
    """How group B treats rare values, and what public policy has settled beforehand.

    ``groups``: ``{"A": [...], "B": [...]}`` by public policy: costs nothing, and is the cleanest personalisation. None:
    ``schema.groups`` where it is declared, else association with the sensitive attribute. What it doesn't name goes to B.
    ``rare_values``: ``"less_noise"`` (thesis), ``"more_noise"`` or ``"same_noise"``, for which nothing is asked.
    ``v_min``: smallest relative weight of a value under strict. ``theta_tvd``: threshold of R instead of θ, under strict.
    ``weights``: ``{attribute: [one weight per value]}`` of attributes of group B by public policy: who gets which noise is then
    decided by people and not by the records, and ``ledger_.value_epsilon(attribute)`` says what each value loses.

    >>> SensitivityGroups(rare_values="same_noise").v_min
    0.5
    """

    groups: Mapping[str, Sequence[str]] | None = None
    rare_values: str = "less_noise"
    v_min: float = 0.5
    theta_tvd: float | None = None
    weights: Mapping[str, Sequence[float]] | None = None


@dataclass(frozen=True)
class TwoGroups:
    """Group A (more sensitive) and group B share the tables' budget as r : 1 (thesis, Algorithms 4 to 6).

    Parameters as in :class:`HPPrivBayes`.

    **Privacy:** strict: noisy associations and histograms, paid for; the tables of A cost ε₂/|A| each, those of B ε₃/|B|.
    Published: both sketches are raw, the scales are the printed ones.
    """

    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups = SensitivityGroups()

    def check(self) -> None:
        """Refuse parameters out of range."""
        if not isinstance(self.personal, SensitivityGroups):
            raise BudgetError(f"personal must be a SensitivityGroups(...) of pds.parts, got {self.personal!r}")
        positive("r", self.r)
        theta_tvd = 0 if self.personal.theta_tvd is None else number("theta_tvd", self.personal.theta_tvd)
        if number("theta", self.theta) < 0 or not 0 <= theta_tvd <= 1:
            raise BudgetError(f"theta must be at least 0 bits and theta_tvd in [0, 1], got {self.theta!r} and {self.personal.theta_tvd!r}")
        if self.personal.rare_values not in RARE_VALUES:
            raise BudgetError(f"rare_values must be one of {RARE_VALUES}, got {self.personal.rare_values!r}")
        if not 0 < number("v_min", self.personal.v_min) <= 1:
            raise BudgetError(f"v_min must lie in (0, 1], got {self.personal.v_min!r}")

    def check_schema(self, schema: Schema) -> None:
        """Refuse groups and a sensitive attribute that the schema doesn't have."""
        policy = self.policy(schema)
        if self.sensitive is None and policy is None:
            raise BudgetError(f"name the sensitive attribute (sensitive=…, one of {', '.join(schema.names)}) or declare groups by policy")
        if self.sensitive is not None:
            schema.index(self.sensitive)
        if policy is not None and not policy["A"]:
            raise BudgetError("the declared group A is empty: name a sensitive attribute, or put an attribute in A")
        strange = [name for name in self.personal.weights or () if policy is None or name not in policy["B"]]
        if strange:
            raise BudgetError(f"public weights are for attributes that groups={{...}} puts in B; {strange[0]!r} isn't one of them")
        for name in self.personal.weights or ():
            self.public_weights(name, schema[name].size)

    def public_weights(self, name: str, size: int) -> tuple[Fraction, ...]:
        """Relative budgets of an attribute's values as declared in public, the largest 1."""
        declared: Any = (self.personal.weights or {})[name]
        if isinstance(declared, str) or not isinstance(declared, (Sequence, np.ndarray)):
            raise BudgetError(f"weights must be {{attribute: [one weight a value]}}, got {declared!r} for {name!r}")
        given = [positive(f"a weight of {name!r}", w) for w in declared]
        if len(given) != size:
            raise BudgetError(f"{name!r} has {size} values, but {len(given)} weights")
        if max(given) > 1000 * min(given):
            raise BudgetError(f"weights of {name!r} lie more than 1,000 apart: the noise of some values would leave nothing of them")
        return tuple(w / max(given) for w in given)

    def asks_weights(self, schema: Schema) -> bool:
        """Whether value weights may have to be asked for; a fact of the policy alone."""
        policy = self.policy(schema)
        return self.personal.rare_values != "same_noise" and (policy is None or any(name not in (self.personal.weights or ()) for name in policy["B"]))

    def policy(self, schema: Schema) -> Groups | None:
        """Groups declared in public, or None."""
        declared = self.personal.groups
        lists = isinstance(declared, Mapping) and not any(isinstance(v, str) or not isinstance(v, Sequence) for v in declared.values())
        if declared is not None and not lists:
            raise BudgetError(f"groups must be {{'A': [names], 'B': [names]}}, got {declared!r}")
        if declared is None:
            if not schema.groups:
                return None
            declared = {g: [n for n in schema.names if schema.groups.get(n) == g] for g in "AB"}
        named = [*declared.get("A", []), *declared.get("B", [])]
        for name in named:
            schema.index(name)
        if len(set(named)) != len(named) or not set(declared) <= {"A", "B"}:
            raise BudgetError(f"groups must name each attribute once, under 'A' or 'B'; got {dict(declared)}")
        if self.sensitive in declared.get("B", []):
            raise BudgetError(f"the sensitive attribute {self.sensitive!r} is always in group A, but the groups put it in B: take it out")
        a = [n for n in schema.names if n in declared.get("A", []) or n == self.sensitive]
        return {"A": a, "B": [n for n in schema.names if n not in a]}

    def threshold(self, guarantee: str) -> float:
        """The threshold of group A: bits of I, or the R that stands for them under strict."""
        if guarantee != "strict":
            return float(self.theta)
        return float(0.752 * np.sqrt(float(self.theta) * np.log(2) / 2)) if self.personal.theta_tvd is None else float(self.personal.theta_tvd)

    def split(self, curator: Curator, epsilon: Fraction) -> tuple[Groups, dict[str, float] | None, str]:
        """Groups A and B (thesis, Algorithm 4), the associations they come from, and the entry: by policy, or by association with S.

        **Privacy:** policy is free; otherwise as :meth:`Curator.association_with`, ε.
        """
        names, policy = curator.schema.names, self.policy(curator.schema)
        if policy is not None:
            return policy, None, "public"
        values, entry = curator.association_with(
            curator.schema.index(str(self.sensitive)), epsilon, step=f"groups by association with {self.sensitive}",
            source="thesis Alg 4 lines 3–10", reason=RAW_GROUPS,
        )  # fmt: skip
        bound = self.threshold(curator.guarantee)
        a = [n for n, v in zip(names, values, strict=True) if v >= bound]
        return {"A": a, "B": [n for n in names if n not in a]}, dict(zip(names, values.tolist(), strict=True)), entry

    def budgets(self, total: Fraction, groups: Groups, guarantee: str) -> Budgets:
        """ε₂ and ε₃ with ε₂/ε₃ = r; under strict a group without tables leaves its budget to the other."""
        r = positive("r", self.r)
        if guarantee == "strict" and not (groups["A"] and groups["B"]):
            return (total, Fraction(0)) if groups["A"] else (Fraction(0), total)
        return total * r / (1 + r), total / (1 + r)

    def histograms(self, curator: Curator, b: list[str], epsilon: Fraction) -> tuple[dict[str, np.ndarray], str]:
        """Histograms of the B attributes, from which value weights are computed.

        **Privacy:** as :meth:`Curator.histograms`, ε; nothing is asked with flat weights, or for public ones.
        """
        b = [name for name in b if name not in (self.personal.weights or ())]
        if self.personal.rare_values == "same_noise" or not b:
            return {name: np.ones(curator.schema[name].size) for name in b}, "public"
        columns = [curator.schema.index(name) for name in b]
        counts, entry = curator.histograms(
            columns, epsilon, step="sensitivity weights of group B", source="thesis Alg 6 line 5", reason=RAW_WEIGHTS
        )
        return dict(zip(b, counts, strict=True)), entry

    def tables(
        self, curator: Curator, network: Network, groups: Groups, histograms: dict[str, np.ndarray], budgets: Budgets, k: int = 0
    ) -> tuple[dict[str, TableBudget], dict[str, tuple[float, ...]]]:
        """Noise of every table and the value weights of B: printed scales under ``published`` (with d−k−l), else tight ones.

        **Privacy:** reads no records: the scales come from groups and histograms that were paid for, or are unaccounted.
        """
        tables = self._printed if curator.guarantee == "published" else self._tight
        return tables(curator, network, groups, histograms, budgets, k)

    def _tight(
        self, curator: Curator, network: Network, groups: Groups, histograms: dict[str, np.ndarray], budgets: Budgets, k: int
    ) -> tuple[dict[str, TableBudget], dict[str, tuple[float, ...]]]:
        """ε₂/|A| a table of A; ε₃/|B| a table of B, with tight scales a value."""
        a, b = groups["A"], groups["B"]
        out = {name: TableBudget(2 * len(a) / budgets[0], budgets[0] / len(a), source="thesis Alg 5 line 4") for name in a}
        shown: dict[str, tuple[float, ...]] = {}
        for name in b:
            if name in histograms:
                weights = value_weights(histograms[name], self.personal.rare_values, as_fraction(self.personal.v_min))
            else:
                weights = self.public_weights(name, curator.schema[name].size)
            shown[name] = tuple(map(float, weights))
            scales = tight_scales(weights, budgets[1] / len(b), curator.schema.cells(network.parents(name)))
            out[name] = TableBudget(scales, budgets[1] / len(b), source="thesis Alg 6 line 6, v = w / max w")
        return out, shown

    def _printed(
        self, curator: Curator, network: Network, groups: Groups, histograms: dict[str, np.ndarray], budgets: Budgets, k: int
    ) -> tuple[dict[str, TableBudget], dict[str, tuple[float, ...]]]:
        """As printed: 2(d−k−l)/ε₂ for each table of A, 2l/(w_x ε₃) for each row of a table of B."""
        a, b = groups["A"], groups["B"]
        scale = printed_group_a(len(network), k, len(b), budgets[0])
        out = {name: TableBudget(scale, budgets[0] / len(a), source="thesis Alg 5 line 4") for name in a}
        shown: dict[str, tuple[float, ...]] = {}
        for name in b:
            if name in histograms:
                w = self._printed_weights(histograms[name])
            else:
                w = np.array(self.public_weights(name, curator.schema[name].size), dtype=float)
            shown[name] = tuple(w.tolist())
            out[name] = TableBudget(printed_scales(w, len(b), budgets[1]), budgets[1] / len(b), source="thesis Alg 6 line 6")
        return out, shown

    def _printed_weights(self, histogram: np.ndarray) -> np.ndarray:
        if self.personal.rare_values == "same_noise":
            return np.ones(len(histogram))
        w = sensitivity_weights(histogram)
        inverse = 1 / np.maximum(w, 1e-9)
        return w if self.personal.rare_values == "less_noise" else inverse / inverse.sum()

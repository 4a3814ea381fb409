"""HPPrivBayes: hierarchical personalised PrivBayes (Deng, thesis 2025)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..budgets import (
    DIRECTIONS,
    TableBudget,
    number,
    positive,
    printed_group_a,
    printed_scales,
    proportional,
    share,
    tight_scales,
    value_weights,
)
from ..conditionals import noisy_tables
from ..curator import Curator
from ..errors import BudgetError
from ..ledger import exact
from ..measures import sensitivity_weights
from ..mechanisms import Noise
from ..network import Network
from ..schema import Schema
from ..structure import Degree, FixedDegree, ordered
from .base import Synthesizer, check_degree, check_noise, choose_degree, prepare

Groups = dict[str, list[str]]
Budgets = tuple[Fraction, Fraction]

RAW_ORDER = "'the order … does not directly leak the mutual information' (thesis §3.1), but the network that is released depends on it"
RAW_GROUPS = "'no privacy protection involved … as we consider the data publisher safe' (thesis, proof of Theorem 1, step 2)"
RAW_WEIGHTS = "frequencies of the raw records set the noise scales, so the scales differ between neighbours"


class HPPrivBayes(Synthesizer):
    """HPPrivBayes: attributes enter by average mutual information, and noise follows sensitivity groups and value weights.

    Parameters
    ----------
    epsilon, k, usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive : the sensitive attribute S; always in group A.
    theta : threshold of group A in bits of I(X, S). Under strict, where R is compared, it becomes
        ``0.752·sqrt(θ ln 2 / 2)`` (Pinsker's cap scaled so that 0.1 bit gives 0.14); ``theta_tvd`` sets it directly.
    r : L2/L3, the budget of group A (more sensitive) against group B.
    groups : ``{"A": [...], "B": [...]}`` by public policy: costs nothing, and is the cleanest personalisation. Defaults to
        ``schema.groups``; attributes that it doesn't name go to B.
    direction : value weights of group B: ``"paper"`` (rare values get less noise), ``"protect"`` (more), ``"flat"``.
    v_min : smallest relative weight of a value under strict.
    L0, L1 : shares of the private sketches (strict only) and of the structure; the rest is split by r.

    Ambiguities and how they are resolved (`algorithms` §3.2)
    ---------------------------------------------------------
    1. Algorithm 6 loops over B. 2. Its input is ε₃, each attribute has ε₃/l. 3. A table is normalised once.
    4. Published noises all d tables while paying for d−k−l in A, literally, and the ledger shows the overrun; strict noises
       all tables and divides by |A| and |B|. 5. d−k−l ≤ 0 raises BudgetDegenerate under published. 6. S is in A.
    7. Nothing assumes that the first k attributes lie in A. 8. I and θ are in bits. 9. ΔI is the general bound unless a side
       has two values. 10. A declared value without records: one is added to every count (published), noisy counts are at least
       one half (strict). 11. w = 0 gets a floor. 12. r = L2/L3; L1 is never printed, 0.3 here. 13. ``direction`` chooses.
    14. n is that of the table. 15. A pair is added once.

    **Privacy:** strict: pure ε-DP under replacing one record. Order, groups and weights come from three discrete Laplace
    sketches (L0·ε, split 0.4/0.4/0.2), everything that follows from them is post-processing; d−1 exponential mechanisms
    (L1·ε, score R); one noisy table an attribute, ε₂/|A| or ε₃/|B| each, with per-value scales whose worst move costs exactly
    that. Published: order, groups and weights are raw, so no finite ε holds; the ledger lists them.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        k: int | str = "auto",
        sensitive: str | None = None,
        theta: float = 0.1,
        r: float = 1 / 3,
        groups: Mapping[str, Sequence[str]] | None = None,
        direction: str = "paper",
        v_min: float = 0.5,
        theta_tvd: float | None = None,
        L0: float = 0.05,
        L1: float = 0.3,
        usefulness: float = 4,
        guarantee: str = "strict",
        noise: str = "exact",
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.k, self.sensitive, self.theta, self.r = epsilon, k, sensitive, theta, r
        self.groups, self.direction, self.v_min, self.theta_tvd = groups, direction, v_min, theta_tvd
        self.L0, self.L1, self.usefulness = L0, L1, usefulness
        self.guarantee, self.noise, self.random_state = guarantee, noise, random_state

    def _check_parameters(self) -> Fraction:
        positive("r", self.r)
        positive("usefulness", self.usefulness)
        theta_tvd = 0 if self.theta_tvd is None else number("theta_tvd", self.theta_tvd)
        if number("theta", self.theta) < 0 or not 0 <= theta_tvd <= 1:
            raise BudgetError(f"theta must be at least 0 bits and theta_tvd in [0, 1], got {self.theta!r} and {self.theta_tvd!r}")
        if share("L0", self.L0) + share("L1", self.L1) >= 1:
            raise BudgetError(f"L0 + L1 = {self.L0} + {self.L1} leaves nothing for the tables: they must stay below 1")
        if self.direction not in DIRECTIONS:
            raise BudgetError(f"direction must be one of {DIRECTIONS}, got {self.direction!r}")
        if not 0 < number("v_min", self.v_min) <= 1:
            raise BudgetError(f"v_min must lie in (0, 1], got {self.v_min!r}")
        return super()._check_parameters()

    def _check_schema(self, schema: Schema, n: int) -> None:
        check_degree(self.k, schema)
        if self.guarantee == "strict":
            check_noise(self.epsilon, n, self._largest_scale(len(schema), n))
        policy = self._policy(schema)
        if self.sensitive is None and policy is None:
            raise BudgetError(f"name the sensitive attribute (sensitive=…, one of {', '.join(schema.names)}) or declare groups by policy")
        if self.sensitive is not None:
            schema.index(self.sensitive)
        if policy is not None and not policy["A"]:
            raise BudgetError("the declared group A is empty: name a sensitive attribute, or put an attribute in A")

    def _policy(self, schema: Schema) -> dict[str, list[str]] | None:
        """Groups declared in public, or None."""
        declared = self.groups
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

    def _largest_scale(self, d: int, n: int) -> Fraction:
        """A public bound of all noise scales of a strict run, in records or, for the sketches, records²."""
        epsilon, l0, r = exact(self.epsilon), exact(self.L0), exact(self.r)
        sketch = Fraction(6 * n * d * d) / (epsilon * l0 / 5)
        table = Fraction(2 * d) / (epsilon * (1 - l0 - exact(self.L1)) * min(r, Fraction(1)) / (1 + r) * exact(self.v_min))
        return max(sketch, table)

    # --- the recipe ----------------------------------------------------------------------------------------------------

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[np.ndarray, ...]]:
        strict = self.guarantee == "strict"
        epsilon0 = epsilon * exact(self.L0) if strict else Fraction(0)
        epsilon1 = epsilon * exact(self.L1)
        rest = epsilon - epsilon0 - epsilon1
        degree = choose_degree(self.k, curator.schema, curator.n, rest, positive("usefulness", self.usefulness))
        self.degree_rule_ = "independent" if degree is None else degree.label()
        by_policy = self._policy(curator.schema) is not None
        asked = {"order": 4 * (degree is not None), "groups": 4 * (not by_policy), "weights": 2 * (self.direction != "flat")}
        if not any(asked.values()):
            rest, epsilon0 = rest + epsilon0, Fraction(0)
        sketch = proportional(epsilon0, asked) if epsilon0 else dict.fromkeys(asked, Fraction(0))
        if degree is None:
            rest, epsilon1 = rest + epsilon1, Fraction(0)
        groups, groups_from = self._step_groups(curator, sketch["groups"])  # Algorithm 4; before Algorithm 3 so that it can refuse
        budget_a, budget_b = self._group_budgets(rest, sketch, groups)
        if self.guarantee == "published":
            self._refuse_degenerate(curator, degree, groups, budget_a)
        network = self._step_network(curator, degree, sketch["order"], epsilon1)  # Algorithm 3
        histograms, weights_from = self._step_weights(curator, groups["B"], sketch["weights"])
        tables = self._printed_tables if self.guarantee == "published" else self._strict_tables
        budget = tables(curator, network, groups, histograms, (budget_a, budget_b), degree)
        origin = tuple(x for x in (groups_from, weights_from) if x not in ("public", "none"))
        budget = {name: TableBudget(b.scale, b.claimed, origin, b.source) for name, b in budget.items()}
        return network, noisy_tables(curator, network, budget)

    def _group_budgets(self, rest: Fraction, sketch: dict[str, Fraction], groups: dict[str, list[str]]) -> tuple[Fraction, Fraction]:
        """ε₂ and ε₃ with ε₂/ε₃ = r; a group without tables gives its budget to the other under strict."""
        r = positive("r", self.r)
        if self.guarantee == "strict" and not groups["B"]:
            return rest + sketch["weights"], Fraction(0)
        return rest * r / (1 + r), rest / (1 + r)

    def _step_groups(self, curator: Curator, epsilon: Fraction) -> tuple[dict[str, list[str]], str]:
        """Groups A and B (thesis, Algorithm 4): by policy, or by association with S."""
        names, policy = curator.schema.names, self._policy(curator.schema)
        if policy is not None:
            self.groups_, self.association_ = policy, None
            return policy, "public"
        sensitive = curator.schema.index(str(self.sensitive))
        values, entry = curator.association_with(
            sensitive, epsilon, step=f"groups by association with {self.sensitive}", source="thesis Alg 4 lines 3–10", why_raw=RAW_GROUPS
        )
        threshold = self.threshold()
        a = [n for n, v in zip(names, values, strict=True) if v >= threshold]
        self.groups_ = {"A": a, "B": [n for n in names if n not in a]}
        self.association_ = dict(zip(names, values.tolist(), strict=True))
        return self.groups_, entry

    def threshold(self) -> float:
        """The threshold of group A: bits of I, or the R that stands for them under strict."""
        if self.guarantee != "strict":
            return float(self.theta)
        return float(0.752 * np.sqrt(float(self.theta) * np.log(2) / 2)) if self.theta_tvd is None else float(self.theta_tvd)

    def _step_network(self, curator: Curator, degree: Degree | None, epsilon0: Fraction, epsilon1: Fraction) -> Network:
        """AMI order and parent sets (thesis, Algorithm 3)."""
        names = curator.schema.names
        if degree is None:
            self.order_, self.average_association_ = names, None
            return Network(tuple((name, ()) for name in names))
        score = "R" if self.guarantee == "strict" else "I"
        prepare(curator, degree, score)
        strength, entry = curator.average_association(
            epsilon0, step="AMI order", source="thesis Alg 3 line 2", why_raw=RAW_ORDER
        )
        order = np.argsort(-strength, kind="stable").tolist()  # ties by column
        self.order_ = tuple(names[j] for j in order)
        self.average_association_ = dict(zip(names, strength.tolist(), strict=True))
        return ordered(curator, order, degree, epsilon1, score, origin=entry if entry != "none" else "public")

    def _step_weights(self, curator: Curator, b: list[str], epsilon: Fraction) -> tuple[dict[str, np.ndarray], str]:
        """Histograms of the B attributes, from which value weights are computed."""
        if self.direction == "flat" or not b:
            return {name: np.ones(curator.schema[name].size) for name in b}, "public"
        columns = [curator.schema.index(name) for name in b]
        counts, entry = curator.histograms(
            columns, epsilon, step="sensitivity weights of group B", source="thesis Alg 6 line 5", why_raw=RAW_WEIGHTS
        )
        return dict(zip(b, counts, strict=True)), entry

    def _strict_tables(
        self, curator: Curator, network: Network, groups: Groups, histograms: dict[str, np.ndarray], budgets: Budgets, degree: Degree | None
    ) -> dict[str, TableBudget]:
        """ε₂/|A| a table of A; ε₃/|B| a table of B, with tight scales a value."""
        a, b = groups["A"], groups["B"]
        out = {name: TableBudget(2 * len(a) / budgets[0], budgets[0] / len(a), source="thesis Alg 5 line 4") for name in a}
        self.weights_ = {}
        for name in b:
            weights = value_weights(histograms[name], self.direction, exact(self.v_min))
            cells = curator.schema.cells(network.parents(name))
            self.weights_[name] = tuple(map(float, weights))
            scales = tight_scales(weights, budgets[1] / len(b), cells)
            out[name] = TableBudget(scales, budgets[1] / len(b), source="thesis Alg 6 line 6, v = w / max w")
        return out

    def _printed_tables(
        self, curator: Curator, network: Network, groups: Groups, histograms: dict[str, np.ndarray], budgets: Budgets, degree: Degree | None
    ) -> dict[str, TableBudget]:
        """As printed: 2(d−k−l)/ε₂ for each table of A, 2l/(w_x ε₃) for each row of a table of B."""
        a, b = groups["A"], groups["B"]
        k = degree.k if isinstance(degree, FixedDegree) else 0
        scale = printed_group_a(len(network), k, len(b), budgets[0])
        out = {name: TableBudget(scale, budgets[0] / len(a), source="thesis Alg 5 line 4") for name in a}
        self.weights_ = {}
        for name in b:
            w = self._printed_weights(histograms[name])
            self.weights_[name] = tuple(w.tolist())
            out[name] = TableBudget(printed_scales(w, len(b), budgets[1]), budgets[1] / len(b), source="thesis Alg 6 line 6")
        return out

    def _printed_weights(self, histogram: np.ndarray) -> np.ndarray:
        if self.direction == "flat":
            return np.ones(len(histogram))
        w = sensitivity_weights(histogram)
        inverse = 1 / np.maximum(w, 1e-9)
        return w if self.direction == "paper" else inverse / inverse.sum()

    def _refuse_degenerate(self, curator: Curator, degree: Degree | None, groups: dict[str, list[str]], epsilon2: Fraction) -> None:
        printed_group_a(len(curator.schema), degree.k if isinstance(degree, FixedDegree) else 0, len(groups["B"]), epsilon2)

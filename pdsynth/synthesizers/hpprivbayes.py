"""HPPrivBayes: hierarchical personalised PrivBayes (Deng, thesis 2025)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..budgets import TableBudget, positive, printed_group_a, proportional, share
from ..conditionals import noisy_tables
from ..domain.schema import Schema
from ..errors import BudgetError
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.mechanisms import Noise
from ..structure import MaxParents, ParentRule, Restriction, check_restriction, ordered
from .base import Synthesizer, check_degree, check_noise, choose_degree, prepare
from .degrees import check_tables
from .groups import SensitivityGroups, TwoGroups

RAW_ORDER = "'the order … does not directly leak the mutual information' (thesis §3.1), but the network that is released depends on it"


@dataclass(eq=False, repr=False)
class HPPrivBayes(Synthesizer):
    """HPPrivBayes: attributes enter by average mutual information, and noise follows sensitivity groups and value weights.

    Parameters
    ----------
    epsilon, k, usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive : the sensitive attribute S; always in group A.
    theta : threshold of group A in bits of I(X, S). Under strict, where R is compared, it becomes
        ``0.752·sqrt(θ ln 2 / 2)`` (Pinsker's cap scaled so that 0.1 bit gives 0.14); ``theta_tvd`` sets it directly.
    r : L2/L3, the budget of group A (more sensitive) against group B.
    personal : :class:`SensitivityGroups`: groups and weights by public policy, and who gets less noise. None: as the thesis.
    share_sketch, share_structure : shares of the private sketches (strict only; L0) and of the structure (the thesis' L1); the
        rest is split by r.
    theta_usefulness : θ of ``k="auto"``: a table's mean cell must be at least this many times its noise scale.
    restriction : edges that the network must or may not have, by public policy; the order gives way to it.

    Ambiguities and how they are resolved (`algorithms` §3.2)
    ---------------------------------------------------------
    1. Algorithm 6 loops over B. 2. Its input is ε₃, each attribute has ε₃/l. 3. A table is normalised once.
    4. Published noises all d tables while paying for d−k−l in A, literally, and the ledger shows the overrun; strict noises
       all tables and divides by |A| and |B|. 5. d−k−l ≤ 0 raises BudgetDegenerate under published. 6. S is in A.
    7. Nothing assumes that the first k attributes lie in A. 8. I and θ are in bits. 9. ΔI is the general bound unless a side
       has two values. 10. A declared value without records: one is added to every count (published), noisy counts are at least
       one half (strict). 11. w = 0 gets a floor. 12. r = L2/L3; L1 is never printed, 0.3 here. 13. ``rare_values`` chooses.
    14. n is that of the table. 15. A pair is added once.

    **Privacy:** strict: pure ε-DP under replacing one record. Order, groups and weights come from three discrete Laplace
    sketches (share_sketch·ε, split 0.4/0.4/0.2), everything that follows from them is post-processing; d−1 exponential mechanisms
    (share_structure·ε, score R); one noisy table an attribute, ε₂/|A| or ε₃/|B| each, with per-value scales whose worst move costs exactly
    that. Published: order, groups and weights are raw, so no finite ε holds; the ledger lists them.
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups | None = None
    share_sketch: float = 0.05
    share_structure: float = 0.3
    theta_usefulness: float = 4
    restriction: Restriction | None = None
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    @property
    def _two_groups(self) -> TwoGroups:
        return TwoGroups(self.sensitive, self.theta, self.r, SensitivityGroups() if self.personal is None else self.personal)

    def threshold(self) -> float:
        """The threshold of group A: bits of I, or the R that stands for them under strict."""
        return self._two_groups.threshold(self.guarantee)

    def _check_parameters(self) -> Fraction:
        positive("theta_usefulness", self.theta_usefulness)
        self._two_groups.check()
        if share("share_sketch", self.share_sketch) + share("share_structure", self.share_structure) >= 1:
            raise BudgetError(f"share_sketch + share_structure = {self.share_sketch} + {self.share_structure} leaves nothing for the tables: they must stay below 1")
        return super()._check_parameters()

    def _check_schema(self, schema: Schema, n: int) -> None:
        check_degree(self.k, schema)
        check_tables(check_restriction(self.restriction, self.k, schema).forced_network(schema.names), schema)
        self._two_groups.check_schema(schema)
        if self.guarantee == "strict":
            check_noise(self.epsilon, n, self._largest_scale(schema, n))

    def _largest_scale(self, schema: Schema, n: int) -> Fraction:
        """A public bound of all noise scales of a strict run, in records or, for the sketches, records²."""
        d, two = len(schema), self._two_groups
        least = min([as_fraction(two.personal.v_min), *(w for name in two.personal.weights or () for w in two.public_weights(name, schema[name].size))])
        epsilon, l0, r = as_fraction(self.epsilon), as_fraction(self.share_sketch), as_fraction(self.r)
        sketch = Fraction(6 * n * d * d) / (epsilon * l0 / 5)
        table = Fraction(2 * d) / (epsilon * (1 - l0 - as_fraction(self.share_structure)) * min(r, Fraction(1)) / (1 + r) * least)
        return max(sketch, table)

    # --- the recipe ----------------------------------------------------------------------------------------------------

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[np.ndarray, ...]]:
        strict, two = self.guarantee == "strict", self._two_groups
        epsilon0 = epsilon * as_fraction(self.share_sketch) if strict else Fraction(0)
        epsilon1 = epsilon * as_fraction(self.share_structure)
        rest = epsilon - epsilon0 - epsilon1
        degree = choose_degree(self.k, curator.schema, curator.n, rest, positive("theta_usefulness", self.theta_usefulness))
        k = degree.k if isinstance(degree, MaxParents) else 0
        self.degree_rule_ = "independent" if degree is None else degree.label()
        if not (self.restriction or Restriction()).on(curator.schema.names).pairs:
            degree = None  # policy settles every pair: no structure to learn
        by_policy = two.policy(curator.schema) is not None
        asked = {"order": 4 * (degree is not None), "groups": 4 * (not by_policy), "weights": 2 * two.asks_weights(curator.schema)}
        if not any(asked.values()):
            rest, epsilon0 = rest + epsilon0, Fraction(0)
        sketch = proportional(epsilon0, asked) if epsilon0 else dict.fromkeys(asked, Fraction(0))
        if degree is None:
            rest, epsilon1 = rest + epsilon1, Fraction(0)
        self.groups_, self.association_, groups_from = two.split(curator, sketch["groups"])  # Algorithm 4; first, so that it can refuse
        if strict and not self.groups_["B"]:
            rest += sketch["weights"]
        budgets = two.budgets(rest, self.groups_, self.guarantee)
        if self.guarantee == "published":
            printed_group_a(len(curator.schema), k, len(self.groups_["B"]), budgets[0])  # raises when d − k − l ≤ 0
        network = self._step_network(curator, degree, sketch["order"], epsilon1)  # Algorithm 3
        histograms, weights_from = two.histograms(curator, self.groups_["B"], sketch["weights"])
        budget, self.weights_ = two.tables(curator, network, self.groups_, histograms, budgets, k)  # Algorithms 5 and 6
        depends_on = tuple(x for x in (groups_from, weights_from) if x != "public")
        budget = {name: TableBudget(b.scale, b.claimed, depends_on, b.source) for name, b in budget.items()}
        return network, noisy_tables(curator, network, budget)

    def _step_network(self, curator: Curator, degree: ParentRule | None, epsilon0: Fraction, epsilon1: Fraction) -> Network:
        """AMI order and parent sets (thesis, Algorithm 3)."""
        names = curator.schema.names
        if degree is None:
            network = (self.restriction or Restriction()).on(names).forced_network(names)
            self.order_, self.average_association_ = network.order, None
            return network
        score = "R" if self.guarantee == "strict" else "I"
        prepare(curator, degree, score)
        strength, entry = curator.average_association(epsilon0, step="AMI order", source="thesis Alg 3 line 2", reason=RAW_ORDER)
        order = np.argsort(-strength, kind="stable").tolist()  # ties by column
        self.order_ = tuple(names[j] for j in order)
        self.average_association_ = dict(zip(names, strength.tolist(), strict=True))
        return ordered(curator, order, degree, epsilon1, score, depends_on=entry, restriction=self.restriction)

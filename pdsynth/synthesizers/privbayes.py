"""PrivBayes (Zhang et al., SIGMOD 2014, TODS 2017), as the thesis reprints it in its section 2.2."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..budgets import TableBudget, positive, share, uniform
from ..conditionals import noisy_tables
from ..domain.schema import Schema
from ..errors import BudgetError
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.mechanisms import Noise
from ..structure import MaxParents, Restriction, check_restriction, greedy
from .base import Synthesizer, check_degree, check_noise, choose_degree, prepare


@dataclass(eq=False, repr=False)
class PrivBayes(Synthesizer):
    """PrivBayes: a greedy network by the exponential mechanism, then noisy tables (thesis, Algorithms 1 and 2).

    Parameters
    ----------
    epsilon : total budget ε.
    k : largest number of parents; ``"auto"`` chooses from public facts (θ-usefulness, or maximal parent sets).
    share_structure : share of ε for the structure, ε₁ = βε (TODS recommends 0.3; the thesis prints 1/2).
    theta_usefulness : θ of TODS: a table's mean cell must be at least this many times its noise scale.
    score : ``"I"`` mutual information, ``"R"`` distance from independence, ``"F"`` (binary tables);
        ``"auto"``: R under strict, the paper's I otherwise.
    guarantee : ``"strict"``, ``"published"`` or ``"none"``.
    reading : of ``published``: ``"tods"``, or ``"thesis"`` for Algorithm 2 as reprinted (half the noise, 1.5 ε in all).
    restriction : edges that the network must or may not have, by public policy; then all d tables are measured.
    noise, random_state : the sampler and its seed; None draws from the operating system.

    Ambiguities and how they are resolved (`algorithms` §2.2)
    ---------------------------------------------------------
    1. Algorithm 2 prints Lap(2(d−k)/(nε)) for a step with ε/2: its ε is read as ε₂; ``reading="thesis"`` runs the print.
    2. |Π| ≤ k is read as exactly min(k, i−1), without which the first k conditionals can't be derived; general domains under
       ``k="auto"`` use maximal sets and pay for all d tables.
    3. Equation (5) is read as the product of Pr[X_i | Π_i]; Var of Lap(λ) is 2λ², not 2λ.
    4. All information is in bits.
    5. The largest useful k is taken (the public MATLAB code returns the first that isn't), with ε₂ and the true domain.

    **Privacy:** strict: pure ε-DP under replacing one record: d−1 exponential mechanisms of ε₁/(d−1) and d−k (or d) discrete
    Laplace tables, sequentially. Published (TODS): the same with score I. None: raw.

    >>> PrivBayes(epsilon=0.5, k=2)
    PrivBayes(epsilon=0.5, k=2, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int | str = "auto"
    share_structure: float = 0.3
    theta_usefulness: float = 4
    score: str = "auto"
    guarantee: str = "strict"
    reading: str = "tods"
    restriction: Restriction | None = None
    noise: str = "exact"
    random_state: Any = None

    def _check_parameters(self) -> Fraction:
        share("share_structure", self.share_structure)
        positive("theta_usefulness", self.theta_usefulness)
        if self.score not in ("auto", "I", "R", "F"):
            raise BudgetError(f"score must be 'auto', 'I', 'R' or 'F', got {self.score!r}")
        if self.reading not in ("tods", "thesis") or (self.reading == "thesis" and self.guarantee == "strict"):
            raise BudgetError(
                f"reading must be 'tods', or 'thesis' with guarantee='published'; got {self.reading!r} with {self.guarantee!r}"
            )
        return super()._check_parameters()

    def _check_schema(self, schema: Schema, n: int) -> None:
        check_degree(self.k, schema)
        check_restriction(self.restriction, self.k, schema)
        if self.guarantee != "none":
            check_noise(self.epsilon, n, Fraction(2 * len(schema)) / (as_fraction(self.epsilon) * (1 - as_fraction(self.share_structure))))
        if self.score == "F" and max(schema.sizes) > 2:
            raise BudgetError("score 'F' needs a table of two-valued attributes: use score='R'")

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[np.ndarray, ...]]:
        thesis = self.reading == "thesis"
        epsilon1 = epsilon * (Fraction(1, 2) if thesis else share("share_structure", self.share_structure))
        epsilon2 = epsilon - epsilon1
        score = self.score if self.score != "auto" else "R" if self.guarantee == "strict" else "I"
        degree = choose_degree(self.k, curator.schema, curator.n, epsilon2, positive("theta_usefulness", self.theta_usefulness))
        names = curator.schema.names
        permitted = (self.restriction or Restriction()).on(names)
        if degree is None or not permitted.pairs:  # no structure to learn: all of ε goes to the tables
            network, derived, epsilon2 = permitted.forced_network(names), 0, epsilon
        else:
            prepare(curator, degree, score)
            network = greedy(curator, degree, epsilon1, score, noise, restriction=self.restriction)
            derived = degree.k if isinstance(degree, MaxParents) and self.restriction is None else 0
        curator.ledger.guaranteed_ex_ante = tuple(names[j] for j in permitted.fixed_order[1:])
        self.degree_rule_ = "independent" if degree is None else degree.label()
        source = "thesis Alg 2 line 4"
        budget = uniform(len(names) - derived, epsilon2, source=source)
        if thesis:  # as printed: Lap(2(d−k)/(nε)) although the step is announced as ε/2
            budget = TableBudget(Fraction(2 * (len(names) - derived)) / epsilon, budget.claimed, source=source)
        return network, noisy_tables(curator, network, dict.fromkeys(names, budget), derived=derived)

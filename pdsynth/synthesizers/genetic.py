"""GeneticBayes: genetic structure search and custom networks (Hittmeir, Mayer, Ekelhart, IEEE Big Data 2022)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..budgets import TableBudget, positive, share, uniform
from ..conditionals import noisy_tables
from ..curator import Curator
from ..errors import BudgetError
from ..ledger import exact as as_written
from ..measures import association_sensitivity
from ..mechanisms import Noise
from ..network import Network
from ..schema import Schema
from ..structure import FixedDegree, Found, Parameters, Permitted, Restriction, best_parents, check_restriction, exact, genetic, hill
from ..structure.exact import MOST
from ..structure.genetic import ROOM
from .base import Synthesizer, check_degree, check_noise, choose_degree

SEARCHES = ("genetic", "exact", "hill")
PAIRS = "GA paper (Hittmeir et al. 2022), section III, footnote 7"
TOOL = "EnhancedDataSynthesizer, lib/PrivBayes.py, laplace_noise_parameter"
RAW_PAIRS = "the paper makes no claim of privacy; its tool searches on raw mutual information, and charges no ε for the network"
STRONG = 0.25  # R of strongly tied attributes in the papers' tables; a public rule of thumb, not a statistic of any table


class GeneticBayes(Synthesizer):
    """The network that a genetic algorithm finds for pairwise associations, and custom networks for sensitive attributes.

    Parameters
    ----------
    epsilon : total budget ε.
    k : largest number of parents; ``"auto"`` chooses from public facts (n, domains, ε), and then no table outgrows its noise.
    population, elite, r, generations : P, S, r (None: 1/d) and e of the paper; its defaults (e: 400 as for CMC and Adult).
    target, sensitive : the custom network of section IV: the target is the root, each sensitive attribute (one name or several) has
        it as its only parent and is nobody's parent. ``restriction`` says the same, and forced or forbidden edges; give one of the two.
    search : ``"genetic"``, ``"exact"`` (the optimum of the same objective, at most 20 attributes to place) or ``"hill"``.
    beta : share of ε for the associations under strict.
    usefulness : θ of ``k="auto"``: a table's mean cell must be at least this many times its noise scale.
    guarantee, noise, random_state : as in PrivBayes.

    Ambiguities and how they are resolved (`algorithms` §5.2)
    ---------------------------------------------------------
    1. Fitness counts valid parents only, so an early attribute loses score: as printed. 2. The i' of a crossover may be i.
    3. Line 7 of Initialization doesn't exclude f_j itself: excluded. 4. One generator for everything (the public code seeds after
    its first population). 5. Edges of weight 0 are left out: they add nothing to the fitness and only noise to a table.
    6. The public code turns the first k+1 attributes into a complete graph and loses C; the paper doesn't, nor do we.

    The paper runs without ε. Its tool offers one: the network stays raw and free, the tables get ε/2 at the scale (d−k)/(ε/2), which
    is right for adding or removing a record only. ``published`` is that reading. The tool also stores histograms that cost the full ε
    once more (DataSynthesizer's double spending, not the paper's), which this reading leaves out.

    **Privacy:** strict: pure ε-DP under replacing one record: a sketch of R over the pairs that the search may use (βε; those with a
    sensitive attribute are dropped), any search on it as post-processing, and d tables of discrete Laplace noise. A sensitive
    attribute stands in one table only, so its own loss, (1−β)ε/d, is known before the run. Published: the pairwise information is
    raw, no finite ε holds. None: everything is raw, as in the paper's experiments.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        k: int | str = "auto",
        population: int = 200,
        elite: int = 10,
        r: float | None = None,
        generations: int = 400,
        target: str | None = None,
        sensitive: str | Sequence[str] = (),
        restriction: Restriction | None = None,
        search: str = "genetic",
        beta: float = 0.3,
        usefulness: float = 4,
        guarantee: str = "strict",
        noise: str = "exact",
        random_state: Any = None,
    ) -> None:
        self.epsilon, self.k, self.population, self.elite, self.r, self.generations = epsilon, k, population, elite, r, generations
        self.target, self.sensitive, self.restriction, self.search = target, sensitive, restriction, search
        self.beta, self.usefulness = beta, usefulness
        self.guarantee, self.noise, self.random_state = guarantee, noise, random_state

    def _check_parameters(self) -> Fraction:
        share("beta", self.beta)
        positive("usefulness", self.usefulness)
        self._genes()
        if self.search not in SEARCHES:
            raise BudgetError(f"search must be one of {SEARCHES}, got {self.search!r}")
        return super()._check_parameters()

    def _genes(self) -> Parameters:
        return Parameters(self.population, self.elite, self.r, self.generations)

    def _permitted(self, schema: Schema) -> Permitted:
        if self.restriction is not None and (self.target is not None or self.sensitive):
            raise BudgetError("give either target= and sensitive=, or restriction=, not both")
        return check_restriction(self.restriction or Restriction(self.target, self.sensitive), self.k, schema)  # type: ignore[arg-type]

    def _check_schema(self, schema: Schema, n: int) -> None:
        check_degree(self.k, schema)
        permitted = self._permitted(schema)
        if self.search == "exact" and len(permitted.free) > MOST:
            raise BudgetError(f"{len(permitted.free)} attributes to place, but search='exact' has room for {MOST}: use 'hill' or 'genetic'")
        if self.search == "genetic" and len(schema) > ROOM:
            raise BudgetError(f"{len(schema)} attributes, but the genetic search has room for {ROOM}: use search='hill'")
        if self.guarantee != "none":
            epsilon, beta = as_written(self.epsilon), as_written(self.beta)
            sketch = self._sketch_scale(schema, n, permitted, epsilon * beta)
            check_noise(self.epsilon, n, max(Fraction(2 * len(schema)) / (epsilon * (1 - beta)), sketch))

    @staticmethod
    def _sketch_scale(schema: Schema, n: int, permitted: Permitted, epsilon1: Fraction) -> Fraction:
        """Noise scale of the sketch in records², from public facts."""
        sizes = schema.sizes
        return Fraction(max(sum(association_sensitivity(n, sizes[i], sizes[j]) for i, j in permitted.pairs), 1)) / epsilon1

    # --- the recipe ----------------------------------------------------------------------------------------------------

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[Any, ...]]:
        schema, permitted, strict = curator.schema, self._permitted(curator.schema), self.guarantee == "strict"
        epsilon1 = epsilon * as_written(self.beta)
        t = float(self._sketch_scale(schema, curator.n, permitted, epsilon1)) / (2 * curator.n**2) if strict else 0.0
        k, cells = self._degree(schema, curator.n, epsilon - epsilon1, permitted, t)
        self.degree_rule_ = "independent" if k == 0 else f"k = {k}" + ("" if cells is None else f", tables of at most {int(cells):,} cells")
        self.search_: Found | None = None
        if k == 0 or not permitted.pairs:  # nothing to learn: all of ε goes to the tables
            network, epsilon2 = permitted.settled(schema.names), epsilon
        else:
            self._warn(curator, permitted, t)
            network = self._network(curator, noise, permitted, epsilon1, (k, cells, t))
            epsilon2 = epsilon - epsilon1
        curator.ledger.known_before = tuple(schema.names[j] for j in permitted.first[1:])
        return network, noisy_tables(curator, network, self._budgets(network, epsilon, epsilon2))

    def _degree(self, schema: Schema, n: int, epsilon2: Fraction, permitted: Permitted, t: float) -> tuple[int, Fraction | None]:
        """k, and under ``"auto"`` the largest number of cells of a table; 0 where no network is worth its noise."""
        rule = choose_degree(self.k, schema, n, epsilon2, positive("usefulness", self.usefulness))
        if rule is None or isinstance(rule, FixedDegree):
            k, cells = 0 if rule is None else rule.k, None
        else:
            cells = rule.cells
            fits = [m for m in range(1, len(schema)) if math.prod(sorted(schema.sizes)[: m + 1]) <= cells]
            k = min(max(fits), rule.most)
        if isinstance(self.k, str):
            k = 0 if self._drowned(permitted, t) else max(k, int(permitted.forced.sum(axis=1).max())) if k else 0
        return k, cells

    @staticmethod
    def _drowned(permitted: Permitted, t: float) -> bool:
        """Whether the largest of m noise values is expected above what strongly tied attributes reach."""
        return t * math.log(max(len(permitted.pairs), math.e)) > STRONG

    def _warn(self, curator: Curator, permitted: Permitted, t: float) -> None:
        if self._drowned(permitted, t):
            spent = float(self.beta) * float(self.epsilon)
            words = (
                f"the sketch of {len(permitted.pairs)} associations on n = {curator.n:,} records at ε₁ = {spent:.3g} has noise of "
                f"scale {t:.2g}, and strongly tied attributes have about {STRONG}: many edges will be chance. "
                "Choose a larger epsilon, or k='auto'"
            )
            curator.ledger.notes.append(words)
            warnings.warn(words, UserWarning, stacklevel=6)

    def _network(
        self, curator: Curator, noise: Noise, permitted: Permitted, epsilon1: Fraction, rule: tuple[int, Fraction | None, float]
    ) -> Network:
        """Pairwise associations through the door, then any search on them (section III); ``rule``: k, cells, threshold."""
        (k, cells, t), d, names = rule, len(curator.schema), curator.schema.names
        values, entry = curator.sketch(
            permitted.pairs, epsilon1, step="pairwise associations", source=PAIRS, raw_measure="I", why_raw=RAW_PAIRS
        )
        self.weights_ = np.zeros((d, d))
        i, j = np.array(permitted.pairs).T
        self.weights_[i, j] = self.weights_[j, i] = np.maximum(values - t, 0)  # blunts the optimiser's curse
        generator = noise.child("search").generator()
        if self.search == "exact":
            found = exact(self.weights_, k, permitted)
        elif self.search == "hill":
            found = hill(self.weights_, k, generator, permitted)
        else:
            found = genetic(self.weights_, k, generator, self._genes(), permitted)
        self.search_ = found
        curator.fixed_order(f"{self.search} search", (entry,), f"a network of at most {k} parents")
        if cells is None:
            return found.network(names)
        parents = best_parents(found.order, self.weights_, k, permitted, curator.schema.sizes, cells)
        return Network(tuple((names[c], tuple(names[p] for p in found.order if parents[c, p])) for c in found.order))

    def _budgets(self, network: Network, epsilon: Fraction, epsilon2: Fraction) -> dict[str, TableBudget]:
        """Strict: 2d/ε₂ a table. Published: the tool's (d−k_i)/(ε/2) for a table of k_i parents."""
        d = len(network)
        if self.guarantee != "published":
            return dict.fromkeys(network.order, uniform(d, epsilon2, source="GA paper, section II (DataSynthesizer's tables)"))
        return {c: TableBudget(Fraction(2 * (d - len(p))) / epsilon, epsilon / (2 * d), source=TOOL) for c, p in network.pairs}

"""The structure part of GeneticBayes: one release of pairwise associations, then any search on it (Hittmeir et al. 2022, section III)."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..budgets import positive
from ..domain.schema import Schema
from ..errors import BudgetError
from ..measures import association_sensitivity
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.mechanisms import Noise
from ..structure import MaxParents, Parameters, Permitted, Restriction, SearchResult, best_parents, check_restriction, genetic, hill
from ..structure import exact_search as exact_search
from ..structure.exact_search import MOST
from ..structure.genetic import ROOM
from ..structure.pairwise import symmetric
from .degrees import check_degree, check_tables, choose_degree
from .structures import StructureResult

SEARCHES = ("genetic", "exact", "hill")
PAIRS = "GA paper (Hittmeir et al. 2022), section III, footnote 7"
RAW_PAIRS = "the paper makes no claim of privacy; its tool searches on raw mutual information, and charges no ε for the network"
STRONG = 0.25  # R of strongly tied attributes in the papers' tables; a public rule of thumb, not a statistic of any table


@dataclass(frozen=True)
class GeneticSearch:
    """GeneticBayes: the network with the largest sum of pairwise associations that a ``search`` finds.

    ``search``: ``"genetic"`` with P, S, r (None: 1/d) and e, ``"exact"`` (at most 20 attributes to place) or ``"hill"``.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    restriction: Restriction | None = None
    search: str = "genetic"
    population: int = 200
    elite: int = 10
    rate: float | None = None
    generations: int = 400

    def check(self, schema: Schema) -> None:
        """Refuse impossible parameters and restrictions, and more attributes than a search has room for."""
        self.genes()
        if self.search not in SEARCHES:
            raise BudgetError(f"search must be one of {SEARCHES}, got {self.search!r}")
        check_degree(self.k, schema)
        positive("theta_usefulness", self.theta_usefulness)
        permitted = check_restriction(self.restriction, self.k, schema)
        check_tables(permitted.forced_network(schema.names), schema)
        free = len(permitted.searchable)
        if self.search == "exact" and free > MOST:
            raise BudgetError(f"{free} attributes to place, but search='exact' has room for {MOST}: use 'hill' or 'genetic'")
        if self.search == "genetic" and len(schema) > ROOM:
            raise BudgetError(f"{len(schema)} attributes, but the genetic search has room for {ROOM}: use search='hill'")

    def genes(self) -> Parameters:
        """P, S, r and e, checked."""
        return Parameters(self.population, self.elite, self.rate, self.generations)

    def permitted(self, schema: Schema) -> Permitted:
        """The restriction over the columns of a schema."""
        return (self.restriction or Restriction()).on(schema.names)

    def scale(self, schema: Schema, n: int, epsilon1: Fraction) -> Fraction:
        """Noise scale of the sketch in records², from public facts."""
        sizes = schema.sizes
        total = sum(association_sensitivity(n, sizes[i], sizes[j]) for i, j in self.permitted(schema).pairs)
        return Fraction(max(total, 1)) / epsilon1

    def threshold(self, schema: Schema, n: int, epsilon1: Fraction) -> float:
        """The same noise scale for R = K / 2n²: what is taken off every noisy value."""
        return float(self.scale(schema, n, epsilon1)) / (2 * n**2)

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """Associations, then the search.

        **Privacy:** strict: one sketch of ε₁ over the pairs that the search may use (those with a sensitive attribute are dropped);
        every search on it is post-processing. Published: the associations are raw, one unaccounted access.
        """
        return self.run(curator, noise, epsilon1, epsilon2)[0]

    def run(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> tuple[StructureResult, SearchResult | None, np.ndarray]:
        """:meth:`learn`, with what the search found (None where it had nothing to do) and the weights (d, d) that it saw.

        **Privacy:** as :meth:`learn`; all that is returned follows from the release.
        """
        schema, n, permitted, strict = curator.schema, curator.n, self.permitted(curator.schema), curator.guarantee == "strict"
        k, cells = self.rule(schema, n, epsilon1, epsilon2, strict)
        if k == 0 or not permitted.pairs:
            return StructureResult(permitted.forced_network(schema.names)), None, np.zeros((len(schema), len(schema)))
        if strict and self.drowned(schema, n, epsilon1):
            self._warn(curator, epsilon1)
        values, entry = curator.noisy_associations(
            permitted.pairs, epsilon1, step="pairwise associations", source=PAIRS, raw_measure="I", reason=RAW_PAIRS
        )
        t = self.threshold(schema, n, epsilon1) if strict else 0.0
        weights = symmetric(len(schema), permitted.pairs, np.maximum(values - t, 0))  # blunts the optimiser's curse
        found = self._search(weights, k, permitted, noise)
        curator.note_post_processing(f"{self.search} search", (entry,), f"a network of at most {k} parents")
        order, parents = found.order, found.parents
        if cells is not None:
            parents = best_parents(order, weights, k, permitted, schema.sizes, cells)
        names = schema.names
        network = Network(tuple((names[c], tuple(names[p] for p in order if parents[c, p])) for c in order))
        strength = {names[c]: float(weights[c, parents[c]].sum()) for c in order}
        return StructureResult(network, epsilon1, strength, entry), found, weights

    def _search(self, weights: np.ndarray, k: int, permitted: Permitted, noise: Noise) -> SearchResult:
        if self.search == "exact":
            return exact_search(weights, k, permitted)
        generator = noise.child("search").generator()
        if self.search == "hill":
            return hill(weights, k, generator, permitted)
        return genetic(weights, k, generator, self.genes(), permitted)

    def rule(self, schema: Schema, n: int, epsilon1: Fraction, epsilon2: Fraction, strict: bool) -> tuple[int, Fraction | None]:
        """k, and under ``"auto"`` the largest number of cells of a table; 0 where no network is worth its noise. From public facts."""
        rule, cells = choose_degree(self.k, schema, n, epsilon2, positive("theta_usefulness", self.theta_usefulness)), None
        if rule is None or isinstance(rule, MaxParents):
            k = 0 if rule is None else rule.k
        else:
            cells = rule.cells
            fits = [m for m in range(1, len(schema)) if math.prod(sorted(schema.sizes)[: m + 1]) <= cells]
            k = min(max(fits), rule.most)
        if isinstance(self.k, str) and k:
            lost = strict and self.drowned(schema, n, epsilon1)
            k = 0 if lost else max(k, int(self.permitted(schema).forced.sum(axis=1).max()))
        return k, cells

    def drowned(self, schema: Schema, n: int, epsilon1: Fraction) -> bool:
        """Whether the largest of m noise values is expected above what strongly tied attributes reach."""
        return self.threshold(schema, n, epsilon1) * math.log(max(len(self.permitted(schema).pairs), math.e)) > STRONG

    def _warn(self, curator: Curator, epsilon1: Fraction) -> None:
        schema, n = curator.schema, curator.n
        t, pairs = self.threshold(schema, n, epsilon1), len(self.permitted(schema).pairs)
        words = (
            f"the sketch of {pairs} associations on n = {n:,} records at ε₁ = {float(epsilon1):.3g} has noise of scale {t:.2g}, "
            f"and strongly tied attributes have about {STRONG}: many edges will be chance. Choose a larger epsilon, or k='auto'"
        )
        curator.ledger.notes.append(words)
        warnings.warn(words, UserWarning, stacklevel=7)

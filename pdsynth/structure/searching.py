"""GeneticBayes' structure: one release of pairwise associations, then any search on it.

Hittmeir, Mayer, Ekelhart 2022, section III.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..domain.facts import Facts
from ..errors import BudgetError, is_one_of, show
from ..measures import sketch_noise
from ..network import Network
from ..privacy.curator import Curator, Pairs
from ..privacy.mechanisms import Noise
from ..privacy.numbers import positive
from .exact_search import MOST, best_parents, exact_search, hill
from .genetic import ROOM, Parameters, SearchResult, genetic
from .learner import Shares, Structure, StructureResult
from .limits import check_width
from .pairwise import symmetric_matrix
from .parent_rules import MaxCells, check_degree, check_tables, choose_rule
from .restrictions import Permitted, Restriction, check_restriction

SEARCHES = ("genetic", "exact", "hill")
STEP = "pairwise associations"
PAIRS = "GA paper (Hittmeir et al. 2022), section III, footnote 7"
STRONG = 0.25  # R of strongly tied attributes in the papers' tables: a public rule of thumb


@dataclass(frozen=True)
class GeneticSearch(Structure):
    """The network with the largest sum of pairwise associations that a ``search`` finds.

    ``search``: ``"genetic"`` with P, S, r (None: 1/d) and e, ``"exact"`` (at most 20 attributes to
    place) or ``"hill"``.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    restriction: Restriction | None = None
    search: str = "genetic"
    population: int = 200
    elite: int = 10
    rate: float | None = None
    generations: int = 400

    def check(self, facts: Facts) -> None:
        """Refuse impossible parameters and restrictions, and more attributes than fit a search."""
        self.parameters()
        if not is_one_of(self.search, SEARCHES):
            raise BudgetError(f"search must be one of {SEARCHES}, got {show(self.search)}")
        check_degree(self.k, facts.schema)
        positive("theta_usefulness", self.theta_usefulness)
        permitted = check_restriction(self.restriction, self.k, facts.schema)
        check_tables(permitted.forced_network(facts.schema.names), facts.schema)
        free, d = len(permitted.searchable), len(facts.schema)
        check_width(d, "a search on pairwise associations")
        if self.search == "exact" and free > MOST:
            raise BudgetError(
                f"{free} attributes to place, but search='exact' has room for "
                f"{MOST}: use 'hill' or 'genetic'"
            )
        if self.search == "genetic" and d > ROOM:
            raise BudgetError(
                f"{d} attributes, but the genetic search has room for {ROOM}: use search='hill'"
            )

    def asks(self, facts: Facts) -> Shares:
        """The sketch, where a network is worth its noise and a search has pairs to use."""
        learns = self.limits(facts)[0] > 0 and self.permitted(facts).pairs
        return {"associations": Fraction(1)} if learns else {}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Associations, then the search.

        **Privacy:** one sketch of ε₁ over the pairs that the search may use (those with a sensitive
        attribute are dropped); every search on it is post-processing.
        """
        names, permitted, (k, cells) = facts.schema.names, self.permitted(facts), self.limits(facts)
        d, known = len(names), tuple(names[j] for j in permitted.fixed_order[1:])
        limit = "" if cells is None else f", tables of at most {int(cells):,} cells"
        rule = f"k = {k}{limit}" if k else "independent"
        if k == 0 or not permitted.pairs:
            shown: Mapping[str, object] = {"search_": None, "weights_": np.zeros((d, d))}
            return StructureResult(
                permitted.forced_network(names), known=known, rule=rule, attributes=shown
            )
        if self.noise_dominates(facts):
            self._warn(curator, facts)
        values, entry = self.sketch(curator, permitted.pairs, shares["associations"])
        weights = symmetric_matrix(  # what noise alone would give is taken off every value
            d, permitted.pairs, np.maximum(values - self.threshold(facts), 0)
        )
        found = self._search(weights, k, permitted, curator.noise)
        curator.note_post_processing(
            f"{self.search} search", (entry,), f"a network of at most {k} parents"
        )
        order, parents = found.order, found.parents
        if cells is not None:
            parents = best_parents(order, weights, k, permitted, facts.schema.sizes, cells)
        network = Network(
            tuple((names[c], tuple(names[p] for p in order if parents[c, p])) for c in order)
        )
        strength = {names[c]: float(weights[c, parents[c]].sum()) for c in order}
        return StructureResult(
            network,
            strength,
            entry,
            known=known,
            rule=rule,
            attributes={"search_": found, "weights_": weights},
        )

    def sketch(self, curator: Curator, pairs: Pairs, epsilon: Fraction) -> tuple[np.ndarray, str]:
        """How strongly pairs of columns are tied, float (pairs,), and its ledger entry.

        **Privacy:** ``epsilon``.
        """
        return curator.noisy_associations(pairs, epsilon, step=STEP, source=PAIRS)

    def parameters(self) -> Parameters:
        """P, S, r and e, checked."""
        return Parameters(self.population, self.elite, self.rate, self.generations)

    def permitted(self, facts: Facts) -> Permitted:
        """The restriction over the columns of the schema."""
        return (self.restriction or Restriction()).on(facts.schema.names)

    def scale(self, facts: Facts) -> Fraction:
        """Noise scale of the sketch in records²."""
        epsilon1 = facts.epsilon - facts.epsilon2
        return sketch_noise(facts.n, facts.schema.sizes, self.permitted(facts).pairs, epsilon1)

    def threshold(self, facts: Facts) -> float:
        """The same noise scale for R = K / 2n²."""
        return float(self.scale(facts)) / (2 * facts.n**2)

    def limits(self, facts: Facts) -> tuple[int, Fraction | None]:
        """k, and under ``"auto"`` the largest number of cells; 0 where no network is worth it."""
        rule, cells = choose_rule(self.k, facts, positive("theta", self.theta_usefulness)), None
        k = getattr(rule, "k", 0)
        if isinstance(rule, MaxCells):
            sizes, cells = sorted(facts.schema.sizes), rule.cells
            k = max(m for m in range(1, len(sizes)) if math.prod(sizes[: m + 1]) <= cells)
            k = min(k, rule.most)
        if isinstance(self.k, str) and k:
            forced = int(self.permitted(facts).forced.sum(axis=1).max())
            k = 0 if self.noise_dominates(facts) else max(k, forced)
        return k, cells

    def noise_dominates(self, facts: Facts) -> bool:
        """Whether the largest of m noise values is expected above what strong ties reach."""
        pairs = max(len(self.permitted(facts).pairs), math.e)
        return self.threshold(facts) * math.log(pairs) > STRONG

    def _search(
        self, weights: np.ndarray, k: int, permitted: Permitted, noise: Noise
    ) -> SearchResult:
        if self.search == "exact":
            return exact_search(weights, k, permitted)
        generator = noise.child("search").generator()
        if self.search == "hill":
            return hill(weights, k, generator, permitted)
        return genetic(weights, k, generator, self.parameters(), permitted)

    def _warn(self, curator: Curator, facts: Facts) -> None:
        pairs, epsilon1 = len(self.permitted(facts).pairs), float(facts.epsilon - facts.epsilon2)
        words = (
            f"the sketch of {pairs} associations on n = {facts.n:,} records at ε₁ = {epsilon1:.3g} "
            f"has noise of scale {self.threshold(facts):.2g}, and strongly tied attributes have "
            f"about {STRONG}: many edges will be chance. Choose a larger epsilon, or k='auto'"
        )
        curator.ledger.notes.append(words)
        warnings.warn(words, UserWarning, stacklevel=7)

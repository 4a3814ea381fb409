"""GeneticBayes (Hittmeir, Mayer, Ekelhart 2022): a network searched for on pairwise associations.

Here is what the network costs: the sketch of associations, and policy. The searches themselves, of
which none sees a record, stand side by side in ``baselines``: the paper's genetic algorithm, the
optimum, and climbs in the space of orders.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..core.agreement import AgreeByDefault
from ..core.budgets import Parts, Uniform
from ..core.curator import Curator, Pairs
from ..core.errors import BudgetError, check_word, door, positive, tell, to_names
from ..core.network import Permitted, Restriction
from ..core.noise import Noise
from ..core.recipe import Recipe
from ..core.schema import Facts
from ..core.structure import (
    MaxCells,
    Restricted,
    Shares,
    StructureResult,
    check_degree,
    check_width,
    parent_rule,
)
from .ppba import sketch_ties, symmetric_matrix

STRONG = 0.25  # R of strongly tied attributes in the papers' tables: a public rule of thumb
SEARCHES = ("genetic", "exact", "hill")
SEARCH_STEP = "pairwise associations"
PAIRS = "GA paper (Hittmeir et al. 2022), section III, footnote 7"
TABLES = "GA paper, section II (DataSynthesizer's tables)"


@dataclass(frozen=True)
class GeneticSearch(Restricted):
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

    split: ClassVar[Shares] = {"columns": Fraction(1, 3), "associations": Fraction(2, 3)}

    def check(self, facts: Facts) -> None:
        """Refuse impossible parameters and restrictions, and more attributes than fit a search."""
        self.parameters()
        check_word("search", self.search, SEARCHES)
        check_degree(self.k, facts.schema)
        super().check(facts)
        check_width(len(facts.schema), "a search on pairwise associations")
        door("baselines").check_room(
            self.search, len(facts.schema), len(self.permitted(facts).searchable)
        )

    def asks(self, facts: Facts) -> Shares:
        """Columns and sketch, where a network is worth its noise and a search has pairs to use."""
        return self.split if self.limits(facts)[0] > 0 and self.permitted(facts).pairs else {}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Associations, then the search.

        **Privacy:** noisy columns and one sketch for ε₁, over the pairs that the search may use
        (those with a sensitive attribute are dropped); every search on it is post-processing.
        """
        names, permitted, (k, cells) = facts.schema.names, self.permitted(facts), self.limits(facts)
        d, limit = len(names), "" if cells is None else f", tables of at most {int(cells):,} cells"
        rule = f"k = {k}{limit}" if k else "independent"
        if k == 0 or not permitted.pairs:
            shown = {"search_": None, "weights_": np.zeros((d, d))}
            return replace(self.policy_alone(facts, rule), attributes=shown)
        if self.noise_dominates(facts):
            self._warn(curator, facts)
        values, entry = self.sketch(curator, permitted.pairs, shares)
        weights = symmetric_matrix(  # what noise alone would give is taken off every value
            d, permitted.pairs, np.maximum(values - self.threshold(facts), 0)
        )
        searches, result = door("baselines"), self._search(weights, k, permitted, curator.noise)
        curator.note_post_processing(
            f"{self.search} search", (entry,), f"a network of at most {k} parents"
        )
        order, parents, sizes = result.order, result.parents, facts.schema.sizes
        if cells is not None:
            parents = searches.best_parents(order, weights, k, permitted, sizes, cells)
        strength = {names[c]: float(weights[c, parents[c]].sum()) for c in order}
        return StructureResult(
            searches.network_of(order, parents, names),
            strength,
            entry,
            known=self.known(facts),
            rule=rule,
            attributes={"search_": result, "weights_": weights},
        )

    def sketch(self, curator: Curator, pairs: Pairs, shares: Shares) -> tuple[np.ndarray, str]:
        """How strongly pairs of columns are tied, float (pairs,), and its ledger entry.

        A budget rule that needs columns has added its share to that of columns: it needs all.

        **Privacy:** the shares of columns and associations.
        """
        own = shares["associations"] * self.split["columns"] / self.split["associations"]
        return sketch_ties(
            curator, pairs, shares, SEARCH_STEP, PAIRS, alone=shares["columns"] == own
        )

    def parameters(self) -> Any:
        """P, S, r and e, checked."""
        return door("baselines").Parameters(
            self.population, self.elite, self.rate, self.generations
        )

    def threshold(self, facts: Facts) -> float:
        """The noise scale of the sketch, for R = Q / 2n."""
        epsilon1 = (facts.epsilon - facts.epsilon2) * self.split["associations"]
        pairs = len(self.permitted(facts).pairs)
        return float(facts.unit.scale(epsilon1, tables=pairs)) / (2 * facts.n)

    def limits(self, facts: Facts) -> tuple[int, Fraction | None]:
        """k, and under ``"auto"`` the largest number of cells; 0 where no network is worth it."""
        rule, cells = parent_rule(self.k, facts, positive("theta", self.theta_usefulness)), None
        k = getattr(rule, "k", 0)
        if isinstance(rule, MaxCells):
            sizes, cells = sorted(facts.schema.sizes), rule.cells
            parents = range(1, min(len(sizes), rule.most + 1))
            k = max(m for m in parents if math.prod(sizes[: m + 1]) <= cells)
        if isinstance(self.k, str) and k:
            forced = int(self.permitted(facts).forced.sum(axis=1).max())
            k = 0 if self.noise_dominates(facts) else max(k, forced)
        return k, cells

    def noise_dominates(self, facts: Facts) -> bool:
        """Whether the largest of m noise values is expected above what strong ties reach."""
        pairs = max(len(self.permitted(facts).pairs), math.e)
        return self.threshold(facts) * math.log(pairs) > STRONG

    def _search(self, weights: np.ndarray, k: int, permitted: Permitted, noise: Noise) -> Any:
        """The search's result; **Privacy:** reads a released sketch, and costs nothing."""
        searches = door("baselines")
        if self.search == "exact":
            return searches.exact_search(weights, k, permitted)
        generator = noise.child("search").generator()
        if self.search == "hill":
            return searches.hill(weights, k, generator, permitted)
        return searches.genetic_search(weights, k, generator, self.parameters(), permitted)

    def _warn(self, curator: Curator, facts: Facts) -> None:
        pairs, epsilon1 = len(self.permitted(facts).pairs), float(facts.epsilon - facts.epsilon2)
        words = (
            f"the sketch of {pairs} associations on n = {facts.n:,} records at ε₁ = {epsilon1:.3g} "
            f"has noise of scale {self.threshold(facts):.2g}, and strongly tied attributes have "
            f"about {STRONG}: many edges will be chance. Choose a larger epsilon, or k='auto'"
        )
        curator.ledger.notes.append(words)
        tell(words)


@dataclass(eq=False, repr=False, kw_only=True)
class GeneticBayes(Recipe):
    """The network that a genetic algorithm finds for pairwise associations, and custom networks.

    Parameters
    ----------
    epsilon, k, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    population, elite, r, generations : P, S, r (None: 1/d) and e of the paper; its defaults (e: 400
        as for CMC and Adult).
    target, sensitive : the custom network of section IV: the target is the root, each sensitive
        attribute (one name or several) has it as its only parent and is nobody's parent. What goes
        with a sensitive attribute tells it, too: name both.
        ``restriction`` says the same, and forced or forbidden edges; give one of the two.
    search : ``"genetic"``, ``"exact"`` (the optimum of the same objective, at most 20 attributes to
        place) or ``"hill"``.
    share_structure : β, share of ε for single columns and associations, as 1 : 2.
    reconcile : ``Agree()`` where None; ``AsMeasured()`` leaves tables as they were measured.

    Attributes
    ----------
    search_ : :class:`~pdsynth.baselines.SearchResult`, None where there was nothing to search.
    weights_ : float (d, d), the associations that the search saw.

    **Privacy:** strict: pure ε-DP under replacing one record: noisy columns and a sketch of R (βε;
    none of a sensitive attribute), any search as post-processing, and d noisy tables. A sensitive
    attribute's loss, (1−β)ε/d (ε/d without a network), is known before the run.
    """

    k: int | str = "auto"
    population: int = 200
    elite: int = 10
    r: float | None = None
    generations: int = 400
    target: str | None = None
    sensitive: str | Sequence[str] = ()
    restriction: Restriction | None = None
    search: str = "genetic"
    share_structure: float = 0.3
    theta_usefulness: float = 4

    def _parts(self, facts: Facts) -> Parts:
        policy = self.restriction
        if policy is None:
            policy = Restriction(self.target, self.sensitive)  # type: ignore[arg-type]
        elif self.target is not None or to_names("sensitive", self.sensitive):
            raise BudgetError("give either target= and sensitive=, or restriction=, not both")
        parameters = self.population, self.elite, self.r, self.generations
        structure = GeneticSearch(self.k, self.theta_usefulness, policy, self.search, *parameters)
        return Parts(structure, Uniform(TABLES), reconcile=AgreeByDefault())

"""GeneticBayes: genetic structure search and custom networks (Hittmeir, Mayer, Ekelhart, IEEE Big Data 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

from ..budgets import TableBudget, share, uniform
from ..conditionals import Table, noisy_tables
from ..domain.schema import Schema
from ..errors import BudgetError
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.mechanisms import Noise
from ..structure import Restriction
from .base import Synthesizer, check_noise
from .searching import GeneticSearch

TOOL = "EnhancedDataSynthesizer, lib/PrivBayes.py, laplace_noise_parameter"


@dataclass(eq=False, repr=False)
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
    share_structure : share of ε for the associations under strict.
    theta_usefulness : θ of ``k="auto"``: a table's mean cell must be at least this many times its noise scale.
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
    attribute stands in one table only, so its own loss, (1−β)ε/d (ε/d where no network is learnt), is known before the run.
    Published: the pairwise information is raw, no finite ε holds. None: everything is raw, as in the paper's experiments.
    """

    epsilon: float = 1.0
    _: KW_ONLY
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
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _check_parameters(self) -> Fraction:
        share("share_structure", self.share_structure)
        self._search().genes()
        return super()._check_parameters()

    def _search(self) -> GeneticSearch:
        if self.restriction is not None and (self.target is not None or self.sensitive):
            raise BudgetError("give either target= and sensitive=, or restriction=, not both")
        policy = self.restriction if self.restriction is not None else Restriction(self.target, self.sensitive)  # type: ignore[arg-type]
        return GeneticSearch(self.k, self.theta_usefulness, policy, self.search, self.population, self.elite, self.r, self.generations)

    def _check_schema(self, schema: Schema, n: int) -> None:
        part = self._search()
        part.check(schema)
        if self.guarantee != "none":
            epsilon, beta = as_fraction(self.epsilon), as_fraction(self.share_structure)
            check_noise(self.epsilon, n, max(Fraction(2 * len(schema)) / (epsilon * (1 - beta)), part.scale(schema, n, epsilon * beta)))

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[Table, ...]]:
        part, epsilon1 = self._search(), epsilon * as_fraction(self.share_structure)
        learnt, self.search_, self.weights_ = part.run(curator, noise, epsilon1, epsilon - epsilon1)
        network, policy = learnt.network, part.permitted(curator.schema).fixed_order[1:]
        k, cells = part.rule(curator.schema, curator.n, epsilon1, epsilon - epsilon1, self.guarantee == "strict")
        self.degree_rule_ = "independent" if k == 0 else f"k = {k}" + ("" if cells is None else f", tables of at most {int(cells):,} cells")
        curator.ledger.guaranteed_ex_ante = tuple(curator.schema.names[j] for j in policy)
        return network, noisy_tables(curator, network, self._budgets(network, epsilon, epsilon - learnt.spent))

    def _budgets(self, network: Network, epsilon: Fraction, epsilon2: Fraction) -> dict[str, TableBudget]:
        """Strict: 2d/ε₂ a table. Published: the tool's (d−k_i)/(ε/2) for a table of k_i parents."""
        d = len(network)
        if self.guarantee != "published":
            return dict.fromkeys(network.order, uniform(d, epsilon2, source="GA paper, section II (DataSynthesizer's tables)"))
        return {c: TableBudget(Fraction(2 * (d - len(p))) / epsilon, epsilon / (2 * d), source=TOOL) for c, p in network.pairs}

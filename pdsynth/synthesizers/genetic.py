"""GeneticBayes: genetic search and custom networks (Hittmeir, Mayer, Ekelhart, Big Data 2022)."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..budgets import Uniform
from ..domain.facts import Facts
from ..errors import BudgetError, to_names
from ..structure.restrictions import Restriction
from ..structure.searching import GeneticSearch
from .recipe import Parts, Recipe

TABLES = "GA paper, section II (DataSynthesizer's tables)"


@dataclass(eq=False, repr=False, kw_only=True)
class GeneticBayes(Recipe):
    """The network that a genetic algorithm finds for pairwise associations, and custom networks.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in PrivBayes.
    k : largest number of parents; ``"auto"`` chooses from public facts (n, domains, ε), and then no
        table outgrows its noise.
    population, elite, r, generations : P, S, r (None: 1/d) and e of the paper; its defaults (e: 400
        as for CMC and Adult).
    target, sensitive : the custom network of section IV: the target is the root, each sensitive
        attribute (one name or several) has it as its only parent and is nobody's parent. What goes
        with a sensitive attribute tells it, too: name both.
        ``restriction`` says the same, and forced or forbidden edges; give one of the two.
    search : ``"genetic"``, ``"exact"`` (the optimum of the same objective, at most 20 attributes to
        place) or ``"hill"``.
    share_structure : β, share of ε for the associations.
    theta_usefulness : θ of ``k="auto"``: a table's mean cell must be at least this many times its
        noise scale.

    Attributes
    ----------
    search_ : :class:`~pdsynth.structure.SearchResult`, None where there was nothing to search.
    weights_ : float (d, d), the associations that the search saw.

    Ambiguities and how they are resolved (`algorithms` §5.2)
    ---------------------------------------------------------
    1. Fitness counts valid parents only, so an early attribute loses score, as in the paper. 2. The
       i' of a crossover may be i. 3. Line 7 of Initialization doesn't exclude f_j itself: excluded.
       4. One generator for everything (the public code seeds after its first population). 5. Edges
       of weight 0 are left out: they add nothing to the fitness and only noise to a table. 6. The
       public code turns the first k+1 attributes into a complete graph and loses C; the paper
       doesn't, nor do we.

    **Privacy:** strict: pure ε-DP under replacing one record: a sketch of R over the pairs that the
    search may use (βε; those with a sensitive attribute are dropped), any search on it as
    post-processing, and d tables of discrete Laplace noise. A sensitive attribute stands in one
    table only, so its own loss, (1−β)ε/d (ε/d where no network is learnt), is known before the run.
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
        structure = GeneticSearch(
            self.k,
            self.theta_usefulness,
            policy,
            self.search,
            self.population,
            self.elite,
            self.r,
            self.generations,
        )
        return Parts(structure, Uniform(TABLES))

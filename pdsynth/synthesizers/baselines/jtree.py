"""JTree: noisy tables of the cliques of a junction tree (Chen, Xiao, Zhang, Xu, KDD 2015)."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...consistency import clip_and_scale, integer_weights, make_consistent, margin
from ...domain.facts import Facts
from ...errors import BudgetError, show
from ...measures import GRID
from ...network import Network
from ...privacy.curator import Curator
from ...privacy.numbers import number, positive
from ...reconcile import Agree
from ...structure import MaxCells
from ...structure.junction import Edge, strongest_graph
from ...structure.learner import Fixed, Measurement, Shares
from ...structure.limits import check_width
from ...structure.parent_rules import AUTO_CELLS
from ..base import Parts, Recipe

GRAPH = "dependency graph"
SVT = ("JTree's sparse vector test, from literature: Algorithm 6 in Lyu, Su, Li (VLDB 2017), "
       "lines 4–5")
WHY = ("the number of positives has no bound, so no ε covers any number of pairs (∞-DP); composing "
       "the {0} tests of this run one by one would give {0}/2 times the claim")


@dataclass(eq=False, repr=False, kw_only=True)
class JTree(Recipe):
    """JTree: one noisy table per clique of a dependency graph, made to agree on what they share.

    From literature, reconstruction where the description at hand is silent (`algorithms` §8.2).

    Parameters
    ----------
    share_structure : share of ε for the graph, ε₁ = βε.
    phi : smallest dependence worth an edge, as Cramér's V in [0, 1]: an edge where
        I(A_i, A_j) ≥ θ_ij = ½ min(|A_i|−1, |A_j|−1) φ² nats.
    theta_tvd : threshold of R instead, in [0, 1]; None: ``0.752·sqrt(θ_ij / 2)`` (Pinsker's cap on
        R, scaled as in HPPrivBayes).
    theta_usefulness : θ of TODS; no clique gets more than n ε₂ / (2 d θ) cells.
    epsilon, guarantee, noise, random_state : as in PrivBayes.

    Ambiguities and how they are resolved
    -------------------------------------
    1. The bound on cells is public: d, not the number of cliques C ≤ d, stands in it. Edges enter
       from the strongest down and one that would make a larger clique is dropped (published has no
       strengths: pairs with fewer joint cells come first). Pairs too large for any clique aren't
       asked for; when no pair is left, nothing is spent on the graph.
    2. What the paper does to save budget is left out: merging cliques into groups, and sampling the
       records before the tests.
    3. Tables move to averages on separators and their intersections, weighted by precision; then
       they are clipped and normalised to n.
    4. The released model is a network: the root clique, then each clique given its separator,
       weights in units of 2^-20 record.

    Attributes
    ----------
    edges_ : pairs of names. ``tree_``: the junction tree over columns. ``cell_bound_``: public.

    **Privacy:** strict: pure ε-DP under replacing one record: a discrete Laplace sketch of R (ε₁),
    C clique tables of scale 2C/ε₂, sequentially; all else is post-processing. Published: the edges
    come from a sparse vector test that claims ε₁ but has no bound on its positives, so the ledger
    shows it as unaccounted. None: raw R, raw tables.

    >>> JTree(epsilon=0.5, phi=0.1)
    JTree(epsilon=0.5, phi=0.1, guarantee='strict')
    """

    share_structure: float = 0.5
    phi: float = 0.2
    theta_tvd: float | None = None
    theta_usefulness: float = 4

    def _check(self, facts: Facts) -> None:
        check_width(len(facts.schema), "JTree")
        positive("theta_usefulness", self.theta_usefulness)
        tvd = 0 if self.theta_tvd is None else self.theta_tvd
        for name, value in (("phi", self.phi), ("theta_tvd", tvd)):
            if not 0 <= number(name, value) <= 1:
                raise BudgetError(f"{name} must lie in [0, 1], got {show(value)}")

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Fixed())  # cliques in place of pairs: see _recipe

    def _split(self, facts: Facts) -> dict[str, Fraction]:
        return {"graph": facts.epsilon - facts.epsilon2, "cliques": facts.epsilon2}

    def _largest_scale(self, facts: Facts) -> Fraction:
        d, shares = len(facts.schema), self._split(facts)
        moved = 3 * facts.n * d * d if facts.guarantee == "strict" else 4 * GRID  # Δ of I: < 2 bits
        return max(moved / shares["graph"], 2 * d / shares["cliques"])

    def _recipe(self, curator: Curator, facts: Facts, shares: Shares
                ) -> tuple[Network, tuple[np.ndarray, ...]]:
        names, sizes = facts.schema.names, facts.schema.sizes
        theta = positive("theta_usefulness", self.theta_usefulness)
        useful = MaxCells.of(facts.n, len(sizes), shares["cliques"], theta)
        bound = min(useful.cells, Fraction(AUTO_CELLS))
        pairs = [(i, j) for i, j in itertools.combinations(range(len(sizes)), 2)
                 if sizes[i] * sizes[j] <= bound]
        ranked = self._ranked(curator, pairs, shares["graph"]) if pairs else []
        edges, self.tree_ = strongest_graph(sizes, ranked, float(bound))
        self.cell_bound_ = math.floor(bound)
        self.edges_ = tuple((names[i], names[j]) for i, j in edges)
        return self._release(curator, shares["cliques"] if pairs else facts.epsilon, facts)

    def _ranked(self, curator: Curator, pairs: list[Edge], epsilon: Fraction) -> list[Edge]:
        """Pairs that pass the test, strongest first."""
        sizes = curator.schema.sizes
        phi = float(number("phi", self.phi))
        nats = np.array([min(sizes[i], sizes[j]) - 1 for i, j in pairs]) * phi**2 / 2
        if self.guarantee == "published":
            passed = curator.sparse_vector_test(pairs, (nats / math.log(2)).tolist(), epsilon,
                                                step=GRAPH, source=SVT, why=WHY.format(len(pairs)))
            return sorted(itertools.compress(pairs, passed),
                          key=lambda pair: sizes[pair[0]] * sizes[pair[1]])
        strength, _ = curator.noisy_associations(
            pairs, epsilon, step=GRAPH, source="JTree, step 1, on R (`algorithms` §8.2)")
        least = 0.752 * np.sqrt(nats / 2)
        if self.theta_tvd is not None:
            least[:] = float(number("theta_tvd", self.theta_tvd))
        return [pairs[i] for i in np.argsort(-strength, kind="stable") if strength[i] >= least[i]]

    def _release(self, curator: Curator, epsilon: Fraction, facts: Facts
                 ) -> tuple[Network, tuple[np.ndarray, ...]]:
        """The clique tables as a network over the attributes."""
        names, cliques, n = curator.schema.names, self.tree_.cliques, curator.n
        each = epsilon / len(cliques)
        curator.expect(cliques)
        noisy = [curator.table(c, 2 / each, step=f"table({', '.join(names[j] for j in c)})",
                               source="JTree, step 3: clique tables", claimed=each)
                 for c in cliques]
        families = list(self.tree_.families())
        network = Network.of_columns([family[:2] for family in families], names)
        if isinstance(self.reconcile, Agree):
            found = [Measurement(tuple(names[j] for j in c), t, 2 / each)
                     for c, t in zip(cliques, noisy, strict=True)]
            return network, self.reconcile.reconcile(found, network, facts)
        tables = [clip_and_scale(t, n) for t in make_consistent(noisy, cliques, n)]
        return network, tuple(integer_weights(margin(tables[at], cliques[at], (child, *parents)))
                              for child, parents, at in families)

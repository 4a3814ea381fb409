"""JTree: noisy tables of the cliques of a junction tree (Chen, Xiao, Zhang, Xu, KDD 2015)."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..core.agreement import AgreeInPairs
from ..core.budgets import Parts
from ..core.curator import Curator
from ..core.errors import BudgetError, number, positive, show
from ..core.factors import Edge, strongest_graph
from ..core.network import Network
from ..core.noise import TableBudget
from ..core.recipe import Recipe
from ..core.schema import Facts
from ..core.structure import (
    AUTO_CELLS,
    MaxCells,
    Measurement,
    Shares,
    Structure,
    StructureResult,
    check_width,
)

GRAPH = "dependency graph"


@dataclass(frozen=True)
class CliqueTables(Structure):
    """A dependency graph within bounds on its cliques, and a noisy table of each: see JTree."""

    phi: float
    theta_usefulness: float

    measures: ClassVar[bool] = True

    def check(self, facts: Facts) -> None:
        """Refuse thresholds out of range, and more attributes than can be compared."""
        check_width(len(facts.schema), "JTree")
        positive("theta_usefulness", self.theta_usefulness)
        if not 0 <= number("phi", self.phi) <= 1:
            raise BudgetError(f"phi must lie in [0, 1], got {show(self.phi)}")

    def asks(self, facts: Facts) -> Shares:
        """The graph, where a pair fits into a clique, and the cliques."""
        cliques = facts.epsilon2 / facts.epsilon if self.fitting(facts)[1] else Fraction(1)
        return {"graph": 1 - cliques, "cliques": cliques}

    def fitting(self, facts: Facts) -> tuple[Fraction, list[Edge]]:
        """The most cells that a clique may have, and the pairs that fit into one."""
        theta, sizes = positive("theta_usefulness", self.theta_usefulness), facts.schema.sizes
        useful = MaxCells.of(facts.n, len(sizes), facts.epsilon2, theta)
        bound = min(useful.cells, Fraction(AUTO_CELLS))
        return bound, [
            (i, j)
            for i, j in itertools.combinations(range(len(sizes)), 2)
            if sizes[i] * sizes[j] <= bound
        ]

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """The graph, its junction tree, and the tables of the cliques.

        **Privacy:** the graph's share and the cliques' share.
        """
        names, sizes, (bound, pairs) = facts.schema.names, facts.schema.sizes, self.fitting(facts)
        ranked = self.rank(curator, pairs, shares["graph"], facts) if pairs else []
        edges, tree = strongest_graph(sizes, ranked, float(bound))
        each = shares["cliques"] / len(tree.cliques)
        budget = TableBudget(each, source="JTree, step 3: clique tables")
        members = [tuple(names[j] for j in clique) for clique in tree.cliques]
        answers = curator.tables(
            (clique, budget, f"table({', '.join(named)})")
            for clique, named in zip(tree.cliques, members, strict=True)
        )
        found = [Measurement(m, *answer) for m, answer in zip(members, answers, strict=True)]
        network = Network.of_columns([family[:2] for family in tree.families()], names)
        shown = {
            "edges_": tuple((names[i], names[j]) for i, j in edges),
            "tree_": tree,
            "cell_bound_": math.floor(bound),
        }
        return StructureResult(
            network,
            rule=f"cliques of at most {math.floor(bound):,} cells",
            attributes=shown,
            measurements=tuple(found),
        )

    def rank(
        self, curator: Curator, pairs: list[Edge], epsilon: Fraction, facts: Facts
    ) -> list[Edge]:
        """Pairs that pass the test, strongest first.

        **Privacy:** a sketch of R for ε.
        """
        strength, _ = curator.noisy_associations(
            pairs, epsilon, step=GRAPH, source="JTree, step 1, on R (`algorithms` §8.2)"
        )
        least = 0.752 * np.sqrt(self.thresholds(pairs, facts) / 2)
        return [pairs[i] for i in np.argsort(-strength, kind="stable") if strength[i] >= least[i]]

    def thresholds(self, pairs: list[Edge], facts: Facts) -> np.ndarray:
        """θ_ij of each pair, the least mutual information of an edge: float (pairs,), in nats."""
        sizes, phi = facts.schema.sizes, float(number("phi", self.phi))
        return np.array([min(sizes[i], sizes[j]) - 1 for i, j in pairs]) * phi**2 / 2


@dataclass(eq=False, repr=False, kw_only=True)
class JTree(Recipe):
    """JTree: one noisy table per clique of a dependency graph, made to agree on what they share.

    From literature, reconstruction where the description at hand is silent (`algorithms` §8.2).

    Parameters
    ----------
    share_structure : share of ε for the graph, ε₁ = βε.
    phi : smallest dependence worth an edge, as Cramér's V in [0, 1]: an edge where
        I(A_i, A_j) ≥ θ_ij = ½ min(|A_i|−1, |A_j|−1) φ² nats. Strict compares R with
        ``0.752·sqrt(θ_ij / 2)`` (Pinsker's cap on R, scaled as in HPPrivBayes).
    theta_usefulness : θ of TODS; no clique gets more than n ε₂ / (2 d θ) cells.
    reading : ``"attributes"``; ``"bits"``, which strict refuses: cliques of the binary encoding.
    epsilon, guarantee, noise, random_state : as in PrivBayes.

    The bound on cells is public: d, not the number of cliques C ≤ d, stands in it. Edges enter from
    the strongest down; one that would make a larger clique is dropped, and pairs too large for any
    clique aren't asked for. What the paper does to save budget is left out: merging cliques into
    groups, and sampling the records before the tests. Tables move to averages on what they share,
    weighted by precision, and are clipped and normalised to n. The model is a network: the root
    clique, then each clique given its separator.

    Attributes
    ----------
    edges_ : pairs of names. ``tree_``: the junction tree over columns. ``cell_bound_``: public.

    **Privacy:** strict: pure ε-DP under replacing one record: a discrete Laplace sketch of R (ε₁),
    C clique tables of scale 2C/ε₂, sequentially; all else is post-processing.
    """

    share_structure: float = 0.5
    phi: float = 0.2
    theta_usefulness: float = 4
    reading: str = "attributes"

    readings: ClassVar[tuple[str, ...]] = ("attributes", "bits")

    def _parts(self, facts: Facts) -> Parts:
        return Parts(CliqueTables(self.phi, self.theta_usefulness), reconcile=AgreeInPairs())

"""Baselines: papers that only combine parts, JTree (Chen, Xiao, Zhang, Xu, KDD 2015), and PrivSCBN,
and what each truly costs.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..algorithms import (
    SDG,
    AttributeClusters,
    Clustered,
    Geometric,
    Greedy,
    Groups,
    Ordered,
    Preset,
    SensitivityGroups,
    abn_strict,
    count_selections,
)
from ..core import (
    AUTO_CELLS,
    AgreeByDefault,
    BinaryEncoding,
    BudgetError,
    Curator,
    Edge,
    Facts,
    Fixed,
    JunctionTree,
    MaxCells,
    Measurement,
    Network,
    Pair,
    Parts,
    Recipe,
    Shares,
    Structure,
    StructureResult,
    TableBudget,
    Uniform,
    check_width,
    eliminate,
    junction_tree,
    measure_joint_counts,
    number,
    positive,
    show,
    uniform,
)
from .pairs import AgreeInPairs
from .sums import PairwiseSums

NOTE = "PrivSCBN is a reconstruction: its authors' text beyond the abstract was not available"
GRAPH = "dependency graph"


@dataclass(eq=False, repr=False, kw_only=True)
class Independent(Recipe):
    """Attributes drawn independently, each from its own noisy histogram: the floor to beat.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in every synthesizer.

    **Privacy:** strict: pure ε-DP under replacing one record: d histograms with noise of
    scale 2d/ε, sequentially, of sum 0 up to 32 values and else discrete Laplace; under adding or
    removing one: a count of scale 20/ε and histograms of scale 20d/19ε.
    """

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Fixed(), Uniform("one-way Laplace histograms (Dwork et al. 2006)"))


@dataclass(eq=False, repr=False, kw_only=True)
class CSAPrivBayes(Preset):
    """CSAPrivBayes, a reconstruction (Chen 2021): PrivBayes with two groups of their own budgets.

    The root is the attribute with the largest domain; HPPrivBayes without its order and its value
    weights.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    sensitive, theta, r, personal : as in HPPrivBayes, but all values of an attribute get the same
        noise, unless policy weighs them; groups by policy cost nothing.
    share_sketch : share of the tables' ε for single columns and associations where groups aren't
        policy (strict).

    Attributes
    ----------
    groups_, association_, weights_, table_epsilon_ : as in HPPrivBayes.

    **Privacy:** strict: pure ε-DP under replacing one record: d−1 exponential mechanisms; unless
    the groups are policy, d noisy columns and d−1 noisy associations; d noisy tables.
    """

    sensitive: str | None = None
    theta: float = 0.1
    r: float = 1 / 3
    personal: SensitivityGroups | None = None
    share_sketch: float = 0.2
    same: ClassVar[SensitivityGroups] = SensitivityGroups(rare_values="same_noise")

    def _parts(self, facts: Facts) -> Parts:
        personal = self.same if self.personal is None else self.personal
        if isinstance(personal, SensitivityGroups):
            personal = replace(personal, rare_values="same_noise")
        reconcile = AgreeByDefault()
        groups = Groups(self.sensitive, self.theta, self.r, personal, self.share_sketch)
        return Parts(
            Greedy(self.k, self.theta_usefulness, root="largest"), groups, reconcile=reconcile
        )


@dataclass(eq=False, repr=False, kw_only=True)
class ELPrivBayes(Preset):
    """ELPrivBayes (Lu 2023/24): one matrix of mutual information gives order and parent sets.

    The score of a parent set is the sum over its pairs. Where the abstract is silent the formulas
    are those of public code (label: reconstruction). Parameters as in PrivBayes.

    **Privacy:** strict: pure ε-DP under replacing one record: one noisy sketch of all pairs (βε),
    everything else about the structure is post-processing; d noisy tables.
    """

    def _parts(self, facts: Facts) -> Parts:
        return Parts(PairwiseSums(self.k, self.theta_usefulness), Uniform())


@dataclass(eq=False, repr=False, kw_only=True)
class SAPrivBayes(Preset):
    """SA-PrivBayes (Future Internet 18(2) 103): ELPrivBayes' best candidate sets, budgets by class.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    q : budget of a class of tables against the class ranked before it; ranked by the score that
        chose them, three classes of ⌈d/3⌉ tables. The last may have fewer, which then have more
        each: with 7 tables and q = 0.9 that of the least score has 2.4 times that of the largest.
    keep : share of the candidate sets that stay before a selection. Strict takes the best set of
        the noisy sketch for free, where a filter changes nothing.

    **Privacy:** strict: pure ε-DP under replacing one record, as ELPrivBayes; classes come from the
    noisy sketch.
    """

    q: float = 1.1
    keep: float = 2 / 3

    def _parts(self, facts: Facts) -> Parts:
        sums = PairwiseSums(self.k, self.theta_usefulness, keep=self.keep)
        return Parts(sums, Geometric(q=self.q, classes=3))


@dataclass(eq=False, repr=False, kw_only=True)
class WeightedPrivBayes(Preset):
    """Weighted PrivBayes, a reconstruction (Wang 2016): attributes enter by weight, their entropy.

    Parameters
    ----------
    epsilon, k, share_structure, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    share_sketch : share of the structure's ε for the histograms that the weights come from
        (strict).

    Attributes
    ----------
    order_, average_association_ : the attributes in their order, and the entropies that made it.

    **Privacy:** strict: pure ε-DP under replacing one record: d noisy histograms, an exponential
    mechanism for each attribute that has a choice of parents, noisy tables.
    """

    share_sketch: float = 0.15

    def _parts(self, facts: Facts) -> Parts:
        ordered = Ordered(
            self.k, self.theta_usefulness, by="entropy", share_sketch=self.share_sketch
        )
        return Parts(ordered, Uniform())


class ABNInClusters(AttributeClusters):
    """Nested selections in all clusters of attributes, joint counts of all bits."""

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Columns, clusters, networks, tables.

        **Privacy:** the columns' and the sketch's share; selections, with what STOP leaves over,
        and tables cost the rest.
        """
        curator.ledger.notes.append(NOTE)
        encoding, bits = BinaryEncoding(facts.schema), curator.binary()
        plan, d = self.cluster(curator, encoding, shares), len(encoding.schema)
        total = sum(count_selections(len(cluster), self.most) for cluster in plan.clusters)
        epsilon2 = shares["share_structure"] if total else Fraction(0)
        epsilon3 = facts.epsilon - shares["share_histograms"] - plan.spent - epsilon2
        each = epsilon2 / max(total, 1)
        pairs, used = list[Pair](), 0
        for i, cluster in enumerate(plan.clusters, 1):
            part, selections = abn_strict(
                bits,
                each,
                most=self.most,
                tables=d,
                epsilon2=epsilon3,
                columns=cluster,
                label=f" in C{i}",
            )
            pairs, used = pairs + part, used + selections
        curator.charge_unused(
            each * (total - used), "selections that STOP left over", "algorithms §6.4"
        )
        network = Network.of_columns(pairs, encoding.schema.names)
        budget = uniform(d, epsilon3, source=f"{SDG}, on joint counts")
        tables = measure_joint_counts(bits, network, dict.fromkeys(network.order, budget))
        return self.result(bits.schema, plan, pairs, tables)


@dataclass(eq=False, repr=False, kw_only=True)
class PrivSCBN(Clustered):
    """PrivSCBN, reconstructed from its abstract: the pipeline of HMPrivBayes with PrivABN's parts.

    What the abstract says: differentially private spectral clustering of binary attributes by
    Jaccard distance, a fast network with a capped in-degree by the exponential mechanism in each
    cluster, noise on conditional distributions. What is filled in: budgets ε₁, ε₂, ε₃ and their
    composition from HMPrivBayes, whose authors compare with it, ABN with a cap and SDG from
    PrivABN, by the same group. A Jaccard distance of two columns without ones is 1.

    Works on bits; ``network_`` stands over bits. Parameters and attributes as :class:`Clustered`
    says.

    **Privacy:** strict: pure ε-DP under replacing one record: a noisy table per column
    (share_histograms·ε), one sketch of R over pairs of attributes (share_sketch·ε; left out, with a
    warning, where it would be noise), whose clusters are post-processing, nested selections in all
    clusters (share_structure·ε), joint counts (the rest).
    """

    structure: ClassVar[type] = ABNInClusters


# --- JTree: noisy tables of the cliques of a junction tree ----------------------------------------


def strongest_graph(
    sizes: Sequence[int], ranked: Iterable[Edge], cells: float
) -> tuple[list[Edge], JunctionTree]:
    """Edges of ``ranked`` that keep every clique within ``cells`` joint cells, and their tree.

    Strongest first: an edge that would make a larger clique of two or more is dropped.
    """
    d, edges = len(sizes), list[Edge]()
    adjacent = [set[int]() for _ in range(d)]
    part = [{v} for v in range(d)]  # the connected part that each node lies in
    cliques = part.copy()
    for u, v in ranked:
        both, whole, grown = {u, v}, part[u] | part[v], adjacent.copy()
        grown[u], grown[v] = adjacent[u] | {v}, adjacent[v] | {u}
        if not any(both <= clique for clique in cliques):
            every = (around | {node} for node, around in eliminate(grown, whole))
            small = list(
                itertools.takewhile(lambda c: math.prod(sizes[w] for w in c) <= cells, every)
            )
            if len(small) < len(whole):
                continue
            cliques = [c for c in cliques if not c & whole] + small
        part = [whole if w in whole else part[w] for w in range(d)]
        adjacent = grown
        edges.append((u, v))
    # the edges inside cliques: chordal already, where eliminating anew could find larger cliques
    return edges, junction_tree(d, {e for c in cliques for e in itertools.combinations(c, 2)})


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
            (clique, budget, f"table({', '.join(attributes)})")
            for clique, attributes in zip(tree.cliques, members, strict=True)
        )
        measurements = [Measurement(m, *answer) for m, answer in zip(members, answers, strict=True)]
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
            measurements=tuple(measurements),
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

    From literature, reconstruction where the description at hand is silent.

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
    C clique tables of scale 2C/ε₂, sequentially, with noise of sum 0 up to 32 cells; all else is
    post-processing.
    """

    share_structure: float = 0.5
    phi: float = 0.2
    theta_usefulness: float = 4
    reading: str = "attributes"

    readings: ClassVar[tuple[str, ...]] = ("attributes", "bits")

    def _parts(self, facts: Facts) -> Parts:
        return Parts(CliqueTables(self.phi, self.theta_usefulness), reconcile=AgreeInPairs())

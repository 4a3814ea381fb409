"""Baselines: papers that only combine parts, and PrivSCBN, and what each truly costs."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from ..core.agreement import AgreeByDefault
from ..core.budgets import Geometric, Parts, Uniform, measure_joint_counts, uniform
from ..core.curator import Curator
from ..core.network import Network
from ..core.recipe import Recipe
from ..core.schema import BinaryEncoding, Facts
from ..core.structure import Fixed, Pair, Shares, StructureResult
from .hmprivbayes import AttributeClusters, Clustered
from .hpprivbayes import Ordered
from .jtree import JTree
from .personal import Groups, SensitivityGroups
from .ppba import PairwiseSums
from .privabn import SDG, abn_strict, count_selections
from .privbayes import Greedy, Preset
from .priview import PriView

__all__ = [
    "CSAPrivBayes",
    "ELPrivBayes",
    "Independent",
    "JTree",
    "PriView",
    "PrivSCBN",
    "SAPrivBayes",
    "WeightedPrivBayes",
]

NOTE = "PrivSCBN is a reconstruction: its authors' text beyond the abstract was not available"


@dataclass(eq=False, repr=False, kw_only=True)
class Independent(Recipe):
    """Attributes drawn independently, each from its own noisy histogram: the floor to beat.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in every synthesizer.

    **Privacy:** strict: pure ε-DP under replacing one record: d histograms with discrete Laplace
    noise of scale 2d/ε, sequentially; under adding or removing one: a count of scale 20/ε and
    histograms of scale 20d/19ε.
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
        noise; groups by policy cost nothing.
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
        chose them, three classes.
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

    **Privacy:** strict: pure ε-DP under replacing one record: d noisy histograms, d−1 exponential
    mechanisms, noisy tables.
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
            found, asked = abn_strict(
                bits,
                each,
                bits.noise,
                most=self.most,
                tables=d,
                epsilon2=epsilon3,
                columns=cluster,
                label=f" in C{i}",
            )
            pairs, used = pairs + found, used + asked
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
    cluster, noise on conditional distributions. What is filled in (`algorithms` §8.3): budgets ε₁,
    ε₂, ε₃ and their composition from HMPrivBayes, whose authors compare with it, ABN with a cap and
    SDG from PrivABN, by the same group. A Jaccard distance of two columns without ones is 1.

    Works on bits; ``network_`` stands over bits. Parameters and attributes as :class:`Clustered`
    says.

    **Privacy:** strict: pure ε-DP under replacing one record: a noisy table per column
    (share_histograms·ε), one sketch of R over pairs of attributes (share_sketch·ε; left out, with a
    warning, where it would be noise), whose clusters are post-processing, nested selections in all
    clusters (share_structure·ε), joint counts (the rest).
    """

    structure: ClassVar[type] = ABNInClusters

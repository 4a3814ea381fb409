"""PrivSCBN (Hong et al. 2022): clusters by Jaccard distance, an adaptive network in each."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ...budgets import uniform
from ...conditionals import measure_joint_counts
from ...domain.encoding import BinaryEncoding
from ...domain.facts import Facts
from ...network import Network
from ...privacy.curator import Curator
from ...structure.adaptive import abn_strict, count_selections
from ...structure.candidates import Pair
from ...structure.learner import Shares, StructureResult
from ..clustered import AttributeClusters, Clustered
from ..privabn import SDG

NOTE = "PrivSCBN is a reconstruction: its authors' text beyond the abstract was not available"


class ABNInClusters(AttributeClusters):
    """Nested selections in all clusters of attributes, joint counts of all bits."""

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Clusters, networks, tables.

        **Privacy:** the sketch's share; selections, with what STOP leaves over, and tables cost the
        rest.
        """
        curator.ledger.notes.append(NOTE)
        encoding, bits = BinaryEncoding(facts.schema), curator.binary()
        plan, d = self.cluster(curator, encoding, shares["share_sketch"]), len(encoding.schema)
        total = sum(count_selections(len(cluster), self.most) for cluster in plan.clusters)
        epsilon2 = shares["share_structure"] if total else Fraction(0)
        epsilon3, each = facts.epsilon - plan.spent - epsilon2, epsilon2 / max(total, 1)
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

    **Privacy:** strict: pure ε-DP under replacing one record: one sketch of R over pairs of
    attributes (share_sketch·ε; left out, with a warning, where it would be noise), whose clusters
    are post-processing, nested selections in all clusters (share_structure·ε), joint counts (the
    rest).

    >>> PrivSCBN(epsilon=0.5, k=2)
    PrivSCBN(epsilon=0.5, k=2, guarantee='strict')
    """

    structure: ClassVar[type] = ABNInClusters

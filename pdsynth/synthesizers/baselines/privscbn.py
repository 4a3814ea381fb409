"""PrivSCBN (Hong et al. 2022): clusters by Jaccard distance, an adaptive network in each."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from ...budgets import TableBudget, printed_thirds, uniform
from ...conditionals import Table, noisy_conditionals
from ...domain.encoding import BinaryEncoding
from ...domain.facts import Facts
from ...measures import GRID, JACCARD_GRID
from ...network import Network
from ...privacy.curator import Curator
from ...privacy.ledger import as_fraction
from ...structure.adaptive import abn_published, abn_strict, count_selections
from ...structure.candidates import Pair
from ...structure.ibayes import ParentFilter
from ...structure.learner import Shares
from ..clustered import Clustered, Clustering, count_bits, spread_over_bits
from ..privabn import SDG, printed_scale

NOTE = ("PrivSCBN is a reconstruction: its authors' text beyond the abstract was not available")
DPSC = "PrivSCBN (reconstruction): DPSC on Jaccard distances"
PARALLEL = "PrivSCBN (reconstruction): one budget for all clusters"


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
    rest). Published: one record can move all d(d−1)/2 distances by 1, so ε₁ costs ⌊d/2⌋·ε₁; each
    cluster's network and conditionals claim the same ε₂ + ε₃ of the same records; a conditional
    costs n times what it claims; candidates are raw. No finite ε holds. None: the same without
    noise.

    >>> PrivSCBN(epsilon=0.5, k=2)
    PrivSCBN(epsilon=0.5, k=2, guarantee='strict')
    """

    rows_unless_strict: ClassVar[bool] = True  # as PrivABN's

    def _largest_scale(self, facts: Facts) -> Fraction:
        n, d, bits, epsilon = facts.n, len(facts.schema), count_bits(facts.schema), facts.epsilon
        if facts.guarantee == "published":
            e1, _, e3 = printed_thirds(bits, self._number_of_clusters(), epsilon)
            return max(JACCARD_GRID * bits / e1, printed_scale(bits, n, e3) * GRID)
        e1, e2 = (epsilon * as_fraction(getattr(self, name)) for name in self.shares)
        return max(3 * n * d * d / e1, 2 * bits / (epsilon - e1 - e2))

    def _run_as_printed(
        self, curator: Curator, encoding: BinaryEncoding, facts: Facts, shares: Shares
    ) -> tuple[list[Pair], tuple[Table, ...], Clustering]:
        curator.ledger.notes.append(NOTE)
        bits, names, d = curator.binary(), encoding.schema.names, len(encoding.schema)
        e1, e2, e3 = printed_thirds(d, self._number_of_clusters(), facts.epsilon)
        public, each = self._public_clusters(facts.schema), e1 * 2 * (d // 2) / (d * (d - 1))
        if public is None:
            distance, _ = bits.information_sketch(
                each, claimed=e1, step="DPSC: distance of all pairs", source=DPSC, measure="J")
            self.similarity_ = 1 - distance
            clusters = self._find_clusters(distance)  # exp(−distance/2σ²) makes sense here
        else:
            clusters = spread_over_bits(public, encoding)
        labels = [f"columns:C{i}" for i in range(1, len(clusters) + 1)]
        pairs, tables = list[Pair](), list[Table]()
        doors = bits.parallel("clusters", PARALLEL, labels)
        for door, cluster, label in zip(doors, clusters, labels, strict=True):
            found = abn_published(door, e2, door.noise, most=int(self.l), columns=cluster,
                                  label=f" in {label[8:]}")
            scale = printed_scale(len(cluster), curator.n, e3)
            budget = TableBudget(scale, e3 / len(cluster), source=SDG)
            network = Network.of_columns(found, names)
            tables += noisy_conditionals(door, network, dict.fromkeys(network.order, budget),
                                         door.noise)
            pairs += found
        return pairs, tuple(tables), Clustering(clusters, ParentFilter.by_distance(range(d)))

    def _run_strict(
        self, curator: Curator, encoding: BinaryEncoding, facts: Facts, shares: Shares
    ) -> tuple[list[Pair], tuple[Table, ...], Clustering]:
        curator.ledger.notes.append(NOTE)
        plan = self._cluster_attributes(curator, encoding, shares["share_sketch"])
        bits, d, most = curator.binary(), len(encoding.schema), int(self.l)
        total = sum(count_selections(len(cluster), most) for cluster in plan.clusters)
        epsilon2 = shares["share_structure"] if total else Fraction(0)
        epsilon3, each = facts.epsilon - plan.spent - epsilon2, epsilon2 / max(total, 1)
        pairs, used = list[Pair](), 0
        for i, cluster in enumerate(plan.clusters, 1):
            found, asked = abn_strict(bits, each, bits.noise, most=most, tables=d,
                                      epsilon2=epsilon3, columns=cluster, label=f" in C{i}")
            pairs, used = pairs + found, used + asked
        curator.charge_unused(each * (total - used), "selections that STOP left over",
                              "algorithms §6.4")
        network = Network.of_columns(pairs, encoding.schema.names)
        budget = uniform(d, epsilon3, source=f"{SDG}, on joint counts")
        budgets = dict.fromkeys(network.order, budget)
        return pairs, self._measure(bits, network, budgets, facts), plan

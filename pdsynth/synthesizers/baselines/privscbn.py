"""PrivSCBN (Hong et al. 2022): private spectral clustering by Jaccard distance, an adaptive network in each cluster. Reconstruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

from ...budgets import TableBudget, positive, printed_thirds, share, uniform
from ...conditionals import Table, noisy_conditionals, noisy_tables
from ...domain.encoding import BinaryEncoding
from ...errors import BudgetError
from ...measures import GRID, JACCARD_GRID
from ...network import Network
from ...privacy.curator import Curator
from ...privacy.ledger import as_fraction
from ...privacy.mechanisms import Noise
from ...structure.adaptive import Pairs, abn_published, abn_strict, selections
from ...structure.clustering import Clusters
from ..clustered import Clustered, travelling
from ..privabn import SDG, printed_scale

NOTE = "PrivSCBN is a reconstruction: its authors' text beyond the abstract was not available"
DPSC, PARALLEL = "PrivSCBN (reconstruction): DPSC on Jaccard distances", "PrivSCBN (reconstruction): one budget for all clusters"


@dataclass(eq=False, repr=False)
class PrivSCBN(Clustered):
    """PrivSCBN, reconstructed from its abstract: the pipeline of HMPrivBayes with PrivABN's parts.

    What the abstract says: differentially private spectral clustering of binary attributes by Jaccard distance, a fast network
    with a capped in-degree by the exponential mechanism in each cluster, noise on conditional distributions. What is filled in
    (`algorithms` §8.3): budgets ε₁, ε₂, ε₃ and their composition from HMPrivBayes, whose authors compare with it, ABN with a cap
    and SDG from PrivABN, by the same group. A Jaccard distance of two columns without ones is 1.

    Works on bits; ``network_`` stands over bits.

    Parameters
    ----------
    epsilon : total budget ε.
    k : number of clusters.
    l : largest number of parents.
    sigma, dimensions : σ and k₁ of the spectral clustering.
    clusters : public clusters of attributes; nothing is spent on finding them, k is ignored.
    share_sketch, share_structure : shares of ε under strict for similarities and selections; tables get the rest.
    guarantee, noise, random_state : as in PrivBayes.

    **Privacy:** strict: pure ε-DP under replacing one record: one sketch of R over pairs of attributes (share_sketch·ε; left out, with a
    warning, where it would be noise), whose clusters are post-processing, nested selections in all clusters (share_structure·ε), joint counts
    (the rest). Published: one record can move all d(d−1)/2 distances by 1, so ε₁ costs ⌊d/2⌋·ε₁; each cluster's network and
    conditionals claim the same ε₂ + ε₃ of the same records; a conditional costs n times what it claims; candidates are raw. No
    finite ε holds. None: the same without noise.

    >>> PrivSCBN(epsilon=0.5, k=2)
    PrivSCBN(epsilon=0.5, k=2, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int = 3
    l: int = 3  # noqa: E741 - the paper's letter
    sigma: float = 1.0
    dimensions: int | None = None
    clusters: Sequence[Sequence[str]] | None = None
    share_sketch: float = 0.15
    share_structure: float = 0.25
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    eta = 0  # IBayes' filter and HMPrivBayes' own choice of affinity have no part in it
    affinity = "auto"

    def _check_parameters(self) -> Fraction:
        positive("sigma", self.sigma)
        if share("share_sketch", self.share_sketch) + share("share_structure", self.share_structure) >= 1:
            raise BudgetError(f"share_sketch + share_structure = {self.share_sketch} + {self.share_structure} leaves nothing for the tables: they must stay below 1")
        self._check_sizes()
        return super()._check_parameters()

    def _largest_scale(self, d: int, bits: int, n: int) -> Fraction:
        epsilon = as_fraction(self.epsilon)
        if self.guarantee == "published":
            e1, _, e3 = printed_thirds(bits, self._how_many(), epsilon)
            return max(JACCARD_GRID * bits / e1, printed_scale(bits, n, e3) * GRID)
        l1, l2 = as_fraction(self.share_sketch), as_fraction(self.share_structure)
        return max(3 * n * d * d / (epsilon * l1), 2 * bits / (epsilon * (1 - l1 - l2)))

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[Table, ...]]:
        self.similarity_ = None
        curator.ledger.notes.append(NOTE)
        recipe = self._private if self.guarantee == "strict" else self._as_printed
        return recipe(curator, BinaryEncoding(curator.schema), epsilon, noise)

    def _as_printed(self, curator: Curator, encoding: BinaryEncoding, epsilon: Fraction, noise: Noise) -> tuple[Network, tuple[Table, ...]]:
        public, bits, d = self._public_clusters(curator.schema), curator.binary(), len(encoding.schema)
        epsilon1, epsilon2, epsilon3 = printed_thirds(d, self._how_many(), epsilon)
        if public is None:
            each = epsilon1 * 2 * (d // 2) / (d * (d - 1))
            distance, _ = bits.information_sketch(each, claimed=epsilon1, step="DPSC: distance of all pairs", source=DPSC, measure="J")
            self.similarity_, clusters = 1 - distance, self._clusters(distance)  # exp(−distance/2σ²): here the print makes sense
        else:
            clusters = travelling(public, encoding)
        labels = [f"columns:C{i}" for i in range(1, len(clusters) + 1)]
        pairs, tables = Pairs(), list[Table]()
        for door, cluster, label in zip(bits.parallel("clusters", PARALLEL, labels), clusters, labels, strict=True):
            part = abn_published(door, epsilon2, noise, most=int(self.l), columns=cluster, label=f" in {label[8:]}")
            budget = TableBudget(printed_scale(len(cluster), curator.n, epsilon3), epsilon3 / len(cluster), source=SDG)
            network = Network.of_columns(part, encoding.schema.names)
            tables += noisy_conditionals(door, network, dict.fromkeys(network.order, budget), noise)
            pairs += part
        return self._network(pairs, clusters, encoding), tuple(tables)

    def _private(self, curator: Curator, encoding: BinaryEncoding, epsilon: Fraction, noise: Noise) -> tuple[Network, tuple[Table, ...]]:
        plan, spent = self._strict_clusters(curator, encoding, epsilon * as_fraction(self.share_sketch))
        bits, d, most = curator.binary(), len(encoding.schema), int(self.l)
        total = sum(selections(len(cluster), most) for cluster in plan.clusters)
        epsilon2 = epsilon * as_fraction(self.share_structure) if total else Fraction(0)
        epsilon3, each = epsilon - spent - epsilon2, epsilon2 / max(total, 1)
        pairs, used = Pairs(), 0
        for i, cluster in enumerate(plan.clusters, 1):
            part, asked = abn_strict(bits, each, noise, most=most, tables=d, epsilon2=epsilon3, columns=cluster, label=f" in C{i}")
            pairs, used = pairs + part, used + asked
        curator.charge_unused(each * (total - used), "selections that STOP left over", "algorithms §6.4")
        network = self._network(pairs, plan.clusters, encoding)
        return network, noisy_tables(bits, network, dict.fromkeys(network.order, uniform(d, epsilon3, source=f"{SDG}, on joint counts")))

    def _network(self, pairs: Pairs, clusters: Clusters, encoding: BinaryEncoding) -> Network:
        names = encoding.schema.names
        self.clusters_ = tuple(tuple(names[j] for j in cluster) for cluster in clusters)
        self.degree_rule_ = f"at most {self.l} parents"
        return Network.of_columns(pairs, names)

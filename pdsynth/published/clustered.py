"""Clusters of bits as HMPrivBayes and PrivSCBN print them; the ledger says what each costs.

Bits of one attribute can be separated. ``affinity="auto"`` is the printed one, of a similarity
where distances are meant. Clusters are independent by construction, without noise, too.

How ambiguous lines of HMPrivBayes are read: 1. Algorithm 1 expects distances, DPSC feeds it
similarities: ``affinity``. 2. l' = min(|C|−1, l), not d. 3. Tables are made before sampling. 4. All
information is in bits. 5. MIC of bits is I: only the 2 × 2 grid exists. 6. Strict clusters whole
attributes. Codes that don't exist are drawn again (``BinaryEncoding.decode``). 7. A cluster of one
bit has one table and no pair to select; a filter that leaves a child no candidate gives Π = {}; one
that leaves table l'+1 less than the first l' bits is given them back, or those tables could not be
derived. 8. n in (7) and (11) is the number of values. 9. Formula (9) with η = 0 would drop pairs
with noise below zero; here it drops nothing. 10. Empty clusters are left out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..algorithms import (
    DPSC,
    ENTROPIES,
    SDG,
    TABLES,
    Clustering,
    Clusters,
    InClusters,
    ParentFilter,
    RiskEntropy,
    ibayes,
    measure,
    spread_over_bits,
)
from ..baselines import NOTE
from ..core import (
    BinaryEncoding,
    BudgetError,
    Curator,
    Facts,
    Measurement,
    Network,
    Pair,
    Shares,
    StructureResult,
    is_one_of,
    normalised_risk_entropy,
    number,
    show,
    uniform,
)
from .budgets import printed_thirds
from .doors import raw_door
from .privabn import abn_published, noisy_conditionals

RAW_ENTROPY = (
    "OE_j of the raw records sets the noise scale of table j, so the scales differ "
    "between neighbours"
)
PARALLEL, HISTOGRAMS = "HMPrivBayes §3.5, proof of theorem 1", "HMPrivBayes Alg 5 line 2"
DISTANCES = "PrivSCBN (reconstruction): DPSC on Jaccard distances"
ONE_BUDGET = "PrivSCBN (reconstruction): one budget for all clusters"


AFFINITIES = "similarity", "printed"


def check_affinity(name: str, given: object, *more: str) -> None:
    """Refuse what is no affinity of HMPrivBayes, ours or the paper's."""
    if not is_one_of(given, words := (*more, *AFFINITIES)):
        raise BudgetError(f"{name} must be one of {words}, got {show(given)}")


def affinity(similarity: np.ndarray, sigma: float, reading: str) -> np.ndarray:
    """Weights exp(−S / 2σ²) from similarities S (d, d): Algorithms 1 (step 2) and 3 read together.

    The closest attributes get the *smallest* weight, which separates them. Raises BudgetError for a
    ``reading`` that isn't ``"printed"``.

    **Privacy:** post-processing of what it is given.
    """
    check_affinity("reading", reading)
    return np.exp(np.clip(-similarity / max(2 * sigma**2, 1e-300), -500, 500))


class PrintedClusters(InClusters):
    """Clusters of bits; budgets and their composition as HMPrivBayes prints them (§3.5, §4.1)."""

    affinity, clustered = "printed", "bits"

    def asks(self, facts: Facts) -> Shares:
        """ε₁, ε₂ and ε₃; the last two are claimed anew in each cluster."""
        groups = self.made.k if self.made.clusters is None else len(self.made.clusters)
        thirds = printed_thirds(len(BinaryEncoding(facts.schema).owners), groups, Fraction(1))
        return dict(zip(("similarities", "selections", "tables"), thirds, strict=True))

    def cluster(
        self,
        bits: Curator,
        encoding: BinaryEncoding,
        epsilon1: Fraction,
        measure: str = "I",
        step: str = "DPSC: similarity of all pairs",
        source: str = DPSC,
    ) -> Clustering:
        """DPSC (Algorithm 3): a sketch of all pairs with the printed noise, spectral clusters.

        **Privacy:** claims ε₁, and costs ⌊d/2⌋ times that.
        """
        public, d = self.made.public_clusters(encoding.original), len(encoding.schema)
        clusters = None if public is None else spread_over_bits(public, encoding)
        if clusters is not None and not self.made.eta:
            return Clustering(clusters, ParentFilter.by_distance(range(d)))
        each = epsilon1 * 2 * (d // 2) / (d * (d - 1))
        sketch, entry = raw_door(bits).information_sketch(
            each, claimed=epsilon1, step=step, source=source, measure=measure
        )
        ties = ParentFilter(sketch, float(number("eta", self.made.eta)), entry)
        # of distances exp(−s/2σ²) makes sense
        return Clustering(clusters or self.find_clusters(sketch), ties, similarity=sketch)

    def doors(
        self, bits: Curator, clusters: Clusters, source: str
    ) -> Iterator[tuple[Curator, tuple[int, ...], str]]:
        """A door for each cluster, its columns, and how its steps end.

        **Privacy:** costs nothing; the print composes them in parallel, though they are of the same
        records.
        """
        labels = [f"columns:C{i}" for i in range(1, len(clusters) + 1)]
        ends = [f" in {label[8:]}" for label in labels]
        return zip(raw_door(bits).parallel("clusters", source, labels), clusters, ends, strict=True)


class PrintedIBayes(PrintedClusters):
    """Algorithms 2–5 of HMPrivBayes: every step with the paper's budget.

    **Privacy:** each record is in all d(d−1)/2 similarities and in all clusters, so ε₁ truly costs
    ⌊d/2⌋·ε₁ and ε₂ + ε₃ cost k times that: 12.75 ε on Adult, 38.9 ε on Big5. The raw risk entropies
    that set noise scales make even that infinite.
    """

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Clusters, risk entropies, then network and tables of each cluster.

        **Privacy:** as the class says.
        """
        encoding, bits = BinaryEncoding(facts.schema), curator.binary()
        names = encoding.schema.names
        plan = self.cluster(bits, encoding, shares["similarities"])
        counts, entry = raw_door(bits).histograms(
            range(len(names)),
            source=TABLES,
            step="normalised risk entropies",
            reason=RAW_ENTROPY,
        )
        risk = dict(zip(names, self.risk(counts), strict=True))
        pairs, tables = list[Pair](), list[Measurement]()
        for door, cluster, label in self.doors(bits, plan.clusters, PARALLEL):
            picks = ibayes(
                door,
                cluster,
                self.most,
                shares["selections"] / len(cluster),
                "I",
                plan.ties,
                label=label,
            )  # Algorithm 4
            tables += measure(door, [picks], self.most, risk, shares["tables"], entry)  # Alg. 5
            pairs += picks
        return self.result(bits.schema, plan, pairs, tables, risk_entropy_=risk)

    def risk(self, histograms: Sequence[np.ndarray]) -> Iterable[float]:
        """The normalised risk entropy of each bit."""
        return map(normalised_risk_entropy, histograms)


class PrintedABN(PrintedClusters):
    """PrivSCBN: Jaccard distances give clusters of bits; ABN with a cap and SDG in each.

    **Privacy:** one record can move all d(d−1)/2 distances by 1, so ε₁ costs ⌊d/2⌋·ε₁; each
    cluster's network and conditionals claim the same ε₂ + ε₃ of the same records; a conditional
    costs n times what it claims; candidates are raw. No finite ε holds.
    """

    reads_rows: ClassVar[bool] = True

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Clusters, then network and conditionals of each.

        **Privacy:** as the class says.
        """
        curator.ledger.notes.append(NOTE)
        encoding, bits = BinaryEncoding(facts.schema), curator.binary()
        plan = self.cluster(
            bits, encoding, shares["similarities"], "J", "DPSC: distance of all pairs", DISTANCES
        )
        if plan.similarity is not None:
            plan = replace(plan, similarity=1 - plan.similarity)
        pairs, tables = list[Pair](), list[Measurement]()
        for door, cluster, label in self.doors(bits, plan.clusters, ONE_BUDGET):
            picks = abn_published(
                door, shares["selections"], door.noise, most=self.most, columns=cluster, label=label
            )
            budget = uniform(len(cluster), shares["tables"], source=SDG)
            network = Network.of_columns(picks, encoding.schema.names)
            tables += noisy_conditionals(door, network, dict.fromkeys(network.order, budget))
            pairs += picks
        return self.result(bits.schema, plan, pairs, tables)


@dataclass(frozen=True)
class PrintedRiskEntropy(RiskEntropy):
    """Shares ∝ exp(−OE) from raw histograms, which cost nothing.

    **Privacy:** none: an unaccounted access.
    """

    def asks(self, facts: Facts) -> Shares:
        """Nothing for the histograms."""
        return {"columns": Fraction(0)}

    def histograms(self, curator: Curator, epsilon: Fraction) -> tuple[list[np.ndarray], str]:
        """Raw counts of the values of each attribute, and their ledger entry.

        **Privacy:** none.
        """
        return raw_door(curator).histograms(
            range(len(curator.schema)),
            step=ENTROPIES,
            source=HISTOGRAMS,
            reason="raw entropies set the noise scales",
        )

"""HMPrivBayes (Zhang, Shen, Yang 2022): a network per cluster, budgets by risk entropy."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..budgets import TableBudget, by_weight, number, printed_thirds, risk_entropy_weights
from ..conditionals import Table, noisy_tables
from ..domain.encoding import BinaryEncoding
from ..domain.facts import Facts
from ..errors import BudgetError, is_one_of, show
from ..measures import SCORES, normalised_risk_entropy
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..structure.candidates import Pair
from ..structure.clustering import READINGS
from ..structure.ibayes import ParentFilter, ibayes, most_parents
from ..structure.learner import Shares
from .clustered import DPSC, Clustered, Clustering, count_bits, spread_over_bits

RAW_ENTROPY = ("OE_j of the raw records sets the noise scale of table j, so the scales differ "
               "between neighbours")
WHOLE = 2_000_000  # sets of a cluster that are counted in one pass
TABLES, PARALLEL = "HMPrivBayes Alg 5 line 2", "HMPrivBayes §3.5, proof of theorem 1"


@dataclass(eq=False, repr=False, kw_only=True)
class HMPrivBayes(Clustered):
    """HMPrivBayes: spectral clusters, IBayes in each, budgets ∝ exp(−normalised risk entropy).

    Works on bits (:class:`~pdsynth.domain.encoding.BinaryEncoding`, Adult 52, Big5 175);
    ``network_`` stands over bits.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in PrivBayes.
    k, l : number of clusters, largest number of parents (paper: 3 and 3).
    eta : η of the candidate filter (9), in [0, 1); 0 switches it off. Not printed; 0.1 here.
    sigma, dimensions : σ and k₁ of the spectral clustering, not printed; 1 and k here. σ only
        matters to the printed affinity.
    affinity : ``"similarity"``, or ``"printed"``: exp(−s/2σ²) of a similarity, which separates
        related attributes; ``"auto"``: as printed under published and none, similarity under
        strict.
    clusters : public clusters of attributes, as :class:`Clustered` says.
    share_histograms, share_sketch, share_structure : shares of ε under strict for histograms,
        similarities and selections; tables get the rest.

    Attributes
    ----------
    clusters_, similarity_ : as :class:`Clustered` says. ``risk_entropy_``: normalised, of every
        bit.

    Ambiguities and how they are resolved (`algorithms` §4.2)
    ---------------------------------------------------------
    1. Algorithm 1 expects distances, DPSC feeds it similarities: ``affinity``. 2. l' = min(|C|−1,
       l), not d. 3. Tables are made before sampling. 4. All information is in bits. 5. MIC of bits
       is I: only the 2 × 2 grid exists. 6. Bits of one attribute can be separated under published,
       as printed; strict clusters whole attributes. Codes that don't exist are drawn again
       (``BinaryEncoding.decode``). 7. A cluster of one bit has one table and no pair to select; a
       filter that leaves a child no candidate gives Π = {}; one that leaves table l'+1 less than
       the first l' bits is given them back, or those tables could not be derived. 8. n in (7) and
       (11) is the number of values. 9. Clusters are independent by construction; "none" has that
       loss, too. 10. Formula (9) with η = 0 would drop pairs with noise below zero; here it drops
       nothing. 11. Empty clusters are left out. 12. Steps with more than 250,000 candidates are cut
       to the strongest parents of each child (``structure.ibayes``): by the released similarity, by
       distance in the schema where there is none.

    **Privacy:** strict: pure ε-DP under replacing one record. One-way histograms
    (share_histograms·ε) give risk entropies and roots, one sketch of R over pairs of attributes
    (share_sketch·ε) gives clusters and filter, both by post-processing; the selections of all
    clusters share share_structure·ε (score R), the tables of all clusters the rest: disjoint
    columns are not disjoint records. Where clusters are public, or k = 1, and η = 0, there is no
    sketch, and its share goes to the tables; so it does, with a warning, where n, ε and the schema
    say that the sketch would be noise. Published: Algorithms 2–5 as printed. Each record is in all
    d(d−1)/2 similarities and in all clusters, so ε₁ truly costs ⌊d/2⌋·ε₁ and ε₂ + ε₃ cost k times
    that: 12.75 ε on Adult, 38.9 ε on Big5, and the raw risk entropies that set noise scales make
    even that infinite. None: the printed pipeline without noise.

    >>> HMPrivBayes(epsilon=0.5, l=2)
    HMPrivBayes(epsilon=0.5, l=2, guarantee='strict')
    """

    eta: float = 0.1  # type: ignore[misc]
    affinity: str = "auto"  # type: ignore[misc]
    share_histograms: float = 0.05

    shares: ClassVar[tuple[str, ...]] = ("share_histograms", "share_sketch", "share_structure")

    def _check(self, facts: Facts) -> None:
        if not 0 <= number("eta", self.eta) < 1:
            raise BudgetError(f"eta must lie in [0, 1), got {show(self.eta)}")
        if not is_one_of(self.affinity, ("auto", *READINGS)):
            raise BudgetError(f"affinity must be one of {('auto', *READINGS)}, "
                              f"got {show(self.affinity)}")

    def _largest_scale(self, facts: Facts) -> Fraction:
        n, d, bits, epsilon = facts.n, len(facts.schema), count_bits(facts.schema), facts.epsilon
        if facts.guarantee == "published":
            e1, _, e3 = printed_thirds(bits, self._number_of_clusters(), epsilon)
            return max(SCORES["I"].sensitivity(n, 2, 2) * bits / max(e1, e3 / bits), 6 * bits / e3)
        e0, e1, e2 = (epsilon * as_fraction(getattr(self, name)) for name in self.shares)
        return max(3 * n * d * d / e1, 2 * d / e0, 6 * bits / (epsilon - e0 - e1 - e2))

    def _run_as_printed(
        self, curator: Curator, encoding: BinaryEncoding, facts: Facts, shares: Shares
    ) -> tuple[list[Pair], tuple[Table, ...], Clustering]:
        """Algorithm 2: every step with the paper's budget; the ledger says what it truly costs."""
        bits, d = curator.binary(), len(encoding.schema)
        names = encoding.schema.names
        e1, e2, e3 = printed_thirds(d, self._number_of_clusters(), facts.epsilon)
        plan = self._cluster_bits(curator, bits, encoding, e1)
        counts, entry = bits.histograms(range(d), e3, step="normalised risk entropies",
                                        source=TABLES, reason=RAW_ENTROPY)
        self.risk_entropy_ = dict(zip(names, map(normalised_risk_entropy, counts), strict=True))
        pairs, tables = list[Pair](), list[Table]()
        labels = [f"columns:C{i}" for i in range(1, len(plan.clusters) + 1)]
        doors = bits.parallel("clusters", PARALLEL, labels)
        for door, cluster, label in zip(doors, plan.clusters, labels, strict=True):
            count_in_one_pass(door, cluster, self.l, "I")
            found = ibayes(door, cluster, self.l, e2 / len(cluster), "I", plan.ties,
                           label=f" in {label[8:]}")  # Algorithm 4
            pairs += found
            tables += self._tables(door, found, e3, entry, self._derived(cluster))  # Algorithm 5
        return pairs, tuple(tables), plan

    def _cluster_bits(
        self, curator: Curator, bits: Curator, encoding: BinaryEncoding, epsilon1: Fraction
    ) -> Clustering:
        """DPSC (Algorithm 3) on bits: similarities with the printed noise, spectral clustering."""
        public, d = self._public_clusters(curator.schema), len(encoding.schema)
        if public is not None and not self.eta:
            near = ParentFilter.by_distance(range(d))
            return Clustering(spread_over_bits(public, encoding), near)
        each = epsilon1 * 2 * (d // 2) / (d * (d - 1))
        similarity, entry = bits.information_sketch(
            each, claimed=epsilon1, step="DPSC: similarity of all pairs", source=DPSC)
        self.similarity_ = similarity
        ties = ParentFilter(similarity, float(number("eta", self.eta)), entry)
        if public is not None:
            return Clustering(spread_over_bits(public, encoding), ties)
        return Clustering(self._find_clusters(similarity), ties)

    def _run_strict(
        self, curator: Curator, encoding: BinaryEncoding, facts: Facts, shares: Shares
    ) -> tuple[list[Pair], tuple[Table, ...], Clustering]:
        """`algorithms` §4.4: attributes are clustered, every budget is shared by all clusters."""
        epsilon0, bits, names = shares["share_histograms"], curator.binary(), encoding.schema.names
        plan = self._cluster_attributes(curator, encoding, shares["share_sketch"])
        counts, entry = curator.histograms(range(len(facts.schema)), epsilon0,
                                           step="risk entropies and roots", source=TABLES)
        risk = self.risk_entropy_ = bit_entropies(counts, encoding)
        selections = len(names) - len(plan.clusters)
        epsilon2 = shares["share_structure"] if selections else Fraction(0)
        found = []
        for i, cluster in enumerate(plan.clusters, 1):
            root = max(cluster, key=lambda j: (risk[names[j]], -j))  # of two values, H = OE
            count_in_one_pass(bits, cluster, self.l, "R")
            found.append(ibayes(bits, cluster, self.l, epsilon2 / max(selections, 1), "R",
                                plan.ties, root=root, label=f" in C{i}"))
        derived = [self._derived(cluster) for cluster in plan.clusters]
        paid = [names[c] for pairs, d in zip(found, derived, strict=True) for c, _ in pairs[d:]]
        epsilon3 = facts.epsilon - epsilon0 - plan.spent - epsilon2
        budget = table_budgets({name: risk[name] for name in paid}, epsilon3, entry)
        tables = [t for pairs, d in zip(found, derived, strict=True)
                  for t in self._measure(bits, Network.of_columns(pairs, names), budget, facts, d)]
        return [pair for pairs in found for pair in pairs], tuple(tables), plan

    def _tables(
        self, door: Curator, pairs: list[Pair], epsilon: Fraction, entry: str, derived: int
    ) -> tuple[Table, ...]:
        names = door.schema.names
        paid = {names[c]: self.risk_entropy_[names[c]] for c, _ in pairs[derived:]}
        network = Network.of_columns(pairs, names)
        return noisy_tables(door, network, table_budgets(paid, epsilon, entry), derived=derived)

    def _derived(self, cluster: Sequence[int]) -> int:
        """The first l' = min(|C|−1, l) tables are derived from the next (Alg. 5, lines 1, 3)."""
        return min(len(cluster) - 1, int(self.l))


def bit_entropies(
    histograms: Sequence[np.ndarray], encoding: BinaryEncoding
) -> dict[str, float]:
    """Normalised risk entropy of every bit from released histograms of the attributes.

    **Privacy:** post-processing of noisy counts.
    """
    out: dict[str, float] = {}
    for j, counts in enumerate(histograms):
        columns = encoding.bits(encoding.original.names[j])
        codes = np.zeros((len(counts), len(encoding.original)), dtype=np.int64)
        codes[:, j] = np.arange(len(counts))
        ones = encoding.encode(codes)[:, columns].astype(bool)
        mass = np.maximum(counts, 0)
        for b, column in enumerate(columns):
            both = np.array([mass[~ones[:, b]].sum(), mass[ones[:, b]].sum()])
            out[encoding.schema.names[column]] = normalised_risk_entropy(both)
    return out


def table_budgets(
    risk: Mapping[str, float], epsilon: Fraction, depends_on: str
) -> dict[str, TableBudget]:
    """Noise of every measured table: 2/ε · Σ exp(−OE) / exp(−OE_j) (Algorithm 5, line 2, (12)).

    ``depends_on``: ledger entry that the risk entropies come from.
    """
    return by_weight(epsilon, risk_entropy_weights(risk), TABLES, depends_on)


def count_in_one_pass(curator: Curator, cluster: Sequence[int], degree: int, score: str) -> None:
    """Count all sets of a cluster that selections look up, where they fit.

    **Privacy:** nothing leaves the curator, nothing is charged.
    """
    members, size = len(cluster), min(degree + 1, len(cluster))
    if most_parents(members, degree) >= members - 1 and math.comb(members, size) <= WHOLE:
        curator.prepare(degree + 1, score, members=cluster)

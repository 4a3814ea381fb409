"""HMPrivBayes (Zhang, Shen, Yang 2022): clusters of attributes, a network in each, budgets by risk entropy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..budgets import TableBudget, number, positive, printed_thirds, risk_entropy_weights
from ..conditionals import Table, noisy_tables
from ..domain.encoding import BinaryEncoding
from ..errors import BudgetError
from ..measures import SCORES, normalised_risk_entropy
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.mechanisms import Noise
from ..structure import ParentFilter, ibayes, most_parents
from ..structure.clustering import READINGS, Clusters
from .allocations import weighted
from .clustered import DPSC, Clustered, Clustering, travelling

RAW_ENTROPY = "OE_j of the raw records sets the noise scale of table j, so the scales differ between neighbours"
SHARES = ("share_histograms", "share_sketch", "share_structure")
WHOLE = 2_000_000  # sets of a cluster that are counted in one pass
TABLES, PARALLEL = "HMPrivBayes Alg 5 line 2", "HMPrivBayes §3.5, proof of theorem 1"


@dataclass(eq=False, repr=False)
class HMPrivBayes(Clustered):
    """HMPrivBayes: spectral clusters of attributes, IBayes in each, table budgets ∝ exp(−normalised risk entropy).

    Works on bits (:class:`~pdsynth.domain.encoding.BinaryEncoding`, Adult 52, Big5 175); ``network_`` stands over bits.

    Parameters
    ----------
    epsilon : total budget ε.
    k : number of clusters (paper: 3).
    l : largest number of parents (paper: 3).
    eta : η of the candidate filter (9), in [0, 1); 0 switches it off. Not printed; 0.1 here.
    sigma, dimensions : σ and k₁ of the spectral clustering, not printed; 1 and k here. σ only matters to the printed affinity.
    affinity : ``"similarity"``, or ``"printed"``: exp(−s/2σ²) of a similarity, which separates related attributes; ``"auto"``:
        as printed under published and none, similarity under strict.
    clusters : public clusters of attributes, ``[["age", "sex"], …]``, each attribute once; nothing is spent on finding them, k is
        ignored.
    share_histograms, share_sketch, share_structure : shares of ε under strict for histograms, similarities and selections;
        tables get the rest.
    guarantee, noise, random_state : as in PrivBayes.

    Ambiguities and how they are resolved (`algorithms` §4.2)
    ---------------------------------------------------------
    1. Algorithm 1 expects distances, DPSC feeds it similarities: ``affinity``. 2. l' = min(|C|−1, l), not d. 3. Tables are made
       before sampling. 4. All information is in bits. 5. MIC of bits is I: only the 2 × 2 grid exists. 6. Bits of one attribute
       can be separated under published, as printed; strict clusters whole attributes. Codes that don't exist are drawn again
       (``BinaryEncoding.decode``). 7. A cluster of one bit has one table and no pair to select; a filter that leaves a child no
       candidate gives Π = {}; one that leaves table l'+1 less than the first l' bits is given them back, or those tables could not
       be derived. 8. n in (7) and (11) is the number of values. 9. Clusters are independent by construction; "none" has that loss,
       too. 10. Formula (9) with η = 0 would drop pairs with noise below zero; here it drops nothing. 11. Empty clusters are left
       out. 12. Steps with more than 250,000 candidates are cut to the strongest parents of each child (``structure.ibayes``):
       by the released similarity, by distance in the schema where there is none.

    **Privacy:** strict: pure ε-DP under replacing one record. One-way histograms (share_histograms·ε) give risk entropies and roots, one sketch
    of R over pairs of attributes (share_sketch·ε) gives clusters and filter, both by post-processing; the selections of all clusters share
    share_structure·ε (score R), the tables of all clusters the rest: disjoint columns are not disjoint records. Where clusters are public, or
    k = 1, and η = 0, there is no sketch, and its share goes to the tables; so it does, with a warning, where n, ε and the schema
    say that the sketch would be noise. Published: Algorithms 2–5 as printed. Each record is in all d(d−1)/2 similarities and in
    all clusters, so ε₁ truly costs ⌊d/2⌋·ε₁ and ε₂ + ε₃ cost k times that: 12.75 ε on Adult, 38.9 ε on Big5, and the raw risk
    entropies that set noise scales make even that infinite. None: the printed pipeline without noise.

    >>> HMPrivBayes(epsilon=0.5, l=2)
    HMPrivBayes(epsilon=0.5, l=2, guarantee='strict')
    """

    epsilon: float = 1.0
    _: KW_ONLY
    k: int = 3
    l: int = 3  # noqa: E741 - the paper's letter
    eta: float = 0.1
    sigma: float = 1.0
    dimensions: int | None = None
    affinity: str = "auto"
    clusters: Sequence[Sequence[str]] | None = None
    share_histograms: float = 0.05
    share_sketch: float = 0.15
    share_structure: float = 0.25
    guarantee: str = "strict"
    noise: str = "exact"
    random_state: Any = None

    def _check_parameters(self) -> Fraction:
        if not 0 <= number("eta", self.eta) < 1:
            raise BudgetError(f"eta must lie in [0, 1), got {self.eta!r}")
        positive("sigma", self.sigma)
        if self.affinity not in ("auto", *READINGS):
            raise BudgetError(f"affinity must be one of {('auto', *READINGS)}, got {self.affinity!r}")
        if sum(positive(name, getattr(self, name)) for name in SHARES) >= 1:
            raise BudgetError(f"{' + '.join(SHARES)} = {' + '.join(str(getattr(self, name)) for name in SHARES)} leaves nothing for the tables: they must stay below 1")
        self._check_sizes()
        return super()._check_parameters()

    def _largest_scale(self, d: int, bits: int, n: int) -> Fraction:
        epsilon = as_fraction(self.epsilon)
        if self.guarantee == "published":
            e1, _, e3 = printed_thirds(bits, self._how_many(), epsilon)
            return max(SCORES["I"].sensitivity(n, 2, 2) * bits / max(e1, e3 / bits), 6 * bits / e3)
        l0, l1, l2 = as_fraction(self.share_histograms), as_fraction(self.share_sketch), as_fraction(self.share_structure)
        return max(3 * n * d * d / (epsilon * l1), 2 * d / (epsilon * l0), 6 * bits / (epsilon * (1 - l0 - l1 - l2)))

    def _recipe(self, curator: Curator, noise: Noise, epsilon: Fraction) -> tuple[Network, tuple[Table, ...]]:
        self.similarity_ = None
        return (self._strict if self.guarantee == "strict" else self._printed)(curator, BinaryEncoding(curator.schema), epsilon)

    def _printed(self, curator: Curator, encoding: BinaryEncoding, epsilon: Fraction) -> tuple[Network, tuple[np.ndarray, ...]]:
        """Algorithm 2: every step with the budget that the paper gives it, and the ledger says what it truly costs."""
        public = self._public_clusters(curator.schema)
        bits, d = curator.binary(), len(encoding.schema)
        epsilon1, epsilon2, epsilon3 = printed_thirds(d, self._how_many(), epsilon)
        plan = self._printed_clusters(bits, encoding, public, epsilon1)
        counts, entry = bits.histograms(range(d), epsilon3, step="normalised risk entropies", source=TABLES, reason=RAW_ENTROPY)
        risk = dict(zip(encoding.schema.names, map(normalised_risk_entropy, counts), strict=True))
        parts, tables = list[Network](), list[np.ndarray]()
        labels = [f"columns:C{i}" for i in range(1, len(plan.clusters) + 1)]
        for door, cluster, label in zip(bits.parallel("clusters", PARALLEL, labels), plan.clusters, labels, strict=True):
            prepare(door, cluster, self.l, "I")
            each = epsilon2 / len(cluster)
            pairs = ibayes(door, cluster, self.l, each, "I", plan.ties, label=f" in {label[8:]}")  # Algorithm 4
            parts.append(Network.of_columns(pairs, encoding.schema.names))
            paid = {name: risk[name] for name in parts[-1].order[self._derived(cluster) :]}
            tables += noisy_tables(door, parts[-1], table_budgets(paid, epsilon3, entry), derived=self._derived(cluster))  # Algorithm 5
        return self._finish(plan, risk, parts, encoding), tuple(tables)

    def _printed_clusters(self, bits: Curator, encoding: BinaryEncoding, public: Clusters | None, epsilon1: Fraction) -> Clustering:
        """DPSC (Algorithm 3) on bits: similarities with the printed noise, then spectral clustering."""
        d = len(encoding.schema)
        if public is not None and not self.eta:
            return Clustering(travelling(public, encoding), ParentFilter.by_distance(range(d)))
        each = epsilon1 * 2 * (d // 2) / (d * (d - 1))
        self.similarity_, entry = bits.information_sketch(each, claimed=epsilon1, step="DPSC: similarity of all pairs", source=DPSC)
        clusters = self._clusters(self.similarity_) if public is None else travelling(public, encoding)
        return Clustering(clusters, ParentFilter(self.similarity_, float(self.eta), entry))

    def _strict(self, curator: Curator, encoding: BinaryEncoding, epsilon: Fraction) -> tuple[Network, tuple[np.ndarray, ...]]:
        """`algorithms` §4.4: attributes are clustered, every budget is shared by all clusters."""
        shares = [epsilon * as_fraction(share) for share in (self.share_histograms, self.share_sketch, self.share_structure)]
        plan, spent = self._strict_clusters(curator, encoding, shares[1])
        d = len(encoding.schema)
        counts, entry = curator.histograms(range(len(curator.schema)), shares[0], step="risk entropies and roots", source=TABLES)
        risk = bit_entropies(counts, encoding)
        selections = d - len(plan.clusters)
        epsilon2 = shares[2] if selections else Fraction(0)
        bits, parts = curator.binary(), []
        for i, cluster in enumerate(plan.clusters, 1):
            root = max(cluster, key=lambda j: (risk[encoding.schema.names[j]], -j))  # of two values, H = OE
            prepare(bits, cluster, self.l, "R")
            each = epsilon2 / selections if selections else epsilon
            pairs = ibayes(bits, cluster, self.l, each, "R", plan.ties, root=root, label=f" in C{i}")
            parts.append(Network.of_columns(pairs, encoding.schema.names))
        paid = [name for part, cluster in zip(parts, plan.clusters, strict=True) for name in part.order[self._derived(cluster) :]]
        budget = table_budgets({name: risk[name] for name in paid}, epsilon - shares[0] - spent - epsilon2, entry)
        tables = [t for part, cluster in zip(parts, plan.clusters, strict=True)
                  for t in noisy_tables(bits, part, budget, derived=self._derived(cluster))]  # fmt: skip
        return self._finish(plan, risk, parts, encoding), tuple(tables)

    def _derived(self, cluster: Sequence[int]) -> int:
        """The number l' = min(|C|−1, l) of first tables that are derived from the next (Algorithm 5, lines 1 and 3)."""
        return min(len(cluster) - 1, int(self.l))

    def _finish(self, plan: Clustering, risk: Mapping[str, float], parts: Sequence[Network], encoding: BinaryEncoding) -> Network:
        names = encoding.schema.names
        self.clusters_ = tuple(tuple(names[j] for j in cluster) for cluster in plan.clusters)
        self.risk_entropy_ = dict(risk)
        self.degree_rule_ = f"l = {self.l}"
        return Network(tuple(pair for part in parts for pair in part.pairs))


def bit_entropies(histograms: Sequence[np.ndarray], encoding: BinaryEncoding) -> dict[str, float]:
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
            out[encoding.schema.names[column]] = normalised_risk_entropy(np.array([mass[~ones[:, b]].sum(), mass[ones[:, b]].sum()]))
    return out


def table_budgets(risk: Mapping[str, float], epsilon: Fraction, depends_on: str) -> dict[str, TableBudget]:
    """Noise of every measured table: 2/ε · Σ exp(−OE) / exp(−OE_j) records (Algorithm 5, line 2, formula (12)).

    ``depends_on``: ledger entry that the risk entropies come from.
    """
    return weighted(epsilon, risk_entropy_weights(risk), TABLES, depends_on)


def prepare(curator: Curator, cluster: Sequence[int], degree: int, score: str) -> None:
    """Count all sets of a cluster that selections look up, in one pass, where they fit.

    **Privacy:** nothing leaves the curator, nothing is charged.
    """
    if most_parents(len(cluster), degree) >= len(cluster) - 1 and math.comb(len(cluster), min(degree + 1, len(cluster))) <= WHOLE:
        curator.prepare(degree + 1, score, members=cluster)

"""HMPrivBayes (Zhang, Shen, Yang 2022): a network per cluster, budgets by risk entropy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import ClassVar

import numpy as np

from ..budgets import by_weight, number, risk_entropy_weights
from ..conditionals import measure_joint_counts
from ..domain.encoding import BinaryEncoding
from ..domain.facts import Facts
from ..errors import BudgetError, is_one_of, show
from ..measures import normalised_risk_entropy
from ..network import Network
from ..privacy.curator import Curator
from ..structure.candidates import Pair
from ..structure.clustering import READINGS
from ..structure.ibayes import ibayes
from ..structure.learner import Measurement, Shares, StructureResult
from .clustered import AttributeClusters, Clustered

TABLES = "HMPrivBayes Alg 5 line 2"


class IBayesInClusters(AttributeClusters):
    """Attributes are clustered, every budget is shared by all clusters (`algorithms` §4.4)."""

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Clusters, risk entropies, networks, tables.

        **Privacy:** the sketch's and the histograms' share; selections and tables cost the rest.
        """
        encoding, bits = BinaryEncoding(facts.schema), curator.binary()
        names, epsilon0 = encoding.schema.names, shares["share_histograms"]
        plan = self.cluster(curator, encoding, shares["share_sketch"])
        counts, entry = curator.histograms(
            range(len(facts.schema)), epsilon0, step="risk entropies and roots", source=TABLES
        )
        risk = bit_entropies(counts, encoding)
        selections = len(names) - len(plan.clusters)
        epsilon2 = shares["share_structure"] if selections else Fraction(0)
        found = []
        for i, cluster in enumerate(plan.clusters, 1):
            root = max(cluster, key=lambda j: (risk[names[j]], -j))  # of two values, H = OE
            found.append(
                ibayes(
                    bits,
                    cluster,
                    self.most,
                    epsilon2 / max(selections, 1),
                    "R",
                    plan.ties,
                    root=root,
                    label=f" in C{i}",
                )
            )
        epsilon3 = facts.epsilon - epsilon0 - plan.spent - epsilon2
        tables = measure(bits, found, self.most, risk, epsilon3, entry)
        return self.result(
            bits.schema, plan, chain.from_iterable(found), tables, risk_entropy_=risk
        )


@dataclass(eq=False, repr=False, kw_only=True)
class HMPrivBayes(Clustered):
    """HMPrivBayes: spectral clusters, IBayes in each, budgets ∝ exp(−normalised risk entropy).

    Works on bits (:class:`~pdsynth.domain.encoding.BinaryEncoding`, Adult 52, Big5 175);
    ``network_`` stands over bits.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in PrivBayes.
    k, l : number of clusters, largest number of parents (paper: 3 and 3).
    eta : η of the candidate filter (9), in [0, 1); 0 switches it off. The paper doesn't say; 0.1.
    sigma, dimensions : σ and k₁ of the spectral clustering, on which the paper is silent; 1 and k
        here. σ only matters to the affinity ``"printed"``.
    affinity : ``"similarity"``, or ``"printed"``: exp(−s/2σ²) of a similarity, which separates
        related attributes; ``"auto"``: similarity under strict.
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
       is I: only the 2 × 2 grid exists. 6. Strict clusters whole attributes, so that the bits of
       one aren't separated. Codes that don't exist are drawn again (``BinaryEncoding.decode``). 7.
       A cluster of one bit has one table and no pair to select; a filter that leaves a child no
       candidate gives Π = {}; one that leaves table l'+1 less than the first l' bits is given them
       back, or those tables could not be derived. 8. n in (7) and (11) is the number of values. 9.
       Clusters are independent by construction. 10. Formula (9) with η = 0 would drop pairs with
       noise below zero; here it drops nothing. 11. Empty clusters are left out. 12. Steps with more
       than 250,000 candidates are cut to the strongest parents of each child
       (``structure.ibayes``): by the released similarity, by distance in the schema where there is
       none.

    **Privacy:** strict: pure ε-DP under replacing one record. One-way histograms
    (share_histograms·ε) give risk entropies and roots, one sketch of R over pairs of attributes
    (share_sketch·ε) gives clusters and filter, both by post-processing; the selections of all
    clusters share share_structure·ε (score R), the tables of all clusters the rest: disjoint
    columns are not disjoint records. Where clusters are public, or k = 1, and η = 0, there is no
    sketch, and its share goes to the tables; so it does, with a warning, where n, ε and the schema
    say that the sketch would be noise.

    >>> HMPrivBayes(epsilon=0.5, l=2)
    HMPrivBayes(epsilon=0.5, l=2, guarantee='strict')
    """

    eta: float = 0.1  # type: ignore[misc]
    affinity: str = "auto"  # type: ignore[misc]
    share_histograms: float = 0.05

    shares: ClassVar[tuple[str, ...]] = ("share_histograms", "share_sketch", "share_structure")
    structure: ClassVar[type] = IBayesInClusters

    def _check(self, facts: Facts) -> None:
        if not 0 <= number("eta", self.eta) < 1:
            raise BudgetError(f"eta must lie in [0, 1), got {show(self.eta)}")
        if not is_one_of(self.affinity, ("auto", *READINGS)):
            raise BudgetError(
                f"affinity must be one of {('auto', *READINGS)}, got {show(self.affinity)}"
            )


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
            both = np.array([mass[~ones[:, b]].sum(), mass[ones[:, b]].sum()])
            out[encoding.schema.names[column]] = normalised_risk_entropy(both)
    return out


def measure(
    curator: Curator,
    clusters: Sequence[Sequence[Pair]],
    degree: int,
    risk: Mapping[str, float],
    epsilon: Fraction,
    depends_on: str,
) -> list[Measurement]:
    """The tables that the next one doesn't hold: noise 2/ε · Σ exp(−OE) / exp(−OE_j).

    Algorithm 5, lines 1–3, and formula (12), over all these clusters together.
    ``depends_on``: ledger entry that the risk entropies come from.

    **Privacy:** as :func:`~pdsynth.conditionals.measure_joint_counts`, ε in all.
    """
    names = curator.schema.names
    derived = [min(len(pairs) - 1, degree) for pairs in clusters]  # l' of lines 1 and 3
    paid = {
        names[c]: risk[names[c]]
        for pairs, first in zip(clusters, derived, strict=True)
        for c, _ in pairs[first:]
    }
    budget = by_weight(epsilon, risk_entropy_weights(paid), TABLES, depends_on)
    return [
        found
        for pairs, first in zip(clusters, derived, strict=True)
        for found in measure_joint_counts(curator, Network.of_columns(pairs, names), budget, first)
    ]

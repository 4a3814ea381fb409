"""A network of bits in each cluster: what HMPrivBayes and PrivSCBN share."""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..domain.encoding import BinaryEncoding
from ..domain.facts import Facts
from ..domain.schema import Schema
from ..errors import BudgetError, is_whole, show
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.numbers import number, positive
from ..structure.candidates import Pair
from ..structure.clustering import (
    Clusters,
    check_clusters,
    in_order,
    noise_to_signal,
    spectral_clusters,
)
from ..structure.ibayes import ParentFilter
from ..structure.learner import Measurement, Shares, Structure, StructureResult
from ..structure.limits import check_width
from ..structure.pairwise import symmetric_matrix
from .recipe import Parts, Recipe

MAX_DEGREE = 12  # largest l
# Noise to signal at which the adjusted Rand index against noiseless clusters falls below 0.1
# on Adult and Big5.
NOISE_DOMINATES = 3
DPSC = "HMPrivBayes Alg 3 line 1"


@dataclass(frozen=True)
class Clustering:
    """Clusters of bit columns, how their bits are tied, and what finding them showed and cost."""

    clusters: Clusters
    ties: ParentFilter
    similarity: np.ndarray | None = None
    spent: Fraction = Fraction(0)


@dataclass(eq=False, repr=False, kw_only=True)
class Clustered(Recipe):
    """A network in each cluster of attributes, over bits; ``structure`` says how it is learnt.

    Parameters
    ----------
    k : number of clusters. ``l`` : largest number of parents.
    sigma, dimensions : σ and k₁ of the spectral clustering.
    clusters : public clusters of attributes, ``[["age", "sex"], …]``, each attribute once; nothing
        is spent on finding them, k is ignored.
    share_sketch, share_structure : shares of ε for similarities and selections; tables get the
        rest.

    Attributes
    ----------
    clusters_ : the clusters, as names of bits. ``similarity_``: the released similarities, or None.

    **Privacy:** what the subclass says; one noisy sketch of R over pairs of attributes, from which
    the clusters follow, or none where they are public or the sketch would be noise.
    """

    k: int = 3
    l: int = 3  # noqa: E741 - the papers' letter
    sigma: float = 1.0
    dimensions: int | None = None
    clusters: Sequence[Sequence[str]] | None = None
    share_sketch: float = 0.15
    share_structure: float = 0.25

    eta: ClassVar[Any] = 0
    affinity: ClassVar[Any] = "auto"
    shares: ClassVar[tuple[str, ...]] = ("share_sketch", "share_structure")
    k_counts_parents: ClassVar[bool] = False
    structure: ClassVar[type]  # made from the synthesizer, whose parameters it has

    def _check(self, facts: Facts) -> None:
        positive("sigma", self.sigma)
        dimensions = 1 if self.dimensions is None else self.dimensions
        for name, value in (("l", self.l), ("dimensions", dimensions)):
            if not is_whole(value, 1, 10**9):
                raise BudgetError(f"{name} must be a whole number of at least 1, got {show(value)}")
        if self.l > MAX_DEGREE:
            raise BudgetError(
                f"l = {self.l}: at most {MAX_DEGREE} parents a bit can be searched; lower l"
            )

    def _parts(self, facts: Facts) -> Parts:
        return Parts(self.structure(self))

    def public_clusters(self, schema: Schema) -> Clusters | None:
        """Clusters of attribute columns declared in public, or None."""
        if self.clusters is None:
            return None
        lists = isinstance(self.clusters, Sequence) and not isinstance(self.clusters, str)
        if not lists or any(
            isinstance(c, str) or not isinstance(c, Sequence) or not c for c in self.clusters
        ):
            raise BudgetError(
                "clusters must be lists of attribute names, none of them empty, "
                f"got {show(self.clusters)}"
            )
        columns = [[schema.index(name) for name in cluster] for cluster in self.clusters]
        named = sorted(j for cluster in columns for j in cluster)
        if named != list(range(len(schema))):
            wrong = {schema.names[j] for j in range(len(schema)) if named.count(j) != 1}
            raise BudgetError(
                f"clusters must name each attribute exactly once; see {', '.join(sorted(wrong))}"
            )
        return in_order(columns)


class InClusters(Structure):
    """Clusters, then a network and its tables in each: a structure that measures.

    ``made``: the synthesizer, whose parameters are these. ``affinity``: what its "auto" means.
    ``clustered``: what is clustered, attributes or bits.
    """

    measures: ClassVar[bool] = True
    affinity: ClassVar[str]
    clustered: ClassVar[str]

    def __init__(self, made: Any) -> None:
        self.made, self.most = made, int(made.l)

    def check(self, facts: Facts) -> None:
        """Refuse clusters that can't be, and more bits than can be compared."""
        bits = len(BinaryEncoding(facts.schema).schema)  # refuses two bits of one name
        if self.made.public_clusters(facts.schema) is None:
            nodes = {"attributes": len(facts.schema), "bits": bits}
            check_clusters(self.made.k, nodes[self.clustered], self.clustered)
        check_width(bits, type(self.made).__name__, "bits")

    def find_clusters(self, similarity: np.ndarray) -> Clusters:
        """Spectral clusters of a released matrix."""
        made = self.made
        reading = self.affinity if made.affinity == "auto" else made.affinity
        sigma = float(positive("sigma", made.sigma))
        return spectral_clusters(
            similarity, made.k, sigma=sigma, reading=reading, dimensions=made.dimensions
        )

    def result(
        self,
        bits: Schema,
        plan: Clustering,
        pairs: Iterable[Pair],
        found: Iterable[Measurement],
        **shown: Any,
    ) -> StructureResult:
        """The networks of all clusters as one, with its tables."""
        clusters = tuple(tuple(bits.names[j] for j in cluster) for cluster in plan.clusters)
        shown |= {"clusters_": clusters, "similarity_": plan.similarity}
        return StructureResult(
            Network.of_columns(pairs, bits.names),
            rule=f"l = {self.most}",
            attributes=shown,
            measurements=tuple(found),
            schema=bits,
        )


class AttributeClusters(InClusters):
    """Clusters of whole attributes; every budget is shared by all clusters (`algorithms` §4.4)."""

    affinity, clustered = "similarity", "attributes"

    def asks(self, facts: Facts) -> Shares:
        """The shares that the synthesizer names; the tables have the rest."""
        named = {name: as_fraction(getattr(self.made, name)) for name in self.made.shares}
        return named | {"tables": Fraction(1) - sum(named.values())}

    def cluster(self, curator: Curator, encoding: BinaryEncoding, epsilon1: Fraction) -> Clustering:
        """Clusters of whole attributes and the filter, from one sketch worth its noise.

        **Privacy:** ε₁, where there is a sketch; clusters and filter are post-processing.
        """
        made, schema = self.made, curator.schema
        public = made.public_clusters(schema)
        whole = public or (tuple(range(len(schema))),)
        place = [schema.index(owner) for owner in encoding.owners]
        known = Clustering(spread_over_bits(whole, encoding), ParentFilter.by_distance(place))
        clustered = public is not None or made.k == 1
        if clustered and not made.eta:
            return known
        pairs = [(i, j) for c in whole for a, i in enumerate(c) for j in c[a + 1 :]]
        sizes = schema.sizes  # no other pair is looked at
        ratio = noise_to_signal(curator.n, sizes, epsilon1, pairs) if pairs else math.inf
        if ratio > NOISE_DOMINATES:
            if pairs:
                self.warn(ratio, curator.n, len(schema), clustered)
            return known
        values, entry = curator.noisy_associations(
            pairs, epsilon1, step="similarity of attribute pairs", source=DPSC
        )
        similarity = symmetric_matrix(len(schema), pairs, values)
        found = whole if clustered else self.find_clusters(similarity)
        together = np.equal.outer(place, place)
        strength = np.where(together, np.inf, similarity[np.ix_(place, place)])
        ties = ParentFilter(strength, float(number("eta", made.eta)), entry)
        return Clustering(spread_over_bits(found, encoding), ties, similarity, epsilon1)

    def warn(self, ratio: float, n: int, d: int, clustered: bool) -> None:
        """Say that the sketch would be noise, and what is done without it."""
        made, unfiltered = self.made, "doesn't filter parents"
        also = f" and {unfiltered}" if made.eta else ""
        instead = unfiltered if clustered else f"takes one cluster (k = 1){also}"
        warnings.warn(
            f"noise is {ratio:.3g} times what {d} attributes of n = {n:,} records can show with "
            f"{float(as_fraction(made.share_sketch)):g} of ε = {made.epsilon}: too noisy to "
            f"cluster. "
            f"{type(made).__name__} {instead}, and gives that share to the tables. Raise epsilon "
            f"or share_sketch, or name public clusters{' and set eta=0' if made.eta else ''}",
            UserWarning,
            stacklevel=8,
        )


def spread_over_bits(clusters: Clusters, encoding: BinaryEncoding) -> Clusters:
    """Clusters of bits from clusters of attributes: the bits of an attribute stay together."""
    names = encoding.original.names
    return tuple(tuple(b for j in cluster for b in encoding.bits(names[j])) for cluster in clusters)

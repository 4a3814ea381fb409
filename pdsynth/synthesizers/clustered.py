"""What the algorithms with clusters of attributes share (HMPrivBayes, PrivSCBN): what they refuse, and where the clusters come from."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..domain.encoding import BinaryEncoding
from ..domain.schema import Schema
from ..errors import BudgetError
from ..privacy.curator import Curator
from ..structure import ParentFilter, symmetric
from ..structure.clustering import Clusters, check_clusters, in_order, noise_to_signal, spectral_clusters
from .base import Synthesizer
from .degrees import check_noise

MAX_DEGREE, MAX_BITS = 12, 255  # largest l; bits of one table
TOO_NOISY = 3  # noise to signal at which the adjusted Rand index against noiseless clusters falls below 0.1 on Adult and Big5
DPSC = "HMPrivBayes Alg 3 line 1"


@dataclass(frozen=True)
class Clustering:
    """Clusters of bit columns, and how their bits are tied."""

    clusters: Clusters
    ties: ParentFilter


class Clustered(Synthesizer):
    """A network in each cluster of attributes, over bits; the classes of the papers say how clusters, networks and tables are made.

    **Privacy:** what the subclass says; under strict one noisy sketch of R over pairs of attributes, from which the clusters follow,
    or none where they are public or the sketch would be noise.
    """

    k: Any
    l: Any  # noqa: E741 - the papers' letter
    eta: Any
    sigma: Any
    dimensions: Any
    affinity: Any
    clusters: Any
    share_sketch: Any
    similarity_: Any

    def _asked_degree(self) -> int | None:
        return None  # k counts clusters, and parents are bits

    def _check_sizes(self) -> None:
        for name, value in (("l", self.l), ("dimensions", 1 if self.dimensions is None else self.dimensions)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise BudgetError(f"{name} must be a whole number of at least 1, got {value!r}")
        if self.l > MAX_DEGREE:
            raise BudgetError(f"l = {self.l}: at most {MAX_DEGREE} parents a bit can be searched; lower l")

    def _check_schema(self, schema: Schema, n: int) -> None:
        bits = len(BinaryEncoding(schema).schema)
        if self._public_clusters(schema) is None:
            check_clusters(self.k, *((len(schema), "attributes") if self.guarantee == "strict" else (bits, "bits")))
        if bits > MAX_BITS:
            raise BudgetError(f"the {len(schema)} attributes have {bits} bits; at most {MAX_BITS} can be handled: select attributes first")
        if self.guarantee != "none":
            check_noise(self.epsilon, n, self._largest_scale(len(schema), bits, n))

    def _largest_scale(self, d: int, bits: int, n: int) -> Fraction:
        """A public bound of all noise scales, in the unit of each release."""
        raise NotImplementedError

    def _public_clusters(self, schema: Schema) -> Clusters | None:
        """Clusters of attribute columns declared in public, or None."""
        if self.clusters is None:
            return None
        lists = isinstance(self.clusters, Sequence) and not isinstance(self.clusters, str)
        if not lists or any(isinstance(c, str) or not isinstance(c, Sequence) or not c for c in self.clusters):
            raise BudgetError(f"clusters must be lists of attribute names, none of them empty, got {self.clusters!r}")
        columns = [[schema.index(name) for name in cluster] for cluster in self.clusters]
        named = sorted(j for cluster in columns for j in cluster)
        if named != list(range(len(schema))):
            wrong = sorted({schema.names[j] for j in range(len(schema)) if named.count(j) != 1})
            raise BudgetError(f"clusters must name each attribute exactly once; see {', '.join(wrong)}")
        return in_order(columns)

    def _how_many(self) -> int:
        """Clusters that the printed budgets count on."""
        return self.k if self.clusters is None else len(self.clusters)

    def _clusters(self, similarity: np.ndarray) -> Clusters:
        printed = "similarity" if self.guarantee == "strict" else "printed"
        reading = printed if self.affinity == "auto" else self.affinity
        return spectral_clusters(similarity, self.k, sigma=float(self.sigma), reading=reading, dimensions=self.dimensions)

    def _strict_clusters(self, curator: Curator, encoding: BinaryEncoding, epsilon1: Fraction) -> tuple[Clustering, Fraction]:
        """Clusters of whole attributes and the filter, from one sketch where it is needed and worth its noise; what it cost."""
        schema, public = curator.schema, self._public_clusters(curator.schema)
        whole = public or (tuple(range(len(schema))),)
        place = [schema.index(owner) for owner in encoding.owners]
        known = Clustering(travelling(whole, encoding), ParentFilter.by_distance(place))
        clustered = public is not None or self.k == 1
        if clustered and not self.eta:
            return known, Fraction(0)
        pairs = [(i, j) for c in whole for a, i in enumerate(c) for j in c[a + 1 :]]  # no other pair is looked at
        ratio = noise_to_signal(curator.n, schema.sizes, epsilon1, pairs) if pairs else math.inf
        if ratio > TOO_NOISY:
            if pairs:
                self._warn(ratio, curator.n, len(schema), clustered)
            return known, Fraction(0)
        values, entry = curator.noisy_associations(pairs, epsilon1, step="similarity of attribute pairs", source=DPSC)
        self.similarity_ = symmetric(len(schema), pairs, values)
        found = whole if clustered else self._clusters(self.similarity_)
        strength = np.where(np.equal.outer(place, place), np.inf, self.similarity_[np.ix_(place, place)])
        return Clustering(travelling(found, encoding), ParentFilter(strength, float(self.eta), entry)), epsilon1

    def _warn(self, ratio: float, n: int, d: int, clustered: bool) -> None:
        unfiltered = "doesn't filter parents"
        instead = unfiltered if clustered else f"takes one cluster (k = 1){f' and {unfiltered}' if self.eta else ''}"
        warnings.warn(
            f"noise is {ratio:.3g} times what {d} attributes of n = {n:,} records can show with {float(self.share_sketch):g} of ε = {self.epsilon}: "
            f"too noisy to cluster. {type(self).__name__} {instead}, and gives that share to the tables. Raise epsilon or share_sketch, or name "
            f"public clusters{' and set eta=0' if self.eta else ''}",
            UserWarning,
            stacklevel=8,
        )


def travelling(clusters: Clusters, encoding: BinaryEncoding) -> Clusters:
    """Clusters of bits from clusters of attributes: the bits of an attribute travel together."""
    names = encoding.original.names
    return tuple(tuple(b for j in cluster for b in encoding.bits(names[j])) for cluster in clusters)

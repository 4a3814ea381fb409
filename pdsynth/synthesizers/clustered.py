"""Recipes of recipes: a network of bits in each cluster of attributes (HMPrivBayes, PrivSCBN)."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..budgets import TableBudget
from ..conditionals import Table, measure_joint_counts
from ..domain.encoding import BinaryEncoding
from ..domain.facts import Facts
from ..domain.schema import Schema
from ..errors import BudgetError, is_whole, show
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.ledger import as_fraction
from ..privacy.numbers import number, positive, share
from ..structure.candidates import Pair
from ..structure.clustering import (
    Clusters,
    check_clusters,
    in_order,
    noise_to_signal,
    spectral_clusters,
)
from ..structure.ibayes import ParentFilter
from ..structure.learner import Fixed, Shares
from ..structure.limits import check_width
from ..structure.pairwise import symmetric_matrix
from .base import Parts, Recipe

MAX_DEGREE = 12  # largest l
# Noise to signal at which the adjusted Rand index against noiseless clusters falls below 0.1
# on Adult and Big5.
NOISE_DOMINATES = 3
DPSC = "HMPrivBayes Alg 3 line 1"


@dataclass(frozen=True)
class Clustering:
    """Clusters of bit columns, how their bits are tied, and what finding them cost."""

    clusters: Clusters
    ties: ParentFilter
    spent: Fraction = Fraction(0)


@dataclass(eq=False, repr=False, kw_only=True)
class Clustered(Recipe):
    """A network in each cluster of attributes, over bits; subclasses say how networks are made.

    Parameters
    ----------
    k : number of clusters. ``l`` : largest number of parents.
    sigma, dimensions : σ and k₁ of the spectral clustering.
    clusters : public clusters of attributes, ``[["age", "sex"], …]``, each attribute once; nothing
        is spent on finding them, k is ignored.
    share_sketch, share_structure : shares of ε under strict for similarities and selections; tables
        get the rest.

    Attributes
    ----------
    clusters_ : the clusters, as names of bits. ``similarity_``: the released similarities, or None.

    **Privacy:** what the subclass says; under strict one noisy sketch of R over pairs of
    attributes, from which the clusters follow, or none where they are public or the sketch would be
    noise.
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

    def _check(self, facts: Facts) -> None:
        positive("sigma", self.sigma)
        if sum(share(name, getattr(self, name)) for name in self.shares) >= 1:
            values = " + ".join(str(getattr(self, name)) for name in self.shares)
            raise BudgetError(f"{' + '.join(self.shares)} = {values} leaves nothing for the "
                              "tables: they must stay below 1")
        dimensions = 1 if self.dimensions is None else self.dimensions
        for name, value in (("l", self.l), ("dimensions", dimensions)):
            if not is_whole(value, 1, 10**9):
                raise BudgetError(f"{name} must be a whole number of at least 1, "
                                  f"got {show(value)}")
        if self.l > MAX_DEGREE:
            raise BudgetError(f"l = {self.l}: at most {MAX_DEGREE} parents a bit can be searched; "
                              "lower l")
        schema, bits = facts.schema, count_bits(facts.schema)
        if self._public_clusters(schema) is None:
            strict = facts.guarantee == "strict"
            check_clusters(self.k, *((len(schema), "attributes") if strict else (bits, "bits")))
        check_width(bits, type(self).__name__, "bits")

    def _parts(self, facts: Facts) -> Parts:
        return Parts(Fixed())  # each cluster has parts of its own

    def _split(self, facts: Facts) -> dict[str, Fraction]:
        return {name: facts.epsilon * as_fraction(getattr(self, name)) for name in self.shares}

    def _recipe(
        self, curator: Curator, facts: Facts, shares: Shares
    ) -> tuple[Network, tuple[Table, ...]]:
        self.similarity_: np.ndarray | None = None
        self.degree_rule_ = f"l = {self.l}"
        run = self._run_strict if facts.guarantee == "strict" else self._run_as_printed
        pairs, tables, plan = run(curator, BinaryEncoding(facts.schema), facts, shares)
        names = curator.binary().schema.names
        self.clusters_ = tuple(tuple(names[j] for j in cluster) for cluster in plan.clusters)
        return Network.of_columns(pairs, names), tables

    def _run_strict(
        self, curator: Curator, encoding: BinaryEncoding, facts: Facts, shares: Shares
    ) -> tuple[list[Pair], tuple[Table, ...], Clustering]:
        """Pairs of bits and their tables, every budget shared by all clusters."""
        raise NotImplementedError

    def _run_as_printed(
        self, curator: Curator, encoding: BinaryEncoding, facts: Facts, shares: Shares
    ) -> tuple[list[Pair], tuple[Table, ...], Clustering]:
        """The same as the paper prints it."""
        raise NotImplementedError

    def _measure(
        self, bits: Curator, network: Network, budget: Mapping[str, TableBudget], facts: Facts,
        derived: int = 0,
    ) -> tuple[Table, ...]:
        """Joint counts over bits, reconciled.

        **Privacy:** as :func:`~pdsynth.conditionals.measure_joint_counts`.
        """
        found = measure_joint_counts(bits, network, budget, derived)
        over_bits = replace(facts, schema=bits.schema)
        return self._all_parts(facts).reconcile.reconcile(found, network, over_bits)

    def _public_clusters(self, schema: Schema) -> Clusters | None:
        """Clusters of attribute columns declared in public, or None."""
        if self.clusters is None:
            return None
        lists = isinstance(self.clusters, Sequence) and not isinstance(self.clusters, str)
        if not lists or any(isinstance(c, str) or not isinstance(c, Sequence) or not c
                            for c in self.clusters):
            raise BudgetError("clusters must be lists of attribute names, none of them empty, "
                              f"got {show(self.clusters)}")
        columns = [[schema.index(name) for name in cluster] for cluster in self.clusters]
        named = sorted(j for cluster in columns for j in cluster)
        if named != list(range(len(schema))):
            wrong = {schema.names[j] for j in range(len(schema)) if named.count(j) != 1}
            raise BudgetError("clusters must name each attribute exactly once; "
                              f"see {', '.join(sorted(wrong))}")
        return in_order(columns)

    def _number_of_clusters(self) -> int:
        """Clusters that the printed budgets count on."""
        return self.k if self.clusters is None else len(self.clusters)

    def _find_clusters(self, similarity: np.ndarray) -> Clusters:
        printed = "similarity" if self.guarantee == "strict" else "printed"
        reading = printed if self.affinity == "auto" else self.affinity
        sigma = float(positive("sigma", self.sigma))
        return spectral_clusters(similarity, self.k, sigma=sigma, reading=reading,
                                 dimensions=self.dimensions)

    def _cluster_attributes(
        self, curator: Curator, encoding: BinaryEncoding, epsilon1: Fraction
    ) -> Clustering:
        """Strict: clusters of whole attributes and the filter, from one sketch worth its noise."""
        schema, public = curator.schema, self._public_clusters(curator.schema)
        whole = public or (tuple(range(len(schema))),)
        place = [schema.index(owner) for owner in encoding.owners]
        known = Clustering(spread_over_bits(whole, encoding), ParentFilter.by_distance(place))
        clustered = public is not None or self.k == 1
        if clustered and not self.eta:
            return known
        pairs = [(i, j) for c in whole for a, i in enumerate(c) for j in c[a + 1:]]
        sizes = schema.sizes  # no other pair is looked at
        ratio = noise_to_signal(curator.n, sizes, epsilon1, pairs) if pairs else math.inf
        if ratio > NOISE_DOMINATES:
            if pairs:
                self._warn(ratio, curator.n, len(schema), clustered)
            return known
        values, entry = curator.noisy_associations(
            pairs, epsilon1, step="similarity of attribute pairs", source=DPSC)
        similarity = self.similarity_ = symmetric_matrix(len(schema), pairs, values)
        found = whole if clustered else self._find_clusters(similarity)
        together = np.equal.outer(place, place)
        strength = np.where(together, np.inf, similarity[np.ix_(place, place)])
        ties = ParentFilter(strength, float(number("eta", self.eta)), entry)
        return Clustering(spread_over_bits(found, encoding), ties, epsilon1)

    def _warn(self, ratio: float, n: int, d: int, clustered: bool) -> None:
        unfiltered = "doesn't filter parents"
        also = f" and {unfiltered}" if self.eta else ""
        instead = unfiltered if clustered else f"takes one cluster (k = 1){also}"
        warnings.warn(
            f"noise is {ratio:.3g} times what {d} attributes of n = {n:,} records can show with "
            f"{float(as_fraction(self.share_sketch)):g} of ε = {self.epsilon}: too noisy to "
            f"cluster. "
            f"{type(self).__name__} {instead}, and gives that share to the tables. Raise epsilon "
            f"or share_sketch, or name public clusters{' and set eta=0' if self.eta else ''}",
            UserWarning, stacklevel=8)


def count_bits(schema: Schema) -> int:
    """Bits of the binary encoding."""
    return len(BinaryEncoding(schema).schema)


def spread_over_bits(clusters: Clusters, encoding: BinaryEncoding) -> Clusters:
    """Clusters of bits from clusters of attributes: the bits of an attribute stay together."""
    names = encoding.original.names
    return tuple(tuple(b for j in cluster for b in encoding.bits(names[j])) for cluster in clusters)

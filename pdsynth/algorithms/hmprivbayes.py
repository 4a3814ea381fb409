"""HMPrivBayes: spectral clusters of attributes, a network in each, budgets by risk entropy.

First the clusters from released similarities (Algorithms 1 and 3; k-means++ is scikit-learn's, its
seed public, so the same release always gives the same clusters), then IBayes in one cluster
(Algorithm 4), then the structure that does both and measures the tables (Algorithm 5).
:class:`Clustered` and :class:`AttributeClusters` are also PrivSCBN's.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from ..core.agreement import AgreeByDefault
from ..core.budgets import Parts, by_weight, measure_joint_counts
from ..core.curator import Curator
from ..core.errors import (
    BudgetError,
    as_fraction,
    door,
    is_one_of,
    is_whole,
    needed_for,
    number,
    positive,
    progress,
    show,
    tell,
)
from ..core.network import Candidates, Network
from ..core.recipe import Recipe
from ..core.schema import Facts, Schema
from ..core.structure import (
    Measurement,
    Pair,
    Shares,
    Structure,
    StructureResult,
    check_width,
    join_parts,
    kept_subsets,
)
from ..core.unit import ONE_REPLACED
from ..core.views import BinaryEncoding
from .personal import ENTROPIES, bit_entropies, columns_over_bits, risk_entropy_weights
from .ppba import symmetric_matrix

CLEAR = 0.1  # R of attributes tied as strongly as those of a census table: a public yardstick
# Noise to signal at which the adjusted Rand index against noiseless clusters falls below 0.1
# on Adult and Big5.
NOISE_DOMINATES = 3
MAX_DEGREE = 12  # largest l
STEP_PAIRS = 250_000  # candidates of one step that are worth their time: 62 columns of degree 3
STEP_CELLS = 2**24  # cells of all their tables; larger degrees than 5 get fewer candidates
WHOLE = 2_000_000  # sets of a cluster that are counted in one pass
SOURCE = "HMPrivBayes Alg 4 line 2", "HMPrivBayes Alg 4 line 3"
DPSC, TABLES = "HMPrivBayes Alg 3 line 1", "HMPrivBayes Alg 5 line 2"

Clusters = tuple[tuple[int, ...], ...]


def affinity(similarity: np.ndarray, sigma: float = 1.0, reading: str = "similarity") -> np.ndarray:
    """Edge weights W of the attribute graph from similarities S (d, d) with a zero diagonal.

    ``reading``: ``"similarity"``: S clipped to [0, 1]; or the paper's, which needs ``sigma``.
    Raises BudgetError for another.

    **Privacy:** post-processing of noisy similarities.
    """
    s = np.array(similarity, dtype=float)
    np.fill_diagonal(s, 0.0)
    if reading == "similarity":
        return np.clip(s, 0, 1)
    return door("published").affinity(s, sigma, reading)


def embedding(weights: np.ndarray, dimensions: int) -> np.ndarray:
    """The smallest eigenvectors of L = B^-½ (B − W) B^-½, float (d, dimensions), rows of length 1.

    B holds the row sums of W (Algorithm 1, steps 3–6; Ng, Jordan, Weiss 2001). A node without any
    weight gets a row of zeros, not a dimension of its own.
    """
    degree = weights.sum(axis=1, keepdims=True)
    tied = degree > 0
    root = np.where(tied, 1 / np.sqrt(np.where(tied, degree, 1)), 0.0)
    laplacian = np.eye(len(weights)) - root * weights * root.T
    rows = np.where(tied, np.linalg.eigh(laplacian)[1][:, :dimensions], 0.0)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, length, out=np.zeros_like(rows), where=length > 1e-12)


def spectral_clusters(
    similarity: np.ndarray,
    k: int,
    *,
    sigma: float = 1.0,
    reading: str = "similarity",
    dimensions: int | None = None,
) -> Clusters:
    """Clusters of columns from a similarity matrix (d, d): k, or fewer when fewer rows differ.

    ``dimensions``: k₁ of Algorithm 1, which the paper doesn't give; None: k. Raises BudgetError for
    k outside 1 … d.

    **Privacy:** post-processing of noisy similarities; the seed is public.
    """
    d = len(similarity)
    check_clusters(k, d)
    if k in (1, d):
        return (tuple(range(d)),) if k == 1 else tuple((j,) for j in range(d))
    from sklearn.cluster import KMeans  # noqa: PLC0415 - a second that only clustering needs
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415

    rows = embedding(affinity(similarity, sigma, reading), dimensions or k)
    with warnings.catch_warnings():  # fewer different rows than clusters: some stay empty
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = KMeans(k, init="k-means++", n_init=10, random_state=0).fit_predict(rows)
    return in_order([np.flatnonzero(labels == c).tolist() for c in range(k)])


def in_order(clusters: Sequence[Sequence[int]]) -> Clusters:
    """Non-empty clusters by their first member, members rising."""
    return tuple(sorted(tuple(sorted(c)) for c in clusters if len(c)))


def check_clusters(k: int, d: int, what: str = "attributes") -> None:
    """Refuse a number of clusters outside 1 … d, from public facts; ImportError where they can't
    be found without scikit-learn.
    """
    if not is_whole(k, 1, d):
        raise BudgetError(
            f"k must be a whole number of clusters from 1 to d = {d} {what}, got {show(k)}"
        )
    if 1 < k < d:
        with needed_for(f"clustering {what}"):
            import sklearn  # noqa: F401, PLC0415


def noise_to_signal(n: int, attributes: int, epsilon: Fraction, pairs: int | None = None) -> float:
    """The noise of released R over what there is to see, from public facts alone.

    A sketch of some ``pairs`` (all if None) adds Laplace noise of scale pairs/(n ε) to each R
    (:meth:`.Curator.residuals`). Spectral clustering averages over g attributes, so the ratio is
    that of two eigenvalues: the largest of such a noise matrix, 2·√2·scale·√g, and that of a
    cluster of g/3 attributes tied with R = 0.1 (:data:`CLEAR`). Above 1, clusters are more noise
    than signal; above 3, little else.

    >>> noise_to_signal(45_222, 15, Fraction(1)) < 1 < noise_to_signal(19_719, 57, Fraction(1, 4))
    True
    """
    g = attributes
    if n < 2 or g < 2:
        return math.inf
    pairs = g * (g - 1) // 2 if pairs is None else pairs
    scale = float(ONE_REPLACED.scale(epsilon, tables=pairs)) / (2 * n)
    return 2 * math.sqrt(2) * scale * math.sqrt(g) / (CLEAR * g / 3)


@dataclass(frozen=True)
class ParentFilter:
    """Which columns may be whose parents, and which come first when not all can be tried.

    ``strength``: float (d, d), symmetric; noisy similarities of the ledger entry ``depends_on``, or
    any public order. Infinite: the columns are bits of one attribute and are never kept apart.
    ``eta``: η of formula (9).
    """

    strength: np.ndarray
    eta: float = 0.0
    depends_on: str = "public"

    @classmethod
    def by_distance(cls, places: Sequence[int]) -> ParentFilter:
        """The public order: neighbours in the schema come first."""
        away = np.abs(np.subtract.outer(np.asarray(places), np.asarray(places)))
        with np.errstate(divide="ignore"):
            return cls(1.0 / away)

    def permit(self, columns: Sequence[int]) -> np.ndarray:
        """S_i of formula (9) over some columns: bool (m, m).

        S_i(s,c) = 0 where S(s,c) ≤ η·max S(s,·) or S(c,s) ≤ η·max S(c,·); the maxima run over the
        other columns of the cluster. η = 0 switches the filter off.
        """
        s = self.strength[np.ix_(columns, columns)]
        if self.eta <= 0:
            return np.ones(s.shape, dtype=bool)
        others = np.where(np.isfinite(s) & ~np.eye(len(s), dtype=bool), s, -np.inf)
        top = np.where(np.isfinite(others).any(axis=1), others.max(axis=1), 0.0)
        dropped = s <= self.eta * top[:, None]
        return ~(dropped | dropped.T)


def ibayes(
    curator: Curator,
    cluster: Sequence[int],
    degree: int,
    epsilon: Fraction,
    score: str,
    ties: ParentFilter,
    *,
    root: int | None = None,
    label: str = "",
) -> list[Pair]:
    """A network over the columns of one cluster, parents before children (HMPrivBayes, Alg. 4).

    ``epsilon`` is spent by every selection. ``root`` is the first column; None draws it by its
    entropy. Each further pair is drawn among all columns left and all sets of exactly min(degree,
    …) of those placed columns that :class:`ParentFilter` leaves to it; a child that has none left
    gets Π = {}. In large clusters a child tries its strongest placed columns only, as many as
    :func:`most_parents` says.

    **Privacy:** |C| exponential mechanisms of ``epsilon`` (|C|−1 with a given root), sequential.
    Candidates are public or computed from the entry ``ties.depends_on`` and earlier selections.
    """
    columns, members = sorted(cluster), len(cluster)
    every = most_parents(members, degree) >= members - 1
    if every and math.comb(members, min(degree + 1, members)) <= WHOLE:
        curator.prepare(degree + 1, score, members=cluster)  # what selections look up
    if root is None:
        alone = Candidates(((np.array(columns), np.zeros((members, 0), dtype=np.int64)),))
        root, _ = curator.select(alone, "H", epsilon, step=f"root{label}", source=SOURCE[0])
    pairs: list[Pair] = [(int(root), ())]
    search = _Search(columns, ties, degree)
    for t in progress(range(2, members + 1), f"network{label}", unit="bit"):
        candidates = search.candidates([child for child, _ in pairs])
        step = f"pair {t} of {members}{label}"
        pairs.append(curator.select(candidates, score, epsilon, source=SOURCE[1], step=step))
    return pairs


def most_parents(members: int, degree: int) -> int:
    """Placed columns that a child may choose among: at most ``STEP_PAIRS`` candidates per step.

    >>> most_parents(58, 3), most_parents(175, 3), most_parents(48, 12)
    (57, 21, 13)
    """
    pairs = min(STEP_PAIRS, STEP_CELLS >> (degree + 1))
    whole = ((members - p) * math.comb(p, min(degree, p)) for p in range(1, members))
    if max(whole, default=0) <= pairs:
        return max(members - 1, 1)
    fits = (q for q in range(degree, members) if members * math.comb(q, degree) <= pairs)
    return max(fits, default=degree)


class _Search:
    """The candidates of every step of one cluster."""

    def __init__(self, columns: list[int], ties: ParentFilter, degree: int) -> None:
        self.columns, self.ties, self.degree = np.array(columns), ties, degree
        self.usable = ties.permit(columns)
        self.place = {j: i for i, j in enumerate(columns)}
        self.most = most_parents(len(columns), degree)
        # strongest first, then by column
        self.order = np.argsort(-ties.strength[np.ix_(columns, columns)], axis=1, kind="stable")

    def candidates(self, placed: list[int]) -> Candidates:
        """All pairs of a child that is left and a set of placed parents (Alg. 4, inner loop)."""
        stands = np.zeros(len(self.columns), dtype=bool)
        stands[[self.place[j] for j in placed]] = True
        parts = []
        for child in np.flatnonzero(~stands):
            ranked = self.order[child]
            free = np.sort(ranked[(stands & self.usable[child])[ranked]][: self.most])
            sets = kept_subsets(tuple(range(len(free))), min(self.degree, len(free)))
            rows = self.columns[free[sets]]
            parts.append((np.full(len(rows), self.columns[child]), rows))
        return join_parts(parts, self.ties.depends_on)


@dataclass(frozen=True)
class Clustering:
    """Clusters of bit columns, how their bits are tied, and what finding them showed and cost.

    ``columns``: the released tables of single attributes, over their bits.
    """

    clusters: Clusters
    ties: ParentFilter
    columns: tuple[Measurement, ...] = ()
    similarity: np.ndarray | None = None
    spent: Fraction = Fraction(0)


@dataclass(eq=False, repr=False, kw_only=True)
class Clustered(Recipe):
    """A network in each cluster of attributes, over bits; ``structure`` says how it is learnt.

    Parameters
    ----------
    k : number of clusters. ``l`` : largest number of parents.
    sigma : σ of the spectral clustering.
    clusters : public clusters of attributes, ``[["age", "sex"], …]``, each attribute once; nothing
        is spent on finding them, k is ignored.
    share_histograms, share_sketch, share_structure : shares of ε for single columns, similarities
        and selections; tables get the rest.
    reconcile : ``Agree()`` where None; ``AsMeasured()`` leaves tables as they were measured.

    Attributes
    ----------
    clusters_ : the clusters, as names of bits. ``similarity_``: the released similarities, or None.

    **Privacy:** what the subclass says; a noisy table per column, and one noisy sketch of R over
    pairs of attributes, from which the clusters follow, or none where they are public or the sketch
    would be noise.
    """

    k: int = 3
    l: int = 3  # noqa: E741 - the papers' letter
    sigma: float = 1.0
    clusters: Sequence[Sequence[str]] | None = None
    share_histograms: float = 0.15
    share_sketch: float = 0.15
    share_structure: float = 0.25

    eta: ClassVar[Any] = 0
    affinity: ClassVar[Any] = "auto"
    dimensions: ClassVar[Any] = None  # k₁ of the spectral clustering: k
    shares: ClassVar[tuple[str, ...]] = ("share_histograms", "share_sketch", "share_structure")
    k_counts_parents: ClassVar[bool] = False
    structure: ClassVar[type]  # made from the synthesizer, whose parameters it has

    def _check(self, facts: Facts) -> None:
        positive("sigma", self.sigma)
        if not is_whole(self.l, 1, MAX_DEGREE):
            raise BudgetError(
                f"l must be a whole number of parents from 1 to {MAX_DEGREE}, got {show(self.l)}"
            )

    def _parts(self, facts: Facts) -> Parts:
        return Parts(self.structure(self), reconcile=AgreeByDefault())

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
        members = sorted(j for cluster in columns for j in cluster)
        if members != list(range(len(schema))):
            wrong = {schema.names[j] for j in range(len(schema)) if members.count(j) != 1}
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
        recipe = self.made
        reading = self.affinity if recipe.affinity == "auto" else recipe.affinity
        sigma = float(positive("sigma", recipe.sigma))
        return spectral_clusters(
            similarity, recipe.k, sigma=sigma, reading=reading, dimensions=recipe.dimensions
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
            measurements=(*plan.columns, *found),
            schema=bits,
        )


class AttributeClusters(InClusters):
    """Clusters of whole attributes; every budget is shared by all clusters."""

    affinity, clustered = "similarity", "attributes"

    def asks(self, facts: Facts) -> Shares:
        """The shares that the synthesizer names; the tables have the rest."""
        shares = {name: as_fraction(getattr(self.made, name)) for name in self.made.shares}
        return shares | {"tables": Fraction(1) - sum(shares.values())}

    def cluster(self, curator: Curator, encoding: BinaryEncoding, shares: Shares) -> Clustering:
        """Clusters of whole attributes and the filter, from one sketch worth its noise.

        **Privacy:** a noisy table per column for its share; ε₁, where there is a sketch; clusters
        and filter are post-processing.
        """
        epsilon1, released = shares["share_sketch"], curator.columns(shares["share_histograms"])
        recipe, schema = self.made, curator.schema
        public = recipe.public_clusters(schema)
        whole = public or (tuple(range(len(schema))),)
        place = [schema.index(owner) for owner in encoding.owners]
        columns = columns_over_bits(released, encoding)
        plan = Clustering(
            spread_over_bits(whole, encoding), ParentFilter.by_distance(place), columns
        )
        clustered = public is not None or recipe.k == 1
        if clustered and not recipe.eta:
            return plan
        pairs = [(i, j) for c in whole for a, i in enumerate(c) for j in c[a + 1 :]]
        # no other pair is looked at
        ratio = noise_to_signal(curator.n, len(schema), epsilon1, len(pairs)) if pairs else math.inf
        if ratio > NOISE_DOMINATES:
            if pairs:
                self.warn(ratio, curator.n, len(schema), clustered)
            return plan
        values, entry = curator.residuals(
            pairs, epsilon1, step="similarity of attribute pairs", source=DPSC
        )
        similarity = symmetric_matrix(len(schema), pairs, values)
        clusters = whole if clustered else self.find_clusters(similarity)
        together = np.equal.outer(place, place)
        strength = np.where(together, np.inf, similarity[np.ix_(place, place)])
        ties = ParentFilter(strength, float(number("eta", recipe.eta)), entry)
        return Clustering(spread_over_bits(clusters, encoding), ties, columns, similarity, epsilon1)

    def warn(self, ratio: float, n: int, d: int, clustered: bool) -> None:
        """Say that the sketch would be noise, and what is done without it."""
        recipe, unfiltered = self.made, "doesn't filter parents"
        also = f" and {unfiltered}" if recipe.eta else ""
        instead = unfiltered if clustered else f"takes one cluster (k = 1){also}"
        tell(
            f"noise is {ratio:.3g} times what {d} attributes of n = {n:,} records can show with "
            f"{float(as_fraction(recipe.share_sketch)):g} of ε = {recipe.epsilon}: too noisy to "
            f"cluster. {type(recipe).__name__} {instead}, and gives that share to the tables. "
            "Raise epsilon or share_sketch, or name public "
            "clusters" + " and set eta=0" * bool(recipe.eta)
        )


def spread_over_bits(clusters: Clusters, encoding: BinaryEncoding) -> Clusters:
    """Clusters of bits from clusters of attributes: the bits of an attribute stay together."""
    names = encoding.original.names
    return tuple(tuple(b for j in cluster for b in encoding.bits(names[j])) for cluster in clusters)


class IBayesInClusters(AttributeClusters):
    """Attributes are clustered, every budget is shared by all clusters."""

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Columns, clusters, risk entropies, networks, tables.

        **Privacy:** the sketch's and the columns' share; selections and tables cost the rest.
        """
        encoding, bits = BinaryEncoding(facts.schema), curator.binary()
        names, epsilon0 = encoding.schema.names, shares["share_histograms"]
        plan = self.cluster(curator, encoding, shares)
        released = tuple(m.entry for m in plan.columns)
        entry = curator.note_post_processing(ENTROPIES, released, "risk entropies of bits")
        risk = bit_entropies(plan.columns, facts.schema, curator.n)
        selections = len(names) - len(plan.clusters)
        epsilon2 = shares["share_structure"] if selections else Fraction(0)
        each, networks = epsilon2 / max(selections, 1), []
        for i, cluster in enumerate(plan.clusters, 1):
            root = max(cluster, key=lambda j: (risk[names[j]], -j))  # of two values, H = OE
            label = f" in C{i}"
            networks.append(
                ibayes(bits, cluster, self.most, each, "R", plan.ties, root=root, label=label)
            )
        epsilon3 = facts.epsilon - epsilon0 - plan.spent - epsilon2
        tables = measure(bits, networks, self.most, risk, epsilon3, entry)
        return self.result(
            bits.schema, plan, chain.from_iterable(networks), tables, risk_entropy_=risk
        )


@dataclass(eq=False, repr=False, kw_only=True)
class HMPrivBayes(Clustered):
    """HMPrivBayes: spectral clusters, IBayes in each, budgets ∝ exp(−normalised risk entropy).

    Works on bits (:class:`~pdsynth.core.views.BinaryEncoding`, Adult 52, Big5 175);
    ``network_`` stands over bits.

    Parameters
    ----------
    epsilon, guarantee, noise, random_state : as in PrivBayes.
    k, l : number of clusters, largest number of parents (paper: 3 and 3).
    eta : η of the candidate filter (9), in [0, 1); 0 switches it off. The paper doesn't say; 0.1.
    sigma : σ of the spectral clustering, on which the paper is silent; it only matters to the
        affinity of the paper.
    affinity : ``"similarity"``, or the paper's, which separates related attributes (lesson 08);
        ``"auto"``: similarity under strict.
    clusters : public clusters of attributes, as :class:`Clustered` says.
    share_histograms, share_sketch, share_structure, reconcile : as :class:`Clustered` says.

    Attributes
    ----------
    clusters_, similarity_ : as :class:`Clustered` says. ``risk_entropy_``: normalised, of every
        bit; what is known of the noise is taken off (:func:`bit_entropies`).

    Whole attributes are clustered, so that the bits of one aren't separated. A filter that leaves a
    child no candidate gives Π = {}. Steps with more than 250,000 candidates are cut to the
    strongest parents of each child: by the released similarity, by distance in the schema where
    there is none.

    **Privacy:** strict: pure ε-DP under replacing one record. A noisy table per column
    (share_histograms·ε) gives risk entropies and roots, residuals of pairs of attributes against
    independence (share_sketch·ε, sensitivity 2 per pair) give clusters and filter, both by
    post-processing; the selections of all clusters share share_structure·ε (score R), the tables of
    all clusters the rest: disjoint columns are not disjoint records. Where clusters are public, or
    k = 1, and η = 0, there is no sketch, and its share goes to the tables; so it does, with a
    warning, where it would be noise. Agreement is post-processing.
    """

    eta: float = 0.1  # type: ignore[misc]
    affinity: str = "auto"  # type: ignore[misc]

    structure: ClassVar[type] = IBayesInClusters

    def _check(self, facts: Facts) -> None:
        if not 0 <= number("eta", self.eta) < 1:
            raise BudgetError(f"eta must lie in [0, 1), got {show(self.eta)}")
        if not is_one_of(self.affinity, ("auto", "similarity")):
            door("published").check_affinity("affinity", self.affinity, "auto")


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

    **Privacy:** as :func:`~pdsynth.core.budgets.measure_joint_counts`, ε in all.
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
        m
        for pairs, first in zip(clusters, derived, strict=True)
        for m in measure_joint_counts(curator, Network.of_columns(pairs, names), budget, first)
    ]

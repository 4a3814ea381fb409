"""Structures of different papers: what learns a network, and what it leaves for a budget to use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Protocol

import numpy as np

from ..budgets import number, positive, share
from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError
from ..network import Network
from ..privacy.curator import Curator
from ..privacy.mechanisms import Noise
from ..structure import MaxCells, MaxParents, ParentRule, greedy, ordered
from ..structure.adaptive import abn_published, abn_strict, selections
from ..structure.pairwise import pairwise, symmetric
from ..structure.restrictions import Restriction
from ..structure.tree import spanning_tree_bayes
from .degrees import AUTO_CELLS, check_degree, check_parents, check_tables, choose_degree, prepare


@dataclass(frozen=True)
class StructureResult:
    """A network, the ε it was paid with, and what a budget may use: weights of the nodes, the entry that they come from.

    ``derived``: so many first pairs are contained in the next table and needn't be measured.
    """

    network: Network
    spent: Fraction = Fraction(0)
    weights: dict[str, float] = field(default_factory=dict)
    depends_on: str = "public"
    derived: int = 0


class Structure(Protocol):
    """Learns a network through the curator with ``epsilon1``; ``epsilon2`` is what the tables will have (public)."""

    def check(self, schema: Schema) -> None:
        """Refuse, from public facts, what can't be learnt."""

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """The network.

        **Privacy:** what the part says, at most ``epsilon1``.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Fixed:
    """A network that policy or an expert has drawn: public, so it costs nothing."""

    network: Network

    def check(self, schema: Schema) -> None:
        """Refuse a network over other attributes, and tables that can't fit in memory."""
        if set(self.network.order) != set(schema.names):
            strange = sorted(set(self.network.order) ^ set(schema.names))
            raise SchemaError(f"the network and the schema must have the same attributes; they differ in {strange}")
        check_tables(self.network, schema)

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """The network as given.

        **Privacy:** reads nothing, costs nothing.
        """
        curator.ledger.guaranteed_ex_ante = True  # which table holds which attribute is known before the run
        return StructureResult(self.network)


@dataclass(frozen=True)
class _Searched:
    """What all learnt structures share: the rule for parent sets, the score, and a public policy."""

    k: int | str = "auto"
    theta_usefulness: float = 4
    score: str = "auto"
    restriction: Restriction | None = None

    def check(self, schema: Schema) -> None:
        """Refuse degrees, scores and restrictions that don't fit the schema."""
        check_degree(self.k, schema)
        positive("theta_usefulness", self.theta_usefulness)
        if self.score not in ("auto", "I", "R"):
            raise BudgetError(f"score must be 'auto', 'I' or 'R', got {self.score!r}")
        if self.restriction is not None:
            permitted = self.restriction.on(schema.names)
            check_tables(permitted.forced_network(schema.names), schema)
            if not isinstance(self.k, str):
                permitted.check(int(self.k))

    def degree(self, curator: Curator, epsilon2: Fraction) -> ParentRule | None:
        """The rule for parent sets, None when no edge is worth its noise."""
        return choose_degree(self.k, curator.schema, curator.n, epsilon2, positive("theta_usefulness", self.theta_usefulness))

    def measure(self, curator: Curator) -> str:
        """R under strict, the papers' I otherwise, unless a score is named."""
        return self.score if self.score != "auto" else "R" if curator.guarantee == "strict" else "I"

    def alone(self, curator: Curator) -> StructureResult:
        """No edges, but those that a policy forces: nothing is spent."""
        names = curator.schema.names
        return StructureResult(Network.from_edges(names, self._settled()))

    def _settled(self) -> list[tuple[str, str]]:
        r = self.restriction
        return [] if r is None else [*r.forced, *((str(r.target), z) for z in r.sensitive if (r.target, z) not in r.forced)]

    def selects(self, curator: Curator) -> bool:
        """Whether any pair is left to choose: a policy may settle them all."""
        return self.restriction is None or len(self.restriction.on(curator.schema.names).searchable) > 1


@dataclass(frozen=True)
class Greedy(_Searched):
    """PrivBayes: child and parents are chosen together. ``root``: an attribute, ``"largest"`` domain, or None for a random one."""

    root: str | None = None

    def check(self, schema: Schema) -> None:
        """Refuse an unknown root, too."""
        super().check(schema)
        if self.root not in (None, "largest"):
            schema.index(str(self.root))

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """GreedyBayes.

        **Privacy:** as :func:`pdsynth.structure.greedy`, ε₁.
        """
        degree = self.degree(curator, epsilon2)
        if degree is None or not self.selects(curator):
            return self.alone(curator)
        schema, score = curator.schema, self.measure(curator)
        first = None if self.root is None else int(np.argmax(schema.sizes)) if self.root == "largest" else schema.index(self.root)
        prepare(curator, degree, score)
        network = greedy(curator, degree, epsilon1, score, noise, first=first, restriction=self.restriction)
        return StructureResult(network, epsilon1, derived=_derived(degree, self.restriction))


@dataclass(frozen=True)
class Ordered(_Searched):
    """Attributes enter in an order, only their parents are chosen.

    ``by``: ``"association"`` (thesis, average mutual information), ``"entropy"`` (weighted PrivBayes), ``"domain"`` (largest
    first, public), or names. ``share_sketch``: share of ε₁ for an order that must be asked for.
    """

    by: str | Sequence[str] = "association"
    share_sketch: float = 0.15

    def check(self, schema: Schema) -> None:
        """Refuse an order that isn't one."""
        super().check(schema)
        share("share_sketch", self.share_sketch)
        if isinstance(self.by, str) and self.by not in ("association", "entropy", "domain"):
            raise BudgetError(f"by must be 'association', 'entropy', 'domain' or a list of all attributes, got {self.by!r}")
        if not isinstance(self.by, str) and sorted(self.by) != sorted(schema.names):
            raise SchemaError(f"an order must name every attribute once; got {list(self.by)}, the schema has {list(schema.names)}")

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """The order, then the parent sets.

        **Privacy:** a share of ε₁ for the order where it depends on records, the rest as :func:`pdsynth.structure.ordered`.
        """
        degree = self.degree(curator, epsilon2)
        if degree is None or not self.selects(curator):
            return self.alone(curator)
        score = self.measure(curator)
        prepare(curator, degree, score)
        order, entry, cost = self._order(curator, epsilon1 * share("share_sketch", self.share_sketch))
        network = ordered(curator, order, degree, epsilon1 - cost, score, depends_on=entry, restriction=self.restriction)
        return StructureResult(network, epsilon1, derived=_derived(degree, self.restriction))

    def _order(self, curator: Curator, epsilon: Fraction) -> tuple[list[int], str, Fraction]:
        schema = curator.schema
        if not isinstance(self.by, str):
            return [schema.index(name) for name in self.by], "public", Fraction(0)
        if self.by == "domain":
            return np.argsort([-s for s in schema.sizes], kind="stable").tolist(), "public", Fraction(0)
        spent = epsilon if curator.guarantee == "strict" else Fraction(0)
        if self.by == "association":
            strength, entry = curator.average_association(epsilon, step="order by association", source="thesis Alg 3 line 2")
        else:
            counts, entry = curator.histograms(range(len(schema)), epsilon, step="order by entropy", source="weighted PrivBayes: weights")
            strength = np.array([_entropy(h) for h in counts])
        return np.argsort(-strength, kind="stable").tolist(), entry, spent


@dataclass(frozen=True)
class PairwiseSums(_Searched):
    """ELPrivBayes and SA-PrivBayes: one matrix of pairwise associations gives the order, and parent sets score their sums.

    ``keep``: published only: the share of candidate sets that stay before the selection (SA-PrivBayes: 2/3).
    """

    keep: float | None = None

    def check(self, schema: Schema) -> None:
        """Refuse a share out of range."""
        super().check(schema)
        if self.keep is not None and not 0 < number("keep", self.keep) <= 1:
            raise BudgetError(f"keep must lie in (0, 1], got {self.keep!r}")

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """Order and parent sets from the matrix.

        **Privacy:** as :func:`pdsynth.structure.pairwise`: strict, one sketch of ε₁.
        """
        degree = self.degree(curator, epsilon2)
        if degree is None or not self.selects(curator):
            return self.alone(curator)
        kept = None if self.keep is None else number("keep", self.keep)
        network, weights, entry = pairwise(curator, degree, epsilon1, keep=kept, restriction=self.restriction)
        return StructureResult(network, epsilon1, weights, entry)


@dataclass(frozen=True)
class Adaptive:
    """PrivABN: parent sets of two-valued attributes grow by one attribute at a time; under strict they stop when noise outweighs it.

    ``k``: largest number of parents; ``"auto"``: no cap as printed, the largest θ-useful number under strict. A ``restriction``
    holds under strict only: the printed programme has no place for one.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    restriction: Restriction | None = None

    def check(self, schema: Schema) -> None:
        """Refuse impossible degrees and restrictions, and attributes of more than two values."""
        check_parents(self.k, len(schema))
        positive("theta_usefulness", self.theta_usefulness)
        if self.restriction is not None:
            permitted = self.restriction.on(schema.names)
            if not isinstance(self.k, str):
                permitted.check(int(self.k))
        if max(schema.sizes) > 2:
            raise BudgetError("Adaptive() needs two-valued attributes: use PrivABN, which takes every table through its bits")

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """ABN with raw candidates where the guarantee is the paper's, nested selections under strict.

        **Privacy:** as :func:`pdsynth.structure.adaptive.abn_published` and :func:`pdsynth.structure.adaptive.abn_strict`; ε₁, of which what
        STOP leaves over is charged all the same.
        """
        names, m, n = curator.schema.names, len(curator.schema), curator.n
        if curator.guarantee != "strict":
            if self.restriction is not None:
                raise BudgetError(f"Adaptive() takes a restriction under guarantee='strict' only, not under {curator.guarantee!r}")
            most = None if isinstance(self.k, str) else int(self.k)
            return StructureResult(Network.of_columns(abn_published(curator, epsilon1, noise, most=most), names), epsilon1)
        most = self.largest(m, n, epsilon2)
        total, policy = selections(m, most), self.restriction or Restriction()
        if most == 0 or not policy.on(names).searchable:  # no edge is worth its noise, or all is settled: nothing is spent
            return StructureResult(policy.on(names).forced_network(names))
        pairs, used = abn_strict(curator, epsilon1 / total, noise, most=most, tables=m, epsilon2=epsilon2, restriction=policy)
        curator.charge_unused(epsilon1 * (total - used) / total, "selections that STOP left over", "algorithms §6.4")
        return StructureResult(Network.of_columns(pairs, names), epsilon1)

    def largest(self, m: int, n: int, epsilon2: Fraction) -> int:
        """In-degree of a strict network of m bits: k, or with ``"auto"`` the largest whose 2^(k+1) cells are θ-useful."""
        if not isinstance(self.k, str):
            return int(self.k)
        useful = MaxCells.of(n, m, epsilon2, positive("theta_usefulness", self.theta_usefulness)).cells
        return min(max(math.floor(min(useful, Fraction(AUTO_CELLS))).bit_length() - 2, 0), m - 1)


@dataclass(frozen=True)
class SpanningTree(_Searched):
    """PPBA (reconstruction): a maximum spanning tree shrinks the candidates. ``share_sketch``: share of ε₁ for the associations."""

    share_sketch: float = 0.5

    def check(self, schema: Schema) -> None:
        """Refuse a share out of range."""
        super().check(schema)
        share("share_sketch", self.share_sketch)

    def learn(self, curator: Curator, noise: Noise, epsilon1: Fraction, epsilon2: Fraction) -> StructureResult:
        """Associations, tree, then pairs along the tree.

        **Privacy:** a share of ε₁ for the sketch, the rest as :func:`pdsynth.structure.tree.spanning_tree_bayes`. Published: the associations are raw.
        """
        degree = self.degree(curator, epsilon2)
        if degree is None or not self.selects(curator):
            return self.alone(curator)
        d, score = len(curator.schema), self.measure(curator)
        prepare(curator, degree, score)
        pairs = list(combinations(range(d), 2))
        first = epsilon1 * share("share_sketch", self.share_sketch)
        found, entry = curator.noisy_associations(pairs, first, step="associations", source="PPBA abstract: spanning tree and node weights",
                                      raw_measure="I", reason="tree, candidates and ranking are functions of the records")  # fmt: skip
        left = epsilon1 - first if curator.guarantee == "strict" else epsilon1
        matrix = symmetric(d, pairs, found)
        network, weights = spanning_tree_bayes(curator, matrix, degree, left, score, depends_on=entry, restriction=self.restriction)
        return StructureResult(network, epsilon1, weights, entry)


def _derived(degree: ParentRule, restriction: Restriction | None) -> int:
    """With exactly min(k, i−1) parents the first k pairs lie in table k+1."""
    return degree.k if isinstance(degree, MaxParents) and restriction is None else 0


def _entropy(histogram: np.ndarray) -> float:
    p = np.maximum(histogram, 0) / max(np.maximum(histogram, 0).sum(), 1)
    return float(-(p[p > 0] * np.log2(p[p > 0])).sum())

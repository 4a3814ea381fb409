"""The one door to the records: every answer goes through a mechanism and into the ledger, or is written down as unaccounted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from ..counting.equivalence_classes import ParentSets
from ..counting.tables import Records
from ..errors import BudgetError, PrivacyError
from ..measures import GRID, JACCARD_GRID, SCORES, Score, average_mutual_information, conditional_sensitivity, jaccard_distances
from .ledger import Ledger, histogram_cost
from .mechanisms import Noise, Quantity, exponential_mechanism, laplace_mechanism

GUARANTEES = ("strict", "published", "none")


@dataclass(frozen=True)
class Candidates:
    """Attribute–parent pairs to choose from, in blocks of equal parent number: children (m,) and parents (m, s), column numbers.

    ``depends_on`` is ``"public"`` or the id of the ledger entry that the candidates are computed from.
    """

    blocks: tuple[tuple[np.ndarray, np.ndarray], ...]
    depends_on: str = "public"

    def __len__(self) -> int:
        return sum(len(children) for children, _ in self.blocks)

    def __getitem__(self, index: int) -> tuple[int, tuple[int, ...]]:
        for children, parents in self.blocks:
            if index < len(children):
                return int(children[index]), tuple(int(p) for p in parents[index])
            index -= len(children)
        raise IndexError(index)


class Curator:
    """Guards the records of one run.

    **Privacy:** each method says what it releases, its sensitivity under replacing one record, and its cost; ``n`` and the
    schema are public. Under ``strict`` whatever isn't paid for raises PrivacyError. Under ``published`` the statistics that a
    paper reads raw are handed out and written down as unaccounted accesses with the paper's line; under ``none`` everything is
    raw and the ledger says so once.
    """

    def __init__(self, records: Records, ledger: Ledger, noise: Noise, *, permute_and_flip: bool = False) -> None:
        self.__records, self.ledger, self._noise = records, ledger, noise
        self._permute = permute_and_flip
        self.n, self.schema = records.n, records.schema
        self.guarantee = ledger.guarantee
        self._part: dict[str, str] = {}
        self._domain = "schema:public" if self.schema.source == "public" else "raw:inferred from the records"
        ledger.public_attributes = self.schema.names
        if self.guarantee != "none" and not noise.private:
            raise PrivacyError(f"this random source adds no noise, but guarantee={self.guarantee!r}: use ExactNoise(), or guarantee='none'")
        if noise.reproducible and noise.private:
            ledger.notes.append("noise is reproducible: do not release")
        if self.guarantee == "none":
            ledger.write("unaccounted_access", "everything", source="guarantee='none'", released="raw counts and scores",
                         attributes=self.schema.names, inputs=("raw:D",), why="no noise at all", epsilon=math.inf)  # fmt: skip
        elif self._domain.startswith("raw:"):
            self._unaccounted("domains", "the schema was inferred", "categories, bounds and missing values", self.schema.names)

    @property
    def noise(self) -> Noise:
        """The random source, for choices that need no records: a root, a search."""
        return self._noise

    def binary(self) -> Curator:
        """The same door on the records' bits: same ledger, same noise; entries name the attributes that own the bits.

        **Privacy:** releases nothing, costs nothing; a record that changes may change all bits of all its attributes.
        """
        twin = self._twin()
        twin.__records = self.__records.binary()
        twin.schema = twin.__records.schema
        return twin

    def parallel(self, step: str, source: str, parts: Sequence[str]) -> list[Curator]:
        """The same door once a part of what a recipe composes in parallel; ``parts`` says what each holds (``"columns:C1"``).

        **Privacy:** releases nothing, costs nothing. The ledger takes the claim as the recipe makes it, the dearest part, and
        adds up the true costs unless the parts are provably disjoint records (rule L6).
        """
        twins = [self._twin() for _ in parts]
        if self.guarantee != "none":
            group = self.ledger.write("group", step, source=source, compose="parallel").id
            for twin, part in zip(twins, parts, strict=True):
                twin._part = {"parent": group, "record_filter": part}
        return twins

    def _twin(self) -> Curator:
        twin = object.__new__(Curator)
        twin.__dict__.update(self.__dict__)
        return twin

    def _names(self, columns: Sequence[int]) -> tuple[str, ...]:
        """The attributes that some columns belong to, each once."""
        return tuple(dict.fromkeys(self.__records.owners[j] for j in columns))

    def _unaccounted(self, step: str, source: str, released: str, attributes: tuple[str, ...], why: str = "") -> str:
        """Write down a raw read, and return its entry id; under ``none`` one line has said already that everything is raw."""
        if self.guarantee != "none":
            self.ledger.write("unaccounted_access", step, source=source, released=released, attributes=attributes, epsilon=math.inf,
                              inputs=("raw:D",), why=why or "a deterministic function of the records is used without a mechanism",
                              domain=self._domain if self._domain == "schema:public" else "public:named above")  # fmt: skip
        return self.ledger.entries[-1].id

    def _charge(self, step: str, **fields: Any) -> str:
        if self.guarantee != "none":
            self.ledger.write("mechanism", step, inputs=("raw:D",), n_records=self.n, domain=self._domain, **self._part, **fields)
        return self.ledger.entries[-1].id

    # --- selections --------------------------------------------------------------------------------------------------

    def select(
        self,
        candidates: Candidates,
        score: str,
        epsilon: Fraction,
        *,
        step: str,
        source: str,
        offsets: np.ndarray | None = None,
        printed_sensitivity: int | None = None,
        raw_scores: np.ndarray | None = None,
        pairwise: bool = False,
    ) -> tuple[int, tuple[int, ...]]:
        """One attribute–parent pair by the exponential mechanism; returns (child, parents) as column numbers.

        ``offsets``: public integers (len(candidates),) added to the scores, in their unit. ``printed_sensitivity``: what a paper
        takes for the sensitivity; the mechanism then runs as printed. ``raw_scores``: integer scores that the door has handed out
        before, so that they aren't computed twice; PrivacyError under ``strict``. ``pairwise``: the score of a parent set is the
        sum over its members, whose sensitivities add up.

        **Privacy:** costs ``epsilon``, or with a printed sensitivity ``epsilon`` × true ÷ printed. The true sensitivity is the
        largest over the candidates, which depends on declared domain sizes only. Under ``none`` the best pair, raw.
        """
        measure = SCORES[score]
        if raw_scores is not None and self.guarantee == "strict":
            raise PrivacyError(f"{step!r} brings raw scores of its own; under strict only the curator computes scores")
        sensitivity, domain = self._selection_sensitivity(self._one_by_one(candidates) if pairwise else candidates, measure)
        if pairwise:
            sensitivity *= max(1, *(p.shape[1] for _, p in candidates.blocks))
        cost = epsilon * Fraction(sensitivity, printed_sensitivity) if printed_sensitivity else epsilon
        d = len(self.schema)
        touched = np.flatnonzero(sum(np.bincount(c.ravel(), minlength=d) for block in candidates.blocks for c in block)).tolist()
        mechanism = "permute_and_flip" if self._permute else "exponential"
        self._charge(step, source=source, mechanism=mechanism, released=f"one of {len(candidates):,} attribute–parent pairs, score {score}",
                     attributes=self._names(touched), sensitivity=Fraction(sensitivity), epsilon=cost, claimed=epsilon,
                     candidates=candidates.depends_on, score_unit=measure.unit, sensitivity_unit=measure.unit, lemma=measure.lemma,
                     domain_sizes=domain)  # fmt: skip
        if raw_scores is None:
            raw_scores = np.concatenate([(self._sums if pairwise else self._scores)(measure, c, p) for c, p in candidates.blocks])
        scores = raw_scores if offsets is None else raw_scores + offsets
        chosen = exponential_mechanism(
            Quantity(scores, measure.unit), Quantity(sensitivity, measure.unit), cost, self._noise.child(step),
            permute_and_flip=self._permute,
        )  # fmt: skip
        return candidates[chosen]

    def charge_unused(self, epsilon: Fraction, step: str, source: str) -> None:
        """Charge a budget that was announced but isn't needed any more, so that the total stays what was promised.

        **Privacy:** reads and releases nothing; costs ``epsilon`` all the same.
        """
        if epsilon and self.guarantee != "none":
            self.ledger.write("mechanism", step, source=source, mechanism="forfeited", released="nothing", epsilon=epsilon, claimed=epsilon)

    @staticmethod
    def _one_by_one(candidates: Candidates) -> Candidates:
        """The pairs (child, single parent) that a pairwise score adds up."""
        return Candidates(tuple((np.repeat(c, p.shape[1]), p.reshape(-1, 1)) for c, p in candidates.blocks), candidates.depends_on)

    def _sums(self, measure: Score, children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        single = self._scores(measure, np.repeat(children, parents.shape[1]), parents.reshape(-1, 1))
        return single.reshape(parents.shape).sum(axis=1)

    def _selection_sensitivity(self, candidates: Candidates, measure: Score) -> tuple[int, tuple[int, int]]:
        sizes = np.array(self.schema.sizes)
        worst = (0, (1, 1))
        for children, parents in candidates.blocks:
            x, pi = sizes[children], np.minimum(sizes[parents].astype(float).prod(axis=1), 2.0**31).astype(np.int64)
            for pair in np.flatnonzero(np.bincount(np.minimum(x, 3) * 4 + np.minimum(pi, 3))).tolist():  # only 1, 2 or more values matter
                worst = max(worst, (measure.sensitivity(self.n, *divmod(pair, 4)), divmod(pair, 4)))
            if measure.name == "F" and (x != 2).any():
                raise BudgetError("score 'F' needs children with two values: use score='R', or a binary table")
        return worst

    def _scores(self, measure: Score, children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        lattice = self.__records.lattice
        if measure.name == "I":
            return np.rint(lattice.information(children, parents) * GRID).astype(np.int64)
        if measure.name == "H":
            return np.rint(lattice.entropies(children[:, None]) * GRID).astype(np.int64)
        if measure.name == "R":
            return lattice.association(children, parents)
        tables = (self.__records.table((c, *p)) for c, p in zip(children.tolist(), parents.tolist(), strict=True))
        return np.array([measure.of(t.reshape(len(t), -1)) for t in tables], dtype=np.int64)

    def prepare(self, max_size: int, score: str, members: Sequence[int] | None = None) -> None:
        """Count every set of up to ``max_size`` attributes (of ``members`` only, if given) at once, so that selections only look up.

        **Privacy:** releases nothing, costs nothing.
        """
        if score in ("I", "R"):
            self.__records.lattice.build(max_size, kind="H" if score == "I" else "K", members=members)

    # --- tables ------------------------------------------------------------------------------------------------------

    def table(
        self,
        columns: Sequence[int],
        scale: Fraction | tuple[Fraction, ...],
        *,
        step: str,
        source: str,
        claimed: Fraction,
        scale_depends_on: tuple[str, ...] = (),
        relation: str = "replace_one",
    ) -> np.ndarray:
        """Noisy joint counts of a child (first column) and its parents: int64 array, one axis an attribute, may be negative.

        ``scale`` is in records: one number, or one a value of the child.

        **Privacy:** discrete Laplace noise in every declared cell, empty ones included; L1 sensitivity 2, so it costs 2/scale,
        or the worst move of one record between cells when the rows have their own scales. ``claimed`` is what the recipe advertises.
        ``relation="add_remove"``: a paper counts a record more or less, sensitivity 1; the ledger doubles that (rule L7).
        """
        columns = tuple(columns)
        cells = math.prod(self.schema.sizes[j] for j in columns[1:])
        moved, lemma = (1, "lemma:joint_counts_add_remove") if relation == "add_remove" else (2, "lemma:joint_counts")
        cost = histogram_cost(scale, cells) if isinstance(scale, tuple) else Fraction(moved) / scale
        self._charge(step, source=source, mechanism="discrete_laplace", attributes=self._names(columns), sensitivity=Fraction(moved),
                     released=f"joint counts {self.schema.sizes[columns[0]]} × {cells}", scale=scale, columns=cells, epsilon=cost,
                     claimed=claimed, scale_depends_on=scale_depends_on, lemma=lemma, relation=relation,
                     domain_sizes=(self.schema.sizes[columns[0]], cells))  # fmt: skip
        return laplace_mechanism(self.__records.table(columns), scale, self._noise.child(step))

    def conditionals(
        self, columns: Sequence[int], scale: Fraction, *, step: str, source: str, claimed: Fraction, sparse: bool = False
    ) -> tuple[np.ndarray | None, np.ndarray]:
        """Noisy P(child | parents) of a two-valued child (first column): int64 (2, cells) in steps of 2^-30, may be negative.

        ``scale`` is in probability. With ``sparse`` only the parent configurations that occur: their numbers, int64 (cells,), first
        parent most significant, stand beside the table; else None does. Under ``none``: raw counts instead.

        **Privacy:** a column whose only record changes goes from (0, 1) to (1, 0), so the L1 sensitivity is 2, however large n: it
        costs 2/scale, n times what PrivABN claims (a child without parents: 2/n). Which configurations occur is read raw: another
        unaccounted access.
        """
        columns = tuple(columns)
        if self.schema.sizes[columns[0]] != 2:
            raise BudgetError(f"{self.schema.names[columns[0]]!r} has more than two values: noise on conditionals is for binary tables")
        cells = math.prod(self.schema.sizes[j] for j in columns[1:])
        keys, counts = self.__records.occurring(columns) if sparse else (None, self.__records.table(columns).reshape(2, -1))
        if self.guarantee == "none":
            return keys, counts
        if sparse:
            self._unaccounted(f"support of {step}", f"{source}, kept sparsely", f"which of {cells:,} parent configurations occur",
                              self._names(columns), "the print noises all configurations; only those that occur fit in memory")  # fmt: skip
        sensitivity = conditional_sensitivity(self.n, 2, cells)
        self._charge(step, source=source, mechanism="discrete_laplace", attributes=self._names(columns), sensitivity=sensitivity,
                     released=f"conditional distributions 2 × {counts.shape[1]:,}", scale=scale, columns=cells,
                     epsilon=sensitivity / scale, claimed=claimed, lemma="lemma:conditional", domain_sizes=(2, cells))  # fmt: skip
        total = np.maximum(counts.sum(axis=0), 1)
        zero = np.where(counts.sum(axis=0) > 0, counts[0] * GRID // total, GRID // 2)  # a configuration without records: uniform
        return keys, laplace_mechanism(np.stack([zero, GRID - zero]), scale * GRID, self._noise.child(step))

    def histograms(
        self, columns: Sequence[int], epsilon: Fraction, *, step: str, source: str, reason: str = ""
    ) -> tuple[list[np.ndarray], str]:
        """One-way counts of several attributes, with the id of their ledger entry.

        **Privacy:** ``strict``: discrete Laplace noise of scale 2m/ε in every cell of all m histograms, ε in all.
        ``published``: raw counts and one unaccounted access with the paper's line.
        """
        names, labels = self._names(columns), [self.schema.names[j] for j in columns]
        raw = [self.__records.table((j,)) for j in columns]
        if self.guarantee != "strict":
            return raw, self._unaccounted(step, source, f"frequencies of the values of {len(labels)} attributes", names, reason)
        scale = Fraction(2 * len(columns)) / epsilon
        entry = self._charge(step, source=source, mechanism="discrete_laplace", attributes=names, sensitivity=Fraction(2 * len(columns)),
                             released=f"{len(columns)} one-way histograms", scale=scale, epsilon=epsilon, claimed=epsilon)  # fmt: skip
        noise = self._noise.child(step)
        return [laplace_mechanism(h, scale, noise.child(name)) for h, name in zip(raw, labels, strict=True)], entry

    # --- associations ------------------------------------------------------------------------------------------------

    def average_association(self, epsilon: Fraction, *, step: str, source: str, reason: str = "") -> tuple[np.ndarray, str]:
        """How strongly each attribute is tied to all others: float array (d,), and the id of its ledger entry.

        ``strict``: average R from the integers A_i = Σ_j K(i,j); ``published`` and ``none``: average mutual information, bits.

        **Privacy:** the vector A has L1 sensitivity S·d(d−1), S = 4(n−1) or 6(n−1) by declared domains; discrete Laplace noise,
        cost ε. Published: raw, one unaccounted access.
        """
        d = len(self.schema)
        pairs, names = list(combinations(range(d), 2)), self._names(range(d))
        if self.guarantee != "strict":
            what = f"order of {d} attributes from {len(pairs)} mutual informations"
            entry = self._unaccounted(step, source, what, names, reason)
            return average_mutual_information(self._pairwise("I")), entry
        sums = self._pairwise("K").sum(axis=1)
        noisy, entry = self._noisy_vector(sums, 2 * self._moved(pairs), epsilon, step, source, f"{d} sums of K", names)
        return noisy / (2.0 * self.n**2 * (d - 1)), entry

    def association_with(
        self, sensitive: int, epsilon: Fraction, *, step: str, source: str, reason: str = ""
    ) -> tuple[np.ndarray, str]:
        """How strongly each attribute is tied to the sensitive one: float array (d,), infinite at the sensitive attribute itself.

        ``strict``: R from K(i, S); ``published`` and ``none``: mutual information in bits.

        **Privacy:** d−1 integers K(i,S), L1 sensitivity the sum of their 4(n−1) or 6(n−1); discrete Laplace, cost ε.
        Published: raw, one unaccounted access.
        """
        d, names, label = len(self.schema), self._names(range(len(self.schema))), self.schema.names[sensitive]
        others = [j for j in range(d) if j != sensitive]
        values = np.full(d, np.inf)
        if self.guarantee != "strict":
            entry = self._unaccounted(step, source, f"{d - 1} mutual informations with {label} against a threshold", names, reason)
            values[others] = self._pairwise("I")[sensitive, others]
            return values, entry
        k, moved = self._pairwise("K")[sensitive, others], self._moved([(j, sensitive) for j in others])
        noisy, entry = self._noisy_vector(k, moved, epsilon, step, source, f"{d - 1} values of K with {label}", names)
        values[others] = noisy / (2.0 * self.n**2)
        return values, entry

    def noisy_associations(
        self, pairs: Sequence[tuple[int, int]], epsilon: Fraction, *, step: str, source: str, raw_measure: str = "", reason: str = ""
    ) -> tuple[np.ndarray, str]:
        """How strongly the pairs of a public list are tied: float array (len(pairs),), and its entry id.

        Noisy R, clipped to [0, 1]. With ``raw_measure`` (``"I"``, bits) ``published`` and ``none`` hand that out raw instead.

        **Privacy:** integers K with L1 sensitivity Σ 4(n−1) or 6(n−1) over the pairs; discrete Laplace, cost ε. Raw: one
        unaccounted access.
        """
        touched = self._names(sorted({j for pair in pairs for j in pair}))
        i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
        if raw_measure and self.guarantee != "strict":
            entry = self._unaccounted(step, source, f"{len(pairs)} pairwise measures {raw_measure}", touched, reason)
            return self._pairwise(raw_measure)[i, j].astype(float), entry
        k = self._pairwise("K")[i, j]
        noisy, entry = self._noisy_vector(k, self._moved(pairs), epsilon, step, source, f"{len(pairs)} values of K", touched)
        return np.clip(noisy / (2.0 * self.n**2), 0, 1), entry

    def information_sketch(
        self, each: Fraction, *, claimed: Fraction, step: str, source: str, measure: str = "I"
    ) -> tuple[np.ndarray, str]:
        """Noisy measure of all m pairs of columns: symmetric float array (d, d), and its entry id.

        ``"I"``: mutual information in bits, on integer multiples of 2^-30, Δ the largest of the declared domains. ``"J"``: Jaccard
        distance of two-valued columns, on multiples of 2^-20, Δ = 1. Discrete Laplace noise of scale Δ/``each``.

        **Privacy:** one record can move all m values by Δ, so the matrix costs m·``each``, whatever ``claimed`` says.
        """
        d, sizes = len(self.schema), self.schema.sizes
        i, j = np.triu_indices(d, 1)
        grid, delta = (JACCARD_GRID, JACCARD_GRID) if measure == "J" else (GRID, SCORES["I"].sensitivity(self.n, *sorted(sizes)[-2:]))
        delta = max(delta, 1)
        steps = np.rint(self._pairwise(measure)[i, j] * grid).astype(np.int64)
        scale = delta / each if self.guarantee != "none" else Fraction(1)
        entry = self._charge(step, source=source, mechanism="discrete_laplace", attributes=self._names(range(d)), scale=scale,
                             sensitivity=Fraction(delta * len(i)), released=f"{len(i):,} values of {measure} in 1/{grid:,}",
                             epsilon=each * len(i), claimed=claimed)  # fmt: skip
        noisy = laplace_mechanism(steps, scale, self._noise.child(step)) / grid
        matrix = np.zeros((*noisy.shape[:-1], d, d))  # noise for many runs has an axis of runs in front
        matrix[..., i, j] = matrix[..., j, i] = noisy
        return matrix, entry

    def sparse_vector_test(
        self, pairs: Sequence[tuple[int, int]], thresholds: Sequence[float], epsilon: Fraction, *, step: str, source: str, why: str
    ) -> np.ndarray:
        """Which pairs of columns have mutual information of at least their threshold, in bits: bool array (len(pairs),).

        The sparse vector test as JTree prints it, without a bound on the positives: one noise for all thresholds and a fresh one a
        pair, both discrete Laplace of scale 2Δ/ε on the 2^-30-bit grid, Δ the largest of the declared domains. Under ``none`` raw.

        **Privacy:** claims ε, but no ε holds however many pairs are tested (Lyu, Su, Li 2017, Algorithm 6): an unaccounted access;
        PrivacyError under ``strict``.
        """
        measure, sizes = SCORES["I"], self.schema.sizes
        touched = self._names(sorted({j for pair in pairs for j in pair}))
        if self.guarantee != "none":
            self.ledger.write("unaccounted_access", step, source=source, mechanism="sparse_vector", why=why, attributes=touched,
                              released=f"{len(pairs)} comparisons of I with a threshold", inputs=("raw:D",), claimed=epsilon,
                              epsilon=math.inf)  # fmt: skip
        i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
        gaps = np.rint((self._pairwise("I")[i, j] - np.asarray(thresholds)) * GRID).astype(np.int64)
        scale = Fraction(2 * max(1, *(measure.sensitivity(self.n, sizes[a], sizes[b]) for a, b in pairs))) / epsilon
        shift, noise = self._noise.child(f"{step}: threshold"), self._noise.child(step)
        return laplace_mechanism(gaps, scale, noise) >= laplace_mechanism(np.zeros(1, dtype=np.int64), scale, shift)

    def _moved(self, pairs: Sequence[tuple[int, int]]) -> Fraction:
        """How far one record can move the values K of these pairs, all together."""
        sizes = self.schema.sizes
        return Fraction(sum(SCORES["R"].sensitivity(self.n, sizes[i], sizes[j]) for i, j in pairs))

    def _noisy_vector(
        self, k: np.ndarray, sensitivity: Fraction, epsilon: Fraction, step: str, source: str, released: str, names: tuple[str, ...]
    ) -> tuple[np.ndarray, str]:
        sensitivity = max(sensitivity, Fraction(1))  # a single record has no association at all; its noise still needs a scale
        scale = sensitivity / epsilon if self.guarantee != "none" else Fraction(1)
        entry = self._charge(step, source=source, mechanism="discrete_laplace", attributes=names, sensitivity=sensitivity,
                             released=released, scale=scale, epsilon=epsilon, claimed=epsilon)  # fmt: skip
        return laplace_mechanism(k, scale, self._noise.child(step)), entry

    def _pairwise(self, measure: str) -> np.ndarray:
        """Raw (d, d) matrix of I (bits), K (records²) or J (Jaccard distance), zero diagonal. Inside the curator only."""
        if measure == "J":
            return jaccard_distances(self.__records.codes)
        d, lattice = len(self.schema), self.__records.lattice
        matrix = np.zeros((d, d), dtype=np.int64 if measure == "K" else float)
        i, j = np.triu_indices(d, 1)
        values = (lattice.association if measure == "K" else lattice.information)(i, j[:, None])
        matrix[i, j] = matrix[j, i] = values
        return matrix

    # --- the exception -----------------------------------------------------------------------------------------------

    def peek(self, reason: str, source: str, columns: Sequence[int]) -> np.ndarray:
        """Raw joint counts of some attributes, for replicas of what papers print.

        **Privacy:** none. Writes an unaccounted access; raises PrivacyError under ``strict`` before anything is read.
        """
        self._unaccounted(reason, source, f"raw counts of {len(columns)} attribute(s)", self._names(columns))
        return self.__records.table(tuple(columns))

    def parent_sets(self, children: Sequence[int], most: int | None, *, step: str, source: str, why: str) -> ParentSets:
        """A store of raw parent sets of any size with their mutual information, for GParentSet's dynamic programme (PrivABN).

        **Privacy:** none. Writes an unaccounted access; raises PrivacyError under ``strict`` before anything is read.
        """
        self._unaccounted(step, source, f"parent sets of {len(children) + 1} attributes by their mutual information",
                          self._names(range(len(self.schema))), why)  # fmt: skip
        return self.__records.partitions.parent_sets(children, most)

    def note_post_processing(self, step: str, inputs: tuple[str, ...], released: str) -> str:
        """Write a post-processing line, so that a later entry can name what its candidates or scales come from.

        **Privacy:** reads no records, costs nothing.
        """
        return self.ledger.write("post_processing", step, inputs=inputs, released=released).id

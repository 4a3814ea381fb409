"""The one door to the records: whatever they answer stands in the ledger.

It takes ε, and computes every sensitivity and every scale of noise itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .errors import PrivacyError, door
from .ledger import Ledger, LedgerWriter
from .measures import SCORES, association, project
from .network import Candidates
from .noise import (
    Noise,
    Quantity,
    exponential_mechanism,
    laplace_mechanism,
    laplace_width,
    zero_sum_mechanism,
)
from .records import Records
from .unit import ONE_REPLACED, Scale, TableBudget, Unit, tight_scales
from .views import Merging

Pairs = Sequence[tuple[int, int]]
ONE_WAY = "one-way table"
FEW_LEVELS = 3  # whose numbers are told apart for what their sum costs
Question = tuple[Sequence[int], TableBudget, str]  # columns, child first; budget; step


class Measured(NamedTuple):
    """A noisy table: int64 counts, the scale of its noise in records, its line of the ledger.

    ``scale``: of Laplace noise; where the noise is zero-sum, that of Laplace noise as wide
    (:func:`laplace_width`), by which tables weigh. The ledger has the scale that was drawn.

    **Privacy:** released, and paid for by that line.
    """

    counts: np.ndarray
    scale: Scale
    entry: str


class Curator(LedgerWriter):
    """Guards the records of one run: answers go through a mechanism, or are written down as raw.

    **Privacy:** each method says what it releases, its sensitivity under replacing one record, and
    its cost; ``n`` and the schema are public. Whatever isn't paid for raises PrivacyError under
    ``strict``, before anything is read. ε and scales are those of one record; the ledger multiplies
    them. What is read raw is another door's. ``zero_sum``: small tables get zero-sum noise.
    """

    zero_sum = True

    def __init__(self, records: Records, ledger: Ledger, noise: Noise) -> None:
        self._records, self._permute = records, noise.permutes
        self._residuals: dict[tuple[int, ...], tuple[np.ndarray, int]] = {}
        self.released: dict[int, Measured] = {}  # noisy tables of single columns
        super().__init__(ledger, noise, records.n, records.schema, records.owners)

    @property
    def noise(self) -> Noise:
        """The random source, for choices that need no records: a root, a search."""
        return self._noise

    def binary(self) -> Curator:
        """The same door on the records' bits; entries name the attributes that own the bits.

        **Privacy:** releases nothing, costs nothing; a record that changes may change all its bits.
        """
        twin, bits = copy(self), self._records.binary()
        twin._records, twin.schema, twin._owners = bits, bits.schema, bits.owners
        twin._residuals, twin.released = {}, {}
        return twin

    def merged(
        self, merging: Merging, inputs: Sequence[str], step: str = "rare values merged"
    ) -> Curator:
        """The same door on the records with some values standing as one, as releases say.

        ``inputs``: the lines of these releases. Sets of columns and tables are over merged values.

        **Privacy:** releases nothing, costs nothing. A line of post-processing names the releases,
        and is the domain of this door's lines (rule L9). Sums of cells move no further than cells.
        """
        twin, merged = copy(self), merging.schema
        sizes = zip(merged.names, merged.sizes, self.schema.sizes, strict=True)
        words = ", ".join(f"{x}: {new} of {old} values" for x, new, old in sizes if new < old)
        twin._domain = self.note_post_processing(step, tuple(inputs), words)
        twin._records, twin.schema = self._records.merged(merging), merged
        twin._residuals, twin.released = {}, {}
        return twin

    def count_records(self, epsilon: Fraction) -> int:
        """The noisy number of records, at least 1, which is ``n`` from here on.

        Where records have a few levels, the sum of a noisy number for each, kept as ``counted``: of
        many levels it would be much noisier than one number.

        **Privacy:** where n is secret: sensitivity 1, as a record has one level, discrete Laplace
        noise of scale 1/ε, costs ε; clipping is post-processing. Where n is public, or was asked,
        it stays, and costs nothing: sensitivities follow from it.
        """
        if self._n is not None:
            return self._n
        levels = (0,) if 0 < len(self.ledger.levels) <= FEW_LEVELS else ()
        said = "number of records", "discrete Laplace count", "n", levels
        counts = self._records.table(levels) if levels else np.array([self._records.n])
        noisy, entry = self._noisy(counts, Fraction(1), epsilon, *said, unit=self.ledger.unit)
        self.counted = Measured(noisy, 1 / epsilon, entry) if levels else None
        self._n = max(1, int(noisy.sum()))
        return self._n

    def prepare(self, max_size: int, score: str, members: Sequence[int] | None = None) -> None:
        """Count every set of up to ``max_size`` attributes (of ``members``), which scores look up.

        **Privacy:** releases nothing, costs nothing.
        """
        if kind := {"I": "H", "R": "K"}.get(score):
            self._records.lattice.build(max_size, kind=kind, members=members)

    def select(
        self,
        candidates: Candidates,
        score: str,
        epsilon: Fraction,
        *,
        step: str,
        source: str,
        offsets: np.ndarray | None = None,
        pairwise: bool = False,
    ) -> tuple[int, tuple[int, ...]]:
        """One attribute–parent pair by the exponential mechanism: (child, parents), column numbers.

        ``offsets``: public integers (len(candidates),) added to the scores, in their unit.
        ``pairwise``: the score of a parent set is the sum over its members, whose sensitivities add
        up.

        **Privacy:** costs ``epsilon``. The sensitivity is the largest over the candidates, by
        declared domain sizes only.
        """
        return self._select(candidates, score, epsilon, step, source, offsets, pairwise)

    def _select(
        self,
        candidates: Candidates,
        score: str,
        epsilon: Fraction,
        step: str,
        source: str,
        offsets: np.ndarray | None,
        pairwise: bool,
        assumed: int | None = None,
        scores: np.ndarray | None = None,
    ) -> tuple[int, tuple[int, ...]]:
        """As :meth:`select`; ``assumed``: a sensitivity, ``scores``: integers, of another door."""
        measure, scored = SCORES[score], candidates.single() if pairwise else candidates
        sensitivity, domain = scored.sensitivity(measure, self.n, self.schema.sizes)
        if pairwise:
            sensitivity *= max(1, *(parents.shape[1] for _, parents in candidates.by_size))
        cost = epsilon * (Fraction(sensitivity, assumed) if assumed else 1)
        exponent, paid = self._price_choice(cost)
        self._charge(
            step,
            source,
            f"one of {len(candidates):,} attribute–parent pairs, score {score}",
            candidates.columns(len(self.schema)),
            **paid,  # type: ignore[arg-type]
            claimed=paid["epsilon"] if exponent != cost else epsilon,
            sensitivity=Fraction(sensitivity),
            score_unit=measure.unit,
            lemma=measure.lemma,
            sensitivity_unit=measure.unit,
            domain_sizes=domain,
            candidates=candidates.depends_on,
            mechanism="permute_and_flip" if self._permute else "exponential",
        )
        if scores is None:
            by_size = [self._records.scores(measure, *pairs) for pairs in scored.by_size]
            scores = candidates.add_up(by_size) if pairwise else np.concatenate(by_size)
        scores = scores if offsets is None else scores + public(offsets)
        return candidates[
            exponential_mechanism(
                Quantity(scores, measure.unit),
                Quantity(sensitivity, measure.unit),
                exponent,
                self._noise.child(step),
                permute_and_flip=self._permute,
                among=candidates,
            )
        ]

    def choose_table(
        self,
        sets: Sequence[tuple[int, ...]],
        expected: Sequence[np.ndarray],
        penalties: np.ndarray,
        epsilon: Fraction,
        *,
        step: str,
        source: str,
    ) -> int | None:
        """Which set of columns has counts farthest from expected ones, by number; None: STOP.

        Score in records: Q = Σ |counts − expected| − penalty, and 0 for STOP. ``expected``: int64,
        one table per set, from releases; ``penalties``: int64 (len(sets),), public.

        **Privacy:** the exponential mechanism, costs ``epsilon``. Both are fixed before the records
        are read, and a replaced record moves two cells by one each, so Q by at most 2, for any
        domain; where n is secret, by 1. STOP's score never moves (lemma:residual).
        """
        releases = [e.id for e in self.ledger.entries if e.kind == "mechanism"]
        unit, (exponent, paid) = self.ledger.unit, self._price_choice(epsilon)
        self._charge(
            step,
            source,
            f"one of {len(sets):,} sets of attributes, or STOP; score residual",
            sorted({j for columns in sets for j in columns}),
            **paid,
            mechanism="permute_and_flip" if self._permute else "exponential",
            sensitivity=Fraction(unit.moved),
            score_unit="records",
            sensitivity_unit="records",
            domain_sizes=(2, 2),
            unit=unit,
            lemma=unit.lemma("residual"),
            candidates=releases[-1] if releases else "public",
        )
        triples = list(zip(sets, expected, public(penalties), strict=True))
        self._records.expect(
            [s for s, e, _ in triples if self._residuals.get(s, (None,))[0] is not e]
        )
        scores = [self._residual(s, e) - int(p) for s, e, p in triples]
        chosen = exponential_mechanism(
            Quantity(np.array([*scores, 0], dtype=np.int64), "records"),
            Quantity(unit.moved, "records"),
            exponent,
            self._noise.child(step),
            permute_and_flip=self._permute,
            among=[*sets, "STOP"],
        )
        return None if chosen == len(sets) else chosen

    def choose_edges(
        self, column: int, number: int, epsilon: Fraction, *, step: str, source: str
    ) -> tuple[list[int], str]:
        """Edges between a column's values, of exactly ``number`` bins, with their line's id.

        Rising numbers of values: a bin begins at each. Values that hold clearly more than a bin's
        part of the records stand alone, the others are cut at medians of medians, and at half of
        the widest bins. A last value that stands for missing isn't among them.

        **Privacy:** costs ε: exponential mechanisms that compose to it, with whole records for
        scores, whose sensitivity is 2 where a record is replaced and 1 where one comes or goes
        (lemma:edges, :func:`~pdsynth.binning.edges.private_edges`).
        """
        unit, cells = self.ledger.unit, len(self.schema.attributes[column].values)
        entry = self._charge(
            step,
            source,
            f"{number - 1} edges of {cells:,} values",
            (column,),
            epsilon=epsilon,
            mechanism="exponential",
            sensitivity=Fraction(unit.moved),
            score_unit="records",
            sensitivity_unit="records",
            domain_sizes=(cells, 1),
            unit=unit,
            lemma=unit.lemma("edges"),
        )
        counts = self._records.table((column,))[:cells]
        heavy, noise = self.n // number, self._noise.child(step)
        choose = door("binning").private_edges
        return choose(counts, number, heavy, unit.moved, epsilon, noise), entry

    def exponent(self, epsilon: Fraction) -> Fraction:
        """The exponent of a choice that may cost ε. **Privacy:** public: it costs nothing."""
        return self._price_choice(epsilon)[0]

    def _price_choice(self, epsilon: Fraction) -> tuple[Fraction, dict[str, Fraction]]:
        """The exponent of a choice that may cost ε, and what its line says of its cost."""
        return epsilon, {"epsilon": epsilon}

    def _residual(self, columns: tuple[int, ...], expected: np.ndarray) -> int:
        """Σ |counts − expected|, kept while the very same table is expected. Raw."""
        if self._residuals.get(columns, (None,))[0] is not expected:
            counts = self._records.table(tuple(columns))
            if counts.shape != expected.shape:  # a cell would count as often as it is expected
                raise PrivacyError(f"columns {columns}: the expected table has another shape")
            self._residuals[columns] = expected, int(np.abs(counts - public(expected, 2**40)).sum())
        return self._residuals[columns][1]

    def table(self, columns: Sequence[int], budget: TableBudget, *, step: str) -> Measured:
        """Noisy joint counts of a child (first column) and its parents, one axis each.

        The noise follows from the budget: one scale, or one per value of the child where the budget
        has weights that differ. PrivacyError for a budget that brings a scale of its own.

        **Privacy:** discrete Laplace noise in every declared cell, empty ones included, of scale
        2/ε where a record is replaced (L1 sensitivity 2), 1/ε where n is secret; with weights
        that differ, the scales for which the worst move of a record costs ε. Where n is public, any
        other table of 2 to 32 cells gets zero-sum noise of scale 2/ε in its place
        (:func:`~pdsynth.core.noise.zero_sum_mechanism`), if the random source has it. Costs
        ``budget.epsilon``.
        """
        if type(budget) is not TableBudget:
            raise PrivacyError(
                f"{step!r} brings a {type(budget).__name__}; a table is paid for by a TableBudget, "
                "from which the curator computes the noise"
            )
        unit = self.ledger.unit
        child, cells = self._shape(columns)
        scale = unit.scale(budget.epsilon)
        weights = budget.weights or ()
        if len(set(weights)) > 1:
            scales = tight_scales(weights, budget.epsilon, cells, unit)
            return self._measure(columns, budget, step, scales, unit)
        if self._sums_to_n(child * cells):  # charged as ONE_REPLACED: refused where n is secret
            return self._measure(columns, budget, step, scale, ONE_REPLACED, zero_sum=True)
        return self._measure(columns, budget, step, scale, unit)

    def expected_noise(self, epsilon: Fraction, cells: int) -> Fraction:
        """Expected Σ |noise| of a table for ε without weights, in records: the scale per free cell.

        Zero-sum noise leaves one cell less free.

        **Privacy:** public; reads nothing, costs nothing.
        """
        return self.ledger.unit.scale(epsilon) * (cells - self._sums_to_n(cells))

    def _sums_to_n(self, cells: int) -> bool:
        """Whether a table of so many cells, without weights, gets zero-sum noise."""
        return self.zero_sum and self._noise.zero_sum and self.ledger.unit.sums_to_n(cells)

    def tables(self, questions: Iterable[Question]) -> Iterator[Measured]:
        """The answers to several questions of :meth:`table`, whose tables are counted in one pass.

        Each is charged when its answer is taken, in this order.

        **Privacy:** as :meth:`table`; costs the ε of each budget.
        """
        questions = list(questions)
        self._records.expect(columns for columns, _, _ in questions)
        for columns, budget, step in questions:
            yield self.table(columns, budget, step=step)

    def _measure(
        self,
        columns: Sequence[int],
        budget: TableBudget,
        step: str,
        scale: Scale,
        unit: Unit,
        zero_sum: bool = False,
    ) -> Measured:
        """A table with noise of a scale, charged for what a neighbour of this unit can change."""
        child, cells = self._shape(columns)
        entry = self._charge(
            step,
            budget.source,
            f"joint counts {child} × {cells}",
            columns,
            mechanism="zero_sum_laplace" if zero_sum else "discrete_laplace",
            epsilon=unit.cost(scale, cells),
            claimed=budget.epsilon,
            sensitivity=Fraction(unit.moved),
            scale=scale,
            scale_depends_on=budget.depends_on,
            columns=cells,
            lemma="lemma:zero_sum" if zero_sum else unit.lemma("joint_counts"),
            unit=unit,
            domain_sizes=(child, cells),
        )
        counts = self._records.table(tuple(columns))
        counts = self._add_noise(counts, scale, step, zero_sum=zero_sum)
        if zero_sum:
            assert isinstance(scale, Fraction)
            scale = laplace_width(scale, child * cells)
        return Measured(counts, scale, entry)

    def columns(
        self, epsilon: Fraction, members: Sequence[int] | None = None
    ) -> dict[int, Measured]:
        """Noisy tables of single columns (``members``; None: all), ε in proportion to √values.

        They are kept for :meth:`residuals`; asked again, the same ones are returned, whatever
        ``members`` says.

        **Privacy:** as :meth:`tables`, ε in all; asked again they cost nothing.
        """
        if not self.released:
            columns = range(len(self.schema)) if members is None else members
            roots = {j: math.isqrt(10**4 * self.schema.sizes[j]) for j in columns}
            whole = epsilon / sum(roots.values())
            questions = (
                ((j,), TableBudget(whole * x, source=ONE_WAY), f"column({self.schema.names[j]})")
                for j, x in roots.items()
            )
            self.released = dict(zip(roots, self.tables(questions), strict=True))
        return self.released

    def residuals(
        self, pairs: Pairs, epsilon: Fraction, *, step: str, source: str, sums: bool = False
    ) -> tuple[np.ndarray, str]:
        """How far the pairs of a public list are from independence, with the entry id.

        Float array (len(pairs),): noisy R from Q = Σ |c_ij − m_ij| = 2n·R in whole records, where
        m_ij = p̂_i p̂_j / n of the columns that :meth:`columns` released. R may be negative.
        ``sums``: (d,), of each column the sum over its pairs.

        **Privacy:** costs ε. m_ij is a function of releases, rounded to whole records, so a
        replaced record moves each Q by at most 2, and where n is secret by 1; a sum of them by as
        much for each of its pairs, and a pair stands in two sums (lemma:residuals).
        """
        i, j, touched = split_pairs(pairs)
        unit, m, times = self.ledger.unit, len(pairs), 2 if sums else 1
        self._records.expect(pairs)
        gaps = [np.abs(self._records.table(pair) - self._independent(*pair)) for pair in pairs]
        exact = np.array([gap.sum() for gap in gaps], dtype=np.int64)
        if sums:
            places = np.concatenate([i, j])
            exact = np.bincount(places, np.tile(exact, 2), len(self.schema)).astype(np.int64)
        noisy, entry = self._noisy(
            exact,
            Fraction(unit.moved * m * times),
            epsilon,
            step,
            source,
            f"{len(exact)} sums of residuals" if sums else f"{m} residuals of pairs",
            touched,
            lemma=unit.lemma("residuals"),
            domain_sizes=(m, times),
            unit=unit,
        )
        return noisy / (2.0 * self.n), entry

    def _independent(self, i: int, j: int) -> np.ndarray:
        """What the released columns expect of a pair, in whole records: int64 (|X_i|, |X_j|)."""
        p, q = (project(self.released[c].counts.astype(float), self.n) for c in (i, j))
        return np.rint(np.outer(p, q) / self.n).astype(np.int64)

    def noisy_associations(
        self, pairs: Pairs, epsilon: Fraction, *, step: str, source: str
    ) -> tuple[np.ndarray, str]:
        """How strongly the pairs of a public list are tied, with the entry id.

        Float array (len(pairs),): noisy R, clipped to [0, 1].

        **Privacy:** costs ε; one K per pair.
        """
        i, j, touched = split_pairs(pairs)
        k, moved = self._pairwise("K")[i, j], self._sensitivity(pairs)
        words = f"{len(pairs)} values of K"
        noisy, entry = self._noisy(k, moved, epsilon, step, source, words, touched)
        return np.clip(noisy / (2.0 * self.n**2), 0, 1), entry

    def strongest_association(
        self, pairs: Pairs, epsilon: Fraction, *, step: str, source: str, offsets: np.ndarray
    ) -> tuple[float, str]:
        """The largest R of a public list of pairs, noisy and maybe negative, and the entry id.

        ``offsets``: public integers (len(pairs),) added to the pairs' K = 2n²·R before the largest
        is taken.

        **Privacy:** costs ε; the largest of some numbers moves by no more than one of them can.
        """
        i, j, touched = split_pairs(pairs)
        most = np.array([(self._pairwise("K")[i, j] + public(offsets)).max()])
        moved = max(self._sensitivity([pair]) for pair in pairs)
        words = f"the largest K of {len(pairs):,} pairs"
        noisy, entry = self._noisy(most, moved, epsilon, step, source, words, touched)
        return float(noisy.item() / (2 * self.n**2)), entry

    def mean_association(self, pairs: Pairs, epsilon: Fraction, *, step: str, source: str) -> float:
        """The mean R over the pairs of a public list: one noisy number, that may be negative.

        **Privacy:** costs ε; the number is ⌊ΣK/2n⌋ in whole records, which one record moves by at
        most ⌈ΔΣK/2n⌉: 2 per pair with a two-valued column, else 3, and n is public.
        """
        self._records.expect(pairs)
        total = sum(association(self._records.table(pair)) for pair in pairs) // (2 * self.n)
        moved = Fraction(-(-self._sensitivity(pairs) // (2 * self.n)))
        words, touched = f"the mean R of {len(pairs):,} pairs", split_pairs(pairs)[2]
        noisy, _ = self._noisy(np.array([total]), moved, epsilon, step, source, words, touched)
        return float(noisy.item() / (self.n * len(pairs)))

    def _sensitivity(self, pairs: Pairs) -> Fraction:
        """How far one record can move the values K of these pairs, all together: records²."""
        moved, sizes = SCORES["R"].sensitivity, self.schema.sizes
        return Fraction(sum(moved(self.n, sizes[i], sizes[j]) for i, j in pairs))

    def _noisy(
        self,
        k: np.ndarray,
        sensitivity: Fraction,
        epsilon: Fraction,
        step: str,
        *said: Any,
        **fields: Any,
    ) -> tuple[np.ndarray, str]:
        """Integers with noise that costs ε, and their entry id; ``said``: as to :meth:`_charge`."""
        sensitivity = max(sensitivity, Fraction(1))  # one record alone moves nothing
        scale = sensitivity / epsilon
        entry = self._charge(
            step, *said, epsilon=epsilon, sensitivity=sensitivity, scale=scale, **fields
        )
        return self._add_noise(k, scale, step), entry

    def _shape(self, columns: Sequence[int]) -> tuple[int, int]:
        """Declared values of a child (first column), and configurations of its parents."""
        child, *parents = (self.schema.sizes[j] for j in columns)
        return child, math.prod(parents)

    def _pairwise(self, measure: str) -> np.ndarray:
        return self._records.pairwise(measure)

    def _add_noise(
        self, integers: np.ndarray, scale: Scale, step: str, zero_sum: bool = False
    ) -> np.ndarray:
        if zero_sum and isinstance(scale, Fraction):
            return zero_sum_mechanism(integers, scale, self._noise.child(step))
        return laplace_mechanism(integers, scale, self._noise.child(step))


def public(numbers: Any, most: int = 2**61) -> np.ndarray:
    """Public integers, int64; PrivacyError for those by which a score could wrap around."""
    if not np.all(np.abs(np.asarray(numbers, dtype=float)) < most):
        raise PrivacyError(f"what is added to a score must stay below {most:,}")
    return np.asarray(numbers, dtype=np.int64)


def split_pairs(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """First and second columns of some pairs, and every column that occurs, rising."""
    i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
    return i, j, sorted({column for pair in pairs for column in pair})

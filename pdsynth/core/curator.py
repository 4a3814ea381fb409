"""The one door to the records: whatever they answer stands in the ledger.

It takes ε, and computes every sensitivity and every scale of noise itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .errors import BudgetError, PrivacyError
from .ledger import Ledger, LedgerWriter
from .measures import SCORES, Score, association, sketch_sensitivity
from .noise import (
    ONE_REPLACED,
    Noise,
    Quantity,
    Scale,
    TableBudget,
    Unit,
    exponential_mechanism,
    laplace_mechanism,
    tight_scales,
    zero_sum_mechanism,
)
from .records import Records
from .schema import Merging
from .zero_sum import laplace_width

Pairs = Sequence[tuple[int, int]]
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


@dataclass(frozen=True)
class Candidates:
    """Attribute–parent pairs to choose from, by their number of parents.

    ``by_size``: for each number s of parents the columns of children (m,) and of their parents (m,
    s). ``depends_on`` is
    ``"public"`` or the id of the ledger entry that the candidates are computed from.
    """

    by_size: tuple[tuple[np.ndarray, np.ndarray], ...]
    depends_on: str = "public"

    def __len__(self) -> int:
        return sum(len(children) for children, _ in self.by_size)

    def __getitem__(self, index: int) -> tuple[int, tuple[int, ...]]:
        for children, parents in self.by_size:
            if index < len(children):
                return int(children[index]), tuple(int(p) for p in parents[index])
            index -= len(children)
        raise IndexError(index)

    def columns(self, d: int) -> list[int]:
        """The columns, of ``d``, that occur in any pair, rising."""
        found = sum(np.bincount(c.ravel(), minlength=d) for pair in self.by_size for c in pair)
        return np.flatnonzero(found).tolist()

    def single(self) -> Candidates:
        """The pairs (child, one parent) that a pairwise score adds up."""
        alone = ((np.repeat(c, p.shape[1]), p.reshape(-1, 1)) for c, p in self.by_size)
        return Candidates(tuple(alone), self.depends_on)

    def add_up(self, found: Sequence[np.ndarray]) -> np.ndarray:
        """Scores of the pairs from those of :meth:`single`, in their order: (len(self),)."""
        scored = zip(found, self.by_size, strict=True)
        return np.concatenate([f.reshape(parents.shape).sum(axis=1) for f, (_, parents) in scored])

    def sensitivity(
        self, measure: Score, n: int, sizes: Sequence[int]
    ) -> tuple[int, tuple[int, int]]:
        """The largest sensitivity of the scores of ``n`` records, and domain sizes that attain it.

        Only whether child and parents have 1, 2 or more declared values matters.
        """
        size, worst = np.array(sizes), (0, (1, 1))
        for children, parents in self.by_size:
            x = np.minimum(size[children], 3)
            pi = np.minimum(size[parents].astype(float).prod(axis=1), 3).astype(np.int64)
            for kind in np.flatnonzero(np.bincount(4 * x + pi)).tolist():
                domain = divmod(kind, 4)
                worst = max(worst, (measure.sensitivity(n, *domain), domain))
            if measure.name == "F" and (x != 2).any():
                raise BudgetError(
                    "score 'F' needs children with two values: use score='R', or a binary table"
                )
        return worst


class Curator(LedgerWriter):
    """Guards the records of one run: answers go through a mechanism, or are written down as raw.

    **Privacy:** each method says what it releases, its sensitivity under replacing one record, and
    its cost; ``n`` and the schema are public. Whatever isn't paid for raises PrivacyError under
    ``strict``, before anything is read. ε and scales are those of one record; the ledger multiplies
    them. What is read raw is another door's. ``zero_sum``: small tables get zero-sum noise.
    """

    zero_sum = True

    def __init__(
        self, records: Records, ledger: Ledger, noise: Noise, *, permute_and_flip: bool = False
    ) -> None:
        self._records, self._permute = records, permute_and_flip
        self._residuals: dict[tuple[int, ...], tuple[np.ndarray, int]] = {}
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
        twin._residuals = {}
        return twin

    def merged(self, merging: Merging, inputs: Sequence[str]) -> Curator:
        """The same door on the records with some values standing as one, as releases say.

        ``inputs``: the lines of these releases. Sets of columns and tables are over merged values.

        **Privacy:** releases nothing, costs nothing. A line of post-processing names the releases,
        and is the domain of this door's lines (rule L9). Sums of cells move no further than cells.
        """
        twin, merged = copy(self), merging.schema
        sizes = zip(merged.names, merged.sizes, self.schema.sizes, strict=True)
        words = ", ".join(f"{x}: {new} of {old} values" for x, new, old in sizes if new < old)
        twin._domain = self.note_post_processing("rare values merged", tuple(inputs), words)
        twin._records, twin.schema = self._records.merged(merging), merged
        twin._residuals = {}
        return twin

    def count_records(self, epsilon: Fraction) -> int:
        """The noisy number of records, at least 1, which is ``n`` from here on.

        **Privacy:** where n is secret: sensitivity 1, discrete Laplace noise of scale 1/ε, costs ε;
        clipping is post-processing. Where a record is replaced, n is public.
        """
        step, scale = "number of records", 1 / epsilon
        self._charge(
            step,
            "discrete Laplace count",
            "n",
            (),
            epsilon=epsilon,
            scale=scale,
            sensitivity=Fraction(1),
            unit=self.ledger.unit,
        )
        self._n = max(1, int(self._add_noise(np.array([self._records.n]), scale, step)[0]))
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
            found = [self._records.scores(measure, *pairs) for pairs in scored.by_size]
            scores = candidates.add_up(found) if pairwise else np.concatenate(found)
        scores = scores if offsets is None else scores + offsets
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
            mechanism="exponential",
            sensitivity=Fraction(unit.moved),
            score_unit="records",
            sensitivity_unit="records",
            domain_sizes=(2, 2),
            unit=unit,
            lemma=unit.lemma("residual"),
            candidates=releases[-1] if releases else "public",
        )
        asked = list(zip(sets, expected, penalties, strict=True))
        self._records.expect(
            [s for s, e, _ in asked if self._residuals.get(s, (None,))[0] is not e]
        )
        scores = [self._residual(s, e) - int(p) for s, e, p in asked]
        chosen = exponential_mechanism(
            Quantity(np.array([*scores, 0], dtype=np.int64), "records"),
            Quantity(unit.moved, "records"),
            exponent,
            self._noise.child(step),
            among=[*sets, "STOP"],
        )
        return None if chosen == len(sets) else chosen

    def exponent(self, epsilon: Fraction) -> Fraction:
        """The exponent of a choice that may cost ε. **Privacy:** public: it costs nothing."""
        return self._price_choice(epsilon)[0]

    def _price_choice(self, epsilon: Fraction) -> tuple[Fraction, dict[str, Fraction]]:
        """The exponent of a choice that may cost ε, and what its line says of its cost."""
        return epsilon, {"epsilon": epsilon}

    def _residual(self, columns: tuple[int, ...], expected: np.ndarray) -> int:
        """Σ |counts − expected|, kept while the very same table is expected. Raw."""
        if self._residuals.get(columns, (None,))[0] is not expected:
            gap = int(np.abs(self._records.table(tuple(columns)) - expected).sum())
            self._residuals[columns] = expected, gap
        return self._residuals[columns][1]

    def table(self, columns: Sequence[int], budget: TableBudget, *, step: str) -> Measured:
        """Noisy joint counts of a child (first column) and its parents, one axis each.

        The noise follows from the budget: one scale, or one per value of the child where the budget
        has weights. PrivacyError for a budget that brings a scale of its own.

        **Privacy:** discrete Laplace noise in every declared cell, empty ones included, of scale
        2/ε where a record is replaced (L1 sensitivity 2), 1/ε where n is secret; with weights, the
        scales for which the worst move of a record costs ε. Where n is public, a table of 2 to 32
        cells without weights gets zero-sum noise of scale 2/ε in its place
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
        if budget.weights is not None:
            scales = tight_scales(budget.weights, budget.epsilon, cells)
            return self._measure(columns, budget, step, scales, unit)
        if self._sums_to_n(child * cells):
            return self._measure_zero_sum(columns, budget, step, scale)
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
        self, columns: Sequence[int], budget: TableBudget, step: str, scale: Scale, unit: Unit
    ) -> Measured:
        """A table with noise of a scale, charged for what a neighbour of this unit can change."""
        child, cells = self._shape(columns)
        entry = self._charge(
            step,
            budget.source,
            f"joint counts {child} × {cells}",
            columns,
            epsilon=unit.cost(scale, cells),
            claimed=budget.epsilon,
            sensitivity=Fraction(unit.moved),
            scale=scale,
            scale_depends_on=budget.depends_on,
            columns=cells,
            lemma=unit.lemma("joint_counts"),
            unit=unit,
            domain_sizes=(child, cells),
        )
        counts = self._add_noise(self._records.table(tuple(columns)), scale, step)
        return Measured(counts, scale, entry)

    def _measure_zero_sum(
        self, columns: Sequence[int], budget: TableBudget, step: str, scale: Fraction
    ) -> Measured:
        """A table with zero-sum noise of a scale; n is public."""
        child, cells = self._shape(columns)
        entry = self._charge(
            step,
            budget.source,
            f"joint counts {child} × {cells}",
            columns,
            mechanism="zero_sum_laplace",
            epsilon=ONE_REPLACED.cost(scale, cells),
            sensitivity=Fraction(ONE_REPLACED.moved),
            scale=scale,
            scale_depends_on=budget.depends_on,
            columns=cells,
            lemma="lemma:zero_sum",
            domain_sizes=(child, cells),
        )
        counts = self._add_noise(self._records.table(tuple(columns)), scale, step, zero_sum=True)
        return Measured(counts, laplace_width(scale, child * cells), entry)

    def histograms(
        self, columns: Sequence[int], epsilon: Fraction, *, step: str, source: str
    ) -> tuple[list[np.ndarray], str]:
        """One-way counts of several attributes, with the id of their ledger entry.

        **Privacy:** noise of scale 2m/ε in every cell of all m histograms, ε in all.
        """
        self._records.expect((j,) for j in columns)
        m, raw = len(columns), [self._records.table((j,)) for j in columns]
        unit = ONE_REPLACED  # nobody worked out what else it might be
        scale = unit.scale(epsilon, tables=m)
        entry = self._charge(
            step,
            source,
            f"{m} one-way histograms",
            columns,
            epsilon=epsilon,
            sensitivity=Fraction(unit.moved * m),
            scale=scale,
        )
        noise = self._noise.child(step)
        streams = [noise.child(self.schema.names[j]) for j in columns]
        noisy = [laplace_mechanism(h, scale, s) for h, s in zip(raw, streams, strict=True)]
        return noisy, entry

    def average_association(
        self, epsilon: Fraction, *, step: str, source: str
    ) -> tuple[np.ndarray, str]:
        """How strongly each attribute is tied to all others: float array (d,), and its entry id.

        The average of R over the pairs of each.

        **Privacy:** costs ε; the sums A_i = Σ_j K(i,j) move by two K per pair.
        """
        d = len(self.schema)
        pairs = list(combinations(range(d), 2))
        noisy, entry = self._noisy(
            _sum_rows(self._pairwise("K"), self.n),
            2 * self._sensitivity(pairs),
            epsilon,
            step,
            source,
            f"{d} sums of K",
            range(d),
        )
        return noisy.astype(float) / (2.0 * self.n**2 * (d - 1)), entry

    def association_with(
        self, sensitive: int, epsilon: Fraction, *, step: str, source: str
    ) -> tuple[np.ndarray, str]:
        """How strongly each attribute is tied to the sensitive one, with the entry id.

        R, float array (d,), infinite at the sensitive one itself.

        **Privacy:** costs ε; d−1 integers K.
        """
        d, label = len(self.schema), self.schema.names[sensitive]
        others = [j for j in range(d) if j != sensitive]
        values = np.full(d, np.inf)
        k, moved = self._pairwise("K")[sensitive, others], [(j, sensitive) for j in others]
        noisy, entry = self._noisy(
            k,
            self._sensitivity(moved),
            epsilon,
            step,
            source,
            f"{d - 1} values of K with {label}",
            range(d),
        )
        values[others] = noisy / (2.0 * self.n**2)
        return values, entry

    def noisy_associations(
        self,
        pairs: Pairs,
        epsilon: Fraction,
        *,
        step: str,
        source: str,
    ) -> tuple[np.ndarray, str]:
        """How strongly the pairs of a public list are tied, with the entry id.

        Float array (len(pairs),): noisy R, clipped to [0, 1].

        **Privacy:** costs ε; one K per pair.
        """
        i, j, touched = split_pairs(pairs)
        k, moved, said = (
            self._pairwise("K")[i, j],
            self._sensitivity(pairs),
            f"{len(pairs)} values of K",
        )
        noisy, entry = self._noisy(k, moved, epsilon, step, source, said, touched)
        return np.clip(noisy / (2.0 * self.n**2), 0, 1), entry

    def mean_association(self, pairs: Pairs, epsilon: Fraction, *, step: str, source: str) -> float:
        """The mean R over the pairs of a public list: one noisy number, that may be negative.

        **Privacy:** costs ε; the number is ⌊ΣK/2n⌋ in whole records, which one record moves by at
        most ⌈ΔΣK/2n⌉: 2 per pair with a two-valued column, else 3, and n is public.
        """
        total = self._total_association(pairs) // (2 * self.n)
        moved = Fraction(-(-self._sensitivity(pairs) // (2 * self.n)))
        said, touched = f"the mean R of {len(pairs):,} pairs", split_pairs(pairs)[2]
        noisy, _ = self._noisy(np.array([total]), moved, epsilon, step, source, said, touched)
        return float(noisy.item() / (self.n * len(pairs)))

    def _sensitivity(self, pairs: Pairs) -> Fraction:
        """How far one record can move the values K of these pairs, all together."""
        return Fraction(sketch_sensitivity(self.n, self.schema.sizes, pairs))

    def _noisy(
        self,
        k: np.ndarray,
        sensitivity: Fraction,
        epsilon: Fraction,
        step: str,
        source: str,
        released: str,
        touched: Sequence[int],
        claimed: Fraction | None = None,
    ) -> tuple[np.ndarray, str]:
        """Integers with noise that costs ε, and their entry id."""
        sensitivity = max(sensitivity, Fraction(1))  # one record alone moves nothing
        scale = sensitivity / epsilon
        entry = self._charge(
            step,
            source,
            released,
            touched,
            sensitivity=sensitivity,
            scale=scale,
            epsilon=epsilon,
            claimed=claimed,
        )
        return self._add_noise(k, scale, step), entry

    def _shape(self, columns: Sequence[int]) -> tuple[int, int]:
        """Declared values of a child (first column), and configurations of its parents."""
        child, *parents = (self.schema.sizes[j] for j in columns)
        return child, math.prod(parents)

    def _pairwise(self, measure: str) -> np.ndarray:
        return self._records.pairwise(measure)

    def _total_association(self, pairs: Pairs) -> int:
        self._records.expect(pairs)
        return sum(association(self._records.table(pair)) for pair in pairs)

    def _add_noise(
        self,
        integers: np.ndarray,
        scale: Fraction | Sequence[Fraction],
        step: str,
        zero_sum: bool = False,
    ) -> np.ndarray:
        if zero_sum and isinstance(scale, Fraction):
            return zero_sum_mechanism(integers, scale, self._noise.child(step))
        return laplace_mechanism(integers, scale, self._noise.child(step))


def _sum_rows(k: np.ndarray, n: int) -> np.ndarray:
    """Exact sums of K (d, d) over rows: int64, or Python's integers where 2n²(d − 1) asks for them.

    One K and its noise fit 64 bits, since n is at most
    :data:`~pdsynth.core.recipe.MOST_RECORDS`; which integers are used follows from n and
    d, which are public.
    """
    long = 2 * n * n * (len(k) - 1) >= 2**62
    return k.astype(object).sum(axis=1) if long else k.sum(axis=1)


def split_pairs(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """First and second columns of some pairs, and every column that occurs, rising."""
    i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
    return i, j, sorted({column for pair in pairs for column in pair})

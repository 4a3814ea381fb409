"""The one door to the records: whatever they answer stands in the ledger."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..counting.tables import Records
from ..errors import PrivacyError
from ..measures import SCORES, association
from .associations import Associations, Pairs
from .candidates import Candidates
from .ledger import Ledger
from .mechanisms import Noise, Quantity, exponential_mechanism, laplace_mechanism
from .unit import Scale, TableBudget, Unit, tight_scales

__all__ = ["GUARANTEES", "Candidates", "Curator", "Measured", "TableBudget"]

GUARANTEES = ("strict", "published", "none")
UNPROTECTED = "guarantee='published'"  # where errors say what would run a print
Question = tuple[Sequence[int], TableBudget, str]  # columns, child first; budget; step


class Measured(NamedTuple):
    """A noisy table: int64 counts, the scale of its noise in records, its line of the ledger."""

    counts: np.ndarray
    scale: Scale
    entry: str


class Curator(Associations):
    """Guards the records of one run: answers go through a mechanism, or are written down as raw.

    **Privacy:** each method says what it releases, its sensitivity under replacing one record, and
    its cost; ``n`` and the schema are public. Whatever isn't paid for raises PrivacyError under
    ``strict``, before anything is read. Scales and ε are asked for as if a person had one record;
    with more, the ledger multiplies. Under ``published`` the statistics that a paper reads raw are
    handed out, each as an unaccounted access with the paper's line; under ``none`` everything is
    raw and the ledger says so once.
    """

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

    def count_records(self, epsilon: Fraction) -> int:
        """The noisy number of records, at least 1, which is ``n`` from here on.

        **Privacy:** where a record is added or removed: sensitivity 1, discrete Laplace noise of
        scale 1/ε, costs ε; clipping is post-processing. Where one is replaced, n is public.
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
            relation=self.ledger.relation,
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
        printed_sensitivity: int | None = None,
        raw_scores: np.ndarray | None = None,
        pairwise: bool = False,
    ) -> tuple[int, tuple[int, ...]]:
        """One attribute–parent pair by the exponential mechanism: (child, parents), column numbers.

        ``offsets``: public integers (len(candidates),) added to the scores, in their unit.
        ``printed_sensitivity``: what a paper takes for the sensitivity; the mechanism then runs as
        printed. ``raw_scores``: integer scores that the door has handed out before, so that they
        aren't computed twice; refused under ``strict``. ``pairwise``: the score of a parent set is
        the sum over its members, whose sensitivities add up.

        **Privacy:** costs ``epsilon``, or with a printed sensitivity ``epsilon`` × true ÷ printed.
        The true one is the largest over the candidates, by declared domain sizes only. Under
        ``none`` the best pair, raw.
        """
        if raw_scores is not None and self.guarantee == "strict":
            raise PrivacyError(
                f"{step!r} brings raw scores of its own; "
                "under strict only the curator computes scores"
            )
        measure, scored = SCORES[score], candidates.single() if pairwise else candidates
        sensitivity, domain = scored.sensitivity(measure, self.n, self.schema.sizes)
        if pairwise:
            sensitivity *= max(1, *(parents.shape[1] for _, parents in candidates.blocks))
        excess = Fraction(sensitivity, printed_sensitivity) if printed_sensitivity else 1
        cost = epsilon * excess
        self._charge(
            step,
            source,
            f"one of {len(candidates):,} attribute–parent pairs, score {score}",
            candidates.columns(len(self.schema)),
            epsilon=cost,
            claimed=epsilon,
            sensitivity=Fraction(sensitivity),
            score_unit=measure.unit,
            lemma=measure.lemma,
            sensitivity_unit=measure.unit,
            domain_sizes=domain,
            candidates=candidates.depends_on,
            mechanism="permute_and_flip" if self._permute else "exponential",
        )
        if raw_scores is None:
            found = [self._records.scores(measure, *block) for block in scored.blocks]
            raw_scores = candidates.add_up(found) if pairwise else np.concatenate(found)
        scores = raw_scores if offsets is None else raw_scores + offsets
        return candidates[
            exponential_mechanism(
                Quantity(scores, measure.unit),
                Quantity(sensitivity, measure.unit),
                cost,
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
        domain; an added or removed one moves it by 1. STOP's score never moves (lemma:residual).
        """
        releases = [e.id for e in self.ledger.entries if e.kind == "mechanism"]
        unit = self.ledger.unit
        self._charge(
            step,
            source,
            f"one of {len(sets):,} sets of attributes, or STOP; score residual",
            sorted({j for columns in sets for j in columns}),
            epsilon=epsilon,
            mechanism="exponential",
            sensitivity=Fraction(unit.moved),
            score_unit="records",
            sensitivity_unit="records",
            domain_sizes=(2, 2),
            relation=unit.relation,
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
            epsilon,
            self._noise.child(step),
            among=[*sets, "STOP"],
        )
        return None if chosen == len(sets) else chosen

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
        2/ε where a record is replaced (L1 sensitivity 2), 1/ε where one is added or removed; with
        weights, the scales for which the worst move of a record costs ε. Costs ``budget.epsilon``.
        """
        if type(budget) is not TableBudget:
            raise PrivacyError(
                f"{step!r} brings a {type(budget).__name__}; a table is paid for by a TableBudget, "
                "from which the curator computes the noise"
            )
        unit = self.ledger.unit
        scale: Scale = unit.scale(budget.epsilon)
        if budget.weights is not None:
            scale = tight_scales(budget.weights, budget.epsilon, self._shape(columns)[1])
        return self._measure(columns, budget, step, scale, unit)

    def tables(self, questions: Iterable[Question]) -> Iterator[Measured]:
        """The answers to several questions of :meth:`table`, whose tables are counted in one pass.

        Each is charged when its answer is taken, in this order.

        **Privacy:** as :meth:`table`, for each.
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
            relation=unit.relation,
            domain_sizes=(child, cells),
        )
        counts = self._add_noise(self._records.table(tuple(columns)), scale, step)
        return Measured(counts, scale, entry)

    def histograms(
        self, columns: Sequence[int], epsilon: Fraction, *, step: str, source: str, reason: str = ""
    ) -> tuple[list[np.ndarray], str]:
        """One-way counts of several attributes, with the id of their ledger entry.

        **Privacy:** ``strict``: noise of scale 2m/ε in every cell of all m histograms, ε in all.
        """
        self._records.expect((j,) for j in columns)
        m, raw = len(columns), [self._records.table((j,)) for j in columns]
        unit = Unit()
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
        self, integers: np.ndarray, scale: Fraction | Sequence[Fraction], step: str
    ) -> np.ndarray:
        return laplace_mechanism(integers, scale, self._noise.child(step))

"""The door of papers as they are printed: it hands out raw statistics, and writes each down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core import (
    GRID,
    SCORES,
    BudgetError,
    Candidates,
    Curator,
    Measured,
    Pairs,
    PrivacyError,
    TableBudget,
    conditional_sensitivity,
)
from ..core import split_pairs as _split
from .budgets import PrintedBudget
from .partitions import ParentSets, count_both, count_sparsely, find_partitions

JACCARD_GRID = 2**20  # Jaccard distances enter mechanisms as integer multiples of 2^-20


class RawCurator(Curator):
    """Answers as the papers print them; under ``none`` without noise.

    **Privacy:** none. What isn't paid for is an unaccounted access with the paper's line.
    """

    zero_sum = False  # papers print Laplace noise
    _part: Mapping[str, Any] = MappingProxyType({})  # fields of a line that composes in parallel

    def _open_account(self) -> None:
        """What is read raw before any question: under ``none`` everything, else inferred domains.

        A strict ledger refuses these lines.
        """
        public = self.schema.source == "public"
        self._domain = "schema:public" if public else "raw:inferred from the records"
        if self._silent:
            self.ledger.write(
                "unaccounted_access",
                "everything",
                source="guarantee='none'",
                released="raw counts and scores",
                attributes=self.schema.names,
                inputs=("raw:D",),
                why="no noise at all",
                epsilon=math.inf,
            )
        elif not public:
            released, touched = "categories, bounds and missing values", range(len(self.schema))
            self._unaccounted("domains", "the schema was inferred", released, touched)

    @property
    def _silent(self) -> bool:
        """Whether no noise is added, so that nothing is paid, and all is said once."""
        return self.ledger.guarantee == "none"

    def _charge(
        self, step: str, source: str, released: str, touched: Sequence[int], **fields: Any
    ) -> str:
        """As of the strict door; without noise nothing is paid."""
        if self._silent:
            return self.ledger.entries[-1].id
        return super()._charge(step, source, released, touched, **fields, **self._part)

    def charge_unused(self, epsilon: Fraction, step: str, source: str) -> None:
        """As of the strict door; without noise nothing is paid.

        **Privacy:** reads and releases nothing; costs ``epsilon`` all the same.
        """
        if not self._silent:
            super().charge_unused(epsilon, step, source)

    def _unaccounted(
        self,
        step: str,
        source: str,
        released: str,
        touched: Sequence[int],
        why: str = "",
        **fields: Any,
    ) -> str:
        """Write down a raw read, and return its entry id; ``none`` has said it once for all."""
        if not self._silent:
            public = self._domain == "schema:public"
            self.ledger.write(
                "unaccounted_access",
                step,
                source=source,
                released=released,
                why=why or "a deterministic function of the records is used without a mechanism",
                attributes=self._names(touched),
                inputs=("raw:D",),
                epsilon=math.inf,
                domain="schema:public" if public else "public:named above",
                **fields,
            )
        return self.ledger.entries[-1].id

    def table(self, columns: Sequence[int], budget: TableBudget, *, step: str) -> Measured:
        """Noisy joint counts, with the noise that a paper prints where the budget says so.

        **Privacy:** as :meth:`Curator.table`; a printed scale costs what it costs, whatever it
        claims.
        """
        if not isinstance(budget, PrintedBudget):
            return super().table(columns, budget, step=step)
        unit = budget.unit or self.ledger.unit
        return self._measure(columns, budget, step, budget.scale, unit)

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
        printed_sensitivity: int | None = None,
        raw_scores: np.ndarray | None = None,
    ) -> tuple[int, tuple[int, ...]]:
        """One attribute–parent pair by the exponential mechanism, or under ``none`` the best.

        ``printed_sensitivity``: what a paper takes for the sensitivity; the mechanism then runs as
        printed. ``raw_scores``: integer scores that this door has handed out before, so that they
        aren't computed twice.

        **Privacy:** as :meth:`Curator.select`; with a printed sensitivity it costs ``epsilon`` ×
        true ÷ printed.
        """
        if raw_scores is not None and self.ledger.guarantee == "strict":
            raise PrivacyError(
                f"{step!r} brings raw scores of its own; "
                "under strict only the curator computes scores"
            )
        printed = printed_sensitivity, raw_scores
        return self._select(candidates, score, epsilon, step, source, offsets, pairwise, *printed)

    def _noisy(
        self, k: np.ndarray, sensitivity: Fraction, epsilon: Fraction, *said: Any, **more: Any
    ) -> tuple[np.ndarray, str]:
        """As of the strict door; without noise nothing is paid, and the scale doesn't matter."""
        if self._silent:
            epsilon = max(sensitivity, Fraction(1))
        return super()._noisy(k, sensitivity, epsilon, *said, **more)

    def _pairwise(self, measure: str) -> np.ndarray:
        if measure != "J":
            return super()._pairwise(measure)
        return jaccard_distances(count_both(self._records))

    def average_association(
        self, *, step: str, source: str, reason: str = ""
    ) -> tuple[np.ndarray, str]:
        """Average mutual information, raw. **Privacy:** none."""
        d = len(self.schema)
        released = f"order of {d} attributes from {d * (d - 1) // 2} mutual informations"
        entry = self._unaccounted(step, source, released, range(d), reason)
        return average_mutual_information(self._pairwise("I")), entry

    def association_with(
        self, sensitive: int, *, step: str, source: str, reason: str = ""
    ) -> tuple[np.ndarray, str]:
        """Mutual information in bits with the sensitive one, raw. **Privacy:** none."""
        d, label = len(self.schema), self.schema.names[sensitive]
        released = f"{d - 1} mutual informations with {label} against a threshold"
        entry = self._unaccounted(step, source, released, range(d), reason)
        values = self._pairwise("I")[sensitive].astype(float)
        values[sensitive] = np.inf
        return values, entry

    def noisy_associations(
        self,
        pairs: Pairs,
        epsilon: Fraction,
        *,
        step: str,
        source: str,
        raw_measure: str = "",
        reason: str = "",
    ) -> tuple[np.ndarray, str]:
        """Raw where a paper reads it raw. **Privacy:** none."""
        if not raw_measure:
            return super().noisy_associations(pairs, epsilon, step=step, source=source)
        i, j, touched = _split(pairs)
        released = f"{len(pairs)} pairwise measures {raw_measure}"
        entry = self._unaccounted(step, source, released, touched, reason)
        return self._pairwise(raw_measure)[i, j].astype(float), entry

    def histograms(
        self, columns: Sequence[int], *, step: str, source: str, reason: str = ""
    ) -> tuple[list[np.ndarray], str]:
        """One-way counts, raw. **Privacy:** none."""
        released = f"frequencies of the values of {len(columns)} attributes"
        self._records.expect((j,) for j in columns)
        raw = [self._records.table((j,)) for j in columns]
        return raw, self._unaccounted(step, source, released, columns, reason)

    def parallel(self, step: str, source: str, parts: Sequence[str]) -> list[RawCurator]:
        """A door for each part that a recipe composes in parallel, such as ``"columns:C1"``.

        **Privacy:** releases nothing, costs nothing. The ledger takes the claim as the recipe makes
        it, the dearest part, and adds up the true costs unless the parts are provably disjoint
        records (rule L6).
        """
        twins = [copy(self) for _ in parts]
        if not self._silent:
            group = self.ledger.write("group", step, source=source, compose="parallel").id
            for twin, part in zip(twins, parts, strict=True):
                twin._part = {"parent": group, "record_filter": part}
        return twins

    def conditionals(
        self,
        columns: Sequence[int],
        budget: TableBudget,
        *,
        step: str,
        sparse: bool = False,
    ) -> tuple[np.ndarray | None, Measured]:
        """Noisy P(child | parents) of a two-valued child (first column), in steps of 2^-30.

        int64 (2, cells), may be negative, with the printed scale 2/(n ε) in probability (PrivABN,
        Algorithm 4, line 5). With ``sparse`` only the parent configurations that occur: their
        numbers, int64 (cells,), first parent most significant, stand before the table; else None
        does. Under ``none``: raw counts instead.

        **Privacy:** a column whose only record changes goes from (0, 1) to (1, 0): L1 sensitivity
        2, however large n, so it costs 2/scale, n times what PrivABN claims (a child without
        parents: 2/n). Which configurations occur is read raw: another unaccounted access.
        """
        columns = tuple(columns)
        child, cells = self._shape(columns)
        if child != 2:
            raise BudgetError(
                f"{self.schema.names[columns[0]]!r} has more than two values: "
                "noise on conditionals is for binary tables"
            )
        keys, counts = (
            count_sparsely(self._records, columns)
            if sparse
            else (None, self._records.table(columns).reshape(2, -1))
        )
        scale = 2 / (self.n * budget.epsilon)
        if self._silent:
            return keys, Measured(counts, scale, self.ledger.entries[-1].id)
        if sparse:
            self._unaccounted(
                f"support of {step}",
                f"{budget.source}, kept sparsely",
                f"which of {cells:,} parent configurations occur",
                columns,
                "the print noises all configurations; only those that occur fit in memory",
            )
        sensitivity = conditional_sensitivity(self.n, 2, cells)
        entry = self._charge(
            step,
            budget.source,
            f"conditional distributions 2 × {counts.shape[1]:,}",
            columns,
            epsilon=sensitivity / scale,
            claimed=budget.epsilon,
            sensitivity=sensitivity,
            scale=scale,
            columns=cells,
            lemma="lemma:conditional",
            domain_sizes=(2, cells),
        )
        total = counts.sum(axis=0)
        uniform = GRID // 2  # of a configuration without records
        zero = np.where(total > 0, counts[0] * GRID // np.maximum(total, 1), uniform)
        table = self._add_noise(np.stack([zero, GRID - zero]), scale * GRID, step)
        return keys, Measured(table, scale, entry)

    def peek(self, reason: str, source: str, columns: Sequence[int]) -> np.ndarray:
        """Raw joint counts of some attributes, for replicas of what papers print.

        **Privacy:** none. An unaccounted access.
        """
        self._unaccounted(reason, source, f"raw counts of {len(columns)} attribute(s)", columns)
        return self._records.table(tuple(columns))

    def parent_sets(
        self, children: Sequence[int], most: int | None, *, step: str, source: str, why: str
    ) -> ParentSets:
        """A store of raw parent sets with their mutual information, for PrivABN's GParentSet.

        **Privacy:** none. An unaccounted access.
        """
        released = f"parent sets of {len(children) + 1} attributes by their mutual information"
        self._unaccounted(step, source, released, range(len(self.schema)), why)
        return find_partitions(self._records).parent_sets(children, most)

    def information_sketch(
        self, each: Fraction, *, claimed: Fraction, step: str, source: str, measure: str = "I"
    ) -> tuple[np.ndarray, str]:
        """Noisy measure of all m pairs of columns: symmetric float array (d, d), and its entry id.

        ``"I"``: mutual information in bits, on the 2^-30-bit grid, Δ the largest of the declared
        domains. ``"J"``: Jaccard distance of two-valued columns, on multiples of 2^-20, Δ = 1.

        **Privacy:** noise of scale Δ/``each``. One record can move all m values by Δ, so the matrix
        costs m·``each``, whatever ``claimed`` says.
        """
        d = len(self.schema)
        i, j = np.triu_indices(d, 1)
        grid = delta = JACCARD_GRID
        if measure == "I":
            grid = GRID
            delta = max(SCORES["I"].sensitivity(self.n, *sorted(self.schema.sizes)[-2:]), 1)
        steps = np.rint(self._pairwise(measure)[i, j] * grid).astype(np.int64)
        noisy, entry = self._noisy(
            steps,
            Fraction(delta * len(i)),
            each * len(i),
            step,
            source,
            f"{len(i):,} values of {measure} in 1/{grid:,}",
            range(d),
            claimed=claimed,
        )
        matrix = np.zeros((*noisy.shape[:-1], d, d))  # noise for many runs has an axis in front
        matrix[..., i, j] = matrix[..., j, i] = noisy / grid
        return matrix, entry

    def sparse_vector_test(
        self,
        pairs: Pairs,
        thresholds: Sequence[float],
        epsilon: Fraction,
        *,
        step: str,
        source: str,
        why: str,
    ) -> np.ndarray:
        """Which pairs of columns have at least their threshold of mutual information, in bits.

        bool array (len(pairs),). As JTree prints it, without a bound on the positives: one noise
        for all thresholds and a fresh one per pair, both of scale 2Δ/ε on the 2^-30-bit grid, Δ the
        largest of the declared domains. Under ``none`` raw.

        **Privacy:** claims ε, but no ε holds however many pairs are tested (Lyu, Su, Li 2017,
        Algorithm 6): an unaccounted access; PrivacyError under ``strict``.
        """
        i, j, touched = _split(pairs)
        self._unaccounted(
            step,
            source,
            f"{len(pairs)} comparisons of I with a threshold",
            touched,
            why,
            mechanism="sparse_vector",
            claimed=epsilon,
        )
        gaps = np.rint((self._pairwise("I")[i, j] - np.asarray(thresholds)) * GRID)
        sizes = self.schema.sizes
        moves = (SCORES["I"].sensitivity(self.n, sizes[a], sizes[b]) for a, b in pairs)
        scale = Fraction(2 * max(1, *moves)) / epsilon
        noisy = self._add_noise(gaps.astype(np.int64), scale, step)
        return noisy >= self._add_noise(np.zeros(1, dtype=np.int64), scale, f"{step}: threshold")


def average_mutual_information(matrix: np.ndarray) -> np.ndarray:
    """AMI(X_i) = Σ_{j≠i} I(X_i, X_j) / (d−1), one number per attribute; thesis, Definition 10.

    **Privacy:** of raw information it is raw, and no ε covers an order by it: supports of
    neighbours differ.
    """
    m = np.array(matrix, dtype=float)
    np.fill_diagonal(m, 0.0)
    return m.sum(axis=1) / (len(m) - 1)


def jaccard_distances(both: np.ndarray) -> np.ndarray:
    """1 − n₁₁/(n₁₁ + n₁₀ + n₀₁) of every two columns of 0 and 1, (d, d).

    ``both`` (d, d): records in which both are 1, on the diagonal those in which one is. 1 where
    neither column has a one; the diagonal is zero.

    **Privacy:** raw; sensitivity 1, the whole range, of all pairs at once: a record may hold the
    only ones of both columns.

    >>> jaccard_distances(np.array([[2, 1], [1, 1]])).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    ones = np.diag(both)
    either = ones[:, None] + ones - both
    distance = 1 - both / np.where(either > 0, either, 1)
    np.fill_diagonal(distance, 0.0)
    return distance

"""Questions about how strongly attributes are tied, which a curator answers."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..measures import GRID, JACCARD_GRID, SCORES, average_mutual_information
from .ledger_writer import LedgerWriter

Pairs = Sequence[tuple[int, int]]


class Associations(LedgerWriter):
    """The curator's questions about pairs of columns; it alone reads the records and adds noise.

    **Privacy:** ``strict`` pays for discrete Laplace noise on integers K = 2n²R, each of which one
    record moves by 4(n−1), or 6(n−1) when both domains have more than two values.
    """

    def _pairwise(self, measure: str) -> np.ndarray:
        """Raw (d, d) matrix of a measure of all pairs of columns."""
        raise NotImplementedError

    def _add_noise(self, integers: np.ndarray, scale: Fraction, step: str) -> np.ndarray:
        """Integers with the discrete Laplace noise of one step."""
        raise NotImplementedError

    def _total_association(self, pairs: Pairs) -> int:
        """Raw Σ K over some pairs of columns."""
        raise NotImplementedError

    def average_association(
        self, epsilon: Fraction, *, step: str, source: str, reason: str = ""
    ) -> tuple[np.ndarray, str]:
        """How strongly each attribute is tied to all others: float array (d,), and its entry id.

        ``strict``: average R; otherwise average mutual information in bits.

        **Privacy:** costs ε; the sums A_i = Σ_j K(i,j) move by two K per pair. Published: raw.
        """
        d = len(self.schema)
        pairs = list(combinations(range(d), 2))
        if self.guarantee != "strict":
            released = f"order of {d} attributes from {len(pairs)} mutual informations"
            entry = self._unaccounted(step, source, released, range(d), reason)
            return average_mutual_information(self._pairwise("I")), entry
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
        self, sensitive: int, epsilon: Fraction, *, step: str, source: str, reason: str = ""
    ) -> tuple[np.ndarray, str]:
        """How strongly each attribute is tied to the sensitive one, with the entry id.

        Float array (d,), infinite at the sensitive one itself; ``strict``: R, otherwise mutual
        information in bits.

        **Privacy:** costs ε; d−1 integers K. Published: raw.
        """
        d, label = len(self.schema), self.schema.names[sensitive]
        others = [j for j in range(d) if j != sensitive]
        values = np.full(d, np.inf)
        if self.guarantee != "strict":
            released = f"{d - 1} mutual informations with {label} against a threshold"
            entry = self._unaccounted(step, source, released, range(d), reason)
            values[others] = self._pairwise("I")[sensitive, others]
            return values, entry
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
        raw_measure: str = "",
        reason: str = "",
    ) -> tuple[np.ndarray, str]:
        """How strongly the pairs of a public list are tied, with the entry id.

        Float array (len(pairs),): noisy R, clipped to [0, 1]. With ``raw_measure`` (``"I"``, bits)
        ``published`` and ``none`` hand that out raw instead.

        **Privacy:** costs ε; one K per pair. Raw: one unaccounted access.
        """
        i, j, touched = _split(pairs)
        if raw_measure and self.guarantee != "strict":
            released = f"{len(pairs)} pairwise measures {raw_measure}"
            entry = self._unaccounted(step, source, released, touched, reason)
            return self._pairwise(raw_measure)[i, j].astype(float), entry
        noisy, entry = self._noisy(
            self._pairwise("K")[i, j],
            self._sensitivity(pairs),
            epsilon,
            step,
            source,
            f"{len(pairs)} values of K",
            touched,
        )
        return np.clip(noisy / (2.0 * self.n**2), 0, 1), entry

    def mean_association(self, pairs: Pairs, epsilon: Fraction, *, step: str, source: str) -> float:
        """The mean R over the pairs of a public list: one noisy number, that may be negative.

        **Privacy:** costs ε; the number is ⌊ΣK/2n⌋ in whole records, which one record moves by at
        most ⌈ΔΣK/2n⌉: 2 per pair with a two-valued column, else 3, and n is public.
        """
        total = self._total_association(pairs) // (2 * self.n)
        moved = Fraction(-(-self._sensitivity(pairs) // (2 * self.n)))
        noisy, _ = self._noisy(
            np.array([total]),
            moved,
            epsilon,
            step,
            source,
            f"the mean R of {len(pairs):,} pairs",
            _split(pairs)[2],
        )
        return float(noisy.item() / (self.n * len(pairs)))

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
            claimed,
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

    def _sensitivity(self, pairs: Pairs) -> Fraction:
        """How far one record can move the values K of these pairs, all together."""
        sizes = self.schema.sizes
        moves = (SCORES["R"].sensitivity(self.n, sizes[i], sizes[j]) for i, j in pairs)
        return Fraction(sum(moves))

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
        scale = sensitivity / epsilon if self.guarantee != "none" else Fraction(1)
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


def _sum_rows(k: np.ndarray, n: int) -> np.ndarray:
    """Exact sums of K (d, d) over rows: int64, or Python's integers where 2n²(d − 1) asks for them.

    One K and its noise fit 64 bits, since n is at most
    :data:`~pdsynth.synthesizers.options.MOST_RECORDS`; which integers are used follows from n and
    d, which are public.
    """
    long = 2 * n * n * (len(k) - 1) >= 2**62
    return k.astype(object).sum(axis=1) if long else k.sum(axis=1)


def _split(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """First and second columns of some pairs, and every column that occurs, rising."""
    i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
    return i, j, sorted({column for pair in pairs for column in pair})

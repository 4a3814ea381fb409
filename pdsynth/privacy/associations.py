"""Questions about how strongly attributes are tied, which a curator answers."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from ..measures import SCORES
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


def mean_moves(sizes: Sequence[int]) -> int:
    """How many records the mean R of pairs of columns moves by at most when one is replaced."""
    return 2 if max(sizes) == 2 else 3


def noise_of_mean(sizes: Sequence[int], epsilon: float, n: int) -> float:
    """The noise that :meth:`Associations.mean_association` has for ε at most, known before."""
    return mean_moves(sizes) / (epsilon * n)


def _sum_rows(k: np.ndarray, n: int) -> np.ndarray:
    """Exact sums of K (d, d) over rows: int64, or Python's integers where 2n²(d − 1) asks for them.

    One K and its noise fit 64 bits, since n is at most
    :data:`~pdsynth.synthesizers.recipe.MOST_RECORDS`; which integers are used follows from n and
    d, which are public.
    """
    long = 2 * n * n * (len(k) - 1) >= 2**62
    return k.astype(object).sum(axis=1) if long else k.sum(axis=1)


def _split(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """First and second columns of some pairs, and every column that occurs, rising."""
    i, j = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2).T
    return i, j, sorted({column for pair in pairs for column in pair})

"""Information measures of contingency tables, and how far one replaced record can change each.

Tables are int64 counts; the child is axis 0, its joint parent configuration axis 1. Information is
in bits.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

GRID = 2**30  # mutual information enters mechanisms as an integer multiple of 2^-30 bit
LISTED = 2**22  # records up to which the logarithms of all counts are listed: 32 MiB


def entropy(counts: np.ndarray) -> float:
    """Shannon entropy in bits of the distribution ``counts / counts.sum()``.

    **Privacy:** of raw counts it is raw; sensitivity :func:`entropy_sensitivity`.

    >>> entropy(np.array([4, 2, 2]))
    1.5
    """
    c = np.asarray(counts, dtype=float).ravel()
    n = c.sum()
    return float(np.log2(n) - (c[c > 0] * np.log2(c[c > 0])).sum() / n)


def mutual_information(table: np.ndarray) -> float:
    """Mutual information in bits of a table (|X|, |Π|); thesis, Definition 8.

    **Privacy:** of raw counts it is raw; sensitivity :func:`mutual_information_sensitivity`.

    >>> mutual_information(np.array([[2, 0], [0, 2]]))
    1.0
    """
    t = np.asarray(table).reshape(len(table), -1)
    return entropy(t.sum(1)) + entropy(t.sum(0)) - entropy(t)


def association(table: np.ndarray) -> int:
    """Integer association K = Σ |n c(x,π) − c(x) c(π)| = 2 n² R of a table (|X|, |Π|).

    **Privacy:** of raw counts it is raw; sensitivity :func:`association_sensitivity`.

    >>> association(np.array([[2, 0], [0, 2]]))
    16
    """
    t = np.asarray(table, dtype=np.int64).reshape(len(table), -1)
    return int(np.abs(t.sum() * t - np.outer(t.sum(1), t.sum(0))).sum())


def tvd_from_independence(table: np.ndarray) -> Fraction:
    """R(X,Π): total variation distance of the joint distribution from the product of its marginals.

    Exact. **Privacy:** of raw counts it is raw; sensitivity :func:`tvd_sensitivity`.

    >>> tvd_from_independence(np.array([[2, 0], [0, 2]]))
    Fraction(1, 2)
    """
    return Fraction(association(table), 2 * int(np.sum(table)) ** 2)


def f_shortfall(table: np.ndarray) -> int:
    """Integer form of score F (Zhang et al. 2017) of a table (2, |Π|): 2n·F = −shortfall.

    Every parent configuration takes side 0 or side 1; the shortfall of a choice is
    ``(n−2a)₊ + (n−2b)₊`` with a, b the counts that agree with their side. Exact dynamic programme
    over the reachable a, keeping the largest b.

    **Privacy:** of raw counts it is raw; sensitivity 2 half records.

    >>> f_shortfall(np.array([[2, 0], [0, 2]]))
    0
    """
    t = np.asarray(table, dtype=np.int64).reshape(2, -1)
    n = int(t.sum())
    cap = (n + 1) // 2
    best = np.full(cap + 1, -1, dtype=np.int64)
    best[0] = 0
    for zero, one in t.T[t.any(axis=0)]:
        grown = np.where(best >= 0, np.minimum(best + one, cap), -1)
        shift = min(int(zero), cap)
        moved = np.full(cap + 1, -1, dtype=np.int64)
        moved[shift:] = best[: cap + 1 - shift]
        moved[cap] = max(moved[cap], best[cap - shift :].max())
        best = np.maximum(grown, moved)
    a = np.flatnonzero(best >= 0)
    return int((np.maximum(n - 2 * a, 0) + np.maximum(n - 2 * best[a], 0)).min())


def normalised_risk_entropy(counts: np.ndarray) -> float:
    """OE = H(X) / log₂|X| in [0, 1]; HMPrivBayes, formulas (7) and (11), whose n is |X| here.

    Negative counts, which noise leaves, are taken as 0; counts without a positive one give 1.

    **Privacy:** of raw counts it is raw, and no ε covers a noise scale computed from it. Of noisy
    counts it is post-processing.

    >>> normalised_risk_entropy(np.array([4, 4, 0, -1]))
    0.5
    """
    c = np.maximum(np.asarray(counts, dtype=float).ravel(), 0)
    if len(c) < 2:
        return 0.0
    return min(max(entropy(c) / math.log2(len(c)), 0.0), 1.0) if c.any() else 1.0


def marginalise(table: np.ndarray, columns: Sequence[Any], wanted: Sequence[Any]) -> np.ndarray:
    """Sum of a table, one axis per column, down to the wanted columns, axes in their order.

    **Privacy:** of raw counts it is raw.
    """
    axes = [c for c in columns if c in wanted]
    summed = table.sum(axis=tuple(i for i, c in enumerate(columns) if c not in wanted))
    return np.transpose(summed, [axes.index(c) for c in wanted])


def project(counts: np.ndarray, n: float) -> np.ndarray:
    """The closest counts in squares that aren't negative and have the sum n.

    **Privacy:** post-processing of noisy counts; of raw ones it is raw.
    """
    falling = np.sort(counts)[::-1]
    over = (np.cumsum(falling) - n) / np.arange(1, len(counts) + 1)
    return np.maximum(counts - over[np.flatnonzero(falling > over)[-1]], 0.0)


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    """Total variation distance ½ Σ |p − q| of two distributions on the same cells."""
    return float(0.5 * np.abs(np.asarray(p, dtype=float) - np.asarray(q, dtype=float)).sum())


class CountLogs:
    """c·log2(c) of counts c = 0 … n, in integers of ``unit``: no sum depends on the order of cells.

    Looked up where n is small enough to list them all, else computed.
    """

    def __init__(self, n: int) -> None:
        top = n * math.log2(max(n, 2))
        self.unit = 2.0 ** -(60 - math.ceil(math.log2(max(top, 2))))
        self._listed: np.ndarray | None = None
        if n <= LISTED:
            self._listed = self.take(np.arange(n + 1))

    def take(self, counts: np.ndarray) -> np.ndarray:
        """One integer for each count: int64. **Privacy:** of raw counts they are raw."""
        if self._listed is not None:
            return self._listed.take(counts)
        values = counts.astype(float)
        values *= np.log2(np.maximum(values, 1.0))
        return np.rint(values / self.unit).astype(np.int64)


# --- sensitivities under replacing one record, n public ------------------------------------------


def entropy_sensitivity(n: int) -> float:
    """Sensitivity of H(X) in bits, any domain: (1/n) log n + ((n−1)/n) log(n/(n−1)); attained."""
    return math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1)) if n > 1 else 0.0


def mutual_information_sensitivity(n: int, x_size: int, pi_size: int) -> float:
    """Sensitivity of I(X,Π) in bits (Zhang et al. 2017, Lemma 4.1); attained for odd n.

    Smaller when X or Π has two values.
    """
    if n < 2 or min(x_size, pi_size) < 2:
        return 0.0
    if min(x_size, pi_size) == 2:
        return entropy_sensitivity(n)
    return 2 / n * math.log2((n + 1) / 2) + (n - 1) / n * math.log2((n + 1) / (n - 1))


def association_sensitivity(n: int, x_size: int, pi_size: int) -> int:
    """Sensitivity of K: 4(n−1) when X or Π has two values, else 6(n−1).

    Lemma: with q the distribution of the n−1 unchanged records, C(p) = p − p_X p_Y obeys
    C(p) = (n−1)/n · [C(q) + (δ_x − q_X)(δ_y − q_Y)/n]; the difference of two such terms has L1 norm
    at most 6(n−1)/n² (4(n−1)/n² when one side has two values, its rows being opposite), and
    K = n² ‖C‖₁.
    """
    smaller = min(x_size, pi_size)
    return 0 if smaller < 2 else (4 if smaller == 2 else 6) * (n - 1)


def tvd_sensitivity(n: int, x_size: int, pi_size: int) -> Fraction:
    """Sensitivity of R = K / 2n²: at most 3(n−1)/n², below Zhang et al.'s 3/n + 2/n² (2017)."""
    return Fraction(association_sensitivity(n, x_size, pi_size), 2 * n * n)


def conditional_sensitivity(n: int, x_size: int, pi_size: int) -> Fraction:
    """L1 sensitivity of all P(X | π) together: 4 − 4/|X|, however large n; 2/n without parents.

    Lemma: a record that is alone in its configuration turns (0, 1) into (1, 0). One that moves
    leaves a column of c records, which changes by 1 − 1/|X| twice when c = 1 (an empty column is
    uniform), by at most 2/c otherwise, and joins another, likewise. Two values are kept as integers
    (a, 2^30 − a), so that the grid adds nothing but the rounding of 2/n.
    """
    return 4 - Fraction(4, x_size) if pi_size > 1 else Fraction(2 * -(-GRID // n), GRID)


@dataclass(frozen=True)
class Score:
    """A score of an attribute–parent pair in the exact integer form that mechanisms use.

    ``of(table)`` is an integer in ``unit``; ``sensitivity(n, |X|, |Π|)`` bounds its change, in the
    same unit.
    """

    name: str
    unit: str
    of: Callable[[np.ndarray], int]
    sensitivity: Callable[[int, int, int], int]
    lemma: str


def _grid_steps(bits: float) -> int:
    # + 1: rounding to the grid moves each side by at most half a step
    return math.ceil(bits * GRID) + 1 if bits else 0


SCORES = {
    score.name: score
    for score in (
        Score(
            "H",
            "2^-30 bit",
            lambda t: round(entropy(t) * GRID),
            lambda n, x, pi: _grid_steps(entropy_sensitivity(n) if x > 1 else 0.0),
            "lemma:entropy",
        ),
        Score(
            "I",
            "2^-30 bit",
            lambda t: round(mutual_information(t) * GRID),
            lambda n, x, pi: _grid_steps(mutual_information_sensitivity(n, x, pi)),
            "lemma:mutual_information",
        ),
        Score("R", "records^2", association, association_sensitivity, "lemma:association"),
        Score("F", "half records", lambda t: -f_shortfall(t), lambda n, x, pi: 2, "lemma:score_f"),
    )
}


def mean_association_sensitivity(sizes: Sequence[int]) -> int:
    """How many records the mean of K/2n over pairs moves by at most: 2 if all have two values."""
    return 2 if max(sizes) == 2 else 3


def association_moved(sizes: Sequence[int], pairs: Iterable[Sequence[int]]) -> int:
    """How many records K/2n of any of some pairs moves by at most: 2 with a two-valued column."""
    return max(2 if 2 in (sizes[i], sizes[j]) else 3 for i, j in pairs)


def association_noise(
    n: int, sizes: Sequence[int], pairs: Iterable[Sequence[int]], epsilon: float
) -> float:
    """The noise scale of the largest R of some pairs that is released for ε."""
    return association_moved(sizes, pairs) / (epsilon * n)


def mean_association_noise(n: int, sizes: Sequence[int], epsilon: float) -> float:
    """The noise scale of the mean R of pairs that is released for ε."""
    return mean_association_sensitivity(sizes) / (epsilon * n)

"""A lower bound of ε from samples of two worlds: Clopper–Pearson, the event from half of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core import needed_for

CONFIDENCE = 0.95
CAUTION = 20  # the event is chosen at a twentieth of the level: lucky rare events fall behind
THRESHOLDS = 4096  # of more distinct values, so many quantiles serve as thresholds


@dataclass(frozen=True)
class Bound:
    """A lower bound of ε and its event: {T ≥ threshold} (``sign`` = 1) or {T ≤ threshold} (−1).

    ``hits`` of ``runs`` held-out outputs of the ``likely`` world are in it, ``misses`` else.
    """

    epsilon: float
    threshold: int
    sign: int
    likely: str
    hits: int
    misses: int
    runs: int

    @property
    def event(self) -> str:
        """The event in words."""
        return (
            f"T {'≥' if self.sign > 0 else '≤'} {self.threshold}: "
            f"{self.hits} of {self.runs} under {self.likely}, else {self.misses}"
        )


def _quantile(a: np.ndarray, b: np.ndarray, p: float) -> np.ndarray:
    """Of the beta distribution."""
    with needed_for("the bound of an audit"):
        from scipy.special import betaincinv
    return betaincinv(a, b, p)


def lower_limit(hits: np.ndarray | int, runs: int, alpha: float) -> np.ndarray:
    """One-sided Clopper–Pearson limits from below of P(event), at level ``alpha``."""
    k = np.asarray(hits, dtype=float)
    return np.where(k > 0, _quantile(np.maximum(k, 1), runs - np.maximum(k, 1) + 1, alpha), 0.0)


def upper_limit(hits: np.ndarray | int, runs: int, alpha: float) -> np.ndarray:
    """One-sided Clopper–Pearson limits from above of P(event), at level ``alpha``."""
    k = np.asarray(hits, dtype=float)
    inner = np.minimum(k, runs - 1)
    return np.where(k < runs, _quantile(inner + 1, runs - inner, 1 - alpha), 1.0)


def ceiling(runs: int, *, confidence: float = CONFIDENCE, audits: int = 1) -> float:
    """What a perfect attack could show with so many runs a world: ln(runs / 2 / 3.69) at 95 %.

    >>> round(ceiling(20_000), 1)
    7.9
    """
    half, alpha = runs // 2, (1 - confidence) / 2 / audits
    return math.log(float(lower_limit(half, half, alpha)) / float(upper_limit(0, half, alpha)))


def lower_bound(
    first: np.ndarray, second: np.ndarray, *, confidence: float = CONFIDENCE, audits: int = 1
) -> Bound:
    """ε of which the audit is sure, from integer statistics of both worlds' outputs, (N,) each.

    Threshold, sign and order of the worlds are chosen on every other run. On the rest both
    probabilities of the event get a one-sided limit at level (1 − confidence)/2, so that the bound
    holds with ``confidence`` whatever was chosen. ``audits`` share the error (Bonferroni).

    Raises TypeError for statistics that aren't integers: doubles of two worlds can lie on different
    grids, which shows a leak where there is none. See :func:`quantise`.
    """
    samples = [np.asarray(x) for x in (first, second)]
    if any(not np.issubdtype(x.dtype, np.integer) for x in samples):
        raise TypeError(
            "statistics must be integers, or floating point shows a leak where there "
            "is none: quantise them first"
        )
    if min(map(len, samples)) < 4:
        raise ValueError("an audit needs at least four runs of each world")
    alpha = (1 - confidence) / 2 / audits
    chosen, sign, threshold = _best_event([x[::2] for x in samples], alpha / CAUTION)
    rest = [samples[chosen][1::2], samples[1 - chosen][1::2]]
    hits, misses = (int((sign * x >= sign * threshold).sum()) for x in rest)
    value = float(_log_ratio(np.array(hits), len(rest[0]), np.array(misses), len(rest[1]), alpha))
    return Bound(value, threshold, sign, ("D", "D'")[chosen], hits, misses, len(rest[0]))


def best_bound(samples: Sequence[np.ndarray], runs: int, audits: int = 1) -> float:
    """The bound that an audit with ``runs`` held-out runs a world should come to.

    From simulated statistics of both worlds, doubles allowed: an event's hits are what its share
    makes of the runs. Shares of rare events are taken a little larger than they are seen.
    """
    alpha = (1 - CONFIDENCE) / 2 / audits
    thresholds = np.unique(np.quantile(np.concatenate(samples), np.linspace(0, 1, 500)))
    best, value = -math.inf, -math.inf
    for first, second in (samples, samples[::-1]):
        for sign in (1, -1):
            at = sign * thresholds - 1e-9
            likely, rare = (
                1 - np.searchsorted(np.sort(sign * x), at) / len(x) for x in (first, second)
            )
            counts = [np.rint(share * runs) for share in (likely, rare + 3 / len(second))]
            chosen = _log_ratio(counts[0], runs, counts[1], runs, alpha / CAUTION)
            i = int(chosen.argmax())
            if chosen[i] > best:
                best = float(chosen[i])
                value = float(_log_ratio(counts[0], runs, counts[1], runs, alpha)[i])
    return value


def _best_event(halves: list[np.ndarray], alpha: float) -> tuple[int, int, int]:
    """World, sign and threshold of the event with the largest bound on these samples."""
    thresholds = np.unique(np.concatenate(halves))
    if len(thresholds) > THRESHOLDS:
        at = np.linspace(0, len(thresholds) - 1, THRESHOLDS).astype(np.int64)
        thresholds = thresholds[at]
    best = (-math.inf, 0, 1, int(thresholds[0]))
    for sign in (1, -1):
        at = np.sort(sign * thresholds)
        counts = [len(x) - np.searchsorted(np.sort(sign * x), at) for x in halves]
        for a, b in ((0, 1), (1, 0)):
            values = _log_ratio(counts[a], len(halves[a]), counts[b], len(halves[b]), alpha)
            i = int(values.argmax())
            if values[i] > best[0]:
                best = (float(values[i]), a, sign, int(sign * at[i]))
    return best[1:]


def _log_ratio(
    hits: np.ndarray, runs: int, misses: np.ndarray, others: int, alpha: float
) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(lower_limit(hits, runs, alpha)) - np.log(upper_limit(misses, others, alpha))


def quantise(values: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Real statistics as integer multiples of ``step``: int64, infinities at the ends.

    >>> quantise([0.5, 1.26], 0.25).tolist()
    [2, 5]
    """
    scaled = np.rint(np.asarray(values, dtype=float) / step)
    return np.clip(np.nan_to_num(scaled, nan=0.0), -(2.0**62), 2.0**62).astype(np.int64)

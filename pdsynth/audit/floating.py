"""The floating-point exhibit: what doubles do to a mechanism that is right on paper (Mironov 2012; `algorithms` §11.1).

Nothing here is a release mechanism. Two things are shown: an audit that doesn't round its statistic "breaks" a Laplace histogram
on the last bits of its doubles alone, and the textbook sampler gives those bits away: of most outputs one can tell which count they
came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..privacy.curator import Curator
from ..privacy.mechanisms import Noise
from .case import Case, Sampled, shown, times
from .estimator import ceiling, lower_bound, quantise
from .tables import Pair, zeros_to_ones

NEAR = np.arange(-16, 17)  # grid points of u around the one that an output points at


@dataclass(frozen=True)
class Exhibit:
    """Bounds of one correct mechanism: ``naive`` from unrounded doubles, ``rounded`` from whole steps; ``claimed`` is its true ε."""

    claimed: float
    naive: float
    rounded: float
    ceiling: float

    def __str__(self) -> str:
        return (
            f"a Laplace histogram of ε = {shown(self.claimed)} in double precision: the audit reports {shown(self.naive)} from unrounded "
            f"statistics, {shown(max(self.rounded, 0))} from rounded ones (ceiling {shown(self.ceiling)})"
        )

    __repr__ = __str__


def exhibit(epsilon: float = 0.0625, runs: int = 20_000, *, cells: int = 2, seed: int | None = None) -> Exhibit:
    """Audit a histogram with Laplace noise of scale 2/ε in doubles, with and without rounding the log-likelihood ratio.

    One record moves from cell 0 to cell 1, so the loss is exactly ε. In exact numbers the ratio takes its end values with positive
    probability; in doubles ``1 + noise − 1`` is another number than ``noise``, and a threshold between the two tells the tables apart.
    """
    rng, scale = np.random.default_rng(seed), 2 / epsilon
    before, after = np.zeros(cells), np.zeros(cells)
    before[0], after[1] = 1, 1
    ratios = []
    for counts in (before, after):
        noisy = counts + rng.laplace(0, scale, (runs, cells))
        ratios.append(((np.abs(noisy - after) - np.abs(noisy - before)) / scale).sum(axis=1))
    order = np.unique(np.concatenate(ratios))
    naive = lower_bound(*(np.searchsorted(order, r) for r in ratios))  # ranks: thresholds between any two doubles
    rounded = lower_bound(*(quantise(r, 1e-6) for r in ratios))
    return Exhibit(epsilon, naive.epsilon, rounded.epsilon, ceiling(runs))


def textbook_laplace(steps: np.ndarray, scale: float) -> np.ndarray:
    """−b sign(u) ln(1 − 2|u|) for u = steps · 2^-53 in (−½, ½): the sampler of most textbooks, and of the thesis' code."""
    u = np.asarray(steps, dtype=float) * 2.0**-53
    return -scale * np.sign(u) * np.log1p(-2 * np.abs(u))


def reachable(outputs: np.ndarray, count: float, scale: float) -> np.ndarray:
    """Whether the textbook sampler can turn a count into these doubles at all: bool, as many as outputs."""
    noise = np.asarray(outputs, dtype=float) - count
    u = np.sign(noise) * -np.expm1(-np.abs(noise) / scale) / 2
    steps = np.rint(u * 2.0**53)[..., None] + NEAR
    inside = np.abs(steps) < 2.0**52
    return ((count + textbook_laplace(np.where(inside, steps, 0), scale) == outputs[..., None]) & inside).any(axis=-1)


def doubles(door: Curator, noise: Noise, epsilon: Fraction) -> Any:
    """One noisy count by the textbook sampler, and its scale: float array (runs,), float.

    **Privacy:** none: the reachable doubles of neighbouring counts differ.
    """
    count = float(door.peek("textbook Laplace", "HPPrivBayes@540a366: build_noise_distribution_2.m", (0,))[1])
    steps, scale = noise.child("uniform").generator().integers(-(2**52) + 1, 2**52, getattr(noise, "runs", 1)), 2 / float(epsilon)
    return count + textbook_laplace(steps, scale), scale


def betrayed(released: tuple[np.ndarray, float], pair: Pair) -> np.ndarray:
    """1 if only the first table's count can give this double, −1 if only the second's, else 0."""
    counts = [int(r.table((0,))[1]) for r in pair.records]
    mine, other = (reachable(released[0], c, released[1]) for c in counts)
    return mine.astype(np.int64) - other


CASES = [
    Case("textbook-laplace-on-doubles", "a Laplace number in double precision: its last bits say which count it was added to",
         "Mironov 2012; thesis code as committed", lambda: zeros_to_ones(1), Sampled(doubles, betrayed), Fraction(1, 2),
         times(float("inf"))),
]  # fmt: skip

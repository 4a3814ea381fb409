"""The floating-point exhibit: what doubles do to a mechanism that is right on paper.

Nothing here is a release mechanism (Mironov 2012). An audit that doesn't round its statistic
"breaks" a Laplace histogram on the last bits of its doubles alone; and the textbook sampler gives
those bits away: most outputs tell which count they came from.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..core import Curator, Noise
from ..files import decimal
from ..published.doors import raw_door
from .case import format_epsilon
from .estimator import ceiling, lower_bound, quantise
from .pairs import Pair

NEAR = np.arange(-16, 17)  # grid points of u around the one that an output points at


@dataclass(frozen=True)
class Exhibit:
    """Bounds of a mechanism that costs what it claims, from unrounded and from rounded doubles."""

    claimed: float
    naive: float
    rounded: float
    ceiling: float

    def __str__(self) -> str:
        naive, rounded, top = map(format_epsilon, (self.naive, max(self.rounded, 0), self.ceiling))
        return (
            f"a Laplace histogram of ε = {decimal(self.claimed)} in double precision: the audit "
            f"reports {naive} from unrounded statistics, {rounded} from rounded ones "
            f"(ceiling {top})"
        )

    __repr__ = __str__


def exhibit(
    epsilon: float = 0.0625, runs: int = 20_000, *, cells: int = 2, seed: int | None = None
) -> Exhibit:
    """Audit a histogram with Laplace noise of scale 2/ε in doubles, with and without rounding.

    One record moves from cell 0 to cell 1, so the loss is exactly ε. In exact numbers the log-
    likelihood ratio takes its end values with positive probability; in doubles ``1 + noise − 1`` is
    another number than ``noise``, and a threshold between the two tells the tables apart.
    """
    rng, scale = np.random.default_rng(seed), 2 / epsilon
    before, after = np.eye(2, cells)
    ratios = []
    for counts in (before, after):
        noisy = counts + rng.laplace(0, scale, (runs, cells))
        ratios.append(((np.abs(noisy - after) - np.abs(noisy - before)) / scale).sum(axis=1))
    order = np.unique(np.concatenate(ratios))
    # ranks: thresholds between any two doubles
    naive = lower_bound(*(np.searchsorted(order, r) for r in ratios))
    rounded = lower_bound(*(quantise(r, 1e-6) for r in ratios))
    return Exhibit(epsilon, naive.epsilon, rounded.epsilon, ceiling(runs))


def textbook_laplace(steps: np.ndarray, scale: float) -> np.ndarray:
    """−b sign(u) ln(1 − 2|u|), u = steps · 2^-53 in (−½, ½): textbooks' and the thesis' sampler."""
    u = np.asarray(steps, dtype=float) * 2.0**-53
    return -scale * np.sign(u) * np.log1p(-2 * np.abs(u))


def reachable(outputs: np.ndarray, count: float, scale: float) -> np.ndarray:
    """Whether the textbook sampler can turn a count into each of these doubles at all: bool."""
    noise = np.asarray(outputs, dtype=float) - count
    u = np.sign(noise) * -np.expm1(-np.abs(noise) / scale) / 2
    steps = np.rint(u * 2.0**53)[..., None] + NEAR
    inside = np.abs(steps) < 2.0**52
    tried = count + textbook_laplace(np.where(inside, steps, 0), scale)
    return ((tried == outputs[..., None]) & inside).any(axis=-1)


def textbook_count(door: Curator, noise: Noise, epsilon: Fraction) -> Any:
    """One noisy count by the textbook sampler, and its scale: float array (runs,), float.

    **Privacy:** none: the reachable doubles of neighbouring counts differ.
    """
    source = "HPPrivBayes@540a366: build_noise_distribution_2.m"
    counts = raw_door(door).peek("textbook Laplace", source, (0,))
    count, scale = float(counts[1]), 2 / float(epsilon)
    rng = noise.child("uniform").generator()
    steps = rng.integers(-(2**52) + 1, 2**52, getattr(noise, "runs", 1))
    return count + textbook_laplace(steps, scale), scale


def tell_apart(released: tuple[np.ndarray, float], pair: Pair) -> np.ndarray:
    """1 if only the first table's count can give this double, −1 if only the second's, else 0."""
    counts = [int(r.table((0,))[1]) for r in pair.records]
    mine, other = (reachable(released[0], c, released[1]) for c in counts)
    return mine.astype(np.int64) - other

"""Noise from samplers that other people wrote and checked."""

# ruff: noqa: D102 (what the methods of Noise do stands there, once)

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..core import ExactNoise, Shape, as_scales, needed_for

__all__ = ["OpenDPNoise", "float_above"]


def float_above(value: Fraction) -> float:
    """The nearest double that isn't smaller.

    >>> float_above(Fraction(1, 10)) >= Fraction(1, 10)
    True
    """
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


TABLES = 8  # that are drawn at a time, which is fastest; about one in 4 √cells sums to 0


class OpenDPNoise(ExactNoise):
    """The same laws from OpenDP's hardened samplers (the extra ``secure``), never seeded.

    Slower than ``ExactNoise``, and checked by other people. OpenDP takes scales as doubles: they
    are rounded up, so that no release costs more than its ledger says. It has no zero-sum law: its
    Laplace numbers are drawn until they sum to 0. Raises ImportError without OpenDP.
    """

    def __init__(self) -> None:
        super().__init__()
        with needed_for("noise='opendp'", "use noise='exact'"):
            import opendp.prelude as dp
        self._dp: Any = dp
        self._dp.enable_features("contrib")
        self._cells = self._dp.vector_domain(self._dp.atom_domain(T="i64"))

    def discrete_laplace(self, scale: np.ndarray, shape: Shape) -> np.ndarray:
        wide = np.broadcast_to(as_scales(scale), shape)
        metric, out = self._dp.l1_distance(T="i64"), np.zeros(shape, dtype=np.int64)
        for one in set(wide.ravel()):
            cells = wide == one
            sampler = self._dp.m.make_laplace(self._cells, metric, scale=float_above(one))
            out[cells] = sampler([0] * int(cells.sum()))
        return out

    def zero_sum_laplace(self, scale: Fraction, shape: Shape) -> np.ndarray:
        """As :func:`~pdsynth.core.noise.draw_zero_sum`, some tables at a time.

        The last cell is what is missing to 0. A table is kept if one more Laplace number is at
        least as large: P(z ≥ m) ∝ exp(−m/scale) for all m ≥ 0, which makes the law that of all
        cells.
        """
        cells = math.prod(shape)
        while True:
            drawn = self.discrete_laplace(np.array(scale), (TABLES, cells))
            free, more = drawn[:, 1:], drawn[:, 0]
            last = -free.sum(axis=1)
            (kept,) = np.nonzero(more >= np.abs(last))
            if len(kept):
                return np.array([*free[kept[0]], last[kept[0]]]).reshape(shape)

    def choose(
        self, gaps: np.ndarray, times: int, denominator: int, *, permute: bool, among: Any = None
    ) -> int:
        """Noisy max with a public scale; the scores are the gaps themselves.

        With exponential noise it is permute-and-flip (Ding et al. 2021), with Gumbel noise the
        exponential mechanism.
        """
        law = self._dp.max_divergence() if permute else self._dp.zero_concentrated_divergence()
        scale = float_above(Fraction(denominator, times))
        metric = self._dp.linf_distance(T="i64")
        sampler = self._dp.m.make_noisy_max(self._cells, metric, law, scale=scale)
        return int(sampler((-gaps).tolist()))

"""The discrete Gaussian law: its sampler, in integers only, and what it loses.

Canonne, Kamath, Steinke 2020: P(Z = z) ∝ exp(−z²/2σ²) over the integers. σ² is a fraction; σ needs
no value. Under a change v of integer counts the Rényi divergence of order α is at most α|v|²/2σ²,
with equality where αv is whole (proposition 5), so the release is (|v|²/2σ²)-zCDP.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..core import BudgetError, ExactNoise, Noise

LARGEST = 2**104  # of σ²: σ ends at 2^52, as scales of Laplace noise do
GRID = 2**20  # a scale in 1/2^20 of itself


@dataclass(frozen=True)
class DiscreteGaussian:
    """Noise of variance parameter σ², in records².

    **Privacy:** a table with squared Euclidean sensitivity Δ² is (Δ²/2σ²)-zCDP (ibid., theorem 14).
    """

    variance: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.variance < LARGEST:
            raise BudgetError(
                f"Gaussian noise of variance {float(self.variance):.3g} leaves nothing of any "
                "count, or is none: raise ε"
            )

    def loss(self, change: np.ndarray) -> Fraction:
        """ρ of a release in which whole numbers change by so much: |change|² / 2σ², exactly."""
        squares = sum((int(c) ** 2 for c in np.ravel(change)), 0)
        return squares / (2 * self.variance)

    def draw(self, noise: Noise, shape: tuple[int, ...]) -> np.ndarray:
        """Integer noise from a source: int64, of the shape."""
        if hasattr(noise, "_dp"):  # OpenDP, which is loaded where it is asked for
            return opendp_gaussian(noise._dp, self.variance, shape)
        if isinstance(noise, ExactNoise):
            return exact_gaussian(noise, self.variance, math.prod(shape)).reshape(shape)
        from ..published import CommonNoise  # exact noise never loads it

        if isinstance(noise, CommonNoise) and noise.private:  # the same draws at every σ
            unit = noise.generator().standard_normal(math.prod(shape)).reshape(shape)
            return np.rint(unit * math.sqrt(self.variance)).astype(np.int64)
        raise BudgetError(f"{type(noise).__name__} draws no Gaussian noise: use ExactNoise()")

    @property
    def mean_size(self) -> float:
        """E|Z|, near enough for penalties: σ √(2/π)."""
        return math.sqrt(2 * float(self.variance) / math.pi)

    @property
    def laplace_scale(self) -> Fraction:
        """The scale b of Laplace noise with this variance, 2b² = σ²: what weighs a table, rounded.

        It is public arithmetic and no noise is drawn with it.
        """
        return Fraction(math.isqrt(int(self.variance * GRID**2 / 2)) or 1, GRID)


ORDERS = 1 + np.geomspace(1e-3, 1e4, 40)  # α at which Rényi divergences are looked at


def renyi_losses(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The ρ of a choice, in both directions, from the logarithms of its two laws (candidates,).

    The largest D_α/α over :data:`ORDERS`, where D_α = ln(Σ p^α q^(1−α))/(α − 1).
    """
    return _renyi_loss(first, second), _renyi_loss(second, first)


def _renyi_loss(p: np.ndarray, q: np.ndarray) -> float:
    exponents = np.multiply.outer(ORDERS, p) + np.multiply.outer(1 - ORDERS, q)
    top = exponents.max(axis=1)
    logs = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
    return max(0.0, float((logs / (ORDERS - 1) / ORDERS).max()))


def exact_gaussian(noise: ExactNoise, variance: Fraction, size: int) -> np.ndarray:
    """Independent discrete Gaussians by rejection from discrete Laplace noise (algorithm 3).

    With t = ⌊σ⌋ + 1 a proposal y of scale t is kept with probability exp(−(|y| − σ²/t)²/2σ²). For
    σ² = p/q that exponent is (|y|tq − p)² / 2pqt²: integers only.
    """
    p, q = variance.as_integer_ratio()
    t = math.isqrt(math.floor(variance)) + 1
    out, todo = np.zeros(size, dtype=np.int64), np.arange(size)
    while todo.size:
        proposed = noise.discrete_laplace(np.array(Fraction(t), dtype=object), (todo.size,))
        gap = np.abs(proposed).astype(object) * (t * q) - p
        below = np.full(todo.size, 2 * p * q * t * t, dtype=object)
        mask = noise.bernoulli_exp(gap * gap, below)
        out[todo[mask]] = proposed[mask]
        todo = todo[~mask]
    return out


def opendp_gaussian(dp: Any, variance: Fraction, shape: tuple[int, ...]) -> np.ndarray:
    """The same law from OpenDP, whose σ is a double: rounded up."""
    sigma = math.nextafter(math.sqrt(variance), math.inf)
    while Fraction(sigma) ** 2 < variance:
        sigma = math.nextafter(sigma, math.inf)
    cells = dp.vector_domain(dp.atom_domain(T="i64"))
    sampler = dp.m.make_gaussian(cells, dp.l2_distance(T="i64"), scale=sigma)
    return np.array(sampler([0] * math.prod(shape)), dtype=np.int64).reshape(shape)


def discrete_gaussian_pmf(values: np.ndarray, variance: float) -> np.ndarray:
    """P(Z = z) of integers, for lessons and tests; the sum goes far beyond what doubles hold."""
    width = math.ceil(40 * math.sqrt(variance)) + 1
    whole = np.exp(-(np.arange(-width, width + 1) ** 2) / (2 * variance)).sum()
    return np.exp(-(np.asarray(values, dtype=float) ** 2) / (2 * variance)) / whole

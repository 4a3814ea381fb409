"""The laws of noise: how far a noisy count lies from the true one, how likely each choice is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

WIDE = 2**11  # a wider scale is computed at this one and stretched
ONE = Fraction(1)
TAIL = 60  # scales on either side of which no mass of any use lies


@lru_cache(maxsize=4096)
def half_width(
    mechanism: str,
    scale: Fraction | tuple[Fraction, ...],
    cells: int,
    of: int,
    level: float,
    shares: Fraction = ONE,
) -> int:
    """The least t in records for which the sum of some noisy cells is within t with this chance.

    ``mechanism``, ``scale``: of the ledger's line (σ² for ``discrete_gaussian``); a tuple has one
    scale for each of the summed cells. ``cells``: how many cells of the table are summed, ``of``
    how many it has. ``level``: the chance, between 0 and 1. ``shares``: of discrete Laplace noise
    that several holders add, by how much more than the whole of it there is.

    The laws are those that were drawn: discrete Laplace in every cell, or zero-sum noise, whose k
    cells of m have the law of k Laplace numbers given that all m sum to 0. A Gaussian sum of
    several cells is taken with its own variance, and with one record more.
    """
    if mechanism == "discrete_gaussian":
        return _gaussian(float(scale) * cells, level) + (cells > 1)  # type: ignore[arg-type]
    scales = scale if isinstance(scale, tuple) else (scale,)
    if mechanism == "zero_sum_laplace" and cells == of:
        return 0  # the sum of the table, which is n
    if mechanism == "discrete_laplace" and cells == shares == 1:
        return _laplace(float(scales[0]), level)
    shrink = max(1.0, float(max(scales)) / WIDE)
    each = [float(b) / shrink for b in scales]
    each = each if len(each) == cells else each * cells
    wide = math.sqrt(max(cells, of - cells) * shares) * max(each)
    mass = _sum_of(each, wide, float(shares))
    if mechanism == "zero_sum_laplace":
        mass = mass * _sum_of(each[:1] * (of - cells), wide)
    within = _quantile(mass, level)
    return within if shrink == 1 else math.ceil((within + 1) * shrink)


def half_of_mean(
    parts: Sequence[tuple[float, float]], gaussian: bool, level: float, shares: Fraction = ONE
) -> int:
    """The same for a rounded mean of noisy numbers, each weighted by 1 over its variance.

    ``parts``: of each number the variance of a cell's noise, 2b² of Laplace noise, and how many
    cells add up to it. Laplace noise is taken as continuous, which is a little wider. The law's
    transform is turned back at two points (Gil-Pelaez 1951): P(|X| ≤ t) = 2/π ∫ φ(u) sin(tu)/u du.
    """
    variance, cells = np.array(parts, dtype=float).T
    cells = cells * float(shares)
    weight = 1 / (variance * cells)
    spread = 1 / math.sqrt(weight.sum())
    u = (np.arange(2**16) + 0.5) / 160  # of 1/spread
    squares = np.multiply.outer(u * u, (weight * spread) ** 2 * variance) / 2
    phi = np.exp(-(squares if gaussian else np.log1p(squares)) @ cells)
    low, high = 0.0, float(TAIL)
    for _ in range(40):
        t = (low + high) / 2
        within = float((phi * np.sin(t * u) / u).sum()) / 160 * 2 / math.pi
        low, high = (t, high) if within < level else (low, t)
    return math.floor(high * spread + 0.5)


def _laplace(b: float, level: float) -> int:
    """The same for one discrete Laplace number: P(|Z| > t) = 2 e^(−(t+1)/b) / (1 + e^(−1/b))."""
    beyond = (1 - level) * (1 + math.exp(-1 / b)) / 2
    return max(0, math.ceil(-b * math.log(beyond) - 1 - 1e-9))


def _gaussian(variance: float, level: float) -> int:
    """The same for one discrete Gaussian number."""
    reach = math.ceil(12 * math.sqrt(variance)) + 2
    z = np.arange(reach + 1)
    mass = np.exp(-(z.astype(float) ** 2) / (2 * variance))
    mass[1:] *= 2
    return int(np.searchsorted(np.cumsum(mass) / mass.sum(), level))


def _sum_of(scales: list[float], wide: float, shares: float = 1) -> np.ndarray:
    """P(sum of independent discrete Laplace numbers = z), z at index z modulo the length.

    ``shares``: by so much more than one such number is added for each, the law's power.
    """
    length = 2 ** math.ceil(math.log2(2 * TAIL * (wide + 1)))
    theta = 2 * np.pi * np.arange(length // 2 + 1) / length
    transform = np.ones(len(theta))
    for b in set(scales):
        p = math.exp(-1 / b)
        transform *= ((1 - p) ** 2 / (1 - 2 * p * np.cos(theta) + p * p)) ** (
            shares * scales.count(b)
        )
    return np.maximum(np.fft.irfft(transform, length), 0)


def _quantile(mass: np.ndarray, level: float) -> int:
    """The least t such that |z| ≤ t has this part of a symmetric law's mass."""
    half = mass[: len(mass) // 2].copy()
    half[1:] += mass[: len(mass) // 2 : -1]
    return int(np.searchsorted(np.cumsum(half) / half.sum(), level))


def exponential_probabilities(scores: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """The law of the exponential mechanism, for lessons and audits."""
    exponent = epsilon * (np.asarray(scores, dtype=float) - np.max(scores)) / (2 * sensitivity)
    return np.exp(exponent) / np.exp(exponent).sum()


def discrete_laplace_pmf(values: np.ndarray, scale: float) -> np.ndarray:
    """P(Z = z) = tanh(1/2b) exp(−|z|/b) of the discrete Laplace law with scale b."""
    return np.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale)

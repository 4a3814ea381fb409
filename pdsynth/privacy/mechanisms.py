"""Differentially private mechanisms: noise on counts, and the draw of one of many candidates."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import BudgetError, PrivacyError
from .noise import LIMIT, WORD, CommonNoise, ExactNoise, Noise, NoNoise  # noqa: F401
from .opendp import OpenDPNoise  # noqa: F401


@dataclass(frozen=True)
class Quantity:
    """Integers with their unit, so that a score in bits can't meet a sensitivity in nats."""

    value: Any
    unit: str


def laplace_mechanism(
    counts: np.ndarray, scale: Fraction | Sequence[Fraction], noise: Noise
) -> np.ndarray:
    """Integer counts plus discrete Laplace noise in every cell, also the empty ones.

    ``scale`` is one number (records), or one per row of axis 0.

    **Privacy:** with L1 sensitivity Δ and one scale b the release is (Δ/b)-DP; with one scale per
    row it costs ``unit.histogram_cost``.
    """
    counts = np.asarray(counts)
    scales = np.array(scale if isinstance(scale, (list, tuple)) else [scale], dtype=object)
    if min(scales) <= 0:
        raise BudgetError(f"a noise scale must be positive, got {min(scales)}")
    rows = scales.reshape(-1, *[1] * (counts.ndim - 1)) if len(scales) > 1 else scales[0]
    return noise.add_to(counts, rows)


def exponential_mechanism(
    scores: Quantity,
    sensitivity: Quantity,
    epsilon: Fraction,
    noise: Noise,
    *,
    permute_and_flip: bool = False,
    among: Any = None,
) -> int:
    """Index drawn with P(i) ∝ exp(ε u_i / 2Δ); integer scores and sensitivity in the same unit.

    ``among``: the candidates, for a replay, which compares them between tables.

    **Privacy:** ε-DP when the candidates don't depend on the records (McSherry & Talwar 2007);
    permute-and-flip (McKenna & Sheldon 2020) costs the same and is never less useful.
    """
    if scores.unit != sensitivity.unit:
        raise PrivacyError(
            f"the score is in {scores.unit!r}, its sensitivity in "
            f"{sensitivity.unit!r}: convert one of them first"
        )
    values = np.asarray(scores.value)
    if values.size == 0:
        raise BudgetError("nothing to select from: the candidate set is empty")
    if not np.issubdtype(values.dtype, np.integer):
        raise PrivacyError(
            "scores must be integers: floating point would leak through the exponent"
        )
    gaps = values.max() - values
    times, denominator = epsilon.numerator, 2 * int(sensitivity.value) * epsilon.denominator
    if sensitivity.value == 0:  # no record can change the score: as good as public
        gaps, times, denominator = np.zeros(values.size, dtype=np.int64), 1, 1
    return noise.choose(gaps, times, denominator, permute=permute_and_flip, among=among)


def exponential_probabilities(scores: np.ndarray, sensitivity: float, epsilon: float) -> np.ndarray:
    """The law of the exponential mechanism, for lessons and audits."""
    exponent = epsilon * (np.asarray(scores, dtype=float) - np.max(scores)) / (2 * sensitivity)
    weight = np.exp(exponent)
    return weight / weight.sum()


def discrete_laplace_pmf(values: np.ndarray, scale: float) -> np.ndarray:
    """P(Z = z) = tanh(1/2b) exp(−|z|/b) of the discrete Laplace law with scale b."""
    return np.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale)

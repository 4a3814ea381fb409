"""Whether drawn integers fit the discrete Laplace law."""

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction as Q

import numpy as np
import pytest
from scipy import stats

from pdsynth.answers.laws import discrete_laplace_pmf

PASS = 1e-6  # all runs but one are seeded, so that a pass is a pass for ever


def p_value(drawn: np.ndarray, scale: Q) -> float:
    """Chi-square goodness of fit: at most 60 classes, none with fewer than 20 draws expected."""
    b, n = float(scale), len(drawn)
    reach = max(1, int(b * math.log(n * math.tanh(0.5 / b) / 20)))
    width = math.ceil((2 * reach + 1) / 60)
    edges = np.arange(-reach, reach + 1, width)  # classes [e, e + width), and two tails
    values = np.arange(edges[0], edges[-1] + width)
    inside = discrete_laplace_pmf(values, b).reshape(-1, width).sum(axis=1)
    below, above = (
        math.exp(-abs(v) / b) / (1 + math.exp(-1 / b)) for v in (edges[0] - 1, edges[-1] + width)
    )
    expected = np.array([below, *inside, above])
    assert expected.sum() == pytest.approx(1)
    classes = np.clip((drawn - edges[0]) // width, -1, len(edges)) + 1
    observed = np.bincount(classes, minlength=len(expected))
    return stats.chisquare(observed, expected / expected.sum() * n).pvalue


def zero_sum_law(cells: int, scale: Q, reach: int | None = None) -> dict[tuple[int, ...], float]:
    """P(v) ∝ exp(−Σ|v|/scale) where Σv = 0, enumerated: all tables of cells up to ``reach``.

    The rest of the mass is below 1e-7 for two to four cells.
    """
    reach = math.ceil(10 * float(scale)) + 2 if reach is None else reach
    free = itertools.product(range(-reach, reach + 1), repeat=cells - 1)
    tables = ((*v, -sum(v)) for v in free)
    weights = {v: math.exp(-sum(map(abs, v)) / float(scale)) for v in tables}
    total = sum(weights.values())
    return {v: weight / total for v, weight in weights.items()}


def chi_square(seen: Mapping[tuple[int, ...], int], law: Mapping[tuple[int, ...], float]) -> float:
    """Goodness of fit of counted outcomes; those of fewer than 20 expected draws are one class."""
    n = sum(seen.values())
    often = [v for v, p in law.items() if n * p > 20]
    observed = [seen.get(v, 0) for v in often]
    expected = [n * law[v] for v in often]
    rest = [n - sum(observed)], [n - sum(expected)]
    return stats.chisquare(observed + rest[0], expected + rest[1]).pvalue

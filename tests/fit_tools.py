"""Whether drawn integers fit the discrete Laplace law."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from scipy import stats

from pdsynth.core.noise import discrete_laplace_pmf

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

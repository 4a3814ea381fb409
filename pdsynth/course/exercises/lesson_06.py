"""Exercises of lesson 06, sensitivity groups and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .judges import same
from .lesson import exercises


def judge_row_scales(row_scales: Callable[..., Sequence[float]]) -> str | None:
    """Scales proportional to 1/w, the smallest of them 2/ε."""
    for w, epsilon in (([0.2, 0.4, 0.4], 1.0), ([0.1, 0.6, 0.3], 0.5), ([0.25] * 4, 0.1)):
        scales = np.array(row_scales(w, epsilon), dtype=float)
        if len(scales) != len(w):
            return f"row_scales returns {len(scales)} numbers for {len(w)} values."
        if not np.allclose(scales * w, scales[0] * w[0]):
            return ("row_scales: the scales aren't proportional to 1/w: "
                    "a value with twice the weight gets half the scale.")
        cost = 2 / scales.min()
        if same(cost, max(w) * epsilon):
            return (f"row_scales(…, {epsilon}) are the printed ones: the table truly costs "
                    f"max w · ε = {cost:.3g}. Divide w by max w.")
        if same(cost, 2 * epsilon):
            return (f"row_scales(…, {epsilon}) cost {cost:.3g}, twice too much: "
                    "two cells change, so the numerator is 2.")
        if not same(cost, epsilon):
            return f"row_scales(…, {epsilon}) cost 2/min(scale) = {cost:.4g}, not {epsilon}."
    return None


q1, q2, q3 = exercises("lesson_06", q2=judge_row_scales)

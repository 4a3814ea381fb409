"""Exercises of lesson 06, sensitivity groups and weights."""

import numpy as np
import pandas as pd

from .judges import Computation
from .lesson import exercises


def scale_rows(w: list[float], epsilon: float, smallest: float) -> np.ndarray:
    """Scales proportional to 1/w of which the smallest is ``smallest`` / ε."""
    return smallest * max(w) / (np.array(w) * epsilon)


row_scales = Computation(
    lambda w, epsilon: scale_rows(w, epsilon, 2),
    cases=[([0.2, 0.5, 0.3], 0.5), ([0.1, 0.6, 0.3], 1.0), ([0.25] * 4, 0.1)],
    mistakes={
        "row_scales are the printed ones: the table truly costs max w · ε. Divide w by max w.": (
            lambda w, epsilon: 2 / (np.array(w) * epsilon)
        ),
        "row_scales are half of what is needed: two cells change, so the numerator is 2.": (
            lambda w, epsilon: scale_rows(w, epsilon, 1)
        ),
        "row_scales are twice what is needed: the 2 is both cells already.": lambda w, epsilon: (
            scale_rows(w, epsilon, 4)
        ),
        "row_scales gives all rows the same: a value with twice the weight gets half the scale.": (
            lambda w, epsilon: np.full(len(w), 2 / epsilon)
        ),
        "row_scales makes the *noisiest* row cost ε. A record in the row of the largest weight loses more.": (
            lambda w, epsilon: 2 * min(w) / (np.array(w) * epsilon)
        ),
        "row_scales makes the mean row cost ε. A record in the row of the largest weight loses more.": (
            lambda w, epsilon: 2 * np.mean(w) / (np.array(w) * epsilon)
        ),
        "row_scales gives the largest weight the *most* noise: scales go with 1/w.": (
            lambda w, epsilon: 2 * np.array(w) / (max(w) * epsilon)
        ),
        "row_scales multiplies by ε: less budget, more noise.": lambda w, epsilon: (
            2 * max(w) * epsilon / np.array(w)
        ),
        "row_scales forgets ε.": lambda w, epsilon: 2 * max(w) / np.array(w),
        "row_scales divides by w²: scales are proportional to 1/w.": lambda w, epsilon: (
            2 * (max(w) / np.array(w)) ** 2 / epsilon
        ),
        "row_scales goes with the root of the weights: scales are proportional to 1/w.": (
            lambda w, epsilon: 2 * np.sqrt(max(w) / np.array(w)) / epsilon
        ),
        "row_scales is one number. Each row has its own.": lambda w, epsilon: np.array(
            [2 / epsilon]
        ),
    },
    otherwise="row_scales{case} gives {got}, not {wanted}: proportional to 1/w, the smallest 2/ε.",
)

HEADS = [
    pd.Series({"flu": 61.0, "hiv": -2.0, "cold": 30.0, "gout": 4.0}),
    pd.Series({"no": 900.0, "yes": 12.0}),
]


def surprise(noisy: pd.Series, least: float = 0.5) -> pd.Series:
    """−log₂ of the clipped shares."""
    return -np.log2(noisy.clip(least) / noisy.clip(least).sum())


def weigh(noisy: pd.Series, least: float = 0.5) -> pd.Series:
    """The same, the largest of them 1."""
    return surprise(noisy, least) / surprise(noisy, least).max()


value_scales = Computation(
    lambda noisy, epsilon: 2 / (weigh(noisy) * epsilon),
    cases=[(head, epsilon) for head in HEADS for epsilon in (0.5, 0.2)],
    faults={
        "value_scales has a scale that isn't finite: a noisy count can be negative, and its logarithm doesn't exist. Clip at one half.": (
            lambda got, *case: not np.isfinite(got).all()
        ),
    },
    mistakes={
        "value_scales clips at 1: the text says one half, so that an empty value stays rarer.": (
            lambda noisy, epsilon: 2 / (weigh(noisy, 1) * epsilon)
        ),
        "value_scales is 1/(v ε): a replaced record moves two cells.": lambda noisy, epsilon: (
            1 / (weigh(noisy) * epsilon)
        ),
        "value_scales isn't divided by the largest surprise: then scales fall below 2/ε, and the table costs more than ε.": (
            lambda noisy, epsilon: 2 / (surprise(noisy) * epsilon)
        ),
        "value_scales divides by the *sum* of the surprises, as printed: more noise than was paid.": lambda noisy, epsilon: (
            2 / (surprise(noisy) / surprise(noisy).sum() * epsilon)
        ),
        "value_scales multiplies by v: the rare value gets the most noise instead of the least.": (
            lambda noisy, epsilon: 2 * weigh(noisy) / epsilon
        ),
        "value_scales forgets ε.": lambda noisy, epsilon: 2 / weigh(noisy),
        "value_scales gives all values the same. Private, but the weights are gone.": (
            lambda noisy, epsilon: noisy * 0 + 2 / epsilon
        ),
        "value_scales weights with the share itself: frequent values would count as surprising.": (
            lambda noisy, epsilon: 2 / (noisy.clip(0.5) / noisy.clip(0.5).max() * epsilon)
        ),
        "value_scales squares the weights.": lambda noisy, epsilon: (
            2 / (weigh(noisy) ** 2 * epsilon)
        ),
        "value_scales divides by the *smallest* surprise: the largest scale is 2/ε then, and all others are too small.": lambda noisy, epsilon: (
            2 / (surprise(noisy) / surprise(noisy).min() * epsilon)
        ),
        "value_scales gives the weights. A scale is 2/(v ε).": lambda noisy, epsilon: weigh(noisy),
    },
    otherwise=(
        "value_scales gives {got}, not {wanted}: shares of noisy counts of at least one "
        "half, surprise, divided by the largest, then 2/(v ε). It depends on the records "
        "through `noisy` alone."
    ),
)

q1, q2, q3 = exercises("lesson_06", q2=row_scales, q3=value_scales)

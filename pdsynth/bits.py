"""Fast tables of many sets of two-valued columns, and the integer x·log₂x that every entropy is summed from."""

from __future__ import annotations

import math

import numpy as np


def fixed_point(n: int) -> tuple[np.ndarray, float]:
    """c·log2(c) for c = 0 … n in integers and the unit they count, so that sums don't depend on the order of the cells."""
    top = n * math.log2(max(n, 2))
    unit = 2.0 ** -(60 - math.ceil(math.log2(max(top, 2))))
    values = np.arange(n + 1, dtype=float)
    values[1:] *= np.log2(values[1:])
    return np.rint(values / unit).astype(np.int64), unit

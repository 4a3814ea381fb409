"""Comparing tables with more cells than records: only cells that some record occupies are seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def keys(codes: np.ndarray, sizes: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """One int64 key per record, equal exactly where the records agree on ``columns``.

    The size of the domain doesn't matter.
    """
    key, cells = np.zeros(len(codes), dtype=np.int64), 1
    for j in columns:
        if cells * sizes[j] >= 2**62:  # relabel: at most n different keys are in use
            distinct, key = np.unique(key, return_inverse=True)
            cells = len(distinct)
        key = key * sizes[j] + codes[:, j]
        cells *= sizes[j]
    return key


def gaps(
    real: np.ndarray, fake: np.ndarray, sizes: Sequence[int], columns: Sequence[int]
) -> np.ndarray:
    """n·m·(P − Q) of every occupied cell: int64 array; real codes (n, d), fake codes (m, d).

    **Privacy:** raw; it compares real records with synthetic ones for evaluation only.
    """
    n, m = len(real), len(fake)
    both = np.vstack([real[:, columns], fake[:, columns]])
    key = keys(both, [sizes[j] for j in columns], range(len(columns)))
    distinct, cell = np.unique(key, return_inverse=True)
    p, q = (np.bincount(part, minlength=len(distinct)) for part in (cell[:n], cell[n:]))
    return p * m - q * n

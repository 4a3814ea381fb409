"""Numbers to the bins of a public range, and back."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def label_bins(cuts: Sequence[float], integer: bool) -> tuple[str, ...]:
    """A different text for each bin.

    >>> label_bins((0, 1, 5000, 99999), True)
    ('0', '1–4999', '5000–99999')
    """
    if not integer:
        short = tuple(f"{a:g}–{b:g}" for a, b in pairwise(cuts))
        full = tuple(f"{a!r}–{b!r}" for a, b in pairwise(cuts))
        return short if len(set(short)) == len(short) else full
    ends = [*(b - 1 for b in cuts[1:-1]), *cuts[1:][-1:]]
    return tuple(f"{a}" if a == b else f"{a}–{b}" for a, b in zip(cuts[:-1], ends, strict=True))


def find_bins(numbers: np.ndarray, edges: Sequence[float]) -> np.ndarray:
    """The bin of each number, (n_records,); -1 outside ``[edges[0], edges[-1]]`` and for NaN.

    **Privacy:** raw records in, raw records out.
    """
    cuts = np.asarray(edges, dtype=float)
    bins = np.minimum(np.searchsorted(cuts, numbers, side="right") - 1, len(cuts) - 2)
    with np.errstate(invalid="ignore"):
        return np.where(numbers <= cuts[-1], bins, -1)


def place_in_bins(
    bins: np.ndarray, edges: Any, spread: str, uniform: np.ndarray | None, integer: bool
) -> np.ndarray:
    """Numbers inside their bins; rounding may reach a right edge, which is the next bin's."""
    cuts = np.asarray(edges, dtype=float)
    low, high = cuts[bins], cuts[bins + 1]
    share: Any = 0.5 if uniform is None or spread == "middle" else uniform
    if spread == "lower":
        share = 0.0
    if integer:
        high = high + (bins == len(cuts) - 2)
        return np.minimum(np.floor(low + share * (high - low)), high - 1).astype(np.int64)
    return np.minimum(low + share * (high - low), np.nextafter(high, low))

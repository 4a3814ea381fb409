"""Tables that fit nowhere: of PrivABN's, only the parent configurations that occur are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import conditional

DENSE = 2**16  # cells of a table that is kept whole; of larger ones only what occurs


@dataclass(frozen=True)
class SparseTable:
    """Weights of a child at the parent configurations that occur, for tables that fit nowhere.

    ``shape``: the declared domain, child first. ``keys``: int64 (r,), rising numbers of
    configurations, first parent most significant. ``weights``: int64 (|X|, r). Another
    configuration has the child's own distribution, or with a ``scale`` the uniform one plus Laplace
    noise of that scale, drawn from ``seed`` when the configuration is asked for, always the same.
    """

    shape: tuple[int, ...]
    keys: np.ndarray
    weights: np.ndarray
    scale: float = 0.0
    seed: int = 0

    @property
    def size(self) -> int:
        """Cells that are kept."""
        return self.weights.size

    def look_up(self, p: np.ndarray, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``p``, P(X | π), with missing configurations appended; where each ``key`` stands."""
        at = np.searchsorted(self.keys, key)
        hits = at < len(self.keys)
        hits[hits] = self.keys[at[hits]] == key[hits]
        if hits.all():
            return p, at
        new, back = np.unique(key[~hits], return_inverse=True)
        at[~hits] = p.shape[1] + back
        return np.hstack([p, self._unseen(new)]), at

    def _unseen(self, keys: np.ndarray) -> np.ndarray:
        values = self.shape[0]
        if not self.scale:
            return np.repeat(conditional(self.weights.sum(axis=1)), len(keys), axis=1)
        cells = keys[None, :].astype(np.uint64) * np.uint64(values)
        u = _hash(cells + np.arange(values, dtype=np.uint64)[:, None], self.seed) - 0.5
        noisy = np.maximum(1 / values - self.scale * np.sign(u) * np.log1p(-2 * np.abs(u)), 0)
        return conditional(np.where(noisy.sum(axis=0) > 0, noisy, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "keys": self.keys.tolist(),
            "weights": self.weights.ravel().tolist(),
            "scale": self.scale,
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], shape: tuple[int, ...]) -> SparseTable:
        """The inverse of :meth:`to_dict`.

        A malformed document raises ValueError, TypeError, KeyError or OverflowError.
        """
        scale, seed = data["scale"], data["seed"]
        whole = all(type(x) is int for x in (*data["keys"], *data["weights"], seed))
        if len(data["weights"]) != shape[0] * len(data["keys"]):
            raise ValueError("a sparse table with more or fewer weights than its keys ask for")
        if not whole or type(scale) is not float:
            raise ValueError("a sparse table holds something other than integers")
        keys = np.array(data["keys"], dtype=np.int64)
        rising = len(keys) and keys[0] >= 0 and (np.diff(keys) > 0).all()
        if not rising or int(keys[-1]) >= math.prod(shape[1:]):
            raise ValueError("a sparse table whose keys don't rise within its domain")
        if not 0 <= scale < math.inf or not 0 <= seed < 2**63:
            raise ValueError("a sparse table with an impossible noise")
        weights = np.array(data["weights"], dtype=np.int64).reshape(shape[0], len(keys))
        return cls(shape, keys, weights, scale, seed)


def _hash(keys: np.ndarray, seed: int) -> np.ndarray:
    """Uniform numbers in (0, 1) that only depend on key and seed (SplitMix64)."""
    z = (keys + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return (((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53

"""Random sources that protect nobody: common random numbers for live panels, no noise at all."""

# ruff: noqa: D102 (what the methods of Noise do stands there, once)

from __future__ import annotations

import math
import zlib
from fractions import Fraction

import numpy as np

from ..core import Noise, Shape, stream_of


class CommonNoise(Noise):
    """Common random numbers for live panels: unit draws are rescaled, so curves move smoothly.

    Not for release: seeded, and in double precision.
    """

    reproducible = True
    zero_sum = True

    def __init__(self, seed: int = 0, label: str = "", cache: dict | None = None) -> None:
        super().__init__()
        self._seed, self._label, self._cache = seed, label, {} if cache is None else cache

    def fresh(self) -> CommonNoise:
        """The same draws from the beginning, for the next move of a slider."""
        return CommonNoise(self._seed, "", self._cache)

    def _stream(self, label: str) -> CommonNoise:
        label = f"{self._label}\1{label}" if self._label else label
        return type(self)(self._seed, label, self._cache)

    def generator(self) -> np.random.Generator:
        return np.random.Generator(stream_of([self._seed, zlib.crc32(self._label.encode())]))

    def _draws(self, kind: str, size: int) -> np.ndarray:
        key = kind, self._label, size  # of each size its own: no other setting's draws are in them
        if key not in self._cache:
            rng = self.generator()
            pairs = kind != "gumbel"
            draws = rng.standard_exponential((2, size)) if pairs else rng.gumbel(size=size)
            self._cache[key] = draws
        return self._cache[key]

    def discrete_laplace(self, scale: np.ndarray, shape: Shape) -> np.ndarray:
        width = np.asarray(scale, dtype=object).astype(float)
        up, down = self._draws("laplace", math.prod(shape)).reshape(2, *shape)
        return (np.floor(up * width) - np.floor(down * width)).astype(np.int64)

    def zero_sum_laplace(self, scale: Fraction, shape: Shape) -> np.ndarray:
        cells, b = math.prod(shape), float(scale)
        tries = 40 * math.isqrt(cells)  # one in a billion keeps none, and takes the first
        draws = self._draws(f"zero sum of {cells}", tries * cells)  # the same for this size always
        up, down = draws.reshape(2, cells, tries)
        free = np.floor(up[1:] * b) - np.floor(down[1:] * b)
        last = -free.sum(axis=0)
        hit = int(np.argmax(up[0] * b >= np.abs(last)))
        return np.append(free[:, hit], last[hit]).astype(np.int64).reshape(shape)

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        return int(np.argmax(self._draws("gumbel", numerators.size) - numerators / denominator))

    def below(self, bound: int) -> int:
        return int(self.generator().integers(bound))


class NoNoise(CommonNoise):
    """No noise at all: argmax and raw counts, for the papers' NoPrivacy curves."""

    private = False

    def discrete_laplace(self, scale: np.ndarray, shape: Shape) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    def zero_sum_laplace(self, scale: Fraction, shape: Shape) -> np.ndarray:
        return np.zeros(shape, dtype=np.int64)

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        return int(np.argmin(numerators))

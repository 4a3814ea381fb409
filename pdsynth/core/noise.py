"""Noise: the mechanisms, and random sources.

What reaches a release is sampled with integers only (Canonne, Kamath, Steinke 2020, Algorithms 1
and 2), selections by Bernoulli(exp(−γ)) with rational γ. No floating point stands between the
records and the release, so Mironov's attack (2012) has nothing to hold on to. Numbers that a user
writes become exact fractions first.
"""

# ruff: noqa: D102 (what the methods of Noise do stands there, once)

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from .errors import BudgetError, PrivacyError

Shape = tuple[int, ...]
WORD = 2**52  # numerators of scales that fit 64-bit arithmetic with room for the sampler's factors
LIMIT = 2**62  # numerators of selections fit 64 bits below it, with room for the sampler's factors


class Noise:
    """A random source with one child stream per step.

    ``reproducible``: whether somebody else could draw the same noise; True unless a source says
    otherwise. ``private``: it is noise at all. ``zero_sum``: it has the zero-sum law, too.
    ``permutes``: it chooses by permute-and-flip alone.
    """

    reproducible = True
    private = True
    zero_sum = permutes = False

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def child(self, label: str) -> Noise:
        """The stream of one step; the same label twice gives two streams: noise never cancels."""
        count = self._used[label] = self._used.get(label, -1) + 1
        return self._stream(label if count == 0 else f"{label}\0{count}")

    def _stream(self, label: str) -> Noise:
        raise NotImplementedError

    def add_to(self, counts: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """What the Laplace mechanism releases: integers with the noise of one step.

        **Privacy:** as :func:`~pdsynth.core.noise.laplace_mechanism`.
        """
        return counts + self.discrete_laplace(scale, counts.shape)

    def add_law(self, counts: np.ndarray, law: Any) -> np.ndarray:
        """With noise of another house's law. **Privacy:** as the law says."""
        return counts + law.draw(self, counts.shape)

    def add_zero_sum(self, counts: np.ndarray, scale: Fraction) -> np.ndarray:
        """What the zero-sum mechanism releases: integers with the sum of the counts.

        **Privacy:** as :func:`~pdsynth.core.noise.zero_sum_mechanism`.
        """
        return counts + self.zero_sum_laplace(scale, counts.shape)

    def choose(
        self, gaps: np.ndarray, times: int, denominator: int, *, permute: bool, among: Any = None
    ) -> int:
        """What the exponential mechanism releases: P(i) ∝ exp(−gaps[i]·times/denominator).

        Only the gaps depend on the records. ``among``: what the indices stand for.
        """
        if max(int(gaps.max()), 1) * times >= LIMIT or denominator >= LIMIT // 64:
            gaps = gaps.astype(object)  # too long for 64 bits: Python's integers, slower
        return self.select(gaps * times, denominator, permute=permute)

    def discrete_laplace(self, scale: np.ndarray, shape: Shape) -> np.ndarray:
        """Integer noise, P(z) ∝ exp(−|z|/scale): int64; Fractions that broadcast to ``shape``."""
        raise NotImplementedError

    def zero_sum_laplace(self, scale: Fraction, shape: Shape) -> np.ndarray:
        """Integer noise v, P(v) ∝ exp(−Σ|v|/scale) where Σv = 0: int64, of two cells or more."""
        raise NotImplementedError

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """An index with P(i) ∝ exp(−numerators[i]/denominator), or permute-and-flip on the same."""
        raise NotImplementedError

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        raise NotImplementedError

    def generator(self) -> np.random.Generator:
        """A numpy generator for post-processing (ancestral sampling)."""
        raise NotImplementedError


class ExactNoise(Noise):
    """The laws without rounding; bits from the operating system, or from seeded PCG64 streams."""

    zero_sum = True

    def __init__(self, seed: int | Sequence[int] | None = None) -> None:
        super().__init__()
        seeds = [seed] if isinstance(seed, (int, np.integer)) else seed
        self._entropy = None if seeds is None else list(seeds)
        self.reproducible = seed is not None
        self._bits = stream_of(self._entropy) if self.reproducible else None

    def _stream(self, label: str) -> ExactNoise:
        if self._entropy is None:
            return self
        return ExactNoise([*self._entropy, zlib.crc32(label.encode()), len(label)])

    def _words(self, size: int) -> np.ndarray:
        if self._bits is not None:
            return self._bits.random_raw(size)
        return np.frombuffer(os.urandom(8 * size), dtype=np.uint64)

    def uniform(self, bound: np.ndarray) -> np.ndarray:
        """Uniform integers in [0, bound): words above the last whole multiple are drawn again."""
        if bound.dtype == object:
            return np.array([self._uniform_large(int(b)) for b in bound], dtype=object)
        bound = bound.astype(np.uint64)
        top = np.uint64(2**64 - 1) - np.negative(bound) % bound  # 2^64 − b leaves what 2^64 does
        words = self._words(bound.size)
        again = np.flatnonzero(words > top)
        words = words.copy() if again.size else words
        while again.size:
            words[again] = self._words(again.size)
            again = again[words[again] > top[again]]
        return (words % bound).astype(np.int64)

    def _uniform_large(self, bound: int) -> int:
        """The same for one bound of any size: as many bits as it has, until they are below it."""
        bits = bound.bit_length()
        words = -(-bits // 64)
        while True:
            value = int.from_bytes(self._words(words).tobytes(), "little") >> (64 * words - bits)
            if value < bound:
                return value

    def below(self, bound: int) -> int:
        return int(self.uniform(np.array([bound]))[0])

    def bernoulli_exp(self, numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
        """Independent Bernoulli(exp(−numerator/denominator)) for int64 arrays (m,), ratios ≥ 0."""
        whole, part = numerator // denominator, numerator % denominator
        result = self._bernoulli_part(part, denominator)
        alive = np.flatnonzero(result & (whole > 0))
        while alive.size:
            result[alive] = self._bernoulli_one(alive.size)
            whole[alive] -= 1
            alive = alive[result[alive] & (whole[alive] > 0)]
        return result

    def _bernoulli_one(self, size: int) -> np.ndarray:
        one = np.ones(size, dtype=np.int64)
        return self._bernoulli_part(one, one)

    def _bernoulli_part(self, numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
        """Bernoulli(exp(−γ)), γ ≤ 1: the first failure of Bernoulli(γ/place) is at an odd place."""
        odd = np.ones(numerator.size, dtype=bool)
        alive, place = np.flatnonzero(numerator > 0), 1
        while alive.size:
            success = self.uniform(denominator[alive] * place) < numerator[alive]
            alive = alive[success]
            place += 1
            odd[alive] = place % 2 == 1
        return odd

    def discrete_laplace(self, scale: np.ndarray, shape: Shape) -> np.ndarray:
        ratios = [Fraction(f).as_integer_ratio() for f in as_scales(scale).ravel()]
        wide = max(map(max, ratios)) >= WORD  # needs Python's integers: slower, the same law
        parts = np.array(ratios, dtype=object if wide else np.int64).T.reshape(2, *np.shape(scale))
        t, s = (np.broadcast_to(parts[i, ...], shape).ravel() for i in (0, 1))
        out = np.zeros(t.size, dtype=np.int64)
        todo = np.arange(t.size)
        while todo.size:
            size = self._magnitude(t[todo], s[todo])
            sign = self._words(todo.size) >> np.uint64(63)
            hits = (size > 0) | (sign == 0)  # zero has one sign only
            out[todo[hits]] = np.where(sign[hits] == 1, -size[hits], size[hits])
            todo = todo[~hits]
        return out.reshape(shape)

    def zero_sum_laplace(self, scale: Fraction, shape: Shape) -> np.ndarray:
        as_scales(np.array(scale))  # refuses what is too large
        draws = draw_zero_sum(scale, math.prod(shape), self._one_by_one())
        return np.array(draws, dtype=np.int64).reshape(shape)

    def _one_by_one(self) -> Callable[[int], int]:
        """A function that gives a uniform integer in [0, bound), without the cost of an array."""
        words = (word for _ in count() for word in self._words(256).tolist())

        def below(bound: int) -> int:
            if bound > LIMIT:
                return self._uniform_large(bound)
            top = 2**64 - 2**64 % bound  # the last whole multiple
            word = next(words)
            return word % bound if word < top else below(bound)

        return below

    def _magnitude(self, t: np.ndarray, s: np.ndarray) -> np.ndarray:
        """Geometric magnitudes floor(X / s), P(X = x) ∝ exp(−x/t)."""
        remainder = np.zeros(t.size, dtype=t.dtype)
        todo = np.arange(t.size)
        while todo.size:
            draws = self.uniform(t[todo])
            hits = self._bernoulli_part(draws, t[todo])
            remainder[todo[hits]] = draws[hits]
            todo = todo[~hits]
        multiples = np.zeros(t.size, dtype=np.int64)
        alive = np.arange(t.size)
        while alive.size:
            alive = alive[self._bernoulli_one(alive.size)]
            multiples[alive] += 1
        return ((remainder + multiples * t) // s).astype(np.int64)

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        if not permute:
            return int(self._selections(numerators, denominator)[0])
        below = np.full(numerators.size, denominator, dtype=numerators.dtype)
        winners = np.flatnonzero(self.bernoulli_exp(numerators, below))
        return int(winners[self.below(winners.size)])  # the first success in a random order

    def _selections(self, numerators: np.ndarray, denominator: int) -> np.ndarray:
        """At least one independent selection: uniform proposals, each accepted with exp(−γ)."""
        below = np.full(256, denominator, dtype=numerators.dtype)
        while True:
            proposals = self.uniform(np.full(256, numerators.size, dtype=np.int64))
            accepted = proposals[self.bernoulli_exp(numerators[proposals], below)]
            if accepted.size:
                return accepted

    def generator(self) -> np.random.Generator:
        return np.random.Generator(stream_of(self._entropy))


# Zero-sum noise of small tables is drawn with Python's integers: quicker than arrays.
Below = Callable[[int], int]  # a uniform integer in [0, bound)


def draw_zero_sum(scale: Fraction, cells: int, below: Below) -> list[int]:
    """Integers v, one per cell, P(v) ∝ exp(−Σ|v|/scale) where Σv = 0.

    All cells but the last are Laplace numbers, and the last is what is missing to 0. A draw is kept
    with probability exp(−|last|/scale), which makes the law that of all cells; else the table is
    drawn again, about 1.7 √cells times. Time doesn't depend on the scale.
    """
    t, s = scale.as_integer_ratio()
    while True:
        free = [_laplace(t, s, below) for _ in range(cells - 1)]
        last = -sum(free)
        if _bernoulli_exp(abs(last) * s, t, below):
            return [*free, last]


def _laplace(t: int, s: int, below: Below) -> int:
    """P(z) ∝ exp(−|z| s/t) (Canonne, Kamath, Steinke 2020, Algorithm 2)."""
    while True:
        remainder = below(t)
        if not _bernoulli_exp(remainder, t, below):
            continue
        multiples = 0
        while _bernoulli_exp(1, 1, below):
            multiples += 1
        size, negative = (remainder + multiples * t) // s, below(2)
        if size or not negative:  # zero has one sign only
            return -size if negative else size


def _bernoulli_exp(numerator: int, denominator: int, below: Below) -> bool:
    """True with probability exp(−numerator/denominator) (the same, Algorithm 1)."""
    while numerator > denominator:
        if not _bernoulli_exp(1, 1, below):
            return False
        numerator -= denominator
    place = 1
    while below(denominator * place) < numerator:
        place += 1
    return place % 2 == 1


def stream_of(entropy: Sequence[int] | None) -> np.random.PCG64:
    """The bits of a seed; None: of the operating system."""
    return np.random.PCG64(np.random.SeedSequence(entropy))


def as_scales(scale: np.ndarray) -> np.ndarray:
    """Scales as an array of objects; BudgetError when one is too large for any use."""
    scale = np.asarray(scale, dtype=object)
    largest = max(scale.ravel())
    if largest >= WORD:
        largest = float(largest)
        raise BudgetError(f"a noise scale of {largest:.3g} leaves nothing of any count: raise ε")
    return scale


# --- the mechanisms ----------------------------------------------------------------------------


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


def zero_sum_mechanism(counts: np.ndarray, scale: Fraction, noise: Noise) -> np.ndarray:
    """Integer counts plus noise v of sum 0, P(v) ∝ exp(−Σ|v|/scale): the sum of the counts stays.

    Once both are made to sum to n, Σ|error| is .67 of that of Laplace noise
    (:func:`laplace_mechanism`) in a table of two cells, .82 of four, .97 of 32.

    **Privacy:** for one table of all records, where neighbours have the same n (lemma:zero_sum).
    A replaced record adds 1 to one cell and takes 1 from another, so neighbours can give the same
    tables, and the noise that leads there differs by 2 in Σ|v|. The law's normaliser depends on
    cells and scale only: (2/scale)-DP, and m times that if m records are replaced. Under add/remove
    the sum alone tells neighbours apart, and no ε covers it. ``counts``: two cells or more, else
    BudgetError, as for a scale that isn't positive.
    """
    counts = np.asarray(counts)
    if scale <= 0:
        raise BudgetError(f"a noise scale must be positive, got {scale}")
    if counts.size < 2:
        raise BudgetError("zero-sum noise needs a table of at least two cells")
    return noise.add_zero_sum(counts, scale)


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


def laplace_width(scale: Fraction, cells: int) -> Fraction:
    """The scale of Laplace noise that is as wide as zero-sum noise, once both sum to 0.

    With m cells the zero-sum law has variance scale² (m−1)(2m−1)/(m(m+1)) in each, Laplace noise
    less its mean 2 scale'² (m−1)/m (both in the limit of large scales): so scale' is
    scale · √((2m−1)/(2m+2)), to three digits here. It weighs tables in fits, and nothing else.

    >>> laplace_width(Fraction(10), 2), laplace_width(Fraction(8), 5)
    (Fraction(4080, 577), Fraction(6464, 933))
    """
    return scale * Fraction(math.sqrt((2 * cells - 1) / (2 * cells + 2))).limit_denominator(999)

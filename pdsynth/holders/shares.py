"""Shares of noise: what each of some holders adds, so that the sum has the law of one curator.

A Pólya number of shape r and ratio q is k with P(k) ∝ C(k + r − 1, k) qᵏ. Shapes add up: h of them
of shape 1/h sum to a geometric number, whose shape is 1. The difference of two geometric numbers is
discrete Laplace noise. So each of h holders adds the difference of two Pólya numbers of shape 1/h
(Goryczka and Xiong 2017; in the limit Ács and Castelluccia 2011).

Choices have shares, too. To the score of each candidate every holder adds a Pólya number, and the
largest sum wins, ties at random. The sum is a geometric number, the whole part of an exponential
one, and scores are whole: so this is the exponential noise that permute-and-flip is (Ding et al.
2021), exactly.

Everything is drawn with integers.
"""

# ruff: noqa: D102 (what the methods of Noise do stands there, once)

from collections.abc import Callable, Sequence
from copy import copy
from fractions import Fraction
from functools import partial
from math import exp, lgamma, pi, sqrt
from typing import Any, cast

import numpy as np

from ..core import BudgetError, ExactNoise, Noise, PrivacyError, as_scales, is_whole, show

LONG = 2**50  # numerators that leave room in 64 bits; longer ones need Python's integers
MOST_HOLDERS = 1000


def check_holders(holders: int, honest: Any = None) -> int:
    """How many holders are honest at least; BudgetError for numbers that can't be."""
    if not is_whole(holders, 2, MOST_HOLDERS):
        raise BudgetError(
            f"noise is shared by at least 2 and at most {MOST_HOLDERS:,} holders, got "
            f"{show(holders)}"
        )
    if honest is not None and not is_whole(honest, 1, holders):
        raise BudgetError(
            f"honest must be a whole number of holders from 1 to {holders}, got {show(honest)}"
        )
    return int(holders if honest is None else honest)


def draw_share(
    noise: ExactNoise, scale: np.ndarray, honest: int, shape: tuple[int, ...]
) -> np.ndarray:
    """What one holder adds to a table: int64 of the shape; ``scale``: Fractions that broadcast.

    ``honest``: how many such shares make up the whole noise. BudgetError for a scale that isn't
    positive, or a number of holders that can't be.

    **Privacy:** all together are discrete Laplace noise; what fewer are :mod:`.collusion` says.
    """
    if not is_whole(honest, 1, MOST_HOLDERS):
        raise BudgetError(f"honest must be a whole number of holders, got {show(honest)}")
    if not np.all(np.asarray(scale) > 0):
        raise BudgetError(f"a noise scale must be positive, got {np.min(scale)}")
    wide, out = np.broadcast_to(as_scales(scale), shape), np.zeros(shape, dtype=np.int64)
    for one in dict.fromkeys(wide.ravel()):
        cells = wide == one
        numbers = draw_polya(noise, Fraction(one), honest, 2 * int(cells.sum()))
        out[cells] = numbers[::2] - numbers[1::2]
    return out


class SharedNoise(Noise):
    """A random source whose noise is the sum of what each holder draws by itself.

    ``holders``: how many there are. ``honest``: shares have shape 1/honest, so as many holders
    make up the whole noise, and the shares of the others come on top: 1 means that each adds all
    of it, as if it trusted nobody. ``seed`` makes all of it reproducible, hence NOT PRIVATE.

    **Privacy:** the laws of :class:`~pdsynth.core.ExactNoise` where all are honest, else more
    noise. Here all shares are drawn in one process; where holders are apart each calls
    :func:`draw_share` with a source of its own.
    """

    permutes = True

    def __init__(
        self, holders: int, honest: int | None = None, seed: int | Sequence[int] | None = None
    ) -> None:
        super().__init__()
        self.honest, self.holders = check_holders(holders, honest), holders
        self._source: ExactNoise = ExactNoise(seed)
        self.reproducible = self._source.reproducible

    @property
    def holders_needed(self) -> tuple[int, int]:
        """How many holders there are, and how many of their shares are the whole noise."""
        return self.holders, self.honest

    @property
    def larger(self) -> float:
        """The expected size of all its shares together, in that of one curator's noise.

        A difference of two gamma numbers of shape r has the expected size 2Γ(r + ½)/(√π Γ(r)); of
        many holders, of whom few are honest, r is large.

        >>> SharedNoise(3).larger, SharedNoise(2, honest=1).larger
        (1.0, 1.5)
        """
        shape = self.holders / self.honest
        return round(2 * exp(lgamma(shape + 0.5) - lgamma(shape)) / sqrt(pi), 12)

    def _stream(self, label: str) -> "SharedNoise":
        twin = copy(self)
        twin._used, twin._source = {}, cast(ExactNoise, self._source.child(label))
        return twin

    def shares(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """The share of each holder in the noise of a table: int64 (holders, *shape)."""
        return draw_share(self._source, scale, self.honest, (self.holders, *shape))

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        total: np.ndarray = self.shares(scale, shape).sum(axis=0)
        return total

    def choose(
        self, gaps: np.ndarray, times: int, denominator: int, *, permute: bool, among: Any = None
    ) -> int:
        if not permute:
            raise PrivacyError("shares of noise choose by permute-and-flip alone")
        scale, many = Fraction(denominator, times), self.holders * gaps.size
        shares = draw_polya(self._source, scale, self.honest, many).reshape(self.holders, -1)
        total = shares.sum(axis=0) - gaps
        winners = np.flatnonzero(total == total.max())
        return int(winners[self.below(winners.size)])

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        return self.choose(numerators, 1, denominator, permute=permute)

    def add_law(self, counts: np.ndarray, law: Any) -> np.ndarray:
        raise PrivacyError(f"{type(law).__name__} noise has no shares: leave delta= out")

    def zero_sum_laplace(self, scale: Fraction, shape: tuple[int, ...]) -> np.ndarray:
        raise PrivacyError("noise of sum 0 has no shares")

    def below(self, bound: int) -> int:
        return self._source.below(bound)

    def generator(self) -> np.random.Generator:
        return self._source.generator()


def draw_polya(noise: ExactNoise, scale: Fraction, h: int, size: int) -> np.ndarray:
    """Independent Pólya numbers of shape 1/h and ratio q = exp(−1/scale): int64 (size,).

    A Pólya number of ratio q is one of ratio q², plus N positive numbers y of P(y) ∝ q²ʸ, where N
    is a Pólya number of ratio q/(1 + q), all of shape r. (Generating functions: with φ(s) =
    (1 − q²)s/(1 − q²s) the sum has ((1 − q²s)/((1 + q)(1 − qs)))^r, times ((1 − q²)/(1 − q²s))^r.)
    So q is squared until it is below 1/e, and what each squaring left out is added. Of shape 1
    they are geometric, and drawn at once.
    """
    if h == 1:
        return draw_positive(noise, scale, np.ones(size, dtype=np.int64)) - 1
    rate, levels = 1 / scale, 0
    while rate * 2**levels < 1:
        levels += 1
    out = keep_some(noise, Fraction(1, h), size, partial(draw_geometric, noise, rate * 2**levels))
    if levels:
        whose, level = draw_balls(noise, levels, h, size)
        counts = happens(noise, rate, 2**level)
        whose, level = whose[counts], level[counts]
        np.add.at(out, whose, draw_positive(noise, 1 / (2 * rate), 2**level))
    return out


def draw_balls(noise: ExactNoise, levels: int, h: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """What squarings left out, before q is looked at: of which number, and at which level.

    N above is a Pólya number of shape 1/h and ratio 1/2 of which each counts with probability q.
    Those of all levels are one of shape levels/h, and Pólya's urn deals its balls out: it holds a
    weight 1/h of each level, and 1 more of that of each ball so far.
    """
    whole, rest = divmod(levels, h)
    balls = np.zeros(size, dtype=np.int64)
    for _ in range(whole):
        balls += throw(noise, size)
    if rest:
        balls += keep_some(noise, Fraction(rest, h), size, partial(throw, noise))
    urn = np.zeros((int(balls.max(initial=0)), size), dtype=np.int64)
    for i in range(len(urn)):
        has = np.flatnonzero(balls > i)
        at = noise.uniform(np.full(has.size, levels + h * i))
        copied = urn[np.maximum(at - levels, 0) // h, has]
        urn[i, has] = np.where(at < levels, at, copied)
    ball, whose = np.nonzero(np.arange(len(urn))[:, None] < balls)
    return whose, urn[ball, whose]


def keep_some(
    noise: ExactNoise, shape: Fraction, size: int, propose: Callable[[int], np.ndarray]
) -> np.ndarray:
    """Pólya numbers of a shape r ≤ 1 from geometric proposals k of the same ratio.

    One is kept with probability C(k + r − 1, k) = Π (r + j − 1)/j, j = 1 … k; else drawn again.
    """
    r, h = shape.as_integer_ratio()
    out, todo = np.zeros(size, dtype=np.int64), np.arange(size)
    while todo.size:
        numbers = propose(todo.size)
        mask, alive, j = np.ones(todo.size, dtype=bool), np.flatnonzero(numbers), 1
        while alive.size:
            won = noise.uniform(np.full(alive.size, h * j)) < r + h * (j - 1)
            mask[alive[~won]] = False
            alive = alive[won & (numbers[alive] > j)]
            j += 1
        out[todo[mask]] = numbers[mask]
        todo = todo[~mask]
    return out


def throw(noise: ExactNoise, size: int) -> np.ndarray:
    """P(k) = 2^−(k+1): how often a coin shows tails before heads."""
    return repeated(size, lambda m: noise.uniform(np.full(m, 2)) == 1)


def draw_geometric(noise: ExactNoise, rate: Fraction, size: int) -> np.ndarray:
    """P(k) ∝ exp(−rate·k)."""
    return repeated(size, lambda m: happens(noise, rate, np.ones(m, dtype=np.int64)))


def repeated(size: int, luck: Callable[[int], np.ndarray]) -> np.ndarray:
    """How often in a row each of some independent events happens: int64 (size,)."""
    out, alive = np.zeros(size, dtype=np.int64), np.arange(size)
    while alive.size:
        alive = alive[luck(alive.size)]
        out[alive] += 1
    return out


def draw_positive(noise: ExactNoise, scale: Fraction, parts: np.ndarray) -> np.ndarray:
    """P(y) ∝ exp(−y·parts/scale), y = 1, 2, …: sizes of discrete Laplace noise that isn't 0."""
    scales = np.array([scale / part for part in parts.tolist()], dtype=object)
    out, todo = np.zeros(parts.size, dtype=np.int64), np.arange(parts.size)
    while todo.size:
        out[todo] = np.abs(noise.discrete_laplace(scales[todo], (todo.size,)))
        todo = todo[out[todo] == 0]
    return out


def happens(noise: ExactNoise, rate: Fraction, times: np.ndarray) -> np.ndarray:
    """Independent events of probability exp(−rate·times): bool (size,)."""
    top, bottom = rate.as_integer_ratio()
    kind = object if max(top * int(times.max(initial=1)), bottom) >= LONG else np.int64
    return noise.bernoulli_exp(times.astype(kind) * top, np.full(times.size, bottom, kind))

"""Random sources for audits (batched, recorded, scripted), and exact laws of selections."""

# ruff: noqa: D102 (what the methods of Noise do stands there, once)
from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..core import ExactNoise, Noise

Seed = int | Sequence[int] | None


def extend_seed(seed: Seed, *more: int) -> list[int] | None:
    """The seed of a part of an audit; None stays None and draws from the operating system."""
    return None if seed is None else [*np.atleast_1d(seed).tolist(), *more]


class RecordedNoise(Noise):
    """No noise, and the first candidate; keeps what was asked.

    ``asked``: ("discrete_laplace", scale, shape), ("zero_sum_laplace", scale, shape) and ("select",
    numerators, denominator), in order.
    """

    zero_sum = True

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, Any, Any]] = []

    def find(self, *kinds: str) -> list[tuple[Any, Any]]:
        """What was asked of one kind, or of several."""
        return [(first, second) for name, first, second in self.asked if name in kinds]

    def _stream(self, label: str) -> RecordedNoise:
        return self

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        self.asked.append(("discrete_laplace", scale, shape))
        return np.zeros(shape, dtype=np.int64)

    def zero_sum_laplace(self, scale: Fraction, shape: tuple[int, ...]) -> np.ndarray:
        self.asked.append(("zero_sum_laplace", scale, shape))
        return np.zeros(shape, dtype=np.int64)

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        self.asked.append(("select", numerators, denominator))
        return 0

    def below(self, bound: int) -> int:
        return 0

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(0)


class ScriptedNoise(RecordedNoise):
    """Takes the choices of a script, then the first, and multiplies their exact probabilities."""

    unit: Any = 1.0

    def __init__(self, choices: Sequence[int] = ()) -> None:
        super().__init__()
        self.choices, self.probability = list(choices), self.unit
        self.taken: list[int] = []
        self.options: list[int] = []

    def law_of(self, numerators: np.ndarray, denominator: int, permute: bool) -> Any:
        """P(i) of one selection."""
        return selection_law(numerators, denominator, permute=permute)

    def _take(self, p: Sequence[Any]) -> int:
        at = len(self.taken)
        self.taken.append(self.choices[at] if at < len(self.choices) else 0)
        self.options.append(len(p))
        self.probability *= p[self.taken[at]]
        return self.taken[at]

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        return self._take(self.law_of(numerators, denominator, permute))

    def below(self, bound: int) -> int:
        return self._take([self.unit / bound] * bound)


def zero_sum_rows(noise: ExactNoise, scale: Fraction, rows: int, cells: int) -> np.ndarray:
    """Independent draws of the zero-sum law as arrays, int64 (rows, cells), quick for many rows."""
    draws = np.empty((0, cells), dtype=np.int64)
    t, s = scale.as_integer_ratio()
    while len(draws) < rows:
        tries = min(3 * (rows - len(draws)) + 16, 2**22 // cells)
        free = ExactNoise.discrete_laplace(noise, np.array(scale), (tries, cells - 1))
        last = -free.sum(axis=1, keepdims=True)
        mask = noise.bernoulli_exp(np.abs(last[:, 0]) * s, np.full(tries, t))
        draws = np.concatenate([draws, np.hstack([free, last])[mask]])
    return draws[:rows]


class BatchedNoise(ExactNoise):
    """Exact noise for many runs at once: arrays get a leading axis of ``runs``.

    Only for runs whose steps don't depend on what was drawn before. A selection or a random root
    takes the first candidate: the tables that follow are audited for it; their claim holds for any.
    """

    def __init__(self, runs: int, seed: Seed = None) -> None:
        super().__init__(seed)
        self.runs, self.reproducible = runs, True  # its selections are no noise

    def _stream(self, label: str) -> BatchedNoise:
        child = super()._stream(label)
        return self if child is self else BatchedNoise(self.runs, child._entropy)

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return super().discrete_laplace(scale, (self.runs, *shape))

    def zero_sum_laplace(self, scale: Fraction, shape: tuple[int, ...]) -> np.ndarray:
        return zero_sum_rows(self, scale, self.runs, math.prod(shape)).reshape(self.runs, *shape)

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        return 0

    def below(self, bound: int) -> int:
        return 0


class PrefetchedNoise(ExactNoise):
    """Exact noise for one run after the other: each law is drawn in batches, handed out singly.

    No number is handed out twice, so that runs stay independent; a whole fit of a small table is
    two to four times faster.
    """

    def __init__(self, seed: Seed = None) -> None:
        super().__init__(seed)
        self._kept: dict[Hashable, list[np.ndarray]] = {}
        self._size: dict[Hashable, int] = {}

    def _stream(self, label: str) -> PrefetchedNoise:
        return self

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """The next of a batch; batches grow up to 4,096."""
        scale = np.asarray(scale, dtype=object)
        key = (tuple(scale.flat), scale.shape, shape)
        if not self._kept.get(key):
            self._size[key] = min(4 * self._size.get(key, 4), 4096)
            self._kept[key] = list(super().discrete_laplace(scale, (self._size[key], *shape)))
        return self._kept[key].pop()

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """The next of the selections that one batch of proposals gave."""
        if permute:
            return super().select(numerators, denominator, permute=True)
        key = (tuple(numerators.tolist()), denominator)
        if not self._kept.get(key):
            self._kept[key] = list(self._selections(numerators, denominator))
        return int(self._kept[key].pop())


def selection_law(numerators: np.ndarray, denominator: int, *, permute: bool = False) -> np.ndarray:
    """P(i) of one selection with exponents −numerators[i]/denominator."""
    weight = np.exp(-np.asarray(numerators, dtype=float) / denominator)
    return permute_and_flip_law(weight) if permute else weight / weight.sum()


def permute_and_flip_law(accept: np.ndarray) -> np.ndarray:
    """Exact law of permute-and-flip with these acceptance probabilities: the first to succeed."""
    out = np.zeros(len(accept))
    for heads in itertools.product((0, 1), repeat=len(accept)):
        if any(heads):
            chance = np.prod(np.where(heads, accept, 1 - accept))
            out += chance * np.array(heads) / sum(heads)
    return out


def law(
    run: Callable[[Noise], Hashable], script: type[ScriptedNoise] = ScriptedNoise
) -> dict[Hashable, Any]:
    """P(outcome) of a run that only selects, by walking every path, in ``script``'s arithmetic.

    What is noised besides must not matter to the outcome: it stays without noise.
    """
    out: dict[Hashable, Any] = defaultdict(int)
    paths: list[list[int]] = [[]]
    while paths:
        tape = script(paths.pop())
        out[run(tape)] += tape.probability
        for at in range(len(tape.choices), len(tape.taken)):
            paths += [[*tape.taken[:at], other] for other in range(tape.options[at] - 1, 0, -1)]
    return dict(out)


def log_ratio(p: dict[Any, Any], q: dict[Any, Any]) -> float:
    """Max |ln p(o)/q(o)|; infinite when an outcome is possible on one side only (support test)."""
    if set(p) != set(q):
        return math.inf
    return max(abs(math.log(p[o] / q[o])) for o in p)


def compare_selections(
    selections: Sequence[list[tuple[Any, Any]]],
) -> tuple[float, int, list[float]]:
    """Max |ln p/p'| over the candidates of both tables' selections; which one, and p and p'."""
    first, second = (sum(np.log(selection_law(*call)) for call in calls) for calls in selections)
    gaps = np.abs(first - second)
    at = int(gaps.argmax())
    return float(gaps[at]), at, [math.exp(logs[at]) for logs in (first, second)]

"""Detectors that are cheaper and stronger than sampling: exact laws of selections, noise-free tapes; and noise for many runs at once."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..privacy.mechanisms import ExactNoise, Noise


class Silent(Noise):
    """No noise and the first candidate, but everything that was asked is kept: what would be released without noise.

    ``asked``: ("discrete_laplace", scale, shape) and ("select", numerators, denominator), in the order of the run.
    """

    def __init__(self, asked: list | None = None) -> None:
        super().__init__()
        self.asked: list[tuple[str, Any, Any]] = [] if asked is None else asked

    def _stream(self, label: str) -> Silent:
        return Silent(self.asked)

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Zeros."""
        self.asked.append(("discrete_laplace", scale, shape))
        return np.zeros(shape, dtype=np.int64)

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """The first candidate."""
        self.asked.append(("select", numerators, denominator))
        return 0

    def below(self, bound: int) -> int:
        """Zero."""
        return 0

    def generator(self) -> np.random.Generator:
        """Always the same."""
        return np.random.default_rng(0)


class Many(ExactNoise):
    """Exact noise for many runs at once: arrays get a leading axis of ``runs``, so that one pass releases them all.

    Only for runs whose steps don't depend on what was drawn before. A selection among several candidates takes the first: the
    tables that follow are then audited for that network, and their claim holds for every network.
    """

    def __init__(self, runs: int, seed: int | Sequence[int] | None = None) -> None:
        super().__init__(seed)
        self.runs = runs

    def _stream(self, label: str) -> Many:
        child = super()._stream(label)
        return Many(self.runs, child._entropy) if child is not self else self

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Independent noise of every run: int64 (runs, *shape)."""
        return super().discrete_laplace(scale, (self.runs, *shape))

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """The first candidate."""
        return 0

    def below(self, bound: int) -> int:
        """Zero: a random root is fixed as well."""
        return 0


class Stock(ExactNoise):
    """Exact noise for many runs, one after the other: each law that is asked for is drawn in batches and handed out number by number.

    Every number is handed out once, so that runs stay independent; a whole fit of a small table is two to four times faster.
    """

    def __init__(self, seed: int | Sequence[int] | None = None) -> None:
        super().__init__(seed)
        self._kept: dict[Hashable, list[np.ndarray]] = {}
        self._size: dict[Hashable, int] = {}

    def _stream(self, label: str) -> Stock:
        return self

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """The next of a batch; batches grow up to 4,096."""
        scale = np.asarray(scale, dtype=object)
        law = (tuple(scale.ravel().tolist()), scale.shape, shape)
        if not self._kept.get(law):
            self._size[law] = min(4 * self._size.get(law, 4), 4096)
            self._kept[law] = list(super().discrete_laplace(scale, (self._size[law], *shape)))
        return self._kept[law].pop()

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """The next of the selections that one batch of proposals gave."""
        if permute:
            return super().select(numerators, denominator, permute=True)
        law = (tuple(numerators.tolist()), denominator)
        if not self._kept.get(law):
            self._kept[law] = list(self._selections(numerators, denominator))
        return int(self._kept[law].pop())


class Script(Noise):
    """Takes the choices that it is told, and multiplies their probabilities under the exact law of each selection."""

    def __init__(self, choices: Sequence[int] = ()) -> None:
        super().__init__()
        self.choices = list(choices)
        self.probability: Any = 1.0
        self.taken: list[int] = []
        self.options: list[int] = []

    def _stream(self, label: str) -> Script:
        return self

    def _take(self, p: Any) -> int:
        choice = self.choices[len(self.taken)] if len(self.taken) < len(self.choices) else 0
        self.taken.append(choice)
        self.options.append(len(p))
        self.probability *= p[choice]
        return choice

    def select(self, numerators: np.ndarray, denominator: int, *, permute: bool) -> int:
        """The next choice of the script."""
        return self._take(selection_law(numerators, denominator, permute=permute))

    def below(self, bound: int) -> int:
        """The next choice of the script, uniform."""
        return self._take(np.full(bound, 1 / bound))


def selection_law(numerators: np.ndarray, denominator: int, *, permute: bool = False) -> np.ndarray:
    """P(i) of one selection with exponents −numerators[i]/denominator."""
    weight = np.exp(-np.asarray(numerators, dtype=float) / denominator)
    return permute_and_flip_law(weight) if permute else weight / weight.sum()


def permute_and_flip_law(accept: np.ndarray) -> np.ndarray:
    """Exact law of permute-and-flip with these acceptance probabilities: the first success in a random order."""
    m = len(accept)
    out = np.zeros(m)
    for heads in itertools.product((0, 1), repeat=m):
        if any(heads):
            chance = np.prod(np.where(heads, accept, 1 - accept))
            out += chance * np.array(heads) / sum(heads)
    return out


def law(run: Callable[[Noise], Hashable], script: type[Script] = Script) -> dict[Hashable, Any]:
    """P(outcome) of a run whose only randomness is selections, by walking every path of choices (in the script's arithmetic)."""
    out: dict[Hashable, Any] = defaultdict(int)
    choices: list[int] = []
    while True:
        tape = script(choices)
        outcome = run(tape)
        out[outcome] += tape.probability
        choices, options = tape.taken, tape.options
        while choices and choices[-1] + 1 == options[-1]:
            choices.pop()
            options.pop()
        if not choices:
            return dict(out)
        choices[-1] += 1


def log_ratio(p: dict[Any, float], q: dict[Any, float]) -> float:
    """Max |ln p(o)/q(o)| over all outcomes; infinite when one of them is possible on one side only (the support test)."""
    if set(p) != set(q):
        return math.inf
    return max(abs(math.log(p[o] / q[o])) for o in p)


def noise_scales(run: Callable[[Noise], object]) -> list[tuple[Fraction, ...]]:
    """The scale test's view of a run: its noise scales in order, found on a tape that draws none.

    Scales that differ between neighbours, with no ledger entry that they come from, break rule L5: no ε covers them.
    """
    tape = Silent()
    run(tape)
    return [tuple(np.asarray(scale, dtype=object).ravel()) for kind, scale, _ in tape.asked if kind == "discrete_laplace"]


def same_structure(run: Callable[[Noise], Hashable], tries: int = 12) -> bool:
    """The determinism test: do runs on one table with different noise all give the same outcome, where noise should show?"""
    return len({run(ExactNoise([3, i])) for i in range(tries)}) == 1

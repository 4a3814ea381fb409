"""Tools of the privacy tests: every table of a size, every neighbour, the exact law of a run, randomness on a tape."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from pdsynth.counts import Records
from pdsynth.curator import Curator
from pdsynth.ledger import Ledger
from pdsynth.mechanisms import Noise
from pdsynth.schema import Attribute, Schema


def schema_of(sizes: Sequence[int], **options) -> Schema:
    """A public schema with attributes x0, x1, … of these domain sizes."""
    return Schema(tuple(Attribute.categorical(f"x{j}", range(size)) for j, size in enumerate(sizes)), **options)


def records_of(rows, sizes: Sequence[int]) -> Records:
    """Records from rows of codes (n, d)."""
    return Records(np.array(rows, dtype=np.uint8).reshape(-1, len(sizes)), schema_of(sizes))


def curator_of(rows, sizes: Sequence[int], noise: Noise, epsilon=Fraction(1), guarantee: str = "strict", **options) -> Curator:
    """A curator of these rows with a fresh ledger."""
    return Curator(records_of(rows, sizes), Ledger(epsilon, guarantee), noise, **options)


def cells_of(sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """All possible records."""
    return list(itertools.product(*map(range, sizes)))


def multisets(n: int, cells: int) -> Iterator[tuple[int, ...]]:
    """All tables of n records over some cells, as sorted tuples of cell numbers."""
    return itertools.combinations_with_replacement(range(cells), n)


def neighbourhoods(n: int, cells: int) -> Iterator[list[tuple[int, ...]]]:
    """All tables that share n−1 records: any two of a list are neighbours under replacing one record, and every pair is in one."""
    for shared in multisets(n - 1, cells):
        yield [tuple(sorted((*shared, extra))) for extra in range(cells)]


def largest_change(score: Callable[[np.ndarray], float], n: int, shape: tuple[int, ...]) -> float:
    """The largest difference of a score of count tables over all neighbours of all tables with n records."""
    cells = math.prod(shape)
    known: dict[tuple[int, ...], float] = {}

    def value(records: tuple[int, ...]) -> float:
        if records not in known:
            known[records] = score(np.bincount(records, minlength=cells).reshape(shape))
        return known[records]

    return max(max(v) - min(v) for v in (list(map(value, around)) for around in neighbourhoods(n, cells)))


class Silent(Noise):
    """No noise and the first candidate, but everything that was asked is kept: what would be released without noise."""

    def __init__(self, asked: list | None = None) -> None:
        super().__init__()
        self.asked = [] if asked is None else asked

    def _stream(self, label: str) -> Silent:
        return Silent(self.asked)

    def discrete_laplace(self, scale, shape):
        self.asked.append(("discrete_laplace", scale, shape))
        return np.zeros(shape, dtype=np.int64)

    def select(self, numerators, denominator, *, permute):
        self.asked.append(("select", numerators, denominator))
        return 0

    def below(self, bound):
        return 0


class Script(Noise):
    """Takes the choices that it is told, and multiplies their probabilities under the exact law of each selection."""

    def __init__(self, choices: Sequence[int] = ()) -> None:
        super().__init__()
        self.choices, self.taken, self.options, self.probability = list(choices), [], [], 1.0

    def _stream(self, label: str) -> Script:
        return self

    def _take(self, p: np.ndarray) -> int:
        choice = self.choices[len(self.taken)] if len(self.taken) < len(self.choices) else 0
        self.taken.append(choice)
        self.options.append(len(p))
        self.probability *= p[choice]
        return choice

    def select(self, numerators, denominator, *, permute):
        weight = np.exp(-np.asarray(numerators, dtype=float) / denominator)
        return self._take(permute_and_flip_law(weight) if permute else weight / weight.sum())

    def below(self, bound):
        return self._take(np.full(bound, 1 / bound))


def law(run: Callable[[Noise], Hashable]) -> dict[Hashable, float]:
    """P(outcome) of a run whose only randomness is selections, by walking every path of choices."""
    out: dict[Hashable, float] = defaultdict(float)
    choices: list[int] = []
    while True:
        tape = Script(choices)
        outcome = run(tape)
        out[outcome] += tape.probability
        choices, options = tape.taken, tape.options
        while choices and choices[-1] + 1 == options[-1]:
            choices.pop()
            options.pop()
        if not choices:
            return dict(out)
        choices[-1] += 1


def log_ratio(p: dict[Hashable, float], q: dict[Hashable, float]) -> float:
    """max |ln p(o)/q(o)| over all outcomes; infinite when one of them is possible on one side only."""
    if set(p) != set(q):
        return math.inf
    return max(abs(math.log(p[o] / q[o])) for o in p)


def permute_and_flip_law(accept: np.ndarray) -> np.ndarray:
    """Exact law of permute-and-flip with these acceptance probabilities: the first success in a random order."""
    m = len(accept)
    out = np.zeros(m)
    for heads in itertools.product((0, 1), repeat=m):
        if any(heads):
            chance = np.prod(np.where(heads, accept, 1 - accept))
            out += chance * np.array(heads) / sum(heads)
    return out

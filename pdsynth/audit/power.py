"""How strong an audit is: the smallest violation that it would see in half of all tries.

A violation is planted as the mechanisms' noise divided by a factor, under the same claim. Draws are
numpy's: they only say what an audit could have seen, and nothing is released.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .detectors import BatchedNoise
from .estimator import best_bound

DRAWS = 30_000  # simulated statistics of each world
NUMBERS = 2_000_000  # noise numbers that they may take
FACTORS = 1.0, 64.0  # where violations are looked for
STEPS = 8  # of the bisection
Statistics = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Simulation:
    """``draw(f)``: statistics of both worlds if all noise is divided by f.

    ``moves``: how many answers of mechanisms the pair of tables changes at most; 0: not known.
    """

    draw: Callable[[float], Statistics]
    moves: int = 0


def detectable(
    simulation: Simulation, claimed: float, true: float, runs: int, audits: int
) -> float:
    """The loss, as a multiple of the claim, that is caught in half of the audits; ∞ if none is.

    ``true``: the loss as long as no noise is divided.
    """

    def caught(factor: float) -> bool:
        return best_bound(simulation.draw(factor), runs // 2, audits) > claimed

    scale = true / claimed
    low, high = (edge / scale for edge in FACTORS)
    if not caught(high):
        return math.inf
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if caught(middle) else (middle, high)
    return high * scale


def draw_laplace(rng: np.random.Generator, scale: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """Discrete Laplace numbers, quickly: the difference of two geometric ones."""
    p = -np.expm1(-1 / np.asarray(scale, dtype=float))
    return rng.geometric(p, tuple(shape)) - rng.geometric(p, tuple(shape))


def draw_zero_sum(rng: np.random.Generator, scale: float, rows: int, cells: int) -> np.ndarray:
    """Zero-sum numbers (rows, cells), quickly: the last cell is what is missing to 0."""
    draws = np.empty((0, cells), dtype=np.int64)
    while len(draws) < rows:
        free = draw_laplace(rng, np.array(scale), (4 * (rows - len(draws)) + 16, cells - 1))
        last = -free.sum(axis=1, keepdims=True)
        mask = rng.random(len(free)) < np.exp(-np.abs(last[:, 0]) / scale)
        draws = np.concatenate([draws, np.hstack([free, last])[mask]])
    return draws[:rows]


class WeakNoise(BatchedNoise):
    """Noise of many runs at once, divided by a factor."""

    def __init__(self, runs: int, factor: float, seed: int = 0) -> None:
        super().__init__(runs, seed)
        self._factor, self._rng = factor, np.random.default_rng(seed)

    def _stream(self, label: str) -> WeakNoise:
        return self

    def discrete_laplace(self, scale: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Independent noise of every run: int64 (runs, *shape)."""
        wide = np.asarray(scale, dtype=object).astype(float) / self._factor
        return draw_laplace(self._rng, wide, (self.runs, *shape))

    def zero_sum_laplace(self, scale: Any, shape: tuple[int, ...]) -> np.ndarray:
        """The same of sum 0."""
        wide, cells = float(scale) / self._factor, math.prod(shape)
        return draw_zero_sum(self._rng, wide, self.runs, cells).reshape(self.runs, *shape)


class Cells(NamedTuple):
    """The cells of a noisy answer that differ between two tables: where, both counts, and scales.

    ``where``: bool, in the shape of the answer; the others: one number for each such cell.
    ``zero_sum``: the noise of all cells of the answer has the sum 0.
    """

    where: np.ndarray
    before: np.ndarray
    after: np.ndarray
    scales: np.ndarray
    zero_sum: bool = False

    @classmethod
    def between(
        cls, before: np.ndarray, after: np.ndarray, scale: np.ndarray, zero_sum: bool = False
    ) -> Cells:
        """Of two tables of counts, whose noise has scales that broadcast to them."""
        moved = before != after
        scales = np.broadcast_to(scale, moved.shape)[moved].astype(float)
        if zero_sum and before.sum() != after.sum():
            raise ValueError("zero-sum noise for tables with different sums: no ratio is finite")
        return cls(moved, before[moved], after[moved], scales, zero_sum)

    def draw(self, rng: np.random.Generator, factor: float, draws: int) -> np.ndarray:
        """Zero-sum noise of these cells, divided by a factor: (draws, cells)."""
        if not len(self.scales):
            return np.zeros((draws, 0))
        wide = float(self.scales[0]) / factor
        return draw_zero_sum(rng, wide, draws, self.where.size)[:, : len(self.scales)]

    def odds(self, noisy: np.ndarray) -> Any:
        """Ln P(noisy | before) − ln P(noisy | after), of these cells alone: (…, cells) → (…)."""
        gaps = np.abs(noisy - self.after) - np.abs(noisy - self.before)
        return (gaps / self.scales).sum(axis=-1)


@dataclass(frozen=True)
class Template:
    """What one run's likelihood ratio is made of: noisy cells that change, and choices.

    ``cells``: those of this world's and the other's noisy answers; ``choices``: exponents −γ of
    this world and the other, each (candidates,).
    """

    cells: tuple[Cells, ...]
    choices: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    @property
    def moves(self) -> int:
        """Answers that the pair changes: tables, and choices with other exponents."""
        tables = sum(bool(part.where.any()) for part in self.cells)
        return tables + sum(not np.allclose(*both) for both in self.choices)

    @property
    def numbers(self) -> int:
        """Noise numbers of one run."""
        return sum(p.where.size if p.zero_sum else len(p.scales) for p in self.cells)

    def simulate(self, factor: float, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Ln P(answers | this world) − ln P(answers | the other), (draws,)."""
        parts = sorted(self.cells, key=lambda part: part.zero_sum)
        alone = [p for p in parts if not p.zero_sum]
        scales = np.concatenate([np.ones(0), *(p.scales for p in parts)]) / factor
        changes = np.concatenate([np.zeros(0), *(p.after - p.before for p in parts)])
        single = np.concatenate([np.ones(0), *(p.scales for p in alone)]) / factor
        noise = np.concatenate(
            [
                draw_laplace(rng, single, (draws, len(single))),
                *(p.draw(rng, factor, draws) for p in parts if p.zero_sum),
            ],
            axis=1,
        )
        total = ((np.abs(noise - changes) - np.abs(noise)) / scales).sum(axis=1)
        for mine, other in self.choices:
            logs = [x * factor - np.logaddexp.reduce(x * factor) for x in (mine, other)]
            total += (logs[0] - logs[1])[rng.choice(len(mine), draws, p=np.exp(logs[0]))]
        return total


def simulate_templates(worlds: Sequence[Sequence[Template]]) -> Simulation:
    """Likelihood ratios of both worlds, from some runs' templates each, with a fixed stream."""
    cells = max(1, *(t.numbers for templates in worlds for t in templates))
    draws = min(DRAWS, max(2000, NUMBERS // cells))

    def simulate(factor: float) -> Statistics:
        rng = np.random.default_rng(0)
        first, second = (
            np.concatenate(
                [t.simulate(factor, -(-draws // len(templates)), rng) for t in templates]
            )
            for templates in worlds
        )
        return first, -second

    return Simulation(simulate, max(t.moves for templates in worlds for t in templates))

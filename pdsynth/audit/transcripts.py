"""Whole fits under attack: the likelihood ratio of everything that their mechanisms answered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..privacy.mechanisms import ExactNoise
from . import power
from .case import Case, Effort
from .checks import MOST_RUNS
from .detectors import PrefetchedNoise, extend_seed
from .estimator import quantise
from .sampling import Samples, Sampling, reporting
from .tape import Asked, Recorder
from .walks import Walk, walk

STEP = 1 / 256  # of log-likelihood ratios
PATHS = 100  # fits of each table that stand for all of them when power is simulated


def log_odds(walked: Walk) -> float:
    """Ln P(answers | the first fit's table) − ln P(answers | the second's).

    Infinite where only one table can give them.
    """
    if walked.parted:
        return math.inf
    return sum(odds(*pair) for pair in walked.pairs)


def odds(first: Asked, second: Asked) -> float:
    """The same for one answer."""
    if first.kind == "choice":
        return float(first.chances()[first.answer] - second.chances()[second.answer])
    if first.kind != "table":
        return 0.0
    if np.array_equal(first.law, second.law):
        moved = first.data != second.data
        if not moved.any():
            return 0.0
        c, e, t = (x[moved] for x in (first.data, second.data, np.asarray(first.answer)))
        return float(laplace_odds(c, e, t, np.broadcast_to(first.law, moved.shape)[moved]))
    logs = []
    for asked in (first, second):
        b = np.broadcast_to(asked.law, asked.data.shape).astype(float)
        logs.append((np.log(np.tanh(0.5 / b)) - np.abs(first.answer - asked.data) / b).sum())
    return float(logs[0] - logs[1])


@dataclass(frozen=True)
class Transcripts(Sampling):
    """One whole fit after the other; the answers of each are forced on the other table's fit.

    The statistic is the log-likelihood ratio of all answers: structure, sketches and tables. It is
    a function of the answers alone, whichever table they came from. ``slow`` divides the number of
    runs; ``most``: fits of each table, however many runs are asked for. ``apart``: every fit asks
    for the same tables, whatever was answered; beyond ``most`` their noise is drawn in one batch.
    """

    slow: int = 1
    most: int = MOST_RUNS
    apart: bool = False

    def samples(self, case: Case, effort: Effort) -> Samples:
        """Statistics of fits of both tables by turns."""
        runs = self.runs(effort)
        if runs > self.most:
            first, second = (draw_odds(case, world, runs, ExactNoise(extend_seed(
                effort.seed, world))) for world in (0, 1))
            return quantise(first, STEP), quantise(-second, STEP)
        noise = [PrefetchedNoise(extend_seed(effort.seed, world)) for world in (0, 1)]
        values: tuple[list[float], list[float]] = [], []
        with reporting(effort.progress, runs) as tell:
            for done in range(1, runs + 1):
                for world in (0, 1):
                    values[world].append((1, -1)[world] * log_odds(one_walk(
                        case, world, Recorder(noise[world]), 2 * done + world)))
                if done % 100 == 0 or done == runs:
                    tell(done)
        return quantise(np.array(values[0]), STEP), quantise(np.array(values[1]), STEP)

    def simulate(self, case: Case) -> power.Simulation:
        """From what some fits were asked: each path counts as it is drawn without the factor."""
        worlds = [[template(one_walk(case, world, Recorder(ExactNoise([41, world, at])), at))
                   for at in range(PATHS)] for world in (0, 1)]
        return power.simulate_templates(worlds)

    def runs(self, effort: Effort) -> int:
        """Fits of each table."""
        runs = max(min(effort.runs, 100), effort.runs // self.slow)
        return runs if self.apart else min(runs, self.most)


def draw_odds(case: Case, world: int, runs: int, noise: ExactNoise) -> np.ndarray:
    """:func:`log_odds` of many runs whose questions are those of one fit, all for tables."""
    walked = one_walk(case, world, Recorder(noise), 0)
    total = np.full(runs, math.inf if walked.parted else 0.0)
    for first, second in walked.pairs:
        if first.kind != "table" or not np.array_equal(first.law, second.law):
            raise ValueError(f"{case.name} asks for more than tables with public scales")
        moved = first.data != second.data
        scale = np.broadcast_to(first.law, moved.shape)[moved]
        noisy = noise.add_to(np.tile(first.data[moved], (runs, 1)), scale)
        total += laplace_odds(first.data[moved], second.data[moved], noisy, scale)
    return total


def laplace_odds(c: np.ndarray, e: np.ndarray, noisy: np.ndarray, scale: np.ndarray) -> Any:
    """Ln P(noisy | counts c) − ln P(noisy | e): the sum over the last axis."""
    return ((np.abs(noisy - e) - np.abs(noisy - c)) / scale.astype(float)).sum(axis=-1)


def template(walked: Walk) -> power.Template:
    """What a walk's likelihood ratio is made of."""
    changes, scales, choices, tables = [np.zeros(0)], [np.ones(0)], [], 0
    for first, second in walked.pairs:
        if first.kind == "choice":
            choices.append((first.chances(), second.chances()))
        elif first.kind == "table":
            moved = first.data != second.data
            tables += bool(moved.any())
            changes.append((second.data - first.data)[moved])
            scales.append(np.broadcast_to(first.law, moved.shape)[moved].astype(float))
    return power.Template(np.concatenate(changes), np.concatenate(scales), tuple(choices),
                          tables)


def one_walk(case: Case, world: int, recorder: Recorder, seed: int) -> Walk:
    """A fit of one table, and its answers forced on the other's."""
    fit: Callable = case.attack.fit  # type: ignore[attr-defined]
    return walk((partial(fit, case, world), partial(fit, case, 1 - world)), recorder, seed)

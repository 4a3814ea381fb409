"""Whole fits under attack: the likelihood ratio of everything that their mechanisms answered."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import numpy as np

from ..core import ExactNoise
from . import power
from .attacks import Samples, Sampling, collect
from .case import MOST_RUNS, Case, Effort
from .detectors import PrefetchedNoise, extend_seed, zero_sum_rows
from .estimator import quantise
from .tape import Asked, Recorder, Walk, walk

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
    if first.zero_sum and first.data.sum() != second.data.sum():
        return math.inf
    if np.array_equal(first.law, second.law):
        moved = cells_of(first, second)
        return float(moved.odds(np.asarray(first.answer)[moved.where]))
    if first.zero_sum:
        raise ValueError("zero-sum noise with another scale for the other table")
    logs = []
    for question in (first, second):
        b = np.broadcast_to(question.law, question.data.shape).astype(float)
        logs.append((np.log(np.tanh(0.5 / b)) - np.abs(first.answer - question.data) / b).sum())
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
            first, second = (
                draw_odds(case, world, runs, ExactNoise(extend_seed(effort.seed, world)))
                for world in (0, 1)
            )
            return quantise(first, STEP), quantise(-second, STEP)
        noise = [PrefetchedNoise(extend_seed(effort.seed, world)) for world in (0, 1)]
        seeds = count(2)

        def draw(world: int) -> float:
            walked = one_walk(case, world, Recorder(noise[world]), next(seeds))
            return (1, -1)[world] * log_odds(walked)

        first, second = collect(draw, replace(effort, runs=runs))
        return quantise(first, STEP), quantise(second, STEP)

    def simulate(self, case: Case) -> power.Simulation:
        """From what some fits were asked: each path counts as it is drawn without the factor."""
        worlds = [
            [
                template(one_walk(case, world, Recorder(ExactNoise([41, world, at])), at))
                for at in range(PATHS)
            ]
            for world in (0, 1)
        ]
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
        moved = cells_of(first, second)
        if first.zero_sum:
            answers = zero_sum_rows(noise, first.law.item(), runs, first.data.size)
            answers = moved.before + answers[:, : len(moved.before)]
        else:
            scale = np.broadcast_to(first.law, moved.where.shape)[moved.where]
            answers = noise.add_to(np.tile(moved.before, (runs, 1)), scale)
        total += moved.odds(answers)
    return total


def cells_of(first: Asked, second: Asked) -> power.Cells:
    """The cells that differ between both sides of one question for a table."""
    return power.Cells.between(first.data, second.data, first.law, first.zero_sum)


def template(walked: Walk) -> power.Template:
    """What a walk's likelihood ratio is made of."""
    return power.Template(
        tuple(cells_of(*pair) for pair in walked.pairs if pair[0].kind == "table"),
        tuple((a.chances(), b.chances()) for a, b in walked.pairs if a.kind == "choice"),
    )


def one_walk(case: Case, world: int, recorder: Recorder, seed: int) -> Walk:
    """A fit of one table, and its answers forced on the other's."""
    fit: Callable = case.attack.fit  # type: ignore[attr-defined]
    return walk((partial(fit, case, world), partial(fit, case, 1 - world)), recorder, seed)

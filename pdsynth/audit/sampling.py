"""Audits by sampling: releases of both tables, a statistic of each, and a Clopper–Pearson bound."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .case import Attack, Case, Effort, Finding, Progress, Result, conclude
from .detectors import BatchedNoise, PrefetchedNoise, RecordedNoise, extend_seed
from .estimator import ceiling, lower_bound, quantise
from .tables import Pair

NUMBERS = 2**20  # noise numbers that are drawn at once
Samples = tuple[np.ndarray, np.ndarray]
Statistic = Callable[[Any, Pair], Any]  # (what is published, the tables) → int64 (runs,), or an int


def report(progress: Progress, done: int, total: int) -> None:
    """Tell a function how far it is, or standard error."""
    if callable(progress):
        progress(done, total)
    elif progress:
        end = "\n" if done >= total else ""
        print(f"\r  {done:,} of {total:,} runs", end=end, file=sys.stderr, flush=True)


def collect(draw: Callable[[int], int], effort: Effort) -> Samples:
    """A statistic of one run after the other: ``draw(world)`` for worlds 0 and 1 by turns."""
    values: tuple[list[int], list[int]] = [], []
    for done in range(1, effort.runs + 1):
        for world in (0, 1):
            values[world].append(draw(world))
        if done % 100 == 0 or done == effort.runs:
            report(effort.progress, done, effort.runs)
    return np.array(values[0]), np.array(values[1])


def bound_samples(samples: Samples, effort: Effort) -> Finding:
    """The Clopper–Pearson bound of two samples."""
    found, runs = lower_bound(*samples, audits=effort.audits), min(map(len, samples))
    return Finding(max(found.epsilon, 0.0), found.event, ceiling(runs, audits=effort.audits), runs)


class Sampling(Attack):
    """Attacks that draw a statistic of both worlds."""

    method = "sampling"

    def samples(self, case: Case, effort: Effort) -> Samples:
        """The statistic of many releases of each table: two int64 arrays."""
        raise NotImplementedError

    def measure(self, case: Case, effort: Effort) -> Finding:
        """The Clopper–Pearson bound of the samples."""
        return bound_samples(self.samples(case, effort), effort)


@dataclass(frozen=True)
class Sampled(Sampling):
    """Many releases of both tables at once, and a statistic of each.

    ``release`` returns noisy arrays; under :class:`BatchedNoise` they have a leading axis of runs.
    ``statistic`` None: the log-likelihood ratio of all noisy cells, for a release that is the list
    of its Laplace answers. ``slow`` divides the number of runs.
    """

    statistic: Statistic | None = None
    slow: int = 1

    def samples(self, case: Case, effort: Effort) -> Samples:
        """Blocks of releases, each as large as ``NUMBERS`` allows."""
        runs = max(min(effort.runs, 1000), effort.runs // self.slow)
        tapes = RecordedNoise(), RecordedNoise()
        quiet = [case.publish(world, tape) for world, tape in enumerate(tapes)]
        asked = [tape.find("discrete_laplace") for tape in tapes]
        statistic = self.statistic or likelihood_ratio(quiet, asked)
        numbers = max(sum(math.prod(shape) for _, shape in calls) for calls in asked)
        block = max(1, NUMBERS // max(1, numbers))
        out = np.empty(runs, dtype=np.int64), np.empty(runs, dtype=np.int64)
        for at in range(0, runs, block):
            size = min(block, runs - at)
            for world in (0, 1):
                noise = BatchedNoise(size, extend_seed(effort.seed, world, at))
                out[world][at : at + size] = statistic(case.publish(world, noise), case.tables)
            report(effort.progress, at + size, runs)
        return out


def likelihood_ratio(quiet: Sequence[Any], asked: Sequence[list[tuple[Any, Any]]]) -> Statistic:
    """Σ (|t − c'| − |t − c|)/b over the noisy cells t that one record changes from c to c'.

    ``quiet``: both releases without noise; ``asked``: their scales b. The statistic is in 256ths of
    its largest value.
    """
    scales, others = ([np.asarray(scale, dtype=object) for scale, _ in calls] for calls in asked)
    same = [s.tolist() for s in scales] == [s.tolist() for s in others]
    if len(quiet[0]) != len(scales) or not same:
        raise ValueError("a likelihood ratio needs the Laplace answers in order, with the same "
                         "scales for both tables")
    cells = []
    for c, e, scale in zip(*map(partial(map, np.asarray), quiet), scales, strict=True):
        moved = c != e
        b = np.broadcast_to(scale.astype(float), moved.shape)[moved]
        cells.append((moved, c[moved], e[moved], b))
    step = max(sum(float((np.abs(c - e) / b).sum()) for _, c, e, b in cells) / 256, 1e-12)

    def statistic(released: Sequence[Any], pair: Pair) -> np.ndarray:
        total = np.zeros(1)
        for t, (moved, c, e, b) in zip(released, cells, strict=True):
            if moved.any():
                noisy = t[..., moved]
                total = total + ((np.abs(noisy - e) - np.abs(noisy - c)) / b).sum(axis=-1)
        return quantise(total, step)

    return statistic


@dataclass(frozen=True)
class OneByOne(Sampling):
    """One release after the other, for whole fits, whose steps depend on what was drawn.

    ``statistic(released, pair)`` gives an integer; ``slow`` divides the number of runs.
    """

    statistic: Statistic
    slow: int = 1

    def samples(self, case: Case, effort: Effort) -> Samples:
        """Releases of both tables by turns."""
        runs = max(min(effort.runs, 100), effort.runs // self.slow)
        noise = [PrefetchedNoise(extend_seed(effort.seed, world)) for world in (0, 1)]
        return collect(lambda w: self.statistic(case.publish(w, noise[w]), case.tables),
                       replace(effort, runs=runs))


def black_box(make_release: Callable[[Any], Any], pair: Pair | tuple[Any, Any],
              statistic: Callable[[Any], int], claimed: float, runs: int = 1000, *,
              name: str = "black box", theory: float = math.nan, progress: Progress = False,
              audits: int = 1) -> Result:
    """Audit any synthesizer, also somebody else's: two neighbouring tables, and a guess.

    Parameters
    ----------
    make_release : publishes something of one table, with fresh randomness at every call.
    pair : two neighbouring tables of any kind, or a :class:`Pair`, whose code arrays are handed on.
    statistic : an integer from what was published; TypeError if it isn't one.
    claimed : the ε that the synthesizer promises. ``theory``: the true one, if known.
    runs : releases of each table. ``audits``: how many audits are read together (Bonferroni).

    **Privacy:** use made-up tables: what is published of them is taken apart.

    >>> black_box(lambda table: table[-1], ([0, 0], [0, 1]), int, claimed=1, runs=200).verdict
    'violated'
    """
    start, effort = time.perf_counter(), Effort(runs, progress=progress, audits=audits)
    tables = (pair.before, pair.after) if isinstance(pair, Pair) else pair
    found = bound_samples(collect(lambda w: statistic(make_release(tables[w])), effort), effort)
    words = str(pair) if isinstance(pair, Pair) else "two tables as given"
    return conclude(name, float(claimed), theory, "", "sampling", found, words, start)

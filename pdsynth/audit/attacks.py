"""Ways to find out what a release costs: sampling, and exact detectors where they can be had."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..privacy.mechanisms import ExactNoise
from .case import (
    Attack,
    Case,
    Effort,
    Finding,
    Fit,
    Release,
    Samples,
    bound_samples,
    collect,
    format_epsilon,
    report,
)
from .detectors import (
    BatchedNoise,
    PrefetchedNoise,
    RecordedNoise,
    extend_seed,
    law,
    log_ratio,
    same_structure,
    selection_law,
)
from .estimator import quantise
from .tables import Pair

NUMBERS = 2**20  # noise numbers that are drawn at once
Statistic = Callable[[Any, Pair], Any]  # (what is published, the tables) → int64 (runs,), or an int


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

    release: Release
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

    release: Release | Fit
    statistic: Statistic
    slow: int = 1

    def samples(self, case: Case, effort: Effort) -> Samples:
        """Releases of both tables by turns."""
        runs = max(min(effort.runs, 100), effort.runs // self.slow)
        noise = [PrefetchedNoise(extend_seed(effort.seed, world)) for world in (0, 1)]
        return collect(lambda w: self.statistic(case.publish(w, noise[w]), case.tables),
                       replace(effort, runs=runs))


@dataclass(frozen=True)
class OneSelection(Attack):
    """The exact law of the only selection of a step, for both tables: one list, however long."""

    release: Release | Fit
    method = "exact law"

    def measure(self, case: Case, effort: Effort) -> Finding:
        """Max |ln p/p'| over the candidates."""
        laws = []
        for world in (0, 1):
            tape = RecordedNoise()
            case.publish(world, tape)
            (asked,) = tape.find("select")
            laws.append(np.log(selection_law(*asked)))
        gaps = np.abs(laws[0] - laws[1])
        at = int(gaps.argmax())
        p, q = (math.exp(x[at]) for x in laws)
        event = f"candidate {at + 1} of {len(gaps):,} has probability {p:.3g} and {q:.3g}"
        return Finding(float(gaps[at]), event)


@dataclass(frozen=True)
class WholeLaw(Attack):
    """The exact law of all that is selected, along every path of choices: also the support test."""

    release: Release | Fit
    method = "exact law"

    def measure(self, case: Case, effort: Effort) -> Finding:
        """Max |ln p/p'| over the outcomes, infinite where only one table can give one."""
        p, q = (law(partial(case.publish, world)) for world in (0, 1))
        for side, alone in (("D", set(p) - set(q)), ("D'", set(q) - set(p))):
            if alone:
                first = join_lines(min(alone, key=str))
                return Finding(math.inf, f"support: {first} is possible in {side} only")
        worst = max(p, key=lambda o: abs(math.log(p[o] / q[o])))
        event = f"{join_lines(worst)} has probability {p[worst]:.3g} and {q[worst]:.3g}"
        return Finding(log_ratio(p, q), event)


@dataclass(frozen=True)
class ScaleTest(Attack):
    """Noise scales of both tables, read off ledgers of runs without noise.

    A scale that differs must come from an earlier release, which its ledger entry names: else rule
    L5 is broken, and no ε covers it.
    """

    release: Release | Fit
    method = "scale test"

    def measure(self, case: Case, effort: Effort) -> Finding:
        """Infinite if a scale differs without an explanation, 0 if not."""
        ledger, other = case.ledger(0), case.ledger(1)
        paid = {e.id for e in ledger.entries if e.kind == "mechanism"}
        for a, b in zip(ledger.entries, other.entries, strict=True):
            explained = a.scale_depends_on and set(a.scale_depends_on) <= paid
            if a.scale != b.scale and not explained:
                words = " to ".join(format_epsilon(float(np.max(np.asarray(e.scale)))) for e in (a, b))
                return Finding(math.inf, f"rule L5: the noise of {a.step} goes from {words}, and "
                                         "no release explains it")
        return Finding(0.0, "every noise scale is public, or comes from an earlier release")


@dataclass(frozen=True)
class SameTwice(Attack):
    """The determinism test: does what the ledger says is noised ever change on one table?"""

    release: Release | Fit
    method = "determinism test"

    def measure(self, case: Case, effort: Effort) -> Finding:
        """Infinite if both tables always give one outcome each, and not the same; 0 otherwise."""
        if not all(same_structure(partial(case.publish, world)) for world in (0, 1)):
            return Finding(0.0, "the outcome changes with the noise")
        first, second = (case.publish(world, ExactNoise([3, 0])) for world in (0, 1))
        if first == second:
            return Finding(0.0, "both tables give the same")
        return Finding(math.inf, f"whatever the noise, D gives {join_lines(first)} and D' gives "
                                 f"{join_lines(second)}")


def join_lines(outcome: object) -> str:
    """An outcome for a sentence: a network's pairs side by side."""
    return ", ".join(str(outcome).split("\n"))

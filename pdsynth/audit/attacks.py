"""Audits by sampling: releases of both tables, a statistic of each, and a Clopper–Pearson bound.

And exact ones: laws of selections, noise scales, and outcomes that noise should change.
"""

# ruff: noqa: D102 (what ``measure`` does stands in Attack, and beside each class)
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..core import COUNTING, BudgetError, ExactNoise, bar, number, show, wanted
from . import detectors, power
from .case import Attack, Case, Effort, Finding, Progress, Result, conclude, format_epsilon
from .detectors import BatchedNoise, RecordedNoise, extend_seed
from .estimator import ceiling, lower_bound, quantise
from .pairs import Pair

NUMBERS = 2**20  # noise numbers that are drawn at once
TRIES = 12  # runs that show whether anything changes with the noise
# What these tests see has no finite ε: of a finite loss they see nothing.
_all_or_nothing = partial(Finding, detectable=math.inf)
Samples = tuple[np.ndarray, np.ndarray]
Statistic = Callable[[Any, Pair], Any]  # (what is published, the tables) → int64 (runs,), or an int


@contextmanager
def reporting(progress: Progress, total: int) -> Iterator[Callable[[int], None]]:
    """A function that is told how many runs are done: it tells the caller's, or moves a bar.

    The fits within show no bars of their own.
    """
    shown = bool(progress) and not callable(progress)
    with wanted(shown), bar(total, "audit", unit="run") as meter, wanted(False):
        if callable(progress):
            yield lambda done: progress(done, total)
        else:
            yield lambda done: meter.update(done - meter.n)


def collect(draw: Callable[[int], float], effort: Effort) -> Samples:
    """A statistic of one run after the other: ``draw(world)`` for worlds 0 and 1 by turns."""
    values: tuple[list[float], list[float]] = [], []
    with reporting(effort.progress, effort.runs) as tell:
        for done in range(1, effort.runs + 1):
            for world in (0, 1):
                values[world].append(draw(world))
            if done % 100 == 0 or done == effort.runs:
                tell(done)
    return np.array(values[0]), np.array(values[1])


def bound_samples(samples: Samples, effort: Effort) -> Finding:
    """The Clopper–Pearson bound of two samples."""
    bound, runs = lower_bound(*samples, audits=effort.audits), min(map(len, samples))
    return Finding(
        max(bound.epsilon, 0.0), bound.event, ceiling(runs, audits=effort.audits), runs, math.nan
    )


class Sampling(Attack):
    """Attacks that draw a statistic of both worlds."""

    method = "sampling"

    def samples(self, case: Case, effort: Effort) -> Samples:
        """The statistic of many releases of each table: two int64 arrays."""
        raise NotImplementedError

    def simulate(self, case: Case) -> power.Simulation:
        """Statistics of both tables when all noise is divided by a factor, quickly."""
        raise NotImplementedError

    def measure(self, case: Case, effort: Effort) -> Finding:
        """The Clopper–Pearson bound of the samples, and what it could have been."""
        samples, claimed = self.samples(case, effort), float(case.claimed)
        true, runs = case.theory(case.claimed), min(map(len, samples))
        finding = bound_samples(samples, effort)
        if true == math.inf:
            return replace(finding, detectable=math.inf)
        simulation = self.simulate(case)
        limit = power.detectable(simulation, claimed, true, runs, effort.audits)
        return replace(finding, detectable=limit, moves=simulation.moves)


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
        quiet, questions = listen(case)
        statistic = self.statistic or likelihood_ratio(quiet, questions)
        block = max(1, NUMBERS // max(1, count_numbers(questions)))
        out = np.empty(runs, dtype=np.int64), np.empty(runs, dtype=np.int64)
        with reporting(effort.progress, runs) as tell:
            for at in range(0, runs, block):
                size = min(block, runs - at)
                for world in (0, 1):
                    noise = BatchedNoise(size, extend_seed(effort.seed, world, at))
                    out[world][at : at + size] = statistic(case.publish(world, noise), case.tables)
                tell(at + size)
        return out

    def simulate(self, case: Case) -> power.Simulation:
        """From the cells that change, or releases with weaker noise."""
        quiet, questions = listen(case)
        if self.statistic is None:
            return power.simulate_templates(
                [
                    [power.Template(tuple(find_cells(both, questions)))]
                    for both in (quiet, quiet[::-1])
                ]
            )
        statistic = self.statistic
        runs = min(power.DRAWS, max(1000, power.NUMBERS // max(1, count_numbers(questions))))

        def simulate(factor: float) -> Samples:
            first, second = (
                np.asarray(
                    statistic(
                        case.publish(world, power.WeakNoise(runs, factor, world)), case.tables
                    )
                )
                for world in (0, 1)
            )
            return first, second

        return power.Simulation(simulate)


Calls = list[tuple[str, Any, Any]]  # a release's draws of noise: law, scale, shape


def listen(case: Case) -> tuple[list[Any], list[Calls]]:
    """Releases of both tables without noise, and the noise numbers that they ask for."""
    tapes = RecordedNoise(), RecordedNoise()
    quiet = [case.publish(world, tape) for world, tape in enumerate(tapes)]
    return quiet, [[call for call in tape.asked if call[0] in COUNTING] for tape in tapes]


def count_numbers(questions: Sequence[Calls]) -> int:
    """Noise numbers of one release."""
    return max(sum(math.prod(shape) for _, _, shape in calls) for calls in questions)


def find_cells(quiet: Sequence[Any], questions: Sequence[Calls]) -> list[power.Cells]:
    """Of each noisy answer the cells that change."""
    laws, others = (
        [(law, np.asarray(scale, dtype=object).tolist()) for law, scale, _ in calls]
        for calls in questions
    )
    if len(quiet[0]) != len(laws) or laws != others:
        raise ValueError(
            "a likelihood ratio needs the noisy answers in order, with the same "
            "scales for both tables"
        )
    return [
        power.Cells.between(
            np.asarray(before), np.asarray(after), np.asarray(scale), law == "zero_sum_laplace"
        )
        for before, after, (law, scale, _) in zip(*quiet, questions[0], strict=True)
    ]


def likelihood_ratio(quiet: Sequence[Any], questions: Sequence[Calls]) -> Statistic:
    """Σ (|t − c'| − |t − c|)/b over the noisy cells t that one record changes from c to c'.

    ``quiet``: both releases without noise; ``questions``: their scales b. The statistic is in
    256ths of its largest value.
    """
    cells = find_cells(quiet, questions)
    step = max(sum(float(part.odds(part.before)) for part in cells) / 256, 1e-12)

    def statistic(released: Sequence[Any], pair: Pair) -> np.ndarray:
        total = np.zeros(1)
        for noisy, part in zip(released, cells, strict=True):
            if part.where.any():
                total = total + part.odds(noisy[..., part.where])
        return quantise(total, step)

    return statistic


def black_box(
    make_release: Callable[[Any], Any],
    pair: Pair | tuple[Any, Any],
    statistic: Callable[[Any], int],
    claimed: float,
    runs: int = 1000,
    *,
    name: str = "black box",
    theory: float = math.nan,
    progress: Progress = True,
    audits: int = 1,
) -> Result:
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
    tables = (pair.before, pair.after) if isinstance(pair, Pair) else pair
    for what, function in (("make_release", make_release), ("statistic", statistic)):
        if not callable(function):
            raise BudgetError(f"{what} must be a function, got {show(function)}")
    if not isinstance(tables, (list, tuple)) or len(tables) != 2:
        raise BudgetError(f"pair must be two neighbouring tables, or a Pair, got {show(tables)}")
    if not isinstance(name, str):
        raise BudgetError(f"name must be a text, got {show(name)}")
    claimed, theory = _epsilon("claimed", claimed), _epsilon("theory", theory, unknown=True)
    start, effort = time.perf_counter(), Effort(runs, progress=progress, audits=audits)
    finding = bound_samples(collect(lambda w: statistic(make_release(tables[w])), effort), effort)
    words = str(pair) if isinstance(pair, Pair) else "two tables as given"
    return conclude(name, claimed, theory, "", "sampling", finding, words, start)


def _epsilon(name: str, epsilon: Any, *, unknown: bool = False) -> float:
    """ε as a number of at least 0; ∞ where nothing is promised; nan where that may be said."""
    if isinstance(epsilon, float) and (epsilon == math.inf or (unknown and math.isnan(epsilon))):
        return epsilon
    value = number(name, epsilon)
    if value < 0:
        raise BudgetError(f"{name} must be at least 0, got {show(epsilon)}")
    return float(value)


# --- exact ----------------------------------------------------------------------


class OneSelection(Attack):
    """The exact law of the only selection of a step, for both tables: one list, however long."""

    method = "exact law"

    def measure(self, case: Case, effort: Effort) -> Finding:
        tapes = RecordedNoise(), RecordedNoise()
        for world, tape in enumerate(tapes):
            case.publish(world, tape)
        selections = [tape.find("select") for tape in tapes]
        gap, at, (p, q) = detectors.compare_selections(selections)
        [(numerators, _)] = selections[0]
        event = f"candidate {at + 1} of {len(numerators):,} has probability {p:.3g} and {q:.3g}"
        return Finding(gap, event)


class WholeLaw(Attack):
    """The exact law of all that is selected, along every path of choices: also the support test."""

    method = "exact law"

    def measure(self, case: Case, effort: Effort) -> Finding:
        p, q = (detectors.law(partial(case.publish, world)) for world in (0, 1))
        for side, alone in (("D", set(p) - set(q)), ("D'", set(q) - set(p))):
            if alone:
                first = join_lines(min(alone, key=str))
                return Finding(math.inf, f"support: {first} is possible in {side} only")
        worst = max(p, key=lambda o: abs(math.log(p[o] / q[o])))
        event = f"{join_lines(worst)} has probability {p[worst]:.3g} and {q[worst]:.3g}"
        return Finding(detectors.log_ratio(p, q), event)


class ScaleTest(Attack):
    """Noise scales of both tables, read off ledgers of runs without noise.

    A scale that differs must come from an earlier release, which its ledger entry names: else rule
    L5 is broken, and no ε covers it.
    """

    method = "scale test"

    def measure(self, case: Case, effort: Effort) -> Finding:
        ledger, other = case.ledger(0), case.ledger(1)
        released = set[str]()  # what was paid for, and what was made from that alone
        for a, b in zip(ledger.entries, other.entries, strict=True):
            explained = a.scale_depends_on and {*a.scale_depends_on} <= released
            made = a.kind == "post_processing" and {*a.inputs} <= released
            if a.kind == "mechanism" or made:
                released.add(a.id)
            if a.scale != b.scale and not explained:
                first, second = (format_epsilon(float(np.max(np.asarray(e.scale)))) for e in (a, b))
                return _all_or_nothing(
                    math.inf,
                    f"rule L5: the noise of {a.step} goes from {first} to {second}, "
                    "and no release explains it",
                )
        return _all_or_nothing(0.0, "every noise scale is public, or comes from an earlier release")


class SameTwice(Attack):
    """The determinism test: does what the ledger says is noised ever change on one table?"""

    method = "determinism test"

    def measure(self, case: Case, effort: Effort) -> Finding:
        outcomes = [
            {case.publish(world, ExactNoise([3, i])) for i in range(TRIES)} for world in (0, 1)
        ]
        if max(map(len, outcomes)) > 1:
            return _all_or_nothing(0.0, "the outcome changes with the noise")
        if outcomes[0] == outcomes[1]:
            return _all_or_nothing(0.0, "both tables give the same")
        first, second = (join_lines(*outcome) for outcome in outcomes)
        return _all_or_nothing(
            math.inf, f"whatever the noise, D gives {first} and D' gives {second}"
        )


def join_lines(outcome: object) -> str:
    """An outcome for a sentence: a network's pairs side by side."""
    return ", ".join(str(outcome).split("\n"))

"""What an audit case is, how it is run, and what comes out."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from html import escape
from typing import Any, Protocol

import numpy as np

from ..privacy.curator import Curator
from ..privacy.ledger import Ledger
from ..privacy.mechanisms import ExactNoise, Noise
from .detectors import Many, Silent, Stock, law, log_ratio, same_structure, selection_law
from .estimator import ceiling, lower_bound, quantise
from .tables import Pair

VIOLATED, NOT_REFUTED = "violated", "not refuted"
NUMBERS = 2**20  # noise numbers that are drawn at once

Release = Callable[[Curator, Noise, Fraction], Any]  # (door, noise, claimed ε) → what is published
Seed = int | Sequence[int] | None
Progress = bool | Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """One audit. ``bound`` is the ε that the audit is sure of, ``ceiling`` what a perfect attack could have shown with ``runs``.

    ``claimed``: the ε that the step or algorithm promises; ``theory``: the true one, where it is known. ``verdict`` is "violated" when
    the bound exceeds the claim, else "not refuted", which proves nothing. ``expect``: what the catalogue expects; ``witness``: the pair
    of tables and the event that show it; ``method``: sampling, or an exact detector.
    """

    name: str
    claimed: float
    theory: float
    bound: float
    ceiling: float
    verdict: str
    expect: str
    method: str
    runs: int
    seconds: float
    witness: str

    @property
    def as_expected(self) -> bool:
        """Whether a defect was caught, or a sound step left alone; a defect beyond sampling's reach may be seen or not."""
        return self.expect == "unseen" or (self.verdict == VIOLATED) == (self.expect == VIOLATED)

    def row(self) -> dict[str, Any]:
        """One line of a table."""
        return {"case": self.name, "claimed": self.claimed, "theory": self.theory, "bound": self.bound, "ceiling": self.ceiling,
                "verdict": self.verdict, "expected": self.expect, "method": self.method, "runs": self.runs,
                "seconds": round(self.seconds, 2)}  # fmt: skip

    def __str__(self) -> str:
        sure = f"at least {shown(self.bound)} with 95 % confidence" if self.runs else f"{shown(self.bound)}, computed exactly"
        limit = f" (a perfect attack would show {shown(self.ceiling)})" if self.runs else ""
        return (
            f"{self.name}: {self.verdict.upper()}. Claimed ε = {shown(self.claimed)}, lost {sure}{limit}; in theory {shown(self.theory)}.\n"
            f"  {self.method}, {f'{self.runs:,} runs a world, ' if self.runs else ''}{self.seconds:.1f} s. {self.witness}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        red = "color:#d55e00;font-weight:600" if self.verdict == VIOLATED else "font-weight:600"
        top = max(x for x in (self.claimed, self.bound, 1e-9) if math.isfinite(x))
        rows = []
        for label, value, colour in (("claimed", self.claimed, "#0072b2"), ("lost, at least", self.bound, "#d55e00")):
            width = 100 if value == math.inf else max(0, round(100 * value / top))
            bar = f"<div style='background:{colour};height:.8em;width:{width}%'></div>"
            rows.append(f"<tr><td style='text-align:left'>{label}</td><td style='width:220px'>{bar}</td><td>{shown(value)}</td></tr>")
        head, *rest = str(self).split("\n")
        return (
            f"<div class='pdsynth-audit'><p><b>{escape(self.name)}</b>: <span style='{red}'>{escape(self.verdict)}</span></p>"
            f"<table>{''.join(rows)}</table><p>{escape(head.split('. ', 1)[1])}<br>{escape(' '.join(rest))}</p></div>"
        )


def one_line(outcome: object) -> str:
    """An outcome for a sentence: a network's pairs side by side."""
    return ", ".join(str(outcome).split("\n"))


def shown(value: float) -> str:
    """A number of ε for a reader."""
    return "∞" if value == math.inf else f"{value:.3g}"


@dataclass(frozen=True)
class Finding:
    """What an attack measured: a bound of ε, what it could have shown, how many runs it took (0: exact), and the event."""

    bound: float
    ceiling: float = math.inf
    runs: int = 0
    event: str = ""


class Attack(Protocol):
    """A way to find out what ε a release really costs."""

    @property
    def method(self) -> str:
        """Its name in reports."""
        raise NotImplementedError

    @property
    def release(self) -> Release:
        """The step that is audited."""
        raise NotImplementedError

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """The bound for one case."""
        raise NotImplementedError


@dataclass(frozen=True)
class Case:
    """A step of an algorithm with the pair of neighbouring tables on which it loses most.

    ``about``: what is broken, or kept; ``source``: paper and line; ``pair``: makes the tables; ``attack``: runs the step through the
    library's own parts; ``claimed``: ε that the step promises; ``theory``: the true ε as a function of the claimed one; ``tier``: "T1"
    (network and noisy tables) or "T0" (the synthetic table alone); ``expect``: "violated", "not refuted" (sound) or "unseen" (the
    ledger or a proof sees more than sampling can); ``guarantee`` of the ledger that the step writes into; ``twin``: the sound case.
    """

    name: str
    about: str
    source: str
    pair: Callable[[], Pair]
    attack: Attack
    claimed: Fraction
    theory: Callable[[Fraction], float]
    expect: str = VIOLATED
    guarantee: str = "published"
    tier: str = "T1"
    twin: str = ""

    @cached_property
    def tables(self) -> Pair:
        """The two tables. They are made up, and public."""
        return self.pair()

    def curator(self, world: int, noise: Noise) -> Curator:
        """A door to table 0 or 1, with a ledger of its own over the claimed ε."""
        return Curator(self.tables.records[world], Ledger(self.claimed, self.guarantee), noise)

    def publish(self, world: int, noise: Noise) -> Any:
        """One release of table 0 or 1."""
        return self.attack.release(self.curator(world, noise), noise, self.claimed)

    def ledger(self, world: int = 0) -> Ledger:
        """What the ledger says of the step on table 0 or 1, whatever an audit can see."""
        tape = Silent()
        door = self.curator(world, tape)
        self.attack.release(door, tape, self.claimed)
        return door.ledger


def times(factor: float) -> Callable[[Fraction], float]:
    """A true ε of so many times the claim."""
    return lambda epsilon: factor * float(epsilon)


def sound(name: str, about: str, source: str, pair: Callable[[], Pair], attack: Attack, claimed: Fraction, **more: Any) -> Case:
    """A case that keeps its claim, in a strict ledger; the true ε is the claim."""
    return Case(name, about, source, pair, attack, claimed, float, NOT_REFUTED, "strict", **more)


def audit(case: Case, runs: int, *, seed: Seed = None, progress: Progress = False, audits: int = 1) -> Result:
    """Run one case."""
    start = time.perf_counter()
    found = case.attack.measure(case, runs, seed, progress, audits)
    claimed = float(case.claimed)
    return Result(case.name, claimed, case.theory(case.claimed), found.bound, found.ceiling,
                  VIOLATED if found.bound > claimed * (1 + 1e-9) else NOT_REFUTED, case.expect, case.attack.method, found.runs,
                  time.perf_counter() - start, f"{case.tables}. {found.event}")  # fmt: skip


def told(progress: Progress, done: int, total: int) -> None:
    """Say how far it is, to the given function or as one line on standard error."""
    if callable(progress):
        progress(done, total)
    elif progress:
        print(f"\r  {done:,} of {total:,} runs", end="\n" if done >= total else "", file=sys.stderr, flush=True)


# --- sampling -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sampled:
    """Many releases of both tables at once, and a statistic of each.

    ``release(curator, noise, ε)`` returns noisy arrays; under :class:`Many` they have a leading axis of runs. ``statistic(released, pair)``
    gives int64 (runs,); None: the log-likelihood ratio of all noisy cells, for a release that is the list of its Laplace answers.
    ``slow`` divides the number of runs.
    """

    release: Release
    statistic: Callable[[Any, Pair], np.ndarray] | None = None
    slow: int = 1
    method: str = "sampling"

    def samples(self, case: Case, runs: int, seed: Seed = None, progress: Progress = False) -> tuple[np.ndarray, np.ndarray]:
        """The statistic of ``runs`` releases of each table: two int64 arrays."""
        pair, tapes, runs = case.tables, (Silent(), Silent()), max(min(runs, 1000), runs // self.slow)
        quiet = [case.publish(world, tape) for world, tape in enumerate(tapes)]
        asked = [[a for a in tape.asked if a[0] == "discrete_laplace"] for tape in tapes]
        statistic = self.statistic or Likelihood(quiet, asked)
        block = max(1, NUMBERS // max(1, *(sum(int(np.prod(shape)) for _, _, shape in a) for a in asked)))
        out = np.empty(runs, dtype=np.int64), np.empty(runs, dtype=np.int64)
        for at in range(0, runs, block):
            size = min(block, runs - at)
            for world in (0, 1):
                noise = Many(size, None if seed is None else [*np.atleast_1d(seed).tolist(), world, at])
                out[world][at : at + size] = statistic(case.publish(world, noise), pair)
            told(progress, at + size, runs)
        return out

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """The Clopper–Pearson bound of the samples."""
        return bounded(self.samples(case, runs, seed, progress), audits)


def bounded(samples: tuple[np.ndarray, np.ndarray], audits: int) -> Finding:
    """The bound of two samples as a finding."""
    found = lower_bound(*samples, audits=audits)
    runs = min(map(len, samples))
    return Finding(max(found.epsilon, 0.0), ceiling(runs, audits=audits), runs, found.event)


class Likelihood:
    """Σ (|t − c'| − |t − c|)/b over the noisy cells t that one record changes from c to c', in 256ths of its largest value.

    **Privacy:** of noisy answers of made-up tables it is post-processing.
    """

    def __init__(self, quiet: Sequence[Any], asked: Sequence[list]) -> None:
        (before, after), (scales, others) = quiet, ([s for _, s, _ in a] for a in asked)
        if len(before) != len(scales) or [np.asarray(s).tolist() for s in scales] != [np.asarray(s).tolist() for s in others]:
            raise ValueError("a likelihood ratio needs the Laplace answers in order, with the same scales for both tables")
        self._cells = []
        for c, e, scale in zip(before, after, scales, strict=True):
            moved = np.asarray(c) != np.asarray(e)
            b = np.broadcast_to(np.asarray(scale, dtype=object).astype(float), moved.shape)[moved]
            self._cells.append((moved, np.asarray(c)[moved], np.asarray(e)[moved], b))
        self._step = max(sum(float((np.abs(c - e) / b).sum()) for _, c, e, b in self._cells) / 256, 1e-12)

    def __call__(self, released: Sequence[Any], pair: Pair) -> np.ndarray:
        """int64 (runs,)."""
        total = np.zeros(1)
        for t, (moved, c, e, b) in zip(released, self._cells, strict=True):
            if moved.any():
                noisy = t[..., moved]
                total = total + ((np.abs(noisy - e) - np.abs(noisy - c)) / b).sum(axis=-1)
        return quantise(total, self._step)


@dataclass(frozen=True)
class OneByOne:
    """One release after the other, for runs whose steps depend on what was drawn: ``runs`` are divided by ``slow``.

    ``release(curator, noise, ε)`` may return anything, ``statistic(released, pair)`` an integer.
    """

    release: Release
    statistic: Callable[[Any, Pair], int]
    slow: int = 1
    method: str = "sampling"

    def samples(self, case: Case, runs: int, seed: Seed = None, progress: Progress = False) -> tuple[np.ndarray, np.ndarray]:
        """The statistic of ``runs / slow`` releases of each table: two int64 arrays."""
        pair, size = case.tables, max(min(runs, 100), runs // self.slow)
        out = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        noise = [Stock(None if seed is None else [*np.atleast_1d(seed).tolist(), world]) for world in (0, 1)]
        for i in range(size):
            for world in (0, 1):
                out[world][i] = self.statistic(case.publish(world, noise[world]), pair)
            if i % 100 == 99 or i == size - 1:
                told(progress, i + 1, size)
        return out

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """The Clopper–Pearson bound of the samples."""
        return bounded(self.samples(case, runs, seed, progress), audits)


# --- exact detectors ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OneSelection:
    """The exact law of the only selection of a step, for both tables: one candidate list, however long."""

    release: Release
    method: str = "exact law"

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """Max |ln p/p'| over the candidates."""
        laws = []
        for world in (0, 1):
            tape = Silent()
            case.publish(world, tape)
            ((_, numerators, denominator),) = [a for a in tape.asked if a[0] == "select"]
            laws.append(np.log(selection_law(numerators, denominator)))
        gaps = np.abs(laws[0] - laws[1])
        at = int(gaps.argmax())
        p, q = (math.exp(x[at]) for x in laws)
        return Finding(float(gaps[at]), event=f"candidate {at + 1} of {len(gaps):,} has probability {p:.3g} and {q:.3g}")


@dataclass(frozen=True)
class WholeLaw:
    """The exact law of a step that only selects, along every path of choices: also the support test."""

    release: Release
    method: str = "exact law"

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """Max |ln p/p'| over the outcomes, infinite where one table can't give what the other gives."""
        p, q = (law(partial(case.publish, world)) for world in (0, 1))
        alone = {side: sorted(set(a) - set(b), key=str) for side, a, b in (("D", p, q), ("D'", q, p))}
        for side, outcomes in alone.items():
            if outcomes:
                return Finding(math.inf, event=f"support: {one_line(outcomes[0])} is possible in {side} only")
        worst = max(p, key=lambda o: abs(math.log(p[o] / q[o])))
        return Finding(log_ratio(p, q), event=f"{one_line(worst)} has probability {p[worst]:.3g} and {q[worst]:.3g}")


@dataclass(frozen=True)
class ScaleTest:
    """Noise scales of both tables, read off ledgers of runs without noise.

    A scale that differs between neighbours must come from an earlier release, which its ledger entry names: else rule L5 is broken,
    and no ε covers it.
    """

    release: Release
    method: str = "scale test"

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """Infinite if a scale differs without an explanation, 0 if not."""
        ledgers = [case.ledger(world) for world in (0, 1)]
        for mine, other in zip(*(ledger.entries for ledger in ledgers), strict=True):
            paid = {e.id for e in ledgers[0].entries if e.kind == "mechanism"}
            if mine.scale != other.scale and not (mine.scale_depends_on and set(mine.scale_depends_on) <= paid):
                words = " to ".join(shown(float(np.max(np.asarray(e.scale)))) for e in (mine, other))
                return Finding(math.inf, event=f"rule L5: the noise of {mine.step} goes from {words}, and no release explains it")
        return Finding(0.0, event="every noise scale is public, or comes from an earlier release")


@dataclass(frozen=True)
class SameTwice:
    """The determinism test: on one table with different noise, does what the ledger says is noised ever change?"""

    release: Release
    method: str = "determinism test"

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """Infinite if both tables always give one outcome each, and not the same; 0 otherwise."""
        fixed = [same_structure(partial(case.publish, world)) for world in (0, 1)]
        outcomes = [case.publish(world, ExactNoise([3, 0])) for world in (0, 1)]
        if all(fixed) and outcomes[0] != outcomes[1]:
            return Finding(math.inf, event=f"whatever the noise, D gives {one_line(outcomes[0])} and D' gives {one_line(outcomes[1])}")
        return Finding(0.0, event="the outcome changes with the noise" if not all(fixed) else "both tables give the same")


# --- anybody's synthesizer -----------------------------------------------------------------------------------------------


def black_box(
    make_release: Callable[[Any], Any],
    pair: Pair | tuple[Any, Any],
    statistic: Callable[[Any], int],
    claimed: float,
    runs: int = 1000,
    *,
    name: str = "black box",
    theory: float = math.nan,
    progress: Progress = False,
    audits: int = 1,
) -> Result:
    """Audit any synthesizer, also somebody else's: two neighbouring tables, what it publishes, and a guess.

    Parameters
    ----------
    make_release : takes one of the two tables and publishes something, with fresh randomness at every call.
    pair : two neighbouring tables of any kind, or a :class:`Pair`, whose code arrays are handed on.
    statistic : takes what was published, returns an integer; the more it differs between the worlds, the larger the bound.
    claimed : the ε that the synthesizer promises. ``theory``: the true one, if known.
    runs : releases of each table. ``audits``: how many audits are read together (Bonferroni).

    Raises TypeError when the statistic isn't an integer.

    **Privacy:** the tables should be made up: what is published of them is exactly what the audit takes apart.

    >>> import itertools
    >>> leaky = black_box(lambda table: table[-1], ([0, 0], [0, 1]), lambda released: released, claimed=1, runs=200)
    >>> leaky.verdict
    'violated'
    """
    start = time.perf_counter()
    tables = (pair.before, pair.after) if isinstance(pair, Pair) else pair
    values: list[list[int]] = [[], []]
    for i in range(runs):
        for world, table in enumerate(tables):
            values[world].append(statistic(make_release(table)))
        if i % 100 == 99 or i == runs - 1:
            told(progress, i + 1, runs)
    found = bounded((np.array(values[0]), np.array(values[1])), audits)
    verdict = VIOLATED if found.bound > claimed else NOT_REFUTED
    words = str(pair) if isinstance(pair, Pair) else "two tables as given"
    return Result(name, float(claimed), theory, found.bound, found.ceiling, verdict, "", "sampling", found.runs,
                  time.perf_counter() - start, f"{words}. {found.event}")  # fmt: skip

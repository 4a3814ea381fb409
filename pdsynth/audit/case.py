"""What an audit case is, how it is run, and what comes out."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any, Protocol

import numpy as np

from ..counts import Records
from ..curator import Curator
from ..ledger import Ledger
from ..mechanisms import ExactNoise, Noise
from .detectors import Many, Silent, law, log_ratio, noise_scales, same_structure, selection_law
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
        """Whether a defect was caught, or a sound step (or a defect beyond sampling's reach) left alone."""
        return (self.verdict == VIOLATED) == (self.expect == VIOLATED)

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

    def curator(self, records: Records, noise: Noise) -> Curator:
        """A door to one of the two tables, with a ledger of its own over the claimed ε.

        **Privacy:** the tables of a case are made up, and public.
        """
        return Curator(records, Ledger(self.claimed, self.guarantee), noise)

    def ledger(self) -> Ledger:
        """What the ledger of the step says, whatever an audit can see."""
        tape = Silent()
        door = self.curator(self.pair().records[0], tape)
        self.attack.release(door, tape, self.claimed)
        return door.ledger


def audit(case: Case, runs: int, *, seed: Seed = None, progress: Progress = False, audits: int = 1) -> Result:
    """Run one case."""
    start = time.perf_counter()
    found = case.attack.measure(case, runs, seed, progress, audits)
    claimed, pair = float(case.claimed), case.pair()
    return Result(case.name, claimed, case.theory(case.claimed), found.bound, found.ceiling,
                  VIOLATED if found.bound > claimed * (1 + 1e-9) else NOT_REFUTED, case.expect, case.attack.method, found.runs,
                  time.perf_counter() - start, f"{pair}. {found.event}".strip())  # fmt: skip


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
        pair, tapes, runs = case.pair(), (Silent(), Silent()), max(min(runs, 1000), runs // self.slow)
        quiet = [self.release(case.curator(r, tape), tape, case.claimed) for r, tape in zip(pair.records, tapes, strict=True)]
        asked = [[a for a in tape.asked if a[0] == "discrete_laplace"] for tape in tapes]
        statistic = self.statistic or Likelihood(quiet, asked)
        block = max(1, NUMBERS // max(1, *(sum(int(np.prod(shape)) for _, _, shape in a) for a in asked)))
        out = np.empty(runs, dtype=np.int64), np.empty(runs, dtype=np.int64)
        for at in range(0, runs, block):
            size = min(block, runs - at)
            for world, records in enumerate(pair.records):
                noise = Many(size, None if seed is None else [*np.atleast_1d(seed).tolist(), world, at])
                out[world][at : at + size] = statistic(self.release(case.curator(records, noise), noise, case.claimed), pair)
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
        pair, size = case.pair(), max(min(runs, 100), runs // self.slow)
        out = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        for i in range(size):
            for world, records in enumerate(pair.records):
                noise = ExactNoise(None if seed is None else [*np.atleast_1d(seed).tolist(), world, i])
                out[world][i] = self.statistic(self.release(case.curator(records, noise), noise, case.claimed), pair)
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
        for records in case.pair().records:
            tape = Silent()
            self.release(case.curator(records, tape), tape, case.claimed)
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
        p, q = (law(lambda noise, r=r: self.release(case.curator(r, noise), noise, case.claimed)) for r in case.pair().records)  # type: ignore[misc]
        alone = {side: sorted(set(a) - set(b), key=str) for side, a, b in (("D", p, q), ("D'", q, p))}
        for side, outcomes in alone.items():
            if outcomes:
                return Finding(math.inf, event=f"support: {outcomes[0]} is possible in {side} only")
        worst = max(p, key=lambda o: abs(math.log(p[o] / q[o])))
        return Finding(log_ratio(p, q), event=f"{worst} has probability {p[worst]:.3g} and {q[worst]:.3g}")


@dataclass(frozen=True)
class ScaleTest:
    """Noise scales of both tables, read off a tape without noise; scales that differ from the records alone have no finite ε."""

    release: Release
    method: str = "scale test"

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """Infinite if the scales differ, 0 if not."""
        first, second = (
            noise_scales(lambda noise, r=r: self.release(case.curator(r, noise), noise, case.claimed)) for r in case.pair().records
        )  # type: ignore[misc]
        if first == second:
            return Finding(0.0, event="the noise scales are the same")
        a, b = next((max(x), max(y)) for x, y in zip(first, second, strict=True) if x != y)
        return Finding(math.inf, event=f"rule L5: a noise scale of {float(a):.6g} becomes {float(b):.6g}, and no release explains it")


@dataclass(frozen=True)
class SameTwice:
    """The determinism test: on one table with different noise, does what the ledger says is noised ever change?"""

    release: Release
    method: str = "determinism test"

    def measure(self, case: Case, runs: int, seed: Seed, progress: Progress, audits: int) -> Finding:
        """Infinite if both tables always give one outcome each, and not the same; 0 otherwise."""
        pair = case.pair()
        fixed = [same_structure(lambda noise, r=r: self.release(case.curator(r, noise), noise, case.claimed)) for r in pair.records]  # type: ignore[misc]
        outcomes = [self.release(case.curator(r, ExactNoise([3, 0])), ExactNoise([3, 0]), case.claimed) for r in pair.records]
        if all(fixed) and outcomes[0] != outcomes[1]:
            return Finding(math.inf, event=f"whatever the noise, D gives {outcomes[0]} and D' gives {outcomes[1]}")
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
) -> Result:
    """Audit any synthesizer, also somebody else's: two neighbouring tables, what it publishes, and a guess.

    Parameters
    ----------
    make_release : takes one of the two tables and publishes something, with fresh randomness at every call.
    pair : two neighbouring tables of any kind, or a :class:`Pair`, whose code arrays are handed on.
    statistic : takes what was published, returns an integer; the more it differs between the worlds, the larger the bound.
    claimed : the ε that the synthesizer promises. ``theory``: the true one, if known.
    runs : releases of each table.

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
    found = bounded((np.array(values[0]), np.array(values[1])), 1)
    verdict = VIOLATED if found.bound > claimed else NOT_REFUTED
    words = str(pair) if isinstance(pair, Pair) else "two tables as given"
    return Result(name, float(claimed), theory, found.bound, found.ceiling, verdict, "", "sampling", found.runs,
                  time.perf_counter() - start, f"{words}. {found.event}")  # fmt: skip

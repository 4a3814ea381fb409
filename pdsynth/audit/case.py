"""What an audit case is, and what comes out of an audit."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from ..core import BudgetError, Curator, ExactNoise, Ledger, Noise, check_seed, is_whole, show
from ..files import decimal
from ..files.pages import render
from ..published.doors import open_door
from .detectors import Seed
from .pairs import Pair

COLUMNS = (
    "case",
    "claimed",
    "theory",
    "bound",
    "ceiling",
    "detectable",
    "moves",
    "verdict",
    "expected",
    "method",
    "runs",
    "seconds",
)
VIOLATED, NOT_REFUTED, UNSEEN = "violated", "not refuted", "unseen"
MOST_RUNS = 10**9

Release = Callable[[Curator, Noise, Fraction], Any]  # (door, noise, claimed ε) → what is published
Progress = bool | Callable[[int, int], None]


def format_epsilon(value: float, digits: int = 3) -> str:
    """A number of ε for a reader."""
    if value == math.inf:
        return "∞"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.{digits}g}"


@dataclass(frozen=True)
class Result:
    """One audit: the ε that is claimed, the true one in theory, and the one that is lost for sure.

    ``ceiling``: what a perfect attack could have shown; ``detectable``: the smallest violation that
    the audit could have seen, as a multiple of the claim (caught in half of all audits; 1: any, if
    exact; ∞: it only sees what has no finite ε; nan: not known); ``moves``: how many answers of
    mechanisms the pair changes (0: not known); ``verdict``: "violated" when the bound
    exceeds the claim, else "not refuted", which proves nothing; ``expect``: what the catalogue
    expects; ``runs``: 0 for an exact method; ``witness``: the pair of tables and the event.
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
    detectable: float = math.nan
    moves: int = 0

    @property
    def as_expected(self) -> bool:
        """Whether a defect was caught, or a sound step left alone; "unseen" may be either."""
        return self.expect == UNSEEN or (self.verdict == VIOLATED) == (self.expect == VIOLATED)

    def row(self) -> dict[str, Any]:
        """One line of a table."""
        row = {"case": self.name} | asdict(self) | {"seconds": round(self.seconds, 2)}
        row["expected"] = row["expect"]
        return {column: row[column] for column in COLUMNS}

    def __str__(self) -> str:
        bound, top = format_epsilon(self.bound), format_epsilon(self.ceiling)
        lost = (
            f"at least {bound} with 95 % confidence (a perfect attack would show {top})"
            if self.runs
            else f"{bound}, computed exactly"
        )
        runs = f"{self.runs:,} runs a world, " if self.runs else ""
        power = ""
        if self.runs and math.isfinite(self.detectable):
            power = (
                f"\n  An audit like this sees {format_epsilon(self.detectable)} times the claim in "
                "half of all tries."
            )
        elif self.runs and self.detectable == math.inf > self.theory and self.verdict != VIOLATED:
            power = (
                "\n  Noise that is too small escapes an audit like this in more than half of all "
                "tries."
            )
        return (
            f"{self.name}: {self.verdict.upper()}. Claimed ε = {decimal(self.claimed)}, "
            f"lost {lost}; in theory {format_epsilon(self.theory)}.\n"
            f"  {self.method}, {runs}{self.seconds:.1f} s. {self.witness}{power}"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render(
            __package__,
            "result.html",
            result=self,
            width=WIDTH,
            place=_place,
            ticks=[10.0**k for k in DECADES],
            show=format_epsilon,
            claimed=decimal(self.claimed),
            words=str(self).split(". ", 1)[1].split("\n"),
        )


WIDTH, DECADES = 320, (-2, -1, 0, 1, 2)  # one scale for all audits: ε from 0.01 to 100


def _place(value: float) -> float:
    """Where an ε stands on the scale that all audits share, in pixels."""
    low, high = DECADES[0], DECADES[-1]
    log = high if value == math.inf else math.log10(max(value, 1e-9))
    return 14 + (WIDTH - 28) * (min(max(log, low), high) - low) / (high - low)


@dataclass(frozen=True)
class Finding:
    """What an attack measured: a bound of ε, the event that shows it, and the runs, if any."""

    bound: float
    event: str
    ceiling: float = math.inf
    runs: int = 0
    detectable: float = 1.0
    moves: int = 0


@dataclass(frozen=True)
class Effort:
    """How hard an attack tries: releases of each table, and how many audits share the error."""

    runs: int
    seed: Seed = None
    progress: Progress = False
    audits: int = 1

    def __post_init__(self) -> None:
        if not is_whole(self.runs, 4, MOST_RUNS):
            raise BudgetError(
                "runs must be a whole number: an audit needs at least four runs of "
                f"each world, and at most {MOST_RUNS:,}, got {show(self.runs)}"
            )
        if not is_whole(self.audits, 1, 10**6):
            raise BudgetError(
                f"audits must be a whole number from 1 to 1,000,000, got {show(self.audits)}"
            )
        check_seed(self.seed)


@dataclass(frozen=True)
class Fit:
    """A whole fit in place of a step: ``make(ε)`` makes the synthesizer, ``show`` what is seen."""

    make: Callable[[Fraction], Any]
    show: Callable[[Any], Any]


@dataclass(frozen=True)
class Attack:
    """A way to find out what ε a release really costs."""

    release: Release | Fit
    method: ClassVar[str]

    def publish(self, case: Case, world: int, noise: Noise) -> tuple[Any, Ledger]:
        """One release of table 0 or 1, and the ledger that it wrote, over the claimed ε."""
        if isinstance(self.release, Fit):
            fitted = self.fit(case, world, noise)
            return self.release.show(fitted), fitted.ledger_
        records = case.tables.records[world]
        door = open_door(records, Ledger(case.claimed, case.guarantee), noise)
        return self.release(door, noise, case.claimed), door.ledger

    def fit(self, case: Case, world: int, noise: Noise) -> Any:
        """A whole fit of table 0 or 1."""
        assert isinstance(self.release, Fit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # few records: the audit knows
            return self.release.make(case.claimed).fit(case.tables.records[world], noise=noise)

    def measure(self, case: Case, effort: Effort) -> Finding:
        """The bound for one case."""
        raise NotImplementedError


@dataclass(frozen=True)
class Case:
    """A step of an algorithm with the pair of neighbouring tables on which it loses most.

    ``about``: what is broken, or kept; ``claimed``: the ε that it promises; ``factor``: how many
    times that it truly costs; ``expect``: "violated", "not refuted" (sound) or "unseen" (the ledger
    or a proof sees more than sampling can); ``tier``: "T1" publishes network and noisy tables, "T0"
    synthetic rows alone; ``twin``: the sound case beside it.
    """

    name: str
    about: str
    source: str
    pair: Callable[[], Pair]
    attack: Attack
    claimed: Fraction
    factor: float = 1.0
    expect: str = VIOLATED
    tier: str = "T1"
    twin: str = ""

    @cached_property
    def tables(self) -> Pair:
        """The two tables, made up and public."""
        return self.pair()

    @property
    def guarantee(self) -> str:
        """The guarantee of the ledger that the step writes into."""
        return "strict" if self.expect == NOT_REFUTED else "published"

    def theory(self, epsilon: Fraction) -> float:
        """The true ε of a step that claims ``epsilon``."""
        return self.factor * float(epsilon)

    def publish(self, world: int, noise: Noise) -> Any:
        """One release of table 0 or 1."""
        return self.attack.publish(self, world, noise)[0]

    def ledger(self, world: int = 0) -> Ledger:
        """What the ledger says of the step on table 0 or 1, whatever an audit can see."""
        return self.attack.publish(self, world, ExactNoise())[1]

    def run(self, effort: Effort) -> Result:
        """Audit the case."""
        start, claimed = time.perf_counter(), float(self.claimed)
        finding = self.attack.measure(self, effort)
        return conclude(
            self.name,
            claimed,
            self.theory(self.claimed),
            self.expect,
            self.attack.method,
            finding,
            str(self.tables),
            start,
        )


def conclude(
    name: str,
    claimed: float,
    theory: float,
    expect: str,
    method: str,
    finding: Finding,
    tables: str,
    start: float,
) -> Result:
    """A finding as a result, with its verdict."""
    verdict = VIOLATED if finding.bound > claimed * (1 + 1e-9) else NOT_REFUTED
    return Result(
        name,
        claimed,
        theory,
        finding.bound,
        finding.ceiling,
        verdict,
        expect,
        method,
        finding.runs,
        time.perf_counter() - start,
        f"{tables}. {finding.event}",
        finding.detectable,
        finding.moves,
    )

"""Rules that turn trials into verdicts. A paper's data file names a rule; it can call nothing else.

A rule is a function of a :class:`Question`. It gives a verdict and the words that the claim's texts
may name in braces, or None where there is nothing to judge. The text that registers it is what the
index page says about it, and may name words, too. A rule knows no method: the claim says whose
values are compared, and where.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from . import results
from .results import WIDE, Difference, average, count_signs, decide, difference, direction_verdict
from .selectors import Point, expand

Answer = tuple[str, dict[str, Any]] | None
Rule = Callable[["Question"], Answer]
WOULD = {
    results.REPLICATES: "would replicate the claim",
    results.FAILS: "contradicts the claim",
    results.PARTLY: "holds in part",
    WIDE: "can't tell",
}
RULES: dict[str, tuple[Rule, str]] = {}
PAIRED, WELCH = (
    "the 95 % interval of the differences of repeats that share a split",
    ("Welch's 95 % interval of the difference"),
)
ONE_TIME = "Welch's 95 % interval of log seconds, of a single run within a factor 1.5"
TOLERANT: set[str] = set()  # rules with a tolerance of ours, at half and double of which they run
EXACT: set[str] = (
    set()
)  # rules that compare numbers without an interval: no member of Holm's family


def rule(text: str, tolerant: bool = False, tested: bool = True) -> Callable[[Rule], Rule]:
    """Register a rule under its name, with the text that says how it judges.

    ``tolerant``: whether a tolerance of ours decides; ``tested``: whether an interval does.
    """

    def register(function: Rule) -> Rule:
        if function.__name__ in RULES:
            raise ValueError(f"there is a rule {function.__name__!r} already: choose another name")
        RULES[function.__name__] = function, text
        if tolerant:
            TOLERANT.add(function.__name__)
        if not tested:
            EXACT.add(function.__name__)
        return function

    return register


# --- differences and means in words ---------------------------------------------------------------


@dataclass(frozen=True)
class Gaps:
    """Differences at named points; ``str`` says them all, ``unit`` follows each number."""

    found: list[Difference]
    names: list[str]
    digits: int = 3
    unit: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        texts = [results.interval(gap, half, self.digits) + unit for gap, half in self.found]
        words = (f"{n}: {s}" if n else s for n, s in zip(self.names, texts, strict=True))
        return "; ".join(words) or "not run"

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def better(self) -> int:
        """How many lie significantly above zero."""
        return count_signs(self.found)[0]

    @property
    def worse(self) -> int:
        """How many lie significantly below zero."""
        return count_signs(self.found)[1]

    @property
    def points(self) -> int:
        """How many there are."""
        return len(self.found)

    @property
    def count(self) -> str:
        """How many are better and worse, or that none was run."""
        text = f"better at {self.better}, worse at {self.worse} of {self.points}"
        return text if self.points else "not run"

    @property
    def tally(self) -> str:
        """How often each name, a rival's, is beaten."""
        rivals: dict[str, list[Difference]] = {}
        for name, gap in zip(self.names, self.found, strict=True):
            rivals.setdefault(name, []).append(gap)
        texts = (
            "{} {} better, {} worse of {}".format(name, *count_signs(gaps), len(gaps))
            for name, gaps in rivals.items()
        )
        return "; ".join(texts)


@dataclass(frozen=True)
class Means:
    """Means of methods; ``str`` says them all."""

    found: list[float]
    names: list[str]
    digits: int = 3

    def __str__(self) -> str:
        means = zip(self.names, self.found, strict=True)
        texts = (f"{name} {mean:.{self.digits}f}" for name, mean in means)
        return ", ".join(texts).strip()

    @property
    def largest(self) -> float:
        """The largest one."""
        return max(self.found)


def say_ratios(found: Sequence[tuple[float, float]], rival: str = "") -> str:
    """Ratios, each with its ε: the median at the middle ε, of two the larger; the range of all.

    >>> say_ratios([(0.2, 0.9), (0.4, 1.0), (0.4, 1.1), (1.0, 1.5)], "PrivBayes")
    '1.05 × PrivBayes at ε = 0.4 (0.90 … 1.50)'
    """
    ratios = [(e, ratio) for e, ratio in found if np.isfinite(ratio)]
    if not ratios:
        return ""
    budgets = sorted({e for e, _ in ratios if np.isfinite(e)})
    middle = budgets[len(budgets) // 2] if budgets else None
    every = [ratio for _, ratio in ratios]
    median = np.median([ratio for e, ratio in ratios if middle is None or e == middle])
    text = f"{median:.2f} × {rival}".strip()
    text += "" if middle is None else f" at ε = {middle:g}"
    least, most = f"{min(every):.2f}", f"{max(every):.2f}"
    return text if least == most else f"{text} ({least} … {most})"


# --- a claim before its trials --------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """One claim of a data file before the trials of its figure.

    ``claim["at"]``: the points to compare at. ``claim["a"]`` and ``claim["b"]``: whose values, a
    minus b; what they don't say, the point says. ``claim["scale"]``: 100 for per cent. ``point``,
    ``digits`` and ``unit``: how a difference is said. ``beside``: further differences, each a
    change of ``at``, that the texts may name; ``means``: the same for means. ``series`` and
    ``rows``: what was looked up before, shared by all questions about the same trials.
    """

    key: results.Key
    data: pd.DataFrame
    settings: Any
    claim: Mapping[str, Any]
    series: dict[Any, pd.Series] = field(default_factory=dict, compare=False)
    rows: dict[tuple[str, Any], np.ndarray] = field(default_factory=dict, compare=False)
    fewest: list[int] = field(default_factory=list, compare=False)  # repeats that it rests on

    def __getitem__(self, name: str) -> Any:
        return self.claim[name]

    @property
    def tolerance(self) -> float:
        """The claim's bar, halved or doubled where the verdict is tried for that."""
        return results.stretched(self["bar"])

    def points(self, at: Mapping[str, Any] | None = None) -> list[Point]:
        """The points of a selector (None: the claim's own)."""
        return expand(self.claim.get("at", {}) if at is None else at, self.settings, self.data)

    def side(self, name: str) -> Point:
        """One of the two that are compared."""
        return self.points(self.claim.get(name, {}))[0]

    def values(self, **at: Any) -> np.ndarray:
        """All repeats at a point, in the claim's unit."""
        values = self.look_up(at).to_numpy()
        return self.claim.get("scale", 1) * values[~np.isnan(values)]

    def look_up(self, at: Mapping[str, Any]) -> pd.Series:
        """The trials' values at a point by repeat, as they stand in the file."""
        where = tuple(at.items())
        if where not in self.series:
            chosen = np.ones(len(self.data), dtype=bool)
            for name, value in at.items():
                if value is not None:
                    chosen &= self.rows_with(name, value)
            values = self.data["value"].to_numpy(dtype=float)[chosen]
            repeats = self.data["repeat"][chosen] if "repeat" in self.data else None
            self.series[where] = pd.Series(values, index=repeats)
        return self.series[where]

    def rows_with(self, name: str, value: Any) -> np.ndarray:
        """Which trials have a value in a column: most points share all columns but one."""
        if (name, value) not in self.rows:
            self.rows[name, value] = (self.data[name] == value).to_numpy()
        return self.rows[name, value]

    def ran(self, at: Point) -> bool:
        """Whether a point was run, be it in vain."""
        return len(self.look_up(at)) > 0

    def shares_splits(self, at: Mapping[str, Any]) -> bool:
        """Whether repeats of all methods share their split at a point: then they are paired."""
        declared = self.claim.get("paired", False)
        return declared is True or bool(declared) and at.get("metric") in declared

    def by_repeat(self, at: Mapping[str, Any]) -> pd.Series:
        """The values at a point by repeat, in the claim's unit."""
        return self.look_up(at) * self.claim.get("scale", 1)

    def compare(self, a: Point, b: Point) -> Difference:
        """A minus b, paired by repeat where splits are shared and both have several repeats."""
        if self.shares_splits(a):
            one, two = self.by_repeat(a), self.by_repeat(b)
            if one.index.is_unique and two.index.is_unique:
                both = one.index.intersection(two.index)
                if len(both) > 1:
                    return results.paired(one[both].to_numpy(), two[both].to_numpy())
        return difference(self.values(**a), self.values(**b))

    def runs_in_order(self, **at: Any) -> np.ndarray:
        """The values at a point by repeat, a gap where one failed, so that splits stay together."""
        runs = self.by_repeat(at).sort_index()
        return runs.reindex(range(self.data["repeat"].max() + 1)).to_numpy()

    def count(self, *found: np.ndarray) -> None:
        """Remember the fewest repeats that something rests on."""
        self.fewest.append(min((len(f) for f in found), default=0))

    @property
    def runs(self) -> int:
        """The fewest repeats that were compared; where a rule doesn't say, of any point."""
        if not self.fewest:
            points = self.data.groupby(results.point(self.data), dropna=False)
            self.fewest.append(points.size().min())
        return int(min(self.fewest))

    @property
    def interval(self) -> str:
        """What a rule's text calls the interval of a difference."""
        shared = {self.shares_splits(at) for at in self.points()}
        return f"{PAIRED}, else {WELCH}" if len(shared) > 1 else PAIRED if True in shared else WELCH

    def size(self, pairs: Sequence[tuple[Point, Point, Point]] | None = None) -> str:
        """How large a is beside b at the claim's points, or at some pairs of them.

        The median ratio at the middle ε, of two the larger one; the range of all ratios.
        ``claim["named"]`` says what b is where its method doesn't.
        """
        if "at" not in self.claim:
            return ""
        pairs = self.pairs() if pairs is None else pairs
        found = [
            (p.get("epsilon", np.inf), average(self.values(**a)), average(self.values(**b)))
            for p, a, b in pairs
        ]
        sides = {b.get("method", "") for _, a, b in pairs if a.get("method") != b.get("method")}
        rival = self.claim.get("named", sides.pop() if len(sides) == 1 else "")
        return say_ratios([(e, a / b) for e, a, b in found if b], rival)

    def curve(self, at: Mapping[str, Any]) -> list[np.ndarray]:
        """The repeats at every point of a selector."""
        return [self.values(**p) for p in self.points(at)]

    def gaps(self, change: Mapping[str, Any] | None = None) -> Gaps:
        """The differences at the claim's points, or at changed ones; a point not run is none."""
        say = {"digits": 3, "unit": "", **self.claim, **(change or {})}
        pairs = self.pairs(change)
        gaps = [self.compare(a, b) for _, a, b in pairs]
        if change is None:
            self.count(*(self.values(**side) for _, a, b in pairs for side in (a, b)))
        named = all("epsilon" in p for p, _, _ in pairs)
        name = say.get("point", "ε = {epsilon:g}" if named else "")
        return Gaps(gaps, [name.format_map(p) for p, _, _ in pairs], say["digits"], say["unit"])

    def pairs(self, change: Mapping[str, Any] | None = None) -> list[tuple[Point, Point, Point]]:
        """The claim's points, or changed ones, where both were run; where a and where b is."""
        at = {
            n: v
            for n, v in (self.claim.get("at", {}) | (change or {})).items()
            if n not in ("point", "digits", "unit")
        }
        a, b = self.side("a"), self.side("b")
        points = [(p, p | a, p | b) for p in self.points(at)]
        return [(p, one, two) for p, one, two in points if self.ran(one) and self.ran(two)]

    def means(self, spec: Mapping[str, Any]) -> Means:
        """The means at the points of a selector, each under its method where there are several."""
        points = self.points({n: v for n, v in spec.items() if n != "digits"})
        names = [p["method"] if len(points) > 1 else "" for p in points]
        means = [average(self.values(**p)) for p in points]
        return Means(means, names, spec.get("digits", 3))

    def words(self) -> dict[str, Any]:
        """The differences and means that stand beside the claim's own."""
        gaps = {name: self.gaps(change) for name, change in self.claim.get("beside", {}).items()}
        return gaps | {name: self.means(s) for name, s in self.claim.get("means", {}).items()}


def times_apart(a: np.ndarray, b: np.ndarray) -> Difference:
    """Natural log of how many times longer a takes than b, and its half-width.

    A time that was taken once has no interval: it is allowed to be off by a half, or by a quarter
    and by the whole where the verdict is tried for that.
    """
    gap, half = results.difference(np.log(a), np.log(b))
    return gap, half if np.isfinite(half) else float(np.log(1 + results.stretched(0.5)))


# --- rules for any paper --------------------------------------------------------------------------


@rule(
    "{interval} at {where}: replicates if more than half favour the "
    "claim and none is against it, partly if more favour it than are against it; does not if as "
    "many or more are against it, or more than half where none favours it"
)
def above(q: Question) -> Answer:
    """Whether a is above b (``sign`` −1: below)."""
    gaps, sign = q.gaps(), q.claim.get("sign", 1)
    verdict = direction_verdict([(sign * gap, half) for gap, half in gaps])
    return verdict, q.words() | {"found": gaps}


@rule(
    "{interval} at each point: replicates if more than half favour "
    "the claim, partly if more favour it than are against it; does not if as many or more are "
    "against it, or more than half where none favours it"
)
def mostly_above(q: Question) -> Answer:
    """Whether a is above b in most cases."""
    gaps, words = q.gaps(), q.words()
    words |= {
        f"{n}_would": f"{g.tally}, which {WOULD[direction_verdict(g.found, mostly=True)]}"
        if len(g)
        else "not run"
        for n, g in words.items()
        if isinstance(g, Gaps)
    }
    return direction_verdict(gaps.found, mostly=True), words | {"found": gaps}


@rule(
    "{which} curves: last {x} against the first beyond {interval}, and Spearman's ρ of the means "
    "at least 0.8 in size; partly if more curves do than move the other way beyond it; does not if "
    "as many or more move the other way"
)
def moves(q: Question) -> Answer:
    """Whether curves rise (``sign`` 1) or fall (−1) ``along`` a column."""
    ((column, _),) = q["along"].items()
    along = [p[column] for p in q.points(q["along"])]

    def say(at: Mapping[str, Any]) -> tuple[str, str, str]:
        name = at.get("point", q.claim.get("point", "{method}"))
        points = q.points({n: v for n, v in at.items() if n != "point"})
        shared = bool(points) and all(map(q.shares_splits, points))
        take = q.runs_in_order if shared else q.values
        curves = {name.format_map(p): [take(**p, **{column: x}) for x in along] for p in points}
        q.count(*(runs for curve in curves.values() for runs in curve))
        compare = results.paired if shared else difference
        return results.trend(curves, [float(x) for x in along], q["sign"], compare)

    verdict, numbers, size = say(q["at"])
    beside = {name: say(at)[1] for name, at in q.claim.get("beside", {}).items()}
    return verdict, {"found": numbers, "size": size, **beside}


@rule(
    "the 95 % interval {what}, {where}: two one-sided tests; partly if so at some points, does "
    "not if at none and outside at one",
    tolerant=True,
)
def within(q: Question) -> Answer:
    """Whether all differences lie below ``bar`` (``two_sided``: within it on both sides)."""
    gaps = q.gaps()
    sizes = gaps.found if q.claim.get("two_sided") else [(max(g, 0.0), h) for g, h in gaps]
    return results.equivalence_verdict(sizes, q.tolerance), q.words() | {"found": gaps}


@rule("{how}")
def everywhere(q: Question) -> Answer:
    """Whether a is above b at every point beyond its interval; does not if below at every point."""
    gaps = q.gaps()
    if not len(gaps):
        return None
    verdict = decide(gaps.better == len(gaps), gaps.worse >= max(gaps.better, 1), gaps.better > 0)
    return verdict, q.words() | {"found": gaps}

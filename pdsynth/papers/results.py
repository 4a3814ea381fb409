"""What a reproduced figure hands back, and the statistics that its verdicts rest on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import pandas as pd

Key = int | str  # a figure's number, or "table 2"
REPLICATES, PARTLY, FAILS = "replicates", "partly", "does not"
UNDEFINED, RECONSTRUCTED = "undefined in the paper", "rests on our reconstruction"
WIDE = "our intervals too wide"
OPEN = (UNDEFINED, RECONSTRUCTED, WIDE)  # nothing is judged
VERDICTS = (REPLICATES, PARTLY, FAILS, *OPEN)
LEVEL = 0.05  # of a claim on its own
_level: ContextVar[float] = ContextVar("level", default=LEVEL)
_stretch: ContextVar[float] = ContextVar("stretch", default=1.0)
TRIAL = ("repeat", "seed", "value", "note")  # columns of one trial; the others name its point
Difference = tuple[float, float]  # difference of two means, half-width of its 95 % interval


@dataclass(frozen=True)
class Verdict:
    """One claim of a paper against the numbers measured here.

    ``claim``: the paper's statement; ``source``: where it stands; ``verdict``: one of VERDICTS;
    ``numbers``: what was measured; ``why``: the reason, as far as it is known; ``rule``: how the
    verdict was reached. ``reading``: under which reading of the paper; ``primary``: whether that
    is the one by which the claim counts. ``held``: what the verdict would be without Holm's
    correction, or with half and double the tolerance, where that differs.
    ``brief``: the claim in a few words; ``part``: which of several that share them; ``quote``: the
    paper's own words. ``size``: how large what was found is. ``tested``: whether the rule rests on
    an interval, which Holm's correction then counts. ``runs``: fewest repeats that it rests on.
    """

    claim: str
    source: str
    verdict: str
    numbers: str
    why: str
    rule: str
    reading: str = "printed"
    held: str = ""
    brief: str = ""
    part: str = ""
    quote: str = ""
    size: str = ""
    primary: bool = True
    tested: bool = True
    runs: int = 0

    @property
    def said(self) -> str:
        """The verdict in words, with n where the intervals are too wide."""
        return self.verdict + (f" (n = {self.runs})" if self.verdict == WIDE else "")


@dataclass(frozen=True, eq=False)
class Result:
    """A reproduced figure.

    ``data``: DataFrame, one row per trial and metric. ``figure``: Plotly figure. ``verdicts``: one
    per claim. ``deviation``: what differs from the paper's experiment. ``parameters``: what was
    run. ``beside``: where the paper prints numbers, one row per cell with the columns ``row``,
    ``column``, ``paper``, ``paper_sd``, ``here``, ``here_sd`` (NaN: not there).
    """

    title: str
    data: pd.DataFrame
    figure: Any
    verdicts: tuple[Verdict, ...]
    deviation: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    beside: pd.DataFrame | None = None

    def summary(self) -> pd.DataFrame:
        """Mean, standard deviation and 95 % confidence half-width of every point of the figure."""
        return summarise(self.data)

    def table(self) -> pd.DataFrame:
        """The verdicts as a DataFrame."""
        return pd.DataFrame([vars(v) for v in self.verdicts])

    def cells(self) -> pd.DataFrame:
        """The paper's table with ours in each cell: see :func:`side_by_side`."""
        if self.beside is None:
            return pd.DataFrame()
        text = self.beside.assign(cell=[side_by_side(c) for c in self.beside.itertuples()])
        wide = text.pivot(index="row", columns="column", values="cell")
        return wide.loc[distinct(text, "row"), distinct(text, "column")].rename_axis(None, axis=1)

    def __repr__(self) -> str:
        lines = [f"{self.title}: {len(self.data):,} measured values"]
        if self.beside is not None:
            lines.append(self.cells().to_string())
        lines += [f"  {v.said}: {v.claim} ({v.source}). {v.numbers}" for v in self.verdicts]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names = ("claim", "source", "verdict", "numbers", "why")
        head = "".join(f"<th>{name}</th>" for name in names)
        cell = "<td style=text-align:left>{}</td>".format
        rows = ("".join(cell(escape(getattr(v, name))) for name in names) for v in self.verdicts)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f"<li>{escape(d)}</li>" for d in self.deviation)
        cells = "" if self.beside is None else self.cells().to_html()
        return (
            f"<p><b>{escape(self.title)}</b></p>{self.figure._repr_html_()}{cells}"
            f"<table><tr>{head}</tr>{body}</table><ul>{notes}</ul>"
        )


def side_by_side(cell: Any) -> str:
    """One cell: the paper's number, ours, their difference in the paper's standard deviations.

    >>> side_by_side(pd.Series({"paper": 45.9, "paper_sd": 3.2, "here": 44.3, "here_sd": 2.5}))
    '45.9±3.2 → 44.3±2.5 (-0.5 sd)'
    """

    def number(value: float, sd: float) -> str:
        return "–" if np.isnan(value) else f"{value:.1f}" + ("" if np.isnan(sd) else f"±{sd:.1f}")

    apart = (cell.here - cell.paper) / cell.paper_sd if cell.paper_sd else float("nan")
    words = f"{number(cell.paper, cell.paper_sd)} → {number(cell.here, cell.here_sd)}"
    return words + ("" if np.isnan(apart) else f" ({apart:+.1f} sd)")


def markdown(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table.

    >>> print(markdown(["k", "mean"], [[1, 0.5]]), end="")
    | k | mean |
    |---|---|
    | 1 | 0.5 |
    """
    text = ["| " + " | ".join(map(str, line)) + " |" for line in (columns, *rows)]
    return "\n".join([text[0], "|" + "---|" * len(columns), *text[1:]]) + "\n"


# --- tidy frames ----------------------------------------------------------------------------------


def point(data: pd.DataFrame) -> list[str]:
    """The columns that say which point of a figure a trial belongs to."""
    return [name for name in data.columns if name not in TRIAL]


def summarise(data: pd.DataFrame) -> pd.DataFrame:
    """Mean, sd, repeats and half-width of the 95 % t-interval of the mean, one row per point."""
    from scipy.special import stdtrit  # scipy.stats takes a second to import

    grouped = data.groupby(point(data), sort=False, dropna=False)["value"]
    out = grouped.agg(mean="mean", sd="std", repeats="count").reset_index()
    freedom = np.maximum(out["repeats"] - 1, 1)
    out["ci95"] = stdtrit(freedom, 0.975) * out["sd"] / np.sqrt(np.maximum(out["repeats"], 1))
    return out


def distinct(data: pd.DataFrame, column: str) -> list[str]:
    """The values of a column, in the order in which they come."""
    return data[column].drop_duplicates().tolist()


def select(data: pd.DataFrame, **at: Any) -> pd.DataFrame:
    """The rows where the named columns have these values (None: any)."""
    chosen = np.ones(len(data), dtype=bool)
    for name, value in at.items():
        if value is not None:
            chosen &= (data[name] == value).to_numpy()
    return data[chosen]


def values(data: pd.DataFrame, **at: Any) -> np.ndarray:
    """Values of all repeats where the named columns have these values, gaps left out."""
    return select(data, **at)["value"].dropna().to_numpy(dtype=float)


# --- the statistics -------------------------------------------------------------------------------


def average(found: np.ndarray) -> float:
    """Mean; NaN where every repeat is a gap."""
    return float(found.mean()) if len(found) else float("nan")


@contextmanager
def judged_at(level: float = LEVEL, stretch: float = 1.0) -> Iterator[None]:
    """Within it all intervals have confidence 1 − ``level``, and tolerances are ``stretch`` times.

    >>> with judged_at(0.01):
    ...     wider = difference(np.arange(9.0), np.arange(9.0))[1]
    >>> wider > difference(np.arange(9.0), np.arange(9.0))[1]
    True
    """
    before = _level.set(level), _stretch.set(stretch)
    try:
        yield
    finally:
        _level.reset(before[0])
        _stretch.reset(before[1])


def stretched(tolerance: float) -> float:
    """A tolerance, halved or doubled where a verdict is tried for that."""
    return tolerance * _stretch.get()


def widen(half: float) -> float:
    """A half-width of 95 % at the level that is in force, in the large-sample ratio."""
    from scipy.special import ndtri

    return float(half * ndtri(1 - _level.get() / 2) / ndtri(1 - LEVEL / 2))


def interval(gap: float, half: float, digits: int = 2) -> str:
    """A difference with its half-width, where there is one: a single run has none.

    >>> interval(0.5, 0.25), interval(0.5, float("inf"))
    ('+0.50 ± 0.25', '+0.50 (one run)')
    >>> interval(float("nan"), float("inf"))  # a method refused every run
    'a gap'
    """
    if np.isnan(gap):
        return "a gap"
    return f"{gap:+.{digits}f}" + (f" ± {half:.{digits}f}" if np.isfinite(half) else " (one run)")


def difference(a: np.ndarray, b: np.ndarray) -> Difference:
    """Mean of a minus mean of b, and the half-width of its Welch interval (95 %: `judged_at`).

    The half-width is infinite below two repeats.
    """
    from scipy.special import stdtrit

    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    if min(len(a), len(b)) < 1:
        return float("nan"), float("inf")
    gap = float(a.mean() - b.mean())
    if min(len(a), len(b)) < 2:
        return gap, float("inf")
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    if va + vb == 0:
        return gap, 0.0
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    return gap, float(stdtrit(freedom, 1 - _level.get() / 2) * np.sqrt(va + vb))


def paired(a: np.ndarray, b: np.ndarray) -> Difference:
    """Mean of the differences of repeats that belong together, and its t-interval's half-width.

    >>> paired(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 2.0]))
    (1.0, 0.0)
    """
    gaps = a - b
    return difference(gaps[~np.isnan(gaps)], np.zeros(2)) if len(gaps) else (float("nan"), np.inf)


def count_signs(gaps: Sequence[Difference]) -> tuple[int, int]:
    """At how many points a difference lies significantly above and below zero."""
    return sum(gap > half for gap, half in gaps), sum(gap < -half for gap, half in gaps)


def decide(favour: bool, against: bool, partly: bool = False) -> str:
    """The verdict of a rule with a condition for each side; neither: too wide, or partly."""
    return REPLICATES if favour else FAILS if against else PARTLY if partly else WIDE


def direction_verdict(gaps: Sequence[Difference], mostly: bool = False) -> str:
    """Verdict on "a is larger than b" at several points.

    Replicates if more than half of the points are significantly in favour and none against; partly
    if more are in favour than against; does not if not, or if none is and more than half are
    against; else our intervals are too wide. ``mostly``, for a claim about most cases: some may
    disagree.
    """
    favour, against = count_signs(gaps)
    return decide(
        favour * 2 > len(gaps) and (mostly or not against),
        against >= favour > 0 or (not favour and against * 2 > len(gaps)),
        favour > against,
    )


def equivalence_verdict(gaps: Sequence[Difference], tolerance: float) -> str:
    """Verdict on "no further away than the tolerance" at several points: two one-sided tests.

    Replicates if every interval lies within ± ``tolerance`` and does not if none does and at least
    one lies outside; partly if some do; else our intervals are too wide. For a
    claim about one side, the differences are cut at 0 before.
    """
    inside = [abs(gap) + half <= tolerance for gap, half in gaps]
    outside = [abs(gap) - half > tolerance for gap, half in gaps]
    return decide(bool(gaps) and all(inside), any(outside) and not any(inside), any(inside))


def correlation(at: Sequence[float], means: Sequence[float]) -> float:
    """Spearman's ρ of means with where they are; NaN for a single one."""
    ranks = pd.Series(at).rank(), pd.Series(means).rank()
    return float(np.corrcoef(*ranks)[1, 0]) if len(means) > 1 else float("nan")


def trend(
    curves: Mapping[str, Sequence[np.ndarray]],
    at: Sequence[float],
    sign: int,
    compare: Callable[[np.ndarray, np.ndarray], Difference] = difference,
) -> tuple[str, str, str]:
    """Verdict, numbers and size of "rises (sign 1) or falls (−1) with ε".

    ``curves``: for each curve the repeats at every ε of ``at``. Judged are the last ε against the
    first, by ``compare``, and Spearman's ρ of the means. The size: see :func:`say_move`.
    """
    ends, numbers, moved = [], [], {}
    for name, runs in curves.items():
        gap, half = compare(runs[-1], runs[0])
        means = [average(v[~np.isnan(v)]) for v in runs]
        moved[name] = means[0], means[-1]
        rho = correlation(at, means) if len(set(means)) > 1 else 0.0  # a flat curve has no trend
        ends.append((sign * gap, half, sign * rho))
        numbers.append(f"{name} {means[0]:.3f} → {means[-1]:.3f} (ρ = {rho:+.1f})")
    moves = sum(gap > half and rho >= 0.8 for gap, half, rho in ends)
    against = sum(gap < -half for gap, half, _ in ends)
    verdict = decide(moves == len(ends), 0 < against >= moves, moves > against)
    return verdict, "; ".join(numbers), say_move(moved, sign)


def say_move(curves: Mapping[str, tuple[float, float]], sign: int) -> str:
    """First and last mean of the curve in the middle, of two the one that moved less.

    ``sign``: the way that they should move. By ratio, or by difference where a mean isn't above 0.
    The curve has its name where there are several.

    >>> say_move({"PrivBayes": (0.4, 0.1), "JTree": (0.3, 0.2)}, -1)
    '0.3 → 0.2 (JTree)'
    """
    ends = {n: at for n, at in curves.items() if np.isfinite(at).all()}
    if not ends:
        return "nan → nan"
    by_ratio = min(v for at in ends.values() for v in at) > 0

    def move(name: str) -> float:
        first, last = ends[name]
        return sign * (float(np.log(last / first)) if by_ratio else last - first)

    name = sorted(ends, key=move)[(len(ends) - 1) // 2]
    first, last = ends[name]
    return f"{first:.3g} → {last:.3g}" + (f" ({name})" if len(curves) > 1 and name else "")


def bootstrap(
    values: np.ndarray, statistic: Callable[[np.ndarray], float], draws: int = 4000, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of a statistic of (repeats, points), repeats resampled together."""
    rng = np.random.default_rng(seed)
    outcomes = [statistic(values[rng.integers(0, len(values), len(values))]) for _ in range(draws)]
    tail = 50 * _level.get()
    return float(np.percentile(outcomes, tail)), float(np.percentile(outcomes, 100 - tail))

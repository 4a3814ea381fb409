"""The yardsticks with the same promise: pure ε or with δ, a record replaced or added; a score."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .. import algorithms, baselines
from ..core import Attribute, BudgetError, Records, Schema
from ..datasets import Dataset, load_national2019
from ..evaluation import marginal_distance
from . import drawing, engine
from .drawing import bars_in_range, log_ticks, panels, small_print, title_below
from .grids import Grid, Run, matches
from .results import Key, Result, distinct, markdown, select, summarise
from .yardstick import GUARANTEE, PURE, RELATIONS, OpenDPTable

OURS: Mapping[str, Any] = {
    "Independent": baselines.Independent,
    "PrivBayes": algorithms.PrivBayes,
    "ConsistentBayes": algorithms.ConsistentBayes,
}
CONSISTENT = "ConsistentBayes"
ONLY_REPLACE = ("PrivBayes",)  # needs a public n
PARTS = 20  # NIST bins ages by the twentieths of the real table
SCORE = "k-marginal score"
AGES = "AGEP"
YEARS = (10, 3, 2, 1)  # of a bin of ages: readings of ours besides the loader's five years


@dataclass(frozen=True)
class Promised(engine.Curve):
    """A method with all of its promise: pure ε or (ε, δ), and what neighbouring tables are."""

    relation: str = "replace_one"

    @property
    def words(self) -> str:
        """Its name in a legend."""
        promise = PURE if self.guarantee == "strict" else self.guarantee
        return f"{self.method} {RELATIONS[self.relation]}, {promise}"


def curves(settings: Any) -> dict[Promised, Any]:
    """Our methods and OpenDP's under every promise that they offer, each unfitted."""
    synthesizers: dict[Promised, Any] = {}
    for relation in RELATIONS:
        for name, make in OURS.items():
            if relation == "replace_one" or name not in ONLY_REPLACE:
                curve = Promised(name, "strict", relation=relation)
                synthesizers[curve] = make(relation=relation, noise="common")
    for relation in RELATIONS:  # what everybody gets, with the peers' δ
        curve = Promised(CONSISTENT, GUARANTEE, relation=relation)
        synthesizers[curve] = OURS[CONSISTENT](
            delta=settings.delta, relation=relation, noise="common"
        )
    for name in settings.same_peers:
        for delta, relation in ((d, r) for d in (0.0, settings.delta) for r in RELATIONS):
            curve = Promised(name, GUARANTEE if delta else PURE, relation=relation)
            synthesizers[curve] = OpenDPTable(name, delta, tight=bool(delta), relation=relation)
    return synthesizers


def repeats(method: str, settings: Any, run: Run) -> int:
    """A method's repeats: a peer has fewer, since it takes up to minutes a fit."""
    return min(run.repeats, dict(settings.same_repeats).get(method, run.repeats))


def trials(
    settings: Any, run: Run, loaders: Mapping[str, Callable[[], Dataset]], measures: Any
) -> pd.DataFrame:
    """Every method under every promise, on some tables."""
    every, frames = curves(settings), []
    for name, dataset in run.load({n: loaders[n] for n in settings.same_on}).items():
        for method in dict.fromkeys(curve.method for curve in every):
            mine = {
                curve: synthesizer for curve, synthesizer in every.items() if curve.method == method
            }
            grid = Grid(dataset, mine, measures, settings.same_epsilons, {"dataset": name})
            frames.append(run.measure(grid, repeats=repeats(method, settings, run)))
    return pd.concat(frames, ignore_index=True)


# --- NIST's score ---------------------------------------------------------------------------------


def twentieths(real: pd.Series, numbers: pd.Series) -> np.ndarray:
    """The twentieth of the real numbers in which each number lies, 0 … 19; ties share one."""
    cuts = np.quantile(real, np.arange(1, PARTS) / PARTS)
    return np.searchsorted(np.unique(cuts), numbers, side="right")


def k_marginal(real: pd.DataFrame, fake: pd.DataFrame, schema: Schema) -> float:
    """NIST's k-marginal score for k = 2: 1000 · (1 − mean total variation distance of all pairs).

    Numbers are binned by the twentieths of the real table first. 1000: equal marginals. Source:
    SDNist 2 (Task, Bhagat, Howarth 2023).

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    numbers = [a.name for a in schema.attributes if a.edges is not None]
    twenty = {name: Attribute.categorical(name, range(PARTS)) for name in numbers}
    coded = Schema(tuple(twenty.get(a.name, a) for a in schema.attributes))
    anew = [
        table.assign(**{name: twentieths(real[name], table[name]) for name in numbers})
        for table in (real, fake)
    ]
    return 1000 * (1 - marginal_distance(anew[0], anew[1], coded, 2))


def score(made: Any, dataset: Dataset, epsilon: float, seed: int) -> tuple[float, str]:
    """The score of one synthetic table of as many rows, and why there is none.

    Ours has balanced rows, a peer's as the peer samples them.
    """
    frame, schema = dataset.frame, dataset.schema
    made = made.clone().set_params(epsilon=epsilon, random_state=seed)
    try:
        if not isinstance(made, OpenDPTable):
            rows = made.fit(frame, schema).sample(len(frame), seed, method="balanced")
        else:
            rng = np.random.default_rng(seed)
            codes = made.fit(Records(schema.encode(frame), schema)).sample_codes(len(frame), rng)
            rows = schema.decode(codes, rng.random(codes.shape))
    except BudgetError as problem:  # not installed: a gap
        return float("nan"), f"{type(problem).__name__}: {problem}"
    return k_marginal(frame, rows, schema), ""


def by_years(dataset: Dataset, years: int) -> Dataset:
    """The table with ages in bins of so many years."""
    ages = Attribute.numeric(AGES, 0, 99, bins=-(-100 // years), integer=True)
    attributes = (ages if a.name == AGES else a for a in dataset.schema.attributes)
    return replace(dataset, schema=Schema(tuple(attributes)))


def say_years(years: int) -> str:
    """A number of years in words."""
    return "1 year" if years == 1 else f"{years} years"


def nist(settings: Any, run: Run) -> pd.DataFrame:
    """NIST's score of every method under every promise; seed i for repeat i.

    The score cuts ages by twentieths, whatever bins a method was given; ours show what these do.
    """
    ((first, dataset),) = run.load({"national2019": load_national2019}).items()
    run.tables[dataset.name] = len(dataset.frame)
    coded = {first: dataset}
    if AGES in dataset.schema.names:
        coded |= {f"{first}, ages by {say_years(y)}": by_years(dataset, y) for y in YEARS}
    synthesizers = {c: m for c, m in curves(settings).items() if matches(vars(c), run.only)}
    tasks = [
        (name, curve, e, i)
        for curve in synthesizers
        for name in coded
        if name == first or curve.method in OURS
        for e in settings.nist_epsilons
        for i in range(repeats(curve.method, settings, run))
    ]
    work = [(synthesizers[curve], coded[name], e, run.seed + i) for name, curve, e, i in tasks]
    rows = {}
    for at, (value, note) in run.each(score, work, "k-marginal"):
        name, curve, epsilon, repeat = tasks[at]
        rows[at] = {
            "metric": SCORE,
            "dataset": name,
            **vars(curve),
            "epsilon": epsilon,
            "repeat": repeat,
            "seed": run.seed + repeat,
            "value": value,
            "note": note,
        }
    return pd.DataFrame([rows[at] for at in sorted(rows)])


# --- pictures and tables --------------------------------------------------------------------------

LOOKS = {  # colour, marker
    "Independent": ("#767676", "x"),
    "PrivBayes": ("#009E73", "square"),
    "ConsistentBayes": ("#E69F00", "diamond"),
    "MST": ("#000000", "star"),
    "AIM": ("#0072B2", "hexagon"),
}


def described(data: pd.DataFrame) -> pd.DataFrame:
    """The points with their curve's name; gaps left out."""
    points = summarise(data)
    points = points[points["repeats"].gt(0)]
    names = [
        Promised(p.method, p.guarantee, relation=p.relation).words for p in points.itertuples()
    ]
    coding = points["dataset"].str.extract("(, ages .*)", expand=False).fillna("")
    return points.assign(curve=names, coding=coding)


def add_curves(plot: go.Figure, points: pd.DataFrame, legend: bool, **where: int) -> None:
    """Every curve of one panel: dotted with a δ, open markers for ±."""
    for name in distinct(points, "curve"):
        mine = select(points, curve=name).sort_values("epsilon")
        first = next(mine.itertuples())
        colour, symbol = LOOKS[first.method]
        opened = "-open" if first.relation == "add_remove" else ""
        dash = "dot" if first.guarantee == GUARANTEE else "dash" if opened else "solid"
        plot.add_scatter(
            x=mine["epsilon"],
            y=mine["mean"],
            name=name,
            legendgroup=name,
            showlegend=legend,
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 1.6},
            marker={"symbol": symbol + opened, "size": 8},
            error_y=bars_in_range(mine["mean"], mine["ci95"], mine["metric"], 1.2, 3),
            **where,
        )


def draw(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """A panel for each table and measure."""
    points = described(data)
    at = list(points[["dataset", "metric"]].drop_duplicates().itertuples(index=False))
    columns = len(distinct(points, "metric"))
    plot = panels(columns, [f"{p.dataset}:<br>{p.metric}" for p in at], vertical_spacing=0.16)
    for i, panel in enumerate(at):
        mine = select(points, **panel._asdict())
        add_curves(plot, mine, i == 0, row=i // columns + 1, col=i % columns + 1)
    plot.update_yaxes(**log_ticks((0.01, 0.02, 0.05, 0.1, 0.2, 0.5)))
    plot.update_xaxes(**log_ticks(settings.same_epsilons))
    title_below(plot, "ε", columns, len(at))
    words = small_print("The same promise: lower is better", say_repeated(points))
    height = 260 + 260 * -(-len(at) // columns)
    drawing.legend_below(plot.update_layout(title_text=words), height)
    return plot.update_layout(height=height + 24, margin_t=108)  # panels' titles have two lines


def say_repeated(points: pd.DataFrame) -> str:
    """Repeats of ours and of each peer, and what the relations are."""
    ours = ~points["method"].isin(LOOKS.keys() - OURS.keys())
    fits = points[~ours].groupby("method")["repeats"].max()
    peers = [f"{name}: {n}" for name, n in fits.items()]
    own = [drawing.say_repeats(points.loc[ours, "repeats"].max())] if ours.any() else []
    signs = "⇄: a record is replaced, ±: added or removed"
    return "; ".join([", ".join([*own, *peers]), drawing.ERROR_NOTE, signs])


def draw_scores(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """A bar for each method and promise, and what NIST printed."""
    points = described(data)
    top = points[points["epsilon"] == max(settings.nist_epsilons)].sort_values("mean")
    printed = [(f"{name}, printed by NIST", value) for name, value in settings.nist_printed]
    plot = drawing.figure()
    plot.add_bar(
        orientation="h",
        x=[*top["mean"], *(value for _, value in printed)],
        y=[*top["curve"] + top["coding"], *(name for name, _ in printed)],
        marker_color=[*(LOOKS[m][0] for m in top["method"]), *["#BBBBBB"] * len(printed)],
        error_x={"type": "data", "array": [*top["ci95"].fillna(0), *[0] * len(printed)]},
        showlegend=False,
    )
    plot.update_xaxes(title_text="score; 1000: equal marginals", range=[800, 1000])
    plot.update_yaxes(automargin=True)
    words = small_print(
        f"NIST's k-marginal score, ε = {max(settings.nist_epsilons):g}", say_repeated(points)
    )
    height = 190 + 26 * (len(top) + len(printed))
    # in the whole width, above the long names, too
    title = {"text": words, "x": 0.01, "xref": "container", "y": 0.98, "yanchor": "top"}
    return plot.update_layout(title=title, height=height, margin={"t": 96, "r": 16})


def say(row: Any, digits: int) -> str:
    """Mean and half-width; a single run has none."""
    half = f" (± {row.ci95:.{digits}f})" if np.isfinite(row.ci95) else ""
    return f"{row.mean:.{digits}f}{half}"


def table(data: pd.DataFrame, settings: Any) -> Iterator[list[str]]:
    """One row for each table, ε and curve, the nearest first; one column for each measure."""
    points = described(data)
    metrics = distinct(points, "metric")
    for (name, e), part in points.groupby(["dataset", "epsilon"], sort=False):
        order = select(part, metric=metrics[0]).sort_values("mean", ascending=metrics[0] != SCORE)
        for curve in order["curve"]:
            mine = {row.metric: row for row in select(part, curve=curve).itertuples()}
            cells = [say(mine[m], 1 if m == SCORE else 4) if m in mine else "–" for m in metrics]
            fits = str(next(iter(mine.values())).repeats)
            yield [name, f"{e:g}", curve, *cells, fits]


def appendix(key: Key, result: Result, settings: Any) -> str:
    """The numbers behind the picture, with the relation beside each."""
    metrics = distinct(result.data, "metric")
    rows = list(table(result.data, settings))
    if metrics == [SCORE]:
        rows += [
            ["national2019", "1", f"{name}, printed by NIST", f"{value:g}", "1"]
            for name, value in settings.nist_printed
        ]
    columns = ["table", "ε", "method and promise", *metrics, "fits"]
    words = (
        "Mean and, in brackets, the half-width of its 95 % interval. ⇄: neighbours replace a "
        "record; ±: they add or remove one."
    )
    if metrics == [SCORE]:
        words += (
            " The score cuts ages into twentieths of the real table; where no years are named, a "
            "method sees them in bins of five years."
        )
    return f"\n{words}\n\n{markdown(columns, rows)}"

"""Personal guarantees: what the sensitive attribute loses, against the error on everything else."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .. import algorithms as s
from ..core import Agree, Records, Restriction
from ..datasets.adult import load_adult
from ..datasets.tables import Dataset
from ..evaluation.marginals import Marginals, attribute_sets
from .drawing import STYLE, bars_in_range, finish, log_ticks, panels
from .engine import load
from .grids import Run, matches
from .results import (
    WIDE,
    Key,
    average,
    decide,
    difference,
    direction_verdict,
    select,
    summarise,
    widen,
)
from .rules import Answer, Gaps, Question, rule

BASE, AGREED = "PrivBayes", "PrivBayes, tables agree"
CUSTOM, GROUPED = "custom network", "custom network, two groups"
POLICY = "HPPrivBayes, groups by policy"
LOSS, REST = "loss of the sensitive attribute", "2-way distance without it"
WITH = "2-way distance with it"
LOOKS = {
    BASE: STYLE["PrivBayes"],
    AGREED: (STYLE["PrivBayes"][0], "cross"),
    "HPPrivBayes": STYLE["HPPrivBayes"],
    POLICY: ("#D55E00", "diamond"),
    "HMPrivBayes": ("#CC79A7", "star"),
    "PPBA": ("#56B4E9", "triangle-up"),
    CUSTOM: ("#0072B2", "pentagon"),
    GROUPED: ("#000000", "hexagon"),
}
LINES = {"θ": "dash", "rare_values": "dot"}
TICKS = (0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


# --- policies -------------------------------------------------------------------------------------


def group_by_policy(dataset: Dataset) -> Any:
    """The sensitive attribute alone in group A, by public policy."""
    return s.SensitivityGroups(groups={"A": [dataset.sensitive]}, rare_values="same_noise")


def restrict(dataset: Dataset) -> Any:
    """A greedy network that keeps the sensitive attribute a leaf below the target."""
    return s.Greedy(restriction=Restriction(dataset.target, dataset.sensitive))


# --- the experiment -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One setting of one lever of a method."""

    method: str
    lever: str
    setting: str
    epsilon: float
    synthesizer: Any


def points(settings: Any, dataset: Dataset) -> Iterator[Point]:
    """Every point of the figure, its synthesizer unfitted."""
    e: float = settings.epsilon
    own: dict[str, Any] = {"sensitive": dataset.sensitive}
    policy = {"personal": group_by_policy(dataset)}

    def at(
        method: str, lever: str, setting: Any, kind: Any, total: float = e, **options: Any
    ) -> Point:
        word = setting if isinstance(setting, str) else f"{setting:g}"
        # simulation noise: nothing here is released
        return Point(method, lever, word, total, kind(total, noise="common", **options))

    for total in settings.totals:
        yield at(BASE, "ε", total, s.PrivBayes, total)
        yield at(AGREED, "ε", total, s.PrivBayes, total, reconcile=Agree())
        yield at(CUSTOM, "ε", total, s.GeneticBayes, total, target=dataset.target, **own)
    for r in settings.ratios:
        yield at("HPPrivBayes", "r", r, s.HPPrivBayes, r=float(Fraction(r)), **own)
    for theta in settings.thetas:
        yield at("HPPrivBayes", "θ", theta, s.HPPrivBayes, theta=theta, **own)
    for noise in settings.rare_values:
        personal = s.SensitivityGroups(rare_values=noise)
        yield at("HPPrivBayes", "rare_values", noise, s.HPPrivBayes, personal=personal, **own)
    for r in settings.policies:
        yield at(POLICY, "r", r, s.HPPrivBayes, r=float(Fraction(r)), **policy)
    for degree in settings.degrees:
        yield at("HMPrivBayes", "l", degree, s.HMPrivBayes, l=degree)
    for q in settings.q:
        yield at("PPBA", "q", q, s.PPBA, q=q)
    for r in settings.grouped:
        budget = s.Groups(r=float(Fraction(r)), **policy)
        yield at(GROUPED, "r", r, s.Synthesizer, structure=restrict(dataset), budget=budget)


def measure(
    point: Point, repeat: int, seed: int, dataset: Dataset, real: Marginals, records: Records
) -> list[dict[str, Any]]:
    """Fit once: the sensitive attribute's loss, mean distances of pairs without it and with it."""
    fit_seed = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    with warnings.catch_warnings():  # of budgets that bear little: that is what is measured
        warnings.simplefilter("ignore", UserWarning)
        fitted = point.synthesizer.clone().set_params(random_state=fit_seed).fit(records)
    losses, sensitive = fitted.ledger_.attribute_epsilon(), str(dataset.sensitive)
    codes = fitted.model_.sample_codes(records.n, np.random.default_rng([fit_seed, 1]))
    mine = np.array([records.schema.index(sensitive) in pair for pair in real.sets])
    distances = real.distances(codes)
    # the loss that a policy fixed is named; all others are read off this run
    before = sensitive in losses.attrs["known"].split(";")[0]
    row = {
        "method": point.method,
        "guarantee": "strict",
        "lever": point.lever,
        "setting": point.setting,
        "known": "before the run" if before else "ex post",
        "epsilon": float(point.epsilon),
        "repeat": repeat,
        "seed": fit_seed,
    }
    values = {LOSS: losses[sensitive], REST: distances[~mine].mean(), WITH: distances[mine].mean()}
    return [{"metric": m, **row, "value": float(v), "note": ""} for m, v in values.items()]


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """Every point, ``run.repeats`` times."""
    dataset = load_adult(coding="thesis") if run.data is None else run.data
    schema = dataset.schema
    records = Records(schema.encode(dataset.frame), schema)
    real = Marginals(records.codes, schema, sets=attribute_sets(len(schema), 2))
    run.tables[dataset.name] = records.n
    run.facts |= {"sensitive": dataset.sensitive, "target": dataset.target}
    jobs = [
        (point, repeat, run.seed, dataset, real, records)
        for repeat in range(run.repeats)
        for point in points(settings, dataset)
        if matches(vars(point), run.only)
    ]
    done = sorted(run.each(measure, jobs, "frontier"), key=itemgetter(0))
    return pd.DataFrame([row for _, rows in done for row in rows])


# --- figure and rules -----------------------------------------------------------------------------


def place(data: pd.DataFrame) -> pd.DataFrame:
    """One row per point: mean loss, both mean errors with their 95 % half-widths."""
    table, at = summarise(data), ["method", "lever", "setting", "known", "epsilon"]
    wide = table.pivot(index=at, columns="metric", values=["mean", "ci95"])
    out = wide.loc[pd.MultiIndex.from_frame(table.loc[table["metric"] == LOSS, at])]
    out.columns = [f"{name} {metric}" for name, metric in out.columns]
    return out.reset_index()


def draw(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Error on the rest, and on the pairs with the sensitive attribute, against its loss."""
    plot = panels(2, ["error on the rest", "error on pairs with it"], shared_yaxes=True)
    for (method, lever), part in place(data).groupby(["method", "lever"], sort=False):
        colour, symbol = LOOKS[method]
        hollow = "" if (part["known"] == "before the run").all() else "-open"
        name = f"{method}, {lever}"
        for column, metric in enumerate((REST, WITH), 1):
            plot.add_scatter(
                x=part[f"mean {LOSS}"],
                y=part[f"mean {metric}"],
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                mode="lines+markers",
                row=1,
                col=column,
                line={"color": colour, "dash": LINES.get(lever, "solid"), "width": 1.6},
                marker={"symbol": symbol + hollow, "size": 9},
                customdata=[f"{lever} = {setting}" for setting in part["setting"]],
                error_y=bars_in_range(
                    part[f"mean {metric}"], part[f"ci95 {metric}"], metric, 1.2, 3
                ),
                hovertemplate="%{customdata}<br>loss %{x:.3g}, error %{y:.3f}<extra>"
                + method
                + "</extra>",
            )
    shown = [*(v for v in TICKS if v < 0.5), 0.07, 0.15]
    plot.update_xaxes(title_text="ε that the sensitive attribute loses", **log_ticks(TICKS))
    plot.update_yaxes(**log_ticks(shown))
    plot.update_yaxes(title_text="mean 2-way distance", col=1)
    subtitle = f"filled: known before the run; whole table: ε = {settings.epsilon:g}"
    return finish(plot, data, "Who gets which guarantee, and what it costs", subtitle, 620)


@rule(
    "the line of PrivBayes, whose tables agree as the others' do, over its own ε, interpolated in "
    "log loss (its last value beyond its end), minus the point, with the 95 % intervals of both "
    "means: replicates if more than half of the settings lie below the line and none above"
)
def below_the_line(q: Question) -> Answer:
    """Whether less ε for everybody, down to the same loss, would serve the rest worse."""
    table = place(q.data)
    line = select(table, method=AGREED).sort_values(f"mean {LOSS}")
    x = np.log(line[f"mean {LOSS}"].to_numpy(dtype=float))
    gaps, names = [], []
    for row in select(table, method=q["method"]).to_dict("records"):
        loss = row[f"mean {LOSS}"]
        error, half = (
            float(np.interp(np.log(loss), x, line[f"{name} {REST}"])) for name in ("mean", "ci95")
        )
        both = widen(float(np.hypot(half, row[f"ci95 {REST}"])))
        gaps.append((round(error - row[f"mean {REST}"], 12), both))
        names.append(f"{row['lever']} = {row['setting']} (loss {loss:.3f})")
    return direction_verdict(gaps), {"found": Gaps(gaps, names)}


@rule("Welch's 95 % interval of the difference of the losses at both ends of the lever")
def loses_less(q: Question) -> Answer:
    """Whether the sensitive attribute loses less at the second setting of a lever."""
    lever, ends = q["lever"], (q["from"], q["to"])
    runs = [q.values(metric=LOSS, method=q["method"], lever=lever, setting=end) for end in ends]
    q.count(*runs)
    gap, half = difference(*runs)
    numbers = [f"{lever} = {end}: {average(v):.3f}" for end, v in zip(ends, runs, strict=True)]
    verdict = decide(gap > half, gap < -half) if len(runs[0]) else WIDE
    words = {
        "found": "; ".join([*numbers, f"{gap:+.3f} ± {half:.3f}"]),
        "size": f"{gap:+.3f} of loss",
    }
    return verdict, words


PAPER = load("frontier", trials, draw={1: draw})

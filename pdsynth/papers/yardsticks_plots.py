"""The yardsticks' pictures: a panel for each table, and the main picture of all figures."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from . import drawing
from .drawing import bars_in_range, level, log_ticks, panels, small_print, title_below
from .results import Key, distinct, select, summarise
from .yardstick import GUARANTEE, TRUE
from .yardsticks_promise import CONSISTENT, OURS, add_curves, described
from .yardsticks_promise import say_repeated as promise_repeated

DISTANCE, CLASS = "2-way distance", "majority class"
FOREST = f"{CONSISTENT}, forest"
MAIN = ("Independent", "PrivBayes", "HPPrivBayes", CONSISTENT, "MST")  # of the main picture
THESIS = "Adult, thesis coding"
LOOKS = {  # colour, marker, dash
    "Independent": ("#767676", "x", "solid"),
    "JTree": ("#56B4E9", "triangle-up", "solid"),
    "HPPrivBayes": ("#CC79A7", "circle", "solid"),
    "PrivBayes": ("#009E73", "square", "solid"),
    FOREST: ("#E69F00", "diamond-open", "dash"),
    CONSISTENT: ("#E69F00", "diamond", "solid"),
    "MST": ("#000000", "star", "dot"),
    "AIM": ("#000000", "hexagon", "dot"),
    "DataSynthesizer": ("#0072B2", "cross", "dot"),
}
FIXED = {"1": "dot", "2": "dash", "3": "dashdot"}  # dashes of PrivBayes with a fixed k


def name_curve(method: str, guarantee: str, k: str, delta: float) -> str:
    """A curve's name in a legend, with its promise where that isn't pure ε.

    All curves of figures 1 and 2 hide a replaced record: ⇄.
    """
    if guarantee == "none":
        return method
    if guarantee == GUARANTEE:
        return f"{method} ⇄, δ = {delta:g}".replace("e-0", "e-")
    if guarantee == TRUE:
        return f"{method} k=1 ⇄, true ε"
    return f"{method} k={k} ⇄" if k else f"{method} ⇄"


def curves(plot: go.Figure, part: pd.DataFrame, delta: float, **where: int) -> None:
    """Every curve of one panel; a fixed k is thin and has neither markers nor bars."""
    part = part[np.isfinite(part["epsilon"]) & (part["k"] != "0")]  # k = 0: beside Independent
    for (method, guarantee, k), points in part.groupby(["method", "guarantee", "k"], sort=False):
        (colour, symbol, dash), name = LOOKS[method], name_curve(method, guarantee, k, delta)
        fixed = k in FIXED
        points = points.sort_values("epsilon")
        plot.add_scatter(
            x=points["epsilon"],
            y=points["mean"],
            name=name,
            legendgroup=name,
            showlegend=True,
            mode="lines" if fixed else "lines+markers",
            opacity=0.6 if fixed else 1,
            line={"color": colour, "dash": FIXED.get(k, dash), "width": 1.2 if fixed else 2},
            marker={"symbol": symbol, "size": 8},
            error_y=None
            if fixed
            else bars_in_range(points["mean"], points["ci95"], points["metric"], 1.2, 3),
            **where,
        )


def say_repeated(points: pd.DataFrame) -> str:
    """The small print: repeats of ours and of each peer, and what the bars are."""
    counts = points.groupby("guarantee", sort=False)["repeats"].max()
    outside = points[points["guarantee"].isin((GUARANTEE, TRUE))]
    peers = [f"{name}: {n}" for name, n in outside.groupby("method")["repeats"].max().items()]
    return ", ".join([drawing.say_repeats(counts["strict"]), *peers]) + f"; {drawing.ERROR_NOTE}"


def draw(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """A panel for each table: 2-way distance, or accuracy, against ε."""
    metric = DISTANCE if key == 1 else "accuracy"
    table = select(summarise(data), metric=metric)
    table = table[table["repeats"].gt(0)]
    names = distinct(table, "dataset")
    plot = panels(2, names, vertical_spacing=0.3 / max(2, len(names)), horizontal_spacing=0.09)
    legend: set[str | None] = set()
    for i, name in enumerate(names):
        where, part = {"row": i // 2 + 1, "col": i % 2 + 1}, select(table, dataset=name)
        curves(plot, part, settings.delta, **where)
        span = (min(settings.epsilons), max(settings.epsilons))
        for flat, dash in (("real data", "solid"), (CLASS, "dot")) if key == 2 else ():
            level(
                plot,
                select(part, method=flat),
                span,
                flat,
                LOOKS["Independent"][0],
                dash,
                True,
                **where,
            )
        if key == 1:  # a fixed k may leave the panel
            low, high = np.log10(part.loc[~part["k"].isin(FIXED), "mean"].agg(["min", "max"]))
            plot.update_yaxes(range=[low - 0.08, high + 0.08], **where)
    for trace in plot.data:
        trace.showlegend = trace.name not in legend
        legend.add(trace.name)
    if key == 1:
        plot.update_yaxes(**log_ticks((0.01, 0.02, 0.05, 0.1, 0.2, 0.5)))
    plot.update_xaxes(**log_ticks(settings.epsilons))
    plot.update_xaxes(title_standoff=4)
    title_below(plot, "ε", 2, len(names))
    text = {
        1: "2-way distance of the synthetic from the real table; lower is better",
        2: "Accuracy of a linear classifier trained on the synthetic table",
    }
    words = small_print(
        text[int(key)], say_repeated(table) + ("; thin lines may leave a panel" if key == 1 else "")
    )
    plot.update_layout(title_text=words)
    return drawing.legend_below(plot, 190 + 250 * -(-len(names) // 2))


def shown_in_main(data: pd.DataFrame, same: pd.DataFrame | None = None) -> pd.DataFrame:
    """The trials of figure 1 in the main picture, without the peers that figure 3 brings."""
    part = select(data, metric=DISTANCE, dataset=THESIS).dropna(subset="value")
    part = part[part["method"].isin(MAIN) & part["k"].isin(("", "auto"))]
    beside = part.iloc[:0] if same is None else same_in_main(same)
    return part[~part["method"].isin(set(beside["method"]) - OURS.keys())]


def same_in_main(same: pd.DataFrame) -> pd.DataFrame:
    """The trials of figure 3 that stand in the main picture: peers, and what figure 1 lacks."""
    part = select(same, metric=DISTANCE, dataset=THESIS).dropna(subset="value")
    ours = part["method"].isin(OURS)
    there = (part["relation"] == "replace_one") & (part["guarantee"] == "strict")
    return part[~ours | (part["method"] == CONSISTENT) & ~there]


def main_picture(data: pd.DataFrame, settings: Any, same: pd.DataFrame | None = None) -> go.Figure:
    """The main picture: ε against 2-way distance, each curve with its promise.

    ``data``: trials of figure 1. ``same``: those of figure 3, whose peers take the place of figure
    1's.
    """
    plot, part = panels(1, [""]), summarise(shown_in_main(data, same))
    beside = None if same is None else same_in_main(same)
    curves(plot, part.assign(k=""), settings.delta)
    repeats = say_repeated(part)
    if beside is not None and len(beside):
        points = described(beside)
        add_curves(plot, points, True)
        repeats = promise_repeated(pd.concat([part, points]))
    plot.update_yaxes(
        title_text="2-way average variation distance",
        **log_ticks((0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5)),
    )
    plot.update_xaxes(title_text="privacy budget ε", **log_ticks(settings.epsilons))
    words = small_print(f"{THESIS}: how far is the synthetic table from the real one?", repeats)
    return drawing.legend_below(plot.update_layout(title_text=words), 540)

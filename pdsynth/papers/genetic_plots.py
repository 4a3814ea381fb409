"""Figure 1 and the pictures of the GA paper's tables. Error bars: 95 % interval of the mean."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, SERIES, SYMBOLS, figure
from . import genetic_tables as tables
from .drawing import bars_in_range, finish, log_ticks, panels, say_runs, small_print
from .genetic_tables import STAND_IN, on_stand_in, part
from .results import Key, select, summarise, values

COLOUR = {
    "DS": "#009E73",
    "GA": PALETTE["private"],
    "DataSynthesizer": PALETTE["real"],
    "plain GA": PALETTE["attack"],
}
SEARCHES = {
    "DS": "greedy",
    "GA": "genetic",
    "DataSynthesizer": "DataSynthesizer 0.1.13 (greedy)",
    "plain GA": "genetic, plain Python on DataSynthesizer",
}
SHARE = "share of the optimum"
NAMES = {"cmc": "CMC", "adult": "Adult, 13 columns", "credit": "credit cards"}


def name_table(key: Key, data: pd.DataFrame) -> str:
    """The table of an experiment, in words."""
    return STAND_IN if on_stand_in(data) else NAMES[part(key)["data"]]


def scores(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """One place per row of the table: ours with error bars, the paper's average as crosses."""
    frame = tables.beside(key, data, settings)
    assert frame is not None
    frame = frame[(frame["row"] != "zero rule") & frame["here"].notna()]
    plot = figure(y="per cent")
    for i, column in enumerate(tables.columns(key)):
        mine = frame[frame["column"] == column]
        if column == "Avg":
            add_average(plot, mine, mine["row"].map(_half(key, data, settings)))
            continue
        marker = {
            "symbol": SYMBOLS[1:][i % 6],
            "size": 6,
            "color": SERIES[(i + 2) % len(SERIES)],
            "opacity": 0.75,
        }
        plot.add_scatter(x=mine["row"], y=mine["here"], name=column, mode="markers", marker=marker)
    share = 100 * values(data, metric="zero rule" if "zero_rule" in part(key) else "majority")
    if len(share) and part(key)["shows"] != "F2":
        plot.add_scatter(
            x=[frame["row"].iloc[0], frame["row"].iloc[-1]],
            y=[share.mean()] * 2,
            name="zero rule: always the most frequent value",
            mode="lines",
            line={"color": PALETTE["real"], "dash": "dot", "width": 1.6},
        )
    what = part(key)["shows"]
    title = f"{what[0].upper()}{what[1:]}, per cent"
    return finish(plot, data, title, name_table(key, data), 520)


def add_average(plot: go.Figure, mine: pd.DataFrame, half: pd.Series) -> None:
    """The average of all columns, which stands out, and the paper's."""
    plot.add_scatter(
        x=mine["row"],
        y=mine["here"],
        name="average",
        mode="markers",
        error_y=bars_in_range(mine["here"], half, "per cent"),
        marker={"symbol": "circle", "size": 11, "color": PALETTE["private"], "opacity": 1},
    )
    if mine["paper"].notna().any():
        cross = {"symbol": "x-thin", "size": 11, "line": {"width": 2, "color": PALETTE["attack"]}}
        plot.add_scatter(
            x=mine["row"], y=mine["paper"], name="the paper's average", mode="markers", marker=cross
        )


def _half(key: Key, data: pd.DataFrame, settings: Any) -> dict[str, float]:
    """Half-width of the interval of each row's average, in per cent."""
    averages = select(summarise(data), metric=tables.metric(key, "Avg"))
    intervals = {row: select(averages, **at)["ci95"] for row, at in tables.rows(key, settings)}
    return {row: 100 * float(half.iloc[0]) for row, half in intervals.items() if len(half)}


def times(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Seconds of description and generation, and the share of the optimum, against k."""
    summary = summarise(data)
    titles = {
        "description, s": "description",
        "generation, s": "generation",
        SHARE: "share of optimum",
    }
    names = [name for name in titles if name in set(data["metric"])]
    plot = panels(len(names), [titles[name] for name in names], horizontal_spacing=0.1)
    for column, name in enumerate(names, 1):
        for method, points in select(summary, metric=name).groupby("method", sort=False):
            label, one = SEARCHES[str(method)], name == SHARE
            plot.add_scatter(
                x=points["k"].astype(int),
                y=points["mean"],
                name=label,
                legendgroup=label,
                showlegend=column == 1,
                mode="lines+markers",
                row=1,
                col=column,
                error_y=None if one else bars_in_range(points["mean"], points["ci95"], name),
                marker={"color": COLOUR[str(method)], "size": 8},
            )
        if name != SHARE:
            ticks = _time_ticks(select(summary, metric=name)["mean"])
            plot.update_yaxes(row=1, col=column, **ticks)
    if SHARE in names:
        shares = select(data, metric=SHARE)
        tick = {"symbol": "line-ew", "size": 14, "line": {"width": 1, "color": PALETTE["real"]}}
        plot.add_scatter(
            x=shares["k"].astype(int),
            y=shares["value"],
            name="each search",
            mode="markers",
            row=1,
            col=len(names),
            marker=tick,
        )
    plot.update_yaxes(title_text="processor seconds", row=1, col=1)
    plot.update_xaxes(title_text="k", dtick=1)
    described = select(data, metric="description, s")
    once = " (DataSynthesizer: once)" if "DataSynthesizer" in set(data["method"]) else ""
    return finish(plot, described, "Run time", name_table(key, data) + once, 440)


def _time_ticks(seconds: pd.Series) -> dict[str, Any]:
    """Powers of ten; twice and five times them, too, where those are few."""
    low, high = np.floor(np.log10([seconds.min(), seconds.max()])).astype(int)
    steps = (1, 2, 5) if seconds.max() < 100 * seconds.min() else (1,)
    return log_ticks(step * 10.0**at for at in range(low, high + 1) for step in steps)


def heatmaps(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Pearson's r of all pairs: original, ordinary, custom, custom and strict."""
    shown = {
        ("original", "none"): "a) original",
        ("GA", "none"): "b) ordinary network",
        ("DSc", "none"): "c) custom network",
        ("DSc", "strict"): f"custom and strict, ε = {settings.epsilon:g}",
    }
    there = set(zip(data["method"], data["guarantee"], strict=True))
    shown = {at: name for at, name in shown.items() if at in there}
    plot = panels(2, list(shown.values()), vertical_spacing=0.16, horizontal_spacing=0.16)
    names = list(dict.fromkeys(n for m in data["metric"].unique() for n in m.split(" × ")))
    for i, (method, guarantee) in enumerate(shown):
        runs = select(data, method=method, guarantee=guarantee)
        r = np.full((len(names), len(names)), np.nan)
        for metric, value in runs.groupby("metric", sort=False)["value"].mean().items():
            a, b = (names.index(n) for n in str(metric).split(" × "))
            r[a, b] = r[b, a] = value
        plot.add_heatmap(
            z=r,
            x=names,
            y=names,
            zmin=-0.6,
            zmax=0.6,
            colorscale="RdBu",
            reversescale=True,
            showscale=i == 0,
            colorbar={"title": {"text": "r"}, "thickness": 12},
            row=i // 2 + 1,
            col=i % 2 + 1,
        )
    plot.update_yaxes(autorange="reversed", showgrid=False, tickfont={"size": 9})
    plot.update_xaxes(tickangle=-50, showgrid=False, tickfont={"size": 9})
    words = f"13 columns; {say_runs(data, bars=False)}"
    title = "Pearson correlations on Adult: relationship is sensitive, salary the target"
    return plot.update_layout(
        title_text=small_print(title, words), height=860, margin={"t": 96}, title_pad_t=24
    )


DRAW: dict[Key, Any] = {
    1: heatmaps,
    **dict.fromkeys(("table 2", "table 3", "table 4"), times),
    **dict.fromkeys((f"table {n}" for n in (5, 6, 7, 9, 10, 11, 12)), scores),
}

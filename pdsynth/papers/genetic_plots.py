"""Figure 1 and the pictures of the GA paper's tables, from tidy trials. Error bars: 95 % confidence interval of the mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, SERIES, SYMBOLS, figure
from . import genetic_tables as tables
from .drawing import finished, panels, repeats, titled
from .engine import Key
from .genetic_settings import STAND_IN, TABLE, TIMED, ZERO_RULE, Settings
from .results import select, summarise, values

COLOUR = {"DS": "#009E73", "GA": PALETTE["private"], "DataSynthesizer": PALETTE["real"]}
NAMES: dict[Key, str] = {"cmc": "CMC", "adult": "Adult, 13 columns", "credit": "credit cards"}


def draw(key: Key, data: pd.DataFrame, settings: Settings) -> go.Figure:
    """The picture of the figure or of a table."""
    if key == 1:
        return heatmaps(data, settings)
    return times(key, data, settings) if key in TIMED else scores(key, data, settings)


def named(key: Key, data: pd.DataFrame) -> str:
    """The table of an experiment, in words."""
    return STAND_IN if (data["note"] == STAND_IN).any() else NAMES[TABLE[key]]


def scores(key: Key, data: pd.DataFrame, settings: Settings) -> go.Figure:
    """One place a row of the table: ours with error bars, the paper's as crosses; the average stands out."""
    found = tables.beside(key, data, settings)
    assert found is not None
    summary = summarise(data)
    what = "F2" if key == "table 7" else "accuracy of six attackers" if key in ZERO_RULE else "accuracy of five classifiers"
    plot = figure(y="per cent")
    for i, column in enumerate(tables.columns(key)):
        mine, mean = found[(found["column"] == column) & (found["row"] != "zero rule")], column == "Avg"
        shade = PALETTE["private"] if mean else SERIES[(i + 2) % len(SERIES)]
        plot.add_scatter(
            x=mine["row"], y=mine["here"], name="average" if mean else column, mode="markers",
            marker={"symbol": "circle" if mean else SYMBOLS[1:][i % 6], "size": 11 if mean else 6, "color": shade,
                    "opacity": 1 if mean else 0.75},
            error_y={"type": "data", "array": _half(summary, key, column, settings), "thickness": 1.4, "width": 4} if mean else None,
        )  # fmt: skip
        if mean and mine["paper"].notna().any():
            plot.add_scatter(x=mine["row"], y=mine["paper"], name="the paper's average", mode="markers",
                             marker={"symbol": "x-thin", "size": 11, "line": {"width": 2, "color": PALETTE["attack"]}})  # fmt: skip
    level = "zero rule" if key in ZERO_RULE else "majority"
    share = 100 * values(data, metric=level)
    if len(share) and key != "table 7":
        ends = [found["row"].iloc[0], found.loc[found["row"] != "zero rule", "row"].iloc[-1]]
        plot.add_scatter(x=ends, y=[share.mean()] * 2, name="zero rule: always the most frequent value", mode="lines",
                         line={"color": PALETTE["real"], "dash": "dot", "width": 1.6})  # fmt: skip
    return finished(plot, data, f"{what[0].upper()}{what[1:]}, per cent", named(key, data), 520)


def _half(summary: pd.DataFrame, key: Key, column: str, settings: Settings) -> list[float]:
    """Half-width of the interval of each row, in per cent."""
    out = []
    for _, at in tables.rows(key, settings):
        part = select(summary, metric=tables.metric(key, column), **at)
        out.append(100 * float(part["ci95"].iloc[0]) if len(part) else float("nan"))
    return out


def times(key: Key, data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Seconds of description and generation, and the share of the optimum, against k."""
    summary = summarise(data)
    plot = panels(3, ["description", "generation", "share of the optimum (GA)"], horizontal_spacing=0.1)
    for column, name in enumerate(("description, s", "generation, s", "share of the optimum"), 1):
        part = summary[summary["metric"] == name]
        for method, points in part.groupby("method", sort=False):
            label = {"DS": "greedy", "GA": "genetic", "DataSynthesizer": "DataSynthesizer 0.1.13 (greedy)"}[str(method)]
            style: dict[str, Any] = {"color": COLOUR[str(method)], "size": 8}
            plot.add_scatter(x=points["k"].astype(int), y=points["mean"], name=label, legendgroup=label, showlegend=column == 1,
                             mode="lines+markers", marker=style, row=1, col=column,
                             error_y=None if column == 3 else {"type": "data", "array": points["ci95"], "width": 4})  # fmt: skip
    shares = data[data["metric"] == "share of the optimum"]
    plot.add_scatter(x=shares["k"].astype(int), y=shares["value"], name="each search", mode="markers", row=1, col=3,
                     marker={"symbol": "line-ew", "size": 14, "line": {"width": 1, "color": PALETTE["real"]}})  # fmt: skip
    for column in (1, 2):
        plot.update_yaxes(type="log", row=1, col=column)
    plot.update_yaxes(title_text="processor seconds", row=1, col=1)
    plot.update_xaxes(title_text="k", dtick=1)
    return finished(plot, select(data, metric="description, s"), "Run time", named(key, data), 440)


def heatmaps(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Pearson's r of all pairs: original, ordinary, custom, custom and strict."""
    shown = [("original", "none", "a) original"), ("GA", "none", "b) ordinary network"), ("DSc", "none", "c) custom network"),
             ("DSc", "strict", f"custom and strict, ε = {settings.epsilon:g}")]  # fmt: skip
    plot = panels(2, [title for *_, title in shown], vertical_spacing=0.16, horizontal_spacing=0.16)
    pairs = [name.split(" × ") for name in data["metric"].unique()]
    names = list(dict.fromkeys(n for pair in pairs for n in pair))
    for i, (method, guarantee, _) in enumerate(shown):
        part = select(data, method=method, guarantee=guarantee)
        r = np.full((len(names), len(names)), np.nan)
        for metric, value in part.groupby("metric", sort=False)["value"].mean().items():
            a, b = (names.index(n) for n in str(metric).split(" × "))
            r[a, b] = r[b, a] = value
        plot.add_heatmap(z=r, x=names, y=names, zmin=-0.6, zmax=0.6, colorscale="RdBu", reversescale=True, showscale=i == 0,
                         colorbar={"title": {"text": "r"}, "thickness": 12}, row=i // 2 + 1, col=i % 2 + 1)  # fmt: skip
    plot.update_yaxes(autorange="reversed", showgrid=False, tickfont={"size": 9})
    plot.update_xaxes(tickangle=-50, showgrid=False, tickfont={"size": 9})
    text = "Pearson correlations on Adult: relationship is sensitive, salary the target"
    plot.update_layout(title_text=titled(repeats(data), text, "13 columns").split("; error bars")[0] + "</span>", height=860,
                       margin={"t": 96})  # fmt: skip
    return plot

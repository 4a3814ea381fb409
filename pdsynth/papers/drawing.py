"""Parts of every paper's figures: curves with error bars, levels, panels, titles with their small print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, figure
from .results import select

ERROR_NOTE = "error bars: 95 % confidence interval of the mean"
# One colour and one marker a method, the paper's own method in the private orange.
STYLE = {"PrivBayes": ("#009E73", "square"), "HPPrivBayes": (PALETTE["private"], "circle"), "HMPrivBayes": (PALETTE["private"], "circle"),
         "PrivABN": (PALETTE["private"], "circle"), "PrivSCBN": ("#CC79A7", "diamond"), "JTree": ("#56B4E9", "triangle-up"),
         "PriView": ("#CC79A7", "diamond"), "Independent": ("#767676", "x")}  # fmt: skip
DASH = {"published": "dash", "strict": "solid", "none": "longdash"}
# Published forms that satisfy no finite ε, or a larger one than they claim, for replacing a record.
NOT_PRIVATE = ("HPPrivBayes", "HMPrivBayes", "PrivABN", "PrivSCBN", "JTree")


def line(plot: go.Figure, part: pd.DataFrame, x: str, style: dict[str, Any], where: dict[str, Any] | None = None) -> None:
    """One curve with error bars."""
    plot.add_scatter(
        x=part[x], y=part["mean"], name=style["name"], legendgroup=style["name"], showlegend=style.get("legend", True),
        mode="lines+markers", line={"color": style["colour"], "dash": style.get("dash", "solid"), "width": 2},
        marker={"symbol": style.get("symbol", "circle"), "size": 8},
        error_y={"type": "data", "array": part["ci95"], "thickness": 1.4, "width": 4},
        **(where or {}),
    )  # fmt: skip


def level(
    plot: go.Figure, part: pd.DataFrame, span: tuple[float, float], style: dict[str, Any], where: dict[str, Any] | None = None
) -> None:
    """A value that doesn't depend on ε: a horizontal line."""
    mean = float(part["mean"].iloc[0]) if len(part) else float("nan")
    plot.add_scatter(x=list(span), y=[mean, mean], name=style["name"], legendgroup=style["name"], showlegend=style.get("legend", True),
                     mode="lines", line={"color": style["colour"], "dash": style["dash"], "width": 1.6}, **(where or {}))  # fmt: skip


def titled(repeats: int, text: str, table: str) -> str:
    """A title with its small print: table, repeats, what the error bars are."""
    return f"{text}<br><span style='font-size:11px'>{table}; {times(repeats)}; {ERROR_NOTE}</span>"


def times(repeats: int) -> str:
    """How many repeats, in words."""
    return f"{repeats} repeat{'' if repeats == 1 else 's'}"


def legend_below(plot: go.Figure, height: int) -> go.Figure:
    """Room for a long legend under the axes, so that it covers nothing."""
    legend = {"orientation": "h", "y": -72 / (height - 184), "yanchor": "top", "x": 0}  # 72 pixels: tick labels and the axis title
    plot.update_layout(height=height, legend=legend, margin={"t": 84, "b": 40}, title_pad_t=24)
    return plot


def finished(plot: go.Figure, data: pd.DataFrame, text: str, table: str, height: int) -> go.Figure:
    """The plot with its title and its legend, ``height`` pixels high."""
    return legend_below(plot.update_layout(title_text=titled(repeats(data), text, table)), height)


def repeats(data: pd.DataFrame) -> int:
    """How many repeats the trials hold."""
    return int(data["repeat"].nunique())


def panels(columns: int, titles: list[str], **shared: Any) -> go.Figure:
    """Subplots in the house style, as many rows as the titles need."""
    from plotly.subplots import make_subplots

    shared = {"horizontal_spacing": 0.08} | shared
    plot = make_subplots(-(-len(titles) // columns), columns, subplot_titles=titles, **shared)
    house = figure().layout
    plot.update_layout(template=house.template, font=house.font, paper_bgcolor=house.paper_bgcolor, plot_bgcolor=house.plot_bgcolor,
                       title=house.title)  # fmt: skip
    return plot


def label(method: str, guarantee: str, k: str = "") -> str:
    """A curve's name in a legend; says when it isn't private."""
    if guarantee == "none":
        return method if method in ("real data", "majority class") else f"{method}, no privacy"
    word = "as published" + (", not private" if method in NOT_PRIVATE else "") if guarantee == "published" else "strict"
    return f"{method}{f' k={k}' if k else ''}, {word}"


def panel(plot: go.Figure, summary: pd.DataFrame, where: dict[str, Any], at: Mapping[str, str], x: str = "epsilon") -> None:
    """Every curve of one panel against ``x``: the points where the columns named in ``at`` have these values."""
    part = select(summary, **at)
    part = part.assign(**{x: part[x].astype(float)})
    known = {trace.name for trace in plot.data}
    finite = part.loc[np.isfinite(part[x]), x]
    span = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    curve = ["method", "guarantee"]
    if x != "k" and (part.groupby(curve)["k"].nunique() > 1).any():
        curve.append("k")
    for keys, points in part.groupby(curve, sort=False):
        method, guarantee = keys[:2]
        flat = {"real data": "solid", "majority class": "dot"}.get(method)
        colour, symbol = STYLE.get(method, (PALETTE["real"], "x"))
        name = label(*keys)
        style = {"name": name, "colour": colour if guarantee != "none" else PALETTE["real" if flat else "none"],
                 "symbol": symbol + ("-open" if guarantee == "published" else ""), "dash": flat or DASH[guarantee],
                 "legend": name not in known}  # fmt: skip
        if np.isfinite(points[x]).all():
            line(plot, points.sort_values(x), x, style, where)
        else:
            level(plot, points, span, style, where)


def ticks(plot: go.Figure, values: Sequence[float], title: str, logarithmic: bool = True) -> None:
    """One ε axis for all panels, its ticks at the values that were run."""
    kind = "log" if logarithmic else "linear"
    plot.update_xaxes(type=kind, tickvals=list(values), ticktext=[f"{v:g}" for v in values], title_text=title)

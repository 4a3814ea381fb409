"""Parts of every paper's figures: curves with error bars, levels, panels, titles with their small print."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from ..plots import figure

ERROR_NOTE = "error bars: 95 % confidence interval of the mean"


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
    return f"{text}<br><span style='font-size:11px'>{table}; {repeats} repeats; {ERROR_NOTE}</span>"


def legend_below(plot: go.Figure, height: int) -> go.Figure:
    """Room for a long legend under the axes, so that it covers nothing."""
    legend = {"orientation": "h", "y": -72 / (height - 184), "yanchor": "top", "x": 0}  # 72 pixels: tick labels and the axis title
    plot.update_layout(height=height, legend=legend, margin={"t": 84, "b": 40}, title_pad_t=24)
    return plot


def repeats(data: pd.DataFrame) -> int:
    """How many repeats the trials hold."""
    return int(data["repeat"].nunique())


def panels(columns: int, titles: list[str], **shared: bool) -> go.Figure:
    """Subplots side by side in the house style."""
    from plotly.subplots import make_subplots

    plot = make_subplots(1, columns, subplot_titles=titles, horizontal_spacing=0.08, **shared)
    house = figure().layout
    plot.update_layout(template=house.template, font=house.font, paper_bgcolor=house.paper_bgcolor, plot_bgcolor=house.plot_bgcolor,
                       title=house.title)  # fmt: skip
    return plot

"""Plotly figures as pure functions: data in, figure out. One palette and one look everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .ledger import Ledger
from .network import Network

PALETTE = {"real": "#767676", "none": "#0072B2", "private": "#E69F00", "attack": "#D55E00"}
# What a live panel shows in place of a colour that is hard to see on a dark page.
DARK = {"#0072B2": "#56B4E9", "#767676": "#A0A0A0"}
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#767676")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
FONT = "system-ui, Segoe UI, Helvetica, Arial, Noto Sans CJK SC, Microsoft YaHei, PingFang SC, sans-serif"


def figure(*, title: str = "", height: int = 420, x: str = "", y: str = "", **layout: Any) -> go.Figure:
    """An empty figure in the house style: transparent, readable on light and dark pages, mid-grey grid."""
    grid = {
        "gridcolor": "rgba(128,128,128,.25)",
        "zerolinecolor": "rgba(128,128,128,.5)",
        "linecolor": "rgba(128,128,128,.6)",
        "automargin": True,
    }
    base = {
        "template": {"layout": {"xaxis": grid, "yaxis": grid}},  # an empty template: the default one costs 10 ms and 8 kB a figure
        "title": {"text": title, "x": 0, "xref": "paper", "xanchor": "left", "font": {"size": 15}, "y": 1, "yref": "container",
                  "yanchor": "top", "pad": {"t": 12}},
        "height": height,
        "font": {"family": FONT, "size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 64, "r": 16, "t": 56, "b": 56},
        "colorway": list(SERIES),
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        "hoverlabel": {"font": {"family": FONT}},
        "xaxis": {"title": {"text": x}},
        "yaxis": {"title": {"text": y}},
    }
    return go.Figure(layout=base | layout)


def bars(values: Mapping[str, float] | pd.Series, *, title: str = "", y: str = "", colours: Sequence[str] | str = PALETTE["private"],
         y_range: tuple[float, float] | None = None, height: int = 420) -> go.Figure:  # fmt: skip
    """One bar a name."""
    names = [str(n) for n in (values.index if isinstance(values, pd.Series) else values)]
    numbers = [float(v) for v in (values.to_numpy() if isinstance(values, pd.Series) else values.values())]
    plot = figure(title=title, y=y, height=height)
    plot.add_bar(x=names, y=numbers, marker_color=colours)
    if y_range is not None:
        plot.update_yaxes(range=list(y_range))
    return plot


def heatmap(
    matrix: np.ndarray, names: Sequence[str], *, unit: str = "bit", title: str = "", top: float | None = None, height: int = 520
) -> go.Figure:
    """A symmetric matrix over attributes, e.g. mutual information in bits; the diagonal stays empty."""
    z = np.array(matrix, dtype=float)
    np.fill_diagonal(z, np.nan)
    plot = figure(title=title, height=height)
    plot.add_heatmap(z=z, x=list(names), y=list(names), zmin=0, zmax=top, colorscale="Cividis",
                     colorbar={"title": {"text": unit}, "thickness": 14},
                     hovertemplate="%{x} × %{y}: %{z:.4f} " + unit + "<extra></extra>")  # fmt: skip
    plot.update_yaxes(autorange="reversed", showgrid=False)
    plot.update_xaxes(tickangle=-50, showgrid=False)
    return plot


def network_layout(network: Network) -> dict[str, tuple[float, float]]:
    """Places of the attributes: layers by depth, each layer spread over the width, children near their parents."""
    layers: dict[int, list[str]] = {}
    for name, level in network.levels().items():
        layers.setdefault(level, []).append(name)
    place: dict[str, tuple[float, float]] = {}
    for level, names in sorted(layers.items()):

        def pull(name: str) -> float:
            above = [place[p][0] for p in network.parents(name)]
            return sum(above) / len(above) if above else 0.5

        for i, name in enumerate(sorted(names, key=pull)):
            shift = 0.25 / len(names) if level % 2 else 0.0  # odd layers are shifted so that long edges miss the labels
            place[name] = ((i + 0.5) / len(names) + shift, -float(level))
    return place


def network_figure(network: Network, *, strengths: Mapping[tuple[str, str], float] | None = None, groups: Mapping[str, str] | None = None,
                   title: str = "", height: int = 460) -> go.Figure:  # fmt: skip
    """A network in layers with arrows; ``strengths`` (parent, child) → 0…1 sets the width, ``groups`` name → "A"/"B" the colour."""
    place = network_layout(network)
    plot = figure(title=title, height=height)
    for parent, child in network.edges:
        (x0, y0), (x1, y1) = place[parent], place[child]
        width = 1.2 if strengths is None else 0.6 + 4 * float(strengths.get((parent, child), 0))
        plot.add_annotation(x=x1, y=y1, ax=x0, ay=y0, xref="x", yref="y", axref="x", ayref="y", text="", showarrow=True,
                            arrowhead=2, arrowsize=1,
                            arrowwidth=width, arrowcolor="rgba(128,128,128,.75)", standoff=14, startstandoff=10)  # fmt: skip
    colours = [PALETTE["none"] if groups is None or groups.get(n) == "B" else PALETTE["private"] for n in place]
    symbols = ["square" if groups is not None and groups.get(n) == "B" else "circle" for n in place]
    plot.add_scatter(x=[p[0] for p in place.values()], y=[p[1] for p in place.values()], mode="markers+text",
                     text=list(place), cliponaxis=False,
                     textposition="top center", marker={"size": 15, "color": colours, "symbol": symbols},
                     hoverinfo="text", showlegend=False)  # fmt: skip
    deepest = min((p[1] for p in place.values()), default=0.0)
    plot.update_xaxes(visible=False, range=[-0.05, 1.1])
    plot.update_yaxes(visible=False, range=[deepest - 0.4, 0.6])
    return plot


def ledger_figure(ledger: Ledger, *, title: str = "", height: int = 420) -> go.Figure:
    """Claimed beside true ε, one pair of bars a step; unaccounted accesses are red bars to the top."""
    steps: dict[str, list[float]] = {}
    for e in ledger.entries:
        if e.kind not in ("mechanism", "unaccounted_access"):
            continue
        kind = "structure" if e.mechanism in ("exponential", "permute_and_flip") else "tables" if e.step.startswith("table(") else e.step
        row = steps.setdefault(kind, [0.0, 0.0])
        row[0] += float(e.claimed)
        row[1] = math.inf if e.kind == "unaccounted_access" else row[1] + float(e.cost)
    top = 1.25 * max([float(ledger.claimed), *(v for row in steps.values() for v in row if v != math.inf)])
    plot = figure(title=title or ledger.verdict(), height=height, y="ε", barmode="group")
    plot.add_bar(x=list(steps), y=[row[0] for row in steps.values()], name="claimed", marker_color=PALETTE["real"])
    plot.add_bar(x=list(steps), y=[top if row[1] == math.inf else row[1] for row in steps.values()], name="true", showlegend=True,
                 marker_color=[PALETTE["attack"] if true > claimed + 1e-12 else PALETTE["private"] for claimed, true in steps.values()],
                 text=["∞" if row[1] == math.inf else f"{row[1]:.3g}" for row in steps.values()], textposition="inside")  # fmt: skip
    plot.update_yaxes(range=[0, top])
    return plot


def curve(frame: pd.DataFrame, *, x: str, y: str, by: str, error: str | None = None, title: str = "", x_title: str = "", y_title: str = "",
          height: int = 420) -> go.Figure:  # fmt: skip
    """One line a value of ``by``, each with its own colour, dash and marker; ``error`` names a column of half-widths."""
    plot = figure(title=title, x=x_title or x, y=y_title or y, height=height)
    for i, (name, part) in enumerate(frame.groupby(by, sort=False)):
        colour, symbol, dash = SERIES[i % len(SERIES)], SYMBOLS[i % len(SYMBOLS)], DASHES[i % len(DASHES)]
        bands = None if error is None else {"type": "data", "array": part[error], "thickness": 1.2, "width": 4}
        plot.add_scatter(x=part[x], y=part[y], error_y=bands, name=str(name), mode="lines+markers",
                         line={"color": colour, "dash": dash}, marker={"symbol": symbol, "size": 8})  # fmt: skip
    return plot

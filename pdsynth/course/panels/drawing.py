"""Parts of the panels' figures: axes with one place a name, arcs of a network, marks, lines and heat maps of pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...network import Network
from ...plots import BOXES, PALETTE

Line = tuple[list[float | None], list[float | None]]
DASHED = {"color": PALETTE["attack"], "dash": "dash", "width": 1.5}


def ticks(labels: Sequence[str], angle: float | None = None, first: int = 0) -> dict[str, Any]:
    """Settings of an axis without a grid that has labels at ``first``, ``first`` + 1, …"""
    at = list(range(first, first + len(labels)))
    return {"tickmode": "array", "tickvals": at, "ticktext": list(labels), "tickangle": angle, "showgrid": False, "zeroline": False}


def places(labels: Sequence[str], angle: float = -50) -> dict[str, Any]:
    """Settings of an axis with one place a name, with room at both ends."""
    return {"range": [-0.6, len(labels) - 0.4], **ticks(labels, angle)}


def arches(width: int, title: str) -> dict[str, Any]:
    """Settings of the axis along which a network's arcs rise, over ``width`` places."""
    return {"range": [-0.6, width / 2], "showticklabels": False, "showgrid": False, "zeroline": False, "title": title}


def powers(low: float, high: float, title: str, step: int = 1) -> dict[str, Any]:
    """Settings of a logarithmic axis from 10^low to 10^high."""
    return {"type": "log", "range": [low, high], "dtick": step, "exponentformat": "power", "title": title}


def half_circles(pairs: Iterable[tuple[int, int]]) -> Line:
    """Arcs between places on an axis, upwards: x and y of one line trace."""
    angle = np.linspace(0, np.pi, 21)
    x: list[float | None] = []
    y: list[float | None] = []
    for a, b in pairs:
        x += [*((a + b) / 2 - np.cos(angle) * (b - a) / 2).tolist(), None]
        y += [*(np.sin(angle) * abs(b - a) / 2).tolist(), None]
    return x, y


def arcs(network: Network) -> Line:
    """Half circles from every parent to its child over the sampling order."""
    place = {name: i for i, name in enumerate(network.order)}
    return half_circles((place[parent], place[child]) for parent, child in network.edges)


def split(network: Network, edges: Collection[frozenset[str]]) -> list[Network]:
    """The network with only those edges that are among ``edges``, whatever their direction, and with only the others."""
    return [Network(tuple((c, tuple(p for p in parents if (frozenset((p, c)) in edges) == kept)) for c, parents in network.pairs))
            for kept in (True, False)]  # fmt: skip


def add_arcs(plot: go.Figure, curve: Line, **more: Any) -> None:
    """A network's arcs, thin and grey unless ``more`` says otherwise."""
    grey = {"line": {"color": PALETTE["real"], "width": 1}, "showlegend": False}
    plot.add_scatter(x=curve[0], y=curve[1], mode="lines", hoverinfo="skip", **(grey | more))


def add_dots(plot: go.Figure, at: Sequence[int], words: Sequence[str], marker: dict[str, Any], **more: Any) -> None:
    """Marks on the zero line, each with its words on hover."""
    plot.add_scatter(x=list(at), y=[0] * len(at), mode="markers", text=list(words), marker=marker,
                     hovertemplate="%{text}<extra></extra>", **more)  # fmt: skip


def add_noise(plot: go.Figure, at: Sequence[int], heights: Sequence[float], words: Sequence[str], colour: str) -> None:
    """Bars of noise against mean cells on the axis below, each with its words on hover."""
    plot.add_bar(x=list(at), y=list(heights), yaxis="y2", marker_color=colour, showlegend=False, customdata=list(words),
                 hovertemplate="%{customdata}: %{y:.3g}<extra></extra>")  # fmt: skip


def add_line(plot: go.Figure, x: Sequence[float], y: Sequence[float], line: dict[str, Any] = DASHED, **more: Any) -> None:
    """A straight line to compare with, dashed and red unless ``line`` says otherwise."""
    plot.add_scatter(x=list(x), y=list(y), mode="lines", line=line, **{"hoverinfo": "skip", "showlegend": False} | more)


def add_pairs(plot: go.Figure, matrix: np.ndarray, names: Sequence[str], digits: int = 4, **more: Any) -> None:
    """A heat map of a matrix over names at the places 0, 1, 2, …, with both names on hover."""
    at = list(range(len(names)))
    plot.add_heatmap(z=matrix, x=at, y=at, customdata=[[f"{a} × {b}" for a in names] for b in names],
                     hovertemplate=f"%{{customdata}}: %{{z:.{digits}f}}<extra></extra>", **more)  # fmt: skip


def add_distances(plot: go.Figure, matrix: np.ndarray, names: Sequence[str], top: float, **bar: Any) -> None:
    """Two-way distances of all pairs of attributes on the axes beside a network."""
    plot.add_heatmap(z=matrix, x=list(names), y=list(names), xaxis="x2", yaxis="y3", zmin=0, zmax=top, colorscale="Cividis",
                     colorbar={"title": "2-way<br>distance", "thickness": 12, **bar},
                     hovertemplate="%{x} × %{y}: %{z:.3f}<extra></extra>")  # fmt: skip


def add_boxes(plot: go.Figure, sizes: Iterable[int], width: int, x: str, y: str) -> None:
    """Frames along the diagonal of a heat map on axes ``x`` and ``y``, one a block of ``sizes``, each in its colour."""
    start = -0.5
    for size, (colour, *_) in zip(sizes, cycle(BOXES)):
        plot.add_shape(type="rect", xref=x, yref=y, x0=start, x1=start + size, y0=start, y1=start + size,
                       line={"color": colour, "width": width})  # fmt: skip
        start += size

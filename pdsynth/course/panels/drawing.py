"""Boards: figures with several cells, and what panels draw alike: networks, noise and distances.

What is drawn in cell 2 of a board stands on the axes x2 and y2; cell (1, 2) is x1 and y2.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ...core import Network
from ...plots import BOXES, PALETTE, figure

Axis = Mapping[str, Any]
Cell = int | tuple[int, int]
Points = Any  # whatever Plotly takes as x or y
Curve = tuple[list[float | None], list[float | None]]
# In every panel grey is real, blue protected, orange the thing to look at, red broken; green is a
# run without noise, to compare with.
INKS = {
    "real": PALETTE["real"],
    "private": "#0072B2",
    "look": "#E69F00",
    "attack": "#B34700",
    "none": "#00795A",
}
# Columns of the teaching tables in plain words.
PLAIN = {
    "fnlwgt": "census weight",
    "education-num": "schooling",
    "capital-gain": "capital gain",
    "capital-loss": "capital loss",
    "hours-per-week": "hours a week",
    "native-country": "country",
    "marital-status": "marriage",
}
OVERLAY = {"fillmode": "overlay", "size": 6}  # of the patterns that tell bars apart without colour


@cache
def layouts() -> dict[str, Any]:
    """Layouts of all panels, in Plotly's words."""
    return tomllib.loads(Path(__file__).with_name("boards.toml").read_text(encoding="utf-8"))


def house() -> dict[str, Any]:
    """The layout of an empty figure in the house style."""
    return deepcopy(_house())


@cache
def _house() -> dict[str, Any]:
    return figure().to_dict()["layout"]


def merge(layout: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Put ``more`` into a layout, tables into tables as ``update_layout`` does; returns it."""
    for key, value in more.items():
        old = layout.get(key)
        if isinstance(old, dict) and isinstance(value, Mapping):
            merge(old, value)
        elif isinstance(old, dict) and key == "title":
            old["text"] = value
        else:
            layout[key] = value
    return layout


SHADES = [[0, "#f3f3f3"], [1, "#4d4d4d"]]  # of a map on which frames or one pair stand out


class Board:
    """A figure in the house style, with traces and axes by cell.

    ``name`` says which layout of ``boards.toml`` it has. Colours are names of the palette or
    colours. A trace without a name stays out of the legend; ``hover=False`` says nothing, a text
    is Plotly's template.
    """

    def __init__(self, name: str, title: str) -> None:
        layout = deepcopy(layouts()[name])
        self.charts: dict[str, dict[str, Any]] = layout.pop("charts", {})
        for key, axis in layout.items():
            if key[1:5] == "axis":
                if "overlaying" not in axis:
                    axis.setdefault("anchor", f"{'y' if key[0] == 'x' else 'x'}{key[5:]}")
                if "powers" in axis:
                    axis |= {"type": "log", "range": axis.pop("powers"), "exponentformat": "power"}
                    axis.setdefault("dtick", 1)
                if key[0] == "x":  # apart from the lowest label of y
                    axis.setdefault("ticklabelstandoff", 5)
        self.traces: list[dict[str, Any]] = []
        self.layout = merge(house(), layout)
        self.layout |= {"annotations": [], "shapes": [], "meta": {"charts": self.charts}}
        self.layout["title"]["text"] = title
        for key, chart in self.charts.items():
            self.entitle(key, chart.get("title", ""))

    def entitle(self, chart: str, text: str) -> None:
        """The title of a chart, named by its axes: ``"xy"``, ``"x2y3"``.

        The live panel sets it above the chart as a text that wraps; the still has a note instead.
        """
        self.charts[chart]["title"] = text
        x, y = (
            self.layout.get(f"{axis[0]}axis{axis[1:]}", {}).get("domain", (0, 1))
            for axis in re.findall(r"[xy]\d*", chart)
        )
        notes, name = self.layout["annotations"], f"title {chart}"
        notes[:] = [note for note in notes if note.get("name") != name]
        notes.append(
            {
                "text": f"<b>{text}</b>",
                "x": x[0],
                "y": y[1],
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "name": name,
                "yshift": 2,
            }
        )

    @property
    def figure(self) -> go.Figure:
        """What is drawn so far; Plotly checks it once, which takes longer than drawing it."""
        axes = [axis for name, axis in self.layout.items() if name[1:5] == "axis"]
        for item, keys in ((self.traces, "xy"), (axes, ("ticktext", "categoryarray"))):
            for one in item:
                one |= {k: [friendly(v) for v in one[k]] for k in keys if _named(one.get(k))}
        return go.Figure(self.traces, self.layout)

    def add(
        self,
        kind: str,
        cell: Cell,
        name: str | None = None,
        hover: str | bool | None = None,
        **trace: Any,
    ) -> None:
        """Any trace of Plotly in a cell."""
        x, y = _both(cell)
        trace |= {"name": name} if name else {} if kind == "heatmap" else {"showlegend": False}
        if hover is not None:
            says = {"hovertemplate": f"{hover}<extra></extra>"}
            trace |= says if hover else {"hoverinfo": "skip"}
        self.traces.append({"type": kind, "xaxis": f"x{x}", "yaxis": f"y{y}", **trace})

    def line(
        self,
        x: Points,
        y: Points,
        colour: Any,
        cell: Cell = 1,
        *,
        dash: str | None = None,
        width: float | None = None,
        mode: str | None = "lines",
        **more: Any,
    ) -> None:
        """A curve."""
        style = {"color": ink(colour), "dash": dash, "width": width}
        self.add("scatter", cell, x=x, y=y, mode=mode, line=style, **more)

    def limit(
        self, x: Points, y: Points, cell: Cell = 1, colour: str = "attack", **more: Any
    ) -> None:
        """A dashed line to compare with."""
        more = {"dash": "dash", "width": 1.5, "hover": False, **more}
        self.line(x, y, colour, cell, **more)

    def dots(
        self,
        x: Points,
        y: Points,
        colour: Any,
        cell: Cell = 1,
        *,
        symbol: Any = None,
        size: float | list[float] = 12,
        mode: str = "markers",
        **more: Any,
    ) -> None:
        """Marks."""
        style = {"color": ink(colour), "symbol": symbol, "size": size} | more.pop("marker", {})
        self.add("scatter", cell, x=x, y=y, mode=mode, marker=style, **more)

    def bars(
        self,
        x: Points,
        y: Points,
        colour: Any,
        cell: Cell = 1,
        *,
        across: bool = False,
        labels: Sequence[str] = (),
        pattern: Any = None,
        **more: Any,
    ) -> None:
        """Bars, with labels outside; with ``across`` they lie, and x is their length."""
        pattern = {"shape": pattern} if isinstance(pattern, str) else pattern
        style = {"color": ink(colour), "pattern": pattern} | more.pop("marker", {})
        if labels:
            more = {"text": labels, "textposition": "outside", "cliponaxis": False} | more
        self.add("bar", cell, x=x, y=y, orientation="h" if across else "v", marker=style, **more)

    def heat(self, z: np.ndarray, cell: Cell = 1, **more: Any) -> None:
        """A heat map."""
        self.add("heatmap", cell, z=z, **{"colorscale": "Cividis"} | more)

    def pairs(
        self, matrix: np.ndarray, names: Sequence[str], cell: Cell = 1, digits: int = 4, **more: Any
    ) -> None:
        """A heat map over names at the places 0, 1, 2, …, with both names on hover."""
        at, both = list(range(len(names))), [[f"{a} × {b}" for a in names] for b in names]
        self.heat(
            matrix,
            cell,
            x=at,
            y=at,
            customdata=both,
            hover=f"%{{customdata}}: %{{z:.{digits}f}}",
            **more,
        )

    def distances(self, matrix: np.ndarray, names: Sequence[str], top: float, bar: Axis) -> None:
        """Two-way distances of all pairs of attributes beside a network, in cell 3.

        From ``top`` on they have the same colour, and the bar says so.
        """
        at = [top * part / 5 for part in range(6)]
        shown = [f"{100 * value:.3g}%" for value in at]
        self.heat(
            matrix,
            3,
            x=list(names),
            y=list(names),
            zmin=0,
            zmax=top,
            colorbar={"title": "off by", "thickness": 12, "tickvals": at}
            | {"ticktext": [*shown[:-1], f"≥ {shown[-1]}"]}
            | dict(bar),
            hover="%{x} × %{y}: %{z:.1%}",
        )

    def mark(
        self,
        x: Sequence[float],
        y: Sequence[float],
        colour: str,
        cell: Cell = 1,
        width: float = 1.5,
        dash: str | None = "dash",
        **more: Any,
    ) -> None:
        """A straight line between two points, or a frame around them."""
        style, (a, b) = {"color": ink(colour), "width": width, "dash": dash}, _both(cell)
        kind = "line" if x[0] == x[1] or y[0] == y[1] else "rect"
        self.layout["shapes"].append(
            {
                "type": kind,
                "x0": x[0],
                "x1": x[1],
                "y0": y[0],
                "y1": y[1],
                "line": style,
                "xref": f"x{a}",
                "yref": f"y{b}",
            }
            | more
        )

    def boxes(self, sizes: Iterable[int], width: int, cell: Cell) -> None:
        """Frames along the diagonal of a heat map, one per block of ``sizes`` in its colour."""
        start = -0.5
        for size, (colour, *_) in zip(sizes, cycle(BOXES)):
            ends = (start, start + size)
            self.mark(ends, ends, colour, cell, width, None)
            start += size

    def note(
        self,
        text: str,
        x: Any,
        y: Any,
        cell: Cell,
        colour: str | None = None,
        size: int | None = None,
        **more: Any,
    ) -> None:
        """A text without an arrow; orange is too light for one, so it keeps the page's ink."""
        a, b = _both(cell)
        own = {} if colour == "look" else {"color": ink(colour)}
        font = own | {"size": size} if colour else None
        self.layout["annotations"].append(
            {
                "text": text,
                "x": x,
                "y": y,
                "showarrow": False,
                "font": font,
                "xref": f"x{a}",
                "yref": f"y{b}",
            }
            | more
        )

    def equal_noise(self, labels: Sequence[str], drowned: int) -> None:
        """The line in cell (2, 1) beyond which a table has more noise than records."""
        self.limit([1, 1], [-0.6, len(labels) - 0.4], (2, 1))
        self.note(
            f"<b>{drowned}</b> drowned →",
            0,
            -1.1,
            (2, 1),
            "attack",
            13,
            xanchor="center",
        )

    def set(self, **axes: Axis) -> None:
        """Settings that depend on the table: ``set(x2={"range": [0, top]})``."""
        merge(
            self.layout,
            {f"{key[0]}axis{key[1:].lstrip('1')}": dict(more) for key, more in axes.items()},
        )

    def halves(
        self,
        network: Network,
        edges: Iterable[tuple[str, str]],
        styles: Mapping[str, Axis],
        cell: int = 1,
    ) -> None:
        """Arcs of a network: those that are among ``edges``, whatever their direction, and others.

        ``styles``: how both kinds look, by their names in the legend.
        """
        pairs = {frozenset(edge) for edge in edges}
        for member, (name, style) in zip((True, False), styles.items(), strict=True):
            mine = [edge for edge in network.edges if (frozenset(edge) in pairs) == member]
            x, y = arcs(network, mine)
            self.line(y, x, cell=cell, name=name, hover=False, **style)

    def nodes(self, words: Sequence[str], size: float, cell: int = 1) -> None:
        """A network's attributes on the zero line, each with its words on hover."""
        self.dots(
            [0] * len(words),
            list(range(len(words))),
            "private",
            cell,
            size=size,
            text=words,
            hover="%{text}",
        )

    def network(
        self, curve: Curve, labels: Sequence[str], marks: Iterable[Mark], widest: int | None = None
    ) -> None:
        """Arcs beside the noise of their tables, on x1 and x2; names stand along y1.

        ``widest``: places an arc spans. A table with more noise than records is red, one without
        noise has no mark, and one beyond the axis stands at its end; a hover says how far.
        """
        along, heights = curve
        self.line(heights, along, "real", width=1, hover=False)
        (least, most), drowned = (10.0**power for power in self.layout["xaxis2"]["range"]), 0
        for mark in marks:
            words, at = list(mark.words), list(mark.at)
            if mark.size:
                self.dots(
                    [0] * len(at),
                    at,
                    mark.colour,
                    symbol=mark.symbol,
                    size=mark.size,
                    name=mark.name,
                    text=words,
                    hover="%{text}",
                )
            if mark.noise is not None:
                drowned += sum(v > 1 for v in mark.noise)
                self.dots(
                    [min(max(v, least), most) if v > 0 else None for v in mark.noise],
                    at,
                    ["attack" if v > 1 else mark.colour for v in mark.noise],
                    (2, 1),
                    symbol=mark.symbol,
                    size=[14 if v > 1 else 10 for v in mark.noise],
                    name=mark.name,
                    cliponaxis=False,
                    customdata=[f"{w}: {v:.3g}" for w, v in zip(words, mark.noise, strict=True)],
                    hover="%{customdata}",
                )
        self.equal_noise(labels, drowned)
        self.set(x=arches(widest or len(labels)), y=lying(labels))


def _both(cell: Cell) -> tuple[int | str, int | str]:
    """Numbers of a cell's axes in Plotly's names: x is the first, then x2."""
    x, y = cell if isinstance(cell, tuple) else (cell, cell)
    return x if x > 1 else "", y if y > 1 else ""


class Mark(NamedTuple):
    """Attributes of a network that look alike: their places, hover texts, and noise ÷ mean cell.

    Of ``size`` 0 they stand beside the network alone.
    """

    at: Sequence[int]
    words: Sequence[str]
    colour: str
    symbol: str = "circle"
    name: str | None = None
    noise: Sequence[float] | None = None
    size: float = 12


def ink(colour: Any) -> Any:
    """A colour by its name in the palette, or a list of them."""
    if isinstance(colour, list):
        return [ink(one) for one in colour]
    return INKS.get(colour, colour)


def ticks(labels: Sequence[str], first: int = 0) -> dict[str, Any]:
    """Settings of an axis without a grid that has labels at ``first``, ``first`` + 1, …"""
    return {
        "tickmode": "array",
        "tickvals": list(range(first, first + len(labels))),
        "ticktext": list(labels),
        "showgrid": False,
        "zeroline": False,
    }


def places(labels: Sequence[str]) -> dict[str, Any]:
    """Settings of an axis with one place per name, and some space at both ends."""
    return {"range": [-0.6, len(labels) - 0.4], **ticks(labels)}


def lying(labels: Sequence[str]) -> dict[str, Any]:
    """The same down an axis, the first name on top below a line for a note."""
    return {**places(labels), "range": [len(labels) - 0.4, -1.7]}


def friendly(text: Any) -> Any:
    """A column's name in plain words; anything else as it is."""
    return PLAIN.get(text, text) if isinstance(text, str) else text


def _named(values: Any) -> bool:
    return isinstance(values, list | tuple) and any(value in PLAIN for value in values
                                                    if isinstance(value, str))  # fmt: skip


def arches(width: int) -> dict[str, Any]:
    """Settings of the axis along which a network's arcs reach, over ``width`` places."""
    return {
        "range": [-0.6, width / 2],
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
    }


def half_circles(pairs: Iterable[tuple[int, int]]) -> Curve:
    """Arcs between places on an axis, upwards: x and y of one line trace."""
    angle = np.linspace(0, np.pi, 21)
    x: list[float | None] = []
    y: list[float | None] = []
    for a, b in pairs:
        x += [*((a + b) / 2 - np.cos(angle) * (b - a) / 2).tolist(), None]
        y += [*(np.sin(angle) * abs(b - a) / 2).tolist(), None]
    return x, y


def arcs(network: Network, edges: Iterable[tuple[str, str]] | None = None) -> Curve:
    """Half circles from every parent to its child over the sampling order."""
    place = {name: i for i, name in enumerate(network.order)}
    chosen = network.edges if edges is None else edges
    return half_circles((place[parent], place[child]) for parent, child in chosen)

"""Plotly figures as pure functions: data in, figure out. One palette and one look everywhere."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .core import Ledger, Network, needed_for
from .files.showing import shorten
from .files.story import decimal

with needed_for("pdsynth.plots", "show the network or the ledger itself"):
    import plotly.graph_objects as go

__all__ = [
    "DARK",
    "PALETTE",
    "SERIES",
    "SYMBOLS",
    "bars",
    "curve",
    "figure",
    "heatmap",
    "ledger_figure",
    "network_figure",
    "network_layout",
    "svg",
]

PALETTE = {"real": "#767676", "none": "#0072B2", "private": "#E69F00", "attack": "#D55E00"}
# What a live panel shows in place of a colour that is hard to see on a dark page.
DARK = {"#0072B2": "#56B4E9", "#767676": "#A0A0A0"}
SERIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#767676")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
FONT = (
    "system-ui, Segoe UI, Helvetica, Arial, Noto Sans CJK SC, Microsoft YaHei, PingFang SC, "
    "sans-serif"
)
# Fill, text colour, sign and marker of a group's boxes; rgb() stays as it is on a dark page.
BOXES = (
    ("rgb(230,159,0)", "#000000", "●", "circle"),
    ("rgb(0,114,178)", "#FFFFFF", "■", "square"),
    ("rgb(0,158,115)", "#000000", "▲", "triangle-up"),
    ("rgb(204,121,167)", "#000000", "◆", "diamond"),
    ("rgb(86,180,233)", "#000000", "▼", "triangle-down"),
    ("rgb(213,94,0)", "#000000", "★", "star"),
)
PLAIN = ("rgb(0,114,178)", "#FFFFFF", "", "square")
FAINT = "rgba(128,128,128,.75)"
ROW = 62  # pixels between two rows of a network
Places = Mapping[str, tuple[float, float]]


def __dir__() -> list[str]:
    return __all__


def figure(
    *,
    title: str = "",
    height: int = 420,
    x: str = "",
    y: str = "",
    subtitle: str = "",
    **layout: Any,
) -> go.Figure:
    """An empty figure in the house style: transparent, readable on light and dark pages."""
    below = {"subtitle": {"text": subtitle, "font": {"size": 12}}} if subtitle else {}
    grid = {
        "gridcolor": "rgba(128,128,128,.25)",
        "zerolinecolor": "rgba(128,128,128,.5)",
        "linecolor": "rgba(128,128,128,.6)",
        "automargin": True,
    }
    base = {
        # an empty template: the default one costs 10 ms and 8 kB per figure
        "template": {"layout": {"xaxis": grid, "yaxis": grid}},
        "title": {
            "text": title,
            "x": 0,
            "xref": "paper",
            "xanchor": "left",
            "font": {"size": 15},
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 12},
            **below,
        },
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


def bars(
    values: Mapping[str, float] | pd.Series,
    *,
    title: str = "",
    y: str = "",
    colours: Sequence[str] | str = PALETTE["private"],
    y_range: tuple[float, float] | None = None,
    height: int = 420,
) -> go.Figure:
    """One bar per name."""
    plot = figure(title=title, y=y, height=height)
    heights = {str(name): float(value) for name, value in dict(values).items()}
    plot.add_bar(x=list(heights), y=list(heights.values()), marker_color=colours)
    if y_range is not None:
        plot.update_yaxes(range=list(y_range))
    return plot


def heatmap(
    matrix: np.ndarray,
    names: Sequence[str],
    *,
    unit: str = "bit",
    title: str = "",
    top: float | None = None,
    height: int = 520,
) -> go.Figure:
    """A symmetric matrix over attributes, its diagonal empty."""
    z = np.array(matrix, dtype=float)
    np.fill_diagonal(z, np.nan)
    plot = figure(title=title, height=height)
    plot.add_heatmap(
        z=z,
        x=list(names),
        y=list(names),
        zmin=0,
        zmax=top,
        colorscale="Cividis",
        colorbar={"title": {"text": unit}, "thickness": 14},
        hovertemplate="%{x} × %{y}: %{z:.4f} " + unit + "<extra></extra>",
    )
    plot.update_yaxes(autorange="reversed", showgrid=False)
    plot.update_xaxes(tickangle=-50, showgrid=False)
    return plot


def network_layout(network: Network, widest: int = 6) -> dict[str, tuple[float, float]]:
    """Places of the attributes: layers by depth, in rows of at most ``widest`` boxes.

    Children stand near their parents. x is 0 in the middle and 1 per box; y is minus the row. A row
    lies below all rows of the layer before.
    """
    layers: dict[int, list[str]] = {}
    for name, level in network.levels().items():
        layers.setdefault(level, []).append(name)
    place: dict[str, tuple[float, float]] = {}
    row, wide = 0, any(len(names) > 1 for names in layers.values())
    for _, names in sorted(layers.items()):
        above = {n: [place[p][0] for p in network.parents(n)] for n in names}
        names.sort(key=lambda n: sum(above[n]) / len(above[n]) if above[n] else 0.0)
        parts = math.ceil(len(names) / widest)
        for part in (names[i::parts] for i in range(parts)):
            # shifted against each other, so that a long edge doesn't run through boxes
            shift = (0.3 if wide and len(part) > 1 else 0.55) * (1 if row % 2 else -1)
            if len(layers) < 3 and parts == 1:
                shift = 0.0
            for i, name in enumerate(part):
                place[name] = (i - (len(part) - 1) / 2 + shift, -float(row))
            row += 1
    return place


def network_figure(
    network: Network,
    *,
    strengths: Mapping[tuple[str, str], float] | None = None,
    groups: Mapping[str, Any] | None = None,
    title: str = "",
    unit: str = "",
    height: int | None = None,
) -> go.Figure:
    """A network in layers, every parent above its children.

    ``strengths`` maps (parent, child) to a number, shown by the arrow's width and on hover with its
    ``unit``. ``groups`` maps attributes to groups, or groups to attributes
    (``synthesizer.groups_``): a group has a colour and a sign.
    """
    place, groups = network_layout(network), groups or {}
    rows = 1 - min((y for _, y in place.values()), default=0.0)
    plot = figure(
        title=title,
        height=height or int(110 + ROW * rows),
        margin={"l": 12, "r": 12, "t": 84, "b": 12},
    )
    _arrows(plot, network, place, strengths or {}, unit)
    if not all(isinstance(value, str) for value in groups.values()):
        groups = {name: group for group, names in groups.items() for name in names}
    _boxes(plot, network, place, {str(name): str(group) for name, group in groups.items()})
    reach = max((abs(x) for x, _ in place.values()), default=0.0) + 0.75
    plot.update_xaxes(visible=False, range=[-reach, reach], fixedrange=True)
    plot.update_yaxes(visible=False, range=[0.5 - rows - 0.05, 0.55], fixedrange=True)
    return plot


def _arrows(
    plot: go.Figure,
    network: Network,
    place: Places,
    strengths: Mapping[tuple[str, str], float],
    unit: str,
) -> None:
    """Arrows, those of one width as one trace, and an invisible mark to hover at on each."""
    top = max(strengths.values(), default=0.0) or 1.0
    widths = {
        edge: 1 + round(3 * max(strengths.get(edge, 0.0), 0.0) / top) if strengths else 1.5
        for edge in network.edges
    }
    middles: list[tuple[float, float, str]] = []
    for width in sorted(set(widths.values())):
        curves, sizes = [], []
        for parent, child in (edge for edge in network.edges if widths[edge] == width):
            parents = network.parents(child)
            side = parents.index(parent) - (len(parents) - 1) / 2
            points = _bend(place[parent], place[child], side)
            curves += [*points.tolist(), [None, None]]
            sizes += [0] * (len(points) - 1) + [9, 0]
            edge = parent, child
            words = f": {strengths[edge]:.3g} {unit}" if edge in strengths else ""
            middles.append((*points[8], f"{parent} → {child}{words}"))
        heads = {
            "symbol": "arrow",
            "angleref": "previous",
            "size": sizes,
            "color": FAINT,
            "line": {"width": 0},
            "opacity": 1,
        }
        x, y = zip(*curves, strict=True)
        plot.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            line={"color": FAINT, "width": width},
            marker=heads,
            hoverinfo="skip",
            showlegend=False,
        )
    x, y, texts = zip(*middles, strict=True) if middles else ((), (), ())
    plot.add_scatter(
        x=x,
        y=y,
        text=texts,
        mode="markers",
        marker={"size": 14, "opacity": 0},
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _bend(start: tuple[float, float], end: tuple[float, float], place: float) -> np.ndarray:
    """A smooth line (17, 2) from a parent's box to its child's; parents enter side by side."""
    (x0, y0), (x1, y1) = start, end
    x1, y1 = x1 + 0.14 * place, y1 + 14 / ROW
    drop = y0 - y1
    # A long edge keeps away from the boxes between.
    side = 0.0 if drop < 1.5 else math.copysign(min(drop, 3.0) / 5, place or x1 - x0 or 1.0)
    ends = np.array([(x0, y0), (x0 + side, y0 - drop / 2), (x1 + side, y1 + drop / 2), (x1, y1)])
    t = np.linspace(0, 1, 17)[:, None]
    a, b, c, d = ends
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def _boxes(plot: go.Figure, network: Network, place: Places, member: Mapping[str, str]) -> None:
    """A named box per attribute, in the colour and with the sign of its group."""
    kinds = {group: BOXES[i % len(BOXES)] for i, group in enumerate(sorted(set(member.values())))}
    for group, (fill, _, _, marker) in kinds.items():
        plot.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"color": fill, "symbol": marker, "size": 11},
            name=f"group {group}" if len(group) < 3 else group,
        )
    notes = []
    for name, (x, y) in place.items():
        fill, ink, sign, _ = kinds.get(member.get(name, ""), PLAIN)
        label = f"{sign} {shorten(name, 18)}".strip()
        notes.append(
            {
                "x": x,
                "y": y,
                "text": label,
                "showarrow": False,
                "bgcolor": fill,
                "borderpad": 4,
                "font": {"color": ink, "size": 12},
                "hovertext": f"{name} ← {', '.join(network.parents(name)) or '∅'}",
            }
        )
    plot.update_layout(annotations=notes, showlegend=bool(kinds))


def ledger_figure(ledger: Ledger, *, title: str = "", height: int = 420) -> go.Figure:
    """Claimed beside true ε, one pair of bars per kind of step (``Ledger.story``).

    What costs more than it claims is red, an unaccounted access to the top.
    """
    story = ledger.story()
    claimed, true = ([float(getattr(line, what)) for line in story] for what in ("claimed", "true"))
    finite = [value for value in [*claimed, *true] if value != math.inf]
    top = 1.25 * max([float(ledger.claimed), *finite])
    names = [line.step.replace(" by ", "<br>by ").replace(" of ", "<br>of ") for line in story]
    truth = "∞" if ledger.epsilon == math.inf else decimal(ledger.finite)
    title = title or f"Budget: {ledger.sign} = {decimal(ledger.claimed)} claimed, {truth} true"
    plot = figure(
        title=title,
        height=height,
        y=ledger.sign,
        barmode="group",
        margin={"l": 64, "r": 16, "t": 76, "b": 56},
    )
    plot.add_bar(
        x=names, y=claimed, name="claimed", marker_color=PALETTE["real"], offsetgroup="claimed"
    )
    for red, name, colour, shape in (
        (False, "true", "private", ""),
        (True, "true, more than claimed", "attack", "x"),
    ):
        values = [t if (t > c + 1e-12) == red else None for t, c in zip(true, claimed, strict=True)]
        if any(v is not None for v in values):
            pattern = {
                "shape": shape,
                "fgopacity": 0.4,
                "fillmode": "overlay",
                "size": 8,
                "fgcolor": "#FFFFFF",
            }
            plot.add_bar(
                x=names,
                y=[top if v == math.inf else v for v in values],
                name=name,
                offsetgroup="true",
                textposition="inside",
                text=["" if v is None else "∞" if v == math.inf else f"{v:.3g}" for v in values],
                marker={"color": PALETTE[colour], "pattern": pattern},
            )
    plot.update_yaxes(range=[0, top])
    return plot


def curve(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    by: str,
    error: str | None = None,
    title: str = "",
    x_title: str = "",
    y_title: str = "",
    height: int = 420,
) -> go.Figure:
    """One line per value of ``by``, each with its own colour, dash and marker.

    ``error`` names a column of half-widths.
    """
    plot = figure(title=title, x=x_title or x, y=y_title or y, height=height)
    for i, (name, part) in enumerate(frame.groupby(by, sort=False)):
        i %= len(SERIES)
        bands = None
        if error is not None:
            bands = {"type": "data", "array": part[error], "thickness": 1.2, "width": 4}
        plot.add_scatter(
            x=part[x],
            y=part[y],
            error_y=bands,
            name=str(name),
            mode="lines+markers",
            line={"color": SERIES[i], "dash": DASHES[i]},
            marker={"symbol": SYMBOLS[i], "size": 8},
        )
    return plot


def svg(plot: go.Figure, *, width: int = 900, height: int | None = None) -> str:
    """A figure as SVG text, the same bytes every time.

    Random ids become numbers; text is a grey that reads on white and on black. Needs the extra
    ``figures`` (kaleido) and a Chromium or Chrome on the machine.
    """
    with needed_for("a figure as SVG", "show it in a notebook"):
        import kaleido  # noqa: F401 - plotly's to_image asks for it
    plot = go.Figure(plot)
    plot.update_layout(font_color="#7A7A7A")
    for number, trace in enumerate(plot.data):
        trace.uid = f"{number:06x}"
    height = height or plot.layout.height or 420
    text = plot.to_image(format="svg", width=width, height=height).decode()
    match = re.search(r'id="defs-([0-9a-f]{6})"', text)
    return (text.replace(match[1], "pdsynth") if match else text).rstrip("\n") + "\n"

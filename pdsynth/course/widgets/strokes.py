"""What a still drawing is made of: bars, curves, marks, heat maps and words, as SVG texts.

``x`` and ``y`` are the axes' scales of :mod:`.still`: ``at(place)`` gives pixels.
"""

import math
import re
from collections.abc import Iterator
from html import escape, unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import get_colorscale, hex_to_rgb, unlabel_rgb

LINE, LETTER = 15, 6.3  # pixels: of a line of text, of a letter
SAMPLE = 22  # pixels of what stands before a name in the legend
DASHES = {"dash": "7 4", "dot": "2 3", "dashdot": "7 3 2 3"}


def bars(
    t: Any, group: list[Any], x: Any, y: Any, layout: Any, stacked: dict[Any, float]
) -> Iterator[str]:
    """Bars beside each other, one on another, or one before another."""
    across = t.orientation == "h"
    places, lengths = (y, x) if across else (x, y)
    at, values = (t.y, t.x) if across else (t.x, t.y)
    values = [] if values is None else values
    at = range(len(values)) if at is None else at
    mode, bases = (
        layout.barmode or "group",
        np.broadcast_to(t.base if t.base is not None else 0, len(values)),
    )
    number = len(group) if mode == "group" else 1
    own = sorted({places.place(v) for v in at})
    unit = min((b - a for a, b in zip(own, own[1:], strict=False)), default=1.0)
    wide = (
        t.width
        if isinstance(t.width, float | int)
        else unit * (1 - (layout.bargap if layout.bargap is not None else 0.2))
    ) / number
    plain_colour = isinstance(t.marker.color, str | None)
    colours = [ink_of(t)] * len(at) if plain_colour else t.marker.color
    for i, (place, value) in enumerate(zip(at, values, strict=False)):
        if value is None or not math.isfinite(value):
            continue
        middle = places.place(place) + (group.index(t) - (number - 1) / 2) * wide * (number > 1)
        key = (places.place(place), value >= 0)
        base = stacked.get(key, 0.0) if mode in ("stack", "relative") else float(bases[i])
        stacked[key] = base + value
        a, b = sorted((places.at(middle - wide / 2), places.at(middle + wide / 2)))
        floor = lengths.at(lengths.low) if lengths.log and not base else lengths(base)
        c, d = sorted((floor, lengths(base + value)))
        left, up, w, h = (c, a, d - c, b - a) if across else (a, c, b - a, d - c)
        yield (
            f"<rect x='{left:.1f}' y='{up:.1f}' width='{w:.1f}' height='{h:.1f}' "
            f"fill='{colours[i]}' fill-opacity='{t.opacity or t.marker.opacity or 1}'/>"
        )
        if t.text is not None and t.textposition == "outside":
            word = plain(t.text if isinstance(t.text, str) else t.text[i])
            x0, y0 = (d + 4, (a + b) / 2 + 4) if across else ((a + b) / 2, c - 4)
            yield words(x0, y0, word, anchor="start" if across else "middle")


def points(t: Any, x: Any, y: Any) -> Iterator[str]:
    """A curve, marks, or both."""
    mode, colour = t.mode or "lines", ink_of(t)
    ys = t.y if t.y is not None else ()
    xs = t.x if t.x is not None else range(len(ys))
    dots = [
        (x(a), y(b)) if a is not None and b is not None else (math.nan, math.nan)
        for a, b in zip(xs, ys, strict=False)
    ]
    if "lines" in mode and t.line.width != 0:
        path, pen = [], "M"
        for a, b in dots:
            if math.isfinite(a) and math.isfinite(b):
                path.append(f"{pen}{a:.1f} {b:.1f}")
            pen = "L" if math.isfinite(a) and math.isfinite(b) else "M"
        yield (
            f"<path d='{''.join(path)}' fill='none' stroke='{colour}' stroke-width='"
            f"{t.line.width or 2}' stroke-dasharray='{DASHES.get(t.line.dash, '')}'/>"
        )
    if "markers" in mode:
        inks = t.marker.color if isinstance(t.marker.color, tuple | list) else [colour] * len(dots)
        kinds = (
            t.marker.symbol
            if isinstance(t.marker.symbol, tuple | list)
            else ([t.marker.symbol or "circle"] * len(dots))
        )
        size = t.marker.size if isinstance(t.marker.size, int | float) else 8
        for (a, b), ink, kind in zip(dots, inks, kinds, strict=False):
            if math.isfinite(a) and math.isfinite(b):
                yield _mark(a, b, str(kind), size, ink if isinstance(ink, str) else colour)
    if "text" in mode and t.text is not None:
        below, beside = str(t.textposition or "middle right").split()
        right = {"left": -9, "center": 0}.get(beside, 9)
        anchor = {"left": "end", "center": "middle"}.get(beside, "start")
        down = {"top": -9, "bottom": 17}.get(below, 4)
        for (a, b), word in zip(dots, t.text, strict=False):
            yield words(a + right, b + down, plain(word), anchor=anchor)


def sample(t: Any, x: float, y: float) -> Iterator[str]:
    """What a trace looks like, from ``x`` on around ``y``: its line and mark, or its block."""
    colour, mode = ink_of(t), (t.mode or "lines") if t.type == "scatter" else ""
    if not mode:
        yield f"<rect x='{x:g}' y='{y - 4:g}' width='{SAMPLE}' height='8' fill='{colour}'/>"
        return
    if "lines" in mode:
        yield (
            f"<path d='M{x:g} {y:g}h{SAMPLE}' fill='none' stroke='{colour}' stroke-width='2' "
            f"stroke-dasharray='{DASHES.get(t.line.dash, '')}'/>"
        )
    if "markers" in mode:
        kinds = t.marker.symbol or "circle"
        kind = kinds if isinstance(kinds, str) else kinds[0]
        yield _mark(x + SAMPLE / 2, y, kind, 8, colour)


def _mark(x: float, y: float, kind: str, size: float, colour: str) -> str:
    r = size / 2
    style = (
        f"fill='{'none' if 'open' in kind or kind[0] == 'x' else colour}' "
        f"stroke='{colour}' stroke-width='{2 if 'open' in kind or kind[0] == 'x' else 0}'"
    )
    if kind.startswith("circle"):
        return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{r:g}' {style}/>"
    corners = {"square": "M-1-1H1V1H-1Z", "x": "M-1-1L1 1M1-1L-1 1"}.get(
        kind.split("-")[0], "M0-1L1 0L0 1L-1 0Z"
    )
    scaled = re.sub(r"-?1", lambda m: f" {float(m[0]) * r:g}", corners)
    return f"<path transform='translate({x:.1f} {y:.1f})' d='{scaled}' {style}/>"


def heat(t: Any, x: Any, y: Any, shared: Any) -> Iterator[str]:
    """Cells of a heat map; an empty cell stays empty."""
    z = np.asarray(t.z, dtype=float)
    own = t.coloraxis is None
    low, high = (t.zmin, t.zmax) if own else (shared.cmin, shared.cmax)
    stops, colours = _stops((t.colorscale if own else shared.colorscale) or "Cividis")
    low = np.nanmin(z) if low is None else low
    high = np.nanmax(z) if high is None else high
    xs = t.x if t.x is not None else range(z.shape[1])
    ys = t.y if t.y is not None else range(z.shape[0])
    for i, b in enumerate(ys):
        for j, a in enumerate(xs):
            if not math.isfinite(z[i, j]):
                continue
            part = min(max((z[i, j] - low) / ((high - low) or 1), 0.0), 1.0)
            p, q = x.place(a), y.place(b)
            (x0, x1), (y0, y1) = (
                sorted((s.at(v - 0.5), s.at(v + 0.5))) for s, v in ((x, p), (y, q))
            )
            ink = ",".join(f"{np.interp(part, stops, c):.0f}" for c in colours)
            yield (
                f"<rect x='{x0:.1f}' y='{y0:.1f}' width='{x1 - x0:.1f}' height='{y1 - y0:.1f}' "
                f"fill='rgb({ink})'/>"
            )


def _stops(scale: Any) -> tuple[list[float], list[tuple[float, ...]]]:
    """Places of a colour scale, and its reds, greens and blues."""
    pairs = get_colorscale(scale) if isinstance(scale, str) else scale
    rgb = [hex_to_rgb(c) if c.startswith("#") else unlabel_rgb(c) for _, c in pairs]
    return [float(p) for p, _ in pairs], list(zip(*rgb, strict=True))


def counted(t: Any) -> Any:
    """A histogram over y as the bars that it shows; any other trace as it is."""
    if t.type != "histogram":
        return t
    bins = np.arange(t.ybins.start, t.ybins.end + t.ybins.size / 2, t.ybins.size)
    counts, edges = np.histogram(np.asarray(t.y, dtype=float), bins)
    return go.Bar(
        x=counts,
        y=(edges[1:] + edges[:-1]) / 2,
        orientation="h",
        xaxis=t.xaxis,
        yaxis=t.yaxis,
        marker_color=t.marker.color,
        showlegend=False,
    )


def ink_of(trace: Any) -> str:
    """The colour of a trace's marks, or of its line."""
    for style in (
        trace["marker"] if "marker" in trace else None,
        trace["line"] if "line" in trace else None,
    ):
        if style is not None and isinstance(style.color, str):
            return str(style.color)
    return "currentColor"


def plain(text: Any) -> str:
    """A text of Plotly without its tags."""
    return unescape(re.sub(r"</?[a-z][^<>]*>", " ", str(text))).strip()


def words(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "",
    weight: int = 400,
    colour: str = "currentColor",
    more: str = "",
) -> str:
    """One line of text; ``more`` are further attributes."""
    place = f" text-anchor='{anchor}'" if anchor else ""
    bold = f" font-weight='{weight}'" if weight != 400 else ""
    return f"<text x='{x:.1f}' y='{y:.1f}' fill='{colour}'{place}{bold}{more}>{escape(text)}</text>"

"""A still drawing of a Plotly figure, as the text of an SVG: no browser, no network, no plotly.js.

For saved, exported and printed panels. It draws what the panels use: bars, curves, marks, heat
maps, straight lines, frames and words, and leaves hover texts and colour bars to the live figure.
"""

import math
from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from . import strokes
from .strokes import LETTER, LINE, plain, words

WIDTH = 800  # pixels of a drawing


def svg(figure: Any, alt: str = "", width: int = WIDTH) -> str:
    """The drawing; ``alt`` describes it in words. The same figure gives the same text."""
    figure = go.Figure(figure)
    head = list(_head(figure, width))
    top = LINE * (len(head) + _title_lines(figure) - 1) + 22
    drawing = _Drawing(figure, width, top)
    parts = [
        words(0, 16 + LINE * row, line, weight=600 if not row else 400)
        for row, line in enumerate(head)
        if isinstance(line, str)
    ]
    for row, keys in enumerate(head):
        for x, trace, name in keys if not isinstance(keys, str) else ():
            y = 12 + LINE * row
            parts += [*strokes.sample(trace, x, y - 2), words(x + strokes.SAMPLE + 4, y + 2, name)]
    parts += drawing.parts()
    alt = alt or " ".join(line for line in head if isinstance(line, str)) or "a chart"
    size = f"0 0 {width} {drawing.height:.0f}"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{size}' width='{width}' role='img' "
        f"aria-label='{escape(alt, quote=True)}' font-family='system-ui, sans-serif' "
        f"font-size='11' style='max-width:100%;height:auto'>{''.join(parts)}</svg>"
    )


class _Scale:
    """An axis: its values on pixels from ``start`` to ``end``, and its ticks."""

    def __init__(
        self, axis: Any, values: Sequence[Any], start: float, end: float, zero: bool
    ) -> None:
        self.axis, self.start, self.end = axis, start, end
        names = [v for v in values if isinstance(v, str)]
        self.log, self.names = axis.type == "log", list(axis.categoryarray or dict.fromkeys(names))
        if not (names or axis.type == "category"):
            self.names = []
        low, high = axis.range or self._span(values, zero)
        if not axis.range and str(axis.autorange) == "reversed":
            low, high = high, low
        self.low, self.high = float(low), float(high)

    def _span(self, values: Sequence[Any], zero: bool) -> tuple[float, float]:
        if self.names:
            return -0.5, len(self.names) - 0.5
        places = [v for v in map(self.place, values) if math.isfinite(v)] or [0.0, 1.0]
        if zero and not self.log:
            places.append(0.0)
        pad = 0.05 * (max(places) - min(places)) or 0.5
        return min(places) - pad * (min(places) != 0 or not zero), max(places) + pad

    def place(self, value: Any) -> float:
        """A value on the axis: the place of a name, the logarithm of a number."""
        if isinstance(value, str):
            return float(self.names.index(value)) if value in self.names else math.nan
        if value is None or (self.log and value <= 0):
            return -math.inf if self.log and value is not None else math.nan
        return math.log10(value) if self.log else float(value)

    def at(self, place: float) -> float:
        """Pixels of a place on the axis; what lies far outside stops shortly behind the end."""
        part = (place - self.low) / ((self.high - self.low) or 1)
        return self.start + min(max(part, -0.2), 1.2) * (self.end - self.start)

    def __call__(self, value: Any) -> float:
        return self.at(self.place(value))

    def ticks(self) -> list[tuple[float, str]]:
        """(pixels, words) of every tick inside the axis."""
        axis, (low, high) = self.axis, sorted((self.low, self.high))
        if axis.visible is False or axis.showticklabels is False:
            return []
        if axis.tickvals is not None:
            labels = axis.ticktext if axis.ticktext is not None else axis.tickvals
            if axis.ticktext is None and "%" in (axis.tickformat or ""):
                labels = [f"{value:.0%}" for value in labels]
            marks = [(self.place(v), plain(w)) for v, w in zip(axis.tickvals, labels, strict=False)]
        elif self.names:
            marks = [(float(i), name) for i, name in enumerate(self.names)]
        elif self.log:
            every = int(axis.dtick or max(1, math.ceil((high - low) / 6)))
            decades = range(math.ceil(low / every) * every, math.floor(high) + 1, every)
            marks = [(float(v), f"{10.0**v:g}") for v in decades]
        else:
            room = abs(self.end - self.start) / 50
            raw = (high - low) / min(5, max(2, room)) or 1
            step = min(
                (m * 10.0 ** math.floor(math.log10(raw)) for m in (1, 2, 5, 10)),
                key=lambda s: abs(s - raw),
            )
            places = [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
            percent = "%" in (axis.tickformat or "")
            marks = [(v, f"{v:.0%}" if percent else f"{v:.6g}") for v in places]
        return [(self.at(p), word) for p, word in marks if low - 1e-9 <= p <= high + 1e-9]


class _Drawing:
    """The plots of a figure on their axes."""

    def __init__(self, figure: go.Figure, width: int, top: float) -> None:
        self.figure, layout = figure, figure.layout
        self.traces = [strokes.counted(t) for t in figure.data if t.visible is not False]
        margin = layout.margin
        levels = [w for name in self._axes("y") for w in self._words("y", name)]
        left = max(margin.l or 64, 26 + LETTER * max(map(len, levels), default=0))
        names = [w for name in self._axes("x") for w in self._words("x", name)]
        below = max(margin.b or 56, 40 + LETTER * max(map(len, names), default=0))
        inner = max(160, (layout.height or 420) - (margin.t or 100) - (margin.b or 56))
        self.box = (min(left, 0.4 * width), width - (margin.r or 16) - 8, top, top + inner)
        self.height = top + inner + below
        self.scales = {
            (letter, name): self._scale(letter, name)
            for letter in "xy"
            for name in self._axes(letter)
        }

    def _axes(self, letter: str) -> list[str]:
        return list(dict.fromkeys(getattr(t, f"{letter}axis") or letter for t in self.traces))

    def _values(self, letter: str, name: str) -> list[Any]:
        values: list[Any] = []
        for t in self.traces:
            if (getattr(t, f"{letter}axis") or letter) == name and t[letter] is not None:
                base = t["base"] if t.type == "bar" and isinstance(t["base"], float) else 0
                across = (t["orientation"] if t.type == "bar" else None) == "h"
                lies = base if base and across == (letter == "x") else 0
                values += [
                    v if isinstance(v, str) or v is None else float(v) + lies for v in t[letter]
                ]
        return values

    def _words(self, letter: str, name: str) -> list[str]:
        scale = _Scale(self._axis(letter, name), self._values(letter, name), 0, 1, False)
        return [word for _, word in scale.ticks()]

    def _axis(self, letter: str, name: str) -> Any:
        return self.figure.layout[f"{letter}axis{name[1:]}"]

    def _scale(self, letter: str, name: str) -> _Scale:
        axis = self._axis(letter, name)
        over = self._axis(letter, axis.overlaying) if axis.overlaying else axis
        low, high = axis.domain or over.domain or (0, 1)
        x0, x1, y0, y1 = self.box
        ends = (
            (x0 + low * (x1 - x0), x0 + high * (x1 - x0))
            if letter == "x"
            else (y1 - low * (y1 - y0), y1 - high * (y1 - y0))
        )
        across = [
            t
            for t in self.traces
            if t.type == "bar"
            and (getattr(t, f"{letter}axis") or letter) == name
            and (t.orientation == "h") == (letter == "x")
        ]
        return _Scale(
            axis, self._values(letter, name), *ends, bool(across) or axis.rangemode == "tozero"
        )

    def parts(self) -> list[str]:
        """Everything but the head."""
        pairs = list(dict.fromkeys((t.xaxis or "x", t.yaxis or "y") for t in self.traces))
        out: list[str] = []
        for a, b in pairs:
            x, y = self.scales["x", a], self.scales["y", b]
            shared = (x.axis.anchor or b) != b, (y.axis.anchor or a) != a
            out += _frame(x, y, *shared)
            mine = [t for t in self.traces if (t.xaxis or "x", t.yaxis or "y") == (a, b)]
            clip = f"{min(x.start, x.end) - 6:.0f},{min(y.start, y.end) - 6:.0f}"
            size = f"{abs(x.end - x.start) + 12:.0f},{abs(y.end - y.start) + 12:.0f}"
            out.append(_clip(clip, size, "".join(self._plots(mine, x, y))))
        out += [part for shape in self.figure.layout.shapes for part in self._shape(shape)]
        out += [part for note in self.figure.layout.annotations for part in self._note(note)]
        return out

    def _plots(self, traces: list[Any], x: _Scale, y: _Scale) -> Iterator[str]:
        bars = [t for t in traces if t.type == "bar"]
        order = {"heatmap": 0, "bar": 1}
        stacked: dict[Any, float] = {}
        for t in sorted(traces, key=lambda t: order.get(t.type, 2)):
            if t.type == "heatmap":
                yield from strokes.heat(t, x, y, self.figure.layout.coloraxis)
            elif t.type == "bar":
                yield from strokes.bars(t, bars, x, y, self.figure.layout, stacked)
            elif t.type == "scatter":
                yield from strokes.points(t, x, y)

    def _end(self, value: Any, reference: str | None, letter: str) -> float:
        """Pixels of an end of a shape or a note, on an axis, its domain, or the paper."""
        name = (reference or "paper").split()[0]
        scale = self.scales.get((letter, name))
        if scale and not str(reference).endswith("domain"):
            return scale.at(float(value)) if not isinstance(value, str) else scale(value)
        ends = (
            (scale.start, scale.end)
            if scale
            else (self.box[:2] if letter == "x" else (self.box[3], self.box[2]))
        )
        return ends[0] + float(value) * (ends[1] - ends[0])

    def _shape(self, shape: Any) -> Iterator[str]:
        (x0, x1), (y0, y1) = (
            [self._end(shape[f"{letter}{i}"], shape[f"{letter}ref"], letter) for i in (0, 1)]
            for letter in "xy"
        )
        dash = strokes.DASHES.get(shape.line.dash, "")
        style = (
            f"fill='none' stroke='{shape.line.color or 'currentColor'}' "
            f"stroke-width='{shape.line.width or 1}' stroke-dasharray='{dash}'"
        )
        if shape.type == "line":
            yield f"<path d='M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}' {style}/>"
        else:
            yield (
                f"<rect x='{min(x0, x1):.1f}' y='{min(y0, y1):.1f}' width='{abs(x1 - x0):.1f}' "
                f"height='{abs(y1 - y0):.1f}' {style}/>"
            )

    def _note(self, note: Any) -> Iterator[str]:
        x, y = self._end(note.x, note.xref, "x"), self._end(note.y, note.yref, "y")
        anchor = {"left": "start", "right": "end"}.get(note.xanchor, "middle")
        x, lines = x + (note.xshift or 0), (note.text or "").split("<br>")
        y += {"bottom": -4 - LINE * (len(lines) - 1), "top": 12}.get(note.yanchor, 4)
        y -= note.yshift or 0
        colour = note.font.color or "currentColor"
        for row, line in enumerate(lines):
            yield words(x, y + LINE * row, plain(line), anchor=anchor, colour=colour)


def _head(figure: go.Figure, width: int) -> Iterator[Any]:
    """Lines above the plots: title, subtitle, then rows of the legend as (x, trace, name)."""
    title = figure.layout.title
    for text in (title.text, title.subtitle.text):
        yield from wrap(plain(text or ""), int(width / LETTER))
    rows: list[list[tuple[float, Any, str]]] = [[]]
    x = 0.0
    for trace in figure.data:
        if not trace.name or trace.showlegend is False:
            continue
        name = plain(trace.name)
        need = strokes.SAMPLE + 24 + LETTER * len(name)
        if x and x + need > width:
            rows.append([])
            x = 0.0
        rows[-1].append((x, trace, name))
        x += need
    yield from (row for row in rows if row)


def _frame(x: _Scale, y: _Scale, x_elsewhere: bool, y_elsewhere: bool) -> list[str]:
    """Grid of a pair of axes, and the words of an axis unless they stand at another pair."""
    out, bottom, left = [], max(y.start, y.end), min(x.start, x.end)
    style = "fill='none' stroke='currentColor' stroke-opacity="
    ticks = [] if x_elsewhere else x.ticks()
    room = abs(x.end - x.start) / max(1, len(ticks))
    longest = max((len(word) for _, word in ticks), default=0)
    turn = 0 if LETTER * longest <= room else 90 if room < LINE else 45
    for at, word in ticks:
        turned = f" transform='rotate(-{turn} {at:.1f} {bottom + 12:.1f})'" if turn else ""
        out.append(words(at, bottom + 14, word, anchor="end" if turn else "middle", more=turned))
    levels = max((len(word) for _, word in y.ticks()), default=0)
    for at, word in y.ticks():
        if y.axis.showgrid is not False:
            out.append(f"<path d='M{left:.1f} {at:.1f}H{max(x.start, x.end):.1f}' {style}'.14'/>")
        if y_elsewhere:
            continue
        right = y.axis.side == "right"
        out.append(
            words(
                max(x.start, x.end) + 5 if right else left - 5,
                at + 4,
                word,
                anchor="start" if right else "end",
            )
        )
    out.append(f"<path d='M{left:.1f} {bottom:.1f}H{max(x.start, x.end):.1f}' {style}'.5'/>")
    if x.axis.title.text and not x_elsewhere:
        drop = 30 + math.sin(math.radians(turn)) * LETTER * longest
        out.append(
            words((x.start + x.end) / 2, bottom + drop, plain(x.axis.title.text), anchor="middle")
        )
    if y.axis.title.text and not y_elsewhere:
        at, middle = left - 14 - LETTER * levels, (y.start + y.end) / 2
        turned = f" transform='rotate(-90 {at:.1f} {middle:.1f})'"
        out.append(words(at, middle, plain(y.axis.title.text), anchor="middle", more=turned))
    return out


def _title_lines(figure: go.Figure) -> int:
    """Lines of the longest title of a chart; they grow upwards."""
    notes = figure.layout.annotations
    titles = [note.text for note in notes if (note.name or "").startswith("title ")]
    return max((text.count("<br>") + 1 for text in titles), default=1)


def _clip(start: str, size: str, body: str) -> str:
    (x, y), (w, h) = start.split(","), size.split(",")
    return f"<svg x='{x}' y='{y}' width='{w}' height='{h}' viewBox='{x} {y} {w} {h}'>{body}</svg>"

"""Parts of every paper's figures: curves with error bars, levels, panels, titles."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, figure
from .results import distinct, point, select, summarise
from .selectors import choices, expand, fill

# What a measure can be, by its name; every other one begins at 0 and has no end.
RANGES = {
    "advantage": (-1.0, 1.0),
    "per cent": (0.0, 100.0),
    "^L1": (0.0, 2.0),
    "distance|misclassification|accuracy|GCAP|matches|share": (0.0, 1.0),
}
ERROR_NOTE = "error bars: 95 % confidence interval of the mean"
# One colour and one marker per method, the paper's own method in the private orange.
STYLE = {
    "PrivBayes": ("#009E73", "square"),
    "HPPrivBayes": (PALETTE["private"], "circle"),
    "HMPrivBayes": (PALETTE["private"], "circle"),
    "PrivABN": (PALETTE["private"], "circle"),
    "PrivSCBN": ("#CC79A7", "diamond"),
    "JTree": ("#56B4E9", "triangle-up"),
    "PriView": ("#CC79A7", "diamond"),
    "Independent": ("#767676", "x"),
}
DASH = {"published": "dash", "strict": "solid", "none": "longdash"}
FLAT = {"real data": "solid", "majority class": "dot"}  # dashes of lines that no method draws
# Published forms that satisfy no finite ε, or a larger one than they claim.
NOT_PRIVATE = ("HPPrivBayes", "HMPrivBayes", "PrivABN", "PrivSCBN", "JTree")


def range_of(metric: str) -> tuple[float, float]:
    """The least and the largest value that a measure can have.

    >>> range_of("2-way distance"), range_of("seconds")
    ((0.0, 1.0), (0.0, inf))
    """
    matches = (ends for words, ends in RANGES.items() if re.search(words, metric))
    return next(matches, (0.0, np.inf))


def bars_in_range(
    mean: Any, half: Any, metric: Any, thickness: float = 1.4, width: int = 4
) -> dict[str, Any]:
    """Intervals of means cut to what their measure can be: no mean lies beyond, so none is lost.

    ``metric``: one name, or one for each mean.
    """
    mean, half = np.asarray(mean, float), np.asarray(half, float)
    names = [metric] * len(mean) if isinstance(metric, str) else metric
    low, high = np.array([range_of(str(name)) for name in names]).reshape(-1, 2).T
    up, down = np.minimum(half, high - mean), np.minimum(half, mean - low)
    return {
        "type": "data",
        "array": up,
        "arrayminus": down,
        "symmetric": False,
        "thickness": thickness,
        "width": width,
    }


def line(
    plot: go.Figure,
    part: pd.DataFrame,
    x: str,
    name: str,
    colour: str,
    dash: str = "solid",
    symbol: str = "circle",
    legend: bool = True,
    **where: int,
) -> None:
    """One curve with error bars."""
    plot.add_scatter(
        x=part[x],
        y=part["mean"],
        name=name,
        legendgroup=name,
        showlegend=legend,
        mode="lines+markers",
        line={"color": colour, "dash": dash, "width": 2},
        marker={"symbol": symbol, "size": 8},
        **where,
        error_y=bars_in_range(part["mean"], part["ci95"], part["metric"]),
    )


def level(
    plot: go.Figure,
    part: pd.DataFrame,
    span: tuple[float, float],
    name: str,
    colour: str,
    dash: str,
    legend: bool = True,
    **where: int,
) -> None:
    """A value that doesn't depend on ε: a horizontal line."""
    mean = float(part["mean"].iloc[0]) if len(part) else float("nan")
    plot.add_scatter(
        x=list(span),
        y=[mean, mean],
        name=name,
        legendgroup=name,
        showlegend=legend,
        mode="lines",
        line={"color": colour, "dash": dash, "width": 1.6},
        **where,
    )


def say_repeats(repeats: int) -> str:
    """How many repeats, in words."""
    return f"{repeats} repeat{'' if repeats == 1 else 's'}"


def say_runs(data: pd.DataFrame, bars: bool = True) -> str:
    """The repeats of its points, and what their bars are, if any; a single run has none.

    >>> say_runs(pd.DataFrame({"k": [1, 1, 2], "repeat": [0, 1, 0], "value": 0.5}))
    '1 to 2 repeats; bars: 95 % interval of the mean'
    """
    counts = data.groupby(point(data), dropna=False)["repeat"].nunique()
    least, most = counts.min(), counts.max()
    repeats = say_repeats(most) if least == most else f"{least} to {say_repeats(most)}"
    return repeats + ("; bars: 95 % interval of the mean" if bars and most > 1 else "")


def legend_below(plot: go.Figure, height: int) -> go.Figure:
    """Space for a long legend under the axes, so that it covers nothing."""
    y = -72 / (height - 184)  # 72 pixels: tick labels and the axis title
    plot.update_layout(
        height=height,
        margin={"t": 84, "b": 40, "r": 16},
        title_pad_t=24,
        legend={"orientation": "h", "y": y, "yanchor": "top", "x": 0},
    )
    return plot


def small_print(title: str, words: str) -> str:
    """A title with a smaller line below it."""
    return f"{title}<br><span style='font-size:11px'>{words}</span>"


def finish(plot: go.Figure, data: pd.DataFrame, text: str, table: str, height: int) -> go.Figure:
    """The plot with title, small print (table, repeats, error bars) and legend."""
    repeats = data["repeat"].nunique()
    words = f"{table}; {say_repeats(repeats)}" + (f"; {ERROR_NOTE}" if repeats > 1 else "")
    return legend_below(plot.update_layout(title_text=small_print(text, words)), height)


def panels(columns: int, titles: list[str], **shared: Any) -> go.Figure:
    """Subplots in the house style, as many rows as the titles need."""
    from plotly.subplots import make_subplots

    shared = {"horizontal_spacing": 0.08} | shared
    plot = make_subplots(-(-len(titles) // columns), columns, subplot_titles=titles, **shared)
    house = figure().layout
    looks = ("template", "font", "paper_bgcolor", "plot_bgcolor", "title")
    return plot.update_layout({name: house[name] for name in looks})


def log_ticks(values: Iterable[float], *last: str) -> dict[str, Any]:
    """A logarithmic axis with these ticks; ``last``: words of the last ones."""
    at = list(values)
    words = [*(f"{v:,g}" for v in at[: len(at) - len(last)]), *last]
    return {"type": "log", "tickvals": at, "ticktext": words}


def title_below(plot: go.Figure, text: str, columns: int, count: int) -> None:
    """The x title under the last of ``count`` panels in each column."""
    for at in range(max(count - columns, 0), count):
        plot.update_xaxes(title_text=text, row=at // columns + 1, col=at % columns + 1)


def label(method: str, guarantee: str, k: str = "") -> str:
    """A curve's name in a legend; says when it isn't private."""
    if guarantee == "none":
        return method if method in FLAT else f"{method}, no privacy"
    word = "strict"
    if guarantee == "published":
        word = "as published" + (", not private" if method in NOT_PRIVATE else "")
    return f"{method}{f' k={k}' if k else ''}, {word}"


def panel(
    plot: go.Figure,
    summary: pd.DataFrame,
    where: dict[str, int],
    at: Mapping[str, Any],
    x: str = "epsilon",
) -> None:
    """Every curve of one panel against ``x``, at the points that ``at`` selects."""
    part = select(summary, **at)
    part = part.assign(**{x: part[x].astype(float)})
    names = {trace.name for trace in plot.data}
    finite = part.loc[np.isfinite(part[x]), x]
    span = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    curve = ["method", "guarantee"]
    if x != "k" and (part.groupby(curve)["k"].nunique() > 1).any():
        curve.append("k")
    for keys, points in part.groupby(curve, sort=False):
        method, guarantee = keys[:2]
        colour, symbol = STYLE.get(method, (PALETTE["real"], "x"))
        if guarantee == "none":
            colour = PALETTE["real" if method in FLAT else "none"]
        name, dash = label(*keys), FLAT.get(method, DASH[guarantee])
        symbol += "-open" if guarantee == "published" else ""
        if np.isfinite(points[x]).all():
            line(
                plot,
                points.sort_values(x),
                x,
                name,
                colour,
                dash,
                symbol,
                name not in names,
                **where,
            )
        else:
            level(plot, points, span, name, colour, dash, name not in names, **where)


# --- a figure from the data file ------------------------------------------------------------------


def draw_grid(data: pd.DataFrame, settings: Any, spec: Mapping[str, Any]) -> go.Figure:
    """The ``panels`` of a data file: one for each of its ``rows`` × ``columns``, all against ``x``.

    ``title``: of a panel, naming its columns in braces (``names``: other words for their values).
    ``axes``: updates of all axes or of some. ``bar``: a horizontal line. ``text``, ``table``: title
    and small print of the figure, ``height`` in pixels.
    """
    summary, x = summarise(data), spec.get("x", "epsilon")
    down, across = (expand(spec.get(side, {}), settings, data) for side in ("rows", "columns"))
    cells = [row | column for row in down for column in across]
    names = spec.get("names", {})
    titles = [fill(spec["title"], {c: names.get(v, v) for c, v in at.items()}) for at in cells]
    plot = panels(len(across), titles, **spec.get("spacing", {}))
    for i, at in enumerate(cells):
        where = {"row": i // len(across) + 1, "col": i % len(across) + 1}
        panel(plot, _repeat_noiseless(summary, at), where, at, x)
    if "bar" in spec:
        _draw_bar(plot, spec["bar"], choices(spec["bar"]["span"], settings), len(across))
    for axis in spec["axes"]:
        _update_axis(plot, axis, settings, len(down))
    words = vars(settings) | {"tables": _say_tables(data)}
    text, table = fill(spec["text"], words), fill(spec["table"], words)
    return finish(plot, data, text, table, spec["height"])


def limit_to_paper(plot: go.Figure, spec: Mapping[str, Any], data: pd.DataFrame) -> go.Figure:
    """The ``view`` of a data file: traces without points left out, axes as far as they are known.

    ``says``: the title's second line. ``axes``: Plotly's options, as in :func:`draw_grid`.
    ``marks``: what the paper's text says of an ε, or of a range of them.
    """
    plot.data = [
        t
        for t in plot.data
        if t.type == "heatmap" or np.isfinite(np.asarray(t.y, dtype=float)).any()
    ]
    names: set[str] = set()
    for trace in plot.data:
        if trace.type != "heatmap":
            trace.showlegend = trace.name not in names
            names.add(trace.name)
    for axis in spec.get("axes", []):
        _update_axis(plot, axis, None, 0)
    for mark in spec.get("marks", []):
        mark_x(plot, **mark)
    title = plot.layout.title.text.split("<br>")[0]
    runs = say_runs(data, any("error_y" in trace for trace in plot.data))
    return plot.update_layout(title_text=small_print(title, f"{spec['says']}; {runs}"))


def mark_x(plot: go.Figure, x: float | list[float], text: str, **where: Any) -> None:
    """A line at one x, or a band between two; its words stand in the legend."""
    looks = {"color": PALETTE["attack"], "width": 1.4, "dash": "dash"}
    band = {"color": "rgba(213,94,0,.25)", "symbol": "square", "size": 14}
    if isinstance(x, list):
        plot.add_vrect(*x, line_width=0, fillcolor=band["color"], opacity=0.5, **where)
    else:
        plot.add_vline(x, line=looks, **where)
    if text not in {trace.name for trace in plot.data}:
        mode = "markers" if isinstance(x, list) else "lines"
        plot.add_scatter(x=[None], y=[None], name=text, mode=mode, line=looks, marker=band)


def _repeat_noiseless(summary: pd.DataFrame, at: Mapping[str, Any]) -> pd.DataFrame:
    """Where a panel has one ε: the curves without noise stand in it, too."""
    if "epsilon" not in at:
        return summary
    free = summary[~np.isfinite(summary["epsilon"])].assign(epsilon=at["epsilon"])
    return pd.concat([summary[summary["epsilon"] == at["epsilon"]], free])


def _draw_bar(plot: go.Figure, bar: Mapping[str, Any], span: list[float], columns: int) -> None:
    """A level that the paper names, in the first row of panels."""
    for column in range(1, columns + 1):
        plot.add_scatter(
            x=[min(span), max(span)],
            y=[bar["value"]] * 2,
            mode="lines",
            name=bar["name"],
            legendgroup="bar",
            showlegend=column == 1,
            row=1,
            col=column,
            line={"color": PALETTE["attack"], "width": 1.4, "dash": "dot"},
        )


def _update_axis(plot: go.Figure, spec: Mapping[str, Any], settings: Any, rows: int) -> None:
    """Plotly's options of an axis; ``ticks``: where they are, ``unit``: what their words count."""
    options = dict(spec)
    if options.get("row") == "last":
        options["row"] = rows
    update = {"x": plot.update_xaxes, "y": plot.update_yaxes}[options.pop("axis")]
    if "ticks" in options:
        at, unit = choices(options.pop("ticks"), settings), options.pop("unit", None)
        if options.pop("decades", False):  # the others have no space
            at = [v for v in at if np.log10(v) % 1 == 0] or at
        options["tickvals"] = at
        if unit:
            options["ticktext"] = [f"{v / unit:g}" for v in at]
    update(**options)


def _say_tables(data: pd.DataFrame) -> str:
    """The tables of a figure, and the repeats of the one that has fewest."""
    if "dataset" not in data:
        return ""
    counts = data.groupby("dataset")["repeat"].nunique()
    fewer = f" ({say_repeats(counts.min())})" if counts.min() < counts.max() else ""
    return " and ".join(distinct(data, "dataset")) + fewer

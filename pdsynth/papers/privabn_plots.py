"""PrivABN's figures 1 to 3 and its Table 2, from tidy trials. Error bars: 95 % confidence interval of the mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, figure
from .drawing import finished, panel, panels, ticks
from .engine import Key
from .privabn_settings import BAR, Settings, large
from .results import distinct, summarise


def coarse(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 1: a row for each table and error, a column for each α."""
    summary, alphas = summarise(data), distinct(data, "alpha")
    rows = [(table, metric) for table in distinct(data, "dataset") for metric in ("L1", "L2")]
    plot = panels(len(alphas), [f"{t}, {m}, α = {a}" for t, m in rows for a in alphas], vertical_spacing=0.06, horizontal_spacing=0.07)
    for row, (table, metric) in enumerate(rows, 1):
        for column, alpha in enumerate(alphas, 1):
            panel(plot, summary, {"row": row, "col": column}, {"metric": metric, "dataset": table, "alpha": alpha})
    ticks(plot, [e for e in settings.epsilons if np.log10(e) % 1 == 0] or settings.epsilons, "")  # the others have no room
    plot.update_xaxes(title_text="ε", row=len(rows))
    plot.update_yaxes(rangemode="tozero")
    return finished(plot, data, "Errors of random queries, in frequencies", f"{settings.queries} queries", 1180)


def fine(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 2: 3-way queries, a column for each table, with the paper's error bar."""
    summary, tables = summarise(data), distinct(data, "dataset")
    plot = panels(len(tables), [f"{t}, {m}" for m in ("L2", "L1") for t in tables], vertical_spacing=0.12)
    for row, metric in enumerate(("L2", "L1"), 1):
        for column, table in enumerate(tables, 1):
            panel(plot, summary, {"row": row, "col": column}, {"metric": metric, "dataset": table})
    span = [min(settings.fine), max(settings.fine)]
    for column in range(1, len(tables) + 1):
        plot.add_scatter(x=span, y=[BAR, BAR], mode="lines", name=f"the paper's bar, {BAR:g}", legendgroup="bar", showlegend=column == 1,
                         line={"color": PALETTE["attack"], "width": 1.4, "dash": "dot"}, row=1, col=column)  # fmt: skip
    plot.update_xaxes(title_text="ε", row=2)
    plot.update_yaxes(rangemode="tozero")
    return finished(plot, data, f"Errors of {settings.alphas[0]}-way queries, in frequencies", f"{settings.queries} queries", 760)


def retail(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 3: L2 against α, a column for each ε."""
    summary = summarise(data)
    free = ~np.isfinite(summary["epsilon"])
    plot = panels(len(settings.retail_epsilons), [f"ε = {e:g}" for e in settings.retail_epsilons], shared_yaxes=True)
    for column, epsilon in enumerate(settings.retail_epsilons, 1):
        shown = pd.concat([summary[summary["epsilon"] == epsilon], summary[free].assign(epsilon=epsilon)])
        panel(plot, shown, {"row": 1, "col": column}, {"metric": "L2"}, "alpha")
    plot.update_xaxes(title_text="α", tickvals=list(settings.retail_alphas))
    plot.update_yaxes(type="log", dtick=1)
    plot.update_yaxes(title_text="L2 error, frequencies", col=1)
    table = f"{', '.join(distinct(data, 'dataset'))}; {settings.queries} queries"
    return finished(plot, data, "Errors of random queries by their size α", table, 600)


def pairs(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Table 2: pairs and the time they take at the paper's speed."""
    names = [f"{row.method}{f', k = {row.k}' if row.k else ''}" for row in data.itertuples()]
    seconds = data["value"] / settings.speed
    plot = figure(title=f"Pairs enumerated for m = {settings.attributes} attributes", height=90 + 30 * (len(names) + 1))
    cells = [names, [large(v) for v in data["value"]], [spell(s) for s in seconds]]
    plot.add_table(
        header={"values": ["", "pairs", f"at {settings.speed:,} a second"], "align": ["left", "right", "right"],
                "fill_color": "rgba(128,128,128,.15)", "height": 28},
        cells={"values": cells, "align": ["left", "right", "right"], "fill_color": "rgba(0,0,0,0)", "height": 28},
    )  # fmt: skip
    return plot.update_layout(margin={"l": 16, "r": 16, "t": 56, "b": 8})


def spell(seconds: float) -> str:
    """A time in the largest unit that it fills."""
    for size, unit in ((365 * 86_400, "years"), (86_400, "days"), (3_600, "hours")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


DRAW: dict[Key, Callable[[pd.DataFrame, Settings], go.Figure]] = {1: coarse, 2: fine, 3: retail, "table 2": pairs}

"""HMPrivBayes' figures 4 to 6, from tidy trials. Error bars: 95 % confidence interval of the mean."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go

from . import drawing
from .drawing import finished, panel, panels, ticks
from .engine import Key
from .hmprivbayes_settings import LEAKS, Settings
from .results import distinct, summarise

PANELS = (("2-way distance", "2-way AVD"), ("3-way distance", "3-way AVD"), ("misclassification", "misclassification"))


def leaks(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 4: three definitions of the leak, against n."""
    summary = summarise(data)
    plot = panels(len(LEAKS), list(LEAKS.values()))
    for column, name in enumerate(LEAKS.values(), 1):
        panel(plot, summary, {"row": 1, "col": column}, {"metric": name}, "rows")
    plot.update_xaxes(title_text="records, thousands", tickvals=list(settings.sizes), ticktext=[f"{n / 1000:g}" for n in settings.sizes])
    plot.update_yaxes(title_text="leak", col=1)
    table = f"Adult, padded with random rows beyond 45,222; ε = {settings.epsilon:g}"
    return finished(plot, data, "An attacker who knows everything but the salary", table, 520)


def distances(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 5: distances and misclassification against ε, a row for each measure, a column for each table."""
    summary, tables = summarise(data), distinct(data, "dataset")
    titles = [f"{table}, {title}" for _, title in PANELS for table in tables]
    plot = panels(len(tables), titles, vertical_spacing=0.09, horizontal_spacing=0.1)
    for row, (metric, _) in enumerate(PANELS, 1):
        for column, table in enumerate(tables, 1):
            panel(plot, summary, {"row": row, "col": column}, {"metric": metric, "dataset": table})
    ticks(plot, settings.epsilons, "")
    plot.update_xaxes(title_text="ε", row=len(PANELS))
    plot.update_yaxes(rangemode="tozero")
    few, many = (f(data.groupby("dataset")["repeat"].nunique()) for f in (min, max))
    said = " and ".join(tables) + (f" ({drawing.times(few)})" if few < many else "")
    return finished(plot, data, "How far the synthetic tables are from the real ones", said, 1100)


def times(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 6: processor seconds against the largest in-degree."""
    summary, tables = summarise(data), distinct(data, "dataset")
    plot = panels(len(tables), tables, shared_yaxes=True)
    for column, table in enumerate(tables, 1):
        panel(plot, summary, {"row": 1, "col": column}, {"metric": "seconds", "dataset": table}, "k")
    plot.update_xaxes(title_text="largest in-degree", tickvals=list(settings.degrees))
    plot.update_yaxes(type="log", dtick=1)
    plot.update_yaxes(title_text="processor seconds", col=1)
    return finished(plot, data, "Time of one fit and one synthetic table; PrivBayes on the bits", f"ε = {settings.epsilon:g}", 460)


DRAW: dict[Key, Callable[[pd.DataFrame, Settings], go.Figure]] = {4: leaks, 5: distances, 6: times}

"""The side-by-side pictures, from tidy trials. Error bars: 95 % confidence interval of the mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, SERIES, SYMBOLS
from .drawing import finished, panels, repeats
from .engine import Key
from .results import distinct, select, summarise
from .sidebyside_claims import finite, methods
from .sidebyside_settings import DISTANCE, LOSS, REST, SECONDS, YARDSTICK, Settings

TABLE = "Adult, thesis coding"
LOOKS = {"strict": ("strict, pure ε", PALETTE["private"], "circle"), "published": ("as published", PALETTE["attack"], "x-thin-open"),
         "none": ("no noise", PALETTE["none"], "diamond-open"), YARDSTICK: (f"OpenDP, {YARDSTICK}", "#009E73", "star")}  # fmt: skip
ENDLESS = 3.0  # where an infinite loss is drawn


def dots(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 1: one row a method; distances at each ε, loss of the sensitive attribute, time."""
    points, top = finite(data), max(settings.epsilons)
    order = methods(data, top)[::-1]
    columns = [(DISTANCE, e, f"distance, ε = {e:g}") for e in settings.epsilons]
    columns += [(LOSS, top, f"loss, ε = {top:g}"), (SECONDS, top, "seconds")]
    plot = panels(len(columns), [name for *_, name in columns], shared_yaxes=True, horizontal_spacing=0.025)
    for column, (metric, epsilon, _) in enumerate(columns, 1):
        for guarantee, (name, colour, symbol) in LOOKS.items():
            at = select(points, metric=metric, guarantee=guarantee)
            at = at[(at["epsilon"] == epsilon) | ~np.isfinite(at["epsilon"])]
            x = at["mean"].where(np.isfinite(at["mean"]), ENDLESS)
            first = len(at) > 0 and name not in {trace.name for trace in plot.data if trace.showlegend}
            plot.add_scatter(
                x=x, y=at["method"], mode="markers", name=name, legendgroup=name, showlegend=first,
                marker={"color": colour, "symbol": symbol, "size": 10 if guarantee == YARDSTICK else 8,
                        "line": {"width": 2, "color": colour}},
                error_x={"type": "data", "array": at["ci95"], "thickness": 1.4, "width": 3}, row=1, col=column,
            )  # fmt: skip
    loss, last = len(settings.epsilons) + 1, len(columns)
    plot.update_xaxes(type="log", row=1, col=loss, range=[-1.9, 0.7], tickvals=[0.02, 0.1, 1, ENDLESS], ticktext=["0.02", "0.1", "1", "∞"])
    plot.update_xaxes(type="log", row=1, col=last, tickvals=[0.01, 0.1, 1, 10, 100], ticktext=["0.01", "0.1", "1", "10", "100"])
    for column in range(1, loss):
        plot.update_xaxes(rangemode="tozero", row=1, col=column)
    plot.update_yaxes(categoryorder="array", categoryarray=order, automargin=True, showgrid=True)
    return finished(plot, data, "All algorithms at the same ε, the nearest strict table first", TABLE, 200 + 26 * len(order))


def heat(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 2: the 2-way distance of every mixture; a panel for each table, guarantee and place of the noise."""
    table = summarise(data)
    kinds = list(dict.fromkeys(zip(table["dataset"], table["guarantee"], table["place"], strict=True)))
    words = {"strict": "strict", "published": "as published"}
    plot = panels(2, [f"{d}, {words[g]}{', noise on conditionals' if p == 'conditional' else ''}" for d, g, p in kinds],
                  vertical_spacing=0.17, horizontal_spacing=0.06)  # fmt: skip
    for i, (dataset, guarantee, place) in enumerate(kinds):
        at = select(table, dataset=dataset, guarantee=guarantee, place=place)
        rows, columns = distinct(at, "method"), distinct(at, "budget")
        z = at.pivot(index="method", columns="budget", values="mean").loc[rows, columns].to_numpy()
        half = at.pivot(index="method", columns="budget", values="ci95").loc[rows, columns].to_numpy()
        short = [name.split(" (")[0].replace("Greedy, largest root", "Greedy, largest") for name in rows]
        plot.add_heatmap(z=z, x=columns, y=short, colorscale="Cividis", showscale=False, row=i // 2 + 1, col=i % 2 + 1, customdata=half,
                         zmin=float(np.nanmin(z)), zmax=float(np.nanmax(z)), text=z, texttemplate="%{text:.3f}",
                         hovertemplate="%{y} with %{x}: %{z:.4f} ± %{customdata:.4f}<extra></extra>")  # fmt: skip
        plot.update_yaxes(autorange="reversed", showticklabels=i % 2 == 0, row=i // 2 + 1, col=i % 2 + 1)
    text = f"2-way distance of every mixture of parts at ε = {settings.epsilon:g}"
    widest = float(table["ci95"].max())
    plot.update_layout(
        title_text=f"{text}<br><span style='font-size:11px'>{repeats(data)} repeats; 95 % half-widths up to {widest:.3f}</span>",
        height=170 + 230 * -(-len(kinds) // 2), margin={"l": 110, "r": 16, "t": 104, "b": 40}, title_pad_t=24,
    )  # fmt: skip
    return plot


def promises(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 3: total ε moves each method along its curve; left against what the sensitive attribute loses, right against ε."""
    table, order = summarise(data), methods(data, max(settings.fine), REST)
    plot = panels(2, ["against its loss", "against the total ε"], shared_yaxes=True)
    for i, name in enumerate(order):
        mine = table[table["method"] == name].pivot(index="epsilon", columns="metric", values=["mean", "ci95"])
        style: dict[str, Any] = {"color": SERIES[i % len(SERIES)], "dash": ("solid", "dot")[i // len(SERIES) % 2], "width": 1.6}
        for column, x in enumerate((mine["mean", LOSS], mine.index), 1):
            plot.add_scatter(x=x, y=mine["mean", REST], name=name, legendgroup=name, showlegend=column == 1, mode="lines+markers",
                             line=style, marker={"symbol": SYMBOLS[(i + i // len(SERIES)) % len(SYMBOLS)], "size": 7}, row=1, col=column,
                             error_y={"type": "data", "array": mine["ci95", REST], "thickness": 1.1, "width": 3})  # fmt: skip
    for s in settings.promises:
        plot.add_vline(x=s, line={"color": PALETTE["real"], "width": 1, "dash": "dash"}, row=1, col=1)
    ticks = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1)
    plot.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{t:g}" for t in ticks])
    plot.update_xaxes(title_text="ε of the sensitive attribute", row=1, col=1)
    plot.update_xaxes(title_text="ε of the whole table", row=1, col=2)
    plot.update_yaxes(type="log", tickvals=[0.03, 0.05, 0.1, 0.2, 0.3], ticktext=["0.03", "0.05", "0.1", "0.2", "0.3"])
    plot.update_yaxes(title_text="2-way distance without it", row=1, col=1)
    return finished(plot, data, "Who serves the rest, at which loss of the sensitive attribute?", TABLE, 620)


DRAW: dict[Key, Callable[[pd.DataFrame, Settings], go.Figure]] = {1: dots, 2: heat, 3: promises}

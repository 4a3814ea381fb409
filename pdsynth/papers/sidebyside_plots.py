"""The side-by-side pictures. Error bars: 95 % confidence interval of the mean."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, SERIES, SYMBOLS
from .drawing import bars_in_range, finish, log_ticks, mark_x, panels, say_runs, small_print
from .results import Key, distinct, select, summarise
from .sidebyside_methods import DISTANCE, LOSS, REST, SECONDS
from .sidebyside_rules import rank, summarise_losses
from .yardstick import GUARANTEE

TABLE = "Adult, thesis coding"
LOOKS = {
    "strict": ("strict, pure ε", PALETTE["private"], "circle", 8),
    "published": ("as published", PALETTE["attack"], "x-thin-open", 8),
    "none": ("no noise", PALETTE["none"], "diamond-open", 8),
    GUARANTEE: (f"OpenDP, {GUARANTEE}", "#009E73", "star", 10),
}
ENDLESS = 3.0  # where an infinite loss is drawn
SHADES = [[0, "#FFFFFF"], [1, "#56B4E9"]]  # black numbers are legible on all of them


def dots(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 1: one row per method; distances at each ε, loss of the sensitive attribute, time."""
    points, top = summarise_losses(data), max(settings.epsilons)
    order = rank(data, top)[::-1]
    columns = [(DISTANCE, e, f"distance, ε = {e:g}") for e in settings.epsilons]
    columns += [(LOSS, top, f"loss, ε = {top:g}"), (SECONDS, top, "seconds")]
    titles = [title for *_, title in columns]
    plot = panels(len(columns), titles, shared_yaxes=True, horizontal_spacing=0.025)
    shown: set[str] = set()
    for column, (metric, epsilon, _) in enumerate(columns, 1):
        for guarantee, (name, colour, symbol, size) in LOOKS.items():
            at = select(points, metric=metric, guarantee=guarantee)
            at = at[(at["epsilon"] == epsilon) | ~np.isfinite(at["epsilon"])]
            marker = {
                "color": colour,
                "symbol": symbol,
                "size": size,
                "line": {"width": 2, "color": colour},
            }
            mean = at["mean"].where(np.isfinite(at["mean"]), ENDLESS)
            plot.add_scatter(
                x=mean,
                y=at["method"],
                name=name,
                mode="markers",
                legendgroup=name,
                showlegend=len(at) > 0 and name not in shown,
                marker=marker,
                row=1,
                col=column,
                error_x=bars_in_range(mean, at["ci95"], metric, 1.4, 3),
            )
            shown |= {name} if len(at) else set()
    for column in range(1, len(columns) - 1):
        plot.update_xaxes(rangemode="tozero", row=1, col=column)
    plot.update_xaxes(
        row=1, col=len(columns) - 1, range=[-1.9, 0.7], **log_ticks((0.02, 0.1, 1, ENDLESS), "∞")
    )
    plot.update_xaxes(row=1, col=len(columns), **log_ticks((0.01, 0.1, 1, 10, 100)))
    plot.update_yaxes(categoryorder="array", categoryarray=order, automargin=True, showgrid=True)
    title = "All algorithms at the same ε, the nearest strict table first"
    peers = select(data, metric=SECONDS, guarantee="(ε, δ)")["repeat"].nunique()
    table = f"{TABLE}; OpenDP's MST: {peers}" if peers else TABLE
    return finish(plot, data, title, table, 200 + 26 * len(order))


def heat(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 2: the 2-way distance of every mixture; a panel per table, guarantee and place."""
    table = summarise(data)
    kinds = list(table[["dataset", "guarantee", "place"]].drop_duplicates().itertuples(index=False))
    words = {"strict": "strict", "published": "as published"}
    titles = [
        f"{at.dataset}, {words[at.guarantee]}"
        + (", noise on conditionals" if at.place == "conditional" else "")
        for at in kinds
    ]
    plot = panels(2, titles, vertical_spacing=0.17, horizontal_spacing=0.06)
    for i, kind in enumerate(kinds):
        at, where = select(table, **kind._asdict()), {"row": i // 2 + 1, "col": i % 2 + 1}
        rows, columns = distinct(at, "method"), distinct(at, "budget")
        wide = at.pivot(index="method", columns="budget", values=["mean", "ci95"])
        z, half = (wide[name].loc[rows, columns].to_numpy() for name in ("mean", "ci95"))
        short = [name.split(" (")[0].replace("largest root", "largest") for name in rows]
        plot.add_heatmap(
            z=z,
            x=columns,
            y=short,
            colorscale=SHADES,
            showscale=False,
            customdata=half,
            zmin=float(np.nanmin(z)),
            zmax=float(np.nanmax(z)),
            text=z,
            texttemplate="%{text:.3f}",
            textfont={"color": "#000000"},
            hovertemplate="%{y} with %{x}: %{z:.4f} ± %{customdata:.4f}<extra></extra>",
            **where,
        )
        plot.update_yaxes(autorange="reversed", showticklabels=i % 2 == 0, **where)
    text = f"2-way distance of every mixture of parts at ε = {settings.epsilon:g}"
    widest = f"{say_runs(data, bars=False)}; 95 % half-widths up to {table['ci95'].max():.3f}"
    return plot.update_layout(
        title_text=small_print(text, widest),
        height=170 + 230 * -(-len(kinds) // 2),
        margin={"l": 110, "r": 16, "t": 104, "b": 40},
        title_pad_t=24,
    )


def promises(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 3: total ε moves each method along its curve; against its loss, and against ε."""
    table = summarise(data)
    plot = panels(2, ["against its loss", "against the total ε"], shared_yaxes=True)
    for i, name in enumerate(rank(data, max(settings.fine), REST)):
        mine = select(table, method=name)
        mine = mine.pivot(index="epsilon", columns="metric", values=["mean", "ci95"])
        lap = i // len(SERIES)
        line = {"color": SERIES[i % len(SERIES)], "dash": ("solid", "dot")[lap % 2], "width": 1.6}
        for column, x in enumerate((mine["mean", LOSS], mine.index), 1):
            plot.add_scatter(
                x=x,
                y=mine["mean", REST],
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                mode="lines+markers",
                line=line,
                row=1,
                col=column,
                marker={"symbol": SYMBOLS[(i + lap) % len(SYMBOLS)], "size": 7},
                error_y=bars_in_range(mine["mean", REST], mine["ci95", REST], REST, 1.1, 3),
            )
    for s in settings.promises:
        mark_x(plot, s, "equal losses, compared", row=1, col=1)
    plot.update_xaxes(**log_ticks((0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1)))
    for column, words in enumerate(("ε of the sensitive attribute", "ε of the whole table"), 1):
        plot.update_xaxes(title_text=words, row=1, col=column)
    plot.update_yaxes(**log_ticks((0.03, 0.05, 0.1, 0.2, 0.3)))
    plot.update_yaxes(title_text="2-way distance without it", row=1, col=1)
    title = "Who serves the rest, at which loss of the sensitive attribute?"
    return finish(plot, data, title, TABLE, 620)


DRAW: dict[Key, Callable[[Key, pd.DataFrame, Any], go.Figure]] = {1: dots, 2: heat, 3: promises}

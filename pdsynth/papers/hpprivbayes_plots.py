"""Figures 3 to 6 of the thesis and the main picture, from tidy trials. Error bars: 95 % confidence interval of the mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from ..plots import PALETTE, figure
from . import drawing
from .drawing import STYLE, finished, label, level, line, panels
from .engine import NO_NOISE, Key
from .hpprivbayes_settings import METHODS, Curve, Settings, compared
from .results import select, summarise

DASH = {("published", "4"): "dash", ("strict", "4"): "dot", ("strict", "auto"): "solid", ("none", "4"): "longdash"}
TABLE = "Adult, thesis coding"


def curves(plot: go.Figure, summary: pd.DataFrame, metric: str, settings: Settings, where: dict[str, Any] | None = None,
           legend: bool = True, only: list[Curve] | None = None) -> None:  # fmt: skip
    """All curves against ε of figures 4 and 5, and the lines without privacy."""
    for this in only or compared(settings):
        at = {"method": this.method, "guarantee": this.guarantee, "k": this.k}
        colour, symbol = STYLE[this.method]
        style = {"name": label(**at), "colour": colour, "legend": legend, "dash": DASH.get((this.guarantee, this.k), "dash"),
                 "symbol": symbol + ("-open" if this.guarantee == "strict" and this.k != "auto" else "")}  # fmt: skip
        line(plot, select(summary, metric=metric, **at), "epsilon", style, where)
    span = (min(settings.epsilons), max(settings.epsilons))
    for method, dash in zip(METHODS, ("longdash", "dot"), strict=True):
        style = {"name": label(method, "none"), "colour": PALETTE["none"], "dash": dash, "legend": legend}
        level(plot, select(summary, metric=metric, method=method, guarantee="none", k=settings.k), span, style, where)


def sums(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 3: sum of mutual information against k."""
    summary = summarise(data).assign(degree=lambda f: f["k"].astype(int))
    shown = [(NO_NOISE, "no noise"), *((e, f"ε = {e:g}") for e in (max(settings.epsilons), min(settings.epsilons)))]
    plot = panels(len(shown), [name for _, name in shown], shared_yaxes=True)
    for column, (epsilon, _) in enumerate(shown, 1):
        for guarantee in ("none",) if epsilon == NO_NOISE else ("published", "strict"):
            word = {"none": "no noise", "published": "as published", "strict": "strict"}[guarantee]
            for method in METHODS:
                colour, symbol = STYLE[method]
                style = {"name": f"{method}, {word}", "colour": colour, "symbol": symbol, "dash": drawing.DASH[guarantee],
                         "legend": column != len(shown)}  # fmt: skip
                points = select(summary, epsilon=epsilon, guarantee=guarantee, method=method)
                line(plot, points, "degree", style, {"row": 1, "col": column})
    plot.update_xaxes(title_text="k (parents)", tickvals=[int(k) for k in settings.degrees])
    plot.update_yaxes(title_text="sum of mutual information, bit", col=1)
    return finished(plot, data, "Quality of the networks", TABLE, 460)


def accuracies(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 4: SVM accuracy against ε."""
    summary = summarise(data)
    plot = figure(x="ε", y="accuracy")
    curves(plot, summary, "accuracy", settings)
    span = (min(settings.epsilons), max(settings.epsilons))
    for method, dash in (("real data", "solid"), ("majority class", "dot")):
        level(plot, select(summary, metric="accuracy", method=method), span, {"name": method, "colour": PALETTE["real"], "dash": dash})
    return finished(plot, data, "SVM trained on synthetic rows, tested on real ones", TABLE, 560)


def distances(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 5: 2-way and 3-way average variation distance against ε."""
    summary = summarise(data)
    plot = panels(2, ["2-way", "3-way"])
    for column, metric in enumerate(("2-way distance", "3-way distance"), 1):
        curves(plot, summary, metric, settings, {"row": 1, "col": column}, legend=column == 1)
    plot.update_xaxes(title_text="ε")
    plot.update_yaxes(rangemode="tozero")
    plot.update_yaxes(title_text="average variation distance", col=1)
    return finished(plot, data, "How far the synthetic table is from the real one", TABLE, 560)


def ratios(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Figure 6: SVM accuracy against ε, one curve a ratio r."""
    summary = summarise(data)
    colours = ("#D55E00", "#E69F00", "#009E73", "#0072B2", "#767676")
    symbols = ("circle", "square", "diamond", "triangle-up", "cross")
    plot = panels(2, [f"as published, not private (k={settings.k})", "strict (k=auto)"], shared_yaxes=True)
    for column, (guarantee, k) in enumerate((("published", settings.k), ("strict", "auto")), 1):
        for i, r in enumerate(settings.ratios):
            style = {"name": f"r = {r}", "colour": colours[i % 5], "symbol": symbols[i % 5], "legend": column == 1}
            points = select(summary, metric="accuracy", method="HPPrivBayes", guarantee=guarantee, k=k, r=r)
            line(plot, points, "epsilon", style, {"row": 1, "col": column})
    plot.update_xaxes(title_text="ε")
    plot.update_yaxes(title_text="accuracy", col=1)
    return finished(plot, data, "HPPrivBayes: budget of group A over group B, r = L2/L3", TABLE, 460)


def main_picture(data: pd.DataFrame, settings: Settings) -> go.Figure:
    """The README's picture: published against strict against no privacy, 2-way distance against ε."""
    plot = figure(x="privacy budget ε", y="2-way average variation distance")
    only = [c for c in compared(settings) if (c.guarantee, c.k) != ("strict", settings.k)]
    curves(plot, summarise(data), "2-way distance", settings, only=only)
    plot.update_yaxes(rangemode="tozero")
    plot.update_xaxes(tickvals=list(settings.epsilons), range=[min(settings.epsilons) - 0.03, max(settings.epsilons) + 0.03])
    return finished(plot, data, "How far is the synthetic table from the real one?", TABLE, 500)


DRAW: dict[Key, Callable[[pd.DataFrame, Settings], go.Figure]] = {3: sums, 4: accuracies, 5: distances, 6: ratios}

"""Lesson 19: from ε to the distance that is foretold, and from a distance back to ε."""

from functools import cache

import numpy as np

from ...core import BudgetError, Schema
from ...datasets.adult import load_adult
from ...planning import forecasts, plan
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel
from .words import percent

LEAST, MOST = 0.01, 10.0  # ends of the axis of ε; that of distances begins there, too


@cache
def _schema() -> Schema:
    return load_adult().schema


@cache
def curve(n: int) -> tuple[np.ndarray, list[float]]:
    """ε, and the distance that is foretold at each, for n records over Adult's schema."""
    epsilons = np.geomspace(LEAST, MOST, 40)
    return epsilons, [forecasts(_schema(), n, float(e))[0].distance for e in epsilons]


@cache
def back(n: int, distance: float) -> float | None:
    """The least ε whose forecast is at most a distance; None where none up to 10 is."""
    try:
        return float(plan(_schema(), n, distance=distance).epsilon)
    except BudgetError:
        return None


@live_panel(
    spends=False,
    tries=(
        Try(
            "half the distance",
            {"distance": 0.03},
            "it takes ε = {now.epsilon:g}; {was.distance:g} took {was.epsilon:g}.",
            lambda was, now: now.epsilon > was.epsilon,
        ),
        Try(
            "fewer people",
            {"n": 15_000},
            "the same distance takes ε = {now.epsilon:g} instead of {was.epsilon:g}.",
            lambda was, now: now.epsilon > was.epsilon,
        ),
        Try(
            "too near",
            {"n": 1500, "distance": 0.03},
            "no ε up to 10 is foretold to come so near.",
            lambda was, now: not now.epsilon,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.05, 10.0, 0.05, tooltip="ε, what one person may lose"),
    distance=slider("distance", 0.06, 0.02, 0.3, 0.01, tooltip="mean two-way distance wanted"),
    n=choice("n", [1500, 5000, 15_000, 48_842], 48_842, tooltip="n, number of records"),
)
def view(epsilon: float, distance: float, n: int) -> View:
    """The forecast by ε, read in both directions."""
    foretold, least = forecasts(_schema(), n, epsilon)[0].distance, back(n, distance)
    plot = Board("way_back", f"n = {n:,}: ε = {epsilon:g}, distance = {distance:g}")
    x, y = curve(n)
    plot.line(x, y, "real", hover="ε = %{x:.2g}: %{y:.3f}", name="forecast")
    plot.line(
        [epsilon, epsilon, LEAST], [LEAST, foretold, foretold], "private", dash="dot", hover=False
    )
    plot.dots([epsilon], [foretold], "private", name="from ε to a distance")
    plot.note(f"<b>{percent(foretold)}</b>", np.log10(epsilon), np.log10(foretold) + 0.12, 1,
              "private", 16, xanchor="left")  # fmt: skip
    if least is not None:
        plot.line(
            [LEAST, least, least], [distance, distance, LEAST], "look", dash="dash", hover=False
        )
        plot.dots([least], [distance], "look", symbol="square", name="from a distance to ε")
        way = f"a distance of {distance:g} takes ε = {least:g} or more."
    else:
        plot.limit([LEAST, MOST], [distance, distance])
        way = f"no ε up to 10 is foretold to come as near as {distance:g}."
    status = (
        f"{n:,} people, ε = {epsilon:g}: pairs will be off by {percent(foretold)}. "
        f"Adult's columns: at ε = {epsilon:g} a distance of {foretold:.3f} is "
        f"foretold; {way} Both from public facts alone."
    )
    facts = {"epsilon": least or 0, "distance": distance, "foretold": foretold}
    return View(plot.figure, status, facts=facts)


panel = view.panel

"""Lesson 19: where people end up if a number stands in equal bins, and in private ones."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ...baselines import Independent
from ...core import Attribute, ExactNoise, Schema, total_variation
from ...datasets.adult import load_adult
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, friendly
from .panel import live_panel
from .words import percent

RANGES = {"capital-gain": (0, 99_999), "hours-per-week": (1, 99), "age": (17, 90)}
GRID = 100  # equal bins that neither choice made, on which both are judged


@cache
def _people(column: str) -> pd.DataFrame:
    return load_adult().frame[[column, "sex"]]


@cache
def synthetic(column: str, number: int, epsilon: float, private: bool) -> tuple[Any, Any]:
    """Numbers of the synthetic people, and the edges of their bins; the same noise every time."""
    own: dict[str, Any] = {"bins": "private", "number": number} if private else {"bins": number}
    attribute = Attribute.numeric(column, *RANGES[column], integer=True, **own)
    schema = Schema((attribute, load_adult().schema["sex"]))
    model = Independent(epsilon).fit(_people(column), schema, noise=ExactNoise(7)).model_
    return model.sample(random_state=7)[column].to_numpy(), model.schema[column].edges


def shares(column: str, numbers: Any) -> np.ndarray:
    """The share of people in each of 100 equal bins: float (100,)."""
    low, high = RANGES[column]
    counts, _ = np.histogram(numbers, GRID, (low, high + 1))
    return counts / len(numbers)


@live_panel(
    spends=False,
    tries=(
        Try(
            "hours a week",
            {"column": "hours-per-week"},
            "most work 40 hours, a bin of its own: {now.chosen:.0%} in the wrong place instead "
            "of {now.equal:.0%}.",
            lambda was, now: now.chosen < now.equal,
        ),
        Try(
            "hardly any budget",
            {"epsilon": 0.05},
            "edges are noise: {now.chosen:.0%} in the wrong place, and equal bins {now.equal:.0%}.",
            lambda was, now: now.chosen > was.chosen,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, privacy budget of edges and counts"),
    number=choice("bins", [4, 8, 16, 32], 16, tooltip="number of bins, public"),
    column=choice("column", {friendly(name): name for name in RANGES}, "capital-gain"),
)
def view(epsilon: float, number: int, column: str) -> View:
    """Shares of people up to each number: real, from equal bins, and from private ones."""
    plot = Board("private_bins", f"{column}: ε = {epsilon:g}, bins = {number}")
    real = _people(column)[column].to_numpy()
    at = np.linspace(*RANGES[column], 200)
    off, edges = {}, ()
    for private, colour, words in ((False, "attack", "equal"), (True, "private", "private")):
        numbers, edges = synthetic(column, number, epsilon, private)
        off[words] = total_variation(shares(column, real), shares(column, numbers))
        plot.line(at, np.searchsorted(np.sort(numbers), at, "right") / len(numbers), colour,
                  name=f"{words} bins", dash="dot" if colour == "attack" else None,
                  hover="up to %{x:,.0f}: %{y:.0%}")  # fmt: skip
    plot.line(at, np.searchsorted(np.sort(real), at, "right") / len(real), "real", width=1.5,
              name="real people", hover="up to %{x:,.0f}: %{y:.0%}")  # fmt: skip
    plot.dots(edges[1:-1], np.zeros(len(edges) - 2), "private", symbol="line-ns-open",
              name="private edges", hover="an edge at %{x:,.0f}")  # fmt: skip
    place: dict[str, Any] = {"xref": "x domain", "yref": "y domain", "xanchor": "right"}
    for y, kind, colour in ((0.36, "equal", "attack"), (0.24, "private", "private")):
        words = f"<b>{kind} bins: {percent(off[kind])} wrong</b>"
        plot.note(words, 0.98, y, 1, colour, 13, **place)
    plot.note("<b>grey: real people</b>", 0.98, 0.12, 1, "real", 13, **place)
    plot.set(x={"title": {"text": friendly(column)}})
    status = (
        f"Equal bins put {percent(off['equal'])} of the people in the wrong place. "
        f"Private bins {percent(off['private'])}, edges paid for. "
        f"{number} bins each, judged on {GRID} others."
    )
    facts = {"equal": off["equal"], "chosen": off["private"]}
    return View(plot.figure, status, facts=facts)


panel = view.panel

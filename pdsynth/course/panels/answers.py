"""Lesson 15: counts with an interval that is known without the records, and whether it holds."""

import numpy as np

from ...baselines import Independent
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, friendly
from .panel import live_panel
from .table import TeachingTable, adult
from .words import attribute_choice

LEVELS = {"50%": 0.5, "80%": 0.8, "90%": 0.9, "95%": 0.95}


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "less budget",
            {"epsilon": 0.05},
            "intervals are ±{now.half:,.0f} people wide instead of ±{was.half:,.0f}.",
            lambda was, now: now.half > was.half,
        ),
        Try(
            "half of the time",
            {"level": 0.5},
            "±{now.half:,.0f} people instead of ±{was.half:,.0f}, and {now.held} of {now.cells} "
            "intervals hold.",
            lambda was, now: now.half < was.half,
        ),
    ),
    epsilon=slider("ε", 0.2, 0.05, 4.0, 0.05, tooltip="ε, privacy budget"),
    level=choice("holds in", LEVELS, 0.9, tooltip="share of fits in which an interval holds"),
    attribute=attribute_choice(usual="education"),
)
def view(table: TeachingTable, epsilon: float, level: float, attribute: str) -> View:
    """Measured counts of a column with their intervals, and the real ones."""
    model = table.run(Independent(epsilon)).model_
    marginal, real = model.marginal(attribute, interval=level), table.counts(attribute)
    low, high = marginal["low"].to_numpy(), marginal["high"].to_numpy()
    holds = (low <= real) & (real <= high)
    names, measured = [*table.schema[attribute].labels], marginal["measured"].to_numpy()
    half = float(np.mean(high - low) / 2)
    plot = Board("answers", f"{attribute}: ε = {epsilon:g}, interval = {level:.0%}")
    miss = measured - real  # everything is drawn against the real count
    plot.mark((0, 0), (-0.5, len(names) - 0.5), "real", dash=None)
    for colour, chosen, words in (
        ("private", holds, "interval holds"),
        ("attack", ~holds, "interval misses"),
    ):
        at = np.flatnonzero(chosen)
        if len(at):
            reach = {
                "type": "data",
                "symmetric": False,
                "array": (high - measured)[at].tolist(),
                "arrayminus": (measured - low)[at].tolist(),
                "thickness": 3,
            }
            plot.dots(
                miss[at],
                [names[i] for i in at],
                colour,
                symbol="circle" if colour == "private" else "x",
                size=9,
                error_x=reach,
                name=words,
                hover="%{y}: off by %{x:,.0f} people",
            )
    hits = int(holds.sum())
    note = f"<b>{hits} of {len(names)}</b> hold 0"
    plot.note(note, 0.99, 0.99, 1, "private", 14, xref="x domain", yref="y domain",
              xanchor="right", yanchor="top")  # fmt: skip
    plot.set(y={"categoryarray": names[::-1], "categoryorder": "array"})
    status = (
        f"{hits} of {len(names)} intervals hold the real count. Each is about "
        f"±{half:,.0f} people, from ε alone. An interval holds in {level:.0%} of all fits of "
        f"{friendly(attribute)}, or more."
    )
    facts = {"held": hits, "cells": len(names), "half": half}
    return View(plot.figure, status, facts=facts)


panel = view.panel

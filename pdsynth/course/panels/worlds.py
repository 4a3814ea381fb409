"""Micro-worlds of lesson 16: one person moves, and a step's whole law slides against e^±ε."""

import math
from fractions import Fraction

import numpy as np

from ...audit.case import format_epsilon
from ...audit.detectors import log_ratio as loss
from ...audit.worlds import STEPS, Law, World, inside
from ...audit.worlds import table as side_by_side
from ...core import as_fraction, plural
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .mechanisms import RELEASES, rain
from .panel import live_panel
from .table import remember
from .words import fold, html_table

PEOPLE = World(((0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 0)))


@remember
def law(world: World, step: str, epsilon: Fraction) -> Law:
    """The law of a step in one world."""
    return world.law(step, epsilon)


def draw(p: Law, q: Law, epsilon: Fraction, title: str) -> Board:
    """Every network that can come out: its probability, and where that of the other may lie."""
    both, plot, e = side_by_side(p, q), Board("worlds", title), math.exp(epsilon)
    x, before, after = list(both.index), both["p"].astype(float), both["q"].astype(float)
    plot.bars(
        x,
        before * e - before / e,
        "rgba(0,114,178,.18)",
        base=before / e,
        width=0.8,
        name="allowed",
        hover=False,
    )
    plot.dots(x, before, "real", size=11, name="before")
    outside = [
        not 1 / e <= (b / a if a else math.inf) <= e for a, b in zip(before, after, strict=True)
    ]
    for name, colour, symbol, out in (
        ("after, inside", "look", "diamond-open", False),
        ("after, outside", "attack", "x", True),
    ):
        at = [i for i, beyond in enumerate(outside) if beyond == out]
        plot.dots(
            [x[i] for i in at],
            [after.iloc[i] for i in at],
            colour,
            symbol=symbol,
            size=11,
            name=name,
            marker={"line": {"width": 2}},
        )
    return plot


@live_panel(
    spends=False,  # the five people are made up
    tries=(
        Try(
            "a raw order",
            {"step": "raw order (HPPrivBayes as printed)", "becomes": 3},
            "{now.verdict} the band: a chance changes {now.times} times.",
            lambda was, now: now.verdict == "OUTSIDE",
        ),
        Try(
            "n twice",
            {"step": "sensitivity divided by n twice"},
            "too small a sensitivity: {now.times} times, {now.verdict} the band of "
            "ε = {now.claimed:g}.",
            lambda was, now: now.verdict == "OUTSIDE",
        ),
        Try(
            "a small ε",
            {"epsilon": 0.1},
            "the band is narrow, and the ratio is {now.times}: still {now.verdict}.",
            lambda was, now: now.verdict == "inside",
        ),
    ),
    step=choice("step", list(STEPS)),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    person=slider("person", 5, 1, len(PEOPLE.rows), 1, tooltip="person who moves"),
    becomes=slider("becomes", 0, 0, len(PEOPLE.cells) - 1, 1, tooltip="becomes record number"),
)
def view(step: str, person: int, becomes: int, epsilon: float) -> View:
    """Person number ``person`` (from 1) gets record number ``becomes``."""
    budget, record = as_fraction(epsilon), PEOPLE.cells[becomes]
    p, q = (law(world, step, budget) for world in (PEOPLE, PEOPLE.moved(person - 1, record)))
    was, now = ("".join(map(str, cell)) for cell in (PEOPLE.rows[person - 1], record))
    plot = draw(p, q, budget, f"{step}: person {person}, {was} → {now}, ε = {epsilon:g}")
    facts = {
        "loss": format_epsilon(loss(p, q)),
        "claimed": epsilon,
        "verdict": "inside" if inside(p, q, budget) else "OUTSIDE",
    }
    factor = math.exp(loss(p, q)) if loss(p, q) < 700 else math.inf
    facts["times"] = "∞" if factor == math.inf else f"{factor:.2f}"
    plot.note(f"<b>{facts['times']}</b> times, at most", 0.02, 0.97, 1,
              "look" if facts["verdict"] == "inside" else "attack", 16, xref="x domain",
              yref="y domain", xanchor="left", yanchor="top")  # fmt: skip
    outputs = sorted({*p, *q})
    chances = np.array([float(q.get(network, 0)) for network in outputs])
    draws = np.random.default_rng(16).choice(len(outputs), RELEASES, p=chances / chances.sum())
    at, high = rain(draws, 0, len(outputs))
    plot.dots([outputs[i] for i in at], high, "look", size=4, hover=False, marker={"opacity": 0.8})
    homes = [PEOPLE.cells.index(row) for row in PEOPLE.rows]
    plot.layout["meta"] |= {
        "rain": len(plot.traces) - 1,
        "grab": {
            "bars": ["".join(map(str, cell)) for cell in PEOPLE.cells],
            "heights": [0] * len(PEOPLE.cells),
            "people": [becomes if i == person - 1 else home for i, home in enumerate(homes)],
            "bar": "becomes",
            "person": "person",
            "first": 0,
        },
    }
    status = (
        f"Moving a person changes a chance {facts['times']} times; {math.exp(budget):.2f} is "
        f"allowed. The largest ratio is e^{facts['loss']}: {facts['verdict']} "
        f"the band of ε = {epsilon:g}. "
        f"{plural(len(p), 'network')} before, {len(q)} after. Both laws sum "
        f"to {sum(p.values())} and {sum(q.values())}."
    )
    short = [{network: x.limit_denominator(10**6) for network, x in one.items()} for one in (p, q)]
    rows = [(network, *(one.get(network, "0") for one in short)) for network in sorted({*p, *q})]
    fractions = html_table(("network", "before", "after"), rows)
    folded = fold("As fractions, to 6 digits", fractions)
    return View(plot.figure, status, [folded], facts=facts)


panel = view.panel

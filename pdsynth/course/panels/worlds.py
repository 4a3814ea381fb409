"""Micro-worlds of lesson 16: one person moves, and a step's whole law slides against e^±ε."""

import math
from fractions import Fraction

from ...audit.case import format_epsilon
from ...audit.detectors import log_ratio as loss
from ...audit.worlds import STEPS, Law, World, inside
from ...audit.worlds import table as side_by_side
from ...core import as_fraction, plural
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
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
        "rgba(230,159,0,.25)",
        base=before / e,
        width=0.8,
        name="allowed: within e^±ε",
        hover=False,
    )
    plot.dots(x, before, "private", size=11, name="before")
    outside = [
        not 1 / e <= (b / a if a else math.inf) <= e for a, b in zip(before, after, strict=True)
    ]
    for name, colour, symbol, out in (
        ("after, inside", "none", "diamond-open", False),
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
            "{now.verdict} the band: the two worlds differ by e^{now.loss}.",
            lambda was, now: now.verdict == "OUTSIDE",
        ),
        Try(
            "n twice",
            {"step": "sensitivity divided by n twice"},
            "too small a sensitivity: e^{now.loss}, {now.verdict} the band of ε = {now.claimed:g}.",
            lambda was, now: now.verdict == "OUTSIDE",
        ),
        Try(
            "a small ε",
            {"epsilon": 0.1},
            "the band is narrow, and the ratio is e^{now.loss}: still {now.verdict}.",
            lambda was, now: now.verdict == "inside",
        ),
    ),
    step=choice("step", list(STEPS)),
    person=slider("person", 5, 1, len(PEOPLE.rows), 1, tooltip="person who moves"),
    becomes=slider(
        "becomes", 0, 0, len(PEOPLE.cells) - 1, 1, tooltip="becomes record number, from 000 to 111"
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, budget of the step"),
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
    status = (
        f"The largest ratio is e^{facts['loss']}: {facts['verdict']} the band of ε = {epsilon:g}. "
        f"{plural(len(p), 'network')} before, {len(q)} after. Both laws sum "
        f"to {sum(p.values())} and {sum(q.values())}."
    )
    short = [{network: x.limit_denominator(10**6) for network, x in one.items()} for one in (p, q)]
    rows = [(network, *(one.get(network, "0") for one in short)) for network in sorted({*p, *q})]
    fractions = html_table(("network", "before", "after"), rows)
    folded = fold("As fractions, to 6 digits", fractions)
    return View(plot.figure, status, [folded], facts=facts)


panel = view.panel

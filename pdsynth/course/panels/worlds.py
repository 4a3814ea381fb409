"""Exact micro-worlds (lesson 16): one person moves, and the whole law of a structure step slides against the band of e^ε."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import plotly.graph_objects as go

from ...audit.case import shown
from ...audit.worlds import STEPS, Law, World, inside, loss, table
from ...plots import PALETTE, figure
from ...privacy.ledger import as_fraction
from ..widgets import View, choice, live, slider

PEOPLE = World(((0, 0, 0), (0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 0)))


@lru_cache(maxsize=256)
def law(world: World, step: str, epsilon: Fraction) -> Law:
    """The law of a step in one world, computed once."""
    return world.law(step, epsilon)


def draw(p: Law, q: Law, epsilon: Fraction, title: str) -> go.Figure:
    """Every network that can come out, its probability in both worlds, and where the second one may lie."""
    both = table(p, q)
    x, here, there = list(both.index), both["p"].astype(float), both["q"].astype(float)
    plot = figure(title=title, subtitle="every output of the step, computed in fractions", height=440)
    e = math.exp(epsilon)
    plot.add_bar(x=x, y=here * e - here / e, base=here / e, name="allowed: within e^±ε", marker_color="rgba(230,159,0,.25)", width=0.8,
                 hoverinfo="skip")  # fmt: skip
    plot.add_scatter(x=x, y=here, mode="markers", name="before", marker={"color": PALETTE["private"], "size": 11})
    outside = [not math.exp(-epsilon) <= (b / a if a else math.inf) <= e for a, b in zip(here, there, strict=True)]
    for name, colour, symbol, chosen in (
        ("after, inside", PALETTE["none"], "diamond-open", False),
        ("after, outside", PALETTE["attack"], "x", True),
    ):
        at = [i for i, out in enumerate(outside) if out == chosen]
        plot.add_scatter(x=[x[i] for i in at], y=[there.iloc[i] for i in at], mode="markers", name=name,
                         marker={"color": colour, "symbol": symbol, "size": 11, "line": {"width": 2}})  # fmt: skip
    return plot.update_layout(
        yaxis={"range": [0, 1], "title": "probability"}, xaxis={"title": "network", "type": "category"},
        margin={"t": 92, "b": 120},
    )  # fmt: skip


def view(step: str = "PrivBayes, score R", person: int = 5, becomes: int = 0, epsilon: float = 1.0, world: World = PEOPLE) -> View:
    """Person number ``person`` (from 1) gets record number ``becomes``."""
    budget, record = as_fraction(epsilon), world.cells[int(becomes)]
    other = world.moved(int(person) - 1, record)
    p, q = law(world, step, budget), law(other, step, budget)
    was = "".join(map(str, world.rows[int(person) - 1]))
    title = f"{step}: person {int(person)}, {was} → {''.join(map(str, record))}, ε = {epsilon:g}"
    kept = inside(p, q, budget)
    status = (
        f"{len(p)} networks before, {len(q)} after; the largest ratio is e^{shown(loss(p, q))}: "
        f"{'inside' if kept else 'OUTSIDE'} the band of ε = {epsilon:g}. Both laws sum to {sum(p.values())} and {sum(q.values())}."
    )
    rows = "".join(f"<tr><td>{o}</td><td>{a}</td><td>{b}</td></tr>" for o, a, b in _fractions(p, q))
    head = "<tr><th>network</th><th>before</th><th>after</th></tr>"
    words = f"<details><summary>As fractions, to 6 digits</summary><table>{head}{rows}</table></details>"
    return View.told(draw(p, q, budget, title), status, [words])


def _fractions(p: Law, q: Law) -> list[tuple[str, str, str]]:
    """Both laws with short fractions beside each other."""
    short = [{o: str(x.limit_denominator(10**6)) for o, x in law.items()} for law in (p, q)]
    return [(o, short[0].get(o, "0"), short[1].get(o, "0")) for o in sorted({*p, *q})]


def panel() -> Any:
    """The live panel; five made-up people, so it spends nothing."""
    cells = ["".join(map(str, cell)) for cell in PEOPLE.cells]
    return live(
        view,
        step=choice("step", list(STEPS)),
        person=slider("person", 5, 1, len(PEOPLE.rows), 1, tooltip="person who moves"),
        becomes=slider("becomes", 0, 0, len(cells) - 1, 1, tooltip="becomes record number, from 000 to 111"),
        epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, budget of the step"),
    )

"""The risk entropy panel (lesson 09): who gets which share of ε for its table, and what a noisy entropy does to the shares."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from html import escape
from typing import Any

import plotly.graph_objects as go

from ...budgets import risk_entropy_weights
from ...counting.tables import Records
from ...datasets import Dataset, load_adult
from ...measures import normalised_risk_entropy
from ...plots import PALETTE, figure
from ...privacy.curator import Curator
from ...privacy.ledger import Ledger, as_fraction
from ...privacy.mechanisms import Noise
from ..widgets import View, choice, live, slider
from .studio import Studio, ledger_summary

SIGNS = {"paper, more OE, more noise": 1, "reversed": -1, "equal shares": 0}
READINGS = {"noisy histograms": "strict", "raw, as published": "published"}
RAW = "the entropies of the raw records set the noise scales, so the scales differ between neighbours"


class Room(Studio):
    """A studio with the one-way counts of its table, and of every 10th and 100th of its records."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset, seed=9)
        codes = self.records.codes
        self.sizes = {f"{len(codes[::step]):,}": Records(codes[::step], self.schema) for step in (1, 10, 100)}

    @property
    def all(self) -> str:
        """The name of the whole table among ``sizes``."""
        return next(iter(self.sizes))


@lru_cache(maxsize=1)
def room() -> Room:
    """The public teaching table: Adult as HMPrivBayes uses it, 45,222 rows and 15 attributes."""
    return Room(load_adult(complete=True))


def run(records: Records, epsilon: Fraction, share: Fraction, sign: int, guarantee: str, noise: Noise) -> dict[str, Any]:
    """Histograms, their entropies, and one noisy one-way table an attribute with the share that its entropy earns.

    Under strict, ``share`` of ε pays for the histograms; published reads them raw and has all of ε for the tables. ``cells`` is the
    noise scale of a table against its mean cell if its share were 1.
    """
    names, ledger = records.schema.names, Ledger(epsilon, guarantee)
    curator = Curator(records, ledger, noise)
    paid = epsilon * share if guarantee == "strict" else Fraction(0)
    counts, entry = curator.histograms(range(len(names)), paid or epsilon, step="entropies", source="Alg 5 line 2, OE", reason=RAW)
    oe = {name: normalised_risk_entropy(c) for name, c in zip(names, counts, strict=True)}
    weights = risk_entropy_weights({name: sign * value for name, value in oe.items()})
    for j, name in enumerate(names):
        mine = weights[name] * (epsilon - paid)
        curator.table((j,), 2 / mine, step=f"table({name})", source="Alg 5 line 2", claimed=mine, scale_depends_on=(entry,))
    cells = {a.name: 2 * a.size / float(records.n * (epsilon - paid)) for a in records.schema.attributes}
    raw = {name: normalised_risk_entropy(records.table((j,))) for j, name in enumerate(names)}
    return {"oe": oe, "raw": raw, "share": weights, "tables": epsilon - paid, "ledger": ledger, "cells": cells}


def draw(state: dict[str, Any], order: list[str], title: str) -> go.Figure:
    """Entropy, share of the budget, and noise against the mean cell of every attribute, one row each."""
    plot, equal = figure(title=title, height=560), 1 / len(order)
    plot.add_bar(y=order, x=[state["raw"][n] for n in order], orientation="h", name="OE, raw", marker_color=PALETTE["real"],
                 hovertemplate="%{y}: %{x:.4f}<extra></extra>")  # fmt: skip
    plot.add_scatter(y=order, x=[state["oe"][n] for n in order], mode="markers", name="OE, used",
                     marker={"symbol": "diamond", "size": 9, "color": PALETTE["private"], "line": {"width": 1, "color": "white"}},
                     hovertemplate="%{y}: %{x:.4f}<extra></extra>")  # fmt: skip
    cells = {n: float(state["cells"][n]) for n in order}
    plot.add_bar(y=order, x=[float(state["share"][n]) for n in order], orientation="h", name="share and noise",
                 xaxis="x2", yaxis="y2", marker_color=PALETTE["private"], hovertemplate="%{y}: %{x:.2%}<extra></extra>")  # fmt: skip
    plot.add_bar(y=order, x=[cells[n] / float(state["share"][n]) for n in order], orientation="h", showlegend=False, xaxis="x3", yaxis="y3",
                 marker_color=PALETTE["private"], hovertemplate="%{y}: %{x:.4f}<extra></extra>")  # fmt: skip
    for axis, x in (("2", [equal] * len(order)), ("3", [cells[n] / equal for n in order])):
        plot.add_scatter(y=order, x=x, mode="markers", name="equal shares", showlegend=axis == "2", xaxis=f"x{axis}", yaxis=f"y{axis}",
                         marker={"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": PALETTE["none"]}},
                         hovertemplate="%{y}: %{x:.4f}<extra></extra>")  # fmt: skip
    plot.add_shape(type="line", x0=1, x1=1, y0=-0.6, y1=len(order) - 0.4, xref="x3", yref="y3",
                   line={"color": PALETTE["attack"], "dash": "dash", "width": 1.5})  # fmt: skip
    rows = {"range": [-0.6, len(order) - 0.4], "showgrid": False}
    hidden = {**rows, "showticklabels": False, "categoryorder": "array", "categoryarray": order}
    plot.update_layout(
        margin={"l": 130, "r": 24, "t": 84, "b": 60},
        bargap=0.3,
        xaxis={"domain": [0, 0.34], "range": [0, 1.05], "title": "normalised risk entropy"},
        yaxis={**rows, "categoryorder": "array", "categoryarray": order},
        xaxis2={"domain": [0.39, 0.68], "range": [0, 0.16], "anchor": "y2", "tickformat": ".0%",
                "title": "share of the tables' ε"},
        yaxis2={**hidden, "anchor": "x2"},
        xaxis3={"domain": [0.73, 1], "range": [-4, 2], "type": "log", "dtick": 2, "exponentformat": "power", "anchor": "y3", "tickangle": 0,
                "title": "noise ÷ mean cell"},
        yaxis3={**hidden, "anchor": "x3"},
    )  # fmt: skip
    return plot


def shares_table(here: Room, state: dict[str, Any], order: list[str]) -> str:
    """One row an attribute: its values, both entropies, its share and its noise."""
    head = "".join(f"<th>{h}</th>" for h in ("attribute", "values", "OE, raw", "OE, used", "share", "noise scale"))
    rows = "".join(
        f"<tr><td style='text-align:left'>{escape(n)}</td><td>{here.schema[n].size}</td><td>{state['raw'][n]:.3f}</td>"
        f"<td>{state['oe'][n]:.3f}</td><td>{float(share):.2%}</td><td>{2 / float(share * state['tables']):,.1f}</td></tr>"
        for n, share in ((n, state["share"][n]) for n in order[::-1])
    )
    return f"<details><summary>All shares</summary><table><tr>{head}</tr>{rows}</table></details>"


def view(
    epsilon: float = 1.0,
    share: float = 0.1,
    weights: str = "paper, more OE, more noise",
    reading: str = "noisy histograms",
    records: str = "",
    here: Room | None = None,
) -> View:
    """Everything for one position of the controls."""
    here = here or room()
    chosen, guarantee = here.sizes[records or here.all], READINGS[reading]
    state = run(chosen, as_fraction(epsilon), as_fraction(share), SIGNS[weights], guarantee, here.noise.fresh())
    order = sorted(here.schema.names, key=lambda n: normalised_risk_entropy(here.sizes[here.all].table((here.schema.index(n),))))
    title = f"reading = {reading}: ε = {epsilon:g}, s = {share:g}, weights = {weights.split(',')[0]}, records = {chosen.n:,}"
    most, least = (pick(here.schema.names, key=state["share"].__getitem__) for pick in (max, min))
    off = max(abs(state["oe"][n] - state["raw"][n]) for n in order)
    ratio = float(state["share"][most] / state["share"][least])
    spent = f"the ledger closes at {float(state['ledger'].epsilon):g}" if guarantee == "strict" else "no finite ε: the entropies are raw"
    drowned = sum(state["cells"][n] > float(state["share"][n]) for n in order)
    noisy = f"in {drowned} of {len(order)} tables the noise exceeds the mean cell"
    told = (
        f"{most} gets the largest share, {float(state['share'][most]):.1%}, {least} the smallest, {float(state['share'][least]):.1%}: "
        f"a factor of {ratio:.2f}, of e = 2.72 at most"
    )
    if weights == "equal shares":
        told = f"Every table gets {float(state['share'][most]):.1%}"
    status = f"{told}. The entropies used are off by up to {off:.3f}; {noisy}; {spent}."
    tables = [ledger_summary(state["ledger"]), shares_table(here, state, order)]
    return View.told(draw(state, order, title), status, tables)


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult as HMPrivBayes uses it unless another public teaching table is given."""
    here = room() if dataset is None else Room(dataset)
    return live(
        lambda **controls: view(here=here, **controls),
        epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, for histograms and tables together"),
        share=slider("s", 0.1, 0.01, 0.5, 0.01, tooltip="s, share of ε for noisy histograms"),
        weights=choice("weights", list(SIGNS)),
        reading=choice("reading", list(READINGS)),
        records=choice("records", list(here.sizes)),
        spends=True,
    )

"""Lesson 09: who gets which share of ε for its table, and what a noisy entropy does to it."""

import math
from fractions import Fraction
from html import escape
from typing import Any

from ...algorithms import RiskEntropy, risk_entropy_weights
from ...core import Ledger, Noise, Records, TableBudget, as_fraction, normalised_risk_entropy
from ...published.doors import open_door, raw_door
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, friendly, ink
from .panel import live_panel
from .table import TeachingTable, adult, remember
from .words import fold, html_table, ledger_summary, percent

SIGNS = {"paper, more OE, more noise": 1, "reversed": -1, "equal shares": 0}
READINGS = {"noisy histograms": "strict", "raw, as published": "published"}
RAW = (
    "the entropies of the raw records set the noise scales, so the scales differ between neighbours"
)


@remember
def samples(table: TeachingTable) -> dict[str, Records]:
    """All records, and every 10th and 100th of them, by their number."""
    codes = table.records.codes
    return {
        f"{len(codes[::step]):,}": Records(codes[::step], table.schema) for step in (1, 10, 100)
    }


def entropies(records: Records) -> dict[str, float]:
    """Raw normalised risk entropy of every attribute."""
    return {
        name: normalised_risk_entropy(records.table((j,)))
        for j, name in enumerate(records.schema.names)
    }


def run(
    records: Records, epsilon: Fraction, share: Fraction, sign: int, guarantee: str, noise: Noise
) -> dict[str, Any]:
    """Entropies of all attributes, and a noisy table of each with the share that it earns.

    Under strict, ``share`` of ε pays for single columns; published reads them raw and has all of ε
    for the tables. ``cells``: the noise scale of a table over its mean cell if its share were 1.
    """
    names, ledger = records.schema.names, Ledger(epsilon, guarantee)
    curator = open_door(records, ledger, noise)
    paid = epsilon * share if guarantee == "strict" else Fraction(0)
    if guarantee == "strict":
        counts, entry = RiskEntropy().histograms(curator, paid)
    else:
        counts, entry = raw_door(curator).histograms(
            range(len(names)), step="entropies", source="Alg 5 line 2, OE", reason=RAW
        )
    oe = {name: normalised_risk_entropy(c) for name, c in zip(names, counts, strict=True)}
    weights = risk_entropy_weights({name: sign * value for name, value in oe.items()})
    rest = epsilon - paid
    for j, name in enumerate(names):
        budget = TableBudget(weights[name] * rest, None, (entry,), "Alg 5 line 2")
        curator.table((j,), budget, step=f"table({name})")
    cells = {a.name: 2 * a.size / float(records.n * rest) for a in records.schema.attributes}
    return {
        "oe": oe,
        "raw": entropies(records),
        "share": weights,
        "tables": rest,
        "ledger": ledger,
        "cells": cells,
    }


def draw(state: dict[str, Any], order: list[str], title: str) -> Board:
    """Entropy, share, and noise over the mean cell of every attribute, one row each."""
    plot, d = Board("risk_entropy", title), len(order)
    share, cells = ([float(state[key][n]) for n in order] for key in ("share", "cells"))
    fine, fine_share = "%{y}: %{x:.4f}", "%{y}: %{x:.2%}"
    plot.bars(
        [state["raw"][n] for n in order], order, "real", across=True, name="OE, raw", hover=fine
    )
    plot.dots(
        [state["oe"][n] for n in order],
        order,
        "private",
        symbol="diamond",
        size=9,
        name="OE, used",
        marker={"line": {"width": 1, "color": "white"}},
        hover=fine,
    )
    most = max(share)
    looks = ["look" if one == most else "private" for one in share]
    labels = [f"<b>{percent(one)}</b>" if one == most else "" for one in share]
    plot.bars(share, order, looks, 2, across=True, name="share", hover=fine_share, labels=labels)
    noise = [c / s for c, s in zip(cells, share, strict=True)]
    plot.dots(noise, order, "private", 3, size=10, hover=fine, name="share")
    for cell, x in ((2, [1 / d] * d), (3, [c * d for c in cells])):
        plot.add(
            "scatter",
            cell,
            "equal shares",
            fine,
            x=x,
            y=order,
            mode="markers",
            marker={"symbol": "line-ns", "size": 14, "line": {"width": 3, "color": ink("none")}},
        )
    ends = (-0.6, d - 0.4)
    plot.mark((1, 1), ends, "attack", 3)
    rows = {"range": ends, "categoryorder": "array", "categoryarray": order}
    plot.set(y=rows, y2=rows, y3=rows)
    return plot


def shares_table(table: TeachingTable, state: dict[str, Any], order: list[str]) -> str:
    """One row per attribute: its values, both entropies, its share and its noise."""
    heads = ("attribute", "values", "OE, raw", "OE, used", "share", "noise scale")
    rows = [
        (
            escape(n),
            table.schema[n].size,
            f"{state['raw'][n]:.3f}",
            f"{state['oe'][n]:.3f}",
            f"{float(state['share'][n]):.2%}",
            f"{2 / float(state['share'][n] * state['tables']):,.1f}",
        )
        for n in order[::-1]
    ]
    return fold("All shares", html_table(heads, rows))


@live_panel(
    adult("complete", seed=9),
    tries=(
        Try(
            "453 records",
            {"records": "453"},
            "in {now.loud} of {now.of} tables the noise exceeds the mean cell, in {was.loud} "
            "with 45,222 records; the entropies are off by up to {now.off:.2f}.",
            lambda was, now: now.loud > was.loud,
        ),
        Try(
            "the other way round",
            {"weights": "reversed"},
            "now {now.most} gets the largest share, {now.share:.1%}; before it was {was.most}.",
            lambda was, now: now.most != was.most,
        ),
        Try(
            "raw, as published",
            {"reading": "raw, as published"},
            "no entropy is off, and the ledger finds no finite ε.",
            lambda was, now: now.off == 0 and not now.finite,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    weights=choice("weights", list(SIGNS)),
    share=slider("s", 0.1, 0.01, 0.5, 0.01, tooltip="s, share of ε for noisy histograms"),
    reading=choice("reading", list(READINGS)),
    records=lambda table: choice("records", list(samples(table))),
)
def view(
    table: TeachingTable, epsilon: float, share: float, weights: str, reading: str, records: str
) -> View:
    """Entropies, shares and noise of all attributes."""
    chosen, guarantee = samples(table)[records], READINGS[reading]
    state = run(
        chosen,
        as_fraction(epsilon),
        as_fraction(share),
        SIGNS[weights],
        guarantee,
        table.noise.fresh(),
    )
    whole = entropies(table.records)
    shares = {name: float(value) for name, value in state["share"].items()}
    order = sorted(whole, key=lambda name: (shares[name], whole[name]))
    most, least = (pick(shares, key=state["share"].__getitem__) for pick in (max, min))
    loud = sum(state["cells"][n] > shares[n] for n in order)
    close = f"the ledger closes at {float(state['ledger'].epsilon):g}"
    words = (
        f"{friendly(most).capitalize()} gets the largest share of the budget, "
        f"{percent(shares[most])}. {friendly(least).capitalize()} the smallest, "
        f"{shares[least]:.1%}: a factor of "
        f"{float(state['share'][most] / state['share'][least]):.2f}, of 2.72 at most"
    )
    if weights == "equal shares":
        words = f"Every table gets {percent(shares[most])} of the budget"
    facts = {
        "off": max(abs(state["oe"][n] - state["raw"][n]) for n in order),
        "loud": loud,
        "of": len(order),
        "most": friendly(most),
        "share": shares[most],
        "finite": state["ledger"].epsilon != math.inf,
    }
    status = (
        f"{words}. The entropies used are off by up to {facts['off']:.3f}; in {loud} of "
        f"{len(order)} tables the noise exceeds the mean cell; "
        f"{close if guarantee == 'strict' else 'no finite ε: the entropies are raw'}."
    )
    role = "sets no share here" if weights == "equal shares" else "sets the shares"
    title = (
        f"reading = {reading}: ε = {epsilon:g}, s = {share:g}, "
        f"weights = {weights.split(',')[0]}, records = {chosen.n:,}"
    )
    tables = [ledger_summary(state["ledger"]), shares_table(table, state, order)]
    plot = draw(state, order, title)
    plot.entitle("xy", f"Normalised risk entropy OE {role}")
    return View(plot.figure, status, tables, facts=facts)


panel = view.panel

"""Lesson 04: k and ε move the network, what it captures, the noise of its tables, the distances."""

from typing import Any

import numpy as np

from ...algorithms import PrivBayes
from ...core import plural
from ...evaluation.queries import sum_mutual_information
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, Mark, arcs
from .panel import live_panel
from .table import TeachingTable, adult, remember
from .words import ledger_summary, noise_to_cell, percent, too_noisy

READINGS: dict[str, dict[str, Any]] = {
    "strict": {"guarantee": "strict"},
    "thesis reprint": {"guarantee": "published", "reading": "thesis"},
    "no noise": {"guarantee": "none"},
}
SEED = 7  # of the root when nothing else is drawn
FAR = 0.25  # from here on distances stand on one line, as its tick says


@remember
def fit(table: TeachingTable, epsilon: float, k: int | str, reading: str) -> dict[str, Any]:
    """One run with common random numbers, and what is shown of it.

    ``noise`` leaves out tables that are derived from others.
    """
    fitted = table.run(PrivBayes(epsilon, k=k, random_state=SEED, **READINGS[reading]))
    return {
        "fitted": fitted,
        "captured": sum_mutual_information(fitted.network_, table.records),
        "noise": {name: v for name, v in noise_to_cell(fitted).items() if v},
        "distances": np.sort(table.real.distances(table.sample(fitted))),
    }


def draw(run: dict[str, Any], best: dict[str, Any], title: str) -> Board:
    """Network over its noise bars; captured information and sorted distances beside them."""
    order, noise = run["fitted"].network_.order, run["noise"]
    plot = Board("privbayes", title)
    measured = [i for i, name in enumerate(order) if name in noise]
    derived = [i for i, name in enumerate(order) if name not in noise]
    marks = [
        Mark(measured, [order[i] for i in measured], "private", "circle", "noisy table"),
        Mark(
            derived, [order[i] for i in derived], "private", "circle-open", "derived, or no noise"
        ),
        Mark(
            range(len(order)),
            order,
            "private",
            noise=[noise.get(name, 0) for name in order],
            size=0,
        ),
    ]
    plot.network(arcs(run["fitted"].network_), order, marks)
    for label, of, colour, dash in (
        ("without noise", best, "none", "dash"),
        ("this run", run, "private", "solid"),
    ):
        plot.bars(
            [of["captured"]],
            [label],
            colour,
            3,
            across=True,
            cliponaxis=False,
            text=[f"{of['captured']:.2f}"],
            textposition="outside",
            hover="%{x:.3f} bits",
        )
        mean = float(of["distances"].mean())
        plot.line(
            np.linspace(0, 100, len(of["distances"])),
            np.minimum(of["distances"], FAR),
            colour,
            4,
            dash=dash,
            width=2,
            name=f"{label}, mean {percent(mean)}",
            cliponaxis=False,
            text=[percent(distance) for distance in of["distances"]],
            hover="%{text}",
        )
        plot.limit([0, 100], [min(mean, FAR)] * 2, 4, colour, dash="dot")
    return plot


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "three parents",
            {"k": "3"},
            "the network captures {now.bits:.2f} bits instead of {was.bits:.2f}, but {now.noisy} "
            "tables are mostly noise: the distance grows from {was.mean:.3f} to {now.mean:.3f}.",
            lambda was, now: now.noisy > was.noisy and now.mean > was.mean,
        ),
        Try(
            "little budget",
            {"epsilon": 0.1},
            "{now.edges} edges are left of {was.edges}; the distance goes from {was.mean:.3f} to "
            "{now.mean:.3f}.",
            lambda was, now: now.edges < was.edges and now.mean > was.mean,
        ),
        Try(
            "the thesis' reprint",
            {"reading": "thesis reprint"},
            "as reprinted it spends ε = {now.spent:g} while it claims 1.",
            lambda was, now: now.spent > 1,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    k=choice("k", ["auto", "0", "1", "2", "3", "4"], tooltip="k, parents of a column"),
    reading=choice("reading", list(READINGS)),
)
def view(table: TeachingTable, epsilon: float, k: str, reading: str) -> View:
    """One run beside the same root and rule for parents without noise: argmax and raw tables."""
    degree = k if k == "auto" else int(k)
    run = fit(table, epsilon, degree, reading)
    best = fit(table, epsilon if k == "auto" else 1.0, degree, "no noise")  # else ε moves nothing
    fitted, noise = run["fitted"], run["noise"]
    rule = f" ({fitted.degree_rule_})" if k == "auto" else ""
    spent = f"True ε {float(fitted.ledger_.finite):g} of {epsilon:g} claimed"
    noisy, sentence = too_noisy(noise, "noisy table")
    facts = {
        "bits": run["captured"],
        "noisy": noisy,
        "edges": len(fitted.network_.edges),
        "mean": float(run["distances"].mean()),
        "spent": float(fitted.ledger_.finite),
    }
    status = (
        f"Pairs of columns are off by {percent(facts['mean'])} of the people. "
        f"{plural(facts['edges'], 'edge captures', 'edges capture')} {facts['bits']:.2f} bits "
        f"({best['captured']:.2f} without noise); mean 2-way distance {facts['mean']:.3f} "
        f"({best['distances'].mean():.3f} without noise). {sentence}. "
        f"{'Not private at all' if reading == 'no noise' else spent}."
    )
    plot = draw(run, best, f"PrivBayes: ε = {epsilon:g}, k = {k}{rule}, reading = {reading}")
    return View(plot.figure, status, [ledger_summary(fitted.ledger_)], facts=facts)


panel = view.panel

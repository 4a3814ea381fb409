"""Lesson 18: a forest of what single columns miss, made to agree, beside Independent, at any ε."""

import math

import numpy as np

from ...algorithms import ConsistentBayes
from ...baselines import Independent
from ...core import Agree, plural
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, Mark, arcs, ink
from .panel import live_panel
from .table import TeachingTable, adult, remember
from .words import ledger_summary, percent

TOTALS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
COARSE = 1.0  # the panel's agreement ends earlier than a fit's: the picture is the same
NOBODY = "no attribute"


def distances(table: TeachingTable, codes: np.ndarray) -> tuple[float, float]:
    """Mean one-way and two-way distances of synthetic rows."""
    n, alone = len(codes), []
    for name in table.schema.names:
        alone.append(np.abs(table.counts(name, codes) - table.counts(name)).sum() / (2 * n))
    return float(np.mean(alone)), float(table.real.distances(codes).mean())


@remember
def line(table: TeachingTable) -> tuple[list[float], list[float]]:
    """One-way and two-way distances of Independent at every ε of ``TOTALS``."""
    points = [distances(table, table.sample(table.run(Independent(total)))) for total in TOTALS]
    return [one for one, _ in points], [two for _, two in points]


def at(table: TeachingTable, epsilon: float) -> tuple[float, float]:
    """Both distances of Independent, read off its line."""
    one, two = (float(np.interp(np.log(epsilon), np.log(TOTALS), y)) for y in line(table))
    return one, two


def noise_of_tables(fitted: ConsistentBayes) -> dict[frozenset[str], float]:
    """Noise scale of each measured column and pair over its mean cell."""
    scales = {entry.step: entry.scale for entry in fitted.ledger_.entries}
    noise = {}
    for names in fitted.measured_:
        scale = scales[f"table({', '.join(names)})"]
        cells = fitted.model_.schema.cells(names)
        noise[frozenset(names)] = float(scale) * cells / fitted.n_  # type: ignore[arg-type]
    return noise


def draw_forest(plot: Board, fitted: ConsistentBayes, sensitive: str | None) -> None:
    """Attributes in the order of the network, over the noise of their tables.

    That is the pair with its parent, of several the noisiest; where none is measured, its column.
    """
    order, noise = fitted.network_.order, noise_of_tables(fitted)
    own = {
        child: max(
            (len(names), noise[names])
            for names in noise
            if child in names and names <= {child, *parents}
        )[1]
        for child, parents in fitted.network_.pairs
    }
    marks = []
    for label, colour, symbol, mine in (
        ("attribute", "private", "circle", [i for i, a in enumerate(order) if a != sensitive]),
        ("sensitive", "look", "diamond", [i for i, a in enumerate(order) if a == sensitive]),
    ):
        words = [order[i] for i in mine]
        heights = [own[word] for word in words]
        marks.append(Mark(mine, words, colour, symbol, label if mine else None, heights))
    plot.network(arcs(fitted.network_), order, [mark for mark in marks if mark.at])


def draw_distances(
    plot: Board,
    alone: tuple[list[float], list[float]],
    epsilon: float,
    measured: tuple[float, float],
) -> None:
    """One-way and two-way distances: Independent's at every ε, and the forest's at this one."""
    labels = "one column", "two columns"
    for cell, (here, others, label) in enumerate(zip(measured, alone, labels, strict=True), 3):
        plot.line(
            TOTALS,
            others,
            "none",
            cell,
            mode="lines+markers",
            width=2,
            dash="dot",
            name="Independent" if cell == 3 else None,
            hover="ε = %{x}: %{y:.4f}",
            marker={"symbol": "square-open", "size": 8},
        )
        plot.dots(
            [epsilon],
            [here],
            "private",
            cell,
            size=15,
            hover=f"{label}: %{{y:.4f}}",
            name="the forest" if cell == 3 else None,
            marker={"line": {"width": 2, "color": ink("real")}},
        )


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "hardly any budget",
            {"epsilon": 0.05},
            "a look at the ties says that their tables would be mostly noise: {now.edges} pairs "
            "instead of {was.edges}. The forest {now.two:.4f}, Independent {now.alone:.4f}.",
            lambda was, now: now.edges < was.edges and now.two < 1.1 * now.alone,
        ),
        Try(
            "a secret",
            {"sensitive": "occupation"},
            "occupation stands in one table besides its own and loses {now.loss:.3g} of ε = 1; "
            "the distance goes from {was.two:.4f} to {now.two:.4f}.",
            lambda was, now: now.loss < 1,
        ),
        Try(
            "a lot of budget",
            {"epsilon": 4.0},
            "two-way distance {now.two:.4f} instead of {was.two:.4f}; Independent stays at "
            "{now.alone:.4f}.",
            lambda was, now: now.two < was.two < now.alone,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, privacy budget"),
    sensitive=lambda table: choice(
        "sensitive",
        [NOBODY, *table.schema.names],
        tooltip="sensitive attribute, in one table besides its own",
    ),
)
def view(table: TeachingTable, epsilon: float, sensitive: str) -> View:
    """Above: the forest over the noise of its tables. Below: distances beside Independent's."""
    name = None if sensitive == NOBODY else sensitive
    fitted = table.run(
        ConsistentBayes(epsilon, rounds=0, sensitive=name, reconcile=Agree(tolerance=COARSE))
    )
    plot = Board("forest", f"The forest alone: ε = {epsilon:g}, sensitive: {sensitive}")
    draw_forest(plot, fitted, name)
    measured, single = distances(table, table.sample(fitted)), at(table, epsilon)
    draw_distances(plot, line(table), epsilon, measured)
    place = {"xanchor": "left" if epsilon < 0.2 else "right" if epsilon > 1 else "center"}
    plot.note(f"<b>{percent(measured[1])}</b>", math.log10(epsilon), measured[1] - 0.012, 4, "look",
              16, **place)  # fmt: skip
    plot.note(f"alone: <b>{percent(single[1])}</b>", math.log10(epsilon), single[1] + 0.004, 4,
              "none", 14, yanchor="bottom", **place)  # fmt: skip
    losses = fitted.ledger_.attribute_epsilon()
    remark = (
        ""
        if name is None
        else (
            f" {name} stands in one table besides its own: a change of it "
            f"costs {float(losses[name]):.3g} of {epsilon:g}."
        )
    )
    edges = len(fitted.network_.edges)
    status = (
        f"Pairs are off by {percent(measured[1])}; if columns stand alone, by "
        f"{percent(single[1])}. "
        f"Two-way distance {measured[1]:.4f}, Independent {single[1]:.4f}. One-way "
        f"{measured[0]:.4f}, Independent {single[0]:.4f}; "
        f"{plural(edges, 'pair')} measured.{remark}"
    )
    facts = {
        "edges": edges,
        "two": measured[1],
        "alone": single[1],
        "loss": float(losses[name]) if name else epsilon,
    }
    return View(plot.figure, status, [ledger_summary(fitted.ledger_)], facts=facts)


panel = view.panel

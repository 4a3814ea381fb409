"""Lesson 03: heat map of an association, and the contingency table of one pair of attributes."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ...core import (
    Curator,
    Ledger,
    as_fraction,
    association_sensitivity,
    entropy,
    mutual_information,
    tvd_from_independence,
)
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import SHADES, Board, friendly, ink, ticks
from .panel import live_panel
from .table import TeachingTable, adult, pair_controls, remember, symmetric
from .words import fold

TOPS = {"I, bits": 1.75, "R": 0.65, "R with noise": 0.65}  # of the colour scale
MOST = 0.05  # share of all people at which a cell of one pair has its full colour
LIFT = [[0, ink("private")], [0.5, "#f3f3f3"], [1, ink("look")]]


@remember
def raw(table: TeachingTable, measure: str) -> np.ndarray:
    """One number per pair of attributes."""
    i, j = np.triu_indices(len(table.schema), 1)
    if measure == "I, bits":
        return table.information[i, j]
    return table.records.lattice.association(i, j[:, None]) / (2 * table.records.n**2)


def values(table: TeachingTable, measure: str, epsilon: Fraction) -> np.ndarray:
    """One number per pair; ``R with noise`` is the curator's sketch of all pairs at cost ε."""
    if measure != "R with noise":
        return raw(table, measure)
    pairs = list(combinations(range(len(table.schema)), 2))
    curator = Curator(table.records, Ledger(epsilon), table.noise.fresh())
    return curator.noisy_associations(pairs, epsilon, step="all pairs", source="sketch of R")[0]


def noise_scale(table: TeachingTable, epsilon: Fraction) -> float:
    """Scale of the noise on each R of the sketch."""
    n = table.records.n
    total = sum(association_sensitivity(n, a, b) for a, b in combinations(table.schema.sizes, 2))
    return float(total / epsilon) / (2 * n * n)


def draw(
    table: TeachingTable, plot: Board, matrix: np.ndarray, pair: tuple[int, int], measure: str
) -> None:
    """All pairs, the chosen one framed; and its shares minus what independence would give."""
    names, counts = table.schema.names, table.records.table(pair)
    plot.pairs(
        matrix,
        names,
        zmin=0,
        zmax=TOPS[measure],
        colorscale=SHADES,
        colorbar=colour_bar(measure, 0.0),
    )
    for i, j in (pair, pair[::-1]):
        plot.mark((i - 0.5, i + 0.5), (j - 0.5, j + 0.5), "look", 1, 3, None,
                  fillcolor=ink("look"))  # fmt: skip
    # on a phone a number is wider than its cell: what it covers stands in the other half, too
    row, column = sorted(pair)
    number = f"<b>{matrix[pair]:.2f}</b>"
    plot.note(number, column, row, 1, "#000000", 15, bgcolor=ink("look"))
    p = counts / counts.sum()
    gap = p - np.outer(p.sum(1), p.sum(0))
    x, y = (list(table.schema.attributes[j].labels) for j in pair)
    plot.heat(
        gap.T,
        2,
        x=x,
        y=y,
        zmid=0,
        zmin=-MOST,
        zmax=MOST,
        colorscale=LIFT,
        customdata=counts.T,
        colorbar=colour_bar("P(x,y) − P(x)P(y), of all people", 0.64)
        | {"tickvals": [-MOST, 0, MOST], "ticktext": ["≤ −5%", "0%", "≥ 5%"]},
        hover="%{x} × %{y}: %{customdata:,} people, P − P·P = %{z:.2%}",
    )
    plot.set(x=ticks(names), y=ticks(names))


def colour_bar(text: str, x: float) -> dict[str, Any]:
    """Below a heat map that starts at ``x``: above it, the title would leave the figure."""
    return {
        "title": {"text": text, "side": "top"},
        "orientation": "h",
        "len": 0.36,
        "thickness": 10,
        "x": x,
        "xanchor": "left",
        "y": -0.33,
        "yanchor": "top",
    }


def contingency(table: TeachingTable, pair: tuple[int, int]) -> str:
    """The counts of one pair as a folded HTML table."""
    x, y = (table.schema.attributes[j] for j in pair)
    counts = pd.DataFrame(
        table.records.table(pair), pd.Index(x.labels, name=x.name), pd.Index(y.labels, name=y.name)
    )
    return fold(
        f"Contingency table of {x.name} and {y.name}",
        f"<div style='overflow-x:auto'>{counts.to_html(border=0)}</div>",
    )


@live_panel(
    adult("thesis", seed=5),
    tries=(
        Try(
            "two strangers",
            {"x": "sex", "y": "race"},
            "sex says {now.bits:.3f} bits of race, relationship {was.bits:.3f} of marital-status.",
            lambda was, now: now.bits < 0.1 * was.bits,
        ),
        Try(
            "noise on all pairs",
            {"measure": "R with noise", "epsilon": 0.1},
            "at ε = 0.1 the noise is larger than the real R of {now.drowned:.0%} of the pairs.",
            lambda was, now: now.drowned > 0.5,
        ),
        Try(
            "nearly the same thing",
            {"x": "education", "y": "education-num"},
            "{now.bits:.3f} of the {now.entropy:.3f} bits of education: as much as the coarser "
            "coding of the same fact can say.",
            lambda was, now: now.bits > 0.5 * now.entropy,
        ),
    ),
    **pair_controls("relationship", "marital-status"),
    measure=choice("measure", list(TOPS)),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε of the noisy sketch of all pairs"),
)
def view(table: TeachingTable, x: str, y: str, measure: str, epsilon: float) -> View:
    """The heat map, and one pair's contingency table with its I and R."""
    if x == y:
        raise ValueError(
            f"choose two different attributes: {x} tells everything about itself, "
            f"I({x}; {x}) is its entropy"
        )
    pair, share = (table.schema.index(x), table.schema.index(y)), as_fraction(epsilon)
    counts = table.records.table(pair)
    matrix = symmetric(values(table, measure, share), len(table.schema))
    noisy, bits = measure == "R with noise", measure == "I, bits"
    plot = Board("information", f"{measure}{f', ε = {epsilon:g}' if noisy else ''}: {x} and {y}")
    draw(table, plot, matrix, pair, measure)
    unit = "bits (a bit: one yes-or-no answer)" if bits else measure
    plot.entitle("xy", f"What each pair of columns shares: {unit}")
    plot.entitle(
        "x2y2",
        f"{friendly(x).capitalize()} and {friendly(y)}: "
        "orange is more often together, % of all people",
    )
    facts = {
        "bits": float(mutual_information(counts)),
        "r": float(tvd_from_independence(counts)),
        "entropy": float(entropy(counts.sum(1))),
        "drowned": float(np.mean(raw(table, "R") < noise_scale(table, share))),
    }
    measured = "bits" if bits else "in R, with noise" if noisy else "in R"
    status = (
        f"{friendly(x).capitalize()} and {friendly(y)} share {matrix[pair]:.2f} {measured}. "
        f"In full: {facts['bits']:.3f} bits, of {facts['entropy']:.3f} bits of {x} and "
        f"{entropy(counts.sum(0)):.3f} of {y}; R = {facts['r']:.3f}."
    )
    if noisy:
        status += (
            f" The sketch at ε = {epsilon:g} says R = {matrix[pair]:.3f}; its noise has "
            f"scale {noise_scale(table, share):.4f}, and the real R of "
            f"{facts['drowned']:.0%} of the pairs lies below that."
        )
    return View(plot.figure, status, [contingency(table, pair)], facts=facts)


panel = view.panel

"""Lesson 08: the grid that attains a MIC, and what k, ε, η and a sign make of private clusters."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from itertools import combinations
from typing import Any

import numpy as np

from ...algorithms import Clusters, ParentFilter, spectral_clusters, symmetric_matrix
from ...core import (
    Ledger,
    as_fraction,
    mutual_information,
    mutual_information_sensitivity,
    plural,
    tvd_from_independence,
    tvd_sensitivity,
)
from ...files.showing import shorten
from ...plots import BOXES
from ...published.doors import open_door, raw_door
from ...published.noise import NoNoise
from .. import mic
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import SHADES, Board, ticks
from .panel import live_panel
from .table import TeachingTable, adult, pair_controls, remember
from .words import ledger_summary, percent

SKETCHES = {
    "strict: noisy R, attributes": "strict",
    "published: noisy MIC, bits": "published",
    "no noise: R, attributes": "none",
}
READINGS = {"similarity": "similarity", "as printed: distance": "printed"}
Similarities = tuple[np.ndarray, tuple[str, ...], Ledger]


@remember
def grid(table: TeachingTable, pair: tuple[int, int]) -> mic.Grid:
    """The grid that attains the MIC of two attributes; the largest pair takes a second."""
    return mic.maximal_grid(table.records.table(pair))


@remember
def information(table: TeachingTable, guarantee: str) -> np.ndarray:
    """Raw mutual information of all pairs of what is clustered: for judging clusters."""
    if guarantee == "published":
        return table.records.binary().pairwise("I")
    return table.information


def similarities(table: TeachingTable, guarantee: str, epsilon1: Fraction) -> Similarities:
    """The matrix that is clustered, the names of its columns, and the ledger.

    It holds R of attributes, or DPSC's MIC of bits.
    """
    ledger = Ledger(epsilon1, guarantee)
    noise = NoNoise() if guarantee == "none" else table.noise.fresh()
    curator = open_door(table.records, ledger, noise)
    if guarantee == "published":
        curator = curator.binary()
        d = len(curator.schema)
        each = epsilon1 * 2 * (d // 2) / (d * (d - 1))  # line 1: Lap(Δ d(d−1) / (ε1 · 2⌊d/2⌋))
        matrix, _ = raw_door(curator).information_sketch(
            each, claimed=epsilon1, step="similarities", source="Alg 3 line 1"
        )
        return matrix, curator.schema.names, ledger
    d = len(table.schema)
    pairs = list(combinations(range(d), 2))
    values, _ = curator.noisy_associations(
        pairs, epsilon1, step="similarities", source="Alg 3 line 1, with R"
    )
    return symmetric_matrix(d, pairs, values), table.schema.names, ledger


def kept_information(bits: np.ndarray, clusters: Clusters) -> float:
    """Share of the sum of all pairwise mutual information that stays inside clusters."""
    inside = sum(bits[np.ix_(c, c)].sum() for c in map(list, clusters))
    return float(inside / bits.sum()) if bits.sum() else 1.0


@remember
def best(table: TeachingTable, guarantee: str, k: int) -> float:
    """What clusters keep without noise and with the right sign."""
    bits = information(table, guarantee)
    raw = bits if guarantee == "published" else similarities(table, "none", Fraction(1))[0]
    return kept_information(bits, spectral_clusters(raw, k))


def strengths(table: TeachingTable, pair: tuple[int, int]) -> dict[str, float]:
    """I, MIC and R of a pair, each divided by the most that one record can change it."""
    counts, n = table.records.table(pair), table.records.n
    shape = counts.shape
    return {
        "I": mutual_information(counts) / mutual_information_sensitivity(n, *shape),
        "MIC": grid(table, pair).value / mic.maximal_information_sensitivity(n, *shape),
        "R": float(tvd_from_independence(counts) / tvd_sensitivity(n, *shape)),
    }


def compute(
    table: TeachingTable, k: int, epsilon1: Fraction, eta: float, guarantee: str, reading: str
) -> dict[str, Any]:
    """Noisy similarities, clusters, pairs that η removes inside them, and what clusters keep."""
    matrix, names, ledger = similarities(table, guarantee, epsilon1)
    clusters, removed = spectral_clusters(matrix, k, reading=reading), np.zeros(matrix.shape, bool)
    ties = ParentFilter(matrix, eta)
    for cluster in clusters:
        removed[np.ix_(cluster, cluster)] = ~ties.permit(cluster)
    np.fill_diagonal(removed, False)
    owners = table.records.binary().owners if guarantee == "published" else names
    homes = [{owners[j] for j in cluster} for cluster in clusters]
    torn = [owner for owner in set(owners) if sum(owner in home for home in homes) > 1]
    inside = kept_information(information(table, guarantee), clusters)
    return {
        "matrix": matrix,
        "names": names,
        "ledger": ledger,
        "clusters": clusters,
        "torn": torn,
        "removed": removed,
        "inside": inside,
        "best": best(table, guarantee, k),
    }


def draw_grid(plot: Board, table: TeachingTable, pair: tuple[int, int]) -> None:
    """A contingency table under its best grid, and three measures in units of sensitivities."""
    x, y = (table.schema.attributes[j] for j in pair)
    counts = table.records.table(pair)
    plot.heat(
        np.log10(counts.T + 1),
        zmin=0,
        zmax=4.5,
        customdata=counts.T,
        showscale=False,
        hover="%{customdata:,} records",
    )
    for cut in grid(table, pair).row_cuts:
        plot.mark((cut - 0.5, cut - 0.5), (-0.5, y.size - 0.5), "look", 1, 3, None)
    for cut in grid(table, pair).column_cuts:
        plot.mark((-0.5, x.size - 0.5), (cut - 0.5, cut - 0.5), "look", 1, 3, None)
    measures = strengths(table, pair)
    plot.dots(
        list(measures.values())[::-1],
        list(measures)[::-1],
        "none",
        2,
        hover="%{y}: %{x:,.0f} sensitivities",
    )
    plot.set(
        x={"title": x.name, "range": [-0.5, x.size - 0.5], **short_ticks(x.labels)},
        y={
            "title": {"text": y.name, "standoff": 6},
            "range": [y.size - 0.5, -0.5],
            **short_ticks(y.labels),
        },
    )


def draw_clusters(plot: Board, state: dict[str, Any]) -> None:
    """Similarities sorted by cluster."""
    order = [j for c in state["clusters"] for j in c]
    d, at = len(order), np.ix_(order, order)
    names = [state["names"][j] for j in order]
    plot.pairs(
        np.where(np.eye(d, dtype=bool), np.nan, state["matrix"][at]),
        names,
        3,
        zmin=0,
        zmax=0.5,
        colorscale=SHADES,
        colorbar={"thickness": 10, "len": 0.6, "y": 0.7, "title": {"text": "S", "side": "top"}},
    )
    cross = np.argwhere(state["removed"][at])
    plot.add(
        "scatter",
        3,
        "no candidates: η",
        False,
        x=cross[:, 1],
        y=cross[:, 0],
        mode="markers",
        showlegend=False,
        marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.5, "color": "#8a8a8a"}},
    )
    plot.boxes(map(len, state["clusters"]), 4, 3)
    note = f"framed: <b>{percent(state['inside'])}</b>"
    plot.note(note, -0.5, -1.2, 3, "look", 15, xanchor="left")
    x, y = {"range": [-0.6, d - 0.4]}, {"range": [d - 0.4, -2.0]}
    plot.set(
        x3={**x, **short_ticks(names), "showticklabels": False},
        y3={**y, **short_ticks(names), "tickfont": {"size": 9 if d > 20 else 12}},
    )


def short_ticks(labels: Sequence[str]) -> dict[str, Any]:
    """Ticks of at most 18 characters."""
    return ticks([shorten(text, 18) for text in labels])


def clusters_table(clusters: Clusters, names: tuple[str, ...]) -> str:
    """The clusters as lines of names."""
    lines = ""
    for i, cluster in enumerate(clusters):
        fill, text, sign, _ = BOXES[i % len(BOXES)]
        lines += (
            f"<li><span style='background:{fill};color:{text};padding:0 .5em'>{sign} "
            f"{len(cluster)}</span> {escape(', '.join(names[j] for j in cluster))}</li>"
        )
    return f"<b>Clusters.</b><ul style='list-style:none;padding-left:.3em'>{lines}</ul>"


@live_panel(
    adult("thesis", seed=8),
    tries=(
        Try(
            "the printed sign",
            {"reading": "as printed: distance"},
            "similar attributes are pulled apart: the clusters keep {now.inside:.0%} of all "
            "information instead of {was.inside:.0%}.",
            lambda was, now: now.inside < was.inside,
        ),
        Try(
            "little budget",
            {"epsilon": 0.05},
            "the clusters still keep {now.inside:.0%} ({was.inside:.0%} at ε₁ = 0.4): of 45,222 "
            "records this is a cheap question.",
            lambda was, now: abs(now.inside - was.inside) < 0.05,
        ),
        Try(
            "six clusters",
            {"k": 6},
            "smaller clusters, and only {now.inside:.0%} of the information inside them "
            "({now.best:.0%} without noise).",
            lambda was, now: now.inside < was.inside,
        ),
    ),
    epsilon=slider("ε₁", 0.4, 0.05, 2.0, 0.05, tooltip="ε₁, budget of the similarities"),
    k=slider("k", 3, 1, 6, 1, tooltip="k, number of clusters"),
    **pair_controls("age", "marital-status"),
    eta=slider("η", 0.2, 0.0, 0.9, 0.05, tooltip="η, weakest tie against the strongest"),
    sketch=choice("similarities", list(SKETCHES)),
    reading=choice("reading", list(READINGS)),
)
def view(
    table: TeachingTable,
    x: str,
    y: str,
    k: int,
    epsilon: float,
    eta: float,
    sketch: str,
    reading: str,
) -> View:
    """Left: a pair of attributes, its best grid and three measures. Right: the clusters."""
    if x == y:
        raise ValueError(
            f"choose two different attributes: a grid of {x} against itself says nothing"
        )
    pair, guarantee = (table.schema.index(x), table.schema.index(y)), SKETCHES[sketch]
    state = compute(table, k, as_fraction(epsilon), eta, guarantee, READINGS[reading])
    title = (
        f"{x} × {y}; {sketch.split(':')[0]}, {reading.split(':')[0]}: k = {k}, "
        f"ε₁ = {epsilon:g}, η = {eta:g}"
    )
    plot = Board("clustering", title)
    plot.entitle("xy", f"{x} × {y} under its best grid")
    draw_grid(plot, table, pair)
    draw_clusters(plot, state)
    finite, cuts = float(state["ledger"].finite), grid(table, pair)
    torn = plural(len(state["torn"]), "attribute has", "attributes have")
    removed = int(state["removed"].sum()) // 2
    paid = f"claimed ε₁ = {epsilon:g}, truly {finite:g}"
    status = (
        f"{plural(k, 'cluster keeps', 'clusters keep')} {percent(state['inside'])} of what pairs "
        f"of columns share. Without noise and with the right sign {state['best']:.0%}. "
        f"MIC({x}, {y}) = {cuts.value:.3f} on a {len(cuts.row_cuts) + 1} × "
        f"{len(cuts.column_cuts) + 1} grid; "
        f"I = {mutual_information(table.records.table(pair)):.3f} bits"
        f"{f'; {torn} bits in several clusters' if state['torn'] else ''}; "
        f"η removes {plural(removed, 'pair')} inside the clusters; "
        f"{'not private' if guarantee == 'none' else paid}."
    )
    facts = {"inside": state["inside"], "best": state["best"]}
    clusters = clusters_table(state["clusters"], state["names"])
    return View(plot.figure, status, [clusters, ledger_summary(state["ledger"])], facts=facts)


panel = view.panel

"""The clustering panel (lesson 08): the grid that attains a MIC, and what k, ε, η and a sign make of private clusters."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from html import escape
from itertools import combinations
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset, load_adult
from ...measures import (
    Grid,
    maximal_grid,
    maximal_information_sensitivity,
    mutual_information,
    mutual_information_sensitivity,
    tvd_from_independence,
    tvd_sensitivity,
)
from ...plots import BOXES, PALETTE, figure
from ...privacy.curator import Curator
from ...privacy.ledger import Ledger, as_fraction
from ...privacy.mechanisms import NoNoise
from ...structure.clustering import Clusters, spectral_clusters
from ...structure.ibayes import ParentFilter
from ..widgets import View, choice, live, slider
from .drawing import add_boxes, add_pairs, ticks
from .studio import Studio, ledger_summary, pairwise, symmetric

SKETCHES = {"strict: noisy R, attributes": "strict", "published: noisy MIC, bits": "published", "no noise: R, attributes": "none"}
READINGS = {"similarity": "similarity", "as printed: distance": "printed"}
TICK = 18  # characters of a tick label


class Room(Studio):
    """A studio with the measures that judge pairs and clusters."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset, seed=8)
        self._grids: dict[tuple[int, int], Grid] = {}

    def grid(self, pair: tuple[int, int]) -> Grid:
        """The grid that attains the MIC of two attributes, kept: the largest pair takes a second."""
        if pair not in self._grids:
            self._grids[pair] = maximal_grid(self.records.table(pair))
        return self._grids[pair]

    @cached_property
    def information(self) -> dict[str, np.ndarray]:
        """Raw mutual information of all pairs of attributes, and of all pairs of bits: symmetric, for judging clusters."""
        return {"attributes": pairwise(self.records.lattice), "bits": pairwise(self.records.binary().lattice)}


@lru_cache(maxsize=1)
def room() -> Room:
    """The public teaching table."""
    return Room(load_adult(coding="thesis"))


def similarities(here: Room, guarantee: str, epsilon1: Fraction) -> tuple[np.ndarray, tuple[str, ...], Ledger]:
    """The matrix that is clustered, the names of its columns, and the ledger: R of attributes, or DPSC's MIC of bits."""
    ledger = Ledger(epsilon1, guarantee)
    curator = Curator(here.records, ledger, NoNoise() if guarantee == "none" else here.noise.fresh())
    if guarantee == "published":
        curator = curator.binary()
        d = len(curator.schema)
        each = epsilon1 * 2 * (d // 2) / (d * (d - 1))  # Alg 3 line 1: Lap(Δ d(d−1) / (ε1 · 2⌊d/2⌋))
        matrix, _ = curator.information_sketch(each, claimed=epsilon1, step="similarities", source="Alg 3 line 1")
        return matrix, curator.schema.names, ledger
    d = len(here.schema)
    values, _ = curator.noisy_associations(list(combinations(range(d), 2)), epsilon1, step="similarities", source="Alg 3 line 1, with R")
    return symmetric(values, d, 0), here.schema.names, ledger


def kept_information(information: np.ndarray, clusters: Clusters) -> float:
    """Share of the sum of all pairwise mutual information that stays inside clusters."""
    inside = sum(information[np.ix_(c, c)].sum() for c in map(list, clusters))
    return float(inside / information.sum()) if information.sum() else 1.0


def draw(here: Room, pair: tuple[int, int], matrix: np.ndarray, removed: np.ndarray, clusters: Clusters, names: tuple[str, ...],
         title: str) -> go.Figure:  # fmt: skip
    """Left: a contingency table under its best grid, and three measures in units of their sensitivities. Right: sorted similarities."""
    plot = figure(title=title, subtitle="a table under its best grid, and the similarities sorted by cluster", height=680)
    x, y = (here.schema.attributes[j] for j in pair)
    table, grid = here.records.table(pair), here.grid(pair)
    plot.add_heatmap(z=np.log10(table.T + 1), zmin=0, zmax=4.5, colorscale="Cividis", customdata=table.T, showscale=False,
                     hovertemplate="%{customdata:,} records<extra></extra>")  # fmt: skip
    red = {"color": PALETTE["attack"], "width": 3}
    for cut in grid.row_cuts:
        plot.add_shape(type="line", x0=cut - 0.5, x1=cut - 0.5, y0=-0.5, y1=y.size - 0.5, line=red)
    for cut in grid.column_cuts:
        plot.add_shape(type="line", y0=cut - 0.5, y1=cut - 0.5, x0=-0.5, x1=x.size - 0.5, line=red)
    measures = strengths(here, pair)
    plot.add_bar(y=list(measures)[::-1], x=list(measures.values())[::-1], orientation="h", xaxis="x2", yaxis="y2", showlegend=False,
                 marker_color=PALETTE["none"], hovertemplate="%{y}: %{x:,.0f} sensitivities<extra></extra>")  # fmt: skip
    order = [j for c in clusters for j in c]
    sorted_names, place = [names[j] for j in order], np.ix_(order, order)
    z = np.where(np.eye(len(order), dtype=bool), np.nan, matrix[place])
    add_pairs(plot, z, sorted_names, xaxis="x3", yaxis="y3", zmin=0, zmax=0.5, colorscale="Cividis",
              colorbar={"thickness": 10, "len": 0.6, "y": 0.7, "title": {"text": "S", "side": "top"}})  # fmt: skip
    at = np.argwhere(removed[place])
    plot.add_scatter(x=at[:, 1], y=at[:, 0], mode="markers", xaxis="x3", yaxis="y3", name="no candidates: η", hoverinfo="skip",
                     marker={"symbol": "x-thin", "size": 7, "line": {"width": 1.5, "color": "#FFFFFF"}}, showlegend=False)  # fmt: skip
    add_boxes(plot, map(len, clusters), 4, "x3", "y3")
    return _axes(plot, x, y, sorted_names)


def strengths(here: Room, pair: tuple[int, int]) -> dict[str, float]:
    """I, MIC and R of a pair, each divided by the most that one record can change it."""
    table, n = here.records.table(pair), here.records.n
    return {
        "I": mutual_information(table) / mutual_information_sensitivity(n, *table.shape),
        "MIC": here.grid(pair).value / maximal_information_sensitivity(n, *table.shape),
        "R": float(tvd_from_independence(table) / tvd_sensitivity(n, *table.shape)),
    }


def _axes(plot: go.Figure, x: Any, y: Any, names: list[str]) -> go.Figure:
    places, x_labels, y_labels = (ticks([label if len(label) <= TICK else f"{label[: TICK - 1]}…" for label in labels])
                                  for labels in (names, x.labels, y.labels))  # fmt: skip
    return plot.update_layout(
        margin={"l": 110, "r": 16, "t": 84, "b": 110},
        xaxis={"domain": [0, 0.36], "range": [-0.5, x.size - 0.5], **x_labels, "tickangle": -50, "title": x.name},
        yaxis={"domain": [0.46, 1], "range": [y.size - 0.5, -0.5], "title": {"text": y.name, "standoff": 6}, **y_labels},
        xaxis2={"domain": [0, 0.36], "type": "log", "range": [0, 5], "dtick": 1, "anchor": "y2",
                "title": "value ÷ its sensitivity"},
        yaxis2={"domain": [0, 0.12], "anchor": "x2", "showgrid": False},
        xaxis3={"domain": [0.58, 1], "range": [-0.6, len(names) - 0.4], "anchor": "y3", **places, "tickangle": -50,
                "showticklabels": len(names) <= 20},
        yaxis3={"domain": [0.12, 1], "range": [len(names) - 0.4, -0.6], "anchor": "x3", **places,
                "tickfont": {"size": 9 if len(names) > 20 else 12}},
    )  # fmt: skip


def clusters_table(clusters: Clusters, names: tuple[str, ...]) -> str:
    """The clusters as lines of names."""
    lines = "".join(
        f"<li><span style='background:{BOXES[i % len(BOXES)][0]};color:{BOXES[i % len(BOXES)][1]};padding:0 .5em'>"
        f"{BOXES[i % len(BOXES)][2]} {len(c)}</span> {escape(', '.join(names[j] for j in c))}</li>"
        for i, c in enumerate(clusters)
    )
    return f"<b>Clusters.</b><ul style='list-style:none;padding-left:.3em'>{lines}</ul>"


def compute(here: Room, k: int, epsilon1: Fraction, eta: float, guarantee: str, reading: str) -> dict[str, Any]:
    """Noisy similarities, clusters, pairs that the η filter removes inside them, and what the clusters keep."""
    matrix, names, ledger = similarities(here, guarantee, epsilon1)
    clusters = spectral_clusters(matrix, k, reading=reading)
    kept = np.ones(matrix.shape, dtype=bool)
    ties = ParentFilter(matrix, eta)
    for cluster in clusters:
        kept[np.ix_(cluster, cluster)] = ties.kept(cluster)
    owners = here.records.binary().owners if guarantee == "published" else here.schema.names
    torn = {o for o in owners if sum(any(owners[j] == o for j in c) for c in clusters) > 1}
    information = here.information["bits" if guarantee == "published" else "attributes"]
    return {
        "matrix": matrix,
        "names": names,
        "ledger": ledger,
        "clusters": clusters,
        "removed": ~kept & ~np.eye(len(kept), dtype=bool),
        "torn": sorted(torn),
        "inside": kept_information(information, clusters),
        "best": kept_information(information, raw_clusters(here, guarantee, k)),
    }


@lru_cache(maxsize=64)
def raw_clusters(here: Room, guarantee: str, k: int) -> Clusters:
    """The clusters without noise and with the right sign: what the others are measured against."""
    if guarantee == "published":
        return spectral_clusters(here.information["bits"], k)
    return spectral_clusters(similarities(here, "none", Fraction(1))[0], k)


def view(
    x: str = "age",
    y: str = "marital-status",
    k: int = 3,
    epsilon: float = 0.4,
    eta: float = 0.2,
    sketch: str = "strict: noisy R, attributes",
    reading: str = "similarity",
    here: Room | None = None,
) -> View:
    """Everything for one position of the controls."""
    here = here or room()
    if x == y:
        raise ValueError(f"choose two different attributes: a grid of {x} against itself says nothing")
    pair, guarantee = (here.schema.index(x), here.schema.index(y)), SKETCHES[sketch]
    state = compute(here, int(k), as_fraction(epsilon), eta, guarantee, READINGS[reading])
    grid, removed = here.grid(pair), int(state["removed"].sum()) // 2
    title = f"{x} × {y}; {sketch.split(':')[0]}, {reading.split(':')[0]}: k = {int(k)}, ε₁ = {epsilon:g}, η = {eta:g}"
    information = mutual_information(here.records.table(pair))
    shape = f"{len(grid.row_cuts) + 1} × {len(grid.column_cuts) + 1}"
    paid = "not private" if guarantee == "none" else f"claimed ε₁ = {epsilon:g}, truly {float(state['ledger'].finite):g}"
    torn = f"; {len(state['torn'])} attributes have bits in several clusters" if state["torn"] else ""
    status = (
        f"MIC({x}, {y}) = {grid.value:.3f} on a {shape} grid; I = {information:.3f} bits. "
        f"The clusters keep {state['inside']:.0%} of all pairwise information ({state['best']:.0%} without noise and with the right sign)"
        f"{torn}; η removes {removed} pairs inside them; {paid}."
    )
    plot = draw(here, pair, state["matrix"], state["removed"], state["clusters"], state["names"], title)
    tables = [clusters_table(state["clusters"], state["names"]), ledger_summary(state["ledger"])]
    return View.told(plot, status, tables)


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    here = room() if dataset is None else Room(dataset)
    names = list(here.schema.names)
    start = ("age", "marital-status") if dataset is None else (names[0], names[1])
    return live(
        lambda **controls: view(here=here, **controls),
        x=choice("attribute X", names, start[0]),
        y=choice("attribute Y", names, start[1]),
        k=slider("k", 3, 1, 6, 1, unit="clusters", tooltip="k, number of clusters"),
        epsilon=slider("ε₁", 0.4, 0.05, 2.0, 0.05, tooltip="ε₁, budget of the similarities"),
        eta=slider("η", 0.2, 0.0, 0.9, 0.05, tooltip="η, weakest tie against the strongest"),
        sketch=choice("similarities", list(SKETCHES)),
        reading=choice("reading", list(READINGS)),
        spends=True,
    )

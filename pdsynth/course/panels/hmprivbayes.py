"""The HMPrivBayes panel (lesson 10): ε, k, l and η move clusters, networks, noise, ledger, distances and a preview together."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset
from ...plots import BOXES, figure
from ...synthesizers import HMPrivBayes
from ..widgets import View, choice, live, slider
from .drawing import (
    Line,
    add_arcs,
    add_boxes,
    add_distances,
    add_dots,
    add_line,
    add_noise,
    arches,
    half_circles,
    places,
    powers,
)
from .studio import WORDS, Studio, audited, ledger_summary, noise_to_cell, preview, studio

AFFINITIES = {"the guarantee's own": "auto", "similarity": "similarity", "as printed": "printed"}
Piece = tuple[int, str]  # number of a cluster, and an attribute with at least one bit in it


@lru_cache(maxsize=1)
def room() -> Studio:
    """The public teaching table as the paper uses it, with the sets of up to three bits counted in one pass."""
    here = studio("complete")
    here.records.binary().lattice.build(3, kind="H").build(3, kind="K")
    return here


def compute(here: Studio, epsilon: float, k: int, l: int, eta: float, guarantee: str, affinity: str) -> dict[str, Any]:  # noqa: E741
    """Everything that the panel shows, as plain values."""
    fitted = here.run(HMPrivBayes(epsilon, k=k, l=l, eta=eta, guarantee=guarantee, affinity=affinity))
    codes = here.sample(fitted)
    drowned = guarantee == "strict" and k > 1 and fitted.similarity_ is None
    return {"fitted": fitted, "codes": codes, "distances": here.distances(codes), "noise": noise_to_cell(fitted), "drowned": drowned}


def pieces(fitted: HMPrivBayes, owners: dict[str, str]) -> dict[Piece, list[str]]:
    """The bits of every attribute in every cluster, in sampling order."""
    cluster = {bit: i for i, bits in enumerate(fitted.clusters_) for bit in bits}
    found: dict[Piece, list[str]] = {}
    for bit in sorted(fitted.network_.order, key=cluster.__getitem__):
        found.setdefault((cluster[bit], owners[bit]), []).append(bit)
    return found


def edges(fitted: HMPrivBayes, places: dict[str, int]) -> Line:
    """Half circles between pieces that hold a parent and its child."""
    return half_circles(sorted({(places[p], places[c]) for p, c in fitted.network_.edges if places[p] != places[c]}))


def draw(here: Studio, state: dict[str, Any], title: str) -> go.Figure:
    """Networks of the clusters as arcs between attributes, the noise of their tables below; two-way distances beside them."""
    fitted, binary = state["fitted"], here.records.binary()
    owners = dict(zip(binary.schema.names, binary.owners, strict=True))
    parts = pieces(fitted, owners)
    labels = [f"{name} ({len(bits)} of {binary.owners.count(name)})" if len(bits) < binary.owners.count(name) else name
              for (_, name), bits in parts.items()]  # fmt: skip
    plot = figure(title=title, height=640, bargap=0.3, margin={"l": 64, "r": 16, "t": 100, "b": 140})
    add_arcs(plot, edges(fitted, {bit: i for i, bits in enumerate(parts.values()) for bit in bits}))
    means = [float(np.mean([state["noise"][b] for b in bits])) for bits in parts.values()]
    clusters = [[i for i, (c, _) in enumerate(parts) if c == number] for number in range(len(fitted.clusters_))]
    for number, at in enumerate(clusters):
        fill, _, _, symbol = BOXES[number % len(BOXES)]
        words = [f"{labels[i]}: {', '.join(list(parts.values())[i])}" for i in at]
        add_dots(plot, at, words, {"color": fill, "size": 11, "symbol": symbol}, name=f"C{number + 1}", showlegend=number < 8)
        add_noise(plot, at, [max(means[i], 1e-5) for i in at], words, fill)
    add_line(plot, [-0.6, len(parts) - 0.4], [1, 1], yaxis="y2")
    order = list(dict.fromkeys(name for _, name in parts))
    index = [here.schema.index(name) for name in order]
    add_distances(plot, state["distances"][np.ix_(index, index)], order, 0.4, len=0.6, y=0.68)
    whole = [len({owners[b] for b in bits}) for bits in fitted.clusters_]
    if sum(whole) == len(here.schema):  # no attribute is torn: each cluster's own distances are framed
        add_boxes(plot, whole, 3, "x2", "y3")
    return _axes(plot, labels, max(map(len, clusters)))


def _axes(plot: go.Figure, labels: list[str], widest: int) -> go.Figure:
    return plot.update_layout(
        xaxis={"domain": [0, 0.52], "anchor": "y2", **places(labels, -60), "tickfont": {"size": 12 if len(labels) <= 18 else 9}},
        yaxis={"domain": [0.5, 0.97], **arches(max(widest, 6), "a network a cluster")},
        yaxis2={"domain": [0, 0.42], "anchor": "x", **powers(-4, 2, "noise ÷ mean cell")},
        xaxis2={"domain": [0.69, 1], "anchor": "y3", "tickangle": -60, "showgrid": False, "dtick": 1, "tickfont": {"size": 10}},
        yaxis3={"domain": [0.26, 0.97], "anchor": "x2", "autorange": "reversed", "showgrid": False, "dtick": 1, "tickfont": {"size": 10}},
    )  # fmt: skip


def shares(fitted: HMPrivBayes) -> str:
    """Risk entropy of every bit, folded."""
    rows = "".join(
        f"<tr><td style='text-align:left'>C{i}</td><td style='text-align:left'>{escape(b)}</td><td>{fitted.risk_entropy_[b]:.3f}</td></tr>"
        for i, bits in enumerate(fitted.clusters_, 1)
        for b in sorted(bits, key=lambda b: -fitted.risk_entropy_[b])
    )
    head = "<tr><th style='text-align:left'>cluster</th><th style='text-align:left'>bit</th><th>OE that sets its noise</th></tr>"
    return f"<details><summary>Clusters and risk entropies</summary><table>{head}{rows}</table></details>"


def view(
    epsilon: float = 1.0,
    k: int = 3,
    l: int = 2,  # noqa: E741
    eta: float = 0.1,
    guarantee: str = "strict",
    affinity: str = "the guarantee's own",
    here: Studio | None = None,
) -> View:
    """Everything for one position of the controls."""
    here = here or room()
    state = compute(here, epsilon, int(k), int(l), eta, guarantee, AFFINITIES[affinity])
    fitted, ledger = state["fitted"], state["fitted"].ledger_
    title = f"HMPrivBayes {WORDS[guarantee]}: ε = {epsilon:g}, k = {int(k)}, l = {int(l)}, η = {eta:g}"
    finite = f" ({float(ledger.finite):.4g} without the raw entropies)" if guarantee == "published" else ""
    over = sum(v > 1 for v in state["noise"].values())
    fallback = "Too noisy to cluster: one cluster instead. " if state["drowned"] else ""
    status = (
        f"{fallback}Claimed ε = {epsilon:g}, audited ε = {audited(ledger)}{finite}; "
        f"mean two-way distance {np.nanmean(state['distances']):.3f}; "
        f"clusters of {', '.join(str(len(c)) for c in fitted.clusters_)} bits; "
        f"{over} of {len(fitted.network_)} tables have more noise than signal."
    )
    tables = [ledger_summary(ledger), shares(fitted), preview(here, state["codes"])]
    return View.told(draw(here, state, title), status, tables)


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult as the paper uses it unless another public teaching table is given."""
    here = room() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(here=here, **controls),
        epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, total privacy budget"),
        k=slider("k", 3, 1, 20, 1, unit="clusters", tooltip="k, number of clusters"),
        l=slider("l", 2, 1, 3, 1, unit="parents", tooltip="l, largest number of parents"),
        eta=slider("η", 0.1, 0.0, 0.9, 0.05, tooltip="η, weakest tie against the strongest"),
        guarantee=choice("guarantee", ["strict", "published", "none"]),
        affinity=choice("affinity", list(AFFINITIES)),
        spends=True,
    )

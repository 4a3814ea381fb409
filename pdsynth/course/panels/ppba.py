"""The PPBA panel (lesson 12): ε, k and q; the network along its tree, who gets which budget, and what availability costs in security."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset
from ...plots import PALETTE, figure
from ...structure.tree import maximum_spanning_tree
from ...synthesizers import PPBA
from ..widgets import LivePanel, View, choice, live, slider
from .drawing import add_arcs, add_dots, add_line, arches, arcs, places, split
from .studio import WORDS, Studio, audited, ledger_summary, noise_to_cell, pairwise, studio

RATIOS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
STRONGEST = 4  # tables, the heaviest first


@lru_cache(maxsize=128)
def fit(room: Studio, epsilon: float, k: int, q: float, guarantee: str) -> tuple[PPBA, np.ndarray]:
    """One run with common random numbers, and its matrix of two-way distances."""
    fitted = room.run(PPBA(epsilon, k=k, q=q, guarantee=guarantee))
    return fitted, room.distances(room.sample(fitted))


@lru_cache(maxsize=4)
def raw_tree(room: Studio) -> frozenset[frozenset[str]]:
    """The maximum spanning tree of the raw information of a public teaching table."""
    names = room.schema.names
    return frozenset(frozenset((names[i], names[j])) for i, j in maximum_spanning_tree(pairwise(room.records.lattice)))


def ranked(fitted: PPBA) -> list[str]:
    """Tables by their child, the heaviest first."""
    weights = fitted.learnt_.weights
    return sorted(fitted.network_.order, key=lambda name: -weights.get(name, 0.0))


def strongest(fitted: PPBA, distances: np.ndarray) -> float:
    """Mean distance of a child from its first parent, over the heaviest tables."""
    at = fitted.schema_.index
    pairs = [(at(name), at(fitted.network_.parents(name)[0])) for name in ranked(fitted) if fitted.network_.parents(name)][:STRONGEST]
    return float(np.mean([distances[i, j] for i, j in pairs])) if pairs else float("nan")


def shares(fitted: PPBA) -> dict[str, float]:
    """Share of the tables' claimed budget of every table."""
    claimed = {e.step[6:-1].split(" | ")[0]: float(e.claimed) for e in fitted.ledger_.entries if e.step.startswith("table(")}
    total = sum(claimed.values())
    return {name: claimed.get(name, 0.0) / total if total else 1 / len(fitted.network_) for name in fitted.network_.order}


def sweep(room: Studio, epsilon: float, k: int, guarantee: str) -> dict[str, list[float]]:
    """What every ratio does: mean distance, that of the strongest pairs, and the losses as shares of ε."""
    out: dict[str, list[float]] = {name: [] for name in ("mean", "strongest", "dearest", "sensitive")}
    for q in RATIOS:
        fitted, distances = fit(room, epsilon, k, q, guarantee)
        losses = fitted.ledger_.attribute_epsilon().astype(float)
        out["mean"].append(float(np.nanmean(distances)))
        out["strongest"].append(strongest(fitted, distances))
        out["dearest"].append(float(losses.max()) / epsilon)
        out["sensitive"].append(float(losses[room.dataset.sensitive]) / epsilon)
    return out


def draw(room: Studio, state: dict[str, Any], q: float, title: str) -> go.Figure:
    """Left: the network in its order, and the tables by rank. Right: distances and losses against q."""
    fitted = state["fitted"]
    network, order, plot = fitted.network_, list(fitted.network_.order), figure(title=title, height=640, bargap=0.3)
    kinds = (("edge of the raw tree, too", "real", "solid"), ("another edge", "none", "dot"))
    for part, (name, colour, dash) in zip(split(network, raw_tree(room)), kinds, strict=True):
        add_arcs(plot, arcs(part), name=name, showlegend=None, line={"color": PALETTE[colour], "dash": dash, "width": 1.5})
    weights = fitted.learnt_.weights
    words = [f"{c} ← {', '.join(p) or '∅'}<br>weight {weights.get(c, 0.0):.3g}" for c, p in network.pairs]
    add_dots(plot, range(len(order)), words, {"color": PALETTE["none"], "size": 10}, showlegend=False)
    names, share, noise = ranked(fitted), shares(fitted), noise_to_cell(fitted)
    plot.add_bar(x=list(range(len(names))), y=[100 * share[n] for n in names], xaxis="x2", yaxis="y2", marker_color=PALETTE["private"],
                 customdata=[[n, noise[n]] for n in names], showlegend=False,
                 hovertemplate="%{customdata[0]}: %{y:.1f} % of the budget, noise ÷ cell %{customdata[1]:.3g}<extra></extra>")  # fmt: skip
    _against_q(plot, state["sweep"], q, room.dataset.sensitive)
    return _axes(plot, order, names)


def _against_q(plot: go.Figure, found: dict[str, list[float]], q: float, sensitive: str) -> None:
    """Two pictures, each with two named curves and a line at the present q."""
    for name, key, place, colour, dash in (
        ("mean of all pairs", "mean", 3, "private", "solid"), ("strongest pairs", "strongest", 3, "none", "dash"),
        ("dearest attribute", "dearest", 4, "private", "solid"), (sensitive, "sensitive", 4, "none", "dash"),
    ):  # fmt: skip
        y = found[key] if np.isfinite(found[key]).all() else [None] * len(RATIOS)
        plot.add_scatter(x=list(RATIOS), y=y, mode="lines+markers", showlegend=False, name=name, xaxis=f"x{place}",
                         yaxis=f"y{place}", line={"color": PALETTE[colour], "dash": dash},
                         hovertemplate=f"{name}, q = %{{x}}: %{{y:.3f}}<extra></extra>")  # fmt: skip
    for place in (3, 4):
        add_line(plot, [q, q], [0, 1], xaxis=f"x{place}", yaxis=f"y{place}")
    notes = [(3, 1.5, 0.84, "strongest pairs", "none"), (3, 0.62, 0.64, "mean of all pairs", "private")]
    if np.isfinite(found["dearest"]).all():
        notes += [(4, 0.62, 0.9, "dearest attribute", "private"), (4, 0.62, 0.12, sensitive, "none")]
    else:
        notes.append((4, 1.0, 0.5, "no finite ε: the tree is read off the records", "attack"))
    for place, x, height, text, colour in notes:
        plot.add_annotation(x=math.log10(x), y=height, xref=f"x{place}", yref=f"y{place}", text=text, showarrow=False,
                            font={"color": PALETTE[colour]})  # fmt: skip


def _axes(plot: go.Figure, order: list[str], names: list[str]) -> go.Figure:
    ratios = {"type": "log", "range": [math.log10(0.47), math.log10(2.12)], "tickvals": list(RATIOS),
              "ticktext": [f"{q:g}" for q in RATIOS]}  # fmt: skip
    return plot.update_layout(
        margin={"l": 64, "r": 24, "t": 84, "b": 110},
        xaxis={"domain": [0, 0.5], "anchor": "y", **places(order)},
        yaxis={"domain": [0.64, 1], **arches(len(order), "network"), "range": [-0.8, len(order) / 2]},
        xaxis2={"domain": [0, 0.5], "anchor": "y2", **places(names)},
        yaxis2={"domain": [0, 0.36], "type": "log", "range": [-2, 2], "dtick": 1, "anchor": "x2", "title": "budget, % (by rank)"},
        xaxis3={"domain": [0.6, 1], "anchor": "y3", **ratios},
        yaxis3={"domain": [0.6, 1], "range": [0, 1], "anchor": "x3", "title": "2-way distance"},
        xaxis4={"domain": [0.6, 1], "anchor": "y4", "title": "q", **ratios},
        yaxis4={"domain": [0, 0.46], "range": [0, 1], "anchor": "x4", "title": "loss ÷ ε"},
    )  # fmt: skip


def view(epsilon: float = 1.0, k: int = 1, q: float = 1.2, guarantee: str = "strict", room: Studio | None = None) -> View:
    """Everything for one position of the controls."""
    room, epsilon, k, q = room or studio(), round(float(epsilon), 4), int(k), round(float(q), 4)
    fitted, distances = fit(room, epsilon, k, q, guarantee)
    state = {"fitted": fitted, "sweep": sweep(room, epsilon, k, guarantee)}
    title = f"PPBA {WORDS[guarantee]}: ε = {epsilon:g}, k = {k}, q = {q:g}"
    names, share = ranked(fitted), shares(fitted)
    losses = fitted.ledger_.attribute_epsilon().astype(float)
    words = "" if fitted.ledger_.epsilon == math.inf else (
        f" A change of {losses.idxmax()} costs {losses.max():.2f}, of {room.dataset.sensitive} {losses[room.dataset.sensitive]:.2f}."
    )  # fmt: skip
    status = (
        f"Claimed ε = {epsilon:g}, audited ε = {audited(fitted.ledger_)}; mean two-way distance {np.nanmean(distances):.3f}, "
        f"{strongest(fitted, distances):.3f} on the strongest pairs. The heaviest table, {names[0]}, gets {share[names[0]]:.1%} of the "
        f"tables' budget, the lightest, {names[-1]}, {share[names[-1]]:.1%}.{words}"
    )
    return View.told(draw(room, state, q, title), status, [ledger_summary(fitted.ledger_)])


def panel(dataset: Dataset | None = None) -> LivePanel:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, total privacy budget"),
        k=slider("k", 1, 1, 4, 1, unit="parents", tooltip="k, largest number of parents"),
        q=slider("q", 1.2, 0.5, 2.0, 0.05, tooltip="q, budget of a table against the one ranked before it"),
        guarantee=choice("guarantee", ["strict", "published", "none"]),
        spends=True,
    )

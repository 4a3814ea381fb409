"""The HPPrivBayes panel (lesson 07): ε, k, r and θ move network, noise, ledger, distances and a synthetic preview together."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset
from ...plots import PALETTE, figure
from ...synthesizers import HPPrivBayes
from ...synthesizers.groups import SensitivityGroups
from ..widgets import View, choice, live, slider
from .drawing import (
    add_arcs,
    add_distances,
    add_dots,
    add_line,
    add_noise,
    arches,
    arcs,
    places,
    powers,
)
from .studio import WORDS, Studio, audited, ledger_summary, noise_to_cell, preview, studio

GROUP_COLOURS = {"A": PALETTE["private"], "B": PALETTE["none"]}


def compute(room: Studio, epsilon: float, k: int, r: float, theta: float, guarantee: str, rare_values: str) -> dict[str, Any]:
    """Everything that the panel shows, as plain values; milliseconds on Adult."""
    fitted = room.run(HPPrivBayes(epsilon, k=int(k), r=r, theta=theta, guarantee=guarantee,
                                  sensitive=room.dataset.sensitive, personal=SensitivityGroups(rare_values=rare_values)))  # fmt: skip
    codes = room.sample(fitted)
    return {"fitted": fitted, "codes": codes, "distances": room.distances(codes), "noise": noise_to_cell(fitted)}


def draw(state: dict[str, Any], title: str) -> go.Figure:
    """Network as arcs, noise per table below it on the same axis, two-way distances beside them."""
    fitted: HPPrivBayes = state["fitted"]
    order = list(fitted.network_.order)
    plot = figure(title=title, height=600, bargap=0.35, margin={"l": 64, "r": 16, "t": 116, "b": 96})
    add_arcs(plot, arcs(fitted.network_))
    for name, much, symbol in (("A", "more", "circle"), ("B", "less", "square")):
        at = [i for i, attribute in enumerate(order) if (attribute in fitted.groups_["A"]) == (name == "A")]
        words, colour = [order[i] for i in at], GROUP_COLOURS[name]
        add_dots(plot, at, words, {"color": colour, "size": 12, "symbol": symbol}, name=f"group {name} ({much} sensitive)")
        add_noise(plot, at, [max(state["noise"][attribute], 1e-4) for attribute in words], words, colour)
    add_line(plot, [-0.6, len(order) - 0.4], [1, 1], yaxis="y2")
    add_distances(plot, state["distances"], fitted.schema_.names, 0.6, len=0.75, y=0.6)
    return plot.update_layout(
        xaxis={"domain": [0, 0.5], "anchor": "y2", **places(order), "zeroline": None},
        yaxis={"domain": [0.5, 0.97], **arches(len(order), "network, in sampling order")},
        yaxis2={"domain": [0, 0.42], "anchor": "x", **powers(-3, 3, "noise ÷ mean cell")},
        xaxis2={"domain": [0.66, 1], "anchor": "y3", "tickangle": -50, "showgrid": False},
        yaxis3={"domain": [0.22, 0.97], "anchor": "x2", "autorange": "reversed", "showgrid": False},
    )  # fmt: skip


def view(
    epsilon: float = 1.0,
    k: int = 2,
    r: float = 0.33,
    theta: float = 0.1,
    guarantee: str = "strict",
    rare_values: str = "less_noise",
    room: Studio | None = None,
) -> View:
    """Everything for one position of the sliders."""
    room = room or studio()
    state = compute(room, epsilon, k, r, theta, guarantee, rare_values)
    fitted = state["fitted"]
    title = f"HPPrivBayes {WORDS[guarantee]}: ε = {epsilon:g}, k = {int(k)}, r = {r:g}, θ = {theta:g} bit"
    mean = float(np.nanmean(state["distances"]))
    drowned = sum(v > 1 for v in state["noise"].values())
    status = (
        f"Claimed ε = {epsilon:g}, audited ε = {audited(fitted.ledger_)}; mean two-way distance {mean:.3f}; "
        f"{len(fitted.groups_['A'])} attributes in group A; {drowned} of {len(fitted.network_)} tables have more noise than signal."
    )
    tables = [ledger_summary(fitted.ledger_), preview(room, state["codes"])]
    return View.told(draw(state, title), status, tables)


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, total privacy budget"),
        k=slider("k", 2, 0, 4, 1, unit="parents", tooltip="k, largest number of parents"),
        r=slider("r", 0.33, 0.05, 1.0, 0.01, tooltip="r = L2/L3, budget of group A against group B"),
        theta=slider("θ", 0.1, 0.0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of group A in bits"),
        guarantee=choice("guarantee", ["strict", "published", "none"]),
        rare_values=choice("rare_values", ["less_noise", "more_noise", "same_noise"]),
        spends=True,
    )

"""The PrivBayes panel (lesson 04): k and ε move the network, what it captures, the noise of its tables and the distances."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset
from ...network import Network
from ...plots import PALETTE, figure
from ...synthesizers import PrivBayes
from ..widgets import View, choice, live, slider
from . import studio as shared
from .drawing import add_arcs, add_dots, add_line, add_noise, arches, arcs, places, powers
from .studio import Studio, ledger_summary, studio

READINGS: dict[str, dict[str, Any]] = {
    "strict": {"guarantee": "strict"},
    "thesis reprint": {"guarantee": "published", "reading": "thesis"},
    "no noise": {"guarantee": "none"},
}
SEED = 7  # of the root when nothing else is drawn


def captured(room: Studio, network: Network) -> float:
    """Sum of mutual information Σ I(X_i, Π_i) of a network in bits, measured on the raw records: for judging, never for release."""
    index, total = room.schema.index, 0.0
    for child, parents in network.pairs:
        pair = np.array([index(child)]), np.array([[index(p) for p in parents]], dtype=np.int64).reshape(1, len(parents))
        total += float(room.records.lattice.information(*pair)[0])
    return total


def noise_to_cell(fitted: PrivBayes) -> dict[str, float]:
    """Noise scale over mean cell of every table that was measured; a table derived from another has no entry."""
    return {name: value for name, value in shared.noise_to_cell(fitted).items() if value}


def fit(room: Studio, epsilon: float, k: int | str, reading: str) -> dict[str, Any]:
    """One run with common random numbers: the fitted synthesizer, what its network captures, noise, sorted two-way distances."""
    fitted = room.run(PrivBayes(epsilon, k=k, random_state=SEED, **READINGS[reading]))
    distances = np.sort(room.real.distances(room.sample(fitted)))
    return {"fitted": fitted, "captured": captured(room, fitted.network_), "noise": noise_to_cell(fitted), "distances": distances}


@lru_cache(maxsize=256)
def without_noise(room: Studio, epsilon: float, k: int | str) -> dict[str, Any]:
    """The same root and the same rule for parents, but argmax and raw tables: what the private run is measured against."""
    return fit(room, epsilon, k, "no noise")


def draw(state: dict[str, Any], best: dict[str, Any], title: str) -> go.Figure:
    """Network as arcs over its noise bars; captured information and sorted two-way distances beside them."""
    order, noise = list(state["fitted"].network_.order), state["noise"]
    plot = figure(title=title, height=560, bargap=0.35, margin={"l": 64, "r": 24, "t": 84, "b": 96})
    add_arcs(plot, arcs(state["fitted"].network_))
    for label, measured, symbol in (("noisy table", True, "circle"), ("derived, or no noise", False, "circle-open")):
        at = [i for i, name in enumerate(order) if (name in noise) == measured]
        add_dots(plot, at, [order[i] for i in at], {"color": PALETTE["private"], "size": 12, "symbol": symbol}, name=label)
    add_noise(plot, range(len(order)), [noise.get(name, 1e-4) for name in order], order, PALETTE["private"])
    add_line(plot, [-0.6, len(order) - 0.4], [1, 1], yaxis="y2")
    for label, run, colour, dash in (("without noise", best, "none", "dash"), ("this run", state, "private", "solid")):
        plot.add_bar(y=[label], x=[run["captured"]], orientation="h", marker_color=PALETTE[colour], xaxis="x2", yaxis="y3",
                     showlegend=False, text=[f"{run['captured']:.2f}"], textposition="outside", cliponaxis=False,
                     hovertemplate="%{x:.3f} bits<extra></extra>")  # fmt: skip
        plot.add_scatter(x=np.linspace(0, 100, len(run["distances"])), y=run["distances"], mode="lines", xaxis="x3", yaxis="y4", name=label,
                         line={"color": PALETTE[colour], "dash": dash, "width": 2}, hovertemplate="%{y:.3f}<extra></extra>")  # fmt: skip
    return plot.update_layout(
        xaxis={"domain": [0, 0.56], "anchor": "y2", **places(order)},
        yaxis={"domain": [0.5, 0.97], **arches(len(order), "network, in sampling order")},
        yaxis2={"domain": [0, 0.42], "anchor": "x", **powers(-3, 3, "noise ÷ mean cell")},
        xaxis2={"domain": [0.72, 0.97], "range": [0, 9], "anchor": "y3", "title": "sum of mutual information, bits"},
        yaxis3={"domain": [0.68, 0.95], "anchor": "x2", "showgrid": False},
        xaxis3={"domain": [0.68, 1], "range": [0, 100], "anchor": "y4", "title": "pairs of attributes, sorted, %"},
        yaxis4={"domain": [0, 0.48], "range": [0, 1], "anchor": "x3", "title": "2-way distance"},
    )  # fmt: skip


def view(epsilon: float = 1.0, k: int | str = "auto", reading: str = "strict", room: Studio | None = None) -> View:
    """Everything for one position of the controls; ``k`` is ``"auto"`` or a number of parents."""
    room, epsilon = room or studio(), round(epsilon, 4)
    degree = k if k == "auto" else int(k)
    state, best = fit(room, epsilon, degree, reading), without_noise(room, epsilon, degree)
    fitted, network = state["fitted"], state["fitted"].network_
    title = f"PrivBayes: ε = {epsilon:g}, k = {k}{f' ({fitted.degree_rule_})' if k == 'auto' else ''}, reading = {reading}"
    drowned = sum(v > 1 for v in state["noise"].values())
    spent = f"true ε {float(fitted.ledger_.finite):g} of {epsilon:g} claimed" if reading != "no noise" else "not private at all"
    status = (
        f"{spent[0].upper()}{spent[1:]}; {len(network.edges)} edges capture {state['captured']:.2f} bits "
        f"({best['captured']:.2f} without noise); {drowned} of {len(state['noise'])} noisy tables have more noise than signal; "
        f"mean 2-way distance {state['distances'].mean():.3f} ({best['distances'].mean():.3f} without noise)."
    )
    return View.told(draw(state, best, title), status, [ledger_summary(fitted.ledger_)])


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, total privacy budget"),
        k=choice("k", ["auto", "0", "1", "2", "3", "4"], tooltip="k, number of parents"),
        reading=choice("reading", list(READINGS)),
        spends=True,
    )

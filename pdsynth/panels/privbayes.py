"""The PrivBayes panel (lesson 04): k and ε move the network, what it captures, the noise of its tables and the distances."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..datasets import Dataset
from ..mechanisms import CommonNoise
from ..network import Network
from ..plots import PALETTE, figure
from ..synthesizers import PrivBayes
from ..widgets import View, choice, live, slider
from .hpprivbayes import Studio, arcs, ledger_summary, studio

READINGS: dict[str, dict[str, Any]] = {
    "strict": {"guarantee": "strict"},
    "thesis reprint": {"guarantee": "published", "reading": "thesis"},
    "no noise": {"guarantee": "none"},
}
SEED = 7
NOISE = CommonNoise(SEED)


def captured(room: Studio, network: Network) -> float:
    """Sum of mutual information Σ I(X_i, Π_i) of a network in bits, measured on the raw records: for judging, never for release."""
    index, total = room.records.schema.index, 0.0
    for child, parents in network.pairs:
        pair = np.array([index(child)]), np.array([[index(p) for p in parents]], dtype=np.int64).reshape(1, len(parents))
        total += float(room.records.lattice.information(*pair)[0])
    return total


def noise_to_cell(fitted: PrivBayes) -> dict[str, float]:
    """Noise scale over mean cell of every table that was measured; a table derived from another has no entry."""
    shapes = {c: t.size for (c, _), t in zip(fitted.network_.pairs, fitted.model_.tables, strict=True)}
    entries = [e for e in fitted.ledger_.entries if e.step.startswith("table(") and e.scale is not None]
    return {e.attributes[0]: float(e.scale) * shapes[e.attributes[0]] / fitted.n_ for e in entries}  # type: ignore[arg-type]


def fit(room: Studio, epsilon: float, k: int | str, reading: str) -> dict[str, Any]:
    """One run with common random numbers: the fitted synthesizer, what its network captures, noise, sorted two-way distances."""
    fitted = PrivBayes(epsilon, k=k, random_state=SEED, **READINGS[reading]).fit_records(room.records, noise=NOISE.fresh())
    distances = np.sort(room.real.distances(fitted.model_.sample_codes(room.records.n, np.random.default_rng(11))))
    return {"fitted": fitted, "captured": captured(room, fitted.network_), "noise": noise_to_cell(fitted), "distances": distances}


@lru_cache(maxsize=256)
def without_noise(room: Studio, epsilon: float, k: int | str) -> dict[str, Any]:
    """The same root and the same rule for parents, but argmax and raw tables: what the private run is measured against."""
    return fit(room, epsilon, k, "no noise")


def draw(state: dict[str, Any], best: dict[str, Any], title: str) -> go.Figure:
    """Network as arcs over its noise bars; captured information and sorted two-way distances beside them."""
    order = list(state["fitted"].network_.order)
    noise, plot = state["noise"], figure(title=title, height=560)
    x, y = arcs(state["fitted"].network_)
    plot.add_scatter(x=x, y=y, mode="lines", line={"color": PALETTE["real"], "width": 1}, hoverinfo="skip", showlegend=False)
    for label, measured, symbol in (("noisy table", True, "circle"), ("derived, or no noise", False, "circle-open")):
        at = [i for i, name in enumerate(order) if (name in noise) == measured]
        plot.add_scatter(
            x=at,
            y=[0] * len(at),
            mode="markers",
            name=label,
            text=[order[i] for i in at],
            marker={"color": PALETTE["private"], "size": 12, "symbol": symbol},
            hovertemplate="%{text}<extra></extra>",
        )
    plot.add_bar(
        x=list(range(len(order))),
        y=[noise.get(name, 1e-4) for name in order],
        yaxis="y2",
        marker_color=PALETTE["private"],
        showlegend=False,
        customdata=order,
        hovertemplate="%{customdata}: %{y:.3g}<extra></extra>",
    )
    plot.add_scatter(
        x=[-0.6, len(order) - 0.4],
        y=[1, 1],
        mode="lines",
        yaxis="y2",
        hoverinfo="skip",
        showlegend=False,
        line={"color": PALETTE["attack"], "dash": "dash", "width": 1.5},
    )
    runs = (("without noise", best, "none", "dash"), ("this run", state, "private", "solid"))
    for label, run, colour, dash in runs:
        plot.add_bar(
            y=[label],
            x=[run["captured"]],
            orientation="h",
            marker_color=PALETTE[colour],
            xaxis="x2",
            yaxis="y3",
            showlegend=False,
            text=[f"{run['captured']:.2f}"],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{x:.3f} bits<extra></extra>",
        )
        plot.add_scatter(
            x=np.linspace(0, 100, len(run["distances"])),
            y=run["distances"],
            mode="lines",
            xaxis="x3",
            yaxis="y4",
            name=label,
            line={"color": PALETTE[colour], "dash": dash, "width": 2},
            hovertemplate="%{y:.3f}<extra></extra>",
        )
    return _axes(plot, order)


def _axes(plot: go.Figure, order: list[str]) -> go.Figure:
    ticks = {"tickmode": "array", "tickvals": list(range(len(order))), "ticktext": order, "tickangle": -50}
    plot.update_layout(
        bargap=0.35,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        margin={"l": 64, "r": 24, "t": 84, "b": 96},
        xaxis={"domain": [0, 0.56], "range": [-0.6, len(order) - 0.4], "anchor": "y2", "showgrid": False, "zeroline": False, **ticks},
        yaxis={
            "domain": [0.5, 0.97],
            "range": [-0.6, len(order) / 2],
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
            "title": {"text": "network, in sampling order"},
        },
        yaxis2={
            "domain": [0, 0.42],
            "type": "log",
            "range": [-3, 3],
            "title": {"text": "noise ÷ mean cell"},
            "anchor": "x",
            "dtick": 1,
            "exponentformat": "power",
        },
        xaxis2={"domain": [0.72, 0.97], "range": [0, 9], "anchor": "y3", "title": {"text": "sum of mutual information, bits"}},
        yaxis3={"domain": [0.68, 0.95], "anchor": "x2", "showgrid": False},
        xaxis3={"domain": [0.68, 1], "range": [0, 100], "anchor": "y4", "title": {"text": "pairs of attributes, sorted, %"}},
        yaxis4={"domain": [0, 0.48], "range": [0, 1], "anchor": "x3", "title": {"text": "2-way distance"}},
    )
    return plot


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
    return View(draw(state, best, title), status=status, tables=[ledger_summary(fitted.ledger_)], alt=f"{title}. {status}")


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


def static() -> go.Figure:
    """The panel's figure at its first position, for readers without a kernel."""
    return view().figure

"""The HPPrivBayes panel (lesson 07): ε, k, r and θ move network, noise, ledger, distances and a synthetic preview together."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..counts import Records
from ..datasets import Dataset, load_adult
from ..evaluation.marginals import Marginals
from ..ledger import Entry, Ledger
from ..mechanisms import CommonNoise
from ..network import Network
from ..plots import PALETTE, figure
from ..synthesizers import HPPrivBayes, Synthesizer
from ..widgets import View, choice, live, slider

GROUP_COLOURS = {"A": PALETTE["private"], "B": PALETTE["none"]}
Fitted = TypeVar("Fitted", bound=Synthesizer)
WORDS = {"strict": "strict", "published": "as published", "none": "no noise"}


class Studio:
    """One table with warm counts and common random numbers: what a live panel keeps between two moves of a slider."""

    def __init__(self, dataset: Dataset, seed: int = 7) -> None:
        schema = dataset.schema
        self.dataset, self.records = dataset, Records(schema.encode(dataset.frame), schema)
        self.real = Marginals(self.records.codes, schema, 2)
        self._noise = CommonNoise(seed)

    def run(self, synthesizer: Fitted) -> Fitted:
        """Any synthesizer, fitted with the same underlying random numbers every time."""
        return synthesizer.fit_records(self.records, noise=self._noise.fresh())

    def fit(self, **parameters: Any) -> HPPrivBayes:
        """A fitted HPPrivBayes with the data set's sensitive attribute."""
        return self.run(HPPrivBayes(sensitive=self.dataset.sensitive, **parameters))

    def sample(self, synthesizer: Synthesizer) -> np.ndarray:
        """Codes of a synthetic table of the original size, from a fixed stream."""
        return synthesizer.model_.sample_codes(self.records.n, np.random.default_rng(11))

    def distances(self, codes: np.ndarray) -> np.ndarray:
        """Symmetric (d, d) matrix of two-way total variation distances, NaN on the diagonal."""
        d = len(self.records.schema)
        matrix = np.full((d, d), np.nan)
        for (i, j), value in zip(combinations(range(d), 2), self.real.distances(codes), strict=True):
            matrix[i, j] = matrix[j, i] = value
        return matrix


@lru_cache(maxsize=2)
def studio(name: str = "adult") -> Studio:
    """The studio of a public teaching table: Adult in the thesis' coding, or ``"complete"`` with 15 attributes, as HMPrivBayes uses it."""
    return Studio(load_adult(complete=True) if name == "complete" else load_adult(coding="thesis"))


def compute(room: Studio, epsilon: float, k: int, r: float, theta: float, guarantee: str, direction: str) -> dict[str, Any]:
    """Everything that the panel shows, as plain values; milliseconds on Adult."""
    fitted = room.fit(epsilon=epsilon, k=int(k), r=r, theta=theta, guarantee=guarantee, direction=direction)
    codes = room.sample(fitted)
    return {"fitted": fitted, "codes": codes, "distances": room.distances(codes), "noise": noise_to_cell(fitted)}


def noise_to_cell(fitted: Synthesizer) -> dict[str, float]:
    """Noise scale of each table against its mean cell, both in records; 1 means that noise and signal are equal on average."""
    scales: dict[str, float] = {}
    for entry in fitted.ledger_.entries:
        if entry.step.startswith("table(") and entry.scale is not None:
            rows = entry.scale if isinstance(entry.scale, tuple) else (entry.scale,)
            scales[entry.step[6:-1].split(" | ")[0]] = float(np.mean([float(s) for s in rows]))
    cells = {c: t.size for (c, _), t in zip(fitted.network_.pairs, fitted.model_.tables, strict=True)}
    return {name: scales.get(name, 0.0) * cells[name] / fitted.n_ for name in fitted.network_.order}


def arcs(network: Network) -> tuple[list[float | None], list[float | None]]:
    """Half circles from every parent to its child over the sampling order: x and y of one line trace."""
    place = {name: i for i, name in enumerate(network.order)}
    angle = np.linspace(0, np.pi, 21)
    x: list[float | None] = []
    y: list[float | None] = []
    for parent, child in network.edges:
        a, b = place[parent], place[child]
        x += [*((a + b) / 2 - np.cos(angle) * (b - a) / 2).tolist(), None]
        y += [*(np.sin(angle) * (b - a) / 2).tolist(), None]
    return x, y


def draw(state: dict[str, Any], title: str) -> go.Figure:
    """Network as arcs, noise per table below it on the same axis, two-way distances beside them."""
    fitted: HPPrivBayes = state["fitted"]
    order = list(fitted.network_.order)
    group = ["A" if name in fitted.groups_["A"] else "B" for name in order]
    x, y = arcs(fitted.network_)
    plot = figure(title=title, height=600)
    plot.add_scatter(x=x, y=y, mode="lines", line={"color": PALETTE["real"], "width": 1}, hoverinfo="skip", showlegend=False)
    for name, colour, symbol in (("A", GROUP_COLOURS["A"], "circle"), ("B", GROUP_COLOURS["B"], "square")):
        at = [i for i, g in enumerate(group) if g == name]
        label = f"group {name} ({'more' if name == 'A' else 'less'} sensitive)"
        plot.add_scatter(x=at, y=[0] * len(at), mode="markers", name=label, text=[order[i] for i in at],
                         marker={"color": colour, "size": 12, "symbol": symbol}, hovertemplate="%{text}<extra></extra>")  # fmt: skip
        plot.add_bar(x=at, y=[max(state["noise"][order[i]], 1e-4) for i in at], marker_color=colour, yaxis="y2", showlegend=False,
                     customdata=[order[i] for i in at], hovertemplate="%{customdata}: %{y:.3g}<extra></extra>")  # fmt: skip
    plot.add_scatter(x=[-0.6, len(order) - 0.4], y=[1, 1], mode="lines", yaxis="y2", hoverinfo="skip", showlegend=False,
                     line={"color": PALETTE["attack"], "dash": "dash", "width": 1.5})  # fmt: skip
    names = list(fitted.schema_.names)
    plot.add_heatmap(z=state["distances"], x=names, y=names, xaxis="x2", yaxis="y3", zmin=0, zmax=0.6, colorscale="Cividis",
                     colorbar={"title": {"text": "2-way<br>distance"}, "thickness": 12, "len": 0.75, "y": 0.6},
                     hovertemplate="%{x} × %{y}: %{z:.3f}<extra></extra>")  # fmt: skip
    return _axes(plot, order)


def _axes(plot: go.Figure, order: list[str]) -> go.Figure:
    ticks = {"tickmode": "array", "tickvals": list(range(len(order))), "ticktext": order, "tickangle": -50}
    plot.update_layout(
        bargap=0.35,
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        margin={"l": 64, "r": 16, "t": 116, "b": 96},
        xaxis={"domain": [0, 0.5], "range": [-0.6, len(order) - 0.4], "anchor": "y2", "showgrid": False, **ticks},
        yaxis={"domain": [0.5, 0.97], "range": [-0.6, len(order) / 2], "showticklabels": False, "showgrid": False, "zeroline": False,
               "title": {"text": "network, in sampling order"}},
        yaxis2={"domain": [0, 0.42], "type": "log", "range": [-3, 3], "title": {"text": "noise ÷ mean cell"}, "anchor": "x",
                "dtick": 1, "exponentformat": "power"},
        xaxis2={"domain": [0.66, 1], "anchor": "y3", "tickangle": -50, "showgrid": False},
        yaxis3={"domain": [0.22, 0.97], "anchor": "x2", "autorange": "reversed", "showgrid": False},
    )  # fmt: skip
    return plot


def ledger_summary(ledger: Ledger) -> str:
    """The ledger's steps as a short HTML table: claimed and true ε, unaccounted accesses in red; the whole ledger folded below.

    What a paper composes in parallel is claimed once, at the dearest part's price; the true cost is the sum.
    """
    claims: dict[str, dict[str | None, Fraction]] = {}
    true: dict[str, Any] = {}
    count: dict[str, int] = {}
    for e in ledger.entries:
        if e.kind == "group":
            continue
        name = _step_name(e)
        parts = claims.setdefault(name, {})
        parts[e.record_filter] = parts.get(e.record_filter, Fraction(0)) + e.claimed
        true[name] = math.inf if e.kind == "unaccounted_access" else true.get(name, Fraction(0)) + e.cost
        count[name] = count.get(name, 0) + 1
    red = " style='color:#d55e00;font-weight:600'"
    lines = "".join(
        f"<tr{red if true[name] > max(parts.values()) else ''}><td style='text-align:left'>{name}</td><td>{count[name]}</td>"
        f"<td>{float(max(parts.values())):.4f}</td><td>{_true_cost(true[name])}</td></tr>"
        for name, parts in claims.items()
    )
    head = "<tr><th style='text-align:left'>step</th><th>entries</th><th>claimed ε</th><th>true ε</th></tr>"
    return (
        f"<b>Ledger.</b> {ledger.verdict()}<table>{head}{lines}</table>"
        f"<details><summary>The whole ledger</summary>{ledger._repr_html_()}</details>"
    )


def _true_cost(value: Any) -> str:
    return "∞, unaccounted" if value == math.inf else f"{float(value):.4f}"


def _step_name(entry: Entry) -> str:
    """Entries of one kind share a line of the summary."""
    step, source = entry.step, entry.source
    if step.startswith("table("):
        step = "noisy tables"
    elif " in C" in step and step.startswith(("root", "pair ")):
        step, source = "roots and parent sets", source.rsplit(" line", 1)[0]
    elif step.startswith("conditional("):
        step = "noisy conditionals"
    elif step.startswith(("parents of", "parent ", "pair ")):
        step = "parent sets"
    return f"{step}{f', {source}' if source else ''}"


def preview(room: Studio, codes: np.ndarray, rows: int = 5) -> str:
    """The first synthetic rows as an HTML table."""
    frame: pd.DataFrame = room.records.schema.decode(codes[:rows])
    return f"<b>Synthetic preview.</b> <div style='overflow-x:auto'>{frame.to_html(index=False, border=0)}</div>"


def view(
    epsilon: float = 1.0,
    k: int = 2,
    r: float = 0.33,
    theta: float = 0.1,
    guarantee: str = "strict",
    direction: str = "paper",
    room: Studio | None = None,
) -> View:
    """Everything for one position of the sliders."""
    room = room or studio()
    state = compute(room, epsilon, k, r, theta, guarantee, direction)
    fitted = state["fitted"]
    title = f"HPPrivBayes {WORDS[guarantee]}: ε = {epsilon:g}, k = {int(k)}, r = {r:g}, θ = {theta:g} bit"
    mean = float(np.nanmean(state["distances"]))
    audited = "infinite" if fitted.ledger_.epsilon == math.inf else f"{float(fitted.ledger_.epsilon):g}"
    drowned = sum(v > 1 for v in state["noise"].values())
    status = (
        f"Claimed ε = {epsilon:g}, audited ε = {audited}; mean two-way distance {mean:.3f}; "
        f"{len(fitted.groups_['A'])} attributes in group A; {drowned} of {len(fitted.network_)} tables have more noise than signal."
    )
    tables = [ledger_summary(fitted.ledger_), preview(room, state["codes"])]
    return View(draw(state, title), status=status, tables=tables, alt=f"{title}. {status}")


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
        direction=choice("direction", ["paper", "protect", "flat"]),
        spends=True,
    )


def static() -> go.Figure:
    """The panel's figure at its first position, for readers without a kernel."""
    return view().figure

"""The side-by-side panel (lesson 18): every fast algorithm at the same ε and k, what a sensitive attribute loses, and the plan."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset
from ...errors import BudgetError
from ...papers.sidebyside_settings import BASE, SLOW, Settings, algorithms
from ...plots import PALETTE, figure
from ...synthesizers import Synthesizer
from ...synthesizers.plan import Plan, plan
from ..widgets import LivePanel, View, choice, live, slider
from .drawing import DASHED, add_line, powers
from .studio import WORDS, Studio, mean_without, studio

LEFT_OUT = (*SLOW, "GeneticBayes")  # more than a tenth of a second each
LEAST, MOST = 0.004, 6.0  # ends of the axis of losses; an infinite one is drawn at its right end


def contenders(dataset: Dataset, sensitive: str, epsilon: float, k: int | str, guarantee: str) -> dict[str, Synthesizer]:
    """The algorithms of the panel, unfitted; where a method has no k, k moves nothing."""
    target = dataset.target if dataset.target != sensitive else dataset.sensitive
    named = algorithms(replace(dataset, sensitive=sensitive, target=target), Settings())
    out = {}
    for name, make in named.items():
        if name in LEFT_OUT:
            continue
        synthesizer: Synthesizer = make(guarantee=guarantee, epsilon=epsilon)
        parameters = synthesizer.get_params()
        if "k" in parameters:
            synthesizer.set_params(k=k)
        elif "structure" in parameters:
            synthesizer.set_params(structure=replace(parameters["structure"], k=k))
        out[name] = synthesizer
    return out


@lru_cache(maxsize=64)
def compute(room: Studio, sensitive: str, epsilon: float, k: int | str, guarantee: str) -> dict[str, tuple[float, float, float]]:
    """Distance of all pairs, of those without the sensitive attribute, and its loss, of each algorithm; NaN where it refuses."""
    at = room.schema.index(sensitive)
    found: dict[str, tuple[float, float, float]] = {}
    for name, synthesizer in contenders(room.dataset, sensitive, epsilon, k, guarantee).items():
        try:
            fitted = room.run(synthesizer)
        except BudgetError:  # BudgetDegenerate: published HPPrivBayes can't divide its budget
            found[name] = (math.nan, math.nan, math.nan)
            continue
        matrix = room.distances(room.sample(fitted))
        loss = fitted.ledger_.attribute_epsilon()[sensitive]
        found[name] = (float(np.nanmean(matrix)), mean_without(matrix, at), float(loss))
    return found


def draw(found: dict[str, tuple[float, float, float]], known: Plan, k: int | str, guarantee: str, sensitive: str, title: str) -> go.Figure:
    """Above: distance and loss, one row an algorithm. Below: noise against mean cells by k, from public facts."""
    plot, names = figure(title=title, height=640), list(found)
    private = all(loss < math.inf for _, _, loss in found.values())
    for place, symbol, words, colour in ((0, "circle", "all pairs", "private"), (1, "diamond-open", f"pairs without {sensitive}", "none")):
        plot.add_scatter(x=[found[n][place] for n in names], y=names, mode="markers", name=words,
                         marker={"color": PALETTE[colour], "symbol": symbol, "size": 10},
                         hovertemplate="%{y}: %{x:.4f}<extra></extra>")  # fmt: skip
    for finite, colour in ((True, "private"), (False, "attack")):
        mine = [n for n in names if found[n][2] == found[n][2] and (found[n][2] < math.inf) == finite]
        plot.add_bar(x=[min(found[n][2], MOST) for n in mine], y=mine, orientation="h", xaxis="x2", yaxis="y2", showlegend=False,
                     marker_color=PALETTE[colour], text=[f"{found[n][2]:.3g}" if finite else "∞" for n in mine], textposition="inside",
                     textangle=0, insidetextanchor="end", hoverinfo="skip", base=0,
                     textfont={"color": "#000000" if finite else "#FFFFFF"})  # fmt: skip
    rows = known.table
    chosen = [str(degree) == str(known.k if k == "auto" else k) for degree in rows["k"]]
    colours = [PALETTE["attack" if noise > 1 else "private"] for noise in rows["noise ÷ mean cell"]]
    plot.add_bar(x=rows["k"], y=rows["noise ÷ mean cell"], xaxis="x3", yaxis="y3", showlegend=False,
                 marker={"color": colours, "line": {"width": [3 * c for c in chosen], "color": PALETTE["none"]}},
                 hovertemplate="k = %{x}: %{y:.3g}<extra></extra>")  # fmt: skip
    for level, text, colour, shift in ((1.0, "more noise than records", "attack", 9), (0.25, "θ-useful below", "real", -9)):
        add_line(plot, [-0.6, 5.6], [level] * 2, {**DASHED, "color": PALETTE[colour]}, xaxis="x3", yaxis="y3")
        plot.add_annotation(x=0, y=math.log10(level), xref="x3", yref="y3", text=text, showarrow=False, yshift=shift,
                            font={"color": PALETTE[colour], "size": 11})  # fmt: skip
    return _axes(plot, names, f"loss of {sensitive}" + ("" if private or guarantee != "published" else " (∞: not private)"))


def _axes(plot: go.Figure, names: list[str], loss: str) -> go.Figure:
    rows = {"autorange": "reversed", "categoryorder": "array", "categoryarray": names}
    return plot.update_layout(
        bargap=0.3,
        margin={"l": 150, "r": 24, "t": 84, "b": 56},
        xaxis={"domain": [0, 0.56], "type": "log", "range": [-1.7, 0], "anchor": "y",
               "tickvals": [0.02, 0.05, 0.1, 0.2, 0.5, 1], "title": "2-way distance"},
        yaxis={"domain": [0.42, 1], "anchor": "x", **rows},
        xaxis2={"domain": [0.6, 1], "type": "log", "range": [math.log10(LEAST), math.log10(MOST)], "anchor": "y2",
                "tickvals": [0.01, 0.1, 1], "ticktext": ["0.01", "0.1", "1"], "title": loss},
        yaxis2={"domain": [0.42, 1], "anchor": "x2", "showticklabels": False, **rows},
        xaxis3={"domain": [0, 1], "anchor": "y3", "range": [-0.6, 5.6], "tickvals": list(range(6)),
                "title": "k, parents of a typical table"},
        yaxis3={"domain": [0, 0.26], "anchor": "x3", **powers(-3.3, 5, "noise ÷ cell", 2)},
    )  # fmt: skip


def view(epsilon: float = 1.0, k: int | str = "auto", guarantee: str = "strict", sensitive: str = "", room: Studio | None = None) -> View:
    """Everything for one position of the controls."""
    room, epsilon = room or studio(), round(float(epsilon), 4)
    sensitive = sensitive or room.dataset.sensitive
    found = compute(room, sensitive, epsilon, k, guarantee)
    known = plan(room.schema, room.records.n, epsilon)
    title = f"Side by side, {WORDS[guarantee]}: ε = {epsilon:g}, k = {k}, sensitive: {sensitive}"
    ran = {name: values for name, values in found.items() if not math.isnan(values[0])}
    refused = "".join(f" {name} refuses: it can't divide its budget." for name in found if name not in ran)
    nearest, least = min(ran, key=lambda n: ran[n][0]), min(ran, key=lambda n: ran[n][2])
    endless = [name for name, (_, _, loss) in ran.items() if loss == math.inf]
    losses = (
        f"No finite ε holds for {len(endless)} of {len(ran)}."
        if endless
        else f"A change of {sensitive} costs least with {least}: {found[least][2]:.3g} (PrivBayes {found[BASE][2]:.3g})."
    )
    status = f"Nearest: {nearest}, {found[nearest][0]:.3f}; PrivBayes {found[BASE][0]:.3f}. {losses}{refused} Before any run: {known}"
    plot = draw(found, known, k, guarantee, sensitive, title)
    return View.told(plot, status, [f"<b>Before you spend.</b> {known._repr_html_()}"])


def panel(dataset: Dataset | None = None) -> LivePanel:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, total privacy budget of each algorithm"),
        k=choice("k", ["auto", 1, 2, 3, 4], tooltip="k, largest number of parents"),
        guarantee=choice("guarantee", ["strict", "published", "none"]),
        sensitive=choice("sensitive", list(room.schema.names), room.dataset.sensitive, tooltip="sensitive attribute"),
        spends=True,
    )

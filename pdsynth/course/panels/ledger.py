"""The ledger explorer (lesson 02): what a run claims to cost, what it truly costs, and what nobody paid for."""

from __future__ import annotations

import math
from typing import Any

import plotly.graph_objects as go

from ...datasets import Dataset
from ...plots import PALETTE, figure
from ...privacy.ledger import Entry, Ledger
from ...synthesizers import HPPrivBayes, PrivBayes, Synthesizer
from ..widgets import View, choice, live, slider
from .studio import Studio, studio

ALGORITHMS = ("PrivBayes", "PrivBayes as the thesis reprints it", "HPPrivBayes")
TOP = 3.0  # both ε axes end here, whatever the sliders say
HATCH = {"fillmode": "overlay", "fgcolor": "rgba(255,255,255,.45)", "size": 7}
PARTS = {
    "structure": ("#56B4E9", ""),
    "tables": (PALETTE["private"], "/"),
    "sketches": ("#009E73", "."),
    "unaccounted": (PALETTE["attack"], "x"),
}


def recipe(algorithm: str, guarantee: str, epsilon: float, k: int, sensitive: str) -> Synthesizer:
    """The synthesizer that the controls name; a reading that can't be strict is refused by the library."""
    if algorithm == "HPPrivBayes":
        return HPPrivBayes(epsilon, k=int(k), sensitive=sensitive, guarantee=guarantee)
    return PrivBayes(epsilon, k=int(k), guarantee=guarantee, reading="thesis" if "thesis" in algorithm else "tods")


def part(entry: Entry) -> str:
    """The part of an algorithm that an entry belongs to."""
    if entry.kind == "unaccounted_access":
        return "unaccounted"
    if entry.mechanism in ("exponential", "permute_and_flip"):
        return "structure"
    return "tables" if entry.step.startswith("table(") else "sketches"


def totals(ledger: Ledger) -> dict[str, tuple[float, float]]:
    """Claimed and true ε of each part; the true cost of an unaccounted part is infinite."""
    out = dict.fromkeys(PARTS, (0.0, 0.0))
    for e in ledger.entries:
        if e.kind in ("mechanism", "unaccounted_access"):
            claimed, true = out[part(e)]
            out[part(e)] = claimed + float(e.claimed), math.inf if e.kind == "unaccounted_access" else true + float(e.cost)
    return out


def draw(ledger: Ledger, title: str) -> go.Figure:
    """Left: claimed and true ε, stacked by part, red to the end where it is infinite. Right: the loss of each attribute."""
    plot = figure(title=title, subtitle="what is claimed, what is true, and who bears it", height=460, barmode="stack")
    filled = sum(true for _, true in totals(ledger).values() if true != math.inf)
    for name, (claimed, true) in totals(ledger).items():
        colour, pattern = PARTS[name]
        shown = max(TOP - filled, 0.3) if true == math.inf else true
        text = "∞: nobody paid" if true == math.inf else f"{true:.3g}" if true > 0.15 else ""
        plot.add_bar(x=["claimed", "true"], y=[claimed, shown], name=name, marker={"color": colour, "pattern": {**HATCH, "shape": pattern}},
                     text=["" if claimed < 0.15 else f"{claimed:.3g}", text], textposition="inside", insidetextanchor="middle",
                     textfont={"color": "black", "size": 13})  # fmt: skip
    promised = float(ledger.claimed)
    line = {"dash": "dash", "color": PALETTE["real"], "width": 2}
    plot.add_shape(type="line", xref="x domain", x0=0, x1=1, y0=promised, y1=promised, line=line)
    losses = ledger.attribute_epsilon()[::-1]
    plot.add_bar(y=list(losses.index), x=[TOP if v == math.inf else float(v) for v in losses], orientation="h", xaxis="x2", yaxis="y2",
                 marker_color=[PALETTE["attack"] if v == math.inf else PALETTE["private"] for v in losses], showlegend=False,
                 text=["∞" if v == math.inf else f"{float(v):.3g}" for v in losses], textposition="outside")  # fmt: skip
    return plot.update_layout(
        xaxis={"domain": [0, 0.42]},
        yaxis={"range": [0, TOP], "title": "ε"},
        xaxis2={"domain": [0.62, 1], "anchor": "y2", "range": [0, TOP * 1.12], "title": "loss if only this attribute changes, ε"},
        yaxis2={"anchor": "x2"},
        margin={"t": 84},
    )


def view(algorithm: str = "PrivBayes", guarantee: str = "strict", epsilon: float = 1.0, k: int = 2, room: Studio | None = None) -> View:
    """The ledger of one run, as bars and in full."""
    room = room or studio()
    ledger = room.run(recipe(algorithm, guarantee, epsilon, k, room.dataset.sensitive)).ledger_
    title = f"{algorithm}, {guarantee}: ε = {epsilon:g}, k = {int(k)}"
    broken = [rule for rule in ledger.check() if not rule.startswith("L10")]
    said = f"The checker objects: {broken[0]}." if broken else "The checker has no objection."
    status = f"{ledger.verdict()} Entries: {len(ledger.entries)}. {said}"
    return View.told(draw(ledger, title), status, [ledger._repr_html_()])


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        algorithm=choice("algorithm", list(ALGORITHMS)),
        guarantee=choice("guarantee", ["strict", "published", "none"]),
        epsilon=slider("ε", 1.0, 0.1, 2.0, 0.1, tooltip="ε, what the run promises to cost"),
        k=slider("k", 2, 0, 3, 1, unit="parents", tooltip="k, largest number of parents"),
        spends=True,
    )

"""Personal budgets (lesson 17): who loses how much, and what the others pay for it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset
from ...plots import PALETTE, figure
from ...synthesizers import PPBA, HPPrivBayes, PrivBayes, Synthesizer
from ...synthesizers import parts as p
from ...synthesizers.groups import SensitivityGroups, TwoGroups
from ..widgets import View, choice, live, slider
from .studio import Studio, ledger_summary, mean_without, studio

CUSTOM = "custom network, two groups"
METHODS = ("HPPrivBayes", "HPPrivBayes, groups by policy", "PPBA", CUSTOM)
TOTALS = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0)
TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


def recipe(method: str, epsilon: float, r: float, theta: float, q: float, dataset: Dataset) -> Synthesizer:
    """The synthesizer that the controls name; a lever that it doesn't have is ignored."""
    s = str(dataset.sensitive)
    if method == "PPBA":
        return PPBA(epsilon, q=q)
    if method == "HPPrivBayes":
        return HPPrivBayes(epsilon, sensitive=s, r=r, theta=theta)
    if method == CUSTOM:
        two = TwoGroups(r=r, personal=SensitivityGroups(groups={"A": [s]}, rare_values="same_noise"))
        return Synthesizer(epsilon, structure=p.Greedy(restriction=p.Restriction(dataset.target, s)), budget=p.Groups(two))
    return HPPrivBayes(epsilon, r=r, personal=SensitivityGroups(groups={"A": [s]}, rare_values="same_noise"))


def place(room: Studio, synthesizer: Synthesizer) -> dict[str, Any]:
    """The fitted synthesizer, the losses of all attributes, and the mean two-way distance of the pairs without the sensitive one."""
    fitted = room.run(synthesizer)
    distances, s = room.distances(room.sample(fitted)), room.schema.index(str(room.dataset.sensitive))
    return {"fitted": fitted, "losses": fitted.ledger_.attribute_epsilon(), "rest": mean_without(distances, s),
            "with": float(np.nanmean(distances[s]))}  # fmt: skip


@lru_cache(maxsize=2)
def line(room: Studio) -> tuple[list[float], list[float]]:
    """PrivBayes with less ε for everybody: the sensitive attribute's loss and the error on the rest, one point an ε."""
    found = [place(room, PrivBayes(total)) for total in TOTALS]
    return [float(f["losses"][room.dataset.sensitive]) for f in found], [f["rest"] for f in found]


def draw(state: dict[str, Any], room: Studio, title: str) -> go.Figure:
    """Left: what each attribute loses. Right: the sensitive attribute's loss against the error on the rest, beside PrivBayes' line."""
    sensitive, losses = room.dataset.sensitive, state["losses"][::-1].astype(float)
    plot = figure(title=title, height=480)
    colours = [PALETTE["private"] if name == sensitive else PALETTE["real"] for name in losses.index]
    plot.add_bar(y=list(losses.index), x=losses, orientation="h", marker_color=colours, showlegend=False,
                 text=[f"{v:.3g}" for v in losses], textposition="outside")  # fmt: skip
    x, y = line(room)
    plot.add_scatter(x=x, y=y, mode="lines+markers", name="PrivBayes, less ε for all", xaxis="x2", yaxis="y2",
                     line={"color": "#009E73", "width": 2}, marker={"symbol": "square-open", "size": 8},
                     customdata=[f"ε = {t:g}" for t in TOTALS], hovertemplate="%{customdata}<extra></extra>")  # fmt: skip
    before = guaranteed_ex_ante(state, room)
    plot.add_scatter(x=[float(losses[sensitive])], y=[state["rest"]], mode="markers", xaxis="x2", yaxis="y2",
                     name="known before the run" if before else "ex post: promises nothing",
                     marker={"color": PALETTE["private"], "size": 15, "symbol": "circle" if before else "circle-open",
                             "line": {"width": 3, "color": PALETTE["private"]}})  # fmt: skip
    return plot.update_layout(
        xaxis={"domain": [0, 0.36], "range": [0, 2.3], "title": "loss if only this attribute changes, ε"},
        xaxis2={"domain": [0.56, 1], "anchor": "y2", "type": "log", "range": [-2.5, 0.35], "tickvals": TICKS,
                "ticktext": [f"{t:g}" for t in TICKS], "tickangle": -45, "title": f"ε that {sensitive} loses"},
        yaxis2={"anchor": "x2", "range": [0, 0.25], "title": "mean 2-way distance of the rest"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0.5}, margin={"t": 92, "l": 110},
    )  # fmt: skip


def guaranteed_ex_ante(state: dict[str, Any], room: Studio) -> bool:
    """Whether policy alone fixed the sensitive attribute's loss."""
    said = str(state["losses"].attrs["known"])
    return said == "before the run" or str(room.dataset.sensitive) in said.split(";")[0]


def view(
    method: str = METHODS[0], epsilon: float = 1.0, r: float = 0.33, theta: float = 0.1, q: float = 1.1, room: Studio | None = None
) -> View:
    """One setting of the levers."""
    room = room or studio()
    state = place(room, recipe(method, epsilon, r, theta, q, room.dataset))
    levers = {"PPBA": f"q = {q:g}", "HPPrivBayes": f"r = {r:g}, θ = {theta:g} bit"}.get(method, f"r = {r:g}")
    title = f"{method}: ε = {epsilon:g}, {levers}"
    loss = float(state["losses"][room.dataset.sensitive])
    x, y = line(room)
    plain = float(np.interp(np.log(loss), np.log(x), y))
    known = "known before the run" if guaranteed_ex_ante(state, room) else "read off this run"
    status = (
        f"{room.dataset.sensitive} loses ε = {loss:.3g} of {epsilon:g}, {known}; "
        f"mean distance of the rest {state['rest']:.3f}, of pairs with it {state['with']:.3f}. "
        f"PrivBayes with so little ε for all that {room.dataset.sensitive} loses the same: {plain:.3f}."
    )
    return View.told(draw(state, room, title), status, [ledger_summary(state["fitted"].ledger_)])


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    return live(
        lambda **controls: view(room=room, **controls),
        method=choice("method", list(METHODS)),
        epsilon=slider("ε", 1.0, 0.1, 2.0, 0.1, tooltip="ε, budget of a whole record"),
        r=slider("r", 0.33, 0.01, 1.0, 0.01, tooltip="r, budget of the sensitive group against the others"),
        theta=slider("θ", 0.1, 0.0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of the sensitive group in bits"),
        q=slider("q", 1.1, 0.7, 1.5, 0.05, tooltip="q, budget of a table against the one ranked before it"),
        spends=True,
    )

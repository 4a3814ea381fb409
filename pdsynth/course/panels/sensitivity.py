"""The sensitivity panel (lesson 06): θ, r, rare_values and value weights move groups, noise scales a value, and what they truly cost."""

from __future__ import annotations

from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...budgets import RARE_VALUES, printed_scales, tight_scales, value_weights
from ...datasets import Dataset
from ...measures import sensitivity_weights
from ...plots import PALETTE, figure
from ...privacy.ledger import as_fraction, histogram_cost
from ..widgets import View, choice, live, slider
from .drawing import DASHED, add_line, powers
from .hpprivbayes import GROUP_COLOURS
from .studio import Studio, studio

TABLES = Fraction(65, 100)  # what L0 = 0.05 and L1 = 0.3 leave of ε = 1 for the tables of both groups


def printed_weights(counts: np.ndarray, rare_values: str) -> np.ndarray:
    """The weights w of Definition 11, its inverse scaled to sum 1 (``protect``), or all ones (``flat``)."""
    if rare_values == "same_noise":
        return np.ones(len(counts))
    w = sensitivity_weights(counts)
    inverse = 1 / np.maximum(w, 1e-9)
    return w if rare_values == "less_noise" else inverse / inverse.sum()


def compute(room: Studio, theta: float, r: Fraction, attribute: str, rare_values: str, v_min: Fraction) -> dict[str, Any]:
    """Groups by I(X, S) ≥ θ on a public table, and the noise scales of one attribute in both readings, in records."""
    schema, lattice = room.schema, room.records.lattice
    s, others = schema.index(room.dataset.sensitive), np.arange(len(schema))
    bits = lattice.information(others, np.full((len(others), 1), s))
    bits[s] = np.inf
    a = [name for name, value in zip(schema.names, bits, strict=True) if value >= theta]
    b = [name for name in schema.names if name not in a]
    epsilon2, epsilon3 = TABLES * r / (1 + r), TABLES / (1 + r)
    counts = room.records.table((schema.index(attribute),))
    state = {"bits": dict(zip(schema.names, bits.tolist(), strict=True)), "A": a, "B": b, "scale_a": float(2 * len(a) / epsilon2),
             "counts": counts, "labels": schema[attribute].labels, "in_a": attribute in a}  # fmt: skip
    if attribute in b:
        paid, w = epsilon3 / len(b), printed_weights(counts, rare_values)
        v = value_weights(counts, rare_values, v_min)
        printed, tight = printed_scales(w, len(b), epsilon3), tight_scales(v, paid, 2)
        state |= {"paid": paid, "w": w, "v": np.array(v, dtype=float), "printed": np.array(printed, dtype=float),
                  "tight": np.array(tight, dtype=float), "true": histogram_cost(printed, 2),
                  "tight_true": histogram_cost(tight, 2)}  # fmt: skip
    return state


def draw(state: dict[str, Any], sensitive: str, attribute: str, theta: float, title: str) -> go.Figure:
    """I(X, S) against θ; records and noise scales of the attribute's values; the share of the paid budget that is used."""
    shown = {name: name if name != sensitive else f"{name} (S itself)" for name in state["bits"]}
    plot = figure(title=title, height=560, margin={"l": 140, "r": 36, "t": 96, "b": 60}, bargap=0.3, barmode="overlay")
    for group, pattern in (("A", ""), ("B", "/")):
        members = [name for name in shown if name in state[group]]
        plot.add_bar(y=[shown[name] for name in members], x=[min(state["bits"][name], 1) for name in members], orientation="h",
                     name=f"group {group}", marker={"color": GROUP_COLOURS[group], "pattern": {"shape": pattern}},
                     hovertemplate="%{y}: %{x:.4f} bit<extra></extra>")  # fmt: skip
    ends = [-0.6, len(shown) - 0.4]
    add_line(plot, [theta, theta], ends, {**DASHED, "width": 2}, yaxis="y4", name="θ", showlegend=None)
    _scales(plot, state)
    return plot.update_layout(
        xaxis={"domain": [0, 0.4], "range": [0, 0.5], "title": f"mutual information with {sensitive}, bits"},
        yaxis={"categoryorder": "array", "categoryarray": list(shown.values())[::-1], "showgrid": False, "range": ends},
        yaxis4={"overlaying": "y", "range": ends, "visible": False},
        xaxis2={"domain": [0.56, 1], "anchor": "y2", "tickangle": -35, "type": "category", "title": f"values of {attribute}",
                "showgrid": False},
        yaxis2={"domain": [0.44, 0.98], "anchor": "x2", **powers(0, 5, "records")},
        xaxis3={"domain": [0.56, 0.96], "range": [0, 1.1], "tickformat": ".0%", "anchor": "y3",
                "title": "share of the paid ε that is used"},
        yaxis3={"domain": [0, 0.16], "anchor": "x3", "showgrid": False},
    )  # fmt: skip


def _scales(plot: go.Figure, state: dict[str, Any]) -> None:
    """Records and noise scales of the attribute's values, and how much of the paid ε each reading uses."""
    labels = list(state["labels"])
    plot.add_bar(x=labels, y=state["counts"], name="records", marker_color=PALETTE["real"], opacity=0.45, xaxis="x2", yaxis="y2")
    if state["in_a"]:
        series = [("noise scale in group A", np.full(len(labels), state["scale_a"]), "private", "circle")]
        used = {"one scale": 1.0}
    else:
        series = [("noise scale as printed", state["printed"], "attack", "diamond"),
                  ("noise scale, tight", state["tight"], "private", "circle")]  # fmt: skip
        used = {"tight": float(state["tight_true"] / state["paid"]), "as printed": float(state["true"] / state["paid"])}
    for name, values, colour, symbol in series:
        plot.add_scatter(x=labels, y=values, mode="markers", name=name, xaxis="x2", yaxis="y2",
                         hovertemplate="%{x}: %{y:.1f} records<extra></extra>",
                         marker={"color": PALETTE[colour], "size": 11, "symbol": symbol,
                                 "line": {"width": 1, "color": "white"}})  # fmt: skip
    plot.add_bar(y=list(used), x=list(used.values()), orientation="h", xaxis="x3", yaxis="y3", showlegend=False, cliponaxis=False,
                 marker_color=[PALETTE["private"], PALETTE["attack"]], text=[f"{u:.0%}" for u in used.values()],
                 textposition="outside")  # fmt: skip


def values_table(state: dict[str, Any], attribute: str) -> str:
    """One row a value: records, both weights, both noise scales."""
    if state["in_a"]:
        return f"<b>{escape(attribute)}</b> is in group A: every cell gets a noise scale of {state['scale_a']:.1f} records."
    head = "".join(f"<th>{h}</th>" for h in ("value", "records", "w", "printed scale", "v = max(w / max w, v_min)", "tight scale"))
    rows = "".join(
        f"<tr><td style='text-align:left'>{escape(label)}</td><td>{int(c):,}</td><td>{w:.4f}</td><td>{p:,.0f}</td>"
        f"<td>{v:.3f}</td><td>{t:,.0f}</td></tr>"
        for label, c, w, p, v, t in zip(*(state[key] for key in ("labels", "counts", "w", "printed", "v", "tight")), strict=True)
    )
    return f"<details><summary>Values of {escape(attribute)}</summary><table><tr>{head}</tr>{rows}</table></details>"


def view(
    theta: float = 0.1, r: float = 0.33, attribute: str = "race", rare_values: str = "less_noise", v_min: float = 0.5, room: Studio | None = None
) -> View:
    """Everything for one position of the controls; ε = 1 throughout, of which 0.65 pays for the tables."""
    room, ratio = room or studio(), as_fraction(round(r, 4))
    sensitive = room.dataset.sensitive
    state = compute(room, theta, ratio, attribute, rare_values, as_fraction(round(v_min, 4)))
    title = f"θ = {theta:g} bit, r = {r:g}, attribute = {attribute}, rare_values = {rare_values}, v_min = {v_min:g}"
    plural = "s" * (len(state["A"]) > 1)
    status = f"{len(state['A'])} attribute{plural} in A, noise scale {state['scale_a']:.1f} records; {len(state['B'])} in B. "
    if state["in_a"]:
        status += f"{attribute} is in A: all of its values get the same noise."
    else:
        top = int(np.argmax(state["counts"]))
        status += (
            f"{attribute} = {state['labels'][top]}, the most frequent value: printed scale {state['printed'][top]:,.0f}, "
            f"tight {state['tight'][top]:,.0f} records. Paid ε = {float(state['paid']):.4f}; "
            f"as printed (were the weights public) it truly costs {float(state['true']):.4f}, "
            f"tight {float(state['tight_true']):.4f}."
        )
    plot = draw(state, sensitive, attribute, theta, title)
    return View(plot, status=status, tables=[values_table(state, attribute)], alt=f"Groups and weights: {title}. {status}")


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    room = studio() if dataset is None else Studio(dataset)
    names = list(room.schema.names)
    return live(
        lambda **controls: view(room=room, **controls),
        theta=slider("θ", 0.1, 0.0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of group A in bits"),
        r=slider("r", 0.33, 0.05, 2.0, 0.01, tooltip="r = L2/L3, budget of group A against group B"),
        attribute=choice("attribute", names, "race" if "race" in names else names[0]),
        rare_values=choice("rare_values", list(RARE_VALUES)),
        v_min=slider("v_min", 0.5, 0.05, 1.0, 0.05, tooltip="v_min, smallest relative weight of a value (strict)"),
        spends=True,
    )

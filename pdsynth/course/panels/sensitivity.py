"""Lesson 06: θ, r, rare_values and v_min move groups, the noise of values, and what it costs."""

from fractions import Fraction
from html import escape
from typing import Any

import numpy as np

from ...core import RARE_VALUES, as_fraction, histogram_cost, plural, tight_scales, value_weights
from ...published.budgets import printed_scales, printed_weights
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .panel import live_panel
from .table import TeachingTable, adult
from .words import fold, html_table

TABLES = Fraction(65, 100)  # what L0 = 0.05 and L1 = 0.3 leave of ε = 1 for the tables
GROUPS = {"A": ("private", ""), "B": ("none", "/")}
V_MIN = 0.5  # smallest relative weight of a value (strict)


def compute(
    table: TeachingTable,
    theta: float,
    r: Fraction,
    attribute: str,
    rare_values: str,
    v_min: Fraction,
) -> dict[str, Any]:
    """Groups by I(X, S) ≥ θ, and the noise scales of one attribute in both readings, in records."""
    schema, s = table.schema, table.schema.index(table.dataset.sensitive)
    bits = table.records.lattice.information(np.arange(len(schema)), np.full((len(schema), 1), s))
    bits[s] = np.inf
    a = [name for name, value in zip(schema.names, bits, strict=True) if value >= theta]
    b = [name for name in schema.names if name not in a]
    epsilon2, epsilon3 = TABLES * r / (1 + r), TABLES / (1 + r)
    counts = table.counts(attribute)
    state = {
        "bits": dict(zip(schema.names, bits.tolist(), strict=True)),
        "A": a,
        "B": b,
        "scale_a": float(2 * len(a) / epsilon2),
        "counts": counts,
        "labels": schema[attribute].labels,
        "in_a": attribute in a,
    }
    if attribute in b:
        paid, w = epsilon3 / len(b), printed_weights(counts, rare_values)
        v = value_weights(counts, rare_values, v_min)
        printed, tight = printed_scales(w, len(b), epsilon3), tight_scales(v, paid, 2)
        state |= {
            "paid": paid,
            "w": w,
            "v": np.array(v, dtype=float),
            "printed": np.array(printed, dtype=float),
            "tight": np.array(tight, dtype=float),
            "true": histogram_cost(printed, 2),
            "tight_true": histogram_cost(tight, 2),
        }
    return state


def draw_groups(plot: Board, state: dict[str, Any], sensitive: str, theta: float) -> None:
    """I(X, S) of every attribute against θ."""
    labels = {name: name if name != sensitive else f"{name} (S itself)" for name in state["bits"]}
    for group, (colour, pattern) in GROUPS.items():
        members = [name for name in labels if name in state[group]]
        plot.bars(
            [min(state["bits"][name], 1) for name in members],
            [labels[name] for name in members],
            colour,
            across=True,
            pattern=pattern,
            hover="%{y}: %{x:.4f} bit",
        )
    ends = [-0.6, len(labels) - 0.4]
    plot.limit([theta, theta], ends, (1, 4), width=2)
    plot.note(" → group A", theta, ends[0], (1, 4), "real", 12, xanchor="left", yanchor="bottom")
    plot.set(
        x={"title": f"mutual information with {sensitive}, bits"},
        y4={"range": ends},
        y={"categoryorder": "array", "categoryarray": list(labels.values())[::-1], "range": ends},
    )


def draw_scales(plot: Board, state: dict[str, Any], attribute: str) -> None:
    """Records and noise scales of the values, in both readings."""
    labels = list(state["labels"])
    plot.dots(
        labels,
        state["counts"],
        "real",
        2,
        symbol="square",
        size=11,
        name="records",
        hover="%{x}: %{y:,} records",
    )
    if state["in_a"]:
        scale = np.full(len(labels), state["scale_a"])
        series = [("noise scale in group A", scale, "private", "circle")]
    else:
        series = [
            ("noise scale as printed", state["printed"], "attack", "diamond"),
            ("noise scale, tight", state["tight"], "private", "circle"),
        ]
    for name, scales, colour, symbol in series:
        plot.dots(
            labels,
            scales,
            colour,
            2,
            symbol=symbol,
            size=11,
            name=name,
            marker={"line": {"width": 1, "color": "white"}},
            hover="%{x}: %{y:.1f} records",
        )
    plot.set(x2={"title": f"values of {attribute}"})


def values_table(state: dict[str, Any], attribute: str) -> str:
    """One row per value: records, both weights, both noise scales."""
    if state["in_a"]:
        return (
            f"<b>{escape(attribute)}</b> is in group A: every cell gets a noise scale of "
            f"{state['scale_a']:.1f} records."
        )
    heads = ("value", "records", "w", "printed scale", "v = max(w / max w, v_min)", "tight scale")
    columns = (state[key] for key in ("labels", "counts", "w", "printed", "v", "tight"))
    rows = [
        (escape(label), f"{c:,}", f"{w:.4f}", f"{printed:,.0f}", f"{v:.3f}", f"{tight:,.0f}")
        for label, c, w, printed, v, tight in zip(*columns, strict=True)
    ]
    return fold(f"Values of {escape(attribute)}", html_table(heads, rows))


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "rare values, more noise",
            {"rare_values": "more_noise"},
            "the most frequent value gets noise of scale {now.tight:,.0f} instead of "
            "{was.tight:,.0f} records, the rarest {now.rare:,.0f} instead of {was.rare:,.0f}.",
            lambda was, now: now.tight < was.tight and now.rare > was.rare,
        ),
        Try(
            "a low threshold",
            {"theta": 0.01},
            "{now.a} attributes instead of {was.a} share the budget of group A: its noise scale "
            "grows from {was.scale:.0f} to {now.scale:.0f} records.",
            lambda was, now: now.a > was.a and now.scale > was.scale,
        ),
        Try(
            "an attribute in A",
            {"attribute": "education"},
            "all of its values get the same noise, {now.scale:.0f} records.",
            lambda was, now: now.in_a,
        ),
    ),
    theta=slider("θ", 0.1, 0.0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of group A in bits"),
    r=slider("r", 0.33, 0.05, 2.0, 0.01, tooltip="r = L2/L3, budget of group A against group B"),
    attribute=lambda table: choice(
        "attribute", table.schema.names, "race" if "race" in table.schema.names else None
    ),
    rare_values=choice("rare_values", RARE_VALUES),
)
def view(
    table: TeachingTable,
    theta: float,
    r: float,
    attribute: str,
    rare_values: str,
    v_min: float = V_MIN,
) -> View:
    """Groups and weights; ε = 1 throughout, of which 0.65 pays for the tables."""
    state = compute(
        table, theta, as_fraction(round(r, 4)), attribute, rare_values, as_fraction(round(v_min, 4))
    )
    title = f"θ = {theta:g} bit, r = {r:g}, attribute = {attribute}, rare_values = {rare_values}"
    plot = Board("sensitivity", title)
    plot.entitle("xy", f"What each attribute tells of {table.dataset.sensitive}, bits")
    plot.entitle("x2y2", f"{attribute}: records and noise scales of its values")
    draw_groups(plot, state, table.dataset.sensitive, theta)
    draw_scales(plot, state, attribute)
    top, groups = (
        int(np.argmax(state["counts"])),
        (
            f"{plural(len(state['A']), 'attribute')} in A, noise scale "
            f"{state['scale_a']:.1f} records; {len(state['B'])} in B."
        ),
    )
    facts = {"a": len(state["A"]), "scale": state["scale_a"], "in_a": state["in_a"]}
    if state["in_a"]:
        status = f"{attribute} is in A: all of its values get the same noise. {groups}"
    else:
        rare = int(np.argmin(state["counts"]))
        facts |= {"tight": float(state["tight"][top]), "rare": float(state["tight"][rare])}
        status = (
            f"{attribute} = {state['labels'][top]}, the most frequent value: printed scale "
            f"{state['printed'][top]:,.0f}, tight {facts['tight']:,.0f} records. {groups} "
            f"Paid ε = {float(state['paid']):.4f}; as printed (were the weights public) it truly "
            f"costs {float(state['true']):.4f}, {float(state['true'] / state['paid']):.0%} of what "
            f"is paid, tight {float(state['tight_true']):.4f}."
        )
    alt = f"Groups and weights: {title}. {status}"
    return View(plot.figure, status, [values_table(state, attribute)], alt, facts)


panel = view.panel

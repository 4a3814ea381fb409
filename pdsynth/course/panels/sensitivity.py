"""Lesson 06: θ, r, rare_values and v_min move groups, the noise of values, and what it costs."""

import math
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np

from ...algorithms import RARE_VALUES, value_weights
from ...core import as_fraction, histogram_cost, plural, tight_scales
from ...published.budgets import printed_scales, printed_weights
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, friendly
from .panel import live_panel
from .table import TeachingTable, adult
from .words import attribute_choice, fold, html_table

L0, L1 = Fraction(1, 5), Fraction(3, 10)  # shares of ε: columns with sketches, and the network
PRINTED_K = 4  # the thesis' k, by which the printed noise of group A is divided
GROUPS = {"A": ("look", ""), "B": ("real", "/")}
V_MIN = 0.5  # smallest relative weight of a value (strict)


def compute(
    table: TeachingTable,
    theta: float,
    r: Fraction,
    attribute: str,
    rare_values: str,
    v_min: Fraction,
    tables: Fraction = 1 - L0 - L1,
    sensitive: str | None = None,
) -> dict[str, Any]:
    """Groups by I(X, S) ≥ θ, and the noise scales of one attribute in both readings, in records.

    ``tables``: ε of all tables; ``sensitive``: S, if it isn't the table's own.
    """
    schema = table.schema
    s = schema.index(sensitive or table.dataset.sensitive)
    bits = table.records.lattice.information(np.arange(len(schema)), np.full((len(schema), 1), s))
    bits[s] = np.inf
    a = [name for name, value in zip(schema.names, bits, strict=True) if value >= theta]
    b = [name for name in schema.names if name not in a]
    epsilon3, paid = tables / (1 + r), tables / (r * len(a) + len(b))
    counts = table.counts(attribute)
    state = {
        "bits": dict(zip(schema.names, bits.tolist(), strict=True)),
        "A": a,
        "B": b,
        "scale_a": float(2 / (r * paid)),
        "printed_a": 2 * (len(schema) - PRINTED_K - len(b)) / float(tables - epsilon3),
        "printed_b": [
            float(scale)
            for name in b
            for scale in printed_scales(
                printed_weights(table.counts(name), rare_values), len(b), epsilon3
            )
        ],
        "counts": counts,
        "labels": schema[attribute].labels,
        "in_a": attribute in a,
    }
    if attribute in b:
        w = printed_weights(counts, rare_values)
        v = value_weights(counts, rare_values, v_min)
        printed, tight = printed_scales(w, len(b), epsilon3), tight_scales(v, paid, 2)
        state |= {
            "paid": paid,
            "printed_paid": epsilon3 / len(b),
            "w": w,
            "v": np.array(v, dtype=float),
            "printed": np.array(printed, dtype=float),
            "tight": np.array(tight, dtype=float),
            "true": histogram_cost(printed, 2),
            "tight_true": histogram_cost(tight, 2),
        }
    return state


def say_noise(state: dict[str, Any], r: float) -> str:
    """Which group has more noise, as strict divides ε and as the thesis prints it."""
    if not state["B"]:
        return "Group B is empty."
    sentence = f"Strict: a table of A has {1 / r:.3g} times the noise of one of B."
    if state["printed_a"] <= 0:
        return sentence + " Printed: d − k − |B| isn't positive, so A's noise isn't defined."
    ratio = float(np.median(state["printed_b"])) / state["printed_a"]
    more, times = ("B", ratio) if ratio > 1 else ("A", 1 / ratio)
    other = "A" if more == "B" else "B"
    return sentence + f" Printed: group {more} has {times:.3g} times the noise of {other}."


def draw_groups(plot: Board, state: dict[str, Any], sensitive: str, theta: float) -> None:
    """I(X, S) of every attribute against θ."""
    labels = {
        name: friendly(name) if name != sensitive else f"{friendly(name)} itself: all"
        for name in state["bits"]
    }
    for group, (colour, pattern) in GROUPS.items():
        members = [name for name in labels if name in state[group]]
        plot.bars(
            [min(state["bits"][name], 1) for name in members],
            [labels[name] for name in members],
            colour,
            across=True,
            pattern=pattern,
            customdata=[
                "" if state["bits"][name] == math.inf else f": {state['bits'][name]:.4f} bit"
                for name in members
            ],
            hover="%{y}%{customdata}",
        )
    ends = [-0.6, len(labels) - 0.4]
    order = sorted(labels, key=state["bits"].__getitem__)
    plot.limit([theta, theta], ends, (1, 4), width=2)
    side = "left" if theta < 0.3 else "right"  # of the note at which the line stands
    note = f"<b>{len(state['A'])}</b> of {len(labels)} →"
    note = f"  {note}" if side == "left" else f"{note}  "
    plot.note(note, theta, 0.02, 1, "look", 15, yref="y domain", xanchor=side, yanchor="bottom")
    plot.layout["meta"]["drag"] = {
        "chart": "xy",
        "control": "theta",
        "at": theta,
        "step": 0.01,
        "label": "threshold θ",
    }
    plot.set(
        x={"title": "bits (yes-or-no answers) that a column tells"},
        y4={"range": ends},
        y={
            "categoryorder": "array",
            "categoryarray": [labels[name] for name in order],
            "range": ends,
        },
    )


def draw_scales(plot: Board, state: dict[str, Any]) -> None:
    """Records and noise scales of the values, in both readings."""
    labels = list(state["labels"])
    plot.dots(
        state["counts"],
        labels,
        "real",
        2,
        symbol="square",
        size=11,
        name="people",
        hover="%{y}: %{x:,} people",
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
            scales,
            labels,
            colour,
            2,
            symbol=symbol,
            size=11,
            name=name,
            marker={"line": {"width": 1, "color": "white"}},
            hover="%{y}: %{x:.1f} people",
        )


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
            "{now.a} attributes instead of {was.a} are in group A, so fewer are favoured. The "
            "noise scale of its tables falls from {was.scale:.0f} to {now.scale:.0f} records.",
            lambda was, now: now.a > was.a and now.scale < was.scale,
        ),
        Try(
            "an attribute in A",
            {"attribute": "education"},
            "all of its values get the same noise, {now.scale:.0f} records.",
            lambda was, now: now.in_a,
        ),
    ),
    theta=slider("θ", 0.1, 0.0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of sensitive columns"),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    r=slider("r", 0.33, 0.05, 2.0, 0.01, tooltip="r, budget of sensitive columns against others"),
    attribute=attribute_choice("values of", "race"),
    rare_values=choice("rare values", {name.replace("_", " "): name for name in RARE_VALUES}),
    sensitive=attribute_choice("secret S"),
    l1=slider("L₁", 0.3, 0.05, 0.75, 0.05, tooltip="L₁, share of ε for the network"),
)
def view(
    table: TeachingTable,
    theta: float,
    r: float,
    attribute: str,
    rare_values: str,
    epsilon: float,
    sensitive: str,
    l1: float,
    v_min: float = V_MIN,
) -> View:
    """Groups and weights; 1 − L₀ − L₁ of ε pays for the tables."""
    exact = [as_fraction(round(number, 4)) for number in (r, v_min, epsilon, l1)]
    tables = exact[2] * (1 - L0 - exact[3])
    state = compute(table, theta, exact[0], attribute, rare_values, exact[1], tables, sensitive)
    title = (
        f"ε = {epsilon:g}, θ = {theta:g} bit, r = {r:g}, attribute = {attribute}, "
        f"rare values = {rare_values.replace('_', ' ')}, S = {sensitive}, L₁ = {l1:g}"
    )
    plot = Board("sensitivity", title)
    plot.entitle("xy", f"What tells much of {friendly(sensitive)}")
    plot.entitle(
        "x2y2", f"{friendly(attribute).capitalize()}: people with each value, and its noise"
    )
    draw_groups(plot, state, sensitive, theta)
    draw_scales(plot, state)
    top, groups = (
        int(np.argmax(state["counts"])),
        (
            f"{plural(len(state['A']), 'attribute')} in A, noise scale "
            f"{state['scale_a']:.1f} records; {len(state['B'])} in B. {say_noise(state, r)}"
        ),
    )
    facts = {"a": len(state["A"]), "scale": state["scale_a"], "in_a": state["in_a"]}
    tell = "tells" if len(state["A"]) == 1 else "tell"
    many = f"{plural(len(state['A']), 'column')} {tell}"
    verdict = f"{many} {theta:g} bit or more of {friendly(sensitive)}. "
    if state["in_a"]:
        status = verdict + f"{attribute} is in A: all of its values get the same noise. {groups}"
    else:
        rare = int(np.argmin(state["counts"]))
        facts |= {"tight": float(state["tight"][top]), "rare": float(state["tight"][rare])}
        status = verdict + (
            f"{attribute} = {state['labels'][top]}, the most frequent value: printed scale "
            f"{state['printed'][top]:,.0f}, tight {facts['tight']:,.0f} records. {groups} "
            f"Both readings have ε = {float(tables):.3g} for all tables here. "
            f"As printed ε = {float(state['printed_paid']):.4f} is paid, and (were the weights "
            f"public) {float(state['true']):.4f} truly lost, "
            f"{float(state['true'] / state['printed_paid']):.0%} of it; tight "
            f"{float(state['paid']):.4f} is paid and lost."
        )
    alt = f"Groups and weights: {title}. {status}"
    return View(plot.figure, status, [values_table(state, attribute)], alt, facts)


panel = view.panel

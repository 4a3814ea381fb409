"""Lesson 07: ε, k, r and θ move network, noise, ledger, distances and a preview together."""

from typing import Any

import numpy as np

from ...algorithms import RARE_VALUES, HPPrivBayes, SensitivityGroups
from ...core import plural
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, Mark, arcs
from .panel import live_panel
from .table import TeachingTable, adult, remember
from .words import GUARANTEE, GUARANTEES, attribute_choice, ledger_summary, preview, sum_up

GROUPS = {"A": ("more", "private", "circle"), "B": ("less", "#56B4E9", "square")}


@remember
def fit(table: TeachingTable, guarantee: str, rare_values: str, **levers: Any) -> HPPrivBayes:
    """``levers``: keywords of HPPrivBayes."""
    groups = SensitivityGroups(rare_values=rare_values)
    return table.run(HPPrivBayes(guarantee=guarantee, **levers, personal=groups))


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "little budget",
            {"epsilon": 0.3},
            "{now.noisy} of {now.tables} tables have more noise than signal, {was.noisy} at ε = 1; "
            "the distance goes from {was.mean:.3f} to {now.mean:.3f}.",
            lambda was, now: now.noisy > was.noisy and now.mean > was.mean,
        ),
        Try(
            "one parent only",
            {"k": 1},
            "{now.noisy} noisy tables instead of {was.noisy}: the distance falls from "
            "{was.mean:.3f} to {now.mean:.3f}, although the network says less.",
            lambda was, now: now.noisy <= was.noisy and now.mean < was.mean,
        ),
        Try(
            "as printed",
            {"guarantee": "published"},
            "ε = {now.claimed:g} is claimed, and the ledger says {now.audited}.",
            lambda was, now: now.audited == "infinite",
        ),
        Try(
            "a high threshold",
            {"theta": 0.5},
            "{now.a} attributes are left in group A, of {was.a}.",
            lambda was, now: now.a < was.a,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    k=slider("k", 2, 0, 4, 1, tooltip="k, parents of a column"),
    r=slider("r", 0.33, 0.05, 1.0, 0.01, tooltip="r, budget of sensitive columns against others"),
    theta=slider("θ", 0.1, 0.0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of sensitive columns"),
    guarantee=GUARANTEE,
    rare_values=choice("rare values", {name.replace("_", " "): name for name in RARE_VALUES}),
    sensitive=attribute_choice("secret S"),
    share_structure=slider("L₁", 0.3, 0.05, 0.75, 0.05, tooltip="L₁, share of ε for the network"),
)
def view(table: TeachingTable, guarantee: str, rare_values: str, **levers: Any) -> View:
    """Network over its noise, distances beside it; ledger and preview below.

    ``levers`` are keywords of HPPrivBayes.
    """
    fitted = fit(table, guarantee, rare_values, **levers)
    codes, order, marks = table.sample(fitted), fitted.network_.order, []
    distances = table.distances(codes)
    noise, facts, summary = sum_up(fitted, distances)
    for group, (much, colour, symbol) in GROUPS.items():
        at = [i for i, name in enumerate(order) if name in fitted.groups_[group]]
        words = [order[i] for i in at]
        marks.append(
            Mark(
                at,
                words,
                colour,
                symbol,
                f"group {group}: {much} sensitive",
                [noise[name] for name in words],
            )
        )
    state = "ε = {epsilon:g}, k = {k}, r = {r:g}, θ = {theta:g} bit".format(**levers)
    plot = Board("hpprivbayes", f"HPPrivBayes {GUARANTEES[guarantee]}: {state}")
    plot.network(arcs(fitted.network_), order, marks)
    plot.distances(distances, table.schema.names, 0.25, {"len": 0.75, "y": 0.6})
    facts["a"] = len(fitted.groups_["A"])
    status = f"{summary}; {plural(facts['a'], 'attribute')} in group A.{say_groups(fitted)}"
    tables = [ledger_summary(fitted.ledger_), preview(table, codes)]
    return View(plot.figure, status, tables, facts=facts)


def say_groups(fitted: HPPrivBayes) -> str:
    """Which group has more noise: the ratio of the median noise scales of their tables' values."""
    scales: dict[str, list[float]] = {"A": [], "B": []}
    for entry in fitted.ledger_.entries:
        if entry.step.startswith("table(") and entry.scale is not None:
            group = "A" if entry.attributes[0] in fitted.groups_["A"] else "B"
            scales[group] += [float(scale) for scale in np.ravel(entry.scale)]
    if not all(scales.values()):
        return ""
    ratio = float(np.median(scales["A"]) / np.median(scales["B"]))
    if ratio < 1:
        return f" Group B, the less sensitive one, has {1 / ratio:.3g} times the noise of group A."
    return f" Group A has {ratio:.3g} times the noise of group B."


panel = view.panel

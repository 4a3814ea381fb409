"""Lesson 18: every fast algorithm at the same ε and k, what an attribute loses, and the plan."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...algorithms import ConsistentBayes
from ...core import AsMeasured, BudgetError, Recipe
from ...datasets.tables import Dataset
from ...papers.sidebyside import PAPER
from ...papers.sidebyside_methods import AGREED, BASE, SLOW, algorithms
from ...planning import Plan, plan
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, ink
from .panel import live_panel
from .table import COARSE, TeachingTable, adult, mean_without, remember
from .words import GUARANTEE, GUARANTEES, percent

# More than a tenth of a second each; and what the panel has a control for.
LEFT_OUT = (*SLOW, "GeneticBayes", AGREED)
LARGE = ("CSAPrivBayes", "CSAPrivBayes, policy")  # seconds each where tables are to agree
RECONCILE = {"measured": False, "agree": True}
LEAST, MOST = 0.004, 6.0  # ends of the axis of losses; an infinite one is drawn to its right end


class Result(NamedTuple):
    """Mean distance of all pairs and of those without the sensitive attribute, and its loss."""

    distance: float = math.nan
    rest: float = math.nan
    loss: float = math.nan


def contenders(
    dataset: Dataset,
    sensitive: str,
    epsilon: float,
    k: int | str,
    guarantee: str,
    agree: bool = False,
) -> dict[str, Recipe]:
    """The algorithms of the panel, unfitted; where a method has no k, k moves nothing.

    ``agree``: the noisy tables of all of them are made to agree, else ConsistentBayes' alone.
    """
    target = dataset.target if dataset.target != sensitive else dataset.sensitive
    makers = algorithms(replace(dataset, sensitive=sensitive, target=target), PAPER.settings())
    recipes = {
        name: make(guarantee=guarantee, epsilon=epsilon)
        for name, make in makers.items()
        if name not in LEFT_OUT + LARGE * agree
    }
    for synthesizer in recipes.values():
        parameters = synthesizer.get_params()
        if "k" in parameters:
            synthesizer.set_params(k=k)
        elif "structure" in parameters:
            synthesizer.set_params(structure=replace(parameters["structure"], k=k))
        whole = agree or isinstance(synthesizer, ConsistentBayes)  # it has no other form
        synthesizer.set_params(reconcile=COARSE if whole else AsMeasured())
    return recipes


@remember
def compute(
    table: TeachingTable,
    sensitive: str,
    epsilon: float,
    k: int | str,
    guarantee: str,
    agree: bool = False,
) -> dict[str, Result]:
    """The result of each algorithm; NaN where it refuses."""
    results, at = {}, table.schema.index(sensitive)
    algorithms = contenders(table.dataset, sensitive, epsilon, k, guarantee, agree)
    for name, synthesizer in algorithms.items():
        try:
            fitted = table.run(synthesizer)
        except BudgetError:  # BudgetDegenerate: published HPPrivBayes can't divide its budget
            results[name] = Result()
            continue
        matrix = table.distances(table.sample(fitted))
        results[name] = Result(
            float(np.nanmean(matrix)),
            mean_without(matrix, at),
            float(fitted.ledger_.attribute_epsilon()[sensitive]),
        )
    return results


def draw_results(
    plot: Board,
    found: dict[str, Result],
    before: dict[str, Result],
    sensitive: str,
    published: bool,
) -> None:
    """Distance and loss, one row per algorithm; ``before`` its tables were made to agree."""
    draw_distances(plot, found, before, sensitive)
    draw_losses(plot, found)
    near = sorted(found, key=lambda name: (math.isnan(found[name].distance), found[name].distance))
    best = found[near[0]].distance
    plot.note(f"<b>{percent(best)}</b>", math.log10(best), near[0], 1, "look", 15, xshift=14,
              xanchor="left")  # fmt: skip
    rows = {"categoryorder": "array", "categoryarray": near}
    endless = published and not all(result.loss < math.inf for result in found.values())
    plot.entitle(
        "x2y2", f"What a change of {sensitive} alone costs{' (∞: not private)' if endless else ''}"
    )
    plot.set(
        y=rows, y2=rows, x2={"range": [math.log10(LEAST), math.log10(10 * MOST)], "title": "ε"}
    )


def draw_distances(
    plot: Board, found: dict[str, Result], before: dict[str, Result], sensitive: str
) -> None:
    """Two dots of each algorithm, over all pairs and over those of the other attributes."""
    names = list(found)
    if before is not found:
        plot.dots(
            [before[name].distance for name in names],
            names,
            "real",
            1,
            size=10,
            symbol="circle-open",
            name="as measured",
            hover="%{y}: %{x:.4f}",
        )
    for label, place, colour, symbol in (
        ("all pairs", 0, "private", "circle"),
        (f"pairs without {sensitive}", 1, "#56B4E9", "diamond-open"),
    ):
        plot.dots(
            [result[place] for result in found.values()],
            names,
            colour,
            symbol=symbol,
            size=10,
            name=label,
            hover="%{y}: %{x:.4f}",
        )


def draw_losses(plot: Board, found: dict[str, Result]) -> None:
    """What a change of the sensitive attribute alone costs, where a proof says it."""
    losses = {name: result.loss for name, result in found.items() if not math.isnan(result.loss)}
    for finite, colour in ((True, "private"), (False, "attack")):
        mine = {name: loss for name, loss in losses.items() if (loss < math.inf) == finite}
        plot.dots(
            [min(loss, MOST) for loss in mine.values()],
            list(mine),
            colour,
            2,
            size=10,
            mode="markers+text",
            hover=False,
            textposition="middle right",
            cliponaxis=False,
            symbol="circle" if finite else "x",
            text=[f"   {loss:.3g}" if finite else "   ∞" for loss in mine.values()],
        )


def draw_plan(plot: Board, known: Plan, k: int | str) -> None:
    """Noise against mean cells by k, from public facts."""
    degrees, noise = known.table["k"], known.table["noise ÷ mean cell"]
    chosen = [str(degree) == str(known.k if k == "auto" else k) for degree in degrees]
    plot.dots(
        degrees,
        noise,
        ["attack" if v > 1 else "private" for v in noise],
        3,
        size=13,
        marker={"line": {"width": [3 * c for c in chosen], "color": ink("none")}},
        hover="k = %{x}: %{y:.3g}",
    )
    for level, name, colour, dash in (
        (1.0, "above: more noise than records", "attack", "dash"),
        (0.25, "below: θ-useful", "real", "dot"),
    ):  # in the legend: beside the lines their names would lie under dots
        plot.limit([-0.6, 5.6], [level] * 2, 3, colour, dash=dash, name=name)


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "little budget",
            {"epsilon": 0.1},
            "nearest is {now.nearest} with {now.best:.3f}; PrivBayes goes from {was.base:.3f} to "
            "{now.base:.3f}.",
            lambda was, now: now.base > was.base,
        ),
        Try(
            "k = 3 for all",
            {"k": 3},
            "PrivBayes goes from {was.base:.3f} to {now.base:.3f}: k is worth more thought than "
            "the name of a method.",
            lambda was, now: now.base > was.base,
        ),
        Try(
            "as published",
            {"guarantee": "published"},
            "no finite ε holds for {now.endless} of {now.ran} methods.",
            lambda was, now: now.endless > 0,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, privacy budget"),
    k=choice("k", ["auto", 1, 2, 3, 4], tooltip="k, parents of a column"),
    guarantee=GUARANTEE,
    sensitive=lambda table: choice(
        "sensitive", table.schema.names, table.dataset.sensitive, tooltip="sensitive attribute"
    ),
    reconcile=choice("reconcile", list(RECONCILE), tooltip="reconcile, do noisy tables agree?"),
)
def view(
    table: TeachingTable,
    epsilon: float,
    k: int | str,
    guarantee: str,
    sensitive: str,
    reconcile: str,
) -> View:
    """Above: distance and loss of all algorithms. Below: what the plan knows before any run."""
    before = results = compute(table, sensitive, epsilon, k, guarantee)
    if RECONCILE[reconcile]:
        results = compute(table, sensitive, epsilon, k, guarantee, agree=True)
    outlook = plan(table.schema, table.records.n, epsilon)
    plot = Board(
        "side_by_side",
        f"Side by side, {GUARANTEES[guarantee]}: ε = {epsilon:g}, k = {k}, sensitive: {sensitive}",
    )
    draw_results(plot, results, before, sensitive, guarantee == "published")
    draw_plan(plot, outlook, k)
    ran = {name: result for name, result in results.items() if not math.isnan(result.distance)}
    nearest = min(ran, key=lambda name: ran[name].distance)
    least = min(ran, key=lambda name: ran[name].loss)
    endless = sum(result.loss == math.inf for result in ran.values())
    losses = (
        f"A change of {sensitive} costs least with {least}: {results[least].loss:.3g} "
        f"(PrivBayes {results[BASE].loss:.3g})."
    )
    if endless:
        losses = f"No finite ε holds for {endless} of {len(ran)}."
    refusals = "".join(
        f" {name} refuses: it can't divide its budget." for name in results if name not in ran
    )
    agreed = (
        ""
        if results is before
        else (
            f" Tables agree: PrivBayes was {before[BASE].distance:.3f} as measured, and no loss "
            f"changed; left out: {' and '.join(LARGE)}."
        )
    )
    status = (
        f"{nearest} is nearest: off by {percent(results[nearest].distance)} of the people. "
        f"In full {results[nearest].distance:.3f}; "
        f"PrivBayes {results[BASE].distance:.3f}.{agreed} {losses}{refusals} "
        f"Before any run: {outlook}"
    )
    facts = {
        "nearest": nearest,
        "best": results[nearest].distance,
        "base": results[BASE].distance,
        "endless": endless,
        "ran": len(ran),
    }
    before_spending = f"<b>Before you spend.</b> {outlook._repr_html_()}"
    return View(plot.figure, status, [before_spending], facts=facts)


panel = view.panel

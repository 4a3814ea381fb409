"""Lesson 17: who loses how much, and what the others pay for it."""

import math
from typing import Any

import numpy as np

from ...algorithms import (
    PPBA,
    Greedy,
    Groups,
    HPPrivBayes,
    PrivBayes,
    SensitivityGroups,
    Synthesizer,
)
from ...core import Recipe, Restriction
from ...datasets.tables import Dataset
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, friendly, ink
from .panel import live_panel
from .table import COARSE, TeachingTable, adult, mean_without, remember
from .words import ledger_summary, percent

CUSTOM = "custom network, two groups"
METHODS = ("HPPrivBayes", "HPPrivBayes, groups by policy", "PPBA", CUSTOM)
TOTALS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0)


def recipe(
    method: str,
    epsilon: float,
    r: float,
    theta: float,
    q: float,
    dataset: Dataset,
    k: int | str = "auto",
) -> Recipe:
    """The synthesizer that the controls name; it ignores a lever that it doesn't have."""
    sensitive = str(dataset.sensitive)
    policy = SensitivityGroups(groups={"A": [sensitive]}, rare_values="same_noise")
    if method == "PPBA":
        return PPBA(epsilon, q=q) if k == "auto" else PPBA(epsilon, q=q, k=k)
    if method == "HPPrivBayes":
        return HPPrivBayes(epsilon, k=k, sensitive=sensitive, r=r, theta=theta)
    if method == CUSTOM:
        structure = Greedy(k=k, restriction=Restriction(dataset.target, sensitive))
        budget = Groups(r=r, personal=policy)
        return Synthesizer(epsilon, structure=structure, budget=budget)
    return HPPrivBayes(epsilon, k=k, r=r, personal=policy)


def measure(table: TeachingTable, synthesizer: Recipe) -> dict[str, Any]:
    """A fitted synthesizer, the losses of all attributes, and mean two-way distances.

    ``rest``: of the pairs without the sensitive attribute, ``with``: of those with it.
    """
    fitted = table.run(synthesizer)
    distances = table.distances(table.sample(fitted))
    s = table.schema.index(str(table.dataset.sensitive))
    return {
        "fitted": fitted,
        "losses": fitted.ledger_.attribute_epsilon(),
        "rest": mean_without(distances, s),
        "with": float(np.nanmean(distances[s])),
    }


@remember
def line(table: TeachingTable) -> tuple[list[float], list[float]]:
    """PrivBayes with less ε for all: the sensitive attribute's loss and the rest's error.

    Its tables are made to agree, as HPPrivBayes' and PPBA's are: what lies below the line owes
    that to personal budgets.
    """
    points = [measure(table, PrivBayes(total, reconcile=COARSE)) for total in TOTALS]
    losses = [float(one["losses"][table.dataset.sensitive]) for one in points]
    return losses, [one["rest"] for one in points]


def beside(table: TeachingTable, loss: float) -> tuple[float, str, str]:
    """The line's error where the sensitive attribute loses this much, and words for an end of it.

    Beyond its ends nothing was measured: there the error is "over" that of the first point, or
    "under" that of the last.
    """
    losses, errors = line(table)
    error = float(np.interp(np.log(loss), np.log(losses), errors))
    for out, side, end in ((loss < losses[0], "over ", 0), (loss > losses[-1], "under ", -1)):
        if out:
            return error, side, f" (its line ends at ε = {losses[end]:.2g})"
    return error, "", ""


def draw(
    table: TeachingTable, state: dict[str, Any], ex_ante: bool, plain: float | None, title: str
) -> Board:
    """What each attribute loses; the sensitive one's loss against the error on the rest.

    ``plain``: the line's error at the same loss, None beyond its ends.
    """
    sensitive, losses = table.dataset.sensitive, state["losses"][::-1].astype(float)
    plot = Board("personal", title)
    plot.bars(
        losses,
        list(losses.index),
        ["look" if name == sensitive else "private" for name in losses.index],
        across=True,
        text=[f"{v:.3g}" for v in losses],
        textposition="outside",
    )
    plot.line(
        *line(table),
        "none",
        2,
        width=2,
        mode="lines+markers",
        hover="%{customdata}",
        name="all columns (PrivBayes)",
        marker={"symbol": "square-open", "size": 8},
        fill="tozeroy",
        fillcolor="rgba(0,114,178,.05)",
        customdata=[f"ε = {t:g}" for t in TOTALS],
    )
    plot.dots(
        [float(losses[sensitive])],
        [state["rest"]],
        "look",
        2,
        size=15,
        name=f"{friendly(sensitive)} alone, "
        + ("known before the run" if ex_ante else "read off this run: no promise"),
        symbol="circle" if ex_ante else "circle-open",
        marker={"line": {"width": 3, "color": ink("look")}},
    )
    at = float(losses[sensitive])
    ends = draw_gap(plot, at, state["rest"], plain)
    plot.note("better below the line", 0.16, 0.03, (2, 2), "private", 13,
              xref="x2 domain", yref="y2 domain", xanchor="left", yanchor="bottom")  # fmt: skip
    top = max(0.12, 1.25 * ends[-1], 1.05 * max(line(table)[1]))
    plot.set(
        x2={
            "title": f"ε that {friendly(sensitive)} loses",
            "range": [min(-2.5, math.log10(at) - 0.3), 0.35],
        },
        y2={"range": [0, top]},
    )
    return plot


def draw_gap(plot: Board, at: float, rest: float, plain: float | None) -> list[float]:
    """A bar from the method's error to the line's, and both in words; returns them, rising."""
    ends = sorted(value for value in (rest, plain) if value is not None)
    if plain is not None:
        plot.mark((at, at), ends, "look", 2, 5, None)
    for value in ends:
        plot.note(f"<b>{percent(value)}</b>", math.log10(at), value, 2, "look", 16,
                  yanchor="bottom" if value == ends[-1] else "top",
                  yshift=10 if value == ends[-1] else -8)  # fmt: skip
    return ends


@remember
def setting(
    table: TeachingTable, method: str, epsilon: float, r: float, theta: float, q: float, k: Any
) -> dict[str, Any]:
    """What :func:`measure` says of the synthesizer that the controls name."""
    return measure(table, recipe(method, epsilon, r, theta, q, table.dataset, k))


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "a promise before the run",
            {"method": CUSTOM, "r": 0.1},
            "occupation loses {now.loss:.3g} instead of {was.loss:.3g}, known before the run; the "
            "others are off by {now.rest:.1%}, with less ε for all by {now.plain:.1%}.",
            lambda was, now: now.loss < was.loss and now.known and not was.known,
        ),
        Try(
            "PPBA",
            {"method": "PPBA"},
            "occupation loses {now.loss:.3g}, read off this run: the next may say something else.",
            lambda was, now: not now.known,
        ),
        Try(
            "less for everybody",
            {"epsilon": 0.3},
            "occupation loses {now.loss:.3g} instead of {was.loss:.3g}, and the others are off by "
            "{now.rest:.1%} instead of {was.rest:.1%}.",
            lambda was, now: now.loss < was.loss and now.rest > was.rest,
        ),
    ),
    method=choice("method", METHODS),
    epsilon=slider("ε", 1.0, 0.1, 2.0, 0.1, tooltip="ε, budget of a whole record"),
    k=choice("k", ["auto", 1, 2, 3], tooltip="k, parents of a column"),
    r=slider(
        "r", 0.33, 0.01, 1.0, 0.01, tooltip="r, budget of the sensitive group against the others"
    ),
    theta=slider(
        "θ", 0.1, 0.0, 0.5, 0.01, unit="bit", tooltip="θ, threshold of the sensitive group in bits"
    ),
    q=slider(
        "q", 1.1, 0.7, 1.5, 0.05, tooltip="q, budget of a table against the one ranked before it"
    ),
)
def view(
    table: TeachingTable,
    method: str,
    epsilon: float,
    k: int | str,
    r: float,
    theta: float,
    q: float,
) -> View:
    """One setting of the levers, beside PrivBayes with less ε for everybody."""
    state = setting(table, method, epsilon, r, theta, q, k)
    sensitive, moment = table.dataset.sensitive, str(state["losses"].attrs["known"])
    ex_ante = moment == "before the run" or str(sensitive) in moment.split(";")[0]
    levers = {"PPBA": f"q = {q:g}", "HPPrivBayes": f"r = {r:g}, θ = {theta:g} bit"}
    title = f"{method}: ε = {epsilon:g}, k = {k}, {levers.get(method, f'r = {r:g}')}"
    loss = float(state["losses"][sensitive])
    plain, side, end = beside(table, loss)
    facts = {"loss": loss, "known": ex_ante, "rest": state["rest"], "plain": plain}
    status = (
        f"Protecting one column, others are off by {percent(state['rest'])}; protecting all, "
        f"{side}{percent(plain)}. "
        f"{sensitive} loses ε = {loss:.3g} of {epsilon:g}, "
        f"{'known before the run' if ex_ante else 'read off this run'}. Mean distance of the rest "
        f"{state['rest']:.3f}, of pairs with it {state['with']:.3f}. PrivBayes with so little ε "
        f"for all that {sensitive} loses the same: {side}{plain:.3f}{end}."
    )
    plot = draw(table, state, ex_ante, None if side else plain, title)
    plot.entitle("x2y2", f"What the other columns pay for protecting {friendly(sensitive)}")
    return View(plot.figure, status, [ledger_summary(state["fitted"].ledger_)], facts=facts)


panel = view.panel

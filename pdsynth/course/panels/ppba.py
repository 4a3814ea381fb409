"""Lesson 12: ε, k and q; who gets which budget, and what availability costs in security."""

import math
from collections.abc import Sequence

import numpy as np

from ...algorithms import PPBA
from ...core import maximum_spanning_tree
from ..widgets.controls import slider
from ..widgets.view import Try, View
from .drawing import Board, arches, friendly, lying
from .panel import live_panel
from .table import TeachingTable, adult, remember
from .words import GUARANTEE, GUARANTEES, child_of, ledger_summary, noise_to_cell, percent, promise

RATIOS = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
STRONGEST = 4  # tables, the heaviest first


@remember
def fit(
    table: TeachingTable, epsilon: float, k: int, q: float, guarantee: str
) -> tuple[PPBA, np.ndarray]:
    """One run with common random numbers, and its matrix of two-way distances."""
    fitted = table.run(PPBA(epsilon, k=k, q=q, guarantee=guarantee))
    return fitted, table.distances(table.sample(fitted))


@remember
def raw_tree(table: TeachingTable) -> list[tuple[str, str]]:
    """The maximum spanning tree of the raw information of a public teaching table."""
    names = table.schema.names
    return [(names[i], names[j]) for i, j in maximum_spanning_tree(table.information)]


def rank(fitted: PPBA) -> list[str]:
    """Tables by their child, the heaviest first."""
    weights = fitted.learnt_.weights
    return sorted(fitted.network_.order, key=lambda name: -weights.get(name, 0.0))


def strongest(fitted: PPBA, distances: np.ndarray) -> float:
    """Mean distance of a child from its first parent, over the heaviest tables."""
    at, parents = fitted.schema_.index, fitted.network_.parents
    heavy = [name for name in rank(fitted) if parents(name)][:STRONGEST]
    values = [distances[at(name), at(parents(name)[0])] for name in heavy]
    return float(np.mean(values)) if values else math.nan


def shares(fitted: PPBA) -> dict[str, float]:
    """Share of the tables' claimed budget of every table."""
    claimed = {
        child_of(e): float(e.claimed) for e in fitted.ledger_.entries if e.step.startswith("table(")
    }
    total, names = sum(claimed.values()), fitted.network_.order
    return {name: claimed.get(name, 0.0) / total if total else 1 / len(names) for name in names}


def sweep(
    table: TeachingTable, epsilon: float, k: int, guarantee: str, ratios: Sequence[float] = RATIOS
) -> dict[str, np.ndarray]:
    """What every ratio does: mean distances, and losses as shares of ε."""
    rows = []
    for q in ratios:
        fitted, distances = fit(table, epsilon, k, q, guarantee)
        losses = fitted.ledger_.attribute_epsilon().astype(float) / epsilon
        rows.append(
            (
                np.nanmean(distances),
                strongest(fitted, distances),
                losses.max(),
                losses[table.dataset.sensitive],
            )
        )
    names = ("mean", "strongest", "dearest", "sensitive")
    return {"q": np.array(ratios), **dict(zip(names, np.array(rows).T, strict=True))}


def draw_run(plot: Board, table: TeachingTable, fitted: PPBA) -> None:
    """The network in its order, and the budget of its tables by rank."""
    network, weights = fitted.network_, fitted.learnt_.weights
    plot.halves(
        network,
        raw_tree(table),
        {
            "edge of the raw tree, too": {"colour": "real", "dash": "solid", "width": 1.5},
            "another edge": {"colour": "none", "dash": "dot", "width": 1.5},
        },
    )
    plot.nodes(
        [
            f"{c} ← {', '.join(p) or '∅'}<br>weight {weights.get(c, 0.0):.3g}"
            for c, p in network.pairs
        ],
        10,
    )
    names, share, noise = rank(fitted), shares(fitted), noise_to_cell(fitted)
    plot.dots(
        [100 * share[n] for n in names],
        list(range(len(names))),
        "private",
        2,
        size=10,
        customdata=[[n, noise[n]] for n in names],
        hover="%{customdata[0]}: %{x:.1f} % of the budget, noise ÷ cell %{customdata[1]:.3g}",
    )
    arc_axis = arches(len(names)) | {"range": [-0.8, len(names) / 2]}
    plot.set(y=lying(network.order), x=arc_axis, y2=lying(names))


def draw_sweep(plot: Board, found: dict[str, np.ndarray], q: float, sensitive: str) -> None:
    """Distances and losses against q, with a line at the present q."""
    for name, key, cell, colour, dash in (
        ("all pairs", "mean", 3, "private", "solid"),
        ("strongest pairs", "strongest", 3, "look", "dash"),
        ("dearest column", "dearest", 4, "private", "solid"),
        (sensitive, "sensitive", 4, "look", "dash"),
    ):
        curve = found[key] if np.isfinite(found[key]).all() else [None] * len(found["q"])
        plot.line(
            found["q"],
            curve,
            colour,
            cell,
            dash=dash,
            mode="lines+markers",
            name=friendly(name),
            hover=f"{name}, q = %{{x}}: %{{y:.3f}}",
        )
    for cell in (3, 4):
        plot.limit([q, q], [0, 0.75], cell, "real")
    curves = [(3, "strongest", "strongest pairs", "look"), (3, "mean", "all pairs", "private")]
    if np.isfinite(found["dearest"]).all():
        curves += [(4, "dearest", "dearest column", "private"), (4, "sensitive", sensitive, "look")]
    else:
        words = "no finite ε:<br>the tree is read<br>off the records"
        plot.note(words, 0.02, 0.97, 4, "attack", 14, xref="x4 domain", yref="y4 domain",
                  xanchor="left", yanchor="top", align="left")  # fmt: skip
    for place, (cell, key, text, colour) in enumerate(curves):
        here = float(found[key][found["q"] == q][0])
        name, x = friendly(text), f"x{cell} domain"
        plot.note(f"{name}: <b>{percent(here)}</b>", 0.02, 0.97 - 0.09 * (place % 2), cell, colour,
                  15, xref=x, yref=f"y{cell} domain", xanchor="left", yanchor="top")  # fmt: skip
    ratios = {
        "range": [math.log10(0.47), math.log10(2.12)],
        "tickvals": list(RATIOS),
        "ticktext": [f"{ratio:g}" for ratio in RATIOS],
    }
    plot.set(x3=ratios, x4=ratios)


@live_panel(
    adult("thesis"),
    tries=(
        Try(
            "q = 2",
            {"q": 2.0},
            "every table gets twice the budget of the one ranked before it, so nothing is left "
            "for the heaviest: the strongest pairs go from {was.strong:.1%} to {now.strong:.1%}.",
            lambda was, now: now.strong > 2 * was.strong,
        ),
        Try(
            "all the same",
            {"q": 1.0},
            "every table gets the same: the strongest pairs are off by {now.strong:.1%} instead of "
            "{was.strong:.1%}.",
            lambda was, now: now.strong < was.strong,
        ),
        Try(
            "two parents",
            {"k": 2},
            "the strongest pairs are off by {now.strong:.1%} instead of {was.strong:.1%}. But "
            "tables are larger and noisier: all pairs by {now.mean:.1%} instead of {was.mean:.1%}.",
            lambda was, now: now.mean > was.mean and now.strong < was.strong,
        ),
        Try(
            "as printed",
            {"guarantee": "published"},
            "the tree is read off the records: no finite ε holds.",
            lambda was, now: now.dearest == math.inf,
        ),
    ),
    q=slider("q", 1.5, 0.5, 2.0, 0.05, tooltip="q, budget of a table against the one before"),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    k=slider("k", 1, 1, 4, 1, tooltip="k, parents of a column"),
    guarantee=GUARANTEE,
)
def view(table: TeachingTable, epsilon: float, k: int, q: float, guarantee: str) -> View:
    """Left: the network along its tree, and who gets which budget. Right: what q does."""
    fitted, distances = fit(table, epsilon, k, q, guarantee)
    sensitive, ledger = table.dataset.sensitive, fitted.ledger_
    plot = Board("ppba", f"PPBA {GUARANTEES[guarantee]}: ε = {epsilon:g}, k = {k}, q = {q:g}")
    draw_run(plot, table, fitted)
    ratios = sorted({*RATIOS, q})
    draw_sweep(plot, sweep(table, epsilon, k, guarantee, ratios), q, sensitive)
    share, losses = shares(fitted), ledger.attribute_epsilon().astype(float)
    first, *_, last = rank(fitted)
    dearest = losses.idxmax()
    other = "" if dearest == sensitive else f", of {sensitive} {losses[sensitive]:.2f}"
    costs = f" A change of {dearest} costs {losses.max():.2f}{other}."
    spent = (
        f" The heaviest table, {first}, gets {percent(share[first])} of the tables' budget, the "
        f"lightest, {last}, {percent(share[last])}."
    )
    facts = {
        "mean": float(np.nanmean(distances)),
        "strong": strongest(fitted, distances),
        "dearest": float(losses.max()),
    }
    status = (
        f"The strongest pairs are off by {percent(facts['strong'])}, all by "
        f"{percent(facts['mean'])}. {promise(ledger)}."
        f"{'' if guarantee == 'none' else spent}"
        f"{'' if ledger.epsilon == math.inf else costs}"
    )
    return View(plot.figure, status, [ledger_summary(ledger)], facts=facts)


panel = view.panel

"""Lesson 14: what a network says of a sensitive attribute, what an attacker makes of it."""

import math
from typing import Any

import numpy as np

from ...algorithms import GeneticBayes
from ...core import Records
from ...evaluation.classifiers import five_classifiers
from ...evaluation.disclosure import gcap
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, friendly, ticks
from .panel import live_panel
from .table import TeachingTable, adult, remember
from .words import ledger_summary

KEY = ("age", "workclass", "occupation", "race", "sex")  # the paper's Table VIII, scenario 2
SENSITIVE = ("relationship", "marital-status", "occupation", "race", "sex")
ROWS, LEARNT, SEED = 20_000, 5000, 14  # synthetic rows; those a classifier learns from
TABLES = ("original", "DS", "custom")
HIGH = 20  # per cent of the axis that a label above a bar takes up
SHORT = {
    "marital-status": "marital",
    "education-num": "edu-num",
    "capital-gain": "cap-gain",
    "capital-loss": "cap-loss",
    "hours-per-week": "hours",
    "native-country": "country",
    "relationship": "relation",
}
SCALES: dict[str, dict[str, Any]] = {
    "r": {"colorscale": "PuOr_r", "cmin": -0.7, "cmax": 0.7},
    "I": {"colorscale": "Cividis", "cmin": 0, "cmax": 1},
}


@remember
def people(table: TeachingTable) -> tuple[np.ndarray, np.ndarray]:
    """Codes of 5000 people who are attacked, and of 5000 who teach the classifier."""
    order = np.random.default_rng(SEED).permutation(table.records.n)
    return table.records.codes[order[:5000]], table.records.codes[order[5000 : 5000 + LEARNT]]


def judge(
    table: TeachingTable, codes: np.ndarray, sensitive: str, teachers: np.ndarray | None = None
) -> dict[str, float]:
    """How often GCAP guesses the sensitive attribute of real people, and income is learnt."""
    victims, target = people(table)[0], str(table.dataset.target)
    key = [name for name in KEY if name != sensitive]
    learnt = five_classifiers(
        codes[:LEARNT] if teachers is None else teachers,
        victims,
        table.schema,
        target,
        classifiers=("LR",),
    )
    return {
        "disclosure": gcap(victims, codes, table.schema, key, sensitive).accuracy,
        "utility": float(learnt["accuracy"][0]),
    }


@remember
def original(table: TeachingTable, sensitive: str) -> dict[str, float]:
    """What the original gives away."""
    return judge(table, table.records.codes, sensitive, people(table)[1])


def zero_rule(table: TeachingTable, attribute: str) -> float:
    """Share of the attribute's most frequent value among the attacked records."""
    victims = people(table)[0]
    return float(table.counts(attribute, victims).max() / len(victims))


def strengths(records: Records, measure: str) -> np.ndarray:
    """Pearson correlations of the coded columns, or mutual information in bits.

    Float array (d, d), NaN on the diagonal.
    """
    if measure == "I":
        matrix: Any = records.pairwise("I")
    else:
        with np.errstate(invalid="ignore", divide="ignore"):  # a synthetic column may be constant
            matrix = np.nan_to_num(np.corrcoef(records.codes.T.astype(np.float32)))
    np.fill_diagonal(matrix, np.nan)
    return matrix


@remember
def heat(table: TeachingTable, measure: str) -> np.ndarray:
    """The original's heat map."""
    return strengths(table.records, measure)


@remember
def fit(
    table: TeachingTable, epsilon: float, k: int | str, guarantee: str, **policy: Any
) -> GeneticBayes:
    """A network; ``policy``: its target and its sensitive attribute, if any."""
    return table.run(GeneticBayes(epsilon, k=k, search="exact", guarantee=guarantee, **policy))


def compute(
    table: TeachingTable, epsilon: float, k: int | str, sensitive: str, guarantee: str, measure: str
) -> dict[str, Any]:
    """Two networks on the same associations, a table from each, and what both tell."""
    state: dict[str, Any] = {
        "fitted": {},
        "heat": {"original": heat(table, measure)},
        "scores": {"original": original(table, sensitive)},
        "loss": {"original": math.inf},
    }
    policy = {"target": str(table.dataset.target), "sensitive": sensitive}
    networks: dict[str, dict[str, Any]] = {"DS": {}, "custom": policy}
    for name, keywords in networks.items():
        fitted = fit(table, epsilon, k, guarantee, **keywords)
        codes = fitted.model_.sample_codes(ROWS, np.random.default_rng(11))
        state["fitted"][name], state["scores"][name] = fitted, judge(table, codes, sensitive)
        state["heat"][name] = strengths(Records(codes, table.schema), measure)
        state["loss"][name] = fitted.ledger_.attribute_epsilon()[sensitive]
    return state | {
        "zero rule": zero_rule(table, sensitive),
        "majority": zero_rule(table, str(table.dataset.target)),
    }


def draw_heat(
    plot: Board, table: TeachingTable, state: dict[str, Any], sensitive: str, measure: str
) -> None:
    """Three heat maps (paper, Fig. 1 a–c), the sensitive attribute's row framed."""
    names = [SHORT.get(name, name) for name in table.schema.names]
    row, end = table.schema.index(sensitive), len(names) - 0.5
    for cell, name in enumerate(TABLES, start=1):
        plot.pairs(state["heat"][name], names, cell, 3, coloraxis="coloraxis", colorscale=None)
        plot.mark((-0.5, end), (row - 0.5, row + 0.5), "look", cell, 2, None)
        plot.set(
            **{
                f"x{cell}": {"range": [-0.5, end], **ticks(names)},
                f"y{cell}": {"range": [end, -0.5], **ticks(names)},
            }
        )
    title = {"text": "r" if measure == "r" else "bit", "side": "top"}
    bar = {"thickness": 10, "len": 0.42, "y": 0.75, "title": title}
    plot.layout["coloraxis"] = {**SCALES[measure], "colorbar": bar}


def draw_kind(
    plot: Board,
    cell: int,
    heights: list[float],
    above: list[float],
    labels: list[str],
    private: str,
) -> None:
    """The bars of the real table and both networks in one chart, with labels at their heights."""
    pattern = {
        "shape": ["", "/", ""],
        "fgopacity": 0.5,
        "fillmode": "overlay",
        "fgcolor": "#FFFFFF",
    }
    plot.bars(
        [0, 1, 2],
        heights,
        ["real", private, "look"],
        cell,
        pattern=pattern,
        customdata=list(zip(TABLES, labels, strict=True)),
        hover="%{customdata[0]}: %{customdata[1]}",
    )
    plot.add(
        "scatter",
        cell,
        hover=False,
        x=[0, 1, 2],
        y=above,
        mode="text",
        text=labels,
        textposition="top center",
        textfont={"size": 16},
        cliponaxis=False,
    )


def draw_bars(plot: Board, state: dict[str, Any], guarantee: str) -> None:
    """The attacker, the classifier, and the loss of the sensitive attribute."""
    private = "private" if guarantee == "strict" else "none"
    losses = [float(state["loss"][name]) for name in TABLES]
    top = max([v for v in losses if v != math.inf], default=1.0) * 1.3 or 1.0
    kinds = [
        (4, [100 * state["scores"][name]["disclosure"] for name in TABLES]),
        (5, [100 * state["scores"][name]["utility"] for name in TABLES]),
        (6, losses),
    ]
    for cell, values in kinds:
        form = ".3f" if cell == 6 else ".0f"
        chance = 100 * {4: state["zero rule"], 5: state["majority"]}.get(cell, math.inf)
        labels = ["∞" if v == math.inf else f"<b>{v:{form}}</b>" for v in values]
        heights = [min(v, top) if cell == 6 else v for v in values]
        above = [chance if v < chance < v + HIGH else v for v in heights]
        draw_kind(plot, cell, heights, above, labels, private)
        if cell < 6:
            plot.limit(
                [-0.5, 2.5],
                [chance] * 2,
                cell,
                width=None,
                showlegend=cell == 4,
                name="always the most frequent value",
            )
        plot.set(
            **{
                f"x{cell}": {
                    "range": [-0.6, 2.6],
                    **ticks(("real table", "ordinary network", "secret cut off")),
                    "zeroline": None,
                }
            }
        )
    plot.set(y6={"range": [0, 1.25 * top]})


@live_panel(
    adult("adult", seed=SEED),
    tries=(
        Try(
            "no noise",
            {"guarantee": "none"},
            "without noise the attacker finds it for {now.custom:.1f} % from the custom network, "
            "{now.DS:.1f} % from the ordinary one.",
            lambda was, now: now.custom < now.DS,
        ),
        Try(
            "another secret",
            {"sensitive": "sex"},
            "sex is found for {now.custom:.1f} %; always saying the most frequent value finds "
            "{now.zero:.1f} %.",
            lambda was, now: now.custom < now.zero,
        ),
        Try(
            "little budget",
            {"epsilon": 0.1},
            "the ordinary network gives away {now.DS:.1f} % instead of {was.DS:.1f} %: noise "
            "protects, too, but income is learnt to {now.use:.1f} % instead of {was.use:.1f} %.",
            lambda was, now: now.DS < was.DS,
        ),
    ),
    epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, privacy budget"),
    sensitive=choice("secret", {friendly(name): name for name in SENSITIVE}),
    k=choice("k", ["auto", "1", "2", "3", "4"], tooltip="k, parents of a column"),
    guarantee=choice("guarantee", {"strict": "strict", "none (the paper)": "none"}),
    measure=choice(
        "heat maps",
        {"Pearson r (Fig. 1)": "r", "mutual information": "I"},
        tooltip="what the heat maps show",
    ),
)
def view(
    table: TeachingTable, epsilon: float, k: str, sensitive: str, guarantee: str, measure: str
) -> View:
    """Heat maps of the original and two networks; what they give away, and of what use they are."""
    degree = k if k == "auto" else int(k)
    state = compute(table, epsilon, degree, sensitive, guarantee, measure)
    custom, strict = state["fitted"]["custom"], guarantee == "strict"
    rule = f" ({custom.degree_rule_})" if k == "auto" else ""
    plot = Board(
        "custom",
        f"Custom network for {sensitive}: "
        f"{f'ε = {epsilon:g}' if strict else 'no noise'}, k = {k}{rule}",
    )
    draw_heat(plot, table, state, sensitive, measure)
    draw_bars(plot, state, guarantee)
    plot.entitle("x4y4", f"How often the attacker finds {friendly(sensitive)}, %")
    plot.entitle("x6y6", f"Promise: ε that {friendly(sensitive)} alone may lose")
    risks, uses = (
        [f"{100 * state['scores'][name][what]:.1f} %" for name in TABLES]
        for what in ("disclosure", "utility")
    )
    facts = {name: 100 * state["scores"][name]["disclosure"] for name in TABLES}
    facts |= {"use": 100 * state["scores"]["DS"]["utility"], "zero": 100 * state["zero rule"]}
    status = (
        f"With the secret cut off, the attacker finds {facts['custom']:.0f}%; "
        f"otherwise {facts['DS']:.0f}%. In full: {risks[2]}, {risks[1]}, and {risks[0]} "
        f"from the original. Always saying the most "
        f"frequent value: {facts['zero']:.1f} %. Income is learnt to {uses[1]} (ordinary) and "
        f"{uses[2]} (custom)."
    )
    if strict:
        status += (
            f" If only {sensitive} of one person changes, the custom network loses "
            f"ε = {state['loss']['custom']} (known before the run), the ordinary one "
            f"{float(state['loss']['DS']):.3f} (known afterwards)."
        )
    text = f"<div style='overflow-x:auto'>{custom.network_._repr_html_()}</div>"
    tables = [f"<b>The custom network.</b>{text}", ledger_summary(custom.ledger_)]
    return View(plot.figure, status, tables, facts=facts)


panel = view.panel

"""The custom network panel (lesson 14): what a network says about a sensitive attribute, what an attacker makes of it, what it costs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...counting.tables import Records
from ...datasets import Dataset, load_adult
from ...evaluation import five_classifiers, gcap
from ...plots import PALETTE, figure
from ...synthesizers import GeneticBayes
from ..widgets import LivePanel, View, choice, live, slider
from .drawing import add_line, add_pairs, ticks
from .studio import Studio, ledger_summary, pairwise

KEY = ("age", "workclass", "occupation", "race", "sex")  # the quasi-identifiers of the paper's Table VIII, scenario 2
SENSITIVE = ("relationship", "marital-status", "occupation", "race", "sex")
ROWS, LEARNT = 20_000, 5000  # synthetic rows that are drawn, and those that the classifier learns from
MEASURES = {"Pearson r (Fig. 1)": "r", "mutual information": "I"}
TABLES = ("original", "DS", "custom")
SHORT = {"marital-status": "marital", "education-num": "edu-num", "capital-gain": "cap-gain", "capital-loss": "cap-loss",
         "hours-per-week": "hours", "native-country": "country", "relationship": "relation"}  # fmt: skip


class Room(Studio):
    """A studio of a table with a target to learn, and what the original gives away, kept."""

    def __init__(self, dataset: Dataset, seed: int = 14) -> None:
        super().__init__(dataset, seed)
        self.target = str(dataset.target)
        order = np.random.default_rng(seed).permutation(self.records.n)
        self.victims, self.teachers = order[:5000], order[5000 : 5000 + LEARNT]
        self.original = lru_cache(maxsize=16)(
            lambda sensitive: self.judge(self.records.codes, sensitive, self.records.codes[self.teachers])
        )
        self.heat = lru_cache(maxsize=2)(lambda measure: strengths(self.records, measure))

    def fit(self, epsilon: float, k: int | str, guarantee: str, sensitive: str | None) -> GeneticBayes:
        """An ordinary network, or a custom one, with the same random numbers; its exact search takes milliseconds."""
        policy = {} if sensitive is None else {"target": self.target, "sensitive": sensitive}
        return self.run(GeneticBayes(epsilon, k=k, search="exact", guarantee=guarantee, **policy))  # type: ignore[arg-type]

    def judge(self, codes: np.ndarray, sensitive: str, teachers: np.ndarray | None = None) -> dict[str, float]:
        """How often GCAP guesses the sensitive attribute of real people, and how well income is learnt, from one table."""
        real, key = self.records.codes[self.victims], [name for name in KEY if name != sensitive]
        learnt = five_classifiers(codes[:LEARNT] if teachers is None else teachers, real, self.schema, self.target, classifiers=("LR",))
        return {"disclosure": gcap(real, codes, self.schema, key, sensitive).accuracy, "utility": float(learnt["accuracy"][0])}

    def common(self, attribute: str) -> float:
        """Share of the most frequent value among the attacked records: what the zero rule guesses right."""
        values = self.records.codes[self.victims, self.schema.index(attribute)]
        return float(np.bincount(values).max() / len(values))


@lru_cache(maxsize=1)
def room() -> Room:
    """Adult, 48,842 records with 15 attributes."""
    return Room(load_adult())


def strengths(records: Records, measure: str) -> np.ndarray:
    """Pearson correlations of the coded columns, as the paper draws them, or mutual information in bits: (d, d), NaN on the diagonal."""
    if measure == "I":
        matrix = pairwise(records.lattice)
    else:
        with np.errstate(invalid="ignore", divide="ignore"):  # a synthetic column may be constant
            matrix = np.nan_to_num(np.asarray(np.corrcoef(records.codes.T.astype(np.float32))))
    np.fill_diagonal(matrix, np.nan)
    return matrix


def compute(here: Room, epsilon: float, k: int | str, sensitive: str, guarantee: str, measure: str) -> dict[str, Any]:
    """Two networks on the same associations, a table from each, and what both tell."""
    state: dict[str, Any] = {"heat": {"original": here.heat(measure)}, "scores": {"original": here.original(sensitive)}, "fitted": {}}
    for name, policy in (("DS", None), ("custom", sensitive)):
        fitted = here.fit(epsilon, k, guarantee, policy)
        codes = fitted.model_.sample_codes(ROWS, np.random.default_rng(11))
        state["fitted"][name], state["scores"][name] = fitted, here.judge(codes, sensitive)
        state["heat"][name] = strengths(Records(codes, here.schema), measure)
    loss = {name: fitted.ledger_.attribute_epsilon()[sensitive] for name, fitted in state["fitted"].items()}
    return state | {"loss": {"original": math.inf} | loss, "zero rule": here.common(sensitive), "majority": here.common(here.target)}


def draw(here: Room, state: dict[str, Any], sensitive: str, guarantee: str, measure: str, title: str) -> go.Figure:
    """Three heat maps above (paper, Fig. 1 a–c); below: the attacker, the classifier, and the loss of the sensitive attribute."""
    plot, names = figure(title=title, height=720, bargap=0.4), [SHORT.get(n, n) for n in here.schema.names]
    place = here.schema.index(sensitive)
    for number, name in enumerate(TABLES, start=1):
        x, y = (f"{axis}{number if number > 1 else ''}" for axis in "xy")
        add_pairs(plot, state["heat"][name], names, 3, xaxis=x, yaxis=y, coloraxis="coloraxis")
        plot.add_shape(type="rect", xref=x, yref=y, x0=-0.5, x1=len(names) - 0.5, y0=place - 0.5, y1=place + 0.5,
                       line={"color": PALETTE["attack"], "width": 2})  # fmt: skip
    losses = [state["loss"][name] for name in TABLES]
    top = max([float(v) for v in losses if v != math.inf], default=1.0) * 1.3 or 1.0
    private = PALETTE["private" if guarantee == "strict" else "none"]
    for what, axis, chance in (("disclosure", 4, "zero rule"), ("utility", 5, "majority")):
        values = [100 * state["scores"][name][what] for name in TABLES]
        _bars(plot, axis, values, [f"{v:.1f}" for v in values], private)
        add_line(plot, [-0.5, 2.5], [100 * state[chance]] * 2, {"color": PALETTE["attack"], "dash": "dash"}, xaxis=f"x{axis}",
                 yaxis=f"y{axis}", name="always the most frequent value", showlegend=axis == 4)  # fmt: skip
    shown = ["∞" if v == math.inf else f"{float(v):.3f}" for v in losses]
    _bars(plot, 6, [top if v == math.inf else float(v) for v in losses], shown, private)
    return _axes(plot, names, sensitive, measure, top)


def _bars(plot: go.Figure, axis: int, values: list[float], texts: list[str], private: str) -> None:
    marker = {"color": [PALETTE["real"], private, private],
              "pattern": {"shape": ["", "/", ""], "fgopacity": 0.5, "fillmode": "overlay", "fgcolor": "#FFFFFF"}}  # fmt: skip
    plot.add_bar(x=[0, 1, 2], y=values, text=texts, textposition="outside", cliponaxis=False, marker=marker, showlegend=False,
                 xaxis=f"x{axis}", yaxis=f"y{axis}", customdata=TABLES, hovertemplate="%{customdata}: %{text}<extra></extra>")  # fmt: skip


def _axes(plot: go.Figure, names: list[str], sensitive: str, measure: str, top: float) -> go.Figure:
    columns = [(0.0, 0.31), (0.345, 0.655), (0.69, 1.0)]
    above = ("a  original", "b  ordinary network (DS)", "c  custom network")
    below = ((f"attacker finds {sensitive}, %", [0, 105]), ("income learnt, % right", [0, 105]),
             (f"ε of {sensitive} alone", [0, 1.15 * top]))  # fmt: skip
    ends = [-0.5, len(names) - 0.5]
    for number, (domain, heading, (label, span)) in enumerate(zip(columns, above, below, strict=True), start=1):
        at, under = "" if number == 1 else str(number), number + 3
        plot.update_layout({
            f"xaxis{at}": {"domain": domain, "anchor": f"y{at}", "range": ends, "tickfont": {"size": 10}, **ticks(names, -60)},
            f"yaxis{at}": {"domain": [0.55, 0.95], "anchor": f"x{at}", "range": ends[::-1], "tickfont": {"size": 10}, **ticks(names),
                           "showticklabels": number == 1},
            f"xaxis{under}": {"domain": domain, "anchor": f"y{under}", "range": [-0.6, 2.6], **ticks(TABLES), "zeroline": None},
            f"yaxis{under}": {"domain": [0, 0.3], "anchor": f"x{under}", "range": span},
        })  # fmt: skip
        for text, y in ((heading, 0.955), (label, 0.305)):
            plot.add_annotation(text=text, x=domain[0], y=y, xref="paper", yref="paper", xanchor="left", yanchor="bottom", showarrow=False)
    scale = {"colorscale": "PuOr_r", "cmin": -0.7, "cmax": 0.7} if measure == "r" else {"colorscale": "Cividis", "cmin": 0, "cmax": 1}
    bar = {"thickness": 10, "len": 0.42, "y": 0.75, "title": {"text": "r" if measure == "r" else "bit", "side": "top"}}
    return plot.update_layout(margin={"l": 90, "r": 16, "t": 92, "b": 40}, coloraxis={**scale, "colorbar": bar})


def view(
    epsilon: float = 1.0,
    k: int | str = "auto",
    sensitive: str = "relationship",
    guarantee: str = "strict",
    measure: str = "r",
    here: Room | None = None,
) -> View:
    """Everything for one position of the controls."""
    here, epsilon = here or room(), round(epsilon, 4)
    degree = k if k == "auto" else int(k)
    state = compute(here, epsilon, degree, sensitive, guarantee, measure)
    custom, scores = state["fitted"]["custom"], state["scores"]
    private = f"ε = {epsilon:g}, " if guarantee == "strict" else "no noise, "
    title = f"Custom network for {sensitive}: {private}k = {k}{f' ({custom.degree_rule_})' if k == 'auto' else ''}"
    found = [f"{100 * scores[name]['disclosure']:.1f} %" for name in TABLES]
    learnt = [f"{100 * scores[name]['utility']:.1f} %" for name in TABLES]
    status = (
        f"The attacker finds {sensitive} for {found[0]} from the original, {found[1]} from the ordinary network's table and {found[2]} "
        f"from the custom one's; always saying the most frequent value: {100 * state['zero rule']:.1f} %. "
        f"Income is learnt to {learnt[1]} and {learnt[2]}."
    )
    if guarantee == "strict":
        status += (f" If only {sensitive} of one person changes, the custom network loses ε = {state['loss']['custom']} (known before the "
                   f"run), the ordinary one {float(state['loss']['DS']):.3f} (known afterwards).")  # fmt: skip
    drawn = f"<b>The custom network.</b><div style='overflow-x:auto'>{custom.network_._repr_html_()}</div>"
    tables = [drawn, ledger_summary(custom.ledger_)]
    return View.told(draw(here, state, sensitive, guarantee, measure, title), status, tables)


def panel(dataset: Dataset | None = None) -> LivePanel:
    """The live panel; Adult with its income unless another public teaching table with those attributes is given."""
    here = room() if dataset is None else Room(dataset)
    return live(
        lambda **controls: view(here=here, **controls),
        epsilon=slider("ε", 1.0, 0.1, 4.0, 0.1, tooltip="ε, total privacy budget"),
        k=choice("k", ["auto", "1", "2", "3", "4"], tooltip="k, largest number of parents"),
        sensitive=choice("sensitive", list(SENSITIVE), tooltip="sensitive attribute"),
        guarantee=choice("guarantee", {"strict": "strict", "none (the paper)": "none"}),
        measure=choice("heat maps", MEASURES, tooltip="what the heat maps show"),
        spends=True,
    )

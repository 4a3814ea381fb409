"""The evaluation panel (lesson 15): one table, four questions, and two yardsticks beside it, a copy and other real people."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...counting.tables import Records
from ...datasets import Dataset, load_adult
from ...evaluation.disclosure import gcap
from ...evaluation.marginals import Marginals, attribute_sets
from ...evaluation.queries import counting_errors
from ...evaluation.utility import one_hot
from ...plots import PALETTE, figure
from ...privacy.mechanisms import CommonNoise
from ...synthesizers import GeneticBayes, HPPrivBayes, PrivBayes, Synthesizer, baselines
from ..widgets import LivePanel, View, choice, live, slider

KEY, SECRET, TARGET = ("age", "workclass", "occupation", "race", "sex"), "relationship", "salary"  # attack and use of lesson 14
COPY, OTHERS = "copy of the records", "other real people"
WITH_K = ("PrivBayes", "HPPrivBayes", "custom network")
TABLES = (*WITH_K, "JTree", "Independent", COPY, OTHERS)
SYMBOLS = dict(zip(TABLES, ("circle", "square", "diamond", "triangle-up", "triangle-down", "x", "cross"), strict=True))
QUERIES = "counting queries"
MEASURES: Mapping[str, tuple[int, int, str]] = MappingProxyType({
    "1-way distance": (1, 15, "variation distance of an attribute"), "2-way distance": (2, 105, "variation distance of a pair"),
    "3-way distance": (3, 150, "variation distance of a triple"), QUERIES: (3, 150, "error of a query"),
})  # fmt: skip
TAUGHT, ATTACKED = 3000, 1500  # rows that a classifier learns from and is tested on; people that are attacked
BARS, WORST = 15, 8  # bars of the histogram; bars of the worst
SHORT = {"marital-status": "marital", "education-num": "edu-num", "capital-gain": "gain", "capital-loss": "loss", "education": "edu",
         "hours-per-week": "hours", "native-country": "country", "relationship": "relation", "workclass": "work"}  # fmt: skip


def synthesizer(name: str, epsilon: float, k: int | str) -> Synthesizer:
    """An unfitted contender; a k for those that have one."""
    made: dict[str, Any] = {
        "PrivBayes": lambda: PrivBayes(epsilon, k=k),
        "HPPrivBayes": lambda: HPPrivBayes(epsilon, k=k, sensitive=SECRET),
        "custom network": lambda: GeneticBayes(epsilon, k=k, search="exact", target=TARGET, sensitive=SECRET),
        "JTree": lambda: baselines.JTree(epsilon),
        "Independent": lambda: baselines.Independent(epsilon),
    }
    chosen: Synthesizer = made[name]()
    return chosen


class Yard:
    """Adult cut by its public split: training rows are fitted, attacked and measured against; the others are the yardstick.

    All tables but the copy have as many rows as the held-out part, so that "other real people" say what chance alone does.
    """

    def __init__(self, dataset: Dataset, seed: int = 15) -> None:
        codes, self.schema = dataset.schema.encode(dataset.frame), dataset.schema
        if dataset.split is None:
            raise ValueError(f"{dataset.name} has no public split into training and test rows: take Adult")
        test = (dataset.split == "test").to_numpy()
        self.train, self.held = Records(codes[~test], self.schema), codes[test]
        self.victims = self.train.codes[np.random.default_rng(seed).choice(self.train.n, ATTACKED, replace=False)]
        self.tested = self.held[-TAUGHT:]
        self._noise = CommonNoise(seed)
        self.real = lru_cache(maxsize=4)(self._real)
        self.codes = lru_cache(maxsize=32)(self._codes)
        self.errors = lru_cache(maxsize=256)(self._errors)
        self.place = lru_cache(maxsize=256)(self._place)

    def _real(self, alpha: int, sets: int) -> Marginals:
        return Marginals(self.train.codes, self.schema, sets=attribute_sets(len(self.schema), alpha, sets))

    def _codes(self, name: str, epsilon: float, k: int | str) -> np.ndarray:
        if name in (COPY, OTHERS):
            return self.train.codes if name == COPY else self.held
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a hopeless k is what the panel shows
            fitted = synthesizer(name, epsilon, k).fit(self.train, noise=self._noise.fresh())
        return fitted.model_.sample_codes(len(self.held), np.random.default_rng(11))

    def _errors(self, name: str, epsilon: float, k: int | str, measure: str) -> np.ndarray:
        alpha, sets, _ = MEASURES[measure]
        known, codes = self.real(alpha, sets), self.codes(*asked(name, epsilon, k))
        return counting_errors(known, codes, self.schema, alpha) if measure == QUERIES else known.distances(codes)

    def _place(self, name: str, epsilon: float, k: int | str) -> tuple[float, float]:
        """Accuracy of a linear classifier taught on the table, and of an attacker who reads it; both in [0, 1]."""
        from sklearn.linear_model import RidgeClassifier

        codes, aim = self.codes(*asked(name, epsilon, k)), self.schema.index(TARGET)
        columns = [j for j in range(len(self.schema)) if j != aim]
        learnt = codes[:TAUGHT, aim]
        said = np.full(len(self.tested), learnt[0])
        if (learnt != learnt[0]).any():
            machine = RidgeClassifier(solver="cholesky").fit(one_hot(codes[:TAUGHT], self.schema, columns), learnt)
            said = machine.predict(one_hot(self.tested, self.schema, columns))
        attack = gcap(self.victims, codes, self.schema, KEY, SECRET).accuracy
        return float((said == self.tested[:, aim]).mean()), attack

    def chance(self) -> tuple[float, float]:
        """What always saying the most frequent value gets: the classifier's majority and the attacker's zero rule."""
        pairs = ((self.tested, TARGET), (self.victims, SECRET))
        most, rule = (float(np.bincount(t[:, self.schema.index(name)]).max() / len(t)) for t, name in pairs)
        return most, rule


def asked(name: str, epsilon: float, k: int | str) -> tuple[str, float, int | str]:
    """The run behind a table: only what moves it, so that nothing is fitted twice."""
    return (name, 0.0, 0) if name in (COPY, OTHERS) else (name, epsilon, k if name in WITH_K else "auto")


@lru_cache(maxsize=1)
def yard() -> Yard:
    """Adult, 32,561 training and 16,281 held-out records with 15 attributes."""
    return Yard(load_adult())


def compute(here: Yard, epsilon: float, k: int | str, measure: str) -> dict[str, Any]:
    """Errors, mean errors and places of all tables: only what hasn't been seen at this position is computed."""
    runs = {name: asked(name, epsilon, k) for name in TABLES}
    errors = {name: here.errors(*run, measure) for name, run in runs.items()}
    return {"errors": errors, "mean": {n: float(e.mean()) for n, e in errors.items()},
            "place": {n: here.place(*run) for n, run in runs.items()}, "chance": here.chance()}  # fmt: skip


def least(measure: str) -> float:
    """Left end of the axes of errors, in powers of ten; their right end is 1."""
    return -4.0 if measure == QUERIES else -3.0


def colour(name: str) -> str:
    """A copy is an attack, other people are real, the rest is private."""
    return PALETTE["attack" if name == COPY else "real" if name == OTHERS else "private"]


def draw(here: Yard, state: dict[str, Any], table: str, measure: str, title: str) -> go.Figure:
    """Above: all tables on the chosen measure; one table's errors, set by set. Below: its worst; use and risk of all."""
    plot = figure(title=title, height=720)
    ring = {"color": PALETTE["none"], "width": [3 * (name == table) for name in TABLES]}
    means = [max(state["mean"][name], 10 ** least(measure)) for name in TABLES]
    plot.add_scatter(x=np.log10(means), y=list(TABLES), mode="markers+text", showlegend=False, cliponaxis=False,
                     marker={"size": 12, "color": [colour(n) for n in TABLES], "symbol": [SYMBOLS[n] for n in TABLES], "line": ring},
                     text=[f"   {state['mean'][n]:.3f}" for n in TABLES], textposition="middle right",
                     hovertemplate="%{y}: %{text}<extra></extra>")  # fmt: skip
    _histograms(plot, state, table, least(measure))
    found = state["errors"][table]
    worst = np.argsort(-found, kind="stable")[:WORST]
    alpha, sets, _ = MEASURES[measure]
    names = [" × ".join(SHORT.get(here.schema.names[j], here.schema.names[j]) for j in here.real(alpha, sets).sets[i]) for i in worst]
    plot.add_bar(x=found[worst], y=names, orientation="h", xaxis="x3", yaxis="y3", showlegend=False, marker_color=colour(table),
                 text=[f"{found[i]:.3f}" for i in worst], textposition="outside", cliponaxis=False,
                 hovertemplate="%{y}: %{x:.3f}<extra></extra>")  # fmt: skip
    _map(plot, state, table)
    return _axes(plot, measure, table, names)


def _histograms(plot: go.Figure, state: dict[str, Any], table: str, low: float) -> None:
    """Share of the sets by their error, other people's behind the chosen table's."""
    edges = np.linspace(low, 0, BARS + 1)
    for name in dict.fromkeys((OTHERS, table)):
        found = np.log10(np.clip(state["errors"][name], 10**low, 1.0))
        share = np.histogram(found, edges)[0] / len(found)
        pattern = {"shape": "" if name == OTHERS else "/", "size": 6, "fillmode": "overlay"}
        plot.add_bar(x=(edges[1:] + edges[:-1]) / 2, y=share, name=name, xaxis="x2", yaxis="y2", opacity=0.75,
                     marker={"color": colour(name), "pattern": pattern},
                     hovertemplate="%{y:.0%} of the sets<extra></extra>")  # fmt: skip


def _map(plot: go.Figure, state: dict[str, Any], table: str) -> None:
    """How well the target is learnt, against how often the secret is guessed."""
    for name in TABLES:
        use, risk = state["place"][name]
        plot.add_scatter(x=[100 * use], y=[100 * risk], mode="markers", name=name, xaxis="x4", yaxis="y4", showlegend=False,
                         marker={"size": 12, "color": colour(name), "symbol": SYMBOLS[name],
                                 "line": {"color": PALETTE["none"], "width": 3 * (name == table)}},
                         hovertemplate=f"{name}: learnt %{{x:.1f}} %, guessed %{{y:.1f}} %<extra></extra>")  # fmt: skip
    most, rule = state["chance"]
    lines = ((state["place"][OTHERS][1], "what other people teach", "attack", "y"), (rule, "zero rule", "real", "y"),
             (most, "majority", "real", "x"))  # fmt: skip
    for level, words, ink, side in lines:
        ends = {"x0": 100 * level, "x1": 100 * level, "y0": 0, "y1": 1, "xref": "x4", "yref": "y4 domain"}
        if side == "y":
            ends = {"x0": 0, "x1": 1, "y0": 100 * level, "y1": 100 * level, "xref": "x4 domain", "yref": "y4"}
        plot.add_shape(type="line", line={"color": PALETTE[ink], "dash": "dash", "width": 1.5}, **ends)
        at = {"x": 0.01, "y": 100 * level, "xref": "x4 domain", "yref": "y4", "xanchor": "left", "yanchor": "bottom"}
        if side == "x":
            at = {"x": 100 * level, "y": 1, "xref": "x4", "yref": "y4 domain", "xanchor": "left", "yanchor": "top"}
        plot.add_annotation(text=words, showarrow=False, font={"color": PALETTE[ink], "size": 11}, **at)


def _axes(plot: go.Figure, measure: str, table: str, names: list[str]) -> go.Figure:
    words, low, top = MEASURES[measure][2], least(measure), 0.33 if measure == QUERIES else 1.1
    ticks = ["10⁻⁴", "10⁻³", "0.01", "0.1", "1"][int(low) - 1 :]
    logs = {"tickvals": list(range(int(low), 1)), "ticktext": [f"≤{ticks[0]}", *ticks[1:]], "tickangle": 0}
    plot.update_layout(
        title={"xref": "container", "x": 0.01}, barmode="overlay", bargap=0.1, margin={"l": 150, "r": 24, "t": 96, "b": 64},
        legend={"orientation": "h", "x": 1.0, "xanchor": "right", "y": 1.0, "yanchor": "bottom"},
        xaxis={"domain": [0, 0.5], "anchor": "y", "range": [1.05 * low, 0.3], "title": {"text": f"mean {words}"}, **logs},
        yaxis={"domain": [0.6, 1], "anchor": "x", "autorange": "reversed", "categoryorder": "array", "categoryarray": list(TABLES)},
        xaxis2={"domain": [0.6, 1], "anchor": "y2", "range": [1.03 * low, 0.05], "title": {"text": words}, **logs},
        yaxis2={"domain": [0.6, 1], "anchor": "x2", "range": [0, 1.02], "tickformat": ".0%"},
        xaxis3={"domain": [0.08, 0.5], "anchor": "y3", "range": [0, top], "title": {"text": f"the worst of {table}"}},
        yaxis3={"domain": [0, 0.42], "anchor": "x3", "autorange": "reversed", "categoryorder": "array", "categoryarray": names,
                "tickfont": {"size": 11}},
        xaxis4={"domain": [0.6, 1], "anchor": "y4", "range": [70, 88], "title": {"text": f"{TARGET} learnt, % right"}},
        yaxis4={"domain": [0, 0.42], "anchor": "x4", "range": [28, 68], "title": {"text": f"{SECRET} guessed, %"}},
    )  # fmt: skip
    return plot


def view(table: str = "PrivBayes", epsilon: float = 1.0, k: int | str = "auto", measure: str = "2-way distance",
         here: Yard | None = None) -> View:  # fmt: skip
    """Everything for one position of the controls."""
    here, epsilon = here or yard(), round(float(epsilon), 4)
    degree = k if k == "auto" else int(k)
    state = compute(here, epsilon, degree, measure)
    title = f"table = {table}, ε = {epsilon:g}, k = {k}, measure = {measure}"
    private = [name for name in TABLES if name not in (COPY, OTHERS)]
    nearest, useful = min(private, key=state["mean"].__getitem__), max(private, key=lambda n: state["place"][n][0])
    (use, risk), (most, rule), others = state["place"][table], state["chance"], state["place"][OTHERS][1]
    status = (
        f"{table}: mean {MEASURES[measure][2]} {state['mean'][table]:.3f} (other real people {state['mean'][OTHERS]:.3f}). "
        f"{TARGET.capitalize()} is learnt to {100 * use:.1f} % (majority {100 * most:.1f} %). The attacker finds {SECRET} for "
        f"{100 * risk:.1f} % (zero rule {100 * rule:.1f} %), {100 * (risk - others):+.1f} points against an attacker who reads other "
        f"people's records. Of the private tables {nearest} is nearest, {useful} most useful."
    )
    plot = draw(here, state, table, measure, title)
    return View(plot, status=status, tables=[standings(here, epsilon, degree, state, measure)], alt=f"{title}. {status}")


def standings(here: Yard, epsilon: float, k: int | str, state: dict[str, Any], measure: str) -> str:
    """All tables and all they were asked, as an HTML table."""
    others = state["place"][OTHERS][1]
    rows = "".join(
        f"<tr><td style='text-align:left'>{name}</td><td>{state['mean'][name]:.4f}</td><td>{100 * state['place'][name][0]:.1f}</td>"
        f"<td>{100 * state['place'][name][1]:.1f}</td><td>{100 * (state['place'][name][1] - others):+.1f}</td></tr>"
        for name in TABLES
    )
    heads = ("table", measure, f"{TARGET} learnt, %", f"{SECRET} guessed, %", "of it beyond other people, points")
    return f"<table><tr>{''.join(f'<th>{h}</th>' for h in heads)}</tr>{rows}</table>"


def panel(dataset: Dataset | None = None) -> LivePanel:
    """The live panel; Adult unless another public teaching table with its attributes and a split is given."""
    here = yard() if dataset is None else Yard(dataset)
    return live(
        lambda **controls: view(here=here, **controls),
        table=choice("table", list(TABLES), tooltip="table that is looked at"),
        epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, total privacy budget of each algorithm"),
        k=choice("k", ["auto", 1, 2, 3], tooltip="k, largest number of parents"),
        measure=choice("measure", list(MEASURES), "2-way distance"),
        spends=True,
    )

"""Lesson 15: one table, four questions, and two yardsticks: a copy, and other real people."""

from typing import Any, NamedTuple

import numpy as np

from ... import baselines
from ...algorithms import GeneticBayes, HPPrivBayes, PrivBayes
from ...core import Recipe, Records
from ...datasets.tables import Dataset
from ...evaluation.disclosure import gcap
from ...evaluation.marginals import Marginals, attribute_sets
from ...evaluation.queries import counting_errors
from ...evaluation.utility import one_hot
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .custom import KEY
from .drawing import OVERLAY, Board, ink
from .panel import live_panel
from .table import TeachingTable, adult, remember
from .words import html_table

SECRET, TARGET = "relationship", "salary"
COPY, OTHERS = "copy of the records", "other real people"
WITH_K = ("PrivBayes", "HPPrivBayes", "custom network")
SYMBOLS = {
    "PrivBayes": "circle",
    "HPPrivBayes": "square",
    "custom network": "diamond",
    "JTree": "triangle-up",
    "Independent": "triangle-down",
    COPY: "x",
    OTHERS: "cross",
}
TABLES = tuple(SYMBOLS)
TAUGHT, ATTACKED = 3000, 1500  # rows to learn from and to test on; people attacked
BARS, WORST = 15, 8  # bars of the histogram; bars of the worst
SHORT = {
    "marital-status": "marital",
    "education-num": "edu-num",
    "capital-gain": "gain",
    "capital-loss": "loss",
    "education": "edu",
    "hours-per-week": "hours",
    "native-country": "country",
    "relationship": "relation",
    "workclass": "work",
}


class Measure(NamedTuple):
    """A question about sets of ``alpha`` attributes; axes of errors start at 10^``low``."""

    alpha: int
    sets: int
    words: str
    low: int = -3
    top: float = 1.1


QUERIES = "counting queries"
MEASURES = {
    "1-way distance": Measure(1, 15, "variation distance of an attribute"),
    "2-way distance": Measure(2, 105, "variation distance of a pair"),
    "3-way distance": Measure(3, 150, "variation distance of a triple"),
    QUERIES: Measure(3, 150, "error of a query", -4, 0.33),
}


class SplitTable(TeachingTable):
    """Adult cut by its public split: training rows are the records, the others judge.

    All tables but the copy have as many rows as the held-out part, so that "other real people" say
    what chance alone does.
    """

    def __init__(self, dataset: Dataset, seed: int) -> None:
        super().__init__(dataset, seed)
        if dataset.split is None:
            raise ValueError(
                f"{dataset.name} has no public split into training and test rows: take Adult"
            )
        test, codes = (dataset.split == "test").to_numpy(), self.records.codes
        self.records, self.held = Records(codes[~test], self.schema), codes[test]
        chosen = np.random.default_rng(seed).choice(self.records.n, ATTACKED, replace=False)
        self.victims, self.tested = self.records.codes[chosen], self.held[-TAUGHT:]


def synthesizer(name: str, epsilon: float, k: int | str) -> Recipe:
    """An unfitted contender; a k for those that have one."""
    if name == "PrivBayes":
        return PrivBayes(epsilon, k=k)
    if name == "HPPrivBayes":
        return HPPrivBayes(epsilon, k=k, sensitive=SECRET)
    if name == "custom network":
        return GeneticBayes(epsilon, k=k, search="exact", target=TARGET, sensitive=SECRET)
    return baselines.JTree(epsilon) if name == "JTree" else baselines.Independent(epsilon)


def run_of(name: str, epsilon: float, k: int | str) -> tuple[str, float, int | str]:
    """The run behind a table: only what moves it, so that nothing is fitted twice."""
    if name in (COPY, OTHERS):
        return name, 0.0, 0
    return name, epsilon, k if name in WITH_K else "auto"


@remember
def codes_of(table: SplitTable, name: str, epsilon: float, k: int | str) -> np.ndarray:
    """Rows of a table."""
    if name in (COPY, OTHERS):
        return table.records.codes if name == COPY else table.held
    fitted = table.run(synthesizer(name, epsilon, k))
    return fitted.model_.sample_codes(len(table.held), np.random.default_rng(11))


@remember
def real(table: SplitTable, alpha: int, sets: int) -> Marginals:
    """The training rows' side of a measure."""
    chosen = attribute_sets(len(table.schema), alpha, sets)
    return Marginals(table.records.codes, table.schema, sets=chosen)


@remember
def errors_of(table: SplitTable, run: tuple[str, float, int | str], measure: str) -> np.ndarray:
    """Error of every set of attributes."""
    alpha, truth = MEASURES[measure].alpha, real(table, *MEASURES[measure][:2])
    codes = codes_of(table, *run)
    if measure == QUERIES:
        return counting_errors(truth, codes, table.schema, alpha)
    return truth.distances(codes)


def use_and_risk(table: SplitTable, codes: np.ndarray) -> tuple[float, float]:
    """Accuracy of a linear classifier that learns from the rows, and of an attacker: in [0, 1]."""
    from sklearn.linear_model import RidgeClassifier

    aim = table.schema.index(TARGET)
    columns = [j for j in range(len(table.schema)) if j != aim]
    learnt = codes[:TAUGHT, aim]
    guesses = np.full(len(table.tested), learnt[0])
    if (learnt != learnt[0]).any():
        machine = RidgeClassifier(solver="cholesky")
        machine.fit(one_hot(codes[:TAUGHT], table.schema, columns), learnt)
        guesses = machine.predict(one_hot(table.tested, table.schema, columns))
    attack = gcap(table.victims, codes, table.schema, KEY, SECRET).accuracy
    return float((guesses == table.tested[:, aim]).mean()), attack


@remember
def place_of(table: SplitTable, run: tuple[str, float, int | str]) -> tuple[float, float]:
    """Use and risk of a table."""
    return use_and_risk(table, codes_of(table, *run))


def chance(table: SplitTable) -> tuple[float, float]:
    """What always saying the most frequent value gets: the classifier's and the attacker's."""
    columns = (
        table.tested[:, table.schema.index(TARGET)],
        table.victims[:, table.schema.index(SECRET)],
    )
    majority, zero_rule = (float(np.bincount(c).max() / len(c)) for c in columns)
    return majority, zero_rule


def compute(table: SplitTable, epsilon: float, k: int | str, measure: str) -> dict[str, Any]:
    """Errors, mean errors, use and risk of all tables."""
    runs = {name: run_of(name, epsilon, k) for name in TABLES}
    errors = {name: errors_of(table, run, measure) for name, run in runs.items()}
    return {
        "errors": errors,
        "mean": {name: float(e.mean()) for name, e in errors.items()},
        "place": {name: place_of(table, run) for name, run in runs.items()},
    }


def colour(name: str) -> str:
    """A copy is an attack, other people are real, the rest is private."""
    return "attack" if name == COPY else "real" if name == OTHERS else "private"


def draw_errors(
    plot: Board, table: SplitTable, state: dict[str, Any], chosen: str, measure: Measure
) -> None:
    """All tables on the chosen measure; one table's errors set by set, and its worst."""
    low, means, errors = measure.low, state["mean"], state["errors"][chosen]
    plot.dots(
        np.log10([max(means[name], 10.0**low) for name in TABLES]),
        list(TABLES),
        [colour(name) for name in TABLES],
        symbol=[SYMBOLS[name] for name in TABLES],
        marker={"line": {"color": ink("none"), "width": [3 * (name == chosen) for name in TABLES]}},
        mode="markers+text",
        text=[f"   {means[name]:.3f}" for name in TABLES],
        textposition="middle right",
        cliponaxis=False,
        hover="%{y}: %{text}",
    )
    edges = np.linspace(low, 0, BARS + 1)
    for name in dict.fromkeys((OTHERS, chosen)):
        exponents = np.log10(np.clip(state["errors"][name], 10.0**low, 1.0))
        share = np.histogram(exponents, edges)[0] / len(exponents)
        plot.bars(
            (edges[1:] + edges[:-1]) / 2,
            share,
            colour(name),
            2,
            name=name,
            opacity=0.75,
            pattern={"shape": "" if name == OTHERS else "/", **OVERLAY},
            hover="%{y:.0%} of the sets",
        )
    worst = np.argsort(-errors, kind="stable")[:WORST]
    names, sets = table.schema.names, real(table, *measure[:2]).sets
    labels = [" × ".join(SHORT.get(names[j], names[j]) for j in sets[i]) for i in worst]
    plot.bars(
        errors[worst],
        labels,
        colour(chosen),
        3,
        across=True,
        hover="%{y}: %{x:.3f}",
        labels=[f"{errors[i]:.3f}" for i in worst],
    )
    powers = ["10⁻⁴", "10⁻³", "0.01", "0.1", "1"][low - 1 :]
    logs = {"tickvals": list(range(low, 1)), "ticktext": [f"≤{powers[0]}", *powers[1:]]}
    ordered = {"categoryorder": "array"}
    plot.set(
        x={"range": [1.05 * low, 0.3], "title": f"mean {measure.words}", **logs},
        y={**ordered, "categoryarray": list(TABLES)},
        y3={**ordered, "categoryarray": labels},
        x2={"range": [1.03 * low, 0.05], "title": measure.words, **logs},
        x3={"range": [0, measure.top], "title": measure.words},
    )


def reach(values: np.ndarray, low: float, high: float, near: float, room: float) -> list[float]:
    """An axis from ``low`` to ``high``, longer by some ``room`` where a value would be cut.

    >>> reach(np.array([58.0, 85]), 70, 88, 1, 3)
    [55.0, 88]
    """
    first, last = float(values.min()), float(values.max())
    return [
        first - room if first < low + near else low,
        last + room if last > high - near else high,
    ]


def draw_map(plot: Board, table: SplitTable, state: dict[str, Any], chosen: str) -> None:
    """How well the target is learnt, against how often the secret is guessed.

    The axes reach as far as the tables do.
    """
    uses, risks = (100 * np.array(values) for values in zip(*state["place"].values(), strict=True))
    plot.set(x4={"range": reach(uses, 70, 88, 1, 3)}, y4={"range": reach(risks, 28, 68, 1, 5)})
    for name in TABLES:
        use, risk = state["place"][name]
        plot.dots(
            [100 * use],
            [100 * risk],
            colour(name),
            4,
            symbol=SYMBOLS[name],
            size=22 if name == chosen else 9,
            name=name,
            marker={"line": {"color": ink("look"), "width": 4 * (name == chosen)}},
            hover=f"{name}: learnt %{{x:.1f}} %, guessed %{{y:.1f}} %",
        )
    plot.note(
        f"<b>{chosen}: {100 * state['place'][chosen][1]:.0f}%</b>",
        0.99,
        0.01,  # no mark comes so near to the corner
        4,
        xref="x4 domain",
        yref="y4 domain",
        xanchor="right",
        yanchor="bottom",
    )
    draw_chance(plot, *chance(table), state["place"][OTHERS][1])


def draw_chance(plot: Board, majority: float, zero_rule: float, others: float) -> None:
    """Lines of the map: what is learnt and guessed by chance, and from other people's records."""
    for level, text, ink_name in (
        (others, "above: a leak", "attack"),
        (zero_rule, "commonest<br>answer", "real"),
    ):
        plot.mark((0, 1), (100 * level, 100 * level), ink_name, 4, xref="x4 domain")
        plot.note(
            text,
            0.01,
            100 * level,
            4,
            ink_name,
            11,
            xref="x4 domain",
            xanchor="left",
            yanchor="bottom",
        )
    plot.mark((100 * majority, 100 * majority), (0, 1), "real", 4, yref="y4 domain")
    plot.note(
        "majority",
        100 * majority,
        1,
        4,
        "real",
        11,
        yref="y4 domain",
        xanchor="left",
        yanchor="top",
    )


def standings(state: dict[str, Any], measure: str) -> str:
    """All tables and all they were asked, as an HTML table."""
    others, rows = state["place"][OTHERS][1], []
    for name in TABLES:
        use, risk = state["place"][name]
        rows.append(
            (
                name,
                f"{state['mean'][name]:.4f}",
                f"{100 * use:.1f}",
                f"{100 * risk:.1f}",
                f"{100 * (risk - others):+.1f}",
            )
        )
    return html_table(
        (
            "table",
            measure,
            f"{TARGET} learnt, %",
            f"{SECRET} guessed, %",
            "of it beyond other people, points",
        ),
        rows,
    )


def say_best(nearest: str, uses: dict[str, float], majority: float) -> str:
    """The status' last words: the nearest table, and which teaches most if one beats the majority.

    >>> say_best("A", {"A": 0.8, "B": 0.75}, 0.758)
    'Of the private tables A is nearest and most useful.'
    """
    best = max(uses, key=uses.__getitem__)
    words = f"Of the private tables {nearest} is nearest"
    if uses[best] <= majority:
        return f"{words}. None is useful: no classifier beats the majority."
    return f"{words} and most useful." if best == nearest else f"{words}, {best} most useful."


@live_panel(
    adult("adult", seed=15, kind=SplitTable),
    tries=(
        Try(
            "a copy",
            {"table": COPY},
            "distance {now.mean:.3f}, and the attacker finds {now.risk:.1f} %: the nearest table "
            "is the least private.",
            lambda was, now: now.mean == 0 and now.risk > was.risk,
        ),
        Try(
            "Independent",
            {"table": "Independent"},
            "nothing of one column in another: {now.use:.1f} % learnt instead of {was.use:.1f} %, "
            "{now.risk:.1f} % guessed instead of {was.risk:.1f} %.",
            lambda was, now: now.use < was.use,
        ),
        Try(
            "little budget",
            {"epsilon": 0.1},
            "the distance grows from {was.mean:.3f} to {now.mean:.3f}; other people are still at "
            "{now.others:.3f}.",
            lambda was, now: now.mean > was.mean,
        ),
    ),
    table=choice("table", TABLES, tooltip="table that is looked at"),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, privacy budget"),
    k=choice("k", ["auto", 1, 2, 3], tooltip="k, largest number of parents"),
    measure=choice("measure", list(MEASURES), "2-way distance"),
)
def view(data: SplitTable, table: str, epsilon: float, k: int | str, measure: str) -> View:
    """Above: errors of all tables, and of one. Below: its worst sets; use and risk of all."""
    state = compute(data, epsilon, k, measure)
    title = f"table = {table}, ε = {epsilon:g}, k = {k}, measure = {measure}"
    plot, mean, place = Board("evaluating", title), state["mean"], state["place"]
    draw_errors(plot, data, state, table, MEASURES[measure])
    draw_map(plot, data, state, table)
    private = [name for name in TABLES if name not in (COPY, OTHERS)]
    (use, risk), (majority, zero_rule) = place[table], chance(data)
    nearest = min(private, key=mean.__getitem__)
    best = say_best(nearest, {name: place[name][0] for name in private}, majority)
    facts = {"mean": mean[table], "others": mean[OTHERS], "use": 100 * use, "risk": 100 * risk}
    words = MEASURES[measure].words
    plot.entitle("xy", f"Mean {words}, all tables")
    plot.entitle("x2y2", f"{table}: how the sets are spread")
    plot.entitle("x3y3", f"{table}: the worst sets")
    status = (
        f"{table[0].upper()}{table[1:]}: the attacker guesses {100 * risk:.0f}% of relationships. "
        f"Mean {MEASURES[measure].words} {mean[table]:.3f} "
        f"(other real people {mean[OTHERS]:.3f}). {TARGET.capitalize()} is learnt to "
        f"{100 * use:.1f} % (majority {100 * majority:.1f} %). The attacker finds {SECRET} for "
        f"{100 * risk:.1f} % (zero rule {100 * zero_rule:.1f} %), "
        f"{100 * (risk - place[OTHERS][1]):+.1f} points against an attacker who reads other "
        f"people's records. {best}"
    )
    return View(plot.figure, status, [standings(state, measure)], facts=facts)


panel = view.panel

"""The GA paper's printed tables: their cells in the trials, and its numbers beside ours."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..evaluation.classifiers import f2
from .engine import find
from .grids import NO_NOISE, Curve
from .results import Key, Result, average, distinct, markdown, select, values

CLASSIFIERS = ("NB", "SV", "KN", "RF", "LR")
ATTACKERS = ("GCAP", *CLASSIFIERS)
CELLS = ("TN", "FP", "FN", "TP")
STAND_IN = "stand-in: 30,000 defaults"  # the note of its trials
NAN = float("nan")


def part(key: Key) -> Mapping[str, Any]:
    """The data file's part about a table."""
    return find("genetic").experiments[key]


def compared(key: Key, settings: Any) -> list[tuple[Curve, float]]:
    """Curves of a table or of the figure, each with its ε (infinite without noise)."""
    return [
        (c, NO_NOISE if c.guarantee == "none" else settings.epsilon)
        for c in find("genetic").curves(key, settings)
    ]


def on_stand_in(data: pd.DataFrame) -> bool:
    """Whether trials rest on the stand-in of the credit card table."""
    return bool((data["note"] == STAND_IN).any())


def columns(key: Key) -> tuple[str, ...]:
    """Columns of a printed table."""
    return (*(ATTACKERS if part(key)["kind"] == "disclosure" else CLASSIFIERS), "Avg")


def metric(key: Key, column: str) -> str:
    """Name of a column in the trials."""
    return str(part(key).get("prefix", "")) + column


def rows(key: Key, settings: Any) -> list[tuple[str, dict[str, str]]]:
    """Rows of a table: label, and where its trials are."""
    return [
        (
            f"{c.method} {c.k}".strip()
            if epsilon == NO_NOISE
            else f"strict {c.method}, ε = {epsilon:g}",
            vars(c),
        )
        for c, epsilon in compared(key, settings)
    ]


def printed(key: Key, row: str, column: str) -> tuple[float, float]:
    """Mean and standard deviation that the paper prints, in per cent; NaN where it prints none."""
    table = part(key)
    if "matrices" in table:
        return _score(table["matrices"].get(row, ""), column), NAN
    cells = table.get("printed", {}).get(row, "").split()
    mean, _, sd = dict(zip(columns(key), cells, strict=False)).get(column, "?").partition("±")
    return NAN if mean == "?" else float(mean), float(sd) if sd else NAN


def _score(row: str, column: str) -> float:
    """F2 in per cent from printed confusion matrices, or the average of the row."""
    matrices = [np.array(cells.split(), dtype=int).reshape(2, 2) for cells in row.split(",") if row]
    scores = dict(zip(CLASSIFIERS, (100 * f2(m) for m in matrices), strict=False))
    if column == "Avg" and scores:
        return sum(scores.values()) / len(scores)
    return scores.get(column, NAN)


def beside(key: Key, data: pd.DataFrame, settings: Any) -> pd.DataFrame | None:
    """The paper's numbers beside ours, one row per cell, in per cent."""
    if not {"printed", "matrices"} & set(part(key)):
        return None
    comparable, zero = not on_stand_in(data), part(key).get("zero_rule")
    cells = []
    for label, at in rows(key, settings):
        for column in columns(key):
            here = 100 * values(data, metric=metric(key, column), **at)
            pair = printed(key, label, column) if comparable else (NAN, NAN)
            spread = float(here.std(ddof=1)) if len(here) > 1 else NAN
            cells.append((label, column, *pair, average(here), spread))
    if zero:
        here = 100 * values(data, metric="zero rule", method="original")
        cells.append(("zero rule", "Avg", zero, NAN, average(here), NAN))
    return pd.DataFrame(cells, columns=["row", "column", "paper", "paper_sd", "here", "here_sd"])


def appendix(key: Key, result: Result) -> str:
    """The table with the paper's numbers beside ours, or the seconds of a run-time table."""
    if part(key)["kind"] == "runtime":
        return _times(result, " ".join(part(key).get("before", "").split()))
    if result.beside is None:
        return ""
    cells = result.cells().fillna("")
    body = markdown(["", *cells.columns], cells.itertuples())
    if not on_stand_in(result.data):
        return "\nPaper → here:\n\n" + body
    averages = ((name, printed(key, name, "Avg")[0]) for name in part(key)["matrices"])
    theirs = ", ".join(f"{name} {mean:.1f}" for name, mean in averages)
    return (
        "\nNone of the paper's cells could be run without its table. Its average F2, per cent: "
        f"{theirs}. Here, on the stand-in:\n\n{body}\nConfusion matrices of the first run on "
        f"the stand-in, TN FP / FN TP:\n\n{_matrices(result.data)}"
    )


def _times(result: Result, before: str) -> str:
    """Seconds of description and generation, shares of the optimum."""
    summary = result.summary()
    metrics = distinct(summary, "metric")
    searches = dict.fromkeys(zip(summary["method"], summary["k"], strict=True))
    lines = [
        [f"{method} {k}", *(_cell(summary, m, method, k) for m in metrics)]
        for method, k in searches
    ]
    head = f"\n{before}\n\n" if before else "\n"
    return head + markdown(["search, k", *metrics], lines)


def _matrices(data: pd.DataFrame) -> str:
    """Confusion matrices of the first run of each curve."""
    rows = []
    for at, runs in select(data, repeat=0).groupby(["method", "guarantee", "k"], sort=False):
        value = runs.set_index("metric")["value"]
        counts = [[f"{value[f'{c} {n}']:.0f}" for n in CELLS] for c in CLASSIFIERS]
        rows.append([" ".join(filter(None, at)), *(f"{a} {b} / {c} {d}" for a, b, c, d in counts)])
    return markdown(["", *CLASSIFIERS], rows)


def _cell(summary: pd.DataFrame, name: str, method: str, k: str) -> str:
    points = select(summary, metric=name, method=method, k=k)
    if not len(points):
        return ""
    mean, sd = points["mean"].iloc[0], points["sd"].iloc[0]
    if np.isnan(mean):
        return "not finished"
    digits = 4 if name.startswith("share") else 2
    return f"{mean:.{digits}f}" + ("" if np.isnan(sd) else f" ± {sd:.{digits}f}")

"""The GA paper's printed tables: where their cells are in the trials, and the printed numbers beside ours."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .engine import NO_NOISE, Key
from .genetic_settings import (
    ATTACKERS,
    CELLS,
    CLASSIFIERS,
    NAN,
    PRINTED,
    STAND_IN,
    TIMED,
    VII,
    ZERO_RULE,
    Settings,
    compared,
    printed,
)
from .results import Result, average, distinct, markdown, select, values


def columns(key: Key) -> tuple[str, ...]:
    """Columns of a printed table."""
    return (*(ATTACKERS if key in ZERO_RULE else CLASSIFIERS), "Avg")


def metric(key: Key, column: str) -> str:
    """Name of a column in the trials."""
    return f"F2 {column}" if key == "table 7" else column


def rows(key: Key, settings: Settings) -> list[tuple[str, dict[str, str]]]:
    """Rows of a table: label, and where its trials are."""
    out = []
    for curve, epsilon in compared(key, settings):
        label = f"{curve.method} {curve.k}".strip() if epsilon == NO_NOISE else f"strict {curve.method}, ε = {epsilon:g}"
        out.append((label, {"method": curve.method, "guarantee": curve.guarantee, "k": curve.k}))
    return out


def beside(key: Key, data: pd.DataFrame, settings: Settings) -> pd.DataFrame | None:
    """The paper's numbers beside ours, one row a cell, in per cent."""
    if key not in PRINTED and key != "table 7":
        return None
    comparable = key != "table 7" or not (data["note"] == STAND_IN).any()
    cells = []
    for label, at in rows(key, settings):
        for column in columns(key):
            here = 100 * values(data, metric=metric(key, column), **at)
            said = printed(key, label, column) if comparable else (NAN, NAN)
            cells.append((label, column, *said, average(here), float(here.std(ddof=1)) if len(here) > 1 else NAN))
    if key in ZERO_RULE:
        here = 100 * values(data, metric="zero rule", method="original")
        cells.append(("zero rule", "Avg", ZERO_RULE[str(key)], NAN, average(here), NAN))
    return pd.DataFrame(cells, columns=["row", "column", "paper", "paper_sd", "here", "here_sd"])


def appendix(key: Key, result: Result) -> str:
    """The table with the paper's numbers beside ours, or the seconds of a run-time table."""
    if key in TIMED:
        summary = result.summary()
        metrics, searches = distinct(summary, "metric"), dict.fromkeys(zip(summary["method"], summary["k"], strict=True))
        lines = [[f"{method} {k}", *(_cell(summary, m, method, k) for m in metrics)] for method, k in searches]
        return "\n" + (CREDIT_TIMES if key == "table 4" else "") + markdown(["search, k", *metrics], lines)
    if result.beside is None:
        return ""
    cells = result.cells().fillna("")
    body = markdown(["", *cells.columns], cells.itertuples())
    if not (result.data["note"] == STAND_IN).any():
        return "\nPaper → here:\n\n" + body
    theirs = ", ".join(f"{name} {printed(key, name, 'Avg')[0]:.1f}" for name in VII)
    return (f"\nNone of the paper's cells could be run without its table. Its average F2, per cent: {theirs}. Here, on the stand-in:\n\n"
            f"{body}"
            f"\nConfusion matrices of the first run on the stand-in, TN FP / FN TP:\n\n{_matrices(result.data)}")  # fmt: skip


CREDIT_TIMES = (
    "The paper's table holds no readable numbers and its records weren't there; its text says of k = 3 on 284,807 rows: description below "
    "10 minutes for the genetic search and almost 12 hours for the greedy one, generation about 1.5 hours for both. Here, on the "
    "stand-in:\n\n"
)


def _matrices(data: pd.DataFrame) -> str:
    """Confusion matrices of the first run of each curve."""
    rows = []
    for at, part in select(data, repeat=0).groupby(["method", "guarantee", "k"], sort=False):
        value = part.set_index("metric")["value"]
        counts = [[f"{value[f'{c} {n}']:.0f}" for n in CELLS] for c in CLASSIFIERS]
        rows.append([" ".join(filter(None, at)), *(f"{a} {b} / {c} {d}" for a, b, c, d in counts)])
    return markdown(["", *CLASSIFIERS], rows)


def _cell(summary: pd.DataFrame, name: str, method: str, k: str) -> str:
    part = select(summary, metric=name, method=method, k=k)
    if not len(part):
        return ""
    mean, sd = part["mean"].iloc[0], part["sd"].iloc[0]
    if np.isnan(mean):
        return "not finished"
    digits = 4 if name.startswith("share") else 2
    return f"{mean:.{digits}f}" + ("" if np.isnan(sd) else f" ± {sd:.{digits}f}")

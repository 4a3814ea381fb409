"""How many repeats each figure and table has, beside what is asked of it.

Asked: the paper's own number where it says one, at least 20 elsewhere. A data file says where a
figure is asked for another number (``repeats``, or ``asked`` where it has fewer), and which of its
curves need only one run (``once``: peers' timings, rows that no seed changes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from .grids import read
from .results import markdown, point
from .scoreboard import Committed, title

ELSEWHERE = 20  # where a paper says no number, and for readings, which no paper has


@dataclass(frozen=True)
class Count:
    """Repeats of one figure, or of one of its readings: asked and committed."""

    paper: str
    figure: str
    asked: int
    has: int


def fewest(trials: pd.DataFrame, once: Sequence[str]) -> int:
    """The repeats of the point that has fewest, without the methods that are run once."""
    rows = trials[~trials["method"].isin(once)]
    return int(rows.groupby(point(rows), dropna=False)["repeat"].nunique().min())


def count(boards: Sequence[Committed]) -> Iterator[Count]:
    """Every committed figure, table and reading."""
    for board in boards:
        for key in board.keys:
            part = board.paper.experiments[key]
            usual = part.get("repeats", board.paper.repeats)
            for name in ("", *board.paper.readings(key)):
                if (file := board.file(key, "_trials.csv", name or None)).exists():
                    quota = ELSEWHERE if name else part.get("asked", usual)
                    has = fewest(read(file), part.get("once", ()))
                    figure = board.paper.titles[key].split(":")[0] + (f", {name}" if name else "")
                    yield Count(title(board), figure, quota, has)


def page(boards: Sequence[Committed]) -> str:
    """Markdown: which figures have fewer repeats than is asked."""
    every = list(count(boards))
    short = [c for c in every if c.has < c.asked]
    rows = [(c.paper, c.figure, c.asked, c.has) for c in short]
    table = "\n" + markdown(["", "figure", "asked", "committed"], rows) if rows else ""
    return PAGE.format(all=len(every), short=len(short) or "none", table=table)


PAGE = """## Repeats

A figure has the paper's own number of repeats where the paper says one, and at least 20 elsewhere
and under our readings. One run is asked of what no seed changes, of timings of peers, and of the
credit stand-in's times. Figures, tables and readings with fewer than asked: {short} of {all}.
{table}"""

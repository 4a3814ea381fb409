"""Lesson 21: persons with an ε of their own, and who is missing from the synthetic table."""

import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ...core import Agree, total_variation
from ...papers.persons import COPIES, LEAST, OURS, SAMPLE, preferences, release
from ...persons import People
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board
from .first_table import HATCH
from .panel import live_panel
from .table import TeachingTable, remember, teaching_table
from .words import percent

COLUMNS = ("age", "education-num", "marital-status", "occupation", "sex")
ROWS, SEED, THRESHOLD = 10_000, 21, 0.5  # the first complete rows; the sample mechanism's t
LEVELS = (Fraction(1, 10), Fraction(1, 2), Fraction(1))
# A panel's agreement ends earlier than a fit's, and no larger tables are asked for: the picture is
# the same.
FAST: dict[str, Any] = {"rounds": 0, "reconcile": Agree(tolerance=1.0)}
MIXES = ("54 / 37 / 9", "80 / 15 / 5", "20 / 40 / 40")  # per cent of the persons at each level
METHODS = (LEAST, SAMPLE, COPIES, OURS)
SCHOOLS = ("no diploma", "high school", "vocational", "college", "doctorate")  # of education-num
COLLEGE = SCHOOLS.index("college")


@cache
def few_columns() -> TeachingTable:
    """Five columns of Adult's first complete rows: four methods are fitted in a tenth of a second.

    The columns are chosen by name, before anybody looks.
    """
    whole = teaching_table("thesis").dataset
    schema = replace(whole.schema, attributes=tuple(whole.schema[name] for name in COLUMNS))
    frame = whole.frame[list(COLUMNS)].iloc[:ROWS]
    return TeachingTable(replace(whole, frame=frame, schema=schema))


def schools(codes: np.ndarray) -> np.ndarray:
    """Share of the rows with each school: float (5,)."""
    counts = np.bincount(codes[:, COLUMNS.index("education-num")], minlength=len(SCHOOLS))
    return counts / len(codes)


@remember
def at_the_least(table: TeachingTable) -> np.ndarray:
    """Rows of the release at everybody's least ε, the same whatever else they prefer."""
    people = People(LEVELS, np.zeros(table.records.n, dtype=np.int64))
    return release(LEAST, people, table.records, THRESHOLD, SEED, **FAST)


@remember
def releases(table: TeachingTable, mix: str, tie: float) -> dict[str, tuple[np.ndarray, float]]:
    """Schools and mean two-way distance of each method's rows, all for the same preferences."""
    grades = table.records.codes[:, COLUMNS.index("education-num")].astype(float)
    strength = (grades - grades.mean()) / grades.std()
    shares = np.array([float(part) for part in mix.split("/")]) / 100
    people = People(LEVELS, preferences(strength, tie, shares, np.random.default_rng(SEED)))
    results = {}
    for method in METHODS:
        if method == LEAST:
            codes = at_the_least(table)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # the chart shows what no tie leaves
                codes = release(method, people, table.records, THRESHOLD, SEED, **FAST)
        results[method] = schools(codes), float(table.real.distances(codes).mean())
    return results


@live_panel(
    few_columns,
    tries=(
        Try(
            "the level as a column",
            {"method": OURS},
            "{now.college:.0%} of the rows finished college, {was.college:.0%} without the column; "
            "of the people {now.people:.0%} did.",
            lambda was, now: abs(now.college - now.people) < abs(was.college - was.people),
        ),
        Try(
            "everybody at the least",
            {"method": LEAST},
            "nobody is missing, but all that the generous give is wasted: off by {now.off:.3f} "
            "over all pairs, with the level as a column by {now.ours:.3f}.",
            lambda was, now: now.off > now.ours,
        ),
        Try(
            "preferences that go with nothing",
            {"tie": 0.0},
            "copies are off by {now.off:.3f} over all pairs, {was.off:.3f} where the educated are "
            "careful: without a tie there is no bias.",
            lambda was, now: now.off < was.off,
        ),
        Try(
            "a sample",
            {"method": SAMPLE},
            "the sample leans the same way: {now.college:.0%} finished college, of the people "
            "{now.people:.0%}.",
            lambda was, now: now.college < now.people,
        ),
    ),
    method=choice("method", METHODS, COPIES),
    tie=slider("tie", 1.0, 0.0, 2.0, 0.25, tooltip="tie of being careful with education"),
    mix=choice("mix", {f"{mix} %": mix for mix in MIXES}, tooltip="mix of ε = .1 / .5 / 1"),
)
def view(table: TeachingTable, mix: str, tie: float, method: str) -> View:
    """Who is in the synthetic table of one method; the distances of all four beside it."""
    results, real = releases(table, mix, tie), schools(table.records.codes)
    fake, off = results[method]
    college, people = fake[COLLEGE:].sum(), real[COLLEGE:].sum()
    went = {"people": real[COLLEGE:].sum()}
    went |= {name: results[name][0][COLLEGE:].sum() for name in METHODS}
    colours = {"people": "real", method: "look"}
    plot = Board("persons", f"mix = {mix} % · tie = {tie:g} · method = {method}")
    rows = list(went)[::-1]
    plot.bars(
        [went[name] for name in rows],
        rows,
        [colours.get(name, "private") for name in rows],
        3,
        across=True,
        labels=[f"<b>{percent(went[name])}</b>" for name in rows],
        textfont={"size": 15},
        showlegend=False,
    )
    plot.bars(SCHOOLS, real, "real", name="people")
    plot.bars(SCHOOLS, fake, "private", name="synthetic rows", marker={"pattern": HATCH})
    bars = METHODS[::-1]
    plot.bars(
        [results[name][1] for name in bars],
        bars,
        ["look" if name == method else "private" for name in bars],
        2,
        across=True,
        labels=[percent(results[name][1]) for name in bars],
        showlegend=False,
    )
    status = (
        f"{percent(college)} of synthetic rows finished college, {percent(people)} of people. "
        f"Schools are off by {total_variation(real, fake):.1%}, all pairs of columns by {off:.3f}; "
        f"everybody at the least would be off by {results[LEAST][1]:.3f}."
    )
    facts = {
        "college": float(college),
        "people": float(people),
        "off": off,
        "ours": results[OURS][1],
        "least": results[LEAST][1],
    }
    return View(plot.figure, status, facts=facts)


panel = view.panel

"""Yardsticks: our methods and their peers on eight tables (distances, queries, a classifier)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from .. import algorithms as s
from .. import baselines as b
from .. import datasets as d
from ..planning import forecasts, prior
from . import yardsticks_promise as promise
from .engine import load
from .grids import Curve, Grid, RealData, Run
from .results import Key, Result, distinct, markdown, select
from .yardstick import GUARANTEE, TRUE, DataSynthesizerTable, OpenDPTable
from .yardsticks_plots import (
    CONSISTENT,
    DISTANCE,
    FIXED,
    FOREST,
    THESIS,
    draw,
    main_picture,
    name_curve,
    same_in_main,
    shown_in_main,
)

__all__ = ["PAPER", "main_picture", "same_in_main", "shown_in_main"]


LOADERS: Mapping[str, Callable[[], d.Dataset]] = {
    THESIS: partial(d.load_adult, coding="thesis"),
    "Adult, complete": partial(d.load_adult, complete=True),
    "NLTCS": d.load_nltcs,
    "ACS": d.load_acs,
    "Big5": d.load_big5,
    "CMC": d.load_cmc,
    "credit default": d.load_credit_default,
    "Retail": d.load_retail,
}


# --- what is run ----------------------------------------------------------------------------------


def methods(dataset: d.Dataset) -> dict[str, Callable[..., Any]]:
    """Our methods by name: functions of keywords, with defaults a stranger would have."""
    makers: dict[str, Callable[..., Any]] = {
        "Independent": b.Independent,
        "JTree": b.JTree,
        "PrivBayes": s.PrivBayes,
        "HPPrivBayes": partial(s.HPPrivBayes, sensitive=dataset.sensitive),
    }
    return makers | {CONSISTENT: s.ConsistentBayes, FOREST: partial(s.ConsistentBayes, rounds=0)}


def ours(key: Key, settings: Any, table: str, dataset: d.Dataset) -> dict[Curve, Any]:
    """Curves of our methods on one table, each with its unfitted synthesizer."""
    makers, out = methods(dataset), {}
    for curve in PAPER.curves(key, settings):
        if curve.method in makers and not (table in settings.wide and curve.k == "3"):
            degree = {"k": curve.degree} if curve.k else {}
            out[curve] = makers[curve.method](**curve.keywords, **degree)
    return out


def peers(settings: Any) -> dict[Curve, Any]:
    """Curves of other people's methods."""
    out: dict[Curve, Any] = {}
    for name in settings.peers:
        if name == "DataSynthesizer":
            out[Curve(name, TRUE)] = DataSynthesizerTable()
        else:
            out[Curve(name, GUARANTEE)] = OpenDPTable(name, settings.delta, tight=True)
    return out


def advise(table: str, dataset: d.Dataset, settings: Any) -> dict[str, list[str]]:
    """The curve (method, k) that the plan would recommend at each ε, had it never seen the table.

    That is: with the prior of the tables that aren't codings of the same records.
    """
    advice = {}
    judged = [name for name in LOADERS if name.split(",")[0] == table.split(",")[0]]
    for e in settings.advised:
        best = forecasts(dataset.schema, len(dataset.frame), e, prior(*judged))[0]
        chosen: Any = best.make(epsilon=e)
        method, k = type(chosen).__name__, getattr(chosen, "k", "")
        if method == CONSISTENT:
            method = FOREST if chosen.rounds == 0 else CONSISTENT
        advice[f"{e:g}"] = [method, str(k) if method == "PrivBayes" else ""]
    return advice


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """Every method on every table; peers where the settings say."""
    if key == "table 1":
        return promise.nist(settings, run)
    measures, frames = PAPER.experiments[key]["measures"], []
    if key == 3:
        return promise.trials(settings, run, LOADERS, measures)
    tables = (
        {n: LOADERS[n] for n in settings.on}
        if run.data is None
        else {run.data.name: lambda: run.data}
    )
    for name, loader in tables.items():
        dataset, label = loader(), {"dataset": name}
        if key == 1:
            run.facts.setdefault("advice", {})[name] = advise(name, dataset, settings)
        grids = [
            Grid(dataset, ours(key, settings, name, dataset), measures, settings.epsilons, label)
        ]
        if key == 2:
            grids.append(Grid(dataset, {Curve("real data"): RealData()}, measures, (), label))
        few = name in (settings.slow if key == 1 else settings.wide)
        frames.append(
            run.measure(*grids, repeats=min(run.repeats, settings.slow_repeats) if few else None)
        )
        if settings.peers and (name in settings.peer_tables or run.data is not None):
            beside = Grid(dataset, peers(settings), measures, settings.peer_epsilons, label)
            frames.append(run.measure(beside, repeats=min(run.repeats, settings.peer_repeats)))
    return pd.concat(frames, ignore_index=True)


# --- tables of the page ---------------------------------------------------------------------------


def say(row: Any) -> str:
    """Mean and half-width of one point; a single run has none."""
    return f"{row.mean:.4f}" + (f" ± {row.ci95:.4f}" if np.isfinite(row.ci95) else "")


def ratio(a: Any, b: Any) -> str:
    """Mean over mean, with a 95 % half-width (both relative half-widths, in squares)."""
    quotient = a.mean / b.mean
    half = quotient * np.hypot(a.ci95 / a.mean, b.ci95 / b.mean)
    return f"{quotient:.2f}" + (f" ± {half:.2f}" if np.isfinite(half) else "")


def ratios(points: pd.DataFrame, settings: Any) -> Iterator[list[str]]:
    """Our nearest method over each peer, one row per table, ε and distance."""
    for (table, e, metric), part in points.groupby(["dataset", "epsilon", "metric"], sort=False):
        outside = part[part["guarantee"].isin((GUARANTEE, TRUE)) & part["repeats"].gt(0)]
        if len(outside):
            best = next(select(part, guarantee="strict").sort_values("mean").itertuples())
            name = name_curve(best.method, best.guarantee, best.k, settings.delta)
            against = {row.method: row for row in outside.itertuples()}
            texts = [
                f"{say(against[p])}: **{ratio(best, against[p])}**" if p in against else "–"
                for p in settings.peers
            ]
            yield [table, f"{e:g}", metric, f"{name}: {say(best)}", *texts]


def cells(
    points: pd.DataFrame, advice: Mapping[str, Mapping[str, Sequence[str]]]
) -> tuple[list[list[str]], str]:
    """The advised method against its rivals: one row per table and ε, and a sentence.

    Rivals: Independent, JTree, PrivBayes with a fixed k.
    """
    rows, over = [], []
    for (table, e), part in select(points, metric=DISTANCE).groupby(
        ["dataset", "epsilon"], sort=False
    ):
        method, k = advice.get(table, {}).get(f"{e:g}", ("", ""))
        mine = select(part, method=method, k=k)
        fixed = part["method"].isin(("Independent", "JTree")) | part["k"].isin(("0", *FIXED))
        rivals = part[fixed].sort_values("mean")
        alone = select(part, method="Independent")
        if not (len(mine) and len(rivals) and len(alone)):
            continue
        ours, rival = next(mine.itertuples()), next(rivals.itertuples())
        over.append((ours.mean / rival.mean, ours.mean / alone["mean"].iloc[0]))
        names = [name_curve(row.method, row.guarantee, row.k, 0) for row in (ours, rival)]
        rows.append(
            [
                table,
                f"{e:g}",
                f"{names[0]}: {say(ours)}",
                f"{names[1]}: {say(rival)}",
                *(f"{ratio:.2f}" for ratio in over[-1]),
            ]
        )
    worse = sum(nearest > 1.05 for nearest, _ in over)
    return rows, (
        f"Worse than 1.05 × the nearest rival in {worse} of {len(over)} cells; at most "
        f"{max((apart for _, apart in over), default=0):.2f} × Independent."
    )


def appendix(key: Key, result: Result) -> str:
    """Ratios to the peers, and all means at ε = 1."""
    settings = PAPER.read_settings(result.parameters)
    if key in (3, "table 1"):
        return promise.appendix(key, result, settings)
    points = result.summary()
    points = points[points["repeats"].gt(0)]
    out = ""
    rows = list(ratios(points, settings)) if key == 1 else []
    if rows:
        columns = ["table", "ε", "measure", "our nearest", *settings.peers]
        out += (
            "\nOur nearest method over each peer: mean ± 95 % half-width, then the ratio of the"
            " means. The nearest one is picked from these same trials, which flatters it a "
            f"little.\n\n{markdown(columns, rows)}"
        )
    advice, words = cells(points, result.parameters.get("advice", {}))
    if advice:
        columns = ["table", "ε", "advised", "nearest rival", "÷ rival", "÷ Independent"]
        out += (
            "\nWhat `pds.plan` advises from public facts, with the prior of the other tables, "
            "against the nearest of Independent, JTree and PrivBayes with k = 0 … 3 (picked "
            f"afterwards), 2-way distance. {words}"
            f"\n\n{markdown(columns, advice)}"
        )
    at = 1.0 if 1.0 in settings.epsilons else settings.epsilons[-1]
    here = points[points["epsilon"].isin((at, np.inf))]
    for metric in distinct(points, "metric"):
        part, names = select(here, metric=metric), distinct(points, "dataset")
        rows = []
        for (method, guarantee, k), mine in part.groupby(["method", "guarantee", "k"], sort=False):
            texts = {row.dataset: say(row) for row in mine.itertuples()}
            rows.append(
                [
                    name_curve(method, guarantee, k, settings.delta),
                    *(texts.get(name, "–") for name in names),
                ]
            )
        out += f"\n{metric}, ε = {at:g}:\n\n{markdown(['method', *names], rows)}"
    return out


PAPER = load(
    "yardsticks",
    trials,
    appendix=appendix,
    draw={1: draw, 2: draw, 3: promise.draw, "table 1": promise.draw_scores},
)

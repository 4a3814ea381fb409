"""Holders who don't show each other their records: shares of noise against a curator, and alone.

Figure 1 measures releases. Figure 2 is arithmetic: what holders who put together their own shares
learn (:mod:`pdsynth.holders.collusion`).
"""

import warnings
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..algorithms import ConsistentBayes, HMPrivBayes, HPPrivBayes
from ..core import Codes, ExactNoise, Records, Unit
from ..datasets.adult import load_adult
from ..evaluation.marginals import Marginals, attribute_sets
from ..holders import SharedNoise, Together
from ..holders.collusion import loss_of_sum
from .drawing import bars_in_range, finish, log_ticks, panels
from .engine import load
from .grids import Run, matches
from .results import (
    Key,
    direction_verdict,
    equivalence_verdict,
    select,
    stretched,
    summarise,
    widen,
)
from .rules import Answer, Gaps, Question, rule

CURATOR, SHARES = "one curator", "shares of the noise"
LOCAL, ALONE = "each adds all the noise", "each alone, rows together"
DISTANCE, LEFT = "2-way distance", "ε of a table that cost 0.1"
LOOKS = {
    CURATOR: ("#000000", "circle", "dot"),
    SHARES: ("#0072B2", "star", "solid"),
    LOCAL: ("#D55E00", "diamond", "solid"),
    ALONE: ("#767676", "square", "dash"),
}
PLACE = ["synthesizer", "epsilon", "holders"]


@dataclass(frozen=True)
class Point:
    """One setting: a synthesizer, how its noise comes about, how many holders, and ε."""

    synthesizer: str
    method: str
    holders: int
    epsilon: float


def points(settings: Any) -> list[Point]:
    """Every point of figure 1; one curator needs no holders."""
    return [
        Point(name, method, holders, epsilon)
        for name in settings.synthesizers
        for epsilon in settings.epsilons
        for method in LOOKS
        for holders in ([1] if method == CURATOR else settings.holders)
    ]


def make(point: Point, settings: Any, sensitive: str) -> Any:
    """The unfitted synthesizer of a point."""
    if point.synthesizer == "HPPrivBayes":
        return HPPrivBayes(point.epsilon, sensitive=sensitive)
    if point.synthesizer == "HMPrivBayes":
        return HMPrivBayes(point.epsilon, l=settings.degree)
    return ConsistentBayes(point.epsilon)


def release(
    point: Point, settings: Any, parts: list[np.ndarray], schema: Any, sensitive: str, seed: int
) -> np.ndarray:
    """Codes of a synthetic table with as many rows as all holders have records."""
    generator = np.random.default_rng([seed, 2])

    def sample(records: Records, noise: Any) -> np.ndarray:
        fitted = make(point, settings, sensitive).fit(records, noise=noise)
        codes: np.ndarray = fitted.model_.sample_codes(records.n, generator, "balanced")
        return codes

    if point.method == ALONE:
        own = [Records(np.asfortranarray(part), schema) for part in parts]
        return np.concatenate(
            [sample(records, ExactNoise([seed, i])) for i, records in enumerate(own)]
        )
    if point.method == CURATOR:
        return sample(Records(np.asfortranarray(np.concatenate(parts)), schema), ExactNoise(seed))
    honest = 1 if point.method == LOCAL else None
    holders = Together([Codes(np.asfortranarray(part), schema.sizes) for part in parts])
    return sample(Records(holders, schema), SharedNoise(point.holders, honest, seed))


def measure(
    point: Point, repeat: int, seed: int, settings: Any, real: Marginals, records: Records, s: str
) -> dict[str, Any]:
    """One release, and how far it is from all records."""
    generator = np.random.default_rng([seed, repeat, point.holders])
    order = generator.permutation(records.n)
    parts = [records.codes[part] for part in np.array_split(order, point.holders)]
    place = [*LOOKS].index(point.method), int(1000 * point.epsilon)
    own = int(np.random.SeedSequence([seed, repeat, *place]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # too noisy to cluster: one cluster
        codes = release(point, settings, parts, records.schema, s, own)
    return row(point, repeat, own, DISTANCE, float(real.distances(codes).mean()))


def row(
    point: Point, repeat: int, seed: int, metric: str, value: float, colluding: int = 0
) -> dict[str, Any]:
    """One measured value."""
    return {
        "metric": metric,
        "synthesizer": point.synthesizer,
        "method": point.method,
        "guarantee": "strict",
        "holders": str(point.holders),
        "colluding": str(colluding),
        "epsilon": point.epsilon,
        "repeat": repeat,
        "seed": seed,
        "value": value,
        "note": "",
    }


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """Every point of figure 1, ``run.repeats`` times; the arithmetic of figure 2, once."""
    if key == 2:
        return pd.DataFrame(collusion(settings))
    dataset = load_adult(coding="thesis") if run.data is None else run.data
    records = Records(dataset.schema.encode(dataset.frame), dataset.schema)
    real = Marginals(records.codes, dataset.schema, sets=attribute_sets(len(dataset.schema), 2))
    run.tables[dataset.name] = records.n
    jobs = [
        (point, repeat, run.seed, settings, real, records, dataset.sensitive)
        for repeat in range(run.repeats)
        for point in points(settings)
        if matches(vars(point), run.only)
    ]
    done = sorted(run.each(measure, jobs, "holders"), key=itemgetter(0))
    return pd.DataFrame([result for _, result in done])


def collusion(settings: Any) -> list[dict[str, Any]]:
    """What a table that costs ε tells 0, 1, … colluding holders, by how many are meant honest."""
    epsilon = Fraction(str(settings.table_epsilon))
    unit = Unit()
    rows = []
    for holders in settings.holders:
        for word, honest in ((SHARES, holders), ("shares for half", -(-holders // 2)), (LOCAL, 1)):
            for k in range(holders):
                shape = Fraction(min(holders - k, honest), honest)
                loss = unit.moved * loss_of_sum(unit.scale(epsilon), shape)
                point = Point("any", word, holders, float(epsilon))
                rows.append(row(point, 0, 0, LEFT, loss, k))
    return rows


# --- figures and rules ----------------------------------------------------------------------------


def draw(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 1: one panel per synthesizer and ε over the holders; figure 2 over the colluding."""
    return draw_collusion(data, settings) if key == 2 else draw_distances(data, settings)


def draw_distances(data: pd.DataFrame, settings: Any) -> go.Figure:
    """Distance over the number of holders; one curator is a level."""
    table = summarise(data)
    places = [(e, s) for e in settings.epsilons for s in settings.synthesizers]
    titles = [f"{name}, ε = {epsilon:g}" for epsilon, name in places]
    columns = len(settings.synthesizers)
    plot = panels(columns, titles, vertical_spacing=0.16)
    at = [str(holders) for holders in settings.holders]
    for i, (epsilon, name) in enumerate(places):
        for method, (colour, symbol, dash) in LOOKS.items():
            part = select(table, method=method, synthesizer=name, epsilon=epsilon)
            if method == CURATOR and len(part):  # the same at every number of holders
                part = part.loc[part.index.repeat(len(at))]
            plot.add_scatter(
                x=at,
                y=part["mean"],
                name=method,
                legendgroup=method,
                showlegend=i == 0,
                mode="lines" if method == CURATOR else "lines+markers",
                row=i // columns + 1,
                col=i % columns + 1,
                line={"color": colour, "dash": dash, "width": 1.6},
                marker={"symbol": symbol, "size": 9},
                error_y=None
                if method == CURATOR
                else bars_in_range(part["mean"], part["ci95"], DISTANCE, 1.2, 3),
            )
    plot.update_xaxes(type="category")
    plot.update_xaxes(title_text="holders", row=len(settings.epsilons))
    plot.update_yaxes(rangemode="tozero")
    plot.update_yaxes(title_text="mean 2-way distance", col=1)
    subtitle = "strict: ε for a replaced record, for whoever sees the release"
    return finish(plot, data, "Records that several holders have", subtitle, 620)


def draw_collusion(data: pd.DataFrame, settings: Any) -> go.Figure:
    """What is left of ε over the number of colluding holders."""
    plot = panels(
        len(settings.holders), [f"{m} holders" for m in settings.holders], shared_yaxes=True
    )
    looks = {SHARES: LOOKS[SHARES], "shares for half": ("#009E73", "square", "solid")}
    looks[LOCAL] = LOOKS[LOCAL]
    for column, holders in enumerate(settings.holders, 1):
        for method, (colour, symbol, dash) in looks.items():
            part = select(data, method=method, holders=str(holders))
            plot.add_scatter(
                x=part["colluding"].astype(int),
                y=part["value"],
                name=method,
                legendgroup=method,
                showlegend=column == 1,
                mode="lines+markers",
                row=1,
                col=column,
                line={"color": colour, "dash": dash, "width": 1.6},
                marker={"symbol": symbol, "size": 7},
            )
    for column, holders in enumerate(settings.holders, 1):
        plot.update_xaxes(dtick=max(1, holders // 4), col=column)
    plot.update_xaxes(title_text="colluding holders", rangemode="tozero")
    plot.update_yaxes(**log_ticks([0.1, 0.2, 0.5, 1, 2, 5]))
    plot.update_yaxes(title_text="ε", col=1)
    subtitle = (
        f"exact; scale {float(Unit().scale(Fraction(str(settings.table_epsilon)))):g} records"
    )
    return finish(plot, data, "What a table tells those who know their own shares", subtitle, 420)


def compared(q: Question) -> tuple[list[tuple[float, float]], list[str], list[float]]:
    """The other's mean minus the method's at every point, their names, and the other's means.

    One curator is the same for every number of holders.
    """
    table = summarise(q.data)
    mine, other = (select(table, method=q[name]) for name in ("method", "other"))
    gaps, names, levels = [], [], []
    for at in mine.to_dict("records"):
        place = {name: at[name] for name in PLACE}
        if q["other"] == CURATOR:
            place["holders"] = "1"
        (rival,) = select(other, **place).to_dict("records")
        half = widen(float(np.hypot(at["ci95"], rival["ci95"])))
        gaps.append((rival["mean"] - at["mean"], half))
        names.append(f"{at['synthesizer']}, ε = {at['epsilon']:g}, {at['holders']} holders")
        levels.append(rival["mean"])
    return gaps, names, levels


@rule(
    "the other's mean minus the method's, as a part of the other's: the 95 % interval within "
    "± 10 % at every point (two one-sided tests)",
    tolerant=True,
)
def as_near(q: Question) -> Answer:
    """Whether a method is as near as another, point by point."""
    gaps, names, levels = compared(q)
    parts = [(gap / level, half / level) for (gap, half), level in zip(gaps, levels, strict=True)]
    part = [gap for gap, _ in parts]
    size = f"{np.median(part):+.1%} ({min(part):+.1%} … {max(part):+.1%})"
    return equivalence_verdict(parts, stretched(0.1)), {"found": Gaps(parts, names), "size": size}


@rule(
    "the other's mean minus the method's at every point, with both 95 % intervals: replicates if "
    "it is nearer at more than half of the points and farther at none"
)
def nearer_at_all(q: Question) -> Answer:
    """Whether a method is nearer than another, point by point."""
    gaps, names, _ = compared(q)
    return direction_verdict(gaps), {"found": Gaps(gaps, names)}


PAPER = load("holders", trials, draw={1: draw, 2: draw})

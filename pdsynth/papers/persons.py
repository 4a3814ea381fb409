"""Persons with an ε of their own: copies with and without their level, a sample, all at the least.

Figure 1 moves how many persons have which level, and how strongly that goes with education. Figure
2 asks what many levels and few records do.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..algorithms import ConsistentBayes
from ..core import Records
from ..datasets.adult import load_adult
from ..evaluation.marginals import Marginals, attribute_sets
from ..persons import People, WeightedCodes, rounded_down
from .drawing import bars_in_range, finish, panels
from .engine import load
from .grids import Run, matches
from .results import Key, direction_verdict, select, summarise, widen
from .rules import Answer, Gaps, Question, rule

LEAST, MOST = "everybody at the least", "everybody at the most"
SAMPLE, COPIES, OURS = "sample", "copies", "copies, level as a column"
METHODS = (LEAST, SAMPLE, COPIES, OURS, MOST)
DISTANCE = "2-way distance"
LOOKS = {
    LEAST: ("#000000", "circle", "dot"),
    SAMPLE: ("#D55E00", "diamond", "solid"),
    COPIES: ("#56B4E9", "square", "solid"),
    OURS: ("#0072B2", "star", "solid"),
    MOST: ("#999999", "circle-open", "dot"),
}
WEIGHED = "education-num"


# --- who wants which ε ----------------------------------------------------------------------------


def preferences(
    strength: np.ndarray, tie: float, shares: np.ndarray, generator: np.random.Generator
) -> np.ndarray:
    """The level of each person, int64 (n,): the more of ``strength``, the more careful.

    ``strength``: standardised, (n,). ``shares``: of persons at each level, the least ε first. Each
    person draws a care from a logistic law around tie × strength; levels follow its quantiles, so
    their shares are the same for every tie.
    """
    care = tie * strength + generator.logistic(size=len(strength))
    rank = np.argsort(np.argsort(-care, kind="stable"), kind="stable") / len(care)
    return np.searchsorted(np.cumsum(shares)[:-1], rank, side="right")


@dataclass(frozen=True)
class Point:
    """One setting: the figure's labels, a method, and the persons' ε."""

    method: str
    mix: str
    tie: float
    bins: int
    n: int


def points(key: Key, settings: Any) -> Iterator[Point]:
    """Every point of a figure."""
    if key == 1:
        for mix in settings.mixes:
            for tie in settings.ties:
                yield from (Point(m, mix, tie, 0, settings.records[-1]) for m in METHODS)
        return
    for n in settings.records:
        for tie in (settings.ties[0], settings.ties[2]):
            for bins in settings.bins:
                yield from (
                    Point(m, "log-uniform", tie, bins, n) for m in METHODS if bins or m != MOST
                )


def budgets(point: Point, settings: Any, strength: np.ndarray, generator: Any) -> People:
    """What each person was promised."""
    if not point.bins:
        shares = np.array([float(part) for part in point.mix.split("/")]) / 100
        levels = tuple(Fraction(str(level)) for level in settings.levels)
        return People(levels, preferences(strength, point.tie, shares, generator))
    least, most = settings.levels[0], settings.levels[-1]
    steps = preferences(strength, point.tie, np.full(1000, 1e-3), generator) / 999
    return rounded_down(least * (most / least) ** steps, point.bins)


# --- the methods ----------------------------------------------------------------------------------


def release(
    method: str, people: People, records: Records, threshold: float, seed: int, **options: Any
) -> np.ndarray:
    """Codes of a synthetic table: simulation noise, since nothing here is released.

    ``options`` of ConsistentBayes, the same for each method.
    """
    generator = np.random.default_rng([seed, 2])
    options |= {"relation": "add_remove", "noise": "common", "random_state": seed}
    epsilons, weights = np.array(people.levels, dtype=float)[people.of], np.array(people.copies)
    least, most = float(people.levels[0]), float(people.levels[-1])
    if method == OURS:
        frame = records.schema.decode(records.codes)
        fitted = ConsistentBayes(most, **options)
        own = pd.Categorical(epsilons, categories=[float(level) for level in people.levels])
        fitted.fit(frame, records.schema, person_epsilon=pd.Series(own, index=frame.index))
        return fitted.model_.sample_codes(records.n, generator, "balanced")[:, 1:]
    if method == COPIES:
        counter = WeightedCodes(records.codes, records.schema.sizes, weights[people.of])
        fitted = ConsistentBayes(most, records_per_person=max(people.copies), **options)
        fitted.fit(Records(counter, records.schema))
    elif method == SAMPLE:
        t = min(threshold, most)
        stays = np.minimum(np.expm1(epsilons) / np.expm1(t), 1) > generator.random(records.n)
        fitted = ConsistentBayes(t, **options)
        fitted.fit(Records(np.asfortranarray(records.codes[stays]), records.schema))
    else:
        fitted = ConsistentBayes(least if method == LEAST else most, **options).fit(records)
    return fitted.model_.sample_codes(records.n, generator, "balanced")


def measure(
    point: Point, repeat: int, seed: int, settings: Any, real: Marginals, records: Records
) -> dict[str, Any]:
    """One release, and how far it is from the records."""
    own = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    generator = np.random.default_rng([own, 1])
    if point.n < records.n:
        rows = generator.choice(records.n, point.n, replace=False)
        records = Records(np.asfortranarray(records.codes[rows]), records.schema)
        real = Marginals(records.codes, records.schema, sets=real.sets)
    strength = records.codes[:, records.schema.index(WEIGHED)].astype(float)
    strength = (strength - strength.mean()) / strength.std()
    people = budgets(point, settings, strength, generator)
    codes = release(point.method, people, records, settings.threshold, own)
    return {
        "metric": DISTANCE,
        "method": point.method,
        "guarantee": "strict",
        "mix": point.mix,
        "tie": f"{point.tie:g}",
        "bins": say_bins(point, settings),
        "n": str(point.n),
        "epsilon": float(people.levels[-1]),
        "repeat": repeat,
        "seed": own,
        "value": float(real.distances(codes).mean()),
        "note": "",
    }


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """Every point, ``run.repeats`` times."""
    dataset = load_adult(coding="thesis") if run.data is None else run.data
    records = Records(dataset.schema.encode(dataset.frame), dataset.schema)
    real = Marginals(records.codes, dataset.schema, sets=attribute_sets(len(dataset.schema), 2))
    run.tables[dataset.name] = records.n
    chosen = [point for point in points(key, settings) if matches(vars(point), run.only)]
    pairs = [(point, repeat) for repeat in range(run.repeats) for point in chosen]
    fits = [(_fitted(point, settings), repeat) for point, repeat in pairs]
    jobs = list(dict.fromkeys(fits))
    todo = [(point, repeat, run.seed, settings, real, records) for point, repeat in jobs]
    done = dict(run.each(measure, todo, "persons"))
    rows = {job: done[at] for at, job in enumerate(jobs)}
    labels = [
        {"mix": point.mix, "tie": f"{point.tie:g}", "bins": say_bins(point, settings)}
        for point, _ in pairs
    ]
    return pd.DataFrame([rows[fit] | own for fit, own in zip(fits, labels, strict=True)])


def _fitted(point: Point, settings: Any) -> Point:
    """The point whose fit stands for this one: where all have one ε, nobody's level matters."""
    if point.method not in (LEAST, MOST):
        return point
    return replace(point, mix=settings.mixes[0], tie=0.0, bins=0)


def say_bins(point: Point, settings: Any) -> str:
    """How many levels a point has, as in the CSV."""
    return str(point.bins or len(settings.levels))


# --- figures and rules ----------------------------------------------------------------------------


def draw(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """One panel per mix over the tie, or per number of records over the levels."""
    across, along, title = (
        ("mix", "tie", "tie of preferences with education")
        if key == 1
        else ("n", "bins", "levels of ε")
    )
    table = summarise(data)
    if key == 2:
        table = select(table, tie=f"{settings.ties[2]:g}")
    names = list(dict.fromkeys(table[across]))
    words = [f"{n} % at .1 / .5 / 1" if key == 1 else f"{int(n):,} records" for n in names]
    plot = panels(len(names), words, shared_yaxes=key == 1)
    for column, name in enumerate(names, 1):
        for method, (colour, symbol, dash) in LOOKS.items():
            part = select(table, method=method)[lambda t, name=name: t[across] == name]
            plot.add_scatter(
                x=part[along],
                y=part["mean"],
                name=method,
                legendgroup=method,
                showlegend=column == 1,
                mode="lines+markers",
                row=1,
                col=column,
                line={"color": colour, "dash": dash, "width": 1.6},
                marker={"symbol": symbol, "size": 9},
                error_y=bars_in_range(part["mean"], part["ci95"], DISTANCE, 1.2, 3),
            )
    plot.update_xaxes(title_text=title, type="category")
    plot.update_yaxes(rangemode="tozero")
    plot.update_yaxes(title_text="mean 2-way distance", col=1)
    subtitle = "each loses at most her own ε (add or remove); " + (
        "mixes in per cent" if key == 1 else f"ε from .1 to 1, tie {settings.ties[2]:g}"
    )
    return finish(plot, data, "Persons with an ε of their own", subtitle, 460)


@rule(
    "the other's mean minus the method's at every point, with both 95 % intervals: replicates if "
    "it is nearer at more than half of the points and farther at none"
)
def nearer_everywhere(q: Question) -> Answer:
    """Whether a method is nearer than another, point by point."""
    at = ["mix", "tie", "bins", "n"]
    table = summarise(q.data).set_index(at)
    mine, other = (select(table, method=q[name]) for name in ("method", "other"))
    gaps, names = [], []
    for place, row in mine.iterrows():
        rival = other.loc[place]
        both = widen(float(np.hypot(row["ci95"], rival["ci95"])))
        gaps.append((round(rival["mean"] - row["mean"], 12), both))
        size = f", {place[2]} levels, {int(place[3]):,} records" if q.key == 2 else ""
        names.append(f"{place[0]}, tie {place[1]}{size}")
    return direction_verdict(gaps), {"found": Gaps(gaps, names)}


PAPER = load("persons", trials, draw={1: draw, 2: draw})

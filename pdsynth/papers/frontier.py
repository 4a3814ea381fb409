"""Personal guarantees, all algorithms: what the sensitive attribute loses, against the error on everything else.

Figure 1 on Adult in the thesis' coding. Every algorithm is strict and spends the same ε on the table as a whole; a lever moves how
much of it the sensitive attribute bears. The comparison is PrivBayes with less ε for everybody.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..counting.tables import Records
from ..datasets import Dataset, load_adult
from ..evaluation import Marginals
from ..evaluation.marginals import attribute_sets
from ..synthesizers import PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, PrivBayes, Synthesizer
from ..synthesizers import parts as p
from ..synthesizers.groups import SensitivityGroups, TwoGroups
from .drawing import STYLE, finished, panels, ticks
from .engine import Key, Paper, Run
from .results import (
    OPEN,
    Verdict,
    average,
    decided,
    difference,
    direction_verdict,
    spoken,
    summarise,
    values,
)

BASE = "PrivBayes"
CUSTOM, POLICY, GROUPED = "custom network", "HPPrivBayes, groups by policy", "custom network, two groups"
LOSS, REST, WITH = "loss of the sensitive attribute", "2-way distance without it", "2-way distance with it"
TITLES: dict[Key, str] = {1: "Figure 1: what the sensitive attribute loses, against the error on the rest"}
LOOKS = {BASE: STYLE["PrivBayes"], "HPPrivBayes": STYLE["HPPrivBayes"], POLICY: ("#D55E00", "diamond"), "HMPrivBayes": ("#CC79A7", "star"),
         "PPBA": ("#56B4E9", "triangle-up"), CUSTOM: ("#0072B2", "pentagon"), GROUPED: ("#000000", "hexagon")}  # fmt: skip
RARE_VALUES = {"paper": "less_noise", "protect": "more_noise", "flat": "same_noise"}
LINES = {"θ": "dash", "direction": "dot"}
TICKS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Settings:
    """``epsilon``: of the whole table, for all but the levers "ε". The others: where each lever is set; θ in bits."""

    epsilon: float = 1.0
    totals: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
    ratios: tuple[str, ...] = ("1/6", "1/3", "1", "3")
    thetas: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.4)
    directions: tuple[str, ...] = ("paper", "protect", "flat")
    policies: tuple[str, ...] = ("1/20", "1/10", "1/3", "1")
    degrees: tuple[int, ...] = (1, 2, 3)
    q: tuple[float, ...] = (0.8, 0.9, 1.0, 1.1, 1.25)
    grouped: tuple[str, ...] = ("1/100", "1/50", "1/25", "1/13", "1/5")


@dataclass(frozen=True)
class Point:
    """One setting of one lever of a method."""

    method: str
    lever: str
    setting: str
    epsilon: float
    synthesizer: Any


def points(settings: Settings, dataset: Dataset) -> Iterator[Point]:
    """Every point of the figure, its synthesizer unfitted."""
    e, s = settings.epsilon, dataset.sensitive
    shared: dict[str, Any] = {"noise": "common"}  # simulation noise: nothing here is released
    restricted = p.Greedy(restriction=p.Restriction(dataset.target, s))
    for total in settings.totals:
        yield Point(BASE, "ε", f"{total:g}", total, PrivBayes(total, **shared))
        yield Point(CUSTOM, "ε", f"{total:g}", total, GeneticBayes(total, target=dataset.target, sensitive=s, **shared))
    for r in settings.ratios:
        yield Point("HPPrivBayes", "r", r, e, HPPrivBayes(e, sensitive=s, r=float(Fraction(r)), **shared))
    for theta in settings.thetas:
        yield Point("HPPrivBayes", "θ", f"{theta:g}", e, HPPrivBayes(e, sensitive=s, theta=theta, **shared))
    for way in settings.directions:
        yield Point("HPPrivBayes", "direction", way, e, HPPrivBayes(e, sensitive=s, **shared, personal=SensitivityGroups(rare_values=RARE_VALUES[way])))
    for r in settings.policies:
        yield Point(POLICY, "r", r, e, HPPrivBayes(e, r=float(Fraction(r)), **shared, personal=SensitivityGroups(groups={"A": [s]}, rare_values="same_noise")))
    for degree in settings.degrees:
        yield Point("HMPrivBayes", "l", str(degree), e, HMPrivBayes(e, l=degree, **shared))
    for q in settings.q:
        yield Point("PPBA", "q", f"{q:g}", e, PPBA(e, q=q, **shared))
    for r in settings.grouped:
        two = TwoGroups(r=float(Fraction(r)), personal=SensitivityGroups(groups={"A": [s]}, rare_values="same_noise"))
        yield Point(GROUPED, "r", r, e, Synthesizer(e, structure=restricted, budget=p.Groups(two), **shared))


def measured(point: Point, repeat: int, seed: int, dataset: Dataset, real: Marginals, records: Records) -> list[dict[str, Any]]:
    """Fit once: the sensitive attribute's loss, and the mean two-way distances of the pairs without it and with it."""
    fit_seed = int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about budgets that bear little: that is what is measured
        fitted = point.synthesizer.clone().set_params(random_state=fit_seed).fit(records)
    losses = fitted.ledger_.attribute_epsilon()
    codes = fitted.model_.sample_codes(records.n, np.random.default_rng([fit_seed, 1]))
    mine = np.array([records.schema.index(str(dataset.sensitive)) in pair for pair in real.sets])
    distances = real.distances(codes)
    # the loss that a policy fixed is named; all others are read off this run
    known = "before the run" if str(dataset.sensitive) in losses.attrs["known"].split(";")[0] else "ex post"
    row = {"method": point.method, "guarantee": "strict", "lever": point.lever, "setting": point.setting, "known": known,
           "epsilon": float(point.epsilon), "repeat": repeat, "seed": fit_seed}  # fmt: skip
    found = {LOSS: losses[dataset.sensitive], REST: distances[~mine].mean(), WITH: distances[mine].mean()}
    return [{"metric": metric, **row, "value": float(value), "note": ""} for metric, value in found.items()]


def trials(key: Key, settings: Settings, run: Run) -> pd.DataFrame:
    """Every point, ``run.repeats`` times."""
    dataset = load_adult(coding="thesis") if run.data is None else run.data
    records = Records(dataset.schema.encode(dataset.frame), dataset.schema)
    real = Marginals(records.codes, dataset.schema, sets=attribute_sets(len(dataset.schema), 2))
    run.tables[dataset.name] = records.n
    run.facts |= {"sensitive": dataset.sensitive, "target": dataset.target}
    jobs = [(point, repeat, run.seed, dataset, real, records) for repeat in range(run.repeats) for point in points(settings, dataset)]
    done = sorted(run.each(measured, jobs, "frontier"), key=itemgetter(0))
    return pd.DataFrame([row for _, rows in done for row in rows])


# --- figure and verdicts --------------------------------------------------------------------------------------------------


def places(data: pd.DataFrame) -> pd.DataFrame:
    """One row a point: mean loss, both mean errors with their 95 % half-widths."""
    table = summarise(data)
    at = ["method", "lever", "setting", "known", "epsilon"]
    wide = table.pivot(index=at, columns="metric", values=["mean", "ci95"])
    order = pd.MultiIndex.from_frame(table.loc[table["metric"] == LOSS, at])
    out = wide.loc[order]
    out.columns = [f"{name} {metric}" for name, metric in out.columns]
    return out.reset_index()


def draw(key: Key, data: pd.DataFrame, settings: Settings) -> go.Figure:
    """Left: error on the rest; right: error on the pairs with the sensitive attribute; both against its loss."""
    table = places(data)
    plot = panels(2, ["error on the rest", "error on pairs with it"], shared_yaxes=True)
    for (method, lever), part in table.groupby(["method", "lever"], sort=False):
        colour, symbol = LOOKS[method]
        open_ = "" if (part["known"] == "before the run").all() else "-open"
        for column, metric in enumerate((REST, WITH), 1):
            plot.add_scatter(
                x=part[f"mean {LOSS}"], y=part[f"mean {metric}"], name=f"{method}, {lever}", legendgroup=f"{method}, {lever}",
                showlegend=column == 1, mode="lines+markers", line={"color": colour, "dash": LINES.get(lever, "solid"), "width": 1.6},
                marker={"symbol": symbol + open_, "size": 9}, customdata=[f"{lever} = {s}" for s in part["setting"]],
                error_y={"type": "data", "array": part[f"ci95 {metric}"], "thickness": 1.2, "width": 3},
                hovertemplate="%{customdata}<br>loss %{x:.3g}, error %{y:.3f}<extra>" + method + "</extra>", row=1, col=column,
            )  # fmt: skip
    ticks(plot, TICKS, "ε that the sensitive attribute loses")
    shown = [v for v in TICKS if v < 0.5] + [0.07, 0.15]
    plot.update_yaxes(type="log", tickvals=shown, ticktext=[f"{v:g}" for v in shown])
    plot.update_yaxes(title_text="mean 2-way distance", col=1)
    said = f"filled: known before the run; whole table: ε = {settings.epsilon:g}"
    return finished(plot, data, "Who gets which guarantee, and what it costs", said, 620)


def below_the_line(data: pd.DataFrame, method: str) -> tuple[str, str]:
    """Verdict and numbers: is the rest better served than by PrivBayes with so little ε for all that the loss is the same?"""
    table = places(data)
    line = table[table["method"] == BASE].sort_values(f"mean {LOSS}")
    x = np.log(line[f"mean {LOSS}"].to_numpy(dtype=float))
    gaps, at = [], []
    for row in table[table["method"] == method].to_dict("records"):
        here = np.log(row[f"mean {LOSS}"])
        error, half = (float(np.interp(here, x, line[f"{name} {REST}"])) for name in ("mean", "ci95"))
        gaps.append((error - row[f"mean {REST}"], float(np.hypot(half, row[f"ci95 {REST}"]))))
        at.append(f"{row['lever']} = {row['setting']} (loss {row[f'mean {LOSS}']:.3f})")
    return direction_verdict(gaps), spoken(gaps, at)


def extremes(data: pd.DataFrame, method: str, lever: str, settings: Sequence[str]) -> tuple[str, str]:
    """Verdict and numbers: the loss at the second setting is smaller than at the first."""
    found = [values(data, metric=LOSS, method=method, lever=lever, setting=s) for s in settings]
    gap, half = difference(*found)
    numbers = f"{lever} = {settings[0]}: {average(found[0]):.3f}; {lever} = {settings[1]}: {average(found[1]):.3f}; {gap:+.3f} ± {half:.3f}"
    return (decided(gap > half, gap < -half) if len(found[0]) else OPEN), numbers


LINE = ("PrivBayes' line over its own ε, interpolated in log loss (its last value beyond its end), minus the point, with the "
        "95 % intervals of both means: replicates if more than half of the settings lie below the line and none above")  # fmt: skip
ENDS = "Welch's 95 % interval of the difference of the losses at both ends of the lever"


def judge(key: Key, data: pd.DataFrame, settings: Settings) -> list[Verdict]:
    """What the papers promise the sensitive attribute."""
    small, large = settings.ratios[0], settings.ratios[-1]
    claims = [
        ("A smaller r protects the sensitive group more", "thesis §3.2, r = L2/L3",
         extremes(data, "HPPrivBayes", "r", (large, small)), ENDS,
         "r moves the tables' budgets alone. Whoever asks the records which attributes are sensitive asks about the sensitive one, too: "
         "sketches and selections touch it in full."),
        ("A larger q protects the tables of strongly tied attributes more", "PPBA, abstract (reconstruction)",
         extremes(data, "PPBA", "q", (f"{settings.q[0]:g}", f"{settings.q[-1]:g}")), ENDS,
         "q ranks tables by their weight, not by who is sensitive, and the sketch of all pairs touches everyone."),
    ]  # fmt: skip
    why = {
        "HPPrivBayes": "Groups that are asked for cost the sensitive attribute more than they spare it.",
        POLICY: "Groups by policy cost nothing, but the sensitive attribute is still a candidate of every selection.",
        "HMPrivBayes": "It works on bits: an attribute bears the tables of all of its bits.",
        "PPBA": "Its tree spares candidates for all alike.",
        CUSTOM: "The sensitive attribute is in one table and in no selection, whatever is drawn: its loss is ε₂/d, by policy.",
        GROUPED: "The same, and r sets the share of its one table: the guarantee is a number that is chosen before the run.",
    }
    for method, reason in why.items():
        found = below_the_line(data, method)
        claims.append((f"At the same guarantee of the sensitive attribute, {method} serves the rest better than less ε for everybody",
                       "the purpose of personalised budgets", found, LINE, reason))  # fmt: skip
    return [Verdict(claim, source, found[0], found[1], reason, rule) for claim, source, found, rule, reason in claims]


def deviations(key: Key, settings: Settings) -> tuple[str, ...]:
    """What the figure is and isn't."""
    return (
        "No paper has this figure: none of them says what one attribute loses.",
        "The loss of an attribute is the ε of replacing a record by one that differs in this attribute alone: the sum over the ledger's "
        "entries whose answer depends on it. Filled markers: public policy fixes it before the run. Open markers: it is read off the "
        "network that was drawn, so it describes a run and promises nothing.",
        "Sensitive: occupation; target of the custom networks: education. All methods are strict; k = auto.",
    )


READING = """Every method here is private, and spends ε on a whole record. The question is how much of it the sensitive attribute bears,
and what the others pay for sparing it. Only a structure that policy restricts can promise a number before the run.
"""

PAPER = Paper(
    name="frontier",
    heading="Personal guarantees: all algorithms",
    reading=READING,
    titles=TITLES,
    settings=Settings,
    repeats=20,
    seed=17,
    trials=trials,
    draw=draw,
    judge=judge,
    deviations=deviations,
)

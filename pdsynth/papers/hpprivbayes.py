"""Deng's thesis (2025), §4: HPPrivBayes against PrivBayes on Adult.

``hpprivbayes.toml`` says what is run and claimed, and decides what the thesis leaves open.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..algorithms import HPPrivBayes, PrivBayes
from ..datasets.adult import load_adult
from ..datasets.loaders import load_nltcs
from ..plots import PALETTE, figure
from . import drawing, engine, results
from .drawing import STYLE, finish, label, level, line, panels
from .engine import load
from .grids import NO_NOISE, RealData, Run
from .hpprivbayes_at_most import AtMostHPPrivBayes, AtMostPrivBayes
from .results import FAILS, Key, Result, average, decide, markdown, select, stretched, summarise
from .rules import Answer, Question, rule

METHODS = ("PrivBayes", "HPPrivBayes")
DASH = {("published", "4"): "dash", ("strict", "4"): "dot", ("strict", "auto"): "solid"}
TABLE = "Adult, thesis coding"
TABLES = {TABLE: lambda: load_adult(coding="thesis"), "NLTCS": load_nltcs}


@dataclass(frozen=True)
class Curve(engine.Curve):
    """One method with its parameters; ``r`` is empty for PrivBayes."""

    r: str = ""


def synthesizer(this: Curve, sensitive: str, settings: Any) -> Any:
    """The unfitted synthesizer of a curve; ε and the seed come from the grid."""
    if this.method == "real data":
        return RealData()
    shared, published = this.keywords | {"k": this.degree}, this.guarantee == "published"
    loose = published and settings.parents == "at most k"
    if this.method == "PrivBayes":
        reprinted = published and settings.baseline == "thesis"
        shared |= (
            {"reading": "thesis", "share_structure": 0.5}
            if reprinted
            else {"share_structure": settings.beta}
        )
        return (AtMostPrivBayes if loose else PrivBayes)(**shared)
    return (AtMostHPPrivBayes if loose else HPPrivBayes)(
        sensitive=sensitive,
        theta=settings.theta,
        r=cast(float, Fraction(this.r)),
        share_structure=settings.L1,
        **shared,
    )


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """All curves of one figure of the thesis' §4."""
    dataset = TABLES[settings.table]() if run.data is None else run.data
    options = {"test": 1 - settings.train, "utility_options": {"max_rows": settings.svm_rows}}
    return run.measure(
        *PAPER.grids(
            key,
            settings,
            dataset,
            lambda c: synthesizer(c, dataset.sensitive, settings),
            settings.epsilons,
            options=options,
        )
    )


# --- rules ----------------------------------------------------------------------------------------


@rule("spread over the roots below 1 % of the mean", tolerant=True)
def one_root(q: Question) -> Answer:
    """Whether the first node matters."""
    roots = q.values(**q.points()[0])
    words = {"count": len(roots), "least": roots.min(), "most": roots.max()}
    return decide(float(np.ptp(roots)) < stretched(0.01) * roots.mean(), True), words


@rule(
    "without noise within 1 %, and Welch's 95 % interval within 1 % at every ε (two one-sided "
    "tests); does not if farther without noise",
    tolerant=True,
)
def alike(q: Question) -> Answer:
    """Whether two methods do the same."""
    noisy, free = q.gaps(), {"guarantee": "none", "epsilon": NO_NOISE}
    ((raw, _),) = q.gaps(free)
    level = average(q.values(**q.points()[0] | free | q.side("b")))
    near = stretched(0.01) * level
    verdict = results.equivalence_verdict(noisy.found, near) if abs(raw) <= near else FAILS
    return verdict, {"raw": raw, "found": noisy}


@rule(
    "both 95 % intervals within half of the average difference at larger ε (two one-sided "
    "tests); partly if one, does not if none and one lies outside",
    tolerant=True,
)
def close_at_first(q: Question) -> Answer:
    """Whether the curves are close at the two smallest ε."""
    gaps = q.gaps().found
    sizes = [abs(gap) for gap, _ in gaps]
    small, large = max(sizes[:2]), average(np.array(sizes[2:]))
    verdict = results.equivalence_verdict(gaps[:2], stretched(large / 2))
    return verdict, {"small": small, "large": large}


@rule(
    "percentile bootstrap over repeats of the difference, smallest r minus largest: replicates "
    "if its 95 % interval lies above zero"
)
def fluctuates(q: Question) -> Answer:
    """Whether the accuracy fluctuates more over ε where r is small."""

    def measure(**change: str) -> dict[str, Any]:
        cubes = {}
        for r in q.settings.ratios:
            runs = q.curve(q["at"] | change | {"r": r, "epsilon": "$epsilons"})
            cubes[r] = np.column_stack([run[: min(map(len, runs))] for run in runs])
        return fluctuation(cubes)

    words = {"found": measure(), "strict": measure(**q["beside"]["strict"])}
    return decide(words["found"]["low"] > 0, words["found"]["high"] < 0), words


def fluctuation(cubes: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Spreads over ε of the mean accuracy, from (repeats, ε) of each r.

    ``gap``: smallest r minus largest; ``low``, ``high``: its 95 % interval.
    """
    fewest = min(map(len, cubes.values()))
    if not fewest:
        return {"spreads": "every run is a gap", "gap": np.nan, "low": -np.inf, "high": np.inf}
    spreads = {r: float(cube.mean(axis=0).std()) for r, cube in cubes.items()}
    first, *_, last = spreads
    both = np.stack([cubes[first][:fewest], cubes[last][:fewest]], axis=1)  # (repeats, 2, ε)

    def gap(sample: np.ndarray) -> float:
        a, b = sample.mean(axis=0).std(axis=1)
        return float(a - b)

    said = ", ".join(f"r = {r}: {s:.4f}" for r, s in spreads.items())
    low, high = results.bootstrap(both, gap)
    return {"spreads": said, "gap": spreads[first] - spreads[last], "low": low, "high": high}


# --- figures: 95 % confidence intervals of the mean -----------------------------------------------


def add_curves(
    plot: go.Figure, data: pd.DataFrame, metric: str, settings: Any, **place: Any
) -> None:
    """All curves against ε of figures 4 and 5, and the lines without privacy."""
    summary, legend, k = summarise(data), place.pop("legend", True), settings.k
    for guarantee, degree in (("published", k), ("strict", k), ("strict", "auto")):
        for method in METHODS:
            at = {"method": method, "guarantee": guarantee, "k": degree}
            colour, symbol = STYLE[method]
            symbol += "-open" if (guarantee, degree) == ("strict", k) else ""
            dash = DASH.get((guarantee, degree), "dash")
            points = select(summary, metric=metric, **at)
            line(plot, points, "epsilon", label(**at), colour, dash, symbol, legend, **place)
    span = (min(settings.epsilons), max(settings.epsilons))
    for method, dash in zip(METHODS, ("longdash", "dot"), strict=True):
        part = select(summary, metric=metric, method=method, guarantee="none", k=k)
        level(plot, part, span, label(method, "none"), PALETTE["none"], dash, legend, **place)


def sums(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 3: sum of mutual information against k."""
    summary = summarise(data).assign(degree=lambda f: f["k"].astype(int))
    ends = max(settings.epsilons), min(settings.epsilons)
    plot = panels(3, ["no noise", *(f"ε = {e:g}" for e in ends)], shared_yaxes=True)
    words = {"none": "no noise", "published": "as published", "strict": "strict"}
    for column, epsilon in enumerate((NO_NOISE, *ends), 1):
        for guarantee in ("none",) if epsilon == NO_NOISE else ("published", "strict"):
            for method in METHODS:
                colour, symbol = STYLE[method]
                points = select(summary, epsilon=epsilon, guarantee=guarantee, method=method)
                line(
                    plot,
                    points,
                    "degree",
                    f"{method}, {words[guarantee]}",
                    colour,
                    drawing.DASH[guarantee],
                    symbol,
                    column < 3,
                    row=1,
                    col=column,
                )
    plot.update_xaxes(title_text="k (parents)", tickvals=[int(k) for k in settings.degrees])
    plot.update_yaxes(title_text="sum of mutual information, bit", col=1)
    return finish(plot, data, "Quality of the networks", TABLE, 460)


def accuracies(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 4: SVM accuracy against ε."""
    summary, plot = summarise(data), figure(x="ε", y="accuracy")
    add_curves(plot, data, "accuracy", settings)
    span = (min(settings.epsilons), max(settings.epsilons))
    for method, dash in drawing.FLAT.items():
        part = select(summary, metric="accuracy", method=method)
        level(plot, part, span, method, PALETTE["real"], dash)
    return finish(plot, data, "SVM trained on synthetic rows, tested on real ones", TABLE, 560)


def distances(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 5: 2-way and 3-way average variation distance against ε."""
    plot = panels(2, ["2-way", "3-way"])
    for column, metric in enumerate(("2-way distance", "3-way distance"), 1):
        add_curves(plot, data, metric, settings, row=1, col=column, legend=column == 1)
    plot.update_xaxes(title_text="ε")
    plot.update_yaxes(rangemode="tozero")
    plot.update_yaxes(title_text="average variation distance", col=1)
    return finish(plot, data, "How far the synthetic table is from the real one", TABLE, 560)


def ratios(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Figure 6: SVM accuracy against ε, one curve per ratio r."""
    summary, k = summarise(data), settings.k
    colours = ("#D55E00", "#E69F00", "#009E73", "#0072B2", "#767676")
    symbols = ("circle", "square", "diamond", "triangle-up", "cross")
    kinds = {
        ("published", k): f"as published, not private (k={k})",
        ("strict", "auto"): "strict (k=auto)",
    }
    kinds = {at: title for at, title in kinds.items() if (data["guarantee"] == at[0]).any()}
    plot = panels(len(kinds), list(kinds.values()), shared_yaxes=True)
    for column, (guarantee, degree) in enumerate(kinds, 1):
        for i, r in enumerate(settings.ratios):
            points = select(
                summary, metric="accuracy", method="HPPrivBayes", guarantee=guarantee, k=degree, r=r
            )
            line(
                plot,
                points,
                "epsilon",
                f"r = {r}",
                colours[i % 5],
                symbol=symbols[i % 5],
                legend=column == 1,
                row=1,
                col=column,
            )
    plot.update_xaxes(title_text="ε")
    plot.update_yaxes(title_text="accuracy", col=1)
    return finish(plot, data, "HPPrivBayes: budget of group A over group B, r = L2/L3", TABLE, 460)


def appendix(key: Key, result: Result) -> str:
    """2-way distance of the trials of figure 5 for every k, as a table."""
    if key != 5:
        return ""
    points = select(result.summary(), metric="2-way distance")
    points = points[points["guarantee"] != "none"]
    epsilons, rows = sorted(points["epsilon"].unique()), []
    for (guarantee, k, method), part in points.groupby(["guarantee", "k", "method"], sort=True):
        at = part.set_index("epsilon")
        values = [f"{at.loc[e, 'mean']:.3f} ± {at.loc[e, 'ci95']:.3f}" for e in epsilons]
        word = "as published" if guarantee == "published" else guarantee
        rows.append([f"{method}, {word}", k, *values])
    table = markdown(["method", "k", *(f"ε = {e:g}" for e in epsilons)], rows)
    return (
        "\nThe 2-way distance by k (mean ± 95 % half-width): what k = 4 does to the comparison."
        f"\n\n{table}"
    )


PAPER = load(
    "hpprivbayes",
    trials,
    curve=Curve,
    appendix=appendix,
    draw={3: sums, 4: accuracies, 5: distances, 6: ratios},
)

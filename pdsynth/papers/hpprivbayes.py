"""Deng's thesis (2025), §4: HPPrivBayes against PrivBayes on Adult.

``hpprivbayes.toml`` says what is run and claimed, and decides what the thesis leaves open.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..algorithms import HPPrivBayes, PrivBayes
from ..core import Records, as_fraction
from ..datasets.adult import load_adult
from ..datasets.loaders import load_nltcs
from ..plots import PALETTE, figure
from ..published.budgets import printed_group_a, printed_scales, printed_weights
from . import drawing, engine, hpprivbayes_theta, results
from .drawing import STYLE, finish, label, level, line, panels
from .engine import load
from .grids import NO_NOISE, RealData, Run
from .results import FAILS, Key, Result, average, decide, markdown, select, stretched, summarise
from .rules import Answer, Question, rule

METHODS = ("PrivBayes", "HPPrivBayes")
DASH = {("published", "4"): "dash", ("strict", "4"): "dot", ("strict", "auto"): "solid"}
TABLE = "Adult, thesis coding"
TABLES = {TABLE: lambda: load_adult(coding="thesis"), "NLTCS": load_nltcs}


@dataclass(frozen=True)
class Curve(engine.Curve):
    """One method with its parameters; ``r`` and ``theta`` are empty for PrivBayes."""

    r: str = ""
    theta: str = ""


def synthesizer(this: Curve, sensitive: str, settings: Any) -> Any:
    """The unfitted synthesizer of a curve; ε and the seed come from the grid."""
    if this.method == "real data":
        return RealData()
    shared, published = this.keywords | {"k": this.degree}, this.guarantee == "published"
    if published and settings.parents == "at most k":
        shared |= {"reading": "at most k"}
    if this.method == "PrivBayes":
        if published and settings.baseline == "thesis":
            return PrivBayes(**shared | {"reading": "thesis", "share_structure": 0.5})
        return PrivBayes(share_structure=settings.beta, **shared)
    return HPPrivBayes(
        sensitive=sensitive,
        theta=float(this.theta),
        r=cast(float, Fraction(this.r)),
        share_structure=settings.L1,
        **shared,
    )


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """All curves of one figure of the thesis' §4."""
    dataset = TABLES[settings.table]() if run.data is None else run.data
    dataset = replace(dataset, sensitive=settings.sensitive or dataset.sensitive)
    if key in ("table 1", 7):
        run.tables[dataset.name] = len(dataset.frame)
        compute = hpprivbayes_theta.trials if key == 7 else compare_noise
        return compute(dataset, settings)
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


def compare_noise(dataset: Any, settings: Any) -> pd.DataFrame:
    """Table 1: the printed noise scales of both groups at ε = 1, for each r and k. Exact."""
    schema = dataset.schema
    records = Records(schema.encode(dataset.frame), schema)
    s, d = schema.index(dataset.sensitive), len(schema)
    tied = records.pairwise("I")[s] >= settings.theta
    b = [j for j in range(d) if j != s and not tied[j]]
    counts = {j: records.table((j,)) for j in b}
    tables, rows = 1 - as_fraction(settings.L1), []
    for k in settings.degrees:
        if d - int(k) - len(b) <= 0:
            continue
        for r in settings.ratios:
            ratio = Fraction(r)
            in_a = printed_group_a(d, int(k), len(b), tables * ratio / (1 + ratio))
            scales = {
                j: printed_scales(printed_weights(c, "less_noise"), len(b), tables / (1 + ratio))
                for j, c in counts.items()
            }
            larger = {j: [x > in_a for x in scales[j]] for j in b}
            entries = sum(int(counts[j][larger[j]].sum()) for j in b)
            values = {
                "entries of B with more noise than A": entries / (records.n * len(b)),
                "values of B with more noise than A": np.mean(
                    np.concatenate(list(larger.values()))
                ),
                "noise scale of A": float(in_a),
                "median noise scale of B": float(
                    np.median([float(x) for j in b for x in scales[j]])
                ),
            }
            at = {"method": "HPPrivBayes", "guarantee": "published", "k": k, "r": r}
            rest = {"epsilon": 1.0, "repeat": 0, "seed": 0, "note": ""}
            rows += [{"metric": m, **at, **rest, "value": float(v)} for m, v in values.items()]
    return pd.DataFrame(rows)


# --- rules ----------------------------------------------------------------------------------------


@rule(
    "exact: replicates if at every r fewer than half of the entries of B have more noise than A's; "
    "does not if more than half have at every r",
    tested=False,
)
def noisier(q: Question) -> Answer:
    """Whether group B has less noise than group A."""
    data = select(q.data, metric="entries of B with more noise than A")
    numbers = [
        f"k = {k}: "
        + ", ".join(f"r = {r} {v:.1%}" for r, v in zip(at["r"], at["value"], strict=True))
        for k, at in data.groupby("k")
    ]
    low, high = data["value"].min(), data["value"].max()
    words = {"found": "; ".join(numbers), "size": f"{low:.0%} … {high:.0%} of the entries"}
    return decide(high < 0.5, low > 0.5, True), words


@rule("spread over the roots below 1 % of the mean", tolerant=True, tested=False)
def one_root(q: Question) -> Answer:
    """Whether the first node matters."""
    roots = q.values(**q.points()[0])
    words = {"count": len(roots), "least": roots.min(), "most": roots.max()}
    words["size"] = f"{np.ptp(roots) / roots.mean():.1%} between the roots"
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
    words = {"small": small, "large": large, "size": q.size(q.pairs()[:2])}
    return verdict, words


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

    words: dict[str, Any] = {"found": measure(), "strict": measure(**q["beside"]["strict"])}
    words["size"] = f"{words['found']['gap']:+.4f} of spread"
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

    numbers = ", ".join(f"r = {r}: {s:.4f}" for r, s in spreads.items())
    low, high = results.bootstrap(both, gap)
    return {"spreads": numbers, "gap": spreads[first] - spreads[last], "low": low, "high": high}


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


def noises(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Table 1: the noise scale of A, and the median one of B's values, against r."""
    degrees = list(dict.fromkeys(data["k"]))
    plot = panels(len(degrees), [f"k = {k}" for k in degrees], shared_yaxes=True)
    looks = {
        "noise scale of A": ("#D55E00", "circle"),
        "median noise scale of B": ("#0072B2", "square"),
    }
    for column, k in enumerate(degrees, 1):
        for metric, (colour, symbol) in looks.items():
            points = select(data, metric=metric, k=k)
            plot.add_scatter(
                x=points["r"],
                y=points["value"],
                name=metric,
                legendgroup=metric,
                showlegend=column == 1,
                mode="lines+markers",
                line={"color": colour},
                marker={"symbol": symbol, "size": 9},
                row=1,
                col=column,
            )
    plot.update_xaxes(title_text="r", type="category")
    plot.update_yaxes(rangemode="tozero")
    plot.update_yaxes(title_text="noise scale, records", col=1)
    return finish(plot, data, "Who has more noise, as printed (ε = 1)", TABLE, 420)


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
    draw={
        "table 1": noises,
        3: sums,
        4: accuracies,
        5: distances,
        6: ratios,
        7: hpprivbayes_theta.draw,
    },
)

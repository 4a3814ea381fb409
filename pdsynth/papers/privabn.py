"""PrivABN's §6: its errors on NLTCS, ACS and Retail, and Table 2, which is arithmetic."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..algorithms import PrivABN, PrivBayes
from ..baselines import METHODS
from ..datasets.loaders import load_acs, load_nltcs, load_retail
from ..datasets.tables import Dataset
from ..plots import figure
from ..published.privabn import ParentChoice
from . import (
    arithmetic,  # noqa: F401 - its rules
    results,
)
from .engine import load
from .grids import NO_NOISE, Curve, Run
from .results import Key, average, bootstrap, decide, difference, distinct, stretched
from .rules import Answer, Gaps, Question, rule, say_ratios


def synthesizer(this: Curve, settings: Any) -> Any:
    """The unfitted synthesizer of a curve; ε and the seed come from the grid."""
    if this.method == "PrivBayes":
        return PrivBayes(k=this.degree, **this.keywords)
    if this.method != "PrivABN":
        return METHODS[this.method](**this.keywords)
    if this.guarantee != "published":
        return PrivABN(**this.keywords)
    return PrivABN(reading=settings.reading, **this.keywords)


def errors(key: Key, settings: Any, run: Run, name: str, dataset: Dataset) -> pd.DataFrame:
    """L1 and L2 errors of all curves on one table, α as a column, with NoPrivABN."""
    retail = key == 3
    alphas = settings.retail_alphas if retail else settings.alphas[: 1 if key == 2 else None]
    epsilons = {1: settings.epsilons, 2: settings.fine, 3: settings.retail_epsilons}[int(key)]
    measures = {
        f"l{p}_{a}_{settings.queries}": f"L{p} {a}"
        for p in (1, 2)
        for a in alphas
        if a <= len(dataset.schema)
    }
    grids = PAPER.grids(
        key,
        settings,
        dataset,
        lambda c: synthesizer(c, settings),
        epsilons,
        measures=measures,
        labels={"dataset": name},
    )
    fewer = settings.retail_repeats if retail else 0
    frame = run.measure(*grids, repeats=min(run.repeats, fewer or run.repeats))
    both = frame["metric"].str.split(" ", expand=True)
    frame["metric"] = both[0]
    frame.insert(2, "alpha", both[1])
    return frame


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """The experiment behind one figure or table."""
    if key == "table 2":
        return enumerate_pairs(settings)
    tables: dict[str, Callable[[], Dataset]] = {"NLTCS": load_nltcs, "ACS": load_acs}
    if key == 3:
        tables = {"Retail": lambda: load_retail(settings.items)}
    parts = [errors(key, settings, run, name, table) for name, table in run.load(tables).items()]
    return pd.concat(parts, ignore_index=True)


def enumerate_pairs(settings: Any) -> pd.DataFrame:
    """Table 2, counted: pairs of GreedyBayes at each k, and those that ABN really offers."""
    m = settings.attributes
    pairs = {("GreedyBayes", str(k)): float(math.comb(m + 1, k + 2)) for k in settings.degrees}
    choice, offered = ParentChoice(range(1, m)), 0
    for f in range(1, m):  # the placed attributes are numbered in their order; every score is 0
        choice.offer(f - 1, np.zeros((m - f, f), dtype=np.int64))
        offered += len(choice.candidates()[1])
        choice.drop(f)
    pairs["ABN", ""] = float(offered)
    rest = {"epsilon": NO_NOISE, "repeat": 0, "seed": 0}
    return pd.DataFrame(
        [
            {
                "metric": "pairs",
                "method": method,
                "guarantee": "none",
                "k": k,
                **rest,
                "value": value,
                "note": "",
            }
            for (method, k), value in pairs.items()
        ]
    )


# --- Table 2 as a picture -------------------------------------------------------------------------


def say_large(number: float) -> str:
    """A number of pairs as the paper prints it: 1.158 × 10⁸."""
    if number < 1e6:
        return f"{number:,.0f}"
    digits, power = f"{number:.3e}".split("e")
    raised = str(int(power)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{digits} × 10{raised}"


def say_time(seconds: float) -> str:
    """A time in the largest unit that it fills."""
    for size, unit in ((365 * 86_400, "years"), (86_400, "days"), (3_600, "hours")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} seconds"


def pairs(key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """Table 2: pairs and the time they take at the paper's speed."""
    names = [f"{row.method}{f', k = {row.k}' if row.k else ''}" for row in data.itertuples()]
    times = [say_time(s) for s in data["value"] / settings.speed]
    cells = [names, [say_large(v) for v in data["value"]], times]
    shared = {"align": ["left", "right", "right"], "height": 28}
    head = ["", "pairs", f"at {settings.speed:,} a second"]
    title = f"Pairs enumerated for m = {settings.attributes} attributes"
    plot = figure(title=title, height=90 + 30 * (len(names) + 1))
    plot.add_table(
        header={"values": head, "fill_color": "rgba(128,128,128,.15)", **shared},
        cells={"values": cells, "fill_color": "rgba(0,0,0,0)", **shared},
    )
    return plot.update_layout(margin={"l": 16, "r": 16, "t": 56, "b": 8})


# --- rules ----------------------------------------------------------------------------------------


def published(q: Question) -> dict[str, dict[str, list[np.ndarray]]]:
    """L2 errors of published PrivABN at every ε, by table and α."""
    at = {"metric": "L2", "method": "PrivABN", "guarantee": "published", "epsilon": "$epsilons"}
    return {
        t: {a: q.curve(at | {"dataset": t, "alpha": a}) for a in distinct(q.data, "alpha")}
        for t in distinct(q.data, "dataset")
    }


@rule("Spearman's ρ at most −0.8 in every panel; does not if above 0 in any", tested=False)
def falls_everywhere(q: Question) -> Answer:
    """Whether the error falls with ε on every table, for every α."""
    rho = {
        f"{t} α = {a}": results.correlation(q.settings.epsilons, list(map(average, runs)))
        for t, by in published(q).items()
        for a, runs in by.items()
    }
    verdict = decide(all(r <= -0.8 for r in rho.values()), any(r >= 0 for r in rho.values()))
    ends = {
        f"{t}, α = {a}": (average(runs[0]), average(runs[-1]))
        for t, by in published(q).items()
        for a, runs in by.items()
    }
    numbers = ", ".join(f"{n} {r:+.2f}" for n, r in rho.items())
    return verdict, {"found": numbers, "size": results.say_move(ends, -1)}


@rule(
    "largest over smallest mean L2 among the α, at the worst ε: its bootstrap 95 % interval ends "
    "at or below 2 on every table, partly on some; does not if it begins above on every table",
    tolerant=True,
)
def hardly_differs(q: Question) -> Answer:
    """Whether errors of different α are alike."""
    ratios = {}
    for table, by in published(q).items():
        fewest = min(len(runs) for cube in by.values() for runs in cube)
        runs = np.array([[r[:fewest] for r in cube] for cube in by.values()])  # (α, ε, repeats)
        shape = runs.shape[:2]

        def worst(sample: np.ndarray, shape: tuple[int, ...] = shape) -> float:
            means = sample.mean(axis=0).reshape(shape)
            return float((means.max(axis=0) / means.min(axis=0)).max())

        cube = runs.reshape(-1, fewest).T  # the α of one repeat share one fit: resampled together
        ratios[table] = (worst(cube), *bootstrap(cube, worst, 1000))
    most = 1 + stretched(1)
    alike = [high <= most for _, _, high in ratios.values()]
    apart = [low > most for _, low, _ in ratios.values()]
    numbers = (f"{t} {r:.2f} (95 % {low:.2f} … {high:.2f})" for t, (r, low, high) in ratios.items())
    most_apart = max(ratio for ratio, *_ in ratios.values())
    words = {"found": ", ".join(numbers), "size": f"up to {most_apart:.1f} × between α"}
    return decide(all(alike), all(apart), any(alike)), words


def first_below(means: Sequence[float], grid: Sequence[float], bar: float) -> float:
    """The smallest ε of the grid from which on every mean lies below the bar; ∞ if there is none.

    >>> first_below([0.02, 0.009, 0.011, 0.008], [0.1, 0.2, 0.3, 0.4], 0.01)
    0.4
    """
    above = [e for e, mean in zip(grid, means, strict=True) if mean >= bar]
    later = [e for e in grid if not above or e > above[-1]]
    return later[0] if later else math.inf


def say_first(runs: Sequence[np.ndarray], grid: Sequence[float], bar: float) -> str:
    """From which ε on the mean stays below the bar, with a bootstrap interval over repeats."""
    means = [average(run) for run in runs]
    if not all(map(math.isfinite, means)):
        return "not run"
    steps, fewest = [*grid, math.inf], min(map(len, runs))
    cube = np.column_stack([run[:fewest] for run in runs])

    def step(sample: np.ndarray) -> float:
        return float(steps.index(first_below(sample.mean(axis=0), grid, bar)))

    ends = [steps[round(at)] for at in (step(cube), *bootstrap(cube, step, 1000))]
    texts = [f"{e:g}" if math.isfinite(e) else "never" for e in ends]
    return f"{texts[0]} (95 % {texts[1]} … {texts[2]}, {fewest} runs)"


@rule(
    "the 95 % interval of the mean lies below {bar:g} at this ε and every larger one; does not "
    "if above at any; partly if the mean itself is below at all"
)
def stays_below(q: Question) -> Answer:
    """Whether the error is below the bar from some ε on."""
    grid, start = q.settings.fine, q["from"].get(q["at"]["dataset"], q.settings.fine[0])
    bar = q["bar"] * (2 ** (q.settings.alphas[0] / 2) if q.settings.per_cell else 1)
    runs = {
        g: q.curve(q["at"] | {"guarantee": g, "epsilon": "$fine"}) for g in ("published", "strict")
    }
    gaps = [difference(run, np.full(2, bar)) for run in runs["published"]]
    from_start = [gap for e, gap in zip(grid, gaps, strict=True) if e >= start]
    verdict = decide(
        all(g + h < 0 for g, h in from_start),
        any(g > h for g, h in from_start),
        all(g < 0 for g, _ in from_start),
    )
    words = {g: say_first(curve, grid, bar) for g, curve in runs.items()}
    first, last = runs["published"][grid.index(start)], runs["strict"][-1]
    free = average(q.values(**q["at"], guarantee="none"))
    return verdict, words | {
        "start": start,
        "there": start,
        "mean": average(first),
        "last": average(last),
        "free": free,
        "size": f"{average(first) / bar:.2f} × the bar at ε = {start:g}",
    }


@rule(
    "Welch's 95 % interval of the difference of both ranges over α at each ε and rival: replicates "
    "if more than half favour the claim and none is against it, partly if more favour it than are "
    "against it; does not if as many or more are against it, or more than half where none favours "
    "it"
)
def steadier(q: Question) -> Answer:
    """Whether the error changes least with α."""

    def ranges(**at: Any) -> np.ndarray:
        runs = q.curve(at | {"alpha": "$retail_alphas"})  # the α of one repeat share one fit
        return np.ptp(np.array([run[: min(map(len, runs))] for run in runs]), axis=0)

    points, rival = q.points(), q.side("b")
    both = [(ranges(**p), ranges(**(p | rival))) for p in points]
    gaps = [difference(*pair) for pair in both]
    names = [f"{p['method']} ε = {p['epsilon']:g}" for p in points]
    means = [tuple(map(average, pair)) for pair in both]
    ratios = [(p["epsilon"], a / b) for p, (a, b) in zip(points, means, strict=True) if b]
    size = f"range {say_ratios(ratios, rival['method'])}"
    return results.direction_verdict(gaps), {"found": Gaps(gaps, names), "size": size}


@rule("within 1 % of every number printed for m = 50", tolerant=True, tested=False)
def as_printed(q: Question) -> Answer:
    """Whether the pairs that were counted are those that the paper prints."""
    counts = {k: v for k, v in zip(q.data["k"], q.data["value"], strict=True) if k}
    right = [
        abs(counts[k] / printed - 1) < stretched(0.01)
        for k, printed in q["printed"].items()
        if k in counts and q.settings.attributes == 50
    ]
    numbers = ", ".join(f"k = {k}: {say_large(v)}" for k, v in counts.items())
    size = f"{sum(right)} of {len(right)} numbers"
    return decide(bool(right) and all(right), not all(right)), {"found": numbers, "size": size}


@rule("equal to the number counted; does not if more are offered", tested=False)
def equals(q: Question) -> Answer:
    """Whether ABN offers as many pairs as the paper says."""
    offered, printed = float(q.values(method="ABN")[0]), q["printed"]
    words = {
        "offered": offered,
        "square": q.settings.attributes**2,
        "seconds": offered / q.settings.speed,
        "size": f"{offered / printed:.0f} ×",
    }
    return decide(offered == printed, offered > printed), words


def words(key: Key, settings: Any, data: Any) -> dict[str, float]:
    """The ε of figure 1 that is nearest to the one of the claim."""
    return {"near_epsilon": min(settings.epsilons, key=lambda e: abs(e - 0.05))}


PAPER = load("privabn", trials, words=words, draw={"table 2": pairs})

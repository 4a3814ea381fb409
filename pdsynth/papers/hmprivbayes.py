"""HMPrivBayes' §4: against PrivSCBN, PrivBayes and JTree on Adult and Big5.

The paper's text has no table of results, and of its axes only the ticks can be read; what it leaves
open is decided in ``hmprivbayes.toml``.
"""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from .. import baselines
from ..algorithms import HMPrivBayes, PrivBayes
from ..core import BinaryEncoding, Schema, needed_for
from ..datasets.adult import load_adult
from ..datasets.loaders import load_big5, load_cmc
from ..datasets.tables import Dataset
from ..evaluation.disclosure import padded
from .engine import load
from .grids import Curve, Grid, RealData, Run
from .results import Difference, Key, average, count_signs, decide, distinct
from .rules import ONE_TIME, Answer, Question, rule, times_apart
from .selectors import fill

ADULT, BIG5, CMC = "Adult", "Big5", "CMC"
TABLES = {ADULT: lambda: load_adult(complete=True), BIG5: load_big5, CMC: load_cmc}
YOUNG = "51"  # Big5's age has 16 bins; the edge nearest to 50 lies between 51 and 52


@dataclass(eq=False, repr=False, kw_only=True)
class SpectralHMPrivBayes(HMPrivBayes):
    """HMPrivBayes with a k₁ of its own, which the paper leaves open; ``dimensions`` None: k.

    **Privacy:** as HMPrivBayes.
    """

    dimensions: int | None = None  # type: ignore[misc]


def synthesizer(this: Curve, settings: Any) -> Any:
    """The unfitted synthesizer of a curve; ε and the seed come from the grid."""
    if this.method == "real data":
        return RealData()
    bits = settings.coding == "bits" and this.guarantee == "published"
    reading: dict[str, Any] = {"reading": "bits"} if bits else {}
    if this.method == "PrivBayes":
        return PrivBayes(k=settings.degree if bits else this.degree, **reading, **this.keywords)
    if this.method == "JTree":
        return baselines.JTree(**reading, **this.keywords)
    shared = this.keywords | {"k": settings.clusters, "l": this.degree}
    if this.method == "PrivSCBN":
        return baselines.PrivSCBN(**shared)
    if this.guarantee == "strict":
        return HMPrivBayes(**shared)
    open_ = {"eta": settings.eta, "sigma": settings.sigma}  # not printed
    if settings.dimensions:
        return SpectralHMPrivBayes(
            affinity=settings.affinity, dimensions=settings.dimensions, **open_, **shared
        )
    return HMPrivBayes(affinity=settings.affinity, **open_, **shared)


# --- the tables -----------------------------------------------------------------------------------


def tables(run: Run, names: Sequence[str] = (ADULT, BIG5)) -> dict[str, Dataset]:
    """Adult (complete rows, salary), Big5 (age) and CMC, as named; the user's own table."""
    return run.load({name: TABLES[name] for name in names})


def positive(dataset: Dataset) -> list[str] | None:
    """The values of the target that make the positive class; Big5's age: the bins up to 51."""
    if dataset.name != "big5":
        return None
    labels = list(dataset.schema["age"].labels)
    return labels[: [label.rpartition("–")[2] for label in labels].index(YOUNG) + 1]


def padded_to(dataset: Dataset, rows: int) -> Dataset:
    """A random part of a table, or all of it and random rows up to ``rows``."""
    codes = padded(dataset.frame, dataset.schema, rows, PAPER.seed)
    name = f"{dataset.name}, {rows:,} rows"
    return replace(dataset, frame=dataset.schema.decode(codes), name=name, split=None)


def bits_of(dataset: Dataset) -> Dataset:
    """The binary encoding of a table, as a table.

    PrivBayes would have to run on it to do as HMPrivBayes does.
    """
    encoding = BinaryEncoding(dataset.schema)
    schema: Schema = encoding.schema
    frame = schema.decode(encoding.encode(dataset.schema.encode(dataset.frame)))
    name = f"{dataset.name}, {len(schema)} bits"
    return replace(
        dataset, frame=frame, schema=schema, target=schema.names[-1], name=name, split=None
    )


# --- the experiments ------------------------------------------------------------------------------


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """The experiment behind one figure."""
    return {4: leaks, 5: distances, 6: times}[int(key)](settings, run)


def measures(key: Key, settings: Any) -> dict[str, str]:
    """Measures of a figure; some say how many sets or records they look at."""
    pairs = PAPER.experiments[key]["measures"].items()
    if key == 5 and settings.tested == "synthetic":
        pairs = [(f"{m}_self" if m == "svm" else m, name) for m, name in pairs]
    return {fill(measure, vars(settings)): name for measure, name in pairs}


def leaks(settings: Any, run: Run) -> pd.DataFrame:
    """Figure 4, leak against n at one ε: the first table, padded with random rows."""
    (dataset,) = tables(run, [ADULT]).values()
    synthesizers = {c: synthesizer(c, settings) for c in PAPER.curves(4, settings)}
    grids = [
        Grid(
            padded_to(dataset, rows),
            synthesizers,
            measures(4, settings),
            (settings.epsilon,),
            {"rows": str(rows)},
            {"test": 0.5},
        )
        for rows in settings.sizes
    ]
    return run.measure(*grids)


def distances(settings: Any, run: Run) -> pd.DataFrame:
    """Figure 5: distances on the original attributes, and errors on held-out real rows."""
    parts = []
    for name, dataset in tables(run, [settings.table] if settings.table else (ADULT, BIG5)).items():
        if settings.measured == "bits":
            dataset = bits_of(dataset)
        svm = {"max_rows": settings.svm_rows, "positive": positive(dataset)}
        grids = PAPER.grids(
            5,
            settings,
            dataset,
            lambda c: synthesizer(c, settings),
            settings.epsilons,
            measures=measures(5, settings),
            labels={"dataset": name},
            options={"test": 1 - settings.train, "utility_options": svm},
        )
        parts.append(run.measure(*grids))
    out = pd.concat(parts, ignore_index=True)
    # real rows are at distance 0 from themselves
    return out[(out["method"] != "real data") | (out["metric"] == "misclassification")]


def times(settings: Any, run: Run) -> pd.DataFrame:
    """Figure 6, processor seconds: HMPrivBayes on a table, PrivBayes on its bits."""
    with needed_for("HMPrivBayes"):
        import sklearn.cluster  # noqa: F401 - or the first fit would be charged for it
    grids = []
    for (name, dataset), most in zip(tables(run).items(), settings.baseline_degrees, strict=False):
        for table, method in ((dataset, "HMPrivBayes"), (bits_of(dataset), "PrivBayes")):
            synthesizers = {
                c: synthesizer(c, settings)
                for c in PAPER.curves(6, settings, method=method)
                if method == "HMPrivBayes" or int(c.k) <= most
            }
            grids.append(
                Grid(
                    table,
                    synthesizers,
                    measures(6, settings),
                    (settings.epsilon,),
                    {"dataset": name},
                )
            )
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    run.facts["machine"] = machine
    return run.measure(*grids, repeats=min(run.repeats, settings.timed_repeats))


# --- rules ----------------------------------------------------------------------------------------


@rule(
    "in every panel: significantly better at ε = {epsilons_first:g}, and at {epsilons_last:g} "
    "less than half the difference; does not if so in less than half of the panels"
)
def approaches(q: Question) -> Answer:
    """Whether a is above b at small ε and close to it at large ε."""
    nearer, numbers = [], []
    for panel in q.points({n: q["at"][n] for n in ("metric", "dataset")}):
        ends = [
            q.gaps(panel | {"epsilon": f"$epsilons.{end}", "point": "{epsilon:g}"})
            for end in ("first", "last")
        ]
        (low, half), (high, _) = (gap for gaps in ends for gap in gaps)
        nearer.append(low > half and abs(high) < low / 2)
        numbers.append(f"{panel['dataset']}, {panel['metric']}: {'; '.join(map(str, ends))}")
    verdict = decide(all(nearer), sum(nearer) * 2 < len(nearer), True)
    return verdict, {"found": ". ".join(numbers)}


def seconds(q: Question, method: str) -> dict[str, dict[int, np.ndarray]]:
    """Seconds of published fits, by table and in-degree."""
    runs = {
        table: {
            k: q.values(method=method, guarantee="published", dataset=table, k=str(k))
            for k in q.settings.degrees
        }
        for table in distinct(q.data, "dataset")
    }
    return {t: {k: v for k, v in at.items() if len(v)} for t, at in runs.items()}


def ratios(q: Question) -> tuple[dict[str, dict[int, Difference]], str]:
    """How many times longer PrivBayes takes than HMPrivBayes, as logs, and in words."""
    ours, theirs = (seconds(q, method) for method in ("HMPrivBayes", "PrivBayes"))
    logs = {
        t: {k: times_apart(theirs[t][k], ours[t][k]) for k in theirs[t] if k in ours[t]}
        for t in ours
    }
    numbers = (
        f"{t}: " + ", ".join(f"l = {k}: {np.exp(r):.1f}×" for k, (r, _) in at.items())
        for t, at in logs.items()
    )
    return logs, "; ".join(numbers)


@rule(
    f"of every curve the last time exceeds the first and no step falls, partly of some; does not "
    f"if of none and one falls; {ONE_TIME}",
    tolerant=True,
)
def time_rises(q: Question) -> Answer:
    """Whether fits take longer as the in-degree grows."""
    curves = {
        f"{m} on {t}": list(at.values())
        for m in ("HMPrivBayes", "PrivBayes")
        for t, at in seconds(q, m).items()
        if len(at) > 1
    }
    falls = {
        name: any(g < -h for g, h in map(times_apart, runs[1:], runs))
        for name, runs in curves.items()
    }
    ends = {name: times_apart(runs[-1], runs[0]) for name, runs in curves.items()}
    rises = [gap > half and not falls[name] for name, (gap, half) in ends.items()]
    numbers = (
        f"{name}: {', '.join(f'{average(v):.2f}' for v in runs)} s" for name, runs in curves.items()
    )
    verdict = decide(bool(rises) and all(rises), not any(rises) and any(falls.values()), any(rises))
    grown = [float(np.exp(gap)) for gap, _ in ends.values()] or [float("nan")]
    size = f"{np.median(grown):.1f} × from the smallest l to the largest"
    size += f" ({min(grown):.1f} … {max(grown):.1f})" * (len(grown) > 1)
    return verdict, {"found": "; ".join(numbers), "size": size}


@rule(
    f"more than 2 times longer wherever both ran, partly somewhere; does not if less everywhere; "
    f"{ONE_TIME}",
    tolerant=True,
)
def faster(q: Question) -> Answer:
    """Whether PrivBayes takes far longer."""
    logs, numbers = ratios(q)
    every = [(gap - np.log(2), half) for at in logs.values() for gap, half in at.values()]
    far, near = count_signs(every)
    times = sorted(float(np.exp(gap)) * 2 for gap, _ in every) or [float("nan")]
    size = f"{np.median(times):.1f} × HMPrivBayes ({times[0]:.1f} … {times[-1]:.1f})"
    verdict = decide(0 < far == len(every), 0 < near == len(every), far > 0)
    return verdict, {"found": numbers, "size": size}


@rule(
    f"the ratio is larger on the table of more bits at every in-degree that ran on both, partly "
    f"at some; does not if smaller at every one; {ONE_TIME}",
    tolerant=True,
)
def gap_widens(q: Question) -> Answer:
    """Whether PrivBayes falls behind further on the wider table."""
    logs, numbers = ratios(q)
    small, *_, large = logs.values() if len(logs) > 1 else ({}, {})
    both = [
        (large[k][0] - small[k][0], float(np.hypot(large[k][1], small[k][1])))
        for k in sorted(set(small) & set(large))
    ]
    wider, narrower = count_signs(both)
    verdict = decide(0 < wider == len(both), 0 < narrower == len(both), wider > narrower)
    more = [float(np.exp(gap)) for gap, _ in both] or [float("nan")]
    return verdict, {"found": numbers, "size": f"a lead {np.median(more):.1f} × as large"}


def words(key: Key, settings: Any, data: Any) -> dict[str, bool]:
    """How the published curves read the printed affinity."""
    similar = settings.affinity == "similarity"
    return {"as_printed": not similar, "as_similarity": similar}


PAPER = load("hmprivbayes", trials, words=words)

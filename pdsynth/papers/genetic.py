"""The GA paper's §V: Figure 1 and Tables II to XII.

"DS" is PrivBayes' greedy search on raw mutual information, which is what DataSynthesizer does.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from typing import Any

import pandas as pd

from ..datasets.tables import Dataset
from ..evaluation.compare import Store
from . import genetic_peer, genetic_plots, genetic_rules, genetic_tables
from .engine import load
from .genetic_measures import MEASURE, PEERS, Trial, synthesizer, table, training
from .genetic_tables import STAND_IN, compared, on_stand_in
from .grids import NO_NOISE, Curve, Run, matches
from .results import Key

__all__ = ["PAPER", "compared", "genetic_rules", "synthesizer", "table", "training"]

ONCE = ("original", *PEERS)  # curves without a synthesizer of ours


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:24]


def measure(trial: Trial, dataset: Dataset, settings: Any) -> dict[str, float]:
    """The numbers of one trial."""
    return MEASURE[trial.kind](trial, dataset, settings)


def plan_trials(
    kind: str, curves: Iterable[tuple[Curve, float]], dataset: Dataset, settings: Any, repeats: int
) -> list[Trial]:
    """Every curve ``repeats`` times; peers, which are slow, and risks of the original once."""
    rows = int(pd.util.hash_pandas_object(dataset.frame, index=False).sum())
    data = _digest(dataset.schema.to_dict(), rows, PAPER.seed)
    out = []
    for curve, epsilon in curves:
        recipe = "" if curve.method in ONCE else repr(synthesizer(curve, dataset, settings))
        still = curve.method in PEERS or curve.method == "original" and kind != "utility"
        for repeat in range(1 if still else repeats):
            what = [kind, astuple(curve), epsilon, repeat, data, recipe, settings.encoding]
            out.append(Trial(kind, curve, epsilon, repeat, _digest(*what)))
    return out


def run_trials(
    kind: str, curves: Iterable[tuple[Curve, float]], dataset: Dataset, settings: Any, run: Run
) -> pd.DataFrame:
    """All trials of some curves: the tidy frame.

    A trial writes all its rows at once; those that ``run.resume`` holds are not run again.
    """
    curves = [(c, e) for c, e in curves if matches(vars(c), run.only)]
    run.tables[dataset.name] = len(dataset.frame)
    store, trials = Store(run.store), plan_trials(kind, curves, dataset, settings, run.repeats)
    todo = [t for t in trials if (t.key, "end") not in store.rows]
    for at, values in run.each(measure, [(t, dataset, settings) for t in todo], "genetic"):
        trial = todo[at]
        fixed = {
            "method": trial.curve.name,
            "guarantee": trial.curve.guarantee,
            "epsilon": trial.epsilon,
            "repeat": trial.repeat,
            "seed": trial.seed,
            "seconds": 0.0,
            "note": "",
            "parameters": "",
            "dataset": dataset.name,
            "key": trial.key,
        }
        store.add(
            {**fixed, "measure": name, "value": value}
            for name, value in [*values.items(), ("end", 0.0)]
        )
    return tidy(trials, store)


def tidy(trials: Sequence[Trial], store: Store) -> pd.DataFrame:
    """What a store holds of some trials, a row per trial and metric."""
    results: dict[str, dict[str, float]] = {}
    for (key, name), row in store.rows.items():
        if name != "end":
            results.setdefault(key, {})[name] = row["value"]
    rows = [
        (
            name,
            *astuple(t.curve),
            t.epsilon,
            t.repeat,
            t.seed,
            value,
            "no number" if math.isnan(value) else "",
        )
        for t in trials
        for name, value in results.get(t.key, {}).items()
    ]
    return pd.DataFrame(
        rows,
        columns=[
            "metric",
            "method",
            "guarantee",
            "k",
            "epsilon",
            "repeat",
            "seed",
            "value",
            "note",
        ],
    )


def trials(key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """The experiment behind the figure or a table."""
    part = PAPER.experiments[key]
    dataset, curves = table(part["data"], settings, run.data), compared(key, settings)
    if part["kind"] == "runtime":
        searched = [(c, e) for c, e in curves if c.method == "GA"]
        if genetic_peer.python():
            curves += [
                (replace(c, method=peer), NO_NOISE)
                for peer, most in part["peers"].items()
                for c, _ in searched[:most]
            ]
        more = replace(run, repeats=settings.searches)
        frame = pd.concat(
            [
                run_trials("runtime", curves, dataset, settings, run),
                run_trials("share", searched, dataset, settings, more),
            ],
            ignore_index=True,
        )
    else:
        frame = run_trials(part["kind"], curves, dataset, settings, run)
    if "leave_out" in part:
        frame = frame[~frame["metric"].str.match(part["leave_out"])].reset_index(drop=True)
    # trials of the stand-in say so, and their numbers are never put beside the paper's
    return frame.assign(note=STAND_IN) if dataset.name == "credit_default" else frame


def words(key: Key, settings: Any, data: pd.DataFrame | None = None) -> dict[str, str]:
    """What a reason adds where the stand-in was measured."""
    stand_in = data is not None and on_stand_in(data)
    return {"on_stand_in": " Measured on the stand-in." if stand_in else ""}


PAPER = load(
    "genetic",
    trials,
    words=words,
    appendix=genetic_tables.appendix,
    beside=genetic_tables.beside,
    draw=genetic_plots.DRAW,
)

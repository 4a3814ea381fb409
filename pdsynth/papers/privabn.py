"""Lan, Hong, Chen, Cai, Wang, "Differential privacy high-dimensional data publishing based on an adaptive Bayesian network" (2021), §6.

Figures 1 to 3 and Table 2: PrivABN on NLTCS, ACS and Retail. Each published curve has its strict twin beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..datasets import Dataset, load_acs, load_nltcs, load_retail
from ..structure.adaptive import ParentChoice
from ..synthesizers import PrivABN, PrivBayes, baselines
from . import privabn_claims, privabn_plots
from .engine import NO_NOISE, Curve, Grid, Key, Paper, Run
from .privabn_settings import FREE, OWN, SEED, TITLES, Settings, compared

__all__ = ["PAPER", "TITLES", "Settings", "enumerated", "synthesizer", "tables"]


def synthesizer(this: Curve) -> Any:
    """The unfitted synthesizer of a curve; ε and the seed come from the grid."""
    shared: dict[str, Any] = {"guarantee": this.guarantee, "noise": "common"}  # simulation noise: nothing here is released
    if this.method == "PrivBayes":
        return PrivBayes(k=int(this.k), **shared)
    kind: Callable[..., Any] = PrivABN if this.method == "PrivABN" else getattr(baselines, this.method)
    return kind(**shared)


def tables(run: Run) -> dict[str, Dataset]:
    """NLTCS and ACS, or the user's own table."""
    return {"NLTCS": load_nltcs(), "ACS": load_acs()} if run.data is None else {run.data.name: run.data}


def errors(
    run: Run, named: tuple[str, Dataset], curves: Sequence[Curve], alphas: Sequence[int], epsilons: Sequence[float], settings: Settings,
    repeats: int,
) -> pd.DataFrame:  # fmt: skip
    """L1 and L2 errors of all curves on one table, α as a column, with NoPrivABN."""
    name, dataset = named
    fitting = [a for a in alphas if a <= len(dataset.schema)]
    measures = {f"l{p}_{a}_{settings.queries}": f"L{p} {a}" for p in (1, 2) for a in fitting}
    grids = [Grid(dataset, {c: synthesizer(c) for c in some}, measures, at, {"dataset": name})
             for some, at in (([FREE], ()), (curves, epsilons))]  # fmt: skip
    frame = run.measure(*grids, repeats=repeats)
    both = frame["metric"].str.split(" ", expand=True)
    frame["metric"] = both[0]
    frame.insert(2, "alpha", both[1])
    return frame


def trials(key: Key, settings: Settings, run: Run) -> pd.DataFrame:
    """The experiment behind one figure or table."""
    if key == "table 2":
        return enumerated(settings)
    if key == 3:
        dataset = load_retail(settings.items) if run.data is None else run.data
        named = ("Retail" if run.data is None else dataset.name, dataset)
        repeats = min(run.repeats, settings.retail_repeats or run.repeats)
        return errors(run, named, compared(settings), settings.retail_alphas, settings.retail_epsilons, settings, repeats)
    alphas, epsilons = (settings.alphas, settings.epsilons) if key == 1 else (settings.alphas[:1], settings.fine)
    return pd.concat([errors(run, t, OWN, alphas, epsilons, settings, run.repeats) for t in tables(run).items()], ignore_index=True)


def enumerated(settings: Settings) -> pd.DataFrame:
    """Table 2, counted: pairs of GreedyBayes at each k, and those that ABN's programme really offers."""
    m = settings.attributes
    pairs = {("GreedyBayes", str(k)): float(math.comb(m + 1, k + 2)) for k in settings.degrees}
    choice, offered = ParentChoice(range(1, m)), 0
    for f in range(1, m):  # the placed attributes are numbered in their order; every score is 0
        choice.offer(f - 1, np.zeros((m - f, f), dtype=np.int64))
        offered += len(choice.candidates()[1])
        choice.drop(f)
    pairs["ABN", ""] = float(offered)
    return pd.DataFrame([
        {"metric": "pairs", "method": method, "guarantee": "none", "k": k, "epsilon": NO_NOISE, "repeat": 0, "seed": 0, "value": value,
         "note": ""} for (method, k), value in pairs.items()
    ])  # fmt: skip


def deviations(key: Key, settings: Settings) -> tuple[str, ...]:
    """How the experiment differs from what the paper prints, and what it doesn't print."""
    if key == "table 2":
        return ("Table 2 is arithmetic: nothing is fitted. ABN's pairs are counted by running its programme on m attributes.",)
    out = [
        "L1 as printed compares the j-th row of the synthetic table with the j-th row of the original, which means nothing: here it is "
        "the L1 distance of the marginal tables. Both errors are in frequencies; the paper's error bar of .01 makes sense only so.",
        "NoPrivABN memorises: without noise ABN takes ever more parents until a parent configuration holds one record, and repeats the "
        "table. Its small error is no merit of the network.",
        "Published PrivABN adds noise to conditionals at a scale for a sensitivity of 2/n, when it is 2: it spends about n ε. Strict "
        "PrivABN adds its noise to joint counts, and pays for everything.",
    ]
    if key == 3:
        out.append(
            f"PriView answers the queries itself and has no table. PrivBayes has k = {settings.baseline_degree}: θ-usefulness alone "
            "gives 3 at ε = 0.1, but 6 at ε = 1, which would mean 10⁸ candidates. "
            "The 50 best-selling items are taken as public, as in the paper."
        )
    return tuple(out)


READING = """The published curves are those of an algorithm without privacy: noise on conditionals at the scale of counts hides nobody
(lesson 11 attacks it). "Replicates" says that the printed algorithm has the printed errors; what private methods reach is the
strict curve.
"""

PAPER = Paper(
    name="privabn",
    heading="PrivABN (Lan et al., 2021)",
    reading=READING,
    titles=TITLES,
    settings=Settings,
    repeats=100,
    seed=SEED,
    trials=trials,
    draw=lambda key, data, settings: privabn_plots.DRAW[key](data, settings),
    judge=lambda key, data, settings: privabn_claims.JUDGE[key](data, settings),
    deviations=deviations,
)

"""What each part of each algorithm is worth: one part changed at a time.

For ``ablations.toml`` and ``ppba.toml``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from .. import algorithms as s
from ..algorithms import SDG, Geometric, RiskEntropy
from ..core import Facts, Parts, Recipe, Uniform
from ..datasets.adult import load_adult
from ..datasets.loaders import load_big5, load_cmc, load_nltcs, load_retail
from ..datasets.tables import Dataset
from ..published.clustered import PrintedIBayes
from . import engine
from .ablations_search import objectives, search
from .drawing import bars_in_range, finish, panels, title_below
from .effects import hedges
from .engine import Paper, find, load
from .grids import NO_NOISE, Run
from .results import Key, Result, distinct, markdown, select, summarise

FLAT = s.SensitivityGroups(rare_values="same_noise")


@dataclass(frozen=True)
class Curve(engine.Curve):
    """One algorithm with one part changed."""

    change: str = "as printed"


# --- the algorithms, each with its parts ----------------------------------------------------------


def hpprivbayes(change: str, dataset: Dataset, k: Any, **shared: Any) -> Any:
    """HPPrivBayes: its order, groups and value weights."""
    options: dict[str, dict[str, Any]] = {
        "as printed": {},
        "flat values": {"personal": FLAT},
        "equal groups, r = 1": {"r": 1.0},
    }
    if change in options:
        return s.HPPrivBayes(sensitive=dataset.sensitive, k=k, **options[change], **shared)
    groups = s.Groups(sensitive=dataset.sensitive, degree=0 if isinstance(k, str) else k)
    structure, budget = {
        "no groups, flat values": (s.Ordered(k=k), Uniform()),
        "order by size of domain": (s.Ordered(k=k, by="domain"), groups),
        "greedy order (PrivBayes)": (s.Greedy(k=k), groups),
    }[change]
    return s.Synthesizer(structure=structure, budget=budget, **shared)


class EqualRisk(PrintedIBayes):
    """Published HMPrivBayes as if all bits had the same risk."""

    def risk(self, histograms: Sequence[np.ndarray]) -> Iterable[float]:
        """1 for each bit."""
        return [1.0] * len(histograms)


@dataclass(eq=False, repr=False, kw_only=True)
class EqualShares(s.HMPrivBayes):
    """HMPrivBayes whose tables have equal shares.

    **Privacy:** as HMPrivBayes.
    """

    def _parts(self, facts: Facts) -> Parts:
        return super()._parts(facts) if self.guarantee == "strict" else Parts(EqualRisk(self))


def hmprivbayes(change: str, dataset: Dataset, k: Any, **shared: Any) -> Any:
    """HMPrivBayes: clusters, η, affinity, entropy weights, bits."""
    options: dict[str, dict[str, Any]] = {
        "as printed": {},
        "one cluster": {"k": 1},
        "similarities": {"affinity": "similarity"},
        "no filter, η = 0": {"eta": 0.0},
    }
    if change == "equal shares":
        return EqualShares(l=k, **shared)
    if change == "attributes, one cluster":
        return s.Synthesizer(structure=s.Greedy(), budget=RiskEntropy(), **shared)
    return s.HMPrivBayes(l=k, **options[change], **shared)


@dataclass(eq=False, repr=False, kw_only=True)
class JointABN(Recipe):
    """PrivABN with its noise on joint counts, whatever the guarantee.

    **Privacy:** as PrivABN, but for the tables, which are paid for.
    """

    k: int | str = "auto"
    share_structure: float = 0.5
    theta_usefulness: float = 4

    over_bits: ClassVar[bool] = True
    k_counts_parents: ClassVar[bool] = False

    def _parts(self, facts: Facts) -> Parts:
        return Parts(s.Adaptive(self.k, self.theta_usefulness), Uniform(SDG))


def privabn(change: str, dataset: Dataset, k: Any, **shared: Any) -> Any:
    """PrivABN: selection, parent sets, in-degree, and where the noise lies."""
    makers: dict[str, Callable[..., Any]] = {
        "as printed": s.PrivABN,
        "undivided selection": partial(s.PrivABN, reading="undivided"),
        "exact selection": partial(s.PrivABN, reading="exact"),
        "ascending parent sets": partial(s.PrivABN, reading="ascending"),
        "at most 3 parents": partial(s.PrivABN, k=3),
        "at most 3 parents, noise on joint counts": partial(JointABN, k=3),
    }
    return makers[change](**shared)


def ppba(change: str, dataset: Dataset, k: Any, **shared: Any) -> Any:
    """PPBA: its tree and q; and PrivBayes, its rival."""
    if change == "PrivBayes":
        return s.PrivBayes(k=k, **shared)
    tree, _, q = change.partition(", q = ")
    structure = {"tree": s.SpanningTree, "no tree": s.Greedy}[tree](k=k)
    return s.Synthesizer(structure=structure, budget=Geometric(q=float(q)), **shared)


MAKE = {"HPPrivBayes": hpprivbayes, "HMPrivBayes": hmprivbayes, "PrivABN": privabn, "PPBA": ppba}
TABLES: dict[str, Callable[[], Dataset]] = {
    "Adult, thesis coding": lambda: load_adult(coding="thesis"),
    "Adult": lambda: load_adult(complete=True),
    "NLTCS": load_nltcs,
    "CMC": load_cmc,
    "Retail": load_retail,
    "Big5": load_big5,
}


# --- the experiments ------------------------------------------------------------------------------


def trials(paper: str, key: Key, settings: Any, run: Run) -> pd.DataFrame:
    """One table: every change at every ε."""
    part = find(paper).experiments[key]
    tables = run.load({n: make for n, make in TABLES.items() if n in part["data"]})
    if "searches" in part:
        return search(part, settings, run, tables)
    if "objectives" in part:
        return objectives(part, settings, run, tables)
    epsilons = getattr(settings, part["epsilons"])
    grids = []
    for name, dataset in tables.items():

        def make(this: Curve, dataset: Dataset = dataset) -> Any:
            return MAKE[this.method](this.change, dataset, this.degree, **this.keywords)

        omissions = part.get("left_out", {}).get(name, ())
        grids += find(paper).grids(
            key,
            settings,
            dataset,
            make,
            epsilons,
            labels={"dataset": name},
            measures={m: n for m, n in part["measures"].items() if m not in omissions},
        )
    return run.measure(*grids)


# --- as tables and pictures -----------------------------------------------------------------------


def dots(paper: str, key: Key, data: pd.DataFrame, settings: Any) -> go.Figure:
    """The first measure of every change, one panel for each ε, guarantee and k."""
    metric = distinct(data, "metric")[0]
    summary = select(summarise(data), metric=metric)
    panes = list(summary.groupby(PANE, sort=False))
    words = {at: _pane(*at) for at, _ in panes}
    shared = [w for n, w in words[panes[0][0]].items() if summary[n].nunique() == 1]
    titles = [
        ", ".join(w for n, w in words[at].items() if summary[n].nunique() > 1) for at, _ in panes
    ]
    plot = panels(min(len(panes), 2), titles, shared_yaxes=True, vertical_spacing=0.16)
    for i, (_, points) in enumerate(panes):
        plot.add_scatter(
            x=points["mean"],
            y=points["change"],
            mode="markers",
            showlegend=False,
            error_x=bars_in_range(points["mean"], points["ci95"], metric),
            row=i // 2 + 1,
            col=i % 2 + 1,
            marker={"size": 9, "color": ["#D55E00", *["#0072B2"] * (len(points) - 1)]},
        )
    plot.update_yaxes(autorange="reversed", automargin=True)
    rows = -(-len(panes) // 2)
    title_below(plot, metric, 2, len(panes))
    title = find(paper).titles[key].split(": ", 1)[1]
    finish(plot, data, title[0].upper() + title[1:], ", ".join(shared), 224 + 230 * rows)
    return plot.update_layout(margin_b=64)  # no legend below the axis title


PANE = ["dataset", "guarantee", "k", "epsilon"]


def _pane(dataset: str, guarantee: str, k: str, epsilon: float) -> dict[str, str]:
    """What a panel shows, in words; no words for what isn't there."""
    word = {"none": "no noise", "published": "as published", "strict": "strict"}[guarantee]
    at = {
        "dataset": dataset,
        "guarantee": word,
        "k": k and f"k = {k}",
        "epsilon": "" if epsilon == NO_NOISE else f"ε = {epsilon:g}",
    }
    return {name: words for name, words in at.items() if words}


def appendix(key: Key, result: Result) -> str:
    """Mean ± 95 % half-width of every change, and how far it is from the algorithm as printed."""
    summary, lines = result.summary(), []
    for at, points in summary.groupby(["metric", *PANE], sort=False):
        for row in points.itertuples():
            lines.append(
                [
                    at[0],
                    ", ".join(_pane(*at[1:]).values()),
                    row.change,
                    f"{row.mean:.4f} ± {row.ci95:.4f}",
                    _size(result.data, at, row.change, points["change"].iloc[0]),
                ]
            )
    head = ["measure", "where", "change", "mean ± 95 % half-width", "standardised difference"]
    return (
        "\nStandardised differences (Hedges' g) from the first row; below 0: smaller.\n\n"
        + markdown(head, lines)
    )


def _size(data: pd.DataFrame, at: Any, change: str, first: str) -> str:
    names = ("metric", "dataset", "guarantee", "k", "epsilon")
    a, b = (
        select(data, **dict(zip(names, at, strict=True)), change=c)["value"].to_numpy()
        for c in (change, first)
    )
    size = hedges(a, b)
    return "" if change == first else "–" if np.isnan(size) else f"{size:+.2f}"


def load_changes(name: str) -> Paper:
    """A data file of changes, with its tables as pictures."""
    tables = [f"table {n}" for n in range(1, 6)]
    return load(
        name,
        partial(trials, name),
        curve=Curve,
        appendix=appendix,
        draw=dict.fromkeys(tables, partial(dots, name)),
    )


PAPER = load_changes("ablations")

"""The PrivABN panel (lesson 11): both readings side by side on a binary table, and what a person alone in a column loses."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...conditionals import SparseTable
from ...datasets import Dataset, load_acs, load_adult, load_nltcs, load_retail
from ...datasets.files import find
from ...domain.schema import Schema
from ...evaluation.marginals import Marginals, attribute_sets
from ...model import Model
from ...plots import PALETTE, figure
from ...synthesizers import PrivABN
from ..widgets import View, choice, live, slider
from .drawing import powers
from .studio import Studio, ledger_summary

QUERIES, RUNS = 200, 4_000
KINDS = {"published": ("as published", "attack", "solid"), "strict": ("strict", "private", "solid"), "none": ("no noise", "none", "dash")}
LOADERS = {
    "Adult, yes–no": lambda: load_adult(coding="yes-no"),
    "NLTCS": load_nltcs,
    "ACS": load_acs,
    "Retail, top 20": lambda: load_retail(items=20),
}  # all 50 items take seconds a move


def available() -> list[str]:
    """The tables that can be loaded here: the one that ships, and those that ``PDSYNTH_DATA`` has."""
    names = ["Adult, yes–no"]
    for name in list(LOADERS)[1:]:
        try:
            find(name.split(",")[0].lower())
        except FileNotFoundError:
            continue
        names.append(name)
    return names


class Room(Studio):
    """A studio of a binary table with the real side of its α-way queries kept."""

    def __init__(self, dataset: Dataset, seed: int = 7) -> None:
        super().__init__(dataset, seed)
        self._queries: dict[int, Marginals] = {}

    def queries(self, alpha: int) -> Marginals:
        """The counts of 200 random α-way queries, a public sample."""
        if alpha not in self._queries:
            sets = attribute_sets(len(self.schema), alpha, QUERIES)
            self._queries[alpha] = Marginals(self.records, self.schema, sets=sets)
        return self._queries[alpha]


@lru_cache(maxsize=4)
def room(name: str = "Adult, yes–no") -> Room:
    """A table by its name in :data:`LOADERS`; FileNotFoundError says where to get one that isn't here."""
    return Room(LOADERS[name]())


@lru_cache(maxsize=64)
def fit(here: Room, epsilon: float, guarantee: str) -> tuple[PrivABN, np.ndarray]:
    """One run with common random numbers, and codes of a synthetic table of the original size."""
    fitted = here.run(PrivABN(epsilon, guarantee=guarantee))
    return fitted, here.sample(fitted)


def columns_of(codes: np.ndarray, schema: Schema, parents: tuple[str, ...]) -> np.ndarray:
    """The number of each record's parent configuration, first parent most significant: int64 (n,)."""
    key = np.zeros(len(codes), dtype=np.int64)
    for parent in parents:
        key = 2 * key + codes[:, schema.index(parent)]
    return key


def released(model: Model, child: str, keys: np.ndarray) -> np.ndarray:
    """P*(child = 1 | configuration) of a released model: float (m,)."""
    table = dict(zip(model.network.order, model.tables, strict=True))[child]
    p = model.conditionals[child]
    if isinstance(table, SparseTable):
        p, keys = table.look_up(p, keys)
    return p[1, keys]


def lone(here: Room, epsilon: float) -> dict[str, float]:
    """People who are alone in a parent configuration of the published network, and how often their answers are guessed rightly.

    A guess is the more probable answer in a released table. From the published tables it reads the person's own answer; from the
    strict ones, at the same child, it says what the crowd of the strict configuration says. ``people``: how many they are.
    """
    codes, schema = here.records.codes, here.schema
    (published, _), (strict, _) = fit(here, epsilon, "published"), fit(here, epsilon, "strict")
    people: set[int] = set()
    right = {"published": 0, "strict": 0}
    asked = 0
    for child, parents in published.network_.pairs:
        keys = columns_of(codes, schema, parents)
        _, back, counts = np.unique(keys, return_inverse=True, return_counts=True)
        alone = np.flatnonzero(counts[back] == 1)
        people.update(alone.tolist())
        asked += len(alone)
        truth = codes[alone, schema.index(child)]
        for name, fitted in (("published", published), ("strict", strict)):
            mine = keys if name == "published" else columns_of(codes, schema, fitted.network_.parents(child))
            right[name] += int(((released(fitted.model_, child, mine[alone]) > 0.5) == truth).sum())
    return {"people": len(people), **{name: hits / max(asked, 1) for name, hits in right.items()}}


def worlds(n: int, m: int, epsilon: float) -> dict[tuple[str, int], np.ndarray]:
    """P*(S = 1 | π*) as released when the only person in column π* said no (0) or yes (1), sorted: RUNS draws each.

    Published: noise of scale 2m/(n ε₂) on both probabilities. Strict: noise of scale 2m/ε₂ on both counts. Then clipped and
    normalised. The same random numbers everywhere.
    """
    up, down = np.random.default_rng(11).standard_exponential((2, 2, RUNS))
    epsilon2 = epsilon / 2
    out: dict[tuple[str, int], np.ndarray] = {}
    for name, scale in (("published", 2 * m / (n * epsilon2)), ("strict", 2 * m / epsilon2)):
        for said in (0, 1):
            noisy = np.maximum(np.array([[1 - said], [said]]) + scale * (up - down), 0)
            total = noisy.sum(axis=0)
            out[name, said] = np.sort(np.where(total > 0, noisy[1] / np.where(total > 0, total, 1), 0.5))
    return out


def told_apart(no: np.ndarray, yes: np.ndarray) -> float:
    """How often the best threshold on the released number tells the two worlds apart."""
    values = np.concatenate([no, yes])
    below = np.searchsorted(no, values, side="right") / len(no) - np.searchsorted(yes, values, side="right") / len(yes)
    return float((1 + np.abs(below).max()) / 2)


def draw(here: Room, state: dict[str, Any], alpha: int, title: str) -> go.Figure:
    """Numbers of parents and query errors above; the two worlds of a lone person and the guesses of an attacker below."""
    m = len(here.schema)
    plot = figure(title=title, height=640, barmode="group", bargap=0.25, margin={"l": 64, "r": 24, "t": 84, "b": 60})
    for name in ("published", "strict"):
        words, colour, _ = KINDS[name]
        fitted = state["fits"][name][0]
        degrees = [len(parents) for _, parents in fitted.network_.pairs]
        plot.add_bar(x=list(range(1, m + 1)), y=degrees, name=words, marker_color=PALETTE[colour], customdata=list(fitted.network_.order),
                     hovertemplate="%{customdata}: %{y} parents<extra></extra>")  # fmt: skip
    for name, (words, colour, dash) in KINDS.items():
        errors = np.sort(state["errors"][name])
        plot.add_scatter(x=np.linspace(0, 100, len(errors)), y=errors, mode="lines", xaxis="x2", yaxis="y2", name=words,
                         showlegend=name == "none", line={"color": PALETTE[colour], "dash": dash, "width": 2},
                         hovertemplate="%{y:.4f}<extra></extra>")  # fmt: skip
    share = np.linspace(0, 100, RUNS)[:: RUNS // 200]
    for (name, said), values in state["worlds"].items():
        words, colour, _ = KINDS[name]
        plot.add_scatter(x=values[:: RUNS // 200], y=share, mode="lines", xaxis="x3", yaxis="y3", showlegend=False,
                         name=f"{words}: she said {'yes' if said else 'no'}", hovertemplate="%{x:.3f}<extra>%{fullData.name}</extra>",
                         line={"color": PALETTE[colour], "dash": "dot" if said else "solid", "width": 2.5})  # fmt: skip
    for name in ("published", "strict"):
        value = state["lone"][name]
        plot.add_bar(y=[f"{name} tables"], x=[value], orientation="h", xaxis="x4", yaxis="y4", marker_color=PALETTE[KINDS[name][1]],
                     text=[f"{value:.1%}"], textposition="inside", hoverinfo="skip", showlegend=False,
                     insidetextfont={"color": "#FFFFFF" if name == "published" else "#000000"})  # fmt: skip
    places = ((0.03, 50, "left", "she said no", "attack"), (0.97, 50, "right", "yes", "attack"), (0.52, 56, "left", "either", "private"))
    for x, height, anchor, text, colour in places:
        ink = {"color": PALETTE[colour]}
        plot.add_annotation(x=x, y=height, xref="x3", yref="y3", text=text, showarrow=False, xanchor=anchor, font=ink)
    return plot.update_layout(
        xaxis={"domain": [0, 0.46], "range": [0.4, m + 0.6], "anchor": "y", "title": "place in the network"},
        yaxis={"domain": [0.58, 1], "range": [0, m], "anchor": "x", "title": "parents"},
        xaxis2={"domain": [0.58, 1], "range": [0, 100], "anchor": "y2", "title": f"{alpha}-way queries, sorted, %"},
        yaxis2={"domain": [0.58, 1], "anchor": "x2", **powers(-4, 0, "L2 error")},
        xaxis3={"domain": [0, 0.46], "range": [-0.03, 1.03], "anchor": "y3", "title": "released P*(S = 1 | π*), one lone person"},
        yaxis3={"domain": [0, 0.4], "range": [-2, 102], "anchor": "x3", "title": "releases up to here, %"},
        xaxis4={"domain": [0.72, 1], "range": [0, 1], "tickformat": ".0%", "anchor": "y4",
                "title": "lone people guessed rightly"},
        yaxis4={"domain": [0.06, 0.36], "anchor": "x4", "showgrid": False},
    )  # fmt: skip


def view(epsilon: float = 0.05, alpha: int = 3, data: str = "Adult, yes–no", here: Room | None = None) -> View:
    """Everything for one position of the controls."""
    here = here or room(data)
    n, m, epsilon = here.records.n, len(here.schema), round(epsilon, 4)
    fits = {name: fit(here, epsilon if name != "none" else 1.0, name) for name in KINDS}
    real = here.queries(int(alpha))
    errors = {name: real.norms(codes)[1] for name, (_, codes) in fits.items()}
    games = worlds(n, m, epsilon)
    alone = lone(here, epsilon)
    state = {"fits": fits, "errors": errors, "worlds": games, "lone": alone}
    title = f"PrivABN on {here.dataset.name}: ε = {epsilon:g}, α = {int(alpha)}"
    published, strict = fits["published"][0].ledger_, fits["strict"][0].ledger_
    mean = {name: float(e.mean()) for name, e in errors.items()}
    apart = {name: told_apart(games[name, 0], games[name, 1]) for name in ("published", "strict")}
    status = (
        f"Claimed ε = {epsilon:g}; published truly infinite (the accounted part alone {float(published.finite):,.0f}), "
        f"strict {float(strict.epsilon):g}. "
        f"Mean L2 error {mean['published']:.4f} published, {mean['strict']:.4f} strict, {mean['none']:.4f} without noise. "
        f"{alone['people']:,} of {n:,} people are alone in some column of the published network. A yes of theirs is told from a no "
        f"{apart['published']:.1%} of the time as published, {apart['strict']:.1%} strict "
        f"(allowed {np.exp(epsilon) / (1 + np.exp(epsilon)):.1%})."
    )
    tables = [f"<h4>{KINDS[name][0]}</h4>{ledger_summary(fits[name][0].ledger_)}" for name in ("published", "strict")]
    return View.told(draw(here, state, int(alpha), title), status, tables)


def panel(dataset: Dataset | None = None) -> Any:
    """The live panel; Adult as yes–no questions, or any table of the paper that is here, unless another public table is given."""
    names = available() if dataset is None else [dataset.name]
    here = None if dataset is None else Room(dataset)
    m = 16 if here is None else len(here.schema)
    return live(
        lambda **controls: view(here=here, **controls),
        epsilon=slider("ε", 0.05, 0.01, 1.0, 0.01, tooltip="ε, total privacy budget"),
        alpha=slider("α", 3, 1, min(8, m), 1, tooltip="α, attributes in a query"),
        data=choice("table", names),
        spends=True,
    )

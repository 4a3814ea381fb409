"""The genetic search panel (lesson 13): a stored search replayed generation by generation, beside the exact optimum."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

from ...datasets import Dataset, load_adult
from ...network import Network
from ...plots import PALETTE, figure
from ...structure import Parameters, SearchResult, genetic
from ...structure import exact_search as exact_search
from ..widgets import LivePanel, View, live, slider
from .drawing import add_arcs, add_dots, arches, arcs, places, split
from .studio import Studio, pairwise

GENERATIONS = (0, 1, 3, 10, 30, 100, 400)  # ticks
LONGEST = 400  # generations that are run and stored; a smaller e is their beginning


class Room:
    """Raw pairwise information of a public teaching table, and the searches on it that were run already."""

    def __init__(self, dataset: Dataset) -> None:
        self.names, self.weights = dataset.schema.names, pairwise(Studio(dataset).records.lattice)
        self.search = lru_cache(maxsize=32)(self._search)
        self.optimum = lru_cache(maxsize=16)(lambda k: exact_search(self.weights, k))

    def _search(self, k: int, population: int, elite: int, r: float | None, seed: int) -> SearchResult:
        return genetic(self.weights, k, np.random.default_rng(seed), Parameters(population, elite, r, LONGEST))


@lru_cache(maxsize=1)
def room() -> Room:
    """Adult in the thesis' coding, 14 attributes."""
    return Room(load_adult(coding="thesis"))


def shared(one: Network, two: Network) -> int:
    """Edges of one network that the other has, too, whatever their direction."""
    return len({frozenset(e) for e in one.edges} & {frozenset(e) for e in two.edges})


def draw(here: Room, found: SearchResult, best: SearchResult, generation: int, last: int, title: str) -> go.Figure:
    """Fitness of the generations so far and of the present population above; the best network in its order below."""
    history, plot, blue = found.history[: last + 1], figure(title=title, height=640), PALETTE["none"]
    network = found.network(here.names, generation)
    seen, ahead = np.arange(generation + 1), np.arange(generation, last + 1)
    for name, row, dash in (("best", 0, "solid"), ("median", history.shape[1] // 2, "dot")):
        plot.add_scatter(x=seen + 1, y=history[seen, row], customdata=seen, mode="lines", line={"color": blue, "dash": dash},
                         name=f"{name} so far", hovertemplate="generation %{customdata}: %{y:.3f} bits<extra></extra>")  # fmt: skip
    plot.add_scatter(x=ahead + 1, y=history[ahead, 0], mode="lines", name="best, still to come", hoverinfo="skip",
                     line={"color": PALETTE["real"], "width": 1, "dash": "dash"})  # fmt: skip
    plot.add_scatter(x=[1, last + 1], y=[best.fitness] * 2, mode="lines", name="exact optimum",
                     line={"color": PALETTE["private"], "width": 2}, hovertemplate="%{y:.3f} bits<extra></extra>")  # fmt: skip
    plot.add_histogram(y=history[generation], xaxis="x2", yaxis="y", ybins={"start": 0, "end": 8, "size": 0.1}, showlegend=False,
                       marker_color=blue, hovertemplate="%{x} individuals<extra></extra>")  # fmt: skip
    kinds = (("edge of the optimum, too", "real", "solid"), ("edge of its own", "attack", "dash"))
    for part, (name, colour, dash) in zip(split(network, {frozenset(e) for e in best.network(here.names).edges}), kinds, strict=True):
        add_arcs(plot, arcs(part), name=name, xaxis="x3", yaxis="y3", showlegend=None,
                    line={"color": PALETTE[colour], "width": 1.4, "dash": dash})  # fmt: skip
    words = [f"{child} ← {', '.join(parents) or '∅'}" for child, parents in network.pairs]
    add_dots(plot, range(len(network)), words, {"color": blue, "size": 11}, xaxis="x3", yaxis="y3", showlegend=False)
    return _axes(plot, list(network.order), last, found.history.shape[1], best.fitness)


def _axes(plot: go.Figure, order: list[str], last: int, population: int, optimum: float) -> go.Figure:
    return plot.update_layout(
        bargap=0.05,
        margin={"l": 64, "r": 24, "t": 112, "b": 96},
        xaxis={"domain": [0, 0.74], "range": [0, float(np.log10(last + 1))], "type": "log", "anchor": "y", "tickmode": "array",
               "tickvals": [g + 1 for g in GENERATIONS], "ticktext": [str(g) for g in GENERATIONS], "title": "generation"},
        yaxis={"domain": [0.54, 1], "range": [0.4 * optimum, 1.05 * optimum], "title": "fitness, bits"},
        xaxis2={"domain": [0.77, 1], "anchor": "y", "range": [0, population], "title": "individuals now"},
        xaxis3={"domain": [0, 1], "anchor": "y3", **places(order)},
        yaxis3={"domain": [0, 0.38], "anchor": "x3", **arches(len(order), "best network")},
    )  # fmt: skip


def view(
    generation: int = 40,
    k: int = 2,
    population: int = 200,
    elite: int = 10,
    r: float = 0.07,
    generations: int = 400,
    seed: int = 0,
    here: Room | None = None,
) -> View:
    """Everything for one position of the sliders; a generation beyond the last shows the last."""
    here = here or room()
    last, k, population, elite = int(generations), int(k), int(population), int(elite)
    generation = min(int(generation), last)
    found, best = here.search(k, population, elite, r, int(seed)), here.optimum(k)
    network, reached = found.network(here.names, generation), found.history[:, 0] / best.fitness
    title = f"Genetic search, generation {generation} of {last}: k = {k}, P = {population}, S = {elite}, r = {r:g}"
    own, pairs = shared(network, best.network(here.names)), len(here.names) * (len(here.names) - 1) // 2
    status = (
        f"Generation {generation}: the best network has {found.history[generation, 0]:.3f} bits, {reached[generation]:.1%} of the exact "
        f"optimum {best.fitness:.3f}; {own} of its {len(network.edges)} edges are the optimum's. After {last} generations: "
        f"{reached[last]:.1%}. All {last * (population - elite) + population:,} individuals were judged by the same {pairs} numbers."
    )
    return View.told(draw(here, found, best, generation, last, title), status)


def panel(dataset: Dataset | None = None) -> LivePanel:
    """The live panel; Adult in the thesis' coding unless another public teaching table is given."""
    here = room() if dataset is None else Room(dataset)
    return live(
        lambda **controls: view(here=here, **controls),
        generation=slider("generation", 40, 0, LONGEST, 1, tooltip="generation, the one on show"),
        k=slider("k", 2, 1, 4, 1, unit="parents", tooltip="k, largest number of parents"),
        population=slider("P", 200, 20, 400, 20, unit="individuals", tooltip="P, size of the population"),
        elite=slider("S", 10, 1, 50, 1, unit="individuals", tooltip="S, selection pressure: the elite"),
        r=slider("r", 0.07, 0.01, 1.0, 0.01, tooltip="r, mutation rate; the paper's 1/d is 0.07 here"),
        generations=slider("e", LONGEST, 10, LONGEST, 10, unit="generations", tooltip="e, number of generations"),
        seed=slider("seed", 0, 0, 19, 1, tooltip="seed, another run of the same search"),
        spends=False,
    )

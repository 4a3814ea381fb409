"""Lesson 13: a stored genetic search, replayed generation by generation beside the optimum."""

import numpy as np

from ...algorithms import Parameters, SearchResult, exact_search, genetic_search
from ...core import Network, plural
from ..widgets.controls import slider
from ..widgets.view import Try, View
from .drawing import Board, arches, places
from .panel import live_panel
from .table import TeachingTable, adult, remember

LONGEST = 400  # generations that are run and stored; a smaller e is their beginning


@remember
def search(
    table: TeachingTable, k: int, population: int, elite: int, r: float, seed: int
) -> SearchResult:
    """The whole search, stored."""
    parameters = Parameters(population, elite, r, LONGEST)
    return genetic_search(table.information, k, np.random.default_rng(seed), parameters)


@remember
def optimum(table: TeachingTable, k: int) -> SearchResult:
    """The best network there is."""
    return exact_search(table.information, k)


def shared(one: Network, two: Network) -> int:
    """Edges of one network that the other has, too, whatever their direction."""
    return len({frozenset(e) for e in one.edges} & {frozenset(e) for e in two.edges})


def draw_fitness(plot: Board, history: np.ndarray, generation: int, last: int, best: float) -> None:
    """Fitness of the generations so far, and of the present population."""
    seen, ahead = np.arange(generation + 1), np.arange(generation, last + 1)
    for name, row, dash in (("best", 0, "solid"), ("median", history.shape[1] // 2, "dot")):
        plot.line(
            seen + 1,
            history[seen, row],
            "none",
            dash=dash,
            name=f"{name} so far",
            customdata=seen,
            hover="generation %{customdata}: %{y:.3f} bits",
        )
    plot.line(
        ahead + 1,
        history[ahead, 0],
        "real",
        dash="dash",
        width=1,
        hover=False,
        name="best, still to come",
    )
    plot.line(
        [1, last + 1], [best] * 2, "private", width=2, name="exact optimum", hover="%{y:.3f} bits"
    )
    plot.add(
        "histogram",
        (2, 1),
        None,
        "%{x} individuals",
        y=history[generation],
        ybins={"start": 0, "end": 8, "size": 0.1},
        marker={"color": "#0072B2"},
    )
    plot.set(
        x={"range": [0, float(np.log10(last + 1))]},
        y={"range": [0.4 * best, 1.05 * best]},
        x2={"range": [0, history.shape[1]]},
    )


def draw_network(plot: Board, network: Network, best: Network) -> None:
    """The best network of a generation in its order; what it shares with the optimum is grey."""
    plot.halves(
        network,
        best.edges,
        {
            "edge of the optimum, too": {"colour": "real", "dash": "solid", "width": 1.4},
            "edge of its own": {"colour": "attack", "dash": "dash", "width": 1.4},
        },
        3,
    )
    plot.nodes([f"{c} ← {', '.join(p) or '∅'}" for c, p in network.pairs], 11, 3)
    plot.set(x3=places(network.order), y3=arches(len(network)))


@live_panel(
    adult("thesis"),
    spends=False,
    tries=(
        Try(
            "at the start",
            {"generation": 0},
            "the best of {now.population} random networks has {now.reached:.1%} of the optimum.",
            lambda was, now: now.reached < was.reached,
        ),
        Try(
            "hardly any mutation",
            {"r": 0.01},
            "after 40 generations {now.reached:.1%} of the optimum; with r = 0.07 it was "
            "{was.reached:.1%}.",
            lambda was, now: now.reached != was.reached,
        ),
        Try(
            "one parent",
            {"k": 1},
            "fewer networks to choose from: {now.shared} of {now.edges} edges are the optimum's.",
            lambda was, now: now.edges < was.edges,
        ),
    ),
    generation=slider("generation", 40, 0, LONGEST, 1, tooltip="generation, the one on show"),
    k=slider("k", 2, 1, 4, 1, unit="parents", tooltip="k, largest number of parents"),
    population=slider(
        "P", 200, 20, 400, 20, unit="individuals", tooltip="P, size of the population"
    ),
    elite=slider("S", 10, 1, 50, 1, unit="individuals", tooltip="S, selection pressure: the elite"),
    r=slider("r", 0.07, 0.01, 1.0, 0.01, tooltip="r, mutation rate; the paper's 1/d is 0.07 here"),
    generations=slider(
        "e", LONGEST, 10, LONGEST, 10, unit="generations", tooltip="e, number of generations"
    ),
    seed=slider("seed", 0, 0, 19, 1, tooltip="seed, another run of the same search"),
)
def view(
    table: TeachingTable,
    generation: int,
    k: int,
    population: int,
    elite: int,
    r: float,
    generations: int,
    seed: int,
) -> View:
    """One generation of the search; one beyond the last shows the last."""
    names, last, generation = table.schema.names, generations, min(generation, generations)
    found, best = search(table, k, population, elite, r, seed), optimum(table, k)
    network, optimal = found.network(names, generation), best.network(names)
    plot = Board(
        "genetic",
        f"Genetic search, generation {generation} of {last}: k = {k}, "
        f"P = {population}, S = {elite}, r = {r:g}",
    )
    draw_fitness(plot, found.history, generation, last, best.fitness)
    draw_network(plot, network, optimal)
    reached = found.history[:, 0] / best.fitness
    pairs = len(names) * (len(names) - 1) // 2
    status = (
        f"Generation {generation}: the best network has {found.history[generation, 0]:.3f} bits, "
        f"{reached[generation]:.1%} of the exact optimum {best.fitness:.3f}; "
        f"{shared(network, optimal)} of its {len(network.edges)} edges are the optimum's. "
        f"After {plural(last, 'generation')}: {reached[last]:.1%}. "
        f"All {last * (population - elite) + population:,} individuals were judged by the same "
        f"{pairs} numbers."
    )
    facts = {
        "reached": float(reached[generation]),
        "shared": shared(network, optimal),
        "edges": len(network.edges),
        "population": population,
    }
    return View(plot.figure, status, facts=facts)


panel = view.panel

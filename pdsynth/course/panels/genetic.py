"""Lesson 13: a stored genetic search, replayed generation by generation beside the optimum."""

import math
from itertools import combinations

import numpy as np

from ...algorithms import symmetric_matrix
from ...baselines import Parameters, SearchResult, exact_search, genetic_search
from ...core import Curator, Ledger, Network, as_fraction, plural
from ..widgets.controls import choice, slider
from ..widgets.view import Try, View
from .drawing import Board, arches, ink, lying
from .panel import live_panel
from .table import TeachingTable, adult, remember

SCORES = ("without noise", "private")
LONGEST = 400  # generations that are run and stored; a smaller e is their beginning


@remember
def search(
    table: TeachingTable,
    k: int,
    population: int,
    elite: int,
    r: float,
    seed: int,
    epsilon: float | None = None,
) -> SearchResult:
    """The whole search, stored; on scores with noise if an ε is given."""
    parameters = Parameters(population, elite, r, LONGEST)
    return genetic_search(scores_of(table, epsilon), k, np.random.default_rng(seed), parameters)


@remember
def scores_of(table: TeachingTable, epsilon: float | None) -> np.ndarray:
    """Mutual information of all pairs, or R with noise that costs ε, which a private search has."""
    if epsilon is None:
        return table.information
    d = len(table.schema)
    pairs = list(combinations(range(d), 2))
    share = as_fraction(round(epsilon, 4))
    curator = Curator(table.records, Ledger(share), table.noise.fresh())
    values, _ = curator.noisy_associations(
        pairs, share, step="scores", source="the search's scores"
    )
    return symmetric_matrix(d, pairs, values)


@remember
def optimum(table: TeachingTable, k: int, epsilon: float | None = None) -> SearchResult:
    """The best network there is for these scores."""
    return exact_search(scores_of(table, epsilon), k)


def bits_of(table: TeachingTable, network: Network) -> float:
    """Mutual information along the edges of a network, in bits, whatever it was chosen by."""
    at = table.schema.index
    return float(sum(table.information[at(a), at(b)] for a, b in network.edges))


def shared(one: Network, two: Network) -> int:
    """Edges of one network that the other has, too, whatever their direction."""
    return len({frozenset(e) for e in one.edges} & {frozenset(e) for e in two.edges})


def reach(share: float) -> str:
    """A share of the optimum in percent, rounded down: only the optimum itself is 100%."""
    return f"{math.floor(1000 * share + 1e-6) / 10:g}%"


def draw_fitness(
    plot: Board,
    history: np.ndarray,
    generation: int,
    last: int,
    best: float,
    true: float,
    unit: str,
) -> None:
    """Fitness, in ``unit``, of the generations so far, and of the present population."""
    past, ahead = np.arange(generation + 1), np.arange(generation, last + 1)
    for name, row, dash in (("best", 0, "solid"), ("median", history.shape[1] // 2, "dot")):
        plot.line(
            past + 1,
            history[past, row],
            "private",
            dash=dash,
            name=f"{name} so far",
            customdata=past,
            hover=f"generation %{{customdata}}: %{{y:.3f}} {unit}",
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
        [1, last + 1],
        [best] * 2,
        "none",
        width=2,
        name="exact optimum",
        hover=f"%{{y:.3f}} {unit}",
    )
    plot.add(
        "histogram",
        (2, 1),
        None,
        "%{x} individuals",
        y=history[generation],
        ybins={"start": 0, "end": 1.1 * best, "size": best / 60},
        marker={"color": ink("private")},
    )
    plot.dots([generation + 1], [history[generation, 0]], "look", size=14)
    plot.note(f"<b>{reach(true)}</b> of the best", 0.98, 0.05, 1, "look", 18, xref="x domain",
              yref="y domain", xanchor="right", yanchor="bottom")  # fmt: skip
    plot.layout["meta"]["play"] = {"control": "generation"}
    width = float(np.log10(last + 1))
    plot.set(  # room for the mark at both ends
        x={"range": [-0.05 * width, 1.05 * width]},
        y={
            "range": [0.4 * best, 1.05 * best],
            "title": f"{'information' if unit == 'bits' else 'sum'}, {unit}",
        },
        x2={"range": [0, history.shape[1]]},
    )


def draw_network(plot: Board, network: Network, best: Network) -> None:
    """The best network of a generation in its order; what it shares with the optimum is grey."""
    plot.halves(
        network,
        best.edges,
        {
            "edge of the optimum, too": {"colour": "real", "dash": "solid", "width": 1.4},
            "edge of its own": {"colour": "look", "dash": "dash", "width": 1.4},
        },
        3,
    )
    plot.nodes([f"{c} ← {', '.join(p) or '∅'}" for c, p in network.pairs], 11, 3)
    plot.set(y3=lying(network.order), x3=arches(len(network)))


@live_panel(
    adult("thesis"),
    spends=False,
    tries=(
        Try(
            "at the start",
            {"generation": 0},
            "the best of {now.population} random networks has {now.share} of the optimum.",
            lambda was, now: now.reached < was.reached,
        ),
        Try(
            "hardly any mutation",
            {"r": 0.01},
            "after 40 generations {now.share} of the optimum; with r = 0.07 it was {was.share}.",
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
    scores=choice("scores", SCORES),
    epsilon=slider("ε", 1.0, 0.05, 4.0, 0.05, tooltip="ε, budget of private scores"),
    k=slider("k", 2, 1, 4, 1, tooltip="k, parents of a column"),
    population=slider("P", 200, 20, 400, 20, tooltip="P, size of the population"),
    elite=slider("S", 10, 1, 50, 1, tooltip="S, selection pressure: the elite"),
    r=slider("r", 0.07, 0.01, 1.0, 0.01, tooltip="r, mutation rate; the paper's 1/d is 0.07 here"),
    generations=slider("e", LONGEST, 10, LONGEST, 10, tooltip="e, number of generations"),
    seed=slider("seed", 0, 0, 19, 1, tooltip="seed, another run of the same search"),
)
def view(
    table: TeachingTable,
    generation: int,
    scores: str,
    epsilon: float,
    k: int,
    population: int,
    elite: int,
    r: float,
    generations: int,
    seed: int,
) -> View:
    """One generation of the search; one beyond the last shows the last."""
    names, last, generation = table.schema.names, generations, min(generation, generations)
    paid = epsilon if scores == "private" else None
    result, best = search(table, k, population, elite, r, seed, paid), optimum(table, k, paid)
    network, optimal = result.network(names, generation), best.network(names)
    plot = Board(
        "genetic",
        f"Genetic search, generation = {generation} of {last}: k = {k}, "
        f"P = {population}, S = {elite}, r = {r:g}",
    )
    true = bits_of(table, network) / bits_of(table, optimum(table, k).network(names))
    unit = "bits" if paid is None else "noisy R"
    draw_fitness(plot, result.history, generation, last, best.fitness, true, unit)
    draw_network(plot, network, optimal)
    reached = result.history[:, 0] / best.fitness
    pairs = len(names) * (len(names) - 1) // 2
    status = (
        f"{plural(generation, 'generation')} {'reaches' if generation == 1 else 'reach'} "
        f"{reach(true)} of the best network's true bits. The best network so far has "
        f"{result.history[generation, 0]:.3f} {unit}, the exact optimum {best.fitness:.3f}; "
        f"{shared(network, optimal)} of its {len(network.edges)} edges are the optimum's. "
        f"After {plural(last, 'generation')}: {reach(reached[last])} of the optimum's {unit}. "
        f"All {last * (population - elite) + population:,} individuals were judged by the same "
        f"{pairs} numbers."
    )
    facts = {
        "reached": true,
        "share": reach(true),
        "shared": shared(network, optimal),
        "edges": len(network.edges),
        "population": population,
    }
    return View(plot.figure, status, facts=facts)


panel = view.panel

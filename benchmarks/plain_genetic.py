"""The genetic search of Hittmeir et al. (2022) as plain Python: lists, ``index`` look-ups and
``random``, like its authors' code.

The yardstick of ``pdsynth.baselines.searches``. It follows the paper's procedures line by line over
a dictionary of pairwise information that is filled before, and looks names up in the table's
columns as the authors do. Their GANetworkBuilder (commit 3e57a13) differs in what it makes of C (a
complete graph of the first k+1 attributes) and takes as long, within a tenth.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping

import pandas as pd

Genome = tuple[list[int], list[list[int]]]


def initialization(d: int, k: int) -> Genome:
    order = list(range(d))
    random.shuffle(order)
    sets = []
    for j in range(d):
        before = [x for x in order if order.index(x) < order.index(j)]
        others = [x for x in order if x not in before and x != j]
        sets.append(
            random.sample(before, k)
            if len(before) >= k
            else before + random.sample(others, k - len(before))
        )
    return order, sets


def network(genome: Genome, columns: pd.Index) -> list[tuple[str, list[str]]]:
    order, sets = genome
    pairs = []
    for i, j in enumerate(order):
        before = order[:i]
        pairs.append((columns[j], [columns[a] for a in sets[j] if a in before]))
    return pairs


def fitness(
    genome: Genome, columns: pd.Index, information: Mapping[str, Mapping[str, float]]
) -> float:
    return sum(
        information[child][parent]
        for child, parents in network(genome, columns)
        for parent in parents
    )


def crossover(one: Genome, two: Genome) -> Genome:
    j = random.randint(0, len(one[0]))
    return one[0], one[1][:j] + two[1][j:]


def order_flip(genome: Genome, rate: float) -> None:
    order = genome[0]
    for c in range(len(order)):
        if random.random() < rate:
            j = random.randint(0, len(order) - 1)
            order[c], order[j] = order[j], order[c]


def swap(genome: Genome, rate: float) -> None:
    order, sets = genome
    for j in range(len(order)):
        for g in [x for x in sets[j] if order.index(x) > order.index(j)]:
            into = [x for x in order if x not in sets[j] and order.index(x) < order.index(j)]
            if into:
                sets[j][sets[j].index(g)] = random.choice(into)
        for c in range(len(sets[j])):
            if random.random() < rate:
                into = [x for x in order if x not in sets[j] and order.index(x) < order.index(j)]
                if into:
                    sets[j][c] = random.choice(into)


def next_generation(elite: list[Genome], population: int, rate: float) -> list[Genome]:
    following = list(elite)
    while len(following) < population:
        genome = copy.deepcopy(random.choice(elite))
        if random.random() < rate:
            genome = copy.deepcopy(crossover(genome, random.choice(elite)))
        order_flip(genome, rate)
        swap(genome, rate)
        following.append(genome)
    return following


def search(
    information: pd.DataFrame,
    k: int,
    population: int = 200,
    elite: int = 10,
    generations: int = 400,
) -> tuple[float, Genome]:
    """Fitness and genome of the best network; ``information``: children in the rows, parents in
    the columns."""
    columns, table, d = information.columns, information.to_dict("index"), len(information)
    genomes = [initialization(d, k) for _ in range(population)]
    for _ in range(generations):
        genomes.sort(key=lambda g: -fitness(g, columns, table))
        genomes = next_generation(genomes[:elite], population, 1 / d)
    best = max(genomes, key=lambda g: fitness(g, columns, table))
    return fitness(best, columns, table), best

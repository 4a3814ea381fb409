"""Genetic structure search (Hittmeir, Mayer, Ekelhart 2022, section III), from associations alone.

An individual is an order of the d attributes and, for each, a set of exactly k others; those of
them that stand before it are its parents. A population is two arrays: orders (P, d), and sets
(P, d) as bit masks: bit a says whether attribute a is a member.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from ..errors import BudgetError, is_whole, show
from ..network import Network
from .restrictions import Permitted, Restriction

MOST = 100_000  # individuals, and generations
ROOM = 64  # attributes in one mask
ONE = np.uint64(1)


@dataclass(frozen=True)
class SearchResult:
    """The best order that a search found, its parents (bool (d, d), [child, parent]), its fitness.

    ``history``: fitness of the whole population, best first, float (generations + 1, P); ``orders``
    and ``networks``: the best individual of each generation. One row where there are none.
    """

    order: tuple[int, ...]
    parents: np.ndarray
    fitness: float
    history: np.ndarray
    orders: np.ndarray
    networks: np.ndarray

    def network(self, names: Sequence[str], generation: int = -1) -> Network:
        """The best network of a generation over named attributes."""
        order, parents = self.orders[generation], self.networks[generation]
        pairs = [(child, tuple(a for a in order if parents[child, a])) for child in order]
        return Network.of_columns(pairs, names)


@dataclass(frozen=True)
class Parameters:
    """P, S, r and e of the paper: population, elite, mutation rate (None: 1/d), generations.

    ``operators``: which of the paper's three make children; to see what each is worth.
    """

    population: int = 200
    elite: int = 10
    rate: float | None = None
    generations: int = 400
    operators: tuple[str, ...] = ("crossover", "flip", "swap")

    def __post_init__(self) -> None:
        for name in ("population", "elite", "generations"):
            if not is_whole(given := getattr(self, name), 1, MOST):
                raise BudgetError(
                    f"{name} must be a whole number of at most {MOST:,} and at "
                    f"least 1, got {show(given)}"
                )
        if self.population < self.elite:
            raise BudgetError(
                f"population = {self.population} is smaller than "
                f"elite = {self.elite}: the elite is a part of it"
            )
        r, real = self.rate, (int, float, np.number)
        if r is not None and (isinstance(r, bool) or not isinstance(r, real) or not 0 < r <= 1):
            raise BudgetError(
                f"r, the mutation rate, must lie in (0, 1], or be None for 1/d; got {show(r)}"
            )


def pose(weights: np.ndarray, k: int, permitted: Permitted | None) -> tuple[np.ndarray, Permitted]:
    """What a search maximises, float (d, d), and its policy; a k that can't be is refused."""
    d = len(weights)
    if not is_whole(k, 1, d - 1):
        raise BudgetError(f"k must be a whole number from 1 to d − 1 = {d - 1}, got {show(k)}")
    permitted = permitted or Restriction().on([str(j) for j in range(d)])
    permitted.check(k)
    return permitted.objective(weights), permitted


def genetic(
    weights: np.ndarray,
    k: int,
    generator: Generator,
    parameters: Parameters | None = None,
    permitted: Permitted | None = None,
    rate_all: Callable[[np.ndarray], np.ndarray] | None = None,
) -> SearchResult:
    """The best network of at most k parents per node that the genetic algorithm finds.

    Fitness is the sum of ``weights`` (d, d), [child, parent], over all edges; the paper's weights
    are pairwise mutual information. Parents of weight 0 add nothing and are left out of the result.
    ``rate_all``: another fitness, (P,) from masks (P, d) of the parents of each individual.
    """
    d, parameters = len(weights), parameters or Parameters()
    if d > ROOM:
        raise BudgetError(
            f"{d} attributes, but the genetic search has room for {ROOM}: use search='hill'"
        )
    objective, permitted = pose(weights, k, permitted)
    rate_all = rate_all or partial(_fitness, worth=_look_up(objective))
    rate = parameters.rate or 1 / d
    size, elite = parameters.population, parameters.elite
    orders, sets = initial(size, k, permitted, generator)
    population = [orders, sets, sets & before(orders) & pack(permitted.allowed)]
    fitness, kept = rate_all(population[2]), []
    for generation in range(parameters.generations + 1):
        ranked = np.argsort(-fitness, kind="stable")
        kept.append((fitness[ranked], population[0][ranked[0]], population[2][ranked[0]]))
        if generation < parameters.generations:
            ranked = ranked[:elite]
            best = [part[ranked] for part in population]
            new = offspring(
                best[0], best[1], size - elite, k, rate, permitted, generator, parameters.operators
            )
            fitness = np.concatenate([fitness[ranked], rate_all(new[2])])
            population = [np.concatenate(both) for both in zip(best, new, strict=True)]
    history, orders, parents = map(np.array, zip(*kept, strict=True))
    networks = spread(parents, d) & (objective > 0)
    bonus = (objective - weights)[permitted.forced].sum()
    return SearchResult(
        tuple(orders[-1].tolist()),
        networks[-1],
        float(weights[networks[-1]].sum()),
        history - bonus,
        orders,
        networks,
    )


def initial(
    size: int, k: int, permitted: Permitted, rng: Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Random orders; sets of random predecessors, others where those are too few (Initialization).

    Forced parents are taken first, the attribute itself never.
    """
    d = len(permitted)
    orders = rng.permuted(np.tile(np.arange(d), (size, 1)), axis=1)  # line 2
    if permitted.fixed_order or permitted.forced.any():
        orders = np.array([permitted.reorder(row) for row in orders.tolist()])
    key = rng.random((size, d, d)) + 9.0 * np.eye(d)
    key -= (spread(before(orders), d) & permitted.allowed) * 1.0 + permitted.forced
    return orders, pack(key <= np.partition(key, k - 1)[:, :, k - 1 : k])  # lines 5–7


def offspring(
    orders: np.ndarray,
    sets: np.ndarray,
    count: int,
    k: int,
    rate: float,
    permitted: Permitted,
    rng: Generator,
    operators: Sequence[str] = Parameters.operators,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Orders, sets and parents of mutated children of an elite (Next Generation, lines 2–10)."""
    elite, d = orders.shape
    one = rng.integers(elite, size=count)  # line 3
    two = np.where(rng.random(count) < rate, rng.integers(elite, size=count), one)  # lines 4–6
    cut = rng.integers(d + 1, size=count)
    if "crossover" not in operators:
        two = one
    new = np.where(np.arange(d) < cut[:, None], sets[one], sets[two])  # line 7, Crossover
    flipped = orders[one]
    if "flip" in operators:
        flipped = order_flip(flipped, rate, rng, len(permitted.fixed_order))  # line 8
    valid = before(flipped) & pack(permitted.allowed)
    if "swap" in operators:
        swap(new, valid, k, rate, rng)  # line 9
    return flipped, new, new & valid


def order_flip(orders: np.ndarray, rate: float, rng: Generator, fixed: int = 0) -> np.ndarray:
    """Each position but the first ``fixed`` trades with a random one with probability r."""
    orders, d = orders.copy(), orders.shape[1]
    row, position = np.nonzero(rng.random((len(orders), d - fixed)) < rate)
    other = rng.integers(fixed, d, size=len(row))
    turn = np.arange(len(row)) - np.searchsorted(row, row)  # the first, second, … of its individual
    for m in range(int(turn.max(initial=-1)) + 1):
        at = turn == m
        r, a, b = row[at], position[at] + fixed, other[at]
        orders[r, a], orders[r, b] = orders[r, b], orders[r, a]
    return orders


def swap(sets: np.ndarray, valid: np.ndarray, k: int, rate: float, rng: Generator) -> None:
    """Replace members that can't be parents, then each with probability r (procedure Swap).

    In place. ``valid`` (P, d): the attributes that precede and are permitted. A set has no order:
    its members are visited by column.
    """
    sets, valid = sets.reshape(-1), valid.reshape(-1)  # views
    rows = np.flatnonzero(sets & ~valid)
    while len(rows):  # lines 2–6: one broken member per set, while there is a predecessor to take
        rows = _trade(sets, valid, rows, _lowest(sets[rows] & ~valid[rows]), rng)
        rows = rows[sets[rows] & ~valid[rows] != 0]
    row, turn = np.nonzero(rng.random((len(sets), k), dtype=np.float32) < rate)
    left = sets[row]  # the members as they stand now
    for c in range(k):  # lines 7–12
        at = turn == c
        _trade(sets, valid, row[at], _lowest(left[at]), rng)
        left &= left - ONE


def _trade(
    sets: np.ndarray, valid: np.ndarray, rows: np.ndarray, gone: np.ndarray, rng: Generator
) -> np.ndarray:
    """Put a random valid non-member in the place of ``gone``; returns the rows that had one."""
    free = valid[rows] & ~sets[rows]
    some = free != 0
    rows, gone, free = rows[some], gone[some], free[some]
    bits = max(int(free.max(initial=0)).bit_length(), 1)
    chance = 1 - rng.random((len(rows), bits), dtype=np.float32)
    come = (spread(free, bits) * chance).argmax(axis=1).astype(np.uint64)
    sets[rows] ^= gone | ONE << come
    return rows


def before(orders: np.ndarray) -> np.ndarray:
    """The attributes that stand before each attribute: masks (P, d)."""
    bits = ONE << orders.astype(np.uint64)
    out = np.empty_like(bits)
    out[np.arange(len(orders))[:, None], orders] = bits.cumsum(axis=1) - bits
    return out


def spread(masks: np.ndarray, d: int) -> np.ndarray:
    """Bit masks (…,) as bool (…, d)."""
    return (masks[..., None] >> np.arange(d, dtype=np.uint64) & ONE).astype(bool)


def pack(members: np.ndarray) -> np.ndarray:
    """Bool (…, d) as bit masks (…,)."""
    bits = members << np.arange(members.shape[-1], dtype=np.uint64)
    return bits.sum(axis=-1, dtype=np.uint64)


def _lowest(masks: np.ndarray) -> np.ndarray:
    return masks & (~masks + ONE)


def _look_up(objective: np.ndarray) -> np.ndarray:
    """Sums of weights for every byte of a mask: float (8, d, 256), [byte, child, its value]."""
    d = len(objective)
    padded = np.pad(objective, ((0, 0), (0, ROOM - d))).reshape(d, 8, 8)
    return np.einsum("jcb,mb->cjm", padded, spread(np.arange(256, dtype=np.uint64), 8))


def _fitness(parents: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Sum of the weights of all parents of each individual (P,), from :func:`_look_up`."""
    d = parents.shape[1]
    octets = (parents >> np.uint64(8 * c) & np.uint64(255) for c in range(-(-d // 8)))
    return sum(worth[c, np.arange(d), octet].sum(axis=1) for c, octet in enumerate(octets))

"""Genetic structure search (Hittmeir, Mayer, Ekelhart 2022, section III): a function of an association matrix, never of records.

An individual is an order of the d attributes and, for each attribute, a set of exactly k others; those of them that stand before
the attribute are its parents. The whole population is two arrays: orders (P, d), and sets (P, d), the sets C_j as bit masks (bit a
says whether attribute a belongs to it), so that every step is arithmetic on 64-bit integers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import BudgetError
from ..network import Network
from .restrictions import Permitted, Restriction

ROOM = 64  # attributes in one mask
ONE = np.uint64(1)


@dataclass(frozen=True)
class SearchResult:
    """What a search found: the best order, its parents (bool (d, d), [child, parent]) and its fitness; and how it got there.

    ``history``: fitness of the whole population, best first, float (generations + 1, P). ``orders`` and ``networks``: the best
    individual of each generation, (generations + 1, d) and (generations + 1, d, d); one row where the search has no generations.
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
        return Network(tuple((names[j], tuple(names[a] for a in order if parents[j, a])) for j in order))


@dataclass(frozen=True)
class Parameters:
    """P, S, r and e of the paper: population, elite, mutation rate (None: 1/d), generations."""

    population: int = 200
    elite: int = 10
    rate: float | None = None
    generations: int = 400

    def __post_init__(self) -> None:
        for name, least in (("population", 1), ("elite", 1), ("generations", 1)):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
                raise BudgetError(f"{name} must be a whole number of at least {least}, got {given!r}")
        if self.population < self.elite:
            raise BudgetError(f"population = {self.population} is smaller than elite = {self.elite}: the elite is a part of it")
        if self.rate is None:
            return
        if isinstance(self.rate, bool) or not isinstance(self.rate, (int, float, np.number)) or not 0 < self.rate <= 1:
            raise BudgetError(f"r, the mutation rate, must lie in (0, 1], or be None for 1/d; got {self.rate!r}")


def genetic(
    weights: np.ndarray,
    k: int,
    generator: np.random.Generator,
    parameters: Parameters | None = None,
    permitted: Permitted | None = None,
) -> SearchResult:
    """The best network that the genetic algorithm finds for ``weights`` (d, d), [child, parent], with at most k parents a node.

    Fitness is the sum of the weights of all edges, as in the paper with pairwise mutual information. Parents of weight 0 are left
    out of the result: they add nothing to it.
    """
    parameters, d = parameters or Parameters(), len(weights)
    permitted = permitted or Restriction().on(range(d))  # type: ignore[arg-type]
    check_width(k, d, ROOM)
    permitted.check(k)
    objective, rate = permitted.objective(weights), parameters.rate or 1 / d
    size, elite, allowed, worth = parameters.population, parameters.elite, pack(permitted.allowed), _look_up(objective)
    orders, sets = initial(size, k, permitted, generator)
    parents = sets & before(orders) & allowed
    value = _fitness(parents, worth)
    kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for generation in range(parameters.generations + 1):
        best = np.argsort(-value, kind="stable")
        kept.append((value[best], orders[best[0]], parents[best[0]]))
        if generation < parameters.generations:
            best = best[:elite]
            new, new_sets, new_parents = offspring(orders[best], sets[best], size - elite, k, rate, permitted, generator)
            value = np.concatenate([value[best], _fitness(new_parents, worth)])
            orders, sets, parents = (np.concatenate([old[best], came]) for old, came in
                                     ((orders, new), (sets, new_sets), (parents, new_parents)))  # fmt: skip
    history, best_orders, best_parents = map(np.array, zip(*kept, strict=True))
    best_parents = spread(best_parents, d) & (objective > 0)
    surplus = (objective - weights)[permitted.forced].sum()
    order, edges = tuple(best_orders[-1].tolist()), best_parents[-1]
    return SearchResult(order, edges, float(weights[edges].sum()), history - surplus, best_orders, best_parents)


def check_width(k: int, d: int, most: int | float = math.inf) -> None:
    """Refuse sets of k parents among d attributes that can't exist, and more attributes than a search has room for."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k < d:
        raise BudgetError(f"k must be a whole number from 1 to d − 1 = {d - 1}, got {k!r}")
    if d > most:
        raise BudgetError(f"{d} attributes, but the genetic search has room for {most}: use search='hill'")


def initial(size: int, k: int, permitted: Permitted, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The first population (procedure Initialization): random orders; k random predecessors, others only where those are too few."""
    d = len(permitted)
    orders = generator.permuted(np.tile(np.arange(d), (size, 1)), axis=1)  # line 2
    if permitted.fixed_order or permitted.forced.any():
        orders = np.array([permitted.reorder(row) for row in orders.tolist()])
    # lines 5–7: random among predecessors, then among the others; forced parents first, the attribute itself never
    key = generator.random((size, d, d)) - (spread(before(orders), d) & permitted.allowed) - permitted.forced + 9.0 * np.eye(d)
    members = np.zeros((size, d, d), dtype=bool)
    np.put_along_axis(members, np.argpartition(key, k - 1, axis=2)[:, :, :k], True, axis=2)
    return orders, pack(members)


def offspring(
    orders: np.ndarray, sets: np.ndarray, count: int, k: int, rate: float, permitted: Permitted, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mutated children of an elite (procedure Next Generation, lines 2–10): their orders, sets and valid parents."""
    elite, d = orders.shape
    one = generator.integers(elite, size=count)  # line 3
    two = np.where(generator.random(count) < rate, generator.integers(elite, size=count), one)  # lines 4–6
    cut = generator.integers(d + 1, size=count)
    new = np.where(np.arange(d) < cut[:, None], sets[one], sets[two])  # line 7, Crossover
    turned = order_flip(orders[one], rate, generator, len(permitted.fixed_order))  # line 8
    valid = before(turned) & pack(permitted.allowed)
    swap(new, valid, k, rate, generator)  # line 9
    return turned, new, new & valid


def order_flip(orders: np.ndarray, rate: float, generator: np.random.Generator, fixed: int = 0) -> np.ndarray:
    """Each position trades its attribute with a random position, with probability r (procedure Order Flip); ``fixed`` ones don't move."""
    orders = orders.copy()
    d = orders.shape[1]
    row, position = np.nonzero(generator.random((len(orders), d - fixed)) < rate)
    other = generator.integers(fixed, d, size=len(row))
    turn = np.arange(len(row)) - np.searchsorted(row, row)  # the m-th flip of its individual: one of each can be done at once
    for m in range(int(turn.max(initial=-1)) + 1):
        at = turn == m
        r, a, b = row[at], position[at] + fixed, other[at]
        orders[r, a], orders[r, b] = orders[r, b], orders[r, a]
    return orders


def swap(sets: np.ndarray, valid: np.ndarray, k: int, rate: float, generator: np.random.Generator) -> None:
    """Repair members that may not be parents, then replace each with probability r (procedure Swap); changes ``sets`` in place.

    ``valid`` (P, d): the attributes that precede and are permitted. A set has no order: its members are visited by column.
    """
    sets, valid = sets.reshape(-1), valid.reshape(-1)  # views
    rows = np.flatnonzero(sets & ~valid)
    while len(rows):  # lines 2–6: one member a row at a time, until no row has both a broken member and a predecessor to take
        rows = _trade(sets, valid, rows, _lowest(sets[rows] & ~valid[rows]), generator)
        rows = rows[sets[rows] & ~valid[rows] != 0]
    row, turn = np.nonzero(generator.random((len(sets), k), dtype=np.float32) < rate)
    left = sets[row]  # the members as they stand now
    for c in range(k):  # lines 7–12
        at = turn == c
        _trade(sets, valid, row[at], _lowest(left[at]), generator)
        left &= left - ONE


def _trade(sets: np.ndarray, valid: np.ndarray, rows: np.ndarray, gone: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """In each row one member goes and a random valid non-member comes; returns the rows that had one."""
    free = valid[rows] & ~sets[rows]
    some = free != 0
    rows, gone, free = rows[some], gone[some], free[some]
    bits = max(int(free.max(initial=0)).bit_length(), 1)
    came = (spread(free, bits) * (1 - generator.random((len(rows), bits), dtype=np.float32))).argmax(axis=1)
    sets[rows] ^= gone | ONE << came.astype(np.uint64)
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
    return (members << np.arange(members.shape[-1], dtype=np.uint64)).sum(axis=-1, dtype=np.uint64)


def _lowest(masks: np.ndarray) -> np.ndarray:
    return masks & (~masks + ONE)


def _look_up(objective: np.ndarray) -> np.ndarray:
    """Sum of weights for each eight columns, child and byte of a mask: float (8, d, 256)."""
    wide = np.zeros((len(objective), ROOM))
    wide[:, : len(objective)] = objective
    return np.einsum("jcb,mb->cjm", wide.reshape(-1, 8, 8), spread(np.arange(256, dtype=np.uint64), 8))


def _fitness(parents: np.ndarray, worth: np.ndarray) -> np.ndarray:
    """Sum of the weights of all valid parents, one number an individual (P,)."""
    d = parents.shape[1]
    return sum(worth[c, np.arange(d), parents >> np.uint64(8 * c) & np.uint64(255)].sum(axis=1) for c in range(-(-d // 8)))

"""Searches for the network with the largest sum of pairwise associations; none sees a record.

The genetic algorithm of Hittmeir, Mayer, Ekelhart 2022 (:func:`genetic_search`), and what it is
measured against: the optimum, and climbs in the space of orders.

An individual is an order of the d attributes and, for each, a set of exactly k others; those of
them that stand before it are its parents. A population is two arrays: orders (P, d), and sets
(P, d) as bit masks: bit a says whether attribute a is a member.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.random import Generator

from ..core import BudgetError, Network, Permitted, Restriction, is_whole, show

MOST = 100_000  # individuals, and generations
ROOM = 64  # attributes in one mask
MOST_EXACT = 20  # attributes that the dynamic programme takes: its arrays have 2^d members
STARTS = 20  # climbs of a hill search
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
        return network_of(self.orders[generation], self.networks[generation], names)


def network_of(order: Sequence[int], parents: np.ndarray, names: Sequence[str]) -> Network:
    """The network of an order and its parents, bool (d, d) [child, parent]."""
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
            if not is_whole(value := getattr(self, name), 1, MOST):
                raise BudgetError(
                    f"{name} must be a whole number from 1 to {MOST:,}, got {show(value)}"
                )
        if self.population < self.elite:
            raise BudgetError(
                f"population = {self.population} is smaller than elite = {self.elite}: "
                "the elite is a part of it"
            )
        r, real = self.rate, (int, float, np.number)
        if r is not None and (isinstance(r, bool) or not isinstance(r, real) or not 0 < r <= 1):
            raise BudgetError(
                f"r, the mutation rate, must lie in (0, 1], or be None for 1/d; got {show(r)}"
            )


def check_room(search: str, d: int, free: int) -> None:
    """Refuse more attributes, or more of them to place, than a search has room for."""
    if search == "exact" and free > MOST_EXACT:
        raise BudgetError(
            f"{free} attributes to place, but search='exact' has room for "
            f"{MOST_EXACT}: use 'hill' or 'genetic'"
        )
    if search == "genetic" and d > ROOM:
        raise BudgetError(
            f"{d} attributes, but the genetic search has room for {ROOM}: use search='hill'"
        )


def pose(weights: np.ndarray, k: int, permitted: Permitted | None) -> tuple[np.ndarray, Permitted]:
    """What a search maximises, float (d, d), and its policy; a k that can't be is refused."""
    d = len(weights)
    if not is_whole(k, 1, d - 1):
        raise BudgetError(f"k must be a whole number from 1 to d − 1 = {d - 1}, got {show(k)}")
    permitted = permitted or Restriction().on([str(j) for j in range(d)])
    permitted.check(k)
    return permitted.objective(weights), permitted


def genetic_search(
    weights: np.ndarray,
    k: int,
    generator: Generator,
    parameters: Parameters | None = None,
    permitted: Permitted | None = None,
    rate_all: Callable[[np.ndarray], np.ndarray] | None = None,
) -> SearchResult:
    """The best network of at most k parents per node that the genetic algorithm finds.

    Fitness is the sum of ``weights`` (d, d), [child, parent], over all edges. Parents of weight 0
    are left out of the result. ``rate_all``: another fitness, (P,) from masks (P, d) of the parents
    of each individual.
    """
    d, parameters = len(weights), parameters or Parameters()
    check_room("genetic", d, d)
    objective, permitted = pose(weights, k, permitted)
    rate_all = rate_all or partial(_fitness, worth=_look_up(objective))
    rate = parameters.rate or 1 / d
    size, elite = parameters.population, parameters.elite
    orders, sets = initial(size, k, permitted, generator)
    population = [orders, sets, sets & before(orders) & pack(permitted.allowed)]
    fitness, trace = rate_all(population[2]), []
    for generation in range(parameters.generations + 1):
        ranked = np.argsort(-fitness, kind="stable")
        trace.append((fitness[ranked], population[0][ranked[0]], population[2][ranked[0]]))
        if generation < parameters.generations:
            ranked = ranked[:elite]
            best = [part[ranked] for part in population]
            new = offspring(
                best[0], best[1], size - elite, k, rate, permitted, generator, parameters.operators
            )
            fitness = np.concatenate([fitness[ranked], rate_all(new[2])])
            population = [np.concatenate(both) for both in zip(best, new, strict=True)]
    history, orders, parents = map(np.array, zip(*trace, strict=True))
    networks = spread(parents, d) & (objective > 0)
    bonus = (objective - weights)[permitted.forced].sum()
    order, best = tuple(orders[-1].tolist()), networks[-1]
    return SearchResult(order, best, float(weights[best].sum()), history - bonus, orders, networks)


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
    members = sets[row]  # as they stand now
    for c in range(k):  # lines 7–12
        at = turn == c
        _trade(sets, valid, row[at], _lowest(members[at]), rng)
        members &= members - ONE


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


def best_parents(
    order: Sequence[int],
    weights: np.ndarray,
    k: int,
    permitted: Permitted,
    sizes: Sequence[int] | None = None,
    cells: Fraction | float = math.inf,
) -> np.ndarray:
    """The heaviest permitted parents that an order leaves to each attribute: bool [child, parent].

    At most k of positive weight in a table of at most ``cells`` cells; forced parents always.
    """
    objective = permitted.objective(weights)
    parents, sizes = np.zeros(objective.shape, dtype=bool), sizes or [1] * len(objective)
    for i, child in enumerate(order):
        room = cells / sizes[child]
        for a in sorted(order[:i], key=(-objective[child]).__getitem__):
            fits = sizes[a] <= room and objective[child, a] > 0
            if parents[child].sum() < k and (fits or permitted.forced[child, a]):
                parents[child, a], room = True, room / sizes[a]
    return parents


def exact_search(weights: np.ndarray, k: int, permitted: Permitted | None = None) -> SearchResult:
    """The optimum for ``weights`` (d, d), [child, parent], by dynamic programming over subsets.

    F(S) = max over j in S of F(S∖j) + v_j(S∖j), with v_j(M) the sum of the k heaviest parents of j
    among M (after Silander and Myllymäki, UAI 2006). Ties go to the lower column.
    """
    objective, permitted = pose(weights, k, permitted)
    free = permitted.searchable
    m = len(free)
    check_room("exact", len(permitted), m)
    gain = [_gains(objective[j], k, free) for j in free]
    masks = np.arange(2**m)
    value, last = np.where(masks > 0, -np.inf, 0.0), np.zeros(2**m, dtype=np.int8)
    for size in range(1, m + 1):
        layer = masks[np.bitwise_count(masks) == size]
        for i in range(m):
            whole = layer[layer >> i & 1 == 1]
            rest = whole ^ 1 << i
            total = value[rest] + gain[i][rest]
            better = total > value[whole]
            value[whole[better]], last[whole[better]] = total[better], i
    order, mask = [], 2**m - 1
    while mask:
        order.append(free[last[mask]])
        mask ^= 1 << int(last[mask])
    return _result([*permitted.fixed_order, *reversed(order)], weights, k, permitted)


def _gains(w: np.ndarray, k: int, free: Sequence[int]) -> np.ndarray:
    """v(M), the sum of the k heaviest of w, for every subset M of the free attributes: (2^m,).

    The other attributes can always be taken. From the lightest attribute to the heaviest,
    ``best[c]`` is the best sum of c parents; one that is taken leaves c − 1 of the lighter ones.
    """
    m = len(free)
    best = [np.zeros((1,) * m)] * (k + 1)
    for a in np.argsort(w, kind="stable").tolist():
        if w[a] <= 0:
            continue
        sums = [best[0], *(w[a] + less for less in best[:-1])]
        if a in free:  # bit i of M is the (m−1−i)-th axis
            axis = m - 1 - free.index(a)
            sums = [np.concatenate(both, axis=axis) for both in zip(best, sums, strict=True)]
        best = sums
    return np.broadcast_to(best[k], (2,) * m).reshape(-1)


def hill(
    weights: np.ndarray, k: int, generator: Generator, permitted: Permitted | None = None
) -> SearchResult:
    """The best of several climbs in the space of orders, each from a random one, for any d.

    A step takes one attribute out and puts it back where the sum of the k heaviest predecessors of
    all nodes is largest; a climb ends when no step gains.
    """
    objective, permitted = pose(weights, k, permitted)
    fixed, climbs = len(permitted.fixed_order), []
    for _ in range(STARTS):
        order = permitted.reorder(generator.permutation(len(weights)).tolist())
        value, moved = -np.inf, True
        while moved:
            moved = False
            for j in generator.permutation(permitted.searchable).tolist():
                rest = [a for a in order if a != j]
                totals = _insertions(objective, k, rest, j)
                at = fixed + int(totals[fixed:].argmax())
                if totals[at] > value + 1e-12:
                    value, moved = float(totals[at]), True
                    order = [*rest[:at], j, *rest[at:]]
        climbs.append((value, order))
    _, order = max(climbs, key=lambda climb: climb[0])
    return _result(order, weights, k, permitted)


def _insertions(w: np.ndarray, k: int, rest: Sequence[int], j: int) -> np.ndarray:
    """Value of the order ``rest`` with j put at each of its len(rest) + 1 places."""
    m = len(rest)
    ahead = np.tri(m + 1, m, -1, dtype=bool)  # [place, the attributes before it]
    top = _heaviest(np.where(ahead[:-1], w[np.ix_(rest, rest)], 0.0), k)
    own = _heaviest(np.where(ahead, w[j, rest], 0.0), k).sum(axis=1)
    smallest = top.min(axis=1) if k <= m else np.zeros(m)
    extra = np.maximum(w[rest, j] - smallest, 0.0)  # what a node gains when j stands before it
    behind = np.append(extra[::-1].cumsum()[::-1], 0.0)
    return top.sum() + own + behind


def _heaviest(w: np.ndarray, k: int) -> np.ndarray:
    """The k largest of each row, in any order."""
    return -np.partition(-w, k - 1, axis=1)[:, :k] if k < w.shape[1] else w


def _result(order: list[int], weights: np.ndarray, k: int, permitted: Permitted) -> SearchResult:
    parents = best_parents(order, weights, k, permitted)
    value = float(weights[parents].sum())
    history, orders = np.array([[value]]), np.array([order])
    return SearchResult(tuple(order), parents, value, history, orders, parents[None])

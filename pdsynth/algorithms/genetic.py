"""GeneticBayes (Hittmeir, Mayer, Ekelhart 2022): a network searched for on pairwise associations.

The paper's genetic algorithm (:func:`genetic`) maximises a sum of associations and sees no record.
What it is measured against, the optimum and climbs in the space of orders, stands in ``baselines``.

An individual is an order of the d attributes and, for each, a set of exactly k others; those of
them that stand before it are its parents. A population is two arrays: orders (P, d), and sets
(P, d) as bit masks: bit a says whether attribute a is a member.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from ..core.agreement import AgreeByDefault
from ..core.budgets import Parts, Uniform
from ..core.curator import Curator, Pairs
from ..core.errors import BudgetError, check_word, door, is_whole, positive, show, tell, to_names
from ..core.network import Network, Permitted, Restriction
from ..core.noise import Noise
from ..core.recipe import Recipe
from ..core.schema import Facts
from ..core.structure import (
    MaxCells,
    Restricted,
    Shares,
    StructureResult,
    check_degree,
    check_width,
    parent_rule,
)
from .ppba import sketch_ties, symmetric_matrix

MOST = 100_000  # individuals, and generations
ROOM = 64  # attributes in one mask
MOST_EXACT = 20  # attributes that the dynamic programme takes: its arrays have 2^d members
STRONG = 0.25  # R of strongly tied attributes in the papers' tables: a public rule of thumb
ONE = np.uint64(1)
SEARCHES = ("genetic", "exact", "hill")
SEARCH_STEP = "pairwise associations"
PAIRS = "GA paper (Hittmeir et al. 2022), section III, footnote 7"
TABLES = "GA paper, section II (DataSynthesizer's tables)"


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


def genetic(
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


@dataclass(frozen=True)
class GeneticSearch(Restricted):
    """The network with the largest sum of pairwise associations that a ``search`` finds.

    ``search``: ``"genetic"`` with P, S, r (None: 1/d) and e, ``"exact"`` (at most 20 attributes to
    place) or ``"hill"``.
    """

    k: int | str = "auto"
    theta_usefulness: float = 4
    restriction: Restriction | None = None
    search: str = "genetic"
    population: int = 200
    elite: int = 10
    rate: float | None = None
    generations: int = 400

    split: ClassVar[Shares] = {"columns": Fraction(1, 3), "associations": Fraction(2, 3)}

    def check(self, facts: Facts) -> None:
        """Refuse impossible parameters and restrictions, and more attributes than fit a search."""
        self.parameters()
        check_word("search", self.search, SEARCHES)
        check_degree(self.k, facts.schema)
        super().check(facts)
        check_width(len(facts.schema), "a search on pairwise associations")
        check_room(self.search, len(facts.schema), len(self.permitted(facts).searchable))

    def asks(self, facts: Facts) -> Shares:
        """Columns and sketch, where a network is worth its noise and a search has pairs to use."""
        return self.split if self.limits(facts)[0] > 0 and self.permitted(facts).pairs else {}

    def learn(self, curator: Curator, shares: Shares, facts: Facts) -> StructureResult:
        """Associations, then the search.

        **Privacy:** noisy columns and one sketch for ε₁, over the pairs that the search may use
        (those with a sensitive attribute are dropped); every search on it is post-processing.
        """
        names, permitted, (k, cells) = facts.schema.names, self.permitted(facts), self.limits(facts)
        d, limit = len(names), "" if cells is None else f", tables of at most {int(cells):,} cells"
        rule = f"k = {k}{limit}" if k else "independent"
        if k == 0 or not permitted.pairs:
            shown = {"search_": None, "weights_": np.zeros((d, d))}
            return replace(self.policy_alone(facts, rule), attributes=shown)
        if self.noise_dominates(facts):
            self._warn(curator, facts)
        values, entry = self.sketch(curator, permitted.pairs, shares)
        weights = symmetric_matrix(  # what noise alone would give is taken off every value
            d, permitted.pairs, np.maximum(values - self.threshold(facts), 0)
        )
        result = self._search(weights, k, permitted, curator.noise)
        curator.note_post_processing(
            f"{self.search} search", (entry,), f"a network of at most {k} parents"
        )
        order, parents, sizes = result.order, result.parents, facts.schema.sizes
        if cells is not None:
            parents = best_parents(order, weights, k, permitted, sizes, cells)
        strength = {names[c]: float(weights[c, parents[c]].sum()) for c in order}
        return StructureResult(
            network_of(order, parents, names),
            strength,
            entry,
            known=self.known(facts),
            rule=rule,
            attributes={"search_": result, "weights_": weights},
        )

    def sketch(self, curator: Curator, pairs: Pairs, shares: Shares) -> tuple[np.ndarray, str]:
        """How strongly pairs of columns are tied, float (pairs,), and its ledger entry.

        A budget rule that needs columns has added its share to that of columns: it needs all.

        **Privacy:** the shares of columns and associations.
        """
        own = shares["associations"] * self.split["columns"] / self.split["associations"]
        return sketch_ties(
            curator, pairs, shares, SEARCH_STEP, PAIRS, alone=shares["columns"] == own
        )

    def parameters(self) -> Parameters:
        """P, S, r and e, checked."""
        return Parameters(self.population, self.elite, self.rate, self.generations)

    def threshold(self, facts: Facts) -> float:
        """The noise scale of the sketch, for R = Q / 2n."""
        epsilon1 = (facts.epsilon - facts.epsilon2) * self.split["associations"]
        pairs = len(self.permitted(facts).pairs)
        return float(facts.unit.scale(epsilon1, tables=pairs)) / (2 * facts.n)

    def limits(self, facts: Facts) -> tuple[int, Fraction | None]:
        """k, and under ``"auto"`` the largest number of cells; 0 where no network is worth it."""
        rule, cells = parent_rule(self.k, facts, positive("theta", self.theta_usefulness)), None
        k = getattr(rule, "k", 0)
        if isinstance(rule, MaxCells):
            sizes, cells = sorted(facts.schema.sizes), rule.cells
            parents = range(1, min(len(sizes), rule.most + 1))
            k = max(m for m in parents if math.prod(sizes[: m + 1]) <= cells)
        if isinstance(self.k, str) and k:
            forced = int(self.permitted(facts).forced.sum(axis=1).max())
            k = 0 if self.noise_dominates(facts) else max(k, forced)
        return k, cells

    def noise_dominates(self, facts: Facts) -> bool:
        """Whether the largest of m noise values is expected above what strong ties reach."""
        pairs = max(len(self.permitted(facts).pairs), math.e)
        return self.threshold(facts) * math.log(pairs) > STRONG

    def _search(
        self, weights: np.ndarray, k: int, permitted: Permitted, noise: Noise
    ) -> SearchResult:
        if self.search == "exact":
            return door("baselines").exact_search(weights, k, permitted)
        generator = noise.child("search").generator()
        if self.search == "hill":
            return door("baselines").hill(weights, k, generator, permitted)
        return genetic(weights, k, generator, self.parameters(), permitted)

    def _warn(self, curator: Curator, facts: Facts) -> None:
        pairs, epsilon1 = len(self.permitted(facts).pairs), float(facts.epsilon - facts.epsilon2)
        words = (
            f"the sketch of {pairs} associations on n = {facts.n:,} records at ε₁ = {epsilon1:.3g} "
            f"has noise of scale {self.threshold(facts):.2g}, and strongly tied attributes have "
            f"about {STRONG}: many edges will be chance. Choose a larger epsilon, or k='auto'"
        )
        curator.ledger.notes.append(words)
        tell(words, 5)


@dataclass(eq=False, repr=False, kw_only=True)
class GeneticBayes(Recipe):
    """The network that a genetic algorithm finds for pairwise associations, and custom networks.

    Parameters
    ----------
    epsilon, k, theta_usefulness, guarantee, noise, random_state : as in PrivBayes.
    population, elite, r, generations : P, S, r (None: 1/d) and e of the paper; its defaults (e: 400
        as for CMC and Adult).
    target, sensitive : the custom network of section IV: the target is the root, each sensitive
        attribute (one name or several) has it as its only parent and is nobody's parent. What goes
        with a sensitive attribute tells it, too: name both.
        ``restriction`` says the same, and forced or forbidden edges; give one of the two.
    search : ``"genetic"``, ``"exact"`` (the optimum of the same objective, at most 20 attributes to
        place) or ``"hill"``.
    share_structure : β, share of ε for single columns and associations, as 1 : 2.
    reconcile : ``Agree()`` where None; ``AsMeasured()`` leaves tables as they were measured.

    Attributes
    ----------
    search_ : :class:`SearchResult`, None where there was nothing to search.
    weights_ : float (d, d), the associations that the search saw.

    **Privacy:** strict: pure ε-DP under replacing one record: noisy columns and a sketch of R (βε;
    none of a sensitive attribute), any search as post-processing, and d noisy tables. A sensitive
    attribute's loss, (1−β)ε/d (ε/d without a network), is known before the run.
    """

    k: int | str = "auto"
    population: int = 200
    elite: int = 10
    r: float | None = None
    generations: int = 400
    target: str | None = None
    sensitive: str | Sequence[str] = ()
    restriction: Restriction | None = None
    search: str = "genetic"
    share_structure: float = 0.3
    theta_usefulness: float = 4

    def _parts(self, facts: Facts) -> Parts:
        policy = self.restriction
        if policy is None:
            policy = Restriction(self.target, self.sensitive)  # type: ignore[arg-type]
        elif self.target is not None or to_names("sensitive", self.sensitive):
            raise BudgetError("give either target= and sensitive=, or restriction=, not both")
        parameters = self.population, self.elite, self.r, self.generations
        structure = GeneticSearch(self.k, self.theta_usefulness, policy, self.search, *parameters)
        return Parts(structure, Uniform(TABLES), reconcile=AgreeByDefault())

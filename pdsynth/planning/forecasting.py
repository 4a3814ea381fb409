"""A forecast of the mean two-way distance of each method, from public facts and a prior.

A forecast of the mean two-way distance D (total variation) of n records over a schema at ε:
D² = (ρ q)² + v² + s². q says how strongly two columns hang together where nothing else is known; ρ,
which part of that a method's tables leave unexplained; v, the expected noise of a two-way table
(zero-sum where it is small; where a larger table tells it, of sums, and what clipping adds), which
clipping keeps below 1; s, what n sampled rows add. q and ρ are the :class:`Prior`: medians over
public tables (``prior.csv``, by ``benchmarks/prior.py``). Two floors hold at any ε: s, and for
ConsistentBayes the pairs that no clique of permitted size holds, of which a network of three
parents tells the most that the prior knows. ``DOUBT``, ``AGREED`` and ``ALONE`` were chosen by
looking at Adult, NLTCS and CMC. The yardsticks' page holds advice against what was measured, each
table under the prior of the others; ``figures/advice.csv`` does so with few repeats on all tables,
and where columns are independent. There the forecast is wrong, but ConsistentBayes, which looks
before it measures more than single columns, loses little to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..algorithms import ALONE as ALONE_SHARE
from ..algorithms import (
    COLUMNS_RHO,
    LARGEST_SET,
    MANY,
    MOST_CANDIDATES,
    SET_CELLS,
    ConsistentBayes,
    PrivBayes,
    chance_of_columns,
    clique_limit,
    share_of_columns,
    share_of_look,
)
from ..baselines import Independent, JTree
from ..binning import share_of_edges
from ..core import (
    ALL_PAIRS,
    MAX_PAIRS,
    Attribute,
    Facts,
    Noise,
    Recipe,
    Schema,
    Unit,
    as_fraction,
    largest_selection,
)
from .cells import cells_of_pairs, expected_noise, free_cells
from .costs import Cost
from .one_table import FOR_COLUMNS, by_chance, clipped, size_of, tells_most, told

WIDEST = 6 * ALL_PAIRS  # numbers of tables that are compared
SINGLE, RECIPE = "baselines.Independent", "ConsistentBayes"
DOUBT = 1.07  # ConsistentBayes stands first unless another method is so many times nearer
AGREED, ALONE = 0.7, 1.4  # noise that agreement leaves; of a chain of tables, clipped
TOLD = 0.45  # noise of columns that tables hold, too


@dataclass(frozen=True)
class Prior:
    """What is assumed of a table that nobody has read.

    ``dependence``: the mean two-way distance from independent columns. What models leave of it:
    ``tree``, a tree of pairs (t tables leave tree^(t / (d − 1))); ``degrees``, networks of k = 1,
    2, … parents.
    """

    dependence: float
    tree: float
    degrees: tuple[float, ...]


@cache
def prior(*without: str) -> Prior:
    """Medians over the public tables in ``prior.csv``, but those that are to be judged."""
    rows = pd.read_csv(Path(__file__).with_name("prior.csv"), index_col="table")
    middle = rows.drop(index=[*without]).median()
    return Prior(middle["dependence"], middle["tree"], (*middle[["k=1", "k=2", "k=3"]],))


@dataclass(frozen=True)
class Forecast:
    """A method with its expected two-way distance, seconds of one core and MiB of memory.

    ``delta``: of a promise that isn't pure.
    """

    name: str
    make: Callable[..., Recipe]
    distance: float
    seconds: float
    megabytes: float
    delta: float | None = None

    @property
    def adapts(self) -> bool:
        """Whether it is ConsistentBayes, which adapts to what it finds: pure, or with a δ."""
        return self.name == RECIPE or self.delta is not None


def forecasts(
    schema: Schema,
    n: int,
    epsilon: float,
    given: Prior | None = None,
    noise: Noise | None = None,
    relation: str = "replace_one",
    delta: Fraction | None = None,
) -> list[Forecast]:
    """Every candidate, the nearest first; ConsistentBayes, which without groups adapts to what it
    finds, before what is hardly nearer, its rounds before a forest of the same forecast, and single
    columns before all where no ties could be strong enough for more. Of ``relation``, how
    neighbours differ, those that offer it. With ``delta`` ConsistentBayes stands there twice, pure
    and with it: pure ε promises more, so it goes before what is hardly nearer.

    **Privacy:** a function of n, ε and the schema, which are public. Where records are added or
    removed, n must be a public guess.
    """
    facts = Outlook(schema, n, epsilon, given, noise, relation)
    private = sum(bool(a.private) for a in schema.attributes)
    cost, d = Cost(n, schema.sizes, private), facts.d
    forest = cost.forest(facts.pairs)
    nearest, seconds, megabytes = facts.recommended(cost)
    candidates = [Forecast(SINGLE, Independent, facts.independent(), *cost.degree(0))]
    if d <= ALL_PAIRS:  # else it would be refused
        candidates += [
            Forecast(RECIPE, ConsistentBayes, nearest, seconds, megabytes),
            Forecast(
                "ConsistentBayes(rounds=0)",
                partial(ConsistentBayes, rounds=0),
                max(nearest, facts.of_pairs()),  # rounds may take pairs, too
                *forest,
            ),
        ]
    if delta is not None:
        chance = float(delta)
        make, name = partial(ConsistentBayes, delta=chance), f"{RECIPE}(delta={chance:g})"
        expected = Outlook(schema, n, epsilon, given, noise, relation, delta).recommended(cost)
        candidates.append(Forecast(name, make, *expected, chance))
    for k in range(1, min(len(facts.prior.degrees), d - 1) + 1):
        if not facts.hidden and largest_selection(d, k) <= MAX_PAIRS:  # else it would be refused
            candidates.append(
                Forecast(
                    f"PrivBayes(k={k})", partial(PrivBayes, k=k), facts.degree(k), *cost.degree(k)
                )
            )
    if d <= ALL_PAIRS and not facts.hidden:
        candidates.append(Forecast("baselines.JTree", JTree, facts.junction(), *cost.degree(1)))
    hopeless = share_of_columns(1.0, facts.mass, schema.sizes) > ALONE_SHARE
    first = SINGLE if hopeless or d == 1 else RECIPE
    doubt = DOUBT if facts.looks else 1

    def order(f: Forecast) -> float:
        if f.delta is not None:
            return f.distance * DOUBT
        return f.distance * (1 if f.name.startswith(first) else doubt)

    candidates.sort(key=order)
    return [replace(f, distance=min(f.distance, 1.0)) for f in candidates]  # no distance is larger


def count_in(whole: Fraction, relation: str, delta: Fraction | None) -> tuple[Unit, Fraction]:
    """What neighbours differ in, and the budget: ε itself, or the ρ of (ε, δ)."""
    if delta is None:
        return Unit(relation), whole
    from ..concentrated import ConcentratedUnit, rho_of  # noqa: PLC0415 - where δ is given

    return ConcentratedUnit(relation), rho_of(whole, delta)


class Outlook:
    """Public numbers of a table, and the forecasts made of them.

    ``whole``: cells of the table of all columns, where ConsistentBayes measures it alone; else 0.
    ``wasteful``: n is secret, and ties would be too weak for tables if somebody could ask.
    ``both``: all pairs of columns; of more than ALL_PAIRS columns, those of so many that stand
    evenly among all when these are sorted by size.
    """

    def __init__(
        self,
        schema: Schema,
        n: int,
        epsilon: float,
        given: Prior | None = None,
        noise: Noise | None = None,
        relation: str = "replace_one",
        delta: Fraction | None = None,
    ) -> None:
        whole = as_fraction(float(epsilon))
        self.unit, budget = count_in(whole, relation, delta)
        budget *= (1 - share_of_edges(schema)) * left(relation)
        self.prior, self.hidden = given or prior(), not self.unit.n_is_public
        self.noise = noise, self.hidden or delta is not None  # as expected_noise takes it
        self.size = np.array(schema.sizes, dtype=float)
        self.n, self.d, self.power = n, len(schema), self.unit.power
        moved = self.unit.moved
        self.mass, self.shared = (self.unit.as_pure(budget, t) * 2 / moved * n for t in (1, self.d))
        self.both = spread_pairs(self.size)
        self.table = float(np.median(cells_of_pairs(schema, *self.both)))
        self.pairs = math.comb(self.d, 2)
        self.sets, self.members = self.pairs, 2  # candidates, and the columns of most of them
        for m in range(3, LARGEST_SET + 1):
            sets = self.sets + math.comb(self.d, m)
            if self.d < m or self.size.max() ** m > SET_CELLS or sets > MOST_CANDIDATES:
                break
            self.sets, self.members = sets, m
        self.typical = float(np.exp(np.log(self.size).mean()))
        sizes = [int(s) for s in self.size]
        careful = sum(group == "A" for group in schema.groups.values())
        self.grouped = 0 < careful < self.d  # all alike is as without groups
        self.looks = not (self.grouped or self.hidden)  # else all shares are public
        self.facts = Facts(schema, n, budget, "strict", budget, self.unit)  # as with n counted
        self.whole = 0
        if not self.grouped and tells_most(self.facts):
            self.whole = schema.cells(schema.names)
        self.ties, look = 0.0, 0.0
        if not self.grouped:
            self.ties = share_of_columns(self.prior.dependence, self.shared, sizes)
        self.wasteful = self.hidden and self.ties > ALONE_SHARE
        if self.hidden:
            self.ties = min(self.ties, float(ALONE_SHARE))
        if self.looks:
            look = float(share_of_look(sizes))
        self.beside = FOR_COLUMNS if delta is None else float(COLUMNS_RHO)
        least = min(self.beside, float(self.size.mean()) / 20) if delta is None else self.beside
        self.one_way = max(least, self.ties**self.power)
        self.tables = 0.8 * (1 - look - self.one_way)

    def sampled(self) -> np.ndarray:
        """What n rows of each pair show by chance."""
        i, j = self.both
        return by_chance(self.size[i] * self.size[j], self.n)

    def too_fine(self) -> np.ndarray:
        """The columns whose values have more expected noise than their mean count, as booleans.

        As ConsistentBayes measures columns beside pairs: .3 of ε for all, ε_j in proportion to
        √|X_j|, noise of scale 2/ε_j on each of |X_j| values, whose mean count is n/|X_j|.
        """
        return (2 * self.one_by_one(self.beside) > self.mass) & (self.whole == 0)

    def one_by_one(self, part: float) -> np.ndarray:
        """The noise of each column in all its values, of tables that share a part of the budget.

        Each has of it in proportion to √values, with a δ to values^(2/3).
        """
        roots = self.size ** (self.power / (self.power + 1))
        cells = expected_noise(self.size, *self.noise) * self.size
        return np.asarray(cells * self.of_part(part * roots / roots.sum()))

    def unheld(self) -> float:
        """The part of the pairs that no junction tree of cliques of permitted size can hold.

        Cliques of c typical columns hold at most (d − c)(c − 1) + c(c − 1)/2 of d(d − 1)/2 pairs.
        """
        room = clique_limit(self.mass, self.d, self.power)
        c = min(max(math.log(room) / math.log(self.typical), 2.0), float(self.d))
        return 1 - ((self.d - c) * (c - 1) + c * (c - 1) / 2) / max(self.pairs, 1)

    def independent(self) -> float:
        """Columns with ε/d each: v = d (free cells of X_i and X_j) / (ε n)."""
        columns = self.d * free_cells(self.size, *self.noise) / self.shared
        return self.distance(1.0, self.pair(columns))

    def of_part(self, part: np.ndarray | float) -> Any:
        """How many times the noise of all of the budget a part of it has: 1/part, or its root."""
        return part ** (-1 / self.power)

    def recommended(self, cost: Cost) -> tuple[float, float, float]:
        """Distance, seconds and MiB of ConsistentBayes."""
        d, members = self.d, self.members
        if self.whole:
            return self.at_once(), *cost.look(0)
        nearest, tables = self.consistent(6 * d, members)
        if d > MANY:
            return nearest, *cost.forest(self.pairs)
        seconds, megabytes = cost.rounds(self.sets, max(tables, d / 2), self.mass, self.power)
        if self.looks:  # in the mean over fits that stop after the look and others
            alone = chance_of_columns(self.facts, self.prior.dependence)
            seconds = alone * cost.look(self.pairs)[0] + (1 - alone) * seconds
        return nearest, seconds, megabytes

    def consistent(self, most: int, members: int) -> tuple[float, int]:
        """The distance at the best number of tables, at most ``most``, and that number, under the
        shares of ConsistentBayes, but for those of columns beside tables: 2 % at most. ``members``:
        columns of a table, two in a forest.

        As single columns at worst: that is what it measures where ties are too weak. Groups leave
        no such choice, nor does a secret n: there a few tables are measured all the same, and
        columns that none holds have their own noise alone.
        """
        alone = self.independent(), 0
        if self.ties > ALONE_SHARE:
            return alone
        # what tables tell of their columns
        evidence = self.one_way + self.tables / self.size.mean()
        columns = self.pair(TOLD * self.one_by_one(evidence) / self.mass)
        bare = self.pair(self.one_by_one(self.one_way) / self.mass)  # that no table holds
        # the sums of a larger table that tell a pair have the noise of √(its cells · the pair's)
        whole, cells = self.table, self.table
        if members > 2:
            whole, cells = self.typical**members, self.typical ** (members / 2 + 1)
        cells *= float(expected_noise(np.array([whole]), *self.noise)[0])
        edges = members - 1
        floor = self.unheld() * self.prior.degrees[-1]

        def at(t: int) -> float:
            rest = max(self.prior.tree ** (t * edges / max(self.d - 1, 1)), floor)
            noise = AGREED * cells * self.of_part(self.tables / t) / self.mass
            held = min(t * members / self.d, 1.0) if self.wasteful else 1.0
            return self.distance(rest, noise, held * columns + (1 - held) * bare)

        if self.grouped:  # measures about half as many tables as columns, or more
            return min((at(t), t) for t in numbers_of_tables(most) if 2 * t >= min(self.d, most))
        if self.hidden:  # doesn't look either, but stops after few tables
            return min((at(t), t) for t in numbers_of_tables(most))
        return min(alone, *((at(t), t) for t in numbers_of_tables(most)))

    def of_pairs(self) -> float:
        """A forest's distance: of a chain its pairs tell what larger sets do; of one factor less.

        So it lies in the middle between the two (a geometric mean).
        """
        most = self.d - 1
        return math.sqrt(math.prod(self.consistent(most, m)[0] for m in (2, self.members)))

    def at_once(self) -> float:
        """The table of all columns for all of ε. Balanced rows have its counts, and add nothing."""
        i, j = self.both
        noise = float(free_cells(np.array([self.whole]), *self.noise)[0]) / self.mass
        scale = 2 * self.n / self.mass
        size = float(size_of(scale)) / scale if self.power == 1 else 1.0
        pairs = told(self.size[i] * self.size[j], self.whole, noise, size)
        return float(pairs.mean())

    def degree(self, k: int) -> float:
        """PrivBayes: d − k tables for .7 of ε. One table is no chain."""
        tables = self.d - k
        return self.families(k, tables / (0.7 * self.mass), ALONE if tables > 1 else 1)

    def families(self, k: int, each: float, chain: float) -> float:
        """Tables of a pair and k − 1 typical columns, whose noise is ``each`` a free cell.

        Cells are summed to those of a pair, and their noise cancels as the root of their number.
        What clipping adds doesn't: see :func:`clipped`. Of a pair's own table it is in ``chain``.
        """
        noise = each * self.cells(k + 1)
        added = clipped(noise) - clipped(each * self.cells(2))
        noise *= chain * self.typical ** ((1 - k) / 2) / (1 + added)
        return self.distance(self.prior.degrees[k - 1], noise, added)

    def cells(self, columns: int) -> np.ndarray:
        """Free cells of a table of so many columns that holds a pair: one number for every pair."""
        pairs = self.size[self.both[0]] * self.size[self.both[1]]
        return free_cells(pairs * self.typical ** (columns - 2), *self.noise)

    def junction(self) -> float:
        """At most d clique tables for half of ε, at the best size, or none but columns."""
        alone = self.distance(
            1.0, self.pair(2 * self.d * free_cells(self.size, *self.noise) / self.mass)
        )
        degrees = range(1, len(self.prior.degrees) + 1)
        return min(alone, *(self.families(k, 2 * self.d / self.mass, ALONE) for k in degrees))

    def pair(self, columns: np.ndarray) -> np.ndarray:
        """The noise of every pair of columns from the noise of each."""
        return columns[self.both[0]] + columns[self.both[1]]

    def distance(self, rest: float, *noises: float | np.ndarray) -> float:
        """√(ρ² (q² + s²) + Σ v² + s²), each below 1; the mean over pairs.

        Few records look tied by chance, s, too: what leaves out ties leaves out that. And the rows
        that are drawn show as much once more.
        """
        *noise, chance = ((v / (1 + v)) ** 2 for v in (*noises, self.sampled()))
        square = rest**2 * (self.prior.dependence**2 + chance) + sum(noise) + chance
        return float(np.mean(np.sqrt(square)))


def spread_pairs(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of columns, or of ALL_PAIRS of more, which stand evenly among them by size."""
    columns = np.arange(len(size))
    if len(size) > ALL_PAIRS:
        even = np.linspace(0, len(size) - 1, ALL_PAIRS).round().astype(int)
        columns = np.sort(np.argsort(size, kind="stable")[even])
    i, j = np.triu_indices(len(columns), 1)
    return columns[i], columns[j]


@cache
def left(relation: str) -> Fraction:
    """The part of ε that is left where the number of records, if it is secret, was counted."""
    bits = Schema(tuple(Attribute.categorical(name, [0, 1]) for name in "ab"))
    return Independent(1, relation=relation).prepare(bits, 1).facts.epsilon


def as_replaced(epsilon: Fraction, unit: Unit) -> Fraction:
    """The ε of replacing one record at which tables have as much noise."""
    return epsilon * 2 / unit.moved


def numbers_of_tables(most: int) -> list[int]:
    """1, 2, … ``most``; where these are too many, as many as WIDEST, each a little larger."""
    if most <= WIDEST:
        return list(range(1, most + 1))
    return np.unique(np.geomspace(1, most, WIDEST).round().astype(int)).tolist()

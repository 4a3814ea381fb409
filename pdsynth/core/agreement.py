"""Noisy tables that overlap are made to agree.

The distribution on a junction tree that is closest to noisy tables: the squares of Private-PGM
(McKenna, Sheldon, Miklau 2019), by belief propagation and accelerated mirror descent (Tseng 2008,
algorithm 1) in numpy. Where that tree is too large, tables agree in pairs (``baselines``).

**Privacy:** all of it is post-processing of releases.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import ClassVar

import numpy as np

from .budgets import AsMeasured, Reconcile
from .errors import door, plural, positive
from .factors import (
    CliqueTree,
    Columns,
    Distribution,
    JunctionTree,
    Place,
    eliminate_smallest,
    fold,
    junction_tree,
    log_cells,
    may_join,
)
from .measures import marginalise, project
from .network import Network
from .schema import Facts, Mask
from .structure import Measurement
from .unit import Scale
from .views import Merging

MOST_CELLS = 2**20  # of a junction tree; beyond it tables agree pairwise
WEIGHT = 2**20  # one record in the integer tables of a model whose cells are real numbers
STEPS = 3_000  # of mirror descent at most
LEAST = 1e-12  # of n, in a cell of a first guess
EXACT = 0.05  # of the loss that noise alone would have: a smaller gain isn't worth a step
DECLARED = 2**21  # cells of all tables of a network with merged values: its file stays readable
PATIENCE = 20  # steps over which the loss must fall by less than the tolerance
PRECISE = 100  # times the largest weight of a table of several columns: a single column's at most
EVEN = 1  # the same where a fit has few steps
RARE = 3  # standard deviations of its noise: a value with a smaller count is mostly noise
MERGED = 0.1  # of all records at most, that merged values hold: what ties tell of these is lost


# --- the parts of a recipe -----------------------------------------------------------------------


@dataclass(frozen=True)
class Agree(Reconcile):
    """All tables at once: the closest ones that agree where they overlap.

    Non-negative, of sum n, closest in squares weighted by 1/scale², so every attribute profits from
    every table that holds it; 0 where a rule of the schema says that no record can be. Where the
    junction tree of the network has more than 2^20 cells, tables agree on what any two share, as
    PriView's do (:mod:`pdsynth.baselines.pairs`). ``tolerance``: the fit ends where its loss falls
    by less than this part; two-way distances of four tables change by less than 0.5 % between 0.01
    and 0.0002 (``benchmarks/reasons.csv``). Noisy conditionals stay as they are, since they aren't
    counts; so do exact tables, unless a structure has measured others.

    **Privacy:** post-processing: the ledger doesn't change.
    """

    tolerance: float = 0.01

    most_cells: ClassVar[int] = MOST_CELLS
    must_stay: ClassVar[bool] = True
    exact: ClassVar[bool] = False  # whether tables have no noise, so that they agree already

    def check(self, facts: Facts) -> None:
        """Refuse a tolerance that isn't positive."""
        positive("tolerance", self.tolerance)

    def reconcile(
        self, measured: Sequence[Measurement], network: Network, facts: Facts
    ) -> tuple[np.ndarray, ...]:
        """One table per pair of the network, child first, in units of 2^-20 record."""
        pairs = [(child, *parents) for child, parents in network.pairs]
        own = {*pairs} <= {m.attributes for m in measured}
        if own and (self.exact or not all(m.counts for m in measured)):
            return AsMeasured().reconcile(measured, network, facts)
        columns = {name: j for j, name in enumerate(facts.schema.names)}
        families = [tuple(columns[name] for name in pair) for pair in pairs]
        noisy = [noisy_table(m, columns) for m in measured]
        merging = next((m.merging for m in measured if m.merging is not None), None)
        if merging is None:
            return tuple(map(integer_weights, self._agreed(noisy, families, facts)))
        shares = shares_of_members(noisy, merging)
        merged = merge_columns(noisy, merging)
        agreed = self._agreed(merged, families, facts, merging.sizes)
        return tuple(
            integer_weights(merging.spread(table, family, shares))
            for table, family in zip(agreed, families, strict=True)
        )

    def _agreed(
        self,
        noisy: Sequence[NoisyTable],
        families: Sequence[Columns],
        facts: Facts,
        sizes: tuple[int, ...] = (),
    ) -> list[np.ndarray]:
        """One table per family, of sum n, axes in its order; ``sizes``: of merged values.

        Rules are left to the model's samples where their cliques make the tree too large.
        """
        views, n, masks = [t.columns for t in noisy], facts.n, facts.schema.masks
        holders = [[i for i, v in enumerate(views) if {*f} <= {*v}] for f in families]
        for ruled in (masks, ()) if masks else ((),):
            scopes = (*families, *views, *(columns for columns, _ in ruled))
            edges = {e for scope in scopes for e in combinations(sorted(scope), 2)}
            tree = CliqueTree(junction_tree(len(facts.schema), edges), sizes or facts.schema.sizes)
            small = sum(map(math.prod, tree.shapes)) <= self.most_cells
            if small or (not ruled and not all(holders)):
                noisy = limit_columns(noisy, PRECISE)
                fit = fit_tables(tree, noisy, n, masks=ruled, tolerance=self.tolerance)
                return [fit.margin(family) for family in families]
        agreed = door("baselines").agree_in_pairs([t.counts for t in noisy], views, n)
        return [
            marginalise(agreed[i], views[i], family)
            for (i, *_), family in zip(holders, families, strict=True)
        ]


class AgreeByDefault(Agree):
    """As :class:`Agree`, of recipes that measure single columns, too.

    A user may leave tables as they were measured (``AsMeasured()``); under other guarantees than
    strict they stay so.
    """

    must_stay = False


def integer_weights(table: np.ndarray) -> np.ndarray:
    """Real counts as int64: as they are where all are whole, else in units of 2^-20 record."""
    unit = 1 if np.abs(table - np.rint(table)).max() < 1e-6 else WEIGHT
    return np.rint(table * unit).astype(np.int64)


# --- least squares on a junction tree ------------------------------------------------------------


@dataclass(frozen=True)
class NoisyTable:
    """Noisy counts of some columns, rising, one axis each; ``weight``: 1/scale², maybe by cell."""

    columns: Columns
    counts: np.ndarray
    weight: float | np.ndarray


def noisy_table(measured: Measurement, columns: dict[str, int]) -> NoisyTable:
    """A measurement over rising columns, each cell weighted by 1/scale²."""
    places = [columns[name] for name in measured.attributes]
    order = np.argsort(places)
    if isinstance(measured.scale, tuple):
        rows = np.array([1 / float(b) ** 2 for b in measured.scale])
        rows = rows.reshape(-1, *[1] * (len(places) - 1))
        weight: float | np.ndarray = np.transpose(
            np.broadcast_to(rows, measured.table.shape), order
        )
    else:
        weight = 1 / float(measured.scale) ** 2
    counts = np.transpose(np.asarray(measured.table, dtype=float), order)
    return NoisyTable(tuple(sorted(places)), counts, weight)


def merge_columns(noisy: Sequence[NoisyTable], merging: Merging) -> list[NoisyTable]:
    """Tables of single columns over merged values; those of several stand over them already.

    The noise of m counts adds up, so their sum weighs 1/m of one of them.
    """

    def merged(table: NoisyTable) -> NoisyTable:
        codes = merging.codes[table.columns[0]]
        members = np.bincount(codes)
        if len(table.columns) > 1 or members.max() == 1:
            return table
        weight = np.bincount(codes, np.broadcast_to(table.weight, codes.shape)) / members**2
        return NoisyTable(table.columns, np.bincount(codes, table.counts), weight)

    return [merged(table) for table in noisy]


def shares_of_members(noisy: Sequence[NoisyTable], merging: Merging) -> list[np.ndarray]:
    """The part of its merged value that each value has: float (|X|,) for each column.

    In proportion to its noisy count, at least a tenth of this count's standard deviation. Counts of
    several tables of a column are averaged by weight.
    """
    shares = []
    for j, codes in enumerate(merging.codes):
        own = [t for t in noisy if t.columns == (j,)]
        weight = sum(np.broadcast_to(t.weight, codes.shape) for t in own)
        counts = sum(t.weight * t.counts for t in own) / weight
        counts = np.maximum(counts, np.sqrt(2 / weight) / 10)
        shares.append(counts / np.bincount(codes, counts)[codes])
    return shares


def merge_rare(counts: np.ndarray, deviation: float) -> np.ndarray:
    """The merged value of each value: those whose counts are below 3 deviations stand as one.

    Together they hold a tenth of the records at most, the rarest first: where noise is as large as
    most counts, values aren't rare. The last merged value is theirs; the others keep their order.
    Where there is one such value, or no other, all stay as they are: an attribute has two values or
    more.

    >>> merge_rare(np.array([100, 2, 50, 1, -3]), 2.0).tolist()
    [0, 2, 1, 2, 2]
    """
    rare, order = counts < RARE * deviation, np.argsort(counts, kind="stable")
    rare[order[np.cumsum(counts[order]) > MERGED * counts.sum()]] = False
    if rare.sum() < 2 or rare.all():
        return np.arange(len(counts))
    return np.where(rare, (~rare).sum(), np.cumsum(~rare) - 1)


def limit_columns(noisy: Sequence[NoisyTable], times: float) -> list[NoisyTable]:
    """Tables in which no single column weighs more than ``times`` the heaviest of the others.

    The steps of a fit are as short as the heaviest table asks, so one that is nearly exact would
    keep all others where they are. Far less weight suffices: a larger table tells a column's sums
    only with the noise of all cells that add up to them. Without larger tables nothing changes.
    """
    largest = max((np.max(t.weight) for t in noisy if len(t.columns) > 1), default=math.inf)
    return [
        replace(t, weight=np.minimum(t.weight, times * largest)) if len(t.columns) == 1 else t
        for t in noisy
    ]


@dataclass(frozen=True)
class Fit(Distribution):
    """The distribution that is closest to noisy tables.

    ``potentials``: one array per noisy table, from which a next fit may start. ``loss``: half the
    weighted squares. ``steps``: evaluations of belief propagation.
    """

    potentials: list[np.ndarray]
    loss: float
    steps: int


class Problem:
    """Noisy tables on a junction tree: the distribution of some potentials, and its loss.

    All tables stand in one vector, one after the other: potentials, margins, counts, weights.
    """

    def __init__(
        self,
        tree: CliqueTree,
        noisy: Sequence[NoisyTable],
        n: float,
        fixed: Sequence[tuple[Place, np.ndarray]] = (),
    ) -> None:
        self.tree, self.n, self.fixed, self.steps = tree, n, fixed, 0
        self.counts = flat([t.counts for t in noisy])
        self.weights = flat([np.broadcast_to(t.weight, t.counts.shape) for t in noisy])
        self.places = [tree.place(tree.home(t.columns), t.columns) for t in noisy]
        self.parts = parts([t.counts.shape for t in noisy])

    def distribution(self, potentials: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Clique tables, the margins that were measured, and the logarithm of the normaliser."""
        self.steps += 1
        factors = [(p, potentials[part]) for p, part in zip(self.places, self.parts, strict=True)]
        tables, log_sum = self.tree.calibrate(self.tree.multiply([*factors, *self.fixed]), self.n)
        margins = [fold(np.add, tables[place.clique], place.out) for place in self.places]
        return flat(tables), flat(margins), log_sum

    def square(self, difference: np.ndarray) -> float:
        """Half the weighted squares."""
        return float(np.sum(self.weights * difference * difference)) / 2


def flat(tables: Sequence[np.ndarray]) -> np.ndarray:
    """All cells of some tables, one after the other."""
    return np.concatenate([np.zeros(0), *(t.ravel() for t in tables)])


def parts(shapes: Sequence[tuple[int, ...]]) -> list[slice]:
    """Where tables of some shapes stand in the vector of all their cells."""
    ends = accumulate(map(math.prod, shapes))
    return [slice(e - math.prod(shape), e) for e, shape in zip(ends, shapes, strict=True)]


def split(vector: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """The tables of a vector, in their shapes."""
    return [vector[p].reshape(shape) for p, shape in zip(parts(shapes), shapes, strict=True)]


def first_guess(
    tree: CliqueTree, noisy: Sequence[NoisyTable], n: float
) -> tuple[list[np.ndarray], bool]:
    """Potentials to start from: independent columns, and what pairs add where they are a forest.

    True where that is the answer already: each column was measured once, with one weight, and
    nothing else was.
    """
    first = {t.columns: i for i, t in reversed([*enumerate(noisy)])}
    forest = all(len(clique) <= 2 for clique in tree.cliques)
    done = (
        len(first) == len(noisy)
        and not any(tree.graph.separators)
        and all(len(t.columns) == 1 and np.ndim(t.weight) == 0 for t in noisy)
    )
    potentials = [np.zeros(t.counts.shape) for t in noisy]
    for columns, i in first.items():
        counts = np.maximum(noisy[i].counts, 1.0)
        if len(columns) == 1:
            least = n * LEAST if done else 1.0
            potentials[i] = np.log(np.maximum(project(noisy[i].counts, n), least))
        elif len(columns) == 2 and forest:
            rows, others = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
            potentials[i] = np.log(counts * counts.sum() / rows / others)
    return potentials, done


def fit_tables(
    tree: CliqueTree,
    noisy: Sequence[NoisyTable],
    n: float,
    *,
    masks: Sequence[Mask] = (),
    fixed: Sequence[tuple[Place, np.ndarray]] = (),
    start: Sequence[np.ndarray] = (),
    tolerance: float = 1e-4,
    most: int = STEPS,
) -> Fit:
    """The tables closest to noisy ones in weighted squares: non-negative, of sum n, in agreement.

    Every noisy table must lie in a clique, and so must each of ``masks``, which say where a record
    can be. ``fixed``: factors that stay as they are. ``start``: potentials of the first tables from
    an earlier fit. Ends when the loss has fallen by less than ``tolerance`` of it over ``PATIENCE``
    steps and half of all steps before, or after ``most`` steps. Where tables agree already, and the
    loss tends to 0, ``EXACT`` times their number of cells, its expectation, stands for it.
    """
    task = Problem(tree, noisy, n, [*fixed, *(tree.weigh(*mask) for mask in masks)])
    guess, done = first_guess(tree, noisy, n) if not start else ([*start], False)
    done = done and not masks
    z = flat([*guess, *(np.zeros(t.counts.shape) for t in noisy[len(guess) :])])
    tables, margins, normaliser = task.distribution(z)
    mean, mean_tables = margins, tables
    best, least = (mean_tables, z), task.square(margins - task.counts)
    falls, floor = [least], EXACT * len(task.counts)
    smooth, t = n * float(task.weights.max(initial=0) or 1) / 100, 1.0
    while task.steps < most and not done:
        a = 1 / t
        point = (1 - a) * mean + a * margins
        slope = task.weights * (point - task.counts)
        while True:  # the longest step whose quadratic bound holds
            moved = z - slope / (smooth * a)
            tables, new, value = task.distribution(moved)
            divergence = n * (normaliser - value) + float(np.sum(new * (moved - z)))
            rounding = 1e-14 * n * (1 + abs(normaliser))
            if task.square(new - margins) <= smooth * (divergence + rounding):
                break
            smooth *= 2
        z, margins, normaliser = moved, new, value
        mean = (1 - a) * mean + a * new
        mean_tables = (1 - a) * mean_tables + a * tables
        value = task.square(mean - task.counts)
        if value < least:
            best, least = (mean_tables, z), value
        falls.append(least)
        t, smooth = (1 + math.sqrt(1 + 4 * t * t)) / 2, smooth / 1.05
        late = PATIENCE + len(falls) // 2  # momentum makes the loss swing, more slowly with time
        if len(falls) > late and falls[-late] - least <= tolerance * max(least, floor):
            break
    cells, z = best
    potentials = split(z, [t.counts.shape for t in noisy])
    return Fit(tree, split(cells, tree.shapes), n, potentials, least, task.steps)


def link(sets: Iterable[Columns], d: int) -> np.ndarray:
    """Which of d columns stand together in a set: bool (d, d), false on the diagonal."""
    linked = np.zeros((d, d), dtype=bool)
    for i, j in (pair for columns in sets for pair in combinations(columns, 2)):
        linked[i, j] = linked[j, i] = True
    return linked


class GrowingModel:
    """Noisy tables that come one after the other, and the model that is fitted to them each time.

    ``root``: a column that the first clique holds. ``ruled``: bool (d, d), columns that stand in
    one rule; ``linked``: or in one table; the junction tree is that of this graph.
    """

    def __init__(self, facts: Facts, root: int | None = None) -> None:
        self.names, self.sizes = facts.schema.names, facts.schema.sizes
        self.n, self.root, self.masks = facts.n, root, facts.schema.masks
        self.ruled = link((columns for columns, _ in self.masks), len(self.sizes))
        self.linked = self.ruled.copy()
        self.measurements: list[Measurement] = []
        self.merging: Merging | None = None
        self.noisy: list[NoisyTable] = []

    def add(self, columns: Columns, table: np.ndarray, scale: Scale, entry: str) -> Measurement:
        """One table more: noisy counts, the scale of their noise, and the ledger's line.

        A single column stands over its own values, and so does everything before :meth:`merge`.
        """
        names, merging = tuple(self.names[j] for j in columns), self.merging
        over = merging if len(columns) > 1 else None
        measurement = Measurement(names, table, scale, entry, merging=over)
        self.measurements.append(measurement)
        noisy = [noisy_table(measurement, {name: j for j, name in enumerate(self.names)})]
        self.noisy += noisy if merging is None else merge_columns(noisy, merging)
        self.linked |= link([columns], len(self.sizes))
        return measurement

    def merge(self, merging: Merging) -> None:
        """Model merged values from here on; so far only single columns were measured.

        Columns of rules keep their values.
        """
        self.merging, self.sizes = merging, merging.sizes
        self.noisy = merge_columns(self.noisy, merging)

    def step(self, columns: Columns) -> str:
        """What the ledger calls the next table of some columns."""
        names = tuple(self.names[j] for j in columns)
        times = sum(m.attributes == names for m in self.measurements)
        return f"table({', '.join(names)})" + (f", time {times + 1}" if times else "")

    def tree(self) -> JunctionTree:
        """The junction tree of the graph, triangulated from the smallest cliques on."""
        cliques = eliminate_smallest(self.linked[None], log_cells(self.sizes))
        edges = {e for c in cliques for e in combinations(np.flatnonzero(c[0]).tolist(), 2)}
        return junction_tree(len(self.sizes), edges, self.root)

    def permitted(
        self, sets: Sequence[Columns], most_cells: int, apart: np.ndarray
    ) -> list[Columns]:
        """Sets whose table leaves cliques of at most ``most_cells``, without a pair ``apart``.

        Where values are merged, cliques have at most 2^21/d cells of declared values, too: the
        tables of the network stand over these.
        """
        limits = [(self.sizes, most_cells)]
        if self.merging is not None:
            most = max(DECLARED // len(self.sizes), most_cells)
            limits.append((self.merging.original.sizes, most))
        fine = may_join(self.linked, sets, limits, apart)
        return [columns for columns, good in zip(sets, fine, strict=True) if good]

    def fit(self, start: Fit | None = None, most: int = STEPS) -> Fit:
        """The model closest to all tables; from an earlier fit on, single columns weigh less."""
        tree, potentials = CliqueTree(self.tree(), self.sizes), start.potentials if start else ()
        noisy = limit_columns(self.noisy, EVEN if start else PRECISE)
        return fit_tables(
            tree, noisy, self.n, masks=self.masks, start=potentials, tolerance=0.01, most=most
        )

    def fit_columns(self) -> Fit:
        """The model closest to the tables of single columns: independent but for the rules."""
        edges = [(min(e), max(e)) for e in np.argwhere(self.ruled).tolist()]
        tree = CliqueTree(junction_tree(len(self.sizes), edges, self.root), self.sizes)
        alone = [table for table in self.noisy if len(table.columns) == 1]
        return fit_tables(tree, alone, self.n, masks=self.masks, tolerance=0.01)

    def network(self, last: Sequence[int]) -> Network:
        """Cliques given separators; the root first, ``last`` columns last in their clique."""
        families = self.tree().families(self.root, last)
        return Network.of_columns([(child, parents) for child, parents, _ in families], self.names)

    def describe(self) -> str:
        """How large the tables became, in words."""
        several = plural(sum(len(m.attributes) > 1 for m in self.measurements), "table")
        largest = plural(max(map(len, self.tree().cliques)), "attribute")
        return f"{several} measured, cliques of at most {largest}"

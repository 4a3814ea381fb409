"""Tables that agree: the distribution on a junction tree that is nearest to noisy tables.

The squares of Private-PGM (McKenna, Sheldon, Miklau 2019), by belief propagation and accelerated
mirror descent (Tseng 2008, algorithm 1) in numpy. Knows no record: all of it is post-processing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .junction import JunctionTree

Columns = tuple[int, ...]
STEPS = 3_000  # of mirror descent at most
LEAST = 1e-12  # of n, in a cell of a first guess
EXACT = 0.05  # of the loss that noise alone would have: nearer isn't worth a step
PATIENCE = 20  # steps over which the loss must fall by less than the tolerance


@dataclass(frozen=True)
class NoisyTable:
    """Noisy counts of some columns, rising, one axis each; ``weight``: 1/scale², maybe by cell."""

    columns: Columns
    counts: np.ndarray
    weight: float | np.ndarray


class Link(NamedTuple):
    """A clique below another: for both the axes outside their separator, and its spread shape."""

    below: int
    above: int
    out_below: tuple[int, ...]
    shape_below: tuple[int, ...]
    out_above: tuple[int, ...]
    shape_above: tuple[int, ...]


@dataclass(frozen=True)
class Geometry:
    """A junction tree over columns of known sizes, and where smaller tables stand in it."""

    tree: JunctionTree
    sizes: tuple[int, ...]

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each clique's table."""
        return tuple(tuple(self.sizes[j] for j in clique) for clique in self.tree.cliques)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """One per clique but the root, parents before children."""
        joints = zip(self.tree.parents[1:], self.tree.separators, strict=True)
        return tuple(
            Link(
                i,
                up,
                self.others(i, both),
                self.spread(i, both),
                self.others(up, both),
                self.spread(up, both),
            )
            for i, (up, both) in enumerate(joints, 1)
        )

    def home(self, columns: Sequence[int]) -> int:
        """The smallest clique that holds some columns; −1 where none does."""
        wanted = {*columns}
        found = [i for i, clique in enumerate(self.tree.cliques) if wanted <= {*clique}]
        return min(found, key=lambda i: math.prod(self.shapes[i]), default=-1)

    def others(self, clique: int, columns: Sequence[int]) -> tuple[int, ...]:
        """Axes of a clique that aren't among the columns."""
        return tuple(a for a, j in enumerate(self.tree.cliques[clique]) if j not in columns)

    def spread(self, clique: int, columns: Sequence[int]) -> tuple[int, ...]:
        """The shape in which a table of some columns broadcasts over a clique."""
        return tuple(self.sizes[j] if j in columns else 1 for j in self.tree.cliques[clique])

    def propagate(self, logs: Sequence[np.ndarray], n: float) -> tuple[list[np.ndarray], float]:
        """Tables of all cliques, each of sum n, of P ∝ exp(Σ logs), and log Σ exp(Σ logs)."""
        logs, tables = list(logs), [np.empty(0)] * len(logs)
        sums: dict[int, np.ndarray] = {}
        for link in reversed(self.links):  # messages to the root
            i = link.below
            top = logs[i].max(axis=link.out_below, keepdims=True)
            tables[i] = np.exp(logs[i] - top)
            sums[i] = tables[i].sum(axis=link.out_below)
            message = np.log(sums[i]).reshape(link.shape_above) + top.reshape(link.shape_above)
            logs[link.above] = logs[link.above] + message
        top = logs[0].max()
        root = np.exp(logs[0] - top)
        mass = root.sum()
        tables[0] = root * (n / mass)
        for link in self.links:  # and back: each table gets the separator's sums of the one above
            wanted = tables[link.above].sum(axis=link.out_above)
            tables[link.below] *= (wanted / sums[link.below]).reshape(link.shape_below)
        return tables, float(top + np.log(mass))


class Fitted:
    """A distribution of n records on a junction tree: tables of its cliques, which agree.

    ``potentials``: one array per noisy table, from which a next fit may start. ``loss``: half the
    weighted squares. ``steps``: evaluations of belief propagation.
    """

    def __init__(
        self,
        geometry: Geometry,
        tables: list[np.ndarray],
        n: float,
        potentials: list[np.ndarray],
        loss: float,
        steps: int,
    ) -> None:
        self.geometry, self.tables, self.n = geometry, tables, n
        self.potentials, self.loss, self.steps = potentials, loss, steps

    def margin(self, columns: Columns) -> np.ndarray:
        """Expected counts of columns that one clique holds, axes in the order of ``columns``."""
        at = self.geometry.home(columns)
        left = [j for j in self.geometry.tree.cliques[at] if j in columns]
        summed = self.tables[at].sum(axis=self.geometry.others(at, columns))
        return np.transpose(summed, [left.index(j) for j in columns])


class Problem:
    """Noisy tables on a junction tree: the distribution of given potentials, and its loss.

    All tables stand in one vector, one after the other: potentials, margins, counts, weights.
    """

    def __init__(self, geometry: Geometry, noisy: Sequence[NoisyTable], n: float) -> None:
        self.geometry, self.n, self.steps = geometry, n, 0
        shapes = [t.counts.shape for t in noisy]
        self.counts = flat([t.counts for t in noisy])
        self.weights = flat([np.broadcast_to(t.weight, t.counts.shape) for t in noisy])
        places = [(geometry.home(t.columns), t.columns) for t in noisy]
        ends = np.cumsum([0, *(math.prod(shape) for shape in shapes)]).tolist()
        self.at = [
            (h, geometry.others(h, c), geometry.spread(h, c), slice(a, b), shape)
            for (h, c), a, b, shape in zip(places, ends[:-1], ends[1:], shapes, strict=True)
        ]

    def split(self, vector: np.ndarray) -> list[np.ndarray]:
        """The tables of a vector, in their shapes."""
        return [vector[part].reshape(shape) for *_, part, shape in self.at]

    def distribution(self, potentials: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Clique tables, the margins that were measured, and the logarithm of the normaliser."""
        self.steps += 1
        logs = [np.zeros(shape) for shape in self.geometry.shapes]
        for home, _, spread, part, _ in self.at:
            logs[home] += potentials[part].reshape(spread)
        tables, normaliser = self.geometry.propagate(logs, self.n)
        found = [tables[home].sum(axis=out) if out else tables[home] for home, out, *_ in self.at]
        return flat(tables), flat(found), normaliser

    def square(self, difference: np.ndarray) -> float:
        """Half the weighted squares."""
        return float(np.dot(self.weights * difference, difference)) / 2


def flat(tables: Sequence[np.ndarray]) -> np.ndarray:
    """All cells of some tables, one after the other."""
    return np.concatenate([np.zeros(0), *(np.ravel(t) for t in tables)])


def nearest(counts: np.ndarray, n: float) -> np.ndarray:
    """The nearest counts in squares that aren't negative and have the sum n."""
    falling = np.sort(counts)[::-1]
    over = (np.cumsum(falling) - n) / np.arange(1, len(counts) + 1)
    return np.maximum(counts - over[np.flatnonzero(falling > over)[-1]], 0.0)


def first_guess(
    geometry: Geometry, noisy: Sequence[NoisyTable], n: float
) -> tuple[list[np.ndarray], bool]:
    """Potentials to start from: independent columns, and what pairs add where they are a forest.

    True where that is the answer already: each column was measured once, with one weight, and
    nothing else was.
    """
    first = {t.columns: i for i, t in reversed([*enumerate(noisy)])}
    forest = all(len(clique) <= 2 for clique in geometry.tree.cliques)
    done = (
        len(first) == len(noisy)
        and not any(geometry.tree.separators)
        and all(len(t.columns) == 1 and np.ndim(t.weight) == 0 for t in noisy)
    )
    found = [np.zeros(t.counts.shape) for t in noisy]
    for columns, i in first.items():
        counts = np.maximum(noisy[i].counts, 1.0)
        if len(columns) == 1:
            least = n * LEAST if done else 1.0
            found[i] = np.log(np.maximum(nearest(noisy[i].counts, n), least))
        elif len(columns) == 2 and forest:
            rows, others = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
            found[i] = np.log(counts * counts.sum() / rows / others)
    return found, done


def fit_tables(
    geometry: Geometry,
    noisy: Sequence[NoisyTable],
    n: float,
    *,
    start: Sequence[np.ndarray] = (),
    tolerance: float = 1e-4,
    most: int = STEPS,
) -> Fitted:
    """The tables nearest to noisy ones in weighted squares: non-negative, of sum n, in agreement.

    Every noisy table must lie in a clique. ``start``: potentials of the first tables from an
    earlier fit. Ends when the loss has fallen by less than ``tolerance`` of it over ``PATIENCE``
    steps and half of all steps before, or after ``most`` steps. Where tables agree already, and the
    loss tends to 0, ``EXACT`` times their number of cells, its expectation, stands for it.
    """
    task = Problem(geometry, noisy, n)
    guess, done = first_guess(geometry, noisy, n) if not start else ([*start], False)
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
            divergence = n * (normaliser - value) + float(np.dot(new, moved - z))
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
    ends = np.cumsum([0, *(math.prod(shape) for shape in geometry.shapes)]).tolist()
    cliques = [
        best[0][a:b].reshape(shape)
        for a, b, shape in zip(ends[:-1], ends[1:], geometry.shapes, strict=True)
    ]
    return Fitted(geometry, cliques, n, task.split(best[1]), least, task.steps)

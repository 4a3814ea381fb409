"""Distances of a release on all small marginals, beside other tables, and how sure they are."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..core import Schema, SchemaError, needed_for
from .marginals import Marginals, Sets, attribute_sets, distances

MOST_SETS = 2000  # of more marginals, as many are drawn
LARGEST = 2**18  # cells of one marginal; a larger one is left out
MOST_CELLS = 2**22  # of all marginals of one α
GROUPS = 16  # of synthetic rows, for the jackknife
LIMITS = 3  # simulations of each limit without noise
RELEASE, HALVES = "this release", "halves of the real table"
COLUMNS = ["alpha", "table", "distance", "low", "high", "interval"]
Interval = tuple[float, float, float]


class Level(NamedTuple):
    """What was measured on α-way marginals: rows of :data:`COLUMNS`, and each set's distances.

    ``sets`` of the ``total`` there are; ``release`` and ``single`` (of the first other table):
    float arrays (n_sets,).
    """

    rows: list[tuple[Any, ...]]
    sets: Sets
    total: int
    release: np.ndarray
    single: np.ndarray

    def worst(self, schema: Schema) -> pd.DataFrame:
        """The sets by falling distance, named, with the distance of Independent."""
        names = [" + ".join(schema.names[j] for j in members) for members in self.sets]
        columns = {"distance": self.release, "Independent": self.single}
        frame = pd.DataFrame(columns, pd.Index(names, name="attributes"))
        return frame.sort_values("distance", ascending=False, kind="stable")


def measure_level(
    real: np.ndarray,
    releases: Sequence[np.ndarray],
    others: Mapping[str, Sequence[np.ndarray]],
    schema: Schema,
    alpha: int,
    seed: int,
) -> Level:
    """Mean distances of ``releases``, of each of the ``others`` and of two halves of ``real``.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    sets = countable_sets(schema, alpha, seed)
    margins = Marginals(real, schema, alpha, sets=sets)
    mine = np.array([margins.distances(table) for table in releases])
    if len(releases) == 1:
        error = row_error(margins, releases[0], seed)
        first, about = interval(float(mine.mean()), error, GROUPS - 1), "sampling of rows"
    else:
        first, about = between(mine), f"between {len(releases)} tables"
    rows: list[tuple[Any, ...]] = [(alpha, RELEASE, *first, about)]
    simulations = {
        name: np.array([margins.distances(table) for table in tables])
        for name, tables in others.items()
    }
    for name, runs in simulations.items():
        about = f"between {len(runs)} simulations" if len(runs) > 1 else ""
        rows.append((alpha, name, *between(runs), about))
    apart = np.array([halves(margins, real, [seed, i]) for i in range(LIMITS)])
    rows.append((alpha, HALVES, *between(apart), f"between {LIMITS} random splits"))
    single = next(iter(simulations.values())).mean(axis=0)
    return Level(rows, sets, math.comb(len(schema), alpha), mine.mean(axis=0), single)


def countable_sets(schema: Schema, alpha: int, seed: int = 0) -> Sets:
    """The α-sets that are measured: a choice by public sizes and seed, all if they are few."""
    sets = attribute_sets(len(schema), alpha, MOST_SETS, seed)
    cells = np.array([float(math.prod(schema.sizes[j] for j in members)) for members in sets])
    order = np.random.default_rng(seed).permutation(len(sets))
    order = order[cells[order] <= LARGEST]
    choice = np.sort(order[np.cumsum(cells[order]) <= MOST_CELLS])
    if not len(choice):
        raise SchemaError(
            f"every {alpha}-way marginal has more than {LARGEST:,} cells: declare coarser domains"
        )
    return tuple(sets[i] for i in choice)


def row_error(margins: Marginals, codes: np.ndarray, seed: int) -> float:
    """Standard error of the mean distance, for drawing the rows: delete-a-group jackknife.

    Each of 16 groups of rows is left out in turn; they are random, so the order of the rows doesn't
    matter. NaN for fewer than 32 rows. Source: Shao and Tu (1995), The Jackknife and Bootstrap.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    if len(codes) < 2 * GROUPS:
        return float("nan")
    group = np.random.default_rng(seed).permutation(len(codes)) % GROUPS
    rest = (len(codes) - np.bincount(group))[:, None]
    sums, columns = np.zeros(GROUPS), codes.T.astype(np.int64)
    for members, real in zip(
        margins.sets, np.split(margins.counts, margins.starts[1:]), strict=True
    ):
        key = group
        for j in members:
            key = key * margins.schema.sizes[j] + columns[j]
        counts = np.bincount(key, minlength=GROUPS * real.size).reshape(GROUPS, real.size)
        without = (counts.sum(axis=0) - counts) / rest
        sums += np.abs(without - real / margins.n).sum(axis=1) / 2
    apart = sums / len(margins.sets)
    return float(np.sqrt((GROUPS - 1) * apart.var()))


def interval(mean: float, error: float, freedom: int) -> Interval:
    """The mean, and its 95 % interval by Student's t, within [0, 1]."""
    with needed_for("the interval of a mean"):
        from scipy.special import stdtrit

    half = stdtrit(freedom, 0.975) * error
    return float(mean), float(max(mean - half, 0)), float(min(mean + half, 1))


def between(table: np.ndarray) -> Interval:
    """Mean and interval of the mean distances of several tables, from (tables, sets)."""
    means = table.mean(axis=1)
    if len(means) == 1:
        return float(means[0]), float("nan"), float("nan")
    return interval(means.mean(), means.std(ddof=1) / np.sqrt(len(means)), len(means) - 1)


def halves(margins: Marginals, codes: np.ndarray, seed: list[int]) -> np.ndarray:
    """Distances of two random halves of the real table from each other: float array (n_sets,).

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    if margins.n < 2:
        return np.full(len(margins.sets), math.nan)
    one = margins.of(codes[np.random.default_rng(seed).permutation(margins.n)[: margins.n // 2]])
    rest = margins.n - one.n
    gaps = one.counts * rest - (margins.counts - one.counts) * one.n
    return distances(gaps, margins.starts, one.n * rest)


def expect_even(margins: Marginals, rows: int) -> float:
    """The expected mean distance of so many rows whose values are drawn evenly.

    Of a table of D cells each holds a binomial number X of them, q = 1/D. With m = ⌊a⌋ and the
    distributions F of X and F₁ of one row less,
    E|X − a| = 2 (a F(m) − N q F₁(m − 1)) + N q − a.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    with needed_for("rows that are drawn evenly"):
        from scipy.special import bdtr

    cells = np.diff(np.append(margins.starts, len(margins.counts)))
    key = margins.counts * (cells.max() + 1) + np.repeat(cells, cells)
    distinct, times = np.unique(key, return_counts=True)
    counts, size = np.divmod(distinct, cells.max() + 1)
    floor, place, q = counts * rows // margins.n, counts * rows / margins.n, 1 / size
    below = np.where(floor > 0, bdtr(np.maximum(floor - 1, 0), rows - 1, q), 0)
    apart = 2 * (place * bdtr(floor, rows, q) - rows * q * below) + rows * q - place
    return float((times * apart).sum() / (2 * rows * len(margins.sets)))

"""One table of all columns: whether ConsistentBayes measures that alone, and what it tells.

Where few cells are possible, such a table with all of ε tells every pair better than single columns
would, tied or not: these leave out what n records show by chance, too. Nobody has to look for ties
then, and none is lost. Beyond :data:`FEW` cells its noise must be less than that of rounds, which
tell many two-valued columns better by smaller tables (``benchmarks/nearer.py once``).
"""

import math

import numpy as np

from ..algorithms import COLUMNS_RHO, LARGEST_SET, LOOK, SELECT, SET_CELLS
from ..core import Facts
from ..persons import LEVEL

FEW, MOST = 2**9, 2**13  # cells
FOR_COLUMNS = 0.3  # of ε, what ConsistentBayes gives single columns of many values
ADDED = 0.05  # of a table's noise, what agreement adds to pairs at most: the worst of 44 tables
UNEVEN = 0.6  # sampling error against that of values that are equally common: median of nine tables


def by_chance(cells: np.ndarray, n: int) -> np.ndarray:
    """The distance from independence that n independent records show: .6 √(cells / 2πn)."""
    return UNEVEN * np.sqrt(cells / (2 * math.pi * n))


def noise_of_sums(cells: np.ndarray, whole: float, noise: float) -> np.ndarray:
    """The distance, by noise, of pairs that are sums of one table's cells.

    ``cells``: c of each pair, which keeps √(4c / πC) of the noise. ``whole``: C of the table, whose
    noise alone is a distance of ``noise``.
    """
    return np.sqrt(4 * cells / (math.pi * whole)) * noise


def clipped(noise: float | np.ndarray) -> np.ndarray:
    """What clipping at 0 adds to tables whose noise alone is a distance of v: 2v²/(1 + 2v).

    It adds (b/2) exp(−c/b) to a cell of count c under noise of scale b, here v = b/2 over the mean
    count; counts are taken as spread exponentially.
    """
    return np.asarray(2 * noise**2 / (1 + 2 * noise))


def told_by(cells: np.ndarray, whole: int, noise: float) -> np.ndarray:
    """The distance of such pairs once the table is the closest one without negative counts.

    What that adds is at most what clipping would, and at most :data:`ADDED` of the noise.
    """
    return noise_of_sums(cells, whole, noise) + np.minimum(clipped(noise), ADDED * noise)


def noise_of_rounds(sizes: np.ndarray, scale: float, n: int, power: int = 1) -> float:
    """The distance, by noise, of pairs that tables of m columns tell, until each stands in one.

    m: as many typical columns as a set may have. The tables share four fifths of what the look and
    single columns leave. ``scale``: of the noise of one table for all of ε; ``power``: the noise of
    one of t is t^(1/power) times as large.
    """
    typical, d = math.exp(np.log(sizes).mean()), len(sizes)
    m = max(m for m in range(2, LARGEST_SET + 1) if m == 2 or typical**m <= SET_CELLS)
    columns = min(FOR_COLUMNS, sizes.mean() / 20) if power == 1 else float(COLUMNS_RHO)
    part = float(1 - SELECT) * (1 - float(LOOK) - columns)
    tables = max(1.0, math.comb(d, 2) / math.comb(m, 2))
    pairs = (np.multiply.outer(sizes, sizes))[np.triu_indices(d, 1)]
    noise = scale * (tables / part) ** (1 / power) / (2 * n)
    whole = typical**m
    told = noise_of_sums(pairs, whole, whole * noise) if m > 2 else pairs * noise
    return float(told.mean())


def tells_most(facts: Facts) -> bool:
    """Whether one table of all columns tells pairs better than single columns, tied or not.

    And, beyond :data:`FEW` cells, better than rounds.

    **Privacy:** a function of the schema, n and ε, which are public; a secret n is a release.
    """
    whole = facts.schema.cells(facts.schema.names)
    if whole > MOST or LEVEL in facts.schema.names:
        return False
    n, unit, sizes = facts.n, facts.unit, np.array(facts.schema.sizes, dtype=float)
    scale, (i, j) = unit.moved / unit.as_pure(facts.epsilon, 1), np.triu_indices(len(sizes), 1)
    free = sizes - [unit.sums_to_n(int(size)) for size in sizes]
    roots = sizes ** (unit.power / (unit.power + 1))
    columns = scale * free * (roots.sum() / roots) ** (1 / unit.power) / (2 * n)
    noise = scale * (whole - unit.sums_to_n(whole)) / (2 * n)
    pairs = told_by(sizes[i] * sizes[j], whole, noise)
    most = (columns[i] + columns[j] + by_chance(sizes[i] * sizes[j], n)).mean()
    if whole > FEW:
        most = min(most, noise_of_rounds(sizes, scale, n, unit.power))
    return bool(pairs.mean() < most)

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

FEW, MOST = 2**9, 2**13  # cells
FOR_COLUMNS = 0.3  # of ε, what ConsistentBayes gives single columns of many values
ADDED = 0.05  # of a table's noise, what agreement adds to pairs at most: the worst of 44 tables
LEFT = 0.8  # of the noise of rounds' tables, what agreement with others leaves
UNEVEN = 0.6  # sampling error against that of values that are equally common: median of nine tables


def by_chance(cells: np.ndarray, n: int) -> np.ndarray:
    """The distance from independence that n independent records show: .6 √(cells / 2πn)."""
    return UNEVEN * np.sqrt(cells / (2 * math.pi * n))


def size_of(scale: float | np.ndarray) -> np.ndarray:
    """Expected size of discrete Laplace noise of a scale b, in records: 1 / sinh(1/b), below b.

    >>> size_of(np.array([0.5, 8.0])).round(3).tolist()
    [0.276, 7.979]
    """
    with np.errstate(over="ignore"):  # then it is 0
        return np.asarray(1 / np.sinh(1 / np.asarray(scale, dtype=float)))


def bounded(distance: np.ndarray) -> np.ndarray:
    """A distance v that agreement with counts of 0 or more, n in all, keeps below 1: v/(1 + v)."""
    return np.asarray(distance / (1 + distance))


def noise_of_sums(cells: np.ndarray, whole: float, noise: float) -> np.ndarray:
    """The distance, by noise, of pairs that are sums of one table's cells.

    ``cells``: c of each pair, which keeps √(4c / πC) of the noise. ``whole``: C of the table, whose
    noise alone is a distance of ``noise``.
    """
    return np.asarray(np.minimum(np.sqrt(4 * cells / (math.pi * whole)), 1) * noise)


def clipped(noise: float | np.ndarray) -> np.ndarray:
    """What clipping at 0 adds to tables whose noise alone is a distance of v: 2v²/(1 + 2v).

    It adds (b/2) exp(−c/b) to a cell of count c under noise of scale b, here v = b/2 over the mean
    count; counts are taken as spread exponentially.
    """
    return np.asarray(2 * noise**2 / (1 + 2 * noise))


def told(cells: np.ndarray, whole: float, noise: float, size: float = 1) -> np.ndarray:
    """The distance of pairs that one table tells, once no count of it is negative.

    ``noise``: as if it were continuous; ``size``: how large it is beside that. Counts of 0 or more
    that are nearest to the noisy ones take from large cells what they leave in empty ones: at most
    what clipping would, and :data:`ADDED` of the noise, in sums of many cells.
    """
    added = np.minimum(clipped(noise), ADDED * noise) * (1 - cells / whole)
    return bounded(noise_of_sums(cells, whole, size * noise) + added)


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
    pair_noise = noise_of_sums(pairs, whole, whole * noise) if m > 2 else pairs * noise
    return LEFT * float(pair_noise.mean())


def tells_most(facts: Facts) -> bool:
    """Whether one table of all columns tells pairs better than single columns, tied or not.

    And better than rounds: up to :data:`FEW` cells it does, but with a δ, where many tables are
    cheap.

    **Privacy:** a function of the schema, n and ε, which are public; a secret n is a release.
    """
    whole = facts.schema.cells(facts.schema.names)
    if whole > MOST:
        return False
    n, unit, sizes = facts.n, facts.unit, np.array(facts.schema.sizes, dtype=float)
    scale, (i, j) = unit.moved / unit.as_pure(facts.epsilon, 1), np.triu_indices(len(sizes), 1)
    roots, size = sizes ** (unit.power / (unit.power + 1)), 1.0
    columns = scale * (roots.sum() / roots) ** (1 / unit.power)
    if unit.power == 1:
        columns, size = size_of(columns), float(size_of(scale)) / scale
    columns *= (sizes - [unit.sums_to_n(int(values)) for values in sizes]) / (2 * n)
    noise = scale * (whole - unit.sums_to_n(whole)) / (2 * n)
    cells = sizes[i] * sizes[j]
    most = bounded(columns[i] + columns[j] + by_chance(cells, n)).mean()
    if whole > FEW or (unit.power > 1 and len(sizes) > 2):
        most = min(most, noise_of_rounds(sizes, scale, n, unit.power))
    return bool(told(cells, whole, noise, size).mean() < most)

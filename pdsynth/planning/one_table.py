"""One table of all columns: whether ConsistentBayes measures that alone, and what it tells.

Where few cells are possible, such a table with all of ε tells every pair better than single columns
would, tied or not: these leave out what n records show by chance, too. Nobody has to look for ties
then, and none is lost. Beyond :data:`MOST` cells rounds of smaller tables tell many two-valued
columns better (``benchmarks/nearer.py once``).
"""

import math

import numpy as np

from ..core import Facts
from ..persons import LEVEL

MOST = 2**9  # cells
UNEVEN = 0.6  # sampling error against that of values that are equally common: median of nine tables


def by_chance(cells: np.ndarray, n: int) -> np.ndarray:
    """The distance from independence that n independent records show: .6 √(cells / 2πn)."""
    return UNEVEN * np.sqrt(cells / (2 * math.pi * n))


def noise_of_sums(cells: np.ndarray, whole: int, noise: float) -> np.ndarray:
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


def tells_most(facts: Facts) -> bool:
    """Whether one table of all columns tells pairs better than single columns, tied or not.

    Where n is secret, it counts as 1: then noise alone is compared.

    **Privacy:** a function of the schema, n and ε, which are public.
    """
    whole = facts.schema.cells(facts.schema.names)
    if whole > MOST or LEVEL in facts.schema.names:
        return False
    n, unit, sizes = facts.n, facts.unit, np.array(facts.schema.sizes, dtype=float)
    scale, (i, j) = float(unit.scale(facts.epsilon)), np.triu_indices(len(sizes), 1)
    free = sizes - [unit.sums_to_n(int(size)) for size in sizes]
    columns = scale * free * np.sqrt(sizes).sum() / np.sqrt(sizes) / (2 * n)
    noise = scale * (whole - unit.sums_to_n(whole)) / (2 * n)
    pairs = noise_of_sums(sizes[i] * sizes[j], whole, noise)
    alone = columns[i] + columns[j]
    if unit.n_is_public:
        pairs, alone = pairs + clipped(noise), alone + by_chance(sizes[i] * sizes[j], n)
    return bool(pairs.mean() < alone.mean())

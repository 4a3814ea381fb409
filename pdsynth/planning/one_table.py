"""One table of all columns: whether ConsistentBayes measures that alone, and what it tells.

Where few cells are possible, such a table with all of ε tells every pair better than single columns
would, tied or not: these leave out what n records show by chance, too. Nobody has to look for ties
then, and none is lost. Beyond :data:`MOST` cells rounds of smaller tables are as good or better.
"""

import math

import numpy as np

from ..core import Facts, Schema
from ..persons import LEVEL

MOST = 2**9  # cells
UNEVEN = 0.6  # sampling error against that of values that are equally common: median of nine tables


def cells_of(schema: Schema) -> int:
    """Cells of the table of all columns."""
    return math.prod(schema.sizes)


def by_chance(cells: np.ndarray, n: int) -> np.ndarray:
    """The distance from independence that n independent records show: .6 √(cells / 2πn)."""
    return UNEVEN * np.sqrt(cells / (2 * math.pi * n))


def noise_of_sums(cells: np.ndarray, whole: int, noise: float, n: int) -> np.ndarray:
    """The distance, by noise, of pairs that are sums of one table's cells.

    ``cells``: c of each pair, which keeps √(4c / πC) of the noise. ``whole``: C of the table, whose
    Σ |noise| is ``noise``, in records.
    """
    return np.sqrt(4 * cells / (math.pi * whole)) * noise / (2 * n)


def clipped(noise: float, n: int) -> float:
    """What clipping adds to counts spread exponentially: W² / 2n(n + W), for Σ |noise| = W."""
    return noise**2 / (2 * n * (n + noise))


def tells_most(facts: Facts) -> bool:
    """Whether one table of all columns tells pairs better than single columns, tied or not.

    Where n is secret, it counts as 1: then noise alone is compared.

    **Privacy:** a function of the schema, n and ε, which are public.
    """
    whole = cells_of(facts.schema)
    if whole > MOST or LEVEL in facts.schema.names:
        return False
    n, unit, sizes = facts.n, facts.unit, np.array(facts.schema.sizes, dtype=float)
    scale, (i, j) = float(unit.scale(facts.epsilon)), np.triu_indices(len(sizes), 1)
    free = sizes - [unit.sums_to_n(int(size)) for size in sizes]
    columns = scale * free * np.sqrt(sizes).sum() / np.sqrt(sizes) / (2 * n)
    noise = scale * (whole - unit.sums_to_n(whole))
    pairs = noise_of_sums(sizes[i] * sizes[j], whole, noise, n)
    alone = columns[i] + columns[j]
    if unit.n_is_public:
        pairs, alone = pairs + clipped(noise, n), alone + by_chance(sizes[i] * sizes[j], n)
    return bool(pairs.mean() < alone.mean())

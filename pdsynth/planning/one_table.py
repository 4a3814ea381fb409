"""One table of all columns: whether ConsistentBayes measures that alone, and what it tells.

Where few cells are possible, such a table with all of ε tells every pair better than single columns
would, tied or not: these leave out what n records show by chance, too. Nobody has to look for ties
then, and none is lost. Beyond :data:`MOST` cells rounds of smaller tables tell many two-valued
columns better (``benchmarks/nearer.py once``).
"""

import math

import numpy as np

from ..core import Facts, Recipe
from ..persons import LEVEL

MOST = 2**9  # cells
CANCEL = 0.9  # of what two columns are off by and leave out: median of made tables
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


def sums(cells: np.ndarray, whole: int, noise: float) -> np.ndarray:
    """The noise of pairs that are sums of one table's cells, as a distance.

    ``cells``: c of each pair, which keeps √(4c / πC) of the noise. ``whole``: C of the table, whose
    noise alone is a distance of ``noise``.
    """
    return np.asarray(np.minimum(np.sqrt(4 * cells / (math.pi * whole)), 1) * noise)


def told(cells: np.ndarray, whole: int, noise: float) -> np.ndarray:
    """The distance of pairs that one table tells: noise of :func:`sums`, and a bias.

    Counts of 0 or more that are nearest to the noisy ones take from large cells what they leave in
    empty ones: v²/2(1 + v)³ in sums of many, fitted to made tables.
    """
    bias = noise**2 / (2 * (1 + noise) ** 3) * (1 - cells / whole)
    return bounded(sums(cells, whole, noise) + bias)


def tells_most(facts: Facts, recipe: Recipe | None = None) -> bool:
    """Whether one table of all columns tells pairs better than single columns, tied or not.

    Where n is secret, it counts as 1: then noise alone is compared. ``recipe``: what is fitted; its
    ``delta`` says that noise is Gaussian, many times as large on one table and less so on several.

    **Privacy:** a function of the schema, n and ε, which are public.
    """
    whole = facts.schema.cells(facts.schema.names)
    if whole > MOST or LEVEL in facts.schema.names:
        return False
    if recipe is not None and recipe.delta is not None:
        from ..concentrated import in_rho  # noqa: PLC0415 - of fits with δ alone

        facts = in_rho(recipe, facts)
    n, unit, d = facts.n, facts.unit, len(facts.schema)
    sizes, (i, j) = np.array(facts.schema.sizes, dtype=float), np.triu_indices(d, 1)
    once = unit.moved / unit.as_pure(facts.epsilon, 1)  # the size of its noise, with delta, too
    each = unit.moved * d / unit.as_pure(facts.epsilon, d)  # of columns that share ε evenly
    columns = each * np.sqrt(sizes).mean() / np.sqrt(sizes)
    if unit.power == 1:
        columns, once = size_of(columns), float(size_of(once))
    columns *= (sizes - [unit.sums_to_n(int(size)) for size in sizes]) / (2 * n)
    once *= (whole - unit.sums_to_n(whole)) / (2 * n)
    cells = sizes[i] * sizes[j]
    if not unit.n_is_public:
        return bool(sums(cells, whole, once).mean() < (columns[i] + columns[j]).mean())
    alone = CANCEL * bounded(columns[i] + columns[j] + by_chance(cells, n))
    return bool(told(cells, whole, once).mean() < alone.mean())

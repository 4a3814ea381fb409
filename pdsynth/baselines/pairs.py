"""Agreement in pairs: noisy tables agree on what any two share, whatever their number (PriView).

**Privacy:** post-processing of releases.
"""

from collections.abc import Sequence

import numpy as np

from ..core import Agree, Columns, marginalise


class AgreeInPairs(Agree):
    """Tables agree on what any two share, whatever their number; then negative cells are cut."""

    most_cells = 0
    must_stay = False


def agree_in_pairs(
    tables: Sequence[np.ndarray], views: Sequence[Columns], total: float
) -> list[np.ndarray]:
    """As :func:`make_consistent`, then without negative cells: floats, with sum ``total`` each."""
    return [clip_and_scale(table, total) for table in make_consistent(tables, views, total)]


def intersections(views: Sequence[Columns]) -> list[Columns]:
    """Every set of columns that two or more views share, smallest first; always the empty one.

    >>> intersections([(0, 1, 2), (1, 2, 3), (2, 3, 4)])
    [(), (2,), (1, 2), (2, 3)]
    """
    sets: set[frozenset[int]] = set()
    shared = {frozenset[int]()}
    for view in map(frozenset, views):
        met = {view & other for other in sets}
        shared |= met
        sets |= met | {view}
    return sorted((tuple(sorted(s)) for s in shared), key=lambda s: (len(s), s))


def make_consistent(
    tables: Sequence[np.ndarray], views: Sequence[Columns], total: float
) -> list[np.ndarray]:
    """Tables that agree on every intersection of their views: floats, with sum ``total`` each.

    ``views``: sorted columns, one per axis of each table; ``total``: the public number of records.
    On each intersection, smaller ones first, the tables that hold it move to their average,
    weighted by precision: a margin that sums c cells is known c times less well. The difference is
    spread evenly over the cells behind each cell of the margin. Cells may be negative.

    Source: Qardaji, Yang, Li (SIGMOD 2014), from literature, where an average stands in the place
    of n on the empty set.
    """
    out = [np.array(t, dtype=float) for t in tables]
    for shared in intersections(views):
        inside = [i for i, view in enumerate(views) if {*shared} <= {*view}]
        margins = [marginalise(out[i], views[i], shared) for i in inside]
        weights = np.array([1 / out[i].size for i in inside])
        average = np.tensordot(weights / weights.sum(), margins, 1) if shared else np.array(total)
        for i, own in zip(inside, margins, strict=True):
            behind = tuple(axis for axis, m in enumerate(views[i]) if m not in shared)
            out[i] += np.expand_dims((average - own) * (average.size / out[i].size), behind)
    return out


def clip_and_scale(table: np.ndarray, total: float) -> np.ndarray:
    """Negative cells to 0, the rest scaled to the sum ``total``; uniform where nothing is left."""
    out = np.maximum(table, 0.0)
    mass = out.sum()
    return out * (total / mass) if mass > 0 else np.full(table.shape, total / table.size)

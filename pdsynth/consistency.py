"""Noisy tables that overlap: made to agree, freed of negative cells, joined by maximum entropy.

**Privacy:** all of it is post-processing.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Members = tuple[int, ...]
WEIGHT = 2**20  # one record in the integer tables of a model whose cells are real numbers


def intersections(views: Sequence[Members]) -> list[Members]:
    """Every set of columns that two or more views share, smallest first; always the empty one.

    >>> intersections([(0, 1, 2), (1, 2, 3), (2, 3, 4)])
    [(), (2,), (1, 2), (2, 3)]
    """
    known: set[frozenset[int]] = set()
    shared = {frozenset[int]()}
    for view in map(frozenset, views):
        met = {view & other for other in known}
        shared |= met
        known |= met | {view}
    return sorted((tuple(sorted(s)) for s in shared), key=lambda s: (len(s), s))


def margin(table: np.ndarray, members: Sequence[Any], wanted: Sequence[Any]) -> np.ndarray:
    """Sum of a table, one axis per member, down to the wanted members, axes in their order."""
    left = [m for m in members if m in wanted]
    summed = table.sum(axis=tuple(i for i, m in enumerate(members) if m not in wanted))
    return np.transpose(summed, [left.index(m) for m in wanted])


def make_consistent(
    tables: Sequence[np.ndarray], views: Sequence[Members], total: float
) -> list[np.ndarray]:
    """Tables that agree on every intersection of their views: floats, with sum ``total`` each.

    ``views``: sorted columns, one per axis of each table; ``total``: the public number of records.
    On each intersection, smaller ones first, the tables that hold it move to their average,
    weighted by precision: a margin that sums c cells is known c times less well. The difference is
    spread evenly over the cells behind each cell of the margin. Cells may be negative.

    Source: Qardaji, Yang, Li (SIGMOD 2014), from literature (`algorithms` §8.1, step 3), where an
    average stands in the place of n on the empty set.
    """
    out = [np.array(t, dtype=float) for t in tables]
    for shared in intersections(views):
        inside = [i for i, view in enumerate(views) if {*shared} <= {*view}]
        margins = [margin(out[i], views[i], shared) for i in inside]
        weights = np.array([1 / out[i].size for i in inside])
        average = np.tensordot(weights / weights.sum(), margins, 1) if shared else np.array(total)
        for i, own in zip(inside, margins, strict=True):
            behind = tuple(axis for axis, m in enumerate(views[i]) if m not in shared)
            out[i] += np.expand_dims((average - own) * (average.size / out[i].size), behind)
    return out


def ripple(table: np.ndarray, threshold: float, sweeps: int = 100) -> np.ndarray:
    """A table of two-valued axes without cells below −threshold; the sum stays (Ripple, ibid.).

    Each such cell becomes 0 and its deficit is shared by the cells that differ from it in one axis;
    all at once, at most ``sweeps`` times. A table without a positive sum stays as it is.
    """
    out = np.array(table, dtype=float)
    for _ in range(sweeps if out.ndim and out.sum() > 0 else 0):
        deficit = np.where(out < -threshold, out, 0.0)
        if not deficit.any():
            break
        out += sum(np.flip(deficit, axis) for axis in range(out.ndim)) / out.ndim - deficit
    return out


def clip_and_scale(table: np.ndarray, total: float) -> np.ndarray:
    """Negative cells to 0, the rest scaled to the sum ``total``; uniform where nothing is left."""
    out = np.maximum(table, 0.0)
    mass = out.sum()
    return out * (total / mass) if mass > 0 else np.full(table.shape, total / table.size)


def maximum_entropy(
    shape: tuple[int, ...],
    margins: Sequence[tuple[Members, np.ndarray]],
    *,
    tolerance: float = 1e-6,
    sweeps: int = 100,
) -> np.ndarray:
    """The distribution of largest entropy with given margins, by iterative proportional fitting.

    ``margins``: (axes, table) pairs, tables non-negative, of any sum. Stops when no cell moves by
    more than ``tolerance`` in a sweep. Of margins that contradict each other the last one holds.
    """
    cells = math.prod(shape)
    place = np.unravel_index(np.arange(cells), shape)
    targets = [
        (np.ravel_multi_index([place[a] for a in axes], m.shape), clip_and_scale(m, 1.0).ravel())
        for axes, m in margins
    ]
    p = np.full(cells, 1 / cells)
    for _ in range(sweeps):
        before = p
        for cell, target in targets:
            now = np.bincount(cell, p, len(target))
            p = p * np.divide(target, now, out=np.zeros_like(target), where=now > 0)[cell]
        if np.abs(p - before).max() <= tolerance:
            break
    return clip_and_scale(p, 1.0).reshape(shape)


def integer_weights(table: np.ndarray) -> np.ndarray:
    """Real counts as int64: as they are where all are whole, else in units of 2^-20 record."""
    unit = 1 if np.abs(table - np.rint(table)).max() < 1e-6 else WEIGHT
    return np.rint(table * unit).astype(np.int64)

"""Noisy tables that overlap: made to agree, freed of negative cells, and joined by maximum entropy. All of it is post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Members = tuple[int, ...]
WEIGHT = 2**20  # one record in the integer tables of a model whose cells are real numbers


def intersections(views: Sequence[Members]) -> list[Members]:
    """Every set of columns that is the intersection of two or more views, smallest first, the empty set always among them.

    >>> intersections([(0, 1, 2), (1, 2, 3), (2, 3, 4)])
    [(), (2,), (1, 2), (2, 3)]
    """
    known: set[frozenset[int]] = set()
    shared: set[frozenset[int]] = {frozenset()}
    for view in map(frozenset, views):
        met = {view & other for other in known}
        shared |= met
        known |= met | {view}
    return sorted((tuple(sorted(s)) for s in shared), key=lambda s: (len(s), s))


def margin(table: np.ndarray, members: Members, wanted: Members) -> np.ndarray:
    """Sum of a table with one axis a member, down to the wanted members, axes in their order."""
    left = [m for m in members if m in wanted]
    summed = table.sum(axis=tuple(i for i, m in enumerate(members) if m not in wanted))
    return np.transpose(summed, [left.index(m) for m in wanted])


def consistent(tables: Sequence[np.ndarray], views: Sequence[Members], total: float) -> list[np.ndarray]:
    """Tables that agree on every intersection of their views: float arrays of the same shapes, with sum ``total`` each.

    ``views``: sorted columns of each table, one axis a column; ``total``: the public number of records. The intersections are
    taken by increasing size. On each, the tables that hold it move to their average, weighted by precision (a table of c cells
    with equal noise in each knows its margin c times less well; equal sizes, equal weights), the difference spread evenly over
    the cells behind each cell of the margin, which leaves the smaller intersections as they are. Cells may be negative.

    Source: Qardaji, Yang, Li (SIGMOD 2014), section on consistency, from literature (`algorithms` §8.1, step 3), where the
    average itself stands in the place of n on the empty set.
    """
    out = [np.array(t, dtype=float) for t in tables]
    for shared in intersections(views):
        inside = [i for i, view in enumerate(views) if set(shared) <= set(view)]
        margins = [margin(out[i], views[i], shared) for i in inside]
        weights = np.array([1 / out[i].size for i in inside])
        average = np.tensordot(weights / weights.sum(), np.array(margins), 1) if shared else np.array(float(total))
        for i, own in zip(inside, margins, strict=True):
            step = (average - own) * (average.size / out[i].size)
            out[i] += step.reshape([n if m in shared else 1 for n, m in zip(out[i].shape, views[i], strict=True)])
    return out


def ripple(table: np.ndarray, threshold: float, sweeps: int = 100) -> np.ndarray:
    """A table of two-valued axes without cells below −threshold; the sum stays.

    Each such cell becomes 0 and its deficit is shared by the cells that differ from it in one axis; all such cells at once, until
    there are none (or ``sweeps`` times). A table whose sum isn't positive is returned as it is: there is nothing to take from.
    Source: Ripple, Qardaji, Yang, Li (SIGMOD 2014), from literature.
    """
    out = np.array(table, dtype=float)
    if out.ndim == 0 or out.sum() <= 0:
        return out
    for _ in range(sweeps):
        deficit = np.where(out < -threshold, out, 0.0)
        if not deficit.any():
            break
        out += sum(np.flip(deficit, axis) for axis in range(out.ndim)) / out.ndim - deficit
    return out


def clipped(table: np.ndarray, total: float) -> np.ndarray:
    """Negative cells to 0, the rest scaled to the sum ``total``; uniform where nothing is left."""
    out = np.maximum(table, 0.0)
    mass = out.sum()
    return out * (total / mass) if mass > 0 else np.full(table.shape, total / table.size)


def maximum_entropy(
    shape: tuple[int, ...], margins: Sequence[tuple[Members, np.ndarray]], *, tolerance: float = 1e-6, sweeps: int = 100
) -> np.ndarray:
    """The distribution of largest entropy with given margins, by iterative proportional fitting from the uniform one.

    ``margins``: (axes, table) pairs, tables non-negative, of any sum. Stops when no cell of the distribution moves by more than
    ``tolerance`` in a sweep. Margins that contradict each other leave a compromise that agrees with the last one.
    """
    place = np.unravel_index(np.arange(math.prod(shape)), shape)
    wanted = [(np.ravel_multi_index([place[a] for a in axes], m.shape), clipped(m, 1.0).ravel()) for axes, m in margins]
    p = np.full(math.prod(shape), 1 / math.prod(shape))
    for _ in range(sweeps):
        before = p
        for cell, target in wanted:
            now = np.bincount(cell, p, len(target))
            p = p * np.divide(target, now, out=np.zeros_like(target), where=now > 0)[cell]
        if np.abs(p - before).max() <= tolerance:
            break
    return clipped(p, 1.0).reshape(shape)


def integer_weights(table: np.ndarray) -> np.ndarray:
    """A table of real counts as int64: the counts themselves where all are whole, else in units of 2^-20 record."""
    whole = np.rint(table)
    unit = 1 if np.abs(table - whole).max() < 1e-6 else WEIGHT
    return np.rint(table * unit).astype(np.int64)

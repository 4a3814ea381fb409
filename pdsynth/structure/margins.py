"""Expected counts of any pairs and triples of columns in a fitted junction tree. No record here."""

import math
from collections.abc import Sequence

import numpy as np

from .belief import Columns, Fitted


def margins(fitted: Fitted, sets: Sequence[Columns]) -> list[np.ndarray]:
    """Tables of one, two or three columns each, rising: expected counts, one axis per column.

    Seen from the clique where their paths through the tree meet, the columns of a set are
    independent: P(i, j, k) = Σ_c P(c) P(i | c) P(j | c) P(k | c) over the cells c of that clique.
    """
    geometry, found = fitted.geometry, dict[Columns, np.ndarray]()
    for columns in dict.fromkeys(sets):
        if geometry.home(columns) >= 0:
            found[columns] = fitted.margin(columns)
    left = [columns for columns in dict.fromkeys(sets) if columns not in found]
    given, branch = _conditionals(fitted) if left else ([], [])
    stops = np.cumsum(geometry.sizes)
    rows = [slice(e - size, e) for e, size in zip(stops, geometry.sizes, strict=True)]
    for at in sorted(range(len(fitted.tables)), key=lambda i: fitted.tables[i].size):
        weights = fitted.tables[at].ravel()
        meet = [s for s in left if len({branch[at][j] for j in s}) == len(s)]
        for first, *others in meet:
            joint = given[at][rows[first]] * weights
            for j in others[:-1]:
                joint = (joint[:, None] * given[at][rows[j]]).reshape(-1, len(weights))
            shape = [geometry.sizes[j] for j in (first, *others)]
            found[first, *others] = (joint @ given[at][rows[others[-1]]].T).reshape(shape)
        left = [s for s in left if s not in found]
    return [found[columns] for columns in sets]


def _conditionals(fitted: Fitted) -> tuple[list[np.ndarray], list[list[int]]]:
    """For every clique: P(value | cell) of all values of all columns, and the columns' branches.

    One array (values, cells) per clique. A column's branch is −1 − column in its own cliques, else
    the neighbouring clique behind which it lies.
    """
    geometry, tables = fitted.geometry, fitted.tables
    cliques, sizes = geometry.tree.cliques, geometry.sizes
    first = np.cumsum([0, *sizes])
    given = [np.zeros((first[-1], table.size)) for table in tables]
    branch = [
        [-1 - j if j in clique else len(cliques) for j in range(len(sizes))] for clique in cliques
    ]
    for at, clique in enumerate(cliques):
        place = np.indices(tables[at].shape).reshape(len(clique), -1)
        for axis, j in enumerate(clique):
            given[at][first[j] + place[axis], np.arange(tables[at].size)] = 1.0

    def carry(to: int, frm: int, out: Columns, spread: Columns) -> None:
        """What ``frm`` knows of columns that ``to`` doesn't hold, through their separator."""
        new = [
            j
            for j in range(len(sizes))
            if branch[to][j] == len(cliques) and branch[frm][j] not in (len(cliques), to)
        ]
        if not new:
            return
        values = np.concatenate([np.arange(first[j], first[j + 1]) for j in new])
        table = tables[frm]
        weighed = (given[frm][values] * table.ravel()).reshape(len(values), *table.shape)
        known = table.sum(axis=out)
        share = weighed.sum(axis=tuple(a + 1 for a in out)) / np.where(known > 0, known, math.inf)
        shape = (len(values), *tables[to].shape)
        given[to][values] = np.broadcast_to(share.reshape(len(values), *spread), shape).reshape(
            len(values), -1
        )
        for j in new:
            branch[to][j] = frm

    for link in reversed(geometry.links):
        carry(link.above, link.below, link.out_below, link.shape_above)
    for link in geometry.links:
        carry(link.below, link.above, link.out_above, link.shape_below)
    return given, branch

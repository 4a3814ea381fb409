"""The maximal information coefficient, and how far one replaced record can change it."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..core import SchemaError, entropy_sensitivity, mutual_information_sensitivity


def maximal_information_sensitivity(n: int, x_size: int, y_size: int) -> float:
    """Sensitivity of the exact MIC: max(S_bin, S_gen / log₂ 3), or S_bin for a two-valued side.

    Lemma: the grids are the same for all tables of n records, so the two maxima differ by at most
    the largest change on one grid. I of a grouped table changes by at most S_bin when the grid has
    two rows or columns, where the normaliser is 1, and by at most S_gen when it has three or more,
    where the normaliser is at least log₂ 3. A heuristic search that lets the records choose the
    grids (ApproxMaxMI) has no such bound, and neither has I divided by an entropy.
    """
    if min(x_size, y_size) < 3:
        return mutual_information_sensitivity(n, x_size, y_size)
    return max(entropy_sensitivity(n), mutual_information_sensitivity(n, 3, 3) / math.log2(3))


TIE = 1e-13  # of two grids that differ by rounding only, the coarser one wins
MAX_GRIDS = 2**28  # floating-point operations, roughly, of one exact coefficient: some seconds


@dataclass(frozen=True)
class Grid:
    """A grouping of a table's values into runs of neighbouring codes.

    ``value``: I / log₂ min(a, b) of the a × b grouped table. ``row_cuts`` and ``column_cuts``: the
    codes that begin a new run, the first run's 0 left out.
    """

    value: float
    row_cuts: tuple[int, ...] = ()
    column_cuts: tuple[int, ...] = ()


def maximal_information_coefficient(table: np.ndarray, exponent: float = 0.6) -> float:
    """MIC: the largest I(X,Y) / log₂ min(a,b) over a × b grids with a·b < n^exponent; in [0, 1].

    Groups are runs of neighbouring declared codes, so the family of grids depends on domain and n
    alone; 2 × 2 grids always belong to it. The maximum is exact: a dynamic programme over the
    column cuts for every grouping of the rows (HMPrivBayes, formula (5); Reshef et al. 2011 search
    heuristically). On a table (2, 2) it is the mutual information in bits. A domain with too many
    groupings raises SchemaError: about 16 × 16 values are feasible.

    **Privacy:** of raw counts it is raw; sensitivity
    :func:`maximal_information_sensitivity`.

    >>> maximal_information_coefficient(np.array([[8, 0, 0], [0, 8, 0], [0, 0, 16]]))
    1.0
    """
    return maximal_grid(table, exponent).value


def maximal_grid(table: np.ndarray, exponent: float = 0.6) -> Grid:
    """The grid that attains the :func:`maximal_information_coefficient`.

    **Privacy:** of raw counts it is raw, and which grid wins can flip with one record: no ε covers
    it. For lessons.

    >>> maximal_grid(np.array([[8, 0, 0], [0, 4, 4]]))
    Grid(value=1.0, row_cuts=(1,), column_cuts=(1,))
    """
    t = np.asarray(table, dtype=float).reshape(len(table), -1)
    if t.shape[0] > t.shape[1]:
        turned = maximal_grid(t.T, exponent)
        return Grid(turned.value, turned.column_cuts, turned.row_cuts)
    (rows, columns), n = t.shape, t.sum()
    if rows < 2:
        return Grid(0.0)
    if 2 ** (rows - 1) * rows * columns**2 > MAX_GRIDS:
        raise SchemaError(
            f"an exact maximal information coefficient of {rows} × {columns} values would try "
            f"{2 ** (rows - 1):,} groupings of the rows and {columns**2:,} column groups each: use "
            "fewer bins, or mutual_information"
        )
    corners = np.pad(t.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    best, cut, groups = 0.0, np.zeros(0, dtype=np.int64), 1
    for a in range(2, rows + 1):
        allowed = [b for b in range(2, columns + 1) if a * b < n**exponent or a == b == 2]
        if not allowed:
            break
        cuts = np.array(list(combinations(range(1, rows), a - 1)))
        step = max(2**21 // (a * (columns + 1) ** 2), 1)
        for part in np.split(cuts, range(step, len(cuts), step)):
            value, at, b = _best_columns(corners, part, allowed[-1])
            if value > best + TIE:
                best, cut, groups = value, part[at], b
    return Grid(min(best, 1.0), tuple(cut.tolist()), _column_cuts(corners, cut, groups))


def _gains(corners: np.ndarray, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For groupings ``cuts`` (m, a−1) of the rows: −n H(row group | column group) of each run of
    columns (m, i, j), and H(row group) (m,).
    """
    n = corners[-1, -1]
    edges = np.pad(cuts, ((0, 0), (1, 1)))
    edges[:, -1] = len(corners) - 1
    # (m, a, columns + 1): records of a row group left of each column edge
    groups = np.diff(corners[edges], axis=1)
    # (…, i, j): records between the column edges i and j
    cells = groups[:, :, None, :] - groups[:, :, :, None]
    gain = _xlogx(cells).sum(axis=1) - _xlogx(cells.sum(axis=1))
    gain[:, np.tri(corners.shape[1], dtype=bool)] = -np.inf
    return gain, math.log2(n) - _xlogx(groups[:, :, -1]).sum(axis=1) / n


def _best_columns(corners: np.ndarray, cuts: np.ndarray, most: int) -> tuple[float, int, int]:
    """Largest I / log₂ min(a, b) over groupings ``cuts`` (m, a−1) of the rows and of the columns,
    b ≤ ``most``; which cut, and b.
    """
    a, n = cuts.shape[1] + 1, corners[-1, -1]
    gain, row_entropy = _gains(corners, cuts)
    reached, best = gain[:, 0, :], (0.0, 0, 1)
    for b in range(2, most + 1):
        reached = (reached[:, :, None] + gain).max(axis=1)  # the best b groups that end at an edge
        information = row_entropy + reached[:, -1] / n
        at = int(information.argmax())
        value = float(information[at]) / math.log2(min(a, b))
        if value > best[0] + TIE:
            best = value, at, b
    return best


def _column_cuts(corners: np.ndarray, cut: np.ndarray, groups: int) -> tuple[int, ...]:
    """The way back: the cuts of the best ``groups`` runs of columns, given the rows' ``cut``."""
    if groups < 2:
        return ()
    gain = _gains(corners, cut[None, :])[0][0]
    reached, came = gain[0], []
    for _ in range(groups - 1):
        paths = reached[:, None] + gain
        came.append(paths.argmax(axis=0))
        reached = paths.max(axis=0)
    edges = [len(reached) - 1]
    for before in reversed(came):
        edges.append(int(before[edges[-1]]))
    return tuple(edges[:0:-1])


def _xlogx(counts: np.ndarray) -> np.ndarray:
    return counts * np.log2(np.maximum(counts, 1))

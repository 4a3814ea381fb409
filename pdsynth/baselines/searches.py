"""What the genetic search is measured against: the optimum, and climbs in the space of orders.

Both maximise the same sum of associations as :func:`~pdsynth.algorithms.genetic_search`, and see no
record.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator

from ..algorithms import SearchResult, best_parents, check_room, pose
from ..core import Permitted

STARTS = 20  # climbs of a hill search


def exact_search(weights: np.ndarray, k: int, permitted: Permitted | None = None) -> SearchResult:
    """The optimum for ``weights`` (d, d), [child, parent], by dynamic programming over subsets.

    F(S) = max over j in S of F(S∖j) + v_j(S∖j), with v_j(M) the sum of the k heaviest parents of j
    among M (after Silander and Myllymäki, UAI 2006). Ties go to the lower column.
    """
    objective, permitted = pose(weights, k, permitted)
    free = permitted.searchable
    m = len(free)
    check_room("exact", len(permitted), m)
    gain = [_gains(objective[j], k, free) for j in free]
    masks = np.arange(2**m)
    value, last = np.where(masks > 0, -np.inf, 0.0), np.zeros(2**m, dtype=np.int8)
    for size in range(1, m + 1):
        layer = masks[np.bitwise_count(masks) == size]
        for i in range(m):
            whole = layer[layer >> i & 1 == 1]
            rest = whole ^ 1 << i
            total = value[rest] + gain[i][rest]
            better = total > value[whole]
            value[whole[better]], last[whole[better]] = total[better], i
    order, mask = [], 2**m - 1
    while mask:
        order.append(free[last[mask]])
        mask ^= 1 << int(last[mask])
    return _result([*permitted.fixed_order, *reversed(order)], weights, k, permitted)


def _gains(w: np.ndarray, k: int, free: Sequence[int]) -> np.ndarray:
    """v(M), the sum of the k heaviest of w, for every subset M of the free attributes: (2^m,).

    The other attributes can always be taken. From the lightest attribute to the heaviest,
    ``best[c]`` is the best sum of c parents; one that is taken leaves c − 1 of the lighter ones.
    """
    m = len(free)
    best = [np.zeros((1,) * m)] * (k + 1)
    for a in np.argsort(w, kind="stable").tolist():
        if w[a] <= 0:
            continue
        sums = [best[0], *(w[a] + less for less in best[:-1])]
        if a in free:  # bit i of M is the (m−1−i)-th axis
            axis = m - 1 - free.index(a)
            sums = [np.concatenate(both, axis=axis) for both in zip(best, sums, strict=True)]
        best = sums
    return np.broadcast_to(best[k], (2,) * m).reshape(-1)


def hill(
    weights: np.ndarray, k: int, generator: Generator, permitted: Permitted | None = None
) -> SearchResult:
    """The best of several climbs in the space of orders, each from a random one, for any d.

    A step takes one attribute out and puts it back where the sum of the k heaviest predecessors of
    all nodes is largest; a climb ends when no step gains.
    """
    objective, permitted = pose(weights, k, permitted)
    fixed, climbs = len(permitted.fixed_order), []
    for _ in range(STARTS):
        order = permitted.reorder(generator.permutation(len(weights)).tolist())
        value, moved = -np.inf, True
        while moved:
            moved = False
            for j in generator.permutation(permitted.searchable).tolist():
                rest = [a for a in order if a != j]
                totals = _insertions(objective, k, rest, j)
                at = fixed + int(totals[fixed:].argmax())
                if totals[at] > value + 1e-12:
                    value, moved = float(totals[at]), True
                    order = [*rest[:at], j, *rest[at:]]
        climbs.append((value, order))
    _, order = max(climbs, key=lambda climb: climb[0])
    return _result(order, weights, k, permitted)


def _insertions(w: np.ndarray, k: int, rest: Sequence[int], j: int) -> np.ndarray:
    """Value of the order ``rest`` with j put at each of its len(rest) + 1 places."""
    m = len(rest)
    ahead = np.tri(m + 1, m, -1, dtype=bool)  # [place, the attributes before it]
    top = _heaviest(np.where(ahead[:-1], w[np.ix_(rest, rest)], 0.0), k)
    own = _heaviest(np.where(ahead, w[j, rest], 0.0), k).sum(axis=1)
    smallest = top.min(axis=1) if k <= m else np.zeros(m)
    extra = np.maximum(w[rest, j] - smallest, 0.0)  # what a node gains when j stands before it
    behind = np.append(extra[::-1].cumsum()[::-1], 0.0)
    return top.sum() + own + behind


def _heaviest(w: np.ndarray, k: int) -> np.ndarray:
    """The k largest of each row, in any order."""
    return -np.partition(-w, k - 1, axis=1)[:, :k] if k < w.shape[1] else w


def _result(order: list[int], weights: np.ndarray, k: int, permitted: Permitted) -> SearchResult:
    parents = best_parents(order, weights, k, permitted)
    value = float(weights[parents].sum())
    history, orders = np.array([[value]]), np.array([order])
    return SearchResult(tuple(order), parents, value, history, orders, parents[None])

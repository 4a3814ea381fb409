"""The best network of pairwise weights: exactly, by dynamic programming over subsets, or by hill climbing where d is too large.

Both maximise what the genetic search maximises (Hittmeir et al. 2022): the sum of the weights of all edges, at most k parents a
node. They tell how near a search gets; they read an association matrix, never records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import BudgetError
from .genetic import SearchResult, check_width
from .restrictions import Permitted, Restriction

MOST = 20  # attributes that the dynamic programme takes: its arrays have 2^d members


def exact_search(weights: np.ndarray, k: int, permitted: Permitted | None = None) -> SearchResult:
    """The exact optimum for ``weights`` (d, d), [child, parent], and up to 20 attributes to place; BudgetError beyond.

    F(S) = max over j in S of F(S∖j) + v_j(S∖j), with v_j(M) the sum of the k heaviest parents of j among M. Silander and
    Myllymäki (UAI 2006) solve structure learning so; here v_j needs no look at records. Ties go to the lower column.
    """
    objective, permitted = _problem(weights, k, permitted)
    free = permitted.searchable
    if len(free) > MOST:
        raise BudgetError(f"{len(free)} attributes to place, but the exact search has room for {MOST}: use search='hill' or 'genetic'")
    m = len(free)
    gain = np.stack([_gains(objective[j], k, permitted.fixed_order, [a for a in free if a != j], free) for j in free]) if m else np.zeros((0, 1))
    masks = np.arange(2**m)
    count = np.bitwise_count(masks)
    value, last = np.zeros(2**m), np.zeros(2**m, dtype=np.int8)
    for size in range(1, m + 1):
        layer = masks[count == size]
        best, who = np.full(len(layer), -np.inf), np.zeros(len(layer), dtype=np.int8)
        for i in range(m):
            at = np.flatnonzero(layer >> i & 1)
            rest = layer[at] ^ (1 << i)
            total = value[rest] + gain[i, rest]
            better = total > best[at]
            best[at[better]], who[at[better]] = total[better], i
        value[layer], last[layer] = best, who
    order, mask = [], 2**m - 1
    while mask:
        order.append(free[last[mask]])
        mask ^= 1 << int(last[mask])
    return _found([*permitted.fixed_order, *reversed(order)], weights, k, permitted)


def _gains(w: np.ndarray, k: int, always: Sequence[int], others: Sequence[int], free: Sequence[int]) -> np.ndarray:
    """v(M) for every subset M of the free attributes, float (2^m,): the k heaviest of w over M and ``always``.

    From the lightest attribute to the heaviest: best[c] is the best sum of c more parents; an attribute of M takes one place.
    """
    m = len(free)
    best = [np.zeros((1,) * m) for _ in range(k + 1)]
    for a in sorted((*always, *others), key=lambda a: w[a]):
        if w[a] <= 0:
            continue
        taken = [best[0], *(w[a] + best[c - 1] for c in range(1, k + 1))]
        axis = m - 1 - free.index(a) if a in free else None  # bit i is the (m−1−i)-th axis
        best = taken if axis is None else [np.concatenate([best[c], taken[c]], axis=axis) for c in range(k + 1)]
    return np.broadcast_to(best[k], (2,) * m).reshape(-1)


def hill(weights: np.ndarray, k: int, generator: np.random.Generator, permitted: Permitted | None = None, *, starts: int = 20) -> SearchResult:
    """The best of several climbs in the space of orders, each from a random order, for any d.

    A step takes one attribute out and puts it back where the sum of the k heaviest predecessors of all nodes is largest; a climb ends
    when no attribute wants to move.
    """
    objective, permitted = _problem(weights, k, permitted)
    best: tuple[float, list[int]] | None = None
    for _ in range(starts):
        order = permitted.reorder(generator.permutation(len(weights)).tolist())
        value, moved = -np.inf, True
        while moved:
            moved = False
            for j in generator.permutation(permitted.searchable).tolist():
                rest = [a for a in order if a != j]
                totals = _insertions(objective, k, rest, j)[len(permitted.fixed_order) :]
                at = int(totals.argmax())
                if totals[at] > value + 1e-12:
                    value, moved = float(totals[at]), True
                    order = [*rest[: at + len(permitted.fixed_order)], j, *rest[at + len(permitted.fixed_order) :]]
        if best is None or value > best[0]:
            best = value, order
    assert best is not None
    return _found(best[1], weights, k, permitted)


def _insertions(w: np.ndarray, k: int, rest: Sequence[int], j: int) -> np.ndarray:
    """Value of the order ``rest`` with j put at each of its len(rest) + 1 places."""
    below = np.tril(np.ones((len(rest), len(rest)), dtype=bool), -1)
    above = np.where(below, w[np.ix_(rest, rest)], 0.0)  # weights of the parents before each node
    top = -np.partition(-above, k - 1, axis=1)[:, :k] if k < len(rest) else above
    smallest = top.min(axis=1) if k <= len(rest) else np.zeros(len(rest))
    extra = np.maximum(w[rest, j] - smallest, 0.0)  # what a node gains when j stands before it
    own = np.where(np.vstack([below, np.ones(len(rest), dtype=bool)]), w[j, rest], 0.0)
    own = (-np.partition(-own, k - 1, axis=1)[:, :k] if k < len(rest) else own).sum(axis=1)
    after = np.append(extra[::-1].cumsum()[::-1], 0.0)  # all nodes behind the place
    return top.sum() + own + after


def _problem(weights: np.ndarray, k: int, permitted: Permitted | None) -> tuple[np.ndarray, Permitted]:
    permitted = permitted or Restriction().on(range(len(weights)))  # type: ignore[arg-type]
    check_width(k, len(weights))
    permitted.check(k)
    return permitted.objective(weights), permitted


def best_parents(
    order: Sequence[int],
    weights: np.ndarray,
    k: int,
    permitted: Permitted,
    sizes: Sequence[int] | None = None,
    cells: Fraction | float = math.inf,
) -> np.ndarray:
    """The heaviest permitted parents that an order leaves to each attribute: bool (d, d), [child, parent]; none of weight 0.

    At most k, and as long as the table of child and parents has no more than ``cells`` cells; forced parents always.
    """
    objective = permitted.objective(weights)
    parents, sizes = np.zeros(objective.shape, dtype=bool), sizes or [1] * len(objective)
    for i, child in enumerate(order):
        room = cells / sizes[child]
        for a in sorted(order[:i], key=lambda a, child=child: -objective[child, a]):  # type: ignore[misc]
            fits = sizes[a] <= room and objective[child, a] > 0
            if parents[child].sum() < k and (fits or permitted.forced[child, a]):
                parents[child, a], room = True, room / sizes[a]
    return parents


def _found(order: list[int], weights: np.ndarray, k: int, permitted: Permitted) -> SearchResult:
    parents = best_parents(order, weights, k, permitted)
    value = float(weights[parents].sum())
    return SearchResult(tuple(order), parents, value, np.array([[value]]), np.array([order]), parents[None])

"""A forest of pairs in one go: what :mod:`.consistent` does with many columns, not rounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..core.errors import progress
from ..core.factors import Columns
from ..core.noise import TableBudget
from .consistent_policy import SELECT, TABLE, fair_weight


def grow_forest(run: Any, epsilon: Fraction) -> Fraction:
    """Edges that join two trees, by their residual against independence; what is left of ε.

    ``run``: :class:`~pdsynth.algorithms.consistent.Run`.

    **Privacy:** d−1 exponential mechanisms for a fifth of ε, tables for the rest.
    """
    policy, choosing, tables = run.policy, SELECT * epsilon, (1 - SELECT) * epsilon
    most = max(len(policy.sizes) - 1, 1)
    each = policy.shorten(choosing / most)
    budget = TableBudget(tables / most)
    allowed = [p for p in policy.pairs() if not policy.apart[p]]
    expected = run.expected_in(run.model.fit_columns(), allowed)
    pairs, trees = list[Columns](), [*range(most + 1)]  # the tree of each column

    def join(pair: Columns) -> None:
        i, j = pair
        trees[:] = [trees[i] if tree == trees[j] else tree for tree in trees]

    ruled = {(i, j) for i, j in np.argwhere(policy.ruled).tolist() if i < j}
    for tied in ruled:  # their clique is there already
        join(tied)
    pairs += policy.forced + policy.label
    for pair in pairs:
        join(pair)
    chosen: Columns | None = ()
    for number in progress(range(most), "edges", unit="edge"):
        expected = {
            p: m
            for p, m in expected.items()
            if trees[p[0]] != trees[p[1]] or (p in ruled and p not in pairs)
        }
        if not expected:
            break
        chosen = run.choose(expected, each, lambda _: budget, step=f"edge {number + 1}")
        choosing -= each
        if chosen is None:
            break
        pairs.append(chosen)
        join(chosen)
    roots = [
        fair_weight(policy.possible(p), policy.neighbours.power) * policy.weight[policy.in_a(p)]
        for p in pairs
    ]
    costs = [policy.shorten(tables * root / sum(roots)) for root in roots]
    rest = choosing + tables - sum(costs)
    if costs and chosen is not None:  # no STOP: the last table gets what rounding leaves
        costs[-1], rest = costs[-1] + rest, Fraction(0)
    for pair, cost in zip(pairs, costs, strict=True):
        run.measure(pair, TableBudget(cost, source=TABLE))
    return rest

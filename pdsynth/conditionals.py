"""Noisy tables of a network, and the conditional distributions that are computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .budgets import TableBudget
from .curator import Curator
from .network import Network


def noisy_tables(curator: Curator, network: Network, budget: Mapping[str, TableBudget], *, derived: int = 0) -> tuple[np.ndarray, ...]:
    """Noisy joint counts of every attribute–parent pair: int64 arrays, child first, one axis an attribute.

    The first ``derived`` pairs are not measured but marginalised from table ``derived + 1``, whose parents are exactly those
    attributes (PrivBayes, NoisyConditionals; thesis, Algorithm 2, lines 8–10).

    **Privacy:** one discrete Laplace release a measured pair, at the scale that ``budget[child]`` names; deriving is free.
    """
    index = curator.schema.index
    tables: list[np.ndarray] = []
    for child, parents in network.pairs[derived:]:
        b = budget[child]
        columns = (index(child), *(index(p) for p in parents))
        tables.append(curator.table(columns, b.scale, step=f"table({child}{' | ' + ', '.join(parents) if parents else ''})",
                                    source=b.source, claimed=b.claimed, scale_from=b.scale_from))  # fmt: skip
    return (*_derive(network, tables, derived), *tables)


def _derive(network: Network, tables: Sequence[np.ndarray], derived: int) -> list[np.ndarray]:
    if derived == 0:
        return []
    child, parents = network.pairs[derived]
    axes = (child, *parents)
    joint = np.maximum(tables[0], 0)
    out = []
    for name, above in network.pairs[:derived]:
        kept = (name, *above)
        summed = joint.sum(axis=tuple(i for i, a in enumerate(axes) if a not in kept))
        left = [a for a in axes if a in kept]
        out.append(np.transpose(summed, [left.index(a) for a in kept]))
    return out


def conditional(table: np.ndarray) -> np.ndarray:
    """P*(X | Π) of shape (|X|, cells of Π) from a noisy table: negative counts to 0, each column normalised.

    A column without mass gets the marginal of X from the same table, a table without mass the uniform distribution: both are
    post-processing of the release.
    """
    t = np.maximum(table.reshape(len(table), -1), 0).astype(float)
    column, row = t.sum(axis=0), t.sum(axis=1)
    rest = row / row.sum() if row.sum() > 0 else np.full(len(t), 1 / len(t))
    with np.errstate(invalid="ignore"):
        return np.where(column > 0, t / np.where(column > 0, column, 1), rest[:, None])

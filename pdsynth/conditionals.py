"""Noisy tables of a network, and the conditional distributions that are computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from .budgets import TableBudget
from .domain.facts import Facts
from .domain.progress import progress
from .network import Network
from .privacy.curator import Curator
from .structure.learner import Measurement, StructureResult


@runtime_checkable
class Sparse(Protocol):
    """A table of which only some parent configurations are kept, as the papers' replicas do.

    :class:`pdsynth.published.SparseTable` is one.
    """

    shape: tuple[int, ...]
    weights: np.ndarray

    @property
    def size(self) -> int:
        """Cells that are kept."""
        ...

    def look_up(self, p: np.ndarray, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``p``, P(X | π), with missing configurations appended; where each ``key`` stands."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        ...


Table = np.ndarray | Sparse
Sources = tuple[tuple[str, ...], ...]  # of each table of a model, the ids of ledger entries


@dataclass(frozen=True)
class JointCounts:
    """Discrete Laplace noise on the joint counts of every pair (PrivBayes)."""

    counts_only = True
    derives = True  # a pair that a larger one contains needn't be measured

    def check(self, facts: Facts, budget: Any) -> None:
        """Fits every schema and budget."""

    def measure(
        self, curator: Curator, learnt: StructureResult, budget: Mapping[str, TableBudget]
    ) -> list[Measurement]:
        """One table per pair that has a budget.

        **Privacy:** as :func:`measure_joint_counts`.
        """
        derived = learnt.derived if len(budget) < len(learnt.network) else 0
        return measure_joint_counts(curator, learnt.network, budget, derived)


def measure_joint_counts(
    curator: Curator, network: Network, budget: Mapping[str, TableBudget], derived: int = 0
) -> list[Measurement]:
    """Noisy joint counts of the pairs after the first ``derived``, which are contained in the next.

    PrivBayes, NoisyConditionals; thesis, Algorithm 2, lines 8–10. Where a filter has left that next
    pair fewer parents (HMPrivBayes, Algorithm 5), the missing attributes are added to its table for
    the same noise.

    **Privacy:** one discrete Laplace release per measured pair, for ``budget[child]``.
    """
    first, index = [child for child, _ in network.pairs[:derived]], curator.schema.index
    pairs = list(network.pairs[derived:])
    if pairs:
        child, parents = pairs[0]
        pairs[0] = child, (*parents, *(name for name in first if name not in parents))
    answers = curator.tables(
        (
            [index(name) for name in (child, *parents)],
            budget[child],
            f"table({child}{' | ' + ', '.join(parents) if parents else ''})",
        )
        for child, parents in pairs
    )
    shown = progress(zip(pairs, answers, strict=True), "tables", len(pairs), "table")
    return [Measurement((child, *parents), *answer) for (child, parents), answer in shown]


def conditional(table: np.ndarray) -> np.ndarray:
    """P*(X | Π), (|X|, cells of Π), of a noisy table: negative counts to 0, columns sum to 1.

    A column without mass gets the marginal of X from the same table, a table without mass the
    uniform distribution: both are post-processing of the release.
    """
    t = np.maximum(table.reshape(len(table), -1), 0).astype(float)
    column, row = t.sum(axis=0), t.sum(axis=1)
    rest = row / row.sum() if row.sum() > 0 else np.full(len(t), 1 / len(t))
    with np.errstate(invalid="ignore"):
        return np.where(column > 0, t / np.where(column > 0, column, 1), rest[:, None])

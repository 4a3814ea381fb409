"""Noisy tables of a network, and the conditional distributions that are computed from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .budgets import TableBudget
from .errors import BudgetError
from .network import Network
from .privacy.curator import Curator
from .privacy.mechanisms import Noise

DENSE = 2**16  # cells of a table of conditionals that is kept whole; larger ones keep the configurations that occur
MAX_PARENTS = 63  # two-valued parents whose configuration is one 64-bit word


@dataclass(frozen=True)
class SparseTable:
    """Weights of a child at the parent configurations that occur, for in-degrees whose whole table would not fit anywhere.

    ``shape``: the declared domain, child first. ``keys``: int64 (r,), rising numbers of configurations, first parent most
    significant. ``weights``: int64 (|X|, r). Another configuration has the child's own distribution, or with a ``scale`` the uniform
    one plus Laplace noise of that scale, drawn from ``seed`` when the configuration is asked for, always the same.
    """

    shape: tuple[int, ...]
    keys: np.ndarray
    weights: np.ndarray
    scale: float = 0.0
    seed: int = 0

    @property
    def size(self) -> int:
        """Cells that are kept."""
        return self.weights.size

    def look_up(self, p: np.ndarray, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns of P(X | π) for the configurations ``key`` (n,): ``p`` with the missing ones appended, and where each stands in it."""
        at = np.searchsorted(self.keys, key)
        known = at < len(self.keys)
        known[known] = self.keys[at[known]] == key[known]
        if known.all():
            return p, at
        new, back = np.unique(key[~known], return_inverse=True)
        at[~known] = p.shape[1] + back
        return np.hstack([p, self._unseen(new)]), at

    def _unseen(self, keys: np.ndarray) -> np.ndarray:
        values = self.shape[0]
        if not self.scale:
            return np.repeat(conditional(self.weights.sum(axis=1)), len(keys), axis=1)
        u = _hashed(keys[None, :].astype(np.uint64) * np.uint64(values) + np.arange(values, dtype=np.uint64)[:, None], self.seed) - 0.5
        noisy = np.maximum(1 / values - self.scale * np.sign(u) * np.log1p(-2 * np.abs(u)), 0)
        return conditional(np.where(noisy.sum(axis=0) > 0, noisy, 1.0))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"keys": self.keys.tolist(), "weights": self.weights.ravel().tolist(), "scale": self.scale, "seed": self.seed}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], shape: tuple[int, ...]) -> SparseTable:
        """The inverse of :meth:`to_dict`; a malformed document raises ValueError, TypeError, KeyError or OverflowError."""
        scale, seed = data["scale"], data["seed"]
        if not all(type(x) is int for x in (*data["keys"], *data["weights"], seed)) or type(scale) is not float:
            raise ValueError("a sparse table holds something other than integers")
        keys = np.array(data["keys"], dtype=np.int64)
        rising = len(keys) and keys[0] >= 0 and (np.diff(keys) > 0).all() and int(keys[-1]) < math.prod(shape[1:])
        if not rising or not 0 <= scale < math.inf or not 0 <= seed < 2**63:
            raise ValueError("a sparse table whose keys don't rise within its domain, or with an impossible noise")
        return cls(shape, keys, np.array(data["weights"], dtype=np.int64).reshape(shape[0], len(keys)), scale, seed)


Table = np.ndarray | SparseTable


def _hashed(keys: np.ndarray, seed: int) -> np.ndarray:
    """Uniform numbers in (0, 1) that only depend on key and seed (SplitMix64)."""
    z = (keys + np.uint64(seed)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return (((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53


def noisy_tables(curator: Curator, network: Network, budget: Mapping[str, TableBudget], *, derived: int = 0) -> tuple[np.ndarray, ...]:
    """Noisy joint counts of every attribute–parent pair: int64 arrays, child first, one axis an attribute.

    The first ``derived`` pairs are not measured but marginalised from table ``derived + 1``, whose parents are exactly those
    attributes (PrivBayes, NoisyConditionals; thesis, Algorithm 2, lines 8–10). Where a filter has left it fewer parents
    (HMPrivBayes, Algorithm 5), those attributes are added to that one table for the same noise, and its own table is summed, too.

    **Privacy:** one discrete Laplace release a measured pair, at the scale that ``budget[child]`` names; deriving is free.
    """
    index = curator.schema.index
    tables: list[np.ndarray] = []
    first = [child for child, _ in network.pairs[:derived]]
    for child, parents in network.pairs[derived:]:
        b, asked = budget[child], (*parents, *(name for name in first if name not in parents and not tables))
        columns = (index(child), *(index(p) for p in asked))
        tables.append(curator.table(columns, b.scale, step=f"table({child}{' | ' + ', '.join(asked) if asked else ''})",
                                    source=b.source, claimed=b.claimed, scale_depends_on=b.scale_depends_on))  # fmt: skip
        if derived and len(tables) == 1:
            joint, axes = np.maximum(tables[0], 0), (child, *asked)
            tables = [*(_summed(joint, axes, pair) for pair in network.pairs[:derived])] + (
                tables if asked == parents else [_summed(joint, axes, (child, parents))]
            )
    return tuple(tables)


def _summed(joint: np.ndarray, axes: Sequence[str], pair: tuple[str, tuple[str, ...]]) -> np.ndarray:
    """The table of a pair, child first, from a joint table of more attributes ``axes``."""
    kept = (pair[0], *pair[1])
    summed = joint.sum(axis=tuple(i for i, a in enumerate(axes) if a not in kept))
    left = [a for a in axes if a in kept]
    return np.transpose(summed, [left.index(a) for a in kept])


def noisy_conditionals(curator: Curator, network: Network, budget: Mapping[str, TableBudget], noise: Noise) -> tuple[Table, ...]:
    """Noisy P(X | Π) of every pair of a binary network, in steps of 2^-30 (PrivABN, Algorithm 4, lines 3–6).

    ``budget[child].scale`` is in probability. Tables of more than ``DENSE`` cells are sparse. A column that the noise leaves
    without mass becomes uniform; the print doesn't say. Without noise the weights are raw counts.

    **Privacy:** one release a pair; each truly costs 2/scale, see :meth:`Curator.conditionals`.
    """
    schema, out = curator.schema, list[Table]()
    for child, parents in network.pairs:
        if len(parents) > MAX_PARENTS:
            raise BudgetError(f"{child!r} has {len(parents)} parents; their configuration is kept in 64 bits, so at most {MAX_PARENTS}")
        b, columns = budget[child], tuple(schema.index(name) for name in (child, *parents))
        shape = tuple(schema.sizes[j] for j in columns)
        assert not isinstance(b.scale, tuple)
        step = f"conditional({child}{' | ' + ', '.join(parents) if parents else ''})"
        keys, table = curator.conditionals(columns, b.scale, step=step, source=b.source, claimed=b.claimed, sparse=math.prod(shape) > DENSE)
        if curator.guarantee != "none":
            table = np.where((table > 0).any(axis=0), table, 1)
        if keys is None:
            out.append(table.reshape(shape))
        elif curator.guarantee == "none":
            out.append(SparseTable(shape, keys, table))
        else:
            out.append(SparseTable(shape, keys, table, float(b.scale), noise.child(f"unseen {child}").below(2**62)))
    return tuple(out)


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

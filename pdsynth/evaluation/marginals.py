"""How far a synthetic table is from the real one, measured over all small marginals (average variation distance)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd

from ..counting.tables import Records, marginal
from ..domain.schema import Schema
from ..errors import BudgetError, SchemaError
from . import sparse

BLOCK_CELLS = 2**12  # larger tables are counted up to this size and then summed down to the sets asked for; measured best
DENSE_CELLS = 2**20  # one table with more cells than this is compared cell by occupied cell
GROUP_CELLS = 2**23  # tables compared in one go: 64 MiB of counts a side
KEYS16 = 2**16  # keys below this are built in uint16, several times faster than in int64
ENUMERATED = 200_000  # below this many sets, a sample is drawn from the list of all of them

Sets: TypeAlias = tuple[tuple[int, ...], ...]
Blocks: TypeAlias = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
Table: TypeAlias = pd.DataFrame | np.ndarray | Records


def coded(table: Table, schema: Schema) -> np.ndarray:
    """Codes (n_records, n_attributes) of a DataFrame, of a code array (checked against the schema) or of Records."""
    if isinstance(table, Records):
        return table.codes
    if isinstance(table, pd.DataFrame):
        return schema.encode(table)
    codes = np.asarray(table)
    if codes.ndim != 2 or codes.shape[1] != len(schema) or not np.issubdtype(codes.dtype, np.integer):
        raise SchemaError(f"expected integer codes of shape (n, {len(schema)}), got {codes.dtype} of shape {codes.shape}")
    if len(codes) == 0:
        raise SchemaError("the table has no rows")
    tops, lows = codes.max(axis=0), codes.min(axis=0)
    for name, top, low, size in zip(schema.names, tops, lows, schema.sizes, strict=True):
        if top >= size or low < 0:
            raise SchemaError(f"attribute {name!r}: codes from {low} to {top}, but its declared domain has the codes 0 to {size - 1}")
    return codes


def attribute_sets(d: int, alpha: int, sets: int | None = None, seed: int = 0) -> Sets:
    """All α-sets of d attributes, or ``sets`` different ones drawn with a public seed (all of them where there are fewer)."""
    if isinstance(alpha, bool) or not isinstance(alpha, (int, np.integer)) or not 1 <= alpha <= d:
        raise SchemaError(f"alpha must be a whole number from 1 to {d}, the number of attributes, got {alpha!r}")
    if sets is not None and sets < 1:
        raise SchemaError(f"sets must be at least 1, or None for all, got {sets}")
    total = math.comb(d, alpha)
    if sets is None or sets >= total:
        return tuple(combinations(range(d), alpha))
    rng = np.random.default_rng(seed)
    if total <= ENUMERATED:
        everything = list(combinations(range(d), alpha))
        return tuple(everything[i] for i in np.sort(rng.choice(total, sets, replace=False)))
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < sets:
        drawn.add(tuple(sorted(rng.choice(d, alpha, replace=False).tolist())))
    return tuple(sorted(drawn))


@lru_cache(maxsize=64)
def plan(sizes: tuple[int, ...], sets: Sets, cells: int) -> Blocks:
    """Blocks ``(attributes, positions in sets)`` of at most ``cells`` cells that together cover every set once.

    Greedy: a block starts with the first uncovered set and takes in the attribute that covers most further sets.
    """
    left, blocks = dict.fromkeys(range(len(sets))), []
    while left:
        block = set(sets[next(iter(left))])
        room = cells // math.prod(sizes[j] for j in block)
        while True:
            # sets that exactly one more attribute would bring in
            gains: dict[int, int] = {}
            for i in left:
                outside = [j for j in sets[i] if j not in block]
                if len(outside) == 1:
                    gains[outside[0]] = gains.get(outside[0], 0) + 1
            affordable = [j for j in gains if sizes[j] <= room]
            if not affordable:
                break
            best = max(affordable, key=lambda j: (gains[j], -sizes[j], -j))
            block.add(best)
            room //= sizes[best]
        inside = tuple(i for i in left if block.issuperset(sets[i]))
        for i in inside:
            del left[i]
        blocks.append((tuple(sorted(block)), inside))
    return tuple(blocks)


class Marginals:
    """Counts of one table on many sets of attributes, kept to be compared with table after table.

    ``counts``: int64 array, the tables of ``sets`` laid end to end; ``starts``: where each begins. ``like`` takes the sets
    and the counting plan of another object. A live panel keeps the real side: only the synthetic side is counted again.

    **Privacy:** exact counts of the records; on the real side this is for evaluation, never for release.
    """

    def __init__(self, table: Table, schema: Schema, alpha: int = 2, *, sets: Sets | None = None, like: Marginals | None = None) -> None:
        codes = coded(table, schema)
        self.schema, self.n = schema, len(codes)
        self.sets: Sets = like.sets if like is not None else attribute_sets(len(schema), alpha) if sets is None else sets
        cells = [math.prod(schema.sizes[j] for j in s) for s in self.sets]
        if sum(cells) > 4 * GROUP_CELLS:
            raise BudgetError(
                f"{len(cells):,} marginals have {sum(cells):,} cells ({sum(cells) / 2**27:.1f} GiB): "
                "use marginal_distance, which compares them in groups, or a sample of sets"
            )
        self.blocks: Blocks = like.blocks if like is not None else plan(schema.sizes, self.sets, min(BLOCK_CELLS, max(self.n // 2, 64)))
        self.starts = np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)
        self.counts = np.empty(self.starts[-1], dtype=np.int64)
        self._count(codes)

    def _count(self, codes: np.ndarray) -> None:
        sizes = self.schema.sizes
        narrow = [np.ascontiguousarray(codes[:, j], dtype=np.uint16) for j in range(len(sizes))]
        for block, inside in self.blocks:
            table = _tabulate(narrow, codes, sizes, block)
            for i in inside:
                shape = tuple(sizes[j] for j in self.sets[i])
                spare = tuple(a for a, j in enumerate(block) if j not in self.sets[i])
                out = self.counts[self.starts[i] : self.starts[i + 1]].reshape(shape)
                if spare:
                    np.add.reduce(table, axis=spare, out=out)
                else:
                    out[...] = table

    def table(self, names: Sequence[str]) -> np.ndarray:
        """Counts of one of the sets, int64, axes in the order of the schema."""
        wanted = tuple(sorted(self.schema.index(n) for n in names))
        i = self.sets.index(wanted)
        return self.counts[self.starts[i] : self.starts[i + 1]].reshape([self.schema.sizes[j] for j in wanted])

    def of(self, table: Table) -> Marginals:
        """The same marginals of another table over the same schema."""
        return Marginals(table, self.schema, like=self)

    def answers(self, cells: np.ndarray) -> np.ndarray:
        """How many records lie in the marked cells (bool array, laid end to end like ``counts``) of each set: int64 array (n_sets,)."""
        return np.add.reduceat(np.where(cells, self.counts, 0), self.starts[:-1])

    def distances(self, other: Marginals | Table) -> np.ndarray:
        """Total variation distance, in [0, 1], for each set: float array (n_sets,)."""
        fake = other if isinstance(other, Marginals) else self.of(other)
        return np.add.reduceat(np.abs(self._gaps(fake)), self.starts[:-1]) / (2.0 * self.n * fake.n)

    def largest(self, other: Marginals | Table) -> np.ndarray:
        """Largest difference of one cell, in [0, 1], for each set; see :func:`max_cell`."""
        fake = other if isinstance(other, Marginals) else self.of(other)
        return np.maximum.reduceat(np.abs(self._gaps(fake)), self.starts[:-1]) / (1.0 * self.n * fake.n)

    def norms(self, other: Marginals | Table) -> tuple[np.ndarray, np.ndarray]:
        """L1 and L2 norm of the difference of frequencies, for each set: two float arrays (n_sets,)."""
        fake = other if isinstance(other, Marginals) else self.of(other)
        gaps = self._gaps(fake) / (1.0 * self.n * fake.n)
        return np.add.reduceat(np.abs(gaps), self.starts[:-1]), np.sqrt(np.add.reduceat(gaps * gaps, self.starts[:-1]))

    def distance(self, other: Marginals | Table) -> float:
        """Average variation distance: the mean of :meth:`distances`."""
        return float(self.distances(other).mean())

    def _gaps(self, fake: Marginals) -> np.ndarray:
        """n·m·(P − Q) of every cell, exact integers: two billion records a side still fit."""
        if self.sets != fake.sets or self.schema.sizes != fake.schema.sizes:
            raise SchemaError("these marginals are of different sets or schemas: build the second with first.of(table)")
        return self.counts * fake.n - fake.counts * self.n


def _tabulate(narrow: list[np.ndarray], codes: np.ndarray, sizes: tuple[int, ...], block: tuple[int, ...]) -> np.ndarray:
    shape = tuple(sizes[j] for j in block)
    cells = math.prod(shape)
    if cells > KEYS16:
        return marginal(codes, sizes, block)
    key = narrow[block[0]]
    for j, size in zip(block[1:], shape[1:], strict=True):
        key = key * np.uint16(size)
        key += narrow[j]
    # bincount on int64 is several times faster than on uint16
    return np.bincount(key.astype(np.int64), minlength=cells).reshape(shape)


def marginal_distances(
    real: Table, fake: Table, schema: Schema, alpha: int = 2, *, sets: int | None = None, seed: int = 0
) -> pd.Series:
    """Total variation distance ½ Σ|P − Q|, in [0, 1], of each α-way marginal: Series indexed by tuples of attribute names.

    Parameters as for :func:`marginal_distance`.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    chosen = attribute_sets(len(schema), alpha, sets, seed)
    names = pd.Index([tuple(schema.names[j] for j in s) for s in chosen], tupleize_cols=False, name="attributes")
    return pd.Series(_each(real, fake, schema, chosen, largest=False), index=names, name="distance")


def marginal_distance(
    real: Table | Marginals, fake: Table, schema: Schema, alpha: int = 2, *, sets: int | None = None, seed: int = 0
) -> float:
    """α-way average variation distance (AVD): the mean total variation distance over all α-sets of attributes.

    ``real``, ``fake``: DataFrames, code arrays (n_records, n_attributes) or Records, of any two lengths; ``real`` may be a
    :class:`Marginals` whose counts are kept. ``sets``: how many sets to draw (public ``seed``) where all are too many.
    Result in [0, 1], 0 for equal marginals. Source: thesis, section 5 (2-way and 3-way); Zhang et al. 2017.

    **Privacy:** reads the real records exactly; an evaluation for those who may see them, outside every guarantee.
    """
    if isinstance(real, Marginals):
        if {len(s) for s in real.sets} != {alpha}:
            raise SchemaError(f"these kept marginals are not of {alpha} attributes each: build Marginals(table, schema, alpha={alpha})")
        return real.distance(fake)
    return float(_each(real, fake, schema, attribute_sets(len(schema), alpha, sets, seed), largest=False).mean())


def max_cell(real: Table, fake: Table, schema: Schema, alpha: int = 2, *, sets: int | None = None, seed: int = 0) -> float:
    """REPLICA ONLY: mean over α-sets of the largest difference of one cell, max|P − Q|.

    Some published code reports this L∞ figure as its variation distance. It is at most the true one and shrinks as
    domains grow, so the two must never stand in one plot. Use :func:`marginal_distance`.

    **Privacy:** as :func:`marginal_distance`.
    """
    return float(_each(real, fake, schema, attribute_sets(len(schema), alpha, sets, seed), largest=True).mean())


def _each(real: Table, fake: Table, schema: Schema, chosen: Sets, *, largest: bool) -> np.ndarray:
    ours, theirs = coded(real, schema), coded(fake, schema)
    out = np.empty(len(chosen))
    for group, dense in _groups(schema.sizes, chosen):
        members = tuple(chosen[i] for i in group)
        if dense:
            known = Marginals(ours, schema, sets=members)
            out[list(group)] = known.largest(theirs) if largest else known.distances(theirs)
        else:
            gap = np.abs(sparse.gaps(ours, theirs, schema.sizes, members[0]))
            out[group[0]] = (gap.max() if largest else gap.sum() / 2) / (len(ours) * len(theirs))
    return out


def _groups(sizes: tuple[int, ...], chosen: Sets) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Positions to compare in one go, within memory; a table too large to be laid out is a group of its own."""
    group: list[int] = []
    total = 0
    for i, member in enumerate(chosen):
        cells = math.prod(sizes[j] for j in member)
        if cells > DENSE_CELLS:
            yield (i,), False
            continue
        if total + cells > GROUP_CELLS and group:
            yield tuple(group), True
            group, total = [], 0
        group.append(i)
        total += cells
    if group:
        yield tuple(group), True

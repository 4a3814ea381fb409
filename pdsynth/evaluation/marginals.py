"""How far a synthetic table is from the real one, over all small marginals."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import TypeAlias

import numpy as np
import pandas as pd

from ..core import (
    BudgetError,
    Codes,
    Counter,
    Records,
    Schema,
    SchemaError,
    check_schema,
    is_whole,
    marginal,
    progress,
    show,
    to_items,
    to_list,
)
from .inputs import Table, check_most, check_whole, record_keys, seeded, to_records

BLOCK_CELLS = 2**12  # tables are counted up to this size, then summed down to the sets asked for
DENSE_CELLS = 2**20  # one table with more cells than this is compared cell by occupied cell
GROUP_CELLS = 2**23  # tables compared in one go: 64 MiB of counts a side
KEPT_CELLS = 2**25  # tables kept in one go
KEYS16 = 2**16  # keys below this are built in uint16, several times faster than in int64
ENUMERATED = 200_000  # below this many sets, a sample is drawn from the list of all of them

Sets: TypeAlias = tuple[tuple[int, ...], ...]
Blocks: TypeAlias = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
Starts: TypeAlias = Sequence[int] | np.ndarray
Measure: TypeAlias = Callable[[np.ndarray, Starts, int], np.ndarray]


def attribute_sets(d: int, alpha: int, sets: int | None = None, seed: int = 0) -> Sets:
    """All α-sets of d attributes, or at most ``sets`` of them, drawn with a public seed."""
    check_whole("alpha", alpha, d, "the number of attributes")
    check_most("sets", sets)
    total, rng = math.comb(d, alpha), seeded(seed)
    if sets is None or sets >= total:
        return tuple(combinations(range(d), alpha))
    if total <= ENUMERATED:
        everything = list(combinations(range(d), alpha))
        return tuple(everything[i] for i in np.sort(rng.choice(total, sets, replace=False)))
    draws: set[tuple[int, ...]] = set()
    while len(draws) < sets:
        draws.add(tuple(sorted(rng.choice(d, alpha, replace=False).tolist())))
    return tuple(sorted(draws))


@lru_cache(maxsize=64)
def plan_blocks(sizes: tuple[int, ...], sets: Sets, cells: int) -> Blocks:
    """Blocks ``(attributes, positions in sets)`` of at most ``cells`` cells that cover every set.

    Greedy: a block starts with the first uncovered set and adds what covers most further sets.
    """
    rest, blocks = dict.fromkeys(range(len(sets))), []
    holding: list[list[int]] = [[] for _ in sizes]  # the sets that an attribute stands in
    for i, one in enumerate(sets):
        for j in one:
            holding[j].append(i)
    while rest:
        block, free, missing = set[int](), cells, dict[int, int]()
        # how many sets each attribute would bring in alone
        gains = collections.Counter(sets[i][0] for i in rest if len(sets[i]) == 1)
        adding = [*sets[next(iter(rest))]]
        while adding:
            for j in adding:
                block.add(j)
                free //= sizes[j]
                del gains[j]
                for i in filter(rest.__contains__, holding[j]):
                    missing[i] = missing.get(i, len(sets[i])) - 1
                    if missing[i] == 1:
                        gains[next(k for k in sets[i] if k not in block)] += 1
            affordable = (j for j in gains if sizes[j] <= free)
            best = max(affordable, key=lambda j: (gains[j], -sizes[j], -j), default=None)
            adding = [] if best is None else [best]
        inside = tuple(sorted(i for i, left in missing.items() if left == 0))
        for i in inside:
            del rest[i]
        blocks.append((tuple(sorted(block)), inside))
    return tuple(blocks)


# A measure takes n·m·(P − Q) of every cell (exact: two billion records a side still fit), where
# each set's cells start, and n·m. It gives a float array (…, n_sets).


def distances(gaps: np.ndarray, starts: Starts, pairs: int) -> np.ndarray:
    """Total variation distance, in [0, 1], for each set."""
    return np.add.reduceat(np.abs(gaps), starts) / (2.0 * pairs)


def largest_cells(gaps: np.ndarray, starts: Starts, pairs: int) -> np.ndarray:
    """Largest difference of one cell, in [0, 1], for each set."""
    return np.maximum.reduceat(np.abs(gaps), starts) / float(pairs)


def norms(gaps: np.ndarray, starts: Starts, pairs: int) -> np.ndarray:
    """L1 and L2 norm of the difference of frequencies, for each set: (2, n_sets)."""
    apart = gaps / float(pairs)
    squares = np.add.reduceat(apart * apart, starts)
    return np.stack([np.add.reduceat(np.abs(apart), starts), np.sqrt(squares)])


class Marginals:
    """Counts of one table on many sets of attributes, kept to be compared with table after table.

    ``counts``: int64 array, the tables of ``sets`` laid end to end; ``starts``: where each begins.
    ``like`` takes the sets and the counting plan of another object.

    **Privacy:** exact counts of the records; on the real side for evaluation, never for release.
    """

    def __init__(
        self,
        table: Table,
        schema: Schema,
        alpha: int = 2,
        *,
        sets: Sets | None = None,
        like: Marginals | None = None,
    ) -> None:
        records = to_records(table, schema)
        self.schema, self.n = schema, records.n
        if like is not None and not isinstance(like, Marginals):
            raise SchemaError(f"like must be other Marginals, got {show(like)}")
        if sets is not None:
            sets = tuple(tuple(to_list("a set", s)) for s in to_items("sets", sets))
            if not sets or not all(
                s and len({*s}) == len(s) and all(is_whole(j, 0, len(schema) - 1) for j in s)
                for s in sets
            ):
                raise SchemaError(
                    "sets must be tuples of numbers of columns, each once, from 0 to "
                    f"{len(schema) - 1}, got {show(sets)}"
                )
            sets = tuple(tuple(sorted(s)) for s in sets)
        if sets is None:
            sets = attribute_sets(len(check_schema(schema)), alpha) if like is None else like.sets
        self.sets: Sets = sets
        cells = [math.prod(schema.sizes[j] for j in members) for members in self.sets]
        if sum(cells) > KEPT_CELLS:
            raise BudgetError(
                f"{len(cells):,} marginals have {sum(cells):,} cells ({sum(cells) / 2**27:.1f} "
                "GiB): use marginal_distance, which compares them in groups, or a sample of sets"
            )
        most = min(BLOCK_CELLS, max(self.n // 2, 64))
        self.blocks: Blocks = like.blocks if like else plan_blocks(schema.sizes, sets, most)
        self.starts = np.cumsum([0, *cells])[:-1]
        self.counts = np.empty(sum(cells), dtype=np.int64)
        counted = _count_blocks(records.counter, [block for block, _ in self.blocks])
        for (_, inside), (block, table) in zip(self.blocks, counted, strict=True):
            for i in inside:
                spare = tuple(a for a, j in enumerate(block) if j not in self.sets[i])
                np.add.reduce(table, axis=spare, out=self._view(i))

    def _view(self, i: int) -> np.ndarray:
        shape = [self.schema.sizes[j] for j in self.sets[i]]
        start = self.starts[i]
        return self.counts[start : start + math.prod(shape)].reshape(shape)

    def table(self, names: Sequence[str]) -> np.ndarray:
        """Counts of one of the sets, int64, axes in the order of the schema."""
        asked = tuple(sorted(map(self.schema.index, to_list("names", names))))
        if asked not in self.sets:
            raise SchemaError(f"{show([*names])} is none of the {len(self.sets):,} sets counted")
        return self._view(self.sets.index(asked))

    def of(self, table: Table) -> Marginals:
        """The same marginals of another table over the same schema."""
        return Marginals(table, self.schema, like=self)

    def answers(self, cells: np.ndarray) -> np.ndarray:
        """Records in the marked ``cells`` (bool, like ``counts``) of each set: int64 (n_sets,)."""
        return np.add.reduceat(np.where(cells, self.counts, 0), self.starts)

    def measure(self, other: Marginals | Table, measure: Measure) -> np.ndarray:
        """:func:`distances`, :func:`largest_cells` or :func:`norms` from another table."""
        fake = other if isinstance(other, Marginals) else self.of(other)
        if self.sets != fake.sets or self.schema.sizes != fake.schema.sizes:
            raise SchemaError(
                "these marginals are of different sets or schemas: "
                "build the second with first.of(table)"
            )
        gaps = self.counts * fake.n - fake.counts * self.n
        return measure(gaps, self.starts, self.n * fake.n)

    def distances(self, other: Marginals | Table) -> np.ndarray:
        """Total variation distance, in [0, 1], for each set: float array (n_sets,)."""
        return self.measure(other, distances)

    def norms(self, other: Marginals | Table) -> np.ndarray:
        """L1 and L2 norm of the difference of frequencies, for each set: (2, n_sets)."""
        return self.measure(other, norms)

    def distance(self, other: Marginals | Table) -> float:
        """Average variation distance: the mean of :meth:`distances`."""
        return float(self.distances(other).mean())


def _count_blocks(
    counter: Counter, blocks: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Each block with its table, one axis per attribute."""
    sizes = counter.sizes
    if isinstance(counter, Codes):
        narrow = [np.ascontiguousarray(column, dtype=np.uint16) for column in counter.codes.T]
        yield from ((block, _tabulate(narrow, counter.codes, sizes, block)) for block in blocks)
    else:
        tables = counter.tables(((), block) for block in blocks)
        for block, table in zip(blocks, tables, strict=True):
            yield block, table.reshape([sizes[j] for j in block])


def _tabulate(
    narrow: list[np.ndarray], codes: np.ndarray, sizes: tuple[int, ...], block: tuple[int, ...]
) -> np.ndarray:
    shape = [sizes[j] for j in block]
    if math.prod(shape) > KEYS16:
        return marginal(codes, sizes, block)
    key = narrow[block[0]]
    for j in block[1:]:
        key = key * np.uint16(sizes[j])
        key += narrow[j]
    # bincount on int64 is several times faster than on uint16
    return np.bincount(key.astype(np.int64), minlength=math.prod(shape)).reshape(shape)


def measure_sets(
    real: Table | Marginals, fake: Table, schema: Schema, sets: Sets, measure: Measure
) -> np.ndarray:
    """A measure of two tables on each set, in groups that fit in memory: float array (…, n_sets).

    Kept marginals are compared on their own sets.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    if isinstance(real, Marginals):
        return real.measure(fake, measure)
    ours, theirs, sizes = to_records(real, schema), to_records(fake, schema), schema.sizes
    cells = [math.prod(sizes[j] for j in members) for members in sets]
    dense = np.flatnonzero([count <= DENSE_CELLS for count in cells])
    group = np.cumsum([cells[i] for i in dense]) // GROUP_CELLS
    groups = np.split(dense, np.flatnonzero(np.diff(group)) + 1) if len(dense) else []
    parts = []
    for positions in progress(groups, "marginals", unit="group"):
        margins = Marginals(ours, schema, sets=tuple(sets[i] for i in positions))
        parts.append(margins.measure(theirs, measure))
    sparse = [i for i, count in enumerate(cells) if count > DENSE_CELLS]
    for i in progress(sparse, "large marginals", unit="set"):
        gaps = _occupied_gaps(ours, theirs, sizes, sets[i])
        parts.append(measure(gaps, [0], ours.n * theirs.n))
    return np.concatenate(parts, axis=-1)[..., np.argsort([*dense, *sparse])]


def _occupied_gaps(
    real: Records, fake: Records, sizes: Sequence[int], columns: Sequence[int]
) -> np.ndarray:
    """n·m·(P − Q) of every cell that some record occupies, in blocks of all cells: int64 array."""
    n, m = real.n, fake.n
    if not (isinstance(real.counter, Codes) and isinstance(fake.counter, Codes)):
        return (real.table(tuple(columns)) * m - fake.table(tuple(columns)) * n).ravel()
    key = record_keys(np.vstack([real.codes, fake.codes]), sizes, columns)
    distinct, cell = np.unique(key, return_inverse=True)
    p, q = (np.bincount(part, minlength=len(distinct)) for part in (cell[:n], cell[n:]))
    return p * m - q * n


def marginal_distances(
    real: Table,
    fake: Table,
    schema: Schema,
    alpha: int = 2,
    *,
    sets: int | None = None,
    seed: int = 0,
) -> pd.Series:
    """Total variation distance ½ Σ|P − Q| of each α-way marginal, indexed by tuples of names.

    Parameters as for :func:`marginal_distance`.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    chosen = attribute_sets(len(check_schema(schema)), alpha, sets, seed)
    names = [tuple(schema.names[j] for j in members) for members in chosen]
    index = pd.Index(names, tupleize_cols=False, name="attributes")
    return pd.Series(measure_sets(real, fake, schema, chosen, distances), index, name="distance")


def marginal_distance(
    real: Table | Marginals,
    fake: Table,
    schema: Schema,
    alpha: int = 2,
    *,
    sets: int | None = None,
    seed: int = 0,
) -> float:
    """α-way average variation distance (AVD): the mean total variation distance over all α-sets.

    ``real``, ``fake``: DataFrames, code arrays (n_records, n_attributes), Records, or tables in
    blocks as ``fit`` takes them (Arrow, a Parquet path, Dask), of any two lengths; ``real`` may be
    a :class:`Marginals` whose counts are kept. ``sets``: how many sets to draw (public ``seed``)
    where all are too many. Result in [0, 1], 0 for equal marginals. Source:
    thesis, section 5 (2-way and 3-way); Zhang et al. 2017.

    **Privacy:** reads real records exactly; no guarantee covers it.
    """
    if not isinstance(real, Marginals):
        chosen = attribute_sets(len(check_schema(schema)), alpha, sets, seed)
        return float(measure_sets(real, fake, schema, chosen, distances).mean())
    if {len(members) for members in real.sets} != {alpha}:
        raise SchemaError(
            f"these kept marginals are not of {alpha} attributes each: "
            f"build Marginals(table, schema, alpha={alpha})"
        )
    return real.distance(fake)


def max_cell(
    real: Table,
    fake: Table,
    schema: Schema,
    alpha: int = 2,
    *,
    sets: int | None = None,
    seed: int = 0,
) -> float:
    """REPLICA ONLY: mean over α-sets of the largest difference of one cell, max|P − Q|.

    Some published code reports it as its variation distance. It is at most the true one and shrinks
    as domains grow, so the two must never stand in one plot. Use :func:`marginal_distance`.

    **Privacy:** as :func:`marginal_distance`.
    """
    chosen = attribute_sets(len(check_schema(schema)), alpha, sets, seed)
    return float(measure_sets(real, fake, schema, chosen, largest_cells).mean())

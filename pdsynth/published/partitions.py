"""Parent sets of any size, as the classes that they put the distinct rows of a table in.

However many attributes a set has, its classes never outnumber those rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np

from ..core import BudgetError, CountLogs, Records

SHORT = 2**16  # labels below it take two bytes
LARGE = 2**30  # distinct rows × scores from which compiling pays: about a second of numpy


def distinct_rows(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows (m, d) of codes (n, d) in a fixed order, and how often each occurs: int64 (m,).

    **Privacy:** raw rows and raw counts.
    """
    n, d = codes.shape
    if n == 0 or d == 0:
        return codes[:1], np.full(min(n, 1), n, dtype=np.int64)
    if codes.max() <= 1:  # two-valued: 64 columns a word
        packed = np.zeros((n, -(-d // 64) * 8), dtype=np.uint8)
        packed[:, : -(-d // 8)] = np.packbits(codes.astype(bool), axis=1)
        words = packed.view(">u8").astype(np.uint64)
    else:
        words = np.ascontiguousarray(codes)
    if words.shape[1] == 1:
        words = words[:, 0]
    axis = 0 if words.ndim > 1 else None
    _, first, weights = np.unique(words, axis=axis, return_index=True, return_counts=True)
    return codes[first], weights.astype(np.int64)


class Partitions:
    """The distinct rows of codes (n, d) with their weights; columns have ``sizes`` values.

    ``columns``: (d, m), one row per distinct row of the table; ``weights``: int64 (m,).

    **Privacy:** raw; it lives inside the curator.
    """

    def __init__(self, codes: np.ndarray, sizes: Sequence[int]) -> None:
        rows, self.weights = distinct_rows(codes)
        self.n, self.sizes = len(codes), tuple(int(s) for s in sizes)
        self.columns = np.ascontiguousarray(rows.T)
        self.logs = CountLogs(self.n)

    def __len__(self) -> int:
        return len(self.weights)

    def parent_sets(self, children: Sequence[int], most: int | None = None) -> ParentSets:
        """An empty store of one parent set per child and size (at most ``most``)."""
        return ParentSets(self, children, most)


class ParentSets:
    """dp[S, j]: one parent set of each size j = 0 … k for each child S, as classes of rows.

    The store that PrivABN's GParentSet works on (privabn-2021, Algorithm 2 and GParentSet): which
    set to keep is decided by who uses it. All columns are two-valued. One step with a new attribute
    f::

        candidate = sets.grow(f)      # I(S; dp[S, j−1] ∪ {f}), (children, k+1) for j = 1 … k+1
        sets.keep(candidate >= kept)  # where True, dp[S, j] becomes dp[S, j−1] ∪ {f}; last: True

    All of a step reads the sets as they were before it, as a descending j does. Once the sizes have
    reached ``most``, they stay: there are ``most`` columns then, and the last may be False, too.
    ``compiled``: use numba; None: if it is installed and the table is large. The numbers are the
    same, bit by bit.

    **Privacy:** raw; it lives behind the curator.
    """

    def __init__(
        self,
        partitions: Partitions,
        children: Sequence[int],
        most: int | None = None,
        *,
        compiled: bool | None = None,
    ) -> None:
        if any(size != 2 for size in partitions.sizes):
            raise BudgetError(
                "parent sets of unlimited size need two-valued columns: "
                "encode the table as bits first"
            )
        self.partitions, self.children = partitions, tuple(int(c) for c in children)
        self.size, self.most = 0, len(partitions.sizes) if most is None else most
        # Of each child: labels (sets, m); counts (2, classes) of all sets side by side; where the
        # classes of a set start, and where the last one's end. Class 0 is for rows whose class has
        # one value of S only, which say nothing more. Classes stay below 2 m + 32.
        m = len(partitions)
        most = 2 * m + 32
        kind = np.uint16 if most < SHORT else np.int32 if most < 2**31 else np.int64
        self._labels = [np.ones((1, m), dtype=kind) for _ in self.children]
        ones = [int(partitions.weights[partitions.columns[c] == 1].sum()) for c in self.children]
        self._counts = [np.array([[0, partitions.n - one], [0, one]], np.int64) for one in ones]
        self._ends = [np.array([0, 2]) for _ in self.children]
        large = m * len(self.children) ** 3 / 6 >= LARGE
        self._loops = _compile() if compiled or (compiled is None and large) else None

    def grow(self, f: int) -> np.ndarray:
        """I(S; dp[S, j−1] ∪ {f}) in bits for each child and j = 1 … min(size+1, most).

        float64 (children, that); changes nothing. Only the rows with the rarer value of f are
        visited: what they leave of a class is its other part.
        """
        p, wide = self.partitions, min(self.size + 1, self.most)
        ones = np.flatnonzero(p.columns[f])
        self._rows = ones if 2 * len(ones) <= len(p) else np.flatnonzero(p.columns[f] == 0)
        weights = p.weights[self._rows]
        if not self._loops:
            weights = np.tile(weights.astype(float), wide)
        self._splits = [self._split(i, wide, weights) for i in range(len(self.children))]
        out = np.empty((len(self.children), wide))
        for i, (_, part, rest) in enumerate(self._splits):
            within = _split_logs(p.logs, part) + _split_logs(p.logs, rest)
            whole, *values = p.logs.take(np.array([p.n, *self._counts[i][:, 1]])).tolist()
            gained = whole - sum(values) - np.add.reduceat(within, self._ends[i][:wide])
            out[i] = gained * p.logs.unit / p.n
        return out

    def _split(
        self, i: int, wide: int, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Classes of visited rows (sets, rows), counts (2, classes) of them and of the others."""
        labels, first = self._labels[i], self._ends[i][:wide]
        counts = self._counts[i][:, : self._ends[i][wide]]
        classes = np.empty((wide, len(self._rows)), dtype=labels.dtype)
        values = self.partitions.columns[self.children[i]].take(self._rows).astype(np.int64)
        if self._loops:
            part = np.zeros(counts.shape, dtype=np.int64)
            self._loops[0](labels, self._rows, values, weights, first, classes, part)
        else:
            for j in range(wide):
                labels[j].take(self._rows, out=classes[j], mode="clip")
            keys = classes + first[:, None]
            keys += values * counts.shape[1]
            part = np.bincount(keys.ravel(), weights=weights, minlength=counts.size)
            part = part.astype(np.int64).reshape(counts.shape)
        part[:, first] = 0
        return classes, part, counts - part

    def keep(self, which: np.ndarray) -> None:
        """Where ``which`` is True, dp[S, j] becomes dp[S, j−1] ∪ {f} of the last :meth:`grow`."""
        wide = min(self.size + 1, self.most)
        shape = len(self.children), wide
        if which.shape != shape or (wide > self.size and not which[:, -1].all()):
            raise ValueError(
                "a larger set is new: which must be (children, size+1) and its last column True"
            )
        for i, row in enumerate(which):
            self._take(i, row)
        self.size = wide

    def _take(self, i: int, taken: np.ndarray) -> None:
        """New sets of child ``i``: each the one before it, whose classes the visited rows leave."""
        (_, part, rest), counts, ends = self._splits[i], self._counts[i], self._ends[i]
        wide, mixed = len(taken), _find_mixed(part)
        first, sizes = ends[:wide], ends[1 : wide + 1] - ends[:wide]
        before = np.zeros(len(mixed) + 1, dtype=np.int64)
        mixed.cumsum(out=before[1:])
        new = np.repeat(sizes - 1 - before[first], sizes)
        new += before[1:]
        new *= mixed
        self._move(i, taken, new)
        leaving, cut = part.compress(mixed, axis=1), before[ends[: wide + 1]].tolist()
        ends = ends.tolist()
        staying = np.add.reduceat(_find_mixed(rest), first, dtype=np.int64).tolist()
        pieces, size = [counts[:, : ends[1]]], [ends[1]]
        for j, grown in enumerate(taken.tolist()):
            if grown:
                alive = staying[j] + cut[j + 1] - cut[j]
                size.append(ends[j + 1] - ends[j] + cut[j + 1] - cut[j])
                pieces += [rest[:, ends[j] : ends[j + 1]], leaving[:, cut[j] : cut[j + 1]]]
                if size[-1] > 2 * alive + 16:
                    both = np.concatenate(pieces[-2:], axis=1)
                    pieces[-2:] = [_renumber(self._labels[i][j + 1], both)]
                    size[-1] = alive + 1
            else:
                size.append(ends[j + 2] - ends[j + 1])
                pieces.append(counts[:, ends[j + 1] : ends[j + 2]])
        self._counts[i] = np.concatenate(pieces, axis=1)
        self._ends[i] = np.cumsum([0, *size])

    def _move(self, i: int, taken: np.ndarray, moved: np.ndarray) -> None:
        """Labels of the new sets: those of the set before, ``moved`` ones for the visited rows."""
        labels, (classes, _, _) = self._labels[i], self._splits[i]
        if len(labels) <= len(taken):
            spare = np.empty((4, labels.shape[1]), dtype=labels.dtype)
            labels = self._labels[i] = np.concatenate([labels, spare])
        if self._loops:
            self._loops[1](labels, taken, self._rows, moved, self._ends[i], classes)
            return
        for j in np.flatnonzero(taken)[::-1].tolist():
            labels[j + 1] = labels[j]
            labels[j + 1][self._rows] = moved[self._ends[i][j] : self._ends[i][j + 1]].take(
                classes[j]
            )

    def drop(self, child: int) -> None:
        """Forget a child that has entered the network."""
        at = self.children.index(child)
        self.children = self.children[:at] + self.children[at + 1 :]
        del self._labels[at], self._counts[at], self._ends[at]


def _find_mixed(counts: np.ndarray) -> np.ndarray:
    return (counts[0] > 0) & (counts[1] > 0)


def _renumber(labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Number only classes that are still mixed, in place; the counts that are left."""
    mixed = _find_mixed(counts)
    labels[:] = np.where(mixed, mixed.cumsum(), 0).astype(labels.dtype).take(labels)
    mixed[0] = True
    return counts[:, mixed]


def _split_logs(logs: CountLogs, counts: np.ndarray) -> np.ndarray:
    """Sum of c·log₂c: of classes less that of their two parts: int64 (classes,)."""
    return logs.take(counts[0] + counts[1]) - logs.take(counts[0]) - logs.take(counts[1])


def _visit(
    labels: np.ndarray,
    rows: np.ndarray,
    values: np.ndarray,
    weights: np.ndarray,
    first: np.ndarray,
    seen: np.ndarray,
    part: np.ndarray,
) -> None:
    """The classes of the visited rows under each set, and their counts: loops for the compiler."""
    for j in range(len(first)):
        own, to, counts = labels[j], seen[j], part[:, first[j] :]
        for r in range(len(rows)):
            c = own[rows[r]]
            to[r] = c
            if c:
                counts[values[r], c] += weights[r]


def _move(
    labels: np.ndarray,
    taken: np.ndarray,
    rows: np.ndarray,
    moved: np.ndarray,
    first: np.ndarray,
    seen: np.ndarray,
) -> None:
    """What :meth:`ParentSets._move` does: loops for the compiler."""
    for j in range(len(taken) - 1, -1, -1):
        if taken[j]:
            own, names = labels[j + 1], moved[first[j] :]
            own[:] = labels[j]
            for r in range(len(rows)):
                own[rows[r]] = names[seen[j, r]]


@cache
def _compile() -> tuple[Callable[..., None], Callable[..., None]] | None:
    """The two loops, compiled, or None without numba."""
    try:
        import numba
    except ImportError:
        return None
    return numba.njit(cache=True)(_visit), numba.njit(cache=True)(_move)


_kept = WeakKeyDictionary[Records, Partitions]()


def find_partitions(records: Records) -> Partitions:
    """The distinct rows of some records and how often each occurs, kept as long as these.

    **Privacy:** raw; it lives inside the door.
    """
    if records not in _kept:
        _kept[records] = Partitions(records.codes, records.schema.sizes)
    return _kept[records]


def count_sparsely(records: Records, columns: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Counts of a child (first column) at the parent configurations that occur.

    Their numbers, int64 (r,) and below 2^63, first parent most significant; counts int64 (|X|, r).

    **Privacy:** raw counts, for the door.
    """
    partitions, sizes = find_partitions(records), records.schema.sizes
    rows = partitions.columns
    key = np.zeros(rows.shape[1], dtype=np.int64)
    for j in columns[1:]:
        key = key * sizes[j] + rows[j]
    keys, back = np.unique(key, return_inverse=True)
    shape = sizes[columns[0]], len(keys)
    cell = rows[columns[0]].astype(np.int64) * len(keys) + back
    counts = np.bincount(cell, weights=partitions.weights, minlength=math.prod(shape))
    return keys, counts.astype(np.int64).reshape(shape)


def count_both(records: Records) -> np.ndarray:
    """Records in which two bits are both 1, on the diagonal those in which one is: int64 (d, d).

    **Privacy:** raw counts, for the door.
    """
    d = len(records.schema)
    both = np.zeros((d, d), dtype=np.int64)
    for sets in (np.arange(d)[:, None], np.stack(np.triu_indices(d, 1), axis=1)):
        for rows, table in records.counter.cells(sets):
            i, j = sets[rows, 0], sets[rows, -1]
            both[i, j] = both[j, i] = table[-1]
    return both

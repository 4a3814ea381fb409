"""Parent sets of any size: the classes that they put the distinct rows in, refined by one attribute at a time.

However many attributes a set has, its classes never outnumber the distinct rows of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from .bits import fixed_point
from .errors import BudgetError

SHORT = 2**16  # labels below it take two bytes
LARGE = 2**30  # distinct rows × scores from which compiling pays: about a second of numpy


def distinct(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows of codes (n, d), in a fixed order, and how often each occurs: (m, d) of the same type, int64 (m,).

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
        _, first, weights = np.unique(words[:, 0], return_index=True, return_counts=True)
    else:
        _, first, weights = np.unique(words, axis=0, return_index=True, return_counts=True)
    return codes[first], weights.astype(np.int64)


class Partitions:
    """The distinct rows of a table with their weights, and I(S;Π) for parent sets Π of any size.

    A parent set is known by its ``labels``: int64 (m,), the class 0, 1, … of each distinct row, numbered without gaps, so
    that tables over Π have at most m columns. ``codes`` (n, d) of columns with ``sizes`` values.

    **Privacy:** raw; it lives inside the curator.
    """

    def __init__(self, codes: np.ndarray, sizes: Sequence[int]) -> None:
        rows, self.weights = distinct(codes)
        self.n, self.sizes = len(codes), tuple(int(s) for s in sizes)
        self.columns = np.ascontiguousarray(rows.T)  # (d, m)
        self.xlogx, self.unit = fixed_point(self.n)

    def __len__(self) -> int:
        return len(self.weights)

    def whole(self) -> np.ndarray:
        """Labels of the empty parent set: one class."""
        return np.zeros(len(self), dtype=np.int64)

    def refine(self, labels: np.ndarray, f: int) -> np.ndarray:
        """Labels of Π ∪ {f} from the labels of Π; classes in the order of (class of Π, value of f)."""
        key = labels * self.sizes[f] + self.columns[f]
        occupied = np.bincount(key) > 0
        return (np.cumsum(occupied) - 1)[key]

    def labels(self, columns: Sequence[int]) -> np.ndarray:
        """Labels of a parent set; its classes are its occupied configurations in lexicographic order."""
        out = self.whole()
        for f in columns:
            out = self.refine(out, f)
        return out

    def table(self, child: int, labels: np.ndarray) -> np.ndarray:
        """Counts of a child and a parent set: int64 (|S|, classes)."""
        classes = int(labels.max(initial=-1)) + 1
        key = labels + classes * self.columns[child].astype(np.int64)
        found = np.bincount(key, weights=self.weights, minlength=classes * self.sizes[child])
        return found.astype(np.int64).reshape(self.sizes[child], classes)

    def information(self, children: Sequence[int], labels: np.ndarray) -> np.ndarray:
        """I(S;Π) in bits of each child and the parent set of these labels: float64 (len(children),).

        Sums of integers, so that no order of rows, columns or threads changes a bit of it.
        """
        return np.array([self._information(self.table(child, labels)) for child in children], dtype=float)

    def _information(self, table: np.ndarray) -> float:
        x = self.xlogx
        within = int(x[table.sum(axis=0)].sum()) - int(x[table].sum())  # n·H(S|Π)
        return (int(x[self.n]) - int(x[table.sum(axis=1)].sum()) - within) * self.unit / self.n

    def parent_sets(self, children: Sequence[int], most: int | None = None) -> ParentSets:
        """An empty store of one parent set a child and size (at most ``most``), for GParentSet's dynamic programme."""
        return ParentSets(self, children, most)


class ParentSets:
    """dp[S, j]: for each child S one parent set of each size j = 0 … k, kept as classes of the distinct rows.

    The store that PrivABN's GParentSet works on (privabn-2021, Algorithm 2 and GParentSet): which set to keep is decided by
    who uses it. All columns are two-valued. One step with a new attribute f::

        candidate = sets.grow(f)       # I(S; dp[S, j−1] ∪ {f}), (children, k+1) for j = 1 … k+1
        sets.keep(candidate >= kept)   # where True, dp[S, j] becomes dp[S, j−1] ∪ {f}; the last column must be True

    All of a step reads the sets as they were before it, as a descending j does. Once the sizes have reached ``most``, they stay:
    there are ``most`` columns then, and the last may be False, too. ``compiled``: use numba; None: if it is installed and the
    table is large. The numbers are the same, bit by bit.

    **Privacy:** raw; it lives behind the curator.
    """

    def __init__(self, partitions: Partitions, children: Sequence[int], most: int | None = None, *, compiled: bool | None = None) -> None:
        if any(size != 2 for size in partitions.sizes):
            raise BudgetError("parent sets of unlimited size need two-valued columns: encode the table as bits first")
        self.partitions, self.children = partitions, tuple(int(c) for c in children)
        self.size, self.most = 0, len(partitions.sizes) if most is None else most
        # class 0 is for rows whose class has one value of S only: they say nothing more. Classes stay below 2 m + 32.
        labels = np.uint16 if 2 * len(partitions) + 32 < SHORT else np.int32
        self._labels = [[np.ones(len(partitions), dtype=labels)] for _ in self.children]
        self._counts = [[self._of_all(c)] for c in self.children]
        large = len(partitions) * len(self.children) ** 3 / 6 >= LARGE
        self._loops = _compiled() if compiled or (compiled is None and large) else None

    def _of_all(self, child: int) -> np.ndarray:
        """Counts (2, classes) of the empty parent set."""
        ones = int(self.partitions.weights[self.partitions.columns[child] == 1].sum())
        return np.array([[0, self.partitions.n - ones], [0, ones]], dtype=np.int64)

    def grow(self, f: int) -> np.ndarray:
        """I(S; dp[S, j−1] ∪ {f}) in bits for each child and j = 1 … min(size+1, most): float64 (children, that). Changes nothing.

        Only the rows with the rarer value of f are visited: what they leave of a class is its other part.
        """
        p, wide = self.partitions, min(self.size + 1, self.most)
        ones = np.flatnonzero(p.columns[f])
        self._rows = ones if 2 * len(ones) <= len(p) else np.flatnonzero(p.columns[f] == 0)
        weights = p.weights[self._rows]
        if not self._loops:
            weights = np.tile(weights.astype(float), wide)
        self._splits = [self._split(child, i, wide, weights) for i, child in enumerate(self.children)]
        out = np.empty((len(self.children), wide))
        for i, split in enumerate(self._splits):
            within = _logs(p.xlogx, split.part) + _logs(p.xlogx, split.rest)
            total = int(p.xlogx[p.n]) - int(p.xlogx[self._counts[i][0]].sum())
            out[i] = (total - np.add.reduceat(within, split.first)) * p.unit / p.n
        return out

    def _split(self, child: int, i: int, wide: int, weights: np.ndarray) -> _Split:
        first = np.cumsum([0, *(c.shape[1] for c in self._counts[i][: wide - 1])])
        counts = np.concatenate(self._counts[i][:wide], axis=1)
        seen = np.empty((wide, len(self._rows)), dtype=self._labels[i][0].dtype)
        values = self.partitions.columns[child].take(self._rows).astype(np.int64)
        if self._loops:
            part = np.zeros_like(counts)
            for j, labels in enumerate(self._labels[i][:wide]):
                self._loops[0](labels, self._rows, values, weights, seen[j], part[:, first[j] :])
            return _Split(first, seen, part, counts - part)
        for j, labels in enumerate(self._labels[i][:wide]):
            labels.take(self._rows, out=seen[j], mode="clip")
        keys = seen + first[:, None]
        keys += values * counts.shape[1]
        part = np.bincount(keys.ravel(), weights=weights, minlength=counts.size).astype(np.int64).reshape(counts.shape)
        part[:, first] = 0
        return _Split(first, seen, part, counts - part)

    def keep(self, which: np.ndarray) -> None:
        """Where ``which`` (children, columns of grow) is True, dp[S, j] becomes dp[S, j−1] ∪ {f} of the last :meth:`grow`."""
        wide = min(self.size + 1, self.most)
        if which.shape != (len(self.children), wide) or (wide > self.size and not which[:, -1].all()):
            raise ValueError("a larger set is new: which must be (children, size+1) and its last column True")
        for i, taken in enumerate(which):
            self._take(i, self._splits[i], taken.tolist())
        self.size = wide

    def _take(self, i: int, split: _Split, taken: list[bool]) -> None:
        """New sets of child ``i``, in descending order: each from the one before it, whose classes the visited rows leave."""
        sets, counts = self._labels[i], self._counts[i]
        left, stays = _mixed(split.part), _mixed(split.rest)
        before, staying = np.append(0, left.cumsum()), np.append(0, stays.cumsum())
        ends = np.append(split.first[1:], len(left))
        new = np.repeat(ends - split.first - before[split.first] - 1, ends - split.first) + before[1:]
        moved = np.where(left, new, 0).astype(sets[0].dtype)
        parts = split.part[:, left]
        for j in reversed(range(len(taken))):
            if not taken[j]:
                continue
            start, end = split.first[j], ends[j]
            labels = sets[j] if j and taken[j - 1] else sets[j].copy()  # dp[S, j] is replaced next: its labels may go
            if self._loops:
                self._loops[1](labels, self._rows, moved[start:end], split.seen[j])
            else:
                labels[self._rows] = moved[start:end].take(split.seen[j])
            grown = np.concatenate([split.rest[:, start:end], parts[:, before[start] : before[end]]], axis=1)
            if grown.shape[1] > 2 * (staying[end] - staying[start] + before[end] - before[start]) + 16:
                grown = _renumber(labels, grown)
            sets[j + 1 : j + 2], counts[j + 1 : j + 2] = [labels], [grown]

    def drop(self, child: int) -> None:
        """Forget a child that has entered the network."""
        at = self.children.index(child)
        self.children = self.children[:at] + self.children[at + 1 :]
        del self._labels[at], self._counts[at]


class _Split(NamedTuple):
    """What a new attribute makes of the sets of one child, side by side."""

    first: np.ndarray  # the first class of each set
    seen: np.ndarray  # (sets, visited rows): their classes
    part: np.ndarray  # counts (2, classes) of the visited rows
    rest: np.ndarray  # and of the others


def _mixed(counts: np.ndarray) -> np.ndarray:
    return (counts[0] > 0) & (counts[1] > 0)


def _renumber(labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Give numbers to classes that are still mixed only: in place in the labels; the counts that are left."""
    mixed = _mixed(counts)
    labels[:] = np.where(mixed, mixed.cumsum(), 0).astype(labels.dtype).take(labels)
    mixed[0] = True
    return counts[:, mixed]


def _logs(xlogx: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sum of c·log₂c: of classes less that of their two parts: int64 (classes,)."""
    return xlogx.take(counts[0] + counts[1]) - xlogx.take(counts[0]) - xlogx.take(counts[1])


def _visit(labels: np.ndarray, rows: np.ndarray, values: np.ndarray, weights: np.ndarray, seen: np.ndarray, counts: np.ndarray) -> None:
    """The classes of the visited rows under one set, and their counts: a loop for the compiler."""
    for r in range(len(rows)):
        c = labels[rows[r]]
        seen[r] = c
        if c:
            counts[values[r], c] += weights[r]


def _move(labels: np.ndarray, rows: np.ndarray, moved: np.ndarray, seen: np.ndarray) -> None:
    """New classes of the visited rows: a loop for the compiler."""
    for r in range(len(rows)):
        labels[rows[r]] = moved[seen[r]]


@cache
def _compiled() -> tuple[Callable[..., None], Callable[..., None]] | None:
    """The two loops, compiled, or None without numba."""
    try:
        import numba
    except ImportError:
        return None
    return numba.njit(cache=True)(_visit), numba.njit(cache=True)(_move)

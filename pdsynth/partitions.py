"""Parent sets of any size: the classes that they put the distinct rows in, refined by one attribute at a time.

However many attributes a set has, its classes never outnumber the distinct rows of the table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .bits import fixed_point
from .errors import BudgetError


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
    there are ``most`` columns then, and the last may be False, too.

    **Privacy:** raw; it lives behind the curator.
    """

    def __init__(self, partitions: Partitions, children: Sequence[int], most: int | None = None) -> None:
        if any(size != 2 for size in partitions.sizes):
            raise BudgetError("parent sets of unlimited size need two-valued columns: encode the table as bits first")
        self.partitions, self.children = partitions, tuple(int(c) for c in children)
        self.size, self.most = 0, len(partitions.sizes) if most is None else most
        self._f = -1
        self._labels = [[partitions.whole()] for _ in self.children]

    def grow(self, f: int) -> np.ndarray:
        """I(S; dp[S, j−1] ∪ {f}) in bits for each child and j = 1 … min(size+1, most): float64 (children, that). Changes nothing."""
        self._f = f
        p = self.partitions
        wide = min(self.size + 1, self.most)
        rows = [
            [p.information([s], p.refine(labels, f))[0] for labels in own[:wide]]
            for s, own in zip(self.children, self._labels, strict=True)
        ]
        return np.array(rows).reshape(len(self.children), wide)

    def keep(self, which: np.ndarray) -> None:
        """Where ``which`` (children, columns of grow) is True, dp[S, j] becomes dp[S, j−1] ∪ {f} of the last :meth:`grow`."""
        wide = min(self.size + 1, self.most)
        if which.shape != (len(self.children), wide) or (wide > self.size and not which[:, -1].all()):
            raise ValueError("a larger set is new: which must be (children, size+1) and its last column True")
        p, f = self.partitions, self._f
        for own, kept in zip(self._labels, which.tolist(), strict=True):
            own[:] = own[:1] + [p.refine(own[j], f) if new else own[j + 1] for j, new in enumerate(kept)]
        self.size = wide

    def drop(self, child: int) -> None:
        """Forget a child that has entered the network."""
        at = self.children.index(child)
        self.children = self.children[:at] + self.children[at + 1 :]
        del self._labels[at]

"""Other views of the same records: as bits, or with some values standing as one.

Tables of many small sets of bits are counted at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from .attribute import Attribute, repeated
from .errors import SchemaError
from .measures import CountLogs
from .schema import Schema

WORDS = 2**15  # 64-bit words of sets at a time: 256 kB stay in the cache
CELLS = 2**18  # cells that are held at a time
KEPT = 2**25  # moments of one size that are kept


@lru_cache(maxsize=1024)  # a fit asks twice
def name_bit(name: str) -> Attribute:
    """A bit as an attribute."""
    return Attribute.categorical(name, ["0", "1"])


@dataclass(frozen=True)
class BinaryEncoding:
    """The bits of a schema in code order, most significant first.

    HMPrivBayes §3.1; Zhang et al. 2017, §5.1. A two-valued attribute is its own bit and keeps its
    name; the bits of ``age`` are ``age:1``, ``age:2``, …

    >>> sizes = Attribute.categorical("sex", ["f", "m"]), Attribute.categorical("size", list("SML"))
    >>> BinaryEncoding(Schema(sizes)).schema.names
    ('sex', 'size:1', 'size:2')
    """

    original: Schema

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Number of bits of each attribute, ⌈log₂|X|⌉."""
        return tuple((size - 1).bit_length() for size in self.original.sizes)

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """The attribute that each bit belongs to."""
        pairs = zip(self.original.names, self.widths, strict=True)
        return tuple(name for name, width in pairs for _ in range(width))

    @cached_property
    def schema(self) -> Schema:
        """The schema of the bits; its source is that of the original."""
        names: list[str] = []
        for name, width in zip(self.original.names, self.widths, strict=True):
            names += [name] if width == 1 else [f"{name}:{b + 1}" for b in range(width)]
        if twice := repeated(names):
            raise SchemaError(
                f"binary encoding would name two bits {', '.join(twice)}: rename those attributes"
            )
        return Schema(tuple(map(name_bit, names)), source=self.original.source)

    def bits(self, name: str) -> tuple[int, ...]:
        """Columns of an attribute's bits, most significant first."""
        j = self.original.index(name)
        start = sum(self.widths[:j])
        return tuple(range(start, start + self.widths[j]))

    def encode(self, codes: np.ndarray) -> np.ndarray:
        """Codes (n_records, n_attributes) → bits, uint8 (n_records, n_bits), stored by column.

        **Privacy:** raw records in, raw records out.
        """
        out = np.empty((len(codes), len(self.owners)), dtype=np.uint8, order="F")
        places = [(j, b) for j, width in enumerate(self.widths) for b in reversed(range(width))]
        for at, (j, b) in enumerate(places):
            out[:, at] = (codes[:, j] >> b) & 1
        return out

    def decode(self, bits: np.ndarray, generator: np.random.Generator | None = None) -> np.ndarray:
        """Bits (n_records, n_bits) → codes (n_records, n_attributes), always legal.

        A code beyond the declared domain is replaced by the value of a synthetic record that is
        legal (any legal value if there is none), which keeps the attribute's distribution.

        **Privacy:** post-processing of synthetic bits.
        """
        sizes = self.original.sizes
        kind = np.uint8 if max(sizes) <= 256 else np.uint16
        out = np.empty((len(bits), len(sizes)), dtype=kind, order="F")
        for j, (name, size) in enumerate(zip(self.original.names, sizes, strict=True)):
            value = np.zeros(len(bits), dtype=np.int64)
            for b in self.bits(name):
                value = 2 * value + bits[:, b]
            bad = value >= size
            if bad.any():
                rng = np.random.default_rng() if generator is None else generator
                legal = np.arange(size) if bad.all() else value[~bad]
                value[bad] = rng.choice(legal, int(bad.sum()))
            out[:, j] = value
        return out


@dataclass(frozen=True, eq=False)
class Merging:
    """A schema some of whose values stand as one: rare ones, whose tables would be mostly noise.

    ``codes``: for each attribute the merged value of each of its values, int64 (|X|,); together
    they are 0 … m − 1 without a gap. Where all of them differ the attribute stays as it is.
    ``named``: what the merged values are; None: they have numbers for names.

    **Privacy:** which values stand as one is a function of releases, and :meth:`encode` alone
    touches records.
    """

    original: Schema
    codes: tuple[np.ndarray, ...]
    named: Schema | None = None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Merged values of each attribute."""
        return tuple(int(code.max()) + 1 for code in self.codes)

    @cached_property
    def schema(self) -> Schema:
        """The schema of the merged values, which have numbers for names."""
        if self.named is not None:
            return self.named
        pairs = zip(self.original.attributes, self.sizes, strict=True)
        merged = (
            a if a.size == size else Attribute.categorical(a.name, range(size)) for a, size in pairs
        )
        return Schema(tuple(merged), source=self.original.source)

    def encode(self, codes: np.ndarray) -> np.ndarray:
        """Codes (n_records, n_attributes) → codes of merged values, stored by column.

        **Privacy:** raw records in, raw records out.
        """
        out = np.empty(codes.shape, dtype=codes.dtype, order="F")
        for j, merged in enumerate(self.codes):
            out[:, j] = merged.astype(codes.dtype)[codes[:, j]]
        return out

    def spread(
        self, table: np.ndarray, columns: Sequence[int], shares: Sequence[np.ndarray]
    ) -> np.ndarray:
        """A table over merged values of some columns, over their values.

        ``shares``: for each attribute of the schema the part of its merged value that each value
        has, float (|X|,).

        **Privacy:** post-processing, where the table and the shares are releases.
        """
        out = table[np.ix_(*(self.codes[j] for j in columns))]
        for axis, j in enumerate(columns):
            out = out * np.expand_dims(shares[j], [a for a in range(out.ndim) if a != axis])
        return out


Encoding = BinaryEncoding | Merging


# --- many tables of bits at once -----------------------------------------------------------------


class BitTables:
    """Tables of many small sets of two-valued columns at once.

    The 2^s cells of a set of s columns follow by inclusion and exclusion from the moments of its
    subsets: the numbers of records in which all of a subset are 1. A moment is the popcount of an
    "and" of packed columns; those of small subsets are kept. ``columns``: two-valued codes (n,), or
    None for a column that is not; sets don't name those.

    **Privacy:** raw counts; it lives inside the lattice, inside the curator.
    """

    def __init__(self, columns: Sequence[np.ndarray | None], n: int) -> None:
        words = max(-(-n // 64), 1)
        self._kind = np.int32 if n < 2**31 else np.int64
        self.n, self.d = n, len(columns)
        self.words = np.zeros((self.d, words), dtype=np.uint64)
        for j, column in enumerate(columns):
            if column is not None:
                self.words[j].view(np.uint8)[: -(-n // 8)] = np.packbits(column.astype(bool))
        self._kept: dict[int, np.ndarray] = {}

    def cells(self, sets: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Counts of sets (m, s), some at a time: int64 (2^s, rows), first column highest bit."""
        s = sets.shape[1]
        step = max(CELLS >> s, 1)
        for start in range(0, len(sets), step):
            rows = np.ascontiguousarray(sets[start : start + step].T)
            table = np.empty((2**s, rows.shape[1]), dtype=np.int64)
            table[-1] = self._count(rows)
            for cell in range(2**s - 1):
                table[cell] = self._moments(rows[[i for i in range(s) if cell >> (s - 1 - i) & 1]])
            for i in range(s):
                halves = table.reshape(2**i, 2, -1)
                halves[:, 0] -= halves[:, 1]
            yield slice(start, start + rows.shape[1]), table

    def _moments(self, rows: np.ndarray) -> np.ndarray:
        """Moments of sets; ``rows`` (r, m) holds one set per column, members rising."""
        r = len(rows)
        if r == 0:
            return np.full(rows.shape[1], self.n, dtype=np.int64)
        if self.d**r > KEPT:
            return self._count(rows)
        if r not in self._kept:
            self._kept[r] = np.full(self.d**r, -1, dtype=self._kind)
        moments = self._kept[r]
        at = np.ravel_multi_index(tuple(rows[::-1]), (self.d,) * r)
        missing = at[moments[at] < 0]
        if len(missing):
            missing = np.unique(missing)
            moments[missing] = self._count(np.array(np.unravel_index(missing, (self.d,) * r))[::-1])
        return moments[at].astype(np.int64)

    def _count(self, rows: np.ndarray) -> np.ndarray:
        """Popcounts; neighbours that differ in their first member only share the others' "and"."""
        m = rows.shape[1]
        out = np.empty(m, dtype=np.int64)
        step = max(WORDS // self.words.shape[1], 1)
        for start in range(0, m, step):
            part = rows[:, start : start + step]
            both = self.words[part[0]]
            if len(part) > 1:
                new = np.ones(part.shape[1], dtype=bool)
                new[1:] = (part[1:, 1:] != part[1:, :-1]).any(axis=0)
                shared = self.words[part[1, new]]
                for member in part[2:, new]:
                    shared &= self.words[member]
                both &= shared[np.cumsum(new) - 1]
            out[start : start + step] = np.bitwise_count(both).sum(axis=1, dtype=self._kind)
        return out


def entropies(cells: Iterable[tuple[slice, np.ndarray]], n: int, logs: CountLogs) -> np.ndarray:
    """H in bits of each set of :meth:`BitTables.cells`: float64 (m,)."""
    bits = [math.log2(n) - logs.take(table).sum(axis=0) * logs.unit / n for _, table in cells]
    return np.concatenate(bits) if bits else np.empty(0)


def associations(cells: Iterable[tuple[slice, np.ndarray]], n: int) -> np.ndarray:
    """K = Σ|n·t − c·p| of every member against the others, int64 (m, s): two opposite rows."""
    sums = [np.empty((0, 0), dtype=np.int64)]
    for _, table in cells:
        s = len(table).bit_length() - 1
        out = np.zeros((table.shape[1], s), dtype=np.int64)
        for i in range(s if s > 1 else 0):
            parts = table.reshape(2**i, 2, 2 ** (s - 1 - i), -1)
            zero = parts[:, 0].sum(axis=(0, 1))
            gaps = np.abs(n * parts[:, 0] - zero * parts.sum(axis=1))
            out[:, i] = 2 * gaps.sum(axis=(0, 1))
        sums.append(out)
    return np.concatenate(sums[1:] or sums)

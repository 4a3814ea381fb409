"""Binary encoding: every attribute as ⌈log₂|X|⌉ two-valued columns, and the way back."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import SchemaError
from .declared import repeated
from .schema import Attribute, Schema


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
        bits = tuple(Attribute.categorical(n, ["0", "1"]) for n in names)
        return Schema(bits, source=self.original.source)

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

"""What is released: schema, network, noisy tables and ledger. All of it is post-processing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .conditionals import SparseTable, Table, conditional
from .domain.encoding import BinaryEncoding
from .domain.schema import Schema
from .errors import SchemaError, is_whole
from .network import Network
from .privacy.ledger import Ledger

FORMAT = "pdsynth-model-1"
MALFORMED = ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError


@dataclass(frozen=True)
class Model:
    """A released network with noisy counts; safe to publish exactly as far as its ledger says.

    ``tables``: one int64 array per pair, child first, of counts or integer weights (or a
    :class:`~pdsynth.conditionals.SparseTable`). ``n``: the public number of records. The network
    stands over the attributes, or over their bits.
    """

    schema: Schema
    network: Network
    tables: tuple[Table, ...]
    ledger: Ledger
    n: int
    algorithm: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if {*self.network.order} != {*self.domain.names}:
            raise SchemaError("the network's attributes are not those of the schema")
        shapes = _shapes(self.domain, self.network)
        for child, shape, table in zip(self.network.order, shapes, self.tables, strict=True):
            if table.shape != shape:
                raise SchemaError(
                    f"table of {child!r} has shape {table.shape}, its declared domain {shape}")

    @cached_property
    def encoding(self) -> BinaryEncoding | None:
        """How bits become values; None where the network stands over the attributes."""
        return _encoding(self.schema, self.network)

    @property
    def domain(self) -> Schema:
        """The schema of the network's nodes: the attributes, or their bits."""
        return self.schema if self.encoding is None else self.encoding.schema

    @cached_property
    def conditionals(self) -> dict[str, np.ndarray]:
        """P*(X | Π) of every attribute: float (|X|, cells of Π), or the columns that are kept."""
        tables = [t.weights if isinstance(t, SparseTable) else t for t in self.tables]
        return {c: conditional(t) for c, t in zip(self.network.order, tables, strict=True)}

    def sample_codes(self, n: int, generator: np.random.Generator) -> np.ndarray:
        """Codes of n synthetic records by ancestral sampling: uint8/uint16 (n, d), by column.

        What bits can spell but the schema doesn't declare is drawn again.
        """
        schema, sizes = self.domain, self.domain.sizes
        dtype = np.uint8 if max(sizes) <= 256 else np.uint16
        codes = np.empty((n, len(sizes)), dtype=dtype, order="F")
        for (child, parents), table in zip(self.network.pairs, self.tables, strict=True):
            p, key = self.conditionals[child], np.zeros(n, dtype=np.int64)
            for j in map(schema.index, parents):
                key *= sizes[j]
                key += codes[:, j]
            if isinstance(table, SparseTable):
                p, key = table.look_up(p, key)
            codes[:, schema.index(child)] = _draw(p, key, generator.random(n))
        return codes if self.encoding is None else self.encoding.decode(codes, generator)

    def sample(self, n: int | None = None, random_state: int | None = None) -> pd.DataFrame:
        """A synthetic table of n rows, the public number of records if None, as the schema says."""
        n = self.n if n is None else n
        if not is_whole(n, 1):
            raise SchemaError(f"sample needs a whole number of rows, at least one, got n={n!r}")
        generator = np.random.Generator(np.random.PCG64(random_state))
        codes = self.sample_codes(n, generator)
        binned = any(a.numeric_bins for a in self.schema.attributes)
        return self.schema.decode(codes, generator.random(codes.shape) if binned else None)

    @property
    def private(self) -> bool:
        """Whether the ledger proves a finite ε within the claim."""
        return self.ledger.guarantee != "none" and self.ledger.epsilon <= self.ledger.claimed

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; says in its first lines whether it is private."""
        return {
            "format": FORMAT,
            "private": self.private,
            "verdict": self.ledger.verdict(),
            "algorithm": self.algorithm,
            "parameters": {k: str(v) for k, v in self.parameters.items()},
            "n": self.n,
            "schema": self.schema.to_dict(),
            "network": self.network.to_dict(),
            "tables": [t.to_dict() if isinstance(t, SparseTable) else t.ravel().tolist()
                       for t in self.tables],
            "ledger": self.ledger.to_dict(),
        }

    def to_json(self, path: str | Path) -> None:
        """Write the model to a file."""
        Path(path).write_text(json.dumps(self.to_dict(), ensure_ascii=False), encoding="utf-8")

    @classmethod
    def from_json(cls, path: str | Path) -> Model:
        """Read a model; nothing in the file is run. A malformed file raises SchemaError."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(data, dict) or data.get("format") != FORMAT:
                raise SchemaError(f"{path} is not a {FORMAT} file")
            return cls._from_dict(data)
        except SchemaError:
            raise
        except MALFORMED as problem:
            raise SchemaError(f"{path} is not a readable model: {problem!r}") from problem

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Model:
        schema, network = Schema.from_dict(data["schema"]), Network.from_dict(data["network"])
        n, ledger = data["n"], Ledger.from_dict(data["ledger"])
        encoding = _encoding(schema, network)
        shapes = _shapes(encoding.schema if encoding else schema, network)
        stored = zip(network.order, shapes, data["tables"], strict=True)
        if type(n) is not int or n < 1:
            raise SchemaError(f"n must be a positive integer, got {n!r}")
        model = cls(schema, network, tuple(_table(*each) for each in stored), ledger, n,
                    str(data["algorithm"]), dict(data["parameters"]))
        if data["private"] is not model.private:
            raise SchemaError(f"the file says private={data['private']!r}, "
                              f"but its ledger says: {ledger.verdict()}")
        return model

    def __repr__(self) -> str:
        word = "" if self.private else "NOT PRIVATE, "
        return (f"Model({word}{self.algorithm}, {len(self.schema)} attributes, "
                f"degree {self.network.degree}: {self.ledger.verdict()})")


def _encoding(schema: Schema, network: Network) -> BinaryEncoding | None:
    return None if {*network.order} == {*schema.names} else BinaryEncoding(schema)


def _shapes(domain: Schema, network: Network) -> list[tuple[int, ...]]:
    return [tuple(domain[name].size for name in (child, *parents))
            for child, parents in network.pairs]


def _table(child: str, shape: tuple[int, ...], data: Any) -> Table:
    if isinstance(data, Mapping):
        return SparseTable.from_dict(data, shape)
    if not all(type(x) is int for x in data):
        raise SchemaError(f"table of {child!r} holds something other than integers")
    return np.array(data, dtype=np.int64).reshape(shape)


def _draw(p: np.ndarray, key: np.ndarray, u: np.ndarray) -> np.ndarray:
    """One value per record from P(X | key), where a uniform number u falls."""
    cumulative = np.cumsum(p[:-1], axis=0)
    if len(p) > 48:  # binary search beats one pass per value
        steps = (cumulative / np.maximum(cumulative[-1:], 1)).T
        flat = (steps + np.arange(len(steps))[:, None]).ravel()
        found = np.searchsorted(flat, key + u, side="right") - key * steps.shape[1]
        return np.clip(found, 0, len(p) - 1)
    out = np.zeros(len(u), dtype=np.uint8)
    bound, above = np.empty(len(u)), np.empty(len(u), dtype=bool)
    for row in cumulative:
        np.take(row, key, out=bound, mode="clip")  # keys are in range: clipping skips the check
        out += np.greater_equal(u, bound, out=above).view(np.uint8)
    return out

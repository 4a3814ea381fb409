"""What is released: schema, network, noisy tables and ledger. All of it is post-processing."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .conditionals import Sources, Table, conditional
from .domain.encoding import BinaryEncoding
from .domain.schema import Schema
from .errors import PrivacyError, SchemaError, check_path, door, is_one_of, is_whole, show, to_list
from .network import Network
from .privacy.coverage import MALFORMED, Release, check_coverage, check_origin, read_json
from .privacy.ledger import Ledger
from .structure.drawing import METHODS, Sampling, deal, draw

FORMAT = "pdsynth-model-2"
MAX_BYTES, MAX_RECORDS, MAX_ATTRIBUTES = 2**26, 10**10, 2**15  # of a file


@dataclass(frozen=True)
class Model(Sampling):
    """A released network with noisy counts; safe to show exactly as far as its ledger says.

    ``tables``: one int64 array per pair, child first, of counts or integer weights (or a
    :class:`~pdsynth.published.SparseTable`). ``n``: the number of records, which is public
    (neighbours replace one record). ``sources``: for each table the ids of the ledger entries that
    it comes from. The network stands over the attributes, or over their bits.
    """

    schema: Schema
    network: Network
    tables: tuple[Table, ...]
    ledger: Ledger
    n: int
    algorithm: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sources: Sources = ()

    def __post_init__(self) -> None:
        fields = ("schema", Schema), ("network", Network), ("ledger", Ledger)
        for name, kind in fields:
            if not isinstance(getattr(self, name), kind):
                raise SchemaError(
                    f"{name} of a model must be a {kind.__name__}, got {show(getattr(self, name))}"
                )
        if not isinstance(self.algorithm, str):
            raise SchemaError(f"algorithm must be a text, got {show(self.algorithm)}")
        if not isinstance(self.parameters, Mapping):
            raise SchemaError(f"parameters must be a mapping, got {show(self.parameters)}")
        if not is_whole(self.n, 1):
            raise SchemaError(f"n of a model must be a positive integer, got {show(self.n)}")
        if {*self.network.order} != {*self.domain.names}:
            raise SchemaError("the network's attributes are not those of the schema")
        shapes = _shapes(self.domain, self.network)
        tables = to_list("tables of a model", self.tables)
        if len(tables) != len(shapes):
            raise SchemaError(
                f"the network has {len(shapes)} pairs, but the number of tables is {len(tables)}"
            )
        for child, shape, table in zip(self.network.order, shapes, tables, strict=True):
            if not isinstance(table, Table):
                raise SchemaError(
                    f"table of {child!r} must be an array of integers, got {show(table)}"
                )
            if table.shape != shape:
                raise SchemaError(
                    f"table of {child!r} has shape {table.shape}, its declared domain {shape}"
                )

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
        tables = [t if isinstance(t, np.ndarray) else t.weights for t in self.tables]
        return {c: conditional(t) for c, t in zip(self.network.order, tables, strict=True)}

    def sample_codes(
        self, n: int, generator: np.random.Generator, method: str = "independent"
    ) -> np.ndarray:
        """Codes of n synthetic records by ancestral sampling: uint8/uint16 (n, d), by column.

        ``method`` as in :meth:`sample`. What bits can spell but the schema doesn't declare is drawn
        again.
        """
        if not is_one_of(method, METHODS):
            raise SchemaError(f"method must be one of {METHODS}, got {show(method)}")
        schema, sizes = self.domain, self.domain.sizes
        dtype = np.uint8 if max(sizes) <= 256 else np.uint16
        codes = np.empty((n, len(sizes)), dtype=dtype, order="F")
        for (child, parents), table in zip(self.network.pairs, self.tables, strict=True):
            p, key = self.conditionals[child], np.zeros(n, dtype=np.int64)
            for j in map(schema.index, parents):
                key *= sizes[j]
                key += codes[:, j]
            if not isinstance(table, np.ndarray):
                p, key = table.look_up(p, key)
            u = generator.random(n) if method == "independent" else deal(key, generator)
            codes[:, schema.index(child)] = draw(p, key, u)
        return codes if self.encoding is None else self.encoding.decode(codes, generator)

    def check(self) -> list[str]:
        """Violated rules L1–L11, each with its code; empty if none.

        L11: every table comes from lines of the ledger that measured its attributes and charged it.
        """
        found = self.ledger.check()
        if self.schema.source != "public":
            found.append("L9 schema: its domains were inferred from the records")
        return found + self._uncovered()

    def _uncovered(self) -> list[str]:
        """Violations of rule L11."""
        bits = self.encoding
        owner = None if bits is None else dict(zip(bits.schema.names, bits.owners, strict=True))
        sources = self.sources or ((),) * len(self.tables)
        return check_coverage(
            [
                Release(
                    child,
                    tuple(n if owner is None else owner[n] for n in (child, *parents)),
                    math.prod(table.shape),
                    ids,
                )
                for (child, parents), table, ids in zip(
                    self.network.pairs, self.tables, sources, strict=True
                )
            ],
            self.ledger.entries,
        )

    @property
    def private(self) -> bool:
        """Whether the ledger proves a finite ε within the claim, for every table, with noise that
        nobody else can draw.
        """
        return self.ledger.private and not self.check()

    def verdict(self) -> str:
        """One sentence that can't be mistaken for a guarantee that isn't there."""
        broken = self.check() if self.ledger.private else []
        return f"NOT PROVED: {broken[0]}." if broken else self.ledger.verdict()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; says in its first lines whether it is private."""
        return {
            "format": FORMAT,
            "private": self.private,
            "verdict": self.verdict(),
            "algorithm": self.algorithm,
            "parameters": {k: str(v) for k, v in self.parameters.items()},
            "n": self.n,
            "schema": self.schema.to_dict(),
            "network": self.network.to_dict(),
            "tables": [
                t.ravel().tolist() if isinstance(t, np.ndarray) else t.to_dict()
                for t in self.tables
            ],
            "sources": [list(ids) for ids in self.sources],
            "ledger": self.ledger.to_dict(),
        }

    def to_json(self, path: str | Path, allow_reproducible: bool = False) -> None:
        """Write the model to a file.

        A model whose noise others can draw raises PrivacyError unless it is allowed by name; the
        file then says that it isn't private, and never holds the seed.
        """
        check_path(path)
        if self.ledger.reproducible and allow_reproducible is not True:
            raise PrivacyError(
                "the noise of this model is reproducible (random_state, or noise='common'), so its "
                "file wouldn't be private: fit with random_state=None and noise='exact' for a "
                "release, or say allow_reproducible=True for a file that says NOT PRIVATE"
            )
        text = json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":")).encode()
        if len(text) > MAX_BYTES:
            raise SchemaError(
                f"the model takes {len(text):,} bytes, and at most {MAX_BYTES:,} are "
                "read again: choose a smaller k"
            )
        Path(path).write_bytes(text)

    @classmethod
    def from_json(cls, path: str | Path) -> Model:
        """Read a model; nothing in the file is run.

        SchemaError for a file that is malformed or larger than ``MAX_BYTES``, whose tables aren't
        covered by its ledger (rule L11), or that contradicts itself: each size is checked before
        anything of that size is built. What it says of its noise can't be checked by reading.
        """
        check_path(path)
        return cls.from_dict(read_json(path, MAX_BYTES))

    @classmethod
    def from_dict(cls, data: Any) -> Model:
        """The inverse of :meth:`to_dict`; refuses what :meth:`from_json` refuses."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            raise SchemaError(f"this is not a {FORMAT} file")
        try:
            model = cls._build(data)
            model._check_file(data)
        except SchemaError:
            raise
        except MALFORMED as problem:
            raise SchemaError(f"this is not a readable model: {problem!r:.300}") from problem
        return model

    @classmethod
    def _build(cls, data: Mapping[str, Any]) -> Model:
        n, ids = data["n"], data["sources"]
        if type(n) is not int or not 1 <= n <= MAX_RECORDS:
            raise SchemaError(f"n must be a whole number from 1 to {MAX_RECORDS:,}")
        if max(len(data["schema"]["attributes"]), len(ids)) > MAX_ATTRIBUTES:
            raise SchemaError(f"more than {MAX_ATTRIBUTES:,} attributes or tables")
        schema, network = Schema.from_dict(data["schema"]), Network.from_dict(data["network"])
        ledger, encoding = Ledger.from_dict(data["ledger"]), _encoding(schema, network)
        shapes = _shapes(encoding.schema if encoding else schema, network)
        stored = zip(network.order, shapes, data["tables"], strict=True)
        tables = tuple(_table(*each) for each in stored)
        return cls(
            schema,
            network,
            tables,
            ledger,
            n,
            str(data["algorithm"]),
            dict(data["parameters"]),
            tuple(tuple(map(str, each)) for each in ids),
        )

    def _check_file(self, data: Mapping[str, Any]) -> None:
        """Refuse a file that contradicts itself, or whose ledger doesn't cover what it releases."""
        problems = self._uncovered() + check_origin(self.ledger, self.schema.names, self.n)
        problems += ["a seed stands among its parameters"] * ("random_state" in self.parameters)
        if self.ledger.guarantee == "strict":
            problems += [p for p in self.check() if not p.startswith("L10")]
        if problems:
            raise SchemaError(f"its ledger doesn't cover what it releases: {problems[0]}")
        if data["private"] is not self.private or data["verdict"] != self.verdict():
            raise SchemaError(
                f"the file says private={data['private']!r:.40} and "
                f"{data['verdict']!r:.200}, but its ledger says: {self.verdict()}"
            )

    def __repr__(self) -> str:
        word = "" if self.private else "NOT PRIVATE, "
        return (
            f"Model({word}{self.algorithm}, {len(self.schema)} attributes, "
            f"degree {self.network.degree}: {self.verdict()})"
        )


def _encoding(schema: Schema, network: Network) -> BinaryEncoding | None:
    return None if {*network.order} == {*schema.names} else BinaryEncoding(schema)


def _shapes(domain: Schema, network: Network) -> list[tuple[int, ...]]:
    return [
        tuple(domain[name].size for name in (child, *parents)) for child, parents in network.pairs
    ]


def _table(child: str, shape: tuple[int, ...], data: Any) -> Table:
    if isinstance(data, Mapping):
        sparse: Table = door("published").SparseTable.from_dict(data, shape)
        return sparse
    if len(data) != math.prod(shape) or not all(type(x) is int for x in data):
        raise SchemaError(
            f"table of {child!r} doesn't hold one integer for each of its "
            f"{math.prod(shape):,} declared cells"
        )
    return np.array(data, dtype=np.int64).reshape(shape)

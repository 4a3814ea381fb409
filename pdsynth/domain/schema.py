"""Public domains: what may be known about a table before any record is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ..errors import SchemaError
from .attribute import MAX_VALUES, Attribute, fits, like

__all__ = ["MAX_VALUES", "Attribute", "Schema"]


@dataclass(frozen=True)
class Schema:
    """The public domain of a table: its attributes in column order.

    ``source`` is ``"public"``, or ``"data"`` for a schema inferred from records: a strict fit
    refuses the latter. ``groups`` may declare sensitivity groups by policy: ``{"occupation": "A",
    "race": "B"}`` (A: more sensitive).
    """

    attributes: tuple[Attribute, ...]
    source: str = "public"
    groups: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", tuple(self.attributes))
        strange = [a for a in self.attributes if not isinstance(a, Attribute)]
        if strange:
            raise SchemaError(f"a schema is made of Attributes, got {strange[0]!r}: "
                              "use Attribute.categorical(name, values) or .numeric")
        if twice := _repeated(self.names):
            raise SchemaError(f"attributes declared twice: {twice}")
        unknown = sorted(set(self.groups) - set(self.names))
        if unknown or not set(self.groups.values()) <= {"A", "B"}:
            raise SchemaError("groups must map declared attributes to 'A' or 'B'; "
                              f"unknown: {unknown}, groups: {dict(self.groups)}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Attribute names in column order."""
        return tuple(a.name for a in self.attributes)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Domain sizes |X| in column order."""
        return tuple(a.size for a in self.attributes)

    def __len__(self) -> int:
        return len(self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        return self.attributes[self.index(name)]

    def index(self, name: str) -> int:
        """Column number of an attribute; SchemaError with the known names if it isn't there."""
        if name not in self.names:
            raise SchemaError(f"no attribute {name!r} in the schema; "
                              f"it has {', '.join(self.names)}")
        return self.names.index(name)

    def cells(self, names: Iterable[str]) -> int:
        """Number of cells of the joint table of some attributes."""
        return math.prod(self[n].size for n in names)

    def select(self, names: Sequence[str]) -> Schema:
        """The schema of some of the attributes, in the order given."""
        groups = {n: g for n, g in self.groups.items() if n in names}
        return replace(self, attributes=tuple(self[n] for n in names), groups=groups)

    def declare_public(self) -> Schema:
        """The same schema, on the user's word that its domains were known without these records."""
        return replace(self, source="public")

    @classmethod
    def infer(cls, frame: pd.DataFrame, *, bins: int = 16) -> Schema:
        """A schema read off the records, for exploration only.

        **Privacy:** every category, range and missing value comes from the data, so the schema is
        marked ``source="data"``; a strict fit refuses it unless you say
        ``schema.declare_public()``.
        """
        return cls(tuple(_infer(frame[name], bins) for name in frame.columns), source="data")

    def encode(self, frame: pd.DataFrame) -> np.ndarray:
        """Codes of a table: uint8 or uint16 array (n_records, n_attributes), stored by column.

        SchemaError for no rows, missing, duplicate or undeclared columns, values outside their
        domain.

        **Privacy:** raw records in, raw records out; what is refused depends on the declaration,
        never on statistics.
        """
        self.check(frame)
        kind = np.uint8 if max(self.sizes) <= 256 else np.uint16
        codes = np.empty((len(frame), len(self)), dtype=kind, order="F")
        for j, attribute in enumerate(self.attributes):
            codes[:, j] = attribute.encode(frame[attribute.name])
        return codes

    def check(self, frame: pd.DataFrame) -> None:
        """Refuse a table whose columns aren't those of the schema, and tables too small to publish.

        **Privacy:** reads column names and the public number of rows only.
        """
        if not isinstance(frame, pd.DataFrame):
            raise SchemaError(f"expected a pandas DataFrame, got {type(frame).__name__}")
        columns = list(frame.columns)
        if twice := _repeated(columns):
            raise SchemaError(f"duplicate column(s): {twice}; rename or drop them")
        gone = [n for n in self.names if n not in columns]
        if gone:
            raise SchemaError(f"missing column(s): {gone}; the table has {len(columns)} columns, "
                              f"the schema {len(self)}")
        extra = [c for c in columns if c not in self.names]
        if extra:
            raise SchemaError(f"undeclared column(s): {extra}; declare them, "
                              "or drop them with frame[list(schema.names)]")
        if len(self) < 2:
            raise SchemaError(f"the table has {len(self)} attribute(s); "
                              "at least 2 are needed for a network")
        if len(frame) == 0:
            raise SchemaError("the table has no rows")

    def decode(self, codes: np.ndarray, uniforms: np.ndarray | None = None) -> pd.DataFrame:
        """A table from codes (n_records, n_attributes).

        ``uniforms`` of the same shape place numbers inside their bins.
        """
        places = [None] * len(self) if uniforms is None else uniforms.T
        parts = zip(self.attributes, codes.T, places, strict=True)
        return pd.DataFrame({a.name: a.decode(c.astype(np.int64), place) for a, c, place in parts})

    def like(self, frame: pd.DataFrame) -> Schema:
        """The same domains with the column types of ``frame`` (kind and width, never its values).

        **Privacy:** column types are public facts of the table's format; no value is read.
        """
        return replace(self, attributes=tuple(like(a, frame[a.name]) for a in self.attributes))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"source": self.source, "groups": dict(self.groups),
                "attributes": [asdict(a) for a in self.attributes]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Schema:
        """The inverse of :meth:`to_dict`; a malformed document raises SchemaError."""
        try:
            attributes = tuple(_read(a) for a in data["attributes"])
            return cls(attributes, str(data["source"]), dict(data["groups"]))
        except SchemaError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise SchemaError(f"not a schema document: {problem!r}") from problem

    def _repr_html_(self) -> str:
        word = ("public domain" if self.source == "public" else
                "<b style='color:#d55e00'>inferred from the data, not public</b>")
        rows = [f"<tr><td>{escape(a.name)}</td><td>{a.size}</td>"
                f"<td>{'bins' if a.numeric_bins else 'values'}</td>"
                f"<td>{escape(', '.join(a.labels[:6]))}{' …' if a.size > 6 else ''}</td></tr>"
                for a in self.attributes]
        head = "<tr><th>attribute</th><th>size</th><th>kind</th><th>domain</th></tr>"
        return f"<p>{len(self)} attributes, {word}</p><table>{head}{''.join(rows)}</table>"


def _repeated(names: Sequence[Any]) -> list[str]:
    return sorted({str(name) for name in names if names.count(name) > 1})


def _read(data: Mapping[str, Any]) -> Attribute:
    edges = None if data["edges"] is None else tuple(data["edges"])
    found = Attribute(str(data["name"]), tuple(data["values"]), edges, str(data["dtype"]),
                      bool(data["missing"]), str(data["spread"]))
    if not fits(found.dtype, found.values, found.edges):
        raise SchemaError(f"not a schema document: a column of type {found.dtype!r} "
                          "can't hold its declared values")
    return found


def _infer(column: pd.Series, bins: int) -> Attribute:
    name, missing, present = str(column.name), bool(column.isna().any()), column.dropna()
    values = sorted(present.unique().tolist(), key=str)
    if pd.api.types.is_numeric_dtype(column):
        if len(values) > bins and not pd.api.types.is_bool_dtype(column):
            whole = bool((present == present.round()).all())
            return Attribute.numeric(name, float(present.min()), float(present.max()), bins=bins,
                                     integer=whole, missing=missing)
        values.sort()
    if len(values) + missing < 2:
        raise SchemaError(f"column {name!r} holds {len(values)} value(s): "
                          "drop it, or declare its domain by hand")
    return Attribute.categorical(name, values, missing=missing)

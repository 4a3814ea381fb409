"""Schemas that are read off records, written to files and kept in documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pandas as pd

from ..core import (
    Attribute,
    Schema,
    SchemaError,
    check_columns,
    check_path,
    is_whole,
    show,
)
from .columns import only_plain
from .declared import MAX_VALUES
from .documents import check_no_text
from .recoding import Recode
from .rule_entries import read_rules, say_rule
from .schema_file import read_schema, write_schema
from .taking import check_texts


def infer_schema(frame: pd.DataFrame, bins: int) -> Schema:
    """A schema read off the records, as :meth:`.Schema.infer` says.

    **Privacy:** every category, range and missing value comes from the data.
    """
    if not is_whole(bins, 2, MAX_VALUES):
        raise SchemaError(f"bins must be a whole number from 2 to {MAX_VALUES:,}, got {show(bins)}")
    attributes, left_out = [], {}
    for place, name in enumerate(check_columns(frame)):
        try:
            with only_plain(f"column {name!r}"):
                attributes.append(_infer(frame.iloc[:, place], bins))
        except SchemaError as problem:
            left_out[str(name)] = f"? {problem}"
    return Schema(tuple(attributes), source="data", left_out=left_out)


def _infer(column: pd.Series, bins: int) -> Attribute:
    """An attribute read off a column; SchemaError where there is none.

    **Privacy:** every value is read and its domain told: a strict fit refuses such a schema.
    """
    if isinstance(column.dtype, pd.ArrowDtype) and column.dtype.kind == "f":  # keeps NaN, too
        column = column.mask((column != column).fillna(False))  # noqa: PLR0124 - NaN alone
    name, missing, present = str(column.name), bool(column.isna().any()), column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype) and len(column.cat.categories) > 1:
        kind = "ordered" if column.cat.ordered else "category"  # in its own order, unused ones too
        return Attribute.categorical(
            name, column.cat.categories.tolist(), missing=missing, dtype=kind
        )
    values = sorted(present.unique().tolist(), key=str)
    if pd.api.types.is_numeric_dtype(column):
        if len(values) > bins and not pd.api.types.is_bool_dtype(column):
            whole = bool((present == present.round()).all())
            return Attribute.numeric(
                name,
                float(present.min()),
                float(present.max()),
                bins=bins,
                integer=whole,
                missing=missing,
            )
        values.sort()
    if len(values) + missing < 2:
        raise SchemaError(
            f"column {name!r} holds {len(values)} value(s): drop it, or declare its domain by hand"
        )
    return Attribute.categorical(name, values, missing=missing)


def open_schema(path: str | os.PathLike[str]) -> Schema:
    """The schema of a TOML file, as :meth:`.Schema.read` says."""
    check_no_text(path, "write the schema's text to a file")
    return Schema(**read_schema(_read_text(Path(path)), Path(path).name))


def meanings(schema: Schema) -> dict[str, str]:
    """What released rows hold, by name, where raw cells were written otherwise: see Recode."""
    told = {a.name: a.recode.meaning() for a in schema.attributes if isinstance(a.recode, Recode)}
    return {name: meaning for name, meaning in told.items() if meaning}


def save_schema(
    schema: Schema, path: str | os.PathLike[str], notes: Mapping[str, str] | None = None
) -> None:
    """Write the TOML file of a schema, as :meth:`.Schema.write` says; ``notes``: comments."""
    check_path(path)
    file = Path(path)
    if file.exists():
        old = _read_text(file)
        if write_schema(_fields(Schema(**read_schema(old, file.name)))) != old:
            raise SchemaError(
                f"{file.name} was written or edited by hand, and its comments would be lost: "
                "name another file"
            )
    text = write_schema(_fields(schema), notes)
    check_texts([text])  # of recodings and rules, too; before a file is opened, which empties it
    if say_exactly(Schema(**read_schema(text))) != say_exactly(schema):
        raise SchemaError("this schema can't be written as TOML")
    file.write_text(text, encoding="utf-8", newline="\n")


def _fields(schema: Schema) -> dict[str, Any]:
    return {field.name: getattr(schema, field.name) for field in fields(schema)}


def say_exactly(schema: Schema) -> str:
    """Every field in words: unlike equal ones, 1, 1.0 and True are told apart."""
    pairs = (sorted(schema.groups.items()), sorted(schema.left_out.items()))
    rest = (*pairs, schema.columns, schema.file, *schema.rules)
    return repr((schema.attributes, schema.source, *rest))


def schema_document(schema: Schema) -> dict[str, Any]:
    """Plain data for JSON."""
    more: dict[str, Any] = {
        "left_out": dict(schema.left_out),
        "columns": list(schema.columns),
        "file": schema.file.said() if schema.file else {},
        "rules": [*map(say_rule, schema.rules)],
    }
    attributes = [
        {k: v for k, v in asdict(a).items() if k not in ("recode", "private") or v}
        for a in schema.attributes
    ]
    for entry in attributes:
        entry.get("recode", {}).pop("file_number", None)  # follows from the file
    return {
        "source": schema.source,
        "groups": dict(schema.groups),
        "attributes": attributes,
        **{key: value for key, value in more.items() if value},
    }


def read_schema_document(data: Mapping[str, Any]) -> Schema:
    """The inverse of :func:`schema_document`; a malformed document raises SchemaError."""
    try:
        attributes = tuple(_read(a) for a in data["attributes"])
        return Schema(
            attributes,
            str(data["source"]),
            dict(data["groups"]),
            dict(data.get("left_out", {})),
            tuple(data.get("columns", ())),
            data.get("file"),
            read_rules(data.get("rules", []), "the schema document")[0],
        )
    except SchemaError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as problem:
        raise SchemaError(f"not a schema document: {problem!r}") from problem


def _read(data: Mapping[str, Any]) -> Attribute:
    edges = None if data["edges"] is None else tuple(data["edges"])
    return Attribute(
        str(data["name"]),
        tuple(data["values"]),
        edges,
        str(data["dtype"]),
        bool(data["missing"]),
        str(data["spread"]),
        Recode.of(**data.get("recode") or {}),
        int(data.get("private", 0)),
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as problem:
        raise SchemaError(f"{path.name} isn't in UTF-8: save it so") from problem

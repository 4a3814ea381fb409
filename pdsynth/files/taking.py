"""How declared columns are taken out of raw ones that have another name or hold several things."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ..core import (
    Attribute,
    Schema,
    SchemaError,
    check_columns,
    show,
    to_items,
)
from .columns import find_distinct, only_plain
from .file_format import FileFormat
from .recoding import Recode


def raw_name(attribute: Attribute) -> str:
    """The raw column of an attribute: what ``column`` of its Recode says, else its own name."""
    recode = attribute.recode
    return (recode.column if isinstance(recode, Recode) else "") or attribute.name


def find_columns(attributes: Sequence[Attribute], there: Collection[str]) -> list[str]:
    """The column that each attribute is read from: of its own name, else its raw one.

    ``there``: names of the table's columns. A synthetic table has the own names, so that it is read
    as it is.
    """
    return [a.name if a.name in there else raw_name(a) for a in attributes]


def settle_file(schema: Schema) -> dict[str, Any]:
    """What a schema says of the raw file, as it stands from now on; contradictions are refused.

    ``columns``: a tuple. ``file``: a FileFormat or None.
    ``attributes``: those whose recoded cells hold numbers as their file writes them, unless they
    say how; plain columns are read so by :func:`~pdsynth.files.reading.read_csv` already.
    """
    left_out = schema.left_out if isinstance(schema.left_out, Mapping) else {None: ""}
    columns = to_items("columns", schema.columns)
    if not all(isinstance(word, str) for word in (*left_out, *left_out.values(), *columns)):
        raise SchemaError(
            "left_out must map column names to reasons, columns must list names: all of them texts"
        )
    listed = (value for a in schema.attributes for value in a.values if isinstance(value, str))
    check_texts([*schema.names, *left_out, *left_out.values(), *columns, *listed])
    if both := sorted(left_out.keys() & set(schema.names)):
        raise SchemaError(f"attributes that are declared and left out: {both}")
    there = set(columns)
    needed = find_columns(schema.attributes, there) if columns else []
    if gone := [c for c in needed if c not in there]:
        raise SchemaError(f"columns of the file don't name the attribute(s) {gone}")
    said: Any = schema.file
    file = FileFormat.of({"header": not columns} | said if isinstance(said, dict) else said)
    attributes = read_as_written(schema.attributes, file)
    if file is not None and file.header != (not columns):
        raise SchemaError(
            "columns name those of a file whose first line doesn't: say columns and header = "
            "false, or neither"
        )
    return {"columns": tuple(columns), "file": file, "attributes": attributes}


def check_texts(texts: Iterable[str]) -> None:
    """Refuse half a character (a surrogate): no file in UTF-8 can hold it, and no column."""
    try:
        "\0".join(texts).encode()
    except UnicodeEncodeError as problem:
        raise SchemaError(
            f"{show(problem.object[problem.start])} is no character that a file can hold: correct "
            "the name or the value, or read the table again and say its encoding"
        ) from problem


def read_as_written(
    attributes: Sequence[Attribute], file: FileFormat | None
) -> tuple[Attribute, ...]:
    """Attributes whose recoded cells hold numbers as their file writes them."""
    form = file.number_form if file else ""
    return tuple(
        replace(a, recode=a.recode.in_file(form))
        if isinstance(a.recode, Recode) and a.recode.file_number != form
        else a
        for a in attributes
    )


def take_columns(frame: pd.DataFrame, attributes: Sequence[Attribute]) -> pd.DataFrame:
    """The table with all that can be taken out of raw columns under the attributes' own names.

    Raw columns that nothing else names are left out then. SchemaError for a raw column that stands
    twice.

    **Privacy:** raw records in, raw records out, cell by cell.
    """
    if not isinstance(frame, pd.DataFrame):
        return frame  # refused by Schema.check
    there, own = set(frame.columns), {a.name for a in attributes}
    chosen = zip(attributes, find_columns(attributes, there), strict=True)
    raw = [(a, column) for a, column in chosen if column != a.name and column in there]
    if not raw:
        return frame
    used = {column for _, column in raw}
    check_columns(frame, [*used])
    rest = frame.loc[:, [column not in used - own for column in frame.columns]]
    return pd.concat([rest, *(take_cells(a, frame[column]) for a, column in raw)], axis=1)


def take_cells(attribute: Attribute, cells: pd.Series) -> pd.Series:
    """What the cells of a raw column hold for an attribute; each distinct cell is read by itself.

    SchemaError where they are no plain values, as lists.

    **Privacy:** raw records in, raw records out.
    """
    recode = attribute.recode
    if not isinstance(recode, Recode) or not recode.between:
        return cells.rename(attribute.name)
    with only_plain(f"column {cells.name!r}"):
        places, texts = find_distinct(cells)
        parts = pd.Series([*map(recode.take, texts), None], dtype=object)
    return parts.take(places).set_axis(cells.index).rename(attribute.name)

"""A CSV file of your own: its outline without its values, and its records over a public schema."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ..domain.schema import Attribute, Schema
from ..errors import SchemaError

DELIMITERS = {";": "a semicolon", "\t": "a tab", "|": "a bar", ",": "a comma"}
Source = str | os.PathLike[str] | bytes


class Outline(NamedTuple):
    """What may be known of a file before its schema is written: column names, number of records."""

    names: tuple[str, ...]
    n: int


def outline(source: Source, delimiter: str = ",") -> Outline:
    r"""Column names and number of records of a CSV file (a path, or its bytes).

    Raises SchemaError for what isn't such a table.

    >>> outline(b"age,sex\n34,f\n61,m\n")
    Outline(names=('age', 'sex'), n=2)

    **Privacy:** releases the header and n, which are public; no value is looked at, costs nothing.
    """
    return _outline(_text(source), delimiter)


def read_csv(
    source: Source, schema: Schema | None = None, *, delimiter: str = ","
) -> pd.DataFrame:
    r"""The records of a CSV file in UTF-8 (a path, or its bytes).

    With ``schema``: the declared columns in its order and no others; columns of declared texts stay
    texts, so that ``01`` keeps its zero. Only an empty cell is a missing value, ``NA`` is a text.
    Raises SchemaError for an empty file, another encoding or delimiter, one column, double names,
    rows of unequal length, no rows, and declared columns that aren't there. Values outside their
    domain are refused by ``fit``.

    >>> read_csv(b"id,zone,age\n1,01,34\n2,NA,\n")["zone"].tolist()
    ['01', 'NA']

    **Privacy:** raw records; their types depend on the declaration alone, what is refused on the
    file's form and the declaration.
    """
    text = _text(source)
    names = _outline(text, delimiter).names
    attributes = () if schema is None else schema.attributes
    wanted = [a.name for a in attributes] or list(names)
    gone = [name for name in wanted if name not in names]
    if gone:
        raise SchemaError(f"missing column(s): {gone}; the file has {', '.join(names)}")
    texts = {a.name: "str" for a in attributes
             if a.edges is None and all(isinstance(value, str) for value in a.values)}
    frame = pd.read_csv(io.StringIO(text), sep=delimiter, usecols=wanted, dtype=texts,
                        keep_default_na=False, na_values=[""], low_memory=False)
    return frame[wanted].assign(**{a.name: _as_declared(frame[a.name], a) for a in attributes})


def _as_declared(column: pd.Series, attribute: Attribute) -> pd.Series:
    """Whole numbers of declared whole numbers: a cell "12.0" mustn't change a released column."""
    if attribute.dtype != "int64" or not pd.api.types.is_float_dtype(column):
        return column
    whole = (column == column.round()) & (column.abs() < 2**53)
    return column.astype("int64") if whole.all() else column


def _text(source: Source) -> str:
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    if content[:2] == b"PK":
        raise SchemaError("this is a spreadsheet or another zip file, not text: "
                          "save the table as CSV (UTF-8)")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        at = problem.start
        raise SchemaError(f"the file isn't in UTF-8 (byte {at:,} is 0x{content[at]:02x}): save it "
                          "as CSV (UTF-8), or decode it yourself: "
                          "path.read_text(encoding='cp1252').encode()") from problem
    if "\0" in text:
        raise SchemaError("the file holds zero bytes, so it isn't CSV in UTF-8: export it again")
    if not text.strip():
        raise SchemaError("the file is empty: it needs a line of column names and at least one "
                          "record")
    return text


def _outline(text: str, delimiter: str) -> Outline:
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    n = 0
    try:
        names = next(row for row in rows if row)
        _check_names(names, delimiter)
        for row in filter(None, rows):
            if len(row) != len(names):
                raise SchemaError(
                    f"line {rows.line_num:,} has {len(row)} cells, the first line {len(names)} "
                    "names: put quotes around values that hold the delimiter")
            n += 1
    except csv.Error as problem:
        raise SchemaError(f"line {rows.line_num:,} isn't CSV ({problem}): is a quote missing?"
                          ) from problem
    if n == 0:
        raise SchemaError("the table has no rows: below the line of column names nothing follows")
    return Outline(tuple(names), n)


def _check_names(names: list[str], delimiter: str) -> None:
    if len(names) == 1:
        likely = max((d for d in DELIMITERS if d != delimiter), key=names[0].count)
        if likely in names[0]:
            raise SchemaError(
                f"one column with {DELIMITERS[likely]} in its name: the delimiter seems to be "
                f"{likely!r}, not {delimiter!r}; save the file with commas, or say "
                f"read_csv(path, delimiter={likely!r})")
        raise SchemaError(f"the file has one column, {names[0]!r}; at least 2 are needed for a "
                          "network")
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise SchemaError(f"column {place} has no name: name it in the first line")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SchemaError(f"duplicate column(s): {twice}; rename or drop them")

"""A data file of your own: its header without its values, and its records over a public schema."""

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from ..domain.recoding import FORMS, read_numbers
from ..domain.schema import Attribute, Schema, check_schema
from ..errors import SchemaError, is_one_of, plural, show, to_items
from .opening import Source, Text, open_source, read_table
from .sniffing import find_separator, is_said, look_for_header, split_cells

CELLS = 2_000_000  # of one chunk


class Header(NamedTuple):
    """What may be known of a file before its schema is written: column names, number of records.

    And how it is written: what separates its cells, its encoding, whether its first line names the
    columns.
    """

    names: tuple[str, ...]
    n: int
    delimiter: str = ","
    encoding: str = "utf-8"
    first: bool = True


def read_header(
    source: Source,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int = 0,
) -> Header:
    r"""Column names and number of records of a file; parameters as in :func:`read_csv`.

    >>> read_header(b"age,sex\n34,f\n61,m\n")
    Header(names=('age', 'sex'), n=2, delimiter=',', encoding='utf-8', first=True)

    **Privacy:** releases the header and n, which are public; the cells are only counted, and costs
    nothing.
    """
    whole = read_table(*open_source(source))
    if isinstance(whole, pd.DataFrame):
        return Header(tuple(map(str, whole.columns)), len(whole), "", "")
    return _scan(Text(whole, encoding, skip), names, delimiter, header)


def read_csv(
    source: Source,
    schema: Schema | None = None,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    number: str | None = None,
    skip: int = 0,
) -> pd.DataFrame:
    r"""The records of a file: CSV in its many forms, gzipped or not, Parquet, Arrow or Excel.

    ``source``: a path, bytes, or an open file. ``schema``: the declared columns in its order and no
    others. ``names``: of all columns, where the file has no header (else ``schema.columns``).
    ``delimiter`` and ``encoding`` are found out and said in a warning where they aren't a comma and
    UTF-8. ``header``: whether the first line names the columns; None looks. ``number``: how numbers
    are written, "1,234.5" if cells aren't separated by semicolons; currency and per cent signs are
    left out. ``skip``: lines above the table.

    Blanks around cells are left out; only an empty cell is a missing value, ``NA`` is a text. A
    declared column is read as declared: texts stay texts, so that ``01`` keeps its zero; columns
    with a recoding stay as they are written, for ``fit`` to recode. Without ``schema`` a column is
    numbers if all its cells are, else texts. A column without a name is called ``column 3``, a
    second ``a`` is called ``a.2``.

    Raises SchemaError, whose message holds no record's values: for an empty file, a file without a
    header, one column, rows of unequal length, no rows, declared columns that are absent or there
    twice, a kind of file whose reader isn't installed. Values outside their domain are refused by
    ``fit``.

    >>> read_csv(b"id, zone, age\n1, 01, 34\n2, NA,\n")["zone"].tolist()
    ['01', 'NA']

    **Privacy:** raw records; their types depend on the declaration alone.
    """
    chunks = list(
        read_chunks(
            source,
            schema,
            names=names,
            delimiter=delimiter,
            encoding=encoding,
            header=header,
            number=number,
            skip=skip,
        )
    )
    columns = list(chunks[0])
    joined = {}
    for place, name in enumerate(columns):  # one column at a time, so that chunks go as it grows
        parts = [chunk.pop(name) for chunk in chunks]
        joined[place] = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    return pd.DataFrame(joined).set_axis(columns, axis=1)


def read_chunks(
    source: Source,
    schema: Schema | None,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    number: str | None = None,
    skip: int = 0,
) -> Iterator[pd.DataFrame]:
    """As :func:`read_csv` in pieces of about two million cells, for files beyond memory.

    **Privacy:** raw records.
    """
    attributes = () if schema is None else check_schema(schema).attributes
    if number is not None and not is_one_of(number, FORMS):
        raise SchemaError(f"number must be one of {tuple(FORMS)}, got {show(number)}")
    names = schema.columns if names is None and schema is not None else names
    wanted = [a.name for a in attributes]
    whole = read_table(*open_source(source))
    if isinstance(whole, pd.DataFrame):
        found = [str(name) for name in whole.columns]
        whole = whole.iloc[:, _places(found, wanted)].set_axis(wanted or _unique(found), axis=1)
        whole = pd.DataFrame({name: _as_texts(column) for name, column in whole.items()})
        yield _declared(whole, attributes, number or "1,234.5") if wanted else whole
        return
    text = Text(whole, encoding, skip)
    facts = _scan(text, names, delimiter, header, wanted)
    places = _places(list(facts.names), wanted)
    form = number or ("" if facts.delimiter == ";" else "1,234.5")
    known = wanted or _unique(facts.names)
    if wanted:
        yield from (
            _declared(chunk, attributes, form) for chunk in _chunks(text, facts, places, known)
        )
        return
    texts: set[str] = set()
    for chunk in _chunks(text, facts, places, known):
        texts |= {name for name in known if name not in texts and not _is_number(chunk[name], form)}
    for chunk in _chunks(text, facts, places, known):
        yield pd.DataFrame(
            {
                name: column if name in texts else _numbers(column, form)
                for name, column in chunk.items()
            }
        )


def _chunks(
    text: Text, facts: Header, places: list[int], names: Sequence[str]
) -> Iterator[pd.DataFrame]:
    """Pieces of the file as texts without blanks around them, missing where nothing is left."""
    rows, n = max(1, CELLS // len(facts.names)), 0
    sign = r"\s+" if facts.delimiter == " " else facts.delimiter
    with text.restart() as stream:
        if facts.first:
            next(filter(is_said, split_cells(stream, facts.delimiter)))
        try:
            for chunk in pd.read_csv(
                stream,
                sep=sign,
                header=None,
                names=list(range(len(facts.names))),
                usecols=sorted(places),
                dtype="str",
                keep_default_na=False,
                na_values=[""],
                skipinitialspace=True,
                chunksize=rows,
            ):
                n += len(chunk)
                yield pd.DataFrame(
                    {
                        name: _stripped(chunk[place])
                        for name, place in zip(names, places, strict=True)
                    }
                )
        except pd.errors.ParserError as problem:
            raise SchemaError(f"the file isn't CSV ({problem}): is a quote missing?") from problem
    if n != facts.n:
        raise SchemaError(
            f"the file has {facts.n:,} records by one count and {n:,} by another: is "
            "a quote missing?"
        )


def _stripped(column: pd.Series) -> pd.Series:
    short = column.str.strip()
    return short.mask(short == "")


def _as_texts(column: pd.Series) -> pd.Series:
    """Texts and categories of a typed table as a CSV file holds them; other types stay."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object).infer_objects()
    return _stripped(column) if pd.api.types.is_string_dtype(column) else column


def _scan(
    text: Text,
    names: Sequence[str] | None,
    delimiter: str | None,
    header: bool | None,
    wanted: Sequence[str] = (),
) -> Header:
    """The header and the number of records; every row must be as long as the first."""
    names = None if names is None else to_items("names", names) or None
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        raise SchemaError(f"delimiter must be one sign, got {show(delimiter)}")
    if header is not None and not isinstance(header, bool):
        raise SchemaError(f"header must be True, False or None, got {show(header)}")
    sample = text.sample()
    sign = delimiter or find_separator(sample)
    text.tell(sign, delimiter is None)
    first = look_for_header(sample, sign, names, header, wanted)
    n = 0
    with text.restart() as stream:
        rows = split_cells(stream, sign)
        try:
            top = [*map(str, next(filter(is_said, rows), ()) if first else names or ())]
            length = len(top)
            if length == 1:
                raise SchemaError(
                    "the file has one column; at least 2 are needed for a network: if its cells "
                    "are separated by another sign, say delimiter='…'"
                )
            for row in rows:
                if len(row) == length:
                    n += 1
                elif is_said(row):
                    raise SchemaError(
                        f"line {rows.line_num:,} has {plural(len(row), 'cell')}, the "
                        f"{'first line' if first else 'list of names'} {length} names: put "
                        "quotes around values that hold the delimiter, or say delimiter="
                    )
        except csv.Error as problem:
            raise SchemaError(
                f"line {rows.line_num:,} isn't CSV ({problem}): is a quote missing?"
            ) from problem
        except UnicodeError as problem:
            raise text.undecodable() from problem
    if n == 0:
        raise SchemaError("the table has no rows: below the line of column names nothing follows")
    found = tuple(name.strip() or f"column {place}" for place, name in enumerate(top, 1))
    return Header(found, n, sign, text.encoding, first)


def _places(found: list[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted columns stand; SchemaError for one that is absent or there twice."""
    if gone := [name for name in wanted if name not in found]:
        raise SchemaError(f"missing column(s): {gone}; the file has {', '.join(found)}")
    if twice := [name for name in wanted if found.count(name) > 1]:
        raise SchemaError(f"duplicate column(s): {twice}; rename or drop them")
    return [found.index(name) for name in wanted] or list(range(len(found)))


def _unique(names: Sequence[str]) -> list[str]:
    """Names of which no two are equal: a second ``a`` is ``a.2``."""
    found: list[str] = []
    for name in names:
        times, free = 1, name
        while free in found:
            times += 1
            free = f"{name}.{times}"
        found.append(free)
    return found


def _declared(frame: pd.DataFrame, attributes: Sequence[Attribute], form: str) -> pd.DataFrame:
    return pd.DataFrame({a.name: _as_declared(frame[a.name], a, form) for a in attributes})


def _as_declared(column: pd.Series, attribute: Attribute, form: str) -> pd.Series:
    """A column as its declaration says; cells that it can't hold stay as they are, for ``fit``."""
    listed = attribute.values if attribute.edges is None else attribute.edges
    if attribute.recode is not None or not pd.api.types.is_string_dtype(column):
        return _whole(column, attribute)
    if attribute.edges is None and all(isinstance(value, bool) for value in listed):
        cells = column.str.lower()
        truth = cells.isin(["true", "false"])
        return (cells == "true").mask(column.isna()) if (truth | column.isna()).all() else column
    if attribute.edges is None and not all(isinstance(v, (int, float)) for v in listed):
        return column
    numbers = _numbers(column, form)
    return column if (numbers.isna() & column.notna()).any() else _whole(numbers, attribute)


def _whole(column: pd.Series, attribute: Attribute) -> pd.Series:
    """Whole numbers of declared whole numbers: a cell "12.0" mustn't change a released column."""
    whole = attribute.dtype == "integer" and pd.api.types.is_float_dtype(column)
    return _short(column) if whole else column


def _numbers(column: pd.Series, form: str) -> pd.Series:
    """Numbers of texts, NaN for whatever isn't one."""
    if form not in ("", "1,234.5"):
        return _short(read_numbers(column, form))
    numbers = pd.to_numeric(column, errors="coerce")
    rest = numbers.isna() & column.notna()
    if form and rest.any():
        numbers = numbers.astype(float).mask(rest, read_numbers(column[rest], form))
        return _short(numbers)
    return numbers


def _short(numbers: pd.Series) -> pd.Series:
    whole = (numbers == numbers.round()) & (numbers.abs() < 2**53)  # NaN isn't
    return numbers.astype("int64") if whole.all() else numbers


def _is_number(column: pd.Series, form: str) -> bool:
    """Whether all cells are numbers; "01" is a text."""
    codes = column.str.match(r"[-+]?0\d").fillna(False).astype(bool)
    return bool(not codes.any() and (_numbers(column, form).notna() | column.isna()).all())

"""A data file of your own: its header without its values, and its records over a public schema."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from ..core import (
    Attribute,
    Schema,
    SchemaError,
    check_schema,
    name_some,
    plural,
    show,
    to_items,
    warn,
)
from .cells import FORMS, STRANGE, find_signs, is_number, read_number, read_numbers
from .columns import EXACT, find_distinct
from .file_format import FileFormat
from .opening import NoRows, Open, Source, Text, count_sheet, count_table, open_source, read_table
from .recoding import Recode
from .sniffing import Cells, check_delimiter, find_separator, is_said, look_for_header
from .taking import check_texts, find_columns, raw_name, take_cells

CELLS = 2_000_000  # of one chunk
ALIKE = 100  # columns of one name


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
    schema: Schema | None = None,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int | None = None,
) -> Header:
    r"""Column names and number of records of a file; parameters as in :func:`read_csv`.

    >>> read_header(b"age,sex\n34,f\n61,m\n")
    Header(names=('age', 'sex'), n=2, delimiter=',', encoding='utf-8', first=True)

    **Privacy:** releases the header and n, which are public, and costs nothing. Of a Parquet or
    Arrow file no cell is read; of any other file the records are only counted.
    """
    start, head = open_source(source)
    if facts := count_table(start, head):
        return Header(*facts, "", "")
    how, declared = _choose(schema, names, delimiter, encoding, header, skip)
    if declared and (facts := count_sheet(start, head, how["skip"], how["names"])):
        return Header(*facts, "", "")
    whole = read_table(start, head, skip=how.get("skip", 0))
    assert not isinstance(whole, pd.DataFrame)
    attributes = () if schema is None else schema.attributes
    return _scan(whole, how, declared, attributes)[1]


def read_csv(
    source: Source,
    schema: Schema | None = None,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    number: str | None = None,
    skip: int | None = None,
) -> pd.DataFrame:
    r"""The records of a file: CSV in its many forms, gzipped or not, Parquet, Arrow or Excel.

    ``source``: a path, bytes, or an open file. ``schema``: the declared columns in its order and no
    others. ``names``: of all columns, where the file has no header. ``delimiter``, ``encoding``,
    ``header`` (whether the first line names the columns), ``number`` (how numbers are written) and
    ``skip`` (lines above the table) are those of :class:`FileFormat`.

    With a schema nothing is guessed: what isn't said here stands in ``schema.file`` and
    ``schema.columns``, and a byte that the encoding doesn't know spoils its own cell, which a
    warning tells. So each record is read by itself: a file's table is those of its lines, one
    below the other. ``number`` can't differ from the schema's where columns recode them. Without a
    schema, to explore, delimiter, encoding and header are found out, and said in a warning where
    they aren't a comma and UTF-8; a column is numbers if all its cells are, and no two signs ($, €,
    %) stand beside them, else texts.

    Blanks around cells are left out; only an empty cell is a missing value, ``NA`` is a text. A
    declared column is read as declared: texts stay texts, so that ``01`` keeps its zero; columns
    with a recoding stay as they are written, for ``fit`` to recode; a cell that its column can't
    hold stays a text, and makes it a column of objects. A column without a name is called
    ``column 3``, a second ``a`` is called ``a.2``. A row of a spreadsheet without any cell is no
    record; in a CSV it is one.

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
    columns, cells = list(chunks[0]), [dict(chunk.items()) for chunk in chunks]
    del chunks
    joined = {}
    for place, name in enumerate(columns):  # one column at a time, so that chunks go as it grows
        parts = [columns_of_chunk.pop(name) for columns_of_chunk in cells]
        joined[place] = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    return pd.DataFrame(joined).set_axis(columns, axis=1)


def no_records(schema: Schema, names: Sequence[str]) -> pd.DataFrame:
    """The table of a file of such columns without a record, as the schema declares it."""
    attributes = schema.attributes
    _places([*names], find_columns(attributes, names))
    return pd.DataFrame(columns=[a.name for a in attributes])


def read_chunks(
    source: Source,
    schema: Schema | None,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    number: str | None = None,
    skip: int | None = None,
) -> Iterator[pd.DataFrame]:
    """As :func:`read_csv` in pieces of about two million cells, for files beyond memory.

    **Privacy:** raw records.
    """
    attributes = () if schema is None else check_schema(schema).attributes
    own = [a.name for a in attributes]
    how, declared = _choose(schema, names, delimiter, encoding, header, skip, number)
    form = _form(how["delimiter"] or ",", how)
    whole = read_table(*open_source(source), form, how.get("skip", 0))
    if isinstance(whole, pd.DataFrame):
        top = [str(name) for name in whole.columns]
        columns = find_columns(attributes, top)
        places = _places(top, columns)
        if schema is not None:
            _say_left_out(schema, top, places)
        whole = whole.iloc[:, places].set_axis(own or _unique(top), axis=1)
        whole = pd.DataFrame({name: _as_texts(column) for name, column in whole.items()})
        yield _declared(whole, attributes, columns, form) if own else whole
        return
    text, facts = _scan(whole, how, declared, attributes)
    columns = find_columns(attributes, facts.names)
    places = _places(list(facts.names), columns, partial(_say_encoding, text, facts))
    if schema is not None:
        _say_left_out(schema, facts.names, places)
    form = _form(facts.delimiter, how)
    labels = own or _unique(facts.names)
    chunks = partial(_chunks, text, facts, places, labels)
    if own:
        if text.strange and (other := text.say_other()):
            warn(f"cells hold bytes that aren't in {text.encoding}; {other}")
        yield from (_declared(chunk, attributes, columns, form) for chunk in chunks())
        return
    texts, signs = set[str](), dict.fromkeys(labels, frozenset[str]())
    for chunk in chunks():
        for name in [name for name in labels if name not in texts]:
            found = _find_signs(chunk[name], form)
            signs[name] |= found or frozenset()
            if found is None or len(signs[name]) > 1:
                texts.add(name)
    for chunk in chunks():
        yield pd.DataFrame(
            {
                name: column if name in texts else _numbers(column, form)
                for name, column in chunk.items()
            }
        )


def read_texts(
    source: Source,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int | None = None,
) -> Iterator[pd.DataFrame]:
    """All columns in pieces as :func:`read_csv` reads them, but as they are written.

    **Privacy:** raw records.
    """
    how, _ = _choose(None, names, delimiter, encoding, header, skip)
    whole = read_table(*open_source(source), skip=how.get("skip", 0))
    if isinstance(whole, pd.DataFrame):
        whole.columns = _unique([str(name) for name in whole.columns])
        yield whole
        return
    text, facts = _scan(whole, how, False)
    yield from _chunks(text, facts, [*range(len(facts.names))], _unique(facts.names))


def _say_left_out(schema: Schema, names: Sequence[str], places: Sequence[int]) -> None:
    """Which columns of a file its schema doesn't speak of; those that it leaves out are known."""
    read = {*places}
    rest = [name for place, name in enumerate(names) if place not in read]
    if unknown := [name for name in rest if name and name not in schema.left_out]:
        warn(f"columns that the schema doesn't name aren't read: {name_some(unknown, 9)}")


def _choose(
    schema: Schema | None,
    names: Sequence[str] | None,
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
    skip: int | None,
    number: str | None = None,
) -> tuple[dict[str, Any], bool]:
    """How a file is written, by what is said for this file and else by its schema.

    And whether it is declared: without a schema, what isn't said is None, to be found out.
    """
    options: dict[str, Any] = {
        "delimiter": delimiter,
        "encoding": encoding,
        "skip": skip,
        "number": number,
    }
    options = {key: value for key, value in options.items() if value is not None}
    if header is not None and not isinstance(header, bool):
        raise SchemaError(f"header must be True, False or None, got {show(header)}")
    names = None if names is None else to_items("names", names) or None
    check_texts(map(str, names or ()))
    if schema is None:
        FileFormat(**options)  # refuses what is impossible
        how = dict.fromkeys(("delimiter", "encoding")) | options
        return how | {"names": names, "header": header}, False
    if header is None and names is None:
        names = list(check_schema(schema).columns) or None
        header = True if schema.file is not None and names is None else None
    file = replace(check_schema(schema).file_format, **options)
    if number is not None:
        _check_number(schema, number)
    return asdict(file) | {"names": names, "header": header}, True


def _form(delimiter: str, how: dict[str, Any]) -> str:
    """How numbers are written."""
    return FileFormat(delimiter=delimiter, number=how.get("number") or "").number_form


def _check_number(schema: Schema, form: str) -> None:
    """Refuse another form than the schema's where columns are recoded after reading."""
    numbers = [
        a.name
        for a in schema.attributes
        if isinstance(a.recode, Recode)
        and not (a.recode.number or a.recode.date)
        and (a.edges is not None or all(map(is_number, a.values)))
    ]
    if numbers and form != schema.file_format.number_form:
        raise SchemaError(
            f"numbers written as {form} in {name_some(numbers)}, whose cells are recoded by the "
            f'schema alone: write number = "{form}" below its [file]'
        )


def _chunks(
    text: Text, facts: Header, places: list[int], names: Sequence[str]
) -> Iterator[pd.DataFrame]:
    """Pieces of the file as texts without blanks around them, missing where nothing is left."""
    rows, n = max(1, CELLS // len(facts.names)), 0
    sign = r"\s+" if facts.delimiter == " " else facts.delimiter
    with text.restart() as stream:
        if facts.first:
            next(filter(is_said, Cells(stream, facts.delimiter)))
        try:
            for chunk in pd.read_csv(
                stream,
                sep=sign,
                header=None,
                names=list(range(len(facts.names))),
                usecols=sorted({*places}),
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
    start: Open, how: dict[str, Any], declared: bool, attributes: Sequence[Attribute] = ()
) -> tuple[Text, Header]:
    """The file as text, its header and its number of records; all rows are as long as the first."""
    text = Text(start, how["encoding"], how.get("skip", 0), declared)
    names, sample = how["names"], text.sample()
    sign = how["delimiter"] or find_separator(sample)
    if declared:
        check_delimiter(sample, sign)
    else:
        text.tell(sign, how["delimiter"] is None)
    columns = [*(a.name for a in attributes), *map(raw_name, attributes)]
    first = look_for_header(sample, sign, names, how["header"], columns, declared)
    n = 0
    with text.restart() as stream:
        rows = Cells(stream, sign)
        try:
            top = [*map(str, next(filter(is_said, rows), ()) if first else names or ())]
            length = len(top)
            if length == 1:
                raise SchemaError(
                    "the file has one column; at least 2 are needed for a network: if its cells "
                    "are separated by another sign, say delimiter='…', or write it below [file]"
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
            text.strange = stream.strange
        except csv.Error as problem:
            raise SchemaError(
                f"line {rows.line_num:,} isn't CSV ({problem}): is a quote missing?"
            ) from problem
        except UnicodeError as problem:
            raise text.undecodable() from problem
    labels = tuple(name.strip() or f"column {place}" for place, name in enumerate(top, 1))
    if n == 0:
        words = "the table has no rows: below the line of column names nothing follows"
        raise NoRows(words, labels)
    return text, Header(labels, n, sign, text.encoding, first)


def _say_encoding(text: Text, facts: Header, gone: Sequence[str]) -> str:
    """Another encoding, where names can't be read or some that are absent stand in it; else ""."""
    found, names = text.find_other(), facts.names
    if found not in ("", "?"):
        with Text(text.start, found, text.skip, declared=True).restart() as stream:
            top: list[str] = next(filter(is_said, Cells(stream, facts.delimiter)), [])
        names = names if {*gone}.isdisjoint(name.strip() for name in top) else (STRANGE,)
    return f"; {text.say_other()}" if found and any(STRANGE in name for name in names) else ""


def _places(
    labels: list[str], columns: Sequence[str], doubt: Callable[[Sequence[str]], str] = lambda _: ""
) -> list[int]:
    """Where the wanted columns stand; SchemaError for one that is absent or there twice.

    ``doubt``: what else may be wrong where some are absent.
    """
    places = {name: place for place, name in enumerate(labels)}
    gone = [name for name in columns if name not in places]
    if gone and len(gone) == len(columns):
        raise SchemaError(
            "none of the declared columns stands in the first line: is it a record? Then say "
            "names=, or write columns = [...], the names of all columns, into the schema file"
            f"{doubt(gone)}"
        )
    if gone:
        raise SchemaError(
            f"missing column(s): {show(gone)}; the file has {name_some(labels, 40)}{doubt(gone)}"
        )
    times = Counter(labels)
    if twice := [name for name in columns if times[name] > 1]:
        raise SchemaError(f"duplicate column(s): {show(twice)}; rename or drop them")
    return [places[name] for name in columns] or list(range(len(labels)))


def _unique(names: Sequence[str]) -> list[str]:
    """Names of which no two are equal: a second ``a`` is ``a.2``; at most ALIKE may be alike."""
    if (most := max(Counter(names).values(), default=0)) > ALIKE:
        raise SchemaError(
            f"{most:,} columns have one name, at most {ALIKE} are told apart: say names=, or "
            "name them in the file"
        )
    labels: dict[str, None] = {}
    times: Counter[str] = Counter()
    for name in names:
        times[name] += 1
        free = name if times[name] == 1 else f"{name}.{times[name]}"
        while free in labels:
            times[name] += 1
            free = f"{name}.{times[name]}"
        labels[free] = None
    return list(labels)


def _declared(
    frame: pd.DataFrame, attributes: Sequence[Attribute], columns: Sequence[str], form: str
) -> pd.DataFrame:
    """The declared columns of a piece; ``columns``: those of the file that they were read from."""
    cells = {
        a.name: take_cells(a, frame[a.name]) if column != a.name else frame[a.name]
        for a, column in zip(attributes, columns, strict=True)
    }
    return pd.DataFrame({a.name: _as_declared(cells[a.name], a, form) for a in attributes})


def _as_declared(column: pd.Series, attribute: Attribute, form: str) -> pd.Series:
    """A column as its declaration says, each cell by itself.

    Its type follows from the declaration, but where a cell can't be held: that one stays as it is
    written, for ``fit`` to refuse, in a column of objects.
    """
    listed = attribute.values if attribute.edges is None else attribute.edges
    kinds = {type(value) for value in listed}
    if attribute.recode is not None or str in kinds or not pd.api.types.is_string_dtype(column):
        return _whole(column, attribute)
    places, texts = find_distinct(column)
    if kinds == {bool}:
        cells = [{"true": True, "false": False}.get(text.lower(), text) for text in texts]
        kind = "boolean" if attribute.missing else "bool"
    else:
        whole = all(isinstance(value, int) for value in listed) and attribute.dtype != "float"
        cells = [_as_number(text, form, whole) for text in texts]
        kind = "float64" if not whole else "Int64" if attribute.missing else "int64"
    cell_type = {"b": bool, "i": int, "I": int, "f": float}[kind[0]]
    fits = all(type(cell) is cell_type for cell in cells) and (
        attribute.missing or places.min() >= 0
    )
    series = pd.Series([*cells, None], dtype=object).take(places).set_axis(column.index)
    return series.astype(kind) if fits else series  # type: ignore[call-overload]


def _as_number(text: str, form: str, whole: bool) -> Any:
    """A cell as a number, a whole one where these are declared; a text that is none stays."""
    number = read_number(text, form)
    if number is None or not whole:
        return text if number is None else number
    return int(number) if number.is_integer() and abs(number) < EXACT else number


def _whole(column: pd.Series, attribute: Attribute) -> pd.Series:
    """Whole numbers of declared whole numbers: a cell "12.0" mustn't change a released column."""
    whole = attribute.dtype == "integer" and pd.api.types.is_float_dtype(column)
    return _short(column) if whole else column


def _numbers(column: pd.Series, form: str) -> pd.Series:
    """Numbers of texts, NaN for whatever isn't one."""
    plain = _plain(column, form)
    return _short(read_numbers(column, form)) if plain is None else plain


def _plain(column: pd.Series, form: str) -> pd.Series | None:
    """Numbers of texts that are all written as Python writes them; else None."""
    plain = pd.to_numeric(column, errors="coerce") if FORMS[form][1] == "." else None
    return plain if plain is not None and (plain.notna() | column.isna()).all() else None


def _short(numbers: pd.Series) -> pd.Series:
    whole = (numbers == numbers.round()) & (numbers.abs() < EXACT)  # NaN isn't
    return numbers.astype("int64") if whole.all() else numbers


def _find_signs(column: pd.Series, form: str) -> set[str] | None:
    """The signs beside a column's numbers; None where a cell is no number; "01" is a text."""
    if column.str.match(r"[-+]?0\d").fillna(False).astype(bool).any():
        return None
    if _plain(column, form) is not None:
        return set()
    whole = (read_numbers(column, form).notna() | column.isna()).all()
    return find_signs(column) if whole else None

"""Opening a data file whatever it is: packed or not, in whatever encoding, text or a table."""

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import IO, Any

import pandas as pd

from ..core import SchemaError, needed_for, repeated, warn
from ..scale.arrow import to_frame
from .cells import COMMON, FORMS, STRANGE
from .file_format import FileFormat

Source = str | os.PathLike[str] | bytes | IO[Any]
Open = Callable[[], IO[bytes]]
SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
KINDS = {
    b"PAR1": ("a Parquet file", "pyarrow"),
    b"ARRO": ("an Arrow file", "pyarrow"),
    b"PK\3\4": ("an Excel spreadsheet", "openpyxl"),
}
OLD = b"\xd0\xcf\x11\xe0"  # a spreadsheet of Excel before 2007
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Without its mark; and without signs of eight bytes, which go on in the next line where few follow.
READ_AS = {"utf-8": "utf-8-sig", "euc_kr": "cp949"}
BLOCK = 2**20
SAY = "say encoding='…', or save it as CSV (UTF-8)"
WORDS = re.compile(rb"[A-Za-z\x80-\xff]{2,}")
# Letters of Western Europe in cp1252; without õ, û, ð, ý, þ and ÿ, which other languages have more
# often in the place of theirs. And signs that stand beside them: €, Œ, œ, ’, –, «, », °, ´, µ.
LETTERS = rb"\xc0-\xcf\xd1-\xd4\xd6\xd8-\xda\xdc\xdf-\xef\xf1-\xf4\xf6\xf8-\xfa\xfc"
WESTERN = re.compile(rb"[A-Za-z\x80\x8c\x91-\x97\x9c\xa0\xab\xb0\xb4\xb5\xbb%b]*" % LETTERS)


class Lines(io.TextIOWrapper):
    """A file as text, in which a zero byte is a sign that the encoding doesn't know."""

    strange = False  # whether a line held such a sign

    def read(self, size: int | None = -1) -> str:
        """So many signs."""
        return super().read(size).replace("\0", STRANGE)

    def __next__(self) -> str:  # type: ignore[override]
        line = super().__next__().replace("\0", STRANGE)
        self.strange = self.strange or STRANGE in line
        return line


class Text:
    """A file as text, which can be read from its start again and again.

    ``declared``: how it is written is a public fact, and bytes that the encoding doesn't know spoil
    their own cell, where STRANGE stands for them. Else the encoding is found out where none is
    given, and a file that isn't in it is refused.
    """

    def __init__(
        self, start: Open, encoding: str | None = None, skip: int = 0, declared: bool = False
    ) -> None:
        how = FileFormat("utf-8" if encoding is None else encoding, skip=skip)
        self.start, self.guessed, self.skip, self.declared = start, False, skip, declared
        self.strange = False  # whether a line that was read holds STRANGE
        self.encoding = how.encoding if encoding or declared else self._find_encoding()
        if encoding or declared:
            self._check_mark()
        if not self.sample().strip():
            raise SchemaError(
                "the file is empty: it needs a line of column names and at least one record"
            )

    def _check_mark(self) -> None:
        """Refuse a file whose first bytes say that its encoding isn't the one declared."""
        mark = _find_mark(self.start).removesuffix("-sig")
        if not _plain(self.encoding).startswith(mark):
            raise SchemaError(
                f"the file begins with the mark of {mark}, and is declared as {self.encoding}: "
                f'write encoding = "{mark}" below [file], or say encoding="{mark}"'
            )

    def restart(self) -> Lines:
        """The text below the lines that are skipped."""
        errors = "replace" if self.declared else "strict"
        codec = READ_AS.get(codecs.lookup(self.encoding).name, self.encoding)
        stream = Lines(self.start(), codec, errors, newline="")  # type: ignore[arg-type]
        for _ in range(self.skip):
            stream.readline()
        return stream

    def sample(self, size: int = 2**18) -> str:
        """The beginning, in whole lines where it has any."""
        try:
            with self.restart() as stream:
                text = stream.read(size)
        except UnicodeError as problem:
            raise self.undecodable() from problem
        return text if len(text) < size or "\n" not in text else text[: text.rindex("\n") + 1]

    def tell(self, sign: str, found: bool) -> None:
        """Warn of what was found out about the file."""
        words = [f"in {self.encoding}, which is a guess (else say encoding=)"] * self.guessed
        words += [f"with cells separated by {SIGNS.get(sign, repr(sign))}"] * (
            found and sign != ","
        )
        if words:
            warn(f"the file was read as text {' and '.join(words)}")

    def undecodable(self) -> SchemaError:
        """What to say of bytes that the encoding doesn't know."""
        return SchemaError(f"the file isn't in {self.encoding}: {self.say_other() or SAY}")

    def find_other(self) -> str:
        """The encoding that the file seems to be in, "" where that is this one, "?" if unknown."""
        guessed = self.guessed
        try:
            found = self._find_encoding().removesuffix("-sig")
        except (SchemaError, ImportError):
            return "?"
        finally:
            self.guessed = guessed
        own = self.encoding.lower().removesuffix("-sig")
        return found if codecs.lookup(found) != codecs.lookup(own) else ""

    def say_other(self) -> str:
        """That encoding in words, and where to say it; "" where it is this one."""
        if (found := self.find_other()) in ("", "?"):
            return SAY if found else ""
        return f'it seems to be in {found}: say encoding="{found}", or write it below [file]'

    def _find_encoding(self) -> str:
        """UTF-8 or what a mark says; else a guess from the lines around the first strange byte."""
        if mark := _find_mark(self.start):
            return mark
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.start() as stream:
            while block := stream.read(BLOCK):
                if b"\0" in block:
                    raise SchemaError(
                        "the file holds zero bytes, so it isn't CSV in UTF-8: say "
                        "encoding=, or export it again"
                    )
                try:
                    decoder.decode(block)
                except UnicodeDecodeError:
                    return self._guess(block)
        return "utf-8"

    def _guess(self, block: bytes) -> str:
        """Words that are mostly ASCII are Latin: no encoding of two bytes a sign is meant."""
        with needed_for("a file that isn't in UTF-8", "say encoding='…'"):
            from charset_normalizer import from_bytes
            from charset_normalizer.utils import is_multi_byte_encoding

        strange = [line for line in block.splitlines(keepends=True) if not line.isascii()]
        text = b"".join(strange)[: 2**16]
        words = b"".join(word for word in WORDS.findall(text) if not word.isascii())
        latin = sum(byte > 127 for byte in words) <= len(words) / 2
        if latin and WESTERN.fullmatch(words) and re.search(rb"[%b]" % LETTERS, words):
            self.guessed = True
            return "cp1252"
        matches = list(from_bytes(text))
        if latin:
            matches = [one for one in matches if not is_multi_byte_encoding(one.encoding)]
            if not matches and not re.search(rb"[\x81\x8d\x8f\x90\x9d]", block):  # not in cp1252
                self.guessed = True
                return "cp1252"
        if re.search(rb"\d\xa0\d", text):  # a blank that cuts thousands, in most encodings
            matches = [
                m for m in matches if b"\xa0".decode(m.encoding, "replace").isspace()
            ] or matches
        if not matches:
            raise SchemaError(
                "the file isn't in UTF-8, nor in an encoding that we know: say "
                "encoding='…', or save it as CSV (UTF-8)"
            )
        self.guessed = True
        alike = [
            name
            for match in matches
            if match.chaos <= matches[0].chaos
            for name in match.could_be_from_charset
        ]
        return "cp1252" if "cp1252" in alike else str(matches[0].encoding)  # ties are alphabetical


def open_source(source: Source) -> tuple[Open, bytes]:
    """How to open a source from its start, unpacked, and its first bytes.

    **Privacy:** raw bytes.
    """
    start: Open
    stream: Any = source
    if not isinstance(source, (str, bytes, os.PathLike)) and not hasattr(source, "seekable"):
        raise SchemaError(f"a file is a path, bytes or an open file, got {type(source).__name__}")
    if hasattr(stream, "read"):
        if stream.seekable():
            stream.seek(0)
        content = stream.read()
        source = content.encode() if isinstance(content, str) else bytes(content)
    if isinstance(source, bytes):
        start = partial(io.BytesIO, source)
    else:
        start = partial(io.FileIO, os.fspath(source))  # type: ignore[arg-type]
    if _head(start)[:2] == b"\x1f\x8b":
        start = partial(_unpack, source)  # type: ignore[arg-type]
    if (head := _head(start)) == OLD:
        raise SchemaError(
            "this is an old Excel spreadsheet (.xls): save it as .xlsx, or as CSV (UTF-8)"
        )
    return start, head


def read_table(start: Open, head: bytes, form: str = COMMON, skip: int = 0) -> pd.DataFrame | Open:
    """A Parquet or Arrow table; for anything else how to open it, a spreadsheet as CSV.

    ``form``: how numbers are written there, so that a spreadsheet's own are, too. ``skip``: lines
    above a spreadsheet's table, in which an empty row is no record, wherever it stands.

    **Privacy:** raw records.
    """
    if head[:4] not in KINDS:
        return start
    kind, package = KINDS[head[:4]]
    with _known(kind, package):
        with start() as stream:
            content = io.BytesIO(stream.read())
        if package != "pyarrow":
            return _as_csv(content, form, skip)
        table = _read_arrow(kind, content)
        names = _name_columns(table.schema)
        _check_shape(len(table), names)
        batches = table.unify_dictionaries().combine_chunks().to_batches()
        frame = pd.concat([to_frame(batch) for batch in batches], ignore_index=True)
        return frame.assign(**_count_index(table.schema, len(frame)))[names]


def count_table(start: Open, head: bytes) -> tuple[tuple[str, ...], int] | None:
    """Column names and number of records of a Parquet or Arrow file, without its cells.

    None for anything else.

    **Privacy:** reads metadata only: names, and how many records there are.
    """
    kind, package = KINDS.get(head[:4], ("", ""))
    if package != "pyarrow":
        return None
    with _known(kind, package), start() as stream:
        names, n = _count_records(kind, stream)
    _check_shape(n, names)
    return names, n


@contextmanager
def _known(kind: str, package: str) -> Iterator[None]:
    """ImportError for a table whose reader isn't installed, SchemaError for one that it can't
    read.
    """
    with needed_for(kind, "save the table as CSV (UTF-8)"):
        import_module(package)
    try:
        yield
    except SchemaError:
        raise
    except Exception as problem:  # each reader has errors of its own
        raise SchemaError(
            f"this looks like {kind}, but can't be read as such "
            f"({type(problem).__name__}): save the table as CSV (UTF-8)"
        ) from None


class NoRows(SchemaError):
    """A table of columns of such ``names`` without a record; no mistake where n is secret."""

    def __init__(self, words: str, names: Sequence[str] = ()) -> None:
        super().__init__(words)
        self.names = tuple(names)


def _check_shape(n: int, names: Sequence[str]) -> None:
    if not n:
        raise NoRows("the table has no rows", names)
    if len(names) < 2:
        raise SchemaError("the file has one column; at least 2 are needed for a network")


def _read_arrow(kind: str, content: IO[bytes]) -> Any:
    from pyarrow import feather, parquet

    return (parquet.read_table if kind == "a Parquet file" else feather.read_table)(content)


def _count_records(kind: str, stream: IO[bytes]) -> tuple[tuple[str, ...], int]:
    """Of a Parquet or Arrow file; an index of pandas that is stored is a column, too."""
    from pyarrow import ipc, parquet

    file = parquet.ParquetFile(stream) if kind == "a Parquet file" else ipc.open_file(stream)
    schema = file.schema_arrow if kind == "a Parquet file" else file.schema
    n = file.metadata.num_rows if kind == "a Parquet file" else file.count_rows()
    return tuple(_name_columns(schema)), int(n)


def _name_columns(schema: Any) -> list[str]:
    """Columns of an Arrow table; an index of pandas with a name is one, and comes first."""
    if twice := repeated(schema.names):
        raise SchemaError(f"the table has several columns of one name: {twice}: rename them")
    index = [level["name"] if isinstance(level, dict) else level for level in _index(schema)]
    labels = [name for name in index if name and not name.startswith("__index_level_")]
    return [*map(str, labels), *(name for name in schema.names if name not in index)]


def _index(schema: Any) -> list[Any]:
    """Levels of the index that pandas stored: the name of a column, or a range in words."""
    return list((schema.pandas_metadata or {}).get("index_columns", []))


def _count_index(schema: Any, n: int) -> dict[str, pd.RangeIndex]:
    """Columns of an index that is stored as its start and step only."""
    ranges = [level for level in _index(schema) if isinstance(level, dict) and level["name"]]
    return {
        str(one["name"]): pd.RangeIndex(one["start"], one["start"] + n * one["step"], one["step"])
        for one in ranges
    }


def count_sheet(
    start: Open, head: bytes, skip: int, names: Sequence[str] | None
) -> tuple[tuple[str, ...], int] | None:
    """Column names and number of records of a workbook's first sheet, row by row.

    ``names``: of a sheet without a header. None for anything but a workbook.

    **Privacy:** keeps the header; of every other row only whether it holds anything.
    """
    kind, package = KINDS.get(head[:4], ("", ""))
    if package != "openpyxl":
        return None
    with _known(kind, package), start() as stream:
        from openpyxl import load_workbook

        book = load_workbook(stream, read_only=True)
        rows = book.worksheets[0].iter_rows(min_row=skip + 1, values_only=True)
        records = (row for row in rows if any(cell not in (None, "") for cell in row))
        top = names or [str(cell or "").strip() for cell in next(records, ())]
        n = sum(1 for _ in records)
        book.close()
    named = tuple(name or f"column {place}" for place, name in enumerate(top, 1))
    _check_shape(n, named)
    return named, n


def _as_csv(content: IO[bytes], form: str, skip: int) -> Open:
    """The first sheet of a workbook, without its empty rows: at its end they aren't kept anyway."""
    with pd.ExcelFile(content) as book:
        if len(book.sheet_names) > 1:
            warn(f"the first of {len(book.sheet_names)} sheets is read")
        read = partial(pd.read_excel, book, header=None, keep_default_na=False, na_values=[""])
        cells = read(dtype=str)
        if (point := FORMS[form][1]) != ".":  # 1.234 is a number there, and no text of thousands
            numbers = read(dtype=object).map(lambda cell: isinstance(cell, float))
            cells = cells.mask(numbers, cells.replace(r"\.", point, regex=True))
    empty = cells.isna().all(axis=1) & (cells.index >= skip)
    if empty.any():
        warn("empty rows of the sheet are no records and are left out")
    cells = cells[~empty]
    return partial(io.BytesIO, cells.to_csv(index=False, header=False).encode())


def _head(start: Open) -> bytes:
    with start() as stream:
        return stream.read(4)


def _plain(encoding: str) -> str:
    return encoding.lower().replace("_", "-")


def _find_mark(start: Open) -> str:
    """The encoding that the first bytes name; "" for none."""
    head = _head(start)
    return next((name for mark, name in MARKS if head.startswith(mark)), "")


class _Unpacked(gzip.GzipFile):
    """A packed file; SchemaError where it is cut short or damaged."""

    def read(self, size: int | None = -1) -> bytes:
        return self._try(super().read, size)

    def read1(self, size: int = -1) -> bytes:
        return self._try(super().read1, size)

    @staticmethod
    def _try(read: Callable[[Any], bytes], size: int | None) -> bytes:
        try:
            return read(size)
        except (EOFError, zlib.error, OSError) as problem:
            raise SchemaError(
                f"the file can't be unpacked to its end ({type(problem).__name__}): it is cut "
                "short or damaged; copy or pack it again"
            ) from problem


def _unpack(source: str | os.PathLike[str] | bytes) -> IO[bytes]:
    packed = io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb")
    return _Unpacked(fileobj=packed)  # type: ignore[return-value]

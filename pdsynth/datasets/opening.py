"""Opening a data file whatever it is: packed or not, in whatever encoding, text or a table."""

import codecs
import gzip
import io
import os
import re
import warnings
from collections.abc import Callable
from functools import partial
from typing import IO, Any

import pandas as pd

from ..errors import SchemaError, is_whole, show

Source = str | os.PathLike[str] | bytes | IO[Any]
Open = Callable[[], IO[bytes]]
SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
KINDS = {
    b"PAR1": ("a Parquet file", "pyarrow"),
    b"ARRO": ("an Arrow file", "pyarrow"),
    b"PK\3\4": ("an Excel spreadsheet", "openpyxl"),
    b"\xd0\xcf\x11\xe0": ("an old Excel spreadsheet", "xlrd"),
}
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
BLOCK = 2**20
WORDS = re.compile(rb"[A-Za-z\x80-\xff]+")


class Text:
    """A file as text, which can be read from its start again and again."""

    def __init__(self, start: Open, encoding: str | None = None, skip: int = 0) -> None:
        if encoding is not None and not isinstance(encoding, str):
            raise SchemaError(f"encoding must be a name such as 'utf-8', got {show(encoding)}")
        if not is_whole(skip, 0, BLOCK):
            raise SchemaError(f"skip must be a whole number of lines, got {show(skip)}")
        self.start, self.guessed, self.skip = start, False, skip
        self.encoding = encoding or self._find_encoding()
        if not self.sample().strip():
            raise SchemaError(
                "the file is empty: it needs a line of column names and at least one record"
            )

    def restart(self) -> io.TextIOWrapper:
        """The text below the lines that are skipped; SchemaError for an unknown encoding."""
        try:
            stream = io.TextIOWrapper(self.start(), self.encoding, newline="")
            for _ in range(self.skip):
                stream.readline()
            return stream
        except LookupError as problem:
            raise SchemaError(
                f"there is no encoding {self.encoding!r}: say 'utf-8' or 'cp1252'"
            ) from problem

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
        said = [f"in {self.encoding}, which is a guess (else say encoding=)"] * self.guessed
        said += [f"with cells separated by {SIGNS.get(sign, repr(sign))}"] * (found and sign != ",")
        if said:
            warnings.warn(f"the file was read as text {' and '.join(said)}", stacklevel=2)

    def undecodable(self) -> SchemaError:
        """What to say of bytes that the encoding doesn't know."""
        return SchemaError(
            f"the file isn't in {self.encoding}: say encoding='…', or save it as CSV (UTF-8)"
        )

    def _find_encoding(self) -> str:
        """UTF-8 or what a mark says; else a guess from the lines around the first strange byte."""
        with self.start() as stream:
            head = stream.read(4)
        for mark, name in MARKS:
            if head.startswith(mark):
                return name
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
        from charset_normalizer import from_bytes
        from charset_normalizer.utils import is_multi_byte_encoding

        strange = [line for line in block.splitlines(keepends=True) if not line.isascii()]
        text = b"".join(strange)[: 2**16]
        words = b"".join(word for word in WORDS.findall(text) if not word.isascii())
        found = list(from_bytes(text))
        if sum(byte > 127 for byte in words) < len(words) / 2:
            found = [one for one in found if not is_multi_byte_encoding(one.encoding)]
            if not found and not re.search(rb"[\x81\x8d\x8f\x90\x9d]", block):  # not in cp1252
                self.guessed = True
                return "cp1252"
        if not found:
            raise SchemaError(
                "the file isn't in UTF-8, nor in an encoding that we know: say "
                "encoding='…', or save it as CSV (UTF-8)"
            )
        self.guessed = True
        alike = [
            name
            for match in found
            if match.chaos <= found[0].chaos
            for name in match.could_be_from_charset
        ]
        return "cp1252" if "cp1252" in alike else str(found[0].encoding)  # ties are alphabetical


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
        try:
            _head(start)
        except (OSError, EOFError) as problem:
            raise SchemaError(f"the file can't be unpacked: {problem}") from problem
    return start, _head(start)


def read_table(start: Open, head: bytes) -> pd.DataFrame | Open:
    """A Parquet or Arrow table; for anything else how to open it, a spreadsheet as CSV.

    **Privacy:** raw records.
    """
    if head[:4] not in KINDS:
        return start
    kind, package = KINDS[head[:4]]
    with start() as stream:
        content = io.BytesIO(stream.read())
    try:
        if package != "pyarrow":
            return _as_csv(content)
        frame = (pd.read_parquet if kind == "a Parquet file" else pd.read_feather)(content)
    except ImportError as problem:
        raise SchemaError(
            f"this is {kind}, whose reader isn't installed: pip install {package}, "
            "or save the table as CSV (UTF-8)"
        ) from problem
    except Exception as problem:  # each reader has errors of its own
        raise SchemaError(
            f"this looks like {kind}, but can't be read as such "
            f"({type(problem).__name__}): save the table as CSV (UTF-8)"
        ) from problem
    named = any(name is not None for name in frame.index.names)  # an index is a column, too
    if not len(frame) or frame.shape[1] + named < 2:
        raise SchemaError(
            "the table has no rows"
            if not len(frame)
            else "the file has one column; at least 2 are needed for a network"
        )
    return frame.reset_index(drop=not named, allow_duplicates=True)


def _as_csv(content: IO[bytes]) -> Open:
    """The first sheet of a workbook."""
    with pd.ExcelFile(content) as book:
        if len(book.sheet_names) > 1:
            warnings.warn(f"the first of {len(book.sheet_names)} sheets is read", stacklevel=2)
        cells = pd.read_excel(book, header=None, dtype=str, keep_default_na=False, na_values=[""])
    return partial(io.BytesIO, cells.to_csv(index=False, header=False).encode())


def _head(start: Open) -> bytes:
    with start() as stream:
        return stream.read(4)


def _unpack(source: str | os.PathLike[str] | bytes) -> IO[bytes]:
    packed = io.BytesIO(source) if isinstance(source, bytes) else source
    return gzip.open(packed)  # type: ignore[return-value]

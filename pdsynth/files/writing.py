"""Writing a table: CSV, also for spreadsheets, and Parquet."""

import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
from filelock import lock_descriptor, unlock_descriptor

from ..core import SchemaError, check_path, show, type_of

# What a spreadsheet takes for a formula, and not for a number.
FORMULA = re.compile(r"=|[+\-@](?!\.?\d+(\.\d*)?$)")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """SchemaError that names the file, where the system doesn't write it; a full disk names none.

    **Privacy:** reads nothing.
    """
    try:
        yield
    except OSError as problem:
        raise SchemaError(
            f"{path.name} couldn't be written ({problem.strerror or problem}): correct that, or "
            "name another place"
        ) from problem


@contextmanager
def lock_itself(file: BinaryIO) -> Iterator[bool]:
    """An open file under a lock of its own, whatever name it has; False: somebody else has it.

    True without a lock where the system has none that readers don't feel, as on Windows.
    """
    alone, number = True, file.fileno()
    if os.name == "posix":
        with suppress(OSError):  # a file system without locks
            alone = lock_descriptor(number, blocking=False)
    try:
        yield alone
    finally:
        if alone and os.name == "posix":
            with suppress(OSError):  # said, since a forked process keeps the file open
                unlock_descriptor(number)


def write_parquet(table: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet; SchemaError for a column whose values have several types."""
    try:
        table.to_parquet(path, index=False)
    except (ValueError, TypeError, OverflowError) as problem:
        raise SchemaError(
            f"a Parquet column holds values of one type, of 64 bits ({problem}): say csv, or "
            "declare those values as texts"
        ) from problem


def write_csv(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, quote_formulas: bool = False
) -> None:
    """Write a table as CSV in UTF-8, without its index; a missing value is an empty cell.

    ``quote_formulas``: spreadsheets run a cell such as ``=HYPERLINK(…)``, and a declared text may
    be one. Texts and column names that begin with ``= + - @``, also behind blanks or control
    characters and in full width, or with a tab or a line's end, then get an apostrophe in front,
    so that they are shown and not run; ``-3`` stays. A reader of such a file must take the
    apostrophes off.

    **Privacy:** post-processing of what was released; raw records if you write those.
    """
    if not isinstance(frame, pd.DataFrame):
        raise SchemaError(f"expected a pandas DataFrame, got {type_of(frame)}")
    check_path(path)
    if not isinstance(quote_formulas, bool):
        raise SchemaError(f"quote_formulas must be True or False, got {show(quote_formulas)}")
    if quote_formulas:
        texts = frame.select_dtypes(exclude=["number", "bool", "boolean"])
        frame = frame.assign(**{name: texts[name].astype(object).map(quote) for name in texts})
        frame.columns = [quote(name) for name in frame.columns]
    frame.to_csv(path, index=False, encoding="utf-8", lineterminator="\r\n")


def quote(cell: Any) -> Any:
    """A text that a spreadsheet would run, with an apostrophe in front; anything else as it is.

    >>> [quote(cell) for cell in ("=1+1", " ＝1", "-3", "Bern", 7)]
    ["'=1+1", "' ＝1", '-3', 'Bern', 7]
    """
    return f"'{cell}" if isinstance(cell, str) and _runs(cell) else cell


def _runs(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula, as it stands or once it is cleaned."""
    plain = unicodedata.normalize("NFKC", text)
    places = (at for at, sign in enumerate(plain) if not (sign.isspace() or _is_control(sign)))
    return text.startswith(("\t", "\r", "\n")) or bool(FORMULA.match(plain, next(places, 0)))


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cf")

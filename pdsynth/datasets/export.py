"""A synthetic table as a CSV file, for spreadsheets, too."""

import os
import re
from typing import Any

import pandas as pd

from ..errors import SchemaError, check_path, show

# What a spreadsheet takes for a formula, and not for a number.
FORMULA = re.compile(r"[=+\-@\t\r](?!\.?\d+(\.\d*)?$)")


def write_csv(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, quote_formulas: bool = False
) -> None:
    """Write a table as CSV in UTF-8, without its index; a missing value is an empty cell.

    ``quote_formulas``: spreadsheets run a cell such as ``=HYPERLINK(…)``, and a declared text may
    be one. Texts and column names that begin with ``= + - @``, a tab or a return then get an
    apostrophe in front, so that they are shown and not run; ``-3`` stays. A reader of such a file
    must take the apostrophes off.

    **Privacy:** post-processing of what was released; raw records if you write those.
    """
    if not isinstance(frame, pd.DataFrame):
        raise SchemaError(f"expected a pandas DataFrame, got {type(frame).__name__}")
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

    >>> [quote(cell) for cell in ("=1+1", "-3", "Bern", 7)]
    ["'=1+1", '-3', 'Bern', 7]
    """
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell

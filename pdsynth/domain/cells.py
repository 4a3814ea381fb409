"""One raw cell at a time: its text, its number, its day, and which cells of a column are the same.

Whatever is done to a column is done to each of its distinct cells alone, so that the code of a
record is a function of that record and of the declaration.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

# How numbers are written: (what separates thousands, what stands before the fraction).
FORMS = {
    "1,234.5": (",", "."),
    "1.234,5": (r"\.", ","),
    "1 234,5": ("[  \u202f]", ","),
    "1'234.5": ("['’]", "."),
    "1234.5": ("", "."),
}
PLAIN = "1234.5"  # no currency or per cent sign, either
LARGEST = 1e300  # of a number
EXACT = 2**53  # whole numbers below are exact as floating point numbers, and no two fall together
LONGEST = 400  # signs of a text that may be a number or a day
TIME = r"\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?\s*(?:Z|[-+]\d\d(?::?\d\d)?)?"
ISO = re.compile(
    rf"(\d{{4}})(?:([-/. ]?)(\d\d)\2(\d\d)(?:[T ]{TIME})?"  # 2026-12-31, 20261231, with a time
    rf"|[-/. ](\d\d?)(?:[-/. ](\d\d?)(?:[T ]{TIME})?)?)?",  # 2026, 2026-12, 2026-1-5
    re.ASCII,
)
# A column's cells, each once: (n_records,) places among them, -1 for a missing cell.
Distinct = tuple[np.ndarray, Sequence[Any]]


def find_distinct(column: pd.Series) -> Distinct:
    """Which cells of a column are the same, by type and text: ``True``, 1 and "1" are three cells.

    Two cells that are the same may have one answer computed for both. pandas would merge whatever
    is equal (``True == 1``, ``Decimal("0.50") == Decimal("0.5")``), and the first one seen would
    stand for all.

    **Privacy:** raw records in, raw records out.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    if column.dtype != object:  # cells of one type, whose equal values are written alike
        places, cells = pd.factorize(column, use_na_sentinel=True)
        return places, cells.tolist()
    seen: dict[Hashable, int] = {}
    first: list[Any] = []
    places = np.full(len(column), -1, dtype=np.int64)
    values = column.to_numpy()
    for row in np.flatnonzero(column.notna().to_numpy()):
        cell = values[row]
        places[row] = place = seen.setdefault(_key(cell), len(first))
        if place == len(first):
            first.append(cell)
    return places, first


def _key(cell: Any) -> Hashable:
    """Equal for cells of the same type and text; a cell of an unknown type is like no other."""
    if type(cell) is str:
        return cell
    if isinstance(cell, (Real, Decimal, np.number, np.bool_, np.datetime64, date)):
        return type(cell), as_text(cell)
    hash(cell)  # lists and the like are refused by a TypeError
    return type(cell), id(cell)


def as_text(cell: Any) -> str:
    """A cell as a file would write it: whole numbers without a point, no blanks around texts."""
    if isinstance(cell, (float, np.floating)):
        number = float(cell)
        cell = int(number) if number.is_integer() and abs(number) < EXACT else number
    try:
        return str(cell).strip()
    except ValueError:  # a whole number of thousands of digits
        return hex(cell)


def is_number(cell: Any) -> bool:
    """Whether a cell is a number by its type, and not too large; a truth value is none."""
    if isinstance(cell, bool) or not isinstance(cell, Real):
        return False
    return bool(abs(cell) <= LARGEST)  # type: ignore[operator]


def as_number(cell: Any) -> float:
    """A cell of a numeric type as a number, NaN for any other: 1 for True, infinity beyond floats.

    >>> [as_number(cell) for cell in (True, Decimal("0.5"), "0.5")]
    [1.0, 0.5, nan]
    """
    if not isinstance(cell, (Real, Decimal, np.bool_)):
        return np.nan
    try:
        return float(cell)
    except (OverflowError, ValueError):  # beyond floats; a signalling NaN
        return np.inf


def read_number(text: str, form: str = "1,234.5") -> float | None:
    """The number that a text is, written as ``form`` says; None if it is none.

    A currency or per cent sign beside it is left out. Texts of more than 400 signs are no numbers.

    >>> [read_number(text) for text in ("$1,234", "12 %", "1,2")]
    [1234.0, 12.0, None]
    """
    if len(text) > LONGEST or not (found := _PATTERNS[form].fullmatch(text.strip())):
        return None
    group, point = FORMS[form]
    digits = re.sub(group, "", found[2]) if group else found[2]
    number = float(digits.replace(point, "."))
    if number > LARGEST:
        return None
    return -number if found[1] in ("-", "−") else number


def _pattern(form: str) -> re.Pattern[str]:
    group, point = FORMS[form]
    point = re.escape(point)
    grouped = rf"[0-9]{{1,3}}(?:{group}[0-9]{{3}})+(?:{point}[0-9]+)?|" if group else ""
    plain = rf"(?:[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][-+]?[0-9]+)?"
    before, behind = (r"\s*[$€£¥]?\s*", r"\s*[%$€£¥]?") if group else ("", "")
    return re.compile(rf"([-+−]?){before}({grouped}{plain}){behind}")


_PATTERNS = {form: _pattern(form) for form in FORMS}


def read_numbers(texts: pd.Series, form: str = "1,234.5") -> pd.Series:
    """Numbers from texts that are written as ``form`` says, NaN for whatever isn't one.

    >>> read_numbers(pd.Series(["$1,234", "12 %", "1,2"])).tolist()
    [1234.0, 12.0, nan]
    """
    places, distinct = find_distinct(texts)
    numbers = [read_number(as_text(cell), form) for cell in distinct]
    table = np.array([*(np.nan if x is None else x for x in numbers), np.nan])
    return pd.Series(table[places], index=texts.index)


def read_day(cell: Any, form: str = "") -> date | None:
    """The day of a cell: a date by its type, or a text as ``form`` says (strptime), else ISO 8601.

    >>> read_day("2026-12-31T10:00"), read_day("31.12.2026", "%d.%m.%Y"), read_day("soon")
    (datetime.date(2026, 12, 31), datetime.date(2026, 12, 31), None)
    """
    if isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    if isinstance(cell, date):  # a Timestamp is one, too, with its own time zone
        return date(cell.year, cell.month, cell.day)
    if not isinstance(cell, str) or len(cell) > LONGEST:
        return None
    try:
        if form:
            return datetime.strptime(cell.strip(), form).date()
        found = ISO.fullmatch(cell.strip())
        if found is None:
            return None
        year, _, month, day, other_month, other_day = found.groups()
        return date(int(year), int(month or other_month or 1), int(day or other_day or 1))
    except ValueError:
        return None

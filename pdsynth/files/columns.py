"""How the cells of a column become the codes of an attribute.

Each distinct cell is read once, by itself, so that the code of a record is a function of that
record and of the declaration.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Complex, Real
from typing import Any

import numpy as np
import pandas as pd

from ..core import Attribute, SchemaError, find_bins

EXACT = 2**53  # whole numbers below are exact as floating point numbers, and no two fall together
DIGITS = 400  # of a decimal that is written out
ONE_TEXT = pd.StringDtype, pd.ArrowDtype  # unlike 1+0j and 1-0j, or intervals from 0 and from -0
# A column's cells, each once: (n_records,) places among them, -1 for a missing cell.
Distinct = tuple[np.ndarray, Sequence[Any]]


def find_distinct(column: pd.Series) -> Distinct:
    """Which cells of a column are the same, by type and text: ``True``, 1 and "1" are three cells.

    Two cells that are the same may have one answer computed for both. pandas would merge whatever
    is equal (``True == 1``, ``Fraction(1, 2) == 0.5``), and the first one seen would stand for all.

    **Privacy:** raw records in, raw records out.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    alike = column.dtype.kind in "biufmM" or isinstance(column.dtype, ONE_TEXT)
    if alike:  # cells of one type, whose equal values are written alike
        places, cells = pd.factorize(column, use_na_sentinel=True)
        listed = cells.tolist()
        gone = [at for at, cell in enumerate(listed) if cell != cell]  # NaN beside Arrow's nulls
        return np.where(np.isin(places, gone), -1, places) if gone else places, listed
    place_of: dict[Hashable, int] = {}
    first: list[Any] = []
    places = np.full(len(column), -1, dtype=np.int64)
    values = column.tolist()
    for row in np.flatnonzero(column.notna().to_numpy()):
        cell = values[row]
        places[row] = place = place_of.setdefault(_key(cell), len(first))
        if place == len(first):
            first.append(cell)
    return places, first


def _key(cell: Any) -> Hashable:
    """Equal for equal cells of one type and text; a cell of an unknown type is like no other."""
    if type(cell) is str:
        return cell
    if isinstance(cell, (Real, Decimal, np.number, np.bool_, np.datetime64, date, time)):
        return type(cell), as_text(cell), cell
    hash(cell)  # lists and the like are refused by a TypeError
    return type(cell), id(cell)


@contextmanager
def only_plain(what: str) -> Iterator[None]:
    """Around reading cells: SchemaError where it fails, since the words of others may hold a cell.

    **Privacy:** raw records inside; of what went wrong only the type is told.
    """
    try:
        yield
    except SchemaError:
        raise
    except Exception as problem:
        kind = type(problem).__name__
        raise SchemaError(
            f"{what} holds more than plain values ({kind}): recode those rows; texts must be in "
            "UTF-8"
        ) from None


def as_text(cell: Any) -> str:
    """A cell as a file would write it: whole numbers without a point, no blanks around texts.

    pandas chooses a column's type by all cells: what is one cell in columns of two types has one
    text, so that no other record changes it.
    """
    if isinstance(cell, pd.Interval):  # [0, 1] and [0.0, 1.0]
        first, last = "[("[cell.open_left], "])"[cell.open_right]
        return f"{first}{as_text(cell.left)}, {as_text(cell.right)}{last}"
    if isinstance(cell, (timedelta, np.timedelta64)):
        cell = pd.Timedelta(cell)
    elif isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    elif isinstance(cell, Decimal):
        cell = _plain_decimal(cell)
    elif isinstance(cell, (complex, np.complexfloating)) and not cell.imag:
        cell = cell.real
    if isinstance(cell, (float, np.floating)):
        number = float(cell)
        cell = int(number) if number.is_integer() and abs(number) < EXACT else number
    try:
        return str(cell).strip()
    except ValueError:  # a whole number of thousands of digits
        return hex(cell)


def _plain_decimal(cell: Decimal) -> str:
    """0.50 is 0.5 and 1E+2 is 100: in a column of Arrow all decimals have as many digits."""
    if not cell:
        return "0"
    if not cell.is_finite() or abs(cell.adjusted()) > DIGITS:
        return str(cell)
    text = format(cell, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


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


def is_rounded(cell: Any) -> bool:
    """Whether a cell is a number of 2^53 and beyond, whatever its type, or an interval with one.

    An empty cell, a fraction or 1j elsewhere in a column makes one number of several of these,
    before we see them.
    """
    if isinstance(cell, pd.Interval):
        return is_rounded(cell.left) or is_rounded(cell.right)
    return isinstance(cell, Complex) and bool(EXACT <= abs(cell) < math.inf)  # type: ignore[operator]


def say_strange(column: pd.Series, strange: int) -> str:
    """How many cells of a range of numbers are none, and what to do, in words that hold no cell.

    **Privacy:** a raw number, for the sentence of a refusal: whoever holds the table reads it.
    """
    kinds = {type(cell) for cell in column.dropna().tolist()}
    ways = {
        str: ", or say how its numbers are written: number='1,234.5'",
        date: ", or say what counts of a date: date='year'",
        time: ", or say what counts of a time: date='hour'",
        timedelta: ", as column.dt.total_seconds() does",
    }
    fitting = [way for of, way in ways.items() if any(issubclass(kind, of) for kind in kinds)]
    return (
        f" is declared numeric, but {strange:,} of its cells are no numbers (the column has dtype "
        f"{column.dtype}): convert it first{fitting[0] if fitting else ''}"
    )


class Reader:
    """Reads the cells of columns as one attribute declares them; an attribute keeps its own.

    ``code_of``: code of every declared value; 42.0 is 42 and True is 1, whatever type they have.
    ``value_of``: declared values by the text of a cell that holds them; None for a range of
    numbers. Without a recoding it serves cells that no declared value can be: days, decimals.

    **Privacy:** raw records in, raw records out, cell by cell.
    """

    def __init__(self, attribute: Attribute) -> None:
        self.attribute, values = attribute, attribute.values
        self.code_of = {value: code for code, value in enumerate(values)}
        self.value_of = {as_text(v): v for v in values} if attribute.edges is None else None

    def look_up(self, column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Codes of a column after recoding, -1 outside the domain; and which cells are missing.

        **Privacy:** raw records in, raw records out.
        """
        with only_plain(f"attribute {self.attribute.name!r}"):
            return self._look_up(column)

    def _look_up(self, column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        attribute, last = self.attribute, len(self.attribute.values)
        plain = attribute.edges is not None and attribute.recode is None
        if plain and isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
            numbers = column.to_numpy(dtype=float)
            return self._place(numbers, np.isnan(numbers))
        places, read = self._read(column)
        gone = np.array([value is None for value in read])[places]
        if attribute.edges is None:
            codes = np.array([self.code_of.get(value, -1) for value in read])[places]
            return np.where(gone, last, codes), gone
        numbers = self._numbers(places, read)
        if plain and (strange := int((np.isnan(numbers) & ~gone).sum())):
            raise SchemaError(f"attribute {attribute.name!r}{say_strange(column, strange)}")
        return self._place(numbers, gone)

    def numbers(self, column: pd.Series) -> np.ndarray:
        """The number that each cell of a column stands for, NaN where it is missing: float (n,).

        **Privacy:** raw records in, raw records out.
        """
        if self.attribute.recode is None and pd.api.types.is_numeric_dtype(column):
            return np.asarray(column.to_numpy(dtype=float, na_value=math.nan))
        return self._numbers(*self._read(column))

    def _read(self, column: pd.Series) -> tuple[np.ndarray, list[Any]]:
        """What the distinct cells stand for, and what a missing one does, which is the last."""
        places, cells = find_distinct(column)
        recode = self.attribute.recode
        return places, [*map(self.read, cells), recode.empty if recode else None]

    def read(self, cell: Any) -> Any:
        """What one cell stands for: a declared value or a number; None if it is missing."""
        if self.attribute.recode is not None:
            return self.attribute.recode.read(cell, self.value_of)
        if self.value_of is None:
            return as_number(cell)
        own = isinstance(cell, (str, Real, np.bool_)) or cell in self.code_of
        return cell if own else self.value_of.get(as_text(cell), cell)

    def _numbers(self, places: np.ndarray, read: Sequence[Any]) -> np.ndarray:
        numbers = np.array([math.nan if x is None else x for x in read], dtype=float)[places]
        recode, edges = self.attribute.recode, self.attribute.edges
        if recode and recode.clip and edges:
            numbers = np.clip(numbers, edges[0], edges[-1])
        return numbers

    def _place(self, numbers: np.ndarray, gone: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bins of numbers, (n_records,); those of missing cells are the last code."""
        bins = find_bins(numbers, self.attribute.edges or ())
        if self.attribute.integer:
            bins = np.where(numbers == np.floor(numbers), bins, -1)
        return np.where(gone, len(self.attribute.values), bins), gone

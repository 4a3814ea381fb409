"""Raw cells of a column: which are the same, and what one is as a text and as a number."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

EXACT = 2**53  # whole numbers below are exact as floating point numbers, and no two fall together
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

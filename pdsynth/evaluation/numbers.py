"""Numbers inside their bins: means and medians, which no distance between bins shows.

Everything here reads real records exactly; no result is covered by a privacy guarantee.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ..core import Schema

COLUMNS = ["mean, records", "mean, release", "median, records", "median, release"]
DIGITS = 4, 8  # of a number that is shown, at least and at most
GROUPED = 10_000  # from here on digits stand in groups of three: 2021 is a year
LARGE = 15  # powers of ten from which on floats don't hold all whole numbers


def compare_numbers(real: Any, fake: Any, schema: Schema) -> pd.DataFrame | None:
    """Mean and median of every column whose bins hold several numbers, in records and release.

    One row a column, the one first whose mean or median is off most by the spread of its records:
    their interquartile range or, where that is 0, their standard deviation. None where there is
    no such column, or where a table has codes alone.

    **Privacy:** reads real records exactly: not covered by any guarantee.
    """
    if not (isinstance(real, pd.DataFrame) and isinstance(fake, pd.DataFrame)):
        return None
    rows = dict[str, list[float]]()
    off = dict[str, float]()
    ours, theirs = schema.take(real), schema.take(fake)
    for a in schema.attributes:
        if a.edges is None or (a.integer and a.edges[-1] - a.edges[0] < len(a.values)):
            continue  # a bin for each number: distances say it all
        both = (a.reader.numbers(table[a.name]) for table in (ours, theirs))
        mine, other = (numbers[~np.isnan(numbers)] for numbers in both)
        if not (len(mine) and len(other)):
            continue
        middle, wide = np.median(mine), float(np.subtract(*np.percentile(mine, [75, 25])))
        rows[a.name] = [np.mean(mine), np.mean(other), middle, np.median(other)]
        off[a.name] = _gap(rows[a.name]) / (wide or float(np.std(mine)) or 1.0)
    if not rows:
        return None
    order = sorted(rows, key=lambda name: -off[name])
    return pd.DataFrame([rows[name] for name in order], index=order, columns=COLUMNS).rename_axis(
        "column"
    )


def show_numbers(row: pd.Series) -> pd.Series:
    """Texts of a row of :func:`compare_numbers`, in digits that tell what is off.

    >>> show_numbers(pd.Series([2020.55, 2020.56, 2021.0, 2021.0])).tolist()
    ['2020.55', '2020.56', '2021', '2021']
    >>> show_numbers(pd.Series([6e23, 5e23, 1e299, 0.0])).tolist()
    ['6e+23', '5e+23', '1e+299', '0']
    """
    gap = _gap(row.tolist())
    least, most = DIGITS
    texts = []
    for number in row.tolist():
        size = math.floor(math.log10(abs(number))) if number else 0
        told = size - math.floor(math.log10(gap)) + 2 if gap else 0  # two digits of it
        whole = size + 1 if size < LARGE else 0
        digits = max(least, whole, min(told, most))
        texts.append(f"{number:{',' if abs(number) >= GROUPED else ''}.{digits}g}")
    return pd.Series(texts, index=row.index)


def _gap(row: list[float]) -> float:
    """How far the mean or the median is off."""
    return max(abs(row[1] - row[0]), abs(row[3] - row[2]))

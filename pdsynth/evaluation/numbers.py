"""Numbers inside their bins: means and medians, which no distance between bins shows.

Everything here reads real records exactly; no result is covered by a privacy guarantee.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ..core import Attribute, Schema, find_distinct

COLUMNS = ["mean, records", "mean, release", "median, records", "median, release"]


def compare_numbers(real: Any, fake: Any, schema: Schema) -> pd.DataFrame | None:
    """Mean and median of every column with bins, in the records and in a release.

    One row a column, the one first whose mean or median is off most, in interquartile ranges of the
    records. None where there is no such column, or where a table has codes alone.

    **Privacy:** reads real records exactly: not covered by any guarantee.
    """
    if not (isinstance(real, pd.DataFrame) and isinstance(fake, pd.DataFrame)):
        return None
    rows = dict[str, list[float]]()
    off = dict[str, float]()
    ours, theirs = schema.take(real), schema.take(fake)
    for a in schema.attributes:
        if not a.numeric_bins:
            continue
        mine, other = numbers_of(ours[a.name], a), numbers_of(theirs[a.name], a)
        if not (len(mine) and len(other)):
            continue
        middle, wide = np.median(mine), float(np.subtract(*np.percentile(mine, [75, 25])))
        rows[a.name] = [np.mean(mine), np.mean(other), middle, np.median(other)]
        gap = max(abs(rows[a.name][1] - rows[a.name][0]), abs(rows[a.name][3] - middle))
        off[a.name] = gap / (wide or float(np.std(mine)) or 1.0)
    if not rows:
        return None
    order = sorted(rows, key=lambda name: -off[name])
    return pd.DataFrame([rows[name] for name in order], index=order, columns=COLUMNS).rename_axis(
        "column"
    )


def numbers_of(column: pd.Series, attribute: Attribute) -> np.ndarray:
    """The numbers of a column, without missing ones: float.

    **Privacy:** raw records in, raw records out.
    """
    if pd.api.types.is_numeric_dtype(column):
        numbers = column.to_numpy(dtype=float, na_value=math.nan)
    else:
        places, cells = find_distinct(column)
        read = [attribute.read(cell) for cell in cells]
        known = [math.nan if number is None else number for number in read]
        numbers = np.array([*known, math.nan], dtype=float)[places]
    numbers = numbers[~np.isnan(numbers)]
    if attribute.recode is not None and attribute.recode.clip and attribute.edges:
        numbers = np.clip(numbers, attribute.edges[0], attribute.edges[-1])
    return numbers

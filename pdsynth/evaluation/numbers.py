"""Numbers inside their bins: means and medians, which no distance between bins shows.

Everything here reads real records exactly; no result is covered by a privacy guarantee.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from ..core import Attribute, Schema
from ..files import find_distinct

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
        mine, other = (x[~np.isnan(x)] for x in (numbers_of(t[a.name], a) for t in (ours, theirs)))
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
    """The number that each cell of a column stands for, NaN where it is missing: float (n,).

    **Privacy:** raw records in, raw records out.
    """
    recode = attribute.recode
    if recode is None and pd.api.types.is_numeric_dtype(column):
        return np.asarray(column.to_numpy(dtype=float, na_value=math.nan))
    places, cells = find_distinct(column)
    read = [*map(attribute.read, cells), None if recode is None else recode.empty]
    numbers = np.array([math.nan if x is None else x for x in read], dtype=float)[places]
    if recode is not None and recode.clip and attribute.edges:
        numbers = np.clip(numbers, attribute.edges[0], attribute.edges[-1])
    return numbers

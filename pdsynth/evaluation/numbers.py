"""Numbers inside their bins: means and medians, which no distance between bins shows.

Everything here reads real records exactly; no result is covered by a privacy guarantee.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..core import Schema

COLUMNS = ["mean, records", "mean, release", "median, records", "median, release"]


def compare_numbers(real: Any, fake: Any, schema: Schema) -> pd.DataFrame | None:
    """Mean and median of every column with bins, in the records and in a release.

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
        if not a.numeric_bins:
            continue
        both = (a.reader.numbers(table[a.name]) for table in (ours, theirs))
        mine, other = (numbers[~np.isnan(numbers)] for numbers in both)
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

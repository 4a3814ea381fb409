"""What a column's records would declare: for exploring only, outside every guarantee."""

import pandas as pd

from ..errors import SchemaError
from .attribute import Attribute


def infer_column(column: pd.Series, bins: int) -> Attribute:
    """An attribute read off a column; SchemaError where there is none.

    **Privacy:** every value is read and its domain told: a strict fit refuses such a schema.
    """
    name, missing, present = str(column.name), bool(column.isna().any()), column.dropna()
    try:
        values = sorted(present.unique().tolist(), key=str)
    except TypeError as problem:
        raise SchemaError(f"column {name!r} holds more than plain values: recode it") from problem
    if pd.api.types.is_numeric_dtype(column):
        if len(values) > bins and not pd.api.types.is_bool_dtype(column):
            whole = bool((present == present.round()).all())
            return Attribute.numeric(name, float(present.min()), float(present.max()), bins=bins,
                                     integer=whole, missing=missing)
        values.sort()
    if len(values) + missing < 2:
        raise SchemaError(f"column {name!r} holds {len(values)} value(s): "
                          "drop it, or declare its domain by hand")
    return Attribute.categorical(name, values, missing=missing)

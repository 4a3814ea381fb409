"""scikit-learn's target, which stands beside a table, as one more column of it."""

from typing import Any

import pandas as pd

from ..core import Schema, SchemaError


def join_target(data: Any, y: Any, schema: Any) -> pd.DataFrame:
    """The table with scikit-learn's ``y``, which has a name, as a column; one attribute more.

    Columns stand in the order of the schema, where it has the same. SchemaError for a ``y`` that
    has no name, another index, or a name that the table has already.

    **Privacy:** raw records in, raw records out.
    """
    columns = y.to_frame() if isinstance(y, pd.Series) else y
    named = isinstance(columns, pd.DataFrame) and not (isinstance(y, pd.Series) and y.name is None)
    if not named:
        raise SchemaError(
            f"y is a {type(y).__name__} without a name, but every column of a "
            "synthetic table needs one: give a Series with the name of its "
            "attribute, or put it into the table and leave y out"
        )
    if not isinstance(data, pd.DataFrame):
        raise SchemaError(f"y stands beside a DataFrame only, got {type(data).__name__}")
    twice = [str(name) for name in columns.columns if name in data.columns]
    if twice:
        raise SchemaError(
            f"y brings column(s) that the table has already: {twice}; leave y out, or drop them"
        )
    if not columns.index.equals(data.index):
        raise SchemaError(
            f"y has {len(columns):,} rows with another index than the table's "
            f"{len(data):,}: take both from the same frame"
        )
    joined = pd.concat([data, columns], axis=1)
    if isinstance(schema, Schema) and {*joined.columns} == {*schema.names}:
        joined = joined[list(schema.names)]
    return joined

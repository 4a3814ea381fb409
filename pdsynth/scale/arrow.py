"""Arrow columns as pandas columns: each cell keeps its own value, whatever other cells hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import pandas as pd

from ..core import SchemaError
from .blocks import refuse_raw


def list_columns(schema: Any) -> list[str]:
    """Names of the columns of an Arrow schema, but for those that pandas wrote as its index.

    **Privacy:** reads public facts only.
    """
    try:
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (ValueError, AttributeError):  # not as pandas writes it
        index = []
    return [name for name in schema.names if name not in index]


def check_types(schema: Any, names: Sequence[str]) -> None:
    """Refuse declared columns of types that hold no plain values.

    **Privacy:** reads names and types only.
    """
    for name in names:
        kind = schema.field(name).type
        if not _is_plain(kind):
            raise SchemaError(
                f"column {name!r} has the Arrow type {kind}, and cells must be texts, numbers, "
                "truth values, dates or times: cast it, take it apart, or leave it out"
            )


def _is_plain(kind: Any) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _is_plain(kind.value_type)
    tests = (
        types.is_integer,
        types.is_floating,
        types.is_decimal,
        types.is_boolean,
        types.is_string,
        types.is_large_string,
        types.is_string_view,
        types.is_date,
        types.is_timestamp,
        types.is_time,
        types.is_null,
    )
    return any(is_kind(kind) for is_kind in tests)


def to_frame(batch: Any) -> pd.DataFrame:
    """A batch of records as pandas reads it, but for whole numbers beside empty cells.

    pandas would make floating point numbers of these, and numbers beyond 2^53 others: they come
    as its nullable integers. SchemaError for cells that Python can't hold.

    **Privacy:** raw records in, raw records out; errors name columns and no values.
    """
    columns = {
        name: refuse_raw(
            partial(_to_series, column),
            f"column {name!r} of Arrow type {column.type} has a cell that can't be read: texts "
            "must be in UTF-8, dates before the year 10000, time zones known",
        )
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }
    return pd.DataFrame(columns, copy=False)


def _to_series(column: Any) -> pd.Series:
    from pyarrow import float64, types

    if types.is_dictionary(column.type) and not _lists_once(column.dictionary):
        column = column.dictionary_decode()
    if types.is_float16(column.type):
        column = column.cast(float64())  # pandas has no index of float16
    return column.to_pandas(types_mapper=_nullable().get if column.null_count else None)


def _lists_once(listed: Any) -> bool:
    return not listed.null_count and len(listed.unique()) == len(listed)


@cache
def _nullable() -> dict[Any, Any]:
    """The type of pandas that holds each integer type of Arrow with empty cells."""
    import pyarrow

    widths = [f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)]
    return {getattr(pyarrow, each.lower())(): getattr(pd, f"{each}Dtype")() for each in widths}

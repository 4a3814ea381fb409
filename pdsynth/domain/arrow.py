"""Arrow's columns as pandas': each cell keeps its own value, whatever the others hold."""

from functools import cache
from typing import Any

import pandas as pd


def to_frame(table: Any) -> pd.DataFrame:
    """A pyarrow Table as a frame in which whole numbers stay exact beside empty cells.

    By itself, pandas makes floating point numbers of them, of which those beyond 2^53 fall
    together.

    **Privacy:** raw records in, raw records out.
    """
    return table.to_pandas(types_mapper=_nullable().get)


@cache
def _nullable() -> dict[Any, Any]:
    """Types of Arrow whose pandas type has a place for an empty cell."""
    import pyarrow as pa

    whole = [f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)]
    known = {getattr(pa, name.lower())(): getattr(pd, f"{name}Dtype")() for name in whole}
    return known | {pa.bool_(): pd.BooleanDtype()}

"""What an attribute's declaration may hold, checked before anything is computed or allocated."""

import math
from collections import Counter
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..errors import SchemaError, is_whole, show, to_items, to_list
from .cells import EXACT, LARGEST

MAX_VALUES = 2**16
# What a schema may declare, and the pandas types of the released column: as it is, and where a
# missing value is declared. Both follow from the declaration alone, whatever the records hold.
DTYPES = {
    "integer": ("int64", "Int64"),
    "float": ("float64", "float64"),
    "text": ("str", "str"),
    "boolean": ("bool", "boolean"),
    "category": ("category", "category"),
    "ordered": ("category", "category"),
}


def check_declared(name: Any, values: Any, edges: Any, dtype: Any, missing: Any) -> tuple[Any, ...]:
    """The values, in order; refuses fields of another kind than an attribute's."""
    if not isinstance(name, str) or not name:
        raise SchemaError(
            f"an attribute's name must be a text, got {show(name)}: rename the column"
        )
    listed = to_list(f"attribute {name!r}: values", values)
    if strange := [v for v in listed if getattr(type(v), "__hash__", None) is None]:
        raise SchemaError(
            f"attribute {name!r}: values must be texts, finite numbers or truth values, "
            f"got {show(strange[0])}"
        )
    long = [v for v in listed if isinstance(v, (int, float)) and EXACT <= abs(v) < math.inf]
    if long:
        raise SchemaError(
            f"attribute {name!r} lists {show(long[0])}: numbers of 2^53 and beyond fall together "
            "where one cell of the column is empty or has a fraction; declare them as texts, or a "
            "range in bins"
        )
    if edges is not None:
        read_edges(name, to_list(f"attribute {name!r}: edges", edges))
    if dtype is not None and not isinstance(dtype, str):
        raise SchemaError(
            f"attribute {name!r}: dtype must be the name of a column type as a "
            f"text, got {show(dtype)}"
        )
    check_switch(name, missing=missing)
    return tuple(listed)


def check_switch(name: str, **switches: Any) -> None:
    """Refuse what is neither True nor False."""
    for parameter, given in switches.items():
        if not isinstance(given, (bool, np.bool_)):
            raise SchemaError(
                f"attribute {name!r}: {parameter} must be True or False, got {show(given)}"
            )


def list_values(name: Any, values: Any) -> tuple[Any, ...]:
    """Declared values in their order, numpy's scalars as Python's."""
    listed = to_items(f"attribute {show(name)}: values", values)
    return tuple(v.item() if isinstance(v, np.generic) else v for v in listed)


def read_edges(name: Any, edges: Any, integer: bool = False) -> tuple[float, ...]:
    """Bin edges as floats, or as whole numbers; a fraction among those is refused."""
    listed = to_items(f"attribute {show(name)}: edges", edges)
    if len(listed) > MAX_VALUES + 1:
        raise SchemaError(
            f"attribute {show(name)}: {len(listed):,} edges, at most "
            f"{MAX_VALUES + 1:,} are possible: use fewer bins"
        )
    found = [_real(name, "an edge", edge) for edge in listed]
    if not all(map(math.isfinite, found)):
        raise SchemaError(
            f"attribute {show(name)}: bin edges must be finite and increasing, got {show(found)}"
        )
    if not integer:
        return tuple(found)
    parts = [edge for edge in found if edge != int(edge) or abs(edge) > EXACT]
    if parts:
        raise SchemaError(
            f"attribute {show(name)}: with integer=True every edge must be a whole "
            f"number of at most 2^53, got {parts[0]}"
        )
    return tuple(map(int, found))


def check_range(name: Any, low: Any, high: Any, bins: Any) -> tuple[float, float, int]:
    """A range and a number of bins; huge ones are refused before they are allocated."""
    low, high = _real(name, "low", low), _real(name, "high", high)
    if not is_whole(bins):
        raise SchemaError(
            f"attribute {show(name)}: bins must be a whole number of at least 2, "
            f"got bins={show(bins)}"
        )
    if bins > MAX_VALUES:
        raise SchemaError(
            f"attribute {show(name)}: bins={show(bins)}, at most {MAX_VALUES:,} are "
            "possible: use fewer"
        )
    return low, high, int(bins)


def _real(name: Any, what: str, given: Any) -> float:
    plain = given.item() if isinstance(given, np.generic) else given
    try:
        if not isinstance(plain, Real) and not hasattr(plain, "as_integer_ratio"):
            raise TypeError
        if isinstance(plain, bool):
            raise TypeError
        value: float = plain if isinstance(plain, int) else float(plain)
        float(value)
    except (TypeError, ValueError, OverflowError) as problem:
        raise SchemaError(
            f"attribute {show(name)}: {what} must be a number, got {show(given)}"
        ) from problem
    if math.isfinite(value) and abs(value) > LARGEST:
        raise SchemaError(
            f"attribute {show(name)}: {what} = {show(given)} is beyond 1e300: use a larger unit"
        )
    return value


def check_codes(codes: Any, *attributes: int) -> None:
    """Refuse what is no array of codes: (n_records, attributes), or (n_records,) of one.

    **Privacy:** reads type and shape only.
    """
    fits = isinstance(codes, np.ndarray) and codes.dtype.kind in "iu"
    if not fits or codes.ndim != 1 + len(attributes) or codes.shape[1:] != attributes:
        what = (
            f"{codes.dtype} of shape {codes.shape}"
            if isinstance(codes, np.ndarray)
            else (show(codes))
        )
        shape = ", ".join(map(str, ("n", *attributes)))
        raise SchemaError(f"expected integer codes of shape ({shape}), got {what}")


def describe(values: Sequence[Any]) -> str:
    """What kind of values are declared, in words."""
    kinds = {type(v).__name__ for v in values}
    words = {"str": "texts", "int": "whole numbers", "float": "numbers", "bool": "truth values"}
    return " and ".join(sorted(words.get(kind, kind) for kind in kinds))


def dtype_of(declared: tuple[Any, ...]) -> str:
    """The type of declared values, or edges: a category where no other holds them all."""
    kinds = {type(v) for v in declared}
    if kinds <= {bool} or kinds <= {str}:
        return "boolean" if bool in kinds else "text"
    found = "integer" if kinds <= {int} else "float"
    return found if kinds <= {int, float} and fits(found, declared, None) else "category"


def fits(kind: str, values: tuple[Any, ...], edges: tuple[float, ...] | None) -> bool:
    """Whether every declared value survives in a column of this type."""
    if edges is not None:
        whole = all(isinstance(e, int) and abs(e) <= EXACT for e in edges)
        return kind == "float" or (kind == "integer" and whole)
    if kind not in DTYPES or DTYPES[kind][0] == "category":
        return kind in DTYPES
    if not all(
        isinstance(v, str) == (kind == "text") and isinstance(v, bool) == (kind == "boolean")
        for v in values
    ):
        return False
    try:
        back = pd.Series(list(values), dtype=DTYPES[kind][0])  # type: ignore[call-overload]
    except (ValueError, TypeError, OverflowError):
        return False
    return back.tolist() == list(values)


def check_columns(frame: Any, declared: Sequence[str] | None = None) -> list[Any]:
    """Names of the columns of a frame; refuses other things, names that are no texts, and names
    (of those declared, if any are) that stand twice.

    **Privacy:** reads column names only.
    """
    if not isinstance(frame, pd.DataFrame):
        raise SchemaError(f"expected a pandas DataFrame, got {type(frame).__name__}")
    columns = list(frame.columns)
    strange = [name for name in columns if not isinstance(name, str)]
    if strange:
        raise SchemaError(
            f"column names must be texts, got {show(strange[0])}: rename them, for "
            "example frame.rename(columns=str)"
        )
    asked = set(columns if declared is None else declared)
    if twice := repeated([c for c in columns if c in asked]):
        raise SchemaError(f"duplicate column(s): {twice}; rename or drop them")
    return columns


def repeated(names: Sequence[Any]) -> list[str]:
    """Names that stand twice or more."""
    return sorted(str(name) for name, times in Counter(names).items() if times > 1)

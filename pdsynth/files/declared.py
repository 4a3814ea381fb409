"""What an attribute may declare: its values, or its range and bins, as people and files give them.

A declaration is public. It is refused here, once, before an :class:`~pdsynth.core.Attribute` is
made of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from ..core import (
    DTYPES,
    Attribute,
    SchemaError,
    is_one_of,
    is_whole,
    repeated,
    show,
    to_items,
    to_list,
)
from .columns import EXACT

LARGEST = 1e300  # of a number
MAX_VALUES = 2**16
SPREADS = ("uniform", "lower", "middle", "atoms")


def settle_attribute(attribute: Attribute) -> dict[str, Any]:
    """The fields of an attribute as they stand from now on; what can't be declared is refused.

    ``values``: a tuple. ``missing``: a bool. ``dtype``: what follows from values or edges, where
    nothing is said. Raises SchemaError.
    """

    def refuse(problem: str) -> NoReturn:
        raise SchemaError(f"attribute {attribute.name!r}{problem}")

    edges, missing, recode = attribute.edges, bool(attribute.missing), attribute.recode
    values = check_values(attribute.name, attribute.values, edges)
    size = len(values) + missing
    if size < 2:
        refuse(
            f" declares {size} value(s); at least 2 are needed: "
            "drop the column or declare its full domain"
        )
    if size > MAX_VALUES:
        refuse(f" declares {size:,} values, at most {MAX_VALUES:,} are possible: bin it")
    if problem := problem_of_values(values):
        refuse(problem)
    if not is_one_of(attribute.spread, SPREADS):
        refuse(f": spread must be one of {SPREADS}, not {show(attribute.spread)}")
    if edges is not None:
        if not all(a < b for a, b in pairwise(edges[:-1])) or edges[-2:-1] > edges[-1:]:
            refuse(f": bin edges must be finite and increasing, got {list(edges)}")
        if len(edges) != (bins := len(values)) + 1:
            refuse(f": {bins} bins need {bins + 1} edges, got {len(edges)}")
    dtype = attribute.dtype or dtype_of(edges or values)
    if not fits(dtype, values, edges):
        refuse(
            f": a column of type {dtype!r} can't hold its declared values; the "
            f"types are {', '.join(DTYPES)}. Widths are no declaration: cast the "
            "synthetic column"
        )
    if recode is not None:
        if not hasattr(recode, "read"):
            refuse(f": recode must be a Recode, got {show(recode)}")
        if problem := recode.problem(attribute.name, values, edges is not None, missing):
            refuse(f": {problem}")
    return {"values": values, "missing": missing, "dtype": dtype}


def check_values(name: Any, values: Any, edges: Any) -> tuple[Any, ...]:
    """The values, in order; refuses fields of another kind than an attribute's."""
    if not isinstance(name, str) or not name:
        raise SchemaError(
            f"an attribute's name must be a text, got {show(name)}: rename the column"
        )
    listed = to_list(f"attribute {name!r}: values", values)
    long = [v for v in listed if isinstance(v, (int, float)) and EXACT <= abs(v) < math.inf]
    if long:
        raise SchemaError(
            f"attribute {name!r} lists {show(long[0])}: numbers of 2^53 and beyond fall together "
            "where one cell of the column is empty or has a fraction; declare them as texts, or a "
            "range in bins"
        )
    if edges is not None:
        text = isinstance(edges, str)  # refused there
        read_edges(name, edges if text else to_list(f"attribute {name!r}: edges", edges))
    return tuple(listed)


def problem_of_values(values: tuple[Any, ...]) -> str:
    """Why a domain can't have these values; "" where it can."""
    if any(pd.isna(value) is True for value in values):
        return " lists a missing value among its values: leave it out and declare missing=True"
    strange = [
        v for v in values if not isinstance(v, (str, int, float)) or v in (math.inf, -math.inf)
    ]
    if strange:
        return (
            ": values must be texts, finite numbers or truth values, "
            f"got {show(strange[0])}: declare dates and other objects as texts, "
            "or as numbers with bins"
        )
    twice = repeated(values)
    return f" declares values twice: {', '.join(twice)}" if twice else ""


# --- bins ----------------------------------------------------------------------------------------


def read_bins(name: Any, edges: Any, integer: bool) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The edges of some bins, and a label for each bin."""
    cuts = read_edges(name, edges, integer)
    return cuts, label_bins(cuts, integer)


def equal_edges(name: Any, low: Any, high: Any, bins: Any, integer: bool) -> list[float]:
    """The edges of bins of equal width; of whole numbers at most one bin for each.

    SchemaError for a range that isn't one; huge numbers of bins are refused before they are made.
    """
    low, high = _real(name, "low", low), _real(name, "high", high)
    if not is_whole(bins, 2, MAX_VALUES):
        listed = isinstance(bins, (list, tuple, np.ndarray))
        raise SchemaError(
            f"attribute {show(name)}: bins must be a whole number from 2 to {MAX_VALUES:,}, got "
            f"bins={show(bins)}" + "; say edges by Attribute.binned(name, edges)" * listed
        )
    bins, problem = int(bins), ""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        problem = f"low={low} must be below high={high}, both finite"
    elif integer and not (low == int(low) and high == int(high)):
        problem = f"with integer=True low={low} and high={high} must be whole numbers"
    if problem:
        raise SchemaError(f"attribute {name!r}: {problem}")
    steps = np.arange(bins + 1.0)  # of whole numbers, those of a wide range would overflow
    edges = low + (high - low) * steps / bins
    if integer:
        bins = min(bins, int(high) - int(low) + 1)
        edges = np.ceil(low + (high + 1 - low) * steps[: bins + 1] / bins)
    edges[-1] = high  # low + (high - low) may be less, and the highest value be refused
    return edges.tolist()


def read_edges(name: Any, edges: Any, integer: bool = False) -> tuple[float, ...]:
    """Bin edges as floats, or as whole numbers; a fraction among those is refused."""
    if isinstance(edges, str):  # a list of one text is no remedy here
        raise SchemaError(
            f"attribute {show(name)}: edges must be a list of numbers, got {show(edges)}: write "
            "[0, 1, 2]"
        )
    listed = to_items(f"attribute {show(name)}: edges", edges)
    if len(listed) > MAX_VALUES + 1:
        raise SchemaError(
            f"attribute {show(name)}: {len(listed):,} edges, at most "
            f"{MAX_VALUES + 1:,} are possible: use fewer bins"
        )
    cuts = [_real(name, "an edge", edge) for edge in listed]
    if not all(map(math.isfinite, cuts)):
        raise SchemaError(
            f"attribute {show(name)}: bin edges must be finite and increasing, got {show(cuts)}"
        )
    if not integer:
        return tuple(cuts)
    parts = [edge for edge in cuts if edge != int(edge) or abs(edge) > EXACT]
    if parts:
        raise SchemaError(
            f"attribute {show(name)}: with integer=True every edge must be a whole "
            f"number of at most 2^53, got {parts[0]}"
        )
    return tuple(map(int, cuts))


def _real(name: Any, what: str, given: Any) -> float:
    plain = given.item() if isinstance(given, np.generic) else given
    try:
        if isinstance(plain, bool) or not hasattr(plain, "__float__"):
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


def label_bins(cuts: Sequence[float], integer: bool) -> tuple[str, ...]:
    """A different text for each bin.

    >>> label_bins((0, 1, 5000, 99999), True)
    ('0', '1–4999', '5000–99999')
    """
    if not integer:
        short = tuple(f"{a:g}–{b:g}" for a, b in pairwise(cuts))
        full = tuple(f"{a!r}–{b!r}" for a, b in pairwise(cuts))
        return short if len(set(short)) == len(short) else full
    ends = [*(b - 1 for b in cuts[1:-1]), *cuts[1:][-1:]]
    return tuple(f"{a}" if a == b else f"{a}–{b}" for a, b in zip(cuts[:-1], ends, strict=True))


# --- the type of the released column -------------------------------------------------------------


def dtype_of(declared: tuple[Any, ...]) -> str:
    """The type of declared values, or edges: a category where no other holds them all."""
    kinds = {type(v) for v in declared}
    if kinds <= {bool} or kinds <= {str}:
        return "boolean" if bool in kinds else "text"
    kind = "integer" if kinds <= {int} else "float"
    return kind if kinds <= {int, float} and fits(kind, declared, None) else "category"


def fits(kind: str, values: tuple[Any, ...], edges: tuple[float, ...] | None) -> bool:
    """Whether every declared value survives in a column of this type."""
    if edges is not None:
        whole = all(isinstance(e, int) and abs(e) <= EXACT for e in edges)
        return kind == "float" or (kind == "integer" and whole)
    if kind not in DTYPES or DTYPES[kind][0] == "category":
        return kind in DTYPES
    own = {"text": str, "boolean": bool}
    if any(isinstance(v, t) != (kind == name) for v in values for name, t in own.items()):
        return False
    if kind == "boolean" or (kind == "text" and all(map(str.isascii, values))):
        return True  # without a column: most attributes are these
    try:
        back = pd.Series(list(values), dtype=DTYPES[kind][0])  # type: ignore[call-overload]
    except (ValueError, TypeError, OverflowError):
        return False
    return back.tolist() == list(values)

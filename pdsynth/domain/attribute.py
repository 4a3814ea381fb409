"""One public attribute: listed values or a numeric range in bins, and the columns that hold it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from ..errors import SchemaError

MAX_VALUES = 2**16
DECODERS = ("uniform", "lower", "middle")
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
NULLABLE = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
FLOATS = ("float32", "float64", "Float32", "Float64")
COLUMN_TYPES = ("bool", "boolean", "str", "string", "object", "category", "ordered",
                *FLOATS, *INTEGERS, *NULLABLE)


@dataclass(frozen=True)
class Attribute:
    """One public attribute: a finite list of values, or a numeric range cut into bins.

    Use :meth:`categorical`, :meth:`numeric` (equal-width bins) or :meth:`binned` (given edges).
    ``values`` are the labels in code order; with ``missing=True`` a last code stands for a missing
    value. Bin ``i`` is ``[edges[i], edges[i+1])``; the last bin includes its right edge. ``spread``
    says how a bin becomes a number again: ``uniform`` inside it, its ``lower`` edge or its
    ``middle``.
    """

    name: str
    values: tuple[Any, ...]
    edges: tuple[float, ...] | None = None
    dtype: str = "str"
    missing: bool = False
    spread: str = "uniform"

    def __post_init__(self) -> None:
        if self.size < 2:
            self._refuse(f" declares {self.size} value(s); at least 2 are needed: "
                         "drop the column or declare its full domain")
        if self.size > MAX_VALUES:
            self._refuse(f" declares {self.size:,} values, at most {MAX_VALUES:,} are possible: "
                         "bin it")
        self._check_values()
        if self.spread not in DECODERS:
            self._refuse(f": spread must be one of {DECODERS}, not {self.spread!r}")
        if self.edges is not None:
            self._check_edges(self.edges)

    def _refuse(self, problem: str) -> NoReturn:
        raise SchemaError(f"attribute {self.name!r}{problem}")

    def _check_values(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(f"an attribute's name must be a text, got {self.name!r}: "
                              "rename the column")
        if any(map(_is_missing, self.values)):
            self._refuse(" lists a missing value among its values: "
                         "leave it out and declare missing=True")
        strange = [v for v in self.values
                   if not isinstance(v, (str, int, float)) or v in (math.inf, -math.inf)]
        if strange:
            self._refuse(": values must be texts, finite numbers or truth values, "
                         f"got {strange[0]!r}: declare dates and other objects as texts, "
                         "or as numbers with bins")
        if len(set(self.values)) != len(self.values):
            twice = sorted({str(v) for v in self.values if self.values.count(v) > 1})
            self._refuse(f" declares values twice: {', '.join(twice)}")

    def _check_edges(self, cuts: tuple[float, ...]) -> None:
        rising = all(a < b for a, b in pairwise(cuts[:-1])) and cuts[-2:-1] <= cuts[-1:]
        if not rising or not all(math.isfinite(c) for c in cuts):
            self._refuse(f": bin edges must be finite and increasing, got {list(cuts)}")
        bins = len(self.values)
        if len(cuts) != bins + 1:
            self._refuse(f": {bins} bins need {bins + 1} edges, got {len(cuts)}")

    @classmethod
    def categorical(cls, name: str, values: Iterable[Any], *, missing: bool = False,
                    dtype: str | None = None) -> Attribute:
        """An attribute with listed values.

        >>> Attribute.categorical("sex", ["Female", "Male"]).size
        2
        """
        listed = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
        return cls(name, listed, None, dtype or _dtype_of(listed), missing)

    @classmethod
    def numeric(cls, name: str, low: float, high: float, *, bins: int = 16, integer: bool = False,
                missing: bool = False, spread: str = "uniform") -> Attribute:
        """A numeric attribute on the public range ``[low, high]``, cut into equal-width bins.

        >>> Attribute.numeric("age", 0, 100, bins=4, integer=True).values
        ('0–25', '26–50', '51–75', '76–100')
        """
        problem = ""
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            problem = f"low={low} must be below high={high}, both finite"
        elif bins < 2:
            problem = f"bins={bins}; at least 2 are needed"
        elif integer and not (low == int(low) and high == int(high)):
            problem = f"with integer=True low={low} and high={high} must be whole numbers"
        if problem:
            raise SchemaError(f"attribute {name!r}: {problem}")
        edges = low + (high - low) * np.arange(bins + 1) / bins
        if integer:
            bins = min(bins, int(high) - int(low) + 1)
            edges = np.ceil(low + (high + 1 - low) * np.arange(bins + 1) / bins)
            edges[-1] = high
        return cls.binned(name, edges.tolist(), integer=integer, missing=missing, spread=spread)

    @classmethod
    def binned(cls, name: str, edges: Sequence[float], *, integer: bool = False,
               missing: bool = False, spread: str = "uniform") -> Attribute:
        """A numeric attribute with given edges, m + 1 for m bins; the last includes both sides."""
        cuts = tuple(int(e) if integer else float(e) for e in edges)
        dtype = "int64" if integer else "float64"
        return cls(name, _bin_labels(cuts, integer), cuts, dtype, missing, spread)

    @property
    def size(self) -> int:
        """Number of codes, |X|: the declared values, and one for missing where that is declared."""
        return len(self.values) + self.missing

    @property
    def labels(self) -> tuple[str, ...]:
        """One text per code, for tables and plots."""
        return (*map(str, self.values), *["(missing)"] * self.missing)

    @property
    def numeric_bins(self) -> bool:
        """Whether the codes are bins of a numeric range."""
        return self.edges is not None

    @property
    def integer(self) -> bool:
        """Whether a numeric attribute holds whole numbers."""
        return self.edges is not None and all(isinstance(e, int) for e in self.edges)

    def encode(self, column: pd.Series) -> np.ndarray:
        """Codes of a column: int64 (n_records,); SchemaError for a value outside the domain.

        **Privacy:** raw records in, raw records out. An error message names up to three offending
        values to the data's owner.
        """
        gone = column.isna().to_numpy()
        if gone.any() and not self.missing:
            self._refuse(f": {int(gone.sum()):,} missing value(s), but the schema declares none; "
                         "declare missing=True, or drop or fill those rows")
        try:
            codes = (pd.Index(self.values).get_indexer(pd.Index(column)) if self.edges is None
                     else self._find_bins(column, gone))
        except TypeError as problem:
            raise SchemaError(f"attribute {self.name!r} holds more than plain values ({problem}): "
                              "recode those rows") from problem
        codes = np.where(gone, len(self.values), codes).astype(np.int64)
        bad = codes < 0
        if bad.any():
            domain = (f"its {len(self.values)} declared values" if self.edges is None
                      else f"[{self.edges[0]}, {self.edges[-1]}]")
            whole = "the whole numbers of " if self.integer else ""
            seen = column[bad].drop_duplicates().head(3).tolist()
            self._refuse(f": {int(bad.sum()):,} value(s) outside {whole}{domain}, for example "
                         f"{seen}; widen the declared domain, or recode or drop those rows")
        return codes

    def _find_bins(self, column: pd.Series, gone: np.ndarray) -> np.ndarray:
        if not pd.api.types.is_numeric_dtype(column):
            self._refuse(f" is declared numeric, but its column has dtype {column.dtype}: "
                         "convert it first")
        edges = np.asarray(self.edges, dtype=float)
        x = column.to_numpy(dtype=float, na_value=np.nan)
        with np.errstate(invalid="ignore"):
            codes = np.minimum(np.searchsorted(edges, x, side="right") - 1, len(edges) - 2)
            outside = gone | (x > edges[-1]) | (self.integer & (x != np.floor(x)))
            return np.where(outside, -1, codes)

    def decode(self, codes: np.ndarray, uniform: np.ndarray | None = None) -> pd.Series:
        """A column from codes; ``uniform`` (n_records,) in [0, 1) places numbers inside their bins.

        Without it they lie in the middle.
        """
        gone, known = codes >= len(self.values), np.minimum(codes, len(self.values) - 1)
        kind = _nullable(self.dtype, self.missing)
        if self.edges is None:
            labels = pd.Index(self.values)
            values = pd.Categorical.from_codes(known, labels, ordered=kind == "ordered")
            column = pd.Series(values, name=self.name)
            column = column if kind in ("category", "ordered") else column.astype(kind)
            return column.mask(gone) if gone.any() else column
        numbers = self._place(known, uniform, kind)
        column = pd.Series(numbers, name=self.name).astype(kind)  # type: ignore[call-overload]
        return column.mask(gone) if self.missing else column

    def _place(self, bins: np.ndarray, uniform: np.ndarray | None, kind: str) -> np.ndarray:
        """Numbers inside their bins; rounding may reach a right edge, which is the next bin's."""
        edges = np.asarray(self.edges, dtype=float)
        low, high = edges[bins], edges[bins + 1]
        share: Any = 0.5 if uniform is None or self.spread == "middle" else uniform
        if self.spread == "lower":
            share = 0.0
        if self.integer:
            high = high + (bins == len(self.values) - 1)
            return np.minimum(np.floor(low + share * (high - low)), high - 1).astype(np.int64)
        numbers = np.minimum(low + share * (high - low), np.nextafter(high, low))
        if kind.lower() == "float32":
            short = numbers.astype(np.float32)
            short = np.where(short >= high, np.nextafter(short, np.float32(-np.inf)), short)
            numbers = np.where(short < low, np.nextafter(short, np.float32(np.inf)), short)
        return numbers


def _bin_labels(cuts: tuple[float, ...], integer: bool) -> tuple[str, ...]:
    if not integer:
        short = tuple(f"{a:g}–{b:g}" for a, b in pairwise(cuts))
        full = tuple(f"{a!r}–{b!r}" for a, b in pairwise(cuts))
        return short if len(set(short)) == len(short) else full
    ends = [*(b - 1 for b in cuts[1:-1]), *cuts[1:][-1:]]
    return tuple(f"{a}" if a == b else f"{a}–{b}" for a, b in zip(cuts[:-1], ends, strict=True))


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def _dtype_of(values: tuple[Any, ...]) -> str:
    for kind, name in ((bool, "bool"), (int, "int64"), (float, "float64"), (str, "str")):
        if all(isinstance(v, kind) for v in values):
            return name
    return "object"


def _nullable(kind: str, missing: bool) -> str:
    """The column type that can hold a missing value, if one is declared.

    Chosen by the declaration alone: it must not tell whether there was one.
    """
    if missing and kind in INTEGERS:
        return "float64"
    return "object" if missing and kind == "bool" else kind


def fits(kind: str, values: tuple[Any, ...], edges: tuple[float, ...] | None) -> bool:
    """Whether every declared value survives in a column of this type."""
    if kind not in COLUMN_TYPES:
        return False
    if edges is not None:
        if kind in FLOATS or not all(isinstance(e, int) for e in edges):
            return kind in FLOATS
        width = np.iinfo(kind.lower()) if kind in (*INTEGERS, *NULLABLE) else None
        return width is not None and width.min <= edges[0] and edges[-1] <= width.max
    if kind in ("category", "ordered"):
        return True
    try:
        back = pd.Series(pd.Index(values)).astype(kind).tolist()  # type: ignore[call-overload]
    except (ValueError, TypeError, OverflowError):
        return False
    alike = (type(a) is type(b) or not isinstance(a, (str, bool))
             for a, b in zip(back, values, strict=True))
    return all(alike) and back == list(values)


def like(attribute: Attribute, column: pd.Series) -> Attribute:
    """The same domain with the type of a column (kind and width only), where that can hold it.

    **Privacy:** a column's type is a public fact of the table's format; no value is read.
    """
    dtype = column.dtype
    kind = str(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        kind = "ordered" if dtype.ordered else "category"
    if not fits(kind, attribute.values, attribute.edges):
        kind = attribute.dtype
    # int64 with and without a missing value must read the same
    return replace(attribute, dtype=_nullable(kind, attribute.missing))

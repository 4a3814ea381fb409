"""One public attribute: what it declares, the codes of a column, and a column from codes.

How a cell is read is the business of ``files``: each distinct cell once and by itself, so that the
code of a record is a function of that record and of the declaration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from .errors import SchemaError, door, is_one_of, is_whole, show, to_items


def find_bins(numbers: np.ndarray, edges: Sequence[float]) -> np.ndarray:
    """The bin of each number, (n_records,); -1 outside ``[edges[0], edges[-1]]`` and for NaN.

    **Privacy:** raw records in, raw records out.
    """
    cuts = np.asarray(edges, dtype=float)
    bins = np.minimum(np.searchsorted(cuts, numbers, side="right") - 1, len(cuts) - 2)
    with np.errstate(invalid="ignore"):
        return np.where(numbers <= cuts[-1], bins, -1)


def place_in_bins(
    bins: np.ndarray, edges: Any, spread: str, uniform: np.ndarray | None, integer: bool
) -> np.ndarray:
    """Numbers inside their bins, in 100 steps or more; a right edge is the next bin's."""
    cuts = np.asarray(edges, dtype=float)
    low, high = cuts[bins], cuts[bins + 1]
    share: Any = {"lower": 0.0, "middle": 0.5}.get(spread, 0.5 if uniform is None else uniform)
    if integer:
        end = high + (bins == len(cuts) - 2)
        numbers = np.minimum(np.floor(low + share * (end - low)), end - 1)
    else:
        numbers = low + share * (high - low)
        if spread in ("uniform", "atoms") and uniform is not None:  # 3699, not 3699.0091671925225
            steps = 10.0 ** np.clip(2 - np.floor(np.log10(high - low)), 0, 15)  # in 1
            first, last = np.ceil(low * steps), np.ceil(high * steps) - 1
            numbers = np.maximum(np.clip(np.rint(numbers * steps), first, last) / steps, low)
    if spread == "atoms":
        numbers = door("binning").place_atoms(numbers, bins, cuts, integer)
    return numbers.astype(np.int64) if integer else np.minimum(numbers, np.nextafter(high, low))


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


def check_codes(codes: Any, *attributes: int) -> None:
    """Refuse what is no array of codes: (n_records, attributes), or (n_records,) of one.

    **Privacy:** reads type and shape only.
    """
    fits = isinstance(codes, np.ndarray) and codes.dtype.kind in "iu"
    if not fits or codes.ndim != 1 + len(attributes) or codes.shape[1:] != attributes:
        kind = f"{codes.dtype} of shape {codes.shape}" if hasattr(codes, "dtype") else show(codes)
        shape = ", ".join(map(str, ("n", *attributes)))
        raise SchemaError(f"expected integer codes of shape ({shape}), got {kind}")


def repeated(names: Sequence[Any]) -> list[str]:
    """Names that stand twice or more."""
    return sorted(str(name) for name, times in Counter(names).items() if times > 1)


def find_recoding(said: Mapping[str, Any]) -> Any:
    """A :class:`pdsynth.files.Recode` from keywords; None where nothing is said.

    What recodes has ``clip``, ``empty``, ``problem(…)``, ``said()`` and ``read(cell, values)``.
    """
    return door("files").Recode.of(**said) if said else None


@dataclass(frozen=True)
class Attribute:
    """One public attribute: a finite list of values, or a numeric range cut into bins.

    Use :meth:`categorical`, :meth:`numeric` (equal-width bins) or :meth:`binned` (given edges).
    ``values`` are the labels in code order; with ``missing=True`` a last code stands for a missing
    value. ``dtype`` is the type of the released column: ``integer``, ``float``, ``text``,
    ``boolean``, ``category`` or ``ordered`` (a category in the order declared); where nothing is
    said it follows from the values or edges. What may be missing is released as a type that can
    hold that. Bin ``i`` is ``[edges[i], edges[i+1])``; the last bin includes its right edge.
    ``spread`` says how a bin becomes a number again: ``uniform`` inside it, its ``lower`` edge or
    its ``middle``. ``recode`` says what is done to a raw cell first; the three makers take its
    fields as keywords: ``categorical("country", ["US", "elsewhere"], other="elsewhere")``.
    ``private``: 0, or into how many equal cells the range is cut; each fit places the edges of its
    ``len(values)`` bins between them (:mod:`pdsynth.binning`).
    """

    name: str
    values: tuple[Any, ...]
    edges: tuple[float, ...] | None = None
    dtype: str = ""
    missing: bool = False
    spread: str = "uniform"
    recode: Any = None
    private: int = 0

    def __post_init__(self) -> None:
        for name, value in door("files").settle_attribute(self).items():
            object.__setattr__(self, name, value)

    def _refuse(self, problem: str) -> NoReturn:
        raise SchemaError(f"attribute {self.name!r}{problem}")

    @classmethod
    def categorical(
        cls,
        name: str,
        values: Iterable[Any],
        *,
        missing: bool = False,
        dtype: str | None = None,
        **recode: Any,
    ) -> Attribute:
        """An attribute with listed values; ``recode``: keywords of :class:`~pdsynth.files.Recode`.

        >>> Attribute.categorical("sex", ["Female", "Male"]).size
        2
        """
        listed = to_items(f"attribute {show(name)}: values", values)
        plain = tuple(v.item() if isinstance(v, np.generic) else v for v in listed)
        kind = "" if dtype is None else dtype
        return cls(name, plain, None, kind, missing, recode=find_recoding(recode))

    @classmethod
    def numeric(
        cls,
        name: str,
        low: float,
        high: float,
        *,
        bins: int | str = 16,
        number: Any = None,
        integer: bool = False,
        missing: bool = False,
        spread: str = "uniform",
        **recode: Any,
    ) -> Attribute:
        """A numeric attribute on the public range ``[low, high]``, cut into equal-width bins.

        ``bins="private"``: range and ``number`` of bins (16 if None) are public, and each fit
        chooses the edges for a part of its ε (:mod:`pdsynth.binning`). Until then equal widths
        stand in. SchemaError for a range that isn't one, and for more bins than values.

        >>> Attribute.numeric("age", 0, 100, bins=4, integer=True).values
        ('0–25', '26–50', '51–75', '76–100')
        """
        if is_one_of(bins, ("private",)):
            options = {"integer": integer, "missing": missing, "spread": spread, **recode}
            return door("binning").declare(
                name, low, high, 16 if number is None else number, **options
            )
        if is_whole(number):
            raise SchemaError(f"attribute {show(name)}: number= goes with bins='private'")
        if number is not None:  # how numbers are written, of a Recode
            recode["number"] = number
        edges = door("files").equal_edges(name, low, high, bins, integer)
        return cls.binned(name, edges, integer=integer, missing=missing, spread=spread, **recode)

    @classmethod
    def binned(
        cls,
        name: str,
        edges: Sequence[float],
        *,
        integer: bool = False,
        missing: bool = False,
        spread: str = "uniform",
        **recode: Any,
    ) -> Attribute:
        """A numeric attribute with given edges, m + 1 for m bins; the last includes both sides."""
        cuts, labels = door("files").read_bins(name, edges, integer)
        dtype = "integer" if integer else "float"
        return cls(name, labels, cuts, dtype, missing, spread, find_recoding(recode))

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
        return self.edges is not None and self.dtype == "integer"

    @property
    def column_type(self) -> str:
        """The pandas type of the released column: a public fact, whatever the records hold."""
        return DTYPES[self.dtype][self.missing]

    def encode(self, column: pd.Series) -> np.ndarray:
        """Codes of a column: int64 (n_records,); SchemaError for a value outside the domain.

        **Privacy:** raw records in, raw records out. An error says how many cells are wrong and
        none of their values: for these its owner asks ``schema.problems(frame, examples=3)``.
        """
        if not isinstance(column, pd.Series):
            self._refuse(f": expected a Series of its values, got {show(column)}")
        codes, gone = self.look_up(column)
        if gone.any() and not self.missing:
            self._refuse(
                f": {int(gone.sum()):,} missing value(s), but the schema declares none; declare "
                "missing=True, or what an empty cell is (empty=), or drop or fill those rows"
            )
        if (outside := int((codes < 0).sum())) > 0:
            self._refuse(door("files").say_outside(self, column, outside))
        return codes

    def look_up(self, column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
        """Codes of a column after recoding, -1 outside the domain; and which cells are missing.

        **Privacy:** raw records in, raw records out.
        """
        codes, gone = self.reader.look_up(column)
        return codes, gone

    @cached_property
    def reader(self) -> Any:
        """What reads its cells, a :class:`pdsynth.files.Reader`."""
        return door("files").Reader(self)

    @cached_property
    def _index(self) -> pd.Index:
        """The values as pandas keeps them, where that loses nothing."""
        index = pd.Index(self.values)
        index = index if index.tolist() == [*self.values] else pd.Index(self.values, dtype=object)
        index.get_indexer(index[:1])  # pandas builds its hash table now: threads may share it then
        return index

    def decode(self, codes: np.ndarray, uniform: np.ndarray | None = None) -> pd.Series:
        """A column from codes; ``uniform`` (n_records,) in [0, 1) places numbers inside their bins,
        without it they lie in the middle.
        """
        check_codes(codes)
        gone, positions = codes >= len(self.values), np.minimum(codes, len(self.values) - 1)
        ordered = self.dtype == "ordered"
        cells: Any = (
            place_in_bins(positions, self.edges, self.spread, uniform, self.integer)
            if self.edges is not None
            else pd.Categorical.from_codes(positions, self._index, ordered=ordered)
        )
        column = pd.Series(cells, name=self.name)
        column = column.astype(self.column_type)  # type: ignore[call-overload]
        return column.mask(gone) if self.missing else column

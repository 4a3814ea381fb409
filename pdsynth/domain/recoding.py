"""How raw cells become declared values: cell by cell, by public rules alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..errors import SchemaError, show, to_list

DATES = ("year", "month", "age")
CLOCK = ("now", "today")  # words for which pandas would ask the clock
FORMS = {
    "1,234.5": (",", "."),
    "1.234,5": (".", ","),
    "1 234,5": ("[  \u202f]", ","),
    "1'234.5": ("['’]", "."),
}
LARGEST = 1e300  # of a number
LONGEST = 2**53  # whole numbers beyond aren't exact as floating point numbers


@dataclass(frozen=True)
class Recode:
    """What is done to each raw cell of an attribute before it is looked up in the domain.

    ``mapping``: (raw text, value) pairs, which rename and merge values. ``na_values``: texts that
    stand for an empty cell. ``other``: the declared value of whatever isn't listed (open lists).
    ``date``: "year", "month" (1 to 12) or "age" (completed years on the day ``on``), of dates
    written as ``format`` says (strptime; ISO 8601 without). ``number``: how numbers are written,
    one of :data:`FORMS`; a currency or per cent sign beside them is left out ("12 %" is 12).
    ``clip``: numbers beyond the public edges become these edges.

    Declared values stay as they are, so a synthetic table encodes like a raw one. It acts on each
    cell alone, so one record changes one row.
    """

    mapping: tuple[tuple[str, Any], ...] = ()
    na_values: tuple[str, ...] = ()
    other: Any = None
    date: str = ""
    format: str = ""
    on: str = ""
    number: str = ""
    clip: bool = False

    @classmethod
    def of(cls, **raw: Any) -> Recode | None:
        """From keywords, ``mapping`` a dictionary of raw values; None where nothing is said."""
        unknown = sorted(set(raw) - {field.name for field in fields(cls)})
        if unknown:
            raise SchemaError(
                f"unknown option(s) {', '.join(unknown)}; an attribute knows "
                f"{', '.join(field.name for field in fields(cls))}"
            )
        pairs, gone = raw.get("mapping", ()), raw.get("na_values", ())
        pairs = (
            list(pairs.items())
            if isinstance(pairs, Mapping)
            else to_list(
                "mapping",
                () if pairs is None else pairs,
                kind="a dictionary of raw texts to values",
            )
        )
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
            raise SchemaError(
                f"mapping must be a dictionary of raw texts to values, got {show(raw['mapping'])}"
            )
        for given in (raw.get("other"), *(value for _, value in pairs)):
            if given is not None and not isinstance(given, (str, int, float, np.generic)):
                raise SchemaError(
                    "other= and the values of mapping must be declared values or "
                    f"numbers, got {show(given)}"
                )
        gone = [gone] if isinstance(gone, str) else to_list("na_values", gone)
        if not all(isinstance(word, (str, int, float, np.generic)) for word in gone):
            raise SchemaError(f"na_values must be texts, got {show(gone)}")
        words = [raw.get(key, "") for key in ("date", "format", "on", "number")]
        if not all(isinstance(w, str) for w in words) or not isinstance(raw.get("clip", 0), int):
            raise SchemaError("date, format, on and number must be texts, clip True or False")
        found = cls(
            **raw
            | {
                "mapping": tuple((as_text(key), value) for key, value in pairs),
                "na_values": tuple(as_text(word) for word in gone),
            }
        )
        return None if found == cls() else found

    def said(self) -> dict[str, Any]:
        """What differs from doing nothing, as keywords of :meth:`of`."""
        known = {key: value for key, value in asdict(self).items() if value != getattr(Recode, key)}
        if self.mapping:
            known["mapping"] = dict(self.mapping)
        if self.na_values:
            known["na_values"] = list(self.na_values)
        return known

    def problem(self, values: tuple[Any, ...], numeric: bool, missing: bool) -> str:
        """What is impossible beside a domain, in words; "" where nothing is."""
        keys, listed = [key for key, _ in self.mapping], set(map(as_text, values))
        words = (self.date, self.format, self.on, self.number)
        if not all(isinstance(word, str) for word in words) or not isinstance(self.clip, bool):
            return "date, format, on and number must be texts, clip true or false"
        if self.na_values and not missing:
            return f"na_values={list(self.na_values)} need missing=True"
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            return f"mapping names {twice} twice"
        if both := sorted({*keys, *self.na_values} & listed if not numeric else ()):
            return f"{both} are declared values, so they can't be mapped or mean an empty cell"
        if not numeric:
            gone = [value for _, value in self.mapping if value not in values]
            if gone:
                return f"mapping leads to {gone[0]!r}, which isn't a declared value"
            if self.other is not None and self.other not in values:
                return f"other={self.other!r} isn't a declared value: list it among the values"
            if self.date or self.number or self.clip:
                return "date, number and clip belong to numbers: declare a range or edges"
            return ""
        if self.other is not None:
            return "other= belongs to listed values; for numbers say clip=True"
        strange = [value for _, value in self.mapping if not _is_number(value)]
        if strange:
            return f"mapping leads to {strange[0]!r}, which isn't a number"
        return self._date_problem()

    def _date_problem(self) -> str:
        if self.number and self.number not in FORMS:
            return f"number must be one of {tuple(FORMS)}, not {self.number!r}"
        if self.date and self.date not in DATES:
            return f"date must be one of {DATES}, not {self.date!r}"
        if (self.format or self.on) and not self.date:
            return "format= and on= belong to dates: say date='year', 'month' or 'age'"
        if (self.date == "age") != bool(self.on):
            return "date='age' needs the day that ages count to, for example on='2026-12-31'"
        plain = re.fullmatch(r"\d{4}-\d\d-\d\d", self.on)
        if self.on and (plain is None or pd.isna(_dates(pd.Index([self.on]), "")[0])):
            return f"on={self.on!r} isn't a day: write it as 2026-12-31"
        return ""

    def apply(
        self, column: pd.Series, values: tuple[Any, ...], edges: tuple[float, ...] | None
    ) -> pd.Series:
        """The column after recoding: declared values or numbers; what can't be read stays outside.

        **Privacy:** raw records in, raw records out; each cell alone decides.
        """
        places, seen = pd.factorize(column, use_na_sentinel=True)
        found = self._list(seen, values) if edges is None else self._count(pd.Index(seen), edges)
        return found.reindex(places).set_axis(column.index)  # a missing cell has place -1

    def _list(self, seen: Any, values: tuple[Any, ...]) -> pd.Series:
        known = {as_text(value): value for value in values} | dict(self.mapping)
        known |= dict.fromkeys(self.na_values)
        texts = [as_text(cell) for cell in seen]
        if all(map(_is_number, values)):  # written in other ways, too: 4.0, +4, -0
            numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
            texts = [
                text if text in known or pd.isna(number) else as_text(number)
                for text, number in zip(texts, numbers, strict=True)
            ]
        rest = texts if self.other is None else [self.other] * len(texts)
        return pd.Series([known.get(*pair) for pair in zip(texts, rest, strict=True)], dtype=object)

    def _count(self, seen: pd.Index, edges: tuple[float, ...]) -> pd.Series:
        texts = pd.Series([as_text(cell) for cell in seen], dtype=object)
        mapped = texts.map(dict(self.mapping)).astype(float)
        plain = pd.Series([float(cell) if _is_number(cell) else np.nan for cell in seen])
        read = (
            self._part_of(_dates(seen, self.format))
            if self.date and plain.isna().any()
            else read_numbers(texts, self.number or "1,234.5")
        )
        numbers = mapped.fillna(plain).fillna(read).fillna(np.inf)
        if self.clip:
            finite = np.isfinite(numbers)
            numbers = numbers.where(~finite, numbers.clip(edges[0], edges[-1]))
        return numbers.mask(texts.isin(self.na_values) & mapped.isna())

    def _part_of(self, days: Any) -> pd.Series:
        if self.date != "age":
            return pd.Series(getattr(days, self.date), dtype=float)
        day: Any = pd.Timestamp(self.on)
        early = (100 * days.month + days.day).to_numpy() > 100 * day.month + day.day
        return pd.Series(day.year - days.year - early, dtype=float)


def as_text(value: Any) -> str:
    """A cell as a file would write it: whole numbers without a point, no blanks around texts."""
    if isinstance(value, (float, np.floating)):
        value = float(value)
        value = int(value) if value.is_integer() and abs(value) < LONGEST else value
    return str(value).strip()


def read_numbers(texts: pd.Series, form: str = "1,234.5") -> pd.Series:
    """Numbers from texts that are written as ``form`` says, NaN for whatever isn't one.

    >>> read_numbers(pd.Series(["$1,234", "12 %", "1,2"])).tolist()
    [1234.0, 12.0, nan]
    """
    group, point = FORMS[form]
    number = rf"\d{{1,3}}(?:{group}\d{{3}})+(?:{re.escape(point)}\d+)?"
    plain = rf"\d*{re.escape(point)}?\d+(?:[eE][-+]?\d+)?|\d+{re.escape(point)}"
    parts = texts.astype("str").str.extract(
        rf"^\s*([-+−]?)\s*[$€£¥]?\s*((?:{number})|(?:{plain}))\s*[%$€£¥]?\s*$"
    )
    digits = (
        parts[1]
        .str.replace(group if group.startswith("[") else re.escape(group), "", regex=True)
        .str.replace(point, ".", regex=False)
    )
    return pd.to_numeric(digits, errors="coerce").astype(float) * np.where(
        parts[0].isin(["-", "−"]), -1.0, 1.0
    )


def _dates(cells: pd.Index, form: str) -> pd.DatetimeIndex:
    """Days of cells, NaT for whatever isn't one."""
    try:
        days = pd.Series(cells)
        days = days.mask(days.isin(CLOCK))
        found = pd.to_datetime(days, format=form or "ISO8601", errors="coerce")
    except ValueError as problem:
        raise SchemaError(f"the date format {form!r} can't be used: {problem}") from problem
    return pd.DatetimeIndex(found)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return bool(abs(value) <= LARGEST)  # type: ignore[operator]

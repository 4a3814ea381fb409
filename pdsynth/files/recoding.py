"""How raw cells become declared values: cell by cell, by public rules alone."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core import SchemaError, is_whole, show, to_list
from .cells import (
    COMMON,
    COMPACT,
    DURATIONS,
    FORMS,
    LONGEST,
    PLAIN,
    Forms,
    is_number,
    read_day,
    read_hour,
    read_number,
)
from .columns import as_text, is_rounded

MEANS = {  # what released rows hold of a date
    "year": "the year of a date",
    "month": "the month of a date",
    "week": "the ISO week of a date",
    "weekday": "the weekday of a date, 1 is Monday",
    "hour": "hours from midnight",
    "age": "completed years on",
}
DATES = (*MEANS,)
TEXTS = ("column", "between", "holds", "date", "format", "on", "number")  # options that are texts
UNIT = re.compile(r"[^\s\d.,'’+−-]")  # the first sign of one
CLOCKS = re.compile("%[HIcX]")  # what of a format tells the hour
NOTHING = math.nan  # of all that is declared
TOLD = 5  # of what cells stand for, in a sentence


@dataclass(frozen=True)
class Recode:
    """What is done to each raw cell of an attribute before it is looked up in the domain.

    ``column``: the raw column, where it isn't the attribute's name. Several attributes may share
    one whose cells hold several things with ``between`` between them: ``holds`` asks whether this
    one is among them, and makes true or false of it; ``part`` takes one by its place, from 1
    ("122/65" is 122 and 65). Everything below is done to what was taken.
    ``mapping``: (raw text, value) pairs, which rename and merge values. ``na_values``: texts that
    stand for an empty cell. ``empty``: the declared value that an empty cell stands for.
    ``prefix``: how many of a code's first signs count, where it isn't a declared value as it is
    (3: "E11.9" is "E11"). ``other``: the declared value of whatever isn't listed (open lists).
    ``date``: "year", "month" (1 to 12), "week" (ISO 8601: 1 to 53), "weekday" (1, Monday, to 7),
    "hour" (from midnight, 10.5 for 10:30) or "age" (completed years on the day ``on``), of dates or
    times written as ``format`` says (strptime; of several forms the first that fits; ISO 8601
    without). ``number``: how numbers are
    written, one of :data:`FORMS`, where it isn't as the schema's file says; a currency or per cent
    sign beside them is left out ("12 %" is 12), and so is each of the texts ``unit`` ("75 kg" is
    75). For times that something took it is "h:min" or "min:s", what 7:05 means; "7 h 5 min" is
    read by both; all become minutes.
    ``clip``: numbers beyond the public edges become these edges.

    Declared values stay as they are, so a synthetic table encodes like a raw one.

    **Privacy:** it acts on each cell alone, so one record changes one row.
    """

    column: str = ""
    between: str = ""
    holds: str = ""
    part: int = 0
    mapping: tuple[tuple[str, Any], ...] = ()
    na_values: tuple[str, ...] = ()
    empty: Any = None
    prefix: int = 0
    other: Any = None
    date: str = ""
    format: Forms = ""
    on: str = ""
    number: str = ""
    unit: tuple[str, ...] = ()
    clip: bool = False
    file_number: str = field(default="", init=False, repr=False)  # of the schema's file: set there

    @classmethod
    def of(cls, **raw: Any) -> Recode | None:
        """From keywords, ``mapping`` a dictionary of raw values; None where nothing is said."""
        known = [option.name for option in fields(cls) if option.init]
        if unknown := sorted({*raw} - {*known}):
            raise SchemaError(
                f"unknown option(s) {', '.join(unknown)}; an attribute knows {', '.join(known)}"
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
        for target in (raw.get("other"), raw.get("empty"), *(value for _, value in pairs)):
            if target is not None and not isinstance(target, (str, int, float, np.generic)):
                raise SchemaError(
                    "other=, empty= and the values of mapping must be declared values or "
                    f"numbers, got {show(target)}"
                )
        gone = [gone] if isinstance(gone, str) else to_list("na_values", gone)
        if not all(isinstance(word, (str, int, float, np.generic)) for word in gone):
            raise SchemaError(f"na_values must be texts, got {show(gone)}")
        units = raw.get("unit", ())
        units = [units] if isinstance(units, str) else to_list("unit", units)
        if isinstance(written := raw.get("format", ""), (list, tuple)):
            raw["format"] = tuple(written) if len(written) != 1 else written[0]
        words = [*cls._texts(raw)]
        if not all(isinstance(w, str) for w in words) or not isinstance(raw.get("clip", 0), int):
            raise SchemaError(
                f"{', '.join(TEXTS[:-1])} and number must be texts, clip True or False"
            )
        if not is_whole(raw.get("prefix", 0), 0, LONGEST):
            raise SchemaError(f"prefix must be a whole number of signs, got {show(raw['prefix'])}")
        if not is_whole(raw.get("part", 0), 0, LONGEST):
            raise SchemaError(f"part must be a place from 1, got {show(raw['part'])}")
        recode = cls(
            **raw
            | {
                "mapping": tuple((as_text(key), value) for key, value in pairs),
                "na_values": tuple(as_text(word) for word in gone),
                "unit": tuple(units),
            }
        )
        return None if recode == cls() else recode

    @staticmethod
    def _texts(options: Mapping[str, Any]) -> Iterator[Any]:
        """What must be texts, each form of several by itself."""
        for key in TEXTS:
            word = options.get(key, "")
            yield from word if key == "format" and isinstance(word, tuple) and word else (word,)

    def said(self) -> dict[str, Any]:
        """What differs from doing nothing, as keywords of :meth:`of`."""
        options = {
            key: value
            for key, value in asdict(self).items()
            if value != getattr(Recode, key) and key != "file_number"
        }
        if self.mapping:
            options["mapping"] = dict(self.mapping)
        if self.na_values:
            options["na_values"] = list(self.na_values)
        if isinstance(self.format, tuple):
            options["format"] = list(self.format)
        if self.unit:
            options["unit"] = self.unit[0] if len(self.unit) == 1 else list(self.unit)
        return options

    def in_file(self, form: str) -> Recode:
        """The same for a file whose numbers are written so, where ``number`` says nothing."""
        same = replace(self)
        object.__setattr__(same, "file_number", form)
        return same

    def meaning(self) -> str:
        """What released rows hold where raw cells were written otherwise; "" where that is plain.

        **Privacy:** public, as all of a schema.
        """
        where = f"whether {show(self.holds)} is in " if self.holds else ""
        where = f"part {self.part} of " if self.part else where
        raw = f"{where}{show(self.column)}" if self.column else ""
        plain = ", ".join(words for words in (raw, self._wording()) if words)
        return "; ".join(words for words in (plain, *self._standing()) if words)

    def _standing(self) -> Iterator[str]:
        """What some cells stand for, in words."""
        if self.mapping:
            listed = [f"{show(key)} is {show(value)}" for key, value in self.mapping[:TOLD]]
            rest = len(self.mapping) - len(listed)
            yield ", ".join(listed) + (f", and {rest} more" if rest else "")
        if self.other is not None:
            yield f"{show(self.other)} is whatever isn't listed"
        if self.empty is not None and not self.holds:
            yield f"{show(self.empty)} is an empty cell, too"
        if words := [text for text in self.na_values if any(map(str.isalnum, text))]:
            more = f" and {len(words) - TOLD} more" if len(words) > TOLD else ""
            yield f"missing is also {', '.join(map(show, words[:TOLD]))}{more}"
        if self.clip:
            yield "numbers beyond an end stand at that end"

    def _wording(self) -> str:
        """What numbers and codes are, in words; "" where that is plain."""
        if self.date:
            return f"{MEANS[self.date]} {self.on}".rstrip()
        if self.prefix:
            signs = "sign" if self.prefix == 1 else f"{self.prefix} signs"
            return f"the first {signs} of a code"
        if self.number in DURATIONS:
            return "minutes"
        return f"in {show(self.unit[0])}" if self.unit else ""

    def problem(self, name: str, values: tuple[Any, ...], numeric: bool, missing: bool) -> str:
        """What is impossible beside a domain, in words; "" where nothing is."""
        keys, listed = [key for key, _ in self.mapping], set(map(as_text, values))
        words = [*self._texts(vars(self))]
        if not all(isinstance(word, str) for word in words) or not isinstance(self.clip, bool):
            return f"{', '.join(TEXTS[:-1])} and number must be texts, clip true or false"
        if problem := self._taking_problem(name, {*keys, *listed}, numeric):
            return problem
        if self.empty is not None and missing:
            return "empty= says what an empty cell stands for, so missing must be False"
        known = is_number(self.empty) if numeric else self.empty in values
        if self.empty is not None and not known:
            return f"empty={self.empty!r} isn't a declared value, or a number for a range"
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
            if self.date or self.number or self.unit or self.clip:
                return "date, number, unit and clip belong to numbers: declare a range or edges"
            return ""
        if self.other is not None or self.prefix:
            return "other= belongs to listed values, and so does prefix=; for numbers say clip=True"
        strange = [value for _, value in self.mapping if not is_number(value)]
        if strange:
            return f"mapping leads to {strange[0]!r}, which isn't a number"
        return self._number_problem() or self._date_problem()

    def _taking_problem(self, name: str, known: set[str], numeric: bool) -> str:
        """Whether raw cells can be taken apart as is said; ``known``: texts that are read."""
        if not self.between and (self.holds or self.part):
            return 'holds= and part= need the sign between the parts of a cell, as between=";"'
        if self.between and bool(self.holds) == bool(self.part):
            return (
                "between= needs what to take: holds=, a value that may be there, or part=, a place"
            )
        if self.between and self.column in ("", name):
            return "what is taken out of a column needs a name of its own, and column=, the raw one"
        if self.holds and (numeric or not {"True", "False"} <= known):
            return "holds= makes true or false: declare `False | True`, or map these"
        return ""

    def _number_problem(self) -> str:
        if self.number and self.number not in (forms := (*FORMS, *DURATIONS)):
            return f"number must be one of {forms}, not {self.number!r}"
        if self.unit and self.number in DURATIONS:
            return "times that something took have units of their own: leave out unit"
        if bad := [word for word in self.unit if not isinstance(word, str) or not UNIT.match(word)]:
            return f"a unit is a text such as 'kg' that begins as no number does, not {bad[0]!r}"
        return "a date has no unit" if self.unit and self.date else ""

    def _date_problem(self) -> str:
        if self.date and self.date not in DATES:
            return f"date must be one of {DATES}, not {self.date!r}"
        if (self.format or self.on) and not self.date:
            return f"format= and on= belong to dates: say date=, one of {DATES}"
        if problem := self._format_problem():
            return problem
        for form in self._forms if self.date == "hour" else ():
            if form and not CLOCKS.search(form):
                return f"date='hour' needs a format that tells it, as %H:%M; not {form!r}"
        if (self.date == "age") != bool(self.on):
            return "date='age' needs the day that ages count to, for example on='2026-12-31'"
        plain = re.fullmatch(r"\d{4}-\d\d-\d\d", self.on)
        if self.on and (plain is None or read_day(self.on) is None):
            return f"on={self.on!r} isn't a day: write it as 2026-12-31"
        return ""

    def _format_problem(self) -> str:
        """Whether days can be written and read by each format."""
        day = dt.datetime(2026, 12, 31, tzinfo=dt.UTC)
        for form in self._forms:
            try:
                dt.datetime.strptime(day.strftime(form), form)
            except (ValueError, re.error) as problem:
                return f"the date format {form!r} can't be used: {problem}"
        return ""

    @property
    def _forms(self) -> tuple[str, ...]:
        return (self.format,) if isinstance(self.format, str) else self.format

    def take(self, cell: Any) -> Any:
        """What a raw cell of ``column`` holds for this attribute; None where it is empty.

        A part is a text; whether a value is held is True or False.

        **Privacy:** a raw cell in, a raw cell out.
        """
        if is_rounded(cell):
            return cell  # for read to decide
        text = as_text(cell)
        if not text or text in self.na_values:
            return None
        parts = self._split(text)
        if self.part:
            return parts[self.part - 1] or None if len(parts) >= self.part else None
        wanted = self._split(self.holds)  # which may hold the sign itself
        starts = range(len(parts) - len(wanted) + 1)
        return any(parts[at : at + len(wanted)] == wanted for at in starts)

    def _split(self, text: str) -> list[str]:
        return [part.strip() for part in text.split(self.between)]

    def read(self, cell: Any, values: Mapping[str, Any] | None) -> Any:
        """The declared value or the number that a cell stands for, a function of that cell alone.

        ``values``: declared values by their text, None for a range of numbers. None: the cell is a
        missing one; NaN: nothing that is declared. A number of 2^53 and beyond is no value, and
        in a range it is what is said of any number that becomes the same floating point number.

        **Privacy:** a raw cell in, a raw cell out.
        """
        if is_rounded(cell):
            number = self._read_number(cell, as_text(cell))
            taken = values is not None or self.between
            return NOTHING if taken else self._rounded.get(number, number)
        text = as_text(cell)
        if text in self._mapped:
            return self._mapped[text]
        if text in self.na_values:
            return None
        if values is None:
            return self._read_number(cell, text)
        return self._find(cell, text, values)

    def __getstate__(self) -> dict[str, Any]:
        """Without what reading cells has kept on the way, which depends on the records."""
        return {option.name: getattr(self, option.name) for option in fields(self)}

    @property
    def form(self) -> str:
        """How the texts of a range of numbers are written."""
        return self.number or self.file_number or COMMON

    @cached_property
    def _mapped(self) -> dict[str, Any]:
        return dict(self.mapping)

    @cached_property
    def _rounded(self) -> dict[float | None, Any]:
        """What is said of texts that are numbers of 2^53 and beyond, by their number."""
        said = dict.fromkeys(self.na_values) | self._mapped
        numbers = {read_number(text, PLAIN): value for text, value in said.items()}
        return {number: value for number, value in numbers.items() if is_rounded(number)}

    def _find(self, cell: Any, text: str, values: Mapping[str, Any]) -> Any:
        if self.prefix and text not in values:
            text = text[: self.prefix]
        elif text not in values and all(map(is_number, values.values())):
            form = self.file_number if isinstance(cell, str) else ""
            number = read_number(text, form or PLAIN)  # written in other ways, too: 4.0, +4, -0
            text = text if number is None else as_text(number)
        return values.get(text, NOTHING if self.other is None else self.other)

    def _read_number(self, cell: Any, text: str) -> float:
        days = self.date not in ("", "hour")
        if is_number(cell) and not (days and cell >= COMPACT):
            return float(cell)
        if not self.date:
            form = self.form if isinstance(cell, str) or self.form in DURATIONS else COMMON
            number = read_number(text, form, self.unit)
            return math.nan if number is None else number
        if self.date == "hour":
            hour = read_hour(cell, self.format)
            return math.nan if hour is None else hour
        day = read_day(text if is_number(cell) else cell, self.format)
        return math.nan if day is None else self._part_of(day)

    def _part_of(self, day: dt.date) -> float:
        if self.date in ("week", "weekday"):
            return float(getattr(day.isocalendar(), self.date))
        if self.date != "age":
            return float(getattr(day, self.date))
        until = dt.date.fromisoformat(self.on)
        early = (day.month, day.day) > (until.month, until.day)
        return float(until.year - day.year - early)

"""How texts are read: as numbers in the form that is declared, as times and as days."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, time
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from .columns import as_text, find_distinct
from .declared import LARGEST

# How numbers are written: (what separates thousands, what stands before the fraction).
FORMS = {
    "1,234.5": (",", "."),
    "1.234,5": (r"\.", ","),
    "1 234,5": (r"[ \u00a0\u2009\u202f]", ","),  # of any width, and one that never breaks a line
    "1'234.5": ("['’]", "."),
    "1234.5": ("", "."),
}
COMMON = "1,234.5"  # where nothing is said
PLAIN = "1234.5"  # no currency or per cent sign, either
SIGNS = "%$€£¥"  # that may stand beside a number
# How a time that something took is written: how many of its last number make a minute.
DURATIONS = {"h:min": 1, "min:s": 60}
CLOCKED = re.compile(r"(?:(\d{1,9}):)?(\d{1,9}):([0-5]\d(?:[.,]\d{1,9})?)", re.ASCII)
SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}  # by the first letter of the unit
SPOKEN = re.compile(  # 2 days 7 h 5 min; each once, the longest first
    r"(?:(?P<d>\d{1,9}) ?d(?:ays?)?,? ?)?(?:(?P<h>\d{1,9}) ?h(?:r|rs|ours?)?,? ?)?"
    r"(?:(?P<m>\d{1,9}) ?m(?:ins?|inutes?)?,? ?)?"
    r"(?:(?P<s>\d{1,9}(?:[.,]\d{1,9})?) ?s(?:ecs?|econds?)?)?",
    re.ASCII | re.IGNORECASE,
)
Forms = str | tuple[str, ...]  # how days are written: in one way, or in several
STRANGE = "\ufffd"  # stands for what an encoding doesn't know
LONGEST = 400  # signs of a text that may be a number or a day
TIME = r"\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?\s*(?:Z|[-+]\d\d(?::?\d\d)?)?"
COMPACT = 10**7  # from here on a whole number has digits enough for a day, as 20261231
ISO = re.compile(
    rf"(\d{{4}})(?:([-/. ]?)(\d\d)\2(\d\d)(?:[T ]{TIME})?"  # 2026-12-31, 20261231, with a time
    rf"|[-/. ](\d\d?)(?:[-/. ](\d\d?)(?:[T ]{TIME})?)?)?",  # 2026, 2026-12, 2026-1-5
    re.ASCII,
)
WEEK = re.compile(r"(\d{4})-?W(\d\d)(?:-?([1-7]))?", re.ASCII)  # 2026-W05, 2026-W05-1
THURSDAY = "4"  # is in the year that its week belongs to
CLOCK = re.compile(r"(?:(.+)[T ])?(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?", re.ASCII)


def is_number(cell: Any) -> bool:
    """Whether a cell is a number by its type, and not too large; a truth value is none."""
    if isinstance(cell, bool) or not isinstance(cell, Real):
        return False
    return bool(abs(cell) <= LARGEST)  # type: ignore[operator]


def read_number(text: str, form: str = "1,234.5", units: Iterable[str] = ()) -> float | None:
    """The number that a text is, written as ``form`` says; None if it is none.

    A currency or per cent sign beside it is left out, and one of ``units``. Texts of more than 400
    signs are no numbers. ``form`` may be one of :data:`DURATIONS`: then minutes.

    >>> [read_number(text) for text in ("$1,234", "12 %", "1,2")]
    [1234.0, 12.0, None]
    >>> [read_number(text, units=["kg"]) for text in ("75 kg", "75", "75 lb")]
    [75.0, 75.0, None]
    """
    if len(text) > LONGEST:
        return None
    if form in DURATIONS:
        return read_minutes(text, form)
    bare = [text := text.strip()]
    bare += [text.removesuffix(unit) for unit in units if text.endswith(unit)]
    bare += [text.removeprefix(unit) for unit in units if text.startswith(unit)]
    return next((x for x in (_read_bare(part, form) for part in bare) if x is not None), None)


def read_minutes(text: str, form: str) -> float | None:
    """The minutes that something took: 7:05 as ``form`` says, 1:05:30, 7 h 5 min, or a number.

    Three numbers are hours, minutes and seconds in either form; a number alone is minutes.

    >>> [read_minutes(text, "h:min") for text in ("7:05", "1:05:30", "1 h 20 min", "90 s", "1 kg")]
    [425.0, 65.5, 80.0, 1.5, None]
    >>> read_minutes("5:16", "min:s") * 60
    316.0
    """
    text = text.strip()
    if clocked := CLOCKED.fullmatch(text):
        hours, middle, last = (float((part or "0").replace(",", ".")) for part in clocked.groups())
        return (3600 * hours + 60 * middle + last) / (60 if clocked[1] else DURATIONS[form])
    spoken = SPOKEN.fullmatch(text) if text else None
    if spoken is None:
        return _read_bare(text, PLAIN)
    parts = {key: part for key, part in spoken.groupdict().items() if part}
    return sum(SECONDS[key] * float(part.replace(",", ".")) for key, part in parts.items()) / 60


def _read_bare(text: str, form: str) -> float | None:
    if not (match := _PATTERNS[form].fullmatch(text.strip())):
        return None
    group, point = FORMS[form]
    digits = re.sub(group, "", match[2]) if group else match[2]
    number = float(digits.replace(point, "."))
    if number > LARGEST:
        return None
    return -number if match[1] in ("-", "−") else number


def _pattern(form: str) -> re.Pattern[str]:
    group, point = FORMS[form]
    point = re.escape(point)
    grouped = rf"[0-9]{{1,3}}(?:{group}[0-9]{{3}})+(?:{point}[0-9]+)?|" if group else ""
    plain = rf"(?:[0-9]+(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][-+]?[0-9]+)?"
    before, behind = (r"\s*[$€£¥]?\s*", r"\s*[%$€£¥]?") if group else ("", "")
    return re.compile(rf"([-+−]?){before}({grouped}{plain}){behind}")


_PATTERNS = {form: _pattern(form) for form in FORMS}


def read_numbers(texts: pd.Series, form: str = "1,234.5", units: Iterable[str] = ()) -> pd.Series:
    """Numbers from texts, NaN for whatever isn't one: see :func:`read_number`.

    >>> read_numbers(pd.Series(["$1,234", "12 %", "1,2"])).tolist()
    [1234.0, 12.0, nan]
    """
    places, distinct = find_distinct(texts)
    numbers = [read_number(as_text(cell), form, units) for cell in distinct]
    table = np.array([*(np.nan if x is None else x for x in numbers), np.nan])
    return pd.Series(table[places], index=texts.index)


def find_signs(texts: pd.Series) -> set[str]:
    """Which of the currency and per cent signs stand in texts; several are no one's numbers."""
    odd = texts[pd.to_numeric(texts, errors="coerce").isna() & texts.notna()]
    return {*SIGNS}.intersection("".join(map(as_text, odd.unique())))


def read_day(cell: Any, form: Forms = "") -> date | None:
    """The day of a cell: a date by its type, or a text as ``form`` says (strptime), else ISO 8601.

    A year or a month alone is its first day; a week alone, 2026-W05, its Thursday. Of several
    forms the first that fits is taken.

    >>> read_day("2026-12-31T10:00"), read_day("31.12.2026", "%d.%m.%Y"), read_day("soon")
    (datetime.date(2026, 12, 31), datetime.date(2026, 12, 31), None)
    """
    if isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    if isinstance(cell, date):  # a Timestamp is one, too, with its own time zone
        return date(cell.year, cell.month, cell.day)
    if not isinstance(cell, str) or len(cell) > LONGEST:
        return None
    if not isinstance(form, str):
        return next(filter(None, (read_day(cell, one) for one in form)), None)
    try:
        if form:
            return datetime.strptime(cell.strip(), form).date()
        if week := WEEK.fullmatch(cell.strip()):
            return date.fromisocalendar(*map(int, (week[1], week[2], week[3] or THURSDAY)))
        match = ISO.fullmatch(cell.strip())
        if match is None:
            return None
        year, _, month, day, other_month, other_day = match.groups()
        return date(int(year), int(month or other_month or 1), int(day or other_day or 1))
    except ValueError:
        return None


def read_hour(cell: Any, form: Forms = "") -> float | None:
    """The hours from midnight to a cell's time of day: 10.5 for 10:30.

    A time, or a day with a time, by its type; or a text as ``form`` says (strptime), else
    HH:MM[:SS], alone or after an ISO 8601 day, without a time zone.

    >>> read_hour("10:30"), read_hour("2026-12-31T18:15:00"), read_hour("2026-12-31")
    (10.5, 18.25, None)
    """
    if isinstance(cell, np.datetime64):
        cell = pd.Timestamp(cell)
    if isinstance(cell, (datetime, time)):
        return cell.hour + cell.minute / 60 + cell.second / 3600
    if not isinstance(cell, str) or len(cell) > LONGEST:
        return None
    if not isinstance(form, str):
        hours = (read_hour(cell, one) for one in form)
        return next((hour for hour in hours if hour is not None), None)
    try:
        if form:
            return read_hour(datetime.strptime(cell.strip(), form))
        match = CLOCK.fullmatch(cell.strip())
        if match is None or (match[1] and read_day(match[1]) is None):
            return None
        return read_hour(time(int(match[2]), int(match[3]), int(match[4] or 0)))
    except ValueError:
        return None

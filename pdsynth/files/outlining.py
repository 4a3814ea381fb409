"""A first draft of a schema file, read off the records and marked as such, line by line."""

import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..core import Attribute, SchemaError, check_path, to_items
from .cells import COMPACT, LONGEST, find_signs, read_day, read_hour, read_numbers
from .columns import EXACT
from .domains import BINS
from .file_format import FileFormat
from .identifiers import EVERY, kind_of, tell_apart
from .number_forms import READ, find_form
from .opening import Source
from .reading import Header, read_csv, read_header, read_texts
from .rule_drafts import draft_rules
from .schema_file import write_entry, write_inline, write_schema
from .several import draft_answers, draft_numbers
from .taking import take_columns
from .writing import naming

HEAD = """\
# A first draft, read off the raw records of {name}. Nothing in it is public yet: keep it inside.
# Go through the lines that say public = false. Write what the form, the codebook or the law allows,
# whatever the records hold, and delete "public = false". A line that begins with ? waits for a
# domain, or for "drop". A strict fit refuses this schema until no such line is left.
"""
CANDIDATE = "these records keep it: does the form, the law or arithmetic say so? Else delete it"
# Words that stand for an empty cell, in English, German, French, Spanish and Italian.
EMPTY = {
    *("?", "na", "n/a", "n.a.", "nan", "null", "none", "-", "--", ".", "missing"),
    *("k. a.", "k.a.", "keine angabe", "non renseigné", "sin dato", "n/d", "n.d."),
}
DATES = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
SHORT_YEARS = "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%y-%m-%d"
PARTS = {"%Y": r"\d{4}", "%y": r"\d\d", "%d": r"\d\d?", "%m": r"\d\d?", "%b": r"\w+", "%B": r"\w+"}
LOOKS = {  # what a cell must look like, to be tried: strptime is slow
    form: re.compile(re.sub("%.", lambda part: PARTS[part[0]], form.replace(".", r"\.")))
    for form in (*DATES, *SHORT_YEARS)
}
CLOCKS = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")  # times of day
WRITTEN = (*DATES, *(f"{day} {clock}" for day in DATES for clock in CLOCKS), "", *CLOCKS)
NUMBERS = "integer", "floating", "mixed-integer-float", "decimal"
DAYS = "datetime64", "datetime", "date", "time"  # types by pandas.api.types.infer_dtype
LISTED, KEPT = 20, 12  # values that are listed; that an open list keeps
STRAYS, RARE = 3, 0.1  # words among numbers or days, such as "no answer": how many, in which share
# 110+, >110 and <0.05, but not 110
END = re.compile(r"(?=[<>≤≥]|.*\+)(?:[<>]=?|[≤≥])? *([0-9](?:[0-9.,' ]{0,20}[0-9])?) *\+?")
HUGE = 1e299  # a range of larger numbers would be refused
AGAIN = 10  # times that a text must come in the mean, to be a value and not free text
COMMON = 0.25  # share of the records that the values of an open list must have
NAMELESS = "identifier or free text"
RANGE, LIST = "ends that the form or the law sets", "all codes of the codebook, used or not"
DECIMALS = 'all numbers that can occur, used or not; if others can, domain = "{} to {} in 16 bins"'
STEPS = '; or these {} alone? Then values = [{:g}, …, {:g}], and number = "{}" below [file]'
BOTH, ONLY = "both are possible", ("? one value only: what else may stand here?", "")
ALIKE = "? numbers that differ in their last digits alone: make texts of them, or drop"
CODES_BEYOND = (
    "? a few whole numbers of 2^53 and beyond, which bins would blur: list them as texts, or drop"
)
EMPTY_COLUMN = ("? no cell holds anything: what may stand here?", "")
SKEWED = "; more than half stand in one bin: edges by hand, or `in 16 private bins`?"
AREAS, DIGITS = "; or are these codes? Then list them, or write prefix = 2", 5
AS_NUMBERS = '; are these days, as 20261231? Then write the years, and date = "year"'
OPEN = "a public list (census, ISO codes), never a count"
MANY = "? many values, none of them common: group them by public knowledge, or drop"
PERSONS = "some come again: if it names persons, release with --records-per-person"
CUSTOMERS = "; if it names persons, drop it, and release with --records-per-person"
ENDS = (
    "mapping: is this where the form stops counting? Its bin holds the numbers next to it, too: "
    "edges by hand keep it apart"
)
REFUSED = "; does {} mean that there is no answer? Then list it in na_values, and cut the range"
NO_ANSWER = re.compile(r"9*[6-9]|8+")  # 97, 98, 99; 888
NONE = "; is none an answer? Then list it, and take it out of na_values"
GAPS = "na_values: do these words mean that nothing is known?"
CODES = "of a code its first signs, for a public grouping (ICD, ISCO, postal): more, or fewer?"
YEARS = 'years that can occur; date = "month", "week", "weekday" or "age" are possible, too'
MONTHS = 'one year only, so months; date = "week", "weekday" or "age" are possible, too'
SEVERAL_FORMS = "; days in several forms, each read by the first that fits: are these all?"
UNCLEAR = (
    "? days in several forms ({}), some of which may mean two days: write them in one, or drop"
)
CENTURY = "; of two digits of a year 69 is read as 1969 and 68 as 2068: is that so? Else write four"
VERSIONS = "; or are these versions or codes, no days? Then list them, or drop"
OTHERWISE = "; or is day and month the other way round, {}?"
WITHOUT = "; released rows have no unit"
HOURS = 'hours from midnight; what something took is number = "h:min" or "min:s", in minutes'
MINUTES = "minutes" + WITHOUT
SHORT = '; does 7:05 mean 7 minutes? Then number = "min:s"'
COUNTED = re.compile(r"\d ?([dhms:])")  # what a time that something took is counted in
CODE = re.compile(r"[A-Za-z]{0,3}\d[\dA-Za-z.-]{1,12}", re.ASCII)
HEADS = 3, 2, 1  # first signs of a code that may be a group's
# A number with its unit behind it, or the three letters of a currency before it.
WITH_UNIT = re.compile(r"(?:([A-Z]{3}) )?[-+−]? ?(\d(?:.*\d)?) ?(°|[°µ]?[^\W\d_]\D{0,19})?")
SEVERAL = "? numbers in several units ({}): convert them to one, or drop"
SPOKEN = 3  # letters of a unit that may have an ending: day, days
Found = tuple[Attribute | str, str]  # an attribute, or why its column is left out; a comment


def outline(
    source: Source,
    path: str | os.PathLike[str] | None = None,
    *,
    names: Sequence[str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    number: str | None = None,
    skip: int | None = None,
) -> str:
    """A first draft of a schema file for a data file, to be reviewed; returns its text.

    ``path``: where to write it; an existing file is refused, it may be reviewed already. The other
    parameters are those of :func:`read_csv`. Columns that are identifiers or free text by their
    name are left out; everything else is marked ``public = false`` or open (``?``), so that
    ``Schema.read`` calls it "data" and a strict fit refuses it until its owner has confirmed every
    line. Numbers are read in one form, where one column tells it; where none does, the line asks
    what 4.012 is. Rules between columns that these records keep, and hardly by chance, are
    candidates, marked likewise. Raises SchemaError as :func:`read_csv` does.

    **Privacy:** every value is read and domains are told: the draft is raw, outside every
    guarantee, and stays with the owner of the records.
    """
    if path is not None:
        check_path(path)
    names = None if names is None else to_items("names", names) or None
    if path is not None and Path(path).exists():
        raise SchemaError(
            f"{Path(path).name} exists: it may be reviewed already, so it isn't "
            "overwritten; name another file, or delete it"
        )
    label = Path(source).name if isinstance(source, (str, os.PathLike)) else "a data file"
    label = label if label.isprintable() else repr(label)  # in a comment, which ends with its line
    how: dict[str, Any] = {
        "names": names,
        "delimiter": delimiter,
        "encoding": encoding,
        "header": header,
        "skip": skip,
    }
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # read_csv says it, too
        layout = read_header(source, **how)
        form, asked = ("", {}) if number else find_form(read_texts(source, **how), _is_word, _units)
    file = _describe_file(layout, number or form, skip)
    frame = read_csv(source, **how, number=number or form or None)
    forms = [number] if number else sorted(READ, key=form.__ne__)
    times = Counter(layout.names)
    attributes, left_out, notes = [], {}, {}
    for name, first in zip(map(str, frame.columns), layout.names, strict=True):
        twice = [(name, "? several columns of this name: rename them, or drop", "")]
        for own, draft, note in twice if times[first] > 1 else _draft_all(name, frame[name], forms):
            measured = isinstance(draft, Attribute) and draft.edges is not None
            notes[own] = f"{note}; {asked[name]}" if measured and name in asked else note
            if isinstance(draft, str):
                left_out[own] = draft
            else:
                attributes.append(draft)
    facts = {
        "attributes": tuple(attributes),
        "source": "data",
        "groups": {},
        "left_out": left_out,
        "columns": tuple(names or ()),
        "file": file,
        "rules": (rules := draft_rules(take_columns(frame, attributes), attributes)),
    }
    notes |= dict.fromkeys(map(str, rules), CANDIDATE)
    text = write_schema(facts, notes=notes, order=[*notes], head=HEAD.format(name=label))
    if path is not None:
        with naming(Path(path)):
            Path(path).write_text(text, encoding="utf-8", newline="\n")
    return text


def explore(frame: pd.DataFrame) -> dict[str, str]:
    """What :func:`outline` would draft, as the lines of a schema file's table.

    **Privacy:** every value is read and domains are told, outside every guarantee.
    """
    lines = {}
    for column in map(str, frame.columns):
        for name, draft, _ in _draft_all(column, frame[column], READ):
            if isinstance(draft, str):
                lines[name] = draft if draft.startswith("?") else f"drop: {draft}"
            else:
                entry = write_entry(draft)
                if isinstance(entry, str) and len(entry.splitlines()) > 1:
                    entry = {"domain": entry}  # whose quotes spell the ends of lines
                lines[name] = entry if isinstance(entry, str) else write_inline(entry)
    return lines


def _describe_file(layout: Header, number: str, skip: int | None) -> FileFormat | None:
    """How a text file seems to be written; None for a file that knows it itself."""
    if not layout.encoding:
        return None
    file = FileFormat(layout.encoding, layout.delimiter, layout.first, number, skip or 0)
    return replace(file, number=file.number_form)


def _draft_all(
    name: str, column: pd.Series, forms: Sequence[str]
) -> list[tuple[str, Attribute | str, str]]:
    """Names, attributes and comments of what a column seems to hold: several, if its cells do."""
    one = _draft(name, column, forms)
    measured = isinstance(one[0], Attribute) and one[0].edges is not None
    asked = kind_of(name) == "number" or (kind_of(name) == "person" and measured)
    if asked and (named := _numbered(column, one[0])):
        return [(name, *named)]
    found = _several(name, column, one[0], forms) or [one]
    return [(name if isinstance(draft, str) else draft.name, draft, note) for draft, note in found]


def _numbered(column: pd.Series, draft: Attribute | str) -> Found | None:
    """A column that is called a number, of many values; None where it is an amount, or days."""
    if isinstance(draft, str) and not draft.startswith("?"):
        return None
    recode = {} if isinstance(draft, str) or not draft.recode else draft.recode.said()
    amounts = isinstance(draft, Attribute) and draft.edges is not None and not draft.integer
    values, n = column.nunique(), column.count()
    if values <= LISTED or amounts or "date" in recode:
        return None
    again = PERSONS if values < n else ""
    return (NAMELESS, again) if values > n / 2 else (f"? {NAMELESS}", again)


def _draft(name: str, column: pd.Series, forms: Sequence[str]) -> Found:
    """What a column seems to hold."""
    cells = column.dropna()
    if cells.empty:
        return EMPTY_COLUMN
    if kind_of(name) == "identifier":
        return NAMELESS, "" if cells.astype("str").is_unique else PERSONS
    kind = pd.api.types.infer_dtype(cells)
    if kind not in ("string", "empty"):
        return _typed(name, cells, kind, {"missing": len(cells) < len(column)})
    rest, empty = _without_empty(cells)
    how: dict[str, Any] = {"missing": len(rest) < len(column)} | empty
    if measured := _measured(name, rest, how, forms):
        return measured
    words = sorted(text for text in rest.unique() if not any(map(str.isdigit, text)))
    ends = {text: end[1] for text in sorted(rest.unique()) if (end := END.fullmatch(text))}
    others = rest[~rest.isin([*words, *ends])]
    few = 0 < len(words) + len(ends) <= STRAYS and rest.isin(words).mean() <= RARE
    if few and others.nunique() > LISTED:  # fewer are codes, and so are the words
        gaps = (
            {"missing": True, "na_values": sorted([*empty.get("na_values", ()), *words])}
            if words
            else {}
        )
        read = pd.concat([others, pd.Series(ends.values(), dtype=others.dtype)])
        mapped = {"mapping": _as_numbers(ends, read, forms)} if ends else {}
        draft, note = _measured(name, read, how | gaps | mapped, forms) or ("", "")
        if isinstance(draft, Attribute):
            asked = [GAPS] * bool(gaps) + [ENDS] * bool(ends)
            return draft, f"{note}; {' '.join(asked)}"
    draft, note = _listed(name, rest, how)
    none = any(text.lower() == "none" for text in empty.get("na_values", ()))
    return draft, note + NONE * (none and isinstance(draft, Attribute))


def _as_numbers(ends: dict[str, str], read: pd.Series, forms: Sequence[str]) -> dict[str, float]:
    """The numbers of texts such as 90+ and <0.05, in the form in which their column is read."""
    form = next((form for form in forms if read_numbers(read, form).notna().all()), forms[0])
    numbers = read_numbers(pd.Series(ends.values(), dtype=read.dtype), form).tolist()
    return {end: int(x) if x.is_integer() else x for end, x in zip(ends, numbers, strict=True)}


def _is_word(text: str) -> bool:
    """Whether a text says nothing of how numbers are written: no digit, or as >110 and <0.05."""
    return not any(map(str.isdigit, text)) or END.fullmatch(text) is not None


def _without_empty(
    cells: pd.Series, words: Collection[str] = EMPTY
) -> tuple[pd.Series, dict[str, Any]]:
    """Cells as texts, without those whose words stand for an empty one; these, as a keyword."""
    texts = cells.astype("str")
    empty = sorted({text for text in texts.unique() if text.lower() in words})
    return texts[~texts.isin(empty)], {"na_values": empty} if empty else {}


def _several(
    name: str, column: pd.Series, draft: Attribute | str, forms: Sequence[str]
) -> list[Found]:
    """Attributes of a column whose cells hold several things, where ``draft`` sees texts only."""
    open_texts = draft.startswith("?") if isinstance(draft, str) else draft.edges is None
    cells = column.dropna()
    if not open_texts or pd.api.types.infer_dtype(cells) != "string":
        return []
    rest, empty = _without_empty(cells)
    how: dict[str, Any] = {"missing": len(rest) < len(column)} | empty
    measured = partial(_measured, forms=forms)
    if rest.nunique() > LISTED and (numbers := draft_numbers(name, rest, how, measured)):
        return numbers
    rest, empty = _without_empty(cells, EMPTY - {"none"})  # which is an answer among others
    return draft_answers(name, rest, {"missing": len(rest) < len(column)} | empty)


def _measured(
    name: str, texts: pd.Series, how: dict[str, Any], forms: Sequence[str]
) -> Found | None:
    """A column whose texts are all numbers, or all days; else None."""
    distinct = texts.unique()
    for form in forms:
        numbers = read_numbers(texts, form)
        if len(texts) and numbers.notna().all() and not texts.str.match(r"[-+]?0\d").any():
            if len(signs := find_signs(texts)) > 1:
                return SEVERAL.format(", ".join(sorted(signs))), ""
            if _few_beyond(numbers):
                return None  # codes: texts hold every digit of them
            plain = pd.to_numeric(texts, errors="coerce").eq(numbers).all()
            return _numeric(name, numbers, how if plain else how | {"number": form})
    units = _units(distinct) if len(distinct) > LISTED else []
    for form in forms if units else ():
        numbers = read_numbers(texts, form, units)
        if numbers.notna().all():
            unit = units[0] if len(units) == 1 else units
            draft, note = _numeric(name, numbers, how | {"number": form, "unit": unit})
            return draft, note + WITHOUT if isinstance(draft, Attribute) else note
    for written in WRITTEN:
        if found := _dated(name, distinct, written, how):
            other = re.sub(r"%d([/-])%m", r"%m\1%d", written)
            doubt = other != written and _dated(name, distinct, other, how)
            return found[0], found[1] + OTHERWISE.format(other) * bool(doubt)
    if found := _in_several_forms(name, distinct, how):
        return found
    counted = {sign for text in distinct for sign in COUNTED.findall(text)}
    if len(distinct) > LISTED and (":" in counted or len(counted) > 1):
        minutes = read_numbers(texts, "h:min")
        if minutes.notna().all():
            draft, note = _numeric(name, minutes, how | {"number": "h:min"})
            words = MINUTES + SHORT * (":" in counted)
            return draft, words if isinstance(draft, Attribute) else note
    return None


def _units(texts: Iterable[str]) -> list[str]:
    """The unit of all numbers, with its endings; none where there are several, or a code."""
    found = set[str]()
    for text in texts:
        match = WITH_UNIT.fullmatch(text.strip()) if len(text) <= LONGEST else None
        if match is None or re.match(r"0\d", match[2]):
            return []
        found |= {unit.rstrip() for unit in match.group(1, 3) if unit}
    units = sorted(found)
    one = all(unit.startswith(units[0]) for unit in units)
    return units if len(units) == 1 or (one and units and len(units[0]) >= SPOKEN) else []


def _natural(text: str) -> tuple[list[tuple[int, str]], str]:
    """A key that sorts texts by the whole numbers in them: 2 days before 10 days."""
    parts = re.split(r"(\d+)", text, flags=re.ASCII)
    plain = [part.lstrip("0") if at % 2 else part for at, part in enumerate(parts)]
    return [(len(part) if at % 2 else 0, part) for at, part in enumerate(plain)], text


def _typed(name: str, cells: pd.Series, kind: str, how: dict[str, Any]) -> Found:
    """A column whose file knows its type: truth values, numbers, days."""
    if kind == "boolean":
        return Attribute.categorical(name, [False, True], **how), BOTH
    if kind in NUMBERS:
        return _numeric(name, cells.astype(float) if kind == "decimal" else cells, how)
    if kind in DAYS and (found := _dated(name, cells.unique(), "", how)):
        return found
    return f"? cells of type {kind}, which no domain describes: convert them, or drop", ""


def _in_several_forms(name: str, cells: Sequence[str], how: dict[str, Any]) -> Found | None:
    """Days that take several forms, or whose years have two digits; None where they aren't days.

    A form that alone reads some cell is needed; of the others the first ones that read the rest.
    """
    days = dict[str, dict[str, Any]]()  # of each cell, by the forms that read it
    for cell in cells:
        read = {
            form: read_day(cell, form)
            for form, look in LOOKS.items()
            if look.fullmatch(cell.strip())
        }
        days[cell] = {form: day for form, day in read.items() if day}
        if not days[cell]:
            return None
    needed = [form for form in DATES + SHORT_YEARS if any([*d] == [form] for d in days.values())]
    chosen, rest = list[str](), list(days.values())
    for form in (*needed, *DATES, *SHORT_YEARS):
        left = [d for d in rest if form not in d]
        if len(left) < len(rest):
            chosen, rest = [*chosen, form], left
    short = any(form in SHORT_YEARS for form in chosen)
    if len(chosen) == 1 and (not short or len(days) <= LISTED):
        return None  # a few 1.2.10 are versions, or codes
    if any(len({d[form] for form in chosen if form in d}) > 1 for d in days.values()):
        return UNCLEAR.format(", ".join(chosen)), ""
    found = _dated(name, cells, chosen, how)
    others = dict[str, None]()  # forms that read as many cells, as other days
    for form in chosen:
        mine = [d for d in days.values() if form in d]
        same = set.intersection(*({*d} for d in mine)) - {*chosen}
        others |= {
            o: None for o in DATES + SHORT_YEARS if o in same and any(d[o] != d[form] for d in mine)
        }
    doubt = f"; or are they written as {' or '.join(others)}?" if others else ""
    several = SEVERAL_FORMS if len(chosen) > 1 else VERSIONS * short
    return found and (found[0], found[1] + several + CENTURY * short + doubt)


def _dated(name: str, cells: Iterable[Any], written: Any, how: dict[str, Any]) -> Found | None:
    """Years of days, months where they are of one year, hours of times; else None."""
    how = how | {"format": written} if written else how
    days = () if written in CLOCKS else cells  # strptime takes the first of January 1900
    if years := _read_all(days, lambda cell: getattr(read_day(cell, written), "year", None)):
        low, high = min(years), max(years)
        if low == high:
            return Attribute.numeric(
                name, 1, 12, bins=12, date="month", integer=True, **how
            ), MONTHS
        return Attribute.numeric(name, low, high, date="year", integer=True, **how), YEARS
    if _read_all(cells, lambda cell: read_hour(cell, written)):
        return Attribute.numeric(name, 0.0, 24.0, bins=24, date="hour", **how), HOURS
    return None


def _read_all(cells: Iterable[Any], read: Callable[[Any], Any]) -> list[Any]:
    """What all cells are; nothing as soon as one is unreadable."""
    found = []
    for cell in cells:
        if (value := read(cell)) is None:
            return []
        found.append(value)
    return found


def _numeric(name: str, numbers: pd.Series, how: dict[str, Any]) -> Found:
    """A list of a few whole numbers, or of decimals that come often; else a range, round ends."""
    values = np.sort(numbers.unique())
    low, high = (float(values[0]), float(values[-1])) if len(values) else (0.0, 0.0)
    if not max(-low, high) <= HUGE:
        return "? numbers too large for a range: replace them, or drop", ""
    exact = max(-low, high) < EXACT
    whole = bool((numbers == numbers.round()).all()) and exact
    if len(values) + how["missing"] < 2:
        return ONLY
    if whole and len(values) == len(numbers) > LISTED and values[-1] - values[0] == len(values) - 1:
        return "? a running number", ""
    if tell_apart(numbers):
        return EVERY, ""
    if _few_beyond(numbers):
        return CODES_BEYOND, ""
    few = len(values) <= LISTED and exact
    if whole and few and "number" not in how:
        return Attribute.categorical(name, values.astype("int64").tolist(), **how), LIST
    if len(values) < 2:
        return ONLY
    if not whole and (np.diff(np.linspace(low, high, BINS + 1)) <= 0).any():
        return ALIKE, ""
    low, high = _round_ends(low, high, whole)
    often = few and not whole and len(values) * AGAIN <= len(numbers)
    if often and "number" not in how:
        return Attribute.categorical(name, values.tolist(), **how), DECIMALS.format(low, high)
    asked = SKEWED if np.histogram(numbers, BINS, (low, high))[0].max() > len(numbers) / 2 else ""
    if whole and low >= 0 and len(str(int(values[0]))) == len(str(int(values[-1]))) >= DIGITS:
        days = low >= COMPACT and all(read_day(f"{value:.0f}") for value in values)
        asked += AS_NUMBERS if days else AREAS + CUSTOMERS
    values = values.astype(float)  # the distance of two whole numbers may overflow
    if codes := _stand_apart(values) or [-code for code in _stand_apart(-values[::-1])]:
        asked = REFUSED.format(" or ".join(f"{code:g}" for code in codes))
    asked += STEPS.format(len(values), values[0], values[-1], how["number"]) if often else ""
    return Attribute.numeric(name, low, high, integer=whole, **how), RANGE + asked


def _few_beyond(numbers: pd.Series) -> bool:
    """Whether numbers are so few and so large that they are codes, whose last digits count."""
    often = numbers.nunique() <= min(LISTED, len(numbers) / AGAIN)
    whole = bool((numbers == numbers.round()).all())
    return often and whole and max(-numbers.min(), numbers.max()) >= EXACT


def _round_ends(low: float, high: float, whole: bool) -> tuple[float, float]:
    """The next ends of at most two digits of their distance, as numbers are written.

    >>> _round_ends(0.7, 2.1, False), _round_ends(17.0, 98.0, True)
    ((0.7, 2.1), (17.0, 98.0))
    """
    power = math.floor(math.log10(high - low) - 1)
    step = Decimal(1).scaleb(max(power, 0) if whole else power)
    ends = (Decimal(repr(low)), ROUND_FLOOR), (Decimal(repr(high)), ROUND_CEILING)
    down, up = (float((end / step).to_integral_value(how) * step) for end, how in ends)
    return down, up


def _stand_apart(values: np.ndarray) -> list[float]:
    """The last few of some rising numbers, where they look like codes of no answer."""
    gap = int(np.argmax(np.diff(values))) + 1
    last = values[gap:].tolist()
    far = values[gap] - values[gap - 1] > values[gap - 1] - values[0]
    codes = len(last) <= STRAYS and all(NO_ANSWER.fullmatch(f"{value:g}") for value in last)
    return last if far and codes else []


def _listed(name: str, texts: pd.Series, how: dict[str, Any]) -> Found:
    """A list of values, an open one where they are many, or nothing where each is its own."""
    counts = texts.value_counts()
    if kind_of(name) == "words" and (len(counts) > LISTED or len(counts) * AGAIN > len(texts)):
        return NAMELESS, ""
    if len(counts) + how["missing"] < 2:
        return ONLY
    if len(counts) > LISTED and len(counts) > len(texts) / 2:
        return f"? {NAMELESS}", PERSONS if len(counts) < len(texts) else ""
    if len(counts) <= LISTED:
        return Attribute.categorical(name, sorted(counts.index, key=_natural), **how), LIST
    for signs in HEADS if all(map(CODE.fullmatch, counts.index)) else ():
        heads = sorted({text[:signs] for text in counts.index}, key=_natural)
        if 1 < len(heads) <= LISTED:
            return Attribute.categorical(name, heads, prefix=signs, **how), CODES + CUSTOMERS
    if counts.iloc[:KEPT].sum() < COMMON * len(texts):
        return MANY, PERSONS
    values = sorted(counts.index[:KEPT], key=_natural)
    rest = "elsewhere" if "elsewhere" not in values else "(elsewhere)"
    return Attribute.categorical(name, [*values, rest], other=rest, **how), OPEN

"""A domain in one line of plain words, which a person writes and reviews."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core import Attribute, SchemaError, show
from .declared import MAX_VALUES

BINS = 16  # where a range says no number
MOST_VALUES = 2**20  # declared in one schema file: a few seconds and some 200 MiB of labels
RANGE = re.compile(r"(\S+)\s+to\s+(\S+?)(?:\s+in\s+(\d+)\s+(private\s+)?bins?)?")
FORM = (
    "write `18 to 90 in 8 bins` (or `in 8 private bins`), `edges 0, 1000, 5000` or `yes | no`, "
    "and `+ missing` where a cell may be empty; else `drop`, or `?`"
)


def read_rule(name: str, rule: str, bins: int = BINS) -> tuple[Attribute, str]:
    """An attribute from its domain, and the Python that makes it; ``bins`` where none are said.

    >>> read_rule("age", "18 to 90 in 8 bins")[1]
    "numeric('age', 18, 90, bins=8, integer=True)"
    """
    body, missing = _split_missing(rule)
    span = RANGE.fullmatch(body)
    options: dict[str, Any] = {}
    if span:
        method, domain = "numeric", [_plain(span[1]), _plain(span[2])]
        options["bins"] = int(_number(span[3] or str(bins)))
        if options["bins"] > MAX_VALUES:
            raise SchemaError(f"{options['bins']:,} bins; at most {MAX_VALUES:,} are possible")
        if span[4]:
            options = {"bins": "private", "number": options["bins"]}
    elif body.startswith("edges "):
        method, domain = "binned", [_plain(part) for part in body[6:].split(",")]
    else:
        method, domain = "categorical", _values([word.strip() for word in body.split("|")])
        if len(domain) + missing < 2 or "" in domain:
            raise SchemaError(f"{rule!r} declares no domain: {FORM}")
    if method != "categorical" and all(isinstance(number, int) for number in domain):
        options["integer"] = True
    if missing:
        options["missing"] = True
    arguments = [name, *domain] if span else [name, domain]
    code = [repr(value) for value in arguments] + [
        f"{key}={value!r}" for key, value in options.items()
    ]
    return getattr(Attribute, method)(*arguments, **options), f"{method}({', '.join(code)})"


def _split_missing(rule: str) -> tuple[str, bool]:
    """A rule without its ``+ missing``, and whether it had one."""
    before = rule.rstrip()
    if before.endswith("missing") and (plus := before[:-7].rstrip()).endswith("+"):
        return plus[:-1].rstrip(), True
    return rule, False


def check_total(entries: Mapping[str, Any], where: str) -> None:
    """Refuse more declared values than a schema file may have, before any of them is made."""
    total = sum(map(_count_values, entries.values()))
    if total > MOST_VALUES:
        raise SchemaError(
            f"{where} declares {total:,} values in {len(entries):,} attributes, at most "
            f"{MOST_VALUES:,} are possible: cut ranges into fewer bins, or drop columns"
        )


def _count_values(entry: Any) -> int:
    """How many values an entry declares; those that :func:`read_rule` refuses don't count."""
    if isinstance(entry, Mapping):
        listed = entry.get("values", entry.get("edges"))
        if isinstance(listed, Sequence):
            return len(listed)
        entry = entry.get("domain")
    if not isinstance(entry, str):
        return 0
    if span := RANGE.fullmatch(_split_missing(entry)[0]):
        bins = span[3] or str(BINS)
        return int(bins) if len(bins) <= len(str(MAX_VALUES)) else 0
    return 1 + max(entry.count("|"), entry.count(","))


def _plain(text: str) -> int | float:
    """An end of a range; one that is written as a code is refused, whose zeros would be lost."""
    if re.match(r"\s*[-+]?0\d", text):
        raise SchemaError(
            f"{show(text.strip())} begins with a zero, which released numbers wouldn't have: of "
            'codes list what may occur (01 | 02), or their first signs ({domain = "021 | 022", '
            "prefix = 3}); a number is written without it"
        )
    return _number(text)


def _number(text: str) -> int | float:
    try:
        return int(text) if re.fullmatch(r"\s*-?\d+\s*", text) else float(text)
    except ValueError:  # more than 4,300 digits are none to Python, either
        raise SchemaError(f"{show(text.strip())} isn't a number: {FORM}") from None


def _values(words: list[str]) -> list[Any]:
    """Whole numbers only if all look the same when they are written again ("01" is a text)."""
    whole = all(re.fullmatch(r"0|-?[1-9]\d{0,17}", word) for word in words)
    return [int(word) for word in words] if whole else words


def write_rule(attribute: Attribute) -> str:
    """The line that :func:`read_rule` reads as the domain of an attribute; "" if none does.

    >>> write_rule(Attribute.numeric("age", 0, 99, bins=5, integer=True, missing=True))
    '0 to 99 in 5 bins + missing'
    """
    values, edges, bins = attribute.values, attribute.edges or (), len(attribute.values)
    exact = values, attribute.edges, attribute.missing, attribute.private
    target = repr(exact)  # 1, 1.0 and True are equal
    lines = [" | ".join(map(str, values))]
    if edges:
        lines = [
            f"{edges[0]!r} to {edges[-1]!r} in {bins} {'private ' * bool(attribute.private)}bins",
            f"edges {', '.join(map(repr, edges))}",
        ]
    for line in (f"{line}{' + missing' * attribute.missing}" for line in lines):
        try:
            reading = read_rule(attribute.name, line)[0]
        except SchemaError:
            continue
        if repr((reading.values, reading.edges, reading.missing, reading.private)) == target:
            return line
    return ""

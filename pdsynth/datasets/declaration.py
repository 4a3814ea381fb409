"""A schema as a text: one line per column, to be written by hand, proposed from column names, or
explored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..domain.schema import MAX_VALUES, Attribute, Schema
from ..errors import SchemaError

LISTED = 60  # values that a proposal lists
NAMELESS = re.compile(
    r"(.*[_ -])?(id|uuid|name|surname|e-?mail|phone|address|ssn|iban|notes?|comments?|text)",
    re.IGNORECASE)
FORM = ("write `18 to 90 in 8 bins`, `edges 0, 1000, 5000` or `yes | no`, "
        "and `+ missing` where a cell may be empty; else `drop`, or `?`")


@dataclass(frozen=True)
class Declared:
    """A declaration that was read: the schema, its Python, columns left out, columns still open."""

    schema: Schema
    code: str
    dropped: tuple[str, ...]
    open: tuple[str, ...]


def read_rule(name: str, rule: str, bins: int = 16) -> tuple[Attribute, str]:
    """An attribute from its domain, and the Python that makes it; ``bins`` where none are said.

    >>> read_rule("age", "18 to 90 in 8 bins")[1]
    "numeric('age', 18, 90, bins=8, integer=True)"
    """
    body, missing = re.subn(r"\s*\+\s*missing$", "", rule)
    span = re.fullmatch(r"(\S+)\s+to\s+(\S+?)(?:\s+in\s+(\d+)\s+bins?)?", body)
    options: dict[str, Any] = {}
    if span:
        method, domain = "numeric", [_number(span[1]), _number(span[2])]
        options["bins"] = int(span[3] or bins)
        if options["bins"] > MAX_VALUES:
            raise SchemaError(f"{options['bins']:,} bins; at most {MAX_VALUES:,} are possible")
    elif body.startswith("edges "):
        method, domain = "binned", [_number(part) for part in body[6:].split(",")]
    else:
        method, domain = "categorical", _values([word.strip() for word in body.split("|")])
        if len(domain) + missing < 2 or "" in domain:
            raise SchemaError(f"{rule!r} declares no domain: {FORM}")
    if method != "categorical" and all(isinstance(number, int) for number in domain):
        options["integer"] = True
    if missing:
        options["missing"] = True
    given = [name, *domain] if span else [name, domain]
    code = [repr(value) for value in given] + [f"{key}={value}" for key, value in options.items()]
    return getattr(Attribute, method)(*given, **options), f"{method}({', '.join(code)})"


def _number(text: str) -> int | float:
    try:
        value = float(text)
    except ValueError:
        raise SchemaError(f"{text.strip()!r} isn't a number: {FORM}") from None
    return int(text) if re.fullmatch(r"\s*-?\d+\s*", text) else value


def _values(words: list[str]) -> list[Any]:
    """Whole numbers only if all look the same when they are written again ("01" is a text)."""
    whole = all(re.fullmatch(r"0|-?[1-9]\d{0,17}", word) for word in words)
    return [int(word) for word in words] if whole else words


def declare(
    text: str, names: Sequence[str], bins: int = 16, source: str = "public"
) -> Declared:
    r"""A declaration, one line ``column: domain`` each; SchemaError names the line.

    ``bins``: for ranges that don't say how many.

    >>> text = "age: 0 to 99 in 5 bins\nsmoker: yes | no + missing\nid: drop"
    >>> declare(text, ["id", "age", "smoker"]).schema.sizes
    (5, 3)
    """
    rules: dict[str, str] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line:
            continue
        name = max((n for n in names if line.startswith(f"{n}:")), key=len, default=None)
        if name is None:
            raise SchemaError(f"line {number} ({line[:40]!r}) doesn't begin with a column and a "
                              f"colon; columns: {', '.join(names)}")
        if name in rules:
            raise SchemaError(f"line {number} declares {name!r} a second time")
        rules[name] = line[len(name) + 1 :].strip()
    dropped = tuple(n for n in names if rules.get(n) == "drop")
    waiting = tuple(n for n in names if rules.get(n, "?") in ("", "?"))
    made = [_name_problem(n, rules[n], bins) for n in names if n not in dropped + waiting]
    if len(made) < 2:
        raise SchemaError(f"{len(made)} column(s) declared, {len(waiting)} still open; "
                          f"a plan needs at least two: {FORM}")
    body = "".join(f"    pds.Attribute.{code},\n" for _, code in made)
    end = ")" if source == "public" else (
        ', source="data")  # read off the records: replace each domain by what is publicly known')
    schema = Schema(tuple(attribute for attribute, _ in made), source)
    return Declared(schema, f"schema = pds.Schema((\n{body}){end}", dropped, waiting)


def _name_problem(name: str, rule: str, bins: int) -> tuple[Attribute, str]:
    """:func:`read_rule`, whose errors begin with the column."""
    try:
        return read_rule(name, rule, bins)
    except SchemaError as problem:
        what = str(problem).removeprefix(f"attribute {name!r}").removeprefix(":").strip()
        raise SchemaError(f"{name}: {what}") from problem


def propose(names: Sequence[str], frame: pd.DataFrame | None = None) -> str:
    """A first declaration to be edited, from column names alone: identifiers and free text are
    dropped, the rest is open.

    >>> print(propose(["person_id", "age"]))
    person_id: drop
    age: ?

    **Privacy:** with ``frame`` every value is read and its domain told: exploring only, outside
    every guarantee.
    """
    lines = []
    for name in names:
        rule = "?" if frame is None else _explore(frame[[name]])
        lines.append(f"{name}: {'drop' if NAMELESS.fullmatch(name) else rule}")
    return "\n".join(lines)


def _explore(column: pd.DataFrame) -> str:
    """What a column's records would declare; "?" if constant, "drop" if of too many texts."""
    try:
        found = Schema.infer(column).attributes[0]
    except SchemaError as problem:
        return "drop" if "at most" in str(problem) else "?"
    more = " + missing" if found.missing else ""
    if found.edges is not None:
        return f"{found.edges[0]} to {found.edges[-1]}{more}"
    if found.size > LISTED:
        return "drop"
    if any("|" in label or "\n" in label for label in found.labels):
        return "?"
    return " | ".join(map(str, found.values)) + more

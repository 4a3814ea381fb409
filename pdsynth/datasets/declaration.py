"""A schema as a text: one line a column, to be written by hand, proposed from column names, or explored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..domain.schema import MAX_VALUES, Attribute, Schema
from ..errors import SchemaError

LISTED = 60  # values that a proposal lists
NAMELESS = re.compile(r"(.*[_ -])?(id|uuid|name|surname|e-?mail|phone|address|ssn|iban|notes?|comments?|text)", re.IGNORECASE)
FORM = "write `18 to 90 in 8 bins`, `edges 0, 1000, 5000` or `yes | no`, and `+ missing` where a cell may be empty; else `drop`, or `?`"


@dataclass(frozen=True)
class Declared:
    """A declaration that was read: the schema, its Python, columns left out and columns still open."""

    schema: Schema
    code: str
    dropped: tuple[str, ...]
    open: tuple[str, ...]


def _number(text: str) -> int | float:
    try:
        value = float(text)
    except ValueError:
        raise SchemaError(f"{text.strip()!r} isn't a number: {FORM}") from None
    return int(text) if re.fullmatch(r"\s*-?\d+\s*", text) else value


def _values(words: Sequence[str]) -> list[Any]:
    """Listed values: whole numbers only if all look the same when they are written again ("01" is a text)."""
    return [int(w) for w in words] if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", w) for w in words) else list(words)


def _attribute(name: str, rule: str, bins: int) -> tuple[Attribute, str]:
    """One attribute and the Python that makes it."""
    body, missing = re.subn(r"\s*\+\s*missing$", "", rule)
    more = ", missing=True" if missing else ""
    span = re.fullmatch(r"(\S+)\s+to\s+(\S+?)(?:\s+in\s+(\d+)\s+bins?)?", body)
    if span:
        low, high = _number(span[1]), _number(span[2])
        bins, integer = int(span[3] or bins), isinstance(low, int) and isinstance(high, int)
        if bins > MAX_VALUES:
            raise SchemaError(f"{bins:,} bins; at most {MAX_VALUES:,} are possible")
        made = Attribute.numeric(name, low, high, bins=bins, integer=integer, missing=bool(missing))
        return made, f"numeric({name!r}, {low}, {high}, bins={bins}{', integer=True' if integer else ''}{more})"
    if body.startswith("edges "):
        edges = [_number(part) for part in body[6:].split(",")]
        integer = all(isinstance(edge, int) for edge in edges)
        made = Attribute.binned(name, edges, integer=integer, missing=bool(missing))
        return made, f"binned({name!r}, {edges}{', integer=True' if integer else ''}{more})"
    words = [word.strip() for word in body.split("|")]
    if len(words) + bool(missing) < 2 or not all(words):
        raise SchemaError(f"{rule!r} declares no domain: {FORM}")
    values = _values(words)
    return Attribute.categorical(name, values, missing=bool(missing)), f"categorical({name!r}, {values}{more})"


def declare(text: str, names: Sequence[str], bins: int = 16, source: str = "public") -> Declared:
    r"""A declaration, one line ``column: domain`` each; SchemaError names the line. ``bins``: for ranges that don't say how many.

    >>> declare("age: 0 to 99 in 5 bins\nsmoker: yes | no + missing\nid: drop", ["id", "age", "smoker"]).schema.sizes
    (5, 3)
    """
    rules: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name = max((n for n in names if line.strip().startswith(f"{n}:")), key=len, default=None)
        if name is None:
            raise SchemaError(f"line {number} ({line.strip()[:40]!r}) doesn't begin with a column and a colon; columns: {', '.join(names)}")
        if name in rules:
            raise SchemaError(f"line {number} declares {name!r} a second time")
        rules[name] = line.strip()[len(name) + 1 :].strip()
    dropped = tuple(n for n in names if rules.get(n) == "drop")
    waiting = tuple(n for n in names if rules.get(n, "?") in ("", "?"))
    made = [_named(n, rules[n], bins) for n in names if n not in (*dropped, *waiting)]
    if len(made) < 2:
        raise SchemaError(f"{len(made)} column(s) declared, {len(waiting)} still open; a plan needs at least two: {FORM}")
    schema = Schema(tuple(a for a, _ in made), source)
    body = "".join(f"    pds.Attribute.{code},\n" for _, code in made)
    end = ")" if source == "public" else ', source="data")  # read off the records: replace each domain by what is publicly known'
    return Declared(schema, f"schema = pds.Schema((\n{body}){end}", dropped, waiting)


def _named(name: str, rule: str, bins: int) -> tuple[Attribute, str]:
    try:
        return _attribute(name, rule, bins)
    except SchemaError as problem:
        raise SchemaError(f"{name}: {str(problem).removeprefix(f'attribute {name!r}').removeprefix(':').strip()}") from problem


def propose(names: Sequence[str], frame: pd.DataFrame | None = None) -> str:
    """A first declaration to be edited, from column names alone: identifiers and free text are dropped, the rest is open.

    >>> print(propose(["person_id", "age"]))
    person_id: drop
    age: ?

    **Privacy:** with ``frame`` every value is read and its domain told: exploring only, outside every guarantee.
    """
    seen = {name: "drop" if NAMELESS.fullmatch(name) else "?" if frame is None else _seen(frame[[name]]) for name in names}
    return "\n".join(f"{name}: {rule}" for name, rule in seen.items())


def _seen(column: pd.DataFrame) -> str:
    """What a column of the records would declare; "?" for a constant one, "drop" for one of too many texts."""
    try:
        found = Schema.infer(column).attributes[0]
    except SchemaError as problem:
        return "drop" if "at most" in str(problem) else "?"
    more = " + missing" if found.missing else ""
    if found.edges is not None:
        return f"{found.edges[0]} to {found.edges[-1]}{more}"
    if found.size > LISTED:
        return "drop"
    return "?" if any("|" in v or "\n" in v for v in found.labels) else " | ".join(map(str, found.values)) + more

"""A schema as a text: one line per column, to be written by hand, proposed from column names, or
explored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ..core import Attribute, Schema, SchemaError, plural
from ..files.domains import FORM, read_rule
from ..files.file_format import FileFormat
from ..files.outlining import NAMELESS
from ..files.schema_file import read_entry, read_toml, write_schema

LISTED = 60  # values that a proposal lists


@dataclass(frozen=True)
class Declared:
    """A declaration that was read: the schema, its file, columns left out, columns still open."""

    schema: Schema
    file: str
    dropped: tuple[str, ...]
    open: tuple[str, ...]


def declare(
    text: str,
    names: Sequence[str],
    bins: int = 16,
    source: str = "public",
    header: bool = True,
    file: FileFormat | None = None,
) -> Declared:
    r"""A declaration, one line ``column: domain`` each; SchemaError names the line.

    A domain is what stands behind the column in a schema file, without quotes. ``bins``: for ranges
    that don't say how many. ``header``: whether the raw file names its columns itself.
    ``file``: how it is written.

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
            raise SchemaError(
                f"line {number} ({line[:40]!r}) doesn't begin with a column and a "
                f"colon; columns: {', '.join(names)}"
            )
        if name in rules:
            raise SchemaError(f"line {number} declares {name!r} a second time")
        rules[name] = line[len(name) + 1 :].strip()
    dropped = tuple(n for n in names if re.match("drop *(:|$)", rules.get(n, "")))
    waiting = tuple(n for n in names if rules.get(n, "?") in ("", "?"))
    made = [_name_problem(n, rules[n], bins) for n in names if n not in dropped + waiting]
    if len(made) < 2:
        raise SchemaError(
            f"{plural(len(made), 'column')} declared, {len(waiting)} still open; "
            f"a plan needs at least two: {FORM}"
        )
    columns = () if header else tuple(names)
    schema = Schema(tuple(made), source, columns=columns, file=file)
    left_out = dict.fromkeys(dropped, "") | dict.fromkeys(waiting, "?")
    facts = {
        "attributes": schema.attributes,
        "source": source,
        "groups": {},
        "left_out": left_out,
        "columns": columns,
        "file": file,
    }
    return Declared(schema, write_schema(facts, order=names), dropped, waiting)


def _name_problem(name: str, rule: str, bins: int) -> Attribute:
    """An attribute from its line; errors begin with the column."""
    try:
        if not rule.startswith("{"):
            return read_rule(name, rule, bins)[0]
        document = read_toml(f"line = {rule}", "what stands in braces")
        found, confirmed = read_entry(name, document["line"])
        if not confirmed or isinstance(found, str):
            raise SchemaError("write what is publicly known, and delete public = false")
        return found
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
    schema = Schema.infer(column)
    if not schema.attributes:
        return "drop" if "at most" in "".join(schema.left_out.values()) else "?"
    found = schema.attributes[0]
    more = " + missing" if found.missing else ""
    if found.edges is not None:
        return f"{found.edges[0]} to {found.edges[-1]}{more}"
    if found.size > LISTED:
        return "drop"
    if any("|" in label or "\n" in label for label in found.labels):
        return "?"
    return " | ".join(map(str, found.values)) + more

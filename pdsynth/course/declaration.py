"""A schema as a text: one line per column, to be written by hand, proposed from column names, or
explored.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ..core import Attribute, Schema, SchemaError, plural
from ..files.domains import BINS, FORM, read_rule
from ..files.file_format import FileFormat
from ..files.outlining import IDENTIFIER, WORDS, explore
from ..files.schema_file import read_entry, read_toml, write_schema

DEFAULT = f" in {BINS} bins"  # a panel's slider says it


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
    waiting = tuple(n for n in names if re.fullmatch(r"(\?[^|]*)?", rules.get(n, "?")))
    attributes = [_name_problem(n, rules[n], bins) for n in names if n not in dropped + waiting]
    if len(attributes) < 2:
        raise SchemaError(
            f"{plural(len(attributes), 'column')} declared, {len(waiting)} still open; "
            f"a plan needs at least two: {FORM}"
        )
    columns = () if header else tuple(names)
    schema = Schema(tuple(attributes), source, columns=columns, file=file)
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
        attribute, confirmed = read_entry(name, document["line"])
        if not confirmed or isinstance(attribute, str):
            raise SchemaError("write what is publicly known, and delete public = false")
        return attribute
    except SchemaError as problem:
        what = str(problem).removeprefix(f"attribute {name!r}").removeprefix(":").strip()
        raise SchemaError(f"{name}: {what}") from problem


def propose(names: Sequence[str], frame: pd.DataFrame | None = None) -> str:
    """A first declaration to be edited, from column names alone: identifiers and free text are
    dropped, the rest is open. With the records, what :func:`outline` drafts.

    >>> print(propose(["person_id", "age"]))
    person_id: drop
    age: ?

    **Privacy:** with ``frame`` every value is read and its domain told: exploring only, outside
    every guarantee.
    """
    if frame is not None:
        rules = {n: line.removesuffix(DEFAULT) for n, line in explore(frame).items()}
    else:
        free = {n for n in names if IDENTIFIER.fullmatch(n) or WORDS.fullmatch(n)}
        rules = {name: "drop" if name in free else "?" for name in names}
    return "\n".join(f"{name}: {rules[name]}" for name in names)

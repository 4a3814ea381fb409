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
from ..files.identifiers import kind_of
from ..files.outlining import explore
from ..files.schema_file import read_entry, read_toml, write_schema
from ..files.taking import raw_name

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

    A domain is what stands behind the column in a schema file, without quotes. A line with
    ``{column = …}`` has a name of its own. ``bins``: for ranges that don't say how many.
    ``header``: whether the raw file names its columns itself.
    ``file``: how it is written.

    >>> text = "age: 0 to 99 in 5 bins\nsmoker: yes | no + missing\nid: drop"
    >>> declare(text, ["id", "age", "smoker"]).schema.sizes
    (5, 3)
    """
    rules = _read_lines(text, names)
    dropped = tuple(n for n in names if re.match("drop *(:|$)", rules.get(n, "")))
    waiting = [n for n in names if re.fullmatch(r"(\?[^|]*)?", rules.get(n, "?"))]
    closed = {*dropped, *waiting}
    attributes = [_name_problem(n, rules[n], bins) for n in rules if n not in closed]
    if strange := [raw_name(a) for a in attributes if raw_name(a) not in names]:
        raise SchemaError(f"{strange[0]!r} is no column of the file: {', '.join(names)}")
    attributes.sort(key=lambda a: names.index(raw_name(a)))
    waiting = [n for n in waiting if n in rules or n not in map(raw_name, attributes)]
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
    places = {n: names.index(n) for n in left_out} | {
        a.name: names.index(raw_name(a)) for a in attributes
    }
    order = sorted(places, key=places.__getitem__)
    return Declared(schema, write_schema(facts, order=order), dropped, tuple(waiting))


def _read_lines(text: str, names: Sequence[str]) -> dict[str, str]:
    """What each line says, by the column that it begins with."""
    rules = dict[str, str]()
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line:
            continue
        name, rule = _split(line, names)
        if not name:
            raise SchemaError(
                f"line {number} ({line[:40]!r}) doesn't begin with a column and a "
                f"colon; columns: {', '.join(names)}"
            )
        if name in rules:
            raise SchemaError(f"line {number} declares {name!r} a second time")
        rules[name] = rule
    return rules


def _split(line: str, names: Sequence[str]) -> tuple[str, str]:
    """The column of a line, and what is said of it; "" for a line that begins with none.

    A line in braces that names its raw column begins with a name of its own.
    """
    if own := re.fullmatch(r"(.+?): *(\{.*\bcolumn *=.*\})", line):
        return own[1].strip(), own[2]
    name = max((n for n in names if line.startswith(f"{_on_one_line(n)}:")), key=len, default="")
    return name, line[len(_on_one_line(name)) + 1 :].strip()


def _on_one_line(name: str) -> str:
    """A column's name as its line begins; in a file it may go on below."""
    return " ".join(name.splitlines())


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
        rules = {name: line.removesuffix(DEFAULT) for name, line in explore(frame).items()}
    else:
        rules = {n: "drop" if kind_of(n) in ("identifier", "words") else "?" for n in names}
    return "\n".join(f"{_on_one_line(name)}: {rule}" for name, rule in rules.items())

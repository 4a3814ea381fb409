"""A schema as a TOML file that people write, review and keep under version control."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import SchemaError, needed_for
from .attribute import Attribute
from .file_format import FileFormat
from .recoding import Recode
from .rules import FORM, check_total, read_rule, write_rule

HEAD = """\
# The public domain of a table. One attribute a line, in quotes: 18 to 90 in 8 bins, edges 0, 1000,
# 5000, or yes | no, with + missing where a cell may be empty; drop leaves a column out, ? is open.
# Or in braces, with domain = "…" and mapping, other, na_values, date, format, on, number, clip.
"""
LEFT_OUT = re.compile(r"drop(?:\s*:\s*(?P<drop>.*))?|(?P<open>\?[^|]*)", re.DOTALL)
PLACES = ("columns", "file", "attributes", "groups")
FIRST = re.compile(r"^\[", re.MULTILINE)  # table of a file
DOMAIN = ("domain", "values", "edges", "missing", "spread", "type", "public")
Facts = dict[str, Any]  # the fields of a Schema


def read_schema(text: str, name: str = "the schema file") -> Facts:
    """The fields of a Schema from TOML; SchemaError names the file and the attribute.

    A line with ``public = false``, or one that is still open, makes the source "data".
    """
    document = read_toml(text, name)
    if unknown := sorted(set(document) - set(PLACES)):
        raise SchemaError(
            f"{name} holds {', '.join(unknown)} beside {', '.join(PLACES)}: put "
            "attributes below a line [attributes]"
        )
    entries, groups = document.get("attributes"), document.get("groups", {})
    columns, written = document.get("columns", []), document.get("file", {})
    if not isinstance(entries, dict) or not entries:
        raise SchemaError(f"{name} declares no attributes: below a line [attributes], {FORM}")
    if not isinstance(groups, dict) or not isinstance(columns, list):
        raise SchemaError(
            f'{name}: columns must be a list of names, [groups] lines like occupation = "A"'
        )
    check_total(entries, name)
    public = _read_public(written, f"{name}, [file]")
    attributes, left_out = [], {}
    for column, entry in entries.items():
        try:
            found, confirmed = read_entry(column, entry)
        except SchemaError as problem:
            what = str(problem).removeprefix(f"attribute {column!r}").removeprefix(":").strip()
            raise SchemaError(f"{name}, attribute {column!r}: {what}") from problem
        public &= confirmed
        if isinstance(found, str):
            left_out[column] = found
        else:
            attributes.append(found)
    return {
        "attributes": tuple(attributes),
        "source": "public" if public else "data",
        "groups": groups,
        "left_out": left_out,
        "columns": tuple(columns),
        "file": _without_mark(written) or None,
    }


def _read_public(entry: Any, where: str) -> bool:
    """Whether a table of facts is confirmed as public."""
    if not isinstance(entry, dict) or not isinstance(public := entry.get("public", True), bool):
        raise SchemaError(
            f'{where}: write lines like encoding = "utf-8", delimiter = ";", and public = false '
            "until they are confirmed"
        )
    return public


def _without_mark(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: said for key, said in entry.items() if key != "public"}


def read_toml(text: str, name: str) -> dict[str, Any]:
    """A TOML text; SchemaError with ``name`` for any other, numbers of 5,000 digits included."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        raise SchemaError(f"{name} isn't TOML: {problem}") from problem


def read_entry(name: str, entry: Any) -> tuple[Attribute | str, bool]:
    """An attribute, or why its column is left out; and whether it is confirmed as public."""
    if isinstance(entry, str):
        if left := LEFT_OUT.fullmatch(entry.strip()):
            return left["open"] or left["drop"] or "", left["open"] is None
        return read_rule(name, entry)[0], True
    if not isinstance(entry, Mapping):
        raise SchemaError(f"{entry!r} is neither a text nor a table: {FORM}")
    rest = {key: value for key, value in entry.items() if key not in DOMAIN}
    if not isinstance(rest.get("mapping", {}), Mapping):
        raise SchemaError('mapping must be a table: {"1" = "yes", "2" = "no"}')
    recode = Recode.of(**rest)
    if sum(key in entry for key in ("domain", "values", "edges")) != 1 and (
        "domain" in entry or "values" not in entry
    ):
        raise SchemaError("a table needs domain, or values, or edges: " + FORM)
    missing, public = entry.get("missing", False), entry.get("public", True)
    if not isinstance(missing, bool) or not isinstance(public, bool):
        raise SchemaError("missing and public must be true or false")
    domain, values, edges = (entry.get(key) for key in DOMAIN[:3])
    if domain is not None:
        found = read_rule(name, _text(domain))[0]
    elif not all(isinstance(part, list) for part in (values, edges) if part is not None):
        raise SchemaError("values and edges must be lists: [1, 2, 3]")
    elif edges is None:
        found = Attribute.categorical(name, values or (), missing=missing)
    else:
        whole = all(isinstance(edge, int) for edge in edges)
        found = Attribute.binned(name, edges, integer=whole)
        found = found if values is None else replace(found, values=tuple(values))
    found = replace(
        found,
        missing=found.missing or missing,
        recode=recode,
        dtype=_text(entry.get("type", found.dtype)),
        spread=_text(entry.get("spread", found.spread)),
    )
    return found, public


def write_entry(attribute: Attribute, public: bool = True) -> str | dict[str, Any]:
    """What :func:`read_entry` reads as this attribute: a text where that says everything."""
    said: dict[str, Any] = {"domain": write_rule(attribute)}
    if not said["domain"] or LEFT_OUT.fullmatch(said["domain"].strip()):
        said = {"values": list(attribute.values)}
        if attribute.edges is not None:
            said["edges"] = list(attribute.edges)
        if attribute.missing:
            said["missing"] = True
    first = read_entry(attribute.name, said)[0]
    assert isinstance(first, Attribute)
    if attribute.dtype != first.dtype:
        said["type"] = attribute.dtype
    if attribute.spread != first.spread:
        said["spread"] = attribute.spread
    said |= attribute.recode.said() if attribute.recode else {}
    if not public:
        said["public"] = False
    return said["domain"] if list(said) == ["domain"] else said


def write_schema(
    facts: Facts,
    old: str = "",
    notes: Mapping[str, str] | None = None,
    order: Iterable[str] = (),
    head: str = HEAD,
) -> str:
    """The TOML of a Schema's fields.

    ``old``: a text that is rewritten: lines that still say the same stay as they are, and so do
    comments. ``notes``: a comment for each new line; ``order``: of new lines, attributes and what
    is left out; ``head``: the first lines of a new text.
    """
    lines = {a.name: write_entry(a, facts["source"] == "public") for a in facts["attributes"]}
    lines |= {
        name: why if why.startswith("?") else f"drop: {why}" if why else "drop"
        for name, why in facts["left_out"].items()
    }
    names = [a.name for a in facts["attributes"]]
    orders = names, list(order) or facts["columns"]
    if old:
        return _revise(old, facts, lines, notes or {}, orders)
    text = f"{head}\n"
    if facts["columns"]:
        text += f"columns = {_inline(facts['columns'])}\n\n"
    if facts.get("file"):
        text += f"[file]\n{_write_table(_said(facts))}\n"
    text += "[attributes]\n"
    for name in _in_order(lines, names, [orders[1]]):
        text += _new_line(name, lines[name], notes or {})
    if facts["groups"]:
        text += f"\n[groups]\n{_write_table(facts['groups'])}"
    return text


def _in_order(
    lines: Iterable[str], wanted: Sequence[str], given: Iterable[Iterable[str]]
) -> list[str]:
    """Names of lines in the first of the given orders in which the attributes stand as wanted."""
    order: list[str] = []
    for first in filter(None, (*given, lines)):
        order = list(dict.fromkeys([*(name for name in first if name in lines), *lines]))
        if [name for name in order if name in wanted] == wanted:
            break
    return order


def _new_line(name: str, line: Any, notes: Mapping[str, str]) -> str:
    note = f"  # {notes[name]}" if notes.get(name) else ""
    return f"{_key(name)} = {_inline(line)}{note}\n"


def _write_table(entries: Mapping[str, Any]) -> str:
    return "".join(_new_line(name, value, {}) for name, value in entries.items())


def _said(facts: Facts) -> dict[str, Any]:
    """The lines of [file]."""
    public = facts["source"] == "public"
    return facts["file"].said() | ({} if public else {"public": False})


def _revise(
    text: str,
    facts: Facts,
    lines: Mapping[str, Any],
    notes: Mapping[str, str],
    orders: tuple[Sequence[str], Sequence[str]],
) -> str:
    """An old text with other lines; what says the same stays, and so do comments."""
    known = _parse(text)
    if facts["columns"] and "columns" not in known:
        text = FIRST.sub("columns = []\n\n[", text, count=1)
    if facts.get("file") and "file" not in known:
        text = FIRST.sub("[file]  # how the file is written\n\n[", text, count=1)
    document = _parse(text)
    wanted = {place: facts.get(place) or {} for place in ("columns", "file", "groups")}
    wanted["columns"], wanted["groups"] = list(wanted["columns"]), dict(wanted["groups"])
    if facts.get("file"):
        wanted["file"] = _write_file(facts, document["file"].unwrap())
    for place, value in wanted.items():
        if value and document.get(place) != value:
            document[place] = value
        elif not value and place in document:
            del document[place]
    body = _write_lines(document.get("attributes"), lines, notes, orders)
    document["attributes"] = _parse(f"[attributes]\n{body}")["attributes"]
    return str(document.as_string())


def _write_file(facts: Facts, old: dict[str, Any]) -> dict[str, Any]:
    """As :func:`_said`; the old lines where they say the same."""
    public = facts["source"] == "public"
    said = {"header": not facts["columns"]} | _without_mark(old)
    try:
        same = old and FileFormat.of(said) == facts["file"] and old.get("public", True) == public
    except SchemaError:
        same = False
    return old if same else _said(facts)


def _parse(text: str) -> Any:
    """A document whose comments are kept; SchemaError for an old file that isn't TOML."""
    with needed_for("revising the file that is there", "name another file"):
        import tomlkit

    try:
        return tomlkit.parse(text)
    except (ValueError, RecursionError) as problem:
        raise SchemaError(
            f"the file that is there isn't TOML, so it can't be revised ({problem}): "
            "name another file"
        ) from problem


def _write_lines(
    table: Any,
    lines: Mapping[str, Any],
    notes: Mapping[str, str],
    orders: tuple[Sequence[str], Sequence[str]],
) -> str:
    """The body of [attributes]: old lines with their comments where they say the same."""
    from tomlkit.items import Item, Key, Table

    if not isinstance(table, Table):
        raise SchemaError("[attributes] stands in several parts of the file: join them")
    before: dict[str, tuple[str, Key, Item]] = {}
    lead = ""
    for key, entry in table.value.body:
        if key is None:
            lead += entry.as_string()
        else:
            before[key.key], lead = (lead, key, entry), ""
    wanted, given = orders
    order = _in_order(lines, wanted, [before, given])
    body, last = "", ""
    for at, name in enumerate(order):
        above, key, old = before.get(name, ("", None, None))
        same = old is not None and _says(name, old, lines[name])
        if (
            same
            and isinstance(old, Table)
            and all(other in before and isinstance(before[other][2], Table) for other in order[at:])
        ):
            last += f"{above}[attributes.{_key(name)}]{_comment(old)}\n{old.as_string()}"
        elif old is None or key is None:
            body += above + _new_line(name, lines[name], notes)
        elif same and not isinstance(old, Table):
            body += f"{above}{key.as_string()}{key.sep}{old.as_string()}{_comment(old)}\n"
        else:
            body += f"{above}{_key(name)} = {_inline(lines[name])}{_comment(old)}\n"
    return (body + lead + last).rstrip("\n") + "\n"


def _comment(entry: Any) -> str:
    return f"{entry.trivia.comment_ws}{entry.trivia.comment}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _quote(name)


def _quote(text: str) -> str:
    """A text of TOML is one of JSON, but for the sign DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(k)} = {_inline(v)}' for k, v in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, str):
        return _quote(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _says(name: str, entry: Any, line: str | dict[str, Any]) -> bool:
    """Whether an old entry declares what the new line does; its mark may be older."""
    try:
        found = read_entry(name, entry.unwrap())
    except SchemaError:
        return False
    wanted = read_entry(name, line)
    return repr(found[0]) == repr(wanted[0]) and found[1] >= wanted[1]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise SchemaError(f"domain, type and spread must be texts, not {value!r}")
    return value

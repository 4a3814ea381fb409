"""A schema as a TOML file that people write, review and keep under version control."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..core import Attribute, SchemaError
from .domains import FORM, check_total, read_rule, write_rule
from .recoding import Recode
from .rule_entries import read_rules, say_rule

HEAD = """\
# The public domain of a table. One attribute a line, in quotes: 18 to 90 in 8 bins, edges 0, 1000,
# 5000, or yes | no, with + missing where a cell may be empty; drop leaves a column out, ? is open.
# Or {domain = "…"} with column, between, holds, part, mapping, na_values, empty, prefix, other,
# date, format, on, number, unit, clip.
"""
LEFT_OUT = re.compile(r"drop(?:\s*:\s*(?P<drop>.*))?|(?P<open>\?[^|]*)", re.DOTALL)
QUOTED = (
    'A name with other signs than A to Z, digits, _ and - stands in quotes: "Größe in m" = "drop"'
)
PLACES = ("columns", "file", "attributes", "groups", "rules")
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
            reading, confirmed = read_entry(column, entry)
        except SchemaError as problem:
            what = str(problem).removeprefix(f"attribute {column!r}").removeprefix(":").strip()
            raise SchemaError(f"{name}, attribute {column!r}: {what}") from problem
        public &= confirmed
        if isinstance(reading, str):
            left_out[column] = reading
        else:
            attributes.append(reading)
    rules, confirmed = read_rules(document.get("rules", []), name)
    return {
        "attributes": tuple(attributes),
        "source": "public" if public and confirmed else "data",
        "groups": groups,
        "left_out": left_out,
        "columns": tuple(columns),
        "file": _without_mark(written) or None,
        "rules": rules,
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
    return {key: value for key, value in entry.items() if key != "public"}


def read_toml(text: str, name: str) -> dict[str, Any]:
    """A TOML text; SchemaError with ``name`` for any other, numbers of 5,000 digits included."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        key = str(problem).startswith(("Expected '=' after a key", "Invalid statement"))
        twice = str(problem).startswith("Cannot overwrite a value")
        remedy = f". {QUOTED}" if key else ". A name stands twice: rename or delete one" * twice
        raise SchemaError(f"{name} isn't TOML: {problem}{remedy}") from problem


def read_entry(name: str, entry: Any) -> tuple[Attribute | str, bool]:
    """An attribute, or why its column is left out; and whether it is confirmed as public."""
    if isinstance(entry, str):
        if match := LEFT_OUT.fullmatch(entry.strip()):
            return match["open"] or match["drop"] or "", match["open"] is None
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
        attribute = read_rule(name, _text(domain))[0]
    elif not all(isinstance(part, list) for part in (values, edges) if part is not None):
        raise SchemaError("values and edges must be lists: [1, 2, 3]")
    elif edges is None:
        attribute = Attribute.categorical(name, values or (), missing=missing)
    else:
        whole = all(isinstance(edge, int) for edge in edges)
        attribute = Attribute.binned(name, edges, integer=whole)
        attribute = attribute if values is None else replace(attribute, values=tuple(values))
    attribute = replace(
        attribute,
        missing=attribute.missing or missing,
        recode=recode,
        dtype=_text(entry.get("type", attribute.dtype)),
        spread=_text(entry.get("spread", attribute.spread)),
    )
    return attribute, public


def write_entry(attribute: Attribute, public: bool = True) -> str | dict[str, Any]:
    """What :func:`read_entry` reads as this attribute: a text where that says everything."""
    entry: dict[str, Any] = {"domain": write_rule(attribute)}
    if not entry["domain"] or LEFT_OUT.fullmatch(entry["domain"].strip()):
        entry = {"values": list(attribute.values)}
        if attribute.edges is not None:
            entry["edges"] = list(attribute.edges)
        if attribute.missing:
            entry["missing"] = True
    first = read_entry(attribute.name, entry)[0]
    assert isinstance(first, Attribute)
    if attribute.dtype != first.dtype:
        entry["type"] = attribute.dtype
    if attribute.spread != first.spread:
        entry["spread"] = attribute.spread
    entry |= attribute.recode.said() if attribute.recode else {}
    if not public:
        entry["public"] = False
    return entry["domain"] if list(entry) == ["domain"] else entry


def write_schema(
    facts: Facts,
    notes: Mapping[str, str] | None = None,
    order: Iterable[str] = (),
    head: str = HEAD,
) -> str:
    """The TOML of a Schema's fields.

    ``notes``: a comment for each line; ``order``: of lines, attributes and what is left out;
    ``head``: the first lines.
    """
    lines = {a.name: write_entry(a, facts["source"] == "public") for a in facts["attributes"]}
    lines |= {
        name: why if why.startswith("?") else f"drop: {why}" if why else "drop"
        for name, why in facts["left_out"].items()
    }
    names = [a.name for a in facts["attributes"]]
    text = f"{head}\n"
    if facts["columns"]:
        text += f"columns = {write_inline(facts['columns'])}\n\n"
    if facts.get("file"):
        text += f"[file]\n{_write_table(_said(facts))}\n"
    text += "[attributes]\n"
    for name in _in_order(lines, names, list(order) or facts["columns"]):
        text += _new_line(name, lines[name], notes or {})
    if facts["groups"]:
        text += f"\n[groups]\n{_write_table(facts['groups'])}"
    for rule in facts.get("rules", ()):
        entry = say_rule(rule, facts["source"] == "public")
        text += f"\n[[rules]]{_note(str(rule), notes)}\n{_write_table(entry)}"
    return text


def _note(name: str, notes: Mapping[str, str] | None) -> str:
    return f"  # {notes[name]}" if notes and notes.get(name) else ""


def _in_order(
    lines: Iterable[str], attributes: Sequence[str], sequence: Iterable[str]
) -> list[str]:
    """Names of lines in the given order, unless it turns the attributes around."""
    order = list(dict.fromkeys([*(name for name in sequence if name in lines), *lines]))
    return order if [name for name in order if name in attributes] == attributes else list(lines)


def _new_line(name: str, line: Any, notes: Mapping[str, str]) -> str:
    return f"{_key(name)} = {write_inline(line)}{_note(name, notes)}\n"


def _write_table(entries: Mapping[str, Any]) -> str:
    return "".join(_new_line(name, value, {}) for name, value in entries.items())


def _said(facts: Facts) -> dict[str, Any]:
    """The lines of [file]."""
    public = facts["source"] == "public"
    return facts["file"].said() | ({} if public else {"public": False})


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _quote(name)


def _quote(text: str) -> str:
    """A text of TOML is one of JSON, but for the sign DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def write_inline(value: Any) -> str:
    """A value as TOML writes it in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(k)} = {write_inline(v)}' for k, v in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(write_inline, value))}]"
    if isinstance(value, str):
        return _quote(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise SchemaError(f"domain, type and spread must be texts, not {value!r}")
    return value

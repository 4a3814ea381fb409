"""What ``tables.toml`` says of each table, as a schema and a :class:`Dataset`."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd

from ..domain.rules import read_rule
from ..domain.schema import Attribute, Schema
from .dataset import Dataset

_FILE = resources.files(__package__) / "tables.toml"
TABLES: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


def expand_rules(table: str) -> dict[str, str]:
    """The domain of each column of a table, as :mod:`declaration` writes it, in column order."""
    rules = TABLES[table]["schema"].items()
    return {name: rule for names, rule in rules for name in names.split()}


def read_rules(table: str, rules: Mapping[str, str]) -> Schema:
    """A schema from a domain per column; the table says which bins come back as lower edges."""
    facts = TABLES[table]
    attributes = []
    for name, rule in rules.items():
        attribute = read_rule(name, rule)[0]
        if name in facts.get("lower", ()):
            attribute = replace(attribute, spread="lower")
        attributes.append(attribute)
    return Schema(tuple(attributes))


def yes_no_schema(names: Iterable[str]) -> Schema:
    """Attributes with the answers 0 and 1."""
    return Schema(tuple(Attribute.categorical(name, (0, 1)) for name in names))


@cache
def public_schema(table: str) -> Schema:
    """The schema of a table, from its documentation alone."""
    return read_rules(table, expand_rules(table))


def describe(
    table: str, frame: pd.DataFrame, schema: Schema | None = None, **facts: Any
) -> Dataset:
    """A frame with its schema and what is known of its table; ``facts`` are said in place of those.

    A table from a user's own file must fit its schema: SchemaError otherwise.

    **Privacy:** raw records.
    """
    schema = schema or public_schema(table)
    if "file" in TABLES[table]:
        schema.encode(frame)
    fields = ("target", "sensitive", "source", "licence", "note")
    known = {"name": table} | {key: TABLES[table].get(key, "") for key in fields}
    return Dataset(frame, schema, **(known | facts))

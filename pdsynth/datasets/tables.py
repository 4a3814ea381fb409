"""A table with what is publicly known of it, and what ``tables.toml`` says of each."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd

from ..core import Attribute, Schema, SchemaError, is_whole, show
from ..files.domains import read_rule
from ..files.pages import render

_FILE = resources.files(__package__) / "tables.toml"
TABLES: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with what is publicly known about it.

    ``frame``: DataFrame (n_records, n_attributes), columns in the order of ``schema``. ``target``:
    the attribute that classifiers predict. ``sensitive``: the attribute that the papers protect
    most. ``source`` and ``licence``: whom to credit. ``split``: Series of "train" or "test", one
    per row, where the table has a public split, else None. ``note``: what a reader should know
    before trusting a result on it.

    **Privacy:** the records are raw; the shipped tables are public, so looking at them costs
    nothing.
    """

    frame: pd.DataFrame
    schema: Schema
    name: str
    target: str
    sensitive: str
    source: str
    licence: str
    split: pd.Series | None = None
    note: str = ""

    @property
    def train(self) -> pd.DataFrame:
        """The training rows of the public split, index kept; ValueError where there is none."""
        return self._part("train")

    @property
    def test(self) -> pd.DataFrame:
        """The test rows of the public split, index kept; ValueError where there is none."""
        return self._part("test")

    def subset(
        self,
        names: Sequence[str],
        rows: int | None = None,
        *,
        target: str | None = None,
        sensitive: str | None = None,
    ) -> Dataset:
        """Some attributes, in the order given, and ``rows`` rows spread evenly over the table.

        Chance plays no part. ``target`` and ``sensitive`` must be named where theirs are left out.
        Raises SchemaError for unknown names and an impossible number of rows.
        """
        schema = self.schema.select(names)
        if rows is not None and not is_whole(rows, 1, len(self.frame)):
            raise SchemaError(
                f"rows must be a whole number from 1 to {len(self.frame):,}, got {show(rows)}"
            )
        chosen = {"target": target or self.target, "sensitive": sensitive or self.sensitive}
        for what, name in chosen.items():
            if name not in schema.names:
                raise SchemaError(
                    f"{what} {name!r} isn't among {', '.join(schema.names)}: say {what}="
                )
        n = len(self.frame)
        places = np.arange(rows or n) * n // (rows or n)
        split = None if self.split is None else self.split.iloc[places]
        return replace(
            self,
            frame=self.frame.iloc[places][list(schema.names)],
            schema=schema,
            split=split,
            **chosen,
        )

    def _part(self, which: str) -> pd.DataFrame:
        if self.split is None:
            raise ValueError(
                f"{self.name} has no public train/test split: draw one, "
                "for example with sklearn's train_test_split"
            )
        return self.frame[self.split == which]

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        return (
            f"Dataset({self.name}: {rows:,} rows × {columns} attributes, "
            f"target={self.target!r}, sensitive={self.sensitive!r})"
        )

    def _repr_html_(self) -> str:
        rows, columns = self.frame.shape
        parts = (
            "" if self.split is None else (f" (train {len(self.train):,}, test {len(self.test):,})")
        )
        facts = {"rows": f"{rows:,}{parts}", "attributes": f"{columns}"}
        facts |= {
            key: getattr(self, key) for key in ("target", "sensitive", "source", "licence", "note")
        }
        return render(__package__, "dataset.html", data=self, facts=facts)


def expand_rules(table: str) -> dict[str, str]:
    """The domain of each column of a table, as a schema file writes it, in column order."""
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
    defaults = {"name": table} | {key: TABLES[table].get(key, "") for key in fields}
    return Dataset(frame, schema, **(defaults | facts))

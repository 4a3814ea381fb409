"""What a loader returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
import pandas as pd

from ..domain.schema import Schema
from ..errors import SchemaError, is_whole, show


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

    def subset(self, names: Sequence[str], rows: int | None = None, *, target: str | None = None,
               sensitive: str | None = None) -> Dataset:
        """Some attributes, in the order given, and ``rows`` rows spread evenly over the table.

        Chance plays no part. ``target`` and ``sensitive`` must be named where theirs are left out.
        Raises SchemaError for unknown names and an impossible number of rows.
        """
        schema = self.schema.select(names)
        if rows is not None and not is_whole(rows, 1, len(self.frame)):
            raise SchemaError(f"rows must be a whole number from 1 to {len(self.frame):,}, "
                              f"got {show(rows)}")
        chosen = {"target": target or self.target, "sensitive": sensitive or self.sensitive}
        for what, name in chosen.items():
            if name not in schema.names:
                raise SchemaError(f"{what} {name!r} isn't among {', '.join(schema.names)}: say "
                                  f"{what}=")
        n = len(self.frame)
        places = np.arange(rows or n) * n // (rows or n)
        split = None if self.split is None else self.split.iloc[places]
        return replace(self, frame=self.frame.iloc[places][list(schema.names)], schema=schema,
                       split=split, **chosen)

    def _part(self, which: str) -> pd.DataFrame:
        if self.split is None:
            raise ValueError(f"{self.name} has no public train/test split: draw one, "
                             "for example with sklearn's train_test_split")
        return self.frame[self.split == which]

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        return (f"Dataset({self.name}: {rows:,} rows × {columns} attributes, "
                f"target={self.target!r}, sensitive={self.sensitive!r})")

    def _repr_html_(self) -> str:
        rows, columns = self.frame.shape
        parts = "" if self.split is None else (
            f" (train {len(self.train):,}, test {len(self.test):,})")
        facts = {"rows": f"{rows:,}{parts}", "attributes": f"{columns}"}
        facts |= {key: getattr(self, key)
                  for key in ("target", "sensitive", "source", "licence", "note")}
        left = "style='text-align:left'"
        lines = "".join(f"<tr><th {left}>{key}</th><td {left}>{escape(value)}</td></tr>"
                        for key, value in facts.items() if value)
        names = escape(", ".join(self.schema.names))
        return (
            f"<p><b>{escape(self.name)}</b></p><table>{lines}</table>"
            f"<p>First rows</p><div style='overflow-x:auto'>"
            f"{self.frame.head(3).to_html(index=False)}</div>"
            f"<details><summary>Schema: {names}</summary>{self.schema._repr_html_()}</details>"
        )

"""What a loader returns."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import pandas as pd

from ..domain.schema import Schema


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with what is publicly known about it.

    ``frame``: DataFrame (n_records, n_attributes), columns in the order of ``schema``. ``target``: the attribute that
    classifiers predict. ``sensitive``: the attribute that the papers protect most. ``source`` and ``licence``: whom to
    credit. ``split``: Series of "train" or "test", one a row, where the table has a public split, else None.
    ``note``: what a reader should know before trusting a result on it.

    **Privacy:** the records are raw; the shipped tables are public, so looking at them costs nothing.
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

    def _part(self, which: str) -> pd.DataFrame:
        if self.split is None:
            raise ValueError(f"{self.name} has no public train/test split: draw one, for example with sklearn's train_test_split")
        return self.frame[self.split == which]

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        return f"Dataset({self.name}: {rows:,} rows × {columns} attributes, target={self.target!r}, sensitive={self.sensitive!r})"

    def _repr_html_(self) -> str:
        rows, columns = self.frame.shape
        facts = {
            "rows": f"{rows:,}" + self._split_text(),
            "attributes": f"{columns}",
            "target": self.target,
            "sensitive": self.sensitive,
            "source": self.source,
            "licence": self.licence,
            "note": self.note,
        }
        lines = "".join(
            f"<tr><th style='text-align:left'>{key}</th><td style='text-align:left'>{escape(value)}</td></tr>"
            for key, value in facts.items()
            if value
        )
        head = self.frame.head(3).to_html(index=False)
        return (
            f"<p><b>{escape(self.name)}</b></p><table>{lines}</table>"
            f"<p>First rows</p><div style='overflow-x:auto'>{head}</div>"
            f"<details><summary>Schema: {escape(', '.join(self.schema.names))}</summary>{self.schema._repr_html_()}</details>"
        )

    def _split_text(self) -> str:
        if self.split is None:
            return ""
        return f" (train {int((self.split == 'train').sum()):,}, test {int((self.split == 'test').sum()):,})"

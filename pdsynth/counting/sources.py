"""Tables larger than memory, as they are handed to ``fit``: checked and coded in blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from ..domain.schema import Schema
from ..errors import SchemaError
from .blocks import ROWS, Blocks
from .tables import Records

WORDS = {"pyarrow": "Parquet files and Arrow tables", "dask": "Dask DataFrames"}


class Source:
    """A table in blocks. ``head``: a frame of its columns without rows; ``n``: records, public.

    **Privacy:** raw records, for the coding only.
    """

    head: pd.DataFrame
    n: int

    def check(self, schema: Schema, *, empty: bool) -> None:
        """As ``schema.check`` of the whole table: column names and the number of records."""
        schema.check(self.head, empty=True)
        if self.n == 0 and not empty:
            raise SchemaError("the table has no rows")

    def encode(self, schema: Schema) -> Any:
        """A counter of the coded records; SchemaError if any block doesn't fit the schema."""
        raise NotImplementedError


class ArrowSource(Source):
    """A pyarrow Table or Dataset, read in record batches.

    **Privacy:** raw records, for the coding only.
    """

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.head = dataset.schema.empty_table().to_pandas()

    @cached_property
    def n(self) -> int:  # type: ignore[override]
        """Number of records, which Parquet files know without being read."""
        return int(self.dataset.count_rows())

    def frames(self, names: tuple[str, ...]) -> Iterator[pd.DataFrame]:
        """The declared columns in blocks of at most ROWS records, as pandas reads them."""
        from pyarrow import Table

        batches = self.dataset.to_batches(columns=list(names), batch_size=ROWS,
                                          batch_readahead=1, fragment_readahead=1)
        for batch in batches:
            yield Table.from_batches([batch]).to_pandas()

    def encode(self, schema: Schema) -> Blocks:
        """One pass: every cell is checked before anything is paid for."""
        blocks = Blocks(schema.sizes, self.n)
        try:
            for codes in code_frames(self.frames(schema.names), schema):
                blocks.append(codes)
            if blocks.stored != self.n:
                raise SchemaError(f"the table had {self.n:,} records and has {blocks.stored:,} now:"
                                  " it changed while it was read")
        except BaseException:
            blocks.close()
            raise
        return blocks


def code_frames(frames: Iterator[pd.DataFrame], schema: Schema) -> Iterator[np.ndarray]:
    """Codes of frames in blocks of ROWS records or a little more; the last may be short.

    SchemaError as of the whole table, with the rows that it is about.

    **Privacy:** raw records in, raw records out; errors name no values.
    """
    waiting, held, done = list[np.ndarray](), 0, 0
    for frame in frames:
        try:
            waiting.append(schema.encode(frame, empty=True))
        except SchemaError as problem:
            rows = f"rows {done + 1:,} to {done + len(frame):,}"
            raise SchemaError(f"{problem} [in {rows}]") from None
        held, done = held + len(frame), done + len(frame)
        if held >= ROWS:
            yield np.concatenate(waiting)
            waiting, held = [], 0
    if held:
        yield np.concatenate(waiting)


def find_source(data: Any) -> Source | None:
    """The source that ``fit`` was given; None for a DataFrame in memory, and for what is none."""
    home = type(data).__module__.partition(".")[0]
    if isinstance(data, (str, os.PathLike)):
        return ArrowSource(_open_parquet(os.fspath(data)))
    if home == "pyarrow":
        dataset = need("pyarrow", "pyarrow.dataset")
        tables = (dataset.Dataset, import_module("pyarrow").Table)
        if isinstance(data, tables):
            return ArrowSource(data if isinstance(data, dataset.Dataset) else dataset.dataset(data))
    return None


def _open_parquet(path: str) -> Any:
    dataset = need("pyarrow", "pyarrow.dataset")
    if not os.path.exists(path):
        raise SchemaError(f"there is no file {path!r}: give the path of a Parquet file or folder")
    try:
        found = dataset.dataset(path, format="parquet")
        found.count_rows()
    except (ValueError, OSError) as problem:
        raise SchemaError(f"{os.path.basename(path)!r} isn't a Parquet file ({problem}): read CSV "
                          "and other files with datasets.read_csv") from problem
    return found


def need(package: str, module: str) -> Any:
    """A module of the extra ``scale``; ImportError that says so where it isn't installed."""
    try:
        return import_module(module)
    except ImportError as missing:
        raise ImportError(f"{WORDS[package]} need {package}: pip install 'pdsynth[scale]', "
                          "or give a pandas DataFrame") from missing


@contextmanager
def open_records(data: pd.DataFrame | Source | Records, schema: Schema) -> Iterator[Records]:
    """Coded records of a checked table; what was spooled is removed at the end, also on failure.

    **Privacy:** raw records in, raw records out.
    """
    if isinstance(data, Records):
        yield data
    elif isinstance(data, Source):
        counter = data.encode(schema)
        try:
            yield Records(counter, schema)
        finally:
            counter.close()
    else:
        yield Records(schema.encode(data, empty=True), schema)

"""Tables larger than memory, as they are handed to ``fit``: checked and coded in blocks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from uuid import uuid4

import pandas as pd

from ..domain.schema import Schema
from ..errors import SchemaError
from . import blocks
from .blocks import Blocks
from .tables import Counter, Records
from .workers import DaskBlocks, Held, active_client, hold

WORDS = {"pyarrow": "Parquet files and Arrow tables", "dask": "Dask DataFrames"}


class Source:
    """A table in blocks. ``head``: a frame of its columns without rows; ``n``: records, public.

    **Privacy:** raw records, for the coding only.
    """

    head: pd.DataFrame
    n: int

    def check(self, schema: Schema, *, empty: bool) -> None:
        """As ``schema.check`` of the whole table: column names and the number of records.

        **Privacy:** reads public facts only.
        """
        schema.check(self.head, empty=True)
        if self.n == 0 and not empty:
            raise SchemaError("the table has no rows")

    def encode(self, schema: Schema) -> Any:
        """A counter of the coded records; SchemaError if any block doesn't fit the schema."""
        raise NotImplementedError


class ArrowSource(Source):
    """A pyarrow Table or Dataset, read in record batches; files go to the workers of a client.

    **Privacy:** raw records, for the coding only.
    """

    def __init__(self, dataset: Any, client: Any = None) -> None:
        self.dataset, self.client = dataset, client
        self.head = dataset.schema.empty_table().to_pandas()
        self.n = int(dataset.count_rows())  # which Parquet files know without being read

    def encode(self, schema: Schema) -> Counter:
        """One pass: every cell is checked before anything is paid for."""
        if self.client is None:
            return store(read_frames(self.dataset, schema.names), schema, self.n)
        tasks = [(hold_rows, row_group, self.dataset.schema, schema)
                 for file in self.dataset.get_fragments()
                 for row_group in file.split_by_row_group()]
        return DaskBlocks(self.client, lambda: [
            self.client.submit(*task, key=f"hold-{uuid4().hex}") for task in tasks], schema)


class DaskSource(Source):
    """A Dask DataFrame: its partitions are coded by the workers of a client, or one by one here.

    **Privacy:** raw records, for the coding only.
    """

    def __init__(self, frame: Any, client: Any) -> None:
        self.frame, self.client, self.head = frame, client, frame._meta

    def check(self, schema: Schema, *, empty: bool) -> None:
        """Codes all partitions, too, since n isn't known before.

        **Privacy:** raw records, for the coding only.
        """
        schema.check(self.head, empty=True)
        chosen = self.frame[list(schema.names)]
        if self.client is None:
            parts = (chosen.partitions[i].compute(scheduler="threads")
                     for i in range(chosen.npartitions))
            self.counter: Counter = store(parts, schema)
        else:
            self.counter = DaskBlocks(self.client, lambda: self._start(chosen, schema), schema)
        self.n = self.counter.n
        super().check(schema, empty=empty)

    def _start(self, frame: Any, schema: Schema) -> list[Any]:
        from distributed import futures_of

        coded = frame.map_partitions(hold, schema, uuid4().hex, meta=self.head,
                                     enforce_metadata=False)
        return futures_of(self.client.persist(coded))

    def encode(self, schema: Schema) -> Counter:
        """What :meth:`check` has coded."""
        return self.counter


def hold_rows(rows: Any, arrow: Any, schema: Schema) -> Held:
    """Code a row group of a file where this runs.

    **Privacy:** raw records in, raw records held.
    """
    return hold(read_frames(rows, schema.names, schema=arrow), schema)


def read_frames(rows: Any, names: Sequence[str], **options: Any) -> Iterator[pd.DataFrame]:
    """The declared columns in blocks of at most ROWS records, as pandas reads them.

    **Privacy:** raw records in, raw records out.
    """
    from pyarrow import Table

    for batch in rows.to_batches(columns=list(names), batch_size=blocks.ROWS, batch_readahead=1,
                                 fragment_readahead=1, **options):
        yield Table.from_batches([batch]).to_pandas()


def store(frames: Iterable[pd.DataFrame], schema: Schema, n: int | None = None) -> Blocks:
    """Blocks of coded frames; SchemaError if one doesn't fit, or if there aren't ``n`` records.

    **Privacy:** raw records in, raw records out.
    """
    found = Blocks(schema.sizes)
    try:
        for codes in blocks.code_frames(iter(frames), schema):
            found.append(codes)
        if n not in (None, found.n):
            raise SchemaError(f"the table had {n:,} records and has {found.n:,} now: it changed "
                              "while it was read")
    except BaseException:
        found.close()
        raise
    return found


def find_source(data: Any) -> Source | None:
    """The source that ``fit`` was given; None for a DataFrame in memory, and for what is none."""
    home = type(data).__module__.partition(".")[0]
    if isinstance(data, (str, os.PathLike)):
        return ArrowSource(_open_parquet(os.fspath(data)), active_client())
    if home == "dask" and isinstance(data, need("dask", "dask.dataframe").DataFrame):
        return DaskSource(data, active_client())
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

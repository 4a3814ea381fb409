"""Tables larger than memory, as they are handed to ``fit``: checked and coded in blocks."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

import pandas as pd

from ..binning import refine
from ..core import Counter, Records, Schema, SchemaError, bar, needed_for, repeated
from . import blocks, threads
from .arrow import check_types, list_columns, to_frame
from .blocks import Blocks, check_number, refuse_raw
from .workers import UNCOMPUTED, DaskBlocks, Held, active_client, hold

READ = 2**16  # records of a frame
PART = 2**20  # records of a file that one task of a worker codes
TEXTS = "string", "large_string"  # types of Arrow that Parquet keeps as a list of texts and codes
INSTEAD = "give a pandas DataFrame"


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

    @contextmanager
    def open(self, schema: Schema) -> Iterator[Records]:
        """The coded records; what was spooled is removed at the end, also on failure.

        **Privacy:** raw records in, raw records out.
        """
        counter = self.encode(schema)
        try:
            yield Records(counter, schema)
        finally:
            counter.close()


class ArrowSource(Source):
    """A pyarrow Table or Dataset, or plain Parquet ``files``, which workers of a client may read.

    **Privacy:** raw records, for the coding only.
    """

    def __init__(self, dataset: Any, files: bool = False) -> None:
        self.dataset, self.files = dataset, files
        self.client: Any = active_client() if files else None
        if twice := repeated(dataset.schema.names):
            raise SchemaError(f"the table has several columns of one name: {twice}: rename them")
        self.head = pd.DataFrame(columns=list_columns(dataset.schema))
        count = dataset.count_rows  # which Parquet files know without being read
        self.n = int(refuse_raw(count, "the records can't be counted: a file is damaged"))

    def check(self, schema: Schema, *, empty: bool) -> None:
        """As above, and the types of the declared columns.

        **Privacy:** reads public facts only.
        """
        super().check(schema, empty=empty)
        check_types(self.dataset.schema, schema.find_columns(self.dataset.schema.names))

    def encode(self, schema: Schema) -> Counter:
        """One pass: every cell is checked before anything is paid for."""
        schema.encode(self.head, empty=True)  # keeps what records would: a pickle tells of none
        if self.client is None:
            parts = self.dataset.get_fragments() if self.files else [self.dataset]
            frames = (frame for part in parts for frame in read_frames(part, schema))
            return store(frames, schema, self.n)
        client = self.client
        tasks = [
            (hold_rows, part, schema)
            for file in self.dataset.get_fragments()
            for part in split_file(file, client)
        ]
        return DaskBlocks(
            client,
            lambda: [client.submit(*task, key=f"hold-{uuid4().hex}") for task in tasks],
            schema,
            self.n,
        )


class DaskSource(Source):
    """A Dask DataFrame: its partitions are coded by the workers of a client, or one by one here.

    **Privacy:** raw records, for the coding only. Reading and steps of the DataFrame are Dask's
    own: see :class:`~pdsynth.scale.workers.DaskBlocks`.
    """

    def __init__(self, frame: Any, client: Any) -> None:
        self.frame, self.client, self.head = frame, client, frame._meta

    def check(self, schema: Schema, *, empty: bool) -> None:
        """Codes all partitions, too, since n isn't known before; private bins by their cells.

        **Privacy:** raw records, for the coding only.
        """
        schema.check(self.head, empty=True)
        whole, schema = schema, refine(schema) if schema.private else schema
        chosen = self.frame[list(dict.fromkeys(schema.find_columns(self.frame.columns)))]
        if self.client is None:
            parts = (
                refuse_raw(partial(chosen.partitions[i].compute, scheduler="threads"), UNCOMPUTED)
                for i in range(chosen.npartitions)
            )
            self.counter: Counter = store(parts, schema)
        else:
            self.counter = DaskBlocks(self.client, lambda: self._start(chosen, schema), schema)
        self.n = self.counter.n
        super().check(whole, empty=empty)

    def _start(self, frame: Any, schema: Schema) -> list[Any]:
        from distributed import futures_of

        coded = frame.map_partitions(
            hold, schema, uuid4().hex, meta=self.head, enforce_metadata=False
        )
        return futures_of(self.client.persist(coded))

    def encode(self, schema: Schema) -> Counter:
        """What :meth:`check` has coded."""
        return self.counter


def split_file(file: Any, client: Any) -> Iterator[Any]:
    """Parts of a Parquet file for the workers of a client: row groups side by side, up to PART
    records, and at least four for each thread where the row groups permit.

    **Privacy:** reads numbers of records only.
    """
    groups, part, rows = file.row_groups, list[int](), 0
    threads = max(sum(client.nthreads().values()), 1)
    most = min(PART, sum(group.num_rows for group in groups) // (4 * threads))
    for group in groups:
        if part and rows + group.num_rows > most:
            yield file.subset(row_group_ids=part)
            part, rows = [], 0
        part.append(group.id)
        rows += group.num_rows
    if part:
        yield file.subset(row_group_ids=part)


def hold_rows(rows: Any, schema: Schema) -> Held:
    """Code a part of a file where this runs.

    **Privacy:** raw records in, raw records held.
    """
    return hold(read_frames(rows, schema), schema)


def read_frames(rows: Any, schema: Schema) -> Iterator[pd.DataFrame]:
    """The declared columns of a dataset, or of a part of a Parquet file, in short frames.

    They are as :func:`~pdsynth.scale.arrow.to_frame` makes them, but for listed texts of a
    Parquet file, which come as categories: each text once, as the file has them. Of a Parquet file
    no more is decoded than the next frame needs; a dataset decodes whole row groups. SchemaError
    where a file is damaged.

    **Privacy:** raw records in, raw records out; errors name the file and no values.
    """
    where = os.path.basename(getattr(rows, "path", "")) or "the table"
    words = (
        f"{where} can't be read to its end: it is damaged, or its columns aren't those of the "
        "first file; write it again"
    )
    batches = _read_batches(rows, schema)
    while (batch := refuse_raw(lambda: next(batches, None), words, (SchemaError,))) is not None:
        yield to_frame(batch)


def _read_batches(rows: Any, schema: Schema) -> Iterator[Any]:
    from pyarrow.dataset import ParquetFileFragment
    from pyarrow.parquet import ParquetFile

    size, part = min(READ, blocks.ROWS), isinstance(rows, ParquetFileFragment)
    there = rows.physical_schema if part else rows.schema
    names = list(dict.fromkeys(schema.find_columns(there.names)))
    if part:
        texts = [
            a.name
            for a in schema.attributes
            if not a.numeric_bins and a.recode is None and str(there.field(a.name).type) in TEXTS
        ]
        with rows.open() as opened:
            file = ParquetFile(opened, pre_buffer=False, buffer_size=2**20, read_dictionary=texts)
            yield from file.iter_batches(
                size,
                [group.id for group in rows.row_groups],
                columns=names,
                use_threads=False,
            )
    else:
        yield from rows.to_batches(
            columns=names, batch_size=size, batch_readahead=1, fragment_readahead=1
        )


def store(frames: Iterable[pd.DataFrame], schema: Schema, n: int | None = None) -> Blocks:
    """Blocks of coded frames; SchemaError if one doesn't fit, or if there aren't ``n`` records.

    **Privacy:** raw records in, raw records out.
    """
    result = Blocks(schema.sizes)
    try:
        with bar(n, "coding", unit="row", unit_scale=True) as shown:
            for codes in blocks.code_frames(iter(frames), schema, threads.WORKERS):
                result.append(codes)
                shown.update(len(codes))
        check_number(n, result.n)
    except BaseException:
        result.close()
        raise
    return result


def find_source(data: Any) -> Source | None:
    """The source that ``fit`` was given; None for a DataFrame in memory, and for what is none."""
    home = type(data).__module__.partition(".")[0]
    if isinstance(data, (str, os.PathLike)):
        return ArrowSource(_open_parquet(os.fspath(data)), files=True)
    if home == "dask":
        with needed_for("a Dask DataFrame", INSTEAD):
            from dask.dataframe import DataFrame
        if isinstance(data, DataFrame):
            return DaskSource(data, active_client())
    if home == "pyarrow":
        with needed_for("an Arrow table", INSTEAD):
            from pyarrow import Table, dataset
        if isinstance(data, (dataset.Dataset, Table)):
            return ArrowSource(dataset.dataset(data) if isinstance(data, Table) else data)
    return None


def _open_parquet(path: str) -> Any:
    with needed_for("a Parquet file", INSTEAD):
        from pyarrow import dataset
    if not os.path.exists(path):
        raise SchemaError(f"there is no file {path!r}: give the path of a Parquet file or folder")
    name = os.path.basename(path)

    def open_file() -> Any:
        try:
            table = dataset.dataset(path, format="parquet")
        except ValueError as problem:
            if "duplicate field names" not in str(problem):
                raise
            table = None
        if table is None:
            raise SchemaError(f"{name!r} has several columns of one name: rename them")
        table.count_rows(), table.schema.names  # reads what is known of all files
        return table

    return refuse_raw(
        open_file,
        f"{name!r} isn't a Parquet file, or it is damaged: read CSV and other files with "
        "datasets.read_csv",
        (SchemaError,),
    )

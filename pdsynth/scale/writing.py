"""Synthetic tables of any length, written block by block as Parquet or CSV in bounded memory."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..core import (
    Attribute,
    Schema,
    SchemaError,
    check_path,
    check_seed,
    is_one_of,
    is_whole,
    needed_for,
    place_in_bins,
    progress,
    show,
)
from . import threads
from .threads import in_order

UNIT = 2**16  # rows that one stream of random numbers draws, however many are written at once
MOST_ROWS = 10**12
SUFFIXES = ".parquet", ".csv"


def write_sample(
    draw: Callable[[int, np.random.Generator], np.ndarray],
    schema: Schema,
    path: str | os.PathLike[str],
    n: int,
    seed: int | None,
    place: Callable[..., Any] | None = None,
) -> None:
    """Write n rows of ``draw(rows, generator)``, codes (rows, d), to a file that appears when
    it is whole; ``place``: the last change of a drawn frame.

    **Privacy:** post-processing of a release.
    """
    check_path(path)
    target = Path(path)
    if not is_one_of(target.suffix.lower(), SUFFIXES):
        raise SchemaError(f"sample_to writes .parquet or .csv, got {show(target.name)}")
    if not is_whole(n, 1, MOST_ROWS):
        raise SchemaError(
            f"sample_to needs a whole number of rows from 1 to {MOST_ROWS:,}, got n={show(n)}"
        )
    check_seed(seed)
    pa = _arrow()
    if target.suffix.lower() == ".csv":
        columns = pa.schema([(name, pa.string()) for name in schema.names])
    else:
        columns = _types(pa, schema)
    root = np.random.SeedSequence(seed).entropy
    as_frame = place is not None or any(rule.kind == "at_most" for rule in schema.rules)

    def block(number: int) -> Any:
        rows = min(UNIT, n - number * UNIT)
        stream = np.random.SeedSequence(root, spawn_key=(number,))
        generator = np.random.Generator(np.random.PCG64(stream))
        codes = draw(rows, generator)
        uniforms = [generator.random(rows) if a.numeric_bins else None for a in schema.attributes]
        if as_frame:  # numbers that a condition or another column moves
            spread = np.stack([np.zeros(rows) if u is None else u for u in uniforms], axis=1)
            frame = schema.decode(codes, spread)
            return _from_frame(pa, frame if place is None else place(frame), columns)
        parts = zip(schema.attributes, codes.T, uniforms, columns, strict=True)
        arrays = [to_arrow(pa, a, c, u, field.type) for a, c, u, field in parts]
        return pa.record_batch(arrays, schema=columns)

    with whole_file(target) as part, _writer(part, target.suffix.lower(), columns) as writer:
        number = -(-n // UNIT)
        batches = in_order(block, ((i,) for i in range(number)), threads.WORKERS)
        for batch in progress(batches, "sample_to", number, "block"):
            writer.write_batch(batch)


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A file beside ``target`` to write, which takes its place once it is whole, or is removed.

    It keeps the permissions of the file that it replaces.
    """
    part = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.part")
    try:
        yield part
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def to_arrow(
    pa: Any, attribute: Attribute, codes: np.ndarray, uniform: np.ndarray | None, kind: Any
) -> Any:
    """Codes (rows,) of an attribute as an Arrow array of a type, as ``Attribute.decode`` has it."""
    last = len(attribute.values)
    gone = codes >= last if attribute.missing else None
    indices = codes if gone is None else np.minimum(codes, last - 1)
    if attribute.edges is not None:
        numbers = place_in_bins(
            indices, attribute.edges, attribute.spread, uniform, attribute.dtype == "integer"
        )
        array = pa.array(numbers, mask=gone)
        return array if array.type == kind else array.cast(kind)
    if pa.types.is_dictionary(kind):
        places = pa.array(indices.astype(kind.index_type.to_pandas_dtype()), mask=gone)
        values = pa.array(attribute.values, type=kind.value_type)
        return pa.DictionaryArray.from_arrays(places, values, ordered=kind.ordered)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    listed = [str(v) for v in attribute.values] if text else attribute.values
    return pa.array(listed, type=kind).take(pa.array(indices, mask=gone))


def _from_frame(pa: Any, frame: Any, columns: Any) -> Any:
    """A frame as a batch of these types."""
    if all(kind == pa.string() for kind in columns.types):
        frame = frame.astype(object).where(frame.notna(), None)
        frame = frame.map(lambda cell: None if cell is None else str(cell))
    return pa.RecordBatch.from_pandas(frame, schema=columns, preserve_index=False)


def _arrow() -> Any:
    with needed_for("sample_to", "write sample(n) with pds.datasets.write_csv"):
        import pyarrow
    return pyarrow


def _types(pa: Any, schema: Schema) -> Any:
    """Arrow types of the released columns, with what pandas needs to read them as declared."""
    try:
        return pa.Schema.from_pandas(
            schema.decode(np.zeros((1, len(schema)), dtype=np.uint8)), preserve_index=False
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        raise SchemaError(
            f"a Parquet column holds values of one type ({problem}): write .csv, or "
            "declare those values as texts"
        ) from problem


def _writer(path: Path, suffix: str, columns: Any) -> Any:
    if suffix == ".csv":
        from pyarrow import csv  # noqa: PLC0415

        return csv.CSVWriter(path, columns, write_options=csv.WriteOptions(quoting_style="needed"))
    from pyarrow import parquet  # noqa: PLC0415

    return parquet.ParquetWriter(path, columns)

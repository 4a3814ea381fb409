"""Tables and options as every evaluation takes them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..core import (
    Records,
    Schema,
    SchemaError,
    check_schema,
    is_one_of,
    is_whole,
    name_some,
    show,
    to_list,
    type_of,
)
from ..datasets.tables import Dataset
from ..scale.sources import Source, find_source

Table: TypeAlias = pd.DataFrame | np.ndarray | Records | Source


def to_records(table: Table, schema: Schema) -> Records:
    """Records of whatever :func:`to_codes` takes, and of tables in blocks: an Arrow table or
    dataset, the path of a Parquet file, a Dask DataFrame.
    """
    if isinstance(table, Records):
        return check_coded(table, schema)
    source = find_source(table)
    if source is None:
        return Records(to_codes(table, schema), schema)
    schema = without_rules(schema)
    source.check(schema, empty=False)
    return Records(source.encode(schema), schema)


def without_rules(schema: Schema) -> Schema:
    """A schema that takes any table of its domain: what breaks its rules is measured, too."""
    return replace(check_edges(schema), rules=())


def check_edges(schema: Schema) -> Schema:
    """The schema; SchemaError for one whose edges only a release has."""
    if gone := [a.name for a in check_schema(schema).attributes if a.private]:
        raise SchemaError(
            "the edges of private bins are chosen by each fit, and this schema has none for "
            f"{name_some(gone)}: give that of the release, which is schema.toml in its folder, or "
            "schema_ of the fitted synthesizer"
        )
    return schema


def check_coded(records: Records, schema: Schema) -> Records:
    """The records; SchemaError for some whose codes stand for other values than the schema's.

    **Privacy:** reads the two schemas, which are public.
    """
    theirs, ours = (
        [(a.name, a.values, a.edges, a.missing) for a in s.attributes]
        for s in (records.schema, check_schema(schema))
    )
    if theirs != ours:
        raise SchemaError(
            "these Records are coded over another schema, so their codes stand for other values: "
            "code both tables over one, or give DataFrames"
        )
    return records


def to_codes(table: Table, schema: Schema) -> np.ndarray:
    """Codes (n_records, n_attributes) of a DataFrame, of Records, or of codes, which it checks.

    BudgetError for a table in blocks, whose records aren't in memory.
    """
    if isinstance(table, Records):
        return check_coded(table, schema).codes
    if isinstance(table, pd.DataFrame):
        return without_rules(schema).encode(table)
    d = len(check_schema(schema))
    if not isinstance(table, (np.ndarray, list, tuple)):
        raise SchemaError(f"expected a DataFrame, Records or codes, got {type_of(table)}")
    try:
        codes = np.asarray(table)
    except ValueError as problem:
        raise SchemaError(
            f"expected integer codes of shape (n, {d}), got rows of different lengths"
        ) from problem
    if codes.ndim != 2 or codes.shape[1] != d or not np.issubdtype(codes.dtype, np.integer):
        raise SchemaError(
            f"expected integer codes of shape (n, {d}), got {codes.dtype} of shape {codes.shape}"
        )
    if len(codes) == 0:
        raise SchemaError("the table has no rows")
    ends = zip(codes.min(axis=0), codes.max(axis=0), strict=True)
    for attribute, (low, high) in zip(schema.attributes, ends, strict=True):
        if low < 0 or high >= attribute.size:
            raise SchemaError(
                f"attribute {attribute.name!r}: codes from {low} to {high}, but its "
                f"declared domain has the codes 0 to {attribute.size - 1}"
            )
    return codes


def as_dataset(data: Any) -> Any:
    """A Dataset (whatever has ``frame`` and ``schema``) as it is, or one of a (frame, schema) pair.

    A pair has no target, no public split, and the name "table".
    """
    if isinstance(data, tuple | list) and len(data) == 2:
        if isinstance(data[0], Schema):
            raise SchemaError("the table comes first: (frame, schema)")
        frame, schema = data
        data = Dataset(frame, schema, "table", target="", sensitive="", source="", licence="")
    if not isinstance(getattr(data, "schema", None), Schema) or not hasattr(data, "frame"):
        raise SchemaError(
            "expected a Dataset or a pair (frame, schema), got "
            f"{type(data).__name__}: a table needs its public schema"
        )
    return data


def record_keys(codes: np.ndarray, sizes: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """One int64 key per record, equal exactly where the records agree on ``columns``.

    The size of the domain doesn't matter.
    """
    key, cells = np.zeros(len(codes), dtype=np.int64), 1
    for j in columns:
        if cells * sizes[j] >= 2**62:  # relabel: at most n different keys are in use
            distinct, key = np.unique(key, return_inverse=True)
            cells = len(distinct)
        key = key * sizes[j] + codes[:, j]
        cells *= sizes[j]
    return key


def sample_rows(n: int, rows: int, seed: int) -> np.ndarray:
    """Which rows of n to keep, in their order: int64 array (rows,)."""
    return np.sort(seeded(seed).choice(n, rows, replace=False))


def check_whole(parameter: str, value: Any, most: int, what: str) -> None:
    """SchemaError unless ``value`` is a whole number from 1 to ``most``, which is ``what``."""
    if not is_whole(value, 1, most):
        raise SchemaError(
            f"{parameter} must be a whole number from 1 to {most}, {what}, got {show(value)}"
        )


def check_choice(parameter: str, value: Any, words: Sequence[str]) -> None:
    """SchemaError unless ``value`` is one of the known words."""
    if not is_one_of(value, words):
        raise SchemaError(f"{parameter} must be one of {words}, got {show(value)}")


def check_choices(parameter: str, value: Sequence[str], words: Sequence[str]) -> None:
    """SchemaError unless ``value`` are some of the known words."""
    listed = to_list(parameter, value, SchemaError, f"a list of some of {words}")
    if not listed or not all(is_one_of(word, words) for word in listed):
        raise SchemaError(f"{parameter} must be some of {words}, got {show(listed)}")


def check_most(parameter: str, value: Any) -> None:
    """SchemaError unless ``value`` is None (all) or a whole number of at least 1."""
    if value is not None and not is_whole(value, 1):
        raise SchemaError(
            f"{parameter} must be at least 1, a whole number, or None for all, got {show(value)}"
        )


def seeded(seed: Any) -> np.random.Generator:
    """Numpy's generator of a public seed: None, or whole numbers of at least 0."""
    seeds = seed if isinstance(seed, list) and seed else [seed]
    if seed is not None and not all(is_whole(s, 0, 2**128) for s in seeds):
        raise SchemaError(
            "seed must be a whole number from 0 to 2^128 (None: another one in every run), got "
            + show(seed)
        )
    return np.random.default_rng(seed)

"""Tables and options as every evaluation takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ..counting.tables import Records
from ..domain.schema import Schema
from ..errors import SchemaError, is_whole

Table: TypeAlias = pd.DataFrame | np.ndarray | Records


def to_codes(table: Table, schema: Schema) -> np.ndarray:
    """Codes (n_records, n_attributes) of a DataFrame, of Records, or of codes, which it checks."""
    if isinstance(table, Records):
        return table.codes
    if isinstance(table, pd.DataFrame):
        return schema.encode(table)
    codes, d = np.asarray(table), len(schema)
    if codes.ndim != 2 or codes.shape[1] != d or not np.issubdtype(codes.dtype, np.integer):
        raise SchemaError(f"expected integer codes of shape (n, {d}), "
                          f"got {codes.dtype} of shape {codes.shape}")
    if len(codes) == 0:
        raise SchemaError("the table has no rows")
    ends = zip(codes.min(axis=0), codes.max(axis=0), strict=True)
    for attribute, (low, high) in zip(schema.attributes, ends, strict=True):
        if low < 0 or high >= attribute.size:
            raise SchemaError(f"attribute {attribute.name!r}: codes from {low} to {high}, but its "
                              f"declared domain has the codes 0 to {attribute.size - 1}")
    return codes


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
    return np.sort(np.random.default_rng(seed).choice(n, rows, replace=False))


def check_whole(parameter: str, given: Any, most: int, what: str) -> None:
    """SchemaError unless ``given`` is a whole number from 1 to ``most``, which is ``what``."""
    if not is_whole(given, 1, most):
        raise SchemaError(f"{parameter} must be a whole number from 1 to {most}, {what}, "
                          f"got {given!r}")


def check_choice(parameter: str, given: Any, known: Sequence[str]) -> None:
    """SchemaError unless ``given`` is one of the known words."""
    if given not in known:
        raise SchemaError(f"{parameter} must be one of {known}, got {given!r}")


def check_choices(parameter: str, given: Sequence[str], known: Sequence[str]) -> None:
    """SchemaError unless ``given`` are some of the known words."""
    if not given or not set(given) <= set(known):
        raise SchemaError(f"{parameter} must be some of {known}, got {list(given)}")

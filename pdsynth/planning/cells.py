"""Cells that can occur, in numbers and words, and what of a noise scale is expected in a cell."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..core import Noise, Schema, Unit, plural
from ..holders import SharedNoise

NAMED = 3  # tables that a sentence names


def expected_noise(
    cells: np.ndarray, source: Noise | None = None, hidden: bool = False
) -> np.ndarray:
    """Expected size of the noise of one cell, in noise scales, of tables of so many cells.

    Small tables get zero-sum noise, which leaves one cell less free: of two values half a scale.
    ``source``: where noise comes from, None for a curator's. Shares of it have no such law, nor has
    any noise where n is secret, ``hidden``: made to sum to n again, c cells keep 1 − 1/c of its
    variance. More shares than needed add up to more.

    >>> expected_noise(np.array([2, 32, 33])).tolist()
    [0.5, 0.96875, 1.0]
    >>> expected_noise(np.array([2, 4]), SharedNoise(holders=2, honest=1)).round(2).tolist()
    [1.06, 1.3]
    """
    if hidden or (source is not None and not source.zero_sum):
        larger = source.larger if isinstance(source, SharedNoise) else 1.0
        return np.asarray(larger * np.sqrt(1 - 1 / np.asarray(cells, dtype=float)))
    whole, of = np.unique(np.rint(cells), return_inverse=True)
    small = np.array([Unit().sums_to_n(int(c)) for c in whole])[of]
    return np.where(small, 1 - 1 / np.asarray(cells, dtype=float), 1.0)


def free_cells(cells: np.ndarray, source: Noise | None = None, hidden: bool = False) -> np.ndarray:
    """Expected Σ |noise| of a table of so many cells, in noise scales: see :func:`expected_noise`.

    >>> free_cells(np.array([2, 32, 33])).tolist()
    [1.0, 31.0, 33.0]
    """
    return cells * expected_noise(cells, source, hidden)


def cells_of_pairs(schema: Schema, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cells in which records can be, of the tables of some pairs of columns: float (pairs,)."""
    sizes = np.array(schema.sizes, dtype=float)
    cells = sizes[first] * sizes[second]
    ruled = {columns for columns, _ in schema.masks if len(columns) == 2}
    pairs = zip(first.tolist(), second.tolist(), strict=True)
    for at, (i, j) in enumerate(pairs if ruled else ()):
        if (min(i, j), max(i, j)) in ruled:
            cells[at] = schema.possible([schema.names[i], schema.names[j]])
    return cells


def say_rules(schema: Schema) -> str:
    """A sentence about the cells that rules leave; empty without rules."""
    if not schema.rules:
        return ""
    tables = [tuple(schema.names[j] for j in columns) for columns, _ in schema.masks]
    parts = [f"{schema.possible(t):,} of {schema.cells(t):,} in {' × '.join(t)}" for t in tables]
    more = (
        f", and less in {plural(len(parts) - NAMED, 'other table')}" if len(parts) > NAMED else ""
    )
    return (
        f" Rules leave only some cells in which records can be: {', '.join(parts[:NAMED])}{more}."
        + say_whole_bins(schema)
    )


def say_whole_bins(schema: Schema) -> str:
    """Which bins rules mean that name some numbers in them, and how wide these are, or nothing."""
    said = dict[tuple[str, str], str]()
    for rule in schema.rules:
        lists: Sequence[Any] = rule.said
        if rule.kind == "determines":
            lists = [a for a, _ in rule.said], [b for _, others in rule.said for b in others]
        for name, values in zip(rule.columns, lists, strict=False):  # at_most names no value
            a, edges = schema[name], schema[name].edges
            if not a.numeric_bins or edges is None:
                continue
            numbers = {v for v in values if not isinstance(v, str) and not pd.isna(v)}
            sizes = np.diff([*edges[:-1], edges[-1] + a.integer])  # the last is in the last bin
            codes = {v: int(a.encode(pd.Series([v]))[0]) for v in numbers}
            for code in sorted({*codes.values()}):
                inside = sorted(v for v in numbers if codes[v] == code)
                if not a.integer or len(inside) < sizes[code]:
                    part = sizes[code] / sizes.sum()
                    words = f"{name} {inside[0]} for {a.labels[code]}, {part:.0%} of its range"
                    said.setdefault((name, a.labels[code]), words)
    if not said:
        return ""
    shown = "; ".join([*said.values()][:NAMED]) + "; …" * (len(said) > NAMED)
    return (
        f" In rules a number stands for its whole bin: {shown}. Records there are judged as if "
        "they held it, so a rule may refuse or move them, too: finer bins would touch fewer."
    )

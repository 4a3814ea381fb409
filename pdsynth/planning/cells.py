"""Cells that can occur: where rules leave room for records, in numbers and words."""

import numpy as np

from ..core import Schema, plural

NAMED = 3  # tables that a sentence names


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
    )

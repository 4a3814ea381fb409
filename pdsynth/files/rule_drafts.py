"""Candidates for rules between columns, read off the records: each waits for its owner's word."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from ..constraints import Rule
from ..core import Attribute, SchemaError

EXPECTED = 50  # records that independent columns would have where there are none
SEEN = 10  # records of each value that seems to decide another
MOST_RULES, MOST_COLUMNS, MOST_VALUES = 8, 40, 64  # of a draft; that are looked at
Candidate = tuple[float, Rule]  # how much speaks for it; the rule


def draft_rules(frame: pd.DataFrame, attributes: Sequence[Attribute]) -> tuple[Rule, ...]:
    """Rules that no record breaks, where chance would hardly explain it; the clearest first.

    ``determines``: every value of a column has one value of another. ``at_most``: numbers never
    above those of another column, whose range they overlap. ``impossible``: values that never stand
    together, where independent columns would have :data:`EXPECTED` records or more.

    **Privacy:** read off the records: outside every guarantee, for their owner alone.
    """
    listed = [a for a in attributes if a.size <= MOST_VALUES][:MOST_COLUMNS]
    coded = {a.name: codes for a in listed if (codes := _codes(a, frame[a.name])) is not None}
    members = [a for a in listed if a.name in coded]
    candidates = list[Candidate]()
    for a, b in combinations(members, 2):
        table = np.zeros((a.size, b.size), dtype=np.int64)
        np.add.at(table, (coded[a.name], coded[b.name]), 1)
        candidates += _of_numbers(a, b, frame) or _of_table(a, b, table)
    candidates.sort(key=lambda candidate: -candidate[0])
    return tuple(rule for _, rule in candidates[:MOST_RULES])


def _codes(attribute: Attribute, column: pd.Series) -> np.ndarray | None:
    """Codes of a column; None where a cell has none."""
    try:
        codes, _ = attribute.look_up(column)
    except SchemaError:
        return None
    return None if len(codes) == 0 or codes.min() < 0 or codes.max() >= attribute.size else codes


def _of_numbers(a: Attribute, b: Attribute, frame: pd.DataFrame) -> list[Candidate]:
    """One column of numbers that is never above the other, though their ranges overlap."""
    if not (a.numeric_bins and b.numeric_bins) or a.recode or b.recode:
        return []
    both = frame[[a.name, b.name]].apply(pd.to_numeric, errors="coerce").dropna()
    for low, high in ((a, b), (b, a)):
        x, y = both[low.name], both[high.name]
        if len(both) and (x <= y).all() and x.max() > y.min() and (x < y).any():
            by_chance = float(np.searchsorted(np.sort(y), x, side="left").mean()) / len(both)
            if by_chance * len(both) >= EXPECTED:
                return [(by_chance * len(both), Rule.at_most(low.name, high.name))]
    return []


def _of_table(a: Attribute, b: Attribute, table: np.ndarray) -> list[Candidate]:
    """A column that decides the other, or cells that are empty and would hardly be by chance."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns) / max(table.sum(), 1)
    strength = float(expected[table == 0].sum())
    for one, other, counts in ((a, b, table), (b, a, table.T)):
        totals = counts.sum(axis=1)
        single = ((counts > 0).sum(axis=1) == 1) & (totals >= SEEN)
        decided = counts[single].argmax(axis=1)
        if single.sum() > 1 and (single | (totals == 0)).all() and len({*decided.tolist()}) > 1:
            pairs = zip(np.flatnonzero(single).tolist(), decided.tolist(), strict=True)
            mapping = {_name(one, i): _name(other, j) for i, j in pairs}
            return [(strength, Rule.determines(one.name, other.name, mapping))]
    return list(_empty_cells(a, b, (table == 0) & (expected >= EXPECTED), expected))


def _empty_cells(
    a: Attribute, b: Attribute, empty: np.ndarray, expected: np.ndarray
) -> Iterator[Candidate]:
    """One rule for all values of a column that never stand with the same values of the other."""
    for kind in np.unique(empty[empty.any(axis=1)], axis=0):
        rows = np.flatnonzero((empty == kind).all(axis=1)).tolist()
        names = [_name(a, i) for i in rows], [_name(b, j) for j in np.flatnonzero(kind).tolist()]
        strength = float(expected[rows][:, kind].sum())
        yield strength, Rule.impossible({a.name: names[0], b.name: names[1]})


def _name(attribute: Attribute, code: int) -> object:
    """How a rule names a value."""
    return None if code == len(attribute.values) else attribute.values[code]

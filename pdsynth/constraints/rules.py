"""Rules between columns: which values can't stand together, whoever the records are of. Public.

A rule becomes a mask over the codes of its columns, true where a record can be. It is declared with
the schema, costs no ε, and reads no record.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..core import (
    Attribute,
    Mask,
    Schema,
    SchemaError,
    find_bins,
    is_one_of,
    name_some,
    plural,
    repeated,
    show,
    to_list,
    to_names,
)

KINDS = "impossible", "determines", "at_most"
MOST_CELLS = 2**20  # of the mask of one rule
MOST_RULES = 1_000
MISSING = "(missing)"  # how a missing value is named, as among the labels of an attribute
ON_VIOLATION = "refuse", "keep"
NAMED = 4  # values that a sentence names


@dataclass(frozen=True)
class Rule:
    """What can't be in any record, by public knowledge; three makers write one.

    :meth:`impossible`: values that never stand together. :meth:`determines`: each value of one
    column leaves those values of another. :meth:`at_most`: a number is at most another. Give them
    to the schema: ``Schema(attributes, rules=[...])``. No synthetic record of any model over this
    schema breaks a rule.

    ``on_violation``: what a fit does with records that break the rule. "refuse", as of a value
    outside its domain: no ε is spent. "keep": they are counted like all others, but the release has
    none: other cells hold them instead, so that these are off, too. ``columns``, ``said``: names,
    and what the maker was told, in plain values.

    **Privacy:** a rule is public, as the domain is: the form, the law or arithmetic says it, and
    not the records.
    """

    kind: str
    columns: tuple[str, ...]
    said: tuple[Any, ...] = ()
    on_violation: str = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", to_names("columns of a rule", self.columns))
        if not is_one_of(self.kind, KINDS):
            raise SchemaError(f"a rule must be one of {', '.join(KINDS)}, got {show(self.kind)}")
        if not is_one_of(self.on_violation, ON_VIOLATION):
            raise SchemaError(
                f"on_violation must be one of {ON_VIOLATION}, got {show(self.on_violation)}"
            )
        if len(self.columns) < 2:
            raise SchemaError(
                f"a rule is about two columns or more, got {show(self.columns)}: what one column "
                "can't hold is left out of its domain"
            )
        if twice := repeated(self.columns):
            raise SchemaError(f"a rule names the column(s) {twice} twice")

    @classmethod
    def impossible(cls, values: Mapping[str, Any], *, on_violation: str = "refuse") -> Rule:
        """Values that never stand together: ``{column: value or list of values}``, two columns or
        more; every combination of the listed values is impossible.

        A value is named as in a cell; of bins by the bin's label, or by any number in it; a missing
        value by None. Raises SchemaError for fewer columns; the schema refuses names and values
        that it doesn't declare.

        >>> print(Rule.impossible({"role": ["Husband", "Wife"], "married": "never"}))
        impossible: role Husband or Wife with married never
        """
        if not isinstance(values, Mapping):
            raise SchemaError(
                "impossible takes {column: value or list of values} of two columns or more, got "
                f"{show(values)}"
            )
        lists = tuple(map(_several, values.values()))
        return cls("impossible", tuple(values), lists, on_violation)

    @classmethod
    def determines(cls, a: str, b: str, mapping: Any, *, on_violation: str = "refuse") -> Rule:
        """Each value of column ``a`` leaves one value of ``b``, or those of a list.

        ``mapping``: ``{value of a: value of b or list of values}``, or a public table (DataFrame)
        that holds both columns, whose rows say what goes together. Values of ``a`` that it doesn't
        name are left free. Values are named as in :meth:`impossible`. Raises SchemaError for what
        is no mapping.

        **Privacy:** the table must be public, never the records themselves.

        >>> print(Rule.determines("degree", "years", {"Bachelor": 13, "Master": 14}))
        determines: degree decides years (2 values)
        """
        if isinstance(mapping, pd.DataFrame):
            mapping = _read_table(a, b, mapping)
        if not isinstance(mapping, Mapping) or not mapping:
            raise SchemaError(
                f"determines({show(a)}, {show(b)}, …) takes {{value: value}}, or a public table "
                f"with both columns, got {show(mapping)}"
            )
        pairs = tuple((_plain(value), _several(others)) for value, others in mapping.items())
        return cls("determines", (a, b), pairs, on_violation)

    @classmethod
    def at_most(cls, a: str, b: str, *, on_violation: str = "refuse") -> Rule:
        """The number in column ``a`` is at most that in ``b``; missing values are left free.

        Both columns hold numbers, listed or in bins. Two bins are impossible together if no number
        of one is at most any of the other; of two that overlap, synthetic numbers are placed so
        that the rule holds. Of a chain a ≤ b ≤ c declare a ≤ c, too. Raises SchemaError where the
        schema declares other values.

        >>> print(Rule.at_most("part-time hours", "hours"))
        at_most: part-time hours ≤ hours
        """
        return cls("at_most", (a, b), (), on_violation)

    def __str__(self) -> str:
        if self.kind == "at_most":
            return f"at_most: {' ≤ '.join(self.columns)}"
        if self.kind == "determines":
            return (
                f"determines: {self.columns[0]} decides {self.columns[1]} "
                f"({plural(len(self.said), 'value')})"
            )
        words = [f"{name} {_name(v)}" for name, v in zip(self.columns, self.said, strict=True)]
        return f"impossible: {' with '.join(words)}"

    def mask(self, attributes: Sequence[Attribute]) -> np.ndarray:
        """Where a record can be: bool, one axis per column of the rule, as long as its domain.

        ``attributes``: those of the rule's columns, in its order. Raises SchemaError for values
        that they don't declare, for a rule that leaves nothing, and for one of more than 2^20
        cells.
        """
        shape = tuple(a.size for a in attributes)
        if math.prod(shape) > MOST_CELLS:
            raise SchemaError(
                f"a table over {', '.join(self.columns)} has {math.prod(shape):,} cells, and a "
                f"rule has at most {MOST_CELLS:,}: use coarser bins, or rules of fewer columns"
            )
        mask = np.ones(shape, dtype=bool)
        try:
            if self.kind == "impossible":
                listed = zip(attributes, self.said, strict=True)
                mask[np.ix_(*(_codes(a, values) for a, values in listed))] = False
            elif self.kind == "determines":
                for value, others in self.said:
                    row = np.zeros(shape[1], dtype=bool)
                    row[_codes(attributes[1], others)] = True
                    mask[code_of(attributes[0], value)] &= row
            else:
                mask = compare_numbers(*attributes)
        except (TypeError, ValueError) as problem:
            raise SchemaError(f"rule «{self}»: {problem}") from None
        return mask


def _several(values: Any) -> tuple[Any, ...]:
    """One value or a list of values, in plain types."""
    if isinstance(values, (set, frozenset)):
        values = sorted(values, key=str)
    several = isinstance(values, (list, tuple, range)) or getattr(values, "ndim", 0) == 1
    listed = to_list("values of a rule", values) if several else [values]
    if not listed:
        raise SchemaError("a rule lists no value of a column: name at least one")
    return tuple(map(_plain, listed))


def _plain(value: Any) -> Any:
    """A value as it stands in files; a missing one by its name."""
    value = value.item() if isinstance(value, np.generic) else value
    if is_missing(value):
        return MISSING
    if not isinstance(value, (str, bool, int, float)):
        raise SchemaError(f"a rule names values by texts and numbers, got {show(value)}")
    return value


def _read_table(a: str, b: str, table: pd.DataFrame) -> dict[Any, list[Any]]:
    """What goes with each value of a column in a public table."""
    if gone := [name for name in (a, b) if name not in table.columns]:
        raise SchemaError(f"the public table of a rule has no column {show(gone[0])}")
    mapping: dict[Any, list[Any]] = {}
    pairs = table[[a, b]].drop_duplicates()
    for value, other in zip(pairs[a].tolist(), pairs[b].tolist(), strict=True):
        mapping.setdefault(_plain(value), []).append(_plain(other))
    return mapping


def _name(values: Sequence[Any]) -> str:
    """A few values in words."""
    more = f" or {len(values) - NAMED:,} more" if len(values) > NAMED else ""
    return " or ".join(map(str, values[:NAMED])) + more


def _codes(attribute: Attribute, values: Iterable[Any]) -> list[int]:
    return sorted({code_of(attribute, value) for value in values})


def is_missing(value: Any) -> bool:
    """Whether a value that a user names stands for a missing cell."""
    return value is None or (
        not getattr(value, "ndim", 0) and pd.api.types.is_scalar(value) and bool(pd.isna(value))
    )


def code_of(attribute: Attribute, value: Any) -> int:
    """Code of a value that a user names; of bins by a label, or by a number inside."""
    if attribute.missing and (is_missing(value) or value == MISSING):
        return attribute.size - 1
    text = isinstance(value, str)
    if value.__hash__ and (text or not attribute.numeric_bins) and value in attribute.values:
        return attribute.values.index(value)
    try:
        if not pd.api.types.is_scalar(value) or (
            attribute.numeric_bins and (text or isinstance(value, (bool, np.bool_)))
        ):
            raise SchemaError("no such value")
        return int(attribute.encode(pd.Series([value]))[0])
    except SchemaError:
        labels = ", ".join(attribute.labels[:8]) + (", …" if attribute.size > 8 else "")
        kind = "no text: leave out its quotes" if text else "a text: put it in quotes"
        known = not attribute.numeric_bins and str(value) in attribute.labels
        raise SchemaError(
            f"{attribute.name!r} has no value {show(value)}; it has {labels}"
            + f"; {value} is {kind}" * known
        ) from None


# --- numbers -------------------------------------------------------------------------------------


def ends(attribute: Attribute) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The least and the largest number of each declared value, and whether the largest is reached.

    Float, float and bool (declared values,); of listed numbers both are the number.
    """
    if attribute.edges is None:
        strange = [v for v in attribute.values if isinstance(v, (str, bool))]
        if strange:
            raise SchemaError(f"{attribute.name!r} declares {show(strange[0])}, which is no number")
        numbers = np.array(attribute.values, dtype=float)
        return numbers, numbers, np.ones(len(numbers), dtype=bool)
    cuts = np.array(attribute.edges, dtype=float)
    last = np.arange(len(cuts) - 1) == len(cuts) - 2
    highest = cuts[1:] - (attribute.integer & ~last)
    return cuts[:-1], highest, last | attribute.integer


def compare_numbers(a: Attribute, b: Attribute) -> np.ndarray:
    """Which values of two columns agree with a ≤ b: bool (|a|, |b|); missing ones always do.

    >>> hours = Attribute.binned("hours", [0, 10, 20, 40])
    >>> compare_numbers(hours, hours).astype(int).tolist()
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    """
    (low, _, _), (_, high, reached) = ends(a), ends(b)
    mask = np.ones((a.size, b.size), dtype=bool)
    fits = low[:, None] < high
    mask[: len(low), : len(high)] = fits | ((low[:, None] == high) & reached)
    return mask


def put_in_order(frame: pd.DataFrame, schema: Schema, fixed: Iterable[str] = ()) -> pd.DataFrame:
    """A synthetic table whose numbers keep ``at_most`` where two bins overlap, too.

    In rows that don't, numbers move within their bins: bounds are handed on from column to column,
    and each number stands in what they leave where it stood in its bin. ``fixed``: columns whose
    numbers stay.

    **Privacy:** post-processing of a synthetic table.
    """
    pairs = [rule.columns for rule in schema.rules if rule.kind == "at_most"]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    numbers = {x: frame[x].to_numpy(dtype=float, na_value=math.nan) for x in names}
    bad = np.zeros(len(frame), dtype=bool)
    for a, b in pairs:
        bad |= numbers[a] > numbers[b]
    if not bad.any():
        return frame
    low, high, place = {}, {}, {}
    for x in names:
        mine = numbers[x] = numbers[x][bad]
        low[x], high[x] = _bounds(schema[x], mine) if x not in fixed else (mine, mine)
        width = high[x] - low[x]
        place[x] = np.divide(mine - low[x], width, out=np.zeros(len(mine)), where=width > 0)
    for x in names:
        for a, b in pairs * len(pairs):  # as far as a bound may have to go
            both = ~np.isnan(numbers[a] + numbers[b])
            low[b] = np.where(both, np.maximum(low[a], low[b]), low[b])
            high[a] = np.where(both, np.minimum(high[a], high[b]), high[a])
            low[b] = np.ceil(low[b]) if schema[b].integer else low[b]
            high[a] = np.floor(high[a]) if schema[a].integer else high[a]
        moved = low[x] + place[x] * (high[x] - low[x])
        moved = np.floor(moved) if schema[x].integer else moved
        low[x] = high[x] = numbers[x] = np.clip(moved, low[x], high[x])
        column = np.array(frame[x].to_numpy(dtype=float, na_value=math.nan))
        column[bad] = numbers[x]
        frame[x] = pd.Series(column, index=frame.index).astype(frame[x].dtype)
    return frame


def _bounds(attribute: Attribute, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest number of the bin of each number; of a listed one itself."""
    if attribute.edges is None:
        return numbers, numbers
    first, last, reached = ends(attribute)
    last = np.where(reached, last, np.nextafter(last, first))
    at = np.where(np.isnan(numbers), 0, find_bins(numbers, attribute.edges))
    gone = np.where(np.isnan(numbers), np.nan, 0.0)
    return first[at] + gone, last[at] + gone


def leave_beside(
    rules: Sequence[Rule], attributes: Mapping[str, Attribute], numbers: Mapping[str, float]
) -> list[tuple[str, np.ndarray]]:
    """What ``at_most`` leaves of columns beside exact numbers: names, and bool (|X|,) each."""
    masks = []
    for a, b in (rule.columns for rule in rules if rule.kind == "at_most"):
        for name, other in ((a, b), (b, a)):
            if name not in numbers:
                continue
            mask = np.ones(attributes[other].size, dtype=bool)
            low, high, reached = ends(attributes[other])
            number = numbers[name]
            above = (high > number) | ((high == number) & reached)
            mask[: len(low)] = above if other == b else low <= number
            masks.append((other, mask))
    return masks


# --- all rules of a schema -----------------------------------------------------------------------


def combine(rules: Sequence[Rule], attributes: Sequence[Attribute]) -> tuple[Mask, ...]:
    """One mask per set of columns that some rule is about.

    Raises SchemaError for what is no rule, for more than 1,000 rules, and where rules contradict
    each other, so that a column has no value left: values that no rule's columns allow are struck
    out until nothing changes.
    """
    if wrong := [rule for rule in rules if not isinstance(rule, Rule)]:
        raise SchemaError(
            f"rules must be Rules, got {show(wrong[0])}: use Rule.impossible, .determines or "
            ".at_most"
        )
    if len(rules) > MOST_RULES:
        raise SchemaError(f"{len(rules):,} rules; at most {MOST_RULES:,} are possible")
    place = {a.name: j for j, a in enumerate(attributes)}
    masks: dict[tuple[int, ...], np.ndarray] = {}
    for rule in rules:
        if gone := [name for name in rule.columns if name not in place]:
            raise SchemaError(
                f"rule «{rule}» names {show(gone[0])}, which the schema doesn't declare; it has "
                f"{name_some([*place], 40)}"
            )
        columns = [place[name] for name in rule.columns]
        mask = np.transpose(rule.mask([attributes[j] for j in columns]), np.argsort(columns))
        key = tuple(sorted(columns))
        masks[key] = masks[key] & mask if key in masks else mask
        if not masks[key].any():
            beside = " beside those before it" * bool(mask.any())
            raise SchemaError(
                f"rule «{rule}» leaves no values of its columns at all{beside}: correct it"
            )
    items = tuple(masks.items())
    domains = possible_values(items, [a.size for a in attributes])
    if empty := [a.name for a, values in zip(attributes, domains, strict=True) if not values.any()]:
        words = "; ".join(str(rule) for rule in rules if {*rule.columns} & {*empty})
        raise SchemaError(
            f"the rules contradict each other: {', '.join(map(repr, empty))} could have no value "
            f"at all ({words}): correct or drop one of them"
        )
    return items


def keep_rules(masks: Sequence[Mask], codes: np.ndarray) -> np.ndarray:
    """Which records (n, d) keep all rules: bool (n,). **Privacy:** raw where the records are."""
    kept = np.ones(len(codes), dtype=bool)
    for columns, mask in masks:
        kept &= mask[tuple(codes[:, j] for j in columns)]
    return kept


def possible_in(
    masks: Sequence[Mask], sizes: Sequence[int], columns: Sequence[int]
) -> np.ndarray | None:
    """Where a record can be in a table of some columns, as far as rules inside it say.

    Bool, one axis per column in the given order; None where no rule lies inside.
    """
    inside = [(scope, mask) for scope, mask in masks if {*scope} <= {*columns}]
    if not inside:
        return None
    cells = np.ones(tuple(sizes[j] for j in columns), dtype=bool)
    for scope, mask in inside:
        order = np.argsort([columns.index(j) for j in scope])
        shape = [sizes[j] if j in scope else 1 for j in columns]
        cells &= np.transpose(mask, order).reshape(shape)
    return cells


def possible_cells(masks: Sequence[Mask], sizes: Sequence[int], columns: Sequence[int]) -> int:
    """How many cells of such a table a record can be in."""
    cells = possible_in(masks, sizes, columns)
    return math.prod(sizes[j] for j in columns) if cells is None else int(cells.sum())


def possible_values(masks: Sequence[Mask], sizes: Sequence[int]) -> list[np.ndarray]:
    """The values of each column that the rules may leave: bool (|X|,) each."""
    domains, struck = [np.ones(size, dtype=bool) for size in sizes], True
    while struck:
        before = sum(int(values.sum()) for values in domains)
        for columns, mask in masks:
            here: np.ndarray = mask
            for axis, j in enumerate(columns):
                here = here & np.expand_dims(domains[j], [a for a in range(mask.ndim) if a != axis])
            for axis, j in enumerate(columns):
                domains[j] = np.any(here, axis=tuple(a for a in range(mask.ndim) if a != axis))
        struck = sum(int(values.sum()) for values in domains) < before
    return domains

"""One line of the privacy ledger, what a noisy table costs, and how both are written as text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from typing import Any

from ..errors import BudgetError

KINDS = ("mechanism", "group", "post_processing", "unaccounted_access", "public")


def as_fraction(value: float | int | str | Fraction) -> Fraction:
    """A share or ε as written: 0.1 becomes 1/10, never the nearest binary float.

    >>> as_fraction(0.1), as_fraction(1/3)
    (Fraction(1, 10), Fraction(1, 3))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise BudgetError(f"a budget or share must be finite, got {value}")
    written = Fraction(str(value))
    near = written.limit_denominator(1000)  # 0.3333333333333333 is how a float writes 1/3
    return near if isinstance(value, float) and float(near) == value else written


@dataclass(frozen=True)
class Entry:
    """One line of the ledger; see the fields of `algorithms` §10.1.

    ``sensitivity`` and ``scale`` are in the unit of ``released``; a per-value scale is a tuple, one a row of the table, with
    ``columns`` telling how many cells each row has. ``epsilon`` is the true cost, ``claimed`` the advertised one.
    """

    id: str
    kind: str
    step: str
    source: str = ""
    mechanism: str = ""
    released: str = ""
    attributes: tuple[str, ...] = ()
    sensitivity: Fraction | None = None
    scale: Fraction | tuple[Fraction, ...] | None = None
    columns: int = 1
    epsilon: Fraction | float = Fraction(0)
    claimed: Fraction = Fraction(0)
    inputs: tuple[str, ...] = ()
    scale_depends_on: tuple[str, ...] = ()
    candidates: str = "public"
    score_unit: str = ""
    sensitivity_unit: str = ""
    lemma: str = ""
    domain_sizes: tuple[int, int] | None = None
    n_records: int | None = None
    relation: str = "replace_one"
    parent: str | None = None
    compose: str = ""
    record_filter: str | None = None
    domain: str = "schema:public"
    why: str = ""

    @property
    def cost(self) -> Fraction | float:
        """True cost under replacing one record: an add/remove ε counts twice (rule L7)."""
        return self.epsilon * (2 if self.relation == "add_remove" else 1)


def histogram_cost(scales: Sequence[Fraction], columns: int) -> Fraction:
    """Exact loss of a noisy table with one scale a row: the worst move of one record from a cell to another.

    With two or more columns both cells can lie in the row of the smallest scale; with one column they lie in two rows
    (`algorithms` §3.3.5).

    >>> histogram_cost([Fraction(2), Fraction(4)], 3), histogram_cost([Fraction(2), Fraction(4)], 1)
    (Fraction(1, 1), Fraction(3, 4))
    """
    inverse = sorted((1 / Fraction(s) for s in scales), reverse=True)
    if columns >= 2:
        return 2 * inverse[0]
    return inverse[0] + inverse[1] if len(inverse) > 1 else Fraction(0)


def to_plain(value: Any) -> Any:
    """An entry's fields as plain data for JSON; fractions are written as text."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    if isinstance(value, dict):
        return {k: to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


def from_plain(data: Mapping[str, Any]) -> Entry:
    """The inverse of :func:`to_plain`; a malformed document raises ValueError, TypeError or KeyError."""
    fields = dict(data)
    texts, whole = [f.name for f in dataclass_fields(Entry) if f.type == "str"], ("columns", "n_records")
    for name in (*texts, "parent", "record_filter", *whole):
        optional = name in ("parent", "record_filter", "n_records")
        if type(fields[name]) is not (int if name in whole else str) and not (optional and fields[name] is None):
            raise ValueError(f"{name} = {fields[name]!r} in a ledger entry")
    for name in ("attributes", "inputs", "scale_depends_on"):
        fields[name] = tuple(map(str, fields[name]))
    fields["epsilon"] = math.inf if fields["epsilon"] == "inf" else Fraction(fields["epsilon"])
    fields["claimed"] = Fraction(fields["claimed"])
    fields["sensitivity"] = None if fields["sensitivity"] is None else Fraction(fields["sensitivity"])
    scale = fields["scale"]
    fields["scale"] = tuple(map(Fraction, scale)) if isinstance(scale, list) else None if scale is None else Fraction(scale)
    scales = fields["scale"] if isinstance(scale, list) else [Fraction(1) if scale is None else fields["scale"]]
    if not scales or min(scales) <= 0:
        raise ValueError(f"a noise scale of {scale!r} in a ledger entry")
    if fields["domain_sizes"] is not None:
        x, pi = map(int, fields["domain_sizes"])
        fields["domain_sizes"] = (x, pi)
    counted = {"columns": fields["columns"], "n_records": fields["n_records"], "domain_sizes": min(fields["domain_sizes"] or (1,))}
    for name, value in counted.items():
        if value is not None and value < 1:
            raise ValueError(f"{name} = {fields[name]!r} in a ledger entry")
    return Entry(**fields)

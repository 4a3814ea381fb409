"""One line of the privacy ledger, and how it is written as text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from ..errors import BudgetError

KINDS = ("mechanism", "group", "post_processing", "unaccounted_access", "public")
MECHANISMS = ("discrete_laplace", "exponential", "permute_and_flip", "forfeited")
DIGITS = 100  # of a numerator or denominator in a file
MAX_WHOLE = 2**64  # of cells and records in an entry
MAX_ENTRIES = 2**16  # of a file
DENOMINATOR_BITS = 4096  # of all entries of a file together
_WRITTEN = re.compile(f"[0-9]{{1,{DIGITS}}}(/[0-9]{{1,{DIGITS}}})?")


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

    ``sensitivity`` and ``scale`` are in the unit of ``released``; a tuple has one scale per row of
    the table, whose number of cells is ``columns``. ``epsilon`` is the true cost, ``claimed`` the
    advertised one.
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
        return 2 * self.epsilon if self.relation == "add_remove" else self.epsilon


def to_plain(value: Any) -> Any:
    """An entry's fields as plain data for JSON; fractions are written as text."""
    if isinstance(value, Fraction) or value == math.inf:
        return str(value)
    if isinstance(value, dict):
        return {k: to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


def read_entries(data: Sequence[Mapping[str, Any]]) -> list[Entry]:
    """The inverse of :func:`to_plain` for the lines of a ledger, s01, s02, … in their order.

    Malformed data raise ValueError, TypeError or KeyError.
    """
    if len(data) > MAX_ENTRIES:
        raise ValueError(f"{len(data):,} entries, at most {MAX_ENTRIES:,} are read")
    found, common = [_from_plain(e) for e in data], 1
    for number, e in enumerate(found, 1):
        if e.kind not in KINDS or e.id != f"s{number:02d}":
            raise ValueError(f"line {number} is of unknown kind, or isn't called s{number:02d}")
        finite = [x for x in (e.epsilon, e.claimed) if isinstance(x, Fraction)]
        common = math.lcm(common, *(x.denominator for x in finite))
        if common.bit_length() > DENOMINATOR_BITS:
            raise ValueError("the fractions have an enormous common denominator")
    return found


def _from_plain(data: Mapping[str, Any]) -> Entry:
    read = {f.name: _read(str(f.type), data[f.name]) for f in fields(Entry)}
    entry = Entry(**{**data, **read})
    scales = entry.scale if isinstance(entry.scale, tuple) else (entry.scale,)
    numbers = (*scales, entry.columns, entry.n_records, *(entry.domain_sizes or ()))
    if not scales or any(x is not None and not 0 < x < MAX_WHOLE for x in numbers):
        raise ValueError(f"a scale or a size of {entry.step[:60]!r} isn't positive, or is enormous")
    return entry


def read_fraction(value: Any) -> Fraction:
    """A number of a ledger as :func:`to_plain` writes it; ValueError for anything else.

    Signs, points and exponents aren't written, so they aren't read: ``"1e999999999"`` is refused by
    its form, before it is a number.

    >>> read_fraction("7/120")
    Fraction(7, 120)
    """
    if type(value) is not str or not _WRITTEN.fullmatch(value):
        raise ValueError(
            f"{str(value)[:40]!r} in a ledger, where a fraction of whole numbers with "
            f"at most {DIGITS} digits belongs"
        )
    return Fraction(value)


def _read(kind: str, value: Any) -> Any:
    """A field from plain data; ``kind`` is its annotation in :class:`Entry`."""
    if value is None and "None" in kind:
        return None
    if kind.startswith(("str", "int")):
        if type(value).__name__ != kind.split()[0]:
            raise ValueError(f"{str(value)[:40]!r} in a ledger entry, where {kind} belongs")
        return value
    if kind == "tuple[str, ...]":
        return tuple(_read("str", text) for text in value)
    if kind.startswith("tuple[int"):
        x, pi = (_read("int", size) for size in value)
        return x, pi
    if value == "inf" and "float" in kind:
        return math.inf
    if isinstance(value, list) and "tuple" in kind:
        return tuple(map(read_fraction, value))
    return read_fraction(value)

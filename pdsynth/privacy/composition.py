"""How the costs of entries add up: sequentially, or in parallel over disjoint records."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from .entries import Entry
from .rules import children, group_rule

NEIGHBOURS = {"replace_one": "replace", "add_remove": "add or remove"}


def unit_in_words(relation: str, per_person: int) -> str:
    """What neighbours differ in."""
    whose = "one record" if per_person == 1 else f"one person's {per_person} records"
    return f"{NEIGHBOURS[relation]} {whose}"


def add_up(entries: Iterable[Entry], what: str) -> Fraction | float:
    """Sequential composition: the sum of ``cost`` or ``claimed`` over the mechanisms."""
    return sum((getattr(e, what) for e in entries if e.kind == "mechanism"), Fraction(0))


def compose(entries: Iterable[Entry], what: str) -> Fraction | float:
    """Total ``cost`` or ``claimed``: sequential, or parallel over provably disjoint records (L6).

    What a recipe *claims* is composed as the recipe says; a true cost never is, when the parts are
    columns or overlap.
    """
    entries = list(entries)
    inside = children(entries)
    parts = {g.id: inside.get(g.id, [])
             for g in entries if g.kind == "group" and g.compose == "parallel"}
    if what != "claimed":
        groups = [g for g in entries if g.id in parts]
        parts = {g.id: parts[g.id] for g in groups if not any(group_rule(g, parts[g.id]))}
    alone = [e for e in entries if e.parent not in parts]
    return add_up(alone, what) + sum((_parallel(p, what) for p in parts.values()), Fraction(0))


def _parallel(part: Iterable[Entry], what: str) -> Fraction | float:
    """Disjoint sets of records: a replaced record leaves one and enters another, so two count.

    When all parts are add/remove, their costs are doubled already (rule L7), and the dearest one
    alone bounds any replacement. Papers claim the dearest part (McSherry 2009).
    """
    paid = [e for e in part if e.kind == "mechanism"]
    inside: dict[str | None, list[Entry]] = {}
    for e in paid:
        inside.setdefault(e.record_filter, []).append(e)
    costs = [add_up(each, what) for each in inside.values()]
    doubled = all(e.relation == "add_remove" for e in paid)
    return sum(sorted(costs, reverse=True)[: 1 if what == "claimed" or doubled else 2], Fraction(0))


def own_scales(entry: Entry, attribute: str) -> tuple[Fraction, ...]:
    """Noise scales per value of the attribute's own table; of any other entry none."""
    own = isinstance(entry.scale, tuple) and entry.attributes[0] == attribute
    return entry.scale if own else ()  # type: ignore[return-value]


def value_loss(
    entries: Iterable[Entry], scales: Iterable[Sequence[Fraction]], move: tuple[int, int],
    raw: bool, per_person: int,
) -> Fraction | float:
    """The loss if a value u becomes v: 1/b_u + 1/b_v in a table with its own ``scales``."""
    u, v = move
    if u == v or raw:
        return Fraction(0) if u == v else math.inf
    moved = [replace(e, epsilon=per_person * (1 / s[u] + 1 / s[v])) if s else e
             for e, s in zip(entries, scales, strict=True)]
    return compose(moved, "cost")

"""Groups of lines that a paper composes in parallel: what they claim and cost, and rule L6."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from ..core import Entry, add_up


def compose_groups(entries: Sequence[Entry], what: str) -> Fraction | float:
    """Total ``cost`` or ``claimed``: sequential, or parallel over provably disjoint records (L6).

    What a recipe *claims* is composed as the recipe says; a true cost never is, when the parts are
    columns or overlap.
    """
    inside = children(entries)
    parts = {
        g.id: inside.get(g.id, []) for g in entries if g.kind == "group" and g.compose == "parallel"
    }
    if what != "claimed":
        groups = [g for g in entries if g.id in parts]
        parts = {g.id: parts[g.id] for g in groups if not any(group_rule(g, parts[g.id]))}
    alone = [e for e in entries if e.parent not in parts]
    return add_up(alone, what) + sum((_parallel(p, what) for p in parts.values()), Fraction(0))


def _parallel(part: Iterable[Entry], what: str) -> Fraction | float:
    """Disjoint sets of records: a replaced record leaves one and enters another, so two count.

    That is a bound: of two histograms half of it is lost, one cell of either. When all parts are
    add/remove, their costs are doubled already (rule L7), and the dearest one alone bounds any
    replacement. Papers claim the dearest part (McSherry 2009).
    """
    paid = [e for e in part if e.kind == "mechanism"]
    inside: dict[str | None, list[Entry]] = {}
    for e in paid:
        inside.setdefault(e.record_filter, []).append(e)
    costs = [add_up(each, what) for each in inside.values()]
    doubled = all(e.relation == "add_remove" for e in paid)
    return sum(sorted(costs, reverse=True)[: 1 if what == "claimed" or doubled else 2], Fraction(0))


def children(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The entries of each group, by its id."""
    groups: dict[str, list[Entry]] = {}
    for e in entries:
        if e.parent is not None:
            groups.setdefault(e.parent, []).append(e)
    return groups


def check_groups(entries: Sequence[Entry]) -> list[str]:
    """Violations of rule L6, each with its group: ``"L6 s07 tables: …"``; empty if none."""
    parts = children(entries)
    return [
        f"L6 {group.id} {group.step}: {message}"
        for group in entries
        if group.kind == "group"
        for message in group_rule(group, parts.get(group.id, []))
    ]


def group_rule(group: Entry, children: Sequence[Entry]) -> Iterator[str]:
    """Rule L6: only disjoint sets of records, named by public predicates, compose in parallel."""
    if group.compose not in ("sequential", "parallel"):
        yield f"compose is {group.compose!r}"
    if group.compose != "parallel":
        return
    steps: dict[str, list[str]] = {}
    for e in children:
        steps.setdefault(e.record_filter or "", []).append(e.step)
    part_of: dict[str, str] = {}  # the part that holds each value
    names = {over: _parse(over)[0] for over in steps}
    for over, titles in steps.items():
        if not over.startswith("records:"):
            more = f" and {len(titles) - 1} more are" if len(titles) > 1 else " is"
            yield (
                f"{titles[0]}{more} composed in parallel over {over!r}: "
                "only disjoint sets of records compose in parallel, never columns"
            )
        values, first = _parse(over)[1], next(iter(steps))
        other = (
            first
            if names[over] != names[first]
            else next((part_of[v] for v in values if v in part_of), over)
        )
        if other != over:
            yield f"parts {other!r} and {over!r} are not disjoint"
        part_of |= dict.fromkeys(values, over)


def _parse(text: str) -> tuple[str, set[str]]:
    """Name and values of a filter ``records:NAME in {x, y}``."""
    name, _, values = text.removeprefix("records:").partition(" in ")
    return name.strip(), {v.strip() for v in values.strip("{} ").split(",")}

"""The privacy ledger: what was asked of the records, what it really cost, and whether it adds up.

Costs are fractions, never rounded. Every entry carries what the algorithm *claims* and what the
step *truly* costs (sensitivity ÷ scale); raw reads stand beside them as unaccounted accesses and
make the total infinite.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

import pandas as pd

from ..errors import BudgetError, PrivacyError
from . import rules
from .entries import KINDS, Entry, as_fraction, from_plain, histogram_cost, to_plain
from .ledger_html import ledger_html, short

__all__ = ["KINDS", "Entry", "Ledger", "as_fraction", "histogram_cost"]

COLUMNS = ["step", "source", "mechanism", "released", "attributes", "sensitivity", "scale",
           "claimed", "epsilon", "total", "kind"]


@dataclass
class Ledger:
    """Append-only account of one run.

    ``claimed`` is the ε that the algorithm promises. ``guarantee`` decides what an overdraft is:
    under ``strict`` the true costs may not exceed the promise, under ``published`` the claimed
    ones; either raises BudgetError before noise is drawn. ``guaranteed_ex_ante`` names the
    attributes whose loss the policy fixed (a restricted structure), or is True where it is every
    attribute's.
    """

    claimed: Fraction
    guarantee: str = "strict"
    notes: list[str] = field(default_factory=list)
    public_attributes: tuple[str, ...] = ()
    guaranteed_ex_ante: bool | tuple[str, ...] = False
    _entries: list[Entry] = field(default_factory=list, repr=False)
    _running: dict[str, tuple[int, Any]] = field(default_factory=dict, repr=False)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All lines in the order they were written."""
        return tuple(self._entries)

    def write(self, kind: str, step: str, **fields: Any) -> Entry:
        """Append a line; an overdraft, or a raw read under ``strict``, raises instead."""
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
        entry = Entry(id=f"s{len(self._entries) + 1:02d}", kind=kind, step=step, **fields)
        if kind == "unaccounted_access" and self.guarantee == "strict":
            raise PrivacyError(
                f"{step!r} would read raw records outside a mechanism "
                f"({entry.source or 'no source'}); strict runs refuse it: charge a mechanism, "
                "or use guarantee='published' to see what it costs")
        if kind == "mechanism" and self.guarantee != "none":
            self._refuse_overdraft(entry, "cost" if self.guarantee == "strict" else "claimed")
        self._entries.append(entry)
        return entry

    def _refuse_overdraft(self, entry: Entry, what: str) -> None:
        if entry.parent is not None or any(e.kind == "group" for e in self._entries):
            spent = _compose([*self._entries, entry], what)
        else:  # all is sequential: only what is new is added
            count, total = self._running.get(what, (0, Fraction(0)))
            total += _sequential(self._entries[count:], what)
            self._running[what] = len(self._entries), total
            spent = total + getattr(entry, what)
        if spent > self.claimed:
            raise BudgetError(
                f"overdraft: {entry.step!r} asks for ε = {getattr(entry, what)}, which would bring "
                f"the total to {spent} of {self.claimed}; nothing was released for it")

    @property
    def finite(self) -> Fraction:
        """True cost of the accounted part, whatever else was read raw."""
        total = _compose(self._entries, "cost")
        return total if isinstance(total, Fraction) else Fraction(0)

    @property
    def epsilon(self) -> Fraction | float:
        """The audited ε, a fraction, or infinity when anything is unaccounted (rule L8)."""
        endless = any(e.kind == "mechanism" and e.cost == math.inf for e in self._entries)
        return math.inf if self.unaccounted or endless else self.finite

    @property
    def unaccounted(self) -> list[Entry]:
        """Raw reads that no mechanism pays for, each with the paper's line in ``source``."""
        return [e for e in self._entries if e.kind == "unaccounted_access"]

    def attribute_epsilon(self) -> pd.Series:
        """The loss if only this attribute of one record changes: of the entries that depend on it.

        ``.attrs["known"]`` says whether the numbers held before the run or are ex post.
        """
        touched = {a for e in self._entries for a in e.attributes}
        names = list(self.public_attributes) or sorted(touched)
        losses = {name: _compose(self._about(name), "cost") for name in names}
        for e in self.unaccounted:
            losses.update(dict.fromkeys(e.attributes or names, math.inf))
        series = pd.Series(losses, dtype=object, name="epsilon")
        known, sure = "ex post: read off the network that was drawn", self.guaranteed_ex_ante
        if sure:
            known = "before the run"
        if isinstance(sure, tuple) and sure:
            known += f" for {', '.join(sure)}; ex post for the others"
        series.attrs["known"] = known
        return series

    def value_epsilon(self, attribute: str, values: Sequence[Any] | None = None) -> pd.DataFrame:
        """The loss if one record's attribute changes from one value (row) to another (column).

        Where the attribute's own table has one noise scale b per value (HPPrivBayes' group B), a
        move from u to v costs 1/b_u + 1/b_v in it; every other entry costs what it costs the
        attribute. ``values``: the attribute's labels. The largest number of a row is what a record
        with that value loses. ``.attrs["known"]``: before the run where the structure is fixed and
        the weights are public, else ex post.
        """
        mine = self._about(attribute)
        scales = [_own_scales(e, attribute) for e in mine]
        rows = max(map(len, scales), default=0) or 1
        labels = list(range(rows)) if values is None else list(values)
        if rows not in (1, len(labels)):
            raise ValueError(f"{attribute!r} has {rows} noise scales, one per value, "
                             f"but {len(labels)} values are named")
        raw = self.attribute_epsilon().get(attribute) == math.inf

        def move(u: int, v: int) -> Fraction | float:
            if u == v or raw:
                return Fraction(0) if u == v else math.inf
            moved = [replace(e, epsilon=1 / s[u] + 1 / s[v]) if s else e
                     for e, s in zip(mine, scales, strict=True)]
            return _compose(moved, "cost")

        places = range(len(labels))
        losses = [[move(u, v) for v in places] for u in places]
        table = pd.DataFrame(losses, index=labels, columns=labels, dtype=object)
        sure = self.guaranteed_ex_ante
        sure = attribute in sure if isinstance(sure, tuple) else sure
        public = all(x.startswith("public:") for e in mine for x in e.scale_depends_on)
        table.attrs["known"] = ("before the run" if sure and public
                                else "ex post: read off the run's network and scales")
        return table

    def _about(self, attribute: str) -> list[Entry]:
        """The entries that depend on an attribute, and the groups that they may belong to."""
        return [e for e in self._entries if e.kind == "group" or attribute in e.attributes]

    def check(self) -> list[str]:
        """Violated rules L1–L10, each with its code and its entry; empty if none."""
        return rules.check(self.entries, claimed=self.claimed, finite=self.finite,
                           epsilon=self.epsilon, notes=self.notes)

    def to_frame(self) -> pd.DataFrame:
        """One row per entry with the running total, infinite after the first unaccounted access."""
        rows: list[tuple[Any, ...]] = []
        total: Fraction | float = Fraction(0)
        for e in self._entries:
            epsilon = math.inf if e.kind == "unaccounted_access" else e.cost
            total += epsilon if e.kind == "mechanism" or epsilon == math.inf else 0
            scale: Any = e.scale
            if isinstance(scale, tuple):
                scale = f"{float(min(scale)):.4g} … {float(max(scale)):.4g}"
            rows.append((e.step, e.source, e.mechanism or e.kind.replace("_", " "), e.released,
                         ", ".join(e.attributes), e.sensitivity, scale, e.claimed, epsilon, total,
                         e.kind))
        return pd.DataFrame(rows, columns=COLUMNS)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; fractions are written as text, so nothing drifts."""
        known = self.guaranteed_ex_ante
        return {
            "claimed": str(self.claimed),
            "guarantee": self.guarantee,
            "notes": list(self.notes),
            "attributes": list(self.public_attributes),
            "guaranteed_ex_ante": list(known) if isinstance(known, tuple) else known,
            "entries": [to_plain(asdict(e)) for e in self._entries],
        }

    def to_json(self) -> str:
        """One JSON object per line: a header, then the entries (`algorithms` §10.1)."""
        head = self.to_dict()
        lines = [head, *head.pop("entries")]
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ledger:
        """The inverse of :meth:`to_dict`."""
        if data["guarantee"] not in ("strict", "published", "none"):
            raise ValueError(f"unknown guarantee {data['guarantee']!r}")
        known = data["guaranteed_ex_ante"]
        ledger = cls(
            Fraction(data["claimed"]), str(data["guarantee"]), [str(n) for n in data["notes"]],
            tuple(map(str, data["attributes"])),
            tuple(map(str, known)) if isinstance(known, list) else bool(known),
            [from_plain(e) for e in data["entries"]])
        unknown = any(e.kind not in KINDS or e.epsilon < 0 for e in ledger._entries)
        if ledger.claimed <= 0 or unknown:
            raise ValueError("an entry of unknown kind, or a budget below zero")
        return ledger

    def verdict(self) -> str:
        """One sentence that can't be mistaken for a guarantee that isn't there."""
        claimed, finite = short(self.claimed), short(self.finite)
        if self.guarantee == "none":
            return "NOT PRIVATE: no noise was added (guarantee='none')."
        if self.unaccounted:
            raw = f"{len(self.unaccounted)} unaccounted access(es)"
            return (f"NOT DIFFERENTIALLY PRIVATE: claimed ε = {claimed}, {raw} make it infinite; "
                    f"the accounted part alone truly costs {finite}.")
        if self.epsilon > self.claimed:
            return f"OVERSPENT: claimed ε = {claimed}, true ε = {finite}."
        return f"Pure ε-differential privacy (replace one record): ε = {finite} of {claimed}."

    def __str__(self) -> str:
        lines = [self.verdict(), *(f"note: {n}" for n in self.notes)]
        for row in self.to_frame().itertuples():
            mark = "!!" if row.kind == "unaccounted_access" else "  "
            lines.append(f"{mark} {row.step:<44.44} {row.mechanism:<20.20} "
                         f"claimed {short(row.claimed):>8}  true {short(row.epsilon):>8}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        good = self.guarantee != "none" and self.epsilon <= self.claimed
        return ledger_html(self.to_frame(), self.attribute_epsilon(), self.verdict(), self.notes,
                           good=good)


def _own_scales(entry: Entry, attribute: str) -> tuple[Fraction, ...]:
    """Noise scales per value of the attribute's own table; of any other entry none."""
    own = isinstance(entry.scale, tuple) and entry.attributes[0] == attribute
    return entry.scale if own else ()  # type: ignore[return-value]


def _sequential(entries: Iterable[Entry], what: str) -> Fraction | float:
    return sum((getattr(e, what) for e in entries if e.kind == "mechanism"), Fraction(0))


def _compose(entries: Iterable[Entry], what: str) -> Fraction | float:
    """Total ``cost`` or ``claimed``: sequential, or parallel over provably disjoint records (L6).

    What a recipe *claims* is composed as the recipe says; a true cost never is, when the parts are
    columns or overlap.
    """
    entries = list(entries)
    parts = {g.id: [e for e in entries if e.parent == g.id]
             for g in entries if g.kind == "group" and g.compose == "parallel"}
    if what == "cost":
        groups = [g for g in entries if g.id in parts]
        parts = {g.id: parts[g.id] for g in groups if not any(rules.group_rule(g, parts[g.id]))}
    alone = [e for e in entries if e.parent not in parts]
    return _sequential(alone, what) + sum((_parallel(p, what) for p in parts.values()), Fraction(0))


def _parallel(part: Iterable[Entry], what: str) -> Fraction | float:
    """Disjoint sets of records: a replaced record leaves one and enters another, so two count.

    When all parts are add/remove, their costs are doubled already (rule L7), and the dearest one
    alone bounds any replacement. Papers claim the dearest part (McSherry 2009).
    """
    children = [e for e in part if e.kind == "mechanism"]
    filters = {e.record_filter for e in children}
    costs = [_sequential((e for e in children if e.record_filter == f), what) for f in filters]
    doubled = all(e.relation == "add_remove" for e in children)
    return sum(sorted(costs, reverse=True)[: 1 if what == "claimed" or doubled else 2], Fraction(0))

"""The privacy ledger: what was asked of the records, what it really cost, and the rules that check it.

Costs are exact fractions. Every entry carries what the algorithm *claims* and what the step *truly* costs
(sensitivity ÷ scale); raw reads stand beside them as unaccounted accesses and make the total infinite.
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

__all__ = ["KINDS", "Entry", "Ledger", "as_fraction", "histogram_cost", "ledger_html"]


@dataclass
class Ledger:
    """Append-only account of one run.

    ``claimed`` is the ε that the algorithm promises. ``guarantee`` decides what an overdraft is: under ``strict`` the true
    costs may not exceed the promise, under ``published`` the claimed ones; either raises BudgetError before noise is drawn.
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
        """Append a line; an overdraft, or a raw read under ``strict``, raises and writes nothing."""
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
        entry = Entry(id=f"s{len(self._entries) + 1:02d}", kind=kind, step=step, **fields)
        if kind == "unaccounted_access" and self.guarantee == "strict":
            raise PrivacyError(
                f"{step!r} would read raw records outside a mechanism ({entry.source or 'no source'}); "
                "strict runs refuse it: charge a mechanism, or use guarantee='published' to see what it costs"
            )
        if kind == "mechanism":
            self._refuse_overdraft(entry)
        self._entries.append(entry)
        return entry

    def _refuse_overdraft(self, entry: Entry) -> None:
        if self.guarantee == "strict":
            spent, asked = self._total_with(entry, "cost"), entry.cost
        elif self.guarantee == "published":
            spent, asked = self._total_with(entry, "claimed"), entry.claimed
        else:
            return
        if spent > self.claimed:
            raise BudgetError(
                f"overdraft: {entry.step!r} asks for ε = {asked}, which would bring the total to {spent} of {self.claimed}; "
                "nothing was released for it"
            )

    def _total_with(self, entry: Entry, field_name: str) -> Fraction | float:
        """Total if ``entry`` were added; a running sum as long as everything is sequential."""
        if entry.parent is not None or any(e.kind == "group" for e in self._entries):
            return _compose([*self._entries, entry], field_name)
        count, total = self._running.get(field_name, (0, Fraction(0)))
        total += sum((getattr(e, field_name) for e in self._entries[count:] if e.kind == "mechanism"), Fraction(0))
        self._running[field_name] = len(self._entries), total
        return total + getattr(entry, field_name)

    @property
    def finite(self) -> Fraction:
        """True cost of the accounted part, whatever else was read raw."""
        total = _compose(self._entries, "cost")
        return total if isinstance(total, Fraction) else Fraction(0)

    @property
    def epsilon(self) -> Fraction | float:
        """The audited ε: exact, or infinity when anything is unaccounted (rule L8)."""
        if self.unaccounted or any(e.kind == "mechanism" and e.cost == math.inf for e in self._entries):
            return math.inf
        return self.finite

    @property
    def unaccounted(self) -> list[Entry]:
        """Raw reads that no mechanism pays for, each with the paper's line in ``source``."""
        return [e for e in self._entries if e.kind == "unaccounted_access"]

    def attribute_epsilon(self) -> pd.Series:
        """The loss if only this attribute of one record changes: the sum over the entries whose answer depends on it.

        ``.attrs["known"]`` says whether the numbers held before the run or are ex-post. ``guaranteed_ex_ante`` names the attributes whose
        loss the policy fixed (a restricted structure), or is True where it is every attribute's.
        """
        names = list(self.public_attributes) or sorted({a for e in self._entries for a in e.attributes})
        losses = {name: _compose([e for e in self._entries if e.kind == "group" or name in e.attributes], "cost") for name in names}
        for e in self.unaccounted:
            losses.update(dict.fromkeys(e.attributes or names, math.inf))
        series = pd.Series(losses, dtype=object, name="epsilon")
        sure = self.guaranteed_ex_ante if isinstance(self.guaranteed_ex_ante, tuple) else ()
        known = f"before the run for {', '.join(sure)}; ex post for the others" if sure else "ex post: read off the network that was drawn"
        series.attrs["known"] = "before the run" if self.guaranteed_ex_ante is True else known
        return series

    def value_epsilon(self, attribute: str, values: Sequence[Any] | None = None) -> pd.DataFrame:
        """The loss if one record's attribute changes from one value (row) to another (column), all else equal.

        Where the attribute's own table has a noise scale b a value (HPPrivBayes' group B), a move from u to v costs 1/b_u + 1/b_v
        in it; every other entry costs what it costs the attribute. ``values``: the attribute's labels. The largest number of a row
        is what a record with that value loses. ``.attrs["known"]``: before the run where the structure is fixed and the weights are
        public, else ex post.
        """
        mine = [e for e in self._entries if e.kind == "group" or attribute in e.attributes]
        rows = max((len(e.scale) for e in mine if isinstance(e.scale, tuple) and e.attributes[0] == attribute), default=1)
        labels = list(range(rows)) if values is None else list(values)
        if rows not in (1, len(labels)):
            raise ValueError(f"{attribute!r} has {rows} noise scales, one a value, but {len(labels)} values are named")
        broken = self.attribute_epsilon().get(attribute, Fraction(0)) == math.inf

        def move(u: int, v: int) -> Fraction | float:
            return Fraction(0) if u == v else math.inf if broken else _compose([_moved(e, attribute, u, v) for e in mine], "cost")

        losses = [[move(u, v) for v in range(len(labels))] for u in range(len(labels))]
        sure = self.guaranteed_ex_ante is True or (isinstance(self.guaranteed_ex_ante, tuple) and attribute in self.guaranteed_ex_ante)
        public = all(origin.startswith("public:") for e in mine for origin in e.scale_depends_on)
        table = pd.DataFrame(losses, index=labels, columns=labels, dtype=object)
        table.attrs["known"] = "before the run" if sure and public else "ex post: read off the run's network and scales"
        return table

    def check(self) -> list[str]:
        """Violated rules L1–L10 with their codes, empty if none; a broken rule names itself and its entry."""
        return rules.check(self.entries, claimed=self.claimed, finite=self.finite, epsilon=self.epsilon, notes=self.notes)

    def to_frame(self) -> pd.DataFrame:
        """One row an entry with the running total; infinite after the first unaccounted access."""
        rows: list[dict[str, Any]] = []
        total: Fraction | float = Fraction(0)
        broken = False
        for e in self._entries:
            total += e.cost if e.kind == "mechanism" and e.cost != math.inf else 0
            broken = broken or e.kind == "unaccounted_access" or e.cost == math.inf
            rows.append(
                {
                    "step": e.step,
                    "source": e.source,
                    "mechanism": e.mechanism or e.kind.replace("_", " "),
                    "released": e.released,
                    "attributes": ", ".join(e.attributes),
                    "sensitivity": e.sensitivity,
                    "scale": e.scale if not isinstance(e.scale, tuple) else f"{float(min(e.scale)):.4g} … {float(max(e.scale)):.4g}",
                    "claimed": e.claimed,
                    "epsilon": math.inf if e.kind == "unaccounted_access" else e.cost,
                    "total": math.inf if broken else total,
                    "kind": e.kind,
                }
            )
        return pd.DataFrame(rows, columns=["step", "source", "mechanism", "released", "attributes", "sensitivity", "scale", "claimed",
                                           "epsilon", "total", "kind"])  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; fractions are written as text, so nothing drifts."""
        return {
            "claimed": str(self.claimed),
            "guarantee": self.guarantee,
            "notes": list(self.notes),
            "attributes": list(self.public_attributes),
            "guaranteed_ex_ante": self.guaranteed_ex_ante if isinstance(self.guaranteed_ex_ante, bool) else list(self.guaranteed_ex_ante),
            "entries": [to_plain(asdict(e)) for e in self._entries],
        }

    def to_json(self) -> str:
        """One JSON object a line: a header, then the entries (`algorithms` §10.1)."""
        head = self.to_dict()
        lines = head.pop("entries")
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in [head, *lines])

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ledger:
        """The inverse of :meth:`to_dict`."""
        if data["guarantee"] not in ("strict", "published", "none"):
            raise ValueError(f"unknown guarantee {data['guarantee']!r}")
        ledger = cls(Fraction(data["claimed"]), str(data["guarantee"]), list(map(str, data["notes"])))
        known = data["guaranteed_ex_ante"]
        ledger.public_attributes = tuple(map(str, data["attributes"]))
        ledger.guaranteed_ex_ante = tuple(map(str, known)) if isinstance(known, list) else bool(known)
        ledger._entries = [from_plain(e) for e in data["entries"]]
        if ledger.claimed <= 0 or any(e.kind not in KINDS or e.epsilon < 0 for e in ledger._entries):
            raise ValueError("an entry of unknown kind, or a budget below zero")
        return ledger

    def verdict(self) -> str:
        """One sentence that can't be mistaken for a guarantee that isn't there."""
        if self.guarantee == "none":
            return "NOT PRIVATE: no noise was added (guarantee='none')."
        if self.unaccounted:
            return (
                f"NOT DIFFERENTIALLY PRIVATE: claimed ε = {short(self.claimed)}, {len(self.unaccounted)} unaccounted access(es) make it "
                f"infinite; the accounted part alone truly costs {short(self.finite)}."
            )
        if self.epsilon > self.claimed:
            return f"OVERSPENT: claimed ε = {short(self.claimed)}, true ε = {short(self.finite)}."
        return f"Pure ε-differential privacy (replace one record): ε = {short(self.finite)} of {short(self.claimed)}."

    def __str__(self) -> str:
        lines = [self.verdict(), *(f"note: {n}" for n in self.notes)]
        for row in self.to_frame().itertuples():
            mark = "!!" if row.kind == "unaccounted_access" else "  "
            lines.append(f"{mark} {row.step:<44.44} {row.mechanism:<20.20} claimed {short(row.claimed):>8}  true {short(row.epsilon):>8}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return ledger_html(self)


def _moved(entry: Entry, attribute: str, u: int, v: int) -> Entry:
    """The entry as a record sees it that goes from one row of the attribute's own table to another."""
    if not isinstance(entry.scale, tuple) or entry.attributes[0] != attribute:
        return entry
    return replace(entry, epsilon=1 / entry.scale[u] + 1 / entry.scale[v])


def _compose(entries: Iterable[Entry], field_name: str) -> Fraction | float:
    """Total of a list of entries: sequential by default, parallel only over groups of provably disjoint records (rule L6).

    What a recipe *claims* is composed as the recipe says; a true cost never is, when the parts are columns or overlap.
    """
    entries = list(entries)
    groups = [e for e in entries if e.kind == "group" and e.compose == "parallel"]
    parts: dict[str, list[Entry]] = {g.id: [e for e in entries if e.parent == g.id] for g in groups}
    parts = {g.id: parts[g.id] for g in groups if field_name == "claimed" or not any(rules.group_rule(g, parts[g.id]))}
    alone = [e for e in entries if e.kind == "mechanism" and e.parent not in parts]
    total: Fraction | float = sum((getattr(e, field_name) for e in alone), Fraction(0))
    return total + sum((_parallel(children, field_name) for children in parts.values()), Fraction(0))


def _parallel(children: Iterable[Entry], field_name: str) -> Fraction | float:
    """Disjoint sets of records: a replaced record leaves one part and enters another, so the two dearest parts count.

    When all parts are add/remove, their costs are doubled already (rule L7), and the dearest one alone bounds any replacement.
    Papers claim the dearest part (McSherry 2009).
    """
    costs: dict[str | None, Fraction | float] = {}
    children = [e for e in children if e.kind == "mechanism"]
    for e in children:
        costs[e.record_filter] = costs.get(e.record_filter, Fraction(0)) + getattr(e, field_name)
    moved = 1 if field_name == "claimed" or all(e.relation == "add_remove" for e in children) else 2
    return sum(sorted(costs.values(), reverse=True)[:moved], Fraction(0))

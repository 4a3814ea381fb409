"""The privacy ledger: what was asked of the records, what it really cost, and whether it adds up.

Costs are fractions, never rounded. Every entry carries what the algorithm *claims* and what the
step *truly* costs (sensitivity ÷ scale); raw reads stand beside them as unaccounted accesses and
make the total infinite.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import pandas as pd

from . import rules
from .errors import BudgetError, PrivacyError, check_known, door, is_one_of, show
from .noise import Noise
from .rules import KINDS
from .schema import Schema
from .unit import ONE_REPLACED, Entry, Unit, add_up

REPRODUCIBLE = "noise is reproducible: do not release"
GUARANTEES = ("strict", "published", "none")
UNPROTECTED = "guarantee='published'"  # where errors say what would run a print


def check_reading(reading: Any, known: Sequence[str], guarantee: str) -> None:
    """Refuse a reading of a paper that isn't ``known``; strict takes the first one alone."""
    if known and not is_one_of(reading, known[:1] if guarantee == "strict" else known):
        raise BudgetError(
            f"reading must be {known[0]!r}, or with {UNPROTECTED} one of "
            f"{', '.join(known[1:])}; got {show(reading)} with {guarantee!r}"
        )


@dataclass
class Ledger:
    """Append-only account of one run.

    ``claimed`` is the ε that the algorithm promises. ``guarantee`` decides what an overdraft is:
    under ``strict`` the true costs may not exceed the promise, under ``published`` the claimed
    ones; either raises BudgetError before noise is drawn. ``guaranteed_ex_ante`` names the
    attributes whose loss the policy fixed (a restricted structure), or is True where it is every
    attribute's. ``relation`` says what a neighbour is, ``records_per_person`` how many records of
    it differ: all costs are those of one person. ``levels``: where persons have an ε of their own,
    the levels that were offered, rising; all costs are then those of the largest.
    ``level_attribute``: the one whose value decides them, so that with it every line changes.
    ``holders``: where several held the records, how many, and how many of their shares of noise
    make up the whole of it.
    """

    claimed: Fraction
    guarantee: str = "strict"
    notes: list[str] = field(default_factory=list)
    public_attributes: tuple[str, ...] = ()
    guaranteed_ex_ante: bool | tuple[str, ...] = False
    _entries: list[Entry] = field(default_factory=list, repr=False)
    _running: dict[str, tuple[int, Any]] = field(default_factory=dict, repr=False)
    relation: str = "replace_one"
    records_per_person: int = 1
    levels: tuple[Fraction, ...] = ()
    level_attribute: str = ""
    holders: tuple[int, int] | None = None

    sign: ClassVar[str] = "ε"  # of what lines cost
    promise: ClassVar[str] = "Pure ε-differential privacy"
    mechanisms: ClassVar[Mapping[str, rules.Check]] = rules.MECHANISMS

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All lines in the order they were written."""
        return tuple(self._entries)

    @property
    def unit(self) -> Unit:
        """What neighbouring tables differ in."""
        return Unit(self.relation, self.records_per_person)

    def write(self, kind: str, step: str, **fields: Any) -> Entry:
        """Append a line; an overdraft, or a raw read under ``strict``, raises instead."""
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {show(kind)}")
        entry = Entry(id=f"s{len(self._entries) + 1:02d}", kind=kind, step=step, **fields)
        if kind == "unaccounted_access" and self.guarantee == "strict":
            raise PrivacyError(
                f"{step!r} would read raw records outside a mechanism "
                f"({entry.source or 'no source'}); strict runs refuse it: charge a mechanism, "
                "or use guarantee='published' to see what it costs"
            )
        fits = self.unit.n_is_public or entry.relation == self.relation or not entry.inputs
        if kind == "mechanism" and self.guarantee == "strict" and not fits:
            raise PrivacyError(
                f"{step!r} has a sensitivity for {entry.relation} only, this run "
                f"promises {self.relation}: use relation={entry.relation!r}"
            )
        if kind == "mechanism" and self.guarantee != "none":
            self._refuse_overdraft(entry, self._kind if self.guarantee == "strict" else "claimed")
        self._entries.append(entry)
        return entry

    def _refuse_overdraft(self, entry: Entry, what: str) -> None:
        cost = getattr(entry, what)
        if not (isinstance(cost, (int, Fraction)) and cost >= 0):  # a refund, or what adds up wrong
            raise BudgetError(f"{entry.step!r} costs {cost}: costs are exact fractions, 0 or more")
        if entry.parent is not None or any(e.kind == "group" for e in self._entries):
            spent = compose([*self._entries, entry], what)
        else:  # all is sequential: only what is new is added
            count, total = self._running.get(what, (0, Fraction(0)))
            total += add_up(self._entries[count:], what)
            self._running[what] = len(self._entries), total
            spent = total + cost
        if spent > self.claimed:
            raise BudgetError(
                f"overdraft: {entry.step!r} asks for {self.sign} = {cost}, which would bring the "
                f"total to {spent} of {self.claimed}; nothing was released for it"
            )

    @property
    def _kind(self) -> str:
        return "cost" if self.relation == "replace_one" else "epsilon"

    def cost_of(self, entry: Entry) -> Fraction | float:
        """True cost of a line, which isn't doubled in its own relation (rule L7)."""
        return getattr(entry, self._kind)

    @property
    def finite(self) -> Fraction:
        """True cost of the accounted part, whatever else was read raw."""
        total = compose(self._entries, self._kind)
        return total if isinstance(total, Fraction) else Fraction(0)

    @property
    def epsilon(self) -> Fraction | float:
        """The true ε, recomputed: a fraction, or infinity if anything is unaccounted (L8)."""
        endless = any(e.kind == "mechanism" and e.cost == math.inf for e in self._entries)
        return math.inf if self.unaccounted or endless else self.finite

    @property
    def unaccounted(self) -> list[Entry]:
        """Raw reads that no mechanism pays for, each with the paper's line in ``source``."""
        return [e for e in self._entries if e.kind == "unaccounted_access"]

    @property
    def reproducible(self) -> bool:
        """Whether others can draw the same noise: a seed, or common random numbers."""
        return REPRODUCIBLE in self.notes

    @property
    def private(self) -> bool:
        """Whether it proves a finite ε within the claim, with noise that nobody else can draw."""
        return self.guarantee != "none" and not self.check()

    def attribute_epsilon(self, together: Sequence[str] | None = None) -> pd.Series:
        """The loss if only this attribute of one record changes: of the entries that depend on it.

        ``together=["diagnosis", "drug"]`` gives, in one row, the loss if all of these may change.
        Where a drug tells the diagnosis, it is the one that bounds what is learnt about either.
        ``.attrs["known"]`` says whether the numbers held before the run or are ex post. SchemaError
        for an attribute that isn't there.
        """
        return door("persons").attribute_losses(self, together)

    def loss_together(self, group: set[str]) -> Fraction | float:
        """The loss of attributes that change together."""
        raw = any(not e.attributes or group & {*e.attributes} for e in self.unaccounted)
        return math.inf if raw else compose(self.about(group), "cost")

    def person_epsilon(self) -> pd.Series:
        """What a record of each level loses at most: exact fractions, by the ε it was promised.

        Empty where everybody was promised the same.
        """
        return door("persons").losses(self)

    def value_epsilon(self, attribute: str, values: Sequence[Any] | None = None) -> pd.DataFrame:
        """The loss if one record's attribute changes from one value (row) to another (column).

        Where the attribute's own table has one noise scale b per value (HPPrivBayes' group B), a
        move from u to v costs 1/b_u + 1/b_v in it; every other entry costs what it costs the
        attribute. ``values``: the attribute's labels, else numbers: 0 and 1 for any two values that
        have no scale of their own. The largest number of a row is what a record with that value
        loses, if nothing else of it changes. ``.attrs["known"]``: before the run where the
        structure is fixed and the weights are public, else ex post.
        """
        check_known([attribute], list(self.attribute_epsilon().index), "the ledger")
        return door("persons").value_losses(self, attribute, values)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The column of levels, where there are any: no attribute of the records."""
        return self.public_attributes[:1] if self.levels else ()

    def about(self, group: set[str]) -> list[Entry]:
        """The entries that depend on some attributes, and the groups that they may belong to.

        All of them, where one of these decides which ε a person has.
        """
        if group & {self.level_attribute, *self.hidden}:
            return self._entries
        return [e for e in self._entries if e.kind == "group" or group & {*e.attributes}]

    def check(self) -> list[str]:
        """Violated rules L1–L10, each with its code and its entry; empty if none.

        Rule L11, on what is released, is the model's to check: :meth:`pdsynth.Model.check`.
        """
        return rules.check(self)

    def to_frame(self) -> pd.DataFrame:
        """One row per entry with the running total, infinite after the first unaccounted access."""
        return door("files").frame_ledger(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; fractions are written as text, so nothing drifts."""
        return dict(door("files").write_ledger(self))

    def to_json(self) -> str:
        """One JSON object per line: a header, then the entries."""
        head = self.to_dict()
        lines = [head, *head.pop("entries")]
        return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Ledger:
        """The inverse of :meth:`to_dict`; what is malformed raises ValueError, TypeError, KeyError.

        Digits, entries and their common denominator are bounded: adding up stays quick.
        """
        return door("files").read_ledger(data)

    def verdict(self) -> str:
        """One sentence that can't be mistaken for a guarantee that isn't there."""
        return str(door("files").verdict(self))

    def spent_words(self) -> str:
        """What was spent of what is claimed."""
        short = door("files").short
        return f"ε = {short(self.finite)} of {short(self.claimed)}"

    def story(self) -> list[Any]:
        """The entries by kind of step: some lines, however many columns there are."""
        return list(door("files").story(self._entries, self.cost_of))

    def pairs_kept(self, ruled: bool | None = None) -> str:
        """How many pairs of attributes stand together in a released table, in words.

        "" where no table was released; ``ruled``: whether rules of the schema tie columns besides,
        which a ledger doesn't know.
        **Privacy:** a function of the ledger, which is released.
        """
        files = door("files")
        ruled = None if self.levels else ruled  # columns that go with the level go together
        return str(files.say_pairs(files.count_pairs(self._entries, self.hidden), ruled))

    def __str__(self) -> str:
        words, count = door("files").in_words, len(self._entries)
        content = self.story(), self.verdict(), self.notes, count, self.pairs_kept(), self.sign
        return str(words(*content))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return str(door("files").show_ledger(self))


class LedgerWriter:
    """Writes the lines of one run; it knows public facts of the records, never the records.

    ``owners`` names the attribute that each column belongs to. Callers count in records; what
    they ask for is charged for all records of a person, here and nowhere else.
    """

    def __init__(
        self, ledger: Ledger, noise: Noise, n: int, schema: Schema, owners: tuple[str, ...]
    ) -> None:
        self.ledger, self._noise = ledger, noise
        self._n: int | None = n if ledger.unit.n_is_public else None
        self.schema, self._owners = schema, owners
        self._domain = "schema:public"
        ledger.public_attributes = schema.names
        ledger.holders = getattr(noise, "holders_needed", ledger.holders)
        if ledger.guarantee != "none" and not noise.private:
            raise PrivacyError(
                f"this random source adds no noise, but guarantee={ledger.guarantee!r}: "
                "use ExactNoise(), or guarantee='none'"
            )
        if noise.reproducible and noise.private:
            ledger.notes.append(REPRODUCIBLE)
        self._open_account()

    def _open_account(self) -> None:
        """What is written before any question: nothing, and domains that aren't public are refused.

        **Privacy:** reads the schema only.
        """
        if self.schema.source != "public":
            raise PrivacyError(
                "this schema's domains were inferred from the records: use a public one, or "
                "schema.declare_public()"
            )

    @property
    def n(self) -> int:
        """Number of records: public, or under ``add_remove`` the noisy one once it is paid for."""
        if self._n is None:
            raise PrivacyError(
                "the number of records is secret when one may be added or removed: "
                "ask count_records(epsilon) first"
            )
        return self._n

    def charge_unused(self, epsilon: Fraction, step: str, source: str) -> None:
        """Charge a budget that was announced but isn't needed: the total stays as promised.

        **Privacy:** reads and releases nothing; costs ``epsilon`` all the same.
        """
        if epsilon:
            epsilon *= self.ledger.records_per_person
            said = {"source": source, "mechanism": "forfeited", "released": "nothing"}
            self.ledger.write("mechanism", step, **said, epsilon=epsilon, claimed=epsilon)

    def note_post_processing(self, step: str, inputs: tuple[str, ...], released: str) -> str:
        """Write a post-processing line; later entries name its id as what they depend on.

        **Privacy:** reads no records, costs nothing.
        """
        return self.ledger.write("post_processing", step, inputs=inputs, released=released).id

    def _charge(
        self,
        step: str,
        source: str,
        released: str,
        touched: Sequence[int],
        *,
        epsilon: Fraction,
        claimed: Fraction | None = None,
        mechanism: str = "discrete_laplace",
        unit: Unit = ONE_REPLACED,
        **fields: Any,
    ) -> str:
        """Write the cost of a mechanism, and return its entry id.

        Replacing m records of a person is m replacements: sensitivity and cost grow m times.
        ``unit``: the neighbours for which the sensitivity holds.
        """
        m, claimed = self.ledger.records_per_person, epsilon if claimed is None else claimed
        if "sensitivity" in fields:
            fields["sensitivity"] *= m
        return self.ledger.write(
            "mechanism",
            step,
            source=source,
            mechanism=mechanism,
            released=released,
            attributes=self._names(touched),
            inputs=("raw:D",),
            epsilon=m * epsilon,
            claimed=m * claimed,
            n_records=self._n,
            domain=self._domain,
            relation=unit.relation,
            **fields,
        ).id

    def _names(self, columns: Sequence[int]) -> tuple[str, ...]:
        """The attributes that some columns belong to, each once."""
        return tuple(dict.fromkeys(self._owners[j] for j in columns))


def compose(entries: Sequence[Entry], what: str) -> Fraction | float:
    """Total ``cost`` or ``claimed``: sequential, but for groups as papers claim them (rule L6)."""
    grouped = any(e.kind == "group" for e in entries)
    return door("published").compose_groups(entries, what) if grouped else add_up(entries, what)

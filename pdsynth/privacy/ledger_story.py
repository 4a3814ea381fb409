"""A ledger in a few lines: its entries by the kind of step, what they claim and truly cost."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .entries import Entry


@dataclass(frozen=True)
class Line:
    """Entries of one kind: ``claimed`` and ``true`` are their sums in ε, ``raw`` a raw read."""

    step: str
    often: int
    claimed: Fraction
    true: Fraction | float
    raw: bool = False

    @property
    def wrong(self) -> bool:
        """Whether it costs more than it claims."""
        return self.true > self.claimed


def story(entries: Sequence[Entry], cost_of: Callable[[Entry], Fraction | float]) -> list[Line]:
    """One line per kind of step, in the order of their first entries: at most five.

    What a paper composes in parallel is claimed once, at its dearest part's price; the true cost is
    the sum. Steps without a price (post-processing, public facts) are left out.
    """
    kinds: dict[tuple[str, bool], list[Entry]] = {}
    for entry in entries:
        if entry.kind in ("mechanism", "unaccounted_access"):
            raw = entry.kind == "unaccounted_access"
            kinds.setdefault((step_name(entry), raw), []).append(entry)
    return [_line(step, raw, some, cost_of) for (step, raw), some in kinds.items()]


def _line(step: str, raw: bool, entries: list[Entry],
          cost_of: Callable[[Entry], Fraction | float]) -> Line:
    parts: dict[str | None, Fraction] = {}
    for entry in entries:
        parts[entry.record_filter] = parts.get(entry.record_filter, Fraction(0)) + entry.claimed
    true = math.inf if raw else sum((cost_of(entry) for entry in entries), Fraction(0))
    return Line(step, len(entries), max(parts.values()), true, raw)


def step_name(entry: Entry) -> str:
    """The kind of an entry's step, in words.

    >>> step_name(Entry("s01", "mechanism", "pair 2 of 14"))
    'choosing parents'
    """
    step = entry.step
    if step.startswith("table("):
        return "counting single columns" if entry.source == "one-way table" else "noisy tables"
    if step.startswith(("view ", "conditional(")):
        return "noisy views" if step.startswith("view ") else "noisy conditionals"
    if step.startswith("support of "):
        return "which columns occur"
    if step.startswith("parent sets"):
        return "candidates for parents"
    if step.startswith(("parents of", "parent ", "pair ", "root in ")):
        return "choosing parents"
    if step.startswith(("edge ", "round ")):
        return "choosing pairs" if step.startswith("edge ") else "choosing pairs and triples"
    if step == "mean association":
        return "how strongly pairs are tied"
    return step

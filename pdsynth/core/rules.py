"""The rules L1–L11 that a ledger is held to.

Rule L6, on groups of lines that a paper composes in parallel, is the business of ``published``. L11
is :func:`check_coverage`, below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from .errors import door
from .measures import SCORES, conditional_sensitivity
from .unit import Entry, Unit, histogram_cost

KINDS = ("mechanism", "group", "post_processing", "unaccounted_access", "public")
COUNTING = ("discrete_laplace", "zero_sum_laplace")  # they release numbers with noise
NOISES = (*COUNTING, "discrete_gaussian")  # and with delta
UNKNOWN = "which is neither public nor an earlier entry"
LEMMAS: dict[str, Callable[[int, int, int], int | Fraction]] = {
    **{score.lemma: score.sensitivity for score in SCORES.values()},
    "lemma:joint_counts": lambda n, x, pi: 2,
    "lemma:joint_counts_add_remove": lambda n, x, pi: 1,
    "lemma:zero_sum": lambda n, x, pi: 2,
    "lemma:conditional": conditional_sensitivity,
    "lemma:edges": lambda n, x, pi: 2,
    "lemma:edges_add_remove": lambda n, x, pi: 1,
    "lemma:residual": lambda n, x, pi: 2,
    "lemma:residual_add_remove": lambda n, x, pi: 1,
    # of x pairs, each in π numbers
    "lemma:residuals": lambda n, x, pi: 2 * x * pi,
    "lemma:residuals_add_remove": lambda n, x, pi: x * pi,
}


# The rules of one mechanism: (line, ids of earlier lines, records of a person) → (rule, message).
Check = Callable[[Entry, set[str], int], Iterator[tuple[str, str]]]


def check(ledger: Any) -> list[str]:
    """All violations, each with its rule and entry: ``"L3 s07 table(race): …"``; empty if none."""
    entries, unit, claimed, finite = ledger.entries, ledger.unit, ledger.claimed, ledger.finite
    ids: set[str] = set()
    violations: list[str] = []
    for e in entries:
        violations += [
            f"{code} {e.id} {e.step}: {message}"
            for code, message in _check_entry(e, ids, unit.records, ledger.mechanisms)
        ]
        fits = unit.n_is_public or e.relation == unit.relation or not e.inputs
        if e.kind == "mechanism" and not fits:
            promised = f"where the run promises {unit.relation}"
            violations.append(f"L7 {e.id} {e.step}: {e.relation}, {promised}")
        ids.add(e.id)
    if any(e.kind == "group" for e in entries):
        violations += door("published").check_groups(entries)
    if ledger.epsilon == math.inf:
        raw = sum(e.kind == "unaccounted_access" for e in entries)
        violations.append(
            f"L8 claimed {claimed}, truly infinite (not DP): {raw} unaccounted access(es)"
        )
    if finite > claimed:
        violations.append(f"L8 claimed {claimed}, the accounted part truly costs {finite}")
    return violations + [f"L10 {note}" for note in ledger.notes if "reproducible" in note]


def _check_entry(
    e: Entry, known: set[str], per_person: int, checks: Mapping[str, Check]
) -> Iterator[tuple[str, str]]:
    """Rules L1–L5 and L9; ``known``: the ids of earlier entries."""
    raw = any(i.startswith("raw:") for i in e.inputs)
    if raw and e.kind not in ("mechanism", "unaccounted_access"):
        yield ("L2" if e.kind == "post_processing" else "L1"), f"reads raw records as {e.kind}"
    if e.kind == "mechanism":
        if e.mechanism not in checks:
            yield "L1", f"no mechanism is called {e.mechanism!r}"
        else:
            yield from checks[e.mechanism](e, known, per_person)
        for source in e.scale_depends_on:
            if not source.startswith("public:") and source not in known:
                yield "L5", f"its scale depends on {source!r}, {UNKNOWN}"
    if not e.domain.startswith(("schema:public", "public:")) and e.domain not in known:
        yield "L9", f"its domain comes from {e.domain!r}"


def check_noise(e: Entry, known: set[str], per_person: int) -> Iterator[tuple[str, str]]:
    """Rule L3 for Laplace noise: ε is sensitivity ÷ scale, and the lemma's sensitivity is due."""
    if e.sensitivity is None or e.scale is None:
        yield "L3", "a noisy release needs its sensitivity and its scale"
        return
    true = (
        per_person * histogram_cost(e.scale, e.columns, Unit(e.relation))
        if isinstance(e.scale, tuple)
        else e.sensitivity / e.scale
    )
    if e.epsilon != true:
        yield "L3", f"charged ε = {e.epsilon}, but sensitivity ÷ scale gives {true}"
    if e.lemma and e.lemma not in LEMMAS:
        yield "L3", f"no lemma is called {e.lemma!r}"
    due = per_person * (_least_sensitivity(e) if e.lemma else 1)  # whole numbers move by 1 at least
    if e.sensitivity < due:
        yield "L3", f"sensitivity {e.sensitivity}, but {e.lemma or 'a whole number'} gives {due}"


def check_zero_sum(e: Entry, known: set[str], per_person: int) -> Iterator[tuple[str, str]]:
    """Rule L3 for zero-sum noise: as for Laplace noise, of one table of all records, n public."""
    yield from check_noise(e, known, per_person)
    if e.relation != "replace_one":
        yield "L3", "zero-sum noise shows n, which is secret when a record may be added or removed"
    if e.record_filter is not None:
        yield "L3", "zero-sum noise shows how many records a part has, which is secret"
    if e.lemma != "lemma:zero_sum" or e.domain_sizes is None or e.n_records is None:
        needed = "its size and n (lemma:zero_sum)"
        yield "L3", f"zero-sum noise is for one table of counts, with {needed}"
    if isinstance(e.scale, tuple):
        yield "L3", "zero-sum noise has one scale for all cells"


def check_selection(e: Entry, known: set[str], per_person: int) -> Iterator[tuple[str, str]]:
    """Rule L4: candidates and units, and the lemma's sensitivity is due."""
    if e.candidates != "public" and e.candidates not in known:
        yield "L4", f"candidates come from {e.candidates!r}, {UNKNOWN}"
    if e.score_unit != e.sensitivity_unit:
        yield "L4", f"score in {e.score_unit!r}, sensitivity in {e.sensitivity_unit!r}"
    due = per_person * _least_sensitivity(e)
    if e.sensitivity is not None and e.sensitivity < due:
        sizes = f"for domain sizes {e.domain_sizes}"
        yield "L4", f"sensitivity {e.sensitivity}, but {e.lemma} gives {due} {sizes}"


MECHANISMS: dict[str, Check] = {
    "discrete_laplace": check_noise,
    "zero_sum_laplace": check_zero_sum,
    "exponential": check_selection,
    "permute_and_flip": check_selection,
    "forfeited": lambda e, known, per_person: iter(()),
}


def _least_sensitivity(e: Entry) -> Fraction | int:
    """What the lemma of an entry proves; 0 where it names none, or rows have their own scales."""
    unknown = e.lemma not in LEMMAS or isinstance(e.scale, tuple)
    if unknown or e.domain_sizes is None or e.n_records is None:
        return 0
    return LEMMAS[e.lemma](e.n_records, *e.domain_sizes)


class Release(NamedTuple):
    """A released table: its name, its attributes, its cells, and the entries that it comes from."""

    name: str
    attributes: tuple[str, ...]
    cells: int
    sources: tuple[str, ...]


def check_coverage(releases: Sequence[Release], entries: Sequence[Entry]) -> list[str]:
    """Rule L11: each released table comes from lines that measured its attributes and charged it.

    A source is a line that noised counts, a raw read that says so, or post-processing of such
    lines. What is found names the table: ``"L11 table of 'age': …"``; empty if all are covered.
    """
    bit = {name: 1 << i for i, name in enumerate({a: 0 for r in releases for a in r.attributes})}
    measured: dict[str, int] = {}  # the attributes behind each line, as bits of one integer
    for e in entries:
        paid = e.kind == "mechanism" and e.mechanism in NOISES and e.epsilon > 0
        part = (e.record_filter or "").startswith("records:")  # no released table is of some only
        if paid and not part or e.kind == "unaccounted_access":
            measured[e.id] = sum(bit.get(a, 0) for a in {*e.attributes})
        elif e.kind == "post_processing":
            measured[e.id] = _join(measured.get(i, 0) for i in {*e.inputs})
    cells = {
        e.id: math.prod(e.domain_sizes)
        for e in entries
        if e.kind == "mechanism" and e.domain_sizes is not None
    }
    violations = []
    for r in releases:
        cover = _join(measured.get(i, 0) for i in r.sources)
        gone = [a for a in r.attributes if not cover & bit[a]]
        strange = [i for i in r.sources if i not in measured]
        if strange or not r.sources:
            violations.append(
                f"L11 table of {r.name!r}: "
                + (
                    f"comes from {strange[0]!r}, which measured nothing that was paid for"
                    if strange
                    else "no line of the ledger says where it comes from"
                )
            )
        elif gone:
            violations.append(
                f"L11 table of {r.name!r}: the lines that it comes from don't touch "
                f"{', '.join(map(repr, gone[:3]))}"
            )
        elif len(r.sources) == 1 and cells.get(r.sources[0], r.cells) < r.cells:
            violations.append(
                f"L11 table of {r.name!r}: it has {r.cells:,} cells, its line "
                f"{r.sources[0]} charges for {cells[r.sources[0]]:,}"
            )
    return violations


def _join(sets: Iterable[int]) -> int:
    """The union of sets that are written as bits."""
    union = 0
    for one in sets:
        union |= one
    return union

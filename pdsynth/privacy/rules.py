"""The mechanical rules L1–L10 that check a ledger (`algorithms` §10.2). Each failure names its rule and its entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from ..measures import SCORES, association_sensitivity, conditional_sensitivity
from .entries import Entry, histogram_cost

LEMMAS: dict[str, Callable[[int, int, int], int | Fraction]] = {
    "lemma:joint_counts": lambda n, x, pi: 2,
    "lemma:joint_counts_add_remove": lambda n, x, pi: 1,
    "lemma:association": association_sensitivity,
    "lemma:mutual_information": SCORES["I"].sensitivity,
    "lemma:entropy": SCORES["H"].sensitivity,
    "lemma:conditional": conditional_sensitivity,
    "lemma:score_f": SCORES["F"].sensitivity,
}


def check(entries: Sequence[Entry], *, claimed: Fraction, finite: Fraction, epsilon: Fraction | float, notes: Sequence[str]) -> list[str]:
    """All violations of a ledger, each as ``"L3 s07 table(race): …"``; an empty list means every rule holds."""
    known: dict[str, Entry] = {}
    found: list[str] = []
    for entry in entries:
        for code, message in _entry_rules(entry, known):
            found.append(f"{code} {entry.id} {entry.step}: {message}")
        known[entry.id] = entry
    groups = [(g, [e for e in entries if e.parent == g.id]) for g in entries if g.kind == "group"]
    found += [f"L6 {g.id} {g.step}: {m}" for g, parts in groups for m in group_rule(g, parts)]
    found += [f"L8 {m}" for m in _total_rule(entries, claimed, finite, epsilon)]
    found += [f"L10 {n}" for n in notes if "reproducible" in n]
    return found


def _entry_rules(e: Entry, known: dict[str, Entry]) -> Iterator[tuple[str, str]]:
    raw = any(i.startswith("raw:") for i in e.inputs)
    if raw and e.kind not in ("mechanism", "unaccounted_access"):
        yield ("L2" if e.kind == "post_processing" else "L1"), f"reads raw records as {e.kind}"
    if e.kind == "mechanism":
        yield from _noise_rule(e)
        yield from _selection_rule(e, known)
        for source in e.scale_depends_on:
            if not source.startswith("public:") and source not in known:
                yield "L5", f"its scale depends on {source!r}, which is neither public nor an earlier entry"
    if not e.domain.startswith(("schema:public", "public:")) and e.domain not in known:
        yield "L9", f"its domain comes from {e.domain!r}"


def _noise_rule(e: Entry) -> Iterator[tuple[str, str]]:
    if e.mechanism != "discrete_laplace":
        return
    if e.sensitivity is None or e.scale is None:
        yield "L3", "a noisy release needs its sensitivity and its scale"
        return
    true = histogram_cost(e.scale, e.columns) if isinstance(e.scale, tuple) else e.sensitivity / e.scale
    if e.epsilon != true:
        yield "L3", f"charged ε = {e.epsilon}, but sensitivity ÷ scale gives {true}"
    due = _lemma_value(e)
    if due is not None and e.sensitivity < due:
        yield "L3", f"sensitivity {e.sensitivity}, but {e.lemma} gives {due}"


def _selection_rule(e: Entry, known: dict[str, Entry]) -> Iterator[tuple[str, str]]:
    if e.mechanism not in ("exponential", "permute_and_flip"):
        return
    if e.candidates != "public" and e.candidates not in known:
        yield "L4", f"candidates come from {e.candidates!r}, which is neither public nor an earlier entry"
    if e.score_unit != e.sensitivity_unit:
        yield "L4", f"score in {e.score_unit!r}, sensitivity in {e.sensitivity_unit!r}"
    due = _lemma_value(e)
    if due is not None and e.sensitivity is not None and e.sensitivity < due:
        yield "L4", f"sensitivity {e.sensitivity}, but {e.lemma} gives {due} for domain sizes {e.domain_sizes}"


def _lemma_value(e: Entry) -> Fraction | int | None:
    if e.lemma not in LEMMAS or e.domain_sizes is None or e.n_records is None or isinstance(e.scale, tuple):
        return None
    return LEMMAS[e.lemma](e.n_records, *e.domain_sizes)


def group_rule(group: Entry, children: Sequence[Entry]) -> Iterator[str]:
    """Rule L6: what is composed in parallel are pairwise disjoint sets of records, named by public predicates."""
    if group.compose not in ("sequential", "parallel"):
        yield f"compose is {group.compose!r}"
    if group.compose != "parallel":
        return
    for over in dict.fromkeys(e.record_filter for e in children):
        if not (over or "").startswith("records:"):
            steps = [e.step for e in children if e.record_filter == over]
            which = f"{steps[0]} is" if len(steps) == 1 else f"{steps[0]} and {len(steps) - 1} more are"
            yield f"{which} composed in parallel over {over!r}: only disjoint sets of records compose in parallel, never columns"
    for a, b in _overlaps([e.record_filter or "" for e in children]):
        yield f"parts {a!r} and {b!r} are not disjoint"


def _overlaps(filters: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of filters ``records:NAME in {a, b}`` on one attribute that share a value; other shapes can't be shown disjoint."""
    parts = []
    for text in dict.fromkeys(filters):
        name, _, values = text.removeprefix("records:").partition(" in ")
        parts.append((text, name.strip(), {v.strip() for v in values.strip("{} ").split(",")}))
    for i, (a, name_a, values_a) in enumerate(parts):
        for b, name_b, values_b in parts[i + 1 :]:
            if name_a != name_b or values_a & values_b:
                yield a, b


def _total_rule(entries: Sequence[Entry], claimed: Fraction, finite: Fraction, epsilon: Fraction | float) -> Iterator[str]:
    if epsilon == math.inf:
        raw = sum(e.kind == "unaccounted_access" for e in entries)
        yield f"claimed {claimed}, audited infinity (not DP): {raw} unaccounted access(es)"
    if finite > claimed:
        yield f"claimed {claimed}, the accounted part truly costs {finite}"

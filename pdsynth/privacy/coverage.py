"""What a model file must bear: rule L11, the ledger's origin, and bounds before it is read."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import SchemaError
from .rules import Entry

MAX_NESTED = 2**21  # objects and lists of a file: each takes some 70 bytes of memory
MALFORMED = ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError


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
        paid = e.kind == "mechanism" and e.mechanism == "discrete_laplace" and e.epsilon > 0
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
    found = []
    for r in releases:
        known = _join(measured.get(i, 0) for i in r.sources)
        gone = [a for a in r.attributes if not known & bit[a]]
        strange = [i for i in r.sources if i not in measured]
        if strange or not r.sources:
            found.append(
                f"L11 table of {r.name!r}: "
                + (
                    f"comes from {strange[0]!r}, which measured nothing that was paid for"
                    if strange
                    else "no line of the ledger says where it comes from"
                )
            )
        elif gone:
            found.append(
                f"L11 table of {r.name!r}: the lines that it comes from don't touch "
                f"{', '.join(map(repr, gone[:3]))}"
            )
        elif len(r.sources) == 1 and cells.get(r.sources[0], r.cells) < r.cells:
            found.append(
                f"L11 table of {r.name!r}: it has {r.cells:,} cells, its line "
                f"{r.sources[0]} charges for {cells[r.sources[0]]:,}"
            )
    return found


def _join(sets: Iterable[int]) -> int:
    """The union of sets that are written as bits."""
    found = 0
    for one in sets:
        found |= one
    return found


def check_origin(ledger: Any, names: tuple[str, ...], n: int) -> list[str]:
    """What says that a ledger isn't the one of this table and run, or isn't whole; empty if none.

    ``names``: the attributes of the schema. ``n``: the number of records.
    """
    found = []
    touched = {a for e in ledger.entries for a in e.attributes}
    others = any(e.n_records not in (None, n) for e in ledger.entries)
    if ledger.public_attributes != names or touched - {*names} or others:
        found.append(
            "the ledger is that of another table: its attributes or its number of records "
            "are not those of the model"
        )
    counted = any(e.released == "n" and e.epsilon > 0 for e in ledger.entries)
    if not ledger.unit.n_is_public and ledger.guarantee != "none" and not counted:
        found.append("no line of the ledger says where the number of records comes from")
    if ledger.guarantee == "strict" and ledger.finite != ledger.claimed:
        found.append(
            f"a strict run costs exactly what it claims, ε = {ledger.claimed}, and these "
            "lines don't: some were cut or changed"
        )
    return found


def read_json(path: str | Path, most: int) -> Any:
    """A JSON file of at most ``most`` bytes; SchemaError for a larger or a malformed one.

    Brackets are counted before anything is built: a list of two bytes takes 56 in memory.
    """
    size = Path(path).stat().st_size
    with open(path, "rb") as file:  # a device, or a file that grows, has no size
        text = file.read(most + 1) if size <= most else b""
    if max(size, len(text)) > most:
        raise SchemaError(f"{path} has more than {most:,} bytes, the most that is read")
    if text.count(b"[") + text.count(b"{") > MAX_NESTED:
        raise SchemaError(f"{path} holds more than {MAX_NESTED:,} lists and objects: no model does")
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=_unique)
    except SchemaError:
        raise
    except MALFORMED as problem:
        raise SchemaError(f"{path} is no JSON: {problem!r:.300}") from problem


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once: a reader of the first and of the last see the same."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise SchemaError("a key stands twice in one object of the file")
    return found

"""Models and ledgers as documents: written, and read again without trusting what they say."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import persons
from ..core import (
    KINDS,
    NEIGHBOURS,
    Entry,
    Ledger,
    Measurement,
    Merging,
    Model,
    Network,
    PrivacyError,
    Schema,
    SchemaError,
    Table,
    check_path,
    encoding_of,
    shapes_of,
    show,
)
from ..scale.writing import whole_file

FORMAT = "pdsynth-model-2"
MAX_BYTES, MAX_RECORDS, MAX_ATTRIBUTES = 2**26, 10**10, 2**15  # of a file
DIGITS = 100  # of a numerator or denominator in a file
MAX_WHOLE = 2**64  # of cells and records in an entry
MAX_ENTRIES = 2**16  # of a file
DENOMINATOR_BITS = 4096  # of all entries of a file together
_WRITTEN = re.compile(f"[0-9]{{1,{DIGITS}}}(/[0-9]{{1,{DIGITS}}})?")
WITH_DELTA = "promised", "delta"  # what a ledger in ρ has besides
MAX_NAME = 255  # signs of a file's name: no file system has longer ones
MAX_NESTED = 2**21  # objects and lists of a file: each takes some 70 bytes of memory
MALFORMED = ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError


def write_model(model: Model) -> dict[str, Any]:
    """Plain data for JSON; says in its first lines whether it is private."""
    return {
        "format": FORMAT,
        "private": model.private,
        "verdict": model.verdict(),
        "algorithm": model.algorithm,
        "parameters": {
            k: repr(v) if isinstance(v, Network) else str(v) for k, v in model.parameters.items()
        },
        "n": model.n,
        "schema": model.schema.to_dict(),
        "network": model.network.to_dict(),
        "tables": [
            t.ravel().tolist() if isinstance(t, np.ndarray) else t.to_dict() for t in model.tables
        ],
        "sources": [list(ids) for ids in model.sources],
        "ledger": model.ledger.to_dict(),
        "measured": [_write_measured(m, model.domain) for m in model.measured],
    }


def _write_measured(measured: Measurement, domain: Schema) -> dict[str, Any]:
    """A noisy table as it was measured; ``merged``: the codes of axes whose values stand as one."""
    merged = {}
    if measured.merging is not None:
        codes = {name: measured.merging.codes[domain.index(name)] for name in measured.attributes}
        merged = {n: c.tolist() for n, c in codes.items() if int(c.max()) + 1 < len(c)}
    return {
        "line": measured.entry,
        "attributes": list(measured.attributes),
        "counts": measured.table.ravel().tolist(),
        **({"merged": merged} if merged else {}),
    }


def _read_measured(
    data: Mapping[str, Any], domain: Schema, lines: Mapping[str, Entry]
) -> Measurement:
    """The inverse of :func:`_write_measured`; malformed data raise SchemaError or KeyError."""
    names, merged = tuple(map(str, data["attributes"])), dict(data.get("merged", {}))
    line, codes = lines.get(str(data["line"])), {}  # L11 refuses one that is gone
    for attribute in domain.attributes if merged else [domain[name] for name in names]:
        values = range(attribute.size)
        codes[attribute.name] = code = np.array(merged.get(attribute.name, values), dtype=np.int64)
        if code.shape != (attribute.size,) or {*code.tolist()} != {*range(int(code.max()) + 1)}:
            raise SchemaError(f"the merged values of {attribute.name!r} are none")
    shape = tuple(int(codes[name].max()) + 1 for name in names)
    if len({*names}) != len(names):
        raise SchemaError(f"line {data['line']!r:.40} measured a column twice")
    table = _table(f"line {data['line']!r:.40}", shape, data["counts"])
    merging = Merging(domain, tuple(codes.values())) if merged else None
    scale = Fraction(1) if line is None or line.scale is None else line.scale
    if line is not None and line.mechanism == "discrete_gaussian":  # a variance stands there
        from ..concentrated import DiscreteGaussian  # noqa: PLC0415 - of fits with δ alone

        scale = DiscreteGaussian(scale).laplace_scale  # type: ignore[arg-type]
    return Measurement(names, table, scale, str(data["line"]), merging=merging)


def save_model(model: Model, path: str | Path, allow_reproducible: bool = False) -> None:
    """Write a model to a file, as :meth:`.Model.to_json` says; it appears when it is whole."""
    check_path(path)
    if model.ledger.reproducible and allow_reproducible is not True:
        raise PrivacyError(
            "the noise of this model is reproducible (random_state, or noise='common'), so its "
            "file wouldn't be private: fit with random_state=None and noise='exact' for a "
            "release, or say allow_reproducible=True for a file that says NOT PRIVATE"
        )
    text = _to_bytes(model)
    if len(text) > MAX_BYTES:  # rather without the intervals than not at all
        text = _to_bytes(replace(model, measured=()))
    if len(text) > MAX_BYTES:
        raise SchemaError(
            f"the model takes {len(text):,} bytes, and at most {MAX_BYTES:,} are "
            "read again: choose a smaller k"
        )
    place = Path(path).resolve()  # of a link: the file that it leads to
    if place.exists() and not place.is_file():  # a pipe
        place.write_bytes(text)
        return
    with whole_file(place) as part:
        part.write_bytes(text)


def _to_bytes(model: Model) -> bytes:
    return json.dumps(write_model(model), ensure_ascii=False, separators=(",", ":")).encode()


def load_model(path: str | Path) -> Any:
    """The document in a model's file, as :meth:`.Model.from_json` says."""
    check_no_text(path, "Model.from_dict(json.loads(text)) reads a model's text")
    return read_json(path, MAX_BYTES)


def check_no_text(path: Any, instead: str) -> None:
    """Refuse what is no path, and a file's text in its place; ``instead``: what to do with that."""
    check_path(path)
    if max(map(len, Path(path).parts), default=0) > MAX_NAME:
        raise SchemaError(f"the path of a file is wanted, and this is a long text: {instead}")


def read_model(data: Any) -> Model:
    """The model of a document; SchemaError for one that is malformed or contradicts itself."""
    form = data.get("format") if isinstance(data, Mapping) else None
    if form != FORMAT:
        other = f": the version that wrote it reads {show(form)}" if form else ""
        raise SchemaError(f"this is not a {FORMAT} file{other}")
    try:
        model = _build(data)
        _check_file(model, data)
    except SchemaError:
        raise
    except MALFORMED as problem:
        raise SchemaError(f"this is not a readable model: {problem!r:.300}") from problem
    return model


def _build(data: Mapping[str, Any]) -> Model:
    n, ids = data["n"], data["sources"]
    if type(n) is not int or not 1 <= n <= MAX_RECORDS:
        raise SchemaError(f"n must be a whole number from 1 to {MAX_RECORDS:,}")
    written = data.get("measured", [])
    if max(len(data["schema"]["attributes"]), len(ids), len(written)) > MAX_ATTRIBUTES:
        raise SchemaError(f"more than {MAX_ATTRIBUTES:,} attributes or tables")
    schema, network = Schema.from_dict(data["schema"]), Network.from_dict(data["network"])
    ledger, encoding = Ledger.from_dict(data["ledger"]), encoding_of(schema, network)
    domain = encoding.schema if encoding else schema
    stored = zip(network.order, shapes_of(domain, network), data["tables"], strict=True)
    tables = tuple(_table(*each) for each in stored)
    lines = {entry.id: entry for entry in ledger.entries}
    return Model(
        schema,
        network,
        tables,
        ledger,
        n,
        str(data["algorithm"]),
        dict(data["parameters"]),
        tuple(tuple(map(str, each)) for each in ids),
        tuple(_read_measured(m, domain, lines) for m in written),
    )


def _check_file(model: Model, data: Mapping[str, Any]) -> None:
    """Refuse a file that contradicts itself, or whose ledger doesn't cover what it releases."""
    problems = model.uncovered() + check_origin(model)
    problems += ["a seed stands among its parameters"] * ("random_state" in model.parameters)
    if model.ledger.guarantee == "strict":
        problems += [p for p in model.check() if not p.startswith("L10")]
    if problems:
        raise SchemaError(f"its ledger doesn't cover what it releases: {problems[0]}")
    if data["private"] is not model.private or data["verdict"] != model.verdict():
        raise SchemaError(
            f"the file says private={data['private']!r:.40} and "
            f"{data['verdict']!r:.200}, but its ledger says: {model.verdict()}"
        )


def _table(child: str, shape: tuple[int, ...], data: Any) -> Table:
    if isinstance(data, Mapping):
        from ..published import SparseTable  # noqa: PLC0415 - of the papers' replicas alone

        return SparseTable.from_dict(data, shape)
    if len(data) != math.prod(shape) or not all(type(x) is int for x in data):
        raise SchemaError(
            f"table of {child!r} doesn't hold one integer for each of its "
            f"{math.prod(shape):,} declared cells"
        )
    return np.array(data, dtype=np.int64).reshape(shape)


def check_origin(model: Model) -> list[str]:
    """What says that a ledger isn't the one of this table and run, or isn't whole; empty if none.

    A secret number of records is that of its line, or what this and the measured tables tell.
    """
    ledger, names, n, problems = model.ledger, model.schema.names, model.n, list[str]()
    public = ledger.unit.n_is_public
    counted = any(e.released == "n" and e.epsilon > 0 for e in ledger.entries)
    if not public and ledger.guarantee != "none" and not counted:
        problems.append("no line of the ledger says where the number of records comes from")
    touched = {a for e in ledger.entries for a in e.attributes}
    counts = {e.n_records for e in ledger.entries if e.n_records is not None}  # or of copies
    others = len(counts) > 1
    if len(counts) == 1 and not ledger.levels:
        (count,) = counts
        told = count if public else persons.count_all(model.measured, ledger, count)
        others = n not in {count, told}
    if ledger.public_attributes != names or touched - {*names} or others:
        problems.append(
            "the ledger is that of another table: its attributes or its number of records "
            "are not those of the model"
        )
    if ledger.guarantee == "strict" and ledger.finite != ledger.claimed:
        problems.append(
            f"a strict run costs exactly what it claims, {ledger.sign} = {ledger.claimed}, and "
            "these lines don't: some were cut or changed"
        )
    return problems


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
        document = json.loads(text.decode("utf-8"), object_pairs_hook=_unique)
        if b"\\ud" in text.lower():  # an escape can spell half a character, which no text shows
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except SchemaError:
        raise
    except MALFORMED as problem:
        raise SchemaError(f"{path} is no JSON: {problem!r:.300}") from problem


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once: a reader of the first and of the last see the same."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise SchemaError("a key stands twice in one object of the file")
    return content


def write_ledger(ledger: Ledger) -> dict[str, Any]:
    """Plain data for JSON; fractions are written as text, so nothing drifts."""
    ex_ante = ledger.guaranteed_ex_ante
    promised: dict[str, Any] = {
        x: str(getattr(ledger, x)) for x in WITH_DELTA if hasattr(ledger, x)
    }
    decides = ledger.level_attribute  # said where there is one
    promised |= {"level_attribute": decides} if decides else {}
    promised |= {"holders": list(ledger.holders)} if ledger.holders else {}
    return promised | {
        "claimed": str(ledger.claimed),
        "guarantee": ledger.guarantee,
        "notes": list(ledger.notes),
        "attributes": list(ledger.public_attributes),
        "guaranteed_ex_ante": list(ex_ante) if isinstance(ex_ante, tuple) else ex_ante,
        "relation": ledger.relation,
        "records_per_person": ledger.records_per_person,
        "levels": [str(level) for level in ledger.levels],
        "entries": [to_plain(asdict(e)) for e in ledger._entries],
    }


def read_ledger(data: Mapping[str, Any]) -> Ledger:
    """The inverse of :func:`write_ledger`; what is malformed raises ValueError,
    TypeError or KeyError.

    Digits, entries and their common denominator are bounded: adding up stays quick.
    """
    if data["guarantee"] not in ("strict", "published", "none"):
        raise ValueError(f"unknown guarantee {str(data['guarantee'])[:40]!r}")
    ex_ante = data["guaranteed_ex_ante"]
    make: Callable[..., Ledger] = Ledger
    if "delta" in data:
        from ..concentrated import ConcentratedLedger  # noqa: PLC0415 - of fits with δ alone

        promised, delta = read_fraction(data["promised"]), read_fraction(data["delta"])
        make = partial(ConcentratedLedger, promised=promised, delta=delta)
    ledger = make(
        read_fraction(data["claimed"]),
        data["guarantee"],
        [str(n) for n in data["notes"]],
        tuple(map(str, data["attributes"])),
        tuple(map(str, ex_ante)) if isinstance(ex_ante, list) else bool(ex_ante),
        read_entries(data["entries"]),
        relation=data.get("relation", "replace_one"),
        records_per_person=data.get("records_per_person", 1),
        levels=tuple(read_fraction(level) for level in data.get("levels", ())),
        level_attribute=str(data.get("level_attribute", "")),
        holders=read_holders(data["holders"]) if "holders" in data else None,
    )
    m = ledger.records_per_person
    if ledger.relation not in NEIGHBOURS or type(m) is not int or not 1 <= m <= MAX_WHOLE:
        raise ValueError("a ledger of an unknown neighbouring relation")
    if ledger.claimed <= 0 or ledger.claimed != read_fraction(data["claimed"]):
        raise ValueError("a claimed ε of 0, or a ρ that isn't that of its ε and δ")
    if ledger.levels:
        persons.check(ledger)
    return ledger


def read_holders(data: Any) -> tuple[int, int]:
    """How many holders there were, and how many of their shares are the whole noise."""
    there, needed = data
    if type(there) is not int or type(needed) is not int or not 1 <= needed <= there <= MAX_WHOLE:
        raise ValueError("holders of another number than a fit can have")
    return there, needed


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
    entries, common = [_from_plain(e) for e in data], 1
    for number, e in enumerate(entries, 1):
        if e.kind not in KINDS or e.id != f"s{number:02d}":
            raise ValueError(f"line {number} is of unknown kind, or isn't called s{number:02d}")
        finite = [x for x in (e.epsilon, e.claimed) if isinstance(x, Fraction)]
        common = math.lcm(common, *(x.denominator for x in finite))
        if common.bit_length() > DENOMINATOR_BITS:
            raise ValueError("the fractions have an enormous common denominator")
    return entries


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

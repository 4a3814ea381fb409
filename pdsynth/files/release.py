"""A release on disk: table, model, ledger, schema and card in one folder, whole or not at all.

And a table alone as a CSV file, for spreadsheets, too.
"""

import json
import math
import os
import platform
import re
import shutil
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout

from ..concentrated import pair
from ..core import (
    BudgetError,
    Ledger,
    Model,
    Network,
    PrivacyError,
    Schema,
    SchemaError,
    check_path,
    is_whole,
    needed_for,
    number,
    short,
    show,
)
from .pages import render
from .reading import read_csv
from .session import Session

KINDS = "csv", "parquet"
FILES = "model.json", "ledger.jsonl", "schema.toml", "card.md", "card.html"  # beside the table
MOST_ROWS, MOST_CELLS = 10**7, 4 * 10**8  # of a table that is dealt out as a whole
LONGEST_TITLE = 200
MOST_DIGITS = 20  # of ε and of a share: a ledger's file holds products of several with 100 digits
RAW = (
    "This part reads the real records exactly. It is NOT covered by ε: for those who may see "
    "the records. Take it off before the card leaves the house."
)
SAMPLERS = {
    "exact": "exact, from the operating system's random numbers",
    "opendp": "OpenDP's samplers, from the operating system's random numbers",
}
WEAK = 3  # from here on a guess may be right in 95 of 100 cases
FAMILY = 4
# What a spreadsheet takes for a formula, and not for a number.
FORMULA = re.compile(r"=|[+\-@](?!\.?\d+(\.\d*)?$)")


def write_release(
    model: Model,
    folder: str | os.PathLike[str],
    *,
    rows: int | None = None,
    kind: str = "csv",
    title: str = "",
    session: Session | None = None,
    report: Any = None,
) -> Path:
    """Write a new folder with all that may be published of a fitted model; returns its path.

    ``model``: ``synth.model_``. ``rows``: of the synthetic table, as many as the model says that
    there were records if None, and in any case no more than :func:`most_rows`; they are dealt out
    evenly (balanced rows, as :meth:`.Model.sample` has them). ``kind``: of its file, "csv" or
    "parquet". ``title``: stands on the card. ``session``: the account that the fit was charged to;
    the card says how it stands.
    ``report``: of ``evaluate.report``, which the card then shows under a warning.

    In the folder are ``synthetic.csv``, ``model.json``, ``ledger.jsonl``, ``schema.toml`` (of the
    synthetic table, without the comments of its file), ``card.md`` and ``card.html``. It appears
    when all of them are there; if anything fails, nothing is left. Raises PrivacyError for a model
    that must not be released, SchemaError for a folder that exists or an impossible ``kind``,
    ``rows`` or ``title``. :func:`rehearse` finds out before a fit is charged.

    **Privacy:** post-processing of the model, costs nothing. A ``report`` is not covered by ε.
    """
    place = check_folder(folder, kind)
    check_model(model)
    rows = check_rows(rows, model.schema) or min(model.n, most_rows(model.schema))
    title = check_title(title or place.name)
    with draft_folder(place) as draft:
        table = model.sample(rows)
        fill(draft, model, table, kind=kind, title=title, session=session, report=report)
        return publish(draft, place)


def rehearse(
    draft: Path,
    schema: Schema,
    *,
    algorithm: str,
    parameters: Mapping[str, Any],
    ledger: Ledger,
    rows: int,
    kind: str,
    title: str,
    session: Session | None = None,
) -> None:
    """Try everything that writing a release can fail at, before anything is charged for it.

    Into the folder ``draft`` goes a release of the same schema, parameters and account whose table
    holds every declared value, and whose model was learnt from nothing. Then schema and table are
    read back as the card says. ``ledger``: an empty one, of the promise to come. Raises SchemaError
    for what can't be written, or would be read as something else, BudgetError for numbers of too
    many digits.

    **Privacy:** reads no record and draws no noise: a function of the schema and of what the owner
    chose.
    """
    for name, value in {**parameters, "epsilon": ledger.claimed}.items():
        if _count_digits(value) > MOST_DIGITS:
            raise BudgetError(
                f"{name} has {_count_digits(value)} digits, and what is computed from it must have "
                f"at most 100 in the model's file: write it with at most {MOST_DIGITS}"
            )
    released = as_released(schema)
    network = Network(tuple((name, ()) for name in schema.names))
    counts = tuple(np.zeros(size, dtype=np.int64) for size in schema.sizes)
    n = max(schema.sizes)
    model = Model(schema, network, counts, ledger, n, algorithm, parameters)
    codes = np.arange(n)[:, None] % np.array(schema.sizes)
    table = released.decode(codes, np.full(codes.shape, 0.5))
    try:
        fill(draft, model, table, kind=kind, title=title, session=session)
    except (SchemaError, BudgetError, OSError, ImportError):
        raise
    except Exception as problem:
        raise SchemaError(
            f"the release couldn't be written ({type(problem).__name__}: {problem}): correct the "
            "name, the value or the parameter"
        ) from problem
    if Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) != schema:
        raise SchemaError("this schema can't be written as JSON: write its values as texts")
    path = draft / f"synthetic.{kind}"
    _check_read(path, Schema.read(draft / "schema.toml"), codes)
    needed = (path.stat().st_size - sum(map(len, schema.names))) * rows // n if kind == "csv" else 0
    if needed > (free := shutil.disk_usage(draft).free):
        raise SchemaError(
            f"{rows:,} rows take about {needed:,} bytes, and {free:,} are free there: say fewer "
            "rows, or a folder on another disk"
        )


def _count_digits(value: Any) -> int:
    """Of a number as a fraction; 0 for what is no number."""
    try:
        exact = number("a parameter", value)
    except BudgetError:
        return 0
    return max(len(str(exact.numerator)), len(str(exact.denominator)))


def _check_read(path: Path, schema: Schema, codes: np.ndarray) -> None:
    """Refuse a domain whose values a table's file doesn't give back."""
    try:
        read = schema.encode(read_csv(path, schema))
        changed = [*np.array(schema.names)[(read != codes).any(axis=0)][:5]]
    except SchemaError as problem:
        changed = [str(problem)]
    if changed:
        raise SchemaError(
            f"declared values would be read from {path.name} as others: {'; '.join(changed)}. "
            "Declare values of one kind, texts without blanks at their ends and no empty one, "
            "whole numbers beyond 2^53 as texts"
        )


def fill(
    draft: Path,
    model: Model,
    table: pd.DataFrame,
    *,
    kind: str,
    title: str,
    session: Session | None = None,
    report: Any = None,
) -> None:
    """Write all files of a release into the folder ``draft``.

    **Privacy:** post-processing of the model and of a table drawn from it. A ``report`` isn't.
    """
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    name = f"synthetic.{kind}"
    if kind == "csv":
        write_csv(table, draft / name)
    else:
        _write_parquet(table, draft / name)
    with suppress(SchemaError):  # too large to be read again: the card then says that it is absent
        model.to_json(draft / "model.json")
    (draft / "ledger.jsonl").write_text(model.ledger.to_json() + "\n", encoding="utf-8")
    _write_schema(as_released(model.shown), draft / "schema.toml")
    write_card(draft, model, title=title, rows=len(table), session=session, report=report)


def write_card(folder: Path, model: Model, **said: Any) -> None:
    """Write the card into a release's folder, or in place of the one that is there.

    ``said``: title, rows, session and report, as in :func:`make_card`.

    **Privacy:** post-processing of the release. A ``report`` isn't.
    """
    table = next(folder.glob("synthetic.*")).name
    card = make_card(model, table=table, stored=(folder / "model.json").exists(), **said)
    for name, text in (("card.md", card.markdown), ("card.html", card.html)):
        new = folder / f"{name}.new"
        new.write_text(text, encoding="utf-8", newline="\n")
        new.replace(folder / name)


@contextmanager
def draft_folder(place: Path) -> Iterator[Path]:
    """A hidden folder beside a release to come, for one process at a time; gone afterwards.

    It is ``.<name>.unfinished``: what a process that was killed left there is removed by the next
    release of that name. Raises SchemaError while another process holds it, or if it holds anything
    that no release left there.
    """
    hidden = place.with_name(f".{place.name}.unfinished")
    draft, lock = hidden / "draft", FileLock(hidden / "lock")
    hidden.mkdir(exist_ok=True)
    try:
        lock.acquire(timeout=0)
    except Timeout as held:
        raise SchemaError(
            f"another process is writing the release {place.name}: name a new folder"
        ) from held
    try:
        known = {"draft", "lock", *FILES, *(f"synthetic.{kind}" for kind in KINDS)}
        left = {file.name.removesuffix(".new") for file in hidden.rglob("*")}
        if left - known:
            raise SchemaError(
                f"{hidden.name} holds files that no release left there: move it away, or name "
                "another folder"
            )
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    finally:
        with suppress(OSError):  # while it is held, so that nobody else holds a file that is gone
            (hidden / "lock").unlink()
        lock.release()
        with suppress(OSError):  # where a held file can't be removed, or another process waits
            (hidden / "lock").unlink(missing_ok=True)
            hidden.rmdir()


def publish(draft: Path, place: Path) -> Path:
    """Give a whole draft its name: ``place``, or if that was taken meanwhile, ``place-2`` …"""
    draft.chmod(0o755)
    times, free = 1, place
    while os.path.lexists(free):
        times += 1
        free = place.with_name(f"{place.name}-{times}")
    return draft.rename(free)


def _write_schema(schema: Schema, path: Path) -> None:
    for name, why in schema.left_out.items():
        if why.startswith("?") or why != why.strip():
            raise SchemaError(
                f"the reason why {show(name)} is left out begins with a question mark, which marks "
                "an open line of a schema's file, or has blanks at an end: write it in other words"
            )
    schema.write(path)


def _write_parquet(table: pd.DataFrame, path: Path) -> None:
    try:
        table.to_parquet(path, index=False)
    except (ValueError, TypeError, OverflowError) as problem:
        raise SchemaError(
            f"a Parquet column holds values of one type, of 64 bits ({problem}): say csv, or "
            "declare those values as texts"
        ) from problem


class Card(NamedTuple):
    """A release card as text, and the same as a page that needs no other file."""

    markdown: str
    html: str


def make_card(
    model: Model,
    *,
    title: str,
    table: str,
    rows: int,
    session: Session | None = None,
    report: Any = None,
    stored: bool = True,
) -> Card:
    """The card of a model and of a table of so many rows drawn from it, in the file ``table``.

    ``stored``: whether the model's file is beside it. ``session``: the account that the fit was
    charged to. ``report``: what ``evaluate.report`` found; it stands apart, under a warning.

    **Privacy:** post-processing of the release. A ``report`` isn't: it reads records exactly.
    """
    with needed_for("a release card"):
        import mistune

    facts = _facts(model, session) | {
        "title": title,
        "table": table,
        "formulas": table.endswith(".csv") and _formulas(model.schema),
        "rows": f"{rows:,}",
        "stored": stored,
        "raw": report is not None,
    }
    written = render(__package__, "card.md", **facts)
    page = mistune.create_markdown(escape=True, plugins=["table"])
    html = render(
        __package__,
        "card.html",
        title=title,
        body=page(written),
        warning=RAW,
        report="" if report is None else report._repr_html_(),
    )
    if report is not None:
        lines = "\n".join(f"    {line}" for line in str(report).splitlines())
        written += f"\n\n## Comparison with the real records\n\n**{RAW}**\n\n{lines}\n"
    return Card(written.rstrip("\n") + "\n", html)


def _facts(model: Model, session: Session | None) -> dict[str, Any]:
    """What the card is made of; every word follows from the released model and the account."""
    ledger = model.ledger
    epsilon, noise = ledger.epsilon, str(model.parameters.get("noise", "exact"))
    power = float(epsilon) / math.log(10)
    delta = getattr(ledger, "delta", None)
    used = ["pdsynth", "numpy", "pandas", *["opendp"] * (noise == "opendp")]
    python = f"Python {platform.python_version()}"
    versions = [*(f"{name} {version(name)}" for name in used), python]
    return {
        "model": model,
        "ledger": ledger,
        "schema": model.schema,
        "account": None if session is None else _standing(session),
        "epsilon": epsilon,
        "delta": delta,
        "promise": f"ε = {short(epsilon)}" if delta is None else pair(epsilon, delta),
        "m": ledger.records_per_person,
        "added": ledger.relation == "add_remove",
        "losses": ledger.attribute_epsilon(),
        "lines": ledger.story(),
        "method": _method(model),
        "sampler": SAMPLERS.get(noise, noise),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "versions": ", ".join(versions),
        "times": f"{math.exp(epsilon):,.2f}" if power < 4 else f"10^{power:.0f}",
        "weak": WEAK,
        "family": FAMILY,
        "short": short,
        "percent": _percent,
        "at_most": _at_most,
    }


def _standing(session: Session) -> str:
    """How an account stands; a file that can't be read now takes nobody's release away."""
    promise, unit = f"ε = {short(session.epsilon)}", ""
    if session.delta is not None:
        promise, unit = pair(session.epsilon, session.delta), " of ρ"
    try:
        return (
            f"One of {promise}. Spent, this release included: "
            f"{short(session.spent)}{unit}; left: {short(session.remaining)}{unit}."
        )
    except (BudgetError, OSError):
        return f"One of {promise}, whose file couldn't be read afterwards."


def _formulas(schema: Schema) -> list[str]:
    """Columns whose name or whose declared texts a spreadsheet would run."""
    return [a.name for a in schema.attributes if any(quote(x) != x for x in (a.name, *a.values))]


def _method(model: Model) -> str:
    """The algorithm with what its owner chose."""
    hidden = {"epsilon", "guarantee", "noise", "random_state", "records_per_person", "relation"}
    hidden.add("delta")  # stands in the promise
    given = [
        f"{name} = {format(value, '.4g') if isinstance(value, float) else value}"
        for name, value in model.parameters.items()
        if name not in hidden and value not in (None, "None")
    ]
    return f"{model.algorithm} ({', '.join(given)})" if given else model.algorithm


def _percent(epsilon: Fraction | float) -> str:
    """How often the better of two guesses may be right: 1/(1 + exp(−ε)), rounded up."""
    share = math.ceil(1000 / (1 + math.exp(-min(float(epsilon), 700)))) / 10
    return f"{share:g} %"


def _at_most(epsilon: Fraction | float) -> str:
    """Three digits, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:g}"


def open_lines(path: Path) -> list[str]:
    """[file] and columns whose lines in a schema file aren't confirmed yet."""
    document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    lines = {"[file]": document.get("file", {})} | document.get("attributes", {})
    return [
        name
        for name, line in lines.items()
        if str(line).startswith("?") or (isinstance(line, dict) and not line.get("public", 1))
    ]


def read_reviewed(path: Path) -> Schema:
    """A schema file that its owner has confirmed line by line; PrivacyError for a draft."""
    schema = Schema.read(path)
    if schema.source != "public":
        raise PrivacyError(
            f"{path.name} is a draft, read off the records; not reviewed yet: "
            f"{', '.join(open_lines(path))}. Write what is publicly known there, whatever the "
            "records hold, and delete public = false"
        )
    return schema


def as_released(schema: Schema) -> Schema:
    """The schema of a synthetic table: it has a header, and nothing is left to be recoded."""
    plain = tuple(replace(attribute, recode=None) for attribute in schema.attributes)
    return replace(schema, attributes=plain, columns=(), file=None)


def check_folder(folder: str | os.PathLike[str], kind: str = "csv") -> Path:
    """The folder of a release to come; SchemaError where it can't be written."""
    check_path(folder)
    place = Path(folder)
    if kind not in KINDS:
        raise SchemaError(f"kind must be one of {KINDS}, got {kind!r}")
    if kind == "parquet":
        with needed_for("a Parquet file", "kind='csv'"):
            import pyarrow  # noqa: F401
    if os.path.lexists(place):
        raise SchemaError(f"{place} exists: a release is never overwritten; name a new folder")
    if not os.access(place.absolute().parent, os.W_OK):
        raise SchemaError(f"the folder above {place.name} isn't there or can't be written to")
    return place.absolute()


def most_rows(schema: Schema) -> int:
    """The most rows of a table that is dealt out as a whole: 10^7, and 4·10^8 cells."""
    return min(MOST_ROWS, MOST_CELLS // len(schema))


def check_rows(rows: Any, schema: Schema) -> int | None:
    """A number of rows that a release can have, or None; SchemaError for any other."""
    most = most_rows(schema)
    if rows is None or is_whole(rows, 1, most):
        return None if rows is None else int(rows)
    raise SchemaError(
        f"rows must be a whole number of at least 1 and, with {len(schema)} columns, of at most "
        f"{most:,}, got {show(rows)}: for more, write_release and then model.sample_to(path, n)"
    )


def check_title(title: Any) -> str:
    """A title that a card can show; SchemaError for any other."""
    if (
        not isinstance(title, str)
        or len(title) > LONGEST_TITLE
        or any(unicodedata.category(sign) in ("Cc", "Cs") for sign in title)
    ):
        raise SchemaError(
            f"the title (else the folder's name) must be a text of at most {LONGEST_TITLE} signs "
            f"without control characters and bytes that aren't UTF-8, got {show(title)}"
        )
    return title


def check_model(model: Model) -> None:
    """Refuse, with all reasons, to release what no finite ε covers.

    **Privacy:** looks at the ledger only.
    """
    ledger, wrong = model.ledger, []
    if ledger.guarantee != "strict":
        wrong.append(f"guarantee={ledger.guarantee!r} promises nothing")
    wrong += [f"unaccounted: {entry.step} ({entry.source})" for entry in ledger.unaccounted]
    wrong += model.check()
    if not wrong and not model.private:
        wrong.append(model.verdict())
    if wrong:
        raise PrivacyError(
            f"this model must not be released: {'; '.join(wrong)}. Fit with "
            "guarantee='strict', random_state=None, noise='exact' or 'opendp' and a "
            "public schema"
        )


def write_csv(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, quote_formulas: bool = False
) -> None:
    """Write a table as CSV in UTF-8, without its index; a missing value is an empty cell.

    ``quote_formulas``: spreadsheets run a cell such as ``=HYPERLINK(…)``, and a declared text may
    be one. Texts and column names that begin with ``= + - @``, also behind blanks or control
    characters and in full width, or with a tab or a line's end, then get an apostrophe in front,
    so that they are shown and not run; ``-3`` stays. A reader of such a file must take the
    apostrophes off.

    **Privacy:** post-processing of what was released; raw records if you write those.
    """
    if not isinstance(frame, pd.DataFrame):
        raise SchemaError(f"expected a pandas DataFrame, got {type(frame).__name__}")
    check_path(path)
    if not isinstance(quote_formulas, bool):
        raise SchemaError(f"quote_formulas must be True or False, got {show(quote_formulas)}")
    if quote_formulas:
        texts = frame.select_dtypes(exclude=["number", "bool", "boolean"])
        frame = frame.assign(**{name: texts[name].astype(object).map(quote) for name in texts})
        frame.columns = [quote(name) for name in frame.columns]
    frame.to_csv(path, index=False, encoding="utf-8", lineterminator="\r\n")


def quote(cell: Any) -> Any:
    """A text that a spreadsheet would run, with an apostrophe in front; anything else as it is.

    >>> [quote(cell) for cell in ("=1+1", " ＝1", "-3", "Bern", 7)]
    ["'=1+1", "' ＝1", '-3', 'Bern', 7]
    """
    return f"'{cell}" if isinstance(cell, str) and _runs(cell) else cell


def _runs(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula, as it stands or once it is cleaned."""
    plain = unicodedata.normalize("NFKC", text)
    seen = (at for at, sign in enumerate(plain) if not (sign.isspace() or _is_control(sign)))
    return text.startswith(("\t", "\r", "\n")) or bool(FORMULA.match(plain, next(seen, 0)))


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cf")

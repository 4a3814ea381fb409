"""A release on disk: table, model, ledger, schema and card in one folder, whole or not at all.

And a table alone as a CSV file, for spreadsheets, too.
"""

import json
import os
import shutil
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from filelock import FileLock, Timeout

from ..answers import measured_cells
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
    name_some,
    needed_for,
    number,
    show,
)
from .card import check_about, make_card
from .reading import read_csv
from .schemas import meanings, save_schema
from .session import Session
from .writing import naming, write_csv, write_parquet

KINDS = "csv", "parquet"
MEASURED = "measured.csv"
FILES = "model.json", "ledger.jsonl", "schema.toml", MEASURED, "card.md", "card.html"
MOST_ROWS, MOST_CELLS = 10**7, 4 * 10**8  # of a table that is dealt out as a whole
LONGEST_TITLE = 200
MOST_DIGITS = 20  # of ε and of a share: a ledger's file holds products of several with 100 digits


def write_release(
    model: Model,
    folder: str | os.PathLike[str],
    *,
    rows: int | None = None,
    kind: str = "csv",
    title: str = "",
    session: Session | None = None,
    report: Any = None,
    about: Mapping[str, str] | None = None,
) -> Path:
    """Write a new folder with all that may be published of a fitted model; returns its path.

    ``model``: ``synth.model_``. ``rows``: of the synthetic table, as many as the model says that
    there were records if None, and in any case no more than :func:`most_rows`; they are dealt out
    evenly (balanced rows, as :meth:`.Model.sample` has them). ``kind``: of its file, "csv" or
    "parquet". ``title``: stands on the card. ``session``: the account that the fit was charged to;
    the card says how it stands; BudgetError for one that can't have paid.
    ``report``: of ``evaluate.report``, which the card then shows under a warning. ``about``: what
    you answer for, as texts, any of responsible, purpose, recipients, basis (the legal one) and
    epsilon (who chose it, and why); the card has a line to write on for each that is left out.

    In the folder are ``synthetic.csv``, ``model.json``, ``ledger.jsonl``, ``schema.toml`` (of the
    synthetic table, without the comments of its file), ``measured.csv`` (each noisy count as it
    was measured, with the interval that holds the true one in 90 % of all fits; not where the model
    keeps none), ``card.md`` and ``card.html``. It appears when all of them are there; if anything
    fails, nothing is left. Raises PrivacyError for a model that must not be released, SchemaError
    for a folder that exists, an impossible ``kind``, ``rows`` or ``title``, and for values that no
    file of a table gives back, as texts with blanks at their ends. :func:`rehearse` finds out
    before a fit is charged.

    **Privacy:** post-processing of the model, costs nothing. A ``report`` is not covered by ε.
    """
    place = check_folder(folder, kind)
    check_model(model)
    if session is not None:
        session.check_paid(model.ledger)
    rows = check_rows(rows, model.schema) or min(model.n, most_rows(model.schema))
    facts = {"title": check_title(title or place.name), "about": check_about(about)}
    with draft_folder(place) as draft:
        try_values(draft, model, kind)
        table = model.sample(rows)
        fill(draft, model, table, kind=kind, session=session, report=report, **facts)
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
    about: Mapping[str, str] | None = None,
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
    network = Network(tuple((name, ()) for name in schema.names))
    counts = tuple(np.zeros(size, dtype=np.int64) for size in schema.sizes)
    n = max(schema.sizes)
    model = Model(schema, network, counts, ledger, n, algorithm, parameters)
    codes, table = _every_value(schema)
    try:
        fill(draft, model, table, kind=kind, title=title, session=session, about=about)
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
    _check_read(path, replace(Schema.read(draft / "schema.toml"), rules=()), codes)
    needed = (path.stat().st_size - sum(map(len, schema.names))) * rows // n if kind == "csv" else 0
    if needed > (free := shutil.disk_usage(draft).free):
        raise SchemaError(
            f"{rows:,} rows take about {needed:,} bytes, and {free:,} are free there: say fewer "
            "rows, or a folder on another disk"
        )


def try_values(draft: Path, model: Model, kind: str) -> None:
    """Refuse a model whose values the file of a table doesn't give back, before it is written."""
    codes, table = _every_value(model.shown)
    path = draft / f"synthetic.{kind}"
    _write_table(table, path)
    try:
        _check_read(path, replace(as_released(model.shown), rules=()), codes)
    except SchemaError as problem:
        raise SchemaError(
            f"{problem}. Nothing is lost: model.to_json(path) keeps the model, and model.sample(n) "
            "draws its rows"
        ) from problem


def _every_value(schema: Schema) -> tuple[np.ndarray, pd.DataFrame]:
    """The codes of rows (most values, d) that hold every declared value, and these rows."""
    codes = np.arange(max(schema.sizes))[:, None] % np.array(schema.sizes)
    return codes, replace(as_released(schema), rules=()).decode(codes, np.full(codes.shape, 0.5))


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
            "Declare values of one kind, names and texts without blanks at their ends, none empty, "
            "whole numbers beyond 2^53 as texts"
        )


def fill(
    draft: Path,
    model: Model,
    table: pd.DataFrame,
    *,
    kind: str,
    **facts: Any,
) -> None:
    """Write all files of a release into the folder ``draft``; ``facts`` go to its card.

    **Privacy:** post-processing of the model and of a table drawn from it. A ``report`` isn't.
    """
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    with naming(path := draft / f"synthetic.{kind}"):
        _write_table(table, path)
    # too large to be read again: the card then says that it is absent
    with naming(path := draft / "model.json"), suppress(SchemaError):
        model.to_json(path)
    with naming(path := draft / "ledger.jsonl"):
        path.write_text(model.ledger.to_json() + "\n", encoding="utf-8")
    if model.measured:
        with naming(path := draft / MEASURED):
            write_csv(measured_cells(model), path)
    with naming(path := draft / "schema.toml"):
        _write_schema(as_released(model.shown), path, meanings(model.schema))
    with naming(draft / "card.html"):
        write_card(draft, model, rows=len(table), **facts)


def _write_table(table: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        write_csv(table, path)
    else:
        write_parquet(table, path)


def write_card(folder: Path, model: Model, **facts: Any) -> None:
    """Write the card into a release's folder, or in place of the one that is there.

    ``facts``: title, rows, session, report and about, as in :func:`make_card`.

    **Privacy:** post-processing of the release. A ``report`` isn't.
    """
    table = next(folder.glob("synthetic.*")).name
    card = make_card(model, table=table, stored=(folder / "model.json").exists(), **facts)
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
    with naming(place):
        hidden.mkdir(exist_ok=True)
    try:
        lock.acquire(timeout=0)
    except Timeout as problem:
        raise SchemaError(
            f"another process is writing the release {place.name}: name a new folder"
        ) from problem
    try:
        names = {"draft", "lock", *FILES, *(f"synthetic.{kind}" for kind in KINDS)}
        files = {file.name.removesuffix(".new") for file in hidden.rglob("*")}
        if files - names:
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


@contextmanager
def telling(account: Path | None) -> Iterator[None]:
    """What stops a release after its fit says what became of the fit and of its charge."""
    try:
        yield
    except (SchemaError, OSError) as problem:
        charge = "no account was charged" if account is None else f"{account.name} stays charged"
        raise SchemaError(f"{problem}. The fit is lost; {charge}") from problem


def publish(draft: Path, place: Path) -> Path:
    """Give a whole draft its name: ``place``, or if that was taken meanwhile, ``place-2`` …"""
    times, free = 1, place
    while os.path.lexists(free):
        times += 1
        free = place.with_name(f"{place.name}-{times}")
    return draft.rename(free)


def _write_schema(schema: Schema, path: Path, notes: Mapping[str, str]) -> None:
    for name, why in schema.left_out.items():
        if why.startswith("?") or why != why.strip():
            raise SchemaError(
                f"the reason why {show(name)} is left out begins with a question mark, which marks "
                "an open line of a schema's file, or has blanks at an end: write it in other words"
            )
    save_schema(schema, path, notes)


def open_lines(path: Path) -> list[str]:
    """[file], columns and rules whose lines in a schema file aren't confirmed yet."""
    document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    lines = {"[file]": document.get("file", {})} | document.get("attributes", {})
    lines |= {f"rule {i}": rule for i, rule in enumerate(document.get("rules", []), 1)}
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
            f"{name_some(open_lines(path))}. Write what is publicly known there, whatever the "
            "records hold, and delete public = false"
        )
    if len(schema) < 2:
        raise SchemaError(
            f"{path.name} keeps {len(schema)} of its columns; at least 2 are needed for a network"
        )
    return schema


def as_released(schema: Schema) -> Schema:
    """The schema of a synthetic table: it has a header, and nothing is left to be recoded."""
    plain = tuple(replace(attribute, recode=None, private=0) for attribute in schema.attributes)
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
    above = place.absolute().parent
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise SchemaError(f"the folder above {place.name} isn't there or can't be written to")
    return place.absolute()


def check_page(page: Path, released: Path) -> None:
    """Refuse a report's page that is there already, or that a release's folder would publish."""
    if page.exists():
        raise SchemaError(f"{page.name} exists: name a new file")
    if page.resolve().is_relative_to(released.resolve()):
        raise SchemaError(
            f"{page} stands in the folder that may be published, and a report may not: name a "
            "file outside"
        )


def open_release(folder: Path) -> tuple[Model, Path]:
    """The model of a release's folder, and its synthetic table; SchemaError for any other."""
    tables = [path for kind in KINDS if (path := folder / f"synthetic.{kind}").exists()]
    if not tables or not (folder / "model.json").exists():
        names = " or ".join(f"synthetic.{kind}" for kind in KINDS)
        raise SchemaError(f"{folder.name} holds no model.json beside {names}: it is no release")
    return Model.from_json(folder / "model.json"), tables[0]


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
    if not isinstance(model, Model):
        raise SchemaError(f"a release is of a model: hand in synth.model_, got {show(model)}")
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

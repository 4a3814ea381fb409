"""A release on disk: table, model, ledger, schema and card in one folder, whole or not at all.

And a table alone as a CSV file, for spreadsheets, too.
"""

import importlib.util
import os
import re
import shutil
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..domain.schema import Schema
from ..errors import PrivacyError, SchemaError, check_path, is_whole, show
from ..model import Model
from ..privacy.session import Session
from .card import make_card

KINDS = "csv", "parquet"
# What a spreadsheet takes for a formula, and not for a number.
FORMULA = re.compile(r"[=+\-@\t\r](?!\.?\d+(\.\d*)?$)")


def write_release(
    model: Model, folder: str | os.PathLike[str], *, rows: int | None = None, kind: str = "csv",
    title: str = "", session: Session | None = None, report: Any = None,
) -> Path:
    """Write a new folder with all that may be published of a fitted model; returns its path.

    ``model``: ``synth.model_``. ``rows``: of the synthetic table, as many as there were records if
    None; they are dealt out evenly (``method="balanced"``). ``kind``: of its file, "csv" or
    "parquet". ``title``: stands on the card. ``session``: the account that the fit was charged to;
    the card says how it stands. ``report``: of ``evaluate.report``, which the card then shows under
    a warning.

    In the folder are ``synthetic.csv``, ``model.json``, ``ledger.jsonl``, ``schema.toml`` (of the
    synthetic table, without the comments of its file), ``card.md`` and ``card.html``. It appears
    when all of them are there; if anything fails, nothing is left. Raises PrivacyError for a model
    that must not be released, SchemaError for a folder that exists or an impossible ``kind``.

    **Privacy:** post-processing of the model, costs nothing. A ``report`` is not covered by ε.
    """
    place = check_folder(folder, kind)
    check_model(model)
    if rows is not None and not is_whole(rows, 1):
        raise SchemaError(f"rows must be a whole number of at least 1, got {rows!r}")
    unfinished = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        table = model.sample(rows, method="balanced")
        name = f"synthetic.{kind}"
        if kind == "csv":
            write_csv(table, unfinished / name)
        else:
            table.to_parquet(unfinished / name, index=False)
        model.to_json(unfinished / "model.json")
        (unfinished / "ledger.jsonl").write_text(model.ledger.to_json() + "\n", encoding="utf-8")
        as_released(model.schema).write(unfinished / "schema.toml")
        card = make_card(model, title=title or place.name, table=name, rows=len(table),
                         session=session, report=report)
        (unfinished / "card.md").write_text(card.markdown, encoding="utf-8", newline="\n")
        (unfinished / "card.html").write_text(card.html, encoding="utf-8", newline="\n")
        unfinished.chmod(0o755)
        unfinished.rename(place)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return place


def open_lines(path: Path) -> list[str]:
    """Columns whose lines in a schema file aren't confirmed yet."""
    lines = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("attributes", {})
    return [name for name, line in lines.items()
            if str(line).startswith("?") or (isinstance(line, dict) and not line.get("public", 1))]


def read_reviewed(path: Path) -> Schema:
    """A schema file that its owner has confirmed line by line; PrivacyError for a draft."""
    schema = Schema.read(path)
    if schema.source != "public":
        raise PrivacyError(
            f"{path.name} is a draft, read off the records; not reviewed yet: "
            f"{', '.join(open_lines(path))}. Write what is publicly known there, whatever the "
            "records hold, and delete public = false")
    return schema


def as_released(schema: Schema) -> Schema:
    """The schema of a synthetic table: it has a header, and nothing is left to be recoded."""
    plain = tuple(replace(attribute, recode=None) for attribute in schema.attributes)
    return replace(schema, attributes=plain, columns=())


def check_folder(folder: str | os.PathLike[str], kind: str = "csv") -> Path:
    """The folder of a release to come; SchemaError where it can't be written."""
    place = Path(folder)
    if kind not in KINDS:
        raise SchemaError(f"kind must be one of {KINDS}, got {kind!r}")
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise SchemaError("a Parquet file needs pyarrow: pip install 'pdsynth[scale]', or "
                          "kind='csv'")
    if place.exists():
        raise SchemaError(f"{place.name} exists: a release is never overwritten; name a new folder")
    if not os.access(place.absolute().parent, os.W_OK):
        raise SchemaError(f"the folder above {place.name} isn't there or can't be written to")
    return place.absolute()


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
        raise PrivacyError(f"this model must not be released: {'; '.join(wrong)}. Fit with "
                           "guarantee='strict', random_state=None, noise='exact' or 'opendp' and a "
                           "public schema")


def write_csv(
    frame: pd.DataFrame, path: str | os.PathLike[str], *, quote_formulas: bool = False
) -> None:
    """Write a table as CSV in UTF-8, without its index; a missing value is an empty cell.

    ``quote_formulas``: spreadsheets run a cell such as ``=HYPERLINK(…)``, and a declared text may
    be one. Texts and column names that begin with ``= + - @``, a tab or a return then get an
    apostrophe in front, so that they are shown and not run; ``-3`` stays. A reader of such a file
    must take the apostrophes off.

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

    >>> [quote(cell) for cell in ("=1+1", "-3", "Bern", 7)]
    ["'=1+1", '-3', 'Bern', 7]
    """
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell

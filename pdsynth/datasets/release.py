"""A release on disk: table, model, ledger, schema and card in one folder, whole or not at all.

And a table alone as a CSV file, for spreadsheets, too.
"""

import importlib.util
import math
import os
import platform
import re
import shutil
import tempfile
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ..domain.pages import render
from ..domain.schema import Schema
from ..errors import PrivacyError, SchemaError, check_path, is_whole, show
from ..model import Model
from ..privacy.ledger_story import short
from ..privacy.session import Session

KINDS = "csv", "parquet"
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
FORMULA = re.compile(r"[=+\-@\t\r](?!\.?\d+(\.\d*)?$)")


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
        card = make_card(
            model,
            title=title or place.name,
            table=name,
            rows=len(table),
            session=session,
            report=report,
        )
        (unfinished / "card.md").write_text(card.markdown, encoding="utf-8", newline="\n")
        (unfinished / "card.html").write_text(card.html, encoding="utf-8", newline="\n")
        unfinished.chmod(0o755)
        unfinished.rename(place)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return place


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
) -> Card:
    """The card of a model and of a table of so many rows drawn from it, in the file ``table``.

    ``session``: the account that the fit was charged to. ``report``: what ``evaluate.report``
    found; it stands apart, under a warning.

    **Privacy:** post-processing of the release. A ``report`` isn't: it reads records exactly.
    """
    import mistune

    facts = _facts(model, session) | {
        "title": title,
        "table": table,
        "rows": f"{rows:,}",
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
    epsilon, noise = ledger.finite, str(model.parameters.get("noise", "exact"))
    power = float(epsilon) / math.log(10)
    used = ["pdsynth", "numpy", "pandas", *["opendp"] * (noise == "opendp")]
    python = f"Python {platform.python_version()}"
    versions = [*(f"{name} {version(name)}" for name in used), python]
    return {
        "model": model,
        "ledger": ledger,
        "schema": model.schema,
        "session": session,
        "epsilon": epsilon,
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


def _method(model: Model) -> str:
    """The algorithm with what its owner chose."""
    hidden = {"epsilon", "guarantee", "noise", "random_state", "records_per_person", "relation"}
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
    """Columns whose lines in a schema file aren't confirmed yet."""
    lines = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("attributes", {})
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
    return replace(schema, attributes=plain, columns=())


def check_folder(folder: str | os.PathLike[str], kind: str = "csv") -> Path:
    """The folder of a release to come; SchemaError where it can't be written."""
    place = Path(folder)
    if kind not in KINDS:
        raise SchemaError(f"kind must be one of {KINDS}, got {kind!r}")
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise SchemaError(
            "a Parquet file needs pyarrow: pip install 'pdsynth[scale]', or kind='csv'"
        )
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

"""Where tables lie, and loaders: of CMC, which ships, and of tables that can't.

Of these, Kaggle's frauds with credit cards are the GA paper's third table; UCI's defaults stand in.
"""

import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd

from ..core import SchemaError, is_whole, needed_for, show
from .tables import TABLES, Dataset, describe, expand_rules, public_schema, yes_no_schema

VARIABLE = "PDSYNTH_DATA"
EXAMPLES = ("survey.csv", "survey.toml")  # a messy file for trying things out, its reviewed schema
Location = str | os.PathLike[str] | None
FRAUD_ROWS = 284_807
DEFAULT_ROWS: int = TABLES["credit_default"]["rows"]
DEFAULT_TARGET: str = TABLES["credit_default"]["target"]


@cache
def _read_csv(name: str) -> pd.DataFrame:
    source = resources.files(__package__) / "data" / f"{name}.csv.gz"
    with source.open("rb") as stream:
        return pd.read_csv(stream, compression="gzip", na_filter=False)


def read_shipped(name: str) -> pd.DataFrame:
    """A table inside the package, read once a session; the caller may change the copy at will.

    **Privacy:** raw records of a public table.
    """
    return _read_csv(name).copy(deep=False)


def find(name: str, path: Location = None) -> Path:
    """The file of a table that can't ship: ``path`` (a file or a folder), else ``$PDSYNTH_DATA``.

    ``name`` is a table of ``tables.toml`` or a file name. Inside the package are ``survey.csv``, a
    messy file to try things out with, and ``survey.toml``, its reviewed schema. Raises
    FileNotFoundError that says where to get the file and where to put it.

    >>> find("README.md", path=Path(__file__).parent).name
    'README.md'

    **Privacy:** opens nothing; only looks whether the file exists.
    """
    if path is None and name in EXAMPLES:
        return Path(__file__).parent / "data" / name
    facts = TABLES.get(name, {})
    file, where = facts.get("file", name), facts.get("where", "its publisher")
    if path is not None and not isinstance(path, (str, os.PathLike)):
        raise SchemaError(f"path must be a file or a folder, got {show(path)}")
    place = path if path is not None else os.environ.get(VARIABLE) or None
    if place is None:
        tried = f"neither path= nor ${VARIABLE} is set"
    else:
        candidate = Path(place) / file if Path(place).is_dir() else Path(place)
        if candidate.is_file():
            return candidate
        tried = f"it isn't at {candidate}"
    raise FileNotFoundError(
        f"the table {name!r} can't be shipped with pdsynth, and {tried}. Get {where}; save it as "
        f"{file} in a folder of yours, and set {VARIABLE} to that folder or pass path="
    )


def read_table(
    table: str, file: Path, columns: Sequence[str] = (), others: bool = False
) -> pd.DataFrame:
    """A table that :func:`find` found, Parquet or CSV: exactly its columns, in order, and its rows.

    ``columns``: where the file has others than the schema. ``others``: the file may have further
    columns, which are left out. Raises ValueError for any other shape or for missing values,
    ImportError for Parquet without pyarrow.

    **Privacy:** raw records.
    """
    columns, rows = list(columns or expand_rules(table)), TABLES[table].get("rows")
    if file.suffix != ".parquet":
        frame = pd.read_csv(file, keep_default_na=False)
    else:
        with needed_for("a Parquet file", "save it as CSV"):
            import pyarrow  # noqa: F401
        frame = pd.read_parquet(file)
    gone = [c for c in columns if c not in frame]
    extra = [] if others else [c for c in frame if c not in columns]
    if gone or extra:
        raise ValueError(
            f"{file} isn't the table {table!r}: missing column(s) {gone}, unknown column(s) {extra}"
        )
    if rows is not None and len(frame) != rows:
        raise ValueError(f"{file} has {len(frame):,} rows, the table {table!r} has {rows:,}")
    if frame[columns].isna().any(axis=None):
        raise ValueError(f"{file} has missing values, the table {table!r} has none")
    return frame[columns]


def load_cmc() -> Dataset:
    """UCI Contraceptive Method Choice: 1,473 married women of the 1987 Indonesian survey; no split.

    >>> load_cmc()
    Dataset(cmc: 1,473 rows × 10 attributes, target='method', sensitive='husband_education')

    **Privacy:** raw records of a public table; the schema was written without looking at them.
    """
    return describe("cmc", read_shipped("cmc"))


def load_big5(path: Location = None) -> Dataset:
    """Big Five, 19,719 answers to a personality test: 50 items and seven facts about the person.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``. The binary encoding of its
    schema has 175 bits, as in the HMPrivBayes paper (Table 1): 50 items of 3, race 4, age 4 (16
    bins), engnat, gender and hand 2, source 3, country 8.

    Every row is kept. What happens to odd values depends on that value alone: ages above 100 become
    the top code 100; an empty or broken country becomes "unknown". Raises FileNotFoundError, or
    ValueError for a file that isn't this table.

    **Privacy:** raw records; the schema comes from the codebook and ISO 3166, not from them.
    """
    schema = public_schema("big5")
    frame = read_table("big5", find("big5", path))
    frame = frame.astype({name: "int64" for name in schema.names if name != "country"})
    frame["age"] = frame["age"].clip(upper=100)
    country = frame["country"].astype("str")
    frame["country"] = country.where(country.isin(schema["country"].values), "unknown")
    return describe("big5", frame)


def load_nltcs(path: Location = None) -> Dataset:
    """The National Long Term Care Survey: 21,574 people, 1 for each of 16 daily activities that
    the person can't do alone.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``. Raises FileNotFoundError, or
    ValueError for a file that isn't this table.

    **Privacy:** raw records; the schema knows no more than sixteen declared yes–no attributes.
    """
    return describe("nltcs", read_table("nltcs", find("nltcs", path)))


def load_acs(path: Location = None) -> Dataset:
    """The American Community Survey as PrivBayes' paper cut it: 47,461 rows, 23 unnamed bits.

    ``path``, errors: as in :func:`load_nltcs`.

    **Privacy:** raw records; the schema knows no more than twenty-three declared yes–no attributes.
    """
    return describe("acs", read_table("acs", find("acs", path)))


def load_national2019(path: Location = None) -> Dataset:
    """NIST's excerpt of the American Community Survey, national 2019: 27,253 people, the ten
    demographic columns on which NIST publishes scores of other methods.

    ``path``, errors: as in :func:`load_nltcs`. Ages stand in 20 bins of five years. Columns in
    which "N" says that a question doesn't apply are text, all others whole numbers.

    **Privacy:** raw records; the schema comes from NIST's data dictionary.
    """
    frame = read_table("national2019", find("national2019", path), others=True)
    rules = expand_rules("national2019").items()
    kinds = {name: "str" if rule.startswith("N |") else "int64" for name, rule in rules}
    return describe("national2019", frame.astype(kinds))


def load_retail(items: int = 50, path: Location = None) -> Dataset:
    """FIMI Retail: 88,162 baskets, 1 where a basket holds an item; the ``items`` best-selling ones,
    most frequent first.

    An item listed twice in a basket counts once; baskets without any of these items stay, as rows
    of zeros. Ties at the cut go to the smaller number. ``path``, errors: as in :func:`load_nltcs`;
    ``items`` must lie in 2 … 16,470.

    **Privacy:** raw records. *Which* items sell best is read from them: here, as in the paper, the
    list is taken as public.
    """
    facts = TABLES["retail"]
    baskets, most = facts["baskets"], facts["items"]
    if not is_whole(items, 2, most):
        raise SchemaError(f"items must be a whole number from 2 to {most:,}, got {show(items)}")
    pairs = read_table("retail", find("retail", path), ("basket", "item")).drop_duplicates()
    basket, item = pairs["basket"].to_numpy(), pairs["item"].to_numpy()
    numbered = len(pairs) and min(basket.min(), item.min()) >= 0
    if not numbered or (basket.max(), item.max()) != (baskets - 1, most - 1):
        raise ValueError(
            f"this isn't the Retail table: its baskets must be numbered 0 to "
            f"{baskets - 1:,}, its items 0 to {most - 1:,}"
        )
    top = np.argsort(-np.bincount(item, minlength=most), kind="stable")[:items]
    place = np.full(most, -1)
    place[top] = np.arange(items)
    mask = place[item] >= 0
    cells = np.zeros((baskets, items), dtype=np.int8, order="F")
    cells[basket[mask], place[item[mask]]] = 1
    frame = pd.DataFrame(cells, columns=[f"item {number}" for number in top])
    return describe(
        "retail",
        frame,
        yes_no_schema(frame.columns),
        name=f"retail (top {items})",
        target=frame.columns[0],
        sensitive=frame.columns[1],
        note=facts["note"].format(items=items),
    )


def load_credit_fraud(path: Location = None) -> Dataset:
    """Kaggle's credit card frauds: your own ``creditcard.csv``, or else the part of it that is
    there.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``, first for creditcard.csv
    (284,807 rows, 492 frauds), then for the part of 14,019 rows, whose ``note`` says what it can't
    be used for. 31 attributes; the target is ``Class``.

    Raises FileNotFoundError, ValueError for a file that isn't this table, SchemaError for values
    beyond the public bounds.

    **Privacy:** raw records; the schema was written without looking at them.
    """
    try:
        file = find("credit_fraud", path)
    except FileNotFoundError as problem:
        try:
            file = find("credit_fraud_part", path)
        except FileNotFoundError:
            raise problem from None
    kinds = dict.fromkeys(expand_rules("credit_fraud"), "float64") | {"Class": "int64"}
    frame = read_table("credit_fraud", file).astype(kinds)
    rows = len(frame)
    if rows == FRAUD_ROWS:
        return describe("credit_fraud", frame)
    note = TABLES["credit_fraud"]["part_note"].format(rows=rows, frauds=(frame["Class"] == 1).sum())
    return describe("credit_fraud", frame, name=f"credit_fraud (part: {rows:,} rows)", note=note)


def load_credit_default(path: Location = None) -> Dataset:
    """UCI's 30,000 credit card clients of Taiwan, 2005: 24 attributes; the target: who defaulted.

    ``path``: the file or its folder; None looks in ``$PDSYNTH_DATA``. The column ID is left out.

    Raises FileNotFoundError, or ValueError for a file that isn't this table.

    **Privacy:** raw records; the schema was written without looking at them.
    """
    file, columns = find("credit_default", path), ("ID", *expand_rules("credit_default"))
    frame = read_table("credit_default", file, columns).drop(columns="ID").astype("int64")
    return describe("credit_default", frame)

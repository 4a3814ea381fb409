"""Where tables lie: inside the package, or in a folder of the user's."""

import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

import pandas as pd

from ..errors import SchemaError, show
from .tables import TABLES, expand_rules

VARIABLE = "PDSYNTH_DATA"
EXAMPLES = ("survey.csv", "survey.toml")  # a messy file for trying things out, its reviewed schema
Location = str | os.PathLike[str] | None


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


def read_table(table: str, file: Path, columns: Sequence[str] = ()) -> pd.DataFrame:
    """A table that :func:`find` found, Parquet or CSV: exactly its columns, in order, and its rows.

    ``columns``: where the file has others than the schema. Raises ValueError for any other shape or
    for missing values, ImportError for Parquet without pyarrow.

    **Privacy:** raw records.
    """
    columns, rows = list(columns or expand_rules(table)), TABLES[table].get("rows")
    if file.suffix != ".parquet":
        frame = pd.read_csv(file, keep_default_na=False)
    else:
        try:
            frame = pd.read_parquet(file)
        except ImportError as problem:
            raise ImportError(f"{file.name} is a Parquet file, which needs pyarrow: "
                              "pip install pyarrow, or save it as CSV") from problem
    gone, extra = [c for c in columns if c not in frame], [c for c in frame if c not in columns]
    if gone or extra:
        raise ValueError(f"{file} isn't the table {table!r}: missing column(s) {gone}, "
                         f"unknown column(s) {extra}")
    if rows is not None and len(frame) != rows:
        raise ValueError(f"{file} has {len(frame):,} rows, the table {table!r} has {rows:,}")
    if frame.isna().any(axis=None):
        raise ValueError(f"{file} has missing values, the table {table!r} has none")
    return frame[columns]

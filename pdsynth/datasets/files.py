"""Where tables lie: inside the package, or in a folder of the user's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import pandas as pd

VARIABLE = "PDSYNTH_DATA"


class Origin(NamedTuple):
    """A table that can't be shipped: the file name looked for, and where to get it."""

    file: str
    where: str


ORIGINS = {
    "big5": Origin("big5_19719.parquet", "the Big Five answers (BIG5.zip) of openpsychometrics.org/_rawdata, all 19,719 rows"),
    "nltcs": Origin("nltcs_21574.parquet", "the National Long Term Care Survey, 16 binary columns, under its data use agreement"),
    "acs": Origin("acs_privbayes_47461.parquet", "the ACS extract of the PrivBayes paper's supplement (IPUMS), 23 binary columns"),
    "retail": Origin("fimi_retail_88162_long.parquet", "retail.dat of fimi.uantwerpen.be/data, as rows (basket, item)"),
    "credit_fraud": Origin("creditcard.csv", "the 284,807 rows of Kaggle's mlg-ulb/creditcardfraud"),
    "credit_fraud_part": Origin("creditcard_fraud_REAL_SUBSET.parquet", "a part of Kaggle's mlg-ulb/creditcardfraud"),
    "credit_default": Origin("uci_credit_default_30000.parquet", "UCI's Default of Credit Card Clients, doi 10.24432/C55S3H"),
}


@cache
def _shipped(name: str) -> pd.DataFrame:
    source = resources.files(__package__) / "data" / f"{name}.csv.gz"
    with source.open("rb") as stream:
        return pd.read_csv(stream, compression="gzip", na_filter=False)


def shipped(name: str) -> pd.DataFrame:
    """A table inside the package, read once a session; changing the copy you get leaves the original alone.

    **Privacy:** raw records of a public table.
    """
    return _shipped(name).copy(deep=False)


def find(name: str, path: str | os.PathLike[str] | None = None) -> Path:
    """The file of a table that isn't shipped: ``path`` (a file or a folder), else the folder ``$PDSYNTH_DATA``.

    ``name`` is one of :data:`ORIGINS` or a file name. Raises FileNotFoundError that says where to get the file and where
    to put it.

    >>> find("README.md", path=Path(__file__).parent).name
    'README.md'

    **Privacy:** opens nothing; only looks whether the file exists.
    """
    file, where = ORIGINS.get(name, Origin(name, "its publisher"))
    folder = os.environ.get(VARIABLE, "")
    place = Path(path) if path is not None else Path(folder) if folder else None
    if place is not None:
        candidate = place / file if place.is_dir() else place
        if candidate.is_file():
            return candidate
    tried = f"it isn't at {place / file if place.is_dir() else place}" if place is not None else f"neither path= nor ${VARIABLE} is set"
    raise FileNotFoundError(
        f"the table {name!r} can't be shipped with pdsynth, and {tried}. Get {where}; save it as {file} in a folder of yours, "
        f"and set {VARIABLE} to that folder or pass path="
    )


def read_table(name: str, file: Path, columns: Sequence[str], rows: int | None) -> pd.DataFrame:
    """A table that :func:`find` found, Parquet or CSV, with exactly these columns (in this order) and this many rows.

    Raises ValueError for any other shape or for missing values, ImportError for Parquet without pyarrow.

    **Privacy:** raw records.
    """
    if file.suffix != ".parquet":
        frame = pd.read_csv(file, keep_default_na=False)
    else:
        try:
            frame = pd.read_parquet(file)
        except ImportError as problem:
            raise ImportError(f"{file.name} is a Parquet file, which needs pyarrow: pip install pyarrow, or save it as CSV") from problem
    gone, extra = [c for c in columns if c not in frame], [c for c in frame if c not in columns]
    if gone or extra:
        raise ValueError(f"{file} isn't the table {name!r}: missing column(s) {gone}, unknown column(s) {extra}")
    if rows is not None and len(frame) != rows:
        raise ValueError(f"{file} has {len(frame):,} rows, the table {name!r} has {rows:,}")
    if frame.isna().any(axis=None):
        raise ValueError(f"{file} has missing values, the table {name!r} has none")
    return frame[list(columns)]

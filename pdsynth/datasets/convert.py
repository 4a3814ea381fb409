"""From the files that publishers offer to the files that the loaders read.

``python -m pdsynth data`` calls this; what a table's raw file looks like stands in ``tables.toml``.
"""

import gzip
import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from ..core import SchemaError, needed_for
from . import loaders
from .tables import TABLES, Dataset, expand_rules

LOADERS: dict[str, Callable[[Path], Dataset]] = {
    "big5": loaders.load_big5,
    "nltcs": loaders.load_nltcs,
    "acs": loaders.load_acs,
    "national2019": loaders.load_national2019,
    "retail": lambda path: loaders.load_retail(path=path),
    "credit_default": loaders.load_credit_default,
    "credit_fraud": loaders.load_credit_fraud,
}


def convert(table: str, raw: Path, folder: Path) -> Path:
    """Write the file that the loader of a table reads, from the publisher's; the loader checks it.

    ``raw``: text, a spreadsheet, or one of them as .gz or .zip. ``folder``: where it goes, for
    ``$PDSYNTH_DATA``. Raises SchemaError for a table that isn't known and a file that can't be
    read or isn't the table; then nothing is left behind.

    **Privacy:** raw records.
    """
    if table not in LOADERS:
        raise SchemaError(f"no table {table!r} to convert: choose among {', '.join(LOADERS)}")
    if not raw.is_file():
        raise SchemaError(f"there is no file {raw}: get {TABLES[table]['where']}")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / str(TABLES[table]["file"])
    if file.exists():
        raise SchemaError(f"{file} is there already: nothing was written")
    try:
        if file.suffix == ".csv":
            shutil.copyfile(raw, file)
        else:
            with needed_for("a Parquet file"):
                import pyarrow  # noqa: F401
            read(table, raw).to_parquet(file, index=False)
        LOADERS[table](file)
    except BaseException as problem:
        file.unlink(missing_ok=True)
        if isinstance(problem, ValueError):  # what a loader or pandas says of a strange file
            raise SchemaError(f"{raw} isn't the table {table!r}: {problem}") from None
        raise
    return file


def read(table: str, raw: Path) -> pd.DataFrame:
    """The rows of a publisher's file, with the loader's columns.

    **Privacy:** raw records.
    """
    packed = gzip.decompress if raw.suffix == ".gz" else bytes
    name, stream = raw.name, io.BytesIO(packed(raw.read_bytes()))
    if zipfile.is_zipfile(stream) and raw.suffix != ".xlsx":
        with zipfile.ZipFile(stream) as archive:
            name = max(archive.namelist(), key=lambda n: archive.getinfo(n).file_size)
            stream = io.BytesIO(archive.read(name))
    stream.seek(0)
    if table == "retail":
        return read_baskets(stream)
    if name.endswith((".xls", ".xlsx")):
        frame = read_sheet(stream)
    else:
        frame = read_text(stream.read().decode("utf-8-sig"))
    columns = list(expand_rules(table))
    if table == "credit_default":  # the sheet's second line has names, with other blanks
        columns = ["ID", *columns]
    if len(frame.columns) == len(columns) and set(frame.columns) != set(columns):
        frame.columns = pd.Index(columns)  # without a header, or another one: by place
    return frame


def read_text(text: str) -> pd.DataFrame:
    r"""Cells between tabs, commas, semicolons or blanks; a first line of numbers is no header.

    >>> read_text("0 1\n1 1\n").shape, list(read_text("a,b\n1,NA\n").columns)
    ((2, 2), ['a', 'b'])
    """
    first, _, rest = text.partition("\n")
    mark = next((m for m in "\t;," if m in first), r"\s+")
    cells = first.split() if mark == r"\s+" else first.split(mark)
    if "X1" in cells and "LIMIT_BAL" in rest.partition("\n")[0]:  # two headers
        text = rest
    header = None if all(c.strip().lstrip("-").isdigit() for c in cells) else 0
    return pd.read_csv(io.StringIO(text), sep=mark, header=header, keep_default_na=False)


def read_sheet(stream: io.BytesIO) -> pd.DataFrame:
    """The first sheet of a workbook, whose second line has the names."""
    try:
        return pd.read_excel(stream, header=1)
    except ImportError as missing:
        raise SchemaError(
            f"a spreadsheet can't be read here ({missing}): save it as CSV and convert that"
        ) from None


def read_baskets(stream: io.BytesIO) -> pd.DataFrame:
    """One basket per line, item numbers between blanks: rows (basket, item)."""
    lines = stream.read().decode("ascii").splitlines()
    items = [[int(item) for item in line.split()] for line in lines]
    pairs = [(basket, item) for basket, content in enumerate(items) for item in content]
    return pd.DataFrame(pairs, columns=["basket", "item"], dtype="int32")

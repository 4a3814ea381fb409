"""Beyond memory: rows, columns, files and workers, measured on tables drawn from a released model.

``python benchmarks/scale.py`` measures what scale.csv doesn't hold yet, one row after the other,
and writes SCALE.md and scale.svg from it; ``--again WORDS`` measures those rows again whose name
holds the words; ``--page`` only writes. A model of Adult is fitted once; every table is drawn from
it, so no private record is read again. DuckDB and Polars count the same three-way table where they
are installed; DataSynthesizer's own times stand in peers.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import pandas as pd  # noqa: E402

KEY = ["task", "rows", "columns", "workers"]
SEEN = ["seconds", "processor", "MiB", "load", "tables", "digest", "foretold s", "foretold MiB"]
TABLE, MOST = HERE / "scale.csv", 1800  # seconds on the clock that one measurement may take
M = 1_000_000
GRID: list[tuple[str, int, int, int]] = [
    ("encode a frame", M, 15, 0),
    ("encode a frame", 5 * M, 15, 0),
    ("fit in memory: PrivBayes(k=2)", M // 10, 15, 0),
    ("fit in memory: PrivBayes(k=2)", M, 15, 0),
    ("fit in memory: PrivBayes(k=2)", 5 * M, 15, 0),
    ("fit in memory: HPPrivBayes, k = auto", M // 2, 15, 0),
    ("fit in memory: HPPrivBayes, k = auto", 5 * M, 15, 0),
    ("fit in memory: HPPrivBayes(k=2)", M // 2, 15, 0),
    ("fit in memory: HPPrivBayes(k=2)", 5 * M, 15, 0),
    ("fit in memory: ConsistentBayes", M, 15, 0),
    ("code a Parquet file", 5 * M, 15, 0),
    ("fit from Parquet", M // 2, 15, 0),
    ("fit from Parquet", 5 * M, 15, 0),
    ("fit from Parquet", 50 * M, 15, 0),
    ("fit from Parquet: HPPrivBayes, k = auto", 5 * M, 15, 0),
    ("fit from Parquet: HPPrivBayes, k = auto", 50 * M, 15, 0),
    ("fit through Dask", 5 * M, 15, 1),
    ("fit through Dask", 5 * M, 15, 2),
    ("fit through Dask", 50 * M, 15, 2),
    ("fit through Dask, one worker killed", 5 * M, 15, 2),
    ("all tables of up to 3 columns", 5 * M, 15, 0),
    ("one table, DuckDB", 5 * M, 15, 0),
    ("one table, Polars", 5 * M, 15, 0),
    ("all tables of up to 3 columns", 50 * M, 15, 0),
    ("one table, DuckDB", 50 * M, 15, 0),
    ("one table, Polars", 50 * M, 15, 0),
    ("sample_to .parquet", 5 * M, 15, 0),
    ("sample_to .parquet", 50 * M, 15, 0),
    ("sample_to .csv", 5 * M, 15, 0),
    ("fit in memory: PrivBayes, k = auto", M // 10, 15, 0),
    ("fit in memory: PrivBayes, k = auto", M // 10, 50, 0),
    ("fit in memory: PrivBayes, k = auto", M // 10, 100, 0),
    ("fit in memory: PrivBayes, k = auto", M, 100, 0),
    ("fit in memory: PrivBayes, k = auto", M // 50, 1000, 0),
    ("fit in memory: ConsistentBayes(rounds=0), pairs measured", M // 50, 1000, 0),
]


def read() -> pd.DataFrame:
    """What was measured, in the order of the grid."""
    columns = [*KEY, *SEEN, "date", "note"]
    found = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame(columns=columns)
    order = {key: place for place, key in enumerate(GRID)}
    place = [order.get(tuple(row), len(order)) for row in found[KEY].itertuples(index=False)]
    return found.reindex(columns=columns).iloc[pd.Series(place, dtype=int).argsort(kind="stable")]


def keep(key: tuple[str, int, int, int], seen: dict[str, Any]) -> None:
    """One more row of the table, in the place of an older one."""
    found = read()
    same = (found[KEY] == list(key)).all(axis=1)
    row = dict(zip(KEY, key, strict=True)) | seen | {"date": date.today().isoformat()}
    rows = [*found[~same].to_dict("records"), row]
    pd.DataFrame(rows).reindex(columns=found.columns).to_csv(
        TABLE, index=False, float_format="%.4g"
    )


def ask(key: tuple[str, int, int, int], folder: Path) -> dict[str, Any]:
    """One measurement in a fresh process."""
    script = str(HERE / "scale_tasks.py")
    command = [sys.executable, script, *map(str, key), str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=MOST)
    except subprocess.TimeoutExpired:
        return {"note": f"stopped after {MOST} s on the clock"}
    if done.returncode:
        return {"note": (done.stderr.splitlines() or ["failed"])[-1][:120]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", default=None, metavar="WORDS")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--most", type=int, default=50 * M, help="leave out larger tables")
    parser.add_argument("--folder", type=Path, help="where drawn tables are kept (up to 1 GB)")
    given = parser.parse_args()
    known = {tuple(row) for row in read()[KEY].itertuples(index=False)}
    todo = [
        key
        for key in GRID
        if key[1] <= given.most and (key not in known or (given.again and given.again in key[0]))
    ]
    if not given.page:
        with tempfile.TemporaryDirectory() as spare:
            folder = given.folder or Path(spare)
            os.makedirs(folder, exist_ok=True)
            for key in todo:
                seen = ask(key, folder)
                keep(key, seen)
                print(key, seen, flush=True)
    from scale_page import draw, write

    draw(read())
    write(read())


if __name__ == "__main__":
    main()

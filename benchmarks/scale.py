"""Beyond memory: rows, columns and files, measured on tables drawn from a released model.

``python benchmarks/scale.py --rows 100000 1000000 --columns 15 100 --sample 1000000`` writes
SCALE.md, scale.csv and scale.svg. A model of Adult is fitted once; every table is drawn from it, so
no private record is read again. DuckDB and Polars count the same three-way table where they are
installed; DataSynthesizer's own times stand in peers.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

os.environ.setdefault("PDSYNTH_PROGRESS", "0")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import pandas as pd  # noqa: E402
from forecast import made_up, memory  # noqa: E402

import pdsynth as pds  # noqa: E402

PARENTS = 2
TRIPLE = ("education", "occupation", "salary")


def timed(work: Callable[[], Any]) -> dict[str, float]:
    """Seconds on the clock, processor seconds and MiB that memory grew by at most."""
    Path("/proc/self/clear_refs").write_text("5")
    held, clock, worked = memory("VmRSS"), time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work()
    return {
        "seconds": time.perf_counter() - clock,
        "processor": time.process_time() - worked,
        "MiB": memory("VmHWM") - held,
    }


def one(task: str, size: int, file: str) -> dict[str, float]:
    """One measurement, in this process."""
    adult = pds.datasets.load_adult()
    if task in ("sample_to .parquet", "sample_to .csv"):
        model = pds.Model.from_json(file)
        target = Path(file).with_name("written" + task.split()[1])
        return timed(lambda: model.sample_to(target, size, random_state=1))
    if task == "columns, k = auto":
        frame, schema = made_up(size, 100_000)
        return timed(lambda: pds.PrivBayes(random_state=1).fit(frame, schema))
    if task == "fit from Parquet":
        made = pds.PrivBayes(k=PARENTS, random_state=1)
        return timed(lambda: made.fit(file, adult.schema))
    if task == "one 3-way table, DuckDB":
        import duckdb

        query = f"select {', '.join(TRIPLE)}, count(*) from '{file}' group by all"
        return timed(lambda: duckdb.sql(query).fetchall())
    if task == "one 3-way table, Polars":
        import polars

        lazy = polars.scan_parquet(file).group_by(TRIPLE).len()
        return timed(lambda: lazy.collect(engine="streaming"))
    frame = pd.read_parquet(file)
    if task == "encode":
        return timed(lambda: adult.schema.encode(frame))
    makers = {
        "fit in memory": pds.PrivBayes(k=PARENTS, random_state=1),
        "HPPrivBayes, k = auto": pds.HPPrivBayes(sensitive="occupation", random_state=1),
    }
    return timed(lambda: makers[task].fit(frame, adult.schema))


ON_ROWS = (
    "encode",
    "fit in memory",
    "fit from Parquet",
    "HPPrivBayes, k = auto",
    "one 3-way table, DuckDB",
    "one 3-way table, Polars",
)


def measure(rows: list[int], columns: list[int], drawn: list[int]) -> pd.DataFrame:
    """All measurements, each in a fresh process."""
    found = []

    def ask(task: str, size: int, file: Path) -> None:
        command = [sys.executable, __file__, "--one", task, str(size), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        last = (done.stdout.splitlines() or done.stderr.splitlines() or [""])[-1]
        seen = json.loads(last) if done.returncode == 0 else {"note": last[:120]}
        found.append({"task": task, "size": size, **seen})
        print(found[-1], flush=True)

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.json"
        adult = pds.datasets.load_adult()
        pds.ConsistentBayes(4, rounds=0).fit(adult.frame, adult.schema).model_.to_json(model)
        for n in rows:
            file = Path(folder) / f"{n}.parquet"
            pds.Model.from_json(model).sample_to(file, n, random_state=1)
            for task in ON_ROWS:
                ask(task, n, file)
            file.unlink()
        for n in drawn:
            for suffix in (".parquet", ".csv"):
                ask(f"sample_to {suffix}", n, model)
        for d in columns:
            ask("columns, k = auto", d, model)
    return pd.DataFrame(found)


def arithmetic(found: pd.DataFrame) -> str:
    """What a billion rows on 32 workers would take, from the measured parts."""
    fits = found[(found.task == "fit from Parquet") & found.seconds.notna()].sort_values("size")
    if not len(fits):
        return ""
    last = fits.iloc[-1]
    each = last.processor / last["size"]
    part = 10**9 / 32
    return (
        f"**A billion rows on 32 workers, by arithmetic, not measured.** A fit from Parquet took "
        f"{each * 1e6:.2f} µs of processor a row at {last['size']:,.0f} rows. 32 workers have "
        f"{part / 1e6:.2f} million rows each: {part * each:.0f} s of counting and decoding, side by "
        "side; tables that travel are those of counts, some MiB a step whatever n is, and 14 steps "
        "with a round trip of 10 ms each add less than a second."
    )


def draw(found: pd.DataFrame) -> None:
    """Time and memory against size, one line per task."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    figure = make_subplots(1, 2, subplot_titles=["processor seconds", "MiB"])
    colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777", "#000"]
    known = found[found.get("seconds").notna()]
    for colour, (task, part) in zip(colours, known.groupby("task", sort=False), strict=False):
        for column, what in ((1, "processor"), (2, "MiB")):
            figure.add_trace(
                go.Scatter(
                    x=part["size"],
                    y=part[what],
                    name=task,
                    mode="lines+markers",
                    legendgroup=task,
                    showlegend=column == 1,
                    line={"color": colour},
                ),
                1,
                column,
            )
    figure.update_xaxes(type="log", title="rows, or columns")
    figure.update_yaxes(type="log")
    figure.update_layout(
        width=980, height=420, template="plotly_white", legend={"y": -0.3, "orientation": "h"}
    )
    figure.write_image(HERE / "scale.svg")


def write(found: pd.DataFrame, command: str) -> None:
    """The page."""
    lines = []
    for row in found.itertuples(index=False):
        seen = pd.notna(getattr(row, "seconds", None))
        shown = (
            f"{row.seconds:.2f} | {row.processor:.2f} | {row.MiB:.0f}"
            if seen
            else f"not measured: {row.note} | | "
        )
        lines.append(f"| {row.task} | {row.size:,} | {shown} |")
    (HERE / "SCALE.md").write_text(
        "# Beyond memory\n\n"
        f"`{command}`, {date.today()}, two cores, 24 GiB. Tables have Adult's 15 columns, drawn from "
        "a released model; the size of the row about columns is their number, at 100,000 records. "
        "Memory: by how much the process grew at most. A fit is PrivBayes with two parents unless "
        "it says otherwise.\n\n![Time and memory against size](scale.svg)\n\n"
        "| what | size | seconds | processor seconds | MiB |\n|---|---|---|---|---|\n"
        + "\n".join(lines)
        + "\n\n"
        + arithmetic(found)
        + "\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="*", default=[15, 50, 100])
    parser.add_argument("--sample", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--one", nargs=3)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one[0], int(given.one[1]), given.one[2])))
        return
    found = measure(given.rows, given.columns, given.sample)
    found.to_csv(HERE / "scale.csv", index=False, float_format="%.4g")
    draw(found)
    write(found, "python benchmarks/scale.py " + " ".join(sys.argv[1:]))


if __name__ == "__main__":
    main()

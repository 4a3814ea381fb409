"""The measurements of scale.py, each in a process of its own: ``python scale_tasks.py TASK ROWS
COLUMNS WORKERS FOLDER`` prints one line of JSON."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("PDSYNTH_PROGRESS", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import pandas as pd  # noqa: E402
from forecast import made_up, memory  # noqa: E402

import pdsynth as pds  # noqa: E402
from pdsynth.core.records import Lattice  # noqa: E402
from pdsynth.scale import sources, workers  # noqa: E402

PARENTS = 2
TRIPLE = ("education", "occupation", "salary")
ADULT = 15  # columns
Found = dict[str, Any]


def timed(work: Callable[[], Any]) -> Found:
    """Seconds on the clock, processor seconds, and MiB that memory grew by at most."""
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


def model(folder: Path) -> pds.Model:
    """A released model of Adult: whatever is drawn from it costs nothing."""
    path = folder / "model.json"
    if not path.exists():
        adult = pds.datasets.load_adult()
        pds.ConsistentBayes(4, rounds=0).fit(adult.frame, adult.schema).model_.to_json(path)
    return pds.Model.from_json(path)


def table(rows: int, folder: Path) -> Path:
    """A Parquet file of so many rows, drawn once."""
    path = folder / f"{rows}.parquet"
    if not path.exists():
        model(folder).sample_to(path, rows, random_state=1)
    return path


def foretold(schema: pds.Schema, n: int, name: str) -> Found:
    """What the plan says of a method."""
    found = next((f for f in pds.plan(schema, n, 1.0).forecasts if f.name == name), None)
    return {} if found is None else {"foretold s": found.seconds, "foretold MiB": found.megabytes}


def fit(made: Any, data: Any, schema: pds.Schema, n: int, name: str) -> Found:
    """A whole fit beside its forecast."""
    ahead = foretold(schema, n, name.partition(", pairs")[0])
    return timed(lambda: made.fit(data, schema)) | ahead


def in_memory(task: str, rows: int, columns: int, folder: Path) -> Found:
    """Fits of a frame: Adult's columns, or made-up ones."""
    name = task.partition(": ")[2]
    methods = {
        "PrivBayes(k=2)": pds.PrivBayes(k=PARENTS, random_state=1),
        "PrivBayes, k = auto": pds.PrivBayes(random_state=1),
        "HPPrivBayes, k = auto": pds.HPPrivBayes(sensitive="occupation", random_state=1),
        "HPPrivBayes(k=2)": pds.HPPrivBayes(k=PARENTS, sensitive="occupation", random_state=1),
        "ConsistentBayes": pds.ConsistentBayes(random_state=1),
        # without the look, which would find the pairs of so many columns tied too weakly on average
        "ConsistentBayes(rounds=0), pairs measured": pds.ConsistentBayes(
            rounds=0, share_one_way=0.1, random_state=1
        ),
    }
    if columns == ADULT:
        frame, schema = pd.read_parquet(table(rows, folder)), pds.datasets.load_adult().schema
    else:
        frame, schema = made_up(columns, rows)
    if task == "encode a frame":
        return timed(lambda: schema.encode(frame))
    return fit(methods[name], frame, schema, rows, name)


def every_table(rows: int, folder: Path) -> Found:
    """All tables of at most three columns from a file: coding, then counting."""
    counter = sources.find_source(table(rows, folder)).encode(pds.datasets.load_adult().schema)
    number = ADULT + ADULT * (ADULT - 1) // 2 + ADULT * (ADULT - 1) * (ADULT - 2) // 6
    return timed(lambda: Lattice(counter).build(3)) | {"tables": number}


def one_table(engine: str, rows: int, folder: Path) -> Found:
    """A group-by of three columns of a file by another engine."""
    file = str(table(rows, folder))
    if engine == "DuckDB":
        import duckdb

        query = f"select {', '.join(TRIPLE)}, count(*) from '{file}' group by all"
        return timed(lambda: duckdb.sql(query).fetchall())
    import polars

    lazy = polars.scan_parquet(file).group_by(TRIPLE).len()
    return timed(lambda: lazy.collect(engine="streaming"))


def kill_one(client: Any) -> None:
    """Kill a worker when all blocks are coded and the second pass over them begins."""
    ask, passes = workers.DaskBlocks._ask, list[int]()

    def asked(self: Any, *question: Any) -> Any:
        passes.append(1)
        if len(passes) == 2:
            os.kill(min(self.client.run(os.getpid).values()), signal.SIGKILL)
        return ask(self, *question)

    workers.DaskBlocks._ask = asked  # type: ignore[method-assign]


def through_dask(rows: int, number: int, folder: Path, killed: bool) -> Found:
    """A fit by so many workers of one thread each; the same tables as here, or AssertionError."""
    from distributed import Client, LocalCluster

    file, schema = table(rows, folder), pds.datasets.load_adult().schema
    made = pds.PrivBayes(k=PARENTS, random_state=1)
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=number, **options) as cluster, Client(cluster) as client:
        client.run(lambda: __import__("pdsynth").plan)  # imports
        before = sum(client.run(time.process_time).values())
        if killed:
            kill_one(client)
        found = timed(lambda: made.fit(file, schema))
        found["MiB"] = max(client.run(_most).values())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    found["processor"] += used.ru_utime + used.ru_stime - before
    return found | {"digest": digest(made)}


def _most() -> float:
    """MiB that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def digest(made: Any) -> str:
    """All counts of a model in a few letters."""
    import hashlib

    text = repr([t.tolist() for t in made.model_.tables])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def measure(task: str, rows: int, columns: int, number: int, folder: Path) -> Found:
    """One measurement, in this process."""
    if task.startswith("sample_to"):
        target, made = folder / f"written{task.split()[1]}", model(folder)
        found = timed(lambda: made.sample_to(target, rows, random_state=1))
        target.unlink()
        return found
    if task == "fit from Parquet: HPPrivBayes, k = auto":
        hybrid = pds.HPPrivBayes(sensitive="occupation", random_state=1)
        file, schema = table(rows, folder), pds.datasets.load_adult().schema
        return timed(lambda: hybrid.fit(file, schema))
    if task == "fit from Parquet":
        made, schema = pds.PrivBayes(k=PARENTS, random_state=1), pds.datasets.load_adult().schema
        file, ahead = table(rows, folder), foretold(schema, rows, "PrivBayes(k=2)")
        found = timed(lambda: made.fit(file, schema)) | {"digest": digest(made)}
        return found | {"foretold s": ahead["foretold s"]}
    if task.startswith("fit through Dask"):
        return through_dask(rows, number, folder, task.endswith("killed"))
    if task == "code a Parquet file":
        file, schema = table(rows, folder), pds.datasets.load_adult().schema
        return timed(lambda: sources.find_source(file).encode(schema))
    if task.startswith("all tables"):
        return every_table(rows, folder)
    if task.startswith("one table"):
        return one_table(task.split()[-1], rows, folder)
    return in_memory(task, rows, columns, folder)


if __name__ == "__main__":
    asked, n, d, w, place = sys.argv[1:]
    load = os.getloadavg()[0]
    seen = measure(asked, int(n), int(d), int(w), Path(place))
    print(json.dumps(seen | {"load": (load + os.getloadavg()[0]) / 2}))

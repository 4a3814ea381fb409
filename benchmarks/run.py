"""Speed against the limit of the machine, against a peer, and of the live panel: ``python
benchmarks/run.py [--peers]``.

Everything that is compared is measured in the same run, in processor seconds of one thread (a busy
machine doesn't count), the best of several tries. The peer is measured once, in an environment of
its own, and kept in ``peers.json`` with machine and date; ``--peers`` measures it again,
``--whole`` lets it run its search instead of a sample of its scores. Writes README.md.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from datetime import date
from pathlib import Path
from shutil import which

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from wide import wide_rows  # noqa: E402

import pdsynth as pds  # noqa: E402
from pdsynth.core.records import Codes, Lattice, Records  # noqa: E402

LOOP = "void add(const long long *key, long long *table, long long n) { for (long long i = 0; i < n; i++) table[key[i]]++; }"


def best(function: Callable[[], object], tries: int) -> float:
    """Least processor seconds of several tries."""
    found = []
    for _ in range(tries):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def read_modify_write(codes: np.ndarray, sizes: tuple[int, ...]) -> tuple[float, str]:
    """Seconds of one ``table[key] += 1`` a row, in C where there is a compiler, else as
    ``np.bincount``; the best of some tables."""
    columns = [(0,), (0, 1), (0, 1, 2), (0, 1, 2, 4)]
    keys = [
        np.ravel_multi_index([codes[:, j].astype(np.int64) for j in c], [sizes[j] for j in c])
        for c in columns
    ]
    compiler = which("cc") or which("gcc")
    if compiler is None:
        return min(
            best(lambda k=k: [np.bincount(k) for _ in range(50)], 5) / 50 for k in keys
        ), "np.bincount"
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "loop.c", Path(folder) / "loop.so"
        source.write_text(LOOP)
        subprocess.run(
            [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source],
            check=True,
        )
        add = ctypes.CDLL(str(library)).add
        times = []
        for key in keys:
            table = np.zeros(int(key.max()) + 1, dtype=np.int64)
            pointers = (
                ctypes.c_void_p(key.ctypes.data),
                ctypes.c_void_p(table.ctypes.data),
                ctypes.c_longlong(len(key)),
            )
            times.append(best(lambda p=pointers: [add(*p) for _ in range(100)], 7) / 100)  # type: ignore[misc]
    return min(times), "a C loop"


def lattice_rows(
    codes: np.ndarray, sizes: tuple[int, ...], limit: float
) -> list[tuple[str, str, str, str]]:
    """The lattice at k = 1 … 4 against one read-modify-write for each row and table."""
    rows = []
    for k in (1, 2, 3, 4):
        sets = sum(math.comb(len(sizes), s) for s in range(1, k + 2))
        seconds = best(lambda k=k: Lattice(Codes(codes, sizes)).build(k + 1), 7)  # type: ignore[misc]
        goal = {2: "≤ 8", 4: "≤ 7"}.get(k, "")
        rows.append(
            (
                f"lattice k = {k}: all {sets:,} sets",
                f"{seconds * 1e3:.1f} ms",
                f"{seconds / (limit * sets):.1f}× the limit",
                goal,
            )
        )
    return rows


def network_row(records: Records) -> tuple[str, str, str, str]:
    """A further network once the lattice is there."""
    synth = pds.PrivBayes(k=2, guarantee="none", random_state=0)
    synth.fit(records)
    seconds = best(lambda: synth.fit(records), 20)
    return ("a further network, k = 2, with its tables, warm", f"{seconds * 1e3:.2f} ms", "", "")


def structure_and_sampling(codes: np.ndarray, schema: pds.Schema) -> tuple[float, float]:
    """Seconds of a cold k = 2 fit (noise included), and of sampling as many rows."""

    def fit() -> pds.PrivBayes:
        return pds.PrivBayes(1.0, k=2, guarantee="published", noise="common", random_state=0).fit(
            Records(codes, schema)
        )

    model = fit().model_
    generator = np.random.default_rng(0)
    model.sample_codes(len(codes), generator)
    return best(fit, 7), best(lambda: model.sample_codes(len(codes), generator), 15)


def hpprivbayes_row() -> tuple[str, str, str, str]:
    """The HPPrivBayes panel: every control moved in turn, computed and drawn."""
    from pdsynth.course.panels import hpprivbayes

    start = {
        "epsilon": 1.0,
        "k": 2,
        "r": 1 / 3,
        "theta": 0.1,
        "guarantee": "strict",
        "rare_values": "less_noise",
    }
    moves: list[dict[str, object]] = []
    for guarantee in ("strict", "published"):
        moves += [{"guarantee": guarantee, "epsilon": e / 10} for e in range(2, 42, 2)]
        moves += [{"guarantee": guarantee, "k": k} for k in (1, 2, 3, 4)] * 2
        moves += [{"guarantee": guarantee, "r": r} for r in (1 / 6, 1 / 5, 1 / 4, 1 / 2, 1.0)]
        moves += [{"guarantee": guarantee, "theta": t} for t in (0.02, 0.05, 0.08, 0.12, 0.2)]
    return panel_row("HPPrivBayes", "ε, k, r, θ", hpprivbayes.view, start, moves)


def forest_row() -> tuple[str, str, str, str]:
    """The panel of the forest: every ε with and without a sensitive attribute."""
    from pdsynth.course.panels import forest

    table = forest.view.table()
    moves: list[dict[str, object]] = [{"epsilon": e / 10} for e in range(1, 41)]
    moves += [{"sensitive": name} for name in table.schema.names]
    return panel_row("forest", "ε, sensitive", forest.view, {}, moves)


def panel_row(
    name: str,
    controls: str,
    view: Callable[..., object],
    start: dict[str, object],
    moves: list[dict[str, object]],
) -> tuple[str, str, str, str]:
    """Every move once to warm up, then again with the clock."""
    seconds = []
    for warm in (True, False):
        for move in moves:
            before = time.process_time()
            try:
                view(None, **(start | move))
            except pds.BudgetError:
                continue
            if not warm:
                seconds.append(time.process_time() - before)
    p50, p95 = np.percentile(seconds, [50, 95]) * 1e3
    return (
        f"{name} panel, {len(seconds)} moves of {controls}, computed and drawn",
        f"median {p50:.0f} ms",
        f"p95 {p95:.0f} ms",
        "≤ 60 ms p95",
    )


def genetic_rows(records: Records) -> list[tuple[str, str, str, str]]:
    """The genetic search at the paper's parameters against its authors' loop, and its share of the
    exact optimum over 20 seeds."""
    import plain_genetic

    from pdsynth.baselines import exact_search, genetic_search

    names, (i, j) = records.schema.names, np.triu_indices(len(records.schema), 1)
    weights = np.zeros((len(names), len(names)))
    weights[i, j] = weights[j, i] = records.lattice.information(i, j[:, None])
    table, rows = pd.DataFrame(weights, names, names), []
    for k in (1, 2, 4):
        plain = best(lambda k=k: plain_genetic.search(table, k, generations=20), 1) * 20  # type: ignore[misc]
        ours = best(lambda k=k: genetic_search(weights, k, np.random.default_rng(0)), 3)  # type: ignore[misc]
        optimum, found = (
            exact_search(weights, k).fitness,
            best(lambda k=k: exact_search(weights, k), 5),
        )  # type: ignore[misc]
        shares = (
            np.array(
                [
                    genetic_search(weights, k, np.random.default_rng(seed)).fitness
                    for seed in range(20)
                ]
            )
            / optimum
        )
        rows.append(
            (
                f"genetic search, P = 200, S = 10, e = 400, k = {k} (plain Python {plain:.1f} s: 20 of the 400 generations, × 20)",
                f"{ours * 1e3:.0f} ms",
                f"{plain / ours:.0f}× faster",
                "≥ 30×",
            )
        )
        rows.append(
            (
                f"its share of the optimum, k = {k}, 20 seeds; beside it the exact optimum",
                f"{shares.mean():.2%} ± {shares.std(ddof=1):.2%}, least {shares.min():.2%}",
                f"{found * 1e3:.1f} ms",
                "",
            )
        )
    return rows


# --- the peer


def measure_peer(codes: np.ndarray, schema: pds.Schema, whole: bool) -> dict[str, object]:
    """DataSynthesizer at k = 2 on the same coded table, in an environment of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "-r", str(HERE / "requirements.txt")], check=True
        )
        pd.DataFrame(codes, columns=list(schema.names)).to_csv(folder / "table.csv", index=False)
        network = (
            pds.PrivBayes(k=2, guarantee="none", random_state=0)
            .fit(Records(codes, schema))
            .network_
        )
        pairs = [[child, list(parents)] for child, parents in network.pairs[1:]]
        (folder / "network.json").write_text(json.dumps(pairs))
        words = [
            python,
            str(HERE / "peer_datasynthesizer.py"),
            "table.csv",
            "2",
            "network.json",
            "result.json",
            *["--whole"] * whole,
        ]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return {
            "machine": machine(),
            "date": date.today().isoformat(),
            **json.loads((folder / "result.json").read_text()),
        }


def peer_rows(
    peer: dict[str, float], structure: float, sampling: float
) -> list[tuple[str, str, str, str]]:
    """Ours against DataSynthesizer's; it scores with all cores, so its processor time is divided by
    two."""
    theirs = peer.get("structure_wall") or peer["structure_seconds"] / 2
    how = "its whole search" if peer["whole"] else "a sample of its scores, two cores"
    return [
        (
            f"structure k = 2, cold, with noise and tables (DataSynthesizer {theirs:,.0f} s: {how})",
            f"{structure * 1e3:.1f} ms",
            f"{theirs / structure:,.0f}× faster",
            "≥ 5,000×",
        ),
        (
            f"sampling {peer['rows']:,} rows, k = 2 (DataSynthesizer {peer['sampling_seconds']:.1f} s)",
            f"{sampling * 1e3:.2f} ms",
            f"{peer['sampling_seconds'] / sampling:,.0f}× faster",
            "≥ 800×",
        ),
    ]


def machine() -> str:
    """Processor and versions; no host name, no paths."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = [
            line.split(":", 1)[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        name = found[0] if found else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, numpy {np.__version__}"


def write(
    rows: list[tuple[str, str, str, str]],
    wide: list[tuple[str, str, str, str]],
    limit: float,
    how: str,
    peer: dict[str, object],
) -> None:
    """benchmarks/README.md."""
    table, bits = ("".join(f"| {' | '.join(row)} |\n" for row in part) for part in (rows, wide))
    (HERE / "README.md").write_text(
        f"""# Speed

`python benchmarks/run.py` measures everything again on your machine and rewrites this page; `--peers` measures the peer again, too.

Other pages: [beyond memory](SCALE.md), [forecasts of time and memory](FORECAST.md), [the course](COURSE.md), [reading files](READING.md),
[audits beside a peer's](AUDIT.md), [deep audits](DEEP.md), [private bins](EDGES.md), [how often intervals hold](INTERVALS.md),
[risk entropies and clusters](CLUSTERS.md).

| what (Adult, thesis coding, 45,222 × 14) | here | ratio | goal |
|---|---|---|---|
{table}
| what (tables with many bits) | here | ratio | goal |
|---|---|---|---|
{bits}
Machine: {machine()}. Date: {date.today().isoformat()}. The peer: DataSynthesizer 0.1.13 on {peer["machine"]}, {peer["date"]}.

* Numbers are processor seconds of one thread, the best of several tries, so that other work on the machine doesn't count.
* The limit is one read-modify-write for each row and each table, {limit * 1e3:.3f} ms a table here, measured in the same run as {how}.
  A lattice may come below it: most tables are summed from larger ones and never look at the records.
* Structure of ours is the whole cold fit: lattice, selections, noise and tables.
* The peer scores a candidate by a pandas group-by. By default a random sample of its scores is timed and multiplied by their number
  (1,378 at k = 2), then halved for the two processes that its search would use on two cores; `--whole` runs the search itself.
* A fit is cold and whole, as published with ε = 1: counts, selections, noise and tables. HMPrivBayes and PrivBayes stand on the same tables
  of bits, so what is left between them is the number of pairs they choose among: a cluster has fewer.
* A score of PrivABN is the information of one parent set, with the upkeep of the set if it stays; the distinct rows are found anew, too.
  Its limit is one read-modify-write for each distinct row and score. Compiled (numba) and numpy agree in every bit; the run checks it.
* No test depends on a clock.
""",
        encoding="utf-8",
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", action="store_true", help="measure the peer again")
    parser.add_argument("--whole", action="store_true", help="with --peers: its whole search")
    options = parser.parse_args()
    dataset = pds.datasets.load_adult(coding="thesis")
    schema, codes = dataset.schema, np.asfortranarray(dataset.schema.encode(dataset.frame))
    kept = HERE / "peers.json"
    if options.peers or not kept.exists():
        kept.write_text(
            json.dumps(measure_peer(codes, schema, options.whole), indent=1) + "\n",
            encoding="utf-8",
        )
    peer = json.loads(kept.read_text(encoding="utf-8"))
    limit, how = read_modify_write(codes, schema.sizes)
    structure, sampling = structure_and_sampling(codes, schema)
    rows = [*lattice_rows(codes, schema.sizes, limit), network_row(Records(codes, schema))]
    rows += [
        *peer_rows(peer, structure, sampling),
        hpprivbayes_row(),
        forest_row(),
        *genetic_rows(Records(codes, schema)),
    ]
    wide = wide_rows(best, lambda table: read_modify_write(table, (2,) * table.shape[1])[0])
    for row in [*rows, *wide]:
        sys.stdout.write("  ".join(row) + "\n")
    write(rows, wide, limit, how, peer)


if __name__ == "__main__":
    main()

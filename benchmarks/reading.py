"""Memory of reading a large CSV file: ``python benchmarks/reading.py [megabytes]``.

Writes a file of that size (1,000 by default) into a temporary folder, reads it over a schema in a
process of its own, and writes ``READING.md``. The goal: less than 1 GiB above the frame that it
returns.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

import pdsynth as pds

PAGE = Path(__file__).with_name("READING.md")
CHILD = """
import resource, sys, pdsynth as pds
schema = pds.datasets.load_adult().schema if sys.argv[2] == "a schema" else None
unit = 1 if sys.platform == "darwin" else 1024
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
before = peak()
frame = pds.datasets.read_csv(sys.argv[1], schema)
print(len(frame), frame.memory_usage(deep=True).sum(), peak() - before)
"""


def write(path: Path, megabytes: int) -> None:
    """Adult's rows again and again, with blanks after commas."""
    frame = pds.datasets.load_adult().frame
    block = frame.to_csv(index=False, header=False).replace(",", ", ").encode()
    with path.open("wb") as file:
        file.write((", ".join(frame) + "\n").encode())
        while file.tell() < megabytes * 1_000_000:
            file.write(block)


def measure(path: Path, how: str) -> list[int]:
    """Records, bytes of the frame, peak of the process above what it needed before."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), how], capture_output=True, text=True, check=True
    )
    return [*map(int, done.stdout.split())]


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    lines = [
        "# Memory of reading",
        "",
        "`python benchmarks/reading.py` measures this again and rewrites the page.",
        "",
        "| a CSV file of Adult's rows, read over | records | frame | peak above the frame | of the file | goal |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write(path, megabytes)
        size = path.stat().st_size
        for how in ("a schema", "nothing"):
            n, frame, peak = measure(path, how)
            above = peak - frame
            lines.append(
                f"| {how} ({size / 1e9:.2f} GB) | {n:,} | {frame / 2**30:.2f} GiB "
                f"| {above / 2**30:.2f} GiB | {above / size:.2f} | < 1 GiB |"
            )
            print(lines[-1], flush=True)
    lines += ["", f"Python {platform.python_version()}, pandas {pd.__version__}, "
              f"{platform.system()}, {datetime.now(UTC):%Y-%m-%d}."]  # fmt: skip
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

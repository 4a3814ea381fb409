"""Commands: ``python -m pdsynth audit --all``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from . import __version__, audit
from .audit.case import Result, shown

COLUMNS = (("case", 38), ("claimed", 8), ("theory", 8), ("bound", 8), ("ceiling", 8), ("verdict", 12), ("", 0))


def line(result: Result) -> str:
    """One case: claimed ε, true ε in theory, the bound that was measured, its ceiling, and the verdict."""
    remark = "" if result.as_expected else "  <-- expected: " + result.expect
    if result.expect == "unseen" and result.bound <= result.claimed:
        remark += "  (the ledger sees what sampling can't)"
    cells = (result.name, shown(result.claimed), shown(result.theory), shown(result.bound), shown(result.ceiling), result.verdict)
    return " ".join(f"{c:<{w}}" for c, (_, w) in zip(cells, COLUMNS, strict=False)) + remark


def audited(results: Iterable[Result]) -> int:
    """Print every case; 1 if a sound case is violated or a broken one isn't caught."""
    print(" ".join(f"{name:<{width}}" for name, width in COLUMNS))
    wrong, total = [], 0
    for result in results:
        print(line(result), flush=True)
        total += 1
        wrong += [] if result.as_expected else [result.name]
    print(f"{total - len(wrong)} of {total} as expected" + (f"; not: {', '.join(wrong)}" if wrong else ""))
    return int(bool(wrong))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pdsynth", description="Personalised differentially private data publishing")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("audit", help="measure what published and strict steps lose, against what they claim")
    one.add_argument("--all", action="store_true", help="every case of the catalogue")
    one.add_argument("--case", action="append", default=[], metavar="NAME", help="one case (may be repeated)")
    one.add_argument("--list", action="store_true", help="list the cases and stop")
    one.add_argument("--runs", type=int, default=20_000, help="releases of each table (default 20000)")
    one.add_argument("--deep", action="store_true", help=f"{audit.DEEP:,} releases of each table")
    one.add_argument("--seed", type=int, help="repeat an audit bit by bit")
    one.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.case if name not in audit.CASES]
    if asked.list or unknown or not (asked.all or asked.case):
        print("\n".join(f"{c.name:<38} {c.about} ({c.source})" for c in audit.CASES.values()))
        if unknown:
            print(f"no such case: {', '.join(unknown)}", file=sys.stderr)
        return 0 if asked.list else 2
    names = asked.case or list(audit.CASES)
    work = partial(audit.run, runs=audit.DEEP if asked.deep else asked.runs, seed=asked.seed, audits=len(names))
    if asked.jobs < 2 or len(names) < 2:
        return audited(map(work, names))
    with ProcessPoolExecutor(asked.jobs) as pool:
        return audited(pool.map(work, names))


if __name__ == "__main__":
    sys.exit(main())

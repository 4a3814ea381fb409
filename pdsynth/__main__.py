"""Commands: ``python -m pdsynth audit --all``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from . import __version__, audit
from .audit.case import UNSEEN, Result, format_epsilon

COLUMNS = {"case": 38, "claimed": 8, "theory": 8, "bound": 8, "ceiling": 8, "verdict": 12}


def format_line(cells: Iterable[str]) -> str:
    """Cells under their columns."""
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


def format_result(result: Result) -> str:
    """One line of the report, with a remark on what wasn't expected."""
    numbers = (result.claimed, result.theory, result.bound, result.ceiling)
    line = format_line([result.name, *map(format_epsilon, numbers), result.verdict])
    if not result.as_expected:
        line += "  <-- expected: " + result.expect
    if result.expect == UNSEEN and result.bound <= result.claimed:
        line += "  (the ledger sees what sampling can't)"
    return line


def print_audits(results: Iterable[Result]) -> int:
    """Print every case; 1 if a sound case is violated or a broken one isn't caught."""
    print(format_line(COLUMNS), "")
    expected, wrong = 0, []
    for result in results:
        print(format_result(result), flush=True)
        expected += result.as_expected
        wrong += [] if result.as_expected else [result.name]
    print(f"{expected} of {expected + len(wrong)} as expected"
          + (f"; not: {', '.join(wrong)}" if wrong else ""))
    return int(bool(wrong))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m pdsynth",
        description="Personalised differentially private data publishing")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser(
        "audit", help="measure what published and strict steps lose, against what they claim")
    add = one.add_argument
    add("--all", action="store_true", help="every case of the catalogue")
    add("--case", action="append", default=[], metavar="NAME", help="one case (may be repeated)")
    add("--list", action="store_true", help="list the cases and stop")
    add("--runs", type=int, default=20_000, help="releases of each table (default 20000)")
    add("--deep", action="store_true", help=f"{audit.DEEP:,} releases of each table")
    add("--seed", type=int, help="repeat an audit bit by bit")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    asked = parse(arguments)
    unknown = [name for name in asked.case if name not in audit.CASES]
    if asked.list or unknown or not (asked.all or asked.case):
        for case in audit.CASES.values():
            print(f"{case.name:<38} {case.about} ({case.source})")
        if unknown:
            print(f"no such case: {', '.join(unknown)}", file=sys.stderr)
        return 0 if asked.list else 2
    names, runs = asked.case or list(audit.CASES), audit.DEEP if asked.deep else asked.runs
    work = partial(audit.run, runs=runs, seed=asked.seed, audits=len(names))
    if asked.jobs < 2 or len(names) < 2:
        return print_audits(map(work, names))
    with ProcessPoolExecutor(asked.jobs) as pool:
        return print_audits(pool.map(work, names))


if __name__ == "__main__":
    sys.exit(main())

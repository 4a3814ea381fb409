"""The command line: ``python -m pdsynth --help``."""

import io
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from . import BudgetError, PrivacyError, SchemaError, audit
from .audit.case import MOST_RUNS, NOT_REFUTED, UNSEEN, Result, format_epsilon
from .core import needed_for
from .datasets.convert import LOADERS, convert
from .datasets.loaders import VARIABLE
from .datasets.tables import TABLES

try:
    with needed_for("the command line"):
        import click

        from .files.command_line import commands, say
    from .files.spoken import in_options
except ImportError as missing:
    sys.exit(f"refused: {missing}")

COLUMNS = {
    "case": 38,
    "claimed": 8,
    "theory": 8,
    "bound": 8,
    "ceiling": 8,
    "sees": 7,
    "moves": 6,
    "runs": 8,
    "verdict": 12,
}
LEGEND = (
    "bound: lost at least, all bounds together with 95 % confidence (runs 0: for certain); "
    "ceiling: what a perfect attack would show; sees: the smallest "
    "violation that half of such audits catch, as a multiple of the claim (1: any, it is "
    "exact; ∞: only what has no finite ε); moves: answers of mechanisms that the pair of "
    "tables changes (0: not counted); runs: releases of each table (0: exact)"
)
RUNS = 20_000  # of an audit, where nothing is said
FEW = 2  # answers that a pair moves, for which an audit should see little


def format_line(cells: Iterable[str]) -> str:
    """Cells under their columns."""
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


def format_result(result: Result) -> str:
    """One line of the report, with a remark on what wasn't expected."""
    numbers = (result.claimed, result.theory, result.bound, result.ceiling, result.detectable)
    line = format_line(
        [
            result.name,
            *map(format_epsilon, numbers),
            str(result.moves),
            f"{result.runs:,}",
            result.verdict,
        ]
    )
    if not result.as_expected:
        line += "  <-- expected: " + result.expect
    if result.expect == UNSEEN and result.bound <= result.claimed:
        line += "  (the ledger sees what sampling can't)"
    return line


def print_audits(results: Iterable[Result]) -> int:
    """Print every case; 1 if a sound case is violated or a broken one isn't caught."""
    print(LEGEND)
    print(format_line(COLUMNS), "")
    expected, wrong = 0, []
    sees: tuple[list[float], list[float]] = ([], [])
    for result in results:
        print(format_result(result), flush=True)
        expected += result.as_expected
        wrong += [] if result.as_expected else [result.name]
        if result.expect == NOT_REFUTED and result.runs and result.moves:
            sees[result.moves > FEW].append(result.detectable)
    for words, factors in zip(
        (f"at most {FEW} answers move", "more answers move"), sees, strict=True
    ):
        if factors:
            least, most = format_epsilon(min(factors)), format_epsilon(max(factors))
            seen = f"{len(factors)} sound sampled cases see {least} to {most}"
            seen = f"1 sound sampled case sees {most}" if len(factors) == 1 else seen
            print(f"Where {words}, {seen} times the claim.")
    print(
        f"{expected} of {expected + len(wrong)} as expected"
        + (f"; not: {', '.join(wrong)}" if wrong else "")
    )
    return int(bool(wrong))


@commands.command("audit")
@click.option("--all", "everything", is_flag=True, help="Every case of the catalogue.")
@click.option("--case", "cases", multiple=True, metavar="NAME", help="One case; may be repeated.")
@click.option("--list", "listed", is_flag=True, help="List the cases and stop.")
@click.option(
    "--runs",
    type=click.IntRange(4, MOST_RUNS),
    default=RUNS,
    show_default=True,
    help="Releases of each table.",
)
@click.option(
    "--deep",
    is_flag=True,
    help=f"{audit.DEEP:,} releases of each "
    "table; of whole fits 1,000, or 20,000 where they ask for the same tables always.",
)
@click.option("--seed", type=click.IntRange(0, 2**128), help="Repeat an audit bit by bit.")
@click.option("--jobs", default=os.cpu_count() or 1, help="Processes at once.")
def run_audits(
    everything: bool,
    cases: Sequence[str],
    listed: bool,
    runs: int,
    deep: bool,
    seed: int | None,
    jobs: int,
) -> int:
    """Measure what published and strict steps lose, against what they claim."""
    if everything and cases:
        raise click.UsageError("--all runs every case, --case some: give one of them")
    if deep and runs != RUNS:
        raise click.UsageError("--deep says how many releases: leave out --runs")
    unknown = [name for name in cases if name not in audit.CASES]
    if listed or unknown or not (everything or cases):
        shown = audit.CASES if unknown or not cases else cases
        for case in map(audit.CASES.__getitem__, shown):
            click.echo(f"{case.name:<38} {case.about} ({case.source})")
        if unknown:
            say(f"no such case: {', '.join(unknown)}")
        return 0 if listed and not unknown else 2
    names = list(cases) or list(audit.CASES)
    return print_audits(
        audit.run_all(audit.DEEP if deep else runs, names=names, seed=seed, jobs=max(jobs, 1))
    )


@commands.command("data")
@click.argument("table", required=False)
@click.argument("raw", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Where to; else $PDSYNTH_DATA."
)
def fill_data(table: str | None, raw: Path | None, out: Path | None) -> int:
    """List the papers' tables; or turn a publisher's RAW file into the one that is read."""
    place = out or os.environ.get(VARIABLE)
    if table is None:
        click.echo("adult, cmc: ship with pdsynth")
        for name in LOADERS:
            facts = TABLES[name]
            there = place is not None and (Path(place) / facts["file"]).exists()
            click.echo(f"{name}: {'there' if there else 'get ' + facts['where']}")
        return 0
    if raw is None or place is None:
        raise SchemaError(
            "say which file, and where to: python -m pdsynth data TABLE RAW --out FOLDER"
        )
    file = convert(table, raw, Path(place))
    click.echo(f"{file}: set {VARIABLE} to {file.parent}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    command = next((commands.commands[word] for word in given if word in commands.commands), None)
    spoken = partial(in_options, options=[o.name for o in command.params] if command else [])
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file or a pipe whose encoding has no ε
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"note: {spoken(str(message))}")
        warnings.simplefilter("default", UserWarning)  # a note ends no run, also under -W error
        try:
            return commands.main(arguments, "python -m pdsynth", standalone_mode=False) or 0
        except click.ClickException as mistake:
            mistake.show()
            return mistake.exit_code
        except (click.Abort, KeyboardInterrupt):
            say("interrupted")
            return 130
        except (SchemaError, BudgetError, PrivacyError, OSError, ImportError) as refusal:
            say(f"refused: {spoken(str(refusal))}")
            return 1


if __name__ == "__main__":
    sys.exit(main())

"""Plants defects in copies of the package, and asks whether the tests that should see them do.

``python tests/mutants.py`` runs all, ``--only NAME`` one, ``--sample N --seed S`` some. Each file
of ``tests/mutants`` holds the defects of one floor; ``written`` says whether their author had read
the tests. A defect replaces ``find``, which stands exactly ``count`` times (once if not said) in
``file``, by ``replace``; ``tests`` are arguments of pytest. Prints a table and exits 1 unless all
are caught; ``build/mutants.json`` keeps how each ended last, for ``benchmarks/house.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from compileall import compile_dir
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
COPIED = (
    "pdsynth",
    "tests",
    "benchmarks",
    "pyproject.toml",
    *(path.name for path in ROOT.glob("*.md")),
)
RESULT = ROOT / "build" / "mutants.json"
CAUGHT, SURVIVED, STALE = "caught", "survived", "doesn't apply"
PATIENCE = 300  # seconds until a defect counts as one that makes a test hang
# How pytest ended; anything else says that the tests themselves can't be run.
ENDS = {0: SURVIVED, 1: CAUGHT}


@dataclass(frozen=True)
class Mutant:
    """One planted defect: a replacement in a file, why it matters, and who should see it."""

    name: str
    floor: str
    written: str
    file: str
    find: str
    replace: str
    why: str
    tests: tuple[str, ...]
    count: int = 1

    def planted(self, text: str) -> str | None:
        """The file's text with the defect; None where ``find`` isn't there as often as said."""
        if text.count(self.find) != self.count or self.find == self.replace:
            return None
        return text.replace(self.find, self.replace)


def read_mutants(folder: Path = HERE / "mutants") -> list[Mutant]:
    """All mutants, floor by floor."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        floor = tomllib.loads(path.read_text(encoding="utf-8"))
        for facts in floor["mutant"]:
            own = {**facts, "tests": tuple(facts.get("tests", floor["tests"]))}
            found.append(Mutant(floor=path.stem, written=floor["written"], **own))
    return found


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the package and its tests, whose compiled files are checked against the sources."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, copy / name, ignore=ignored)
            else:
                shutil.copy(ROOT / name, copy / name)
        compile_dir(copy / "pdsynth", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        yield copy


def run_tests(copy: Path, tests: Sequence[str], *options: str) -> str:
    """How the short run of some tests ends in a copy, in one process, at the first failure."""
    known = ["-x", "-m", "not slow", "--tb=no", *options]
    environment = os.environ | {"PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *known, *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    return ENDS.get(done.returncode, f"pytest ends with {done.returncode}")


def judge(mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Each mutant and its end; a test that fails without it, too, proves nothing."""
    with copied() as copy:
        for mutant in mutants:
            path = copy / mutant.file
            whole = path.read_text(encoding="utf-8") if path.exists() else ""
            text = mutant.planted(whole)
            if text is None:
                yield mutant, STALE
                continue
            path.write_text(text, encoding="utf-8")
            end = run_tests(copy, mutant.tests, "--cache-clear")
            path.write_text(whole, encoding="utf-8")
            # The test that failed, once more without the defect.
            if end == CAUGHT and run_tests(copy, mutant.tests, "--last-failed") != SURVIVED:
                end = "its test fails without it"
            yield mutant, end


def write_result(ends: dict[str, str]) -> None:
    """Keep how mutants ended, and how those ended that were run before and are still there."""
    before = json.loads(RESULT.read_text(encoding="utf-8"))["mutants"] if RESULT.exists() else {}
    known = {m.name: before[m.name] for m in read_mutants() if m.name in before} | ends
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"mutants": known}, indent=1), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each mutant; 0 if all are caught."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", default=[], help="names of mutants, or of floors")
    parser.add_argument("--sample", type=int, help="so many of them")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    said = parser.parse_args(arguments)
    chosen = [m for m in read_mutants() if not said.only or {m.name, m.floor} & {*said.only}]
    if said.sample is not None:
        chosen = random.Random(said.seed).sample(chosen, min(said.sample, len(chosen)))
    ends = {}
    for mutant, end in judge(chosen):
        ends[mutant.name] = end
        write_result(ends)
        print(f"{end:<14} {mutant.floor:<10} {mutant.name}", flush=True)
    caught = sum(end == CAUGHT for end in ends.values())
    print(f"{caught} of {len(ends)} caught")
    return 0 if ends and caught == len(ends) else 1


if __name__ == "__main__":
    sys.exit(main())

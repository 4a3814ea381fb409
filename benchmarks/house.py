"""The bars of the house: sizes, borders and doors of the package, each counted by one function.

``python benchmarks/house.py`` prints the table for this checkout, ``--tree FOLDER`` for another
one, ``--files NAME`` the files behind one row ("relation", "sensitivities", "inward" …).
``--against FOLDER`` also fits PrivBayes, HPPrivBayes and ConsistentBayes in both checkouts in turn
with the same seeds, and prints this one's time over the other's. The first column was recorded
once, at the commit that it names; the rules below give its numbers there, or nearly.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RECORDED_AT = "4079f48"

# A module's room is its first folder; these modules stand in none.
ROOMS = {"__init__": "core", "__main__": "files", "plots": "course"}
HOUSE = "core", "algorithms"  # every other room is a satellite
# What these modules import on purpose: the package's front door, and the one way to a satellite.
FRONT_DOOR, ONE_DOOR = "__init__", "core.errors"
# The curator and what it stands on: they know sensitivities and scales.
BELOW = {f"core.{name}" for name in ("measures", "unit", "noise", "rules", "ledger", "curator")}

# Words of each aspect; a file mentions it where one of them stands, also in its docstrings and
# comments, which a reader has to understand, too.
ASPECTS = {
    "published": r'publish|printed|\bprints\b|"none"|peek|unaccounted',
    "relation": r"relation|adds? or remove|added or removed|facts\.moved",
    "persons": r"persons?\b|records_per",
    "blocks": r"block|dask|(?<!n)arrow|parquet|batch|\.expect\(",  # narrow is another word
    "near": r"too wide|wide table|stand near|near each|\bnear=|preselect|choose_rule|most_sets",
}
# The one way to a house next door, and the list of those houses, are no mention.
DOOR = re.compile(r'door\("\w+"\)|^DOORS = \([^)]*\)', re.M)
FIT = "pds.PrivBayes(k=2)"
FITS = {
    "PrivBayes": FIT,
    "HPPrivBayes": "pds.HPPrivBayes(k=2, sensitive='occupation')",
    "ConsistentBayes": "pds.ConsistentBayes()",
}
TABLE = "table = pds.datasets.load_adult(); frame = table.frame.head({rows})"
TRACE = (
    """
import json, sys, threading
import pdsynth as pds
"""
    + TABLE.format(rows=2000)
    + """
package, seen = pds.__file__.removesuffix("__init__.py"), {}
def enter(frame, event, arg):
    name = frame.f_code.co_filename
    return step if name.startswith(package) else None
def step(frame, event, arg):
    if event == "line":
        seen.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
    return step
threading.settrace(enter); sys.settrace(enter)
SYNTH.fit(frame, schema=table.schema).sample(100)
sys.settrace(None); threading.settrace(None)
print(json.dumps({name: len(lines) for name, lines in seen.items()}))
""".replace("SYNTH", FIT)
)
TIME = (
    """
import json, time
import pdsynth as pds
"""
    + TABLE.format(rows=10_000)
    + """
def seconds(synth, seed):
    synth.set_params(random_state=seed)
    start = time.process_time()
    synth.fit(frame, schema=table.schema)
    return time.process_time() - start
"""
)


class Module(NamedTuple):
    """One module: its dotted name below the package, its room and its text."""

    name: str
    room: str
    text: str
    path: Path

    @property
    def of_house(self) -> bool:
        return self.room in HOUSE


class Count(NamedTuple):
    """What a bar counts, in words, and the places behind it."""

    said: str
    places: tuple[str, ...] = ()


def room_of(name: str) -> str:
    """The room of a module: its first folder."""
    first = name.split(".")[0]
    return ROOMS.get(first, first)


def modules(tree: Path) -> list[Module]:
    """All modules of a checkout's package."""
    package, found = tree / "pdsynth", []
    for path in sorted(package.rglob("*.py")):
        name = ".".join(path.relative_to(package).with_suffix("").parts)
        found.append(Module(name, room_of(name), path.read_text(encoding="utf-8"), path))
    return found


def run(command: list[str], tree: Path) -> str:
    """What a Python program prints that imports the package of a checkout."""
    environment = os.environ | {"PYTHONPATH": str(tree), "PDSYNTH_PROGRESS": "0"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def unformatted(tree: Path) -> Count:
    """Files that ``ruff format --check`` would change."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--check", "--no-cache", "."],
        cwd=tree,
        capture_output=True,
        text=True,
    )
    places = re.findall(r"^Would reformat: (.*)$|--> (.*?):\d", done.stdout, re.M)
    names = sorted({first or second for first, second in places})
    told = re.search(r"(\d+) files? would be reformatted", done.stdout + done.stderr)
    return Count(told[1] if told else "0", tuple(names))


def executed(tree: Path) -> Count:
    """Files of which a fit and a sample execute a line; these lines ÷ all lines of the files.

    Lines that Python's tracer reports while they run; imports are done before. Comments, docstrings
    and blank lines count among all lines and never as executed.
    """
    lines = json.loads(run(["-c", TRACE], tree))
    whole = {name: len(Path(name).read_text(encoding="utf-8").splitlines()) for name in lines}
    rows = tuple(f"{Path(n).relative_to(tree)}: {lines[n]} of {whole[n]}" for n in sorted(lines))
    share = sum(lines.values()) / sum(whole.values())
    return Count(f"{len(lines)}; {100 * share:.0f} %", rows)


def size(tree: Path) -> Count:
    """Modules of core and algorithms, and their lines as ``ruff format`` writes them."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(tree / "pdsynth", copy / "pdsynth")
        command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "100"]
        subprocess.run([*command, "--quiet", "pdsynth"], cwd=copy, check=True)
        lines = {m.name: len(m.text.splitlines()) for m in modules(copy) if m.of_house}
    places = tuple(f"{name}: {number}" for name, number in lines.items())
    return Count(f"{len(lines)}; {sum(lines.values()):,}", places)


@cache
def asked(module: Module) -> tuple[str, ...]:
    """Dotted names that a module imports by a statement: ``pdsynth.core.model.Model``."""
    here, found = ["pdsynth", *module.name.split(".")], []
    for node in ast.walk(ast.parse(module.text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found += [f"{base}.{alias.name}" for alias in node.names]
    return tuple(found)


@cache
def dynamic(module: Module) -> tuple[str, ...]:
    """Calls that import what a text names, as they are written."""
    calls = [node for node in ast.walk(ast.parse(module.text)) if isinstance(node, ast.Call)]
    words = re.compile(r"\b(import_module|__import__)$")
    return tuple(ast.unparse(call) for call in calls if words.search(ast.unparse(call.func)))


def crossings(tree: Path) -> Iterator[tuple[Module, Module, str]]:
    """Every import over the border: who imports, from which module, and the name after it."""
    found = modules(tree)
    known = {m.name.removesuffix(".__init__"): m for m in found}
    for module in found:
        for full in sorted({*asked(module)}):
            owner, name = full.removeprefix("pdsynth."), ""
            if full != "pdsynth" and owner == full:
                continue  # a package of others
            while owner not in known and owner:
                owner, _, name = owner.rpartition(".")
            other = known[owner or "__init__"]
            if module.of_house != other.of_house:
                yield module, other, name


def outward(tree: Path) -> Count:
    """Imports of satellites by core and algorithms, and imports by a text past the one door."""
    places = [
        f"{m.name} imports {o.name}"
        for m, o, _ in crossings(tree)
        if m.of_house and m.name != FRONT_DOOR
    ]
    for module in modules(tree):
        if module.of_house and module.name not in (FRONT_DOOR, ONE_DOOR):
            places += [f"{module.name} calls {call}" for call in dynamic(module)]
    places = sorted({*places})
    return Count(f"{len(places)}", tuple(places))


def inward(tree: Path) -> Count:
    """Imports by satellites of what is inside core and algorithms: of modules, private names."""
    places = [
        f"{m.name} imports {o.name}"
        for m, o, name in crossings(tree)
        if o.of_house and (not o.name.endswith("__init__") or re.match("_[^_]", name))
    ]
    for module in modules(tree):
        if not module.of_house:
            inside = [call for call in dynamic(module) if re.search(r"(core|algorithms)\.", call)]
            places += [f"{module.name} calls {call}" for call in inside]
    places = sorted({*places})
    return Count(f"{len(places)}", tuple(places))


def mentions(aspect: str) -> Callable[[Path], Count]:
    """Files of core and algorithms that mention an aspect."""

    def count(tree: Path) -> Count:
        word = re.compile(ASPECTS[aspect], re.I)
        places = []
        for m in modules(tree):
            said = sorted({found.lower() for found in word.findall(DOOR.sub("", m.text))})
            if m.of_house and said:
                places.append(f"{m.name}: {', '.join(said)}")
        return Count(f"{len(places)}", tuple(places))

    return count


def sensitivities(tree: Path) -> Count:
    """Scales that are computed in core and algorithms above the curator: two numbers.

    Divisions whose numerator names what is ``moved`` or a ``sensitivity``; and those whose
    numerator is 2, or 2 times something, and whose denominator names an ε, a share or a part of it.
    """
    named, literal = [], []
    for m in modules(tree):
        if not m.of_house or m.name in BELOW:
            continue
        for node in ast.walk(ast.parse(m.text)):
            if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
                continue
            place = f"{m.name}:{node.lineno}: {ast.unparse(node)}"
            if any("moved" in name or "sensitivity" in name for name in _names(node.left)):
                named.append(place)
            elif _is_twice(node.left) and any(
                re.match(r"eps|each$|part$|half$|rest$|shares?$|cost$", n)
                for n in _names(node.right)
            ):
                literal.append(place)
    return Count(f"{len(named)}; {len(literal)}", (*named, *literal))


def _names(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _is_twice(node: ast.AST) -> bool:
    """Whether an expression is 2, 2·x, or the Fraction of one of these."""
    if isinstance(node, ast.Call) and node.args and "Fraction" in _names(node.func):
        return _is_twice(node.args[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _is_twice(node.left)
    return isinstance(node, ast.Constant) and node.value == 2


def dependencies(tree: Path) -> Count:
    """What ``pip install pdsynth`` brings."""
    document = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
    names = document["project"]["dependencies"]
    return Count(f"{len(names)}", tuple(names))


def pages(tree: Path) -> Count:
    """Words of the README, and lines of the changelog that no release has."""
    words = (tree / "README.md").read_text(encoding="utf-8").split()
    log = (tree / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = re.split(r"^## .*\n", log, flags=re.M)[1] if "[Unreleased]" in log else ""
    return Count(f"{len(words):,}; {len(unreleased.splitlines())}")


def mutants(tree: Path) -> Count:
    """Planted defects that their tests saw, when ``tests/mutants.py`` ran them last, of all.

    The files: those that were missed, or never run on this machine.
    """
    floors = sorted((tree / "tests" / "mutants").glob("*.toml"))
    read = [tomllib.loads(path.read_text(encoding="utf-8"))["mutant"] for path in floors]
    planted = [mutant["name"] for floor in read for mutant in floor]
    result = tree / "build" / "mutants.json"
    ends = json.loads(result.read_text(encoding="utf-8"))["mutants"] if result.exists() else {}
    run = [name for name in planted if name in ends]
    missed = [name for name in planted if ends.get(name) != "caught"]
    caught = len(planted) - len(missed)
    told = tuple(f"{name}: {ends.get(name, 'not run')}" for name in missed)
    return Count(f"{caught} of {len(run)} run, of {len(planted)}", told)


# name: (what it is, as recorded at that commit, order, function)
BARS: dict[str, tuple[str, str, str, Callable[[Path], Count]]] = {
    "unformatted": ("files that fail ruff format --check", "271", "0", unformatted),
    "executed": (
        "files that a PrivBayes fit and sample executes; executed ÷ their lines",
        "46; 14 %",
        "≤ 16; ≥ 25 %",
        executed,
    ),
    "size": ("core + algorithms: modules; formatted lines", "85; 13,500", "≤ 34; ≤ 10,900", size),
    "outward": ("imports from core + algorithms to satellites", "15", "0", outward),
    "inward": ("imports from satellites into their insides", "many", "0", inward),
    "published": ("their files that mention published", "43", "≤ 4", mentions("published")),
    "relation": ("… the relation", "17", "≤ 4", mentions("relation")),
    "persons": ("… records per person", "7", "≤ 4", mentions("persons")),
    "blocks": ("… Dask or blocks", "23", "≤ 4", mentions("blocks")),
    "near": ("… wide tables, columns that stand near", "23", "0", mentions("near")),
    "sensitivities": (
        "scales above the curator: by name; by a literal 2",
        "14; –",
        "0; 0",
        sensitivities,
    ),
    "dependencies": ("hard dependencies", "15", "≤ 5", dependencies),
    "mutants": ("planted defects caught", "0 of 1", "all, ≥ 60", mutants),
    "pages": ("README words; unreleased lines", "2,800; 178", "≤ 900; ≤ 40", pages),
}


def times(tree: Path, other: Path, repeats: int = 5) -> Iterator[tuple[str, float]]:
    """Processor time of four seeded fits in a checkout ÷ that in the other: the least, in turn."""
    for name, synth in FITS.items():
        program = f"{TIME}\nprint(sum(seconds({synth}, seed) for seed in range(4)))"
        turns = [[float(run(["-c", program], t)) for t in (tree, other)] for _ in range(repeats)]
        yield name, min(mine for mine, _ in turns) / min(theirs for _, theirs in turns)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", type=Path, default=ROOT, help="a checkout; this one if not said")
    parser.add_argument("--against", type=Path, help="another checkout, to compare times of fits")
    parser.add_argument("--files", choices=BARS, help="print the places behind one row")
    parser.add_argument("--skip", nargs="*", default=[], choices=BARS, help="rows to leave out")
    said = parser.parse_args(arguments)
    tree = said.tree.resolve()
    if said.files:
        print(*BARS[said.files][3](tree).places, sep="\n")
        return
    print(f"| bar | at {RECORDED_AT} (recorded) | now | order |\n|---|---|---|---|")
    for name, (what, recorded, order, count) in BARS.items():
        if name not in said.skip:
            print(f"| {what} | {recorded} | {count(tree).said} | {order} |", flush=True)
    if said.against:
        for name, ratio in times(tree, said.against.resolve()):
            print(f"| time of a fit: {name} | – | {ratio:.2f} | ≤ 1.05 |", flush=True)


if __name__ == "__main__":
    main()

"""The house stays small: limits stand in the table below, and a text that breaks one is found."""

import ast
import inspect
from pathlib import Path
from textwrap import indent

import pytest
from import_tools import PACKAGE, circle, graph, sources

import pdsynth as pds

WINGS = ("papers", "course")
# The library is what lies outside the wings; data is TOML and JSON inside the package. These are
# ratchets: lower them when something shrinks. The aim is 11,500 lines and 480,000 characters of
# library, 18,500 and 800,000 in all, 3,000 lines of data.
LIBRARY_LINES, LIBRARY_CHARACTERS = 22_490, 1_042_500
PACKAGE_LINES, PACKAGE_CHARACTERS = 35_876, 1_685_700
DATA_LINES = 5_450
MODULE_LINES = 300
FUNCTION_LINES = 50  # without its docstring
COLUMNS = 100
# Above the curator a part or a value is chosen once, from a table or by `Facts.choose`; where the
# guarantee itself is asked for, the line says why.
ABOVE = ("synthesizers", "structure", "budgets", "conditionals", "reconcile", "consistency")
BRANCHES = 11
UNFORMATTED = 20  # lines that say `fmt: skip`
ENTRIES = 20  # at the top of the package, besides these
UNCOUNTED = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
NAMES = set(
    """
    PrivBayes HPPrivBayes HMPrivBayes PrivABN PPBA GeneticBayes ConsistentBayes Synthesizer
    Schema Attribute Network Restriction Model Ledger Session
    SchemaError BudgetError PrivacyError
    plan baselines parts datasets evaluate audit papers plots
""".split()
)


@pytest.fixture(scope="module")
def texts():
    return dict(sources())


def wing(path):
    return Path(path).parts[0] in WINGS


def outside(texts):
    """The library: everything outside the wings."""
    return {path: text for path, text in texts.items() if not wing(path)}


def size(texts):
    """(lines, characters) of all texts together."""
    return sum(text.count("\n") for text in texts.values()), sum(map(len, texts.values()))


def long_modules(texts):
    return [
        f"{path}: {n}" for path, text in texts.items() if (n := text.count("\n")) > MODULE_LINES
    ]


def length(function):
    """Lines from ``def`` to the end, without the docstring."""
    first = function.body[0]
    docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0
    return function.end_lineno - function.lineno + 1 - docstring


def long_functions(texts):
    return [
        f"{path}: {node.name}, {length(node)}"
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and length(node) > FUNCTION_LINES
    ]


def wide_lines(texts):
    return [
        f"{path}:{number}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > COLUMNS
    ]


def unformatted(texts):
    return [
        path for path, text in texts.items() for line in text.splitlines() if "fmt: skip" in line
    ]


def first(name):
    return name.split(".")[0]


def branches(texts):
    """Lines above the curator that compare a guarantee, each with its text."""
    return [
        (f"{path}:{node.lineno}", text.splitlines()[node.lineno - 1])
        for path, text in texts.items()
        if first(Path(path).parts[0]) in ABOVE
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare)
        and any(ast.unparse(side).endswith("guarantee") for side in (node.left, *node.comparators))
        and any(isinstance(part, ast.Constant) for part in ast.walk(node))
    ]


def climbs(imports):
    """Imports of a wing by the library, and of the course by the papers."""
    return [
        f"{name} imports {other}"
        for name, found in imports.items()
        for other in sorted(found)
        if (wing(first(other)) and not wing(first(name)))
        or (first(other) == "course" and first(name) == "papers")
    ]


def test_the_library_is_small(texts):
    lines, characters = size(outside(texts))
    assert lines <= LIBRARY_LINES
    assert characters <= LIBRARY_CHARACTERS


def test_the_package_is_small(texts):
    lines, characters = size(texts)
    assert lines <= PACKAGE_LINES
    assert characters <= PACKAGE_CHARACTERS


def test_data_that_replaces_code_is_small():
    files = {
        path: path.read_text(encoding="utf-8")
        for ending in ("toml", "json")
        for path in PACKAGE.rglob(f"*.{ending}")
    }
    assert size(files)[0] <= DATA_LINES


def test_no_module_is_long(texts):
    assert long_modules(texts) == []


def test_a_function_fits_a_screen(texts):
    assert long_functions(texts) == []


def test_no_line_is_wide(texts):
    assert wide_lines(texts) == []


def test_layout_needs_few_exceptions(texts):
    assert len(unformatted(texts)) <= UNFORMATTED, unformatted(texts)


def test_parts_do_not_branch_on_the_guarantee(texts):
    found = branches(texts)
    assert len(found) <= BRANCHES, found
    assert [place for place, line in found if "  # " not in line] == []


@pytest.mark.parametrize("line", ["facts.guarantee == 'strict'", "guarantee in ('none', 'x')"])
def test_twin_a_branch_on_the_guarantee_is_found(line):
    text = f"if {line}:\n    pass\n"
    (found,) = branches({Path("budgets/rules.py"): text})
    assert found == ("budgets/rules.py:1", f"if {line}:")
    assert not branches({Path("privacy/curator.py"): text, Path("model.py"): text})


def test_the_entrance_is_short():
    assert len({path.name for path in PACKAGE.iterdir()} - UNCOUNTED) <= ENTRIES


def test_no_modules_import_each_other_in_a_circle(texts):
    assert circle(graph(texts)) == []


def test_the_library_imports_no_wing_and_the_papers_no_course(texts):
    assert climbs(graph(texts)) == []


def test_the_public_names_are_the_promised_ones():
    assert set(pds.__all__) == NAMES
    assert dir(pds) == sorted(pds.__all__)
    assert all(getattr(pds, name) is not None for name in pds.__all__)


@pytest.mark.parametrize("module", [pds.plots, pds.parts], ids=["plots", "parts"])
def test_tab_completion_shows_only_our_own_names(module):
    shown = [name for name in dir(module) if not name.startswith("_")]
    assert shown == sorted(module.__all__)
    things = [getattr(module, name) for name in shown]
    assert not [thing for thing in things if inspect.ismodule(thing)]
    homes = [getattr(thing, "__module__", "pdsynth") for thing in things]
    assert {first(home) for home in homes} == {"pdsynth"}


LONG = "def f():\n    'Said.'\n" + "    x = 1\n" * FUNCTION_LINES
TWINS = {
    "a module": (long_modules, "x = 1\n" * (MODULE_LINES + 1)),
    "a function": (long_functions, LONG),
    "a method": (long_functions, "class C:\n" + indent(LONG, "    ")),
    "a line": (wide_lines, "#" * (COLUMNS + 1)),
    "an exception": (unformatted, "x = 1  # fmt: skip"),
}


@pytest.mark.parametrize(("find", "text"), TWINS.values(), ids=TWINS)
def test_twin_what_is_too_long_is_found(find, text):
    assert find({Path("model.py"): text})
    assert not find({Path("model.py"): "def f():\n    '''" + "Said.\n" * FUNCTION_LINES + "'''\n"})


@pytest.mark.parametrize(
    "line",
    [
        "from .course import panels",
        "import pdsynth.papers.engine",
        "def f():\n    from .papers import engine",
    ],
)
def test_twin_a_wing_in_the_library_and_a_circle_are_found(line):
    texts = {
        Path("model.py"): line,
        Path("papers/__init__.py"): "from .engine import run",
        Path("papers/engine.py"): "from ..model import Model",
        Path("course/panels.py"): "import pdsynth.model",
    }
    imports = graph(texts | {Path("course/__init__.py"): ""})
    assert climbs(imports)
    found = circle(imports)
    assert {"model"} < set(found) or "course" in line
    assert size(outside(texts)) == (line.count("\n"), len(line))

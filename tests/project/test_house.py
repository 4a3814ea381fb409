"""The borders of the house: who may import whom, and where the guarantee is asked for."""

import ast
import inspect
from pathlib import Path

import pytest
from import_tools import PACKAGE, circle, graph, sources

import pdsynth as pds

WINGS = ("papers", "course")
MODULE_LINES = 600
# Above the curator a part or a value is chosen once, from a table or by `Facts.choose`; where the
# guarantee itself is asked for, the line says why.
ABOVE = ("synthesizers", "structure", "budgets", "conditionals", "agreement", "factors")
BRANCHES = 11
ENTRIES = 22  # at the top of the package, besides these
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


def long_modules(texts):
    return [
        f"{path}: {n}" for path, text in texts.items() if (n := text.count("\n")) > MODULE_LINES
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


def test_no_module_is_long(texts):
    assert long_modules(texts) == []


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


def test_twin_a_long_module_is_found():
    assert long_modules({Path("model.py"): "x = 1\n" * (MODULE_LINES + 1)})
    assert not long_modules({Path("model.py"): "x = 1\n" * MODULE_LINES})


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

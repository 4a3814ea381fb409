"""The borders of the house: who may import whom, and where the guarantee is asked for."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from import_tools import PACKAGE, circle, graph, sources

import pdsynth as pds

WINGS = ("papers", "course")
MODULE_LINES = 600
# Above the curator a part says what strict does; where the guarantee itself is asked for, the line
# says why.
ABOVE = ("synthesizers", "structure", "budgets", "conditionals", "agreement", "factors")
BRANCHES = 9
ENTRIES = 22  # at the top of the package, besides these
LAZY = {"synthesizers.recipe": {"published"}, "synthesizers.parts": {"published"}}
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


def without_lazy_doors(imports):
    """The graph without the imports that stand in a function, see test_a_strict_fit_loads_…."""
    return {name: found - LAZY.get(name, set()) for name, found in imports.items()}


def test_no_modules_import_each_other_in_a_circle(texts):
    assert circle(without_lazy_doors(graph(texts))) == []


def test_the_library_imports_no_wing_and_the_papers_no_course(texts):
    assert climbs(graph(texts)) == []


FIT = """
import sys
import numpy as np, pandas as pd, pdsynth as pds
names = ["a", "b", "c"]
schema = pds.Schema(tuple(pds.Attribute.categorical(name, ["no", "yes"]) for name in names))
frame = pd.DataFrame({name: ["no", "yes"] * 20 for name in names})
pds.baselines, pds.parts.Ordered, pds.plan(schema, 40, 1.0)
for made in (pds.PrivBayes(k=1), pds.HPPrivBayes(k=1, sensitive="a"), pds.HMPrivBayes(k=1, l=1),
             pds.PrivABN(k=1), pds.PPBA(k=1), pds.GeneticBayes(k=1, search="hill"),
             pds.ConsistentBayes(rounds=1), pds.baselines.JTree(), pds.baselines.PriView(size=2),
             pds.baselines.PrivSCBN(k=1, l=1), pds.baselines.SAPrivBayes(k=1),
             pds.Synthesizer(structure=pds.parts.Ordered(k=1), budget=pds.parts.RiskEntropy())):
    made.set_params(GIVEN).fit(frame, schema=schema).sample(5)
print(*[name for name in sys.modules if name.startswith("pdsynth.published")])
"""


def loaded_of_published(given):
    """Modules of ``published`` that fits of every kind load, in a process of their own."""
    command = [sys.executable, "-W", "ignore", "-c", FIT.replace("GIVEN", given)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_a_strict_fit_loads_nothing_of_what_is_printed():
    assert loaded_of_published("") == []


def test_twin_another_fit_loads_it():
    assert "pdsynth.published.privabn" in loaded_of_published("guarantee='published'")


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
        Path("course/panels.py"): "import pdsynth.core.model",
    }
    imports = graph(texts | {Path("course/__init__.py"): ""})
    assert climbs(imports)
    found = circle(imports)
    assert {"model"} < set(found) or "course" in line

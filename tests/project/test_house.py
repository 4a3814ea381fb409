"""The borders of the house: who may import whom, and where the guarantee is asked for."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from import_tools import PACKAGE, circle, graph, sources

import pdsynth as pds

MODULE_LINES = 600
# Above the curator a part says what strict does; where the guarantee itself is asked for, the line
# says why.
ABOVE = "structure budgets factors agreement model parts recipe".split()
BRANCHES = 9
ENTRIES = 20  # at the top of the package, besides these
CONTRACTS = [
    "-c",
    "from importlinter import cli; cli.lint_imports_command()",
    "--no-cache",
    "--no-logo",
]
UNCOUNTED = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
NAMES = set(
    """
    PrivBayes HPPrivBayes HMPrivBayes PrivABN PPBA GeneticBayes ConsistentBayes Synthesizer
    Schema Attribute Rule Network Restriction Model Ledger Session
    SchemaError BudgetError PrivacyError
    plan baselines parts datasets evaluate audit papers plots
""".split()
)


@pytest.fixture(scope="module")
def texts():
    return dict(sources())


def long_modules(texts):
    return [
        f"{path}: {n}" for path, text in texts.items() if (n := text.count("\n")) > MODULE_LINES
    ]


def first(name):
    return name.split(".")[0]


def above(path):
    """Whether a module stands above the curator."""
    room, name = Path(path).parts[0], Path(path).stem
    return room == "algorithms" or (room == "core" and name in ABOVE)


def branches(texts):
    """Lines above the curator that compare a guarantee, each with its text."""
    return [
        (f"{path}:{node.lineno}", text.splitlines()[node.lineno - 1])
        for path, text in texts.items()
        if above(path)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare)
        and any(ast.unparse(side).endswith("guarantee") for side in (node.left, *node.comparators))
        and any(isinstance(part, ast.Constant) for part in ast.walk(node))
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
    (found,) = branches({Path("core/budgets.py"): text})
    assert found == ("core/budgets.py:1", f"if {line}:")
    assert branches({Path("algorithms/jtree.py"): text})
    assert not branches({Path("core/curator.py"): text, Path("files/model.py"): text})


def test_the_entrance_is_short():
    assert len({path.name for path in PACKAGE.iterdir()} - UNCOUNTED) <= ENTRIES


def test_no_modules_import_each_other_in_a_circle(texts):
    assert circle(graph(texts)) == []


@pytest.mark.parametrize(
    "line",
    [
        "from .engine import run",
        "import pdsynth.files.engine",
        "def f():\n    from . import engine",
    ],
)
def test_twin_a_circle_is_found(line):
    texts = {
        Path("files/__init__.py"): "from .disk import write",
        Path("files/disk.py"): line,
        Path("files/engine.py"): "from ..core import Model\nfrom .disk import write",
    }
    assert {"files.disk", "files.engine"} == set(circle(graph(texts)))
    assert circle(graph(texts | {Path("files/engine.py"): "from ..core import Model"})) == []


# --- the contracts of pyproject.toml


@pytest.fixture(scope="module")
def copy(root, tmp_path_factory):
    """A function that copies the package, adds a line to one of its files, and names the contracts
    that are broken then."""

    def broken(file=None, line=""):
        folder = tmp_path_factory.mktemp("house")
        for name in (path for path, _ in sources()):
            (folder / "pdsynth" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PACKAGE / name, folder / "pdsynth" / name)
        shutil.copy(root / "pyproject.toml", folder)
        if file:
            (path := folder / "pdsynth" / file).parent.mkdir(exist_ok=True)
            text = path.read_text("utf-8") if path.exists() else ""
            path.write_text(f"{text}\n{line}\n", "utf-8")
        done = subprocess.run(
            [sys.executable, *CONTRACTS],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "300", "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
        )
        found = re.findall(r"^(\w[\w ]*): .* (KEPT|BROKEN)$", done.stdout, flags=re.M)
        assert [name for name, _ in found] == ["Houses", "Doors", "Reading order"], done.stderr
        assert done.returncode == any(end == "BROKEN" for _, end in found)
        return [name for name, end in found if end == "BROKEN"]

    return broken


def test_the_contracts_are_kept_and_run_py_checks_them(copy, root):
    assert copy() == []
    text = (root / "run.py").read_text(encoding="utf-8")
    assert CONTRACTS[1] in text and "            CONTRACTS,\n" in text[text.index('"lint": (') :]


PLANTED = {
    "the core imports a satellite": ("core/schema.py", "from ..files import render", "Houses"),
    "… in a function": ("core/model.py", "def f():\n    from pdsynth import scale", "Houses"),
    "… by way of the package": ("core/model.py", "import pdsynth", "Houses"),
    "the core imports an algorithm": ("core/recipe.py", "from ..algorithms import JTree", "Houses"),
    "an algorithm imports a satellite": (
        "algorithms/jtree.py",
        "from ..published import RawCurator",
        "Houses",
    ),
    "the library imports the papers": ("files/pages.py", "from ..papers import engine", "Houses"),
    "the library imports the course": ("plots.py", "from .course import mic", "Houses"),
    "the papers import the course": ("papers/rules.py", "import pdsynth.course.mic", "Houses"),
    "a house that no line names": ("cellar/__init__.py", "wine = 1", "Houses"),
    "a satellite imports a room": (
        "evaluation/report.py",
        "from ..core.records import Records",
        "Doors",
    ),
    "… the module itself": ("papers/rules.py", "from ..algorithms import parts", "Doors"),
    "… of the package": ("__init__.py", "from .core.model import Model", "Doors"),
    "a room imports a later one": (
        "core/ledger.py",
        "from .curator import Curator",
        "Reading order",
    ),
    "… all of the core's names": ("core/noise.py", "from . import Schema", "Reading order"),
    "a room that no line names": ("core/cellar.py", "wine = 1", "Reading order"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_twin_an_import_that_a_contract_forbids_breaks_it(name, copy):
    file, line, contract = PLANTED[name]
    assert contract in copy(file, line)


# --- a strict fit


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

"""What pdsynth imports is declared, and what is declared is imported where it serves; a missing
extra is a sentence that names it, and what nobody chose is no proprietary software."""

import ast
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest
from contract_cases import TABLES
from import_tools import sources
from packaging.requirements import Requirement
from requirement_tools import flat_extras

from pdsynth import PrivBayes
from pdsynth.core.errors import OPTIONAL, needed_for

PROGRAMS = {  # that are started, not imported, and the file that does
    "jupyterlab": ("run.py", '"-m", "jupyterlab"'),
    "voila": ("run.py", '"-m", "voila"'),
}
# A test of each extra, which fails where it isn't installed; that of the last one, which is a large
# peer to be measured, runs where it is.
TESTED = {
    "files": ("tests/files/test_commands.py", "commands"),
    "learn": ("tests/evaluation/test_classifiers.py", "classifier"),
    "course": ("tests/course/test_widgets.py", "LivePlot"),
    "figures": ("tests/papers/test_new_user.py", '"fig3.svg").read_text'),
    "fast": ("tests/published/test_equivalence_classes.py", "compiled=True"),
    "secure": ("tests/core/test_opendp.py", 'noise="opendp"'),
    "scale": ("tests/scale/test_workers.py", "from distributed import"),
    "yardstick": ("tests/papers/test_yardsticks.py", 'importorskip("mbi")'),
}
# Imports that nothing asks before, and why each finds its package there.
THERE = {
    ("algorithms/hmprivbayes.py", "sklearn"): "check_clusters has asked, before the fit spent",
    ("core/recipe.py", "sklearn"): "scikit-learn itself calls it",
    ("files/opening.py", "openpyxl"): "_known asks for the package that KINDS names",
    ("files/opening.py", "pyarrow"): "_known asks for the package that KINDS names",
    ("scale/arrow.py", "pyarrow"): "it is given an Arrow table",
    ("scale/sources.py", "distributed"): "it is given a client",
    ("scale/sources.py", "pyarrow"): "find_source has asked",
    ("scale/workers.py", "distributed"): "it is given a client",
    ("scale/writing.py", "pyarrow"): "_arrow has asked",
}
DOORS = {  # a wing asks once, in its __init__.py
    "course": {"IPython", "anywidget", "ipywidgets", "plotly", "scipy", "sklearn", "threadpoolctl"}
    | {"traitlets"},
    "papers": {"plotly", "scipy"},
}
MODULES = {"scikit-learn": "sklearn", "scikit-learn-intelex": "sklearnex", "ipython": "IPython"}
INTEL = ("daal", "tbb", "tcmlib")  # what Intel's extension of scikit-learn brings
PROPRIETARY = "License :: Other/Proprietary License"


def called(call):
    """The last word of what is called."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def third(text):
    """Packages of others that a source imports anywhere, by a statement or by name."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
        elif isinstance(node, ast.Call) and called(node).endswith(("import_module", "find_spec")):
            given = [a.value for a in node.args if isinstance(a, ast.Constant)]
            names |= {name for name in given if not name.startswith(".")}
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"pdsynth"}


@pytest.fixture(scope="module")
def imported(root):
    """What the library's sources import."""
    files = (root / "pdsynth").rglob("*.py")
    return set().union(*(third(path.read_text(encoding="utf-8")) for path in files))


def guards(node):
    """Whether what stands in a statement is asked for: ``with needed_for(…)``, or caught."""
    if isinstance(node, ast.With):
        return any("needed_for" in ast.unparse(item.context_expr) for item in node.items)
    handlers = node.handlers if isinstance(node, ast.Try) else []
    return any(one.type and ast.unparse(one.type) == "ImportError" for one in handlers)


def unguarded(node, guarded=False):
    """Optional packages that a tree of code imports where nothing asks for them."""
    guarded = guarded or guards(node)
    found = set()
    if isinstance(node, (ast.Import, ast.ImportFrom)) and not guarded:
        found = third(ast.unparse(node)) & {*OPTIONAL}
    return found.union(*(unguarded(child, guarded) for child in ast.iter_child_nodes(node)))


def unasked(texts):
    """(module, package) of every optional import that no sentence stands before."""
    return {
        (path.as_posix(), package)
        for path, text in texts
        for package in unguarded(ast.parse(text)) - DOORS.get(path.parts[0], set())
    }


def declared(lines):
    """The modules of these requirements."""
    names = {Requirement(line).name for line in lines}
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


@pytest.fixture(scope="module")
def pyproject(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def extras(pyproject):
    return flat_extras(pyproject)


@pytest.fixture(scope="module")
def needed(pyproject):
    return pyproject["project"]["dependencies"]


def test_what_the_library_imports_is_declared(imported, needed, extras):
    optional = [line for lines in extras.values() for line in lines]
    assert imported - declared([*needed, *optional]) == set()


def test_what_is_declared_is_imported_or_a_program_that_is_started(root, imported, needed, extras):
    optional = [line for lines in extras.values() for line in lines]
    assert declared([*needed, *optional]) - imported == set(PROGRAMS)
    for file, words in PROGRAMS.values():
        assert words in (root / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("gone", ["scipy", "joblib", "traitlets", "ipython", "pandas"])
def test_twin_an_import_that_is_not_declared_is_seen(imported, needed, extras, gone):
    optional = [line for lines in extras.values() for line in lines]
    rest = [line for line in [*needed, *optional] if Requirement(line).name != gone]
    assert imported - declared(rest) == {MODULES.get(gone, gone)}


def test_twin_a_declared_package_that_nothing_imports_is_seen():
    assert third('# dask is wonderful\nimport dasher\nWORDS = {"dask": 1}') == {"dasher"}
    assert third("def f():\n    from dask import delayed") == {"dask"}
    assert third('find_spec("dask.dataframe")\nimport_module(".own", __name__)') == {"dask"}
    assert third("import os.path, pdsynth.plots\nfrom . import own\nfrom ..more import x") == set()


def test_the_table_of_optional_packages_is_that_of_the_extras(needed, extras):
    """A package's sentence names an extra that brings it; ``course`` has what it shares besides."""
    for module, (package, extra) in OPTIONAL.items():
        assert MODULES.get(package, package.replace("-", "_")) == module
        assert package in {Requirement(line).name for line in extras[extra]}, module
    every = declared(line for lines in extras.values() for line in lines)
    assert every - {*PROGRAMS} == {*OPTIONAL}
    assert not declared(needed) & {*OPTIONAL}


def test_every_optional_import_is_asked_for():
    assert unasked(sources()) == {*THERE}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import plotly", {"plotly"}),
        ("def f():\n    from sklearn.svm import SVC", {"sklearn"}),
        ("with open('x'):\n    import scipy.stats", {"scipy"}),
        ("with needed_for('x'):\n    import plotly\nimport joblib", {"joblib"}),
        ("try:\n    import numba\nexcept ImportError:\n    numba = None", set()),
        ("with needed_for('x'):\n    from plotly.io import json\nimport numpy, jinja2", set()),
    ],
)
def test_twin_an_import_that_nothing_asks_for_is_seen(text, found):
    assert unasked([(Path("model.py"), text)]) == {("model.py", package) for package in found}
    assert not unasked([(Path("papers/x.py"), "import plotly")])
    assert unasked([(Path("papers/x.py"), "import ipywidgets")])


def test_the_guide_names_each_extra_that_the_papers_need(root):
    guide = (root / "GUIDE.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `figures` \|.*`papers`.*$", guide, re.MULTILINE)
    needed = {OPTIONAL[package][1] for package in DOORS["papers"]}
    assert len(needed) == 2 and [extra for extra in needed if f"`{extra}`" not in row] == []


def test_an_error_that_is_not_a_missing_extra_stays_as_it_is():
    for missing in (ImportError("broken"), ModuleNotFoundError("no x", name="x")):
        with pytest.raises(ImportError) as told, needed_for("a picture"):
            raise missing
        assert told.value is missing


def test_every_extra_has_its_test_and_all_but_two_are_in_the_constraints(root, extras):
    assert {*TESTED} == {*extras}
    for file, words in TESTED.values():
        assert words in (root / file).read_text(encoding="utf-8")
    text = (root / "constraints.txt").read_text(encoding="utf-8")
    pinned = {*re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}
    names = {extra: {Requirement(line).name for line in lines} for extra, lines in extras.items()}
    assert {extra: absent for extra in extras if (absent := names[extra] - pinned)} == {
        "fast": {"scikit-learn-intelex"},  # proprietary in part: nobody's default
        "yardstick": {"mbi", "polars"},
    }
    asked = {*re.findall(r"--extra (\w+)", text)}
    assert asked | {"files", "learn", "fast", "yardstick"} == {*extras}


def licence(name):
    """How a package's metadata names its licence; None where it isn't installed."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        return None
    return [about.get("License"), *about.get_all("Classifier", [])]


def proprietary(licences):
    """Names whose metadata calls the licence proprietary."""
    return {name for name, words in licences.items() if words and PROPRIETARY in words}


def test_nothing_that_run_py_installs_is_proprietary(root):
    text = (root / "constraints.txt").read_text(encoding="utf-8")
    names = re.findall(r"^([\w.-]+)==", text, re.MULTILINE)
    assert "numpy" in names and not {*INTEL, "scikit-learn-intelex"} & {*names}
    assert proprietary({name: licence(name) for name in names}) == set()
    assert proprietary({"daal": [None, PROPRIETARY], "numpy": [None], "gone": None}) == {"daal"}


def test_the_licence_of_intel_s_extension_is_said_where_the_extra_is(root, extras):
    beside = (root / "pyproject.toml").read_text(encoding="utf-8")
    beside = beside[beside.index("# Intel's extension") : beside.index("fast = [")]
    readme = (root / "README.md").read_text(encoding="utf-8")
    readme = readme[readme.index("**Extras") :].split("\n\n")[0]
    assert [extra for extra in extras if f"`{extra}`" not in readme] == []
    for text in (beside.replace("\n# ", " "), readme.replace("\n", " ")):
        assert "Apache-2.0" in text and "Intel Simplified Software License" in text
        assert "proprietary" in text
        assert [name for name in INTEL if name not in text] == []


def test_the_licences_are_those_of_the_installed_metadata():
    pytest.importorskip(
        "sklearnex", reason="Intel's extension is proprietary in part: not installed"
    )
    assert "Apache" in licence("scikit-learn-intelex")[0]
    assert {licence(name)[0] for name in INTEL} == {"Intel Simplified Software License"}
    assert proprietary({name: licence(name) for name in INTEL}) == {*INTEL}


@pytest.mark.parametrize(
    ("package", "what"), [("pyarrow", "a Parquet file"), ("dask", "a Dask DataFrame")]
)
def test_without_the_extra_a_sentence_names_it(package, what, monkeypatch, tmp_path):
    frame, schema = TABLES["binary"]()
    data = tmp_path / "t"
    if package == "pyarrow":
        frame.to_parquet(data)
    else:
        from dask.dataframe import from_pandas

        data = from_pandas(frame, npartitions=2)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"{what} needs {package}: .*pdsynth\[scale\]"):
        PrivBayes().fit(data, schema)

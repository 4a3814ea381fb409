"""What pdsynth imports is declared, and what is declared is imported where it serves; a missing
extra is a sentence that names it, and what nobody chose is no proprietary software."""

import ast
import importlib
import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata

import pytest
from contract_cases import TABLES
from packaging.requirements import Requirement

from pdsynth import PrivBayes
from pdsynth.counting import sources

PLACES = ("pdsynth", "figures", "benchmarks")
PROGRAMS = {  # that are started, not imported, and the file that does
    "jupyterlab": ("run.py", '"-m", "jupyterlab"'),
    "voila": ("run.py", '"-m", "voila"'),
    "nbgrader": ("tests/course/test_teaching.py", '"-m", "nbgrader"'),
}
# A test of each extra, which fails where it isn't installed; those of the last two, which are
# peers to be measured and large, run where they are.
TESTED = {
    "figures": ("tests/papers/test_hpprivbayes.py", "make.svg("),
    "fast": ("tests/counting/test_equivalence_classes.py", "compiled=True"),
    "secure": ("tests/privacy/test_opendp.py", 'noise="opendp"'),
    "scale": ("tests/counting/test_workers.py", "from distributed import"),
    "teaching": ("tests/course/test_teaching.py", '"-m", "nbgrader"'),
    "voila": ("tests/course/test_doors.py", "voila"),
    "yardstick": ("tests/papers/test_yardsticks.py", 'importorskip("mbi")'),
    "bench": ("benchmarks/scale.py", "DuckDB"),
}
MODULES = {"scikit-learn": "sklearn", "scikit-learn-intelex": "sklearnex", "ipython": "IPython"}
INTEL = ("daal", "tbb", "tcmlib")  # what Intel's extension of scikit-learn brings
PROPRIETARY = "License :: Other/Proprietary License"


def third(text):
    """Packages of others that a source imports anywhere, by a statement or by name."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
        elif isinstance(node, ast.Call) and re.search(
            r"(import_module|find_spec|need)$", ast.unparse(node.func)
        ):
            given = [a.value for a in node.args if isinstance(a, ast.Constant)]
            names |= {name for name in given if not name.startswith(".")}
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"pdsynth"}


def imported(root, *places):
    """What the sources of these folders import."""
    files = [path for place in places for path in (root / place).rglob("*.py")]
    return set().union(*(third(path.read_text(encoding="utf-8")) for path in files))


def declared(lines):
    """The modules of these requirements."""
    names = {Requirement(line).name for line in lines}
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


@pytest.fixture(scope="module")
def pyproject(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def extras(pyproject):
    return pyproject["project"]["optional-dependencies"]


@pytest.fixture(scope="module")
def needed(pyproject):
    return pyproject["project"]["dependencies"]


def test_what_the_library_imports_is_declared(root, needed, extras):
    optional = [line for lines in extras.values() for line in lines]
    assert imported(root, "pdsynth") - declared([*needed, *optional]) == set()


def test_what_is_declared_is_imported_or_a_program_that_is_started(root, needed, extras):
    optional = [line for lines in extras.values() for line in lines]
    idle = declared(needed) - imported(root, "pdsynth")
    idle |= declared(optional) - imported(root, *PLACES)
    assert idle == set(PROGRAMS)
    for file, words in PROGRAMS.values():
        assert words in (root / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("gone", ["scipy", "joblib", "traitlets", "ipython", "pandas"])
def test_twin_an_import_that_is_not_declared_is_seen(root, needed, extras, gone):
    optional = [line for lines in extras.values() for line in lines]
    rest = [line for line in [*needed, *optional] if Requirement(line).name != gone]
    assert imported(root, "pdsynth") - declared(rest) == {MODULES.get(gone, gone)}


def test_twin_a_declared_package_that_nothing_imports_is_seen():
    assert third('# dask is wonderful\nimport dasher\nWORDS = {"dask": 1}') == {"dasher"}
    assert third("def f():\n    from dask import delayed") == {"dask"}
    assert third('need("dask", "dask.dataframe")\nimport_module(".own", __name__)') == {"dask"}
    assert third("import os.path, pdsynth.plots\nfrom . import own\nfrom ..more import x") == set()


def test_every_extra_has_its_test_and_the_test_group_installs_it(root, pyproject, extras):
    assert {*TESTED} == {*extras}
    for file, words in TESTED.values():
        assert words in (root / file).read_text(encoding="utf-8")
    there = {
        named(line) for line in pyproject["dependency-groups"]["test"] if isinstance(line, str)
    }
    absent = {extra: {*map(named, lines)} - there for extra, lines in extras.items()}
    assert {extra for extra, lines in absent.items() if lines} == {"yardstick", "bench", "fast"}
    assert absent["fast"] == {("scikit-learn-intelex",)}, "proprietary in part: nobody's default"


def named(requirement):
    """A requirement's name, with its own extras."""
    found = Requirement(requirement)
    return found.name, *sorted(found.extras)


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


@pytest.mark.parametrize(("package", "what"), sources.WORDS.items())
def test_without_the_extra_a_sentence_names_it(package, what, monkeypatch, tmp_path):
    real = importlib.import_module

    def missing(name):
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name)

    frame, schema = TABLES["binary"]()
    if package == "pyarrow":
        frame.to_parquet(tmp_path / "t")
        data = tmp_path / "t"
    else:
        data = real("dask.dataframe").from_pandas(frame, npartitions=2)
    monkeypatch.setattr(sources, "import_module", missing)
    with pytest.raises(ImportError, match=rf"{what} need {package}.*pdsynth\[scale\]"):
        PrivBayes().fit(data, schema)

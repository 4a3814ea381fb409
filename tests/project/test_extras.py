"""Every declared extra is imported where it serves; a missing one is a sentence that names it."""

import importlib
import re
import tomllib

import pytest
from contract_cases import TABLES
from packaging.requirements import Requirement

from pdsynth import PrivBayes
from pdsynth.counting import sources

PLACES = ("pdsynth", "figures", "benchmarks")
PROGRAMS = {  # that are started, not imported, and the file that does
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
MODULES = {"scikit-learn-intelex": "sklearnex", "DataSynthesizer": "DataSynthesizer"}


def texts(root):
    return [
        path.read_text(encoding="utf-8")
        for place in PLACES
        for path in (root / place).rglob("*.py")
    ]


def imported(module, sources_):
    """Whether some text imports a module, by a statement or by name."""
    ways = rf'^\s*(import|from) {module}\b|(import_module|need)\([^)]*"{module}[".]'
    return any(re.search(ways, text, re.MULTILINE) for text in sources_)


def declared(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        (extra, MODULES.get(name, name))
        for extra, listed in project["optional-dependencies"].items()
        for name in (Requirement(requirement).name for requirement in listed)
    }


def test_every_declared_extra_is_imported_somewhere(root):
    found = texts(root)
    idle = {pair for pair in declared(root) if not imported(pair[1], found)}
    assert {name for _, name in idle} == set(PROGRAMS)
    for file, words in PROGRAMS.values():
        assert words in (root / file).read_text(encoding="utf-8")
    assert {extra for extra, _ in declared(root)} >= {"scale", "fast", "secure", "figures"}


def test_every_extra_has_its_test_and_the_test_group_installs_it(root):
    assert {*TESTED} == {extra for extra, _ in declared(root)}
    for file, words in TESTED.values():
        assert words in (root / file).read_text(encoding="utf-8")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    there = {named(line) for line in project["dependency-groups"]["test"] if isinstance(line, str)}
    extras = project["project"]["optional-dependencies"]
    absent = {extra for extra, lines in extras.items() if not {*map(named, lines)} <= there}
    assert absent == {"yardstick", "bench"}


def named(requirement):
    """A requirement's name, with its own extras."""
    found = Requirement(requirement)
    return found.name, *sorted(found.extras)


def test_twin_an_extra_that_nothing_imports_is_seen():
    assert not imported("dask", ["# dask is wonderful", "import dasher", 'WORDS = {"dask": 1}'])
    assert imported("dask", ["def f():\n    from dask import delayed"])
    assert imported("dask", ['need("dask", "dask.dataframe")'])


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

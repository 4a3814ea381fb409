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

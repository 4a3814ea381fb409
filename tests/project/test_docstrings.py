"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import pdsynth

MODULES = [
    module.name
    for module in pkgutil.walk_packages(pdsynth.__path__, "pdsynth.")
    if not module.name.split(".")[-1].startswith("_")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run_as_printed(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as missing:  # an optional extra isn't installed here
        if missing.name.startswith("pdsynth"):
            raise
        pytest.skip(str(missing))
    assert doctest.testmod(module).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [
        test
        for name in MODULES
        if name.split(".")[1] == "core"
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(found) >= 20

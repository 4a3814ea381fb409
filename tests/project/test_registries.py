"""Whoever adds a member adds its row: each registry of the library beside the rows of its tests."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import contract_cases
import pytest

import pdsynth as pds
from pdsynth import baselines, datasets
from pdsynth.algorithms import parts
from pdsynth.course import panels
from pdsynth.papers.engine import PAPERS

TESTS = Path(__file__).resolve().parents[1]


def classes(room, having="__init__"):
    """The public classes of a room that have a method."""
    found = (getattr(room, name) for name in room.__all__)
    return {c.__name__ for c in found if inspect.isclass(c) and hasattr(c, having)}


def kinds(*rows):
    """The types of the values of some tables of cases, and of what these are made of."""
    values = [value for row in rows for value in row.values()]
    inside = [part for value in values for part in getattr(value, "__dict__", {}).values()]
    return {type(value).__name__ for value in (*values, *inside)}


def modules_with(room, name):
    """Modules of a room in which something of a name is defined."""
    found = (
        importlib.import_module(f"{room.__name__}.{m.name}")
        for m in pkgutil.iter_modules(room.__path__)
    )
    return {
        module.__name__.rpartition(".")[2]
        for module in found
        if getattr(getattr(module, name, None), "__module__", "") == module.__name__
    }


def written(folder, names):
    """Those of some names that stand as a whole word in a test of a folder."""
    text = "\n".join(path.read_text("utf-8") for path in (TESTS / folder).rglob("test_*.py"))
    words = {*"".join(c if c.isidentifier() or c.isdigit() else " " for c in text).split()}
    return {name for name in names if name in words}


loaders = {name for name in datasets.__all__ if name.startswith("load_")}
REGISTRIES = {
    "synthesizers": (
        classes(pds, "fit") | classes(baselines, "fit"),
        {case.cls.__name__ for case in contract_cases.CASES.values()},
    ),
    "parts": (
        classes(parts),
        kinds(
            contract_cases.STRUCTURES,
            contract_cases.BUDGETS,
            contract_cases.RECONCILIATIONS,
            contract_cases.CONDITIONALS,
        ),
    ),
    "datasets": (loaders, written("datasets", loaders)),
    "panels": (modules_with(panels, "panel") - {"panel"}, {*panels.LESSONS}),
    "panels with a test of their own": (
        {*panels.LESSONS},
        written("course/panels", panels.LESSONS),
    ),
    "papers": ({*PAPERS}, written("papers", PAPERS)),
}


def missing(members, rows):
    return sorted({*members} - {*rows})


@pytest.mark.parametrize("name", REGISTRIES)
def test_every_member_has_its_row(name):
    members, rows = REGISTRIES[name]
    assert members
    assert missing(members, rows) == []


def test_twin_a_member_without_its_row_is_missed(monkeypatch):
    class NewPart:
        """Nobody has mixed it with anything."""

    monkeypatch.setattr(parts, "NewPart", NewPart, raising=False)
    monkeypatch.setattr(parts, "__all__", [*parts.__all__, "NewPart"])
    assert missing(classes(parts), REGISTRIES["parts"][1]) == ["NewPart"]
    fewer = {n: case for n, case in contract_cases.CASES.items() if n != "PPBA"}
    left = {case.cls.__name__ for case in fewer.values()}
    assert missing(REGISTRIES["synthesizers"][0], left) == ["PPBA"]
    assert written("datasets", ["load_adult", "load_moon"]) == {"load_adult"}

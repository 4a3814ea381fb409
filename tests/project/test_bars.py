"""The script of the bars runs, and knows the room of every module."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("house", ROOT / "benchmarks" / "house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """A checkout of three modules, one of them a satellite."""

    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / "pdsynth" / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_every_bar_is_counted(house, capsys):
    house.main(["--skip", "unformatted", "size"])
    _, _, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == len(house.BARS) - 2
    counts = [row.split("|")[3].strip() for row in rows]
    assert all(count[0].isdigit() or count == "not run" for count in counts)


def test_every_module_has_a_room_and_a_stranger_is_named(house, tree):
    assert {m.room for m in house.modules(ROOT)} >= {"core", "files", "course"}
    with pytest.raises(KeyError, match="in which room cellar.wine is"):
        house.modules(tree(cellar__wine=""))


def test_what_a_bar_forbids_is_found(house, tree):
    """Twin: one module that breaks every border, and its neighbour that breaks none."""
    bad = tree(
        core__model="from ..files.disk import write\nscale = moved / epsilon + 2 / each\n# a block",
        core__unit='"""Adds up."""\nhalf = total / 2\n',
        files__disk="from ..core.unit import half\n",
    )
    assert house.outward(bad).places == ("core.model imports files.disk",)
    assert house.inward(bad).places == ("files.disk imports core.unit",)
    assert house.sensitivities(bad).said == "1; 1"
    assert house.mentions("blocks")(bad).places == ("core.model: block",)
    assert house.mentions("published")(bad).said == "0"


def test_formatting_and_lines_are_those_of_the_formatter(house, tree):
    (folder := tree(core__model="x = [1,\n 2]\n", course__plots="x = 1\n"))
    assert house.unformatted(folder).said == "1"
    assert house.size(folder).said == "1; 1"

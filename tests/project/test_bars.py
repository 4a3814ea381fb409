"""The script of the bars runs, and finds what a bar forbids."""

from pathlib import Path

import pytest
from script_tools import load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def house():
    return load(ROOT / "benchmarks" / "house.py")


@pytest.fixture
def tree(tmp_path):
    """A checkout of three modules, one of them a satellite."""

    def write(**texts):
        for name, text in texts.items():
            room, _, module = name.partition("__")
            path = tmp_path / "pdsynth" / room / f"{module}.py"
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


def test_the_room_of_a_module_is_its_first_folder(house):
    rooms = {m.name: m.room for m in house.modules(ROOT)}
    assert rooms["core.model"] == "core" and rooms["course.panels.table"] == "course"
    assert (rooms["__init__"], rooms["__main__"], rooms["plots"]) == ("core", "files", "course")


def test_no_import_crosses_the_border_past_its_doors(house):
    assert house.outward(ROOT).places == house.inward(ROOT).places == ()


def test_sensitivities_are_computed_by_the_curator_and_below(house):
    assert house.sensitivities(ROOT).places == ()


def test_what_a_bar_forbids_is_found(house, tree):
    """Twin: one module that breaks every border, and its neighbour that breaks none."""
    bad = tree(
        core__model="from ..files.disk import write\nscale = moved / epsilon + 2 / each\n# a block",
        core__schema='"""Adds up."""\nhalf = total / 2\n',
        core__noise="scale = 2 / epsilon\n",
        files__disk="from ..core.schema import half\n",
    )
    assert house.outward(bad).places == ("core.model imports files.disk",)
    assert house.inward(bad).places == ("files.disk imports core.schema",)
    assert house.sensitivities(bad).said == "1; 1"
    assert house.mentions("blocks")(bad).places == ("core.model: block",)
    assert house.mentions("published")(bad).said == "0"


@pytest.mark.parametrize(
    ("module", "line", "bar"),
    [
        ("core__model", "import_module('pdsynth.files')", "outward"),
        ("algorithms__jtree", "x = importlib.import_module('pdsynth.files')", "outward"),
        ("core__model", "__import__('pdsynth.files')", "outward"),
        ("core__model", "def f():\n    from ..files import write", "outward"),
        ("files__disk", "import_module('pdsynth.core.model')", "inward"),
        ("files__disk", "from ..core import model", "inward"),
        ("files__disk", "from ..core import _secret", "inward"),
        ("files__disk", "import pdsynth.core.model as m", "inward"),
    ],
)
def test_twin_a_way_past_a_door_is_found(house, tree, module, line, bar):
    name = module.replace("__", ".")
    folder = tree(
        **{
            "core____init__": "from .model import f",
            "core__model": "f = 1",
            "core__errors": "import_module(f'pdsynth.{name}')",
            "files____init__": "from ..core import f",
            module: line,
        }
    )
    (place,) = getattr(house, bar)(folder).places
    assert place.startswith(f"{name} ")


def test_formatting_and_lines_are_those_of_the_formatter(house, tree):
    (folder := tree(core__model="x = [1,\n 2]\n", course__plots="x = 1\n"))
    assert house.unformatted(folder).said == "1"
    assert house.size(folder).said == "1; 1"

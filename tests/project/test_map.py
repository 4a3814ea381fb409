"""README's tree and ARCHITECTURE's table name what is there, and lead to it."""

import re

import pytest
from core.test_one_door import FLOORS

QUESTIONS = {
    "noise is drawn": r"def discrete_laplace\(",
    "a new budget rule goes": r"class Uniform\(BudgetRule\)",
    "a paper's claim is judged": r"@rule\b",
}
BESIDE = {
    "CITATION.cff",
    "LICENSE",
    "pyproject.toml",
    "environment.yml",
    "towncrier.toml",
    "run.py",
    "build",
}
FILE = r"`((?:pdsynth|tests)/[\w/]*(?:\.py)?)`"


@pytest.fixture(scope="module")
def readme(root):
    return (root / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def architecture(root):
    return (root / "ARCHITECTURE.md").read_text(encoding="utf-8")


def rows(text):
    """What ARCHITECTURE's table says: what stands there, its files, its floor."""
    table = text[text.index("## Where it stands") :]
    cells = [line.split("|")[2:5] for line in table.splitlines() if line.startswith("|")]
    return [(what, re.findall(FILE, files), floor.strip()) for what, files, floor in cells[2:]]


def missing(text, root):
    """Files of the table that aren't there, and rooms of the package that aren't in the table."""
    named = {path for _, files, _ in rows(text) for path in files}
    rooms = {
        p.name
        for p in (root / "pdsynth").iterdir()
        if not p.name.startswith("__") and p.name != "py.typed"
    }
    return sorted(path for path in named if not (root / path).exists()), sorted(
        room for room in rooms if not any(path.split("/")[1] == room for path in named)
    )


def test_the_readme_is_short(readme):
    assert len(readme.splitlines()) <= 90 and len(readme.split()) <= 900


def test_the_readme_s_tree_is_the_repository_s(readme, root):
    tree = readme[readme.index("## Where to go next") :].split("```")[1].strip()
    named = {line.split()[0] for line in tree.splitlines()}
    there = {
        p.name + "/" * p.is_dir()
        for p in root.iterdir()
        if not p.name.startswith((".", "constraints")) and p.name not in {*BESIDE, "__pycache__"}
    }
    assert named == there - {"README.md"}


def test_every_file_of_the_table_is_there_and_every_room_is_in_it(architecture, root):
    assert missing(architecture, root) == ([], [])


def test_twin_a_file_that_moved_and_a_room_without_a_line_are_found(architecture, root):
    moved = architecture.replace("`pdsynth/core/model.py`", "`pdsynth/core/model.py`")
    assert missing(moved, root) == (["pdsynth/core/model.py"], ["model.py"])


def test_files_are_named_in_the_table_alone(architecture):
    assert re.findall(FILE, architecture[: architecture.index("## Where it stands")]) == []


def test_floors_are_those_that_imports_are_held_to(architecture):
    found = {
        path.split("/")[1].removesuffix(".py"): floor
        for _, files, floor in rows(architecture)
        for path in files
        if path.startswith("pdsynth/")
    }
    assert found == {room: str(FLOORS[room]) for room in found} and len(found) > 15


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_its_file_in_one_line(question, root, architecture):
    ((*_, path),) = [files for what, files, _ in rows(architecture) if question in what]
    assert re.search(QUESTIONS[question], (root / path).read_text(encoding="utf-8"))


def test_sliders_are_declared_where_the_table_says(root, architecture):
    ((folder,),) = [f for what, f, _ in rows(architecture) if "a slider is declared" in what]
    assert folder == "pdsynth/course/panels/"
    declared = [
        p
        for p in (root / "pdsynth").rglob("*.py")
        if re.search(r"=slider\(|: slider\(", p.read_text(encoding="utf-8"))
    ]
    assert declared and {p.parent.name for p in declared} <= {"panels", "widgets"}

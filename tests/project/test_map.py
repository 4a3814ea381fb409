"""README's tree, ARCHITECTURE's table and the core's README name what is there, and lead to it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

import pdsynth as pds

QUESTIONS = {
    "noise is drawn": r"def discrete_laplace\(",
    "a new score goes": r"^SCORES = ",
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


@pytest.fixture(scope="module")
def walk(root):
    return (root / "pdsynth" / "core" / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def layers(root):
    """What the contracts of pyproject.toml hold imports to: layers of a folder, lowest first."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return {
        c["containers"][0]: [re.split(r" [:|] ", layer) for layer in reversed(c["layers"])]
        for c in contracts
        if c["type"] == "layers"
    }


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
    moved = architecture.replace("`pdsynth/plots.py`", "`pdsynth/drawing.py`")
    assert missing(moved, root) == (["pdsynth/drawing.py"], ["plots.py"])
    gone = architecture.replace("`pdsynth/scale/`", "")
    assert missing(gone, root) == ([], ["scale"])


def test_files_are_named_in_the_table_alone(architecture):
    assert re.findall(FILE, architecture[: architecture.index("## Where it stands")]) == []


def test_floors_are_those_that_imports_are_held_to(architecture, layers):
    houses = layers["pdsynth"]
    floors = {house: str(floor) for floor, names in enumerate(houses) for house in names}
    found = {
        (path.split("/")[1].removesuffix(".py"), floor)
        for _, files, floor in rows(architecture)
        for path in files
        if path.startswith("pdsynth/")
    }
    assert found == {*floors.items()} - {("__main__", floors["__main__"])}


def core_files(architecture):
    """Files of the core in the order of ARCHITECTURE's table."""
    found = [path for _, files, _ in rows(architecture) for path in files]
    return [p.split("/")[2].removesuffix(".py") for p in found if p.startswith("pdsynth/core/")]


def test_the_core_is_walked_in_the_order_of_its_imports(architecture, walk, layers):
    order = [room for (room,) in layers["pdsynth.core"]]
    assert core_files(architecture) == order
    assert re.findall(r"^\d+\. \[`(\w+)\.py`\]\(\1\.py\): ", walk, flags=re.M) == order
    assert len(walk.splitlines()) <= 120


def test_what_the_walk_names_is_in_the_file_that_it_names(walk, root):
    named = re.findall(r"`(\w+\.py): (\w+)", walk)
    assert len(named) >= 8
    for file, name in named:
        text = (root / "pdsynth" / "core" / file).read_text(encoding="utf-8")
        assert re.search(rf"(def|class) {name}\b", text), (file, name)


def called(run):
    """The core's functions that a run calls, with their files, in the order of its calls."""
    found, core = [], str(Path(pds.__file__).parent / "core")

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(core):
            found.append((Path(code.co_filename).name, code.co_qualname))

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


@pytest.fixture(scope="module")
def followed(walk):
    """The walk's last part: k, child and parent; files and names; what a fit and a sample call."""
    part = walk[walk.index("## One question, followed once") :]
    k = int(re.search(r"PrivBayes\(1, k=(\d)\)", part)[1])
    child, parent = re.search(r"`(\w+)` given `(\w+)`", part).groups()
    adult = pds.datasets.load_adult()
    columns = [child, parent, "native-country"]  # whose tables have more than 32 cells
    frame, schema = adult.frame[columns].head(3000), adult.schema.select(columns)
    steps = set()

    def run():
        for seed in range(8):
            fitted = pds.PrivBayes(1, k=k, random_state=seed).fit(frame, schema)
            steps.update(e.step for e in fitted.ledger_.entries)
            fitted.sample(5)

    calls = called(run)
    return f"table({child} | {parent})", re.findall(r"`(\w+\.py): (\w+)`", part), steps, calls


def test_the_walk_s_question_is_one_that_its_fit_asks(followed):
    question, _, steps, _ = followed
    assert question in steps


def test_the_walk_s_functions_are_called_in_its_order(followed):
    _, named, _, calls = followed
    asked = calls.index(("budgets.py", "measure_joint_counts"))
    before, after = (
        [(file, part) for file, name in calls[slice(*ends)] for part in name.split(".")]
        for ends in ((0, asked), (asked, None))
    )
    assert set(named[:2]) <= set(before) and set(named[2:]) <= set(after)
    order = [after.index(key) for key in named[2:] if not key[1].endswith("_mechanism")]
    assert len(order) >= 6 and order == sorted(order)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_finds_its_file_in_one_line(question, root, architecture):
    ((*_, path),) = [files for what, files, _ in rows(architecture) if question in what]
    assert re.search(QUESTIONS[question], (root / path).read_text(encoding="utf-8"), re.M)


def test_sliders_are_declared_where_the_table_says(root, architecture):
    ((folder,),) = [f for what, f, _ in rows(architecture) if "a slider is declared" in what]
    assert folder == "pdsynth/course/panels/"
    declared = [
        p
        for p in (root / "pdsynth").rglob("*.py")
        if re.search(r"=slider\(|: slider\(", p.read_text(encoding="utf-8"))
    ]
    assert declared and {p.parent.name for p in declared} <= {"panels", "widgets"}

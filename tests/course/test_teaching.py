"""The teacher's kit: it fits by the clock, says what the exercises know, grades, leaks nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pdsynth.course.exercises.answers import questions
from pdsynth.course.exercises.student import student

ROOT = Path(__file__).resolve().parents[2]
TEACHING = ROOT / "notebooks" / "teaching"
RUNNER = Path(__file__).with_name("run_notebook.py")
sys.path.insert(0, str(TEACHING))
import assignments  # noqa: E402
import bank  # noqa: E402
import kit  # noqa: E402
import workshop  # noqa: E402

FILES = assignments.FILES
GRADED = [
    (path.stem, name) for path in FILES for name in assignments.read(path) if name.startswith("q")
]


@pytest.fixture(scope="module")
def sources():
    return workshop.read_sources()


def texts(notebook, kind):
    cells = json.loads(notebook)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def test_the_committed_workshop_and_plan_are_current():
    assert kit.stale() == []


def test_the_workshop_fits_in_ninety_minutes():
    """Counted again from the notebook itself: words, run time, and the allowances of its kinds."""
    _, minutes = workshop.make_workshop()
    total = sum(sum(part.values()) for part in minutes.values())
    assert total <= workshop.LIMIT == 90
    allowed, plan = workshop.KIT["allowance"], workshop.KIT["workshop"]
    assert plan["seconds"] > 5 and min(allowed.values()) > 0
    text = (TEACHING / "workshop.ipynb").read_text("utf-8")
    prose, code = texts(text, "markdown"), texts(text, "code")
    kinds = [kind for one in prose for kind in re.findall(r"^\*\*\d · ([\w ]+)\.\*\*", one)]
    assert len(kinds) == sum(len(part["exercises"]) for part in plan["part"]) == 8
    words = len(re.findall(r"\S*\w\S*", " ".join(prose)))
    again = words / 200 + plan["seconds"] / 60 + sum(allowed[kind] for kind in kinds)
    again += sum(part["discussion"]["minutes"] for part in plan["part"])
    again += sum(one.count("\nguess(") for one in code) * allowed["guess"]
    again += sum("panel()" in one for one in code) * allowed["panel"]
    again += (len(code) - 2 * len(kinds)) * allowed["cell"]
    assert total == pytest.approx(again, abs=2)  # tables and formulas count a little differently
    assert f"**{total:.0f}**" in prose[0]


def test_twin_a_longer_workshop_doesn_t_fit(monkeypatch):
    part = dict(workshop.KIT["workshop"]["part"][0], exercises=[1, 2, 3])
    longer = [part, *workshop.KIT["workshop"]["part"][1:]]
    monkeypatch.setitem(workshop.KIT["workshop"], "part", longer)
    monkeypatch.setitem(workshop.KIT["allowance"], "Code", 10)
    _, minutes = workshop.make_workshop()
    assert sum(sum(part.values()) for part in minutes.values()) > workshop.LIMIT


def test_a_section_that_a_lesson_no_longer_has_is_named(sources):
    with pytest.raises(KeyError, match="0 sections begin with 'Gone'"):
        workshop.get_section(workshop.split_pieces(sources["00"]), "Gone")


def find_solutions():
    """The lines of every solution in the workshop."""
    for kind, text, _ in workshop.make_workshop()[0]:
        if kind == "code" and "\n# solution\n" in text:
            before, after = text.split("\n# solution\n")
            yield from (line for line in after.splitlines() if line not in before.splitlines())


def test_no_solution_stands_in_the_student_s_workshop():
    lines = list(find_solutions())
    assert len(lines) >= 8
    shown = (TEACHING / "workshop.ipynb").read_text("utf-8")
    solved = workshop.make_notebook(solutions=True)
    for line in lines:
        assert json.dumps(line, ensure_ascii=False)[1:-1] not in shown, line
        assert json.dumps(line, ensure_ascii=False)[1:-1] in solved, line


def test_the_links_and_pictures_of_the_kit_lead_somewhere():
    for path in [*TEACHING.glob("*.md"), TEACHING / "workshop.ipynb"]:
        for link in re.findall(r"\]\(([^)#:]+?\.\w+)(?:#[^)]*)?\)", path.read_text("utf-8")):
            assert (TEACHING / link).exists(), (path.name, link)


def test_twelve_weeks_hold_every_lesson_once(sources):
    weeks = workshop.KIT["week"]
    assert len(weeks) == 12
    assert sorted(number for week in weeks for number in week["lessons"]) == sorted(sources)


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.parametrize("solved", [True, False])
def test_the_workshop_runs(tmp_path, solved):
    path = tmp_path / "workshop.ipynb"
    path.write_text(workshop.make_notebook(solutions=solved), encoding="utf-8")
    options = ["--panels=any", *([] if solved else ["--student"])]
    run = subprocess.run(
        [sys.executable, str(RUNNER), str(path), *options],
        capture_output=True, text=True, timeout=400, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]


def test_notes_and_hand_outs_say_what_the_exercises_know(sources):
    few = {number: sources[number] for number in ("04", "17")}
    notes, pages = bank.write_notes(few), bank.write_handouts(few)
    for question in questions(["lesson_04", "lesson_17"]):
        for _, text in question.misconceptions():
            assert text.replace("\n", " ") in notes
        assert question.exercise.solution_text in notes
        assert all(hint in notes for hint in question.exercise.hints)
    assert "| Your turn | " in notes and "{" not in re.sub(r"```.*?```|\$.*?\$|`.*?`|\{'.*?'\}", "",
                                                           notes, flags=re.DOTALL)  # fmt: skip
    assert len(pages.split("page-break-after")) == 3
    assert all(len(page.split()) < 450 for page in pages.split("page-break-after"))
    assert "**Remember.**" in pages and "**Test yourself.**" in pages


@pytest.mark.slow
def test_the_whole_kit_is_written(tmp_path):
    kit.write_kit(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "notes.md", "quiz.xml", "handouts.md", "workshop_solved.ipynb", "course"}  # fmt: skip
    assert len(ElementTree.parse(tmp_path / "quiz.xml").findall("question")) > 80
    for page in (tmp_path / "handouts.md").read_text("utf-8").split("page-break-after"):
        assert len(page.split()) < 520, page[:200]


def run_cells(folder, assignment, name, code, owner="ada"):
    """The student's cells of one question and its graded test, as the kernel of a grader runs them.

    Returns whether the test passes. ``owner`` is the folder that was handed in.
    """
    question = assignments.read(TEACHING / "assignments" / f"{assignment}.toml")[name]
    place = folder / owner / assignment
    place.mkdir(parents=True, exist_ok=True)
    scope, before = {"NAME": "ada"}, Path.cwd()
    os.chdir(place)
    try:
        exec(assignments.SETUP, scope)
        exec(assignments.OWN, scope)
        exec(assignments.choose_numbers(assignment, name, question), scope)
        exec(code, scope)
        exec(assignments.hidden_test(assignment, name, question), scope)
    except Exception:
        return False
    finally:
        os.chdir(before)
    return True


@pytest.mark.parametrize(("assignment", "name"), GRADED)
def test_a_solution_passes_and_every_wrong_answer_fails(assignment, name, tmp_path):
    question = assignments.read(TEACHING / "assignments" / f"{assignment}.toml")[name]
    assert run_cells(tmp_path, assignment, name, question["solution"])
    assert len(question["wrong"]) >= 10
    for answer in [question["start"], *question["wrong"]]:
        assert not run_cells(tmp_path, assignment, name, question.get("setup", "") + answer), answer


@pytest.mark.parametrize(("assignment", "name"), [
    (one, name) for one, name in GRADED
    if assignments.read(TEACHING / "assignments" / f"{one}.toml")[name].get("numbers")
    or (one, name) in [("assignment_1", "q2"), ("assignment_1", "q4")]
])  # fmt: skip
def test_another_student_s_right_answer_is_wrong(assignment, name, tmp_path):
    """Ada's notebook, handed in by Bob: his numbers and his table count."""
    question = assignments.read(TEACHING / "assignments" / f"{assignment}.toml")[name]
    task = f"{assignment}.{name}"
    choices = question.get("numbers", {})
    hers = student("ada").numbers(task, choices)
    other = next(one for one in ("bob", "cyd", "eve", "dan", "fay")
                 if not choices or student(one).numbers(task, choices) != hers)  # fmt: skip
    assert not run_cells(tmp_path, assignment, name, question["solution"], owner=other)


def grade(folder, assignment, submissions):
    """Points by student, by nbgrader itself; the release is checked for solutions on the way."""
    path = {**os.environ, "PYTHONPATH": str(ROOT),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}  # fmt: skip
    call = [sys.executable, "-m", "nbgrader"]
    options = {"cwd": folder, "env": path, "capture_output": True, "text": True, "timeout": 900}
    made = subprocess.run([*call, "generate_assignment", assignment], **options)
    assert made.returncode == 0, made.stderr[-3000:]
    released = (folder / "release" / assignment / f"{assignment}.ipynb").read_text("utf-8")
    for name, solve in submissions.items():
        notebook = json.loads(released)
        for cell in notebook["cells"]:
            key = cell["metadata"]["nbgrader"]["grade_id"]
            if key == "name":
                cell["source"] = 'NAME = "ada"'
            elif (code := solve(key)) is not None:
                cell["source"] = code
        place = folder / "submitted" / name / assignment
        place.mkdir(parents=True)
        (place / f"{assignment}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    graded = subprocess.run([*call, "autograde", assignment, "--create"], **options)
    assert graded.returncode == 0, graded.stderr[-3000:]
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        return released, {one: book.find_submission(assignment, one).score for one in submissions}


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nbgrader_releases_no_solution_and_gives_full_marks_or_none(path, tmp_path):
    """Solutions all points, wrong answers none; a test cell that was changed is restored."""
    data = {key: one for key, one in assignments.read(path).items() if key.startswith("q")}
    assignments.write_course(tmp_path)

    def wrong(key):
        question = data.get(key)
        return question and question.get("setup", "") + question["wrong"][0]

    def cheat(key):
        return "pass" if key.endswith("-test") else wrong(key)

    released, points = grade(tmp_path, path.stem, {
        "ada": lambda key: data[key]["solution"] if key in data else None,
        "wrong": wrong, "cheat": cheat,
    })  # fmt: skip
    assert points["ada"] == sum(one["points"] for one in data.values())
    assert points["wrong"] == points["cheat"] == 0
    code = "\n".join(texts(released, "code"))
    for question in data.values():
        assert question["solution"] not in code and question["hidden"].strip() not in code
    assert "HIDDEN" not in code and "BEGIN SOLUTION" not in code and "your code here" in code
    shutil.rmtree(tmp_path / "autograded")


def test_the_kit_is_declared_licensed_and_found():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = [one for one in declared["dependency-groups"]["test"] if isinstance(one, str)]
    assert any(one.startswith("nbgrader") for one in named)
    assert "notebooks/teaching/README.md" in (ROOT / "README.md").read_text("utf-8")
    page = (TEACHING / "README.md").read_text("utf-8")
    assert "CC BY 4.0" in page and len(page.split()) < 600

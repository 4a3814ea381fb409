"""The teacher's kit: it fits by the clock, says what the exercises know, grades, leaks nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pdsynth.course.exercises.answers import questions
from pdsynth.course.exercises.games import ROUNDS
from pdsynth.course.exercises.judges import Each, Number
from pdsynth.course.exercises.student import student

ROOT = Path(__file__).resolve().parents[2]
TEACHING = ROOT / "notebooks" / "teaching"
sys.path.insert(0, str(TEACHING))
import assignments  # noqa: E402
import bank  # noqa: E402
import course_map  # noqa: E402
import kit  # noqa: E402
import stage  # noqa: E402
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


def test_the_core_of_the_workshop_fits_in_75_minutes():
    """Counted again from the notebook itself: words, run time, the allowances of its kinds, and
    40 % more for whatever is done live; what is marked to be dropped first isn't in it."""
    _, total = workshop.make_workshop()
    assert total <= workshop.LIMIT == 75
    allowed, plan = workshop.KIT["allowance"], workshop.KIT["workshop"]
    assert plan["seconds"] > 5 and min(allowed.values()) > 0 and plan["live"] == 1.4
    cells = json.loads((TEACHING / "workshop.ipynb").read_text("utf-8"))["cells"]
    core, dropped = [], False
    for cell in cells:
        text = "".join(cell["source"])
        if text.startswith("# ") or text.startswith("## To take home"):
            dropped = "drop first" in text.split("\n")[0]
        dropped |= text.startswith("### Reserve: drop first")
        if not dropped:
            core.append((cell["cell_type"], text))
    prose, code = ([text for kind, text in core if kind == k] for k in ("markdown", "code"))
    kinds = [kind for one in prose for kind in re.findall(r"^\*\*\d · ([\w ]+)\.\*\*", one)]
    assert len(kinds) == 4 and "Attack" in kinds and "Write" in kinds
    live = plan["seconds"] / 60 + sum(allowed[kind] for kind in kinds)
    live += (len(code) - 2 * len(kinds)) * allowed["cell"]
    again = len(re.findall(r"\S*\w\S*", " ".join(prose))) / 200 + 1.4 * live
    again += sum(p["discussion"]["minutes"] for p in plan["part"] if not p.get("all_reserve"))
    again += sum(bool(re.search("^guess\\(", one, re.M)) for one in code) * allowed["guess"]
    again += sum("panel()" in one for one in code) * allowed["panel"]
    assert total == pytest.approx(again, abs=2)  # tables and formulas count a little differently
    assert f"**{total:.0f}**" in prose[0]
    whole = total + sum(workshop.live_minutes(part.reserve) for part in workshop.make_parts())
    said = re.search(r"75 to (\d+) minutes", (TEACHING / "README.md").read_text("utf-8"))
    assert int(said[1]) - 5 <= whole <= int(said[1])
    part_b = next(one for one in prose if one.startswith("# Part B"))
    assert "panels.mechanisms.panel()" in "".join(code), part_b


def test_minute_marks_follow_each_other():
    prose = texts((TEACHING / "workshop.ipynb").read_text("utf-8"), "markdown")
    marks = [
        found for one in prose for found in re.findall(r"^# Part \w .*minutes (\d+) to (\d+)", one)
    ]
    assert len(marks) == 4 and all(a[1] == b[0] for a, b in zip(marks, marks[1:], strict=False))
    sheet = (TEACHING / "facilitator.md").read_text("utf-8")
    minutes = [
        int(n) for n in re.findall(r"^\| (\d+) \| [^|]+ \|$", sheet.split("## Part")[0], re.M)
    ]
    for part in sheet.split("## Part ")[1:]:
        minutes = [int(n) for n in re.findall(r"^\| (\d+) \|", part, re.M)]
        assert minutes == sorted(minutes) and minutes


def test_twin_a_longer_workshop_doesn_t_fit(monkeypatch):
    first, *others = workshop.KIT["workshop"]["part"]
    longer = [dict(first, exercises=first["reserve"], reserve=[]), *others]
    monkeypatch.setitem(workshop.KIT["workshop"], "part", longer)
    assert workshop.make_workshop()[1] > workshop.LIMIT


def test_who_stands_in_front_knows_what_to_say_when_to_stop_and_what_they_ask():
    sheet = (TEACHING / "facilitator.md").read_text("utf-8")
    parts = workshop.KIT["workshop"]["part"]
    assert sheet.count("**Say.**") == sheet.count("**Stop when:**") == len(parts)
    assert all(len(part["asked"]) >= 1 and part["say"] in sheet for part in parts)
    assert "reserve: drop first" in sheet and "run.py lab" in sheet and "site/html" in sheet
    form = (TEACHING / "evaluation.md").read_text("utf-8")
    (first, *_) = texts((TEACHING / "workshop.ipynb").read_text("utf-8"), "markdown")
    for goal in workshop.KIT["workshop"]["objectives"]:
        assert goal in sheet and goal.rstrip(".;") in form
        assert f"* {goal}" in first
    assert f"{ROUNDS:,} wins of {ROUNDS:,}" in sheet, "as many rounds as the exercise plays"
    assert all(form.count(check["text"]) == 2 for check in workshop.KIT["check"]), (
        "before and after"
    )


def test_slides_are_few_and_need_no_other_file():
    page = stage.write_slides()
    assert 8 <= page.count("<section>") <= 10 and page.count("<svg") >= 5
    assert not re.search(r"(src|href)=[\"'](?!#|data:)", page)
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names)) > 5
    used = set(re.findall(r"url\(#([^)]+)\)", page))
    assert used and used <= set(names)


def test_slides_name_their_pictures_as_the_lessons_do():
    said = re.findall(r'<svg role="img" aria-label="([^"]+)"', stage.write_slides())
    lesson = (TEACHING.parent / "01_dp_mechanisms.ipynb").read_text("utf-8")
    assert f"![{said[0]}](pictures/01_dp_mechanisms.svg)" in lesson
    assert len(said) == sum("picture" in slide for slide in workshop.KIT["slide"])


def test_the_class_s_guesses_have_a_cell_for_each_question():
    text = stage.write_guesses()
    asked = stage.find_guesses(workshop.make_parts())
    code = texts(text, "code")
    assert len(asked) >= 4 and len(code) == 1 + len(asked)
    assert all(any(repr(question) in one for one in code) for _, question, _ in asked)


def test_without_installing_there_is_a_zip_of_the_site(tmp_path):
    with pytest.raises(SystemExit, match="run.py site"):
        stage.zip_site(tmp_path / "none", tmp_path)
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "index.html").write_text("x")
    assert (
        zipfile.ZipFile(stage.zip_site(tmp_path / "html", tmp_path)).namelist()[-1] == "index.html"
    )


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


def overlong(weeks, sources):
    """Weeks with more than 140 minutes of lessons, and lessons before what they need."""
    needs = {lesson["number"]: lesson["needs"] for lesson in course_map.load()["lesson"]}
    known, wrong = set(), []
    for place, week in enumerate(weeks, 1):
        known |= set(week["lessons"])
        minutes = sum(
            course_map.minutes(workshop.lessons.cells(sources[n]), n) for n in week["lessons"]
        )
        wrong += [f"week {place}: {minutes} minutes"] if minutes > 140 else []
        wrong += [f"{n} before {m}" for n in week["lessons"] for m in needs[n] if m not in known]
    return wrong


def test_a_week_s_lessons_fit_before_its_meeting_and_come_after_what_they_need(sources):
    weeks = workshop.KIT["week"]
    assert overlong(weeks, sources) == []
    assert overlong([*weeks[:9], {"lessons": ["12", "13", "17", "21"]}], sources) == [
        "week 10: 260 minutes"
    ]
    assert "16 before 14" in overlong(weeks[:4] + [{"lessons": ["16"]}], sources)


@pytest.mark.notebook
@pytest.mark.slow
def test_the_workshop_runs(tmp_path, run):
    """Unanswered, and then with its solutions, as the lessons do."""
    paths = [tmp_path / f"{name}.ipynb" for name in ("student", "solved")]
    for path, solved in zip(paths, (False, True), strict=True):
        path.write_text(workshop.make_notebook(solutions=solved), encoding="utf-8")
    assert run(paths, any_panels=True) == []


def test_the_first_week_asks_for_no_panel_that_the_workshop_has_moved():
    parts = workshop.make_parts()[:2]
    moved = re.findall(r"panels\.(\w+)\.panel", str([part.cells for part in parts]))
    assert moved == ["first_table", "mechanisms"]  # of lessons 00 and 01
    first = workshop.KIT["week"][0]["meeting"]
    assert "first two parts" in first and not re.search(r"panel of lesson 0[01]", first)


def is_negative(judge):
    """Whether a number below zero is right."""
    parts = judge.judges if isinstance(judge, Each) else [judge]
    return any(min(part.right) < 0 for part in parts if isinstance(part, Number))


def test_a_question_whose_answer_is_below_zero_says_that_it_may_be(sources):
    """Else nothing is as good an answer to "how many"."""
    asked = {
        str(question): bank.ask(source, question)
        for number, source in sources.items()
        for question in questions([f"lesson_{number}"])
        if is_negative(question.judge)
    }
    assert "lesson_15-q1" in asked
    assert [name for name, text in asked.items() if "minus sign" not in text] == []


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


def test_a_hand_out_points_at_nothing_that_isn_t_on_it(sources):
    """Sheets spoke of "the table above", of "the panel above", and fixed a `random_state`.

    One asked paper to run `ex.gparentset(…)`.
    """
    pages = bank.write_handouts(sources)
    assert "`ex." not in pages
    found = re.findall(
        r"[^.\n]*\b(?:[Tt]his page|(?:table|panel|slider|cells?|twin) above)\b.*", pages
    )
    assert found == [] and len(pages) > 30_000


def test_the_kit_says_where_its_files_are(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kit, "wanted", dict)
    monkeypatch.setattr(kit, "write_kit", lambda folder: folder.mkdir())
    assert kit.main(["--out", str(tmp_path / "kit")]) == 0
    assert f"the kit is in {tmp_path / 'kit'};" in capsys.readouterr().out


def test_wrong_answers_warn_nobody_who_lists_them(recwarn):
    """One takes the logarithm of a negative number."""
    (question,) = (q for q in questions(["lesson_06"]) if q.key == "q3")
    assert question.misconceptions() and not recwarn.list


@pytest.mark.slow
def test_the_whole_kit_is_written(tmp_path):
    """With the notes of one lesson: wrong answers are those of ``test_lessons.py``."""
    kit.write_kit(tmp_path, ["02"])
    assert {path.name for path in tmp_path.iterdir()} == {
        "notes.md", "quiz.xml", "handouts.md", "workshop_solved.ipynb", "course", "slides.html",
        "class_guesses.ipynb"}  # fmt: skip
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
    for answer in [question["solution"], *question.get("also", [])]:
        assert run_cells(tmp_path, assignment, name, question.get("setup", "") + answer), answer
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


# nbgrader's commands one after another: it takes two seconds to start. Each line: a folder, words.
COMMANDS = """\
import json, os, sys
from nbgrader.apps.nbgraderapp import NbGraderApp
from traitlets.config import Application

for line in sys.stdin:
    folder, words = json.loads(line)
    os.chdir(folder)
    try:
        NbGraderApp.launch_instance(words)
        code = 0
    except SystemExit as end:
        code = end.code
    Application.instance().clear_instance()
    print(json.dumps(code or 0), flush=True)
"""


@pytest.fixture(scope="module")
def nbgrader():
    """``nbgrader(folder, *words)`` runs a command of nbgrader, which must succeed."""
    path = {**os.environ, "PYTHONPATH": str(ROOT),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}  # fmt: skip
    shell = subprocess.Popen([sys.executable, "-c", COMMANDS], env=path, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip

    def nbgrader(folder, *words):
        shell.stdin.write(json.dumps([str(folder), words]) + "\n")
        shell.stdin.flush()
        assert shell.stdout.readline() == "0\n"

    with shell:
        yield nbgrader


def grade(nbgrader, folder, assignment, submissions):
    """Points by student, by nbgrader itself; the release is checked for solutions on the way."""
    nbgrader(folder, "generate_assignment", assignment)
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
    nbgrader(folder, "autograde", assignment, "--create")
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        return released, {one: book.find_submission(assignment, one).score for one in submissions}


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nbgrader_releases_no_solution_and_gives_full_marks_or_none(path, tmp_path, nbgrader):
    """Solutions all points, wrong answers none, also with test cells that pass anything."""
    data = {key: one for key, one in assignments.read(path).items() if key.startswith("q")}
    assignments.write_course(tmp_path)

    def cheat(key):
        if key.endswith("-test"):
            return "pass"
        question = data.get(key)
        return question and question.get("setup", "") + question["wrong"][0]

    released, points = grade(nbgrader, tmp_path, path.stem, {
        "ada": lambda key: data[key]["solution"] if key in data else None,
        "cheat": cheat,
    })  # fmt: skip
    assert points["ada"] == sum(one["points"] for one in data.values())
    assert points["cheat"] == 0
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

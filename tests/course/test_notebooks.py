"""The course: generated files are current, lessons have their shape, notebooks run to the end."""

import ast
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from script_tools import load

import pdsynth as pds

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
SOURCES = sorted((NOTEBOOKS / "src").glob("*.py"))
RUNNER = Path(__file__).with_name("run_notebook.py")


@pytest.fixture(scope="module")
def build():
    return load(NOTEBOOKS / "build.py")


def names(source):
    return source.stem


@pytest.fixture(scope="module")
def course_map(build):
    return build.course_map


def test_every_lesson_stands_in_the_map_with_its_minutes(build, course_map):
    lessons = course_map.load()["lessons"]
    assert list(lessons) == [s.stem[:2] for s in SOURCES] == [f"{i:02d}" for i in range(22)]
    shown = json.dumps(json.loads((NOTEBOOKS / "00_start_here.ipynb").read_text("utf-8")))
    for source in SOURCES:
        number = source.stem[:2]
        cells = build.cells(source.read_text(encoding="utf-8"))
        minutes = course_map.minutes(cells, number)
        assert f"({source.stem}.ipynb)" in shown, "linked from the map"
        notebook = (NOTEBOOKS / f"{source.stem}.ipynb").read_text(encoding="utf-8")
        assert f"about {minutes} minutes" in notebook, "the header says the computed minutes"


def test_the_core_path_comes_in_order_and_case_files_have_their_error(course_map):
    lessons = course_map.load()["lessons"]
    path = course_map.path(lessons)
    core = [number for number in path if lessons[number].get("core")]
    assert core == ["00", "01", "02", "03", "04", "14", "16", "15", "17", "19"]
    assert [n for n in lessons if "error" in lessons[n]] == [f"{i:02d}" for i in range(5, 14)]
    for number in core:
        assert all(lessons[need].get("core") for need in lessons[number]["needs"])


def ahead(before, number, core):
    """Lessons that a header asks for, not only says that they help, off the path so far."""
    asked = re.findall(r"\b\d\d\b", before.split(";")[0])
    return [one for one in asked if one not in core[: core.index(number)]]


def test_a_core_lesson_asks_for_nothing_off_the_core_path(course_map):
    lessons = course_map.load()["lessons"]
    core = [number for number in course_map.path(lessons) if lessons[number].get("core")]
    for source in SOURCES:
        number, text = source.stem[:2], source.read_text(encoding="utf-8")
        (before,) = re.findall(r"\*\*Before this\*\* \| (.*) \|$", text, re.MULTILINE)
        assert number not in core or ahead(before, number, core) == [], source.stem
    assert ahead("02 the ledger, 13 genetic search; 07 helps", "14", core) == ["13"]
    assert ahead("17 personal budgets", "15", core) == ["17"], "it comes later"


def test_a_circle_in_the_map_is_refused(course_map):
    with pytest.raises(ValueError, match="circle"):
        course_map.path({"00": {"needs": ["01"]}, "01": {"needs": ["00"]}})


def test_minutes_by_hand(course_map):
    allowed = {
        "words_a_minute": 200,
        "guess": 1,
        "cell": 1,
        "panel": 10,
        "exercise": 8,
        "formula": 0.5,
    }
    cells = [
        ("markdown", "word " * 400 + "$$x$$", ""),
        ("code", "x = 1", ""),
        ("code", "guess('?', f)", ""),
        ("code", "panels.a.panel()", ""),
        ("code", "answer = None", ""),
        ("code", "q1.check(answer)", ""),
        ("markdown", "### More\n" + "word " * 999, "more"),
        ("code", "more = 1", ""),
        ("markdown", "## Summary", ""),
    ]
    parts = course_map.seconds_of(cells, {"seconds": 90}, allowed)
    assert parts["reading"] == pytest.approx(401 / 200)
    assert {k: parts[k] for k in ("formulas", "running", "guesses", "panel", "exercises")} == {
        "formulas": 0.5, "running": 1.5, "guesses": 1, "panel": 10, "exercises": 8,
    }  # fmt: skip


def test_generated_notebooks_are_current(build):
    assert build.stale() == []


def test_a_lesson_saved_as_a_script_is_one_of_python():
    """nbconvert takes the ending from the notebook, and ``.txt`` where it doesn't say one."""
    exporter = pytest.importorskip("nbconvert").ScriptExporter()
    _, found = exporter.from_filename(str(NOTEBOOKS / "01_dp_mechanisms.ipynb"))
    assert found["output_extension"] == ".py"


def test_a_changed_source_is_noticed(build, tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "00_x.py").write_text("# %% [markdown]\n# # Hello\n")
    monkeypatch.setattr(build, "HERE", tmp_path)
    names = [p.relative_to(tmp_path).as_posix() for p in build.stale()]
    assert names == ["00_x.ipynb", "glossary.ipynb", "pictures/map.svg", "solutions/00_x.ipynb"]


def test_solutions_are_cut_from_the_student_notebook(build):
    source = (
        "# %% [markdown]\n# # T\n# %%\nx = None\n# solution\nx = 42\n"
        '# %% tags=["solution"]\nsecret = 1\n'
    )
    student, solved = (
        "".join("".join(cell["source"]) for cell in json.loads(notebook)["cells"])
        for notebook in (build.notebook("n", source, solutions=s) for s in (False, True))
    )
    assert "42" not in student and "secret" not in student and "your code here" in student
    assert "x = 42" in solved and "secret = 1" in solved and "None" not in solved


def test_the_private_choice_of_lesson_01_is_among_all_declared_values(build):
    """What only somebody in the table brings into the choice would tell of that person."""
    (source,) = (one for one in SOURCES if one.stem.startswith("01"))
    cells = build.cells(source.read_text("utf-8"))
    code = [text for kind, text, _ in cells if kind == "code"]
    needed = [text for text in code if "load_adult" in text or "occupation" in text]
    scope = {}
    exec("\n".join(text for text in needed if not is_guess(text) and "book." not in text), scope)
    assert list(scope["few"].index) == list(scope["complete"].schema["occupation"].values)


def test_the_toy_of_lesson_12_ranks_its_tables_as_the_library_does(build):
    """By the ties to their parents: with one parent each that is job, the root, which weighs 0."""
    (source,) = (one for one in SOURCES if one.stem.startswith("12"))
    code = [text for kind, text, _ in build.cells(source.read_text("utf-8")) if kind == "code"]
    scope = {}
    for start in ("from fractions", "names = ", "ranked = "):
        exec(next(text for text in code if text.startswith(start)), scope)
    ties = dict(zip(scope["names"], scope["tie"][scope["names"].index("job")], strict=True))
    assert scope["ranked"] == sorted(ties, key=lambda name: -ties[name])


def test_lesson_12_shows_no_losses_before_the_function_that_counts_them(build):
    """They stood there as 0.0 each, beside own tables of 0.05, as what "your function says"."""
    (source,) = (one for one in SOURCES if one.stem.startswith("12"))
    code = [text for kind, text, _ in build.cells(source.read_text("utf-8")) if kind == "code"]
    (cell,) = (text for text in code if "all its tables" in text)
    *lines, last = cell.strip().splitlines()
    rows = pd.DataFrame({"a": ["x", "y"] * 40, "b": ["x", "y"] * 40})
    schema = pds.Schema(tuple(pds.Attribute.categorical(name, ["x", "y"]) for name in rows))
    scope = {"pd": pd, "run": pds.PPBA(1.0, k=1, random_state=1).fit(rows, schema)}
    shown = []
    for answer in (None, Fraction(1, 2)):
        seen = scope | {"loss": lambda *_, answer=answer: answer}
        exec("\n".join(lines), seen)
        shown.append(eval(last, seen))
    assert shown[0] == "Write loss above, then run this cell again."
    assert shown[1]["all its tables"].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_lesson_has_its_shape(build, source):
    cells = build.cells(source.read_text(encoding="utf-8"))
    code = [text for kind, text, _ in cells if kind == "code"]
    prose = "\n".join(text for kind, text, _ in cells if kind == "markdown")
    assert cells[0][0] == "markdown" and "| **Time**" in cells[0][1] and "ε spent" in cells[0][1]
    assert 900 <= len(prose.split()) <= 2200, len(prose.split())
    assert 10 <= len(code) <= 26, len(code)
    assert all(len(text.splitlines()) <= 20 for text in code)
    assert sum("panel(" in text for text in code) == 1, "one live widget"
    assert ".check(" in "".join(code) and ".hint()" in prose + "".join(code)
    for heading in ("notice", "still not private", "ummary"):
        assert heading in prose, heading


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_a_lesson_asks_for_a_guess_before_its_toy_or_its_idea(build, source):
    cells = build.cells(source.read_text(encoding="utf-8"))
    asks = [i for i, (kind, text, _) in enumerate(cells) if kind == "code" and is_guess(text)]
    assert asks and asks[0] < len(cells) / 3
    prose = "\n".join(text for kind, text, _ in cells if kind == "markdown")
    assert "Run All" not in prose and not re.search(r"[Gg]uess first|Write your guess down", prose)


GUESSING = [*NOTEBOOKS.glob("*.ipynb"), *NOTEBOOKS.glob("solutions/*.ipynb"),
            NOTEBOOKS / "teaching" / "workshop.ipynb"]  # fmt: skip


@pytest.fixture(scope="module")
def guesses():
    """(path, cells above, the guess's cell) of every guess."""
    found = []
    for path in GUESSING:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        asks = [i for i, c in enumerate(cells) if c["cell_type"] == "code"
                and is_guess("".join(c["source"]))]  # fmt: skip
        found += [(path.name, cells[:i], cells[i]) for i in asks]
    return found


def is_hidden(cell):
    """Folded in JupyterLab and on the website."""
    return cell["metadata"].get("jupyter", {}).get("source_hidden") and (
        "hide-input" in cell["metadata"]["tags"]
    )


def revealing(source):
    """The names of functions that only a guess's answer is computed by, by its source."""
    tree = ast.parse(source)
    (call,) = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
               and n.func.id == "guess"]  # fmt: skip
    return {n.id for n in ast.walk(call.args[1]) if isinstance(n, ast.Name)}


def test_no_cell_above_a_guess_shows_how_its_answer_is_computed(guesses):
    """That none above holds the answer itself, ``run_notebook.py`` sees in every lesson."""
    assert len(guesses) > 2 * 41
    for name, above, cell in guesses:
        source = "".join(cell["source"])
        assert is_hidden(cell), (name, source)
        shown = "\n".join("".join(c["source"]) for c in above if c["cell_type"] == "code"
                          and not is_hidden(c))  # fmt: skip
        defined = {node.name for node in ast.walk(ast.parse(shown)) if hasattr(node, "name")
                   and isinstance(node, ast.FunctionDef)}  # fmt: skip
        assert not revealing(source) & defined, (name, source)


INNER = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def names_in(node, kind, skipped=()):
    """Names that a part of a source reads (``ast.Load``) or makes (``ast.Store``)."""
    if isinstance(node, skipped):
        return set()
    mine = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, kind) else set()
    return mine.union(*(names_in(one, kind, skipped) for one in ast.iter_child_nodes(node)))


def read_late(function):
    """Names that a function reads of its notebook when it is called."""
    parameters = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)}
    return names_in(function, ast.Load) - parameters - names_in(function, ast.Store)


def bound_by(line):
    """Names that a line at the left edge binds, other than those of a module."""
    if isinstance(line, ast.FunctionDef | ast.ClassDef):
        return {line.name}
    return names_in(line, ast.Store, INNER)


def rebound(sources, place):
    """Names behind the answer of the guess at this place that a cell below it binds anew.

    A line that stands above, too, word for word, binds the same thing.
    """
    above = [line for source in sources[: place + 1] for line in ast.parse(source).body]
    functions = {line.name: line for line in above if isinstance(line, ast.FunctionDef)}
    asked, read = above[-1], set()
    found = {name for one in ast.walk(asked) if isinstance(one, ast.Lambda)
             for name in read_late(one)}  # fmt: skip
    for name in names_in(asked, ast.Load) & set(functions):
        found |= read_late(functions[name])  # the guess keeps the function itself
    while found - read:
        read |= found
        found = {name for one in read & set(functions) for name in read_late(functions[one])}
    known = {ast.unparse(line) for line in above}
    below = [line for source in sources[place + 1 :] for line in ast.parse(source).body]
    made = {name for line in below if ast.unparse(line) not in known for name in bound_by(line)}
    return read & made


@pytest.mark.parametrize("path", GUESSING, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_guess_has_the_same_answer_when_it_is_committed_late(path):
    """No cell below it gives another meaning to a name that its answer is computed with."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    places = [place for place, text in enumerate(code) if is_guess(text)]
    assert {place: found for place in places if (found := rebound(code, place))} == {}


def test_twin_a_name_that_a_later_cell_binds_anew_is_found():
    asked = "def count():\n    rows = adult[:m]\n    return more(rows)\nguess('?', count)"
    above = ["def more(x):\n    return x + few", "adult = load()\nfew = 1", asked]
    assert rebound([*above, "rows = 1\nx = 2\nadult = load()\n[few for few in x]"], 2) == set()
    assert rebound([*above, "def count(n):\n    adult = n"], 2) == set()
    assert rebound([*above, "adult = load(1)", above[1]], 2) == {"adult"}
    assert rebound([*above, "for few in range(3):\n    pass"], 2) == {"few"}
    assert rebound([*above, "def more(x):\n    return 1"], 2) == {"more"}
    assert rebound(["guess('?', lambda: n)", "n = 1"], 0) == {"n"}


def is_guess(text):
    return re.search(r"^guess\(", text, re.MULTILINE) is not None


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_a_panel_starts_by_itself(build, source):
    """Its cell needs no other: all names that it reads are made in it."""
    cells = build.cells(source.read_text(encoding="utf-8"))
    (cell,) = [text for kind, text, _ in cells if kind == "code" and "panel()" in text]
    tree = ast.parse(cell)
    made = {a.asname or a.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
            for a in node.names}  # fmt: skip
    made |= {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert read <= made


def stretches(build, source):
    """Words between two things to do: a guess, the panel, an exercise. Folded text isn't read."""
    found, words = [], 0
    for kind, text, _ in build.course_map.unfolded(build.cells(source.read_text("utf-8"))):
        if kind == "markdown":
            words += build.course_map.words(text)
        elif is_guess(text) or "panel()" in text or ".check(" in text:
            found, words = [*found, words], 0
    return [*found, words]


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_at_most_1100_words_lie_between_two_things_to_do(build, source):
    assert max(stretches(build, source)) <= 1100


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_what_is_folded_ends_where_a_cell_begins_with_the_next_heading(build, source):
    """JupyterLab folds whole cells: a heading inside one would vanish with it."""
    cells = build.cells(source.read_text(encoding="utf-8"))
    kept = build.course_map.unfolded(cells)
    hidden = [text for cell in cells if cell not in kept for kind, text, _ in [cell]
              if kind == "markdown"]  # fmt: skip
    for text in hidden:
        assert not re.search(r"\n##", text), text[:80]
    assert all(text.startswith("### More") for _, text, mark in cells if mark == "more")


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_a_lesson_that_fixes_a_seed_says_what_that_means(build, source):
    cells = build.cells(source.read_text(encoding="utf-8"))
    code = "\n".join(text for kind, text, _ in cells if kind == "code")
    prose = "\n".join(text for kind, text, _ in cells if kind == "markdown")
    seeded = "random_state=" in code or 'noise="common"' in code
    assert not seeded or "NOT PRIVATE: reproducible" in prose


@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_static_picture_is_there(source):
    text = source.read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert pictures
    for picture in pictures:  # beside the notebooks: any server that mounts this folder shows them
        assert re.fullmatch(r"pictures/\w+\.svg", picture), picture
        assert (NOTEBOOKS / picture).exists(), picture


def test_every_program_that_the_course_names_is_there():
    """``python notebooks/build.py``, in a lesson, a page, a comment or a docstring."""
    texts = [p for kind in ("py", "md", "toml") for p in NOTEBOOKS.rglob(f"*.{kind}")]
    found = {p: re.findall(r"python3? ([\w/]+\.py)\b", p.read_text("utf-8")) for p in texts}
    named = {(path.name, program) for path, programs in found.items() for program in programs}
    assert len(named) > 8
    assert {(name, program) for name, program in named if not (ROOT / program).exists()} == set()


def test_what_hosted_notebooks_are_told_is_there():
    """A line to install, and a badge whose address opens a lesson in the declared environment."""
    page = (NOTEBOOKS / "README.md").read_text("utf-8")
    opened = re.findall(r"mybinder\.org/v2/gh/OWNER/NAME/HEAD\?urlpath=lab/tree/([\w/.]+)", page)
    assert len(opened) == 2 and all((ROOT / path).exists() for path in opened)
    assert "[![Binder](" in page
    assert '%pip install "pdsynth[course] @ git+https://github.com/OWNER/NAME"' in page
    assert "environment.yml" in page and (ROOT / "environment.yml").exists()


def execute(path, *options):
    """In a fresh process and shell, where the notebook lies."""
    return subprocess.run(
        [sys.executable, str(RUNNER), str(path), *options],
        capture_output=True,
        text=True,
        timeout=400,
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.mark.notebook
@pytest.mark.parametrize("source", SOURCES, ids=names)
def test_a_lesson_runs_unanswered_and_then_with_its_solutions(source, shared, run):
    """Unanswered exercises stop no student; every solution passes; no live panel shows an error.

    What its cells show is kept for the tests of the website.
    """
    name = f"{source.stem}.ipynb"
    assert run([NOTEBOOKS / name, NOTEBOOKS / "solutions" / name], cache=shared / "cache") == []


PANEL = """\
import plotly.graph_objects as go
from pdsynth.course.widgets import live, slider
live(lambda x: go.Figure(), x=slider('x', 1, 0, 2, 1))
"""
ASK = """\
from pdsynth.course.exercises.exercise import Exercise
q = Exercise(lambda a: None if a == 1 else 'not 1', 'h', 's')
"""
ZERO = PANEL.replace("go.Figure()", "1 / 0")
GUESS = "from pdsynth.course.guess import guess\nguess('?', lambda: 2 * {}, unit='%')\n"
# Answers of guesses are seen in what a cell shows, in a text above or one below; the last isn't.
SEEN = f"""
print('it is 38.4')
# %%
{GUESS.format(19.2)}
# %% [markdown]
# It is 41.7.
# %%
{GUESS.format(20.85)}
# %%
{GUESS.format(26.15)}
# %% [markdown]
# It was 52.3.
# %%
{GUESS.format(31.55)}
# %% [markdown]
# # No guess looks below a heading
# It was 63.1.
"""
# What stops a kernel has a notebook of its own.
FAULTS = {
    f"{PANEL}\n# %%\n{ZERO}\n# %%{SEEN}\n# %%\n{ASK}q.check(2)\n# %%\nq.check(None)": [
        "'38.4' can be read before the guess", "'41.7' can be read", "'52.3' can be read",
        "doesn't pass: this exercise: not 1",
        "doesn't pass: this exercise isn't answered yet",
        "expected one live panel without an error, found 2; errors: ['None', \"ZeroDivisionError"],
    # a guess after the last cell, when a name means something else
    f"{PANEL}\nn = 1\n# %%\n{GUESS.format('1 / n')}\n# %%\nn = 0": ["ZeroDivisionError"],
    # names that only the website and this runner import
    f"{PANEL}\n# %%\ntry:\n    HTML\nexcept NameError:\n    random": ["'random' is not defined"],
    "class A:\n    def _repr_html_(self): raise OSError('broken repr')\nA()": ["broken repr"],
}  # fmt: skip


@pytest.mark.notebook
@pytest.mark.slow
def test_the_runner_notices_what_is_wrong(build, tmp_path, run):
    path = tmp_path / "faulty.ipynb"
    for code, wanted in FAULTS.items():
        source = f"# %%\n{code}\n"
        path.write_text(build.notebook("faulty", source, solutions=True), encoding="utf-8")
        found = run([path])
        assert len(found) == len(wanted), found
        for words, one in zip(wanted, found, strict=True):
            assert words in one


@pytest.mark.parametrize(
    ("panels", "any_panels", "right"),
    [(["None"], False, True), (["None"] * 2, False, False), ([], False, False), ([], True, True),
     (["None"] * 2, True, True), (["ValueError()"], False, False), (["ValueError()"], True, False)],
)  # fmt: skip
def test_a_lesson_has_one_panel_without_an_error(panels, any_panels, right):
    found = {"guesses": [], "wrong": [], "panels": panels}
    assert (list(load(RUNNER).problems([], [], found, any_panels)) == []) == right


def test_a_cell_that_writes_a_release_can_run_again():
    """A release is never overwritten: a cell that a student runs twice must ask first."""
    for path in SOURCES:
        for cell in path.read_text(encoding="utf-8").split("\n# %%"):
            assert "write_release(" not in cell or "place.exists()" in cell, path.name


def test_a_cell_that_warns_twice_of_the_same_is_found():
    cell = [{"name": "stderr", "text": f"UserWarning: {word}\n"} for word in ("few", "many")]
    found = {"guesses": [], "wrong": [], "panels": []}
    problems = load(RUNNER).problems
    assert list(problems([("code", "")], [cell], found, True)) == []
    (said,) = problems([("code", "")], [[*cell, cell[0]]], found, True)
    assert said == "a cell warns more than once: UserWarning: few"


# Of the solved notebook alone.
BROKEN = (
    "g(0) or type('A', (), {'_repr_html_': lambda a: exec('raise OSError(\\'broken repr\\')')})()"
)


@pytest.mark.notebook
def test_twin_cells_that_an_answer_changes_run_again(build, tmp_path, run):
    """The solution is wrong, or a later cell stumbles over it."""
    ends = {"q.check(f and 2 * f(3))": "doesn't pass", "1 / g(0)": "ZeroDivisionError",
            BROKEN: "broken repr"}  # fmt: skip
    answer = "f, g = None, lambda x: 1\n# solution\nf = g = lambda x: x"
    student, solved = tmp_path / "student.ipynb", tmp_path / "solved.ipynb"

    def write(last):
        source = f"# %%\n{PANEL}\n# %%\n{ASK}\n# %%\n{answer}\n# %%\n{last}\n"
        for path in (student, solved):
            text = build.notebook("twin", source, solutions=path == solved)
            path.write_text(text, encoding="utf-8")

    write("\n# %%\n".join(ends))
    assert run([student], student=True) == [], "without an answer nothing is wrong"
    for last, words in ends.items():
        write(last)
        (said,) = run([student, solved])
        assert words in said


@pytest.mark.notebook
def test_a_runner_that_finds_something_fails(build, tmp_path):
    path = tmp_path / "faulty.ipynb"
    path.write_text(build.notebook("faulty", "# %%\n1 / 0\n", solutions=True), encoding="utf-8")
    run = execute(path)
    assert run.returncode == 1 and "ZeroDivisionError" in run.stderr


@pytest.mark.notebook
def test_student_notebook_in_a_real_kernel():
    """As a student opens it: unanswered exercises don't stop Run All, nothing heavy is stored."""
    pytest.importorskip("nbclient")
    path = NOTEBOOKS / f"{SOURCES[-1].stem}.ipynb"
    script = (
        "import sys, nbclient, nbformat; notebook = nbformat.read(sys.argv[1], as_version=4); "
        "nbclient.NotebookClient(notebook, timeout=240, store_widget_state=False).execute(); "
        "nbformat.write(notebook, sys.stdout)"
    )
    # a process of its own: beside joblib's idle workers the client waits for its whole time limit
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        timeout=400,
        cwd=NOTEBOOKS,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    notebook = json.loads(run.stdout)
    assert len(json.dumps(notebook)) < 3_000_000

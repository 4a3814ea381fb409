"""What the course promises, and what shows it: a test, its twin, or a committed measurement.

As ``project/test_trust.py`` for privacy: a name that is gone fails here. Names are
``folder/file::test`` below ``tests``; the beginning of a name may stand for several. A measurement
is a file with a command in it.
"""

import ast

import pytest

COURSE = {
    "doors: Voilà, JupyterLab over the folder, an exported page; no broken picture": """
        course/test_doors.py::test_voila_over
        course/test_doors.py::test_jupyterlab_over course/test_doors.py::test_an_exported_page
    """,
    "doors: a saved panel shows picture, words and short tables, as HTML and as text": """
        course/test_still.py::test_an_exported_panel course/test_still.py::test_every_panel
        course/test_still.py::test_a_panel_that_never
    """,
    "doors: badge and install line for hosted notebooks name what is there": """
        course/test_notebooks.py::test_what_hosted_notebooks_are_told
        project/test_environment.py::test_environment_yml_is_spelt_for_binder
        course/test_widgets.py::test_colab
    """,
    "asking: no answer is visible before its guess": """
        course/test_notebooks.py::test_a_lesson_runs course/test_notebooks.py::test_the_runner
        course/test_notebooks.py::test_a_lesson_asks course/test_guess.py::test_nothing_is_computed
        course/test_browser.py::test_a_guess_by_keyboard
    """,
    "asking: a panel starts by itself": "course/test_notebooks.py::test_a_panel_starts_by_itself",
    "symbols: defined before use, one meaning each, glossary in two languages": """
        course/test_notation.py::test_every_symbol course/test_notation.py::test_twin_an_undefined
        course/test_notation.py::test_every_control course/test_notation.py::test_no_symbol
        course/test_notation.py::test_terms course/test_notation.py::test_lessons_link
        course/test_notation.py::test_recomputed_and_attacked
    """,
    "symbols: at most two new ones and 1,100 words between two things to do": """
        course/test_notation.py::test_few_symbols course/test_notation.py::test_new_symbols
        course/test_notebooks.py::test_at_most_1100_words
    """,
    "objects show themselves: a ledger in five lines, synthesizer, network, plan, audits": """
        core/test_ledger.py:: test_shown.py:: course/panels/test_words.py::
    """,
    "panels: no needless scroll bar, cut text or overlap, at four sizes in both themes": """
        course/test_panel_layout.py::test_every_panel_at_four_sizes
        course/test_panel_layout.py::test_every_text_stands_out
        course/test_panel_layout.py::test_the_measure_finds
        course/test_panel_layout.py::test_one_panel
    """,
    "panels: a title on every chart, and no bar on a log axis": """
        course/panels/test_every_panel.py::test_every_chart_has_its_title
        course/panels/test_every_panel.py::test_twin_a_bar
    """,
    "panels: try-this buttons that say what is true": """
        course/panels/test_tries.py::test_every_panel course/panels/test_tries.py::test_what
        course/panels/test_tries.py::test_a_sentence_that_does_not_hold
    """,
    "panels: a cue while computing; milliseconds from key to picture": """
        course/test_panel_layout.py::test_a_button_sets benchmarks/COURSE.md
    """,
    "panels: the finding stands above the picture": """
        course/test_widgets.py::test_a_panel_s_view_describes_itself
    """,
    "exercises: ten wrong answers each, all rejected, four of five with their own diagnosis": """
        course/test_lessons.py::test_ten_wrong course/test_lessons.py::test_a_thousandth
        course/test_lessons.py::test_the_right course/test_lessons.py::test_nothing_is_answered
        course/test_lessons.py::test_nonsense
    """,
    "exercises: attack, design and open ones; hints in levels; own numbers": """
        course/test_lessons.py::test_the_best_attack course/test_lessons.py::test_the_limit_of_wins
        course/test_lessons.py::test_the_hidden_table course/test_lessons.py::test_an_open_exercise
        course/test_lessons.py::test_an_open_answer course/test_lessons.py::test_students_have
    """,
    "site: panels move without a kernel and without any network": """
        website/test_site.py::test_lesson_00_moves website/test_site.py::test_lesson_07
        website/test_states.py::test_states_are website/test_states.py::test_every_panel
    """,
    "site: nothing is cut on a phone or elsewhere; a figure and a table on each lesson's page": """
        website/test_site.py::test_lesson_00_on_a_phone website/test_site.py::test_every_lesson
        website/test_site.py::test_the_other_pages
    """,
    "site: no broken link, nothing from elsewhere, at most 2 MB of states a page": """
        website/test_site.py::test_no_link website/test_states.py::test_twin_what_leads
        website/test_states.py::test_states_of_a_page
    """,
    "site: no page says anything of the machine that built it": """
        website/test_site.py::test_no_page website/test_site.py::test_lesson_00_says_nothing
        website/test_states.py::test_twin_a_path website/test_states.py::test_a_warning
    """,
    "site: lesson 00 shows its first number within 3 s": """
        benchmarks/COURSE.md website/test_site.py::test_lesson_00_is_read_without_any_script
    """,
    "site: home, search, reference, scoreboard; published by a workflow": """
        website/test_site.py::test_home_search website/test_workflows.py::
    """,
    "arc: map, core path, case files, computed minutes": """
        course/test_notebooks.py::test_every_lesson_stands course/test_notebooks.py::test_the_core
        course/test_notebooks.py::test_minutes_by_hand course/test_notebooks.py::test_a_circle
    """,
    "kit: the core of the workshop fits in 75 minutes, and runs": """
        course/test_teaching.py::test_the_core_of_the_workshop_fits
        course/test_teaching.py::test_twin_a_longer course/test_teaching.py::test_the_workshop_runs
    """,
    "kit: run sheet, slides, evaluation form, the class's guesses, a zip of the site": """
        course/test_teaching.py::test_who_stands course/test_teaching.py::test_slides
        course/test_teaching.py::test_the_class course/test_teaching.py::test_without_installing
        course/test_crowd.py::
    """,
    "kit: twelve weeks, notes, bank, hand-outs, course": """
        course/test_teaching.py::test_twelve course/test_teaching.py::test_notes
        course/test_teaching.py::test_the_whole_kit course/test_moodle.py::test_moodle
    """,
    "kit: full marks for the solution, none for each wrong answer, own numbers by seed": """
        course/test_teaching.py::test_nbgrader course/test_teaching.py::test_a_solution
        course/test_teaching.py::test_another_student course/test_lessons.py::test_a_name_gives
    """,
}


@pytest.fixture(scope="module")
def known(root):
    """Every test as ``folder/file::name``, and the committed measurements of the course."""
    tests = sorted((root / "tests").rglob("test_*.py"))
    names = {f"{path.relative_to(root / 'tests').as_posix()}::{name}"
             for path in tests for name in find(ast.parse(path.read_text("utf-8")))}  # fmt: skip
    return names | {f"benchmarks/{path.name}" for path in (root / "benchmarks").glob("*.md")
                    if "`python benchmarks/" in path.read_text("utf-8")}  # fmt: skip


def find(tree):
    """The functions of a module that are tests, those of its classes too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name


def missing(index, known):
    """Names that nothing has, and promises without a name."""
    holes = [promise for promise, names in index.items() if not names.split()]
    listed = [name for names in index.values() for name in names.split()]
    return holes + [name for name in listed if not any(k.startswith(name) for k in known)]


def test_every_promise_of_the_course_has_its_test_or_measurement(known):
    assert missing(COURSE, known) == []


def test_twin_a_test_that_is_gone_is_missed(known):
    gone = "course/test_doors.py::test_gone"
    assert missing({"doors": gone, "site": " "}, known) == ["site", gone]
    assert missing({"speed": "benchmarks/NOTHING.md"}, known) == ["benchmarks/NOTHING.md"]

"""Graded assignments for nbgrader: notebooks with hidden tests from the files in ``assignments/``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from workshop import lessons

HERE = Path(__file__).resolve().parent
FILES = sorted((HERE / "assignments").glob("*.toml"))
SETUP = """\
from fractions import Fraction

import numpy as np
import pandas as pd

import pdsynth as pds
from pdsynth.audit.estimator import lower_limit, upper_limit
from pdsynth.course import student

adult = pds.datasets.load_adult()
"""
NAME = 'NAME = "..."  # the id under which you hand in: your own numbers come from it'
OWN = """\
me = student(NAME)
table = me.table(adult.frame, 5000)
"""
CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "pdsynth"
c.ClearSolutions.code_stub = {"python": "# your code here"}
c.ExecutePreprocessor.timeout = 120
"""
INTRO = """\
# {title}

After {after}. The numbers `my` and the `table` are your own; they come from your id, so fill it in first. The visible tests
say whether an answer has the right form; what it is worth is decided after you hand in. Text: CC BY 4.0.
"""


def read(path: Path) -> dict[str, Any]:
    """An assignment's file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def choose_numbers(assignment: str, name: str, question: dict[str, Any]) -> str:
    """The line that gives ``my`` the student's own numbers."""
    return f"my = me.numbers({f'{assignment}.{name}'!r}, {question.get('numbers', {})!r})"


def hidden_test(assignment: str, name: str, question: dict[str, Any]) -> str:
    """The test that counts: numbers and table of the folder's owner, whoever NAME says."""
    return (
        f"{question['visible']}\n### BEGIN HIDDEN TESTS\nfrom pathlib import Path\n\n"
        f"me = student(Path.cwd().parent.name)\ntable = me.table(adult.frame, 5000)\n"
        f"{choose_numbers(assignment, name, question)}\n{question['hidden'].strip()}\n"
        "### END HIDDEN TESTS"
    )


def make_cell(text: str, identity: str, kind: str = "code", **options: Any) -> dict[str, Any]:
    """A notebook's cell as nbgrader knows it: free, locked, to be solved, or a graded test."""
    marks = {
        "grade": False,
        "grade_id": identity,
        "locked": True,
        "schema_version": 3,
        "solution": False,
        "task": False,
    } | options
    cell = {
        "cell_type": kind,
        "id": identity,
        "metadata": {"nbgrader": marks},
        "source": text.splitlines(keepends=True),
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def make_assignment(path: Path) -> str:
    """The teacher's notebook, solutions and hidden tests included."""
    data, stem = read(path), path.stem
    intro = INTRO.format(title=data["title"], after=data["after"])
    cells = [
        make_cell(intro, "intro", "markdown"),
        make_cell(SETUP, "setup"),
        make_cell(NAME, "name", locked=False),
        make_cell(OWN, "own"),
    ]
    for key, question in data.items():
        if not isinstance(question, dict):
            continue
        text = f"**Question {key[1:]}** ({question['points']} points). {question['ask']}"
        solved = (
            f"{question['start']}\n### BEGIN SOLUTION\n{question['solution']}\n### END SOLUTION"
        )
        cells += [
            make_cell(text, f"{key}-ask", "markdown"),
            make_cell(choose_numbers(stem, key, question) + "\nmy", f"{key}-numbers"),
            make_cell(solved, key, solution=True, locked=False),
            make_cell(
                hidden_test(stem, key, question),
                f"{key}-test",
                grade=True,
                points=question["points"],
            ),
        ]
    document = {"cells": cells, "metadata": lessons.METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def write_course(folder: Path) -> None:
    """A folder for nbgrader: ``source/``, from which it releases builds without solutions."""
    (folder / "source").mkdir(parents=True, exist_ok=True)
    (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    for path in FILES:
        (folder / "source" / path.stem).mkdir(exist_ok=True)
        target = folder / "source" / path.stem / f"{path.stem}.ipynb"
        target.write_text(make_assignment(path), encoding="utf-8")

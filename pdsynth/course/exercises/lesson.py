"""Reads a lesson's exercises: words and values from its TOML file, judges from its module.

A question has ``praise``, ``hint`` and ``solution``. When a value answers it, ``number`` (such as
5 or "7/12") or ``word`` is the right one, or a list of them; ``mistakes."1 | 2"`` are the words for
likely wrong ones, ``otherwise`` those for all others. ``[[q1.parts]]`` are several such answers.
``passes`` lists more right answers, ``fails."words of the message"`` one wrong answer or several,
all as Python source: only the tests read them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from importlib.resources import files
from typing import Any

from .exercise import Exercise, Judge
from .judges import Each, Number, Word


def read(lesson: str) -> dict[str, dict[str, Any]]:
    """The questions of ``lesson``, say "lesson_07", as its file has them."""
    return tomllib.loads(files(__package__).joinpath(f"{lesson}.toml").read_text("utf-8"))


def make_judge(question: Mapping[str, Any]) -> Judge:
    """The judge of a question that values answer."""
    if "parts" in question:
        return Each([make_judge(part) for part in question["parts"]])
    kind = "number" if "number" in question else "word"
    right = question[kind] if isinstance(question[kind], list) else [question[kind]]
    mistakes = {answer: words for answers, words in question.get("mistakes", {}).items()
                for answer in answers.split(" | ")}
    if kind == "word":
        return Word(right, mistakes, question["otherwise"], question.get("inside", False))
    return Number([float(Fraction(number)) for number in right],
                  {float(Fraction(number)): words for number, words in mistakes.items()},
                  question["otherwise"], question.get("within", 1e-6))


def exercises(lesson: str, **judges: Judge) -> list[Exercise]:
    """The exercises of ``lesson`` in order; ``judges`` of the questions that need code, by name."""
    return [Exercise(judges[name] if name in judges else make_judge(question), question["hint"],
                     question["solution"], f"Question {name.removeprefix('q')}", question["praise"])
            for name, question in read(lesson).items()]

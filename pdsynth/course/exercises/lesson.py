"""Reads a lesson's exercises: words and values from its TOML file, judges from its module.

A question has ``praise``, ``hints`` and ``solution``, and one of these answers:

* ``number``: a formula or a list of them; ``numbers.d = [14, 9]`` are the choices of a student's
  own d, the first of them the lesson's. ``mistakes."formula | formula"`` are the words for likely
  wrong numbers, ``otherwise`` those for all others. ``[[q1.parts]]`` are several such answers.
* ``true`` and ``false``: names of which exactly the true ones hold, with the words for whoever
  misjudges each.
* ``points``, ``never`` and ``words = [least, most]``: a text.
* a judge of the lesson's module, for code.

``passes`` lists more right answers, ``fails."words of the message"`` a wrong one or several, all
as Python source: only the tests and the teachers' notes read them (see `answers`).
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from itertools import count
from typing import Any

from .exercise import Exercise, Judge, Message
from .formula import draw, evaluate, make_seed, show
from .judges import Each, Number, Several, Written

Log = Callable[[str, Message], None]


def read(lesson: str) -> dict[str, dict[str, Any]]:
    """The questions of ``lesson``, say "lesson_07", as its file has them."""
    return tomllib.loads(files(__package__).joinpath(f"{lesson}.toml").read_text("utf-8"))


def make_judge(question: Mapping[str, Any], numbers: Mapping[str, Fraction] | None = None) -> Judge:
    """The judge of a question that values or a text answer."""
    own = numbers or {}
    if "parts" in question:
        return Each([make_judge(part, own) for part in question["parts"]])
    if "true" in question:
        return Several(question["true"], question["false"])
    if "points" in question:
        return Written(question["points"], question["never"], *question["words"])
    right = question["number"] if isinstance(question["number"], list) else [question["number"]]
    mistakes = {
        float(evaluate(formula, own)): words
        for formulas, words in question["mistakes"].items()
        for formula in formulas.split(" | ")
    }
    return Number(
        [float(evaluate(formula, own)) for formula in right],
        mistakes,
        question["otherwise"],
        question.get("within", 1e-6),
        {name: show(number) for name, number in own.items()},
    )


def is_ambiguous(judge: Judge) -> bool:
    """Whether with these numbers a likely mistake would be taken for right."""
    parts = judge.judges if isinstance(judge, Each) else [judge]
    return any(isinstance(part, Number) and part.ambiguous for part in parts)


def personalise(
    name: str, question: Mapping[str, Any], seed: int | None, judge: Judge | None
) -> tuple[Judge, dict[str, Fraction]]:
    """The judge with a student's own numbers, and these; None gives the lesson's own.

    A judge that plays rounds gets the seed of its games instead.
    """
    if judge is not None:
        plays = seed is not None and hasattr(judge, "seed")
        return (replace(judge, seed=seed) if plays else judge), {}  # type: ignore[type-var]
    for attempt in count():
        own = draw(
            question.get("numbers", {}), None if seed is None else make_seed(seed, name, attempt)
        )
        candidate = make_judge(question, own)
        if seed is None or not own or not is_ambiguous(candidate):
            return candidate, own
    raise AssertionError("unreachable")


def exercises(
    lesson: str, *, seed: int | None = None, log: Log | None = None, **judges: Judge
) -> list[Exercise]:
    """The exercises of ``lesson`` in order; ``judges`` of the questions that need code, by name.

    ``seed`` gives a student's own numbers; see `student`.
    """
    tasks = []
    for name, question in read(lesson).items():
        judge, own = personalise(f"{lesson}.{name}", question, seed, judges.get(name))
        shown = {letter: show(number) for letter, number in own.items()}
        hints, (solution,), (praise,) = (
            [text.format(**shown) if own else text for text in texts]
            for texts in (question["hints"], [question["solution"]], [question["praise"]])
        )
        tasks.append(
            Exercise(
                judge,
                hints,
                solution,
                f"Question {name.removeprefix('q')}",
                praise,
                ", ".join(f"{letter} = {number}" for letter, number in shown.items()),
                question["words"][0] if "points" in question else 0,
                log,
            )
        )
    return tasks

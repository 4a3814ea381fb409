"""The answers that are kept beside the exercises: right ones, wrong ones and what is said to them.

Likely wrong values and names stand in a lesson's file, likely wrong functions in its judge;
``passes`` and ``fails`` of the file are answers as Python source. They are evaluated here, for the
tests and the teachers' notes, and never by a lesson.
"""

import importlib
import math
import re
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

import pdsynth as pds

from ...algorithms import affinity
from ...answers.laws import exponential_probabilities
from ...audit import bugs
from ...audit.estimator import ceiling
from ...core import Attribute, Schema, laplace_mechanism, mutual_information
from ...datasets.adult import load_adult
from ...evaluation.utility import split
from . import lesson
from .exercise import Exercise
from .games import Exposing, Guessing
from .judges import Computation, Each, Number, Several

Answer = tuple[Any, ...]


def divide(counts: np.ndarray) -> np.ndarray:
    """Each column by its sum, 0/0 included."""
    with np.errstate(invalid="ignore"):
        return counts / counts.sum(axis=0)


def laplace(rng: Any, scale: float, size: Any) -> Any:
    """Noise of a source that writes down what it is asked for."""
    return rng.laplace(scale=scale, size=size)


def score_guesses(classify: Any, learnt: pd.DataFrame, asked: pd.DataFrame) -> float:
    """How often a classifier is right."""
    return float((classify(learnt, asked) == asked["salary"]).mean())


def fit(synthesizer: Any) -> Any:
    """Fitted to Adult."""
    adult = load_adult()
    return synthesizer.fit(adult.frame, schema=adult.schema)


NAMES: dict[str, Any] = {
    "math": math,
    "np": np,
    "pd": pd,
    "pds": pds,
    "Q": Fraction,
    "Fraction": Fraction,
    "comb": math.comb,
    "LN2": math.log(2),
    "bugs": bugs,
    "split": split,
    "affinity": affinity,
    "ceiling": ceiling,
    "mutual_information": mutual_information,
    "fit": fit,
    "exponential_probabilities": exponential_probabilities,
    "divide": divide,
    "laplace": laplace,
    "laplace_mechanism": laplace_mechanism,
    "test_on": score_guesses,
    "Schema": Schema,
    "Attribute": Attribute,
    "SMOKER": Attribute.categorical("smoker", ["yes", "no"], missing=True),
    "AGE": Attribute.numeric("age", 0, 120, bins=12, integer=True),
    "WARD": Attribute.categorical("ward", range(1, 6)),
}


class Question:
    """An exercise with its kept answers; ``right`` in a source is the printed solution."""

    def __init__(self, name: str, key: str) -> None:
        self.name, self.lesson, self.key = f"{name}-{key}", name, key
        module = importlib.import_module(f"{__package__}.{name}")
        self.exercise: Exercise = getattr(module, key)
        self.data = lesson.read(name)[key]
        self.judge = self.exercise.examine
        self.names = {
            **vars(module),
            **NAMES,
            "adult": load_adult(),
            "Independent": pds.baselines.Independent,
        }
        if (solution := self.exercise.solution_text).startswith("def "):
            scope = dict(self.names)
            exec(solution, scope)
            self.names["right"] = scope[re.findall(r"^def (\w+)", solution, re.MULTILINE)[-1]]

    def __str__(self) -> str:
        return self.name

    def answers(self, source: str) -> Answer:
        """A source of the file, evaluated: a tuple has an answer for each part."""
        value = eval(source, dict(self.names))
        return value if isinstance(value, tuple) else (value,)

    def right(self) -> Iterator[Answer]:
        """Right answers."""
        yield from map(self.answers, self.data.get("passes", []))
        if "right" in self.names:
            yield (self.names["right"],)
        if "points" in self.data:
            yield (self.exercise.solution_text,)
        if isinstance(self.judge, Each):
            yield tuple(next(right_values(part)) for part in self.judge.judges)
        yield from ((value,) for value in right_values(self.judge))

    def wrong(self) -> Iterator[tuple[Answer, str]]:
        """Wrong answers, each with the words that its message must have."""
        for words, sources in self.data.get("fails", {}).items():
            for source in sources if isinstance(sources, list) else [sources]:
                yield self.answers(source), words
        if isinstance(self.judge, Each):
            rights = [next(right_values(part)) for part in self.judge.judges]
            for i, part in enumerate(self.judge.judges):
                for value, words in wrong_values(part):
                    yield (*rights[:i], value, *rights[i + 1 :]), words
        yield from (((value,), words) for value, words in wrong_values(self.judge))

    def misconceptions(self) -> list[tuple[Answer, str]]:
        """Each wrong answer and what the course says to it, without the question's number."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a wrong answer may take the log of −1
            return [
                (answer, self.exercise.check(*answer).text.split(": ", 1)[1])
                for answer, _ in self.wrong()
            ]


def right_values(judge: Any) -> Iterator[Any]:
    """Right answers of a judge of values."""
    if isinstance(judge, Number):
        for value in judge.right:
            yield from (value, Fraction(value), value * (1 + judge.within / 2))
    elif isinstance(judge, Several):
        yield from (set(judge.true), [f" {name.upper()} " for name in judge.true])


def wrong_values(judge: Any) -> Iterator[tuple[Any, str]]:
    """Likely wrong answers of a judge and what it says to them."""
    if isinstance(judge, Number):
        yield from judge.mistakes.items()
    elif isinstance(judge, Several):
        true, every = set(judge.true), {*judge.true, *judge.false}
        yield from ((true | {name}, words) for name, words in judge.false.items())
        yield from ((true - {name}, words) for name, words in judge.true.items() if len(true) > 1)
        yield from [
            (every, "every one of them"),
            (every - true, "exactly the ones that don't"),
            (set(), "at least one holds"),
            ({*true, "z"}, "'z' is none of"),
        ]
    elif isinstance(judge, Computation | Guessing | Exposing):
        yield from ((function, words) for words, function in judge.mistakes.items())


def questions(lessons: list[str]) -> list[Question]:
    """All questions of these lessons, in order."""
    return [Question(name, key) for name in lessons for key in lesson.read(name)]

"""Exercises of lessons 00–03: the right answer passes, the likely mistakes are named, an open answer is only open."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from pdsynth.lessons import lesson_00, lesson_01, lesson_02, lesson_03
from pdsynth.measures import mutual_information
from pdsynth.mechanisms import exponential_probabilities

LN2 = math.log(2)


def table_and_epsilon(epsilon):
    return pd.DataFrame({"a": [1]}), epsilon


RIGHT = [
    (lesson_00.q1, (1.5,)),
    (lesson_00.q2, (lambda e: table_and_epsilon(Fraction(str(e))),)),
    (lesson_00.q3, ("seed",)),
    (lesson_01.q1, (Fraction(8),)),
    (lesson_01.q2, (exponential_probabilities,)),
    (lesson_01.q3, ("scale", 1000.0)),
    (lesson_01.q4, ("difference",)),
    (lesson_02.q1, (Fraction(1, 2),)),
    (lesson_02.q2, (lambda steps: sum((Fraction(s) / Fraction(b) for s, b in steps), Fraction(0)),)),
    (lesson_02.q3, ("records", 14)),
    (lesson_03.q1, (1.5,)),
    (lesson_03.q2, (mutual_information,)),
    (lesson_03.q3, ("units", 1.44)),
    (lesson_03.q4, ("empty cells",)),
]

WRONG = [
    (lesson_00.q1, (1,), "larger"),
    (lesson_00.q1, (0.5,), "last release"),
    (lesson_00.q2, (lambda e: pd.DataFrame(),), "pair"),
    (lesson_00.q2, (lambda e: table_and_epsilon(1),), "pass epsilon on"),
    (lesson_00.q3, ("scale",), "default_rng"),
    (lesson_01.q1, (4,), "two cells"),
    (lesson_01.q1, (0.5,), "divide"),
    (lesson_01.q2, (lambda u, s, e: exponential_probabilities(u, s / 2, e),), "forgets the 2"),
    (lesson_01.q2, (lambda u, s, e: np.exp(np.array(u) * e / (2 * s)),), "add up"),
    (lesson_01.q3, ("scale", 500), "divide the sensitivity"),
    (lesson_01.q3, ("seed", 1000), "handed in"),
    (lesson_01.q4, ("sum",), "twice"),
    (lesson_02.q1, (1.0,), "at most two cells"),
    (lesson_02.q1, (0.25,), "one cell"),
    (lesson_02.q2, (lambda steps: sum(Fraction(b) / Fraction(s) for s, b in steps),), "less"),
    (lesson_02.q2, (lambda steps: sum(float(s) / float(b) for s, b in steps) + 0.0,), "Fraction"),
    (lesson_02.q3, ("disjoint", 14), "what has to be disjoint"),
    (lesson_02.q3, ("records", 1), "each of the 14"),
    (lesson_03.q1, (1.5 * LN2,), "nats"),
    (lesson_03.q1, (math.log2(3),), "equally frequent"),
    (lesson_03.q2, (lambda t: mutual_information(t) * LN2,), "log2"),
    (lesson_03.q2, (lambda t: -mutual_information(t),), "sign"),
    (lesson_03.q2, (lambda t: float("nan"),), "NaN"),
    (lesson_03.q3, ("units", LN2), "upside down"),
    (lesson_03.q4, ("order",), "rows are there"),
]


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_the_right_answer_passes(exercise, answer):
    verdict = exercise.check(*answer)
    assert verdict.right, verdict.text
    assert "Correct" in verdict.text


@pytest.mark.parametrize(("exercise", "answer", "words"), WRONG)
def test_a_wrong_answer_names_the_likely_mistake(exercise, answer, words):
    verdict = exercise.check(*answer)
    assert not verdict.right
    assert words in verdict.text


@pytest.mark.parametrize("exercise", [e for e, _ in RIGHT])
def test_an_open_answer_is_open_and_help_is_there(exercise):
    assert exercise.check(None).kind == "open"
    assert not exercise.check(lambda *anything: 1 / 0).right
    assert exercise.hint().text.startswith("Hint.")
    assert exercise.solution().text.startswith("Solution.")

"""Exercises of lesson 19: the right answer passes, the likely mistakes are named, an open answer is only open."""

import pandas as pd
import pytest

from pdsynth.course.exercises import lesson_19
from pdsynth.domain.schema import Attribute, Schema

AGE = Attribute.numeric("age", 0, 120, bins=12, integer=True)
SMOKER = Attribute.categorical("smoker", ["yes", "no"], missing=True)
WARD = Attribute.categorical("ward", range(1, 6))


def clinic(*attributes, **more):
    return lambda: Schema(attributes, **more)


def inferred():
    return Schema.infer(pd.DataFrame({"age": [0, 120] * 9, "smoker": ["yes", "no"] * 9, "ward": [1, 2] * 9}))


RIGHT = [
    (lesson_19.q1, (2, 0.25)), (lesson_19.q2, (clinic(AGE, SMOKER, WARD),)), (lesson_19.q3, ({"rare", "schema"},)),
    (lesson_19.q2, (clinic(WARD, Attribute.binned("age", [0, 18, 65, 121], integer=True), SMOKER),)),
    (lesson_19.q2, (clinic(AGE, SMOKER, Attribute.categorical("ward", "12345")),)), (lesson_19.q3, (["schema", "Rare "],)),
]  # fmt: skip
WRONG = [
    (lesson_19.q1, (0.5, 0.25), "one record"),
    (lesson_19.q1, (0.125, 0.25), "add up"),
    (lesson_19.q1, (1, 0.25), "four steps"),
    (lesson_19.q1, (2, 1), "lose 4"),
    (lesson_19.q1, (2, 0.5), "must be 1"),
    (lesson_19.q2, (lambda: {"age": 3},), "returns dict"),
    (lesson_19.q2, (clinic(Attribute.categorical("visit", range(9)), AGE),), "'visit' has no finite"),
    (lesson_19.q2, (clinic(AGE, SMOKER),), "has ward, too"),
    (lesson_19.q2, (inferred,), "inferred"),
    (lesson_19.q2, (clinic(Attribute.numeric("age", 18, 90, integer=True), SMOKER, WARD),), "0 to 120"),
    (lesson_19.q2, (clinic(Attribute.categorical("age", range(121)), SMOKER, WARD),), "costs 15 cells"),
    (lesson_19.q2, (clinic(AGE, Attribute.categorical("smoker", ["yes", "no"]), WARD),), "missing=True"),
    (lesson_19.q2, (clinic(AGE, SMOKER, Attribute.categorical("ward", range(1, 5))),), "nobody visited"),
    (lesson_19.q2, (clinic(AGE, SMOKER, Attribute.categorical("ward", range(1, 6), missing=True)),), "always filled in"),
    (lesson_19.q3, ("schema",), "exact counts"),
    (lesson_19.q3, ({"rare"},), "minima"),
    (lesson_19.q3, ({"rare", "clip"},), "public bounds"),
    (lesson_19.q3, ({"fit"},), "pays for"),
    (lesson_19.q3, ({"drop"},), "everybody alike"),
    (lesson_19.q3, ({"noise"},), 'some of "drop"'),
]


@pytest.mark.parametrize(("question", "answer"), RIGHT)
def test_right_answers_pass(question, answer):
    assert question.check(*answer).right, question.check(*answer)


@pytest.mark.parametrize(("question", "answer", "words"), WRONG)
def test_likely_mistakes_are_named(question, answer, words):
    said = question.check(*answer)
    assert not said.right and words in said.text, said


def test_open_answers_are_open_and_help_is_there():
    for question in (lesson_19.q1, lesson_19.q2, lesson_19.q3):
        assert question.check(None).kind == "open"
        assert question.hint().text and question.solution().text
    assert lesson_19.q2.check(lambda: None).kind == "open"


def test_the_printed_solution_passes():
    import pdsynth as pds

    made = {}
    exec(lesson_19.q2.solution_text, {"pds": pds}, made)  # our own text
    assert lesson_19.q2.check(made["clinic"]).right

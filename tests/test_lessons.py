"""Exercises: friendly, never an exception, never fooled by nonsense; hints and solutions are there."""

import importlib
import pkgutil

import numpy as np
import pytest

import pdsynth.lessons
from pdsynth.lessons.exercise import Exercise, Message

LESSONS = [m.name for m in pkgutil.iter_modules(pdsynth.lessons.__path__) if m.name.startswith("lesson_")]
NONSENSE = ["", "text", -(10**9), 1e300, float("nan"), [], {}, [None], object(), lambda *a, **k: None, lambda: 1, int, np.zeros((2, 3))]


def _double(value):
    if value == 4:
        return None
    return "answer = 0: did you take 2 - 2?" if value == 0 else f"answer = {value} is not 2 + 2."


SUM = Exercise(_double, "Count on your fingers.", "2 + 2 = 4", "Question 1", "Correct, four.")


def test_right_wrong_and_open():
    assert SUM.check(4).right
    assert repr(SUM.check(4)) == "Question 1: Correct, four."
    assert "did you take 2 - 2?" in repr(SUM.check(0))
    assert not SUM.check(0).right


@pytest.mark.parametrize("answer", [(), (None,), (...,), (4, None)])
def test_an_open_question_is_no_error(answer):
    message = SUM.check(*answer)
    assert message.kind == "open"
    assert "isn't answered yet" in repr(message)


def test_a_failing_answer_is_told_and_not_raised():
    message = Exercise(lambda f: f(), "h", "s").check(lambda: 1 / 0)
    assert message.kind == "wrong"
    assert "ZeroDivisionError: division by zero" in repr(message)


def test_messages_show_themselves_as_text_and_as_html():
    html = Message("a < b\nc", "wrong")._repr_html_()
    assert "a &lt; b<br>c" in html
    assert "#d55e00" in html
    assert repr(SUM.hint()) == "Hint. Count on your fingers."
    assert repr(SUM.solution()) == "Solution. 2 + 2 = 4"


@pytest.mark.parametrize("name", LESSONS)
def test_exercises_of_a_lesson(name):
    module = importlib.import_module(f"pdsynth.lessons.{name}")
    exercises = {key: value for key, value in vars(module).items() if isinstance(value, Exercise)}
    assert len(exercises) >= 3, "predict, code, find the bug"
    for key, exercise in exercises.items():
        assert exercise.check().kind == "open"
        assert len(exercise.hint_text) > 10, key
        assert len(exercise.solution_text) > 5, key
        assert exercise.name != "this exercise", key
        for answer in NONSENSE:
            message = exercise.check(answer)
            assert not message.right, (key, answer)
            assert len(message.text) > 20, (key, answer)

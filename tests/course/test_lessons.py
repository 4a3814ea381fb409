"""Exercises: friendly, never an exception, never fooled by nonsense; hints and solutions are there."""

import importlib
import pkgutil

import numpy as np
import pytest
from lesson_answers import RIGHT, WRONG, XOR

import pdsynth.course.exercises
from pdsynth.course.exercises import lesson_11
from pdsynth.course.exercises.exercise import Exercise, Message, each, number, word
from pdsynth.measures import mutual_information
from pdsynth.structure.adaptive import ParentChoice

LESSONS = [m.name for m in pkgutil.iter_modules(pdsynth.course.exercises.__path__) if m.name.startswith("lesson_")]
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
    module = importlib.import_module(f"pdsynth.course.exercises.{name}")
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


EVERY = list(dict.fromkeys(exercise for exercise, _ in RIGHT))


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_the_right_answer_passes(exercise, answer):
    verdict = exercise.check(*answer)
    assert verdict.right, verdict.text
    assert verdict.text.endswith(exercise.praise)


@pytest.mark.parametrize(("exercise", "answer", "words"), WRONG)
def test_a_wrong_answer_names_the_likely_mistake(exercise, answer, words):
    verdict = exercise.check(*answer)
    assert not verdict.right
    assert words in verdict.text, verdict.text


@pytest.mark.parametrize(("exercise", "answer"), [case for case in RIGHT if len(case[1]) > 1])
def test_half_of_a_right_answer_is_not_right(exercise, answer):
    for wrong in (answer[:1], answer[1:], (*answer, answer[-1]), answer[::-1]):
        assert not exercise.check(*wrong).right, wrong


def test_judges_of_numbers_and_words():
    near, exactly = number(2, {3: "one too many"}, "{value:g} is wrong", within=0.1), number(2, {}, "{value:g} is wrong")
    assert near(2.1) is None and exactly(2.1) == "2.1 is wrong" and near("3") == "one too many"
    plain, inside = word(("a", "b"), {"c": "not {said}"}, "neither"), word("a", {}, "no", inside=True)
    assert plain(" B ") is None and plain("C") == "not c" and plain("ab") == "neither" and inside("cab") is None
    assert each(plain, exactly)("a", 1) == "1 is wrong" and each(plain, exactly)("a", 2) is None


@pytest.mark.parametrize("exercise", EVERY)
def test_an_open_answer_is_open_and_help_is_there(exercise):
    assert exercise.check(None).kind == exercise.check(...).kind == "open"
    assert exercise.check("no idea").kind == "wrong"
    assert not exercise.check(lambda *anything: 1 / 0).right
    if "def " in exercise.solution_text:
        assert exercise.check(lambda *anything: None).kind == "open", "a function that returns nothing"
    assert exercise.hint().text.startswith("Hint.")
    assert exercise.solution().text.startswith("Solution.")


def test_information_of_rows_by_hand():
    rows = np.array(XOR)
    assert lesson_11.information(rows, 3, (0,)) == 0
    assert lesson_11.information(rows, 3, (0, 1)) == 1
    assert lesson_11.information(rows, 3, ()) == 0
    assert lesson_11.information(rows[:, [0, 1, 2, 0]], 3, (0, 2)) == mutual_information(np.array([[4, 0], [0, 4]])) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_lesson_s_programme_is_the_library_s(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (60, 5))
    rows[:, 4] = rows[:, 0] & rows[:, 2] ^ (rng.random(60) < 0.2)
    choice = ParentChoice([4])
    for f in (1, 3, 0, 2):
        before = [(), *choice.sets[4]]
        grown = [round(lesson_11.information(rows, 4, (*p, f)) * 2**30) for p in before]
        choice.offer(f, np.array([grown]))
    found = lesson_11.gparentset(rows, 4, (1, 3, 0, 2))
    assert [found[j] for j in range(1, 5)] == choice.sets[4]


def test_the_order_of_arrival_decides_what_gparentset_misses():
    rows = np.array(XOR)
    assert set(lesson_11.gparentset(rows, 3, (0, 2, 1))[2]) != {0, 1}
    assert set(lesson_11.gparentset(rows, 3, (0, 1, 2))[2]) == {0, 1}

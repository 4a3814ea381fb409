"""Guess, commit, reveal: no answer before a guess, and none that can be changed afterwards."""

from html import unescape

import pandas as pd
import pytest

from pdsynth.course.guess import STATIC, Guess, guess


def legs(said=None, **options):
    calls = []
    made = guess("How many legs?", lambda: calls.append(1) or 8, unit="legs", **options)
    if said is not None:
        made.commit(said)
    return made, calls


def shown(made):
    return made.said.value + made.detail.value


def test_nothing_is_computed_or_shown_before_the_guess(monkeypatch):
    monkeypatch.delenv(STATIC, raising=False)
    made, calls = legs()
    bundle = made._repr_mimebundle_()
    assert not calls and made.answer is None
    assert "8" not in shown(made) + repr(made) + bundle["text/html"] + bundle["text/plain"]
    assert "How many legs?" in bundle["text/html"]


def test_the_answer_stands_beside_the_guess_and_the_guess_stays():
    made, calls = legs("10")
    assert "You: <b>10 legs</b> · Answer: <b>8 legs</b>" in shown(made)
    assert made.field.disabled and made.button.disabled
    made.commit("8")
    assert made.committed == 10 and calls == [1]


@pytest.mark.parametrize(
    ("problem", "words"),
    [(NameError("name 'a<b' is missing"), "NameError: name 'a<b' is missing"),
     (KeyboardInterrupt(), "interrupted")],
)  # fmt: skip
def test_an_answer_that_fails_or_is_interrupted_leaves_the_guess_open(problem, words):
    problems = [problem]

    def reveal():
        if problems:
            raise problems.pop()
        return 8

    made = guess("How many legs?", reveal, unit="legs")
    with pytest.raises(type(problem)):
        made.commit("10")
    assert made.committed is None and not made.field.disabled and not made.button.disabled
    assert "computing" not in shown(made) and "role='alert'" in shown(made)
    assert f"({words})" in unescape(shown(made)) and "<b is" not in shown(made)
    made.commit("12")
    assert made.committed == 12 and "You: <b>12 legs</b> · Answer: <b>8 legs</b>" in shown(made)


@pytest.mark.parametrize("said", ["", None, "  ", "many", "nan", "1/0", "1/2/3"])
def test_no_guess_no_answer(said):
    made, calls = legs()
    made.commit(said)
    assert not calls and made.committed is None and not made.field.disabled
    assert "role='alert'" in shown(made)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("1,000", 1000),
        ("−0.5", -0.5),
        ("1,5", 1.5),
        ("1.234,5", 1234.5),
        ("3/8", 0.375),
    ],
)
def test_numbers_as_people_write_them(said, value):
    assert legs(said)[0].committed == value


def test_a_guess_in_per_cent_is_one_where_the_unit_is():
    """200 % of a factor was shown as "You: 200 times", and 100 % of a distance as 100."""
    assert Guess("How many?", lambda: 60, unit="of 100").commit("12 %").committed == 12
    made, calls = legs()
    assert made.commit("200 %").committed is None and not calls
    assert "Without %, please" in shown(made)


def test_the_button_commits_what_stands_in_the_field():
    made = Guess("Which?", lambda: ("b", pd.DataFrame({"x": [41]})), options=["a", "b"])
    made.button.click()
    assert made.committed is None, "nothing is chosen yet"
    made.field.value = "a"
    made.button.click()
    assert made.committed == "a" and "Answer: <b>b</b>" in shown(made)
    assert "<table" in made.detail.value and "41" in made.detail.value


def test_enter_in_the_field_commits():
    """As the front end tells it: the value, then an event."""
    made, calls = legs()
    made.field.value = "1,5"
    made.field._handle_custom_msg({"event": "other"}, [])
    assert made.committed is None
    made.field._handle_custom_msg({"event": "submit"}, [])
    assert made.committed == 1.5 and calls == [1]


def test_keyboard_and_reader_find_a_name_for_each_control():
    made, _ = legs()
    assert made.field.description == "Your guess" and "How many legs?" in made.field.tooltip
    assert made.button.description and "How many legs?" in made.button.tooltip


def test_a_page_without_a_kernel_holds_the_answer_folded(monkeypatch):
    monkeypatch.setenv(STATIC, "1")
    html = legs()[0]._repr_mimebundle_()["text/html"]
    before, after = html.split("<details>")
    assert "How many legs?" in before and "8" not in before.replace("2px 10px", "")
    assert "8 legs" in after and '"unit": "legs", "one": "leg", "digits": 3' in unescape(before)


@pytest.mark.parametrize(
    ("value", "words"),
    [(14.84, "14.8 x"), (0.0123456, "0.0123 x"), (1234567, "1,234,567 x"), (0, "0 x"),
     (2.0, "2 x"), (float("inf"), "∞ x"), (-float("inf"), "−∞ x"), ("word", "word")],
)  # fmt: skip
def test_how_answers_are_written(value, words):
    assert guess("?", lambda: value, unit="x").write(value) == words


def test_one_has_a_unit_of_its_own():
    asked = guess("?", lambda: 1, unit="tables")
    assert [asked.write(number) for number in (0, 1, 2)] == ["0 tables", "1 table", "2 tables"]
    assert guess("?", lambda: 1, unit="people").write(1) == "1 person"


def test_a_value_in_place_of_a_function_is_refused():
    with pytest.raises(TypeError, match="runs when the guess is committed"):
        guess("?", 3)

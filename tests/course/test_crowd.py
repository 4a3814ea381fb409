"""The guesses of a class: read as they are typed, drawn where they lie."""

import re

import pytest

from pdsynth.course.crowd import Crowd, crowd, draw, read_guesses


def test_guesses_are_read_as_people_type_them():
    assert read_guesses("12 1,5; 1,000 = 55,4") == ([12, 1.5, 1000], 55.4)
    assert read_guesses("= 7") == ([], 7)
    with pytest.raises(ValueError):
        read_guesses("12 many")


def test_each_guess_is_a_dot_and_near_ones_are_piled_up():
    picture = draw([10, 10, 40], 20, "people")
    dots = re.findall(r"cx='([\d.]+)' cy='([\d.]+)'", picture)
    assert len(dots) == 3 and dots[0][0] == dots[1][0] and float(dots[0][1]) > float(dots[1][1])
    assert "3 guesses from 10 to 40, half of them at most 10; the answer is 20" in picture
    assert "the answer" not in draw([10, 10, 40]), "nothing is told before"
    assert draw([]) == ""


def test_enter_adds_and_a_word_is_told():
    made = crowd("How many?", "legs")
    for text in ("8 10", "6", "= 8"):
        made.field.value = text
        made.field._handle_custom_msg({"event": "submit"}, [])
    assert made.guesses == [8, 10, 6] and made.answer == 8 and made.field.value == ""
    made.add("eight")
    assert "role='alert'" in made.said.value and made.guesses == [8, 10, 6]


def test_names_can_t_write_on_the_picture():
    assert "<b>x" not in Crowd("?", "<b>x").add("1 2 = 2").picture.value

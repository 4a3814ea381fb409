"""The buttons of every panel: each sets the controls, and what it says is true of the state."""

import importlib
from types import SimpleNamespace

import pytest
from panel_tools import first_panel

from pdsynth.course.panels import LESSONS
from pdsynth.course.widgets.controls import slider
from pdsynth.course.widgets.live import live
from pdsynth.course.widgets.view import Try, View


def test_every_panel_has_two_buttons_or_more():
    assert all(len(panel_of(name).tries) >= 2 for name in LESSONS)


def panel_of(name):
    return importlib.import_module(f"pdsynth.course.panels.{name}").view


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_what_a_button_says_is_true(name):
    panel = panel_of(name)
    start, table = first_panel(name).view, panel.table()
    for one in panel.tries:
        assert set(one.sets) <= set(panel.made), "it sets controls that there are"
        for control, value in one.sets.items():
            widget = panel.controls(table)[control].widget
            widget.value = value  # a value outside the control raises or is clipped
            assert widget.value == value
        view = panel(**one.sets)
        was, now = SimpleNamespace(**start.facts), SimpleNamespace(**view.facts)
        assert one.true(was, now), one.says.format(was=was, now=now)
        assert one.tell(start, view) == one.says.format(was=was, now=now)
        assert len(one.label) <= 32


def panel():
    def draw(x, y):
        figure = {"data": [], "layout": {}}
        return View(figure, f"It is {x}. And {y}.", facts={"x": x})

    tries = [
        Try("more", {"x": 4}, "{now.x} after {was.x}.", lambda was, now: now.x > was.x),
        Try("less", {"x": 2}, "never said", lambda was, now: now.x < was.x - 5),
    ]
    return live(draw, tries=tries, x=slider("x", 3, 0, 5, 1), y=slider("y", 0, 0, 5, 1)), tries


def test_a_button_moves_all_controls_and_its_words_go_when_a_slider_moves():
    shown, (more, _) = panel()
    shown.set(y=5)
    button = next(w for w in shown.children[2].children[1].children if w.description == "more")
    button.click()
    assert shown.values == {"x": 4, "y": 0}, "what it doesn't set goes back"
    assert "4 after 3." in shown.told.value and "more:" in shown.told.value
    shown.controls["y"].value = 1
    assert shown.told.value == ""


def test_a_sentence_that_does_not_hold_is_not_said():
    shown, (_, less) = panel()
    assert shown.attempt(less) == "It is 2."

"""A new slider is one line: the panel takes it to the synthesizer, the title and the widget."""

from dataclasses import replace

from pdsynth.course.panels import hpprivbayes
from pdsynth.course.widgets.controls import slider

LINE = {"share_sketch": slider("β", 0.05, 0.01, 0.2, 0.01, tooltip="β, share of ε for the order")}


def test_a_slider_that_a_synthesizer_has_a_keyword_for_is_one_line():
    longer = replace(hpprivbayes.view, made={**hpprivbayes.view.made, **LINE})
    assert longer(share_sketch=0.2).tables != longer().tables
    panel = longer.panel()
    panel.set(share_sketch=0.2)
    assert panel.error is None and "β = 0.2" in panel.figure.layout.title.subtitle.text
    assert panel.view.tables == longer(share_sketch=0.2).tables


def test_each_panel_has_widgets_of_its_own():
    one, other = hpprivbayes.panel(), hpprivbayes.panel()
    one.set(epsilon=2.0)
    assert other.values["epsilon"] == 1.0 and hpprivbayes.view.made["epsilon"].default == 1.0

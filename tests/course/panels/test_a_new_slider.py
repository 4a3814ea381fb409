"""A new slider is one line: the panel takes it to the synthesizer, the title and the widget."""

from dataclasses import replace

from pdsynth.course.panels import hpprivbayes
from pdsynth.course.widgets.controls import slider

LINE = {"share_structure": slider("β", 0.3, 0.1, 0.9, 0.1, tooltip="β, share of ε for the network")}


def test_a_slider_that_a_synthesizer_has_a_keyword_for_is_one_line():
    longer = replace(hpprivbayes.view, made={**hpprivbayes.view.made, **LINE})
    assert longer(share_structure=0.8).tables != longer().tables
    panel = longer.panel()
    panel.set(share_structure=0.8)
    assert panel.error is None and "β = 0.8" in panel.figure.layout.title.subtitle.text
    assert panel.view.tables == longer(share_structure=0.8).tables


def test_each_panel_has_widgets_of_its_own():
    one, other = hpprivbayes.panel(), hpprivbayes.panel()
    one.set(epsilon=2.0)
    assert other.values["epsilon"] == 1.0 and hpprivbayes.view.made["epsilon"].default == 1.0

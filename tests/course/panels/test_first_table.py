"""The panel of lesson 00: one-way marginals move with ε."""

import math

import numpy as np

from pdsynth.course.panels import first_table


def test_first_table_moves_with_epsilon_and_keeps_its_axis():
    little, much = first_table.view(epsilon=0.05), first_table.view(epsilon=2.0)
    real = [np.array(v.figure.data[0].y, dtype=float) for v in (little, much)]
    assert np.array_equal(*real)
    fake = [np.array(v.figure.data[1].y, dtype=float) for v in (little, much)]
    assert np.abs(fake[0] - real[0]).sum() > 3 * np.abs(fake[1] - real[1]).sum()
    assert all(math.isclose(f.sum(), 1) for f in fake)
    assert little.figure.layout.yaxis.range == much.figure.layout.yaxis.range


def test_first_table_panel_follows_its_controls():
    panel = first_table.panel()
    panel.controls["attribute"].value = "sex"
    panel.controls["epsilon"].value = 0.5
    assert panel.error is None
    assert panel.view.figure.layout.title.text == "sex: ε = 0.5"
    assert list(panel.view.figure.data[0].x) == ["Female", "Male"]


def test_little_budget_moves_the_bars_and_the_button_says_by_how_much():
    panel = first_table.panel()
    assert "bars differ by 5.7% on average instead of 2.6%" in panel.attempt(
        first_table.view.tries[0]
    )

"""The panel of lesson 16: micro-worlds."""

from fractions import Fraction as Q

import numpy as np
import pytest
from panel_tools import trace

from pdsynth.course import panels
from pdsynth.course.panels import worlds


def test_the_band_is_around_the_first_law():
    view = worlds.view(epsilon=0.5)
    band, before = view.figure.data[0], trace(view.figure, "before")
    p = worlds.PEOPLE.law("PrivBayes, score R", Q(1, 2))
    assert list(before.y) == pytest.approx([float(p[o]) for o in before.x])
    assert np.array(band.base) == pytest.approx(np.array(before.y) * np.exp(-0.5))
    assert np.array(band.base) + np.array(band.y) == pytest.approx(np.array(before.y) * np.exp(0.5))
    assert "inside the band" in view.status and "sum to 1 and 1" in view.status


def test_a_person_who_stays_changes_nothing_and_a_broken_step_leaves_the_band():
    stay = worlds.view(person=1, becomes=0)
    assert list(trace(stay.figure, "before").y) == list(trace(stay.figure, "after, inside").y)
    broken = worlds.view(step="sensitivity divided by n twice")
    assert "OUTSIDE" in broken.status and len(trace(broken.figure, "after, outside").x) == 1
    raw = worlds.view(step="raw order (HPPrivBayes as printed)", person=5, becomes=3)
    assert "e^∞" in raw.status and "OUTSIDE" in raw.status


def test_every_position_of_the_micro_world_panel_draws():
    panel = panels.worlds.panel()
    for person in (1, 5):
        for becomes in (0, 7):
            panel.set(person=person, becomes=becomes)
            assert panel.error is None and f"person {person}" in panel.figure.layout.title.text

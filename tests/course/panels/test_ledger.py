"""The panel of lesson 02: claimed and true ε."""

import math

import numpy as np
import pytest

from pdsynth.core.errors import BudgetError
from pdsynth.course.panels import ledger


def sums(view):
    """Heights of the stacked columns 'claimed' and 'true'."""
    stacks = np.array([t.y for t in view.figure.data if t.orientation != "h"], dtype=float)
    return stacks.sum(axis=0)


@pytest.mark.parametrize("algorithm", ["PrivBayes", "HPPrivBayes"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("k", [0, 2])
def test_strict_columns_end_at_the_promise(algorithm, epsilon, k):
    view = ledger.view(algorithm=algorithm, guarantee="strict", epsilon=epsilon, k=k)
    assert np.allclose(sums(view), epsilon)
    assert "no objection" in view.status


def test_the_reprint_overshoots_by_half_and_strict_refuses_it():
    view = ledger.view()
    assert np.allclose(sums(view), [1.0, 1.5])
    assert "true ε = 3/2" in view.status
    with pytest.raises(BudgetError, match="thesis"):
        ledger.view(guarantee="strict")


def test_unaccounted_parts_are_red_to_the_end():
    view = ledger.view(algorithm="HPPrivBayes", guarantee="published")
    red = next(t for t in view.figure.data if t.name == "unaccounted")
    assert red.marker.color == "#B34700"
    assert math.isclose(sums(view)[1], ledger.TOP)
    assert "∞" in view.tables[0]
    assert "NOT DIFFERENTIALLY PRIVATE" in view.status


def test_ledger_panel_shows_a_refusal_and_recovers():
    panel = ledger.panel()
    panel.controls["guarantee"].value = "strict"
    assert isinstance(panel.error, BudgetError)
    assert "role='alert'" in panel.alert.value
    panel.controls["guarantee"].value = "published"
    assert panel.error is None
    assert panel.alert.value == ""
    panel.controls["k"].value = 3
    assert "k = 3" in panel.view.figure.layout.title.text


def test_without_noise_the_columns_agree_with_the_sentence():
    view = ledger.view(guarantee="none", epsilon=0.5)
    assert view.status.startswith("ε = 0.5 is claimed, and no finite ε is true")
    assert np.allclose(sums(view), [0.5, ledger.TOP])


def test_no_words_stand_where_the_line_of_the_promise_runs():
    """In a narrow bar "nobody paid" stood upright, across the line; ∞ stands above the bar."""
    for epsilon in (0.5, 2.0):
        figure = ledger.view(algorithm="HPPrivBayes", guarantee="published", epsilon=epsilon).figure
        (raw,) = [t for t in figure.data if t.name == "unaccounted"]
        assert list(raw.text) == ["", ""]
        assert "<b>∞</b>" in [note.text for note in figure.layout.annotations]

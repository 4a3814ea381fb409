"""The panel of lesson 04: the network, what it captures and its noise."""

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.course.panels import privbayes
from pdsynth.course.panels.table import teaching_table
from pdsynth.course.panels.words import noise_to_cell
from pdsynth.evaluation.queries import sum_mutual_information


@pytest.fixture(scope="module")
def table():
    return teaching_table()


def test_privbayes_view_agrees_with_the_evaluation(table):
    state = privbayes.fit(table, 1.0, 2, "strict")
    frame, schema = table.dataset.frame, table.records.schema
    assert state["captured"] == pytest.approx(
        sum_mutual_information(state["fitted"].network_, frame, schema)
    )
    assert state["fitted"].ledger_.epsilon == 1
    assert len(state["noise"]) == len(schema) - 2  # the first k tables are derived, not measured
    assert len(state["distances"]) == 91
    assert (np.diff(state["distances"]) >= 0).all()


def test_privbayes_noise_is_scale_over_mean_cell(table):
    fitted = privbayes.fit(table, 1.0, 1, "strict")["fitted"]
    child, parents = fitted.network_.pairs[-1]
    cells = table.records.schema.cells([child, *parents])
    assert noise_to_cell(fitted)[child] == pytest.approx(2 * 13 / 0.7 * cells / table.records.n)


def test_privbayes_thesis_reprint_overspends_and_says_so(table):
    view = privbayes.view(table, k="2", reading="thesis reprint")
    assert "True ε 1.5 of 1 claimed" in view.status
    assert "OVERSPENT" in view.tables[0]


@pytest.mark.parametrize("k", ["auto", "0", "1", "3"])
@pytest.mark.parametrize("reading", list(privbayes.READINGS))
def test_privbayes_axes_stay_where_they_are(table, k, reading):
    first, moved = (privbayes.view(table, epsilon=e, k=k, reading=reading) for e in (0.3, 3.1))
    assert ranges(first.figure) == ranges(moved.figure)
    assert f"k = {k}" in moved.figure.layout.title.text
    assert moved.alt.endswith(moved.status)


def test_privbayes_more_parents_capture_more_without_noise(table):
    bits = [privbayes.fit(table, 1.0, k, "no noise")["captured"] for k in (0, 1, 2, 3)]
    assert bits == sorted(bits)
    assert bits[0] == 0
    assert bits[1] == pytest.approx(4.33, abs=0.01)
    assert bits[2] == pytest.approx(4.71, abs=0.03)


def test_privbayes_panel_follows_its_controls():
    panel = privbayes.panel()
    assert panel.error is None
    before = panel.view.status
    panel.controls["epsilon"].value = 0.3
    panel.controls["k"].value = "3"
    panel.controls["reading"].value = "thesis reprint"
    assert panel.error is None
    assert panel.view.status != before
    assert "True ε 0.45 of 0.3" in panel.view.status

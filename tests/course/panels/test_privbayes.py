"""The panel of lesson 04: the network, what it captures and its noise."""

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.course.panels import hpprivbayes, privbayes
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


def test_distances_that_are_far_off_stand_on_the_axis_end_which_says_so(table):
    figure = privbayes.view(table, epsilon=0.1, k="4").figure
    axis = figure.layout.yaxis4
    assert axis.ticktext[-1] == "≥ 25%" and axis.tickvals[-1] == axis.range[1]
    curves = [np.array(t.y) for t in figure.data if t.yaxis == "y4"]
    assert all((y <= axis.range[1]).all() for y in curves)
    run = next(t for t in figure.data if (t.name or "").startswith("this run"))
    assert max(run.y) == axis.range[1] and run.text[-1] == "81%"


@pytest.mark.parametrize("k", ["0", "1", "4"])
@pytest.mark.parametrize("epsilon", [0.1, 4.0])
def test_every_noise_stands_on_its_axis_and_a_derived_table_has_none(table, k, epsilon):
    figure = privbayes.view(table, epsilon=epsilon, k=k).figure
    low, high = (10**power for power in figure.layout.xaxis2.range)
    (noise,) = [t.x for t in figure.data if t.xaxis == "x2" and t.customdata]
    shown = [x for x in noise if x is not None]
    assert len(shown) == 14 - int(k)
    assert all(low <= x <= high for x in shown)


def test_a_noise_beyond_the_axis_stands_at_its_end_and_the_hover_says_how_far(table):
    """Ten thousand times as much noise as people: the most drowned table of all isn't missing."""
    levers = {"epsilon": 0.1, "k": 4, "r": 0.05, "theta": 0.0, "guarantee": "published"}
    figure = hpprivbayes.view(table, **levers).figure
    end = 10 ** figure.layout.xaxis2.range[1]
    marks = [(x, said) for t in figure.data if t.xaxis == "x2" and t.customdata
             for x, said in zip(t.x, t.customdata, strict=True)]  # fmt: skip
    assert len(marks) == 14 and max(x for x, _ in marks) == end
    assert any(said.endswith(": 1.02e+04") for x, said in marks if x == end)

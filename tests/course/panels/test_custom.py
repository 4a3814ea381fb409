"""The panel of lesson 14: the custom network."""

from fractions import Fraction

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.course.panels import custom
from pdsynth.course.panels.table import teaching_table


@pytest.fixture(scope="module")
def table():
    return teaching_table("adult", seed=14)


def test_custom_network_detaches_and_the_paper_s_setting_replicates(table):
    state = custom.compute(table, 1.0, 4, "relationship", "none", "I")
    rest = [
        j for j, name in enumerate(table.schema.names) if name not in ("relationship", "salary")
    ]
    row = table.schema.index("relationship")
    income = table.schema.index("salary")
    assert state["heat"]["custom"][row, rest].max() < 0.3 * state["heat"]["DS"][row, rest].max()
    assert state["heat"]["custom"][row, income] == pytest.approx(
        state["heat"]["original"][row, income], abs=0.02
    )
    zero, scores = state["zero rule"], state["scores"]
    assert scores["custom"]["disclosure"] == pytest.approx(zero, abs=0.03), (
        "Table X: 42.2 % against 40.5 %"
    )
    assert scores["DS"]["disclosure"] > zero + 0.12, "Table X: 56.3 %"
    assert scores["custom"]["utility"] == pytest.approx(scores["DS"]["utility"], abs=0.02), (
        "Table XII: 80.8 against 81.4 %"
    )


@pytest.mark.parametrize("sensitive", custom.SENSITIVE)
def test_the_loss_is_known_before_the_run(table, sensitive):
    for epsilon in (0.5, 2.0):
        state = custom.compute(table, epsilon, 1, sensitive, "strict", "r")
        ledger = state["fitted"]["custom"].ledger_
        assert state["loss"]["custom"] == Fraction(7, 150) * Fraction(str(epsilon))
        assert state["loss"]["DS"] > state["loss"]["custom"]
        assert ledger.epsilon == Fraction(str(epsilon))
        assert ledger.guaranteed_ex_ante == (sensitive,)


def test_heat_maps_by_hand():
    from privacy_tools import records_of

    records = records_of([[0, 0, 1], [1, 1, 1], [0, 0, 1], [1, 1, 1]], (2, 2, 2))
    r, bits = custom.strengths(records, "r"), custom.strengths(records, "I")
    assert np.isnan(np.diag(r)).all()
    assert (r[0, 1], r[0, 2]) == (1, 0), "a constant column has no correlation"
    assert bits[0, 1] == 1


def test_original_is_judged_once(table, monkeypatch):
    custom.view(table, k="1")
    calls = []
    judge = custom.judge
    monkeypatch.setattr(custom, "judge", lambda *args: calls.append(1) or judge(*args))
    custom.view(table, k="2")
    assert len(calls) == 2, "the two synthetic tables"


@pytest.mark.parametrize("measure", ["r", "I"])
def test_axes_stay_where_they_are(table, measure):
    first, moved = (custom.view(table, epsilon=e, k="1", measure=measure) for e in (0.3, 3.0))
    drawn = [
        {name: span for name, span in ranges(v.figure).items() if name != "yaxis6"}
        for v in (first, moved)
    ]
    assert drawn[0] == drawn[1]
    assert first.alt.endswith(first.status)


@pytest.mark.parametrize("sensitive", ["relationship", "sex"])
def test_no_label_of_a_bar_stands_on_the_line_of_chance(table, sensitive):
    figure = custom.view(table, sensitive=sensitive).figure
    for axis in ("y4", "y5"):
        labels, line = (
            next(
                t.y for t in figure.data if t.yaxis == axis and t.to_plotly_json().get("mode") == m
            )
            for m in ("text", "lines")
        )
        assert not any(line[0] - custom.HIGH < y < line[0] for y in labels)
        assert figure.layout[f"yaxis{axis[1]}"].tickvals[-1] == 100


def test_custom_panel_follows_its_controls():
    panel = custom.panel()
    assert panel.error is None
    for name, value in {
        "epsilon": 0.4,
        "k": "2",
        "sensitive": "sex",
        "guarantee": "none",
        "measure": "I",
    }.items():
        before = panel.view.alt
        panel.controls[name].value = value
        assert panel.error is None
        assert panel.view.alt != before or name == "measure"
    assert "∞" in [
        t
        for trace in panel.view.figure.data
        if trace.to_plotly_json().get("mode") == "text"
        for t in trace.text
    ]

"""The panel of lesson 17: personal budgets."""

import math
from fractions import Fraction as Q

import pytest
from panel_tools import ranges

from pdsynth.course import panels
from pdsynth.course.panels import personal
from pdsynth.course.panels.table import TeachingTable
from pdsynth.course.panels.words import percent


@pytest.fixture(scope="module")
def table(cmc):
    return TeachingTable(cmc)


def test_the_point_is_the_ledger_s_loss(table):
    state = personal.measure(table, personal.recipe("PPBA", 1.0, 0.3, 0.1, 1.2, table.dataset))
    sensitive = table.dataset.sensitive
    assert state["losses"].equals(state["fitted"].ledger_.attribute_epsilon())
    view = personal.view(table, method="PPBA", q=1.2)
    assert f"{sensitive} loses ε = {float(state['losses'][sensitive]):.3g} of 1" in view.status
    assert (
        view.figure.data[-1].x[0] == pytest.approx(float(state["losses"][sensitive]))
        and view.figure.data[-1].y[0] == state["rest"]
    )
    others = [float(v) for name, v in state["losses"].items() if name != sensitive]
    bars = dict(zip(view.figure.data[0].y, view.figure.data[0].x, strict=True))
    assert sorted(v for name, v in bars.items() if name != sensitive) == pytest.approx(
        sorted(others)
    )


def test_only_policy_promises(table):
    named = {m: personal.view(table, method=m, r=0.05) for m in personal.METHODS}
    assert "known before the run" in named[personal.CUSTOM].status
    assert all(
        "read off this run" in view.status for m, view in named.items() if m != personal.CUSTOM
    )
    custom = personal.measure(
        table, personal.recipe(personal.CUSTOM, 1.0, 0.05, 0.1, 1.1, table.dataset)
    )
    assert custom["losses"][table.dataset.sensitive] <= Q(1, 20), "r/(1 + r) of the tables' budget"


def test_the_line_is_privbayes_with_less_for_all(table):
    losses, errors = personal.line(table)
    assert losses == sorted(losses) and len(losses) == len(errors) == len(personal.TOTALS)
    assert errors[0] > errors[-1]


def test_the_personal_widget_moves(cmc):
    panel = panels.personal.panel(cmc)
    panel.set(method=personal.CUSTOM, r=0.1)
    assert panel.error is None and "r = 0.1" in panel.figure.layout.title.text
    panel.set(epsilon=0.5)
    assert "ε = 0.5" in panel.figure.layout.title.text
    low, high = ranges(panel.figure)["yaxis2"]
    assert low == 0
    assert all(max(trace.y) <= high for trace in panel.figure.data if trace.yaxis == "y2")


def joined(view):
    """Upright lines between the point and PrivBayes' line."""
    return [s for s in view.figure.layout.shapes if s.xref == "x2" and s.x0 == s.x1]


def test_beyond_the_ends_of_the_line_nothing_is_compared(table):
    losses, errors = personal.line(table)
    inside = personal.view(table)
    assert len(joined(inside)) == 1 and "its line ends" not in inside.status
    low = personal.view(table, method=personal.CUSTOM, r=0.01, epsilon=0.1)
    assert low.facts["loss"] < losses[0] and not joined(low)
    assert f"protecting all, over {percent(errors[0])}." in low.status
    assert f"over {errors[0]:.3f} (its line ends at ε = {losses[0]:.2g})." in low.status
    start, end = low.figure.layout.xaxis2.range
    assert start < math.log10(low.facts["loss"]) < end, "the point is drawn"
    for loss, found in (
        (losses[-1] * 1.1, (errors[-1], "under ", f" (its line ends at ε = {losses[-1]:.2g})")),
        (losses[2], (errors[2], "", "")),
    ):
        assert personal.beside(table, loss) == found


def test_the_button_of_a_promise_compares_with_what_was_measured():
    first = personal.view.tries[0]
    view = personal.view(**first.sets)
    assert "its line ends" not in view.status and len(joined(view)) == 1
    losses, _ = personal.line(personal.view.table())
    assert losses[0] < view.facts["loss"]


def test_a_button_says_what_its_number_is():
    base = personal.view()
    for button in personal.view.tries:
        view = personal.view(**button.sets)
        said = button.tell(base, view)
        assert said.startswith(f"occupation loses {view.facts['loss']:.3g}")
        if button.label != "PPBA":
            assert f"off by {view.facts['rest']:.1%}" in said

"""Panels of lessons 16 and 17: audits, micro-worlds and the frontier as pure views, then through the live widget."""

from fractions import Fraction as Q

import numpy as np
import pytest
from panel_tools import ranges, trace

from pdsynth import audit
from pdsynth.audit.estimator import lower_bound
from pdsynth.course import panels
from pdsynth.course.panels import auditing, personal, worlds
from pdsynth.course.panels.hpprivbayes import Studio


@pytest.fixture(scope="module")
def room(cmc):
    return Studio(cmc)


# --- 16 auditing ---------------------------------------------------------------------------------------------------------


def test_the_bound_on_the_picture_is_the_audit_s():
    view = auditing.view("datasynthesizer-double-spending", 1.0, 10)
    samples = audit.samples("datasynthesizer-double-spending", 10_000, epsilon=1.0, seed=auditing.SEED)
    bound = lower_bound(*samples)
    line = trace(view.figure, "lost")
    assert line.y[-1] == pytest.approx(bound.epsilon) and line.x[-1] == 10_000
    assert f"{bound.epsilon:.3g}" in view.status and view.status.startswith("Violated") and "in theory 2" in view.status
    assert "OVERSPENT: claimed ε = 1, true ε = 2" in view.tables[0]
    assert list(trace(view.figure, "a perfect").y) == [audit.ceiling(int(n)) for n in line.x]


def test_patience_refutes_and_a_small_epsilon_hides():
    verdicts = [auditing.view(epsilon=e, runs=r).status.split(".")[0] for e, r in ((1.0, 1), (1.0, 10), (0.3, 10))]
    assert verdicts == ["Not refuted", "Violated", "Not refuted"]


@pytest.mark.parametrize("step", auditing.STEPS)
def test_every_step_says_what_the_catalogue_expects(step):
    view = auditing.view(step, 1.0, 4)
    assert step in view.figure.layout.title.text
    expected = audit.case(step).expect
    if expected == audit.VIOLATED and step != "datasynthesizer-double-spending":  # needs more runs, as the lesson shows
        assert view.status.startswith("Violated")
    if expected != audit.VIOLATED:
        assert view.status.startswith("Not refuted")


def test_axes_stay_and_both_worlds_are_shares():
    first, second = auditing.view(runs=1), auditing.view(runs=4)
    assert ranges(first.figure)["yaxis"] == ranges(second.figure)["yaxis"]
    for world in ("world D", "world D'"):
        assert sum(next(t for t in second.figure.data if t.name == world).y) == pytest.approx(1)


def test_the_auditing_widget_moves():
    panel = panels.auditing.panel()
    start = panel.figure.layout.title.text
    panel.set(epsilon=0.3, runs=2)
    assert "ε = 0.3, 2,000 runs" in panel.figure.layout.title.text != start
    panel.set(step="strict-joint-tables")
    assert panel.figure.layout.title.text.startswith("strict-joint-tables") and panel.error is None


# --- micro-worlds ----------------------------------------------------------------------------------------------------------


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
    broken = worlds.view("sensitivity divided by n twice")
    assert "OUTSIDE" in broken.status and len(trace(broken.figure, "after, outside").x) == 1
    raw = worlds.view("raw order (HPPrivBayes as printed)", 5, 3)
    assert "e^∞" in raw.status and "OUTSIDE" in raw.status


def test_every_position_of_the_micro_world_panel_draws():
    panel = panels.worlds.panel()
    for person in (1, 5):
        for becomes in (0, 7):
            panel.set(person=person, becomes=becomes)
            assert panel.error is None and f"person {person}" in panel.figure.layout.title.text


# --- 17 personal budgets -----------------------------------------------------------------------------------------------------


def test_the_point_is_the_ledger_s_loss(room):
    state = personal.place(room, personal.recipe("PPBA", 1.0, 0.3, 0.1, 1.2, room.dataset))
    sensitive = room.dataset.sensitive
    assert state["losses"].equals(state["fitted"].ledger_.attribute_epsilon())
    view = personal.view("PPBA", q=1.2, room=room)
    assert f"{sensitive} loses ε = {float(state['losses'][sensitive]):.3g} of 1" in view.status
    assert view.figure.data[-1].x[0] == pytest.approx(float(state["losses"][sensitive])) and view.figure.data[-1].y[0] == state["rest"]
    others = [float(v) for name, v in state["losses"].items() if name != sensitive]
    bars = dict(zip(view.figure.data[0].y, view.figure.data[0].x, strict=True))
    assert sorted(v for name, v in bars.items() if name != sensitive) == pytest.approx(sorted(others))


def test_only_policy_promises(room):
    named = {m: personal.view(m, r=0.05, room=room) for m in personal.METHODS}
    assert "known before the run" in named[personal.CUSTOM].status
    assert all("read off this run" in view.status for m, view in named.items() if m != personal.CUSTOM)
    custom = personal.place(room, personal.recipe(personal.CUSTOM, 1.0, 0.05, 0.1, 1.1, room.dataset))
    assert custom["losses"][room.dataset.sensitive] <= Q(1, 20), "r/(1 + r) of the tables' budget"


def test_the_line_is_privbayes_with_less_for_all(room):
    losses, errors = personal.line(room)
    assert losses == sorted(losses) and len(losses) == len(errors) == len(personal.TOTALS)
    assert errors[0] > errors[-1]


def test_the_personal_widget_moves(cmc):
    panel = panels.personal.panel(cmc)
    panel.set(method=personal.CUSTOM, r=0.1)
    assert panel.error is None and "r = 0.1" in panel.figure.layout.title.text
    panel.set(epsilon=0.5)
    assert "ε = 0.5" in panel.figure.layout.title.text and ranges(panel.figure)["yaxis2"] == (0, 0.25)

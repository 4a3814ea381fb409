"""The panel of lesson 16: audits."""

import numpy as np
import pytest
from panel_tools import ranges, trace

from pdsynth import audit
from pdsynth.audit.estimator import lower_bound
from pdsynth.course import panels
from pdsynth.course.panels import auditing


def test_the_bound_on_the_picture_is_the_audit_s():
    view = auditing.view(step="datasynthesizer-double-spending", epsilon=1.0, runs=10)
    samples = audit.samples(
        "datasynthesizer-double-spending", 10_000, epsilon=1.0, seed=auditing.SEED
    )
    bound = lower_bound(*samples)
    line = trace(view.figure, "lost")
    assert line.y[-1] == pytest.approx(bound.epsilon) and line.x[-1] == 10_000
    assert (
        f"{bound.epsilon:.3g}" in view.status
        and "Violated: " in view.status
        and "In theory 2;" in view.status
    )
    assert "OVERSPENT: claimed ε = 1, true ε = 2" in view.tables[0]
    assert list(trace(view.figure, "a perfect").y) == [audit.ceiling(int(n)) for n in line.x]


def test_a_large_theory_is_written_out():
    view = auditing.view(step="privabn-conditional-noise", epsilon=3.0, runs=1)
    assert "In theory 2,023;" in view.status


def test_patience_refutes_and_a_small_epsilon_hides():
    verdicts = [
        auditing.view(epsilon=e, runs=r).status.split(":")[0].split(". ")[1]
        for e, r in ((1.0, 1), (1.0, 10), (0.3, 10))
    ]
    assert verdicts == ["Not refuted", "Violated", "Not refuted"]


@pytest.mark.parametrize("step", auditing.STEPS)
def test_every_step_says_what_the_catalogue_expects(step):
    view = auditing.view(step=step, epsilon=1.0, runs=4)
    assert step in view.figure.layout.title.text
    expected = audit.case(step).expect
    if (
        expected == audit.VIOLATED and step != "datasynthesizer-double-spending"
    ):  # needs more runs, as the lesson shows
        assert "Violated: " in view.status
    if expected != audit.VIOLATED:
        assert "Not refuted: " in view.status


def test_axes_stay_and_both_worlds_are_shares():
    first, second = auditing.view(runs=1), auditing.view(runs=4)
    assert ranges(first.figure)["yaxis"] == ranges(second.figure)["yaxis"]
    for world in ("world D", "world D'"):
        assert sum(next(t for t in second.figure.data if t.name == world).y) == pytest.approx(1)


@pytest.mark.parametrize("step", ["strict-value-weights", "hpprivbayes-raw-weights"])
def test_bars_stand_at_values_and_the_dashed_line_between_two(step):
    figure = auditing.view(step=step, runs=1).figure
    seen = np.unique(np.concatenate(auditing.samples_of(step, 1.0, 1000)))
    for name, world in zip(("D", "D'"), auditing.samples_of(step, 1.0, 1000), strict=True):
        bars = trace(figure, f"world {name}")
        assert sum(bars.y) == pytest.approx(1) and len(set(np.diff(bars.x))) == 1
        if len(seen) <= auditing.BARS:
            assert list(bars.x) == list(seen)
            assert list(bars.y) == [np.mean(world == value) for value in seen]
    cut = next(line.x0 for line in figure.layout.shapes if line.xref == "x2")
    assert cut not in seen and seen[0] < cut < seen[-1]


def test_the_auditing_widget_moves():
    panel = panels.auditing.panel()
    start = panel.figure.layout.title.text
    panel.set(epsilon=0.3, runs=2)
    assert "ε = 0.3, 2,000 runs" in panel.figure.layout.title.text != start
    panel.set(step="strict-joint-tables")
    assert panel.figure.layout.title.text.startswith("strict-joint-tables") and panel.error is None


@pytest.mark.parametrize(("epsilon", "runs"), [(1.0, 1), (0.3, 15)])
def test_a_bound_near_the_claim_is_said_on_its_side_of_it(epsilon, runs):
    """0.996 is no violation of 1, and 1.00 would look like one."""
    view = auditing.view(step="datasynthesizer-double-spending", epsilon=epsilon, runs=runs)
    said = float(view.status.split("a loss of ")[1].split(";")[0])
    assert (said > epsilon) == (view.facts["verdict"] == audit.VIOLATED) and said != epsilon


@pytest.mark.parametrize("runs", [1, 5, 10])
def test_what_is_proved_is_written_above_the_curve_and_apart_from_the_claim(runs):
    figure = auditing.view(runs=runs).figure
    (note,) = [note for note in figure.layout.annotations if "proved" in note.text]
    curve = next(t for t in figure.data if (t.name or "").startswith("lost"))
    claim = next(t for t in figure.data if t.name == "claimed ε")
    assert note.y >= max(curve.y) + 0.3
    assert abs(note.y - claim.y[0]) >= 0.35 - 1e-9

"""The panel of lesson 01: the laws of two mechanisms and the band of ε."""

import json
import math

import numpy as np
import pytest

from pdsynth.answers.laws import discrete_laplace_pmf
from pdsynth.course.panels import mechanisms
from pdsynth.course.panels.table import teaching_table


@pytest.fixture(scope="module")
def table():
    return teaching_table("complete")


def shown(panel):
    """The figure that the page shows now."""
    return json.loads(panel.view.figure.to_json())


def test_neighbours_differ_in_one_moved_record():
    counts, moved = mechanisms.neighbours(np.array([0, 0, 0, 1, 1, 2]), 4, 6)
    assert counts.tolist() == [3, 2, 1, 0]
    assert moved.tolist() == [2, 3, 1, 0]
    assert mechanisms.neighbours(np.array([0, 0, 1, 1, 1, 1]), 2, 3)[0].tolist() == [2, 1]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n", [100, 1000, 45222])
def test_right_noise_keeps_the_promise_and_the_count_uses_all_of_it(table, epsilon, n):
    schema, codes = table.schema, table.records.codes[:, table.schema.index("occupation")]
    state = mechanisms.laws(
        *mechanisms.neighbours(codes, schema["occupation"].size, n), epsilon, 1.0
    )
    assert math.isclose(mechanisms.worst_ratio(*state["laplace"]), epsilon)
    assert mechanisms.worst_ratio(*state["choices"]) <= epsilon * (1 + 1e-9)


def test_half_the_noise_breaks_the_promise_and_the_panel_says_so_in_red():
    good, bad = mechanisms.view(share=1.0), mechanisms.view(share=0.5)
    outside = [
        [len(t.x) for t in v.figure.data if (t.name or "").startswith("more than")]
        for v in (good, bad)
    ]
    assert outside[0] == [0, 0]
    assert outside[1][0] > 0
    assert "as promised" in good.status
    assert "ε = 2, more than the promised 1" in bad.status


def test_more_noise_than_promised_and_a_choice_that_is_nearly_sure_are_said_as_they_are():
    said = mechanisms.view(share=2.0, n=10_000).status
    assert "ε = 0.5, less than the promised 1." in said
    assert said.endswith("with probability above 0.999."), "no private choice is certain"


def test_the_drawn_law_is_the_mechanisms_law_on_a_fixed_range(table):
    view = mechanisms.view(epsilon=0.5, n=1000)
    real = next(t for t in view.figure.data if t.name == "real table D")
    counts = np.bincount(table.records.codes[:1000, table.schema.index("occupation")])
    assert np.allclose(real.y, discrete_laplace_pmf(np.array(real.x) - counts.max(), 2.0))
    assert view.figure.layout.yaxis.range == mechanisms.view(epsilon=4.0).figure.layout.yaxis.range


def test_mechanism_panel_follows_its_controls():
    panel = mechanisms.panel()
    before = shown(panel)
    for name, value in (("epsilon", 0.5), ("share", 0.5), ("n", 45222), ("attribute", "race")):
        panel.controls[name].value = value
        assert panel.error is None
    assert panel.view.figure.layout.title.text == "race, first 45,222 people: ε = 0.5, noise × 0.5"
    assert shown(panel)["data"] != before["data"]


def test_the_band_holds_chances_and_its_note_stands_above_them():
    view = mechanisms.view(epsilon=4.0, share=0.25)
    for band in (t for t in view.figure.data if t.name == "allowed"):
        length = band.x if band.orientation == "h" else band.y
        assert (np.array(band.base) + np.array(length)).max() <= 1 + 1e-12
    figure = view.figure
    assert figure.layout.yaxis.range[1] > 1.1 and max(figure.layout.yaxis.tickvals) == 1
    assert "8,886,111 times" in view.status and "<b>8,886,111</b> times, at most" in str(
        figure.layout
    )


def test_what_the_noise_is_said_to_do_is_its_scale_and_every_dot_has_a_name():
    """At ε = 4 most of the releases are exact: noise of scale 0.25 moves none of them by that."""
    view = mechanisms.view(epsilon=4.0)
    assert "the noise has scale 0.25." in view.status
    assert {t.name for t in view.figure.data if t.type == "scatter"} >= {"releases"}
    assert all(t.name for t in view.figure.data)

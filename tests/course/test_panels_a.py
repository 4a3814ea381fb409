"""Panels of lessons 00–03: their views as pure functions, and the same through live controls."""

import json
import math

import numpy as np
import pytest

from pdsynth.course.panels import first_table, information, ledger, mechanisms
from pdsynth.errors import BudgetError
from pdsynth.privacy.mechanisms import discrete_laplace_pmf


def shown(panel):
    """The figure that the page shows now."""
    figure = panel.view.figure
    return json.loads(figure.to_json())


# --- 00 ------------------------------------------------------------------------------------------------------------


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


# --- 01 ------------------------------------------------------------------------------------------------------------


def test_neighbours_differ_in_one_moved_record():
    counts, moved = mechanisms.neighbours(np.array([0, 0, 0, 1, 1, 2]), 4, 6)
    assert counts.tolist() == [3, 2, 1, 0]
    assert moved.tolist() == [2, 3, 1, 0]
    assert mechanisms.neighbours(np.array([0, 0, 1, 1, 1, 1]), 2, 3)[0].tolist() == [2, 1]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("n", [100, 1000, 45222])
def test_right_noise_keeps_the_promise_and_the_count_uses_all_of_it(epsilon, n):
    labels, codes = mechanisms.histograms()["occupation"]
    state = mechanisms.compute(*mechanisms.neighbours(codes, len(labels), n), epsilon, 1.0)
    assert math.isclose(mechanisms.worst_ratio(*state["laplace"]), epsilon)
    assert mechanisms.worst_ratio(*state["choices"]) <= epsilon * (1 + 1e-9)


def test_half_the_noise_breaks_the_promise_and_the_panel_says_so_in_red():
    good, bad = mechanisms.view(share=1.0), mechanisms.view(share=0.5)
    outside = [[len(t.x) for t in v.figure.data if (t.name or "").startswith("outside")] for v in (good, bad)]
    assert outside[0] == [0, 0]
    assert outside[1][0] > 0
    assert "as promised" in good.status
    assert "e^2, more than the promised 1" in bad.status


def test_the_drawn_law_is_the_mechanisms_law_on_a_fixed_range():
    view = mechanisms.view(epsilon=0.5, n=1000)
    real = next(t for t in view.figure.data if t.name == "real table D")
    counts = np.bincount(mechanisms.histograms()["occupation"][1][:1000])
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


# --- 02 ------------------------------------------------------------------------------------------------------------


def sums(view):
    """Heights of the stacked columns 'claimed' and 'true'."""
    stacks = np.array([t.y for t in view.figure.data if t.orientation != "h"], dtype=float)
    return stacks.sum(axis=0)


@pytest.mark.parametrize("algorithm", ["PrivBayes", "HPPrivBayes"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("k", [0, 2])
def test_strict_columns_end_at_the_promise(algorithm, epsilon, k):
    view = ledger.view(algorithm, "strict", epsilon, k)
    assert np.allclose(sums(view), epsilon)
    assert "no objection" in view.status


def test_the_reprint_overshoots_by_half_and_strict_refuses_it():
    view = ledger.view(ledger.ALGORITHMS[1], "published", 1.0, 2)
    assert np.allclose(sums(view), [1.0, 1.5])
    assert "true ε = 3/2" in view.status
    with pytest.raises(BudgetError, match="thesis"):
        ledger.view(ledger.ALGORITHMS[1], "strict", 1.0, 2)


def test_unaccounted_parts_are_red_to_the_end():
    view = ledger.view("HPPrivBayes", "published", 1.0, 2)
    red = next(t for t in view.figure.data if t.name == "unaccounted")
    assert red.marker.color == "#D55E00"
    assert "∞" in red.text[1]
    assert math.isclose(sums(view)[1], ledger.TOP)
    assert "∞" in view.tables[0]
    assert "NOT DIFFERENTIALLY PRIVATE" in view.status


def test_ledger_panel_shows_a_refusal_and_recovers():
    panel = ledger.panel()
    panel.controls["algorithm"].value = ledger.ALGORITHMS[1]
    assert isinstance(panel.error, BudgetError)
    assert "role='alert'" in panel.alert.value
    panel.controls["guarantee"].value = "published"
    assert panel.error is None
    assert panel.alert.value == ""
    panel.controls["k"].value = 3
    assert "k = 3" in panel.view.figure.layout.title.text


# --- 03 ------------------------------------------------------------------------------------------------------------


def test_information_matrix_is_symmetric_and_matches_the_table():
    view = information.view("relationship", "sex", "R")
    matrix = np.array(view.figure.data[0].z, dtype=float)
    assert np.allclose(matrix, matrix.T, equal_nan=True)
    assert np.isnan(np.diag(matrix)).all()
    half = np.abs(np.array(view.figure.data[1].z, dtype=float)).sum() / 2
    room = information.room()
    i, j = room.schema.index("relationship"), room.schema.index("sex")
    assert math.isclose(half, matrix[i, j], rel_tol=1e-9)
    assert f"R = {half:.3f}" in view.status


def test_sketch_noise_shrinks_with_epsilon():
    room = information.room()
    errors = [np.abs(room.values("R with noise", information.as_fraction(e)) - room.raw["R"]).mean() for e in (0.1, 4.0)]
    assert errors[0] > 10 * errors[1]
    assert math.isclose(room.noise_scale(information.as_fraction(2.0)) * 2, room.noise_scale(information.as_fraction(1.0)))


def test_information_panel_refuses_one_attribute_twice_and_recovers():
    panel = information.panel()
    panel.controls["y"].value = panel.controls["x"].value
    assert isinstance(panel.error, ValueError)
    assert "choose two different attributes" in panel.alert.value
    panel.controls["y"].value = "age"
    panel.controls["measure"].value = "R with noise"
    panel.controls["epsilon"].value = 0.5
    assert panel.error is None
    assert "The sketch at ε = 0.5" in panel.view.status

"""The panel of lesson 03: associations of all pairs."""

import math

import numpy as np

from pdsynth.core.errors import as_fraction
from pdsynth.course.panels import information
from pdsynth.course.panels.table import teaching_table


def test_information_matrix_is_symmetric_and_matches_the_table():
    view = information.view(x="relationship", y="sex", measure="R")
    matrix = np.array(view.figure.data[0].z, dtype=float)
    assert np.allclose(matrix, matrix.T, equal_nan=True)
    assert np.isnan(np.diag(matrix)).all()
    half = np.abs(np.array(view.figure.data[1].z, dtype=float)).sum() / 2
    table = teaching_table("thesis", seed=5)
    i, j = table.schema.index("relationship"), table.schema.index("sex")
    assert math.isclose(half, matrix[i, j], rel_tol=1e-9)
    assert f"R = {half:.3f}" in view.status


def test_sketch_noise_shrinks_with_epsilon():
    table = teaching_table("thesis", seed=5)
    errors = [
        np.abs(
            information.values(table, "R with noise", as_fraction(e)) - information.raw(table, "R")
        ).mean()
        for e in (0.1, 4.0)
    ]
    assert errors[0] > 10 * errors[1]
    assert math.isclose(
        information.noise_scale(table, as_fraction(2.0)) * 2,
        information.noise_scale(table, as_fraction(1.0)),
    )


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


def test_a_noisy_number_is_called_one_beside_the_real_r():
    status = information.view(x="sex", y="race", measure="R with noise", epsilon=0.05).status
    assert status.startswith("Sex and race share 0.00 in R, with noise. In full: ")
    assert "R = 0.034." in status and "the real R of 85% of the pairs" in status


def test_the_number_stands_in_one_half_so_that_the_other_shows_what_it_covers():
    """On a phone it is wider than its cell; in the first column it would cover names of rows."""
    for pair in (("age", "education"), ("education", "age")):
        notes = information.view(x=pair[0], y=pair[1]).figure.layout.annotations
        assert [(n.x, n.y) for n in notes if n.bgcolor] == [(3, 0)]


def test_the_gap_s_colours_say_their_unit_and_where_they_end():
    figure = information.view().figure
    gap = figure.data[1]
    assert np.abs(gap.z).max() > gap.zmax == information.MOST
    assert list(gap.colorbar.ticktext) == ["≤ −5%", "0%", "≥ 5%"]
    assert figure.layout.meta["charts"]["x2y2"]["title"].endswith("% of all people")

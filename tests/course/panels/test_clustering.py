"""The panel of lesson 08: MIC and clusters."""

from fractions import Fraction as Q

import numpy as np
import pytest

from pdsynth.course.mic import maximal_information_coefficient
from pdsynth.course.panels import clustering
from pdsynth.course.panels.table import teaching_table
from pdsynth.datasets.loaders import load_cmc


@pytest.fixture(scope="module")
def table():
    return teaching_table("thesis", seed=8)


def test_the_grid_on_show_attains_the_maximal_information_coefficient(table):
    pair = table.schema.index("age"), table.schema.index("marital-status")
    grid = clustering.grid(table, pair)
    assert grid.value == maximal_information_coefficient(table.records.table(pair))
    figure = clustering.view(table).figure
    upright = [s for s in figure.layout.shapes if s.type == "line" and s.x0 == s.x1]
    assert [s.x0 for s in upright] == [cut - 0.5 for cut in grid.row_cuts]
    lying = [s for s in figure.layout.shapes if s.type == "line" and s.y0 == s.y1]
    assert [s.y0 for s in lying] == [cut - 0.5 for cut in grid.column_cuts]
    shape = f"{len(grid.row_cuts) + 1} × {len(grid.column_cuts) + 1}"
    words = f"MIC(age, marital-status) = {grid.value:.3f} on a {shape} grid"
    assert words in clustering.view(table).status


def test_on_two_values_mic_is_information_and_so_are_their_sensitivities(table):
    pair = table.schema.index("sex"), table.schema.index("native-country")
    found = clustering.strengths(table, pair)
    assert found["MIC"] == pytest.approx(found["I"])
    assert found["R"] > 100 * found["I"]
    figure = clustering.view(table, x="sex", y="native-country").figure
    dots = next(t for t in figure.data if t.xaxis == "x2")
    assert min(dots.x) > 10 ** figure.layout.xaxis2.range[0], "none is left of the axis"


def test_published_similarities_are_printed_and_truly_cost_half_the_columns(table):
    for guarantee, true in (("strict", Q(2, 5)), ("published", 19 * Q(2, 5))):
        matrix, names, ledger = clustering.similarities(table, guarantee, Q(2, 5))
        assert matrix.shape == (len(names), len(names))
        assert np.array_equal(matrix, matrix.T)
        assert ledger.finite == true
        assert ledger.claimed == Q(2, 5)
    (entry,) = ledger.entries
    d = 38
    assert entry.sensitivity / entry.scale == 19 * Q(2, 5)
    assert entry.scale * Q(2, 5) * 2 * (d // 2) == entry.sensitivity / (d * (d - 1) // 2) * d * (
        d - 1
    )  # Lap(Δ d(d−1) / (ε₁ 2⌊d/2⌋))


def test_the_printed_sign_keeps_less_information_than_lots(table):
    for sketch in ("strict: noisy R, attributes", "no noise: R, attributes"):
        right, wrong = (
            clustering.compute(table, 3, Q(2, 5), 0.2, clustering.SKETCHES[sketch], r)["inside"]
            for r in ("similarity", "printed")
        )
        assert right > 0.6 > 0.38 > wrong
    bits = clustering.compute(table, 3, Q(2, 5), 0.2, "published", "similarity")
    assert bits["torn"]
    assert not clustering.compute(table, 3, Q(2, 5), 0.2, "strict", "similarity")["torn"]


def test_information_kept_by_hand():
    information = np.array([[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 2], [0, 0, 2, 0]], dtype=float)
    assert clustering.kept_information(information, ((0, 1), (2, 3))) == pytest.approx(5 / 6)
    assert clustering.kept_information(information, ((0, 2), (1, 3))) == pytest.approx(1 / 6)
    assert clustering.kept_information(information, ((0, 1, 2, 3),)) == 1
    assert clustering.kept_information(np.zeros((2, 2)), ((0,), (1,))) == 1


def test_eta_removes_pairs_inside_clusters_only_and_more_of_them_as_it_rises(table):
    counts = []
    for eta in (0.0, 0.2, 0.5, 0.9):
        state = clustering.compute(table, 3, Q(2, 5), eta, "strict", "similarity")
        inside = np.zeros_like(state["removed"])
        for c in state["clusters"]:
            inside[np.ix_(c, c)] = True
        assert not (state["removed"] & ~inside).any()
        counts.append(int(state["removed"].sum()))
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]


def test_the_same_attribute_twice_is_refused_and_another_table_is_taken():
    panel = clustering.panel(load_cmc())
    assert panel.error is None
    panel.set(x=panel.values["y"])
    assert "two different attributes" in str(panel.error)

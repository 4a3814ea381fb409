"""No error bar leaves the range of its measure."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from pdsynth.papers import drawing, engine
from pdsynth.papers.scoreboard import Committed

POINTS = pd.DataFrame({
    "metric": ["misclassification", "attacker's advantage", "L1", "2-way distance"],
    "mean": [0.9, -0.9, 0.1, 0.5], "ci95": [0.3, 0.3, 0.3, np.nan], "epsilon": [1, 2, 3, 4],
})  # fmt: skip


def ends(trace):
    """Lower and upper ends of a trace's bars, without those of single runs."""
    mean, bars = np.asarray(trace.y, float), trace.error_y
    up = np.asarray(bars.array, float)
    down = up if bars.arrayminus is None else np.asarray(bars.arrayminus, float)
    known = np.isfinite(up)
    return (mean - down)[known], (mean + up)[known]


def test_bars_by_hand():
    plot = go.Figure()
    drawing.line(plot, POINTS, "epsilon", "a", "#000000")
    low, high = ends(plot.data[0])
    assert low == pytest.approx([0.6, -1, 0]) and high == pytest.approx([1, -0.6, 0.4])


def test_twin_a_symmetric_bar_leaves_the_range():
    plot = go.Figure().add_scatter(y=POINTS["mean"], error_y=drawing.error_bars(POINTS["ci95"]))
    low, high = ends(plot.data[0])
    assert low.min() < -1 and high.max() > 1


@pytest.mark.parametrize("figure", [4, 5])
def test_bars_of_the_committed_figures_stay_in_range(root, figure):
    """Figure 4 has two runs a point, and so the widest bars of all."""
    plot = Committed(engine.find("hmprivbayes"), root / "figures").assemble(figure).figure
    found = [ends(trace) for trace in plot.data if trace.error_y.array is not None]
    assert len(found) > 5
    assert min(low.min() for low, _ in found if len(low)) >= -1 - 1e-9
    assert max(high.max() for _, high in found if len(high)) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("paper", "figure"), [("hmprivbayes", 5), ("privabn", 1), ("hpprivbayes", 4)]
)
def test_the_paper_s_view_has_its_series_and_its_ranges(root, paper, figure):
    board = Committed(engine.find(paper), root / "figures")
    result = board.results[figure]
    settings = board.paper.read_settings(result.parameters)
    whole, view = result.figure, board.paper.view(figure, result.data, settings)
    names = {trace.name for trace in view.data}
    assert names < {trace.name for trace in whole.data}
    assert not any("strict" in name for name in names)
    shown = [trace.name for trace in view.data if trace.showlegend]
    assert len(shown) == len(set(shown)) == len(names), "each series once in the legend"
    if paper == "hmprivbayes":
        assert tuple(view.layout.yaxis.range) == (0.1, 0.3)


def test_a_figure_without_a_view_has_none(root):
    board = Committed(engine.find("courtroom"), root / "figures")
    result = board.results[1]
    settings = board.paper.read_settings(result.parameters)
    assert board.paper.view(1, result.data, settings) is None

"""No error bar leaves the range of its measure."""

import re

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from paper_tools import BOARDS, board_of

from pdsynth.papers import drawing, genetic_plots

POINTS = pd.DataFrame({
    "metric": ["misclassification", "attacker's advantage", "L1", "2-way distance"],
    "mean": [0.9, -0.9, 0.1, 0.5], "ci95": [0.3, 0.3, 0.3, np.nan], "epsilon": [1, 2, 3, 4],
})  # fmt: skip


def ends(trace, axis="y"):
    """Lower and upper ends of a trace's bars, without those of single runs."""
    mean, bars = np.asarray(trace[axis], float), trace[f"error_{axis}"]
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
    plot = go.Figure().add_scatter(y=POINTS["mean"], error_y={"array": POINTS["ci95"]})
    low, high = ends(plot.data[0])
    assert low.min() < -1 and high.max() > 1


@pytest.mark.parametrize("board", BOARDS, ids=lambda b: b.paper.name)
def test_bars_of_the_committed_figures_stay_in_range(board):
    """Of every figure and table that is drawn with bars."""
    for key, result in board.results.items():
        bars = [
            ends(trace, axis)
            for trace in result.figure.data
            for axis in "xy"
            if f"error_{axis}" in trace and trace[f"error_{axis}"].array is not None
        ]
        low = min((low.min() for low, _ in bars if len(low)), default=0)
        high = max((high.max() for _, high in bars if len(high)), default=0)
        names = ["per cent"] if "shows" in board.paper.experiments[key] else result.data["metric"]
        least, most = np.array([drawing.range_of(name) for name in set(names)]).T
        assert low >= least.min() - 1e-9 and high <= most.max() + 1e-9, key


def test_a_picture_without_bars_does_not_speak_of_them():
    trials = pd.DataFrame({"k": [1, 1], "repeat": [0, 1], "value": 0.5})
    assert "bars" in drawing.say_runs(trials)
    assert drawing.say_runs(trials, bars=False) == "2 repeats"


def test_ticks_of_run_times_never_crowd():
    """Digits beside a power of ten ran into each other where a decade had nine of them."""
    assert drawing.log_ticks([1, 1000], "∞")["ticktext"] == ["1", "∞"]
    few = genetic_plots._time_ticks(pd.Series([2.8, 17.0]))["ticktext"]
    assert few == ["1", "2", "5", "10", "20", "50"]
    many = genetic_plots._time_ticks(pd.Series([0.02, 17.0]))["ticktext"]
    assert many == ["0.01", "0.1", "1", "10"]


def test_what_a_measure_can_be():
    """A share whose bar would pass 1, as in the ablations of the genetic search."""
    bars = drawing.bars_in_range([0.9998, 0.5], [0.001, 0.1], "share of the optimum")
    assert np.allclose(bars["array"], [0.0002, 0.1])
    assert np.allclose(bars["arrayminus"], [0.001, 0.1])
    assert drawing.range_of("L1") == (0, 2) and drawing.range_of("processor seconds")[0] == 0


VIEWS = [
    (board, key) for board in BOARDS for key in board.keys if "view" in board.paper.experiments[key]
]


@pytest.mark.parametrize(("board", "key"), VIEWS, ids=[f"{b.paper.name}-{k}" for b, k in VIEWS])
def test_no_view_has_words_that_are_cut_or_panels_that_are_empty(board, key):
    """A line of the title holds about 125 letters at the printed width of 800."""
    result = board.results[key]
    view = board.paper.view(key, result.data, board.paper.read_settings(result.parameters))
    lines = [re.sub("<[^>]+>", "", part) for part in view.layout.title.text.split("<br>")]
    assert max(map(len, lines)) <= 125 and board.paper.experiments[key]["view"]["says"] in lines[1]
    axes = {trace.xaxis or "x" for trace in view.data}
    titles = [note for note in view.layout.annotations if note.text]
    assert len(titles) in (0, len(axes)), "a panel without a curve"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "figure"), [("hmprivbayes", 5), ("privabn", 1), ("hpprivbayes", 4)]
)
def test_the_paper_s_view_has_its_series_and_its_ranges(paper, figure):
    board = board_of(paper)
    result = board.results[figure]
    settings = board.paper.read_settings(result.parameters)
    whole, view = result.figure, board.paper.view(figure, result.data, settings)
    marks = {mark["text"] for mark in board.paper.experiments[figure]["view"].get("marks", [])}
    names = {trace.name for trace in view.data}
    assert marks <= names
    names -= marks
    assert names < {trace.name for trace in whole.data}
    assert not any("strict" in name for name in names)
    shown = [trace.name for trace in view.data if trace.showlegend]
    assert len(shown) == len(set(shown)) == len(names), "each series once in the legend"
    if paper == "hmprivbayes":
        assert tuple(view.layout.yaxis.range) == (0.1, 0.3)


def test_a_figure_without_a_view_has_none():
    board = board_of("courtroom")
    result = board.results[1]
    settings = board.paper.read_settings(result.parameters)
    assert board.paper.view(1, result.data, settings) is None

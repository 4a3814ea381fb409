"""How many repeats figures have, say, and are asked for."""

import re
from pathlib import Path

import pandas as pd
import pytest
from paper_tools import BOARDS

from pdsynth.papers import repeats
from pdsynth.papers.engine import stem
from pdsynth.papers.results import point
from pdsynth.papers.rules import Gaps

ROOT = Path(__file__).resolve().parents[2]
FIGURES = [(board, key) for board in BOARDS for key in board.keys]
NAMES = [f"{board.paper.name} {stem(key)}" for board, key in FIGURES]
TRIALS = pd.DataFrame({"method": list("AAAB"), "k": list("1121"), "repeat": [0, 1, 0, 0]})
TRIALS["value"] = 0.0


def test_the_point_that_has_fewest_counts():
    assert repeats.fewest(TRIALS, ()) == 1
    assert repeats.fewest(TRIALS[TRIALS["k"] == "1"], ["B"]) == 2


@pytest.mark.parametrize(("board", "key"), FIGURES, ids=NAMES)
def test_no_figure_has_fewer_repeats_than_it_says(board, key):
    """The picture's own words, the paper's view's, and those of the page."""
    result = board.results[key]
    counts = result.data.groupby(point(result.data), dropna=False)["repeat"].nunique()
    view = board.paper.view(key, result.data, board.paper.read_settings(result.parameters))
    for plot in filter(None, (result.figure, view)):
        for said in re.findall(r"(\d+) repeats?", plot.layout.title.text or ""):
            assert int(said) in set(counts), plot.layout.title.text
    if said := re.findall(r"(\d+) repeats?", result.figure.layout.title.text or ""):
        once = board.paper.experiments[key].get("once", ())
        assert str(repeats.fewest(result.data, once)) in said, "a part that has fewer isn't named"
    assert result.parameters["repeats"] in set(counts)


@pytest.mark.slow
def test_one_figure_alone_has_fewer_repeats_than_are_asked():
    short = [c for c in repeats.count(BOARDS) if c.has < c.asked]
    holders = repeats.Count("Records that several holders have", "Figure 1", 20, 15)
    assert short == [holders], "the one that its page says"
    page = (ROOT / "figures" / "README.md").read_text(encoding="utf-8")
    assert repeats.page(BOARDS).strip() in page


def test_twin_what_is_short_stands_on_the_page(monkeypatch):
    short = repeats.Count("Paper", "Figure 1", asked=20, has=3)
    monkeypatch.setattr(repeats, "count", lambda _: iter([short]))
    assert "| Paper | Figure 1 | 20 | 3 |" in repeats.page(BOARDS)


def test_curves_that_a_reading_leaves_out_are_said_to_be_not_run():
    pages = sorted((ROOT / "figures").glob("*/README.md"))
    page = "\n".join(path.read_text(encoding="utf-8") for path in pages)
    bits = [line for line in page.splitlines() if re.match(r"\* bits(?!, timed)", line)]
    assert bits and all(line.endswith("Strict: not run") for line in bits)
    assert " of 0" not in page.replace(" of 0.", "")
    assert Gaps([], []).count == "not run"
    assert Gaps([(1.0, 0.5)], ["here"]).count == "better at 1, worse at 0 of 1", "twin"

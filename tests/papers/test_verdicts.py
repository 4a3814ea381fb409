"""Every verdict, note and number of the committed trials, word by word.

``verdicts.json`` was written before the papers became data. Rewrite it only where a text or a
rule is meant to change:
``python tests/papers/test_verdicts.py``.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # where this file is a program

from paper_tools import BOARDS as EVERY  # noqa: E402

from pdsynth.papers.engine import find, stem  # noqa: E402
from pdsynth.papers.results import summarise  # noqa: E402

FILE = Path(__file__).with_name("verdicts.json")
BOARDS = {board.paper.name: board for board in EVERY}
COMMITTED = [(name, key) for name, board in BOARDS.items() for key in board.keys]


def describe(paper, key):
    """Everything of a result that is text, and the settings that its parameters give."""
    board, its = BOARDS[paper], find(paper)
    result = board.results[key]
    return {
        "title": result.title,
        "verdicts": [asdict(v) for v in board.verdicts[key]],
        "deviation": list(result.deviation),
        "appendix": its.appendix(key, result),
        "page": [its.heading, its.reading, its.bars, its.seeds, its.notes, its.repeats, its.seed],
    }


@pytest.mark.parametrize(("paper", "key"), COMMITTED)
def test_the_same_words(paper, key):
    kept = json.loads(FILE.read_text(encoding="utf-8"))[f"{paper} {stem(key)}"]
    assert describe(paper, key) == kept


@pytest.mark.parametrize(("paper", "key"), COMMITTED)
def test_the_same_points(paper, key):
    """Mean, standard deviation and interval of every point, byte by byte."""
    points = summarise(BOARDS[paper].results[key].data)
    text = points.to_csv(index=False, lineterminator="\n", float_format="%.5g")
    assert text == BOARDS[paper].file(key, ".csv").read_text(encoding="utf-8")


def test_nothing_committed_is_left_out():
    assert len(COMMITTED) == len(list(ROOT.glob("figures/*/*_trials.csv")))
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    assert {f"{paper} {stem(key)}" for paper, key in COMMITTED} == set(kept)


if __name__ == "__main__":
    everything = {f"{paper} {stem(key)}": describe(paper, key) for paper, key in COMMITTED}
    FILE.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(everything)} results\n")

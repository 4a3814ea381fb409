"""Every verdict, note and number of the committed trials, word by word.

``verdicts.json`` was written before the papers became data. Rewrite it only where a text or a
rule is meant to change:
``python tests/papers/test_verdicts.py``.
"""

import json
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest

from pdsynth.papers import PAPERS
from pdsynth.papers.engine import find, read, stem

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(__file__).with_name("verdicts.json")
COMMITTED = [
    (paper, key)
    for paper in PAPERS
    for key in find(paper).titles
    if (ROOT / "figures" / paper / f"{stem(key)}_trials.csv").exists()
]


def path(paper, key, end):
    return ROOT / "figures" / paper / (stem(key) + end)


@cache
def assemble(paper, key):
    parameters = json.loads(path(paper, key, ".json").read_text(encoding="utf-8"))
    return find(paper).assemble(key, read(path(paper, key, "_trials.csv")), parameters)


def describe(paper, key):
    """Everything of a result that is text, and the settings that its parameters give."""
    result, its = assemble(paper, key), find(paper)
    return {
        "title": result.title,
        "verdicts": [asdict(v) for v in result.verdicts],
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
    points = assemble(paper, key).summary()
    text = points.to_csv(index=False, lineterminator="\n", float_format="%.5g")
    assert text == path(paper, key, ".csv").read_text(encoding="utf-8")


def test_nothing_committed_is_left_out():
    assert len(COMMITTED) == len(list(ROOT.glob("figures/*/*_trials.csv")))
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    assert {f"{paper} {stem(key)}" for paper, key in COMMITTED} == set(kept)


if __name__ == "__main__":
    everything = {f"{paper} {stem(key)}": describe(paper, key) for paper, key in COMMITTED}
    FILE.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(everything)} results\n")

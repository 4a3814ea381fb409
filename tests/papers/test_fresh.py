"""Committed trials of the recommended method are of this code: some quick ones are made again.

Of those asked for together one may differ: another processor's last digits can change a choice.
The trials of benchmarks/advice.py are asked for in test_advice.py.
"""

import json
from pathlib import Path

import pandas as pd
import pytest
from script_tools import load

from pdsynth.papers.grids import Run

ROOT = Path(__file__).resolve().parents[2]


def differ(committed, fresh, keys, values):
    """How many of the fresh trials have other values than the committed ones."""
    both = committed.merge(fresh, on=keys, suffixes=("", " now"))
    assert len(both) == len(fresh) > 0
    far = [(both[value] - both[f"{value} now"]).abs() > 2e-5 for value in values]
    return int(pd.concat(far, axis=1).any(axis=1).sum())


@pytest.mark.slow
def test_the_fits_with_rules_are_of_this_code():
    rules = load(ROOT / "benchmarks" / "rules.py")
    read, declare = rules.TABLES["cmc"]
    dataset = read()
    ruled = rules.replace(dataset.schema, rules=declare(dataset.schema))
    codes = ruled.encode(dataset.frame)
    fresh = [
        {"table": "cmc", "method": method} | rules.one_fit(
            rules.METHODS[method](dataset.schema), codes, schema, ruled, epsilon, 0)
        for method in rules.FAST
        for epsilon in (0.1, 1.0)
        for schema in (dataset.schema, ruled)
    ]  # fmt: skip
    keys = ["table", "method", "epsilon", "guarantee", "seed", "rules"]
    committed = pd.read_csv(rules.FOUND)
    assert differ(committed, pd.DataFrame(fresh), keys, ["1-way", "2-way"]) <= 1


@pytest.mark.slow
def test_the_curve_of_the_yardsticks_is_of_this_code():
    make = load(ROOT / "figures" / "make.py")
    paper = make.find("yardsticks")
    board = make.Committed(paper, ROOT / "figures")
    facts = json.loads(board.file(1, ".json").read_text(encoding="utf-8"))
    run = Run(2, paper.seed, jobs=1, only={"method": "ConsistentBayes", "dataset": "CMC"})
    fresh = paper.trials(1, paper.read_settings(facts | {"on": ["CMC"]}), run)
    keys = ["metric", "dataset", "method", "epsilon", "repeat"]
    committed = make.read(board.file(1, "_trials.csv"))
    assert differ(committed, fresh, keys, ["value"]) <= 4, "a fit has four numbers"

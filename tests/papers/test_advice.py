"""The table of benchmarks/advice.py: what its rows say, and that it follows from its trials."""

from pathlib import Path

import pandas as pd
import pytest
from script_tools import load

HERE = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def advice():
    return load(HERE / "advice.py")


def test_a_row_by_hand(advice):
    trials = pd.DataFrame(
        [
            ("T", 1.0, "ConsistentBayes", True, 0, 0.2),
            ("T", 1.0, "ConsistentBayes", True, 1, 0.4),
            ("T", 1.0, "baselines.Independent", False, 0, 0.6),
            ("T", 1.0, "PrivBayes(k=1)", False, 0, 0.25),
            ("T", 2.0, "baselines.Independent", True, 0, 0.5),
        ],
        columns=[*advice.KEY, "advised", "repeat", "distance"],
    )
    said = {("T", 1.0): 0.25, ("T", 2.0): 0.5}
    row, alone = advice.summary(trials, said).to_dict("records")
    assert (row["advised"], row["nearest rival"]) == ("ConsistentBayes", "PrivBayes(k=1)")
    assert row["÷ rival"] == pytest.approx(1.2) and row["÷ Independent"] == pytest.approx(0.5)
    assert (row["foretold"], row["distance"]) == (0.25, pytest.approx(0.3))
    assert row["repeats"] == 2 and alone["÷ rival"] == alone["÷ Independent"] == 1


def test_the_committed_table_follows_from_its_trials(advice):
    committed = pd.read_csv(advice.FILE)
    said = committed.set_index(["table", "epsilon"])["foretold"].to_dict()
    found = advice.summary(pd.read_csv(advice.TRIALS), said)
    assert list(committed.columns) == list(found.columns)
    number = found.select_dtypes("number").columns
    assert committed[number].to_numpy() == pytest.approx(
        found[number].to_numpy(), rel=1e-3, nan_ok=True
    )
    words = ["table", "advised", "nearest rival"]
    assert (committed[words] == found[words]).all(axis=None)


@pytest.mark.slow
def test_the_committed_trials_are_of_this_code(advice):
    """A changed method or plan makes the file stale; CMC's first repeat is quick and tells it.

    Of a method's five distances one may differ: another processor's last digits can change a
    choice.
    """
    columns = [*advice.KEY, "advised", "repeat", "distance"]
    fresh = pd.DataFrame(advice.trials("CMC", 1, 8.0, set()), columns=columns)
    both = pd.read_csv(advice.TRIALS).merge(fresh, on=columns[:-1], suffixes=(" committed", ""))
    assert len(both) == len(fresh) >= 25
    both["same"] = (both["distance committed"] / both["distance"] - 1).abs() < 1e-4
    assert (both.groupby("method")["same"].sum() >= 4).all()

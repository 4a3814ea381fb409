"""Effect sizes: what they rest on, by hand and against the verdicts' own numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from paper_tools import BOARDS

from pdsynth.papers import effects
from pdsynth.papers.rules import RULES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def found():
    return effects.measure(BOARDS)


@pytest.mark.slow
def test_the_committed_effects_are_those_of_the_committed_trials(found):
    text = found.to_csv(index=False, lineterminator="\n", float_format="%.4g")
    assert (ROOT / "figures" / "effects.csv").read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_every_rule_of_differences_is_named(found):
    assert set(effects.RULES_OF_GAPS) <= set(RULES)
    assert {"paper", "claim", "reading", "g", "runs_a"} <= set(found.columns)


@pytest.mark.slow
def test_one_point_by_hand(found):
    """HMPrivBayes against PrivBayes on the same bits: 2-way distance on Adult at ε = 0.05."""
    trials = pd.read_csv(ROOT / "figures/hmprivbayes/readings/fig5_bits_trials.csv")
    at = (trials["metric"] == "2-way distance") & (trials["epsilon"] == 0.05)
    one, two = (
        trials.loc[at & (trials["method"] == m), "value"] for m in ("PrivBayes", "HMPrivBayes")
    )
    mine = found[(found["claim"] == "nearer than PrivBayes, mostly") & (found["reading"] == "bits")]
    point = mine["point"].str.contains("2-way") & mine["point"].str.endswith("epsilon = 0.05")
    (row,) = mine[point].itertuples()
    assert row.difference == pytest.approx(one.mean() - two.mean())
    assert (row.runs_a, row.runs_b) == (len(one), len(two))
    assert row.g == pytest.approx(effects.hedges(one.to_numpy(), two.to_numpy()))
    assert np.sign(row.g) == np.sign(row.difference)

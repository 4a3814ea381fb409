"""Persons with an ε of their own: preferences as said, methods that differ, a rule on plants."""

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.papers import persons
from pdsynth.papers.rules import Question

QUICK = {"mixes": ("54 / 37 / 9",), "ties": (0.0, 0.5, 2.0), "records": (800,), "bins": (2,)}


@pytest.mark.parametrize("tie", [0.0, 0.5, 2.0])
def test_preferences_have_their_shares_and_go_with_the_strength(tie):
    strength = np.repeat([-1.0, 1.0], 5_000)
    shares = np.array([0.54, 0.37, 0.09])
    found = persons.preferences(strength, tie, shares, np.random.default_rng(0))
    np.testing.assert_allclose(np.bincount(found) / len(found), shares, atol=1e-3)
    least = [(found[strength == at] == 0).mean() for at in (-1.0, 1.0)]
    assert abs(least[1] - least[0]) < 0.05 if tie == 0 else least[1] - least[0] > 0.15


@pytest.mark.parametrize("figure", [1, 2])
@pytest.mark.filterwarnings("ignore")
def test_a_figure_has_a_number_for_each_method_at_each_point(figure):
    result = pds.papers.reproduce("persons", figure, 1, jobs=1, **QUICK)
    count = result.data.groupby(["mix", "tie", "bins"])["method"].nunique()
    assert set(count) == {len(persons.METHODS)}
    assert result.data["value"].between(0, 1).all()


def planted(ours, other):
    rows = [
        {"metric": persons.DISTANCE, "method": method, "guarantee": "strict", "mix": "m",
         "tie": str(tie), "bins": "3", "n": "9", "epsilon": 1.0, "repeat": repeat, "seed": 0,
         "value": value + 1e-4 * repeat, "note": ""}
        for method, values in ((persons.OURS, ours), (persons.LEAST, other))
        for tie, value in enumerate(values)
        for repeat in range(4)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("ours", "other", "said"),
    [
        ([0.03, 0.04], [0.05, 0.05], "replicates"),
        ([0.05, 0.05], [0.03, 0.04], "does not"),
        ([0.03, 0.06], [0.05, 0.05], "does not"),
    ],
)
def test_nearer_everywhere_says_who_is_nearer(ours, other, said):
    claim = {"method": persons.OURS, "other": persons.LEAST}
    question = Question(1, planted(ours, other), persons.PAPER.settings(), claim)
    assert persons.nearer_everywhere(question)[0] == said


def test_each_point_of_figure_2_says_its_levels_and_records():
    trials = pd.concat(
        [planted([0.03], [0.05]).assign(bins=bins, n=n) for bins in "29" for n in ("80", "2000")]
    )
    claim = {"method": persons.OURS, "other": persons.LEAST}
    question = Question(2, trials, persons.PAPER.settings(), claim)
    names = persons.nearer_everywhere(question)[1]["found"].names
    assert len(set(names)) == 4 and "m, tie 0, 9 levels, 2,000 records" in names


def test_the_note_on_the_bias_has_the_committed_numbers(root):
    """Its ranges and differences, recomputed from the trials that lie beside the page."""
    trials = pd.read_csv(root / "figures" / "persons" / "fig2_trials.csv")
    means = trials.groupby(["method", "n", "bins", "tie"])["value"].mean()
    ours, copies, least = (means[m] for m in (persons.OURS, "copies", persons.LEAST))
    every = persons.PAPER.deviations(2, persons.PAPER.settings())
    (note,) = (text for text in every if text.startswith("What is left"))
    tied = ours[45222].unstack("tie").diff(axis=1)[1]
    assert f"tied is {tied[2]:.3f} farther than untied at two levels, and {tied[10]:.3f} at" in note
    own, plain = ours[10000, 10], copies[10000, 10]
    both = f"tied: {own[1]:.3f} and {plain[1]:.3f}; untied {own[0]:.3f} and {plain[0]:.3f}"
    assert f"as near as plain copies (10 levels, {both})" in note
    few = ours[2000] - copies[2000], least[2000] - ours[2000]
    words = [f"{x.min():.3f} to {x.max():.3f}" for x in few]
    assert f"{words[0]} farther than plain copies, and {words[1]} nearer" in note

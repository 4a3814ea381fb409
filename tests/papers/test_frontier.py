"""The frontier of personal guarantees: every lever is run, losses are the ledger's, the rules see
what is planted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.algorithms import RARE_VALUES
from pdsynth.core.records import Records
from pdsynth.evaluation.marginals import Marginals
from pdsynth.papers import engine, frontier
from pdsynth.papers.frontier import AGREED, BASE, CUSTOM, GROUPED, LOSS, PAPER, REST, WITH
from pdsynth.papers.results import FAILS, REPLICATES, WIDE
from pdsynth.papers.rules import Question

QUICK = PAPER.settings(
    totals=(0.5, 2.0),
    ratios=("1/3", "3"),
    thetas=(0.1,),
    rare_values=("same_noise",),
    policies=("1/3",),
    degrees=(1,),
    q=(0.9, 1.1),
    grouped=("1/20",),
)


@pytest.fixture(scope="module")
def small(cmc):
    return replace(cmc, frame=cmc.frame.head(500))


@pytest.fixture(scope="module")
def result(small):
    options = vars(QUICK)
    return pds.papers.reproduce("frontier", 1, 2, data=small, jobs=1, **options)


def test_every_lever_is_a_point_with_its_three_numbers(result, small):
    points = list(frontier.points(QUICK, small))
    assert len({(p.method, p.lever, p.setting) for p in points}) == len(points) == 15
    assert {p.method for p in points} == set(frontier.LOOKS)
    assert len(result.data) == len(points) * 2 * 3
    assert result.data["value"].between(0, 2).all() and set(result.data["metric"]) == {
        LOSS,
        REST,
        WITH,
    }
    assert (
        result.figure.data
        and len(result.verdicts) == 8
        and "replicates" in repr(result)
        or "too wide" in repr(result)
    )


def test_the_lever_of_rare_values_has_the_library_s_words(small):
    points = list(frontier.points(PAPER.settings(), small))
    named = [p.setting for p in points if p.lever == "rare_values"]
    assert named == list(RARE_VALUES) and "direction" not in {p.lever for p in points}


def test_only_what_policy_fixes_is_known_before(result):
    known = result.data.groupby("method")["known"].unique().map(list).to_dict()
    assert known[CUSTOM] == known[GROUPED] == ["before the run"]
    assert all(
        said == ["ex post"] for method, said in known.items() if method not in (CUSTOM, GROUPED)
    )
    losses = result.data[(result.data["metric"] == LOSS) & (result.data["method"] == CUSTOM)]
    assert losses.groupby("setting")["value"].nunique().eq(1).all(), (
        "whatever the network that was drawn"
    )


def test_a_trial_is_the_ledger_s_loss_and_the_distances_of_the_pairs(result, small):
    records = Records(small.schema.encode(small.frame), small.schema)
    real = Marginals(records.codes, small.schema, 2)
    point = next(p for p in frontier.points(QUICK, small) if p.method == BASE and p.setting == "2")
    seed = int(result.data.loc[result.data["repeat"] == 1, "seed"].iloc[0])
    fitted = pds.PrivBayes(2.0, noise="common", random_state=seed).fit(records)
    codes = fitted.model_.sample_codes(records.n, np.random.default_rng([seed, 1]))
    distances = real.distances(codes)
    mine = np.array([small.schema.index(small.sensitive) in pair for pair in real.sets])
    rows = {
        r["metric"]: r["value"]
        for r in frontier.measure(point, 1, PAPER.seed, small, real, records)
    }
    assert rows[LOSS] == float(fitted.ledger_.attribute_epsilon()[small.sensitive])
    assert rows[REST] == pytest.approx(distances[~mine].mean()) and rows[WITH] == pytest.approx(
        distances[mine].mean()
    )
    assert mine.sum() == len(small.schema) - 1


def planted(shift, r_losses=(0.2, 0.5), repeats=6):
    """PrivBayes on a line, above it without agreement, a custom network ``shift`` below it,
    HPPrivBayes with two losses."""
    rng, rows = np.random.default_rng(0), []

    def add(method, lever, setting, loss, error):
        for i in range(repeats):
            for metric, value in ((LOSS, loss), (REST, error), (WITH, error)):
                noise = rng.normal(0, 1e-3)
                rows.append(
                    {
                        "metric": metric,
                        "method": method,
                        "guarantee": "",
                        "lever": lever,
                        "setting": setting,
                        "known": "ex post",
                        "epsilon": 1.0,
                        "repeat": i,
                        "seed": i,
                        "value": value + noise,
                        "note": "",
                    }
                )

    for total in (0.1, 0.2, 0.4):
        add(AGREED, "ε", f"{total:g}", total, 0.5 - total)
        add(BASE, "ε", f"{total:g}", total, 0.9 - total)
        add(CUSTOM, "ε", f"{total:g}", total, 0.5 - total - shift)
    for setting, loss in zip(("1/6", "3"), r_losses, strict=True):
        add("HPPrivBayes", "r", setting, loss, 0.3)
    return pd.DataFrame(rows)


def judge(rule, data, **claim):
    return rule(Question(1, data, PAPER.settings(), claim))[0]


@pytest.mark.parametrize(("shift", "verdict"), [(0.1, REPLICATES), (-0.1, FAILS), (0.0, WIDE)])
def test_the_line_tells_below_from_above(shift, verdict):
    assert judge(frontier.below_the_line, planted(shift), method=CUSTOM) == verdict


@pytest.mark.parametrize(
    ("losses", "verdict"), [((0.2, 0.5), REPLICATES), ((0.5, 0.2), FAILS), ((0.3, 0.3), WIDE)]
)
def test_a_lever_s_ends_are_compared(losses, verdict):
    assert (
        judge(
            frontier.loses_less,
            planted(0, losses),
            method="HPPrivBayes",
            lever="r",
            **{"from": "3", "to": "1/6"},
        )
        == verdict
    )
    assert (
        judge(frontier.loses_less, planted(0), method="PPBA", lever="q", **{"from": "1", "to": "2"})
        == WIDE
    ), "nothing was run"


def test_the_committed_trials_are_adult_s(root):
    path = root / "figures" / "frontier" / "fig1_trials.csv"
    trials = engine.read(path)
    assert trials["value"].notna().all() and set(trials["repeat"]) == set(range(20))
    custom = trials[
        (trials["method"] == CUSTOM) & (trials["metric"] == LOSS) & (trials["setting"] == "1")
    ]
    assert custom["value"].unique() == pytest.approx([0.7 / 14]), "ε₂/d, chosen before the run"

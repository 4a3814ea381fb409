"""Reasons that the figures' page gives in numbers: each number is one of benchmarks/reasons.csv,
and the rules behind it hold."""

import math
import re
from fractions import Fraction as Q
from pathlib import Path

import pandas as pd
import pytest

from pdsynth.algorithms.genetic import GeneticBayes
from pdsynth.core.network import Restriction
from pdsynth.core.schema import Facts
from pdsynth.datasets.loaders import DEFAULT_ROWS, DEFAULT_TARGET, FRAUD_ROWS, load_cmc
from pdsynth.datasets.tables import public_schema
from pdsynth.papers import genetic, hmprivbayes, hpprivbayes

ROOT = Path(__file__).resolve().parents[2]
FOUND = pd.read_csv(ROOT / "benchmarks" / "reasons.csv")
TEXTS = {
    "sketch f2": genetic.PAPER.deviations("table 7", genetic.PAPER.settings()),
    "affinity": hmprivbayes.PAPER.deviations(5, hmprivbayes.PAPER.settings()),
    "first": tuple(
        " ".join(c["why"].split()) for c in hpprivbayes.PAPER.file["claim"] if c["of"] == [5]
    ),
}


def mean(reason, what, epsilon, measure="2-way distance"):
    at = FOUND[
        (FOUND["reason"] == reason)
        & (FOUND["what"] == what)
        & (FOUND["epsilon"] == epsilon)
        & (FOUND["measure"] == measure)
    ]
    (value,) = at["mean"]
    return float(value)


def strange(reason, words):
    """Numbers of a text that its experiments didn't find."""
    known = {
        f"{m:.3f}"
        for m in FOUND.loc[FOUND["reason"].isin(reason.split()), ["mean", "sd"]].to_numpy().ravel()
    }
    return [number for number in re.findall(r"\b0\.\d{3}\b", words) if number not in known]


@pytest.mark.parametrize("reason", TEXTS)
def test_every_number_was_measured(reason):
    (words,) = (t for t in TEXTS[reason] if f"reasons.py {reason}`" in t)
    assert reason in words.split("reasons.py ")[1]
    assert len(re.findall(r"\b0\.\d{3}\b", words)) >= 4
    assert strange(reason, words) == []
    assert strange(reason, words.replace("0.2", "0.9")) != [], "twin: a wrong digit is noticed"
    repeats = set(FOUND.loc[FOUND["reason"].isin(reason.split()), "repeats"])
    assert {int(n) for n in re.findall(r"\b(\d+) (?:seeds|runs)", words)} == repeats


def test_the_local_optimum_is_told_with_its_numbers():
    notes = hmprivbayes.PAPER.deviations(5, hmprivbayes.PAPER.settings())
    (words,) = (t for t in notes if "reasons.py clusters`" in t)
    for starts in ("10 starts", "500 starts"):
        assert f"{mean('clusters', starts, math.inf, 'inertia'):.3f}" in words
        assert f"{mean('clusters', starts, math.inf):.3f}" in words
    distances = [mean("clusters", f"{n} starts", math.inf) for n in (10, 500)]
    inertias = [mean("clusters", f"{n} starts", math.inf, "inertia") for n in (10, 500)]
    assert distances[0] < distances[1] and inertias[0] > inertias[1]


def strict(schema, n, epsilon=1):
    """The structure of a strict GeneticBayes, and the public facts of its fit."""
    facts = Facts(schema, n, Q(epsilon), "strict", Q(epsilon) * Q(7, 10))
    return GeneticBayes(epsilon)._parts(facts).structure, facts


@pytest.mark.parametrize(
    ("schema", "n", "epsilon", "drowned"),
    [
        (public_schema("credit_default"), DEFAULT_ROWS * 4 // 5, 1, True),
        (public_schema("credit_default"), DEFAULT_ROWS * 4 // 5, 3, False),
        (public_schema("credit_fraud"), FRAUD_ROWS * 4 // 5, 1, False),
        (load_cmc().schema, 1473, 1, True),
    ],
)
def test_whether_a_network_is_worth_its_noise_follows_from_public_facts(
    schema, n, epsilon, drowned
):
    part, facts = strict(schema, n, epsilon)
    assert part.noise_dominates(facts) == drowned
    assert (part.limits(facts)[0] == 0) == drowned


def test_the_noise_of_the_stand_in_s_sketch():
    part, facts = strict(public_schema("credit_default"), 24_000)
    scale = part.threshold(facts)
    assert round(scale, 2) == 0.06
    assert round(scale * math.log(276), 1) == 0.3
    assert len(part.permitted(facts).pairs) == 276


def test_leaving_the_network_out_is_nearer_at_1_and_farther_at_2():
    alone, noisy, greedy = (
        mean("sketch", w, 1)
        for w in ("GeneticBayes", "GeneticBayes, whatever the noise of its sketch", "PrivBayes")
    )
    assert alone < noisy < greedy
    assert mean("sketch", "GeneticBayes", 2) > mean(
        "sketch", "GeneticBayes, whatever the noise of its sketch", 2
    )
    assert mean("sketch", "GeneticBayes", 1, "edges") == 0


def test_an_edge_by_policy_costs_nothing():
    edge = Restriction(forced=(("PAY_0", DEFAULT_TARGET),))
    names = public_schema("credit_default").names
    settled = edge.on(names).forced_network(names)
    assert settled.edges == (("PAY_0", DEFAULT_TARGET),)
    assert mean("sketch", "GeneticBayes, PAY_0 → target by policy", 1, "edges") == 1
    alone, edge, greedy = (
        mean("f2", w, 1, "F2, mean of five classifiers")
        for w in ("GeneticBayes", "GeneticBayes, PAY_0 → target by policy", "PrivBayes")
    )
    assert 2 * alone < edge < greedy


def test_similarities_never_bring_published_hmprivbayes_below_its_rivals():
    points = pd.read_csv(ROOT / "figures" / "hmprivbayes" / "fig5.csv")
    points = points[
        (points["dataset"] == "Adult")
        & (points["metric"] == "2-way distance")
        & (points["guarantee"] == "published")
    ]
    for epsilon in hmprivbayes.PAPER.settings().epsilons:
        rivals = points[
            (points["epsilon"] == epsilon) & points["method"].isin(["PrivSCBN", "PrivBayes"])
        ]["mean"]
        assert len(rivals) == 2 and rivals.max() < mean("affinity", "similarity", epsilon)


def test_measuring_the_first_tables_is_the_whole_lead():
    greedy, measured, ours = (
        mean("first", w, 1)
        for w in ("PrivBayes", "PrivBayes, first tables measured and unpaid", "HPPrivBayes")
    )
    assert measured < ours < greedy

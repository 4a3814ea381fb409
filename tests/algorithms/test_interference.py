"""Nothing observable depends on the records but through the mechanisms: with forced answers, all
tables give the same run.

A tape stands in for the random source and forces the same answers, whatever the records say. Then
strict fits on tables that have nothing in common but n and the schema must agree in everything that
anybody can see: candidates and scales asked for, ledger, network, tables, fitted attributes, types,
warnings. A raw order, a shape, a scale, a warning or a refusal read off the records would show.
"""

from fractions import Fraction as Q

import numpy as np
import pytest
from algorithms.test_replay import BINARY, LATE, SIZES, STRICT, N, losses, replay
from late import late
from privacy_tools import as_measured, fits_of, frames_of, interference

from pdsynth import PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, PrivABN, Synthesizer
from pdsynth.algorithms import parts
from pdsynth.baselines.relatives import (
    CSAPrivBayes,
    ELPrivBayes,
    PrivSCBN,
    SAPrivBayes,
    WeightedPrivBayes,
)
from pdsynth.core.network import Restriction

POLICY = Restriction("x1", ("x2", "x4"), forced=(("x1", "x0"),), forbidden=(("x3", "x0"),))
QUICK = {"generations": 4, "population": 12, "elite": 4}
MORE = {
    "GA": (GeneticBayes(epsilon=60, k=2, **QUICK), SIZES),
    "GA auto": (GeneticBayes(epsilon=500, **QUICK), SIZES),
    "GA custom": (GeneticBayes(epsilon=40, k=2, target="x1", sensitive="x2", **QUICK), SIZES),
    "GA hill": (GeneticBayes(epsilon=40, k=2, restriction=POLICY, search="hill"), SIZES),
    "GA exact": (GeneticBayes(epsilon=40, k=1, search="exact"), SIZES),
    "GA alone": (GeneticBayes(epsilon=0.1, target="x1", sensitive="x2", **QUICK), SIZES),
    "HP policy": (HPPrivBayes(k=2, sensitive="x3", restriction=POLICY), SIZES),
    "PPBA": (PPBA(epsilon=100, q=1.3), SIZES),
    "CSA": (CSAPrivBayes(k=1, sensitive="x0"), SIZES),
    "EL": (ELPrivBayes(k=2), SIZES),
    "SA": (SAPrivBayes(k=2), SIZES),
    "weighted": (WeightedPrivBayes(k=2), SIZES),
    "entropies, policy, risk": (
        Synthesizer(
            structure=parts.Ordered(1, by="entropy", restriction=POLICY), budget=parts.RiskEntropy()
        ),
        SIZES,
    ),
    "pairwise, policy, ranks": (
        Synthesizer(
            structure=parts.PairwiseSums(2, restriction=POLICY), budget=parts.Geometric(1.5)
        ),
        SIZES,
    ),
    "tree, policy": (Synthesizer(structure=parts.SpanningTree(2, restriction=POLICY)), SIZES),
    "adaptive, policy": (Synthesizer(20, structure=parts.Adaptive(2, restriction=POLICY)), BINARY),
}
ALL = STRICT | MORE


def interfere(synthesizer, one, other, sizes, number):
    """What two tables of codes show differently; "" if nothing."""
    return interference(fits_of(synthesizer, *frames_of((one, other), sizes)), number)


def strange_tables(sizes, seed):
    rng = np.random.default_rng(seed)
    twice = np.repeat(rng.integers(0, sizes, size=(2, len(sizes))), N // 2, axis=0)
    return [
        rng.integers(0, sizes, size=(N, len(sizes))),
        np.zeros((N, len(sizes)), int),
        np.tile(np.array(sizes) - 1, (N, 1)),
        twice,
    ]


@pytest.mark.parametrize("name", late(ALL, LATE.__contains__))
def test_a_strict_run_shows_nothing_but_answers_of_mechanisms(name):
    synthesizer, sizes = ALL[name]
    first, *others = strange_tables(sizes, 1)
    for number, other in zip((2, 1, 2), others, strict=True):  # answers far out, and by the law
        assert interfere(synthesizer, first, other, sizes, number) == ""


@pytest.mark.parametrize(
    "twin",
    [
        HMPrivBayes(k=2, l=1, guarantee="published"),
        PrivABN(guarantee="published"),
        PrivSCBN(k=1, guarantee="published"),
        HPPrivBayes(k=1, sensitive="x3", theta=0.001, guarantee="published"),
        GeneticBayes(k=1, guarantee="published", **QUICK),
        PPBA(k=1, guarantee="published"),
        ELPrivBayes(k=1, guarantee="published"),
    ],
    ids=lambda s: type(s).__name__,
)
def test_twin_a_published_run_shows_more(twin):
    tables = strange_tables(SIZES, 0)
    assert interfere(twin, tables[0], tables[3], SIZES, 2)


@pytest.mark.parametrize("name", MORE)
def test_what_test_replay_does_not_replay(name):
    synthesizer, sizes = MORE[name]
    epsilon = float(Q(str(synthesizer.epsilon)))
    found = losses(as_measured(synthesizer), sizes, count=4)
    assert 0.4 * epsilon <= max(found) <= epsilon * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "GA custom",
        "GA alone",
        "adaptive, policy",
        "HM private clusters",
        "PrivABN stops",
        "JTree dense",
        "PriView views",
    ],
)
def test_a_change_of_one_attribute_loses_no_more_than_its_line(name):
    """``attribute_epsilon`` holds for records that differ in this attribute alone, on bits and
    under policies, too."""
    synthesizer, sizes = as_measured(ALL[name][0]), ALL[name][1]
    rng, used = np.random.default_rng(7), 0.0
    for j in range(len(sizes)):
        for table in (
            np.zeros((N, len(sizes)), int),
            rng.integers(0, sizes, size=(N, len(sizes))),
        ):
            after = table.copy()
            after[-1, j] = (after[-1, j] + 1) % sizes[j]
            found = replay(synthesizer, table, after, sizes, seed=j)
            assert found.ok, found
            assert found.change == f"one record changes in x{j}"
            used = max(used, found.log_ratio / float(found.claimed))
    assert used > 0.3, "the line is used, not only kept"

"""Nothing observable depends on the records but through the mechanisms: with forced answers, all
tables give the same run.

The mechanisms inside the curator are replaced by answers that are the same whatever the records
say. Then strict fits on tables that have nothing in common but n and the schema must agree in
everything that anybody can see: candidates and scales asked for, ledger, network, tables, fitted
attributes, warnings. A raw order, a shape, a scale, a warning or a refusal read off the records
would show.
"""

import json
import warnings
from fractions import Fraction as Q

import numpy as np
import pytest
from privacy_tools import records_of
from synthesizers.test_replay import BINARY, SIZES, STRICT, N, Tape, losses

from pdsynth import PPBA, GeneticBayes, HMPrivBayes, HPPrivBayes, PrivABN, Synthesizer
from pdsynth.privacy import curator as curator_room
from pdsynth.privacy.mechanisms import ExactNoise
from pdsynth.structure import Restriction
from pdsynth.synthesizers import parts
from pdsynth.synthesizers.baselines import (
    CSAPrivBayes,
    ELPrivBayes,
    PrivSCBN,
    SAPrivBayes,
    WeightedPrivBayes,
)

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


class Forced:
    """Answers that only depend on a seed and on what is asked; ``asked`` keeps the shapes, scales
    and sensitivities."""

    def __init__(self, seed):
        self.rng, self.asked = np.random.default_rng(seed), []

    def laplace(self, counts, scale, noise):
        self.asked.append(("table", np.shape(counts), scale))
        return self.rng.integers(-2, 30, np.shape(counts)) * 3 ** int(self.rng.integers(4))

    def exponential(self, scores, sensitivity, epsilon, noise, *, permute_and_flip=False):
        self.asked.append(("choice", len(scores.value), sensitivity.value, epsilon))
        return int(self.rng.integers(len(scores.value)))


def seen(synthesizer, table, sizes, monkeypatch, seed):
    """Everything that a run shows."""
    forced = Forced(seed)
    monkeypatch.setattr(curator_room, "laplace_mechanism", forced.laplace)
    monkeypatch.setattr(curator_room, "exponential_mechanism", forced.exponential)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted = synthesizer.clone().fit(records_of(table, sizes), noise=ExactNoise(seed))
    shown = {
        name: repr(value)
        for name, value in vars(fitted).items()
        if name not in ("model_", "ledger_")
    }
    return (
        forced.asked,
        json.dumps(fitted.model_.to_dict()),
        fitted.ledger_.guaranteed_ex_ante,
        shown,
        [str(w.message) for w in said],
    )


def strange_tables(sizes, seed):
    rng = np.random.default_rng(seed)
    twice = np.repeat(rng.integers(0, sizes, size=(2, len(sizes))), N // 2, axis=0)
    return [
        rng.integers(0, sizes, size=(N, len(sizes))),
        np.zeros((N, len(sizes)), int),
        np.tile(np.array(sizes) - 1, (N, 1)),
        twice,
    ]


@pytest.mark.parametrize("name", ALL)
def test_a_strict_run_shows_nothing_but_answers_of_mechanisms(name, monkeypatch):
    synthesizer, sizes = ALL[name]
    for seed in range(2):
        first, *others = (
            seen(synthesizer, table, sizes, monkeypatch, seed)
            for table in strange_tables(sizes, seed)
        )
        assert all(other == first for other in others)


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
def test_twin_a_published_run_shows_more(twin, monkeypatch):
    tables = strange_tables(SIZES, 0)
    assert seen(twin, tables[0], SIZES, monkeypatch, 0) != seen(
        twin, tables[3], SIZES, monkeypatch, 0
    )


@pytest.mark.parametrize("name", MORE)
def test_what_test_replay_does_not_replay(name, monkeypatch):
    synthesizer, sizes = MORE[name]
    epsilon = float(Q(str(synthesizer.epsilon)))
    assert (
        0.4 * epsilon
        <= max(losses(synthesizer, sizes, monkeypatch, count=8))
        <= epsilon * (1 + 1e-9)
    )


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
def test_a_change_of_one_attribute_loses_no_more_than_its_line(name, monkeypatch):
    """``attribute_epsilon`` holds for records that differ in this attribute alone, on bits and
    under policies, too."""
    synthesizer, sizes = ALL[name]
    rng, used = np.random.default_rng(7), 0.0
    for j in range(len(sizes)):
        for quiet in (True, False):
            before = (
                np.zeros((N, len(sizes)), int)
                if quiet
                else rng.integers(0, sizes, size=(N, len(sizes)))
            )
            after = before.copy()
            after[-1, j] = (after[-1, j] + 1) % sizes[j]
            found = _loss_and_ledger(synthesizer, before, after, sizes, monkeypatch, j, quiet)
            used = max(used, found)
            assert found <= 1 + 1e-9
    assert used > 0.3, "the line is used, not only kept"


def _loss_and_ledger(synthesizer, before, after, sizes, monkeypatch, j, quiet):
    """The loss of a replay as a share of what the ledger says about attribute j."""
    tape = Tape(j, quiet)
    monkeypatch.setattr(curator_room, "laplace_mechanism", tape.laplace)
    monkeypatch.setattr(curator_room, "exponential_mechanism", tape.exponential)
    said = (
        synthesizer.clone()
        .fit(records_of(before, sizes), noise=ExactNoise(j))
        .ledger_.attribute_epsilon()[f"x{j}"]
    )
    tape.rewind()
    synthesizer.clone().fit(records_of(after, sizes), noise=ExactNoise(j))
    return tape.loss / float(said)

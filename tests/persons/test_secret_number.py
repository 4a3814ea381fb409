"""The number of records, where it is secret: a noisy count and the sums of noisy tables, as one."""

from fractions import Fraction as Q
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.core import Ledger, Measurement
from pdsynth.persons import count_all

SECRET = {"relation": "add_remove"}


def table(sizes, n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{j}": rng.integers(0, m, n) for j, m in enumerate(sizes)})
    columns = (pds.Attribute.categorical(f"x{j}", range(m)) for j, m in enumerate(sizes))
    return frame, pds.Schema(tuple(columns))


def curator(n, scale):
    """What is left of a curator that counted n records with noise of a scale."""
    ledger = Ledger(Q(1), "strict", relation="add_remove")
    ledger.write("mechanism", "number of records", scale=scale, epsilon=Q(1, 20), claimed=Q(1, 20))
    return SimpleNamespace(n=n, ledger=ledger)


def test_by_hand():
    """100 with variance 2 · 20²; 90 in two cells of scale 2, 8; 96 in two cells, scales 1 and 3."""
    found = [
        Measurement(("a",), np.array([40, 50]), Q(2)),
        Measurement(("b",), np.array([90, 6]), (Q(1), Q(3))),
    ]
    weights = Q(1, 800), Q(1, 16), Q(1, 20)
    by_hand = sum(w * n for w, n in zip(weights, (100, 90, 96), strict=True)) / sum(weights)
    assert count_all(found, curator(100, Q(20))) == round(by_hand) == 93


def test_conditional_probabilities_say_nothing_about_n_and_there_is_one_record_at_least():
    found = [Measurement(("a",), np.array([0.4, 0.6]), Q(2), counts=False)]
    assert count_all(found, curator(100, Q(20))) == 100
    assert count_all([Measurement(("a",), np.array([-9, -9]), Q(2))], curator(1, Q(20))) == 1


@pytest.mark.parametrize(
    ("method", "options"),
    [
        (pds.ConsistentBayes, {}),
        (pds.ConsistentBayes, {"delta": 1e-9}),
        (pds.ConsistentBayes, {"rounds": 4}),
        (pds.baselines.Independent, {}),
    ],
)
def test_it_is_nearer_than_the_count_and_no_count_lies_outside_its_interval(method, options):
    frame, schema = table((2, 3, 4), 200)
    mine, count, outside, told = [], [], 0, 0
    for seed in range(12):
        fitted = method(1, random_state=seed, **SECRET, **options).fit(frame, schema)
        scale = next(e.scale for e in fitted.ledger_.entries if e.step == "number of records")
        mine.append(abs(fitted.n_ - 200))
        count.append(float(scale) ** (1 / 2 if options.get("delta") else 1))  # its mean size, or so
        seen = fitted.model_.marginal("x0", interval=0.9)
        outside += int(((seen["count"] < seen["low"]) | (seen["count"] > seen["high"])).sum())
        told += len(seen)
        assert fitted.model_.n == fitted.n_ and fitted.model_.uncovered() == []
    assert np.mean(mine) < 0.7 * np.mean(count)
    assert outside <= told / 10


def test_where_n_is_public_it_stays_what_it_is():
    frame, schema = table((2, 3, 4), 200)
    assert pds.ConsistentBayes(1, random_state=0).fit(frame, schema).n_ == 200

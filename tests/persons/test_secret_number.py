"""The number of records, where it is secret: a noisy count and the sums of noisy tables, as one."""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth import persons
from pdsynth.core import Ledger, Measured, Measurement

SECRET = {"relation": "add_remove"}


def table(sizes, n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{j}": rng.integers(0, m, n) for j, m in enumerate(sizes)})
    columns = (pds.Attribute.categorical(f"x{j}", range(m)) for j, m in enumerate(sizes))
    return frame, pds.Schema(tuple(columns))


@pytest.fixture
def ledger(monkeypatch):
    """An account with the line of a count, and all tables taken as paid for."""
    monkeypatch.setattr(persons, "keep_measured", lambda found, ledger: tuple(found))
    account = Ledger(Q(1), "strict", relation="add_remove")
    said = {"released": "n", "epsilon": Q(1, 20), "claimed": Q(1, 20)}
    account.write("mechanism", "number of records", scale=Q(20), **said)
    return account


def test_by_hand(ledger):
    """100 of scale 20; 90 in two cells of scale 2; 96 in two cells of scales 1 and 3."""
    found = [
        Measurement(("a",), np.array([40, 50]), Q(2)),
        Measurement(("b",), np.array([90, 6]), (Q(1), Q(3))),
    ]
    weights = Q(1, 800), Q(1, 16), Q(1, 20)
    by_hand = sum(w * n for w, n in zip(weights, (100, 90, 96), strict=True)) / sum(weights)
    assert persons.count_all(found, ledger, 100) == round(by_hand) == 93


def test_there_is_one_record_at_least(ledger):
    found = [Measurement(("a",), np.array([-9, -9]), Q(2))]
    assert persons.count_all(found, ledger, 1) == 1
    assert persons.count_all([], ledger, 7) == 7


def counted_by_level(ledger):
    """The same account, whose count is the sum of a number for each of two levels."""
    ledger.levels = Q(1, 2), Q(1)
    ledger._entries[0] = replace(ledger.entries[0], attributes=(persons.LEVEL,))
    return Measured(np.array([60, 40]), Q(20), "s01")


def test_levels_by_hand(ledger):
    """Each of two numbers of scale 20, and the sums of a table of 2 × 3 cells of scale 2."""
    counted = counted_by_level(ledger)
    found = [Measurement(("a", persons.LEVEL), np.array([[20, 9], [20, 9], [10, 12]]), Q(2))]
    weights = np.array([1 / 400, 1 / 12])
    by_hand = [weights @ pair / weights.sum() for pair in ((60, 50), (40, 30))]
    assert persons.count_levels(found, counted) == pytest.approx(by_hand)
    assert persons.count_all(found, ledger, 100) == round(100 / 17 + 80 * 16 / 17)  # 1/1600, 1/48
    alone = Measurement((persons.LEVEL,), np.array([61, 39]), (Q(1), Q(2)))  # as sharpened
    every = persons.count_levels([alone, *found], counted)
    assert every == pytest.approx([(61 + 50 / 12) / (13 / 12), (39 / 4 + 30 / 12) / (1 / 3)])
    assert persons.count_all([alone], ledger, 7) == 100, "the count is in that table already"


def test_twin_a_table_of_merged_levels_tells_none_of_them(ledger):
    counted = counted_by_level(ledger)
    merged = Measurement(("a", persons.LEVEL), np.array([[30], [70]]), Q(2))
    assert persons.count_levels([merged], counted).tolist() == [60, 40]


def test_one_table_of_all_columns_tells_how_many_persons_there_are():
    """The count alone, a twentieth of ε, was off by a half in the mean of 60 fits."""
    frame, schema = table((3, 3), 300)
    levels = [0.1, 0.5, 1.0]
    own = np.random.default_rng(1).choice(levels, 300, p=[0.5, 0.4, 0.1])
    frame["own"] = pd.Categorical(own, categories=levels)
    off = []
    for seed in range(12):
        made = pds.ConsistentBayes(1, random_state=seed, **SECRET)
        off.append(abs(made.fit(frame, schema, person_epsilon="own").n_ - 300))
        assert len(made.measured_) == 1
    assert np.mean(off) < 75


def test_of_levels_by_hand(ledger):
    """Copies: 100 as two numbers of scale 20, 90 in two cells of scale 2; then level by level."""
    ledger.levels = Q(1, 2), Q(1)
    ledger._entries[0] = replace(ledger.entries[0], attributes=(persons.LEVEL,))
    found = [Measurement(("a",), np.array([40, 50]), Q(2))]
    weights = Q(1, 1600), Q(1, 16)
    by_hand = (weights[0] * 400 + weights[1] * 90) / sum(weights)
    assert persons.count_all(found, ledger, 400) == round(by_hand) == 93
    counted = Measured(np.array([400, 0]), Q(20), "s01")
    joint = Measurement(("a", persons.LEVEL), np.array([[30, 8], [50, 4]]), (Q(1), Q(3)))
    merged = Measurement(("b", persons.LEVEL), np.array([[999], [999]]), Q(1))
    seen = persons.count_levels([*found, joint, merged], counted)
    np.testing.assert_allclose(seen, np.array([400 + 40 * 80, 40 * 12]) / 41)
    own = Measurement((persons.LEVEL,), np.array([60, 12]), Q(1))  # has counted in it
    seen = persons.count_levels([own, joint], counted)
    np.testing.assert_allclose(seen, [(60 * 10 + 80) / 11, 12])


def test_tables_that_no_line_paid_for_say_nothing():
    frame, schema = table((2, 3), 200)
    model = pds.baselines.Independent(1, **SECRET).fit(frame, schema).model_
    forged = [Measurement(m.attributes, m.table + 900, m.scale) for m in model.measured]
    assert persons.count_all(forged, model.ledger, 7) == 7


@pytest.mark.parametrize("told", [0, 1])
@pytest.mark.parametrize(
    "method", [pds.baselines.Independent(1, **SECRET), pds.ConsistentBayes(1, delta=1e-9, **SECRET)]
)
def test_a_file_with_another_number_is_refused(method, told):
    """That of the count alone, as older files have it, is as good."""
    frame, schema = table((2, 3), 200)
    model = method.clone().fit(frame, schema).model_
    plain = model.to_dict()
    (count,) = {e.n_records for e in model.ledger.entries} - {None}
    assert pds.Model.from_dict({**plain, "n": count}).n == count
    assert pds.Model.from_dict(plain) == model
    with pytest.raises(pds.SchemaError, match="number of records"):
        pds.Model.from_dict({**plain, "n": max(count, model.n) + 1 + told})


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


def test_persons_of_one_table_are_told_by_it():
    """The count of levels alone, a twentieth of ε, was off by 43 of 200 in the mean; now by 5."""
    frame, schema = table((3, 2), 200)
    own, off = pd.Series(pd.Categorical([0.5, 1.0] * 100)), []
    for seed in range(25):
        made = pds.ConsistentBayes(1, random_state=seed, **SECRET)
        model = made.fit(frame, schema, person_epsilon=own).model_
        assert len([e for e in made.ledger_.entries if e.step.startswith("table(")]) == 1
        off.append(abs(model.n - 200))
    assert np.mean(off) < 10

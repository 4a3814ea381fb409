"""The number of records, where it is secret: a noisy count and the sums of noisy tables, as one."""

from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth import persons
from pdsynth.core import Ledger, Measurement

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


def test_there_is_one_record_at_least_and_levels_have_their_own_way(ledger):
    found = [Measurement(("a",), np.array([-9, -9]), Q(2))]
    assert persons.count_all(found, ledger, 1) == 1
    assert persons.count_all([], ledger, 7) == 7
    ledger.levels = Q(1, 2), Q(1)
    assert persons.count_all([Measurement(("a",), np.array([40, 50]), Q(2))], ledger, 7) == 7


def test_tables_that_no_line_paid_for_say_nothing():
    frame, schema = table((2, 3), 200)
    model = pds.baselines.Independent(1, **SECRET).fit(frame, schema).model_
    forged = [Measurement(m.attributes, m.table + 900, m.scale) for m in model.measured]
    assert persons.count_all(forged, model.ledger, 7) == 7


@pytest.mark.parametrize("told", [0, 1])
def test_a_file_with_another_number_is_refused(told):
    """That of the count alone, as older files have it, is as good."""
    frame, schema = table((2, 3), 200)
    model = pds.baselines.Independent(1, **SECRET).fit(frame, schema).model_
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


def test_levels_are_told_by_all_tables_that_hold_them():
    """By hand: 40 and 60 copies of scale 20, a table of 2 x 3 cells of scale 2; one's own stays."""
    counted = persons.Measured(np.array([40, 60]), Q(20), "s01")
    whole = Measurement((persons.LEVEL, "a"), np.array([[10, 10, 10], [20, 20, 30]]), Q(2))
    one, two = Q(1, 400), Q(1, 12)  # 1 / b² for each cell that is summed
    found = persons.copies_of_levels([whole], counted)
    assert found == pytest.approx(
        [float((one * a + two * b) / (one + two)) for a, b in ((40, 30), (60, 70))]
    )
    own = Measurement((persons.LEVEL,), np.array([33, 44]), Q(5))
    assert persons.copies_of_levels([whole, own], counted).tolist() == [33, 44]
    other = Measurement(("a", "b"), np.array([[1, 2], [3, 4]]), Q(2))
    assert persons.copies_of_levels([other], counted).tolist() == [40, 60]


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

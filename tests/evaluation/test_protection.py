"""Who was protected: groups, risk entropies and losses against real records, by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from privacy_tools import records_of

import pdsynth as pds
from pdsynth.core import BinaryEncoding
from pdsynth.core.noise import ExactNoise
from pdsynth.evaluation.protection import bit_risks

SIZES = (3, 3, 2, 2)
RNG = np.random.default_rng(2)
ROWS = RNG.integers(0, SIZES, (2_000, 4))
ROWS[:, 1] = np.where(RNG.random(2_000) < 0.9, ROWS[:, 0], ROWS[:, 1])
RECORDS = records_of(ROWS, SIZES)


def hp(epsilon, **options):
    made = pds.HPPrivBayes(epsilon, k=1, sensitive="x0", **options)
    return made.fit(RECORDS, noise=ExactNoise(3))


def test_with_much_epsilon_nobody_is_misplaced():
    found = pds.evaluate.protection(hp(1000), RECORDS)
    assert found.misplaced == 0
    assert found.table["group"].to_dict() == {"x0": "A", "x1": "A", "x2": "B", "x3": "B"}
    assert (found.table["group"] == found.table["true group"]).all()
    assert math.isnan(found.risk_error)


def test_twin_groups_that_are_chance_are_counted():
    found = [
        pds.evaluate.protection(
            pds.HPPrivBayes(0.001, k=1, sensitive="x0").fit(RECORDS, noise=ExactNoise(seed)),
            RECORDS,
        ).misplaced
        for seed in range(6)
    ]
    assert max(found) >= 1


@pytest.mark.parametrize("persons", [1, 3])
def test_what_was_meant_and_what_was_lost(persons):
    fitted = hp(1, records_per_person=persons)
    found = pds.evaluate.protection(fitted, RECORDS).table
    assert found["meant"].to_dict() == pytest.approx(fitted.table_epsilon_)
    assert found["lost"].to_dict() == {
        n: float(v) for n, v in fitted.ledger_.attribute_epsilon().items()
    }
    assert (found["lost"] >= found["meant"]).all()


def test_risk_entropies_against_a_constant():
    skewed = ROWS.copy()
    skewed[:1_950, 2] = 0
    records = records_of(skewed, SIZES)
    made = pds.HMPrivBayes(200, k=1, eta=0, l=1).fit(records, noise=ExactNoise(1))
    found = pds.evaluate.protection(made, records)
    assert found.risk_error < 0.02 < found.constant_error
    tables = [e.epsilon for e in made.ledger_.entries if e.step.startswith("table(")]
    assert len(tables) > len(SIZES)
    assert found.table["meant"].sum() == pytest.approx(float(sum(tables)))
    exact = bit_risks(records, BinaryEncoding(records.schema))
    gaps = np.array([made.risk_entropy_[bit] - exact[bit] for bit in exact])
    assert min(gaps) < 0 < max(gaps), "signs that would cancel out"
    assert found.risk_error == pytest.approx(np.abs(gaps).mean())
    assert "off by" in str(found)


def test_published_and_unfitted():
    found = pds.evaluate.protection(hp(1, guarantee="published", theta=0.01), RECORDS)
    assert found.misplaced == 0
    assert set(found.table["lost"]) == {math.inf}
    with pytest.raises(pds.BudgetError, match="not fitted"):
        pds.evaluate.protection(pds.PrivBayes(1), RECORDS)


def test_methods_without_groups_have_losses_only():
    found = pds.evaluate.protection(pds.PrivBayes(1, k=1).fit(RECORDS), RECORDS)
    assert [*found.table.columns] == ["meant", "lost"] and math.isnan(found.misplaced)
    assert "misplaced" not in str(found)


def test_compare_measures_it():
    schema = RECORDS.schema
    data = pds.datasets.Dataset(schema.decode(ROWS), schema, "made", "x3", "x0", "", "")
    methods = {"HP": pds.HPPrivBayes(k=1, sensitive="x0", noise="common")}
    trials = pds.evaluate.compare(methods, data, [100.0], 1, ["misplaced"], jobs=1)
    assert trials["value"].tolist() == [0.0]


@pytest.mark.parametrize("name", ["income (EUR)", "young | old", "x), time 2"])
def test_own_tables_are_found_whatever_an_attribute_is_called(name):
    """A name that ends in a bracket, and has parents, had nothing meant for it."""
    columns = pds.Schema(tuple(pds.Attribute.categorical(x, [0, 1, 2]) for x in (name, "b", "c")))
    frame = pd.DataFrame(RNG.integers(0, 3, (500, 3)), columns=columns.names)
    network = pds.Network((("b", ()), (name, ("b",)), ("c", ("b", name))))
    fitted = pds.Synthesizer(1, structure=network).fit(frame, columns)
    meant = pds.evaluate.protection(fitted, frame).table["meant"]
    assert meant.to_dict() == pytest.approx(dict.fromkeys(columns.names, 1 / 3))


def test_a_column_that_is_measured_again_has_all_of_its_tables():
    """Of ConsistentBayes the second table of a column wasn't counted."""
    personal = pds.parts.SensitivityGroups(groups={"A": ["x0"]})
    made = pds.ConsistentBayes(1, personal=personal, random_state=1).fit(RECORDS)
    alone = [e for e in made.ledger_.entries if e.kind == "mechanism" and len(e.attributes) == 1]
    meant = pds.evaluate.protection(made, RECORDS).table["meant"]
    by_hand = {n: float(sum(e.epsilon for e in alone if e.attributes == (n,))) for n in meant.index}
    assert len(alone) > 4 and meant.to_dict() == pytest.approx(by_hand)


@pytest.mark.parametrize("guarantee", ["strict", "published"])
def test_groups_of_a_combination_of_parts(guarantee):
    """'this Synthesizer has no sensitive' was all that it said."""
    parts = pds.parts
    budget = parts.Groups(sensitive="x0")
    made = pds.Synthesizer(1000, structure=parts.Greedy(k=1), budget=budget, guarantee=guarantee)
    found = pds.evaluate.protection(made.fit(RECORDS), RECORDS)
    assert found.misplaced == 0 and found.table["true group"].to_dict()["x1"] == "A"

"""Plans of schemas of thousands of columns: work and memory grow as the columns do."""

from functools import partial

import numpy as np
import pytest
from growth_tools import LINEAR, count_bytes, growth

from pdsynth import Attribute, Schema, plan
from pdsynth.core.structure import ALL_PAIRS
from pdsynth.planning import forecasting, forecasts


def wide(d):
    return Schema(tuple(Attribute.categorical(f"c{i}", range(2 + i % 7)) for i in range(d)))


def all_pairs(facts):
    """What forecasts did before: every pair of columns."""
    facts.both = np.triu_indices(facts.d, 1)


@pytest.fixture
def as_before(monkeypatch):
    make = forecasting.Outlook.__init__

    def init(self, *args):
        make(self, *args)
        all_pairs(self)

    monkeypatch.setattr(forecasting.Outlook, "__init__", init)


def prepare(d):
    return partial(plan, wide(d), 10_000, 1.0)


def test_work_and_bytes_grow_as_the_columns():
    assert growth(prepare, (500, 1000, 2000)) < LINEAR


def test_a_plan_of_4000_columns_holds_a_few_mebibytes():
    few, many = (count_bytes(prepare(d)) for d in (2000, 4000))
    assert many < 2**23
    assert many < 2.2 * few


def test_twin_all_pairs_are_seen(as_before):
    assert growth(prepare, (300, 600, 1200)) > 1.8


@pytest.mark.parametrize("d", [ALL_PAIRS + 1, 600])
def test_the_sample_forecasts_what_all_pairs_do(d, monkeypatch):
    schema = wide(d)
    found = {f.name: f.distance for f in forecasts(schema, 10_000, 1.0)}
    make = forecasting.Outlook.__init__
    monkeypatch.setattr(
        forecasting.Outlook, "__init__", lambda self, *a: (make(self, *a), all_pairs(self))[1]
    )
    for each in forecasts(schema, 10_000, 1.0):
        assert found[each.name] == pytest.approx(each.distance, rel=0.01)


def test_a_sentence_says_what_is_compared():
    assert "pairs of 255 columns" in str(plan(wide(ALL_PAIRS + 1), 10_000, 1.0))
    assert "pairs of 255 columns" not in str(plan(wide(ALL_PAIRS), 10_000, 1.0))


def test_many_numbers_of_tables_are_tried_and_all_of_few():
    assert forecasting.numbers_of_tables(7) == [1, 2, 3, 4, 5, 6, 7]
    tried = forecasting.numbers_of_tables(180_000)
    assert (tried[0], tried[-1]) == (1, 180_000)
    assert len(tried) <= forecasting.WIDEST

"""Distances and their intervals: against leaving rows out by hand, and against fresh samples."""

import numpy as np
import pytest

from pdsynth import Attribute, PrivBayes, Schema, SchemaError, evaluate
from pdsynth.evaluation import intervals
from pdsynth.evaluation.intervals import GROUPS, between, countable_sets, interval, row_error
from pdsynth.evaluation.marginals import Marginals, marginal_distance

SIZES = {"a": 2, "b": 3, "c": 4}
SCHEMA = Schema(tuple(Attribute.categorical(name, range(s)) for name, s in SIZES.items()))


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(0, s, n) for s in SCHEMA.sizes]).astype(np.uint8)


@pytest.mark.parametrize("alpha", [1, 2, 3])
@pytest.mark.parametrize("rows", [32, 101])
def test_the_jackknife_is_what_leaving_each_group_out_gives(alpha, rows):
    real, fake = table(90), table(rows, 1)
    group = np.random.default_rng(5).permutation(rows) % GROUPS
    left_out = [
        marginal_distance(real, fake[group != g], SCHEMA, alpha=alpha) for g in range(GROUPS)
    ]
    variance = (GROUPS - 1) / GROUPS * np.square(left_out - np.mean(left_out)).sum()
    known = Marginals(real, SCHEMA, alpha)
    assert row_error(known, fake, seed=5) == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_too_few_rows_have_no_error():
    assert np.isnan(row_error(Marginals(table(90), SCHEMA), table(31), seed=0))


def test_rows_in_order_have_the_error_of_rows_in_disorder():
    """Groups are drawn: sorted rows dealt out one by one would make all groups alike."""
    known, fake = Marginals(table(4000), SCHEMA), table(2000, 1)
    ordered = fake[np.lexsort(fake.T)]
    errors = [row_error(known, rows, seed) for rows in (fake, ordered) for seed in range(20)]
    assert np.mean(errors[:20]) == pytest.approx(np.mean(errors[20:]), rel=0.15)


@pytest.mark.parametrize("alpha", [1, 2])
def test_intervals_hold_the_expected_distance_of_the_model_s_samples(cmc, alpha):
    """95 % would be 76 of 80; the spread over the sets, no chance at all, holds it always."""
    fitted = PrivBayes(epsilon=2, k=1, random_state=0).fit(cmc.frame, schema=cmc.schema)
    known = Marginals(cmc.schema.encode(cmc.frame), cmc.schema, alpha)
    samples = [fitted.model_.sample_codes(1473, np.random.default_rng(s)) for s in range(80)]
    found = np.array([known.distances(codes) for codes in samples])
    expected = found.mean()
    held, wrongly = 0, 0
    for codes, mine in zip(samples, found, strict=True):
        _, low, high = interval(mine.mean(), row_error(known, codes, 0), GROUPS - 1)
        held += low <= expected <= high
        over_sets = 1.96 * mine.std(ddof=1) / np.sqrt(len(mine))
        wrongly += abs(mine.mean() - expected) <= over_sets
    assert 70 <= held <= 80
    assert wrongly == 80


def test_balanced_rows_vary_several_times_less_and_the_notes_say_so(cmc):
    """The jackknife takes rows for independent; those of sample() are dealt out evenly."""
    model = PrivBayes(epsilon=2, k=1, random_state=0).fit(cmc.frame, schema=cmc.schema).model_
    known = Marginals(cmc.schema.encode(cmc.frame), cmc.schema, 2)
    draws = (np.random.default_rng(seed) for seed in range(30))
    tables = [model.sample_codes(1473, draw, "balanced") for draw in draws]
    spread = np.std([known.distances(codes).mean() for codes in tables])
    assert np.mean([row_error(known, codes, 0) for codes in tables[:5]]) > 3 * spread
    found = evaluate.report(cmc, cmc.schema.decode(tables[0], np.full(tables[0].shape, 0.5)))
    assert "Balanced rows, as `sample` draws them, vary several times less" in " ".join(found.notes)


def test_between_tables_by_hand():
    """Means .2 and .4: .3 ± 12.706 · .1, cut to [0, 1]; of three, t with two degrees is 4.3027."""
    assert between(np.array([[0.1, 0.3], [0.4, 0.4]])) == pytest.approx((0.3, 0.0, 1.0))
    error = 0.01 / np.sqrt(3)
    expected = 0.2, 0.2 - 4.302653 * error, 0.2 + 4.302653 * error
    assert between(np.array([[0.19], [0.2], [0.21]])) == pytest.approx(expected, abs=1e-7)
    mean, low, high = between(np.array([[0.1, 0.3]]))
    assert mean == pytest.approx(0.2) and np.isnan(low) and np.isnan(high)


def test_marginals_to_measure_are_chosen_by_sizes_and_seed_alone(monkeypatch):
    assert countable_sets(SCHEMA, 2) == ((0, 1), (0, 2), (1, 2))
    monkeypatch.setattr(intervals, "LARGEST", 8)
    assert countable_sets(SCHEMA, 2) == ((0, 1), (0, 2))
    with pytest.raises(SchemaError, match="every 3-way marginal has more than 8 cells"):
        countable_sets(SCHEMA, 3)
    monkeypatch.setattr(intervals, "MOST_CELLS", 8)
    assert len(countable_sets(SCHEMA, 2, seed=1)) == 1
    monkeypatch.undo()
    monkeypatch.setattr(intervals, "MOST_SETS", 2)
    assert len(countable_sets(SCHEMA, 2)) == 2

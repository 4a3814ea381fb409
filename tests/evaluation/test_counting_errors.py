"""Counting queries: by hand, against the records one by one, and never beyond the variation
distance of their marginal."""

import numpy as np
import pytest

from pdsynth import Attribute, Schema
from pdsynth.evaluation.marginals import Marginals, attribute_sets
from pdsynth.evaluation.queries import counting_errors, random_boxes

SCHEMA = Schema(
    (
        Attribute.categorical("a", list("xyz")),
        Attribute.numeric("b", 0, 8, bins=8),
        Attribute.categorical("c", list("uvwt")),
    )
)


def tables(n, m, seed=0):
    rng = np.random.default_rng(seed)
    real = rng.integers(0, SCHEMA.sizes, (n, 3)).astype(np.uint8)
    fake = np.minimum(real[rng.integers(0, n, m)], rng.integers(0, SCHEMA.sizes, (m, 3))).astype(
        np.uint8
    )
    return real, fake


def test_two_opposite_tables_by_hand():
    """Of two values a query asks for one; everybody has it in one table and nobody in the other."""
    bit = Schema((Attribute.categorical("x", ["0", "1"]), Attribute.categorical("y", ["0", "1"])))
    zeros, ones = np.zeros((5, 2), dtype=np.uint8), np.ones((3, 2), dtype=np.uint8)
    assert counting_errors(zeros, ones, bit, 1).tolist() == [1.0, 1.0]
    assert counting_errors(zeros, zeros[:2], bit, 2).tolist() == [0.0]


@pytest.mark.parametrize("alpha", [1, 2, 3])
def test_errors_are_those_of_counting_the_records(alpha):
    real, fake = tables(200, 77)
    sets = attribute_sets(3, alpha)
    boxes, found, start = (
        random_boxes(SCHEMA, sets, 4),
        counting_errors(real, fake, SCHEMA, alpha, seed=4),
        0,
    )
    for member, error in zip(sets, found, strict=True):
        shape = [SCHEMA.sizes[j] for j in member]
        box = boxes[start : start + np.prod(shape)].reshape(shape)
        start += box.size
        share = [
            np.mean([box[tuple(row[list(member)])] for row in table]) for table in (real, fake)
        ]
        assert error == pytest.approx(abs(share[0] - share[1]))


def test_a_query_asks_for_half_of_the_values_and_for_neighbouring_bins_of_a_number():
    starts = np.cumsum([0, *SCHEMA.sizes])
    for seed in range(30):
        boxes = random_boxes(SCHEMA, attribute_sets(3, 1), seed)
        a, b, c = (boxes[i:j] for i, j in zip(starts, starts[1:], strict=False))
        assert (a.sum(), b.sum(), c.sum()) == (1, 4, 2)
        assert np.flatnonzero(b).tolist() == list(range(b.argmax(), b.argmax() + 4))


@pytest.mark.parametrize("alpha", [1, 2, 3])
def test_no_query_is_worse_than_the_variation_distance_and_the_worst_one_is_as_bad(alpha):
    real, fake = tables(300, 300, seed=1)
    kept = Marginals(real, SCHEMA, alpha)
    distance, theirs = kept.distances(fake), kept.of(fake)
    for seed in range(20):
        assert (counting_errors(kept, fake, SCHEMA, alpha, seed=seed) <= distance + 1e-12).all()
    worst = kept.counts / kept.n > theirs.counts / theirs.n
    assert (kept.answers(worst) / kept.n - theirs.answers(worst) / theirs.n) == pytest.approx(
        distance
    )

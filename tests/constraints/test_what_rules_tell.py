"""What ConsistentBayes takes rules to say: what they tell needs no table, what they leave may."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.algorithms.consistent_policy import told_by_rules
from pdsynth.core import Facts


@pytest.mark.parametrize("mild", [True, False], ids=["one cell", "through a third column"])
def test_ties_that_rules_leave_open_are_a_reason_for_tables(mild):
    """A rule between columns that hang together makes no table farther: it says little of them."""
    rng = np.random.default_rng(0)
    first, mixed = rng.integers(0, 8, (2, 5000))
    pair = [first, np.where(rng.random(5000) < 0.7, first, mixed)]
    a, b = np.minimum(*pair), np.maximum(*pair)
    frame = pd.DataFrame({"a": a, "between": np.minimum(b, a + rng.integers(0, 2, 5000)), "b": b})
    if mild:  # nothing else hangs together
        frame = frame.drop(columns="between")
    frame = frame.assign(**{f"x{i}": rng.integers(0, 4, 5000) for i in range(3)})
    plain = pds.Schema(
        tuple(
            pds.Attribute.categorical(x, list(range(4 if "x" in x else 8))) for x in frame.columns
        )
    )
    rules = [
        pds.Rule.impossible({small: list(range(v + 1, 8)), large: v})
        for small, large in (("a", "between"), ("between", "b"))
        for v in range(7)
    ]
    ruled = replace(plain, rules=[pds.Rule.impossible({"a": 7, "b": 0})] if mild else rules)
    for seed in range(4):
        far = [
            pds.evaluate.marginal_distance(
                schema.encode(frame),
                pds.ConsistentBayes(3, random_state=seed)
                .fit(frame, schema)
                .model_.sample_codes(5000, np.random.default_rng(seed), "balanced"),
                plain,
                2,
            )
            for schema in (plain, ruled)
        ]
        assert np.mean(far[1]) < 1.5 * np.mean(far[0])


def test_what_rules_tell_of_pairs_through_other_columns():
    """a tells b and b tells c, so a tells c; a cell of (x, y) is little, a third of (y, z) much."""
    sizes = {"a": 8, "b": 4, "c": 2, "x": 8, "y": 8, "z": 3}
    attributes = [pds.Attribute.categorical(name, list(range(v))) for name, v in sizes.items()]
    rules = (
        pds.Rule.determines("a", "b", {v: v // 2 for v in range(8)}),
        pds.Rule.determines("b", "c", {v: v // 2 for v in range(4)}),
        pds.Rule.impossible({"x": 0, "y": 7}),
        pds.Rule.impossible({"y": list(range(4)), "z": [1, 2]}),
    )
    schema = pds.Schema(tuple(attributes), rules=rules)
    facts = Facts(schema, 100, Fraction(1), "strict", Fraction(1))
    told, struck = told_by_rules(facts)
    assert (told, struck) == ({(0, 1), (0, 2), (1, 2)}, {(4, 5)})

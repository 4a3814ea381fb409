"""What ConsistentBayes takes rules to say: what they tell needs no table, what they leave may."""

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.algorithms.consistent_policy import told_by_rules
from pdsynth.core import Facts, tvd_from_independence


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
    """a tells b and b tells c, so a tells c; one cell ties (x, y) little."""
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
    told, implied = told_by_rules(facts)
    assert told == {(0, 1), (0, 2), (1, 2)}
    assert implied.keys() == {(3, 4), (3, 5), (4, 5)}
    # Of (y, z) can occur: four values of y with one z, four with all three.
    table = np.array([[1, 0, 0]] * 4 + [[1, 1, 1]] * 4)
    assert implied[4, 5] == pytest.approx(float(tvd_from_independence(table)), abs=0.02)
    assert implied[3, 4] < 0.05


@pytest.mark.parametrize("close", [True, False], ids=["b is a, mostly", "b is any that may be"])
def test_a_tie_beyond_its_rule_is_kept_and_what_the_rule_makes_is_not_paid_for(close):
    """a ≤ b leaves 36 of 64 cells, R = .25 where all are alike: a clear tie has more."""
    rng, n = np.random.default_rng(0), 8_000
    frame = pd.DataFrame(rng.integers(0, 4, (n, 12)), columns=[f"x{j}" for j in range(12)])
    pair = np.array([*zip(*np.triu_indices(8), strict=True)])[rng.integers(0, 36, n)]
    a, b = pair.T
    if close:
        b = np.where(rng.random(n) < 0.7, a, b)
    frame = frame.assign(a=a, b=b)
    kinds = [(name, 8 if name in "ab" else 4) for name in frame]
    attributes = tuple(pds.Attribute.categorical(name, range(v)) for name, v in kinds)
    rules = [pds.Rule.impossible({"a": [*range(v + 1, 8)], "b": v}) for v in range(7)]
    schema = pds.Schema(attributes, rules=rules)
    for seed in range(5):
        model = pds.ConsistentBayes(0.5, random_state=seed).fit(frame, schema)
        assert any({"a", "b"} <= {*columns} for columns in model.measured_) == close


def test_what_one_column_tells_of_two_others_is_neither_asked_for_nor_paid_for():
    """A city tells its region and its climate, so also how these hang together."""
    rng, n = np.random.default_rng(0), 10_000
    maps = [rng.permutation(np.arange(30) % size) for size in (4, 5, 6, 3)]
    shares = 1 / np.arange(1, 31) ** 1.5
    city = rng.choice(30, n, p=shares / shares.sum())
    sizes = [30, 4, 5, 6, 3, 2, 3, 4, 5, 6]
    alone = [rng.integers(0, size, n) for size in sizes[5:]]
    codes = np.column_stack([city, *(told[city] for told in maps), *alone])
    frame = pd.DataFrame(codes, columns=[f"c{j}" for j in range(len(sizes))])
    attributes = tuple(
        pds.Attribute.categorical(name, list(range(size)))
        for name, size in zip(frame, sizes, strict=True)
    )
    rules = [
        pds.Rule.determines("c0", f"c{j}", dict(enumerate(told.tolist())))
        for j, told in enumerate(maps, 1)
    ]
    schema = pds.Schema(attributes, rules=rules)
    told, implied = told_by_rules(Facts(schema, n, Fraction(1), "strict", Fraction(1)))
    assert told == {(i, j) for i in range(5) for j in range(i + 1, 5)} and not implied
    for seed in range(5):
        model = pds.ConsistentBayes(0.5, random_state=seed).fit(frame, schema)
        assert not [m for m in model.measured_ if len(m) > 1]


def test_rules_of_wide_columns_are_followed_at_once_or_not_at_all():
    """Four columns of 300 values: 350 million numbers would follow a chain from end to end."""
    names = "abcd"
    attributes = tuple(pds.Attribute.categorical(name, list(range(300))) for name in names)
    rules = [pds.Rule.at_most(*pair) for pair in zip(names, names[1:], strict=False)]
    schema = pds.Schema(attributes, rules=rules)
    tracemalloc.start()
    told, implied = told_by_rules(Facts(schema, 1000, Fraction(1), "strict", Fraction(1)))
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    assert not told
    assert implied[0, 2] == implied[0, 3] == implied[1, 3] == 1
    assert 0.1 < implied[0, 1] < implied[1, 2] + 0.1 < 0.5

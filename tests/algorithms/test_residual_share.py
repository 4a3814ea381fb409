"""How ConsistentBayes shares ε: single columns alone where nothing is tied, tables where it is."""

import math
from fractions import Fraction as Q
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth.algorithms.consistent_look import (
    ALONE,
    LOOK,
    LOOK_STEP,
    TYPICAL,
    share_beside,
    share_of_columns,
    share_of_look,
    sure_ties,
)

N, D = 4000, 8
SCHEMA = pds.Schema(tuple(pds.Attribute.categorical(f"x{j}", [0, 1, 2]) for j in range(D)))


def frame(tied):
    """Independent columns, or copies of the first one with a tenth of other values."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 3, (N, D))
    if tied:
        rows = np.where(rng.random((N, D)) < 0.9, rows[:, :1], rows)
    return pd.DataFrame(rows, columns=SCHEMA.names)


def fit(tied, epsilon=1.0, seed=0, **options):
    model = pds.ConsistentBayes(epsilon=epsilon, random_state=seed, **options)
    return model.fit(frame(tied), SCHEMA)


def several(model):
    return [m for m in model.measured_ if len(m) > 1]


def looked(model):
    return [e for e in model.ledger_.entries if e.step == LOOK_STEP]


def epsilon_of_columns(model):
    names = {f"table({name})" for name in SCHEMA.names}
    return sum(e.epsilon for e in model.ledger_.entries if e.step in names)


def test_the_shares_by_hand():
    assert share_of_look([2] * 10) == LOOK  # 2 / 20 is more
    assert share_of_look([2] * 100) == Q(2, 200) and share_of_look([3] * 100) == Q(3, 300)
    chance, doubt = 3 / math.sqrt(2 * math.pi * 4800), 3 / (0.05 * 4800)
    assert sure_ties(0.2, 4800, 1.0, [3] * 8) == pytest.approx(0.2 - chance - doubt)
    assert sure_ties(9.0, 4800, 1.0, [3] * 8) == pytest.approx(1 - chance - doubt)
    # With ε = 10 two tables a column have noise of 2 · 8 · 9 / 48,000: it hides less than chance.
    assert sure_ties(0.2, 4800, 10.0, [3] * 8) == pytest.approx(0.2 - 144 / 48_000 - doubt / 10)
    assert share_of_columns(0.03, 4800, [3] * 8) == pytest.approx(0.01 / 0.04)  # v = 2·24 / 4800
    assert share_of_columns(-0.2, 4800, [3] * 8) == 1


@given(
    st.floats(-10, 10), st.integers(1, 10**9), st.floats(1e-3, 100),
    st.lists(st.integers(1, 300), min_size=2, max_size=9),
)  # fmt: skip
def test_a_share_is_a_share_and_falls_with_the_ties(tied, n, epsilon, sizes):
    ties = [sure_ties(t, n, epsilon, sizes) for t in (tied, tied + 0.1)]
    here, stronger = (share_of_columns(t, n * epsilon, sizes) for t in ties)
    assert 0 < stronger <= here <= 1
    assert 0 < share_of_look(sizes) <= LOOK


def test_the_share_beside_tables_by_hand():
    assert share_beside(0.01, 4800, [3] * 8 + [2] * 5) == pytest.approx(
        1 / (1 + math.sqrt(1.5))  # v = 2·2·8 / 4800 = .0067, D / v = 1.5
    )
    assert share_beside(0.01, 4800, [2] * 8) == 0  # a pair's table tells two values as well
    assert share_beside(-0.1, 4800, [3] * 8) == 1


@pytest.mark.parametrize("power", [1, 2])
@given(st.floats(1e-4, 1), st.floats(10, 10**7), st.lists(st.integers(3, 300), min_size=2))
def test_no_other_share_beside_tables_has_a_smaller_sum(power, left, mass, sizes):
    v = 4 * sum(size - 2 for size in sizes) / mass

    def error(s):
        return v / s ** (1 / power) + left / (1 - s) ** (1 / power)

    best = error(share_beside(left, mass, sizes, power))
    assert all(best <= error(s) * (1 + 1e-9) for s in np.linspace(0.001, 0.999, 400))


def test_where_n_is_secret_columns_have_more_the_smaller_n_epsilon_is():
    """Columns beside tables in proportion, by hand: .15 is the least, two thirds the most."""
    shares = []
    for epsilon in (0.01, 0.1, 4.0):
        model = fit(True, epsilon, relation="add_remove")
        count = next(e.epsilon for e in model.ledger_.entries if e.step == "number of records")
        columns = epsilon_of_columns(model) / (model.ledger_.claimed - count)
        mass = float(model.ledger_.claimed - count) * N  # of one replaced: TYPICAL is twice .05
        wanted = max(f(TYPICAL, mass, SCHEMA.sizes) for f in (share_beside, share_of_columns))
        assert float(columns) == pytest.approx(min(max(wanted, 0.15), 2 / 3), rel=0.02)
        shares.append(columns)
        assert several(model)
    assert shares[0] > shares[1] > shares[2] == Q(3, 20)


@pytest.mark.parametrize("seed", range(4))
def test_independent_columns_have_all_but_the_first_question(seed):
    model = fit(tied=False, seed=seed)
    assert several(model) == []
    asked = [e.epsilon for e in model.ledger_.entries if e.source == "gate"]
    assert looked(model) == [] and float(sum(asked)) == pytest.approx(6 / (24 + 120), abs=1e-4)
    assert epsilon_of_columns(model) == 1 - sum(asked)
    assert model.ledger_.epsilon == 1


def test_what_tables_tell_of_chance_itself_is_measured_where_noise_is_less():
    """With ε = 10 the noise of a pair's table is less than what 4,000 independent records show."""
    true, left = frame(tied=False), {}
    pairs = list(combinations(SCHEMA.names, 2))
    for share in ("auto", 0.95):  # .95 as good as all for single columns, and one or two tables
        model = fit(tied=False, epsilon=10.0, share_one_way=share)
        rows = model.sample(100_000, random_state=0)
        off = [pd.crosstab(f[a], f[b], normalize=True) for f in (true, rows) for a, b in pairs]
        half = len(pairs)
        left[share] = np.mean([np.abs(off[i] - off[half + i]).sum().sum() for i in range(half)]) / 2
    assert left["auto"] < 0.8 * left[0.95]


@pytest.mark.parametrize("rounds", ["auto", 0])
def test_tied_columns_keep_their_tables(rounds):
    model = fit(tied=True, rounds=rounds)
    assert len(several(model)) >= D - 1
    assert epsilon_of_columns(model) < Q(1, 2)


def test_a_little_epsilon_goes_to_single_columns_and_a_middling_one_is_shared():
    assert several(fit(tied=True, epsilon=0.002)) == []
    nobody = fit(tied=True, epsilon=0.03)  # a mean tie that the look could see would be larger
    assert looked(nobody) == [] and several(nobody) == []
    middling = fit(tied=True, epsilon=0.12)
    share = epsilon_of_columns(middling) / middling.ledger_.claimed
    assert Q(3, 20) < share <= ALONE and several(middling)


def test_a_sensitive_attribute_loses_the_same_whatever_the_look_says():
    """Its column's part of the share that was fixed before, and the one table that may hold it."""
    lost = {
        fit(tied, epsilon, sensitive="x3").ledger_.attribute_epsilon()["x3"] / Q(str(epsilon))
        for tied in (True, False)
        for epsilon in (0.002, 1.0)
    }
    assert max(lost) <= Q(3, 20) / D + Q(1, 10)
    (entry,) = looked(fit(True, sensitive="x3"))
    assert {*entry.attributes} == {*SCHEMA.names} - {"x3"}


@pytest.mark.parametrize(
    "options",
    [
        {"share_one_way": 0.2},
        {"relation": "add_remove"},
        {"personal": pds.parts.SensitivityGroups(groups={"A": ["x0"], "B": [*SCHEMA.names[1:]]})},
    ],
)
def test_no_look_where_the_shares_are_fixed_or_nobody_proved_its_sensitivity(options):
    model = fit(tied=False, **options)
    assert looked(model) == [] and model.ledger_.epsilon == 1


def test_a_forced_pair_is_measured_whatever_the_look_says():
    policy = pds.Restriction(forced=[("x0", "x1")])
    assert ("x0", "x1") in several(fit(tied=False, restriction=policy))


def test_where_no_pair_may_be_looked_at_the_look_s_share_goes_to_the_columns():
    others = tuple(SCHEMA.names[1:])
    model = fit(True, restriction=pds.Restriction(target="x0", sensitive=others))
    assert looked(model) == [] and model.ledger_.epsilon == 1
    assert all(line.startswith("L10") for line in model.ledger_.check())  # the seed


def test_twin_with_the_old_shares_independent_columns_waste_epsilon_on_tables():
    tables = several(fit(tied=False, share_one_way=0.15))
    assert sum(len(columns) - 1 for columns in tables) >= D - 2

"""One table of all columns, where it tells pairs better than single columns would, tied or not."""

import math
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth import audit
from pdsynth.core import Facts, Unit
from pdsynth.planning import forecasts, one_table, tells_most


def schema_of(*sizes, **options):
    columns = (pds.Attribute.categorical(f"x{j}", range(m)) for j, m in enumerate(sizes))
    return pds.Schema(tuple(columns), **options)


def table(sizes, n, tie=0.0, seed=0):
    """Independent columns, but each copies the one before it with probability ``tie``."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, m, n) for m in sizes])
    for j in range(1, len(sizes)):
        copied = rng.random(n) < tie
        codes[:, j] = np.where(copied, codes[:, j - 1] % sizes[j], codes[:, j])
    return pd.DataFrame(codes, columns=[f"x{j}" for j in range(len(sizes))])


def facts(schema, n, epsilon, unit=None):
    return Facts(schema, n, Q(epsilon), "strict", Q(epsilon), unit or Unit())


def mean_distance(method, frame, schema, fits=6, **options):
    found = []
    for seed in range(fits):
        rows = method(random_state=seed, **options).fit(frame, schema).sample(random_state=seed)
        found.append(pds.evaluate.marginal_distances(frame, rows, schema, 2).mean())
    return np.mean(found)


def test_the_choice_by_hand():
    """Two columns of two values, n = 100, ε = 1, scale 2: columns of scale 4 with one free cell.

    Noise of scale b is of size 1 / sinh(1/b): 1.919 and 3.958.
    """
    schema, n = schema_of(2, 2), 100
    noise = 1 / math.sinh(1 / 2) * 3 / (2 * n)  # one table of four cells, three of them free
    once = noise / (1 + noise)
    two = 2 / math.sinh(1 / 4) / (2 * n) + 0.6 * math.sqrt(4 / (2 * math.pi * n))
    assert once == pytest.approx(0.0280, abs=1e-4) and two == pytest.approx(0.0875, abs=1e-4)
    assert tells_most(facts(schema, n, 1))
    assert one_table.told(np.array([4.0]), 4, noise) == pytest.approx(once)


def test_what_agreement_adds_to_sums_of_many_cells_by_hand():
    """Pairs of 4 cells told by a table of 512: √(16 / 512π) of v, and 127/128 of .05 v, or 2v²."""
    for noise, added in ((1.0, 0.05), (0.01, 2 * 0.01**2 / 1.02)):
        bare = math.sqrt(16 / (512 * math.pi)) * noise + added * 127 / 128
        assert one_table.told(np.array([4.0]), 512, noise) == pytest.approx(bare / (1 + bare))
    half = math.sqrt(16 / (512 * math.pi)) / 2 + 0.05 * 127 / 128  # discrete noise half as large
    assert one_table.told(np.array([4.0]), 512, 1, 0.5) == pytest.approx(half / (1 + half))


def test_the_noise_of_rounds_by_hand():
    """Four columns of six values, scale 2, n = 1,000: six pairs of 36 cells share .8 · .65 of ε."""
    sizes = np.full(4, 6.0)
    by_hand = 0.8 * 36 * (2 * 6 / (0.8 * 0.65)) / 2_000
    assert one_table.noise_of_rounds(sizes, 2.0, 1_000) == pytest.approx(by_hand)
    by_hand = 0.8 * 36 * 2 * math.sqrt(6 / (0.8 * 0.8)) / 2_000  # with δ: the root of the tables
    assert one_table.noise_of_rounds(sizes, 2.0, 1_000, power=2) == pytest.approx(by_hand)


def test_the_noise_of_rounds_of_small_sets_by_hand():
    """Ten two-valued columns: 45 pairs in sets of four, which hold six and have 16 cells each."""
    by_hand = 0.8 * math.sqrt(4 * 4 / (math.pi * 16)) * 16 * (2 * 7.5 / (0.8 * 0.85)) / 2_000
    assert one_table.noise_of_rounds(np.full(10, 2.0), 2.0, 1_000) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon", "chosen"),
    [
        ((2, 5), 3200, "1", True),
        ((8, 8), 5000, "1", True),
        ((8, 8), 5000, "1/10", False),  # its noise is more than single columns leave out
        ((2,) * 9, 50_000, "1", True),
        ((11, 20), 300, "4", True),  # discrete noise of scale 1/2 is of size .276
        ((5, 5, 3), 300, "2", True),
        ((2,) * 10, 50_000, "10", True),
        ((2,) * 10, 50_000, "1", False),  # 1,024 cells: rounds of small sets have less noise
        ((2,) * 12, 50_000, "4", False),
        ((2,) * 12, 50_000, "10", True),  # noise of scale 1/5 is mostly 0
        ((6, 6, 6, 6), 40_000, "1", True),
        ((16, 14, 7), 45_000, "1", True),
        ((6, 6, 6, 6), 3_200, "4", True),
        ((7, 7, 5, 7, 2, 2), 45_000, "4", False),
        ((20, 20, 21), 10**9, "1", False),  # more than 8,192 cells
        ((8,) * 4, 50, "1/10", False),  # hopeless, but single columns are nearer
        ((50, 60), 10**6, "1", True),
        ((2, 2, 4, 2, 2), 500, "1/2", False),  # zero-sum noise of columns moves one value less
    ],
)
def test_what_is_chosen(sizes, n, epsilon, chosen):
    assert tells_most(facts(schema_of(*sizes), n, epsilon)) == chosen


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon", "chosen"),
    [((2, 5), 1_500, 0.5, True), ((12, 8), 20_000, 4, True), ((10, 5, 4, 8), 100_000, 1, False)],
)
def test_what_is_chosen_with_a_delta(sizes, n, epsilon, chosen):
    """Many tables are cheap there, and ρ is no ε: the choice is made of the noise that is drawn."""
    frame, schema = table(sizes, n, 0.3), schema_of(*sizes)
    fitted = pds.ConsistentBayes(epsilon, delta=1e-9, random_state=0).fit(frame, schema)
    assert (fitted.measured_ == (schema.names,)) == chosen


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon"),
    [
        ((12, 8), 30_000, 0.5),  # columns share ρ: their noise grows with its root
        ((14, 40), 800, 10),  # Gaussian noise is no smaller for being of whole records
    ],
)
def test_what_is_not_chosen_with_a_delta(sizes, n, epsilon):
    schema = schema_of(*sizes)
    assert not tells_most(pds.ConsistentBayes(epsilon, delta=1e-9).prepare(schema, n).facts)


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon"), [((10, 16, 9), 2_000, 2), ((3, 2, 3, 4, 4, 4), 200, 4)]
)
def test_a_record_that_comes_or_goes_moves_one_cell(sizes, n, epsilon):
    """Noise is half as large, so one table is chosen where a replaced record would forbid it."""
    schema = schema_of(*sizes)
    assert tells_most(facts(schema, n, epsilon, Unit("add_remove")))
    assert not tells_most(facts(schema, n, epsilon))


@pytest.mark.parametrize(("sizes", "n"), [((2, 5), 1_000), ((5, 4), 2_500)])
def test_levels_of_persons_stand_in_the_table_and_leave_no_bias(sizes, n):
    """Who holds the first value chooses ε = .25: all other records count four times."""
    schema, frame = schema_of(*sizes), table(sizes, n)
    own = np.where(frame["x0"] == 0, 0.25, np.random.default_rng(1).choice([0.25, 1.0], n))
    frame["own"] = pd.Categorical(own, categories=[0.25, 1.0])
    means = {}
    for rounds in ("auto", 6):
        distances = []
        for seed in range(6):
            made = pds.ConsistentBayes(
                1, relation="add_remove", rounds=rounds, random_state=seed
            ).fit(frame, schema, person_epsilon="own")
            assert (made.measured_ == (("person_epsilon", *schema.names),)) == (rounds == "auto")
            rows, real = made.sample(random_state=seed), frame[[*schema.names]]
            distances.append(pds.evaluate.marginal_distances(real, rows, schema, 2).mean())
        means[rounds] = np.mean(distances)
    assert means["auto"] < 0.6 * means[6]


@pytest.mark.parametrize("level", [0.25, 1.0])
def test_exact_replay_of_one_table_with_levels(level):
    frame = table((2, 5), 300)
    frame["own"] = pd.Categorical(np.tile([0.25, 1.0], 150), categories=[0.25, 1.0])
    less = frame.drop(index=frame.index[frame["own"] == level][0])
    method = pds.ConsistentBayes(1, relation="add_remove")
    found = audit.replay(method, frame, less, schema_of(2, 5), walks=4, person_epsilon="own")
    assert found.ok and found.log_ratio == pytest.approx(level)
    assert [s.step for s in found.steps][-2] == "table(person_epsilon, x0, x1)"


@pytest.mark.parametrize(("n", "chosen"), [(100, False), (5_000, True)])
def test_what_is_chosen_where_n_is_secret_follows_from_the_released_n(n, chosen):
    frame, schema = table((6, 6, 6), n, 0.3), schema_of(6, 6, 6)
    fitted = pds.ConsistentBayes(1, relation="add_remove", random_state=0).fit(frame, schema)
    assert (fitted.measured_ == (schema.names,)) == chosen
    assert [e.step for e in fitted.ledger_.entries][0] == "number of records"


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 0.8),
        ({"delta": 1e-9}, 1),  # noise of many small tables is cheap there
        ({"relation": "add_remove"}, 0.8),
        ({"records_per_person": 2}, 0.8),
    ],
)
def test_it_is_nearer_than_rounds_under_every_promise(options, most):
    frame, schema = table((4, 3, 2, 6), 10_000, 0.3), schema_of(4, 3, 2, 6)
    whole = mean_distance(pds.ConsistentBayes, frame, schema, fits=4, **options)
    rounds = mean_distance(pds.ConsistentBayes, frame, schema, fits=4, rounds=6, **options)
    assert whole < most * rounds


@pytest.mark.parametrize(
    ("options", "known"), [({}, True), ({"delta": 1e-9}, True), ({"relation": "add_remove"}, False)]
)
def test_what_an_attribute_loses_is_known_before_the_run_where_n_is_public(options, known):
    frame, schema = table((2, 5), 5_000, 0.3), schema_of(2, 5)
    fitted = pds.ConsistentBayes(1, random_state=0, **options).fit(frame, schema)
    assert fitted.measured_ == (("x0", "x1"),)
    assert bool(fitted.ledger_.guaranteed_ex_ante) == known


def test_the_choice_is_a_function_of_public_facts():
    """Two tables that have nothing in common."""
    schema = schema_of(2, 5)
    for frame in (table((2, 5), 900, 0.9), table((2, 5), 900)):
        fitted = pds.ConsistentBayes(1).fit(frame, schema)
        assert fitted.measured_ == (("x0", "x1"),)
        (entry,) = fitted.ledger_.entries
        assert entry.epsilon == 1 and entry.attributes == ("x0", "x1")
        assert fitted.ledger_.check() == [] and "Pairs kept: 1 of 1" in str(fitted.ledger_)


@pytest.mark.parametrize(
    ("options", "tables"),
    [
        ({"delta": 1e-9}, 1),
        ({"records_per_person": 3}, 1),
        ({"relation": "add_remove"}, 1),
        ({"rounds": 1}, None),
        ({"rounds": 0}, None),
        ({"sensitive": "x0"}, None),
        ({"target": "x0"}, None),
        ({"share_one_way": 0.2}, None),
        ({"restriction": pds.Restriction(forced=[("x0", "x1")])}, None),
        ({"personal": pds.parts.SensitivityGroups(groups={"A": ["x0"], "B": ["x1"]})}, None),
    ],
)
def test_options_that_say_which_tables_there_are_are_kept(options, tables):
    frame, schema = table((2, 5), 5_000, 0.3), schema_of(2, 5)
    fitted = pds.ConsistentBayes(1, **options).fit(frame, schema)
    assert (fitted.measured_ == (("x0", "x1"),)) == (tables == 1)
    assert fitted.ledger_.check() == []


def test_groups_of_the_schema_are_kept():
    schema = schema_of(2, 5, groups={"x0": "A"})
    assert len(pds.ConsistentBayes(1).fit(table((2, 5), 5_000), schema).measured_) > 1


def test_a_value_that_no_record_can_have_stays_away():
    rule = pds.Rule.impossible({"x0": 0, "x1": [3, 4]})
    frame, schema = table((2, 5), 4_000), schema_of(2, 5, rules=[rule])
    frame = frame[(frame["x0"] != 0) | (frame["x1"] < 3)].reset_index(drop=True)
    fitted = pds.ConsistentBayes(1, random_state=3).fit(frame, schema)
    assert fitted.measured_ == (("x0", "x1"),)
    rows = fitted.sample(5_000, random_state=0)
    assert not ((rows["x0"] == 0) & (rows["x1"].isin([3, 4]))).any()


@pytest.mark.parametrize("tie", [0.0, 0.3])
@pytest.mark.parametrize(("sizes", "n"), [((2, 5), 2_000), ((8, 8), 3_000), ((2, 3, 4, 5), 9_000)])
def test_it_is_nearer_than_rounds_and_single_columns_tied_or_not(sizes, n, tie):
    frame, schema = table(sizes, n, tie), schema_of(*sizes)
    whole = mean_distance(pds.ConsistentBayes, frame, schema)
    assert whole < 0.6 * mean_distance(pds.ConsistentBayes, frame, schema, rounds=6)
    assert whole < 0.6 * mean_distance(pds.baselines.Independent, frame, schema)


@pytest.mark.parametrize(
    ("sizes", "n", "epsilon"),
    [
        ((2, 5), 3_200, 1),
        ((8, 8), 5_000, 1),
        ((2,) * 7, 5_000, 1),
        ((3, 3), 400, 0.5),
        ((6,) * 4, 40_000, 1),
        ((5, 5, 7, 4), 20_000, 1),
        ((20, 16, 12), 60_000, 2),
        ((2, 2), 40, 0.25),
        ((2,) * 9, 3_000, 4),
        ((11, 20), 300, 4),
        ((3, 2, 2, 4, 2, 2), 150, 4),
    ],
)
def test_the_plan_says_so_and_foretells_it(sizes, n, epsilon):
    frame, schema = table(sizes, n, 0.3), schema_of(*sizes)
    best = forecasts(schema, n, epsilon)[0]
    assert best.name == "ConsistentBayes"
    found = mean_distance(lambda **options: best.make(epsilon, **options), frame, schema)
    assert 0.5 < found / best.distance < 1.6
    words = str(pds.plan(schema, n, epsilon))
    assert "one table of all columns here" in words and "fit in" not in words


@pytest.mark.parametrize("tie", [0.0, 0.5])
@pytest.mark.parametrize(("sizes", "n", "epsilon"), [((11, 20), 300, 4), ((2, 4, 11), 120, 4)])
def test_small_tables_are_nearer_than_single_columns_and_networks_of_pairs(sizes, n, epsilon, tie):
    frame, schema = table(sizes, n, tie), schema_of(*sizes)
    whole = mean_distance(pds.ConsistentBayes, frame, schema, epsilon=epsilon)
    for method in (pds.baselines.Independent, lambda **o: pds.PrivBayes(k=1, **o)):
        assert whole < 0.8 * mean_distance(method, frame, schema, epsilon=epsilon)


def test_a_clear_tie_of_a_small_table_is_kept():
    """Five times five values, half of them copied, 300 records, ε = 2."""
    frame, schema = table((5, 5, 3), 300, 0.5), schema_of(5, 5, 3)
    pair = schema.select(["x0", "x1"])
    for seed in range(5):
        left, lost = (
            pds.evaluate.marginal_distances(
                frame[["x0", "x1"]],
                m(2, random_state=seed).fit(frame, schema).sample(random_state=seed)[["x0", "x1"]],
                pair,
                2,
            ).mean()
            for m in (pds.ConsistentBayes, pds.baselines.Independent)
        )
        assert left < lost / 2


@pytest.mark.parametrize(("n", "epsilon"), [(40, 0.25), (100, 0.25)])
def test_the_plan_doesnt_advise_against_the_table_that_it_measures(n, epsilon):
    words = str(pds.plan(schema_of(2, 2), n, epsilon))
    assert f"a table of all columns has 4 cells, of {n // 4} records on average" in words
    assert "noise of scale 8." in words and "It measures one table of all columns here" in words
    assert "release single columns" not in words and "k = 'auto'" not in words


@pytest.mark.parametrize("n", [60, 2_000])
def test_the_plan_says_it_of_a_secret_number_of_records_too(n):
    """Its forecast was that of one table, and its words said nothing of it."""
    words = str(pds.plan(schema_of(6, 6, 6), n, 1, relation="add_remove"))
    fitted = pds.ConsistentBayes(1, relation="add_remove", random_state=0)
    fitted.fit(table((6, 6, 6), n), schema_of(6, 6, 6))
    whole = ("x0", "x1", "x2") in fitted.measured_
    said = "one table of all columns here, if the number that is released is near the guess"
    assert (said in words) == whole == (n == 2_000)


def test_the_plan_knows_what_private_bins_cost():
    """At the boundary a plan that gave the table all of ε would name another run than the fit's."""
    ages = pds.Attribute.numeric("age", 0, 99, bins="private", number=8)
    schema = pds.Schema((ages, pds.Attribute.categorical("x", range(8))))
    frame = pd.DataFrame({"age": np.arange(2_000) % 100, "x": np.arange(2_000) % 8})
    for epsilon in np.geomspace(0.1, 3, 25).round(3):
        whole = "one table of all columns" in str(pds.plan(schema, 2_000, float(epsilon)))
        fitted = pds.ConsistentBayes(float(epsilon), random_state=0).fit(frame, schema)
        assert whole == (fitted.measured_ == (("age", "x"),)), epsilon


def test_a_table_that_is_too_large_for_its_noise_would_be_noticed():
    """The twin: measured all the same, it is farther than single columns."""
    frame, schema = table((8, 8), 5_000), schema_of(8, 8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pdsynth.planning.tells_most", lambda facts: True)
        whole = mean_distance(pds.ConsistentBayes, frame, schema, epsilon=0.1)
    assert whole > 1.2 * mean_distance(pds.baselines.Independent, frame, schema, epsilon=0.1)


@pytest.mark.parametrize("options", [{}, {"relation": "add_remove"}])
def test_exact_replay_finds_the_loss_of_its_line_and_no_more(options):
    before = table((2, 5), 300)
    after = before.copy()
    after.loc[0] = [1 - before.loc[0, "x0"], (before.loc[0, "x1"] + 1) % 5]
    after = after.iloc[:-1] if "relation" in options else after
    if "relation" in options:
        after.loc[0] = before.loc[0]
    found = audit.replay(pds.ConsistentBayes(2, **options), before, after, schema_of(2, 5), walks=4)
    assert found.ok, found
    if not options:
        assert found.log_ratio == pytest.approx(2)  # a record that moves between two cells


def test_twin_noise_of_half_the_scale_is_refused_by_the_ledger(monkeypatch):
    monkeypatch.setattr(Unit, "scale", lambda self, epsilon, tables=1: Q(1) / epsilon)
    with pytest.raises(pds.BudgetError, match="overdraft"):
        pds.ConsistentBayes(2).fit(table((2, 5), 300), schema_of(2, 5))

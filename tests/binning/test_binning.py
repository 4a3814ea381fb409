"""Columns with private bins, from the declaration to the release."""

import json
import math
from fractions import Fraction as Q

import contract_cases
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth import Attribute, BudgetError, Model, Schema, SchemaError, audit, binning
from pdsynth.binning import shortest
from pdsynth.core.records import Records

INCOME = Attribute.numeric("income", 0, 90_000, bins="private", number=8, integer=True)
AGE = Attribute.numeric("age", 16, 99, bins="private", number=4, integer=True, missing=True)
SEX = Attribute.categorical("sex", ["f", "m"])
JOB = Attribute.categorical("job", list("abc"))
SCHEMA = Schema((INCOME, AGE, SEX, JOB))


def table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    income = np.where(rng.random(n) < 0.6, 0, rng.lognormal(9, 0.7, n)).clip(0, 90_000)
    age = pd.Series(rng.integers(16, 100, n)).astype("Int64").mask(rng.random(n) < 0.1)
    return pd.DataFrame(
        {
            "income": income.astype(int),
            "age": age,
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(list("abc"), n),
        }
    )


@pytest.mark.parametrize("name", list(contract_cases.CASES))
def test_every_synthesizer_fits_it(name):
    case, frame = contract_cases.CASES[name], table()
    made = case.cls(2.0, random_state=1, **case.own(SCHEMA)).fit(frame, SCHEMA)
    model, lines = made.model_, made.ledger_.entries
    edges = [e for e in lines if e.step.startswith("edges(")]
    assert [e.attributes for e in edges] == [("income",), ("age",)]
    assert sum(e.epsilon for e in edges) == 2 * Q(1, 25) and lines[: len(edges)] == tuple(edges)
    assert made.ledger_.epsilon == 2
    assert [p for p in model.check() if not p.startswith("L10")] == []
    assert not model.schema.private and model.schema.sizes == SCHEMA.sizes
    fake = made.sample(500)
    assert fake["income"].between(0, 90_000).all() and fake["age"].isna().any()
    assert (fake["income"] == 0).mean() > 0.3, "zero stands alone"
    back = Model.from_dict(json.loads(json.dumps(model.to_dict())))
    assert back.schema == model.schema
    pd.testing.assert_frame_equal(back.sample(50, 3), model.sample(50, 3))


def test_groups_that_the_schema_declares_hold_for_the_bins_that_are_chosen():
    """The fit learns over another schema than the declared one, with the same policy."""
    groups = {"income": "A", "age": "B", "sex": "B", "job": "B"}
    declared = Schema(SCHEMA.attributes, groups=groups)
    same = pds.parts.SensitivityGroups(rare_values="same_noise")
    made = pds.HPPrivBayes(2, k=0, r=0.25, personal=same).fit(table(), declared)
    assert made.groups_["A"] == ["income"] and made.schema_.groups == groups
    assert made.table_epsilon_["income"] * 4 == pytest.approx(made.table_epsilon_["age"])
    made = pds.ConsistentBayes(2, r=0.25, personal=same, rounds=2).fit(table(), declared)
    cost = {e.step: e.epsilon for e in made.ledger_.entries}
    assert cost["table(income)"] < cost["table(age)"] / 2


def test_a_record_is_counted_in_the_bin_that_its_value_has_in_the_release():
    """At so large an ε noise is 0: counts of the fit and of the released schema are the same."""
    frame = table()
    model = pds.baselines.Independent(10_000.0, random_state=1).fit(frame, SCHEMA).model_
    for name in ("income", "age"):
        (measured,) = (m for m in model.measured if m.attributes == (name,))
        attribute = model.schema[name]
        own = np.bincount(attribute.encode(frame[name]), minlength=attribute.size)
        assert measured.table.tolist() == own.tolist()


@pytest.mark.parametrize("guarantee", ["published", "none"])
def test_other_guarantees(guarantee):
    made = pds.PrivBayes(2.0, k=1, guarantee=guarantee, random_state=1).fit(table(), SCHEMA)
    assert made.sample(10).shape == (10, 4)


def test_membership_and_persons_with_an_epsilon_of_their_own():
    hidden = pds.ConsistentBayes(2.0, relation="add_remove", random_state=1)
    assert hidden.fit(table(), SCHEMA).ledger_.epsilon == 2
    made = hidden.clone().fit(table(), SCHEMA, person_epsilon={"sex": {"f": 1.0, "m": 2.0}})
    line = next(e for e in made.ledger_.entries if e.step == "edges(income)")
    assert line.sensitivity == 2 and made.ledger_.epsilon == 2
    assert list(made.sample(5).columns) == list(SCHEMA.names)


def test_where_membership_is_protected_edges_get_their_share_and_nothing_is_left():
    """They had theirs of what the number of records leaves, and that part of it bought nothing."""
    for made in (pds.ConsistentBayes(2, relation="add_remove"), pds.ConsistentBayes(2)):
        ledger = made.fit(table(), SCHEMA).ledger_
        paid = sum(e.epsilon for e in ledger.entries if e.step.startswith("edges("))
        assert paid == 2 * binning.share_of_edges(SCHEMA) == Q(2, 25)
        rest = [e.epsilon for e in ledger.entries if e.source == "what no step asked for"]
        assert ledger.epsilon == 2 and not rest
    m = 4
    made = pds.ConsistentBayes(2, relation="add_remove", records_per_person=m)
    ledger = made.fit(table(), SCHEMA).ledger_
    edges = [e for e in ledger.entries if e.step.startswith("edges(")]
    assert [(e.epsilon, e.sensitivity) for e in edges] == [(Q(1, 25), m)] * 2
    assert ledger.epsilon == 2


def test_many_private_columns_are_counted_and_have_one_line_of_a_story():
    spread = [Attribute.numeric(f"x{j}", 0, 99, bins="private", number=4) for j in range(12)]
    frame = pd.DataFrame({a.name: np.arange(60) for a in spread})
    with pytest.raises(SchemaError, match="none for x0, x1, x2, x3, x4 and 7 more: give that"):
        pds.evaluate.report(frame, frame, Schema(spread))
    story = pds.baselines.Independent(2.0).fit(frame, Schema(spread)).ledger_.story()
    first, rest = story[0], story[1:]
    assert (first.step, first.often) == ("choosing edges of private bins", 12)
    assert first.true == Q(1, 5) and len(rest) == 1


def test_several_records_of_a_person_multiply_sensitivity_and_cost():
    made = pds.PrivBayes(3.0, k=1, records_per_person=3, random_state=1).fit(table(), SCHEMA)
    line = next(e for e in made.ledger_.entries if e.step == "edges(income)")
    assert line.sensitivity == 6 and made.ledger_.epsilon == 3


def test_a_replay_finds_no_more_than_the_lines_say():
    frame = table(40)
    other = frame.copy()
    other.loc[39, "income"] = 90_000 - int(other.loc[39, "income"])
    small = Schema((Attribute.numeric("income", 0, 90_000, bins="private", number=4), SEX, JOB))
    frame, other = (f[["income", "sex", "job"]] for f in (frame, other))
    found = audit.replay(pds.PrivBayes(2.0, k=1), frame, other, small, walks=4)
    assert found.ok, found
    edges = [s for s in found.steps if s.step.startswith("edges(")]
    assert edges and max(float(s.log_ratio) for s in edges) > 0


def test_what_is_released_has_edges_and_the_schema_file_keeps_the_words(tmp_path):
    SCHEMA.write(tmp_path / "s.toml")
    text = (tmp_path / "s.toml").read_text()
    assert 'income = "0 to 90000 in 8 private bins"' in text
    assert 'age = "16 to 99 in 4 private bins + missing"' in text
    assert Schema.read(tmp_path / "s.toml") == SCHEMA
    assert Schema.from_dict(json.loads(json.dumps(SCHEMA.to_dict()))) == SCHEMA
    model = pds.ConsistentBayes(2.0).fit(table(), SCHEMA).model_
    place = pds.datasets.write_release(model, tmp_path / "out")
    written = Schema.read(place / "schema.toml")
    assert not written.private and written["income"].edges == model.schema["income"].edges
    assert written.encode(pds.datasets.read_csv(place / "synthetic.csv", written)).shape[1] == 4


def test_a_heavy_value_inside_its_cell_is_released_as_the_number_of_the_fewest_digits():
    """30 % have 0, which is no lower end of a cell: it isn't released as -4."""
    rng = np.random.default_rng(0)
    values = np.where(rng.random(40_000) < 0.3, 0, rng.integers(-2_000, 60_000, 40_000))
    for integer in (True, False):
        wide = Attribute.numeric(
            "income", -20_000, 500_000, bins="private", number=16, integer=integer
        )
        assert wide.private == binning.CELLS
        frame = pd.DataFrame({"income": values, "sex": rng.choice(["f", "m"], 40_000)})
        frame = frame.astype({"income": int if integer else float})
        model = pds.ConsistentBayes(5.0, random_state=1).fit(frame, Schema((wide, SEX))).model_
        drawn = model.sample(10_000, 1)["income"]
        assert abs((drawn == 0).mean() - 0.3) < 0.02 and abs((drawn < 0).mean() - 0.022) < 0.01


@given(
    st.lists(st.tuples(st.floats(-1e7, 1e7), st.floats(1e-3, 1e4)), min_size=1, max_size=6),
    st.booleans(),
)
def test_the_number_of_the_fewest_digits_lies_in_its_interval(pairs, integer):
    low, wide = np.array(pairs).T
    if integer:
        low, wide = np.floor(low), np.ceil(wide)
    found = shortest(low, low + wide, integer)
    assert ((low <= found) & (found < low + wide)).all()
    assert not integer or (found == np.floor(found)).all()
    assert (found[(low <= 0) & (low + wide > 0)] == 0).all()
    for number, a, b in zip(found, low, low + wide, strict=True):
        steps = (Q(10) ** digits for digits in range(18, -16, -1))
        multiples = (math.ceil(Q(repr(float(a))) / step) * step for step in steps)
        rounder = next(m for m in multiples if m < Q(repr(float(b))))
        assert number == pytest.approx(float(rounder), rel=1e-12)


def test_values_finer_than_cells_are_released_as_zero():
    wide = Attribute.numeric("income", 0, 1e6, bins="private", number=8)
    assert (wide.private, wide.spread) == (binning.CELLS, "atoms")
    frame = table()[["income", "sex"]].astype({"income": float})
    model = pds.ConsistentBayes(4.0, random_state=1).fit(frame, Schema((wide, SEX))).model_
    assert (model.sample(1000, 1)["income"] == 0).mean() > 0.5


def test_values_beside_them_are_written_as_short_as_those_of_public_bins():
    """167, and not 166.71666666666667; a bin of one cell is its shortest number."""
    edges = [0.0, 0.1, 1000 / 3, 333.4, 1000.0]  # the first and the third: one value
    bins = Attribute.binned("x", edges, spread="atoms", missing=True)
    drawn = bins.decode(np.arange(5), np.full(5, 0.5))
    assert drawn.tolist()[:4] == [0.0, 167.0, 333.34, 667.0] and np.isnan(drawn[4])
    assert bins.encode(drawn).tolist() == [0, 1, 2, 3, 4]
    ends = bins.decode(np.arange(4), np.full(4, 1 - 2.0**-53))
    assert ends.tolist() == [0.0, 333.0, 333.34, 999.0] and ends[1] < edges[2]


def test_tables_are_judged_on_the_edges_of_the_release():
    frame = table()
    fitted = pds.ConsistentBayes(2.0, random_state=1).fit(frame, SCHEMA)
    fake = fitted.sample(random_state=1)
    assert 0 <= pds.evaluate.marginal_distance(frame, fake, fitted.schema_) < 0.2
    with pytest.raises(SchemaError, match="schema_ of the fitted synthesizer"):
        pds.evaluate.marginal_distance(frame, fake, SCHEMA)
    with pytest.raises(SchemaError, match="schema_ of the fitted synthesizer"):
        pds.evaluate.compare([pds.PrivBayes(1)], (frame, SCHEMA), [1], 2)


def test_of_many_private_columns_a_plan_and_a_refusal_name_five():
    many = [Attribute.numeric(f"v{i:02}", 0, 9, bins="private", number=3) for i in range(60)]
    said = pds.plan(Schema(many), 9_000, epsilon=1).sentence
    assert "edges of v00, v01, v02, v03, v04 and 55 more;" in said
    assert said.count("own") == 1 and "No value of v00, v01, v02, v03, v04 and 55 more is" in said
    with pytest.raises(BudgetError, match=r"private bins \(v00, .*, v04 and 55 more\) are for"):
        pds.ConsistentBayes(1.0, delta=1e-9).prepare(Schema(many), 9_000)


@pytest.mark.parametrize(("n", "least"), [(2000, None), (50_000, 8205)])
def test_the_plan_says_how_many_records_make_a_value_stand_alone(n, least):
    wide = Attribute.numeric("v", 0, 100_000, bins="private", number=16, integer=True)
    said = pds.plan(Schema((wide, SEX)), n, epsilon=1).sentence
    if least is None:
        assert "No value of v is sure of a bin of its own" in said
        return
    assert f"v that {least:,} records share has a bin of its own in 19 of 20 fits; of" in said
    assert said.endswith(" The bin holds what lies in the same 16,384th of the range, too.")
    rng = np.random.default_rng(0)
    shared = np.where(np.arange(n) < least, 0, rng.integers(1, 60_000, n))
    frame = pd.DataFrame({"v": shared, "sex": rng.choice(["f", "m"], n)})
    made = (pds.ConsistentBayes(1, random_state=seed) for seed in range(20))
    alone = [m.fit(frame, Schema((wide, SEX))).schema_["v"].edges[1] < 10 for m in made]
    assert sum(alone) >= 16  # 19 expected


def test_of_four_heavy_values_one_is_sure_of_a_bin_of_its_own():
    """Each is shared by as many records as the plan asks for: three were found in half of 20 fits,
    where it said that each has its bin in 19.
    """
    v, heavy = Attribute.numeric("v", 0, 9_999, bins="private", number=16, integer=True), range(4)
    said = pds.plan(Schema((v, SEX)), 50_000, epsilon=1).sentence
    assert said.endswith(" that 8,008 records share has a bin of its own in 19 of 20 fits; of "
                         "several such values one has.")  # fmt: skip
    rng = np.random.default_rng(0)
    values = np.append(np.repeat([1000 * h + 1000 for h in heavy], 8008),
                       rng.integers(0, 10_000, 50_000 - 4 * 8008))  # fmt: skip
    frame = pd.DataFrame({"v": values, "sex": rng.choice(["f", "m"], 50_000)})
    found = [0] * 4
    for seed in range(20):
        one = pds.baselines.Independent(1, random_state=seed).fit(frame, Schema((v, SEX)))
        edges = one.schema_["v"].edges
        for h in heavy:
            found[h] += {1000 * h + 1000, 1000 * h + 1001} <= {*edges}
    assert 16 <= sum(found) and min(found) < 10  # 19 and 5 expected


def test_the_fit_of_a_seed_is_the_same_from_memory_and_from_a_file(tmp_path):
    pytest.importorskip("pyarrow")
    frame = table()
    frame.to_parquet(tmp_path / "t.parquet")
    first, second = (
        pds.PrivBayes(2.0, k=1, random_state=4).fit(data, SCHEMA).model_
        for data in (frame, tmp_path / "t.parquet")
    )
    assert first.schema == second.schema
    for a, b in zip(first.tables, second.tables, strict=True):
        assert (a == b).all()


def test_the_plan_pays_for_the_edges():
    plain = Schema(tuple(a if not a.private else Attribute.numeric(
        a.name, a.edges[0], a.edges[-1], bins=len(a.values), integer=True, missing=a.missing,
    ) for a in SCHEMA.attributes))  # fmt: skip
    with_edges, without = (pds.plan(s, 3000, 1.0) for s in (SCHEMA, plain))
    assert with_edges.distance >= without.distance
    assert "income, age" in str(with_edges) and "private" in str(with_edges)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Attribute.numeric("x", 0, 10, bins="private", number=1), "from 2 to 1,024"),
        (lambda: Attribute.numeric("x", 0, 10, bins="private", number=2.5), "from 2 to 1,024"),
        (lambda: Attribute.numeric("x", 10, 0, bins="private"), "below high"),
        (lambda: Attribute.numeric("x", 0, float("inf"), bins="private"), "finite"),
        (
            lambda: Attribute.numeric("x", 0, 10, bins="private", number=16, integer=True),
            "leave no edge to choose",
        ),
        (lambda: Attribute.numeric("x", 0, 10, bins=4, number=4), "goes with bins='private'"),
        (lambda: Attribute.numeric("x", 0, 10, bins="secret"), "bins must be a whole number"),
        (lambda: Attribute.numeric("x", 0, 9, bins=[0, 3, 9]), "by Attribute.binned.name, edges"),
    ],
)
def test_mistaken_declarations_get_a_sentence(make, words):
    with pytest.raises(SchemaError, match=words):
        make()


def test_what_private_bins_aren_t_made_for_is_refused_before_budget_is_spent():
    made = pds.ConsistentBayes(1.0, delta=1e-9)
    with pytest.raises(BudgetError, match="pure ε"):
        made.fit(table(), SCHEMA)
    codes = SCHEMA.encode(table())
    with pytest.raises(SchemaError, match="coded already"):
        pds.PrivBayes(1.0).fit(Records(codes, SCHEMA))
    rule = pds.Rule.at_most("age", "income")
    with pytest.raises(SchemaError, match="rules name"):
        pds.PrivBayes(1.0).fit(table(), Schema(SCHEMA.attributes, rules=[rule]))
    outside = table().assign(income=90_001)
    with pytest.raises(SchemaError, match="income"):
        pds.PrivBayes(1.0).fit(outside, SCHEMA)
    assert made.spent_ == 0


def few(x):
    return pd.DataFrame({"a": list("ny") * 20, "x": x})


FEW = Schema(
    (
        Attribute.categorical("a", ["n", "y"]),
        Attribute.numeric("x", 0, 100, bins="private", number=4),
    )
)


def test_a_replay_compares_cells_and_no_stand_in_bins():
    """10 → 20 is one declared bin and two cells: the fit sees another record."""
    before = few([10.0, 60.0] * 20)
    after = before.copy()
    after.loc[0, "x"] = 20.0
    for made in (pds.baselines.Independent(1), pds.PrivBayes(1), pds.HPPrivBayes(1, sensitive="a")):
        found = audit.replay(made, before, after, FEW, walks=3)
        assert found.ok and str(found.change) == "one record changes in x", found
    after.loc[:19:2, "x"] = 20.0
    with pytest.raises(SchemaError, match="differ in 10 records"):
        audit.replay(pds.baselines.Independent(1), before, after, FEW)


def test_a_number_that_moves_inside_a_released_bin_loses_what_its_edges_cost():
    fitted = pds.baselines.Independent(1).fit(few([10.0, 60.0] * 20), FEW)
    (edges,) = [e for e in fitted.ledger_.entries if e.lemma == "lemma:edges"]
    values = list(fitted.schema_["x"].values)
    lost = fitted.ledger_.value_epsilon("x", values)
    assert {lost.iloc[i, i] for i in range(len(values))} == {edges.epsilon} != {0}
    alone = fitted.ledger_.value_epsilon("a", ["n", "y"])
    assert {alone.iloc[i, i] for i in range(2)} == {0}


def test_a_number_that_decides_a_level_moves_every_line_inside_a_released_bin():
    """10 and 60 have other levels by the declared bins, and no record lies between them."""
    before = few([10.0, 60.0] * 20)
    after = before.copy()
    after.loc[0, "x"] = 60.0
    made = pds.baselines.Independent(1, relation="add_remove")
    by_x = {"x": {10: 0.5, 30: 1, 60: 1, 90: 1}}
    found = audit.replay(made, before, after, FEW, walks=3, person_epsilon=by_x)
    assert 0.5 < found.log_ratio <= 1.5
    ledger = made.fit(before, FEW, person_epsilon=by_x).ledger_
    assert {*np.diag(ledger.value_epsilon("x"))} == {2} == {*ledger.attribute_epsilon(["x"])}
    assert {*np.diag(ledger.value_epsilon("a"))} == {0}
    by_a = {"a": {"n": 0.5, "y": 1}}
    ledger = made.fit(before, FEW, person_epsilon=by_a).ledger_
    assert {*np.diag(ledger.value_epsilon("a"))} == {0}, "edges of x don't see a"

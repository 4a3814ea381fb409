"""Persons with an ε of their own: what each level loses, exactly, and what the model then says."""

import warnings
from fractions import Fraction as Q
from itertools import combinations_with_replacement, product
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from privacy_tools import as_measured

import pdsynth as pds
from pdsynth import audit, holders, persons
from pdsynth.algorithms.consistent import ResidualRounds
from pdsynth.algorithms.consistent_policy import Policy
from pdsynth.core.curator import Measured
from pdsynth.core.errors import BudgetError, SchemaError
from pdsynth.core.ledger import Ledger
from pdsynth.core.model import Model
from pdsynth.core.network import Network
from pdsynth.core.records import Codes
from pdsynth.core.structure import Measurement
from pdsynth.core.views import Merging
from pdsynth.files.card import make_card

LEVELS = (0.1, 0.5, 1.0)
SIZES = (2, 3, 2)
SCHEMA = pds.Schema(
    tuple(pds.Attribute.categorical(f"x{j}", range(size)) for j, size in enumerate(SIZES))
)


def people(n=14, seed=0):
    """A small table with a column of preferences."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, SIZES, (n, len(SIZES))), columns=list(SCHEMA.names))
    return frame.assign(own=pd.Categorical(rng.choice(LEVELS, n), categories=LEVELS))


def make(name="ConsistentBayes", **options):
    """A synthesizer that may protect membership."""
    known = {"ConsistentBayes": pds.ConsistentBayes, "Independent": pds.baselines.Independent}
    return known[name](1, relation="add_remove", **options)


def made_facts(made):
    """Public facts of a fit whose records have levels."""
    return made.prepare(SCHEMA, 400, people=persons.People(made.ledger_.levels, np.zeros(0))).facts


FITS = {
    "rounds": lambda: make(),
    "a forest": lambda: make(rounds=0),
    "columns": lambda: make("Independent"),
    "a sensitive attribute": lambda: make(sensitive="x1"),
}


# --- what each level loses ------------------------------------------------------------------------


@pytest.mark.parametrize("name", FITS)
def test_every_level_loses_at_most_its_own(name):
    frame = people(9)
    assert {*frame["own"]} == {*LEVELS}
    for i in range(len(frame)):
        own = float(frame["own"].iloc[i])
        found = audit.replay(
            as_measured(FITS[name]()),
            frame,
            frame.drop(index=i),
            SCHEMA,
            walks=3,
            seed=i,
            person_epsilon="own",
        )
        assert found.ok and float(found.log_ratio) <= own + 1e-12
        if name == "columns":  # every line is reached, so nothing is promised in vain
            assert float(found.log_ratio) == pytest.approx(own)


def test_a_replaced_record_loses_what_both_were_promised():
    frame = people()
    other = frame.copy()
    other.loc[0, ["x0", "x1"]] = (frame.loc[0, ["x0", "x1"]] + 1) % [2, 3]
    for level in LEVELS:
        other.loc[0, "own"] = level
        found = audit.replay(
            as_measured(make()), frame, other, SCHEMA, walks=3, person_epsilon="own"
        )
        assert found.ok and found.log_ratio <= float(frame["own"][0]) + level


def test_a_rule_by_value_promises_each_record_the_epsilon_of_its_value():
    frame, rule = people().drop(columns="own"), {"x1": {0: 1, 1: 0.2, 2: "1/3"}}
    for i in range(len(frame)):
        own = float(Q(str(rule["x1"][frame["x1"][i]])))
        less = frame.drop(index=i)
        found = audit.replay(as_measured(make()), frame, less, SCHEMA, walks=2, person_epsilon=rule)
        assert found.ok and float(found.log_ratio) <= own + 1e-12
    assert make().fit(frame, SCHEMA, person_epsilon=rule).ledger_.levels == (Q(1, 5), Q(1, 3), Q(1))


def from_data(self, frame, schema):
    """A planted defect: how often a record counts depends on what is in it."""
    own = schema.encode(frame)
    weights = np.array(self.copies)[np.where(own[:, 0] == 1, len(self.levels) - 1, self.of)]
    return own, weights


def not_dividing(self, frame, schema):
    """A planted defect: copies of a unit that doesn't divide the levels, rounded up."""
    return schema.encode(frame), np.ceil(np.array(LEVELS) / 0.3).astype(int)[self.of] * 3


def paid_twice(self, frame, schema):
    """A planted defect: the largest level counts twice as often as it paid for."""
    last = self.of == len(self.levels) - 1
    return schema.encode(frame), np.array(self.copies)[self.of] * (1 + last)


@pytest.mark.parametrize("defect", [from_data, not_dividing, paid_twice])
def test_a_wrong_weight_is_seen(monkeypatch, defect):
    def opened(self, frame, schema):
        own, weights = defect(self, frame, schema)
        codes = np.asfortranarray(np.column_stack([self.of.astype(own.dtype), own]))
        schema = self.extend(schema)
        counter = persons.WeightedCodes(codes, schema.sizes, weights)
        return persons.nullcontext(persons.Records(counter, schema))

    frame = people()
    monkeypatch.setattr(persons.People, "open", opened)
    quick = as_measured(make())
    found = (
        audit.replay(quick, frame, frame.drop(index=i), SCHEMA, walks=2, person_epsilon="own")
        for i in range(len(frame))
    )
    assert not all(replay.ok for replay in found)


def test_the_column_of_levels_is_none_of_the_attributes_that_a_method_compares():
    wide = [pds.Attribute.categorical(f"x{j}", ["a", "b"]) for j in range(256)]
    two = persons.People((Q(1, 2), Q(1)), np.zeros(0, int))
    assert make().prepare(pds.Schema(wide[:-1]), 100, people=two).facts.schema.sizes[:2] == (2, 2)
    with pytest.raises(BudgetError, match="^256 attributes, .* at most 255"):
        make().prepare(pds.Schema(wide), 100, people=two)


def test_levels_that_differ_between_tables_are_no_neighbours():
    frame = people()
    with pytest.raises(SchemaError, match="offer the same ones"):
        audit.replay(
            make(),
            frame,
            frame.assign(
                own=pd.Categorical(frame["own"].astype(float), categories=(0.25, *LEVELS))
            ),
            SCHEMA,
            person_epsilon="own",
        )


# --- counts ---------------------------------------------------------------------------------------


@given(st.lists(st.fractions(Q(1, 20), 2, max_denominator=20), min_size=1, max_size=4, unique=True))
def test_copies_times_the_unit_are_the_levels(levels):
    levels = tuple(sorted(levels))
    try:
        found = persons.People(levels, np.zeros(0, dtype=int))
    except BudgetError:
        return
    assert [copies * found.unit for copies in found.copies] == list(levels)
    assert np.gcd.reduce(found.copies) == 1
    largest, unit = found.promise
    assert largest / unit.records == found.unit


@given(st.lists(st.floats(0.01, 9.0, allow_nan=False), min_size=1, max_size=30), st.integers(1, 12))
def test_rounding_down_never_takes_more_than_was_given(own, levels):
    own = np.array(own)
    try:
        found = persons.rounded_down(own, levels)
    except BudgetError:
        return
    assert found.of.min() >= 0 and len(found.levels) <= levels
    assert all(
        found.levels[g] <= Q(str(mine)) for g, mine in zip(found.of, own.tolist(), strict=True)
    )


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 3))
def test_rounding_down_keeps_the_largest_sum(tenths, levels):
    """Against every choice of levels, the least of them always offered."""
    found = persons.rounded_down(np.array(tenths) / 10, levels)
    kept = sum(found.levels[g] for g in found.of)
    offers = combinations_with_replacement(tenths, levels - 1)
    best = max(sum(max(x for x in (min(tenths), *o) if x <= v) for v in tenths) for o in offers)
    assert kept == Q(best, 10)


def test_weighted_counts_are_those_of_copied_rows():
    rng = np.random.default_rng(1)
    codes, weights = rng.integers(0, SIZES, (40, 3)).astype(np.uint8), rng.integers(1, 9, 40)
    sets = [((), (0,)), ((), (1, 2)), ((0,), (1, 2))]
    found = persons.WeightedCodes(codes, SIZES, weights)
    copied = Codes(np.repeat(codes, weights, axis=0), SIZES)
    assert found.n == copied.n
    for one, other in zip(found.tables(sets), copied.tables(sets), strict=True):
        np.testing.assert_array_equal(one, other)
    merging = Merging(SCHEMA, (np.arange(2), np.array([0, 1, 1]), np.arange(2)))
    merged = (one.encoded(merging).tables(sets) for one in (found, copied))
    for one, other in zip(*merged, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(BudgetError, match="single tables only"):
        found.cells(np.zeros((1, 2), dtype=int))


# --- the model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_undoing_divides_each_level_by_its_copies(seed):
    """Against the whole joint distribution, cell by cell."""
    rng = np.random.default_rng(seed)
    levels, sizes = (Q(1, 4), Q(1, 2), Q(1)), (3, 2, 3, 2)
    schema = persons.People(levels, np.zeros(0)).extend(SCHEMA)
    order = rng.permutation(4)
    pairs = [
        (int(j), tuple(int(p) for p in rng.permutation(order[:at])[: rng.integers(0, 3)]))
        for at, j in enumerate(order)
    ]
    tables = tuple(rng.integers(1, 30, [sizes[j] for j in (c, *p)]) for c, p in pairs)
    ledger = Ledger(Q(1), relation="add_remove", records_per_person=4, levels=levels)
    model = Model(schema, Network.of_columns(pairs, schema.names), tables, ledger, 1000)
    counted = Measured(np.array([300, -20, 500]), Q(1), "s01")
    undone = persons.undo(model, [], counted)

    def joint(model):
        cells = np.ones(sizes)
        for cell in product(*map(range, sizes)):
            for child, parents in model.network.pairs:
                place = [schema.index(name) for name in (child, *parents)]
                table = model.conditionals[child].reshape([sizes[j] for j in place])
                cells[cell] *= table[tuple(cell[j] for j in place)]
        return cells

    wanted = joint(model) / np.array([1, 2, 4]).reshape(-1, 1, 1, 1)
    np.testing.assert_allclose(joint(undone), wanted / wanted.sum(), atol=1e-5)
    assert undone.n == 300 + 500 // 4
    level = Measurement((persons.LEVEL,), np.array([8, 20, 400]), Q(1), "s02")
    assert persons.undo(model, [level], counted).n == 8 + 10 + 100


@pytest.mark.parametrize("scale", [Q(2), (Q(2), Q(4), Q(2))])
def test_two_counts_of_a_level_weigh_by_their_noise(scale):
    other = Measurement(("x0",), np.array([5, 5]), Q(1), "s03")
    level = Measurement((persons.LEVEL,), np.array([100, 10, 0]), scale, "s02")
    table, kept = persons.sharpen([level, other], Measured(np.array([0, 30, 50]), Q(1), "s01"))
    assert kept is other and table.entry == "s02" and table.attributes == level.attributes
    assert table.table.tolist() == [20, 26 if scale == Q(2) else round((10 + 16 * 30) / 17), 40]
    assert np.float64(table.scale) == pytest.approx(
        np.sqrt(4 / 5) if scale == Q(2) else np.sqrt([4 / 5, 16 / 17, 4 / 5])
    )


def test_many_columns_leave_the_number_of_persons_as_near_as_few():
    """It leant on the level's own column, whose ε is a part of what all columns share."""
    rng, n = np.random.default_rng(3), 3000
    schema = pds.Schema([pds.Attribute.categorical(f"x{j}", [0, 1]) for j in range(60)])
    frame = pd.DataFrame(rng.integers(0, 2, (n, 60)), columns=list(schema.names))
    own = pd.Series(pd.Categorical(rng.choice(LEVELS, n), categories=LEVELS))
    fits = [
        make("Independent", random_state=seed).fit(frame, schema, person_epsilon=own)
        for seed in range(6)
    ]
    assert np.sqrt(np.mean([(fit.n_ - n) ** 2 for fit in fits])) < 420
    (line,) = [e for e in fits[0].ledger_.entries if e.released == "n"]
    assert line.attributes == (persons.LEVEL,) and line.epsilon == Q(1, 20)
    assert fits[0].ledger_.finite == 1 and not fits[0].model_.check()[1:]


@pytest.mark.parametrize("levels", [2, 3, 4, 10])
def test_many_levels_are_counted_together(levels):
    """Of ten levels the sum had three times the noise, and the tables with it."""
    own = pd.Series([round(0.1 * (i % levels + 1), 1) for i in range(300)], dtype="category")
    frame = people(300).drop(columns="own")
    fitted = make(random_state=1).fit(frame, SCHEMA, person_epsilon=own)
    (line,) = [e for e in fitted.ledger_.entries if e.released == "n"]
    assert line.attributes == ((persons.LEVEL,) if levels <= 3 else ())
    assert len(fitted.ledger_.levels) == levels and fitted.n_ >= 1


def test_levels_that_go_with_an_attribute_leave_no_bias():
    """Those with x0 = 0 give ten times as much; both values are equally frequent."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, SIZES, (4000, 3)), columns=list(SCHEMA.names))
    own = pd.Series(np.where(frame["x0"] == 0, 1.0, 0.1), index=frame.index, dtype="category")
    fitted = make(random_state=1).fit(frame, SCHEMA, person_epsilon=own)
    rows = fitted.sample(4000, random_state=0)
    assert list(rows.columns) == list(SCHEMA.names)
    assert abs((rows["x0"] == 0).mean() - 0.5) < 0.06
    alone = make("Independent", random_state=1).fit(frame, SCHEMA, person_epsilon=own)
    assert (alone.sample(4000, random_state=0)["x0"] == 0).mean() > 0.8  # its twin: no tie, a bias


@pytest.mark.parametrize("r", [0.2, 5])
@pytest.mark.parametrize("rare_values", ["same_noise", "less_noise"])
def test_the_column_of_levels_is_in_neither_group(r, rare_values):
    """It counted as one of group B: with r = 3 the ties of group A to the levels had a third, so
    that what asked for less noise came out farther. And its levels got weights as values."""
    personal = pds.parts.SensitivityGroups(groups={"A": ["x1"]}, rare_values=rare_values)
    made = make(r=r, personal=personal, rounds=3).fit(people(400), SCHEMA, person_epsilon="own")
    own = [e for e in made.ledger_.entries if e.step == "table(person_epsilon)"]
    x1 = next(e for e in made.ledger_.entries if e.step == "table(x1)")
    scales = [float(e.scale) for e in (own[0], x1)]
    assert len(own) == 1 and scales[0] == pytest.approx(scales[1] * min(r, 1), rel=0.01)
    policy = Policy(ResidualRounds(r=r, personal=personal), made_facts(made))
    assert float(policy.weight_of((0, 2))) == min(r, 1), "the level and x1"
    assert float(policy.weight_of((0, 1))) == min(1 / r, 1), "the level and x0"


def test_a_model_keeps_its_levels_in_its_file(tmp_path):
    frame = people(400)
    fitted = make().fit(frame, SCHEMA, person_epsilon="own")
    fitted.model_.to_json(tmp_path / "model.json")
    read = pds.Model.from_json(tmp_path / "model.json")
    assert read.ledger.levels == (Q(1, 10), Q(1, 2), Q(1)) and read.n == fitted.model_.n
    pd.testing.assert_frame_equal(read.sample(50, 3), fitted.model_.sample(50, 3))
    assert list(read.sample(5).columns) == list(SCHEMA.names)
    assert len(read.sample(20, where={"x0": 1})) == 20
    read.sample_to(tmp_path / "rows.csv", 100, 0)
    assert list(pd.read_csv(tmp_path / "rows.csv").columns) == list(SCHEMA.names)
    folder = pds.datasets.write_release(fitted.model_, tmp_path / "released")
    assert pds.Schema.read(folder / "schema.toml").names == SCHEMA.names
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert "by person: 1/10, 1/2, 1" in card
    assert "measured.csv" not in card and not (folder / "measured.csv").exists()
    for field, value in (
        ("levels", ["1/10", "1/2"]),
        ("levels", ["1", "1/10"]),
        ("records_per_person", 5),
        ("relation", "replace_one"),
    ):
        data = fitted.model_.to_dict()
        data["ledger"][field] = value
        with pytest.raises(SchemaError):
            pds.Model.from_dict(data)


def test_where_no_table_ties_the_levels_a_fit_says_that_a_bias_is_left():
    frame = people(200)
    with pytest.warns(UserWarning, match="counts lean towards those who give more"):
        make("Independent").fit(frame, SCHEMA, person_epsilon="own")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        make("Independent").fit(frame.drop(columns="own"), SCHEMA)
    assert not said


def test_no_condition_asks_for_the_column_of_levels():
    """`marginal` knew no such attribute, and `sample(where=…)` took it."""
    fitted = make("ConsistentBayes").fit(people(200), SCHEMA, person_epsilon="own")
    for ask in (
        lambda: fitted.model_.marginal("person_epsilon"),
        lambda: fitted.sample(5, where={"person_epsilon": 1}),
    ):
        with pytest.raises(SchemaError, match="no attribute 'person_epsilon' in the schema"):
            ask()
    name, label = SCHEMA.names[0], SCHEMA.attributes[0].values[0]
    assert {*fitted.sample(5, where={name: label})[name]} == {label}


def test_the_warning_names_the_line_that_fitted():
    with pytest.warns(UserWarning, match="no table ties the levels") as told:
        make("Independent").fit(people(200), SCHEMA, person_epsilon="own")
    assert {one.filename for one in told} == {__file__}


def test_a_warning_that_is_an_error_loses_no_fit_that_was_charged(capsys):
    account = pds.Session(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = make("Independent").fit(people(200), SCHEMA, person_epsilon="own", session=account)
    assert account.spent == 2 and len(fitted.sample(5)) == 5
    assert "UserWarning: no table ties the levels" in capsys.readouterr().err


def test_coded_records_are_refused_because_they_are_no_whole_records():
    codes = holders.together([people(20).drop(columns="own")], SCHEMA)
    with pytest.raises(BudgetError, match="needs whole records: read the table into a DataFrame"):
        make().fit(codes, person_epsilon=people(20)["own"])


def test_a_rule_that_names_other_values_than_the_table_is_refused_as_such():
    rule = {"x0": {"0": 0.5, "1": 1.0}}
    with pytest.raises(BudgetError, match="rule of person_epsilon must name values as they stand"):
        make().fit(people(20).drop(columns="own"), SCHEMA, person_epsilon=rule)


def test_a_column_of_preferences_that_stands_twice_is_refused_by_name():
    frame = people(20)
    with pytest.raises(SchemaError, match="'own' stands twice or more among the columns"):
        make().fit(pd.concat([frame, frame[["own"]]], axis=1), SCHEMA, person_epsilon="own")


def test_the_ledger_says_what_each_level_loses():
    fitted = make().fit(people(200), SCHEMA, person_epsilon="own")
    ledger = fitted.ledger_
    assert ledger.check() == [] and ledger.finite == 1
    assert ledger.person_epsilon().to_dict() == {0.1: Q(1, 10), 0.5: Q(1, 2), 1.0: Q(1)}
    assert "by person: 1/10, 1/2, 1" in ledger.verdict()
    assert fitted.spent_ == fitted.ledger_.epsilon
    assert make().fit(people(20).drop(columns="own"), SCHEMA).ledger_.person_epsilon().empty


def test_the_schema_of_a_fit_is_that_of_its_tables():
    frame = people(60)
    fitted = make().fit(frame, SCHEMA, person_epsilon="own")
    assert fitted.schema_.names == SCHEMA.names == tuple(fitted.sample(5).columns)
    shown = pds.evaluate.protection(fitted, frame.drop(columns="own")).table
    assert list(shown.index) == list(SCHEMA.names) and shown.notna().all(axis=None)
    assert shown["lost"].to_dict() == {
        name: float(lost)
        for name, lost in fitted.ledger_.attribute_epsilon().items()
        if name in SCHEMA.names
    }


def test_a_session_charges_each_level_its_own():
    session, frame = pds.Session(4), people(60)
    make().fit(frame, SCHEMA, person_epsilon="own", session=session)
    charged = session.to_frame().set_index("people")["epsilon"].to_dict()
    twice = {"1/10": Q(1, 5), "1/2": Q(1), "1": Q(2)}  # a replacement removes one and adds one
    every = "those with ε = {} of 1/10, 1/2, 1"
    assert charged == {every.format(level): cost for level, cost in twice.items()}
    assert session.spent == 2
    make().fit(frame.drop(columns="own"), SCHEMA, session=session)
    assert session.spent == 4 and session.group(every.format("1/10")).spent == Q(11, 5)
    with pytest.raises(BudgetError, match="overdraft"):
        make().fit(frame, SCHEMA, person_epsilon="own", session=session)
    assert len(session.charges) == 4


def test_a_level_that_an_attribute_decides_is_charged_to_all_as_the_dearest():
    """Another record of the same person may have another level: x = 0 goes, x = 1 comes."""
    session, frame = pds.Session(4), people(60).drop(columns="own")
    for name in ("x0", "x1"):
        rule = {value: 1 if value else Q(1, 2) for value in range(SCHEMA[name].size)}
        make().fit(frame, SCHEMA, person_epsilon={name: rule}, session=session)
        assert session.charges[-1].people == ""
    assert session.spent == 4
    for whose in (session, session.group("those with ε = 1/2 of 1/2, 1")):
        with pytest.raises(BudgetError, match="overdraft"):
            whose.reserve("1/100", "more")


def test_levels_that_differ_between_fits_count_for_everybody():
    """Whoever had 1 of (.5, 1) may have .9 of (.4, .9): 2 · 1.9, and 2 · .8 more are refused."""
    session, frame = pds.Session(4), people(60).drop(columns="own")
    for low, high in ((0.5, 1), (0.4, 0.9)):
        own = pd.Series([low, high] * 30, index=frame.index, dtype="category")
        make().fit(frame, SCHEMA, person_epsilon=own, session=session)
    assert session.spent == 2 * (1 + Q(9, 10))
    assert session.group("those with ε = 1/2 of 1/2, 1").spent == 2 * (Q(1, 2) + Q(9, 10))
    assert session.group("clinic").spent == session.spent, "a declared group is no level"
    before = session.charges
    own = pd.Series([0.04, 0.8] * 30, index=frame.index, dtype="category")
    with pytest.raises(BudgetError, match="overdraft"):
        make().fit(frame, SCHEMA, person_epsilon=own, session=session)
    assert session.charges == before, "all levels of a fit are charged, or none"


def test_the_attribute_that_decides_a_level_moves_every_line():
    """A changed value takes all copies out and puts others in: twice ε for the two dearest."""
    frame = people(200).drop(columns="own")
    name = SCHEMA.names[0]
    rule = {name: {v: 0.1 if i else 1 for i, v in enumerate(SCHEMA[name].values)}}
    ledger = make().fit(frame, SCHEMA, person_epsilon=rule).ledger_
    losses = ledger.attribute_epsilon()
    assert losses[name] == 2 * ledger.finite == 2 > max(losses.drop([name, persons.LEVEL]))
    assert set(ledger.value_epsilon(name, list(SCHEMA[name].values)).to_numpy().ravel()) == {0, 2}
    assert Ledger.from_dict(ledger.to_dict()).level_attribute == name
    own = make().fit(people(200), SCHEMA, person_epsilon="own").ledger_
    assert own.level_attribute == "" and "level_attribute" not in own.to_dict()
    level = own.attribute_epsilon()[persons.LEVEL]
    assert level == losses[persons.LEVEL] == 2 > own.attribute_epsilon()[name], "all copies move"


def test_the_card_speaks_of_one_record_and_of_what_add_remove_promises():
    """2.72 against a person who isn't there; 50:50 between two records counts ε twice, 88.1 %."""
    fitted = make().fit(people(200), SCHEMA, person_epsilon="own")
    card = make_card(fitted.model_, title="t", table="synthetic.csv", rows=200).markdown
    assert (
        "Every person with one record, each for the ε that was promised (of 1/10, 1/2, 1)" in card
    )
    assert "for those who were promised the most" in card and " 10 records" not in card
    assert "at most 2.72 times as likely as it would be if that person weren't in the table" in card
    assert "50:50, can guess right in at most 88.1 % of cases" in card
    assert "found out in at most 73.2 % of cases" in card, "whether a person is there"
    assert "to ε = 2 at most (another record in place of this one)" in card
    assert f"{len(SCHEMA)} columns." in card and f"records of {len(SCHEMA)} columns" in card
    assert f" of {comb(len(SCHEMA), 2)}" in card and "person\\_epsilon" not in card


# --- what is refused before ε is spent ------------------------------------------------------------

BAD = {
    "no epsilon": (lambda f: f["own"].astype(float).where(f.index > 0), "1 of 14 persons have no"),
    "zero": (lambda f: f["own"].astype(float) * (f.index > 0), "must be a positive"),
    "infinite": (lambda f: f["own"].astype(float) / (f.index > 0), "must be a positive|finite"),
    "text": (lambda f: pd.Series("much", index=f.index), "finite number"),
    "true": (lambda f: pd.Series(True, index=f.index), "finite number, got True"),
    "long": (
        lambda f: pd.Series(np.sqrt(np.linspace(0.1, 0.9, len(f))), index=f.index),
        "round each ε",
    ),
    "far apart": (lambda f: pd.Series(np.where(f.index > 0, 1, 1e-5), index=f.index), "round each"),
    "index": (lambda f: f["own"].iloc[::-1].reset_index(drop=True).iloc[1:], "another index"),
    "order": (lambda f: f["own"].iloc[::-1], "another index"),
    "nowhere": (lambda f: "nowhere", "no column"),
    "an attribute": (lambda f: "x0", "is an attribute of the schema"),
    "above epsilon": (lambda f: pd.Series(2.0, index=f.index), "the most that anybody may lose"),
    "one above epsilon": (
        lambda f: pd.Series(np.where(f.index > 0, 0.5, 2.0), index=f.index),
        "the most that anybody may lose",
    ),
    "half a rule": (lambda f: {"x1": {0: 1, 1: 1}}, "must name each value"),
    "a strange rule": (lambda f: {"x1": 1}, "one attribute"),
    "an unknown attribute": (lambda f: {"x9": {0: 1}}, "x9"),
    "a number": (lambda f: 0.5, "must be the name of a column"),
}


def test_a_rule_by_numbers_names_the_bins_as_the_refusal_does():
    age = pds.Attribute.numeric("age", 0, 90, bins=3, integer=True)
    schema = pds.Schema((age, pds.Attribute.categorical("x", ["n", "y"])))
    frame = pd.DataFrame({"age": [5, 40, 80] * 20, "x": ["n", "y"] * 30})
    with pytest.raises(BudgetError, match="must name each value of 'age': missing"):
        make("Independent").fit(frame, schema, person_epsilon={"age": {5: 1}})
    levels = dict(zip(age.labels, (1, 0.5, 0.5), strict=True))
    fitted = make("Independent").fit(frame, schema, person_epsilon={"age": levels})
    by_number = make("Independent").fit(
        frame, schema, person_epsilon={"age": {5: 1, 40: 0.5, 80: 0.5}}
    )
    assert fitted.ledger_.levels == by_number.ledger_.levels == (Q(1, 2), Q(1))


def test_a_rule_with_two_epsilons_for_one_bin_is_refused():
    """The later one won without a word: who had 0.1 in the rule lost 1."""
    age = pds.Attribute.numeric("age", 0, 90, bins=3)
    schema, frame = pds.Schema((age, SCHEMA["x0"])), pd.DataFrame({"age": [5, 50], "x0": [0, 1]})
    method = pds.ConsistentBayes(1, relation="add_remove")
    rule = {0: 0.1, 5: 1, 50: 0.5, 80: 1}
    with pytest.raises(BudgetError, match=r"stand as one in 'age' .*: \[0\] and another"):
        method.fit(frame, schema, person_epsilon={"age": rule})
    assert method.fit(frame, schema, person_epsilon={"age": rule | {0: 1}}).ledger_.levels


def test_remedies_for_one_level_and_for_a_network_of_one_s_own_work():
    frame = people(30)
    alike = pd.Series(0.5, index=frame.index, dtype="category")
    with pytest.raises(BudgetError, match="everybody has ε = 1/2"):
        make().fit(frame.drop(columns="own"), SCHEMA, person_epsilon=alike)
    alone = pds.Network(tuple((name, ()) for name in SCHEMA.names))
    tied = pds.Network(((persons.LEVEL, ()), *((x, (persons.LEVEL,)) for x in SCHEMA.names)))
    made = pds.Synthesizer(1, structure=alone, relation="add_remove")
    with pytest.raises(BudgetError, match="put .'person_epsilon', ...."):
        made.fit(frame, SCHEMA, person_epsilon="own")
    made = pds.Synthesizer(1, structure=tied, relation="add_remove")
    ledger = made.fit(frame, SCHEMA, person_epsilon="own").ledger_
    assert "Pairs kept: 0 of 3" in str(ledger), "tied by the level alone"
    assert "independent" not in str(ledger) + ledger.pairs_kept(False)


def test_a_report_doesn_t_stand_single_columns_of_another_promise_beside_levels():
    frame = people(300)
    fitted = make("Independent").fit(frame, SCHEMA, person_epsilon="own")
    real = frame.drop(columns="own")
    page = pds.evaluate.report(real, fitted.sample(), SCHEMA, epsilon=1, ledger=fitted.ledger_)
    assert "Each person has an ε of their own" in str(page)
    assert not page.distances["table"].str.contains("simulated").any()


def test_nobody_is_a_neighbour_of_one_person():
    frame, rule = people(1).drop(columns="own"), {"x1": {0: 1, 1: 0.2, 2: "1/3"}}
    found = audit.replay(make(), frame, frame.iloc[1:], SCHEMA, walks=2, person_epsilon=rule)
    assert found.ok and found.log_ratio > 0


def test_levels_that_merely_occur_are_no_offer():
    """They told whether the one person with a level of her own was in the table."""
    frame = people()
    for plain in (frame["own"].astype(float), frame["own"].astype(str)):
        with pytest.raises(BudgetError, match=r"column\.astype\(pd\.CategoricalDtype\("):
            make().fit(frame.drop(columns="own"), SCHEMA, person_epsilon=plain)
        listed = plain.astype(pd.CategoricalDtype([*map(plain.dtype.type, LEVELS)]))
        make().fit(frame.drop(columns="own"), SCHEMA, person_epsilon=listed)
    offered = pd.Categorical(frame["own"].astype(float), categories=[0.01, *LEVELS])
    fitted = make().fit(frame.assign(own=offered), SCHEMA, person_epsilon="own")
    assert fitted.ledger_.levels[0] == Q(1, 100), "also where nobody chose it"


@pytest.mark.parametrize("name", BAD)
def test_bad_preferences_get_a_sentence(name):
    frame, synthesizer = people(), make()
    bad, words = BAD[name]
    given = bad(frame)
    if isinstance(given, pd.Series):
        given = given.astype("category")
    with pytest.raises((BudgetError, SchemaError), match=words):
        synthesizer.fit(frame.drop(columns="own"), SCHEMA, person_epsilon=given)
    assert synthesizer.spent_ == 0 and synthesizer.unfinished_ == ()


@pytest.mark.parametrize(
    "synthesizer",
    [
        pds.ConsistentBayes(1),
        pds.PrivBayes(1),
        pds.ConsistentBayes(1, relation="add_remove", records_per_person=2),
        pds.baselines.Independent(1, guarantee="published", relation="add_remove"),
    ],
)
def test_only_what_may_protect_membership_takes_preferences(synthesizer):
    frame = people()
    with pytest.raises(BudgetError, match="relation='add_remove' and one record"):
        synthesizer.fit(frame, SCHEMA, person_epsilon="own")


def test_with_delta_nobody_has_an_epsilon_of_her_own():
    synthesizer = make(delta=1e-9)
    with pytest.raises(BudgetError, match="leave delta out"):
        synthesizer.fit(people(), SCHEMA, person_epsilon="own")
    assert synthesizer.spent_ == 0


def test_a_rule_by_value_takes_an_empty_cell_by_the_name_that_refusals_give_it():
    sex = pds.Attribute.categorical("sex", ["F", "M"], missing=True)
    schema = pds.Schema((sex, pds.Attribute.categorical("x", [0, 1])))
    frame = pd.DataFrame({"sex": ["F", "M", None, "F"] * 50, "x": [0, 1] * 100})
    synth = pds.baselines.Independent(1, relation="add_remove")
    with pytest.raises(BudgetError, match=r"missing \['\(missing\)'\]"):
        synth.fit(frame, schema, person_epsilon={"sex": {"F": 0.5, "M": 1}})
    for empty in ("(missing)", None):
        own = {"sex": {"F": 0.5, "M": 1, empty: 0.1}}
        fitted = synth.fit(frame, schema, person_epsilon=own)
        assert len(fitted.ledger_.person_epsilon()) == 3


def test_groups_of_the_schema_hold_for_persons_too():
    """Group A's column has a third of the ε of the others'."""
    names = [f"x{j}" for j in range(4)]
    columns = tuple(pds.Attribute.categorical(x, range(3)) for x in names)
    groups = dict.fromkeys(names, "B") | {"x0": "A"}
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (400, 4)), columns=names)
    own = pd.Series(pd.Categorical(rng.choice(LEVELS, 400), categories=LEVELS))
    fitted = make(rounds=0).fit(frame, pds.Schema(columns, groups=groups), person_epsilon=own)
    columns = [e for e in fitted.ledger_.entries if e.source == "one-way table"]
    cost = {e.attributes[0]: e.epsilon for e in reversed(columns)}
    assert float(cost["x1"] / cost["x0"]) == pytest.approx(3, rel=1e-2)


def test_whoever_may_change_a_level_may_lose_all():
    """All copies of a record go with its level, so every line depends on it."""
    fitted = make("Independent").fit(people(200), SCHEMA, person_epsilon="own")
    assert fitted.ledger_.attribute_epsilon([persons.LEVEL]).item() == 2

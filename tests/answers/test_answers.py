"""What a model answers: against brute force, samples and the records themselves."""

import itertools
import json
import warnings

import contract_cases
import numpy as np
import pandas as pd
import pytest
from privacy_tools import as_measured
from scipy import stats

import pdsynth as pds
from pdsynth import Attribute, Model, Schema, SchemaError
from pdsynth.answers import count_held, measured_cells
from pdsynth.answers.bootstrap import play, rebuild
from pdsynth.core.records import Records
from pdsynth.persons import LEVEL

SCHEMA = Schema(
    (
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.categorical("job", list("abcde")),
        Attribute.numeric("age", 0, 100, bins=4),
        Attribute.categorical("ill", ["no", "yes"], missing=True),
    )
)


def table(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    job = rng.choice(5, n, p=[0.5, 0.2, 0.2, 0.05, 0.05])
    sex, age = (rng.random(n) < 0.3 + 0.1 * job).astype(int), rng.random(n) * 60 + 8 * job
    ill = np.array(["no", "yes", None], dtype=object)[rng.choice(3, n, p=[0.7, 0.2, 0.1])]
    return pd.DataFrame(
        {"sex": np.array(["f", "m"])[sex], "job": np.array(list("abcde"))[job], "age": age}
    ).assign(ill=ill)


@pytest.fixture(scope="module")
def fitted():
    """Of rounds: one table of all 120 cells would tell everything."""
    return pds.ConsistentBayes(4.0, rounds=8, random_state=3).fit(table(), SCHEMA).model_


def enumerate_all(model):
    """P of every combination, by the chain rule over the network."""
    p = {}
    index = {a.name: range(a.size) for a in model.schema.attributes}
    for cell in itertools.product(*index.values()):
        at, found = dict(zip(index, cell, strict=True)), 1.0
        for child, parents in model.network.pairs:
            key = 0
            for x in parents:
                key = key * model.schema[x].size + at[x]
            found *= model.conditionals[child][at[child], key]
        p[cell] = found
    return np.array(list(p.values())).reshape(model.schema.sizes)


@pytest.mark.parametrize("made", [pds.ConsistentBayes(4.0), pds.PrivBayes(4.0, k=2)])
def test_marginals_of_every_set_are_those_of_the_whole_distribution(made):
    model = made.set_params(random_state=3).fit(table(), SCHEMA).model_
    whole, names = enumerate_all(model), list(SCHEMA.names)
    for size in (1, 2, 3):
        for asked in itertools.permutations(names, size):
            found = model.marginal(list(asked))
            axes = [names.index(x) for x in asked]
            rest = tuple(a for a in range(4) if a not in axes)
            true = np.transpose(whole.sum(axis=rest), np.argsort(np.argsort(axes)))
            assert found.to_numpy() == pytest.approx(model.n * true.ravel(), abs=1e-6)
            assert list(found.index.names) == list(asked) and found.attrs["exact"]
    assert found.loc[("f", "a", "0–25") if asked[:2] == ("sex", "job") else found.index[0]] >= 0


@pytest.mark.parametrize("name", ["HMPrivBayes", "PriView", "PrivABN", "PPBA"])
def test_bits_and_sparse_tables_answer_as_their_samples_do(name):
    case = contract_cases.CASES[name]
    made = case.cls(4.0, random_state=3, **case.own(SCHEMA))
    model = made.fit(table(), SCHEMA).model_
    codes = model.sample_codes(300_000, np.random.default_rng(1))
    for asked in (["job"], ["age", "ill"], ["sex", "job", "ill"]):
        columns = [codes[:, SCHEMA.index(x)].astype(int) for x in asked]
        shape = [SCHEMA[x].size for x in asked]
        drawn = np.bincount(np.ravel_multi_index(columns, shape), minlength=int(np.prod(shape)))
        found = model.marginal(asked).to_numpy() / model.n
        assert np.abs(found - drawn / len(codes)).max() < 0.006, asked


@pytest.mark.parametrize("name", list(contract_cases.CASES))
def test_every_synthesizer_s_measured_tables_hold_the_truth(name):
    """What is kept is raw noise around the true counts: pooled over fits, nine in ten are held."""
    case, frame, held, total = contract_cases.CASES[name], table(), 0, 0
    codes = SCHEMA.encode(frame)
    records = Records(codes, SCHEMA)
    for seed in range(12):
        made = as_measured(case.cls(2.0, random_state=seed, **case.own(SCHEMA)))
        model = made.fit(records).model_
        one = count_held(model, codes, 0.9)
        held, total = held + one[0], total + one[1]
    if name == "PriView":
        assert total == 0  # it keeps views that agree, and not what was measured
    else:
        assert total > 0 and 0.84 < held / total < 0.97, (held, total)


def test_twin_half_the_noise_is_seen(fitted):
    """Intervals of an ε that is twice as large hold too few."""
    codes = SCHEMA.encode(table())
    assert count_held(fitted, codes, 0.9)[0] / count_held(fitted, codes, 0.9)[1] > 0.8
    narrow = count_held(fitted, codes, 0.6)
    assert narrow[0] / narrow[1] < 0.8


def test_a_measured_interval_stands_around_the_measured_count(fitted):
    found = fitted.marginal("job", interval=0.9)
    assert (found["kind"] == "noise").all()
    cells = measured_cells(fitted)
    alone = cells[cells["attributes"] == "job"]
    tables = [set(part["measured"]) for _, part in alone.groupby("line")]
    assert set(found["measured"]) in tables or len(fitted.measured) > len(tables)
    assert ((found["low"] <= found["measured"]) & (found["measured"] <= found["high"])).all()
    assert "measured count of line s" in found.attrs["said"]


def test_the_interval_of_a_sum_of_cells_holds_the_noise_of_all_of_them():
    """job stands in one table of 2 × 5 × 4 cells, so each of its counts has the noise of eight."""
    model = pds.PrivBayes(1.0, k=2, random_state=3).fit(table(), SCHEMA).model_
    (measured,) = (m for m in model.measured if "job" in m.attributes)
    (line,) = (e for e in model.ledger.entries if e.id == measured.entry)
    assert line.mechanism == "discrete_laplace" and measured.table.size == 8 * 5
    law = np.exp(-np.abs(np.arange(-300, 301)) / float(line.scale))
    summed = np.ones(1)
    for _ in range(8):
        summed = np.convolve(summed, law / law.sum())
    middle = len(summed) // 2
    t = next(t for t in range(200) if summed[middle - t : middle + t + 1].sum() >= 0.9)
    found = model.marginal(["job"], interval=0.9)
    assert (found["high"] - found["low"]).tolist() == [2 * t] * 5


@pytest.mark.parametrize("repeats", [1, 2, 3, 20])
def test_few_repeats_have_the_quantile_of_student_s_t(fitted, repeats):
    """A series in 1/repeats said 16 where t of one degree of freedom is 64, at 99 %."""
    weights, half = {"job": [0, 1, 2, 3, 4]}, []
    for level in (0.5, 0.9, 0.99):
        found = fitted.expectation(weights, interval=level, repeats=repeats, random_state=1)
        half.append((found.high - found.low) / 2)
    t = stats.t.ppf([0.75, 0.95, 0.995], repeats)
    assert np.divide(half, half[0]) == pytest.approx(t / t[0])


def test_what_wasn_t_measured_says_what_it_leaves_out(fitted):
    asked = ["sex", "job", "age", "ill"]
    found = fitted.marginal(asked, interval=0.8, repeats=3, random_state=1)
    assert (found["kind"] == "bootstrap").all() and found["measured"].isna().all()
    assert "not the model's own error" in found.attrs["said"]
    assert (found["low"] <= found["count"]).all() and (found["high"] >= found["count"]).all()
    again = fitted.marginal(asked, interval=0.8, repeats=3, random_state=1)
    pd.testing.assert_frame_equal(found, again)


def test_a_model_read_back_answers_the_same(fitted, tmp_path):
    fitted.to_json(tmp_path / "m.json", allow_reproducible=True)
    back = Model.from_json(tmp_path / "m.json")
    for asked in (["sex"], ["sex", "job", "age", "ill"]):
        first, second = (
            m.marginal(asked, interval=0.9, repeats=2, random_state=5) for m in (fitted, back)
        )
        pd.testing.assert_frame_equal(first, second)
    pd.testing.assert_frame_equal(measured_cells(fitted), measured_cells(back))


@pytest.mark.parametrize("name", list(contract_cases.CASES))
def test_every_synthesizer_is_built_again_from_a_file(name):
    case = contract_cases.CASES[name]
    made = case.cls(2.0, random_state=1, **case.own(SCHEMA))
    model = made.fit(table(), SCHEMA).model_
    back = Model.from_dict(json.loads(json.dumps(model.to_dict())))
    plain = {k: str(v) for k, v in made.get_params().items() if k != "random_state"}
    again = {k: str(v) for k, v in rebuild(back).get_params().items() if k != "random_state"}
    assert again == plain
    found = back.marginal(["sex", "job", "age"], interval=0.9, repeats=2, random_state=1)
    assert found[["low", "high"]].notna().all().all()


@pytest.mark.parametrize("levels", [False, True])
def test_a_network_of_one_s_own_is_read_back(levels):
    """Its picture stood in the file, and there was no bootstrap."""
    front, given = ((LEVEL,), {"sex": {"f": 0.5, "m": 1.0}}) if levels else ((), None)
    pairs = [(LEVEL, ())] * levels + [("sex", front), *((x, ("sex",)) for x in SCHEMA.names[1:])]
    relation = "add_remove" if levels else "replace_one"
    made = pds.Synthesizer(1, structure=pds.Network(pairs), relation=relation, random_state=1)
    model = made.fit(table(), SCHEMA, person_epsilon=given).model_
    data = json.loads(json.dumps(model.to_dict()))
    files = [data, data | {"parameters": {**data["parameters"], "structure": str(model.network)}}]
    asked = {"interval": 0.9, "repeats": 2, "random_state": 1}
    for one in files[: 1 if levels else 2]:  # the second is an older file
        back = Model.from_dict(one).marginal(["job", "ill"], **asked)
        pd.testing.assert_frame_equal(back, model.marginal(["job", "ill"], **asked))


HOSTILE = ["-'x'", "1/0", "{[]: 1}", "1/None", "Network(1)", "Agree(foo=1)", "Fraction(1, 0)"]


@pytest.mark.parametrize("text", [*HOSTILE, "Fraction('1e99999999')", "[" * 5000])
def test_steps_of_a_stranger_s_file_are_refused_in_a_sentence(fitted, text):
    """Of the last fraction Python would make a number of a hundred million digits."""
    data = json.loads(json.dumps(fitted.to_dict())) | {"parameters": {"epsilon": text}}
    with pytest.raises((SchemaError, pds.BudgetError)):
        Model.from_dict(data).marginal(["sex", "job", "age", "ill"], interval=0.9, repeats=2)


@pytest.mark.parametrize("name", ["2019", "[1]", "True", "1/2", "x"])
@pytest.mark.parametrize("method", [pds.HPPrivBayes, pds.ConsistentBayes])
def test_an_attribute_may_be_called_like_a_number_or_a_list(method, name):
    """It was read as one, and there was no bootstrap."""
    schema = Schema(tuple(Attribute.categorical(x, ["a", "b"]) for x in (name, "y", "z")))
    rows = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(np.uint8)
    model = method(sensitive=name, random_state=1).fit(Records(rows, schema)).model_
    for each in (model, Model.from_dict(json.loads(json.dumps(model.to_dict())))):
        assert rebuild(each).sensitive == name
        assert len(play(each, 1, 0)) == 1


def test_persons_with_their_own_epsilon_have_bootstraps():
    made = pds.ConsistentBayes(1.0, relation="add_remove", random_state=2)
    rule = {"sex": {"f": 0.5, "m": 1.0}}
    model = made.fit(table(), SCHEMA, person_epsilon=rule).model_
    found = model.marginal(["job"], interval=0.9, repeats=2, random_state=1)
    assert model.measured == () and (found["kind"] == "bootstrap").all()
    with pytest.raises(SchemaError, match="person_epsilon"):
        model.marginal("person_epsilon")


def test_a_bootstrap_offers_the_levels_that_were_offered():
    """Drawn tables often have nobody at the level of three persons in 600."""
    frame = table(600)
    own = pd.Series(pd.Categorical([1.0] * 3 + [0.5] * 597, categories=[0.05, 0.5, 1.0]))
    made = pds.baselines.Independent(1, relation="add_remove", random_state=1)
    model = made.fit(frame, SCHEMA, person_epsilon=own).model_
    found = model.marginal("job", interval=0.9, repeats=8, random_state=1)
    assert found[["low", "high"]].notna().all().all()


@pytest.mark.parametrize(
    ("relation", "own"), [("replace_one", None), ("add_remove", None), ("add_remove", [0.5, 2.0])]
)
def test_a_bootstrap_has_the_epsilon_that_private_edges_left(relation, own):
    """Refits take the edges as given; with all of ε their tables had too little noise."""
    ages = [Attribute.numeric(x, 0, 99, bins="private", number=4, integer=True) for x in "abcde"]
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 99, (300, 5)), columns=list("abcde"))
    given = None if own is None else pd.Series(pd.Categorical(own * 150, categories=own))
    fitted = pds.baselines.Independent(2, relation=relation).fit(
        frame, Schema(tuple(ages)), person_epsilon=given
    )

    def costs(model):
        paid = (e for e in model.ledger.entries if e.epsilon and "edges" not in e.step)
        return {e.step: e.epsilon for e in paid}

    ((_, again),) = play(fitted.model_, 1, 0)
    assert costs(again) == costs(fitted.model_)


def test_a_bootstrap_of_what_was_never_measured_together_says_so():
    model = pds.baselines.Independent(1, random_state=1).fit(table(), SCHEMA).model_
    with pytest.warns(UserWarning, match="sex and job stand in no released table together"):
        model.marginal(["sex", "job"], interval=0.9, repeats=2, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.marginal("sex", interval=0.9)
        model.marginal(["sex", "job"])


def test_where_the_number_of_records_is_secret_a_bootstrap_holds_its_noise():
    """Everybody counted: an interval without n's noise would be a point."""
    made = pds.baselines.Independent(1, relation="add_remove", random_state=1)
    own = pd.Series(pd.Categorical([0.25, 1.0] * 1000))
    weighted = made.clone().fit(table(), SCHEMA, person_epsilon=own).model_
    with pytest.warns(UserWarning, match="persons' own ε and sex stand in no released table"):
        everybody = weighted.expectation({"sex": [1, 1]}, interval=0.95, random_state=1)
    spread = everybody["high"] - everybody["low"]
    assert everybody["kind"] == "bootstrap" and 5 < spread < 400
    held = 0
    for seed in range(15):
        model = made.clone().set_params(random_state=seed).fit(table(), SCHEMA).model_
        asked = model.expectation({"age": [10, 10, 10, 10]}, interval=0.95, random_state=1)
        assert asked["kind"] == "bootstrap"
        held += asked["low"] <= 10 * len(table()) <= asked["high"]
    assert held >= 12


@pytest.mark.parametrize("options", [{}, {"delta": 1e-9}])
def test_a_secret_number_has_the_interval_of_all_that_told_it(options):
    """One table's sum was 3.2 times as wide as the number's error; and didn't stand around it."""
    frame, held, wide, off = table(200), [], [], []
    for seed in range(60):
        made = pds.ConsistentBayes(1, relation="add_remove", random_state=seed, **options)
        model = made.fit(frame, SCHEMA).model_
        found = model.expectation({"sex": [1, 1]}, interval=0.9)
        assert (found["kind"], found["value"]) == ("noise", pytest.approx(found["measured"]))
        assert "all tables together" in found.attrs["said"]
        held.append(found["low"] <= len(frame) <= found["high"])
        wide.append((found["high"] - found["low"]) / 2)
        off.append(abs(found["value"] - len(frame)))
    assert 0.8 < np.mean(held) and np.mean(wide) < 1.35 * np.quantile(off, 0.9)
    part = model.expectation({"sex": {"f": 1}}, interval=0.9)
    assert "together" not in part.attrs["said"]


def test_middles_say_what_lies_within_their_bins(fitted):
    by_age = fitted.marginal("age").to_numpy()
    with pytest.warns(UserWarning, match="middle of its bin") as said:
        fitted.expectation({"age": "middle"}, interval=0.9, repeats=2, random_state=1)
    assert f"up to {12.5 * by_age.sum():.3g} more" in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.expectation({"age": "middle"})
        fitted.expectation({"age": [1, 2, 3, 4]}, interval=0.9, repeats=2, random_state=1)


def test_bits_of_one_column_that_stand_apart_are_told():
    """No table of this network holds all bits of a job, so its counts are the model's guess."""
    model = pds.PrivABN(1.0, random_state=1).fit(table(400), SCHEMA).model_
    families = [{child, *parents} for child, parents in model.network.pairs]
    bits = [name for name in model.network.order if name.startswith("job:")]
    assert len(bits) == 3 and not any({*bits} <= family for family in families)
    with pytest.warns(UserWarning, match="job:[123] and job:[123] stand in no released table"):
        model.marginal("job", interval=0.9, repeats=2, random_state=1)


def test_linear_queries_by_hand(fitted):
    by_sex = fitted.marginal("sex")
    assert fitted.expectation({"sex": {"f": 1}}) == pytest.approx(by_sex["f"])
    assert fitted.expectation({"sex": [1, 1]}) == pytest.approx(fitted.n)
    ages = fitted.marginal(["sex", "age"])["f"].to_numpy() @ [12.5, 37.5, 62.5, 87.5]
    assert fitted.expectation({"sex": {"f": 1}, "age": "middle"}) == pytest.approx(ages)
    held = fitted.expectation({"job": {"a": 1, "b": 1}}, interval=0.9)
    assert held["kind"] == "noise" and held["low"] <= held["measured"] <= held["high"]
    mean = fitted.expectation({"age": "middle"}, interval=0.9, repeats=2, random_state=1)
    assert mean["kind"] == "bootstrap" and mean["low"] < mean["value"] < mean["high"]
    assert np.isnan(mean["measured"])


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda m: m.marginal("height"), "no attribute 'height'"),
        (lambda m: m.marginal(["sex", "sex"]), "each once"),
        (lambda m: m.marginal([]), "each once"),
        (lambda m: m.marginal("sex", interval=1), r"between 0 and 1.*got 1"),
        (lambda m: m.marginal("sex", interval=True), "between 0 and 1"),
        (lambda m: m.marginal("sex", interval=0.9, repeats=0), "repeats must be"),
        (lambda m: m.expectation({}), "at least one attribute"),
        (lambda m: m.expectation({"sex": {"x": 1}}), "no value 'x'"),
        (lambda m: m.expectation({"sex": "middle"}), "no bins"),
        (lambda m: m.expectation({"sex": [1]}), "2 numbers"),
        (lambda m: m.expectation({"sex": {"f": float("nan")}}), "finite number"),
    ],
)
def test_mistakes_get_a_sentence(fitted, ask, words):
    with pytest.raises(SchemaError, match=words):
        ask(fitted)


@pytest.mark.parametrize(
    "change",
    [
        {"line": "s99"},
        {"counts": [1]},
        {"attributes": ["sex", "job"]},
        {"merged": {"sex": [0, 7]}},
        {"counts": ["x"] * 2},
    ],
)
def test_a_file_whose_measured_tables_are_made_up_is_refused(fitted, change):
    data = json.loads(json.dumps(fitted.to_dict()))
    own = next(m for m in data["measured"] if m["attributes"] == ["sex"])
    own |= change
    with pytest.raises(SchemaError):
        Model.from_dict(data)


def test_a_model_without_measured_tables_has_bootstraps(fitted):
    data = json.loads(json.dumps(fitted.to_dict()))
    del data["measured"]
    found = Model.from_dict(data).marginal("sex", interval=0.9, repeats=2)
    assert (found["kind"] == "bootstrap").all()


@pytest.mark.parametrize("what", ["keep", "refuse"])
def test_no_interval_says_that_kept_records_are_none(what):
    """The records may hold what a rule forbids; where they are refused, 0 is known."""
    rule = pds.Rule.impossible({"sex": ["f"], "job": ["a"]}, on_violation=what)
    schema, frame = Schema(SCHEMA.attributes, rules=[rule]), table(300)
    if what == "refuse":
        frame = frame[(frame["sex"] != "f") | (frame["job"] != "a")]
    model = pds.baselines.Independent(1, random_state=1).fit(frame, schema).model_
    ask = {"repeats": 2, "random_state": 1, "interval": 0.9}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = model.marginal(["sex", "job"], **ask)[["low", "high"]]
        one = model.expectation({"sex": {"f": 1}, "job": {"a": 1}}, **ask)[["low", "high"]]
        some = model.expectation({"sex": {"f": 1}, "job": {"a": 1, "b": 1}}, **ask)
        model.expectation({"sex": {"m": 1}, "job": {"a": 1}}, **ask)
    told = [x for x in said if "no bootstrap says how many" in str(x.message)]
    assert len(told) == (3 if what == "keep" else 0) and some[["low", "high"]].notna().all()
    assert found.isna().all(axis=1).sum() == (what == "keep")
    if what == "keep":
        assert found.loc[("f", "a")].isna().all() and one.isna().all()
    else:
        assert (found.loc[("f", "a")] == 0).all() and (one == 0).all()


def test_rules_between_columns_are_kept_exactly():
    rule = pds.Rule.impossible({"sex": ["f"], "job": ["a"]}, on_violation="keep")
    schema = Schema(SCHEMA.attributes, rules=[rule])
    model = pds.ConsistentBayes(4.0, random_state=3).fit(table(), schema).model_
    found = model.marginal(["sex", "job"])
    assert found[("f", "a")] == pytest.approx(0, abs=1e-6) and found.sum() == pytest.approx(2000)
    codes = model.sample_codes(200_000, np.random.default_rng(1))
    drawn = np.bincount(codes[:, 0].astype(int) * 5 + codes[:, 1], minlength=10) / 200_000
    assert np.abs(found.to_numpy() / 2000 - drawn).max() < 0.006


def test_what_is_public_has_no_interval():
    """A sum of all cells is n, and a refused cell is 0; "at least 90% of all fits" stood there."""
    schema = pds.Schema(
        (pds.Attribute.categorical("x", [0, 1]), pds.Attribute.categorical("y", ["a", "b"])),
        rules=[pds.Rule.impossible({"x": [0], "y": ["a"]})],
    )
    frame = pd.DataFrame({"x": [0, 1, 1] * 100, "y": ["b", "a", "b"] * 100})
    model = pds.baselines.Independent(1, random_state=0).fit(frame, schema).model_
    for weights, value in (
        ({"y": {"a": 1, "b": 1}}, 300),
        ({"x": [2, 2], "y": [1, 1]}, 600),
        ({"x": {0: 1}, "y": {"a": 1}}, 0),
        ({"y": {"a": 0}}, 0),
    ):
        found = model.expectation(weights, interval=0.9)
        assert found["low"] == found["high"] == found["value"] == pytest.approx(value)
        assert found["kind"] == "exact" and found.attrs["said"].startswith("exact: it follows")
        assert "fits" not in found.attrs["said"]
    table = model.marginal(["x", "y"], interval=0.9, repeats=2)
    assert table["kind"].tolist() == ["exact", *["bootstrap"] * 3]
    assert table.loc[("0", "a"), ["count", "low", "high"]].tolist() == [0, 0, 0]
    assert model.expectation({"x": {0: 1}}, interval=0.9)["kind"] == "noise"


def test_a_noisy_number_of_records_is_not_public():
    frame = pd.DataFrame({"x": [0, 1] * 50, "y": ["a", "b"] * 50})
    schema = pds.Schema(
        (pds.Attribute.categorical("x", [0, 1]), pds.Attribute.categorical("y", ["a", "b"]))
    )
    one = pds.baselines.Independent(1, random_state=0, relation="add_remove").fit(frame, schema)
    found = one.model_.expectation({"y": {"a": 1, "b": 1}}, interval=0.9)
    assert found["kind"] == "noise" and found["low"] < found["high"]

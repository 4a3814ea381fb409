"""Grids of experiments: the same rows in any order, with any number of processes, after any
interruption."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pdsynth import Attribute, BudgetError, Network, PrivBayes, Schema, SchemaError
from pdsynth.baselines.priview import PriView
from pdsynth.core import errors as progress
from pdsynth.core.errors import BudgetDegenerate
from pdsynth.evaluation.compare import COLUMNS, compare
from pdsynth.evaluation.disclosure import leak_probability
from pdsynth.evaluation.marginals import Marginals, attribute_sets
from pdsynth.evaluation.queries import query_errors, sum_mutual_information

SCHEMA = Schema(tuple(Attribute.categorical(n, ["x", "y"]) for n in "abc"))
CODES = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(np.uint8)
DATA = SimpleNamespace(
    frame=SCHEMA.decode(CODES), schema=SCHEMA, target="c", name="tiny", split=None
)
MEASURES = ("sum_mi", "avd2", "svm_linear")


class Flip:
    """A synthesizer that flips each code with a probability; ε below ``floor`` is refused."""

    fits = 0
    guarantee = "strict"

    def __init__(self, epsilon=1.0, share=0.2, floor=0.0, random_state=None):
        self.epsilon, self.share, self.floor, self.random_state = (
            epsilon,
            share,
            floor,
            random_state,
        )

    def get_params(self, deep=True):
        return {
            "epsilon": self.epsilon,
            "share": self.share,
            "floor": self.floor,
            "random_state": self.random_state,
        }

    def set_params(self, **params):
        self.__dict__.update(params)
        return self

    takes_records = True

    def fit(self, records):
        Flip.fits += 1
        if self.epsilon < self.floor:
            raise BudgetDegenerate("d - k - l = 0\nlower k")
        self.codes, self.schema = records.codes, records.schema
        self.network_ = Network((("a", ()), ("b", ("a",)), ("c", ("b",))))
        return self

    def sample(self, n):
        flips = (
            np.random.default_rng(self.random_state).random(self.codes.shape)
            < self.share / self.epsilon
        )
        return self.schema.decode((self.codes ^ flips)[:n])


def run(synthesizers=None, epsilons=(0.5, 1.0), repeats=2, measures=MEASURES, **options):
    options.setdefault("jobs", 1)
    return compare(synthesizers or {"flip": Flip()}, DATA, epsilons, repeats, measures, **options)


def results(frame):
    return frame.drop(columns="seconds").reset_index(drop=True)


def test_one_row_a_measure_with_everything_in_it():
    frame = run()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 1 * 2 * 2 * 3
    assert frame["value"].notna().all()
    assert frame[frame["measure"] == "svm_linear"]["note"].str.contains("majority").all()
    assert (
        frame.groupby(["epsilon", "repeat"])["seed"].nunique().eq(2).all()
    )  # whole table, training rows


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_what_a_fit_warns_of_ends_no_grid():
    """Grids go on purpose where ε bears little; each trial would say so in words of its own."""
    rows = compare([PrivBayes(k=2)], DATA, [0.1], 3, ("avd2",), jobs=1)
    assert rows["value"].notna().all() and len(rows) == 3
    with pytest.raises(UserWarning, match="under noise of scale"):
        PrivBayes(0.1, k=2).fit(DATA.frame, SCHEMA)


def test_order_and_processes_change_nothing():
    frame = run()
    turned = run(epsilons=(1.0, 0.5)).sort_values(["epsilon", "repeat"], kind="stable")
    pd.testing.assert_frame_equal(results(frame), results(turned))
    pd.testing.assert_frame_equal(results(frame), results(run(jobs=2)))
    assert run(seed=1)["value"].tolist() != frame["value"].tolist()


def test_resumes_without_running_anything_twice(tmp_path):
    path = tmp_path / "deep" / "grid.csv"
    fresh = run()
    run(epsilons=(0.5,), resume=path)
    before = Flip.fits
    frame = run(resume=path)
    assert (
        Flip.fits - before == 4
    )  # only ε = 1: two repeats, on the whole table and on the training rows
    pd.testing.assert_frame_equal(results(frame), results(fresh))
    again = run(resume=path, synthesizers={"renamed": Flip()})
    assert Flip.fits - before == 4
    assert set(again["method"]) == {"renamed"}
    run(resume=path, synthesizers=[Flip(share=0.3)])
    assert Flip.fits - before == 12


def test_a_line_cut_by_an_interruption_is_run_again(tmp_path):
    path = tmp_path / "grid.csv"
    fresh = run(resume=path)
    whole = path.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 30, len(whole) // 2, 20, 0):
        path.write_bytes(whole[:cut])
        pd.testing.assert_frame_equal(results(run(resume=path)), results(fresh))
        assert (
            sorted(line.count(b",") > 0 for line in path.read_bytes().splitlines()) == [True] * 13
        )
        assert len(pd.read_csv(path)) == 12


def test_a_cut_after_windows_ends_of_lines_or_in_a_sign_s_midst_loses_no_other_line(tmp_path):
    path = tmp_path / "grid.csv"
    fresh = run(resume=path)
    whole = path.read_bytes()
    for content in (whole[:-30].replace(b"\n", b"\r\n", 1), whole[:-30] + "ε".encode()[:1]):
        path.write_bytes(content)
        pd.testing.assert_frame_equal(results(run(resume=path)), results(fresh))
        assert len(pd.read_csv(path)) == 12
    path.write_bytes(whole.replace(b"0.5", b"half", 1))
    with pytest.raises(SchemaError, match="isn't as compare writes it: could not convert"):
        run(resume=path)


def test_what_was_finished_is_on_disk_when_a_run_is_stopped(tmp_path, monkeypatch):
    path, honest = tmp_path / "grid.csv", Flip.fit

    def stop(self, records):
        if self.epsilon == 1.0:
            raise KeyboardInterrupt
        return honest(self, records)

    with monkeypatch.context() as patch:
        patch.setattr(Flip, "fit", stop)
        with pytest.raises(KeyboardInterrupt):
            run(resume=path)
    kept = pd.read_csv(path)
    assert len(kept) >= 2  # both measures of the first fit
    assert set(kept["epsilon"]) == {0.5}
    pd.testing.assert_frame_equal(results(run(resume=path)), results(run()))


def test_a_degenerate_budget_is_a_row_and_not_the_end(tmp_path):
    frame = run({"flip": Flip(floor=0.8)}, resume=tmp_path / "grid.csv")
    gone = frame["epsilon"] == 0.5
    assert frame["value"].isna().equals(gone)
    assert frame[gone]["note"].str.startswith("BudgetDegenerate: d - k - l = 0 lower k").all()
    pd.testing.assert_frame_equal(
        frame, run({"flip": Flip(floor=0.8)}, resume=tmp_path / "grid.csv")
    )


@pytest.mark.parametrize(
    "measures",
    [("avd9",), ("auc",), ("avd",), ("l3_2",), ("avd9_2",), ("avd2_0",), ("leak_other",)],
)
def test_unknown_measures_are_refused_before_any_fit(measures):
    before = Flip.fits
    with pytest.raises(SchemaError):
        run(measures=measures)
    assert Flip.fits == before


def test_a_sample_of_sets_is_the_same_in_every_run_and_processor_time_is_a_measure():
    measures = ("avd2", "avd2_1", "avd2_99", "l1_2_2", "cpu")
    found = run(epsilons=(1.0,), repeats=1, measures=measures).set_index("measure")["value"]
    assert (
        found["avd2_1"]
        == run(epsilons=(1.0,), repeats=1, measures=("avd2_1",))["value"].item()
        != found["avd2"]
    )
    assert found["avd2_99"] == found["avd2"], "three pairs are all there are"
    assert found["l1_2_2"] >= 0
    assert found["cpu"] > 0


def test_leaks_attack_the_fitted_records():
    measures = ("leak_gcap", "leak_exact", "leak_gcap_40", "leak_advantage")
    found = run({"copy": Flip(share=0.0, floor=0.0)}, epsilons=(1.0,), repeats=1, measures=measures)
    value = found.set_index("measure")["value"]
    codes = DATA.schema.encode(
        DATA.frame
    )  # a copy of the table gives away the most frequent target of every key
    assert value["leak_exact"] == leak_probability(codes, codes, DATA.schema, "c", "exact") > 0.5
    assert value["leak_gcap"] == leak_probability(codes, codes, DATA.schema, "c")
    assert found.set_index("measure").loc["leak_gcap_40", "note"] == "40 records attacked"
    assert found.set_index("measure")["seed"].nunique() == 2, (
        "the advantage needs a fit that leaves records out"
    )


@pytest.mark.parametrize("alpha", [1, 2, 3])
def test_kept_marginals_give_the_errors_of_two_tables(alpha):
    rng = np.random.default_rng(alpha)
    codes, fake = (
        np.column_stack([rng.integers(0, s, 50) for s in SCHEMA.sizes]) for _ in range(2)
    )
    known = Marginals(codes, SCHEMA, sets=attribute_sets(len(SCHEMA), alpha, 2))
    found, expected = (
        query_errors(known, fake, SCHEMA, alpha),
        query_errors(codes, fake, SCHEMA, alpha, queries=2),
    )
    assert found == pytest.approx(expected)


def test_a_foreign_file_is_not_overwritten(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(SchemaError, match="other columns"):
        run(resume=path)
    assert path.read_text(encoding="utf-8") == "a,b\n1,2\n"


def test_progress_bar_only_when_asked(capsys, monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0)
    monkeypatch.setenv(progress.OFF, "1")
    run(repeats=1)
    assert "compare" not in capsys.readouterr().err
    run(repeats=1, progress=True)
    assert "compare" in capsys.readouterr().err


def test_the_ledger_s_loss_and_the_distance_of_the_rest():
    frame = run(measures=("loss_a", "avd2_without_a", "avd2"), repeats=1)
    value = frame[frame["epsilon"] == 1].set_index("measure")
    assert value.loc["loss_a", "note"] == "no ledger" and np.isnan(value.loc["loss_a", "value"])
    flipped = Flip(1.0, random_state=int(value.loc["avd2", "seed"]))
    flipped.fit(SimpleNamespace(codes=CODES, schema=SCHEMA))
    fake = SCHEMA.encode(flipped.sample(60))
    real_pairs, fake_pairs = (
        np.bincount(2 * c[:, 1] + c[:, 2], minlength=4) / 60 for c in (CODES, fake)
    )
    assert value.loc["avd2_without_a", "value"] == pytest.approx(
        np.abs(real_pairs - fake_pairs).sum() / 2
    )
    ledger = SimpleNamespace(attribute_epsilon=lambda: {"a": 0.25})
    Flip.ledger_ = ledger
    try:
        assert run(measures=("loss_a",))["value"].eq(0.25).all()
    finally:
        del Flip.ledger_
    for wrong in ("loss_z", "avd2_without_z"):
        with pytest.raises(SchemaError, match="z"):
            run(measures=(wrong,))


class TestPairs:
    """A table of one's own, with its schema, in place of a Dataset."""

    pair = DATA.frame, SCHEMA

    def test_a_pair_gives_what_a_dataset_gives(self):
        measures = ("sum_mi", "avd2", "svm_linear", "leak_gcap")
        pair = compare({"flip": Flip()}, self.pair, [1.0], 2, measures, jobs=1, target="c")
        named = run(epsilons=(1.0,), measures=measures)
        assert set(pair.pop("dataset")) == {"table"}
        pd.testing.assert_frame_equal(results(pair), results(named.drop(columns="dataset")))

    def test_a_stranger_s_synthesizer_and_coded_rows(self):
        one = compare([PrivBayes(k=1)], self.pair, [1.0], 1, ["avd2"], jobs=1)
        two = compare([PrivBayes(k=1)], (CODES, SCHEMA), [1.0], 1, ["avd2"], jobs=1)
        pd.testing.assert_frame_equal(results(one), results(two))

    @pytest.mark.parametrize(
        ("options", "measures"),
        [({}, ["sum_mi", "avd2", "avd3"]), ({"target": "b"}, ["sum_mi", "avd2", "avd3", "svm"])],
    )
    def test_default_measures_are_those_that_the_table_has(self, options, measures):
        frame = compare([Flip()], self.pair, [1.0], 1, jobs=1, **options)
        assert frame["measure"].tolist() == measures

    @pytest.mark.parametrize("measure", ["svm", "svm_self", "leak_exact", "leak_gcap_9"])
    def test_without_a_target_nothing_can_be_predicted(self, measure):
        with pytest.raises(SchemaError, match=rf"'{measure}' needs an attribute .* target=.*a, b"):
            compare([Flip()], self.pair, [1.0], 1, [measure], jobs=1)

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (DATA.frame, "got DataFrame: a table needs its public schema"),
            ((SCHEMA, DATA.frame), "the table comes first"),
            ((DATA.frame, None), r"pair \(frame, schema\)"),
            ((DATA.frame, SCHEMA, "c"), r"got tuple"),
            ((DATA.frame[["a", "b"]], SCHEMA), r"missing column\(s\): \['c'\]"),
            ((CODES + 5, SCHEMA), "codes from 5 to 6"),
            ("adult", "got str"),
        ],
    )
    def test_what_is_no_table_with_a_schema_is_refused(self, data, words):
        before = Flip.fits
        with pytest.raises(SchemaError, match=words):
            compare([Flip()], data, [1.0], 1, ["avd2"], jobs=1)
        assert Flip.fits == before

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"target": "z"}, "no attribute 'z'"),
            ({"synthesizers": Flip()}, r"write \[Flip\(\)\]"),
            ({"synthesizers": Flip}, r"write \[Flip\(\)\]"),
            ({"synthesizers": [Flip]}, "give an instance"),
            ({"synthesizers": {"flip": "Flip"}}, "'Flip' is no synthesizer"),
            ({"synthesizers": []}, "no synthesizer"),
            ({"epsilons": 1.0}, "epsilons must be a list, got 1.0"),
            ({"epsilons": "1.0"}, "epsilons must be a list"),
            ({"epsilons": []}, "list of at least one ε"),
            ({"epsilons": [1.0, -1]}, "every ε must be a positive finite number, got -1"),
            ({"repeats": 0}, "repeats must be a whole number of at least 1, got 0"),
            ({"repeats": 1.5}, "repeats must be a whole number"),
            ({"measures": "avd2"}, r"write \['avd2'\]"),
        ],
    )
    def test_a_mistaken_grid_is_refused_before_any_fit(self, change, words):
        before = Flip.fits
        grid = {"synthesizers": [Flip()], "epsilons": [1.0], "repeats": 1, "measures": ["avd2"]}
        with pytest.raises((SchemaError, BudgetError), match=words):
            compare(dataset=self.pair, jobs=1, **(grid | change))
        assert Flip.fits == before


def test_a_network_over_bits_has_its_sum_of_information():
    """x has four values in two bits: x:1 is y, x:2 is a coin, so the tree holds H(y) = 1 bit."""
    attributes = Attribute.categorical("x", list("abcd")), Attribute.categorical("y", list("no"))
    schema = Schema(attributes)
    codes = np.tile([[0, 0], [1, 0], [2, 1], [3, 1]], (25, 1))
    frame = schema.decode(codes)
    found = compare([PriView(guarantee="none")], (frame, schema), [1.0], 1, ["sum_mi"], jobs=1)
    assert found["value"].item() == pytest.approx(1.0)
    assert found["note"].item() == "a network over bits"
    network = Network((("x:1", ()), ("x:2", ()), ("y", ("x:1",))))
    assert sum_mutual_information(network, codes, schema) == pytest.approx(1.0)
    with pytest.raises(SchemaError, match="no attribute 'z'"):
        sum_mutual_information(Network((("x", ()), ("z", ("x",)))), codes, schema)


class TestOneEpsilonForAll:
    """``compare`` sets each ε: a label that named another stood beside the same numbers."""

    def test_labels_name_no_epsilon(self):
        methods = [PrivBayes(0.1, k=1), PrivBayes(Fraction(1, 3), k=2), PrivBayes("1/3", k=0)]
        found = compare(methods, (CODES, SCHEMA), [1.0], 1, ["avd2"], jobs=1)
        strict = "guarantee='strict'"
        assert [*found["method"]] == [f"PrivBayes(k={k}, {strict})" for k in (1, 2, 0)]

    def test_methods_that_differ_in_epsilon_alone_look_the_same(self):
        with pytest.raises(SchemaError, match="look the same"):
            compare([PrivBayes(0.1), PrivBayes(5)], (CODES, SCHEMA), [1.0], 1, ["avd2"], jobs=1)

    @pytest.mark.parametrize("epsilon", ["1/3", Fraction(1, 3)])
    def test_a_fraction_is_an_epsilon(self, epsilon):
        """A text raised "could not convert string to float", after the first fit."""
        found = compare([PrivBayes(k=1)], (CODES, SCHEMA), [epsilon], 1, ["avd2"], jobs=1)
        assert found["epsilon"].tolist() == [1 / 3]

"""Grids of experiments: the same rows in any order, with any number of processes, after any
interruption."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pdsynth import Attribute, Network, Schema, SchemaError
from pdsynth.errors import BudgetDegenerate
from pdsynth.evaluation import Marginals, compare, leak_probability, query_errors
from pdsynth.evaluation.marginals import attribute_sets
from pdsynth.evaluation.store import COLUMNS

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


def test_progress_bar_only_when_asked(capsys):
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

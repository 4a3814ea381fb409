"""The yardsticks under the same promise: who is asked for what, the worst pair, NIST's score."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.core.records import Records
from pdsynth.papers import engine, yardstick, yardsticks
from pdsynth.papers import yardsticks_promise as promise
from pdsynth.papers.yardstick import GUARANTEE, PURE, OpenDPTable

PAPER = yardsticks.PAPER
Settings = PAPER.settings


def test_every_peer_is_asked_under_every_promise_and_spends_what_its_name_says():
    """Two contributions replace a record, one adds it; ε without a δ, ρ with one."""
    found = {
        (made.guarantee, curve.relation): (made.contributions, *made.set_params(epsilon=1.0).loss)
        for curve, made in promise.curves(Settings(same_peers=("MST",))).items()
        if curve.method == "MST"
    }
    assert found == {
        (PURE, "replace_one"): (2, "epsilon"),
        (PURE, "add_remove"): (1, "epsilon"),
        (GUARANTEE, "replace_one"): (2, "rho"),
        (GUARANTEE, "add_remove"): (1, "rho"),
    }
    assert OpenDPTable("AIM", 0.0, epsilon=0.3).loss == {"epsilon": 0.3}


def test_trials_of_earlier_figures_keep_their_keys():
    """What decides a result is the same text as before for what could be asked then."""
    assert OpenDPTable("MST", 1e-9).get_params() == {"algorithm": "MST", "delta": 1e-9}
    others = [OpenDPTable("MST", 0.0), OpenDPTable("MST", relation="add_remove")]
    assert len({str(each.get_params()) for each in (OpenDPTable("MST"), *others)}) == 3


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_ours_runs_under_the_relation_that_its_curve_names(tiny, relation):
    for curve, made in promise.curves(Settings(same_peers=())).items():
        if curve.relation == relation:
            made.set_params(epsilon=1.0, random_state=0).fit(tiny.frame, tiny.schema)
            assert made.ledger_.relation == relation and made.ledger_.epsilon == 1
            promised = PURE if curve.guarantee == "strict" else GUARANTEE
            assert (getattr(made.ledger_, "delta", None) is None) == (promised == PURE)
            assert yardstick.RELATIONS[relation] in curve.words and promised in curve.words


@pytest.mark.filterwarnings("ignore")
def test_the_same_promise_runs_on_another_table_and_shows_the_worst_pair(tiny, tmp_path):
    options = {"same_epsilons": (0.5, 1.0), "same_peers": ()}
    result = pds.papers.reproduce("yardsticks", 3, 2, data=tiny, jobs=1, **options)
    wide = result.data.pivot_table(
        index=["method", "relation", "epsilon", "repeat"], columns="metric", values="value"
    )
    assert (wide["worst pair"] >= wide["2-way distance"]).all()
    assert set(result.data["relation"]) == {"replace_one", "add_remove"}
    result.data.to_csv(tmp_path / "t.csv", index=False, lineterminator="\n")
    parameters = json.loads(json.dumps(result.parameters))
    back = PAPER.assemble(3, engine.read(tmp_path / "t.csv"), parameters)
    text = PAPER.appendix(3, back)
    assert "ConsistentBayes ±, pure ε" in text and "PrivBayes ⇄, pure ε" in text
    assert "PrivBayes ±" not in text and "nan" not in text


def test_the_worst_pair_is_the_largest_distance(tiny):
    from pdsynth.evaluation.compare import compare

    one = pds.baselines.Independent(noise="common")
    found = compare([one], tiny, (1.0,), 1, ("worst2", "avd2"), jobs=1).set_index("measure")
    seed = int(found["seed"].iloc[0])
    records = Records(tiny.schema.encode(tiny.frame), tiny.schema)
    fitted = one.clone().set_params(epsilon=1.0, random_state=seed).fit(records)
    fake = fitted.model_.sample_codes(records.n, np.random.default_rng([seed, 1]))
    pairs = pds.evaluate.marginal_distances(records.codes, fake, tiny.schema, 2)
    assert found["value"].to_dict() == {"worst2": pairs.max(), "avd2": pairs.mean()}


def test_a_peer_that_is_not_installed_is_a_gap_and_the_others_are_scored(tiny, monkeypatch):
    monkeypatch.setattr(
        OpenDPTable, "fit", lambda *_: (_ for _ in ()).throw(pds.BudgetError("needs mbi"))
    )
    options = {"same_peers": ("MST",), "same_repeats": (("MST", 1),), "nist_printed": (("A", 900),)}
    result = pds.papers.reproduce("yardsticks", "table 1", 2, data=tiny, jobs=1, **options)
    gap = result.data["method"] == "MST"
    assert result.data.loc[gap, "value"].isna().all() and gap.sum() == 4
    assert result.data.loc[~gap, "value"].between(0, 1000).all()
    text = PAPER.appendix("table 1", result)
    assert "A, printed by NIST" in text and "MST" not in text


def test_ages_in_bins_of_other_years_are_readings_of_ours(tiny, monkeypatch):
    """The loader's bins, and bins of 10, 3, 2 and 1 years: a peer has the first only."""
    ages = pds.Attribute.numeric("AGEP", 0, 99, bins=20, integer=True)
    schema = pds.Schema((ages, *tiny.schema.attributes))
    frame = tiny.frame.assign(AGEP=np.arange(len(tiny.frame)) % 100)
    aged = replace(tiny, frame=frame, schema=schema)
    found = {years: promise.by_years(aged, years).schema["AGEP"] for years in (5, 3, 2, 1)}
    assert {years: a.size for years, a in found.items()} == {5: 20, 3: 34, 2: 50, 1: 100}
    assert found[3].values[:2] == ("0–2", "3–5") and found[5].edges[:-1] == ages.edges[:-1]
    options = {"same_peers": ("MST",), "same_repeats": (("MST", 1),), "nist_printed": ()}
    monkeypatch.setattr(OpenDPTable, "fit", lambda *_: (_ for _ in ()).throw(pds.BudgetError("no")))
    data = pds.papers.reproduce("yardsticks", "table 1", 1, data=aged, jobs=1, **options).data
    where = data.groupby(data["method"] == "MST")["dataset"].unique()
    name = where[True].item()
    assert promise.YEARS == (10, 3, 2, 1)
    assert list(where[False]) == [
        name,
        *(f"{name}, ages by {promise.say_years(y)}" for y in promise.YEARS),
    ]


def test_the_main_picture_keeps_ours_beside_ours_with_a_delta():
    """Peers of figure 3 take the place of figure 1's; a curve of ours takes nobody's."""
    at = {"metric": "2-way distance", "dataset": "Adult, thesis coding", "value": 0.1, "k": ""}
    ours = {"method": "ConsistentBayes", "guarantee": "strict"}
    peer = {"method": "MST", "guarantee": GUARANTEE}
    first = pd.DataFrame([at | ours, at | peer])
    same = pd.DataFrame(
        [
            at | each | {"relation": relation}
            for each in (ours, ours | {"guarantee": GUARANTEE}, peer)
            for relation in yardstick.RELATIONS
        ]
    )
    assert list(yardsticks.shown_in_main(first, same)["method"]) == ["ConsistentBayes"]
    beside = yardsticks.same_in_main(same)
    assert (beside["method"] == "MST").sum() == 2 and len(beside) == 5


class TestScore:
    """NIST's k-marginal score, by hand."""

    schema = pds.Schema(
        (pds.Attribute.numeric("age", 0, 40, bins=2), pds.Attribute.categorical("b", (0, 1)))
    )
    real = pd.DataFrame({"age": range(40), "b": [0, 1] * 20})

    def test_equal_tables_have_a_thousand(self):
        assert promise.k_marginal(self.real, self.real, self.schema) == 1000

    def test_half_of_the_rows_moved(self):
        """All rows answer 0: half of the mass of the one pair is elsewhere."""
        fake = self.real.assign(b=0)
        assert promise.k_marginal(self.real, fake, self.schema) == pytest.approx(500)

    def test_numbers_are_compared_by_the_real_table_s_twentieths(self):
        """Ages moved inside their twentieth (two years here) cost nothing, by one more they do."""
        assert list(promise.twentieths(self.real["age"], self.real["age"])) == sorted(
            [*range(20), *range(20)]
        )
        fake = self.real.assign(age=self.real["age"] // 2 * 2)
        assert promise.k_marginal(self.real, fake, self.schema) == 1000
        moved = self.real.assign(age=(self.real["age"] + 2) % 40)
        assert promise.k_marginal(self.real, moved, self.schema) == 1000
        older = self.real.assign(age=30 + self.real["age"] // 4)  # 5 of 20 parts, 1 / 4 shared
        assert promise.k_marginal(self.real, older, self.schema) == pytest.approx(250, abs=51)
        alike = self.real.assign(age=0)
        assert promise.k_marginal(self.real, alike, self.schema) == pytest.approx(50)

    def test_many_equal_numbers_share_a_twentieth(self):
        real = pd.Series([0] * 30 + list(range(1, 11)))
        assert set(promise.twentieths(real, pd.Series([0, 0]))) == {1}
        assert promise.twentieths(real, pd.Series([10])).item() <= 19

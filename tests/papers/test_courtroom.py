"""The courtroom's figures: every algorithm on its worst pair; finished audits are kept, and the
rules see what is planted."""

import importlib
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from privacy_tools import weaken

import pdsynth as pds
from pdsynth import audit
from pdsynth.papers import courtroom
from pdsynth.papers.courtroom import PAPER, Audit, audits, fits_whole, widen
from pdsynth.papers.grids import read
from pdsynth.papers.results import FAILS, REPLICATES

Settings = PAPER.settings
(BITES,) = (claim["bar"] for claim in PAPER.file["claim"] if claim["rule"] == "bites")
FEW = ("strict-independent", "strict-privabn", "strict-joint-counts", "privabn-units")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("courtroom") / "trials.csv"


@pytest.fixture(scope="module")
def fits(store):
    return pds.papers.reproduce(
        "courtroom", 1, jobs=1, cases=FEW, epsilons=(2.0, 4.0), fits=120, resume=store
    )


@pytest.fixture(scope="module")
def deep():
    return pds.papers.reproduce("courtroom", 2, jobs=1, cases=FEW, runs=2400)


def test_the_grid_is_every_whole_algorithm_at_every_epsilon():
    grid = audits(1, Settings())
    whole = list(filter(fits_whole, audit.CASES))
    assert len(whole) >= 14 and len(grid) == len(whole) * 4
    assert {a.runs for a in grid} == {20_000} and {a.epsilon for a in grid} == {0.5, 1, 2, 4}
    assert [a.case for a in audits(2, Settings())] == list(audit.CASES) and {
        a.runs for a in audits(2, Settings())
    } == {audit.DEEP}
    assert len({a.seed(7) for a in grid}) == len(grid)


@pytest.mark.slow
def test_an_audit_fits_as_often_as_asked(fits):
    case = Audit("strict-independent", 4.0, 120).prepare()
    assert case.claimed == 4 and audit.run(case, 120, seed=1).runs == 120
    assert audit.CASES["strict-independent"].attack.slow > 1, "the catalogue is left alone"
    table = widen(fits.data)
    assert set(table["case"]) == {"strict-independent", "strict-privabn"} and len(table) == 2 * 2
    assert (table["runs"] == "120").all() and np.allclose(table["ceiling"], audit.ceiling(120))
    assert table["share"].max() > 0.15, "the attack sees something with few fits"
    assert (table["detectable"] > 1).all() and set(table["moves"]) >= {2}


@pytest.mark.slow
def test_finished_audits_are_not_run_again(fits, store, monkeypatch):
    monkeypatch.setattr(courtroom, "measure", lambda *a: pytest.fail("run again"))
    again = pds.papers.reproduce(
        "courtroom", 1, jobs=1, cases=FEW, epsilons=(2.0, 4.0), fits=120, resume=store
    )
    pd.testing.assert_frame_equal(again.data, fits.data)
    fewer = pds.papers.reproduce(
        "courtroom", 1, jobs=1, cases=FEW, epsilons=(2.0,), fits=120, resume=store
    )
    assert set(fewer.data["epsilon"]) == {2.0}


def test_an_audit_is_repeated_bit_by_bit(fits):
    one = Audit("strict-independent", 4.0, 120)
    kept = fits.data[fits.data["seed"] == one.seed(PAPER.seed)]
    assert [r["value"] for r in courtroom.measure(one, PAPER.seed)] == kept["value"].tolist()


@pytest.mark.slow
def test_the_figures_draw_every_audit(fits, deep):
    assert sum(len(t.x) for t in fits.figure.data) == len(widen(fits.data))
    assert [len(t.x) for t in deep.figure.data] == [len(FEW)] * 3
    assert "∞" in deep.figure.layout.xaxis.ticktext
    bounds = widen(deep.data).set_index("case")
    assert bounds.loc["privabn-units", "ceiling"] == math.inf and bounds.loc[
        "strict-joint-counts", "ceiling"
    ] < audit.ceiling(2400)


@pytest.mark.slow
def test_the_verdicts(fits, deep):
    assert [v.verdict for v in deep.verdicts] == [REPLICATES, REPLICATES, FAILS]
    assert "1 of 1" in deep.verdicts[1].numbers
    assert "1 algorithms" in deep.verdicts[2].numbers, "few fits see large violations only"
    assert [v.verdict for v in fits.verdicts] == [REPLICATES, FAILS], "120 fits are too few to bite"


def test_twins_a_violated_strict_case_and_a_missed_defect_turn_the_verdicts(deep):
    planted = deep.data.copy()
    bound = planted["metric"] == "bound"
    planted.loc[bound & (planted["case"] == "strict-joint-counts"), "value"] = 2.1
    planted.loc[bound & (planted["case"] == "privabn-units"), "value"] = 0.9
    verdicts = PAPER.judge(2, planted, Settings())
    assert [v.verdict for v in verdicts][:2] == [FAILS, FAILS]
    assert (
        "over the claim: 1" in verdicts[0].numbers and "not: privabn-units" in verdicts[1].numbers
    )


def test_a_broken_step_that_no_sample_shows_is_named(root):
    """It is counted on neither side; without it nothing is named."""
    trials = read(root / "figures" / "courtroom" / "fig2_trials.csv")
    hidden = "hmprivbayes-dpsc-small-share"
    said = [PAPER.judge(2, t, Settings())[1] for t in (trials, trials[trials["case"] != hidden])]
    assert said[0].numbers == f"27 of 27; broken, and only in the ledger: {hidden}"
    assert said[1].numbers == "27 of 27"


def committed(root, figure):
    """The committed audits of a figure, and the parameters that they were run with."""
    folder = root / "figures" / "courtroom"
    parameters = json.loads((folder / f"fig{figure}.json").read_text(encoding="utf-8"))
    return widen(read(folder / f"fig{figure}_trials.csv")), parameters


def test_the_committed_grid_is_whole_and_holds(root):
    """T5 as it was run: no bound above ε, and at least 0.6 ε somewhere."""
    table, parameters = committed(root, 1)
    assert (table["runs"] == str(parameters["fits"])).all()
    assert set(table["epsilon"]) == {0.5, 1, 2, 4}
    assert len(table) == table["case"].nunique() * 4
    assert (table["bound"] <= table["epsilon"]).all() and table["share"].max() >= BITES


@pytest.mark.slow
def test_the_committed_fits_again(root):
    """T5, a cell of the grid bit by bit: whole fits, never above ε, and above 0.6 ε."""
    one = Audit("strict-priview", 4.0, committed(root, 1)[1]["fits"])
    (bound, *_) = courtroom.measure(one, PAPER.seed)
    trials = read(root / "figures" / "courtroom" / "fig1_trials.csv")
    mine = (trials["seed"] == one.seed(PAPER.seed)) & (trials["metric"] == "bound")
    kept = trials.loc[mine, "value"]
    assert bound["value"] == pytest.approx(kept.item(), rel=1e-5) and bound["value"] <= 4
    assert bound["value"] >= BITES * 4


@pytest.mark.slow
def test_twin_half_of_the_noise_shows_in_whole_fits(monkeypatch):
    weaken(monkeypatch, 2)
    (bound, *_) = courtroom.measure(Audit("strict-independent", 1.0, 1000), PAPER.seed)
    assert bound["value"] > 1


@pytest.mark.parametrize("figure", [1, 2])
def test_the_page_names_every_algorithm_attacked_and_every_one_left_out(root, figure):
    """Whatever the committed trials hold."""
    table, _ = committed(root, figure)
    words = PAPER.words(figure, Settings(), table)
    said = [{f"strict-{n}" for n in words[w].split(", ") if n} for w in ("attacked", "left_out")]
    whole = set(filter(fits_whole, audit.CASES))
    assert said[0] == whole & set(table["case"]) and said[1] == whole - said[0]
    page = (root / "figures" / "courtroom" / "README.md").read_text(encoding="utf-8")
    for names in filter(None, words.values()):
        assert names in page


def test_the_page_of_the_deep_audits_is_that_of_the_committed_ones(root, monkeypatch):
    monkeypatch.syspath_prepend(root / "benchmarks")
    deep_page = importlib.import_module("deep")
    table, parameters = committed(root, 2)
    said = (root / "benchmarks" / "DEEP.md").read_text(encoding="utf-8")
    (day,) = re.findall(r"written on ([\d-]{10}) by", said)
    assert said == deep_page.page(table, parameters, day)
    assert {row.split("|")[1].strip() for row in said.splitlines() if row.count("|") == 8} >= {
        name for name in table["case"] if name in audit.CASES and fits_whole(name)
    }


def test_where_few_answers_move_the_deep_audits_see_a_small_violation(root):
    """1.5 times the claim, whole fits and single steps; elsewhere they print what they see."""
    table, parameters = committed(root, 2)
    assert parameters["runs"] == audit.DEEP and not parameters["cases"]
    few = table[(table["expected"] == audit.NOT_REFUTED) & table["moves"].between(1, 2)]
    assert len(few) >= 7 and few["detectable"].max() <= 1.5
    assert set(table["case"]) == set(audit.CASES)


def test_the_committed_catalogue_is_as_expected(root):
    table, parameters = committed(root, 2)
    assert set(table["case"]) <= set(audit.CASES)
    assert (table["runs"] == str(parameters["runs"])).all() and (table["detectable"] >= 1).all()
    violated = table["bound"] > table["epsilon"] * (1 + 1e-9)
    assert violated[table["expected"] == audit.VIOLATED].all()
    assert not violated[table["expected"] == audit.NOT_REFUTED].any()

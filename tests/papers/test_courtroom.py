"""The courtroom's figures: every audit has its own tables, finished ones are kept, and the rules
see what is planted."""

import math

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth import audit
from pdsynth.papers import courtroom
from pdsynth.papers.courtroom import PAIRS, PAPER, Audit, audits, widen
from pdsynth.papers.engine import read
from pdsynth.papers.results import FAILS, REPLICATES
from pdsynth.privacy import curator

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


def test_the_grid_is_every_whole_algorithm_at_every_epsilon_on_three_pairs():
    grid = audits(1, Settings())
    whole = [name for name, case in audit.CASES.items() if isinstance(case.attack, audit.OneByOne)]
    assert len(whole) == 14 and len(grid) == 14 * 4 * 3 and {a.runs for a in grid} == {20_000}
    assert {a.epsilon for a in grid} == {0.5, 1, 2, 4} and {a.pair for a in grid} == set(PAIRS)
    assert [a.case for a in audits(2, Settings())] == list(audit.CASES) and {
        a.runs for a in audits(2, Settings())
    } == {audit.DEEP}
    assert len({a.seed(7) for a in grid}) == len(grid)


@pytest.mark.parametrize("name", PAIRS)
def test_the_pairs_differ_in_one_record(name):
    pair = PAIRS[name]
    assert (pair.before != pair.after).any(axis=1).sum() == 1 and len(pair.before) == len(
        pair.after
    )


def test_an_audit_fits_the_named_tables_as_often_as_asked(fits):
    case = Audit("strict-independent", "a move in a row", 4.0, 120).prepare()
    assert (case.claimed, case.tables.sizes) == (4, (2, 3, 2)) and audit.run(
        case, 120, seed=1
    ).runs == 120
    assert audit.CASES["strict-independent"].tables.sizes == (2, 2, 2), (
        "the catalogue is left alone"
    )
    table = widen(fits.data)
    assert (
        set(table["case"]) == {"strict-independent", "strict-privabn"} and len(table) == 2 * 2 * 3
    )
    assert (table["runs"] == "120").all() and np.allclose(table["ceiling"], audit.ceiling(120))
    assert table["share"].max() > 0.2, "the attack sees something with few fits"


def test_a_fit_s_evidence_works_on_attributes_and_on_bits():
    """PrivABN's network is over bits: three values are two of them."""
    case = Audit("strict-privabn", "a move in a row", 4.0, 50).prepare()
    assert np.std(audit.samples(case, 200, seed=1)[0]) > 0


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
    one = Audit("strict-independent", "zeros to ones", 4.0, 120)
    kept = fits.data[fits.data["seed"] == one.seed(PAPER.seed)]
    assert [r["value"] for r in courtroom.measure(one, PAPER.seed)] == kept["value"].tolist()


def test_the_figures_draw_every_audit(fits, deep):
    assert sum(len(t.x) for t in fits.figure.data) == len(widen(fits.data))
    assert [len(t.x) for t in deep.figure.data] == [len(FEW)] * 3
    assert "∞" in deep.figure.layout.xaxis.ticktext
    bounds = widen(deep.data).set_index("case")
    assert bounds.loc["privabn-units", "ceiling"] == math.inf and bounds.loc[
        "strict-joint-counts", "ceiling"
    ] < audit.ceiling(2400)


def test_the_verdicts(fits, deep):
    assert [v.verdict for v in deep.verdicts] == [
        REPLICATES,
        REPLICATES,
    ] and "1 of 1" in deep.verdicts[1].numbers
    assert [v.verdict for v in fits.verdicts] == [REPLICATES, FAILS], "120 fits are too few to bite"


def test_twins_a_violated_strict_case_and_a_missed_defect_turn_the_verdicts(deep):
    planted = deep.data.copy()
    bound = planted["metric"] == "bound"
    planted.loc[bound & (planted["case"] == "strict-joint-counts"), "value"] = 2.1
    planted.loc[bound & (planted["case"] == "privabn-units"), "value"] = 0.9
    verdicts = PAPER.judge(2, planted, Settings())
    assert [v.verdict for v in verdicts] == [FAILS, FAILS]
    assert (
        "over the claim: 1" in verdicts[0].numbers and "not: privabn-units" in verdicts[1].numbers
    )


def test_the_committed_grid_is_whole_and_holds(root):
    """T5 as it was run: 20,000 whole fits a side; no bound above ε, and at least 0.6 ε somewhere.
    """
    table = widen(read(root / "figures" / "courtroom" / "fig1_trials.csv"))
    assert (
        (table["runs"] == "20000").all()
        and set(table["epsilon"]) == {0.5, 1, 2, 4}
        and set(table["pair"]) == set(PAIRS)
    )
    assert len(table) == table["case"].nunique() * 12
    assert (table["bound"] <= table["epsilon"]).all() and table["share"].max() >= BITES


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_twenty_thousand_fits_a_side_again(epsilon, root):
    """T5, one row of the grid bit by bit: whole fits of PrivBayes, never above ε, and above 0.6 ε
    at the largest."""
    one = Audit("strict-privbayes", "zeros to ones", epsilon, 20_000)
    (bound, *_) = courtroom.measure(one, PAPER.seed)
    committed = read(root / "figures" / "courtroom" / "fig1_trials.csv")
    kept = committed.loc[
        (committed["seed"] == one.seed(PAPER.seed)) & (committed["metric"] == "bound"), "value"
    ]
    assert bound["value"] == pytest.approx(kept.item(), rel=1e-5) and bound["value"] <= epsilon
    assert epsilon < 4 or bound["value"] >= BITES * epsilon


def test_twin_half_of_the_noise_shows_in_whole_fits(monkeypatch):
    honest = curator.laplace_mechanism
    monkeypatch.setattr(
        curator, "laplace_mechanism", lambda counts, scale, noise: honest(counts, scale / 3, noise)
    )
    (bound, *_) = courtroom.measure(
        Audit("strict-privbayes", "zeros to ones", 1.0, 2000), PAPER.seed
    )
    assert bound["value"] > 1


def test_the_committed_catalogue_is_as_expected(root):
    table = widen(read(root / "figures" / "courtroom" / "fig2_trials.csv"))
    assert set(table["case"]) == set(audit.CASES) and (table["runs"] == str(audit.DEEP)).all()
    violated = table["bound"] > table["epsilon"] * (1 + 1e-9)
    assert (
        violated[table["expected"] == audit.VIOLATED].all()
        and not violated[table["expected"] == audit.NOT_REFUTED].any()
    )

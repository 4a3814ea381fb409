"""Yardsticks: who runs where, gaps that say so, pictures and tables from planted numbers."""

import json
import subprocess
from functools import partial

import numpy as np
import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.core.records import Records
from pdsynth.evaluation.queries import counting_errors
from pdsynth.papers import engine, yardstick, yardsticks, yardsticks_plots
from pdsynth.papers.yardstick import GUARANTEE, PURE, TRUE, DataSynthesizerTable, OpenDPTable
from pdsynth.planning import Forecast

PAPER = yardsticks.PAPER
Settings = PAPER.settings
QUICK = {"epsilons": (0.2, 1.0), "peer_epsilons": (1.0,), "degrees": ("auto", "1")}


@pytest.mark.parametrize("figure", [1, 2])
@pytest.mark.filterwarnings("ignore")
def test_both_figures_run_on_another_table(tiny, figure, tmp_path, monkeypatch):
    monkeypatch.delenv("PDSYNTH_PEER", raising=False)
    options = {**QUICK, "peers": ("DataSynthesizer",)}
    result = pds.papers.reproduce("yardsticks", figure, 2, data=tiny, jobs=1, **options)
    gap = result.data["method"] == "DataSynthesizer"
    assert result.data.loc[gap, "value"].isna().all() and gap.any()
    assert result.data.loc[gap, "note"].str.contains("PDSYNTH_PEER").all()
    assert result.data.loc[~gap, "value"].notna().all()
    assert set(result.data.loc[~gap, "method"]) >= {"Independent", "JTree", "PrivBayes"}
    assert not result.verdicts
    result.data.to_csv(tmp_path / "t.csv", index=False, lineterminator="\n")
    parameters = json.loads(json.dumps(result.parameters))
    back = PAPER.assemble(figure, engine.read(tmp_path / "t.csv"), parameters)
    text = PAPER.appendix(figure, back)
    assert "PrivBayes k=1 ⇄" in text and "nan" not in text
    assert ("our nearest" in text) is False


def planted():
    """Distances in which every number of the page is known beforehand."""
    level = {
        ("Independent", "strict", ""): 0.08,
        ("PrivBayes", "strict", "auto"): 0.06,
        ("PrivBayes", "strict", "2"): 0.05,
        ("HPPrivBayes", "strict", ""): 0.07,
        ("MST", GUARANTEE, ""): 0.04,
        ("DataSynthesizer", TRUE, ""): 0.1,
    }
    rows = [
        {
            "metric": yardsticks_plots.DISTANCE,
            "dataset": table,
            "method": m,
            "guarantee": g,
            "k": k,
            "epsilon": e,
            "repeat": i,
            "seed": 0,
            "value": value / e + (-1) ** i / 1000,
            "note": "",
        }
        for table in (yardsticks_plots.THESIS, "Big5")
        for (m, g, k), value in level.items()
        if g == "strict" or table != "Big5"
        for e in (0.2, 1.0)
        for i in range(4)
    ]
    return pd.DataFrame(rows)


def test_the_ratio_is_our_nearest_over_each_peer():
    points = engine.Result("", planted(), None, (), ()).summary()
    found = list(yardsticks.ratios(points, Settings()))
    assert [row[:3] for row in found] == [
        [yardsticks_plots.THESIS, e, yardsticks_plots.DISTANCE] for e in ("0.2", "1")
    ]
    assert found[1][3].startswith("PrivBayes k=2 ⇄: 0.0500 ±")
    assert "**1.25 ±" in found[1][4] and "**0.50 ±" in found[1][5]


def test_the_ratio_s_interval_by_hand():
    one = pd.DataFrame({"mean": [0.3, 0.2], "ci95": [0.03, 0.0]}).itertuples()
    assert yardsticks.ratio(*one) == "1.50 ± 0.15"
    single = pd.DataFrame({"mean": [0.3, 0.2], "ci95": [0.03, np.nan]}).itertuples()
    assert yardsticks.ratio(*single) == "1.50"


def test_advice_is_held_against_the_nearest_rival():
    points = engine.Result("", planted(), None, (), ()).summary()
    advice = {"Big5": {"1": ["HPPrivBayes", ""], "0.2": ["PrivBayes", "2"], "4": ["JTree", ""]}}
    rows, words = yardsticks.cells(points, advice)
    assert [row[:2] + row[4:] for row in rows] == [
        ["Big5", "0.2", "1.00", "0.62"],
        ["Big5", "1", "1.40", "0.88"],
    ]
    assert "PrivBayes k=2" in rows[1][3] and words.startswith("Worse than 1.05 × the nearest")
    assert "in 1 of 2 cells; at most 0.88 × Independent" in words
    assert yardsticks.cells(points, {})[0] == []


def test_the_advised_synthesizer_is_found_among_the_curves(tiny, monkeypatch):
    def forecasts(schema, n, epsilon, given):
        made = pds.baselines.Independent if epsilon < 0.5 else partial(pds.PrivBayes, k=2)
        return [Forecast("the best", made, 0.1, 1.0, 1.0)]

    monkeypatch.setattr(yardsticks, "forecasts", forecasts)
    found = yardsticks.advise("tiny", tiny, Settings(advised=(0.1, 1.0)))
    assert found == {"0.1": ["Independent", ""], "1": ["PrivBayes", "2"]}


def test_pictures_show_each_curve_once_in_the_legend_and_say_what_is_not_pure():
    data, settings = planted(), Settings()
    plot = yardsticks_plots.draw(1, data, settings)
    shown = [trace.name for trace in plot.data if trace.showlegend]
    assert len(shown) == len(set(shown)) == 6 and "MST ⇄, δ = 1e-9" in shown
    main = yardsticks.main_picture(data, settings)
    assert [trace.name for trace in main.data] == [
        "Independent ⇄",
        "PrivBayes ⇄",
        "HPPrivBayes ⇄",
        "MST ⇄, δ = 1e-9",
    ]
    assert set(yardsticks.shown_in_main(data)["dataset"]) == {yardsticks_plots.THESIS}


def test_the_widest_search_is_left_out_and_no_other(tiny):
    runs = {t: yardsticks.ours(1, Settings(), t, tiny) for t in ("Big5", "ACS")}
    apart = {(c.method, c.k) for c in runs["ACS"]} - {(c.method, c.k) for c in runs["Big5"]}
    assert apart == {("PrivBayes", "3")}
    for curve, synthesizer in runs["ACS"].items():
        assert synthesizer.guarantee == "strict" and synthesizer.noise == "common", curve


def test_every_table_is_loaded_by_one_loader():
    assert set(Settings().on) == set(yardsticks.LOADERS)
    assert set(Settings().peer_tables) <= set(yardsticks.LOADERS)


def spent(rho, epsilon):
    """The least δ of ρ-zCDP at ε by brute force over orders (Canonne, Kamath, Steinke 2020)."""
    alpha = 1 + np.logspace(-2, 5, 200_000)
    exponent = (alpha - 1) * (alpha * rho - epsilon) + alpha * np.log1p(-1 / alpha)
    return np.exp(np.min(exponent - np.log(alpha - 1)))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_rho_is_what_epsilon_and_delta_allow(epsilon):
    simple = OpenDPTable(delta=1e-9, epsilon=epsilon).rho
    assert simple + 2 * np.sqrt(simple * np.log(1e9)) == pytest.approx(epsilon)
    tight = OpenDPTable(delta=1e-9, epsilon=epsilon, tight=True).rho
    assert 1.16 < tight / simple < 1.42
    assert spent(tight, epsilon) == pytest.approx(1e-9, rel=1e-3)
    assert spent(1.01 * tight, epsilon) > 1e-9 > spent(simple, epsilon)


def test_a_scale_is_searched_once_and_never_used_where_it_is_too_small():
    asked = []

    class Chain:
        def __init__(self, scale):
            self.scale = scale

        def check(self, d_in, d_out):
            return self.scale >= d_in / d_out

    def search(make, d_in, d_out, bounds=None, T=None):  # noqa: N803
        asked.append((d_in, d_out))
        return d_in / d_out

    def make(scale):
        return Chain(scale)

    found = {}
    searched = yardstick.once(search, found)
    assert [searched(make, 2, 4) for _ in range(3)] == [0.5] * 3 and asked == [(2, 4)]
    assert searched(make, 2, 1, T=float) == 2.0 and len(asked) == 2
    found.update(dict.fromkeys(found, 0.4))  # too little noise
    assert searched(make, 2, 4) == 0.5 and len(asked) == 3


@pytest.mark.slow
def test_mst_releases_bits_that_opendp_alone_refuses(tiny):
    """Fifteen selections add up to one rounding more than their budget at ε = 1."""
    pytest.importorskip("mbi")
    rng = np.random.default_rng(0)
    schema = pds.Schema(tuple(pds.Attribute.categorical(f"b{j}", (0, 1)) for j in range(16)))
    records = Records(rng.integers(0, 2, (500, 16)).astype(np.uint8), schema)
    fitted = OpenDPTable("MST", epsilon=1.0).fit(records)
    assert fitted.sample_codes(50, rng).shape == (50, 16)


def test_the_peer_is_asked_for_what_it_then_spends(tiny, monkeypatch):
    """Two and a half times less; rows and the seed go with it, and its rows come back."""
    asked = {}

    def run(command, *, input, **options):  # noqa: A002
        asked.update(json.loads(input))
        answer = json.dumps({"version": "0"}) + "\n" + json.dumps({"sample": [[0, 1, 2, 0]] * 3})
        return subprocess.CompletedProcess(command, 0, answer)

    monkeypatch.setenv("PDSYNTH_PEER", "python-with-the-peer")
    monkeypatch.setattr(yardstick.subprocess, "run", run)
    records = Records(tiny.schema.encode(tiny.frame), tiny.schema)
    fitted = DataSynthesizerTable().set_params(epsilon=1.0, random_state=7).fit(records)
    assert asked["epsilon"] == pytest.approx(0.4) and asked["seed"] == 7
    assert asked["rows"] == records.codes.tolist() and asked["sample"] == records.n
    assert fitted.sample_codes(3, None).tolist() == [[0, 1, 2, 0]] * 3


def test_counting_queries_are_a_measure_of_compare(tiny):
    from pdsynth.evaluation.compare import compare

    one = pds.baselines.Independent(noise="common")
    found = compare([one], tiny, (1.0,), 1, ("count_2", "count_2_3"), jobs=1)
    seed = int(found["seed"][0])
    records = Records(tiny.schema.encode(tiny.frame), tiny.schema)
    fitted = one.clone().set_params(epsilon=1.0, random_state=seed).fit(records)
    fake = fitted.model_.sample_codes(records.n, np.random.default_rng([seed, 1]))
    expected = [counting_errors(records.codes, fake, tiny.schema, 2, q).mean() for q in (200, 3)]
    assert found["value"].tolist() == expected
    assert found["note"].tolist() == ["10 queries", "3 queries"]


def test_the_main_picture_names_each_promise_once_and_takes_peers_from_the_same_promise():
    same = planted().assign(relation="replace_one")
    same = same[same["method"].isin(["MST", "Independent"]) & (same["dataset"] != "Big5")]
    pure = same[same["method"] == "MST"].assign(guarantee=PURE)
    main = yardsticks.main_picture(planted(), Settings(), pd.concat([same, pure]))
    names = [trace.name for trace in main.data]
    assert names == [
        "Independent ⇄",
        "PrivBayes ⇄",
        "HPPrivBayes ⇄",
        "MST ⇄, (ε, δ)",
        "MST ⇄, pure ε",
    ]

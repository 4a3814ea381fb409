"""The papers' experiments: reference numbers, the grid's gaps and resumption, the rules of
verdicts, the committed figures."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from browser_tools import CHROMIUM
from paper_tools import BOARDS, counting
from plotly.offline import get_plotlyjs
from script_tools import load

import pdsynth as pds
from pdsynth.core.records import Records
from pdsynth.evaluation.marginals import Marginals
from pdsynth.evaluation.queries import sum_mutual_information
from pdsynth.papers import engine, hpprivbayes, results
from pdsynth.papers.engine import PAPERS
from pdsynth.papers.hpprivbayes import PAPER
from pdsynth.papers.results import FAILS, PARTLY, REPLICATES, WIDE

QUICK = {"epsilons": (1.0,), "degrees": ("1", "2"), "k": "2"}
FIRST = counting("hpprivbayes", 3, **QUICK)


@pytest.fixture(scope="module")
def records(thesis):
    return Records(thesis.schema.encode(thesis.frame), thesis.schema)


@pytest.fixture(scope="module")
def real(records):
    return {alpha: Marginals(records, records.schema, alpha) for alpha in (2, 3)}


@pytest.mark.parametrize(
    ("k", "two_way", "three_way", "bits"),
    [(1, 0.031, 0.065, 4.33), (2, 0.018, 0.040, 4.71), (3, 0.014, 0.031, 5.23)],
)
def test_without_noise_privbayes_gives_the_known_distances(
    records, real, k, two_way, three_way, bits
):
    found = {2: [], 3: []}
    sums = []
    for seed in range(4):  # another root and another sample each time
        fitted = pds.PrivBayes(k=k, guarantee="none", random_state=seed).fit(records)
        codes = fitted.model_.sample_codes(records.n, np.random.default_rng(seed))
        for alpha, known in real.items():
            found[alpha].append(known.distance(codes))
        sums.append(sum_mutual_information(fitted.network_, records))
    assert np.mean(found[2]) == pytest.approx(two_way, abs=0.0015)
    assert np.mean(found[3]) == pytest.approx(three_way, abs=0.002)
    assert np.mean(sums) == pytest.approx(bits, abs=0.02)


def test_the_thesis_groups_come_out_of_its_own_coding(records):
    fitted = pds.HPPrivBayes(
        k=4, sensitive="occupation", guarantee="published", noise="common", random_state=1
    ).fit(records)
    assert fitted.groups_["A"] == [
        "workclass",
        "education",
        "education-num",
        "occupation",
        "relationship",
        "sex",
        "hours-per-week",
    ]
    assert (
        len(fitted.network_) - 4 - len(fitted.groups_["B"]) == 3
    )  # d − k − l: the printed scale exists


def test_parameters_are_the_thesis_own():
    s = PAPER.settings()
    assert s.epsilons == (0.2, 0.4, 0.6, 0.8, 1.0)
    assert s.ratios == ("1/6", "1/5", "1/4", "1/3", "1/2")
    assert (s.k, s.theta, s.r, s.train) == ("4", 0.1, "1/3", 2 / 3)
    assert len([c for c in PAPER.curves(6, s) if c.guarantee != "none"]) == 10
    assert {(c.guarantee, c.k) for c in PAPER.curves(4, s) if c.guarantee != "none"} == {
        ("published", "4"),
        ("strict", "4"),
        ("strict", "auto"),
    }


def test_a_stopped_run_goes_on_and_gives_the_same_rows(cmc, tmp_path):
    store = tmp_path / "trials.csv"
    whole = pds.papers.reproduce("hpprivbayes", 3, 2, data=cmc, jobs=1, **FIRST)
    first = pds.papers.reproduce("hpprivbayes", 3, 1, data=cmc, jobs=1, resume=store, **FIRST)
    lines = store.read_text().splitlines()
    again = pds.papers.reproduce("hpprivbayes", 3, 2, data=cmc, jobs=1, resume=store, **FIRST)
    assert len(first.data) * 2 == len(again.data)
    assert store.read_text().splitlines()[: len(lines)] == lines, "finished trials were run again"
    pd.testing.assert_frame_equal(whole.data, again.data)


@pytest.mark.parametrize("figure", [4, 5, 6])
def test_every_figure_runs_on_another_table(cmc, figure):
    small = replace(cmc, frame=cmc.frame.head(400))
    result = pds.papers.reproduce(
        "hpprivbayes",
        figure,
        2,
        data=small,
        jobs=1,
        **counting("hpprivbayes", figure, svm_rows=150, ratios=("1/3", "1/2"), **QUICK),
    )
    assert result.figure.data
    assert result.verdicts
    assert result.deviation
    assert {v.verdict for v in result.verdicts} <= {REPLICATES, FAILS, WIDE}
    assert "replicates" in repr(result) or "too wide" in repr(result) or "does not" in repr(result)
    assert result.data["value"].between(0, 1).all()


def test_a_degenerate_budget_is_a_gap_with_its_reason(cmc):
    result = pds.papers.reproduce(
        "hpprivbayes", 5, 1, data=cmc, jobs=1, theta=3.0, **QUICK
    )  # no attribute shares three bits
    at = (result.data["method"] == "HPPrivBayes") & (result.data["guarantee"] == "published")
    assert result.data.loc[at, "value"].isna().all()
    assert result.data.loc[at, "note"].str.contains("BudgetDegenerate").all()
    assert result.data.loc[~at, "value"].notna().all()


@pytest.mark.parametrize(
    "call",
    [
        ("other", 3, 1, {}),
        ("hpprivbayes", 8, 1, {}),
        ("hpprivbayes", 3, 0, {}),
        ("hpprivbayes", 3, 1, {"epsilon": 1}),
    ],
)
def test_what_does_not_exist_is_refused(call):
    paper, figure, repeats, options = call
    with pytest.raises(pds.BudgetError):
        pds.papers.reproduce(paper, figure, repeats, **options)


class TestVerdicts:
    @pytest.mark.parametrize(
        ("gaps", "verdict"),
        [
            ([(1, 0.5)] * 3, REPLICATES),
            ([(1, 0.5), (1, 0.5), (0.1, 0.5)], REPLICATES),
            ([(-1, 0.5)] * 3, FAILS),
            ([(0.1, 0.5)] * 3, WIDE),
            ([(1, 0.5), (1, 0.5), (-1, 0.5)], PARTLY),
            ([(1, 0.5), (0.1, 0.5), (-1, 0.5)], FAILS),
            ([(1, math.inf)] * 3, WIDE),
            ([(float("nan"), math.inf)] * 3, WIDE),
        ],
    )
    def test_direction(self, gaps, verdict):
        assert results.direction_verdict(gaps) == verdict

    def test_a_flat_curve_has_no_trend(self):
        assert results.trend({"flat": [np.full(3, 0.5)] * 4}, (1, 2, 3, 4), -1) == (
            WIDE,
            "flat 0.500 → 0.500 (ρ = +0.0)",
            "0.5 → 0.5",
        )

    def test_difference_is_welch(self):
        from scipy.stats import ttest_ind

        rng = np.random.default_rng(0)
        a, b = rng.normal(1, 1, 12), rng.normal(0, 3, 20)
        gap, half = results.difference(a, b)
        low, high = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
        assert (gap - half, gap + half) == pytest.approx((low, high))

    def test_exchanging_the_methods_turns_the_verdict_round(self):
        settings = PAPER.settings()
        rows = [
            {
                "metric": f"{a}-way distance",
                "method": m,
                "guarantee": g,
                "k": k,
                "r": "",
                "epsilon": e,
                "value": level / e + i / 1e4,
            }
            for a in (2, 3)
            for m, level in (("PrivBayes", 0.2), ("HPPrivBayes", 0.1))
            for e in settings.epsilons
            for i in range(5)
            for g, k in (("strict", "auto"), *(("published", k) for k in settings.degrees))
        ]
        data = pd.DataFrame(rows)
        swapped = data.assign(
            method=data["method"].map({"PrivBayes": "HPPrivBayes", "HPPrivBayes": "PrivBayes"})
        )
        assert [v.verdict for v in PAPER.judge(5, data, settings)] == [REPLICATES] * 4
        assert [v.verdict for v in PAPER.judge(5, swapped, settings)] == [FAILS, REPLICATES] * 2

    def test_fluctuation_sees_a_planted_one_and_nothing_in_equals(self):
        rng = np.random.default_rng(1)
        calm = rng.normal(0.7, 0.01, (20, 5))
        wild = calm + np.array([0.0, 0.1, 0.0, 0.1, 0.0])
        assert hpprivbayes.fluctuation({"1/6": wild, "1/2": calm})["low"] > 0
        equal = hpprivbayes.fluctuation({"1/6": calm, "1/2": rng.normal(0.7, 0.01, (20, 5))})
        assert equal["low"] < 0 < equal["high"]


@pytest.fixture(scope="module")
def make(root):
    return load(root / "figures" / "make.py")


@pytest.fixture(scope="module")
def committed():
    """Every committed figure and table, redrawn once."""
    return {(b.paper.name, key): result for b in BOARDS for key, result in b.results.items()}


class TestCommitted:
    """The committed numbers belong to each other; pictures are never compared by their pixels."""

    @pytest.mark.slow
    @pytest.mark.parametrize("figure", [key for key in PAPER.titles if key != "table 1"])
    def test_trials_are_real_and_complete(self, committed, figure):
        result = committed["hpprivbayes", figure]
        curves = PAPER.curves(figure, PAPER.settings())
        found = set(
            map(tuple, result.data[["method", "guarantee", "k", "r"]].drop_duplicates().to_numpy())
        )
        assert {(c.method, c.guarantee, c.k, c.r) for c in curves} <= found
        assert result.parameters["tables"] == {"adult (thesis coding)": 45_222}

    def test_the_arithmetic_of_the_groups_is_that_of_the_real_table(self, committed):
        """k = 4: A's printed scale at each r by hand, and 98 % of B's entries or more above it."""
        data = committed["hpprivbayes", "table 1"].data.query("k == '4'").set_index(["metric", "r"])
        a = data.loc["noise scale of A"]["value"].to_dict()
        by_hand = {"1/6": 60, "1/4": 42.857, "1/3": 34.286, "1/2": 25.714}  # 2 · 3 / ε₂
        assert {r: a[r] for r in by_hand} == pytest.approx(by_hand, abs=1e-3)
        assert data.loc["entries of B with more noise than A"]["value"].min() > 0.98

    def test_points_are_the_trials_means(self, make, committed, tmp_path):
        for (name, key), result in committed.items():
            kept, again = (make.Committed(engine.find(name), at) for at in (make.HERE, tmp_path))
            again.file(key, ".csv").parent.mkdir(exist_ok=True)
            make.write_points(again, key, result)
            assert again.file(key, ".csv").read_bytes() == kept.file(key, ".csv").read_bytes()

    @pytest.mark.slow
    @pytest.mark.browser
    @pytest.mark.skipif(not CHROMIUM, reason="no Chromium on this machine")
    def test_a_redraw_shows_the_words_of_the_committed_picture(self, make, committed, browser):
        """Drawn by one page for all, far sooner than the command that writes the pictures."""
        page = browser.new_page()
        page.add_script_tag(content=get_plotlyjs())
        draw = "how => Plotly.toImage(how.figure, how)"
        how = {"format": "svg", "width": make.WIDTH, "imageDataOnly": True}
        wrong = []
        for (name, key), result in committed.items():
            height = result.figure.layout.height or 500
            figure = json.loads(make.on_white(result.figure).to_json())
            fresh = page.evaluate(draw, how | {"figure": figure, "height": height})
            kept = make.Committed(engine.find(name), make.HERE).file(key, ".svg").read_text("utf-8")
            words, shown = (re.findall(r">([^<>]+)</t", text) for text in (fresh, kept))
            if words != shown or not words:
                wrong.append((name, key))
        page.close()
        assert wrong == []

    def test_a_trial_can_be_repeated(self, committed, records):
        trials = committed["hpprivbayes", 3].data
        row = trials[
            (trials["method"] == "HPPrivBayes")
            & (trials["guarantee"] == "published")
            & (trials["k"] == "2")
        ].iloc[0]
        curve = hpprivbayes.Curve(row["method"], row["guarantee"], row["k"], row["r"], row["theta"])
        synth = hpprivbayes.synthesizer(curve, "occupation", PAPER.settings())
        fitted = synth.set_params(epsilon=float(row["epsilon"]), random_state=int(row["seed"])).fit(
            records
        )
        assert sum_mutual_information(fitted.network_, records) == pytest.approx(
            row["value"], rel=1e-5
        )

    @pytest.mark.slow
    def test_every_page_says_what_the_numbers_say(self, make, root):
        written = {
            path.relative_to(root / "figures").as_posix(): path.read_text(encoding="utf-8")
            for path in (root / "figures").rglob("*.md")
        }
        pages = make.pages(BOARDS)
        assert written.keys() - {"LEFT_OPEN.md", "PROTECTED.md"} == pages.keys(), (
            "not from verdicts"
        )
        assert [name for name in pages if written[name] != pages[name]] == []

    def test_the_index_is_short_and_leads_to_every_paper(self, root):
        text = (root / "figures" / "README.md").read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 150
        linked = set(re.findall(r"\]\((\w+)/README\.md\)", text))
        assert linked == set(PAPERS)

    def test_the_main_picture_has_its_numbers(self, make, root):
        main = pd.read_csv(root / "figures" / "main.csv", dtype={"k": str})
        assert set(main["guarantee"]) == {"strict", "pure ε", "(ε, δ)"}
        peer = main[main["method"] == "MST"]
        assert set(peer["relation"]) == {"replace_one", "add_remove"}, "figure 3's alone"
        assert (root / "figures" / "main.svg").exists()

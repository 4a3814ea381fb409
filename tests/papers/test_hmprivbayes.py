"""HMPrivBayes' experiments: the paper's parameters, its tables, every figure on a small table,
verdicts on planted numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from paper_tools import counting

import pdsynth as pds
from pdsynth.papers import engine, hmprivbayes
from pdsynth.papers.grids import Curve
from pdsynth.papers.hmprivbayes import BIG5, PAPER
from pdsynth.papers.results import FAILS, RECONSTRUCTED, REPLICATES, UNDEFINED, VERDICTS

METHODS = ("HMPrivBayes", "PrivSCBN", "PrivBayes", "JTree")
METRICS = ("2-way distance", "3-way distance", "misclassification")
LEAKS = ("GCAP", "right exact matches", "attacker's advantage")
QUICK = {
    "epsilons": (1.0,),
    "sets": 10,
    "svm_rows": 150,
    "degree": 1,
    "clusters": 2,
    "degrees": (1, 2),
    "attacked": 50,
    "sizes": (200, 500),
}


@pytest.fixture(scope="module")
def small(cmc):
    return replace(cmc, frame=cmc.frame.head(300))


def test_parameters_are_the_papers_own():
    s = PAPER.settings()
    assert s.epsilons == (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)
    assert (s.clusters, s.degree, s.epsilon, s.train) == (3, 3, 0.2, 0.8)
    assert PAPER.repeats == 50
    assert {(c.method, c.guarantee) for c in PAPER.curves(5, s) if c.guarantee != "none"} == {
        (m, g) for m in METHODS for g in ("published", "strict")
    }
    assert {c.method for c in PAPER.curves(5, s, guarantee="none")} == {"HMPrivBayes", "real data"}


def test_adult_has_52_bits(thesis):
    adult = pds.datasets.load_adult(complete=True)
    assert len(hmprivbayes.bits_of(replace(adult, frame=adult.frame.head(50))).schema) == 52


def test_big5_has_175_bits_and_its_young_are_known(data_folder):
    big5 = pds.datasets.load_big5()
    assert len(hmprivbayes.bits_of(replace(big5, frame=big5.frame.head(50))).schema) == 175
    young = hmprivbayes.positive(big5)
    assert young[-1] == "46–51"
    codes = big5.schema.encode(big5.frame)[:, big5.schema.index("age")]
    assert (codes < len(young)).mean() == pytest.approx((big5.frame["age"] <= 51).mean())


def test_the_table_of_figure_4_is_the_papers(small):
    wide, narrow = hmprivbayes.padded_to(small, 700), hmprivbayes.padded_to(small, 100)
    assert (len(wide.frame), len(narrow.frame)) == (700, 100)
    assert wide.frame.head(300).equals(small.schema.decode(small.schema.encode(small.frame)))
    random = wide.schema.encode(wide.frame)[300:]
    assert {len(set(column)) for column in random.T.tolist()} <= set(small.schema.sizes), (
        "random rows fill every domain"
    )


@pytest.mark.slow
@pytest.mark.parametrize("figure", [4, 5, 6])
@pytest.mark.filterwarnings("ignore")
def test_every_figure_runs_on_another_table(small, figure, tmp_path):
    store = tmp_path / "trials.csv"
    first = pds.papers.reproduce(
        "hmprivbayes",
        figure,
        2,
        data=small,
        jobs=1,
        resume=store,
        **counting("hmprivbayes", figure, **QUICK),
    )
    written = store.read_text(encoding="utf-8")
    again = pds.papers.reproduce(
        "hmprivbayes",
        figure,
        2,
        data=small,
        jobs=1,
        resume=store,
        **counting("hmprivbayes", figure, **QUICK),
    )
    assert store.read_text(encoding="utf-8") == written, "finished trials were run again"
    pd.testing.assert_frame_equal(first.data, again.data)
    assert first.figure.data
    assert first.deviation
    assert {v.verdict for v in first.verdicts} <= set(VERDICTS)
    first.data.to_csv(tmp_path / "tidy.csv", index=False, lineterminator="\n")
    back = PAPER.assemble(figure, engine.read(tmp_path / "tidy.csv"), first.parameters)
    assert [v.verdict for v in back.verdicts] == [v.verdict for v in first.verdicts]
    assert len(back.figure.data) == len(first.figure.data)


@pytest.mark.filterwarnings("ignore")
def test_figure_5_shows_the_majority_class_and_wrong_is_one_minus_right(small):
    data = pds.papers.reproduce(
        "hmprivbayes", 5, 1, data=small, jobs=1, **counting("hmprivbayes", 5, **QUICK)
    ).data
    wrong = data[data["metric"] == "misclassification"].set_index("method")["value"]
    share = small.frame[small.target].value_counts(normalize=True).max()
    assert wrong["majority class"] == pytest.approx(1 - share, abs=0.15)
    assert set(data.loc[data["method"] == "real data", "metric"]) == {"misclassification"}


# --- verdicts on planted numbers


def planted(levels, swap=None):
    """Trials of figure 5: level / ε for each method: all curves fall, NoPrivacy lies below all."""
    settings, rows = PAPER.settings(), []
    named = dict(zip(METHODS, (levels if swap is None else swap), strict=True))
    for metric in METRICS:
        for i in range(5):
            shared = {"metric": metric, "dataset": "Adult", "repeat": i}
            rows.append(
                {
                    **shared,
                    "method": "HMPrivBayes",
                    "guarantee": "none",
                    "k": "3",
                    "epsilon": np.inf,
                    "value": 0.001 + i / 1e6,
                }
            )
            rows += [
                {
                    **shared,
                    "method": c.method,
                    "guarantee": c.guarantee,
                    "k": c.k,
                    "epsilon": e,
                    "value": named[c.method] / e + i / 1e6,
                }
                for c in PAPER.curves(5, settings)
                if c.guarantee != "none"
                for e in settings.epsilons
            ]
    return pd.DataFrame(rows), settings


def test_exchanging_the_methods_turns_the_verdicts_round():
    found = [v.verdict for v in PAPER.judge(5, *planted((0.01, 0.02, 0.03, 0.04)))]
    assert found == [RECONSTRUCTED] + [REPLICATES] * 3 + [RECONSTRUCTED] + [REPLICATES] * 4, (
        "PrivSCBN is a reconstruction"
    )
    turned = [v.verdict for v in PAPER.judge(5, *planted((0.04, 0.03, 0.02, 0.01)))]
    assert turned == [RECONSTRUCTED] + [FAILS] * 3 + [RECONSTRUCTED] + [REPLICATES] * 4


@pytest.mark.parametrize(("slope", "falls"), [(-1, REPLICATES), (1, FAILS)])
def test_a_leak_that_falls_is_seen_and_one_that_rises_too(slope, falls):
    s = PAPER.settings()
    curves = PAPER.curves(4, s)
    rows = [
        {
            "metric": metric,
            "rows": str(n),
            "method": c.method,
            "guarantee": c.guarantee,
            "k": c.k,
            "epsilon": 0.2,
            "repeat": i,
            "value": 0.5 + 0.1 * METHODS.index(c.method) + slope * n / 1e6 + i / 1e6,
        }
        for metric in LEAKS
        for c in curves
        for n in s.sizes
        for i in range(4)
    ]
    found = [v.verdict for v in PAPER.judge(4, pd.DataFrame(rows), s)]
    assert found[:3] == [UNDEFINED] * 3, "no measure"
    assert found[3:] == [REPLICATES] * 3, "three readings agree"
    bare = [
        {n: v for n, v in c.items() if n not in ("undefined", "reconstruction")}
        for c in PAPER.file["claim"]
    ]
    verdicts = replace(PAPER, file={**PAPER.file, "claim": bare}).judge(4, pd.DataFrame(rows), s)
    assert [v.verdict for v in verdicts[:3]] == [falls] * 3
    assert [v.verdict for v in verdicts[3:]] == [REPLICATES] * 3, (
        "HMPrivBayes lies below the others by plan"
    )


def test_times_are_judged_by_their_ratio():
    s = PAPER.settings()
    rows = []
    for table, width, largest in (
        ("Adult", 1.0, s.baseline_degrees[0]),
        (BIG5, 10.0, s.baseline_degrees[1]),
    ):
        for c in [
            c for c in PAPER.curves(6, s) if c.method == "HMPrivBayes" or int(c.k) <= largest
        ]:
            seconds = 0.1 * int(c.k) * (width**2 * 10 if c.method == "PrivBayes" else width)
            rows.append(
                {
                    "metric": "seconds",
                    "dataset": table,
                    "method": c.method,
                    "guarantee": c.guarantee,
                    "k": c.k,
                    "value": seconds,
                }
            )
    data = pd.DataFrame(rows)
    assert [v.verdict for v in PAPER.judge(6, data, s)] == [REPLICATES] * 3
    slow = data.assign(
        value=data["value"].where(data["method"] == "PrivBayes", data["value"] * 1e4)
    )
    assert [v.verdict for v in PAPER.judge(6, slow, s)][1] == FAILS


@pytest.mark.parametrize("affinity", ["auto", "printed", "similarity"])
def test_the_affinity_is_a_setting_of_the_curves_that_follow_the_paper(affinity):
    settings = PAPER.settings(affinity=affinity)
    read = {
        g: hmprivbayes.synthesizer(Curve("HMPrivBayes", g, "3"), settings).affinity
        for g in ("published", "none", "strict")
    }
    assert read == {"published": affinity, "none": affinity, "strict": "auto"}
    assert "affinity" not in repr(
        hmprivbayes.synthesizer(Curve("PrivSCBN", "published", "3"), settings)
    )

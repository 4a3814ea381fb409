"""What a user may set: refused where it counts for nothing, forgiven where it is one value."""

from dataclasses import fields

import pandas as pd
import pytest

import pdsynth as pds
from pdsynth.papers import hmprivbayes
from pdsynth.papers.engine import PAPERS, find, like
from pdsynth.papers.grids import Run

QUICK = {"degrees": (1,), "epsilons": 1, "repeats": 2, "jobs": 1}


def test_r_and_theta_of_ones_own_are_columns_of_the_data(tiny):
    found = pds.papers.reproduce("hpprivbayes", 3, data=tiny, r="1/5", theta=0.3, **QUICK)
    mine = found.data[found.data["method"] == "HPPrivBayes"]
    assert set(mine["r"]) == {"1/5"} and set(mine["theta"]) == {"0.3"}
    others = found.data[found.data["method"] == "PrivBayes"]
    assert set(others["r"]) == set(others["theta"]) == {""}
    assert found.figure.data and found.verdicts


def test_theta_reaches_the_groups():
    curve = find("hpprivbayes").curves(4, find("hpprivbayes").settings(theta=0.3))[1]
    made = pds.papers.hpprivbayes.synthesizer(curve, "a", find("hpprivbayes").settings())
    assert (curve.method, made.theta) == ("HPPrivBayes", 0.3)


@pytest.mark.parametrize(
    ("paper", "figure", "options", "words"),
    [
        ("hpprivbayes", 3, {"ratios": ["1/2"]}, "fig3 of hpprivbayes doesn't use ratios"),
        ("hpprivbayes", 6, {"r": "1/2"}, "doesn't use r: leave it out, or choose among .*ratios"),
        ("hmprivbayes", 5, {"sizes": 10}, "doesn't use sizes"),
        ("privabn", 1, {"fine": 0.1}, "doesn't use fine"),
        ("genetic", 1, {"searches": 2}, "doesn't use searches"),
        ("hpprivbayes", 3, {"thetas": 1}, "no option thetas; there are epsilons, .*theta"),
        ("hpprivbayes", 3, {"theta": (0.1, 0.2)}, r"theta is one value like 0.1, got \(0.1"),
        ("hpprivbayes", 3, {"theta": "large"}, "theta is a number"),
    ],
)
def test_an_option_that_changes_nothing_is_refused_with_a_sentence(paper, figure, options, words):
    with pytest.raises(pds.BudgetError, match=words):
        find(paper).run(figure, Run(1, 0), options)


def test_one_value_stands_for_a_list_of_one():
    settings = find("hpprivbayes").check(3, 1, {"epsilons": 0.2, "degrees": [1, 2], "r": 0.25})
    assert (settings.epsilons, settings.degrees, settings.r) == ((0.2,), ("1", "2"), "0.25")
    assert like("wide", "CMC", ("Big5",)) == ("CMC",)


@pytest.mark.parametrize("name", PAPERS)
def test_what_is_said_to_count_exists(name):
    paper = find(name)
    known = {f.name for f in fields(paper.settings)}
    for setting, keys in paper.file["used"].items():
        assert setting in known and set(keys) <= set(paper.experiments)
    for reading in paper.readings().values():
        for key in reading.of or paper.experiments:
            if reading.options:
                paper.check(key, 1, reading.options)


class Watched:
    """Settings that remember what was asked of them."""

    def __init__(self, settings, seen):
        vars(self).update(_settings=settings, _seen=seen)

    def __getattr__(self, name):
        self._seen.add(name)
        return getattr(self._settings, name)


@pytest.mark.parametrize(
    ("name", "key", "options"),
    [
        ("hpprivbayes", 3, {"degrees": ("1",), "epsilons": (1.0,)}),
        ("hpprivbayes", 5, {"degrees": ("1",), "k": "1", "epsilons": (1.0,)}),
        ("hmprivbayes", 6, {"degrees": (1, 2)}),
    ],
)
def test_what_is_said_to_count_for_nothing_is_not_read(name, key, options, tiny, monkeypatch):
    """Whatever a figure's experiment reads must be an option that it takes."""
    paper, seen = find(name), set()
    monkeypatch.setattr("pdsynth.papers.engine.asdict", lambda s: vars(s._settings))
    settings = Watched(paper.check(key, 1, options), seen)
    assert len(paper.trials(key, settings, Run(1, 0, data=tiny, jobs=1)))
    shared = {"train", "svm_rows", "coding"}  # handed on where they decide nothing
    idle = {n for n, keys in paper.file["used"].items() if key not in keys}
    assert not (seen & idle) - shared
    assert seen & set(paper.file["used"]), "twin: settings that count are read"


def test_hmprivbayes_runs_on_adult_alone(tiny, monkeypatch):
    def gone():
        raise FileNotFoundError("the table 'big5' can't be shipped: get it there")

    monkeypatch.setitem(hmprivbayes.TABLES, "Adult", lambda: tiny)
    monkeypatch.setitem(hmprivbayes.TABLES, "Big5", gone)
    options = {"degrees": 1, "repeats": 2, "jobs": 1}
    with pytest.warns(UserWarning, match="Big5 is left out"):
        found = pds.papers.reproduce("hmprivbayes", 6, **options)
    assert set(found.data["dataset"]) == {"Adult"}
    assert found.deviation[-1].startswith("Left out: the table 'big5'")
    with pytest.raises(FileNotFoundError):
        Run(1, 0, whole=True).load(hmprivbayes.TABLES)
    monkeypatch.setattr(hmprivbayes, "TABLES", {"Adult": gone, "Big5": gone})
    with pytest.raises(FileNotFoundError):
        hmprivbayes.tables(Run(1, 0))


def test_one_epsilon_is_enough_for_every_rule(tiny):
    small = {"data": tiny, "k": 1, "epsilons": 0.2, "repeats": 2, "jobs": 1}
    assert pds.papers.reproduce("hpprivbayes", 4, svm_rows=100, **small).verdicts
    found = pds.papers.reproduce("hpprivbayes", 5, degrees=1, **small)
    assert isinstance(found.summary(), pd.DataFrame) and found.verdicts


def test_where_a_method_refuses_every_run_nothing_is_called_one_run(tiny):
    """Under θ = 9 no attribute is in A but S: the thesis' Algorithm 5 divides by less than zero."""
    options = {"data": tiny, "theta": 9.0, "degrees": 2, "epsilons": 1, "repeats": 2, "jobs": 1}
    found = pds.papers.reproduce("hpprivbayes", 3, **options)
    (better,) = (v for v in found.verdicts if "better networks" in v.claim)
    assert better.said == "our intervals too wide (n = 0)" and "refused to run" in better.rule
    assert "a gap" in better.numbers and "nan" not in better.numbers
    twin = pds.papers.reproduce("hpprivbayes", 3, **options | {"theta": 0.0})
    assert not any("a gap" in v.numbers for v in twin.verdicts)

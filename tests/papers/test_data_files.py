"""The data files: what they may name, how points are selected, and that they lie in the package."""

from importlib import resources
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pdsynth import BudgetError
from pdsynth.papers import engine
from pdsynth.papers.engine import PAPERS
from pdsynth.papers.judging import ask_all, judge
from pdsynth.papers.results import FAILS, REPLICATES, WIDE, direction_verdict
from pdsynth.papers.rules import PAIRED, RULES, WELCH, Question, rule
from pdsynth.papers.selectors import choices, expand, fill, fill_all

SETTINGS = SimpleNamespace(k="4", degrees=("1", "2", "4"), epsilons=(0.5, 1.0))


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_has_its_file_in_the_package(name):
    assert resources.files("pdsynth.papers").joinpath(f"{name}.toml").is_file()
    paper = engine.find(name)
    assert paper.heading and paper.reading.endswith("\n") and paper.titles


def test_every_claim_names_a_rule_and_every_rule_judges_a_claim():
    named = {claim["rule"] for name in PAPERS for claim in engine.find(name).file["claim"]}
    assert named == set(RULES)


@pytest.mark.parametrize("name", PAPERS)
def test_claims_and_notes_are_about_experiments_that_exist(name):
    paper = engine.find(name)
    for part in (*paper.file["claim"], *paper.file["note"]):
        assert set(part.get("of", [])) <= set(paper.experiments)
        assert set(part) & {"says", "text"}


def test_a_claim_of_an_abstract_alone_rests_on_our_reconstruction():
    """One rule for PPBA, ELPrivBayes and PrivSCBN; the numbers stand beside."""
    found = []
    for name in PAPERS:
        paper = engine.find(name)
        shared = paper.file.get("claims", {})
        for claim in ({**shared, **c} for c in paper.file["claim"]):
            if "abstract" in claim.get("source", ""):
                found.append(name)
                assert "abstract is public" in claim["reconstruction"], (name, claim["brief"])
    assert found == ["ppba"] * 3 + ["frontier", "sidebyside"]


@pytest.mark.parametrize("name", ["eval", "__import__", "no_such_rule", "Question"])
def test_a_file_can_call_nothing_but_a_rule(name):
    with pytest.raises(BudgetError, match="no rule"):
        ask_all([{"rule": name, "says": ""}], 1, pd.DataFrame(), SETTINGS, {})


def test_two_rules_of_one_name_are_refused():
    with pytest.raises(ValueError, match="already"):
        rule("another")(RULES["above"][0])


def test_selectors_by_hand():
    assert choices("$degrees but $k", SETTINGS) == ["1", "2"]
    assert choices("$degrees but 1", SETTINGS) == ["2", "4"]
    assert choices("$epsilons.last", SETTINGS) == [1.0]
    found = expand({"method": ["A", "B"], "k": {"A": "$k"}, "epsilon": "$epsilons"}, SETTINGS)
    assert found == [
        {"method": m, "epsilon": e, "k": k} for m, k in (("A", "4"), ("B", "")) for e in (0.5, 1.0)
    ]
    data = pd.DataFrame({"dataset": ["y", "x", "y"]})
    assert expand({"dataset": "*"}, SETTINGS, data) == [{"dataset": "y"}, {"dataset": "x"}]
    assert fill("a\n  {k}", {"k": 3}) == "a 3"
    assert fill_all({"at": ["{k}"], "point": "{k}", "n": 1}, {"k": 3}) == {
        "at": ["3"],
        "point": "{k}",
        "n": 1,
    }


def trials(level):
    rows = [
        {"method": m, "epsilon": e, "value": level[m] * e + i / 1e4}
        for m in level
        for e in SETTINGS.epsilons
        for i in range(4)
    ]
    return pd.DataFrame(rows)


CLAIM = {"a": {"method": "A"}, "b": {"method": "B"}, "at": {"epsilon": "$epsilons"}}


@pytest.mark.parametrize(
    ("name", "a", "verdict"),
    [
        ("above", 2.0, REPLICATES),
        ("above", 0.5, FAILS),
        ("above", 1.0, WIDE),
        ("mostly_above", 2.0, REPLICATES),
        ("everywhere", 2.0, REPLICATES),
        ("everywhere", 0.5, FAILS),
        ("within", 1.001, REPLICATES),
        ("within", 2.0, FAILS),
    ],
)
def test_common_rules_see_what_is_planted(name, a, verdict):
    question = Question(1, trials({"A": a, "B": 1.0}), SETTINGS, {**CLAIM, "bar": 0.1})
    found, words = RULES[name][0](question)
    assert found == verdict
    assert str(words["found"]).startswith(f"ε = 0.5: {(a - 1) / 2:+.3f}")


@pytest.mark.parametrize(
    ("paired", "metrics", "said"),
    [
        (True, "m", PAIRED),
        (False, "m", WELCH),
        (["m"], "m", PAIRED),
        (["m"], "n", WELCH),
        (["m"], ["m", "n"], f"{PAIRED}, else {WELCH}"),
    ],
)
@pytest.mark.parametrize("name", ["above", "moves"])
def test_a_rule_says_which_interval_it_takes(name, paired, metrics, said):
    at = {"metric": metrics, **({"method": ["A", "B"]} if name == "moves" else CLAIM["at"])}
    claim = {**CLAIM, "rule": name, "at": at, "paired": paired, "along": CLAIM["at"], "sign": 1}
    claim |= {"point": "{metric}", "says": "", "source": "", "numbers": "", "why": ""}
    both = [trials({"A": 2.0, "B": 1.0}).assign(metric=m, repeat=[0, 1, 2, 3] * 4) for m in "mn"]
    (verdict,) = judge(ask_all([claim], 1, pd.concat(both), SETTINGS, {}))
    assert said in verdict.rule.replace("\n", " ")
    assert (WELCH in verdict.rule) == (WELCH in said)


def test_as_many_against_as_in_favour_is_a_claim_that_does_not_hold():
    """As the rule's text says on every page."""
    gaps = [(1.0, 0.5), (-1.0, 0.5), (0.0, 0.5)]
    assert direction_verdict(gaps) == direction_verdict(gaps, mostly=True) == FAILS
    for name in ("above", "mostly_above"):
        assert "does not if as many or more are against it" in RULES[name][1]


def test_a_point_that_was_not_run_is_none():
    question = Question(1, trials({"A": 1.0}), SETTINGS, CLAIM)
    assert len(question.gaps()) == 0 and str(question.gaps()) == "not run"
    assert np.isnan(question.means({"method": "C"}).found).all()


def test_claims_with_the_same_each_take_turns():
    claim = {
        "rule": "above",
        "at": CLAIM["at"],
        "source": "",
        "why": "",
        "b": {"method": "B"},
        "each": [{"rival": "A"}, {"rival": "C"}],
        "a": {"method": "{rival}"},
        "numbers": "",
    }
    data = trials({"A": 2.0, "B": 1.0, "C": 0.5})
    claims = [{**claim, "says": "{rival} first"}, {**claim, "says": "{rival} second"}]
    found = judge(ask_all(claims, 1, data, SETTINGS, {}))
    assert [v.claim for v in found] == ["A first", "A second", "C first", "C second"]
    assert [v.verdict for v in found] == [REPLICATES, REPLICATES, FAILS, FAILS]

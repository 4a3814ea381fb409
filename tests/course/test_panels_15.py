"""The panel of lesson 15: its numbers are the library's, its yardsticks are what they say, and the lesson's claims are to be seen."""

import numpy as np
import pytest

from pdsynth.course.panels import evaluating as panel15
from pdsynth.datasets import load_adult, load_cmc
from pdsynth.evaluation import counting_errors, gcap, marginal_distance
from pdsynth.evaluation.utility import one_hot


@pytest.fixture(scope="module")
def here():
    return panel15.yard()


def numbers(figure):
    """Ranges of the axes that are fixed."""
    layout = figure.to_plotly_json()["layout"]
    return {name: tuple(axis["range"]) for name, axis in layout.items() if name[1:5] == "axis" and "range" in axis}


def test_a_view_says_in_words_what_it_shows_and_is_the_same_every_time():
    first, again = panel15.view(), panel15.view()
    assert first.status in first.alt and first.figure.layout.title.text in first.alt
    assert first.figure.to_json() == again.figure.to_json()
    moved = panel15.view(epsilon=0.2)
    assert numbers(first.figure) == numbers(moved.figure) and first.status != moved.status


def test_numbers_are_those_of_the_library_on_the_same_tables(here):
    run = ("PrivBayes", 0.5, "auto")
    codes, train = here.codes(*run), here.train.codes
    assert len(codes) == len(here.held)
    assert here.errors(*run, "2-way distance").mean() == pytest.approx(marginal_distance(train, codes, here.schema, 2))
    assert here.errors(*run, "3-way distance").mean() == pytest.approx(marginal_distance(train, codes, here.schema, 3, sets=150))
    assert here.errors(*run, "counting queries") == pytest.approx(counting_errors(train, codes, here.schema, 3, 150))
    found = gcap(here.victims, codes, here.schema, panel15.KEY, panel15.SECRET).accuracy
    assert here.place(*run)[1] == found


def test_victims_were_fitted_and_judges_were_not(here):
    """The public split: who is attacked is in the table's records, who is asked about salary isn't."""
    adult = load_adult()
    codes, test = here.schema.encode(adult.frame), (adult.split == "test").to_numpy()
    assert np.array_equal(here.train.codes, codes[~test]) and np.array_equal(here.held, codes[test])
    mine = {row.tobytes() for row in np.ascontiguousarray(here.train.codes)}
    assert all(row.tobytes() in mine for row in np.ascontiguousarray(here.victims))
    assert np.array_equal(here.tested, codes[test][-panel15.TAUGHT :])
    assert len(here.held) >= 2 * panel15.TAUGHT, "other real people teach with rows that aren't tested"


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_a_copy_is_near_useful_and_the_only_risk_beyond_other_people(here, epsilon):
    for measure in panel15.MEASURES:
        state = panel15.compute(here, epsilon, "auto", measure)
        assert state["mean"][panel15.COPY] == 0 < state["mean"][panel15.OTHERS]
    others = state["place"][panel15.OTHERS]
    beyond = {name: risk - others[1] for name, (_, risk) in state["place"].items()}
    assert beyond.pop(panel15.COPY) > 0.03
    assert max(beyond.values()) <= 0, beyond


def test_the_winner_depends_on_the_measure_and_independent_wins_at_a_tiny_budget(here):
    """What the lesson says is to be seen in its panel."""

    def order(measure, epsilon=1.0):
        mean = panel15.compute(here, epsilon, "auto", measure)["mean"]
        return sorted((n for n in mean if n not in (panel15.COPY, panel15.OTHERS)), key=mean.__getitem__)

    assert order("1-way distance")[0] == "Independent" and order("3-way distance")[0] == "JTree"
    assert len({tuple(order(m)) for m in ("1-way distance", "2-way distance", "3-way distance")}) == 3
    for measure in panel15.MEASURES:
        assert "Independent" in order(measure, 0.05)[:2]
    place, chance = (panel15.compute(here, 0.05, "auto", "2-way distance")[w] for w in ("place", "chance"))
    assert place["Independent"][0] <= chance[0], "near, and no use"


def test_chance_can_be_larger_than_the_noise(here):
    """At ε = 4 Independent's single attributes are nearer than those of other real people; pairs never are."""
    one, two = (panel15.compute(here, 4.0, "auto", measure)["mean"] for measure in ("1-way distance", "2-way distance"))
    assert one["Independent"] < one[panel15.OTHERS]
    assert two[panel15.OTHERS] < min(v for n, v in two.items() if n not in (panel15.COPY, panel15.OTHERS))


def test_large_tables_are_worse_and_leak_less(here):
    """Three parents of sixteen values each: noise. "Risk" falls, for a reason that is no merit."""
    auto, large = (panel15.compute(here, 1.0, k, "2-way distance") for k in ("auto", 3))
    for name in panel15.WITH_K:
        assert large["mean"][name] > 3 * auto["mean"][name]
        assert large["place"][name][1] < auto["place"][name][1]
    assert large["mean"]["JTree"] == auto["mean"]["JTree"], "what has no k is not fitted again"


def test_a_table_of_one_class_gets_the_accuracy_of_always_saying_it(here, monkeypatch):
    constant = here.held.copy()
    aim = here.schema.index(panel15.TARGET)
    constant[:, aim] = 1
    monkeypatch.setattr(here, "codes", lambda *_: constant)
    accuracy, _ = here._place("PrivBayes", 1.0, "auto")
    assert accuracy == pytest.approx((here.tested[:, aim] == 1).mean())
    assert one_hot(constant, here.schema, [aim]).shape[1] == 2


def test_every_control_moves_the_panel():
    panel = panel15.panel()
    assert panel.error is None
    for name, value, words in (("epsilon", 0.3, "ε = 0.3"), ("k", 1, "k = 1"), ("measure", "counting queries", "counting queries"),
                               ("table", panel15.COPY, "table = copy of the records")):  # fmt: skip
        before = panel.view.figure.to_json()
        panel.set(**{name: value})
        assert panel.error is None and words in panel.figure.layout.title.text
        assert panel.view.figure.to_json() != before
    assert "+" in panel.view.status.split("points against")[0].rsplit("%), ", 1)[1]


def test_a_table_without_a_public_split_is_refused_in_words():
    with pytest.raises(ValueError, match="no public split"):
        panel15.panel(load_cmc())

"""The panel of lesson 15: the library's numbers, honest yardsticks, and the lesson's claims."""

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.course.panels import evaluating
from pdsynth.datasets.adult import load_adult
from pdsynth.datasets.loaders import load_cmc
from pdsynth.evaluation.disclosure import gcap
from pdsynth.evaluation.marginals import marginal_distance
from pdsynth.evaluation.queries import counting_errors
from pdsynth.evaluation.utility import one_hot


@pytest.fixture(scope="module")
def table():
    return evaluating.view.table()


def test_a_view_says_in_words_what_it_shows_and_is_the_same_every_time():
    first, again = evaluating.view(), evaluating.view()
    assert first.status in first.alt and first.figure.layout.title.text in first.alt
    assert first.figure.to_json() == again.figure.to_json()
    moved = evaluating.view(epsilon=0.2)
    assert ranges(first.figure) == ranges(moved.figure) and first.status != moved.status


def test_numbers_are_those_of_the_library_on_the_same_tables(table):
    run = ("PrivBayes", 0.5, "auto")
    codes, train = evaluating.codes_of(table, *run), table.records.codes
    assert len(codes) == len(table.held)
    assert evaluating.errors_of(table, run, "2-way distance").mean() == pytest.approx(
        marginal_distance(train, codes, table.schema, 2)
    )
    assert evaluating.errors_of(table, run, "3-way distance").mean() == pytest.approx(
        marginal_distance(train, codes, table.schema, 3, sets=150)
    )
    assert evaluating.errors_of(table, run, "counting queries") == pytest.approx(
        counting_errors(train, codes, table.schema, 3, 150)
    )
    found = gcap(table.victims, codes, table.schema, evaluating.KEY, evaluating.SECRET).accuracy
    assert evaluating.place_of(table, run)[1] == found


def test_victims_were_fitted_and_judges_were_not(table):
    """The public split: who is attacked was fitted, who is asked about salary wasn't."""
    adult = load_adult()
    codes, test = table.schema.encode(adult.frame), (adult.split == "test").to_numpy()
    assert np.array_equal(table.records.codes, codes[~test]) and np.array_equal(
        table.held, codes[test]
    )
    mine = {row.tobytes() for row in np.ascontiguousarray(table.records.codes)}
    assert all(row.tobytes() in mine for row in np.ascontiguousarray(table.victims))
    assert np.array_equal(table.tested, codes[test][-evaluating.TAUGHT :])
    assert len(table.held) >= 2 * evaluating.TAUGHT, (
        "other real people teach with rows that aren't tested"
    )


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_a_copy_is_near_useful_and_the_only_risk_beyond_other_people(table, epsilon):
    for measure in evaluating.MEASURES:
        state = evaluating.compute(table, epsilon, "auto", measure)
        assert state["mean"][evaluating.COPY] == 0 < state["mean"][evaluating.OTHERS]
    others = state["place"][evaluating.OTHERS]
    beyond = {name: risk - others[1] for name, (_, risk) in state["place"].items()}
    assert beyond.pop(evaluating.COPY) > 0.03
    assert max(beyond.values()) <= 0, beyond


def test_the_winner_depends_on_the_measure_and_independent_wins_at_a_tiny_budget(table):
    """What the lesson says is to be seen in its panel."""

    def order(measure, epsilon=1.0):
        mean = evaluating.compute(table, epsilon, "auto", measure)["mean"]
        return sorted(
            (n for n in mean if n not in (evaluating.COPY, evaluating.OTHERS)), key=mean.__getitem__
        )

    three = [n for n in order("3-way distance") if n in ("PrivBayes", "JTree", "Independent")]
    assert order("1-way distance")[0] == "Independent" and three[0] == "JTree"
    assert (
        len({tuple(order(m)) for m in ("1-way distance", "2-way distance", "3-way distance")}) == 3
    )
    for measure in evaluating.MEASURES:
        far = [n for n in order(measure, 0.05) if n in ("PrivBayes", "JTree", "Independent")]
        assert far[0] == "Independent"
    place = evaluating.compute(table, 0.05, "auto", "2-way distance")["place"]
    assert place["Independent"][0] <= evaluating.chance(table)[0], "near, and no use"


def test_a_table_is_called_useful_only_if_it_beats_the_majority(table):
    state, majority = evaluating.compute(table, 0.05, "auto", "2-way distance"), 0.758
    assert evaluating.chance(table)[0] == pytest.approx(majority)
    private = [n for n in evaluating.TABLES if n not in (evaluating.COPY, evaluating.OTHERS)]
    assert all(state["place"][name][0] <= majority for name in private)
    status = evaluating.view(epsilon=0.05).status
    assert status.endswith("is nearest. None is useful: no classifier beats the majority.")
    assert evaluating.view().status.endswith(" most useful.")
    assert ". None" in evaluating.say_best("A", {"A": majority, "B": 0.7}, majority)
    assert evaluating.say_best("A", {"A": 0.7, "B": 0.76}, majority).endswith(
        " A is nearest, B most useful."
    )


@pytest.mark.parametrize("name", evaluating.TABLES)
def test_a_headline_begins_as_a_sentence_and_names_a_table_once(name):
    view = evaluating.view(table=name, epsilon=4.0)
    assert view.finding[0].isupper()
    assert view.status.endswith("Of the private tables custom network is nearest and most useful.")


def test_chance_can_be_larger_than_the_noise(table):
    """At ε = 4 Independent's attributes are nearer than other real people's; pairs never are."""
    one, two = (
        evaluating.compute(table, 4.0, "auto", measure)["mean"]
        for measure in ("1-way distance", "2-way distance")
    )
    assert one["Independent"] < one[evaluating.OTHERS]
    assert two[evaluating.OTHERS] < min(
        v for n, v in two.items() if n not in (evaluating.COPY, evaluating.OTHERS)
    )


def test_large_tables_are_worse_and_leak_less(table):
    """Three parents of sixteen values each: noise. "Risk" falls, for a reason that is no merit."""
    auto, large = (evaluating.compute(table, 1.0, k, "2-way distance") for k in ("auto", 3))
    for name in evaluating.WITH_K:
        assert large["mean"][name] > 3 * auto["mean"][name]
        assert large["place"][name][1] < auto["place"][name][1]
    assert large["mean"]["JTree"] == auto["mean"]["JTree"], "what has no k is not fitted again"


def test_a_table_of_one_class_gets_the_accuracy_of_always_saying_it(table):
    constant = table.held.copy()
    aim = table.schema.index(evaluating.TARGET)
    constant[:, aim] = 1
    accuracy, _ = evaluating.use_and_risk(table, constant)
    assert accuracy == pytest.approx((table.tested[:, aim] == 1).mean())
    assert one_hot(constant, table.schema, [aim]).shape[1] == 2


def test_every_control_moves_the_panel():
    panel = evaluating.panel()
    assert panel.error is None
    for name, value, words in (
        ("epsilon", 0.3, "ε = 0.3"),
        ("k", 1, "k = 1"),
        ("measure", "counting queries", "counting queries"),
        ("table", evaluating.COPY, "table = copy of the records"),
    ):
        before = panel.view.figure.to_json()
        panel.set(**{name: value})
        assert panel.error is None and words in panel.figure.layout.title.text
        assert panel.view.figure.to_json() != before
    assert "+" in panel.view.status.split("points against")[0].rsplit("%), ", 1)[1]


def test_a_table_without_a_public_split_is_refused_in_words():
    with pytest.raises(ValueError, match="no public split"):
        evaluating.panel(load_cmc())


@pytest.mark.parametrize(("epsilon", "k"), [(1.0, "auto"), (0.1, 3), (0.05, 3)])
def test_no_table_is_outside_the_map_of_use_and_risk(table, epsilon, k):
    figure = evaluating.view(epsilon=epsilon, k=k).figure
    marks = [(t.x[0], t.y[0]) for t in figure.data if t.xaxis == "x4"]
    assert len(marks) == len(evaluating.TABLES)
    axes = figure.layout.xaxis4.range, figure.layout.yaxis4.range
    for mark in marks:
        assert all(low < value < high for value, (low, high) in zip(mark, axes, strict=True)), mark
    if k == "auto":
        assert axes == ((70, 88), (28, 68)), "it stays where it is while nothing is outside"


def test_the_map_names_its_marks_in_a_legend(table):
    """On a phone nothing hovers: a triangle and a square had no name."""
    figure = evaluating.view().figure
    named = [t.name for t in figure.data if t.xaxis == "x4" and t.showlegend is not False]
    assert named == list(evaluating.TABLES)

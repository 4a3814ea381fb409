"""The panel of lesson 18: all algorithms."""

import html
import math
from dataclasses import replace

import pytest

from pdsynth import plan
from pdsynth.course.panels import side_by_side
from pdsynth.course.panels.table import teaching_table
from pdsynth.datasets.loaders import load_cmc
from pdsynth.papers.sidebyside_methods import FOREST, ONE_TABLE


@pytest.fixture(scope="module")
def table():
    return teaching_table()


def test_contenders_are_personal_for_the_attribute_that_was_chosen(table):
    chosen = side_by_side.contenders(
        table.dataset, "education", 0.5, 2, "strict"
    )  # education is the target, too
    assert chosen["HPPrivBayes"].sensitive == "education"
    policy = chosen["custom network, policy"]
    assert policy.structure.restriction.sensitive == ("education",) and policy.structure.k == 2
    assert policy.structure.restriction.target == "occupation"
    assert {s.epsilon for s in chosen.values()} == {0.5}
    assert chosen["PrivBayes"].k == 2 and "k" not in chosen["Independent"].get_params()
    assert not set(side_by_side.LEFT_OUT) & set(chosen)


def test_no_method_stands_there_under_two_names(table):
    found = side_by_side.contenders(table.dataset, "sex", 1.0, "auto", "strict")
    assert (found[FOREST].sensitive, found[ONE_TABLE].sensitive) == (None, "sex")
    said = [repr((type(one), sorted(one.get_params().items(), key=str))) for one in found.values()]
    assert len(set(said)) == len(said)


def test_a_policy_loses_least_whatever_attribute_it_names(table):
    for sensitive in ("occupation", "sex"):
        found = side_by_side.compute(table, sensitive, 1.0, "auto", "strict")
        loss = {name: values[2] for name, values in found.items()}
        assert min(loss, key=loss.__getitem__) == "custom network, policy"
        assert loss["custom network, policy"] == pytest.approx(
            0.7 / 27
        )  # half of another table's of the 13, of the tables' 0.7, and no other table


@pytest.mark.slow
def test_the_plan_stands_in_the_status_and_frames_the_k_of_the_run(table):
    view = side_by_side.view(table, k=4)
    known = plan(table.records.schema, table.records.n, 1.0)
    assert str(known) in view.status and html.escape(known.sentence) in view.tables[0]
    dots = next(t for t in view.figure.data if t.xaxis == "x3" and t.mode == "markers")
    assert list(dots.marker.line.width) == [0, 0, 0, 0, 3, 0]
    auto = next(
        t for t in side_by_side.view(table).figure.data if t.xaxis == "x3" and t.mode == "markers"
    )
    assert list(auto.marker.line.width).index(3) == known.k


def test_published_is_red_and_a_refusal_is_named(table):
    view = side_by_side.view(table, epsilon=0.2, k=4, guarantee="published", sensitive="education")
    assert "HPPrivBayes refuses" in view.status and "No finite ε holds for" in view.status
    found = side_by_side.compute(table, "education", 0.2, 4, "published")
    assert math.isnan(found["HPPrivBayes"][0]) and found["PPBA"][2] == math.inf
    assert found["PrivBayes"][2] < math.inf


def test_side_by_side_panel_follows_its_controls_on_another_table():
    cmc = load_cmc()
    panel = side_by_side.panel(
        replace(cmc, sensitive="religion") if "religion" in cmc.schema.names else cmc
    )
    assert panel.error is None
    for name, value in (
        ("epsilon", 0.5),
        ("k", 3),
        ("guarantee", "published"),
        ("sensitive", cmc.schema.names[1]),
    ):
        before = panel.view.status
        panel.set(**{name: value})
        assert panel.error is None, name
        assert panel.view.status != before, name


@pytest.mark.slow
def test_agreement_moves_distances_and_no_loss(table):
    measured = side_by_side.compute(table, "occupation", 1.0, "auto", "strict")
    agreed = side_by_side.compute(table, "occupation", 1.0, "auto", "strict", agree=True)
    assert set(measured) - set(agreed) == set(side_by_side.LARGE)
    assert all(agreed[name].loss == measured[name].loss for name in agreed)
    assert agreed["PrivBayes"].distance < measured["PrivBayes"].distance - 0.01
    assert agreed[FOREST] == measured[FOREST], "it always agrees"
    view = side_by_side.view(table, reconcile="agree")
    before = next(trace for trace in view.figure.data if trace.name == "as measured")
    assert list(before.x) == [measured[name].distance for name in agreed]
    assert f"PrivBayes was {measured['PrivBayes'].distance:.3f} as measured" in view.status


def test_limits_of_the_plan_are_named_where_no_dot_lies_on_the_name(table):
    """At a small ε the dots of k = 0, 1, 2 lay on the words beside the lines."""
    figure = side_by_side.view(table, epsilon=0.05).figure
    named = {t.name: t.y[0] for t in figure.data if t.yaxis == "y3" and t.mode == "lines"}
    assert named == {"above: more noise than records": 1.0, "below: θ-useful": 0.25}
    titled = [note.name for note in figure.layout.annotations if note.yref == "y3"]
    assert titled == []

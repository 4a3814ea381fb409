"""The panel of lesson 11: both readings, and lone people."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.algorithms.privabn import PrivABN
from pdsynth.course.panels import privabn
from pdsynth.course.panels.table import teaching_table


@pytest.fixture(scope="module")
def table():
    return teaching_table("Adult, yes–no")


def test_the_shipped_binary_table_asks_what_it_says(table):
    frame = table.dataset.frame
    assert frame.shape == (45_222, 20)
    assert set(np.unique(frame.to_numpy())) == {0, 1}
    assert frame["over $50K"].mean() == pytest.approx(0.2478, abs=1e-4)
    assert not (frame["part time"] & frame["over 40 hours"]).any()
    assert not (frame["married"] & frame["never married"]).any()


def test_the_shipped_table_is_there_without_any_other(monkeypatch):
    monkeypatch.delenv("PDSYNTH_DATA", raising=False)
    assert privabn.available() == ["Adult, yes–no"]
    assert privabn.panel().error is None


def test_lone_people_are_read_off_the_published_tables(table):
    alone = privabn.lone(table, 0.05)
    assert alone["people"] > 100
    assert alone["published"] > 0.99
    assert 0.5 < alone["strict"] < 0.9  # what the crowd tells of anybody
    fitted, _ = privabn.fit(table, 0.05, "published")
    child, parents = fitted.network_.pairs[-1]
    keys = privabn.columns_of(table.records.codes, table.records.schema, parents)
    weights = 2 ** np.arange(len(parents))[::-1]
    mine = (
        table.records.codes[:, [table.records.schema.index(p) for p in parents]].astype(int)
        @ weights
    )
    assert np.array_equal(keys, mine)
    p = privabn.released(fitted.model_, child, keys[:50])
    assert ((0 <= p) & (p <= 1)).all()


def test_without_noise_a_lone_person_s_column_is_her_answer(table):
    fitted, _ = privabn.fit(table, 1.0, "none")
    child, parents = fitted.network_.pairs[-1]
    codes, schema = table.records.codes, table.records.schema
    keys = privabn.columns_of(codes, schema, parents)
    _, back, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alone = np.flatnonzero(counts[back] == 1)
    assert np.array_equal(
        privabn.released(fitted.model_, child, keys[alone]), codes[alone, schema.index(child)]
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 1.0])
def test_two_worlds_overlap_as_much_as_their_noise_says(epsilon):
    """A threshold at one half errs when the *difference* of two Lap(b) exceeds 1."""
    n, m = 21_574, 16
    worlds = privabn.worlds(n, m, epsilon)
    b = 2 * m / (n * epsilon / 2)
    error = 0.5 * math.exp(-1 / b) * (1 + 1 / (2 * b))  # P(difference of two Lap(b) > 1)
    found = privabn.tell_apart(worlds["published", 0], worlds["published", 1])
    assert found == pytest.approx(1 - error, abs=0.02)
    strict = privabn.tell_apart(worlds["strict", 0], worlds["strict", 1])
    assert strict <= math.exp(epsilon) / (1 + math.exp(epsilon)) + 0.02
    assert found > 0.95 > 0.6 > strict


def test_two_worlds_told_apart_by_hand():
    assert privabn.tell_apart(np.array([0.0, 0.1]), np.array([0.9, 1.0])) == 1
    assert privabn.tell_apart(np.array([0.0, 1.0]), np.array([0.0, 1.0])) == 0.5
    assert (
        privabn.tell_apart(np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])) == 0.75
    )


def test_privabn_view_compares_both_readings_with_the_library_s_errors(table):
    view = privabn.view(table, epsilon=0.05, alpha=3)
    assert "published truly infinite (the accounted part alone 1,0" in view.status
    assert "strict 0.05" in view.status
    assert (
        view.tables[0].startswith("<p><b>as published</b></p>")
        and "NOT DIFFERENTIALLY PRIVATE" in view.tables[0]
    )
    assert (
        view.tables[1].startswith("<p><b>strict</b></p>")
        and "NOT PRIVATE: reproducible" in view.tables[1]
    )
    fitted, codes = privabn.fit(table, 0.05, "strict")
    assert fitted.ledger_.epsilon == Q(1, 20)
    mean = privabn.queries(table, 3).norms(codes)[1].mean()
    assert f"{mean:.4f} strict" in view.status
    assert (
        len(
            {str(ranges(privabn.view(table, epsilon=e, alpha=3).figure)) for e in (0.01, 0.05, 1.0)}
        )
        == 1
    )


def test_privabn_follows_its_controls():
    panel = privabn.panel()
    before = panel.view.status
    panel.controls["epsilon"].value = 0.2
    panel.controls["alpha"].value = 5
    assert panel.error is None
    assert panel.view.status != before
    assert "α = 5" in panel.figure.layout.title.text


def test_common_random_numbers_are_the_same_at_every_move(table):
    a, b = (table.run(PrivABN(0.3)) for _ in range(2))
    assert a.network_ == b.network_


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 1.0])
def test_bars_of_a_lone_person_stand_whole_and_the_note_in_the_middle(epsilon):
    figure = privabn.view(epsilon=epsilon).figure
    heights = [max(t.y) for t in figure.data if t.yaxis == "y3"]
    assert max(heights) < figure.layout.yaxis3.range[1]
    (note,) = (
        n for n in figure.layout.annotations if "guessed rightly" in n.text and n.xref == "x3"
    )
    assert note.x == sum(figure.layout.xaxis3.range) / 2 and note.y < figure.layout.yaxis3.range[1]


def test_each_curve_of_the_errors_has_its_name():
    curves = [t for t in privabn.view().figure.data if t.yaxis == "y2"]
    assert [t.name for t in curves if t.showlegend] == ["as published", "strict", "no noise"]

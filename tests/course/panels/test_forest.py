"""The panel of lesson 18's forest: distances beside Independent, and a sensitive attribute."""

import numpy as np
import pytest

from pdsynth import ConsistentBayes
from pdsynth.course.panels import forest
from pdsynth.course.panels.table import teaching_table
from pdsynth.evaluation.marginals import marginal_distance


@pytest.fixture(scope="module")
def table():
    return teaching_table()


def test_distances_are_the_library_s(table):
    fake = table.records.codes[np.random.default_rng(0).integers(0, table.records.n, 45_222)]
    real, schema = table.records.codes, table.schema
    frames = schema.decode(real), schema.decode(fake)
    one, two = forest.distances(table, fake)
    assert one == pytest.approx(marginal_distance(*frames, schema, 1))
    assert two == pytest.approx(marginal_distance(*frames, schema, 2))


def test_the_forest_is_nearer_than_single_columns_and_says_so(table):
    view = forest.view(table, epsilon=1.0)
    mine, single = forest.at(table, 1.0), forest.line(table)
    assert mine == pytest.approx((single[0][4], single[1][4])), "ε = 1 is a point of the line"
    assert f"Independent {mine[1]:.4f}" in view.status and "13 pairs measured" in view.status
    shown = [float(trace.y[0]) for trace in view.figure.data if trace.name == "the forest"]
    assert shown and shown[0] < 0.01, "one column"
    two = float(view.status.split("Two-way distance ")[1].split(",")[0])
    assert two < 0.6 * mine[1]


def test_a_sensitive_attribute_is_marked_and_stands_in_one_table_besides_its_own(table):
    view = forest.view(table, sensitive="occupation")
    marked = next(trace for trace in view.figure.data if trace.name == "sensitive")
    assert list(marked.text) == ["occupation"]
    assert "occupation stands in one table besides its own" in view.status
    fitted = table.run(ConsistentBayes(1.0, rounds=0, sensitive="occupation"))
    assert sum("occupation" in names for names in fitted.measured_ if len(names) > 1) == 1
    loss = float(fitted.ledger_.attribute_epsilon()["occupation"])
    assert f"costs {loss:.3g} of 1" in view.status


def test_every_attribute_has_the_noise_of_a_table_in_sight(table):
    for at in ({"epsilon": 0.05}, {}, {"epsilon": 0.05, "sensitive": "fnlwgt"}):
        figure = forest.view(table, **at).figure
        dots = [trace for trace in figure.data if (trace.xaxis, trace.yaxis) == ("x2", "y")]
        low, high = figure.layout.xaxis2.range
        noise = [x for trace in dots for x in trace.x if trace.mode == "markers"]
        assert len(noise) == len(table.schema) and all(10**low < x < 10**high for x in noise)


def test_bars_are_noise_over_mean_cells(table):
    fitted = table.run(ConsistentBayes(1.0, rounds=0))
    found = forest.noise_of_tables(fitted)
    assert sum(len(names) == 2 for names in found) == len(fitted.network_.edges) == 13
    assert found[frozenset(["sex"])] == pytest.approx(32768 / 203 * 2 / table.records.n)
    entry = next(e for e in fitted.ledger_.entries if e.step.count(", ") == 1)
    names = entry.step[6:-1].split(", ")
    cells = np.prod([table.schema[name].size for name in names])
    wanted = float(entry.scale) * cells / table.records.n
    assert found[frozenset(names)] == pytest.approx(wanted)

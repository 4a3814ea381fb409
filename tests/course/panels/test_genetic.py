"""The panel of lesson 13: the search replayed."""

import math

import pytest
from panel_tools import ranges

from pdsynth.baselines import exact_search
from pdsynth.course.panels import genetic
from pdsynth.course.panels.table import teaching_table


@pytest.fixture(scope="module")
def table():
    return teaching_table()


@pytest.mark.parametrize("generation", [0, 7, 400])
def test_replay_shows_what_was_stored(table, generation):
    view = genetic.view(table, generation=generation)
    found, best = (
        genetic.search(table, 2, 200, 10, 0.07, 0),
        exact_search(table.information, 2).fitness,
    )
    value = found.history[generation, 0]
    assert f"{value:.3f} bits, the exact optimum {best:.3f}" in view.status
    network = found.network(table.schema.names, generation)
    column = {name: j for j, name in enumerate(table.schema.names)}
    assert sum(table.information[column[c], column[p]] for p, c in network.edges) == pytest.approx(
        value
    )


def test_a_button_says_the_share_that_the_chart_has():
    """79.8% stood in the chart and 79.9% beside it: shares are rounded down in both."""
    base = genetic.view()
    for button in genetic.view.tries[:2]:
        view = genetic.view(**button.sets)
        (note,) = (n.text for n in view.figure.layout.annotations if n.text.endswith("of the best"))
        assert note.removeprefix("<b>").split("<")[0] in button.tell(base, view)


def test_replay_runs_no_second_search(table, monkeypatch):
    genetic.view(table)
    monkeypatch.setattr(genetic, "genetic_search", lambda *args: pytest.fail("searched again"))
    for generation, last in ((0, 400), (399, 400), (399, 100)):
        genetic.view(table, generation=generation, generations=last)


def test_a_generation_beyond_the_last_shows_the_last(table):
    view = genetic.view(table, generation=300, generations=50)
    assert "generation = 50 of 50" in view.figure.layout.title.text
    assert view.status == genetic.view(table, generation=50, generations=50).status


def test_fewer_generations_are_the_beginning_of_more(table):
    """e cuts the same table short, so moving it never searches again."""
    short, whole = (genetic.view(table, generation=20, generations=e).figure for e in (30, 400))
    assert list(short.data[0].y) == list(whole.data[0].y)


def test_arcs_are_marked_by_what_the_optimum_has(table):
    found, best = genetic.search(table, 2, 200, 10, 0.07, 0), genetic.optimum(table, 2)
    network, optimum = found.network(table.schema.names, 40), best.network(table.schema.names)
    arcs = {
        t.name: sum(v is None for v in t.x)
        for t in genetic.view(table).figure.data
        if t.name and t.name.startswith("edge")
    }
    own = genetic.shared(network, optimum)
    assert arcs == {"edge of the optimum, too": own, "edge of its own": len(network.edges) - own}


def test_search_panel_follows_its_controls():
    panel = genetic.panel()
    first = ranges(panel.view.figure)
    for name, value in {
        "generation": 0,
        "elite": 3,
        "population": 40,
        "r": 0.5,
        "k": 1,
        "seed": 4,
    }.items():
        before = panel.view.status
        panel.controls[name].value = value
        assert panel.error is None
        assert panel.view.status != before
    assert set(ranges(panel.view.figure)) == set(first)
    panel.controls[
        "elite"
    ].value = 50  # S > P = 40: the library's words stand in the panel, the last good figure stays
    assert "population = 40 is smaller than elite = 50" in str(panel.error)


def test_the_shown_generation_is_named_once_though_the_slider_stands_beyond_it():
    title = genetic.panel().set(generations=10).figure.layout.title
    assert "generation = 10 of 10" in title.text
    assert "generation" not in str(title.subtitle.text)


@pytest.mark.parametrize(("generation", "last"), [(0, 400), (400, 400), (10, 10)])
def test_the_mark_of_a_generation_isn_t_cut_at_the_ends(table, generation, last):
    figure = genetic.view(table, generation=generation, generations=last).figure
    start, end = figure.layout.xaxis.range
    (place,) = (
        math.log10(t.x[0]) for t in figure.data if "size" in t.marker and t.marker.size == 14
    )
    assert start + 0.03 * (end - start) < place < end - 0.03 * (end - start)
    assert figure.layout.yaxis.title.text == "information, bits"


def test_private_scores_are_no_bits(table):
    view = genetic.view(table, scores="private")
    assert view.figure.layout.yaxis.title.text == "sum, noisy R" and "noisy R" in view.status
    assert not any("bits" in (trace.hovertemplate or "") for trace in view.figure.data)


def test_only_the_optimum_has_a_hundred_percent(table):
    """23 of 25 edges, and 99.95 % of the bits, are not 100%."""
    view = genetic.view(table, generation=400)
    assert "400 generations reach 99.9% of" in view.status
    assert "<b>99.9%</b> of the best" in {note.text for note in view.figure.layout.annotations}
    assert genetic.reach(1 - 1e-12) == "100%"

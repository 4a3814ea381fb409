"""Panels of lessons 13 and 14: pure views first, then through the live widget as a student moves it."""

from fractions import Fraction

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.course.panels import custom, genetic
from pdsynth.structure import exact_search


@pytest.fixture(scope="module")
def search():
    return genetic.room()


@pytest.fixture(scope="module")
def house():
    return custom.room()


# --- 13 the search replayed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("generation", [0, 7, 400])
def test_replay_shows_what_was_stored(search, generation):
    view = genetic.view(generation=generation, here=search)
    found, best = search.search(2, 200, 10, 0.07, 0), exact_search(search.weights, 2).fitness
    value = found.history[generation, 0]
    assert f"{value:.3f} bits, {value / best:.1%} of the exact optimum {best:.3f}" in view.status
    network = found.network(search.names, generation)
    column = {name: j for j, name in enumerate(search.names)}
    assert sum(search.weights[column[c], column[p]] for p, c in network.edges) == pytest.approx(value)


def test_replay_runs_no_second_search(search, monkeypatch):
    genetic.view(here=search)
    monkeypatch.setattr(genetic, "genetic", lambda *args: pytest.fail("searched again"))
    for generation, last in ((0, 400), (399, 400), (399, 100)):
        genetic.view(generation=generation, generations=last, here=search)


def test_a_generation_beyond_the_last_shows_the_last(search):
    view = genetic.view(generation=300, generations=50, here=search)
    assert "generation 50 of 50" in view.figure.layout.title.text
    assert view.status == genetic.view(generation=50, generations=50, here=search).status


def test_fewer_generations_are_the_beginning_of_more(search):
    """e cuts the same search short, so moving it never searches again."""
    short, whole = (genetic.view(generation=20, generations=e, here=search).figure for e in (30, 400))
    assert list(short.data[0].y) == list(whole.data[0].y)


def test_arcs_are_marked_by_what_the_optimum_has(search):
    found, best = search.search(2, 200, 10, 0.07, 0), search.optimum(2)
    network, optimum = found.network(search.names, 40), best.network(search.names)
    arcs = {t.name: sum(v is None for v in t.x) for t in genetic.view(here=search).figure.data if t.name and t.name.startswith("edge")}
    own = genetic.shared(network, optimum)
    assert arcs == {"edge of the optimum, too": own, "edge of its own": len(network.edges) - own}


def test_search_panel_follows_its_controls():
    panel = genetic.panel()
    first = ranges(panel.view.figure)
    for name, value in {"generation": 0, "elite": 3, "population": 40, "r": 0.5, "k": 1, "seed": 4}.items():
        before = panel.view.status
        panel.controls[name].value = value
        assert panel.error is None
        assert panel.view.status != before
    assert set(ranges(panel.view.figure)) == set(first)
    panel.controls["elite"].value = 50  # S > P = 40: the library's words stand in the panel, the last good figure stays
    assert "population = 40 is smaller than elite = 50" in str(panel.error)


# --- 14 the custom network -----------------------------------------------------------------------------------------------


def test_custom_network_detaches_and_the_paper_s_setting_replicates(house):
    state = custom.compute(house, 1.0, 4, "relationship", "none", "I")
    rest = [j for j, name in enumerate(house.schema.names) if name not in ("relationship", "salary")]
    row = house.schema.index("relationship")
    income = house.schema.index("salary")
    assert state["heat"]["custom"][row, rest].max() < 0.3 * state["heat"]["DS"][row, rest].max()
    assert state["heat"]["custom"][row, income] == pytest.approx(state["heat"]["original"][row, income], abs=0.02)
    zero, scores = state["zero rule"], state["scores"]
    assert scores["custom"]["disclosure"] == pytest.approx(zero, abs=0.03), "Table X: 42.2 % against 40.5 %"
    assert scores["DS"]["disclosure"] > zero + 0.12, "Table X: 56.3 %"
    assert scores["custom"]["utility"] == pytest.approx(scores["DS"]["utility"], abs=0.02), "Table XII: 80.8 against 81.4 %"


@pytest.mark.parametrize("sensitive", custom.SENSITIVE)
def test_the_loss_is_known_before_the_run(house, sensitive):
    for epsilon in (0.5, 2.0):
        state = custom.compute(house, epsilon, 1, sensitive, "strict", "r")
        ledger = state["fitted"]["custom"].ledger_
        assert state["loss"]["custom"] == Fraction(7, 150) * Fraction(str(epsilon))
        assert state["loss"]["DS"] > state["loss"]["custom"]
        assert ledger.epsilon == Fraction(str(epsilon))
        assert ledger.guaranteed_ex_ante == (sensitive,)


def test_heat_maps_by_hand():
    from privacy_tools import records_of

    records = records_of([[0, 0, 1], [1, 1, 1], [0, 0, 1], [1, 1, 1]], (2, 2, 2))
    r, bits = custom.strengths(records, "r"), custom.strengths(records, "I")
    assert np.isnan(np.diag(r)).all()
    assert (r[0, 1], r[0, 2]) == (1, 0), "a constant column has no correlation"
    assert bits[0, 1] == 1


def test_original_is_judged_once(house, monkeypatch):
    custom.view(k="1", here=house)
    calls = []
    judge = house.judge
    monkeypatch.setattr(house, "judge", lambda *args: calls.append(1) or judge(*args))
    custom.view(k="2", here=house)
    assert len(calls) == 2, "the two synthetic tables"


@pytest.mark.parametrize("measure", ["r", "I"])
def test_axes_stay_where_they_are(house, measure):
    first, moved = (custom.view(epsilon=e, k="1", measure=measure, here=house) for e in (0.3, 3.0))
    drawn = [{name: span for name, span in ranges(v.figure).items() if name != "yaxis6"} for v in (first, moved)]
    assert drawn[0] == drawn[1]
    assert first.alt.endswith(first.status)


def test_custom_panel_follows_its_controls():
    panel = custom.panel()
    assert panel.error is None
    for name, value in {"epsilon": 0.4, "k": "2", "sensitive": "sex", "guarantee": "none", "measure": "I"}.items():
        before = panel.view.alt
        panel.controls[name].value = value
        assert panel.error is None
        assert panel.view.alt != before or name == "measure"
    assert "∞" in [t for trace in panel.view.figure.data if trace.type == "bar" for t in trace.text]

"""The panel of lesson 09: risk entropy."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.algorithms import risk_entropy_weights
from pdsynth.core.measures import entropy, normalised_risk_entropy
from pdsynth.core.records import Records
from pdsynth.course.panels import risk_entropy
from pdsynth.course.panels.table import teaching_table
from pdsynth.datasets.loaders import load_cmc
from pdsynth.published.noise import CommonNoise


@pytest.fixture(scope="module")
def table():
    return teaching_table("complete", seed=9)


@pytest.mark.parametrize("guarantee", ["strict", "published"])
@pytest.mark.parametrize("sign", [1, -1, 0])
def test_shares_are_those_of_the_formula_and_the_ledger_closes(table, guarantee, sign):
    records = table.records
    state = risk_entropy.run(records, Q(1), Q(1, 10), sign, guarantee, CommonNoise(1))
    assert state["ledger"].finite == 1
    assert sum(state["share"].values()) == 1
    assert state["share"] == risk_entropy_weights({n: sign * v for n, v in state["oe"].items()})
    assert state["ledger"].epsilon == (1 if guarantee == "strict" else math.inf)
    if guarantee == "strict":
        assert state["tables"] == Q(9, 10)
        assert [c for c in state["ledger"].check() if not c.startswith("L10")] == []
    else:
        assert state["oe"] == state["raw"]
        assert [e.step for e in state["ledger"].unaccounted] == ["entropies"]
    scales = {e.step[6:-1]: e.scale for e in state["ledger"].entries if e.step.startswith("table(")}
    assert all(scale == 2 / (state["share"][n] * state["tables"]) for n, scale in scales.items())


def test_raw_entropies_move_the_noise_of_other_tables():
    """The lesson's attack: one person's answer changes the scale of another table."""
    schema = load_cmc().schema
    codes = np.zeros((50, len(schema)), dtype=np.uint8)
    changed = codes.copy()
    changed[0, 0] = 1

    def scales(rows, guarantee):
        state = risk_entropy.run(
            Records(rows, schema), Q(1), Q(1, 10), 1, guarantee, CommonNoise(3)
        )
        return {e.step: e.scale for e in state["ledger"].entries if e.step.startswith("table(")}

    other = f"table({schema.names[1]})"
    assert scales(codes, "published")[other] != scales(changed, "published")[other]


def test_entropies_are_normalised_by_the_declared_domain(table):
    state = risk_entropy.run(table.records, Q(1), Q(1, 10), 1, "published", CommonNoise(1))
    for name in ("sex", "age", "native-country"):
        counts = table.records.table((table.schema.index(name),))
        assert state["raw"][name] == pytest.approx(
            entropy(counts) / math.log2(table.schema[name].size)
        )
    assert (
        max(state["raw"], key=state["raw"].__getitem__) == "sex"
    )  # the paper's own example of a harmless attribute


def test_axes_stay_where_they_are_and_the_words_follow(table):
    views = [
        risk_entropy.view(table, epsilon=e, share=s, weights=w, reading=r, records=n)
        for e, s, w, r, n in (
            (1.0, 0.1, "paper, more OE, more noise", "noisy histograms", "45,222"),
            (0.1, 0.5, "reversed", "noisy histograms", "453"),
            (4.0, 0.01, "equal shares", "raw, as published", "4,523"),
        )
    ]
    assert len({str(ranges(v.figure)) for v in views}) == 1
    assert "the ledger closes at 1" in views[0].status
    assert views[2].status.startswith("Every table gets 6.7%")
    assert "no finite ε" in views[2].status


def test_normalised_entropy_of_the_lesson():
    assert normalised_risk_entropy(np.array([8, 4, 2, 2, 0, 0, 0, 0])) == pytest.approx(7 / 12)


def test_what_is_drawn_beside_the_dots_of_the_noise_has_a_name():
    figure = risk_entropy.view().figure
    names = [t.name for t in figure.data if t.xaxis == "x3" and t.showlegend is not False]
    assert names == ["share", "equal shares"]


def test_the_entropies_title_says_whether_they_set_the_shares():
    for weights, words in (("reversed", "sets the shares"), ("equal shares", "sets no share here")):
        charts = risk_entropy.view(weights=weights).figure.layout.meta["charts"]
        assert charts["xy"]["title"] == f"Normalised risk entropy OE {words}"


def test_a_button_calls_a_column_what_the_headline_calls_it(table):
    view = risk_entropy.view(table)
    assert view.facts["most"] == "capital loss"
    assert view.finding.startswith("Capital loss gets the largest share")

"""Panels of lessons 12 and 18: pure views against the library, then through the live widget as a student moves it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pdsynth import PPBA, plan
from pdsynth.course.panels import hpprivbayes, ppba, side_by_side
from pdsynth.datasets import load_cmc


@pytest.fixture(scope="module")
def room():
    return hpprivbayes.studio()


# --- 12 PPBA ---------------------------------------------------------------------------------------------------------------


def test_the_panel_shows_the_library_s_own_run(room):
    fitted, distances = ppba.fit(room, 1.0, 2, 1.2, "strict")
    again = room.run(PPBA(1.0, k=2, q=1.2))
    assert fitted.network_ == again.network_
    assert fitted.ledger_.epsilon == 1 and "audited ε = 1;" in ppba.view(1.0, 2, 1.2, room=room).status
    assert distances.shape == (14, 14)


def test_shares_follow_the_rank_in_the_ratio_q(room):
    for q in (0.7, 1.0, 1.5):
        fitted, _ = ppba.fit(room, 1.0, 1, q, "strict")
        share = [ppba.shares(fitted)[name] for name in ppba.ranked(fitted)]
        assert sum(share) == pytest.approx(1)
        assert np.array(share[1:]) / share[:-1] == pytest.approx(np.full(13, q), rel=0.02)


def test_q_moves_the_noise_of_strong_pairs_and_hardly_what_attributes_lose(room):
    """What the lesson says is to be seen in its panel."""
    found = ppba.sweep(room, 1.0, 1, "strict")
    at = {q: i for i, q in enumerate(ppba.RATIOS)}
    assert found["strongest"][at[0.85]] < found["strongest"][at[1.0]] < 0.1 * found["strongest"][at[2.0]]
    assert found["mean"][at[1.0]] == min(found["mean"])
    assert max(found["dearest"]) < 1.5 * min(found["dearest"])
    narrow = ppba.sweep(room, 0.2, 1, "strict")
    assert all(low > high for low, high in zip(narrow["mean"], found["mean"], strict=True))


def test_with_raw_associations_the_network_is_the_raw_tree_and_no_loss_is_drawn(room):
    fitted, _ = ppba.fit(room, 0.1, 1, 1.2, "published")
    assert {frozenset(e) for e in fitted.network_.edges} == ppba.raw_tree(room)
    view = ppba.view(0.1, 1, 1.2, "published", room)
    assert "audited ε = infinite" in view.status and "costs" not in view.status
    lines = [t for t in view.figure.data if t.name in ("dearest attribute", "occupation")]
    assert all(y is None for t in lines for y in t.y)
    assert "∞, unaccounted" in view.tables[0]


def test_ppba_panel_follows_its_controls():
    panel = ppba.panel(load_cmc())
    assert panel.error is None
    for name, value, words in (("q", 0.5, "q = 0.5"), ("k", 3, "k = 3"), ("epsilon", 2.0, "ε = 2"), ("guarantee", "none", "no noise")):
        panel.set(**{name: value})
        assert panel.error is None
        assert words in panel.figure.layout.title.text


# --- 18 side by side -------------------------------------------------------------------------------------------------------


def test_contenders_are_personal_for_the_attribute_that_was_chosen(room):
    chosen = side_by_side.contenders(room.dataset, "education", 0.5, 2, "strict")  # education is the target, too
    assert chosen["HPPrivBayes"].sensitive == "education"
    policy = chosen["custom network, policy"]
    assert policy.structure.restriction.sensitive == ("education",) and policy.structure.k == 2
    assert policy.structure.restriction.target == "occupation"
    assert {s.epsilon for s in chosen.values()} == {0.5}
    assert chosen["PrivBayes"].k == 2 and "k" not in chosen["Independent"].get_params()
    assert not set(side_by_side.LEFT_OUT) & set(chosen)


def test_a_policy_loses_least_whatever_attribute_it_names(room):
    for sensitive in ("occupation", "sex"):
        found = side_by_side.compute(room, sensitive, 1.0, "auto", "strict")
        loss = {name: values[2] for name, values in found.items()}
        assert min(loss, key=loss.__getitem__) == "custom network, policy"
        assert loss["custom network, policy"] == pytest.approx(0.7 / 27)  # r = 1/26 of the tables' 0.7, and no other table


def test_the_plan_stands_in_the_status_and_frames_the_k_of_the_run(room):
    view = side_by_side.view(1.0, 4, room=room)
    known = plan(room.records.schema, room.records.n, 1.0)
    assert str(known) in view.status and known.sentence in view.tables[0]
    bars = next(t for t in view.figure.data if t.xaxis == "x3" and t.type == "bar")
    assert list(bars.marker.line.width) == [0, 0, 0, 0, 3, 0]
    auto = next(t for t in side_by_side.view(1.0, room=room).figure.data if t.xaxis == "x3" and t.type == "bar")
    assert list(auto.marker.line.width).index(3) == known.k


def test_published_is_red_and_a_refusal_is_named(room):
    view = side_by_side.view(0.2, 4, "published", "education", room)
    assert "HPPrivBayes refuses" in view.status and "No finite ε holds for" in view.status
    found = side_by_side.compute(room, "education", 0.2, 4, "published")
    assert math.isnan(found["HPPrivBayes"][0]) and found["PPBA"][2] == math.inf
    assert found["PrivBayes"][2] < math.inf


def test_side_by_side_panel_follows_its_controls_on_another_table():
    cmc = load_cmc()
    panel = side_by_side.panel(replace(cmc, sensitive="religion") if "religion" in cmc.schema.names else cmc)
    assert panel.error is None
    for name, value in (("epsilon", 0.5), ("k", 3), ("guarantee", "published"), ("sensitive", cmc.schema.names[1])):
        before = panel.view.status
        panel.set(**{name: value})
        assert panel.error is None, name
        assert panel.view.status != before, name

"""The panel of lesson 12: the ratio q."""

import numpy as np
import pytest

from pdsynth import PPBA
from pdsynth.course.panels import ppba
from pdsynth.course.panels.table import teaching_table
from pdsynth.datasets.loaders import load_cmc


@pytest.fixture(scope="module")
def table():
    return teaching_table()


def test_the_panel_shows_the_library_s_own_run(table):
    fitted, distances = ppba.fit(table, 1.0, 2, 1.2, "strict")
    again = table.run(PPBA(1.0, k=2, q=1.2))
    assert fitted.network_ == again.network_
    assert (
        fitted.ledger_.epsilon == 1
        and "true ε = 1." in ppba.view(table, epsilon=1.0, k=2, q=1.2).status
    )
    assert distances.shape == (14, 14)


def test_shares_follow_the_rank_in_the_ratio_q(table):
    for q in (0.7, 1.0, 1.5):
        fitted, _ = ppba.fit(table, 1.0, 1, q, "strict")
        share = [ppba.shares(fitted)[name] for name in ppba.rank(fitted)]
        assert sum(share) == pytest.approx(1)
        assert np.array(share[1:]) / share[:-1] == pytest.approx(np.full(13, q), rel=0.02)


def test_q_moves_the_noise_of_strong_pairs_and_hardly_what_attributes_lose(table):
    """What the lesson says is to be seen in its panel."""
    found = ppba.sweep(table, 1.0, 1, "strict")
    at = {q: i for i, q in enumerate(ppba.RATIOS)}
    assert (
        found["strongest"][at[0.85]]
        < found["strongest"][at[1.0]]
        < 0.1 * found["strongest"][at[2.0]]
    )
    assert found["mean"][at[1.0]] == min(found["mean"])
    assert max(found["dearest"]) < 1.6 * min(found["dearest"])
    narrow = ppba.sweep(table, 0.2, 1, "strict")
    assert all(low > high for low, high in zip(narrow["mean"], found["mean"], strict=True))


def test_with_raw_associations_the_network_is_the_raw_tree_and_no_loss_is_drawn(table):
    fitted, _ = ppba.fit(table, 0.1, 1, 1.2, "published")
    assert {frozenset(e) for e in fitted.network_.edges} == {
        frozenset(e) for e in ppba.raw_tree(table)
    }
    view = ppba.view(table, epsilon=0.1, k=1, q=1.2, guarantee="published")
    assert "true ε = infinite" in view.status and "costs" not in view.status
    lines = [t for t in view.figure.data if t.name in ("dearest column", "occupation")]
    assert all(y is None for t in lines for y in t.y)
    (note,) = (n for n in view.figure.layout.annotations if "no finite" in n.text)
    assert max(map(len, note.text.split("<br>"))) <= 16, "it was cut on a phone"
    assert "∞, read raw" in view.tables[0]


def test_ppba_panel_follows_its_controls():
    panel = ppba.panel(load_cmc())
    assert panel.error is None
    for name, value, words in (
        ("q", 0.5, "q = 0.5"),
        ("k", 3, "k = 3"),
        ("epsilon", 2.0, "ε = 2"),
        ("guarantee", "none", "no noise"),
    ):
        panel.set(**{name: value})
        assert panel.error is None
        assert words in panel.figure.layout.title.text


def test_the_sentence_names_the_sensitive_attribute_once_and_no_share_is_nothing(table):
    said = ppba.view(table, epsilon=4.0).status
    assert said.endswith(" A change of occupation costs 1.93.")
    assert "education-num, gets 0.0061% of" in ppba.view(table, q=2.0).status


def test_between_the_marked_ratios_the_chart_says_what_the_verdict_says(table):
    """It read its numbers off a straight line between two ratios: 27% for 38% at q = 1.7."""
    view = ppba.view(table, q=1.7)
    assert view.finding.startswith("The strongest pairs are off by 38%, all by 7.9%")
    said = [note.text for note in view.figure.layout.annotations]
    assert {"strongest pairs: <b>38%</b>", "all pairs: <b>7.9%</b>"} <= set(said)


def test_what_a_button_says_is_what_the_headline_says(table):
    """A button told of 0.055 for 0.054, under a headline that fell from 16% to 9.6%."""
    start = ppba.view(table, epsilon=1.0, k=1, q=1.5, guarantee="strict")
    for one in ppba.view.tries[:3]:
        settings = {"epsilon": 1.0, "k": 1, "q": 1.5, "guarantee": "strict"} | one.sets
        view = ppba.view(table, **settings)
        for facts in (start.facts, view.facts):
            assert f"{facts['strong']:.1%}" in one.tell(start, view), one.label

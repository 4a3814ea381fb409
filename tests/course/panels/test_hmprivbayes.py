"""The panel of lesson 10: clusters of bits."""

import numpy as np
import pytest

from pdsynth.algorithms.hmprivbayes import HMPrivBayes
from pdsynth.core.errors import BudgetError
from pdsynth.course.panels import hmprivbayes
from pdsynth.course.panels.words import ledger_summary


@pytest.fixture(scope="module")
def table():
    return hmprivbayes.source()


def places_of(table, fitted):
    binary = table.records.binary()
    owners = dict(zip(binary.schema.names, binary.owners, strict=True))
    parts = hmprivbayes.pieces(fitted, owners)
    return {bit: i for i, bits in enumerate(parts.values()) for bit in bits}


def test_hmprivbayes_view_is_the_library_s_own_run(table):
    view = hmprivbayes.view(table)
    fitted = table.run(HMPrivBayes(1.0, k=3, l=2, eta=0.1))
    x, _ = hmprivbayes.edges(fitted, places_of(table, fitted))
    assert list(view.figure.data[0].y) == x, "the same network"
    assert view.tables[0] == ledger_summary(fitted.ledger_) and fitted.ledger_.epsilon == 1
    assert np.shape(next(t for t in view.figure.data if t.type == "heatmap").z) == (15, 15)
    assert "Too noisy" not in view.status


def test_published_ledger_shows_12_75_and_the_raw_entropies(table):
    view = hmprivbayes.view(table, guarantee="published")
    assert "true ε = infinite (12.75 without the raw entropies)" in view.status
    text = view.tables[0]
    assert "NOT DIFFERENTIALLY PRIVATE" in text
    assert text.count("∞, read raw") == 1
    assert "3978/361" in text  # ⌊52/2⌋ · 0.4238
    assert text.split("<details>")[0].count("312/361 ≈ 0.8643") == 2  # k · 0.2881, twice


def test_pieces_of_torn_attributes_add_up_to_all_bits(table):
    binary = table.records.binary()
    owners = dict(zip(binary.schema.names, binary.owners, strict=True))
    for guarantee in ("strict", "published"):
        fitted = table.run(HMPrivBayes(1.0, k=3, l=2, eta=0.1, guarantee=guarantee))
        parts = hmprivbayes.pieces(fitted, owners)
        assert sorted(b for bits in parts.values() for b in bits) == sorted(binary.schema.names)
        assert (len(parts) == 15) == (guarantee == "strict")


def test_arcs_join_pieces_once_and_inside_clusters(table):
    fitted = table.run(HMPrivBayes(1.0, k=3, l=2, eta=0.1))
    binary = table.records.binary()
    parts = hmprivbayes.pieces(fitted, dict(zip(binary.schema.names, binary.owners, strict=True)))
    places = {bit: i for i, bits in enumerate(parts.values()) for bit in bits}
    cluster = [c for c, _ in parts]
    x, y = hmprivbayes.edges(fitted, places)
    assert len(x) == len(y)
    assert x.count(None) == len(
        {(places[p], places[c]) for p, c in fitted.network_.edges if places[p] != places[c]}
    )
    assert all(cluster[places[p]] == cluster[places[c]] for p, c in fitted.network_.edges)
    assert min(v for v in y if v is not None) > -1e-9


def test_every_table_has_a_dot_and_drowned_ones_are_counted_once(table):
    view = hmprivbayes.view(table, epsilon=0.05, k=2, l=3)
    noise = [x for t in view.figure.data if t.xaxis == "x2" and t.mode == "markers" for x in t.x]
    drowned = sum(x > 1 for x in noise if x is not None)
    assert len(noise) == 52 and 15 < drowned < 52
    assert f"Noise drowns {drowned} of 52 tables" in view.status
    assert f"<b>{drowned}</b> drowned →" in {note.text for note in view.figure.layout.annotations}


def test_tables_without_noise_of_their_own_have_no_dot_and_the_title_says_so(table):
    for guarantee, words in (("strict", "derived ones have no dot"), ("none", "none has a dot")):
        figure = hmprivbayes.view(table, guarantee=guarantee).figure
        noise = [x for t in figure.data if t.xaxis == "x2" and t.mode == "markers" for x in t.x]
        bare = sum(x is None for x in noise)
        assert 0 < bare < 52 if guarantee == "strict" else bare == 52
        assert figure.layout.meta["charts"]["x2y"]["title"].endswith(words)


def test_without_pairs_together_none_is_said_to_be_off_by_nothing():
    together, apart = hmprivbayes.TOGETHER, hmprivbayes.APART
    assert hmprivbayes.compare({apart: 0.1}) == "All pairs are cut apart, and are off by 10%. "
    assert hmprivbayes.compare({together: 0.1}).startswith("All pairs share a cluster")
    assert hmprivbayes.compare({together: 0.1, apart: 0.1}).startswith("Pairs cut apart are no")


def test_too_noisy_to_cluster_is_said_and_not_warned(table, recwarn):
    view = hmprivbayes.view(table, epsilon=0.1)
    assert "Too noisy to cluster: one cluster instead." in view.status
    assert not [w for w in recwarn if issubclass(w.category, UserWarning)]
    assert "Too noisy" not in hmprivbayes.view(table, epsilon=0.1, k=1).status


def test_hmprivbayes_panel_refuses_more_clusters_than_attributes_and_keeps_the_figure(table):
    panel = hmprivbayes.panel()
    panel.set(k=16)
    assert isinstance(panel.error, BudgetError)
    assert "1 to d = 15" in str(panel.error)
    assert "k = 3" in panel.figure.layout.title.text
    panel.set(guarantee="published")
    assert panel.error is None
    assert "k = 16" in panel.figure.layout.title.text

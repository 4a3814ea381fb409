"""Panels of lessons 08 to 11: pure views against the library and by hand, then through the live widget as a student moves it."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.budgets import risk_entropy_weights
from pdsynth.counting.tables import Records
from pdsynth.course.panels import clustering, hmprivbayes, hpprivbayes, privabn, risk_entropy
from pdsynth.datasets import load_cmc
from pdsynth.errors import BudgetError
from pdsynth.measures import entropy, maximal_information_coefficient, normalised_risk_entropy
from pdsynth.privacy.ledger import Ledger
from pdsynth.privacy.mechanisms import CommonNoise
from pdsynth.synthesizers import HMPrivBayes, PrivABN

# --- 08 MIC and clusters -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people():
    return clustering.room()


def test_the_grid_on_show_attains_the_maximal_information_coefficient(people):
    pair = people.schema.index("age"), people.schema.index("marital-status")
    grid = people.grid(pair)
    assert grid.value == maximal_information_coefficient(people.records.table(pair))
    figure = clustering.view(here=people).figure
    upright = [s for s in figure.layout.shapes if s.type == "line" and s.x0 == s.x1]
    assert [s.x0 for s in upright] == [cut - 0.5 for cut in grid.row_cuts]
    lying = [s for s in figure.layout.shapes if s.type == "line" and s.y0 == s.y1]
    assert [s.y0 for s in lying] == [cut - 0.5 for cut in grid.column_cuts]
    assert f"MIC(age, marital-status) = {grid.value:.3f} on a {len(grid.row_cuts) + 1} × {len(grid.column_cuts) + 1} grid" in (
        clustering.view(here=people).status
    )


def test_on_two_values_mic_is_information_and_so_are_their_sensitivities(people):
    pair = people.schema.index("sex"), people.schema.index("native-country")
    found = clustering.strengths(people, pair)
    assert found["MIC"] == pytest.approx(found["I"])
    assert found["R"] > 100 * found["I"]


def test_published_similarities_are_printed_and_truly_cost_half_the_columns(people):
    for guarantee, true in (("strict", Q(2, 5)), ("published", 19 * Q(2, 5))):
        matrix, names, ledger = clustering.similarities(people, guarantee, Q(2, 5))
        assert matrix.shape == (len(names), len(names))
        assert np.array_equal(matrix, matrix.T)
        assert ledger.finite == true
        assert ledger.claimed == Q(2, 5)
    (entry,) = ledger.entries
    d = 38
    assert entry.sensitivity / entry.scale == 19 * Q(2, 5)
    assert entry.scale * Q(2, 5) * 2 * (d // 2) == entry.sensitivity / (d * (d - 1) // 2) * d * (d - 1)  # Lap(Δ d(d−1) / (ε₁ 2⌊d/2⌋))


def test_the_printed_sign_keeps_less_information_than_lots(people):
    for sketch in ("strict: noisy R, attributes", "no noise: R, attributes"):
        right, wrong = (
            clustering.compute(people, 3, Q(2, 5), 0.2, clustering.SKETCHES[sketch], r)["inside"] for r in ("similarity", "printed")
        )
        assert right > 0.6 > 0.38 > wrong
    bits = clustering.compute(people, 3, Q(2, 5), 0.2, "published", "similarity")
    assert bits["torn"]
    assert not clustering.compute(people, 3, Q(2, 5), 0.2, "strict", "similarity")["torn"]


def test_information_kept_by_hand():
    information = np.array([[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 2], [0, 0, 2, 0]], dtype=float)
    assert clustering.kept_information(information, ((0, 1), (2, 3))) == pytest.approx(5 / 6)
    assert clustering.kept_information(information, ((0, 2), (1, 3))) == pytest.approx(1 / 6)
    assert clustering.kept_information(information, ((0, 1, 2, 3),)) == 1
    assert clustering.kept_information(np.zeros((2, 2)), ((0,), (1,))) == 1


def test_eta_removes_pairs_inside_clusters_only_and_more_of_them_as_it_rises(people):
    counts = []
    for eta in (0.0, 0.2, 0.5, 0.9):
        state = clustering.compute(people, 3, Q(2, 5), eta, "strict", "similarity")
        inside = np.zeros_like(state["removed"])
        for c in state["clusters"]:
            inside[np.ix_(c, c)] = True
        assert not (state["removed"] & ~inside).any()
        counts.append(int(state["removed"].sum()))
    assert counts == sorted(counts)
    assert counts[0] == 0 < counts[-1]


def test_the_same_attribute_twice_is_refused_and_another_table_is_taken():
    panel = clustering.panel(load_cmc())
    assert panel.error is None
    panel.set(x=panel.values["y"])
    assert "two different attributes" in str(panel.error)


# --- 09 risk entropy -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables():
    return risk_entropy.room()


@pytest.mark.parametrize("guarantee", ["strict", "published"])
@pytest.mark.parametrize("sign", [1, -1, 0])
def test_shares_are_those_of_the_formula_and_the_ledger_closes(tables, guarantee, sign):
    records = tables.sizes[tables.all]
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
    """The lesson's attack, without noise: one person's answer changes the scale of a table that it doesn't stand in."""
    schema = load_cmc().schema
    codes = np.zeros((50, len(schema)), dtype=np.uint8)
    changed = codes.copy()
    changed[0, 0] = 1

    def scales(rows, guarantee):
        state = risk_entropy.run(Records(rows, schema), Q(1), Q(1, 10), 1, guarantee, CommonNoise(3))
        return {e.step: e.scale for e in state["ledger"].entries if e.step.startswith("table(")}

    other = f"table({schema.names[1]})"
    assert scales(codes, "published")[other] != scales(changed, "published")[other]


def test_entropies_are_normalised_by_the_declared_domain(tables):
    state = risk_entropy.run(tables.sizes[tables.all], Q(1), Q(1, 10), 1, "published", CommonNoise(1))
    for name in ("sex", "age", "native-country"):
        counts = tables.sizes[tables.all].table((tables.schema.index(name),))
        assert state["raw"][name] == pytest.approx(entropy(counts) / math.log2(tables.schema[name].size))
    assert max(state["raw"], key=state["raw"].__getitem__) == "sex"  # the paper's own example of a harmless attribute


def test_axes_stay_where_they_are_and_the_words_follow(tables):
    views = [risk_entropy.view(e, s, w, r, n, tables) for e, s, w, r, n in (
        (1.0, 0.1, "paper, more OE, more noise", "noisy histograms", ""), (0.1, 0.5, "reversed", "noisy histograms", "453"),
        (4.0, 0.01, "equal shares", "raw, as published", "4,523"),
    )]  # fmt: skip
    assert len({str(ranges(v.figure)) for v in views}) == 1
    assert "the ledger closes at 1" in views[0].status
    assert views[2].status.startswith("Every table gets 6.7%")
    assert "no finite ε" in views[2].status


def test_normalised_entropy_of_the_lesson():
    assert normalised_risk_entropy(np.array([8, 4, 2, 2, 0, 0, 0, 0])) == pytest.approx(7 / 12)


# --- 10 HMPrivBayes ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult():
    return hmprivbayes.room()


def test_hmprivbayes_view_is_the_library_s_own_run(adult):
    state = hmprivbayes.compute(adult, 1.0, 3, 2, 0.1, "strict", "auto")
    again = adult.run(HMPrivBayes(1.0, k=3, l=2, eta=0.1))
    assert state["fitted"].network_ == again.network_
    assert state["fitted"].ledger_.epsilon == 1
    assert state["distances"].shape == (15, 15)
    assert not state["drowned"]


def test_published_ledger_shows_12_75_and_the_raw_entropies(adult):
    view = hmprivbayes.view(guarantee="published", here=adult)
    assert "audited ε = infinite (12.75 without the raw entropies)" in view.status
    text = view.tables[0]
    assert "NOT DIFFERENTIALLY PRIVATE" in text
    assert text.count("∞, unaccounted") == 1
    assert "11.0194" in text  # ⌊52/2⌋ · 0.4238
    assert text.count("0.8643") == 2  # k · 0.2881, selections and tables


def test_pieces_of_torn_attributes_add_up_to_all_bits(adult):
    binary = adult.records.binary()
    owners = dict(zip(binary.schema.names, binary.owners, strict=True))
    for guarantee in ("strict", "published"):
        fitted = hmprivbayes.compute(adult, 1.0, 3, 2, 0.1, guarantee, "auto")["fitted"]
        parts = hmprivbayes.pieces(fitted, owners)
        assert sorted(b for bits in parts.values() for b in bits) == sorted(binary.schema.names)
        assert (len(parts) == 15) == (guarantee == "strict")


def test_arcs_join_pieces_once_and_inside_clusters(adult):
    fitted = hmprivbayes.compute(adult, 1.0, 3, 2, 0.1, "strict", "auto")["fitted"]
    binary = adult.records.binary()
    parts = hmprivbayes.pieces(fitted, dict(zip(binary.schema.names, binary.owners, strict=True)))
    places = {bit: i for i, bits in enumerate(parts.values()) for bit in bits}
    cluster = [c for c, _ in parts]
    x, y = hmprivbayes.edges(fitted, places)
    assert len(x) == len(y)
    assert x.count(None) == len({(places[p], places[c]) for p, c in fitted.network_.edges if places[p] != places[c]})
    assert all(cluster[places[p]] == cluster[places[c]] for p, c in fitted.network_.edges)
    assert min(v for v in y if v is not None) > -1e-9


def test_too_noisy_to_cluster_is_said_and_not_warned(adult, recwarn):
    view = hmprivbayes.view(epsilon=0.2, here=adult)
    assert view.status.startswith("Too noisy to cluster: one cluster instead.")
    assert not [w for w in recwarn if issubclass(w.category, UserWarning)]
    assert not hmprivbayes.view(epsilon=0.2, k=1, here=adult).status.startswith("Too noisy")


def test_hmprivbayes_panel_refuses_more_clusters_than_attributes_and_keeps_the_figure(adult):
    panel = hmprivbayes.panel()
    panel.set(k=16)
    assert isinstance(panel.error, BudgetError)
    assert "1 to d = 15" in str(panel.error)
    assert "k = 3" in panel.figure.layout.title.text
    panel.set(guarantee="published")
    assert panel.error is None
    assert "k = 16" in panel.figure.layout.title.text


def test_the_summary_claims_parallel_parts_once_and_counts_them_all():
    ledger = Ledger(Q(1), "published")
    group = ledger.write("group", "clusters", compose="parallel", claimed=Q(1))
    for part in ("columns:C1", "columns:C2"):
        for step in (f"root in {part[8:]}", f"pair 2 of 3 in {part[8:]}"):
            ledger.write("mechanism", step, source="Alg 4 line 2", claimed=Q(1, 4), epsilon=Q(1, 4), parent=group.id, record_filter=part)
    text = hpprivbayes.ledger_summary(ledger)
    assert "roots and parent sets, Alg 4</td><td>4</td><td>0.5000</td><td>1.0000</td>" in text
    assert "color:#d55e00" in text.split("roots and parent sets")[0].rsplit("<tr", 1)[1]


# --- 11 PrivABN ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def yes_no():
    return privabn.room()


def test_the_shipped_binary_table_asks_what_it_says(yes_no):
    frame = yes_no.dataset.frame
    assert frame.shape == (45_222, 20)
    assert set(np.unique(frame.to_numpy())) == {0, 1}
    assert frame["over $50K"].mean() == pytest.approx(0.2478, abs=1e-4)
    assert not (frame["part time"] & frame["over 40 hours"]).any()
    assert not (frame["married"] & frame["never married"]).any()


def test_the_shipped_table_is_there_without_any_other(monkeypatch):
    monkeypatch.delenv("PDSYNTH_DATA", raising=False)
    assert privabn.available() == ["Adult, yes–no"]
    assert privabn.panel().error is None


def test_lone_people_are_read_off_the_published_tables(yes_no):
    alone = privabn.lone(yes_no, 0.05)
    assert alone["people"] > 100
    assert alone["published"] > 0.99
    assert 0.5 < alone["strict"] < 0.9  # what the crowd tells of anybody
    fitted, _ = privabn.fit(yes_no, 0.05, "published")
    child, parents = fitted.network_.pairs[-1]
    keys = privabn.columns_of(yes_no.records.codes, yes_no.records.schema, parents)
    weights = 2 ** np.arange(len(parents))[::-1]
    mine = yes_no.records.codes[:, [yes_no.records.schema.index(p) for p in parents]].astype(int) @ weights
    assert np.array_equal(keys, mine)
    p = privabn.released(fitted.model_, child, keys[:50])
    assert ((0 <= p) & (p <= 1)).all()


def test_without_noise_a_lone_person_s_column_is_her_answer(yes_no):
    fitted, _ = privabn.fit(yes_no, 1.0, "none")
    child, parents = fitted.network_.pairs[-1]
    codes, schema = yes_no.records.codes, yes_no.records.schema
    keys = privabn.columns_of(codes, schema, parents)
    _, back, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alone = np.flatnonzero(counts[back] == 1)
    assert np.array_equal(privabn.released(fitted.model_, child, keys[alone]), codes[alone, schema.index(child)])


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 1.0])
def test_two_worlds_overlap_as_much_as_their_noise_says(epsilon):
    """Published: Laplace noise of scale b on 0 and on 1. A threshold at one half errs when the *difference* of the two noises exceeds 1."""
    n, m = 21_574, 16
    worlds = privabn.worlds(n, m, epsilon)
    b = 2 * m / (n * epsilon / 2)
    error = 0.5 * math.exp(-1 / b) * (1 + 1 / (2 * b))  # P(difference of two Lap(b) > 1)
    found = privabn.told_apart(worlds["published", 0], worlds["published", 1])
    assert found == pytest.approx(1 - error, abs=0.02)
    strict = privabn.told_apart(worlds["strict", 0], worlds["strict", 1])
    assert strict <= math.exp(epsilon) / (1 + math.exp(epsilon)) + 0.02
    assert found > 0.95 > 0.6 > strict


def test_told_apart_by_hand():
    assert privabn.told_apart(np.array([0.0, 0.1]), np.array([0.9, 1.0])) == 1
    assert privabn.told_apart(np.array([0.0, 1.0]), np.array([0.0, 1.0])) == 0.5
    assert privabn.told_apart(np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])) == 0.75


def test_privabn_view_compares_both_readings_with_the_library_s_errors(yes_no):
    view = privabn.view(0.05, 3, here=yes_no)
    assert "published truly infinite (the accounted part alone 1,0" in view.status
    assert "strict 0.05" in view.status
    assert view.tables[0].startswith("<h4>as published</h4>") and "NOT DIFFERENTIALLY PRIVATE" in view.tables[0]
    assert view.tables[1].startswith("<h4>strict</h4>") and "Pure ε-differential privacy" in view.tables[1]
    fitted, codes = privabn.fit(yes_no, 0.05, "strict")
    assert fitted.ledger_.epsilon == Q(1, 20)
    mean = yes_no.queries(3).norms(codes)[1].mean()
    assert f"{mean:.4f} strict" in view.status
    assert len({str(ranges(privabn.view(e, 3, here=yes_no).figure)) for e in (0.01, 0.05, 1.0)}) == 1


def test_privabn_follows_its_controls():
    panel = privabn.panel()
    before = panel.view.status
    panel.controls["epsilon"].value = 0.2
    panel.controls["alpha"].value = 5
    assert panel.error is None
    assert panel.view.status != before
    assert "α = 5" in panel.figure.layout.title.text


def test_common_random_numbers_are_the_same_at_every_move(yes_no):
    a, b = (yes_no.run(PrivABN(0.3)) for _ in range(2))
    assert a.network_ == b.network_

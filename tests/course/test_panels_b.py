"""Panels of lessons 04, 05 and 06: pure views first, then through the live widget as a student moves it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.course.panels import ordering, privbayes, sensitivity
from pdsynth.course.panels.hpprivbayes import studio
from pdsynth.evaluation import sum_mutual_information
from pdsynth.measures import SCORES, average_mutual_information
from pdsynth.privacy.ledger import histogram_cost
from pdsynth.privacy.mechanisms import CommonNoise, discrete_laplace_pmf
from pdsynth.synthesizers import HPPrivBayes


@pytest.fixture(scope="module")
def room():
    return studio()


# --- 04 PrivBayes ------------------------------------------------------------------------------------------------------


def test_privbayes_view_agrees_with_the_evaluation(room):
    state = privbayes.fit(room, 1.0, 2, "strict")
    frame, schema = room.dataset.frame, room.records.schema
    assert state["captured"] == pytest.approx(sum_mutual_information(state["fitted"].network_, frame, schema))
    assert state["fitted"].ledger_.epsilon == 1
    assert len(state["noise"]) == len(schema) - 2  # the first k tables are derived, not measured
    assert len(state["distances"]) == 91
    assert (np.diff(state["distances"]) >= 0).all()


def test_privbayes_noise_is_scale_over_mean_cell(room):
    fitted = privbayes.fit(room, 1.0, 1, "strict")["fitted"]
    child, parents = fitted.network_.pairs[-1]
    cells = room.records.schema.cells([child, *parents])
    assert privbayes.noise_to_cell(fitted)[child] == pytest.approx(2 * 13 / 0.7 * cells / room.records.n)


def test_privbayes_thesis_reprint_overspends_and_says_so(room):
    view = privbayes.view(1.0, "2", "thesis reprint", room)
    assert "True ε 1.5 of 1 claimed" in view.status
    assert "OVERSPENT" in view.tables[0]


@pytest.mark.parametrize("k", ["auto", "0", "1", "3"])
@pytest.mark.parametrize("reading", list(privbayes.READINGS))
def test_privbayes_axes_stay_where_they_are(room, k, reading):
    first, moved = privbayes.view(0.3, k, reading, room), privbayes.view(3.1, k, reading, room)
    assert ranges(first.figure) == ranges(moved.figure)
    assert f"k = {k}" in moved.figure.layout.title.text
    assert moved.alt.endswith(moved.status)


def test_privbayes_more_parents_capture_more_without_noise(room):
    bits = [privbayes.without_noise(room, 1.0, k)["captured"] for k in (0, 1, 2, 3)]
    assert bits == sorted(bits)
    assert bits[0] == 0
    assert bits[1] == pytest.approx(4.33, abs=0.01)
    assert bits[2] == pytest.approx(4.71, abs=0.03)


def test_privbayes_panel_follows_its_controls():
    panel = privbayes.panel()
    assert panel.error is None
    before = panel.view.status
    panel.controls["epsilon"].value = 0.3
    panel.controls["k"].value = "3"
    panel.controls["reading"].value = "thesis reprint"
    assert panel.error is None
    assert panel.view.status != before
    assert "True ε 0.45 of 0.3" in panel.view.status


# --- 05 the AMI order --------------------------------------------------------------------------------------------------


def test_small_table_flips_by_one_record():
    here, there = ordering.small_table(False), ordering.small_table(True)
    assert (here != there).any(axis=1).sum() == 1
    assert ordering.asthma_first(False, None) == 1
    assert ordering.asthma_first(True, None) == 0


@pytest.mark.parametrize("scale", [0.7, 3.0, 25.0])
def test_difference_of_two_discrete_laplace_numbers(scale):
    z = np.arange(-600, 601)
    law = np.convolve(discrete_laplace_pmf(z, scale), discrete_laplace_pmf(z, scale))
    for t in (-17, -1, 0, 1, 16):
        assert ordering.difference_tail(t, scale) == pytest.approx(law[1200 + t :].sum(), abs=1e-7)


@pytest.mark.parametrize("epsilon0", [Fraction(1, 50), Fraction(1), Fraction(8)])
def test_noisy_order_keeps_its_promise_and_the_raw_one_breaks_it(epsilon0):
    p, q = ordering.asthma_first(False, epsilon0), ordering.asthma_first(True, epsilon0)
    bound = math.exp(epsilon0)
    assert max(p / q, q / p, (1 - p) / (1 - q), (1 - q) / (1 - p)) <= bound
    assert ordering.asthma_first(True, None) == 0 < ordering.asthma_first(False, None)  # support mismatch: no bound at all


def test_order_sensitivity_counts_every_pair_twice(room):
    assert ordering.order_sensitivity(100, (3, 4, 5, 6)) == 6 * 99 * 4 * 3
    assert ordering.order_sensitivity(8, (2, 2, 2)) == 2 * 3 * SCORES["R"].sensitivity(8, 2, 2)


def test_orders_are_those_of_the_library(room):
    state = ordering.compute(room, Fraction(1, 50), 3)
    names = room.records.schema.names
    assert np.allclose(state["values"][0], average_mutual_information(ordering.pairwise(room.records.lattice, "I")))
    published = HPPrivBayes(k=1, sensitive="occupation", guarantee="published", noise="common").fit(room.records)
    assert tuple(names[j] for j in state["orders"][0]) == published.order_
    strict = HPPrivBayes(k=1, sensitive="occupation").fit(room.records, noise=CommonNoise(3))
    assert tuple(names[j] for j in state["orders"][2]) == strict.order_  # L0 · 0.4 · ε = 1/50, the panel's first position


def test_no_order_beats_greedy_search_with_one_parent(room):
    """Prim: with one parent the greedy network is a maximum spanning tree from every root."""
    lattice, rng = room.records.lattice, np.random.default_rng(1)
    best = privbayes.without_noise(room, 1.0, 1)["captured"]
    orders = [ordering.compute(room, Fraction(1, 50), 1)["orders"][0], *(rng.permutation(14).tolist() for _ in range(20))]
    assert all(ordering.captured(lattice, order, 1) <= best + 1e-9 for order in orders)


def test_ordering_panel_follows_its_controls():
    panel = ordering.panel()
    before = panel.view.status
    panel.controls["share"].value = 1.0
    panel.controls["epsilon"].value = 8.0
    panel.controls["draw"].value = 5
    assert panel.error is None
    assert panel.view.status != before
    assert ranges(panel.view.figure) == ranges(ordering.view().figure)


# --- 06 groups and weights ---------------------------------------------------------------------------------------------


def test_groups_of_the_panel_are_those_of_the_thesis(room):
    state = sensitivity.compute(room, 0.1, Fraction(1, 3), "race", "less_noise", Fraction(1, 2))
    published = HPPrivBayes(k=1, sensitive="occupation", guarantee="published", noise="common").fit(room.records)
    assert {"A": state["A"], "B": state["B"]} == published.groups_


@pytest.mark.parametrize("attribute", ["race", "age", "capital-gain", "native-country"])
@pytest.mark.parametrize("rare_values", ["less_noise", "more_noise", "same_noise"])
def test_tight_scales_cost_what_is_paid_and_printed_ones_max_w(room, attribute, rare_values):
    state = sensitivity.compute(room, 0.1, Fraction(1, 3), attribute, rare_values, Fraction(1, 20))
    assert state["tight_true"] == state["paid"]
    assert float(state["true"] / state["paid"]) == pytest.approx(max(state["w"]), rel=1e-5)
    assert float(histogram_cost([Fraction(s) for s in state["tight"]], 2)) == pytest.approx(float(state["paid"]))


def test_directions_turn_the_noise_round(room):
    paper, protect, flat = (
        sensitivity.compute(room, 0.1, Fraction(1, 3), "race", d, Fraction(1, 20))["tight"] for d in ("less_noise", "more_noise", "same_noise")
    )
    common = 0  # White
    assert paper[common] == paper.max()
    assert protect[common] == protect.min()
    assert len(set(flat.tolist())) == 1


def test_theta_moves_attributes_between_the_groups(room):
    everything = sensitivity.view(theta=0.0, room=room)
    alone = sensitivity.view(theta=0.5, room=room)
    assert "14 attributes in A" in everything.status
    assert "race is in A" in everything.status
    assert alone.status.startswith("1 attribute in A")


def test_sensitivity_panel_follows_its_controls():
    panel = sensitivity.panel()
    first = ranges(panel.view.figure)
    for name, value in {"theta": 0.2, "r": 1.5, "attribute": "capital-gain", "rare_values": "more_noise", "v_min": 0.05}.items():
        before = panel.view.alt
        panel.controls[name].value = value
        assert panel.error is None
        assert panel.view.alt != before
    assert ranges(panel.view.figure) == first

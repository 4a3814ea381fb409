"""The panel of lesson 05: the AMI order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from panel_tools import ranges

from pdsynth.algorithms.hpprivbayes import HPPrivBayes
from pdsynth.answers.laws import discrete_laplace_pmf
from pdsynth.core.measures import SCORES
from pdsynth.course.panels import ordering, privbayes
from pdsynth.course.panels.table import teaching_table
from pdsynth.published.curator import average_mutual_information
from pdsynth.published.noise import CommonNoise


@pytest.fixture(scope="module")
def table():
    return teaching_table()


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
    assert (
        ordering.asthma_first(True, None) == 0 < ordering.asthma_first(False, None)
    )  # support mismatch: no bound at all


def test_order_sensitivity_counts_every_pair_twice(table):
    assert ordering.order_sensitivity(100, (3, 4, 5, 6)) == 6 * 99 * 4 * 3
    assert ordering.order_sensitivity(8, (2, 2, 2)) == 2 * 3 * SCORES["R"].sensitivity(8, 2, 2)


def test_the_raw_order_is_the_library_s_and_the_noisy_one_sorts_noisy_sums(table):
    """The strict library orders by residuals, for which it measures single columns first."""
    state = ordering.compute(table, Fraction(1, 50), 3)
    names = table.records.schema.names
    assert np.allclose(state["values"][0], average_mutual_information(table.information))
    published = HPPrivBayes(k=1, sensitive="occupation", guarantee="published", noise="common").fit(
        table.records
    )
    assert tuple(names[j] for j in state["orders"][0]) == published.order_
    sums = table.records.pairwise("K").sum(axis=1)
    scale = ordering.order_sensitivity(table.records.n, table.records.schema.sizes) * 50
    noise = (
        CommonNoise(3).child("AMI order").discrete_laplace(np.array(Fraction(scale)), sums.shape)
    )
    assert state["orders"][1] == np.argsort(-sums, kind="stable").tolist()
    assert state["orders"][2] == np.argsort(-(sums + noise), kind="stable").tolist()


def test_no_order_beats_greedy_search_with_one_parent(table):
    """Prim: with one parent the greedy network is a maximum spanning tree from every root."""
    lattice, rng = table.records.lattice, np.random.default_rng(1)
    best = privbayes.fit(table, 1.0, 1, "no noise")["captured"]
    orders = [
        ordering.compute(table, Fraction(1, 50), 1)["orders"][0],
        *(rng.permutation(14).tolist() for _ in range(20)),
    ]
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


def test_parents_are_bought_by_the_exponential_mechanism(table):
    """Without ε₁ every set is as likely; with much of it the best is taken, never a better one."""
    lattice, sizes = table.records.lattice, table.records.schema.sizes
    order = ordering.compute(table, Fraction(1, 50), 1)["orders"][2]

    def told(epsilon1, draw):
        bought = ordering.Bought(epsilon1, table.records.n, sizes, CommonNoise(draw))
        return ordering.captured(lattice, order, 2, bought)

    best = ordering.captured(lattice, order, 2)
    assert told(Fraction(10**6), 1) == pytest.approx(best)
    some = [np.mean([told(Fraction(e), draw) for draw in range(20)]) for e in (0, "1/2", 8)]
    assert some[0] < some[1] < some[2] < best
    state = ordering.compute(table, Fraction(1), 1, 2, Fraction(0))
    assert state["bought"] == pytest.approx(ordering.captured(
        lattice, state["orders"][2], 2,
        ordering.Bought(Fraction(0), table.records.n, sizes, CommonNoise(1)),
    ))  # fmt: skip


def test_the_secret_column_and_l1_move_the_picture():
    usual = ordering.view()
    assert "Occupation has rank 3 without noise" in usual.status
    assert "Sex has rank 7 without noise" in ordering.view(sensitive="sex").status
    below = [view.figure.layout.xaxis.ticktext[2] for view in (usual, ordering.view(l1=0.75))]
    assert below[0] != below[1] and all("bits" in text for text in below)


def test_the_status_says_what_the_order_leaves_for_the_parents():
    said = {share: ordering.view(epsilon=8.0, share=share).status for share in (0.02, 0.8, 1.0)}
    assert "with parents that L₁ · ε = 2.4 pays for." in said[0.02]
    assert "that 1.6 pays for: the order leaves no more of L₁ · ε = 2.4." in said[0.8]
    assert "drawn blindly: of L₁ · ε = 2.4 the order leaves nothing." in said[1.0]
    assert "= 0 " not in said[1.0]
    assert "With the best parent the raw order" in ordering.view(k=1).status

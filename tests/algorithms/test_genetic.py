"""The genetic search step by step against its print, the optimum against brute force, and
GeneticBayes' ledger."""

import importlib
import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import records_of, schema_of

from pdsynth import BudgetError, GeneticBayes, SchemaError, Synthesizer
from pdsynth.algorithms import parts
from pdsynth.algorithms.genetic import GeneticSearch
from pdsynth.baselines import exact_search, hill
from pdsynth.baselines.searches import (
    Parameters,
    before,
    best_parents,
    genetic_search,
    initial,
    offspring,
    order_flip,
    pack,
    spread,
    swap,
)
from pdsynth.core.network import Restriction
from pdsynth.datasets.adult import load_adult
from pdsynth.published.noise import CommonNoise

module = importlib.import_module("pdsynth.baselines.searches")
FREE = Restriction()


def agree(found: Counter, law: dict, n: int) -> bool:
    """Whether n draws follow a law: every outcome within 5 standard errors,
    and nothing impossible.
    """
    return set(found) <= set(law) and all(
        abs(found[o] - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1 for o, p in law.items()
    )


def many(row, n):
    return np.repeat(np.asarray(row)[None], n, axis=0)


class TestInitialization:
    @given(st.integers(2, 7), st.integers(0, 99))
    @settings(max_examples=40)
    def test_sets_hold_k_others_and_as_many_predecessors_as_there_are(self, d, seed):
        k = 1 + seed % (d - 1)
        orders, sets = initial(30, k, FREE.on(range(d)), np.random.default_rng(seed))
        members, ahead = spread(sets, d), spread(before(orders), d)
        assert (np.sort(orders, axis=1) == np.arange(d)).all()
        assert (members.sum(axis=2) == k).all()
        assert not members[:, range(d), range(d)].any(), "never the attribute itself"
        assert ((members & ahead).sum(axis=2) == np.minimum(ahead.sum(axis=2), k)).all()

    def test_orders_and_sets_are_uniform(self):
        n = 20_000
        orders, sets = initial(n, 1, FREE.on(range(3)), np.random.default_rng(0))
        assert agree(
            Counter(map(tuple, orders.tolist())),
            dict.fromkeys(itertools.permutations(range(3)), 1 / 6),
            n,
        )
        last = orders[:, 2] == 2  # attribute 2 stands last: its one member is 0 or 1
        assert agree(Counter(sets[last, 2].tolist()), {0b001: 0.5, 0b010: 0.5}, int(last.sum()))

    def test_policy_opens_every_order(self):
        permitted = Restriction("x3", "x1", forced=(("x0", "x2"),)).on([f"x{j}" for j in range(5)])
        orders, sets = initial(50, 2, permitted, np.random.default_rng(0))
        assert (orders[:, :2] == [3, 1]).all()
        assert (before(orders)[:, 2] & sets[:, 2] & pack(np.eye(5, dtype=bool))[0]).all(), (
            "forced parents precede and are members"
        )


def flip_law(d, rate, fixed=0):
    """Exact law of Order Flip on the order 0 … d−1, position by position as printed."""
    law = {tuple(range(d)): 1.0}
    for position in range(fixed, d):
        after = defaultdict(float)
        for order, p in law.items():
            after[order] += p * (1 - rate)
            for j in range(fixed, d):
                new = list(order)
                new[position], new[j] = new[j], new[position]
                after[tuple(new)] += p * rate / (d - fixed)
        law = after
    return law


class TestOrderFlip:
    @pytest.mark.parametrize(
        ("d", "rate", "fixed"), [(3, 0.4, 0), (3, 1.0, 0), (4, 0.25, 0), (4, 0.5, 1)]
    )
    def test_has_the_printed_law(self, d, rate, fixed):
        n = 40_000
        found = order_flip(many(range(d), n), rate, np.random.default_rng(1), fixed)
        assert agree(Counter(map(tuple, found.tolist())), flip_law(d, rate, fixed), n)

    def test_twin_one_flip_a_position_too_few_is_noticed(self):
        n = 40_000
        found = order_flip(many(range(3), n), 0.4, np.random.default_rng(1), 1)
        assert not agree(Counter(map(tuple, found.tolist())), flip_law(3, 0.4), n)

    def test_leaves_what_it_is_given(self):
        orders = many(range(4), 5)
        order_flip(orders, 1.0, np.random.default_rng(0))
        assert (orders == range(4)).all()


def swap_law(ahead, members, rate):
    """Exact law of Swap on one set C_j whose possible parents are ``ahead``, as printed; members
    are visited by column."""
    law = {tuple(members): 1.0}

    def replace(place, chance):
        after = defaultdict(float)
        for now, p in law.items():
            into = [a for a in ahead if a not in now]
            use = chance(now[place]) if into else 0.0
            after[now] += p * (1 - use)
            for a in into:
                after[(*now[:place], a, *now[place + 1 :])] += p * use / len(into)
        return after

    for place in range(len(members)):  # lines 2–6
        law = replace(place, lambda g: float(g not in ahead))
    mended = defaultdict(float)
    for now, p in law.items():
        mended[tuple(sorted(now))] += p
    law = mended
    for place in range(len(members)):  # lines 7–12
        law = replace(place, lambda g: rate)
    out = defaultdict(float)
    for now, p in law.items():
        out[frozenset(now)] += p
    return out


class TestSwap:
    @pytest.mark.parametrize(
        ("ahead", "members", "rate"),
        [
            ((0, 1, 2), (0, 1), 0.3),
            ((0, 1, 2, 3), (0, 4), 0.5),
            ((0,), (3, 4), 0.4),
            ((0, 1, 2), (3, 4), 1.0),
            ((), (0, 1), 0.5),
            ((0, 1, 2, 3), (0, 1, 2), 0.6),
        ],
    )
    def test_has_the_printed_law(self, ahead, members, rate):
        n = 30_000
        sets, valid = (
            np.full((n, 1), sum(2**a for a in some), dtype=np.uint64) for some in (members, ahead)
        )
        swap(sets, valid, len(members), rate, np.random.default_rng(2))
        found = Counter(frozenset(np.flatnonzero(row).tolist()) for row in spread(sets[:, 0], 6))
        law = swap_law(ahead, members, rate)
        if ahead == (
            0,
        ):  # both members are broken and one can go: which one isn't printed (a set has no order)
            assert set(found) <= {frozenset((0, 3)), frozenset((0, 4))}
        else:
            assert agree(found, law, n)

    def test_twin_another_rate_is_noticed(self):
        n = 30_000
        sets, valid = (
            np.full((n, 1), 0b001, dtype=np.uint64),
            np.full((n, 1), 0b111, dtype=np.uint64),
        )
        swap(sets, valid, 1, 0.35, np.random.default_rng(2))
        found = Counter(frozenset(np.flatnonzero(row).tolist()) for row in spread(sets[:, 0], 4))
        assert not agree(found, swap_law((0, 1, 2), (0,), 0.3), n)


class TestGenerations:
    def test_crossover_takes_the_first_sets_of_one_and_the_last_of_the_other(self, monkeypatch):
        """The sets of one hold attribute 0, those of the other attribute 1; a child shows where it
        was cut."""
        d, n = 5, 30_000
        orders, sets = many(range(d), 2), np.array([[1] * d, [2] * d], dtype=np.uint64)
        monkeypatch.setattr(module, "order_flip", lambda orders, *args: orders)
        monkeypatch.setattr(module, "swap", lambda *args: None)
        second = (
            offspring(orders, sets, n, 1, 1.0, FREE.on(range(d)), np.random.default_rng(0))[1] == 2
        )
        cuts = Counter(map(tuple, second.tolist()))
        law = defaultdict(float)
        for one, two, cut in itertools.product(range(2), range(2), range(d + 1)):
            law[tuple([bool(one)] * cut + [bool(two)] * (d - cut))] += 1 / (4 * (d + 1))
        assert agree(cuts, law, n)
        never = (
            offspring(orders, sets, n, 1, 0.0, FREE.on(range(d)), np.random.default_rng(0))[1] == 2
        )
        assert (never.all(axis=1) | ~never.any(axis=1)).all()

    @given(st.integers(0, 500), st.integers(1, 3))
    @settings(max_examples=20, deadline=None)
    def test_the_best_never_gets_worse_and_the_history_is_true(self, seed, k):
        rng = np.random.default_rng(seed)
        weights = rng.random((6, 6))
        found = genetic_search(weights, k, rng, Parameters(20, 4, None, 15))
        assert found.history.shape == (16, 20)
        assert (np.diff(found.history[:, 0]) >= 0).all()
        assert (np.diff(found.history, axis=1) <= 0).all(), "best first"
        for generation in range(16):
            network = found.network(list("012345"), generation)
            assert sum(weights[int(c), int(p)] for p, c in network.edges) == pytest.approx(
                found.history[generation, 0]
            )
            assert network.degree <= k
        assert found.fitness == pytest.approx(found.history[-1, 0])

    def test_a_population_of_its_elite_alone_stays_what_it_is(self):
        found = genetic_search(
            np.random.default_rng(0).random((4, 4)),
            2,
            np.random.default_rng(0),
            Parameters(5, 5, None, 3),
        )
        assert (found.history == found.history[0]).all()

    def test_same_generator_same_search(self):
        weights = np.random.default_rng(0).random((7, 7))
        one, two, other = (
            genetic_search(weights, 2, np.random.default_rng(s), Parameters(20, 4, 0.2, 10))
            for s in (5, 5, 6)
        )
        assert np.array_equal(one.history, two.history)
        assert one.order == two.order
        assert not np.array_equal(one.history, other.history)

    def test_parents_that_add_nothing_are_left_out(self):
        weights = np.zeros((4, 4))
        weights[1, 0] = weights[0, 1] = 1.0
        found = genetic_search(weights, 2, np.random.default_rng(0), Parameters(20, 4, None, 20))
        assert sum(found.parents.ravel()) == 1
        assert found.fitness == 1

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"population": 4, "elite": 5}, "smaller than elite"),
            ({"generations": 0}, "generations.*got 0"),
            ({"elite": True}, "elite.*got True"),
            ({"rate": 0}, r"\(0, 1\]"),
            ({"rate": 1.01}, r"\(0, 1\]"),
            ({"rate": True}, r"\(0, 1\]"),
        ],
    )
    def test_bad_parameters_are_refused(self, given, words):
        with pytest.raises(BudgetError, match=words):
            Parameters(**given)

    @pytest.mark.parametrize("k", [0, 4, 1.0, True])
    @pytest.mark.parametrize(
        "search",
        [exact_search, lambda w, k: genetic_search(w, k, None), lambda w, k: hill(w, k, None)],
    )
    def test_a_k_that_can_t_be_is_refused(self, k, search):
        with pytest.raises(BudgetError, match="from 1 to d − 1 = 3"):
            search(np.ones((4, 4)), k)


def best_of_all_orders(weights, k):
    """Brute force over d! orders."""
    d = len(weights)
    return max(
        sum(
            sum(sorted((weights[j, a] for a in order[:i]), reverse=True)[:k])
            for i, j in enumerate(order)
        )
        for order in itertools.permutations(range(d))
    )


class TestMasks:
    @given(st.integers(1, 64), st.integers(0, 99))
    def test_masks_and_back(self, d, seed):
        members = np.random.default_rng(seed).random((3, 5, d)) < 0.5
        assert (spread(pack(members), d) == members).all()

    @given(st.integers(2, 64), st.integers(0, 99))
    @settings(deadline=None)
    def test_fitness_is_the_sum_of_the_weights_at_every_width(self, d, seed):
        rng = np.random.default_rng(seed)
        parents, weights = rng.random((4, d, d)) < 0.3, rng.random((d, d))
        assert module._fitness(pack(parents), module._look_up(weights)) == pytest.approx(
            (parents * weights).sum(axis=(1, 2))
        )

    def test_more_attributes_than_bits(self):
        with pytest.raises(BudgetError, match="65 attributes.*room for 64.*hill"):
            genetic_search(np.ones((65, 65)), 1, np.random.default_rng(0))


class TestOptimum:
    @given(st.integers(2, 6), st.integers(0, 10**6))
    @settings(max_examples=40, deadline=None)
    def test_the_programme_finds_the_best_of_all_orders(self, d, seed):
        rng = np.random.default_rng(seed)
        weights, k = rng.random((d, d)) * (rng.random((d, d)) < 0.7), 1 + seed % (d - 1)
        np.fill_diagonal(weights, 0)
        found = exact_search(weights, k)
        assert found.fitness == pytest.approx(best_of_all_orders(weights, k))
        assert found.network([str(j) for j in range(d)]).degree <= k
        for other in (
            hill(weights, k, rng),
            genetic_search(weights, k, rng, Parameters(12, 3, None, 8)),
        ):
            assert other.fitness <= found.fitness + 1e-9

    def test_by_hand(self):
        """Symmetric weights on a triangle: with one parent a node the two heaviest edges, with two
        all three."""
        weights = np.array([[0, 3, 2], [3, 0, 1], [2, 1, 0]], dtype=float)
        assert exact_search(weights, 1).fitness == 5
        assert exact_search(weights, 2).fitness == 6

    def test_hill_climb_reaches_it_on_adult_and_the_search_comes_near(self):
        """The paper's parameters: P = 200, S = 10, r = 1/d, e = 400; the page shows the spread over
        more seeds."""
        weights = adult_weights()
        for k in (1, 2):
            best = exact_search(weights, k).fitness
            assert hill(weights, k, np.random.default_rng(0)).fitness == pytest.approx(best)
            assert genetic_search(weights, k, np.random.default_rng(0)).fitness >= 0.96 * best

    def test_more_attributes_than_it_has_room_for(self):
        with pytest.raises(BudgetError, match="21 attributes to place.*room for 20.*hill"):
            exact_search(np.ones((21, 21)), 1)
        names = [f"x{j}" for j in range(21)]
        assert (
            exact_search(
                np.ones((21, 21)), 1, Restriction("x0", tuple(names[1:15])).on(names)
            ).fitness
            == 20
        )

    def test_the_heaviest_parents_that_fit(self):
        weights = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [2, 3, 0, 0], [3, 2, 1, 0]], dtype=float)
        free = FREE.on(range(4))
        assert best_parents((0, 1, 2, 3), weights, 2, free)[3].tolist() == [
            True,
            True,
            False,
            False,
        ]
        sizes = (10, 2, 3, 2)  # child 3 with parent 0 has 20 cells: too many; then 2·2·3 = 12 fit
        assert best_parents((0, 1, 2, 3), weights, 2, free, sizes, 12)[3].tolist() == [
            False,
            True,
            True,
            False,
        ]
        forced = Restriction(forced=(("a", "d"),)).on("abcd")
        assert best_parents((0, 1, 2, 3), weights, 2, forced, sizes, 12)[3].tolist() == [
            True,
            False,
            False,
            False,
        ]


def adult_weights():
    adult = load_adult(coding="thesis")
    fitted = GeneticBayes(k=1, guarantee="none", search="hill", random_state=0).fit(
        adult.frame, adult.schema
    )
    return fitted.weights_


ROWS = np.random.default_rng(1).integers(0, 3, (400, 5))
ROWS[:, 1] = np.where(np.random.default_rng(2).random(400) < 0.8, ROWS[:, 0], ROWS[:, 1])
RECORDS = records_of(ROWS, (3,) * 5)
SMALL = {"population": 20, "elite": 4, "generations": 10}


class TestGeneticBayes:
    def test_strict_asks_for_d_columns_one_sketch_and_d_tables(self):
        fitted = GeneticBayes(epsilon=10, k=2, random_state=1, **SMALL).fit(RECORDS)
        kinds = [e.kind for e in fitted.ledger_.entries]
        assert kinds == [*["mechanism"] * 6, "post_processing", *["mechanism"] * 5]
        columns = fitted.ledger_.entries[:5]
        sketch, search, *tables = fitted.ledger_.entries[5:]
        assert {e.epsilon for e in columns} == {Q(1, 5)}
        assert sketch.epsilon == 2
        assert sketch.sensitivity == 10 * 2
        assert "section III" in sketch.source
        assert search.inputs == (sketch.id,)
        assert {t.epsilon for t in tables} == {Q(7, 5)}
        assert {t.scale for t in tables} == {Q(10, 7)}
        assert fitted.ledger_.epsilon == 10

    @pytest.mark.parametrize(
        "change",
        [
            {"generations": 60},
            {"search": "exact"},
            {"search": "hill"},
            {"r": 0.5},
            {"population": 50},
        ],
    )
    def test_any_amount_of_search_costs_nothing(self, change):
        plain = GeneticBayes(epsilon=10, k=2, **SMALL).fit(RECORDS, noise=CommonNoise(1))
        fitted = GeneticBayes(**{**plain.get_params(), **change}).fit(RECORDS, noise=CommonNoise(1))
        costs = [[(e.kind, e.epsilon, e.scale) for e in f.ledger_.entries] for f in (plain, fitted)]
        assert costs[0] == costs[1]
        assert np.array_equal(plain.weights_, fitted.weights_)

    def test_the_threshold_is_one_noise_scale(self):
        """R = Q/2n: 10 pairs of sensitivity 2 at ε₁ = 2 make t = 10·2/(2·2·400)."""
        fitted = GeneticBayes(epsilon=10, k=1, search="exact").fit(RECORDS, noise=CommonNoise(2))
        clipped = fitted.weights_[fitted.weights_ > 0]
        assert fitted.weights_.max() == fitted.weights_[0, 1]
        assert 0 < clipped.min()
        raw = (
            GeneticBayes(epsilon=10**9, k=1, search="exact")
            .fit(RECORDS, noise=CommonNoise(2))
            .weights_[0, 1]
        )
        t = 10 * 2 / (2 * 2 * 400)
        assert abs(fitted.weights_[0, 1] - (raw - t)) < 10 * t

    def test_published_is_raw_with_the_paper_s_section(self):
        fitted = GeneticBayes(
            epsilon=1, k=2, guarantee="published", search="exact", random_state=0
        ).fit(RECORDS)
        ledger = fitted.ledger_
        (raw,) = ledger.unaccounted
        assert "section III, footnote 7" in raw.source
        assert "10 pairwise measures I" in raw.released
        assert ledger.epsilon == math.inf
        assert sum(e.claimed for e in ledger.entries) == Q(1, 2), "the tool's ε/2 for the tables"
        for (child, parents), entry in zip(
            fitted.network_.pairs, [e for e in ledger.entries if e.kind == "mechanism"], strict=True
        ):
            assert entry.attributes[0] == child
            assert entry.scale == 2 * (5 - len(parents)), "(d − k_i)/(ε/2), the tool's"
        assert ledger.finite > Q(1, 2), "right for adding or removing a record only"

    def test_none_is_the_paper_s_experiment(self):
        fitted = GeneticBayes(k=1, guarantee="none", search="exact", random_state=0).fit(RECORDS)
        assert fitted.search_.fitness == exact_search(fitted.weights_, 1).fitness
        assert ("x0", "x1") in fitted.network_.edges or ("x1", "x0") in fitted.network_.edges

    @pytest.mark.parametrize("epsilon", [1, 50, 4000])
    def test_automatic_tables_never_outgrow_their_noise(self, epsilon):
        fitted = GeneticBayes(epsilon=epsilon, random_state=0, **SMALL).fit(RECORDS)
        tau = 400 * Q(7, 10) * epsilon / (2 * 5 * 4)
        assert all(t.size <= tau or t.ndim == 1 for t in fitted.model_.tables)
        assert fitted.degree_rule_ == "independent" or "cells" in fitted.degree_rule_
        assert (epsilon == 1) == (fitted.degree_rule_ == "independent")

    def test_a_sketch_that_is_all_noise_is_said_plainly(self):
        """From n, pairs and ε₁ alone: two very different tables get the same warning."""
        words = []
        for rows in (ROWS, np.zeros_like(ROWS)):
            with pytest.warns(
                UserWarning, match="10 associations on n = 400.*many edges will be chance.*k='auto'"
            ) as seen:
                fitted = GeneticBayes(epsilon=1, k=2, **SMALL).fit(records_of(rows, (3,) * 5))
            words.append(str(seen[0].message))
            assert words[-1] in fitted.ledger_.notes
            assert fitted.ledger_.check() == []
        assert words[0] == words[1]

    def test_enough_budget_is_no_reason_to_warn(self, recwarn):
        GeneticBayes(epsilon=30, k=2, **SMALL).fit(RECORDS)
        GeneticBayes(epsilon=0.1, **SMALL).fit(RECORDS)  # "auto" leaves the structure out
        GeneticBayes(epsilon=1, k=2, guarantee="none", **SMALL).fit(RECORDS)
        assert not recwarn.list

    def test_the_search_is_a_part_that_fits_other_budgets(self):
        for search in ("genetic", "exact", "hill"):
            part = GeneticSearch(
                k=2, search=search, generations=5, restriction=Restriction("x2", "x4")
            )
            made = Synthesizer(30, structure=part, budget=parts.Geometric(q=1.2)).fit(RECORDS)
            assert made.ledger_.epsilon == 30
            assert made.ledger_.check() == []
            assert made.network_.parents("x4") == ("x2",)
            assert all("x4" not in p for _, p in made.network_.pairs)
        assert set(made.learnt_.weights) == set(made.schema_.names)
        with pytest.raises(BudgetError, match="elite = 9"):
            Synthesizer(structure=GeneticSearch(population=5, elite=9)).fit(RECORDS)

    def test_the_exact_search_says_when_it_has_no_room(self):
        schema = schema_of((2,) * 21)
        frame = schema.decode(np.zeros((4, 21), dtype=np.uint8))
        with pytest.raises(BudgetError, match="21 attributes to place"):
            GeneticBayes(search="exact", k=1).fit(frame, schema)
        GeneticBayes(
            search="exact", k=1, target="x0", sensitive=schema.names[1:12], epsilon=1e6
        ).fit(frame, schema)

    def test_the_target_may_stand_alone(self):
        fitted = GeneticBayes(epsilon=30, k=2, target="x3", **SMALL).fit(RECORDS)
        assert fitted.network_.order[0] == "x3"
        with pytest.raises(SchemaError, match="no attribute 'x9'"):
            GeneticBayes(target="x9").fit(RECORDS)

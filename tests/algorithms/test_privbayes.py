"""PrivBayes: θ-usefulness from public facts, maximal parent sets, what each printed reading really
costs, the three scores."""

import itertools
import math
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from contract_cases import binary, gaps, mixed, total
from privacy_tools import Silent, records_of

from pdsynth import Attribute, BudgetError, PrivBayes, Schema
from pdsynth.core.measures import SCORES, association, f_shortfall, mutual_information
from pdsynth.core.rules import COUNTING
from pdsynth.core.structure import useful_degree


class TestUsefulness:
    @pytest.mark.parametrize(
        ("n", "d", "epsilon2", "theta", "k"),
        [
            (
                27504,
                14,
                0.12,
                7,
                2,
            ),  # n ε₂ / ((d−k) 2^(k+2)): k = 2 gives 17.2, k = 3 gives 9.4 … by hand below
            (100, 4, 0.5, 4, 0),
            (100, 4, 1.0, 4, 1),  # 100 / (3 · 8) = 4.17, 100 / (2 · 16) = 3.1
            (21574, 16, 0.7, 4, 6),
        ],
    )
    def test_largest_k_that_is_useful(self, n, d, epsilon2, theta, k):
        by_hand = max(
            (j for j in range(1, d) if Q(n) * Q(str(epsilon2)) >= theta * (d - j) * 2 ** (j + 2)),
            default=0,
        )
        assert useful_degree(n, d, epsilon2, theta) == by_hand
        if (n, d) != (27504, 14):
            assert by_hand == k
        else:
            assert (
                by_hand == 3
            )  # the public MATLAB code answers 4: it returns the first k that isn't useful

    @pytest.mark.parametrize(
        ("n", "epsilon", "k"), [(24, 1, 0), (150, 1, 1), (1000, 1, 3), (200, 100, 3)]
    )
    def test_auto_on_binary_tables(self, n, epsilon, k):
        frame, schema = binary(4, n)
        fitted = PrivBayes(epsilon, random_state=1).fit(frame, schema)
        assert fitted.network_.degree == k == useful_degree(n, 4, 0.7 * epsilon, 4)
        assert fitted.degree_rule_ == (f"k = {k}" if k else "independent")

    def test_auto_on_general_tables_takes_maximal_sets_within_the_bound(self):
        frame, schema = mixed(n=400)
        fitted = PrivBayes(2.0, random_state=3).fit(frame, schema)
        bound = Q(400) * Q(14, 10) / (2 * 8 * 4)
        sizes = dict(zip(schema.names, schema.sizes, strict=True))
        placed: list[str] = []
        for child, parents in fitted.network_.pairs:
            cells = sizes[child] * math.prod(sizes[p] for p in parents)
            assert cells <= bound or not parents
            left = [a for a in placed if a not in parents]
            assert all(cells * sizes[a] > bound for a in left)  # nothing more fits
            placed.append(child)

    def test_chosen_from_public_facts_only(self):
        """Very different records over the same domain and n: the same rule,
        candidates and scales.
        """
        frame, schema = mixed(n=300)
        other = frame.sample(300, replace=True, random_state=1).assign(city="Bern", member=False)
        shapes = []
        for table in (frame, other):
            fitted = PrivBayes(1.3, random_state=5).fit(table, schema)
            shapes.append(
                (
                    fitted.degree_rule_,
                    [e.scale for e in fitted.ledger_.entries],
                    len(fitted.ledger_.entries),
                )
            )
        assert shapes[0] == shapes[1]

    @pytest.mark.parametrize("guarantee", ["strict", "published"])
    def test_nothing_is_spent_on_a_structure_that_isn_t_there(self, guarantee):
        frame, schema = binary(4, 30)
        ledger = PrivBayes(0.1, guarantee=guarantee).fit(frame, schema).ledger_
        law = "zero_sum_laplace" if guarantee == "strict" else "discrete_laplace"
        assert [e.mechanism for e in ledger.entries] == [law] * 4
        assert {e.scale for e in ledger.entries} == {Q(2 * 4) / Q(1, 10)}
        assert ledger.epsilon == Q(1, 10)


class TestRecipe:
    @pytest.mark.parametrize(("d", "k"), [(d, k) for d in (2, 3, 5) for k in range(d)])
    def test_who_pays_for_what(self, d, k):
        frame, schema = binary(d, 50)
        fitted = PrivBayes(1.5, k=k, share_structure=0.4).fit(frame, schema)
        choices = [e for e in fitted.ledger_.entries if e.mechanism == "exponential"]
        tables = [e for e in fitted.ledger_.entries if e.mechanism in COUNTING]
        if k == 0:
            assert (len(choices), len(tables)) == (0, d)
            assert {e.scale for e in tables} == {2 * d / Q(3, 2)}
        else:
            assert {e.epsilon for e in choices} == {Q(6, 10) / (d - 1)}
            assert len(choices) == d - 1
            assert {e.scale for e in tables} == {2 * (d - k) / Q(9, 10)}
            assert len(tables) == d - k
        assert total(fitted.ledger_) == Q(3, 2)
        assert [len(p) for _, p in fitted.network_.pairs] == [min(k, i) for i in range(d)]

    def test_the_first_k_conditionals_are_marginals_of_table_k_plus_1(self):
        frame, schema = binary(4, 50)
        model = PrivBayes(1.0, k=2, random_state=2).fit(frame, schema).model_
        joint = np.maximum(model.tables[2], 0)
        child, parents = model.network.pairs[2]
        assert set(parents) == set(model.network.order[:2])
        axes = (child, *parents)
        for (name, above), table in zip(model.network.pairs[:2], model.tables[:2], strict=True):
            kept = [axes.index(a) for a in (name, *above)]
            summed = joint.sum(axis=tuple(i for i in range(3) if i not in kept))
            assert np.array_equal(table, summed if kept == sorted(kept) else summed.T)

    def test_the_root_is_uniform_and_the_rest_is_drawn(self):
        frame, schema = binary(4, 40)
        roots = [
            PrivBayes(1.0, k=1, random_state=s).fit(frame, schema).network_.order[0]
            for s in range(80)
        ]
        assert set(roots) == set(schema.names)
        assert max(roots.count(r) for r in roots) < 45

    def test_without_noise_the_best_pair_is_taken(self):
        frame, schema = binary(5, 300)
        codes = schema.encode(frame)
        fitted = PrivBayes(k=1, guarantee="none").fit(frame, schema)
        placed = [fitted.network_.order[0]]

        def information(a, b):
            table = np.zeros((2, 2), dtype=int)
            np.add.at(table, (codes[:, schema.index(a)], codes[:, schema.index(b)]), 1)
            return mutual_information(table)

        for child, (parent,) in fitted.network_.pairs[1:]:
            best = max(information(c, p) for c in schema.names if c not in placed for p in placed)
            assert information(child, parent) == pytest.approx(best)
            placed.append(child)


class TestReadings:
    @pytest.mark.parametrize("epsilon", [1, 0.7, 1 / 3, 2.345])
    @pytest.mark.parametrize("k", [0, 1, 2, "auto"])
    @pytest.mark.parametrize("table", [binary, mixed, gaps])
    def test_tods_costs_exactly_epsilon(self, epsilon, k, table):
        frame, schema = table()
        ledger = PrivBayes(epsilon, k=k, guarantee="published").fit(frame, schema).ledger_
        assert ledger.epsilon == ledger.finite == ledger.claimed
        assert ledger.check() == []

    @pytest.mark.parametrize("epsilon", [1, 0.7, 1 / 3, 2.345])
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_the_thesis_prints_half_the_noise_and_costs_half_as_much_again(self, epsilon, k):
        frame, schema = binary(5, 50)
        ledger = (
            PrivBayes(epsilon, k=k, guarantee="published", reading="thesis")
            .fit(frame, schema)
            .ledger_
        )
        claimed = ledger.claimed
        assert ledger.finite == ledger.epsilon == Q(3, 2) * claimed
        assert {e.scale for e in ledger.entries if e.mechanism == "discrete_laplace"} == {
            2 * (5 - k) / claimed
        }
        assert sum(e.claimed for e in ledger.entries) == claimed
        assert {v[:2] for v in ledger.check()} == {"L8"}
        assert ledger.unaccounted == []
        assert "OVERSPENT" in str(ledger)

    def test_the_thesis_reading_without_parents_has_nothing_to_halve(self):
        """k = 0 gives all of ε to the tables, and the printed noise is then what ε needs."""
        frame, schema = binary(4, 50)
        fitted = PrivBayes(0.7, k=0, guarantee="published", reading="thesis").fit(frame, schema)
        assert fitted.ledger_.finite == Q(7, 10)
        assert fitted.model_.private

    def test_an_overspent_model_is_not_private(self):
        frame, schema = binary(4, 50)
        fitted = PrivBayes(1, k=1, guarantee="published", reading="thesis").fit(frame, schema)
        assert not fitted.model_.private
        assert "NOT PRIVATE" in repr(fitted.model_)

    def test_strict_refuses_the_thesis_reading(self):
        frame, schema = binary()
        with pytest.raises(BudgetError, match="published"):
            PrivBayes(reading="thesis").fit(frame, schema)


class TestScores:
    @pytest.mark.parametrize("score", ["I", "R", "F"])
    @pytest.mark.parametrize("guarantee", ["strict", "published", "none"])
    def test_each_score_runs_on_a_binary_table(self, score, guarantee):
        frame, schema = binary(4, 60)
        fitted = PrivBayes(1.0, k=2, score=score, guarantee=guarantee).fit(frame, schema)
        assert fitted.ledger_.epsilon == (math.inf if guarantee == "none" else 1)
        units = {e.score_unit for e in fitted.ledger_.entries if e.mechanism == "exponential"}
        assert units == (set() if guarantee == "none" else {SCORES[score].unit})
        assert guarantee == "none" or fitted.ledger_.check() == []

    def test_auto_is_r_under_strict_and_the_paper_s_i_otherwise(self):
        frame, schema = binary()
        for guarantee, unit in (("strict", SCORES["R"].unit), ("published", SCORES["I"].unit)):
            entries = PrivBayes(k=1, guarantee=guarantee).fit(frame, schema).ledger_.entries
            assert {e.score_unit for e in entries if e.mechanism == "exponential"} == {unit}

    @pytest.mark.parametrize("score", ["I", "R"])
    def test_f_needs_two_values_the_others_don_t(self, score):
        frame, schema = mixed()
        assert PrivBayes(k=1, score=score).fit(frame, schema).ledger_.epsilon == 1
        with pytest.raises(BudgetError, match="two-valued"):
            PrivBayes(k=1, score="F").fit(frame, schema)

    @pytest.mark.parametrize(
        ("score", "of"),
        [
            ("R", association),
            ("F", lambda t: -f_shortfall(t)),
            ("I", lambda t: round(mutual_information(t) * 2**30)),
        ],
    )
    def test_the_exponents_are_score_over_twice_the_sensitivity(self, score, of):
        rows = [(0, 0, 1), (0, 1, 1), (1, 1, 0), (1, 0, 0), (1, 1, 1), (0, 0, 0)]
        noise = Silent()
        records = records_of(rows, (2, 2, 2))
        PrivBayes(Q(1), k=1, score=score).fit(records, noise=noise)
        numerators, denominator = next(a[1:] for a in noise.asked if a[0] == "select")
        pairs = [(1, 0), (2, 0)]  # the root is column 0, in the order of the candidates
        scores = []
        for child, parent in pairs:
            table = np.zeros((2, 2), dtype=np.int64)
            for row in rows:
                table[row[child], row[parent]] += 1
            scores.append(of(table))
        gaps_ = [max(scores) - s for s in scores]
        epsilon = Q(3, 10) / 2
        sensitivity = SCORES[score].sensitivity(len(rows), 2, 2)
        assert [Q(int(x), int(denominator)) for x in numerators] == [
            epsilon * g / (2 * sensitivity) for g in gaps_
        ]

    def test_the_sensitivity_follows_the_largest_candidate(self):
        """A binary pair alone pays 4(n−1), a candidate with three and more values on both sides
        6(n−1)."""
        for sizes, most in (((2, 2, 3), 4), ((3, 3, 3), 6), ((2, 2, 2), 4)):
            rows = list(
                itertools.islice(itertools.cycle(itertools.product(*map(range, sizes))), 30)
            )
            entries = (
                PrivBayes(k=1, score="R")
                .fit(records_of(rows, sizes), noise=Silent())
                .ledger_.entries
            )
            assert {e.sensitivity for e in entries if e.mechanism == "exponential"} == {most * 29}


def test_utility_improves_with_structure():
    """A table of copies: with parents the pairs come out right, without them they can't."""
    rng = np.random.default_rng(0)
    column = np.where(rng.random(800) < 0.5, "yes", "no")
    frame, schema = binary(3)
    frame = pd.DataFrame(dict.fromkeys(schema.names, column))
    agreement = {}
    for k in (0, 1):
        fake = PrivBayes(20.0, k=k, random_state=1).fit(frame, schema).sample(2000)
        agreement[k] = (fake["b0"] == fake["b1"]).mean()
    assert agreement[1] > 0.95 > 0.6 > agreement[0]


def test_a_search_too_large_is_refused_with_its_size():
    schema = Schema(tuple(Attribute.categorical(f"b{j}", ["no", "yes"]) for j in range(60)))
    frame = pd.DataFrame({f"b{j}": ["no", "yes"] for j in range(60)})
    with pytest.raises(
        BudgetError,
        match=r"k = 7 with d = 60 attributes means choosing among [\d,]+ attribute–parent pairs",
    ):
        PrivBayes(k=7).fit(frame, schema)

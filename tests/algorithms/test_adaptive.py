"""ABN: GParentSet against a literal reading of the paper, what its selections really cost, and the
strict nested form."""

import math
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from privacy_tools import curator_of, law, log_ratio, records_of

from pdsynth.algorithms.privabn import abn_strict, count_selections, growth_penalty
from pdsynth.core.curator import Curator
from pdsynth.core.errors import PrivacyError
from pdsynth.core.ledger import Ledger
from pdsynth.core.measures import GRID, association, mutual_information
from pdsynth.core.network import Candidates, Restriction
from pdsynth.core.noise import ExactNoise
from pdsynth.published import partitions
from pdsynth.published.noise import NoNoise
from pdsynth.published.partitions import Partitions
from pdsynth.published.privabn import ParentChoice, abn_published, printed_sensitivity


def information(rows, child, parents) -> int:
    """I(S;Π) in steps of 2^-30 bit, counted from scratch."""
    rows = np.asarray(rows)
    key = (
        rows[:, list(parents)] @ (1 << np.arange(len(parents)))[::-1]
        if parents
        else np.zeros(len(rows), dtype=int)
    )
    table = np.zeros((2, 2 ** len(parents)), dtype=np.int64)
    np.add.at(table, (rows[:, child], key), 1)
    return round(mutual_information(table) * GRID)


def literal(rows, root, most, *, ascending=False):
    """Algorithms 2 and 3 word by word, with the best pair instead of a drawn one; dp[S, j] as a
    dictionary that is written in place."""
    d = np.shape(rows)[1]
    dp: dict = {(s, 0): () for s in range(d)}
    placed, pairs, f = [root], [(root, ())], root
    for i in range(2, d + 1):
        omega = []
        sizes = list(range(1, min(i - 1, most) + 1))
        for j in sizes if ascending else reversed(sizes):
            for s in (s for s in range(d) if s not in placed):
                new, old = (*dp[s, j - 1], f), dp.get((s, j))
                if old is None or information(rows, s, new) >= information(rows, s, old):
                    dp[s, j] = new
        for j in sizes:
            omega += [(s, dp[s, j]) for s in range(d) if s not in placed]
        scores = [information(rows, s, p) for s, p in omega]
        pair = omega[int(np.argmax(scores))]
        pairs.append(pair)
        f = pair[0]
        placed.append(f)
    return pairs, dp


def published(rows, noise=None, guarantee="none", epsilon=Q(1), **options):
    d = np.shape(rows)[1]
    curator = curator_of(rows, (2,) * d, noise or NoNoise(3), epsilon=Q(10), guarantee=guarantee)
    return abn_published(curator, epsilon, noise or NoNoise(3), **options), curator


tables = st.tuples(st.integers(2, 6), st.integers(1, 40), st.integers(0, 2**31)).map(
    lambda v: (np.random.default_rng(v[2]).random((v[1], v[0])) < 0.4).astype(int)
)


class TestGParentSet:
    @given(tables, st.integers(1, 6))
    def test_without_noise_it_is_the_paper_word_by_word(self, rows, most):
        pairs, _ = published(rows, most=most)
        assert pairs == literal(rows, pairs[0][0], most)[0]

    @given(tables)
    def test_no_cap_means_all_placed_attributes(self, rows):
        pairs, _ = published(rows)
        assert pairs == literal(rows, pairs[0][0], rows.shape[1])[0]

    def test_hand_worked(self):
        """dp[S, 1] = {a} with 5, then f = b: alone 3, with a 9. Then f = c: alone 5 (a tie), with
        dp[S, 1] = a 8, with {a, b} 9."""
        choice = ParentChoice([7])
        assert choice.offer(0, np.array([[5]])).tolist() == [[True]]
        assert choice.offer(1, np.array([[3, 9]])).tolist() == [[False, True]]
        assert choice.sets[7] == [(0,), (0, 1)]
        assert choice.offer(2, np.array([[5, 8, 9]])).tolist() == [[True, False, True]]
        assert choice.sets[7] == [(2,), (0, 1), (0, 1, 2)]
        candidates, scores = choice.candidates()
        assert [candidates[i] for i in range(3)] == [(7, (2,)), (7, (0, 1)), (7, (0, 1, 2))]
        assert scores.tolist() == [5, 9, 9]

    def test_twin_ascending_j_reads_what_it_has_just_written(self):
        sets = literal(np.zeros((3, 4), dtype=int), 0, 4, ascending=True)[1].values()
        assert any(len(set(parents)) < len(parents) for parents in sets)
        assert all(
            len(set(parents)) == len(parents)
            for parents in literal(np.zeros((3, 4), dtype=int), 0, 4)[1].values()
        )

    def test_an_exclusive_or_is_not_found(self):
        """S = a xor b: the pair tells everything, but dp[S, 1] keeps c, which tells a little, and
        dp[S, 2] grows from it."""
        a, b = np.tile([0, 1], 80), np.repeat([0, 1], 80)
        s = a ^ b
        c = np.where(np.arange(160) % 10 == 0, 1 - s, s)
        store = Partitions(np.column_stack([s, a, b, c]).astype(np.uint8), (2,) * 4).parent_sets(
            [0]
        )
        choice = ParentChoice([0])
        for f in (3, 1, 2):
            store.keep(choice.offer(f, np.rint(store.grow(f) * GRID).astype(np.int64)))
        best = information(np.column_stack([s, a, b, c]), 0, (1, 2))
        assert best == GRID
        assert set(choice.sets[0][1]) != {1, 2}
        assert choice.scores[0][1] < best

    def test_the_corrected_table_2(self):
        """(m³ − m)/6 scores, 20,825 at m = 50, whatever the largest in-degree:
        neither 250 nor m².
        """
        assert sum((50 - i + 1) * (i - 1) for i in range(2, 51)) == (50**3 - 50) // 6 == 20_825
        rows = (np.random.default_rng(0).random((30, 12)) < 0.5).astype(int)
        _, curator = published(rows, ExactNoise(0), "published")
        offered = [
            int(e.released.split()[2])
            for e in curator.ledger.entries
            if e.mechanism == "exponential"
        ]
        assert offered == [(12 - i + 1) * (i - 1) for i in range(2, 13)]
        assert sum(offered) == (12**3 - 12) // 6

    def test_some_columns_only(self):
        rows = (np.random.default_rng(1).random((50, 6)) < 0.5).astype(int)
        pairs, _ = published(rows, columns=[4, 1, 5])
        assert {c for c, _ in pairs} == {1, 4, 5}
        assert {p for _, parents in pairs for p in parents} <= {1, 4, 5}
        assert published(rows, columns=[2])[0] == [(2, ())]
        assert all(parents == () for _, parents in published(rows, most=0)[0])


class TestPublishedCost:
    def test_every_selection_costs_1_44_times_its_claim(self):
        rows = (np.random.default_rng(0).random((200, 5)) < 0.5).astype(int)
        _, curator = published(rows, ExactNoise(0), "published", epsilon=Q(1, 2))
        chosen = [e for e in curator.ledger.entries if e.kind == "mechanism"]
        assert [e.claimed for e in chosen] == [Q(1, 8)] * 4
        assert all(1 <= float(e.epsilon / e.claimed) * math.log(2) < 1 + 1e-6 for e in chosen)
        assert [e.source for e in curator.ledger.unaccounted] == ["PrivABN Alg 2 line 5 and Alg 3"]
        assert [v for v in curator.ledger.check() if v.startswith("L4")] == []

    def test_the_exact_law_shows_the_unit_slip(self):
        """A and B gain a lone common 1, C₁…C₄ and D₁…D₁₀ lose theirs: in one unit the mechanism
        keeps its claim, as printed it doesn't."""
        sizes = (2,) * 16
        children, parents = (
            [0] + [2 + i for i in range(4) for _ in range(10)],
            [[1]] + [[6 + j] for _ in range(4) for j in range(10)],
        )
        candidates = Candidates(((np.array(children), np.array(parents)),))

        def distribution(rows, printed):
            def run(noise):
                curator = curator_of(rows, sizes, noise, epsilon=Q(2), guarantee="published")
                return curator.select(
                    candidates, "I", Q(1), step="s", source="x", printed_sensitivity=printed
                )

            return law(run)

        n = 50
        before, after = np.zeros((n, 16), dtype=int), np.zeros((n, 16), dtype=int)
        before[0, :2], after[0, 2:] = 1, 1
        honest, slip = (
            log_ratio(distribution(before, p), distribution(after, p))
            for p in (None, printed_sensitivity(n))
        )
        assert 0.9 < honest <= 1
        assert 1.3 < slip <= 1 / math.log(2) + 1e-6

    def test_neighbours_offer_different_candidates(self):
        """Two parents tie; one record less and the other one is offered: outcomes that only one of
        the two tables can have."""
        s = np.arange(40) % 2
        rows = np.column_stack([s, s, s])
        rows[:4, 1] ^= 1
        rows[4:8, 2] ^= 1
        after = rows.copy()
        after[0, 1] ^= 1

        def run(table):
            return law(lambda noise: tuple(published(table, noise, "published")[0]))

        assert log_ratio(run(rows.tolist()), run(after.tolist())) == math.inf

    def test_strict_refuses_before_anything_is_read(self, monkeypatch):
        records = records_of([[0, 1, 1]] * 9, (2, 2, 2))
        monkeypatch.setattr(partitions, "Partitions", lambda *a: pytest.fail("read"))
        curator = Curator(records, Ledger(Q(1)), ExactNoise(0))
        with pytest.raises(PrivacyError, match="a strict door doesn't hand out"):
            abn_published(curator, Q(1), ExactNoise(0))
        with pytest.raises(TypeError, match="raw_scores"):
            curator.select(
                Candidates(((np.array([0]), np.array([[1]])),)),
                "I",
                Q(1),
                step="s",
                source="x",
                raw_scores=np.array([1]),
            )
        assert curator.ledger.entries == ()


def strict(rows, noise, each=Q(1, 2), most=2, tables=None, epsilon2=Q(10**9)):
    d = np.shape(rows)[1]
    curator = curator_of(rows, (2,) * d, noise, epsilon=Q(1000))
    return (
        *abn_strict(curator, each, most=most, tables=tables or d, epsilon2=epsilon2),
        curator,
    )


class TestNested:
    @pytest.mark.parametrize("epsilon2", [Q(2), Q(50), Q(10**6)])
    def test_the_exact_law_of_the_network_keeps_its_budget(self, epsilon2):
        before = [[0, 0, 0], [0, 1, 1], [1, 1, 0], [1, 0, 1], [0, 0, 0]]
        each, worst = Q(1, 2), 0.0
        p = law(lambda noise: tuple(strict(before, noise, each, 2, 3, epsilon2)[0]))
        for record in ([1, 1, 1], [0, 1, 0], [1, 0, 0]):
            q = law(
                lambda noise, record=record: tuple(
                    strict([*before[:-1], record], noise, each, 2, 3, epsilon2)[0]
                )
            )
            worst = max(worst, log_ratio(p, q))
        assert 0.05 < worst <= count_selections(3, 2) * each

    def test_twin_a_raw_filter_of_the_candidates_is_seen(self, monkeypatch):
        """Attributes without any raw association aren't offered, so supports differ."""
        import pdsynth.algorithms.privabn as room

        before, after = (
            [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]],
            [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1]],
        )
        together = room.join_pairs

        def run(rows):
            def filtered(pairs):
                crossed = [
                    np.histogram2d(*np.asarray(rows)[:, [c, *p]].T, bins=[[0, 1, 2]] * 2)[0].astype(
                        int
                    )
                    for c, p in pairs
                ]
                return together(
                    [
                        pair
                        for pair, table in zip(pairs, crossed, strict=True)
                        if association(table) > 0
                    ]
                    or pairs
                )

            monkeypatch.setattr(room, "join_pairs", filtered)
            return law(lambda noise: tuple(strict(rows, noise, most=1)[0]))

        assert log_ratio(run(before), run(after)) == math.inf

    def test_the_penalty_is_the_expected_noise(self):
        """pen(j) = 2^(j+1) m / (n ε₂): 1.2 for j = 0, m = 3, n = 10, ε₂ = 1/2, and one parent more
        costs as much again: 240 in K."""
        assert growth_penalty(0, 10, 3, Q(1, 2)) == 240
        assert growth_penalty(2, 10, 3, Q(1, 2)) == 4 * 240
        assert growth_penalty(60, 10, 3, Q(1, 10**9)) == 2**60

    def test_the_penalty_decides_how_many_parents(self):
        rng = np.random.default_rng(2)
        a, b, c = (rng.random((3, 400)) < 0.5).astype(int)
        rows = np.column_stack([a, b, c, (a + b + c > 1).astype(int)])
        degree = {}
        for epsilon2 in (Q(1, 100), Q(10**4)):
            pairs, used, curator = strict(rows.tolist(), ExactNoise(4), Q(30), 3, 4, epsilon2)
            degree[epsilon2] = max(len(p) for _, p in pairs)
            assert (
                used
                == sum(e.kind == "mechanism" for e in curator.ledger.entries)
                <= count_selections(4, 3)
            )
            assert curator.ledger.check() == ["L10 noise is reproducible: do not release"]
        assert degree[Q(1, 100)] == 1
        assert degree[Q(10**4)] >= 2

    @given(tables.filter(lambda rows: rows.shape[1] >= 5), st.integers(0, 99))
    def test_a_public_policy_is_kept(self, rows, seed):
        """x0 is the target, x1 sensitive, x2 always a parent of x3, x4 never: all of it without a
        selection of its own."""
        d = rows.shape[1]
        policy = Restriction("x0", "x1", forced=(("x2", "x3"),), forbidden=(("x4", "x3"),))
        curator = curator_of(rows, (2,) * d, ExactNoise(seed), epsilon=Q(100))
        pairs, used = abn_strict(
            curator,
            Q(1, 2),
            most=3,
            tables=d,
            epsilon2=Q(10**6),
            restriction=policy,
        )
        parents = dict(pairs)
        assert [c for c, _ in pairs][:2] == [0, 1]
        assert (parents[0], parents[1]) == ((), (0,))
        assert not any(1 in p for p in parents.values())
        assert 2 in parents[3]
        assert 4 not in parents[3]
        assert all(len(p) <= 3 for p in parents.values())
        assert sorted(parents) == list(range(d))
        assert d - 2 <= used == len(curator.ledger.entries) <= count_selections(d, 3)

    @given(st.integers(2, 12), st.integers(1, 12))
    def test_the_number_of_selections(self, d, most):
        assert count_selections(d, most) == sum(min(most, i) for i in range(1, d)) <= (d - 1) * most

    @given(tables, st.integers(1, 4))
    def test_any_table_gives_a_network_within_the_cap(self, rows, most):
        pairs, used, _ = strict(rows, ExactNoise(1), most=most, epsilon2=Q(5))
        seen = []
        for child, parents in pairs:
            assert set(parents) <= set(seen)
            assert len(set(parents)) == len(parents) <= most
            seen.append(child)
        assert sorted(seen) == list(range(rows.shape[1]))
        assert used <= count_selections(rows.shape[1], most)

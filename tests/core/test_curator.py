"""The one door: what each question releases, what it costs, and what the three guarantees make of
it."""

import math
from dataclasses import replace
from fractions import Fraction as Q
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import Silent, curator_of, schema_of

from pdsynth.core.curator import Curator, Measured
from pdsynth.core.errors import BudgetError, PrivacyError
from pdsynth.core.ledger import Ledger
from pdsynth.core.measures import mutual_information
from pdsynth.core.network import Candidates
from pdsynth.core.noise import ExactNoise, laplace_width
from pdsynth.core.records import Records
from pdsynth.core.unit import TableBudget
from pdsynth.published.budgets import PrintedBudget, one_record_more
from pdsynth.published.curator import RawCurator
from pdsynth.published.doors import raw_door
from pdsynth.published.noise import NoNoise

# The hand-worked table of test_measures: I(A,C) = 1, I(B,C) = 1/2, I(A,B) = 0 bits; K = 64, 32, 0;
# n = 8.
ROWS = [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 1], [1, 0, 1], [1, 1, 2], [1, 1, 3]]
SIZES = (2, 2, 4)
PAIRS = Candidates(((np.array([2, 2, 0]), np.array([[0], [1], [1]])),))


def ask(guarantee="strict", noise=None, epsilon=Q(10), **options):
    return curator_of(
        ROWS, SIZES, noise or Silent(), epsilon=epsilon, guarantee=guarantee, **options
    )


def released(curator):
    """The door, with exact columns as releases: what a residual is taken against."""
    for j, counts in enumerate(([4, 4], [4, 4], [4, 2, 1, 1])):
        curator.released[j] = Measured(np.array(counts), Q(1), "public")
    return curator


def questions():
    """Every question of a strict run, with what it should cost."""
    return {
        "select": lambda c: c.select(PAIRS, "R", Q(1, 10), step="s", source="p"),
        "table": lambda c: c.table((0, 2), TableBudget(Q(1, 10), source="p"), step="t"),
        "table by value": lambda c: c.table(
            (0, 2), TableBudget(Q(1, 10), (Q(1), Q(1, 2)), source="p"), step="t"
        ),
        "residuals": lambda c: released(c).residuals([(0, 2)], Q(1, 10), step="g", source="p"),
        "sums of residuals": lambda c: released(c).residuals(
            [(0, 1), (0, 2), (1, 2)], Q(1, 10), step="o", source="p", sums=True
        ),
        "mean": lambda c: c.mean_association([(0, 2), (1, 2)], Q(1, 10), step="m", source="p"),
        "strongest": lambda c: c.strongest_association(
            [(0, 2), (1, 2)], Q(1, 10), step="x", source="p", offsets=np.array([-3, 0])
        ),
        "sketch": lambda c: c.noisy_associations([(0, 2), (1, 2)], Q(1, 10), step="k", source="p"),
    }


class TestStrict:
    @pytest.mark.parametrize("name", questions())
    def test_each_question_writes_one_line_that_keeps_the_rules(self, name):
        curator = ask()
        questions()[name](curator)
        (entry,) = curator.ledger.entries
        assert (entry.kind, entry.cost, entry.inputs, entry.source) == (
            "mechanism",
            Q(1, 10),
            ("raw:D",),
            "p",
        )
        assert (entry.n_records, entry.domain) == (8, "schema:public")
        assert entry.attributes
        assert curator.ledger.check() == []

    @pytest.mark.parametrize("name", questions())
    def test_answers_are_noisy(self, name):
        answers = [repr(questions()[name](ask(noise=ExactNoise(seed)))) for seed in range(12)]
        assert len(set(answers)) > 1

    def test_the_strict_door_has_no_method_that_hands_out_raw_statistics(self):
        """What the raw door adds; each of them would be an unaccounted access."""
        raw = {name for name in vars(RawCurator) if not name.startswith("_")} - set(vars(Curator))
        added = {name for name in raw if not hasattr(Curator, name)}
        assert added == {
            "association_with", "average_association", "conditionals", "histograms",
            "information_sketch", "parallel", "parent_sets", "peek", "sparse_vector_test",
        }  # fmt: skip
        assert not [name for name in added if hasattr(ask(), name)]

    def test_a_raw_door_that_must_be_strict_is_refused_before_anything_is_read(self, monkeypatch):
        records = Records(np.array(ROWS, dtype=np.uint8), schema_of(SIZES))
        curator = RawCurator(records, Ledger(Q(1)), Silent())
        monkeypatch.setattr(Records, "table", lambda *_: pytest.fail("read"))
        with pytest.raises(
            PrivacyError, match="'plot' would read raw records outside a mechanism .figure 3."
        ):
            curator.peek("plot", "figure 3", (0, 1))
        assert curator.ledger.entries == ()
        with pytest.raises(PrivacyError, match="a strict door doesn't hand out"):
            raw_door(ask())

    def test_an_inferred_schema_is_refused(self):
        records = Records(np.array(ROWS, dtype=np.uint8), schema_of(SIZES, source="data"))
        with pytest.raises(PrivacyError, match="inferred from the records"):
            Curator(records, Ledger(Q(1)), Silent())
        with pytest.raises(PrivacyError, match="'domains' would read raw records"):
            RawCurator(records, Ledger(Q(1)), Silent())  # nor if the raw door is forced

    def test_scores_from_outside_are_not_drawn_by(self):
        curator, raw = ask(), np.array([9, 1, 1])
        own = {"raw_scores", "printed_sensitivity"}
        assert not own & {*signature(Curator.select).parameters}
        forced = RawCurator(curator._records, Ledger(Q(9)), Silent())
        with pytest.raises(PrivacyError, match="raw scores"):  # nor if the raw door is forced
            forced.select(PAIRS, "R", Q(1), step="s", source="", raw_scores=raw)
        assert curator.ledger.entries == forced.ledger.entries == ()

    def test_columns_share_epsilon_by_the_root_of_their_values(self):
        """√2 : √2 : √4; each table has at most 32 cells, so its noise sums to 0."""
        noise = Silent()
        curator = ask(noise=noise)
        found = curator.columns(Q(1, 5))
        assert [found[j].counts.tolist() for j in range(3)] == [[4, 4], [4, 4], [4, 2, 1, 1]]
        lines = curator.ledger.entries
        assert [found[j].entry for j in range(3)] == [e.id for e in lines]
        assert sum(e.epsilon for e in lines) == curator.ledger.epsilon == Q(1, 5)
        ratio = lines[2].epsilon / lines[0].epsilon
        assert ratio == Q(200, 141) and lines[0].epsilon == lines[1].epsilon
        assert curator.ledger.check() == []

    def test_columns_that_are_asked_again_are_the_same_and_free(self):
        curator = ask(noise=ExactNoise(1))
        first = curator.columns(Q(1), [2, 0])
        again = curator.columns(Q(5))
        assert again is first and [*first] == [2, 0]
        assert curator.ledger.epsilon == 1
        assert curator.binary().released == {}, "the columns of bits are others"

    def test_residuals_by_hand(self):
        """Expected of (x0, x2): [[2, 1, .5, .5], [2, 1, .5, .5]], halves rounded to even: 0; counts
        [[4, 0, 0, 0], [0, 2, 1, 1]]: Σ|c − m| = 2 + 1 + 0 + 0 + 2 + 1 + 1 + 1 = 8 of 2n = 16."""
        noise = Silent()
        curator = released(ask(noise=noise))
        values, entry = curator.residuals([(0, 2), (0, 1)], Q(1, 2), step="g", source="")
        assert values.tolist() == [8 / 16, 0]
        (line,) = curator.ledger.entries
        assert (line.id, line.sensitivity, line.lemma) == (entry, 4, "lemma:residuals")
        assert np.asarray(noise.asked[0][1], dtype=object).ravel().tolist() == [Q(8)]

    def test_what_is_expected_is_rounded_to_whole_records_by_hand(self):
        """Of x0 released as [5, 3]: [[2.5, 1.25, .625, .625], [1.5, .75, .375, .375]] is rounded to
        [[2, 1, 1, 1], [2, 1, 0, 0]]: Σ|c − m| = 2 + 1 + 1 + 1 + 2 + 1 + 1 + 1 = 10; unrounded 8."""
        curator = released(ask())
        curator.released[0] = Measured(np.array([5, 3]), Q(1), "public")
        values, _ = curator.residuals([(0, 2)], Q(1, 2), step="g", source="")
        assert values.tolist() == [10 / 16]

    def test_sums_of_residuals_count_each_pair_twice(self):
        curator = released(ask())
        pairs = [(0, 1), (0, 2), (1, 2)]
        each, _ = curator.residuals(pairs, Q(1), step="g", source="")
        sums, _ = curator.residuals(pairs, Q(1), step="o", source="", sums=True)
        assert sums.tolist() == [each[0] + each[1], each[0] + each[2], each[1] + each[2]]
        assert [e.sensitivity for e in curator.ledger.entries] == [6, 12]

    def test_twin_a_line_that_forgets_a_pair_breaks_rule_l3(self):
        curator = released(ask())
        curator.residuals([(0, 2), (0, 1)], Q(1), step="g", source="")
        (line,) = curator.ledger.entries
        short = replace(line, sensitivity=Q(2), scale=Q(2))
        (broken,) = Ledger(Q(1), _entries=[short]).check()
        assert broken.startswith("L3") and "lemma:residuals gives 4" in broken

    def test_residuals_need_released_columns(self):
        with pytest.raises(KeyError):
            ask().residuals([(0, 2)], Q(1), step="g", source="")

    def test_the_mean_of_pairs_by_hand(self):
        """K = 64, 32 of n = 8: (64 + 32) / 16 = 6 records, which move by ⌈2·28 / 16⌉ = 4."""
        noise = Silent()
        curator = ask(noise=noise)
        value = curator.mean_association([(0, 2), (1, 2)], Q(1, 2), step="m", source="")
        assert value == 6 / 16
        assert curator.ledger.entries[0].sensitivity == 4
        assert np.asarray(noise.asked[0][1], dtype=object).ravel().tolist() == [Q(8)]

    def test_the_strongest_of_pairs_by_hand(self):
        """K = 64, 32 of n = 8, which move by 28 and 28: less 40 and nothing, the second is left."""
        for offsets, most in (([0, 0], 64), ([-40, 0], 32), ([-70, -70], -6)):
            noise = Silent()
            curator = ask(noise=noise)
            value, entry = curator.strongest_association(
                [(0, 2), (1, 2)], Q(1, 2), step="m", source="", offsets=np.array(offsets)
            )
            assert value == most / 128
            assert (curator.ledger.entries[0].id, curator.ledger.entries[0].sensitivity) == (
                entry,
                28,
            )
            assert np.asarray(noise.asked[0][1], dtype=object).ravel().tolist() == [Q(56)]

    def test_the_strongest_moves_as_far_as_the_widest_pair(self):
        """K of a pair with two values by 4·7, of one with three each by 6·7."""
        rows = np.array(ROWS) % 3
        curator = curator_of(rows, (2, 3, 3), Silent(), epsilon=Q(1))
        curator.strongest_association(
            [(0, 1), (1, 2)], Q(1), step="m", source="", offsets=np.array([0, 0])
        )
        assert curator.ledger.entries[0].sensitivity == 42

    def test_a_sketch_is_clipped_to_probabilities(self):
        values, _ = ask(noise=ExactNoise(1)).noisy_associations(
            [(0, 2), (0, 1), (1, 2)], Q(1, 100), step="k", source=""
        )
        assert ((values >= 0) & (values <= 1)).all()
        values, _ = ask().noisy_associations([(2, 0), (0, 1)], Q(1), step="k", source="")
        assert values.tolist() == [0.5, 0.0]

    def test_a_selection_names_its_lemma_units_and_domains(self):
        curator = ask()
        assert curator.select(PAIRS, "R", Q(1), step="s", source="") == (2, (0,))
        entry = curator.ledger.entries[0]
        assert (entry.sensitivity, entry.lemma, entry.score_unit, entry.candidates) == (
            28,
            "lemma:association",
            "records^2",
            "public",
        )
        assert entry.attributes == ("x0", "x1", "x2")
        assert entry.mechanism == "exponential"
        noise = Silent()
        noise.permutes = True
        flipped = ask(noise=noise)
        flipped.select(PAIRS, "R", Q(1), step="s", source="")
        assert flipped.ledger.entries[0].mechanism == "permute_and_flip"

    def test_per_value_scales_cost_their_worst_move(self):
        curator = ask()
        weights = Q(1), Q(1, 4)
        curator.table((0, 2), TableBudget(Q(1), weights), step="t")
        curator.table((0,), TableBudget(Q(5, 8), weights), step="root")
        assert [e.scale for e in curator.ledger.entries] == [(Q(2), Q(8))] * 2
        assert [e.epsilon for e in curator.ledger.entries] == [Q(1), Q(5, 8)]
        assert curator.ledger.check() == []

    def test_score_f_is_for_two_valued_children(self):
        with pytest.raises(BudgetError, match="two values: use score='R'"):
            ask().select(PAIRS, "F", Q(1), step="s", source="")
        binary = Candidates(((np.array([0]), np.array([[2]])),))
        curator = ask()
        curator.select(binary, "F", Q(1), step="s", source="")
        assert curator.ledger.entries[0].sensitivity == 2

    def test_post_processing_is_free_and_can_be_named(self):
        curator = ask()
        first = curator.columns(Q(1), [0])[0].entry
        order = curator.note_post_processing("order", (first,), "an order of 3")
        curator.select(Candidates(PAIRS.by_size, order), "R", Q(1), step="s", source="")
        assert curator.ledger.epsilon == 2
        assert curator.ledger.check() == []

    def test_preparing_releases_and_costs_nothing(self):
        curator = ask()
        assert curator.prepare(3, "R") is None
        assert curator.prepare(3, "I") is None
        assert curator.ledger.entries == ()

    @given(st.integers(0, 2**32), st.sampled_from(["I", "R"]))
    @settings(max_examples=25)
    def test_scores_are_those_of_the_tables(self, seed, score):
        rng = np.random.Generator(np.random.PCG64(seed))
        sizes = (2, 3, 2, 4)
        rows = rng.integers(0, sizes, size=(12, 4))
        noise = Silent()
        curator = curator_of(rows, sizes, noise, epsilon=Q(10))
        pairs = Candidates(
            ((np.array([0, 3]), np.array([[1, 2], [0, 2]])), (np.array([1]), np.array([[0, 2, 3]])))
        )
        curator.select(pairs, score, Q(1), step="s", source="")
        raw = curator_of(rows, sizes, NoNoise(), guarantee="none")
        exact_scores = []
        for c, p in (pairs[i] for i in range(3)):
            t = raw.peek("test", "", (c, *p)).reshape(sizes[c], -1)
            n = t.sum()
            exact_scores.append(
                round(mutual_information(t) * 2**30)
                if score == "I"
                else int(np.abs(n * t - np.outer(t.sum(1), t.sum(0))).sum())
            )
        (_, numerators, _) = noise.asked[0]
        gaps = max(exact_scores) - np.array(exact_scores)
        assert np.abs(numerators - gaps).max() <= (2 if score == "I" else 0)


class TestPublished:
    def test_what_papers_read_raw_is_handed_out_and_written_down(self):
        curator = ask("published")
        values, entry = curator.average_association(
            step="AMI order", source="thesis Alg 3 line 2", reason="the order leaks"
        )
        assert values.tolist() == [0.5, 0.25, 0.75], "average mutual information in bits"
        groups, _ = curator.association_with(2, step="groups", source="thesis Alg 4")
        assert groups.tolist() == [1.0, 0.5, math.inf]
        raw, _ = curator.histograms((2,), step="weights", source="thesis Alg 6 line 5")
        assert raw[0].tolist() == [4, 2, 1, 1]
        assert curator.peek("cells", "figure 3", (0, 1)).tolist() == [[2, 2], [2, 2]]
        assert [e.source for e in curator.ledger.unaccounted] == [
            "thesis Alg 3 line 2",
            "thesis Alg 4",
            "thesis Alg 6 line 5",
            "figure 3",
        ]
        assert curator.ledger.unaccounted[0].why == "the order leaks"
        assert all(e.why for e in curator.ledger.unaccounted)
        assert (curator.ledger.epsilon, curator.ledger.finite) == (math.inf, 0)
        assert curator.ledger.entries[0].id == entry

    def test_selections_and_tables_are_paid_for_all_the_same(self):
        curator = ask("published")
        curator.select(PAIRS, "I", Q(1), step="s", source="")
        curator.table((0, 1), TableBudget(Q(1)), step="t")
        assert curator.ledger.epsilon == 2

    def test_an_inferred_schema_is_an_unaccounted_access(self):
        records = Records(np.array(ROWS, dtype=np.uint8), schema_of(SIZES, source="data"))
        curator = RawCurator(records, Ledger(Q(1), "published"), Silent())
        assert [e.step for e in curator.ledger.unaccounted] == ["domains"]
        curator.table((0,), TableBudget(Q(1)), step="t")
        assert any(v.startswith("L9") for v in curator.ledger.check())


class TestNone:
    def test_everything_is_raw_and_said_once(self):
        curator = ask("none", NoNoise())
        assert curator.table((0, 1), TableBudget(Q(1)), step="t").counts.tolist() == [
            [2, 2],
            [2, 2],
        ]
        assert curator.select(PAIRS, "R", Q(1), step="s", source="") == (2, (0,))
        assert curator.average_association(step="o", source="")[0].tolist() == [
            0.5,
            0.25,
            0.75,
        ]
        assert curator.histograms((0,), step="h", source="")[0][0].tolist() == [4, 4]
        assert curator.columns(Q(1))[2].counts.tolist() == [4, 2, 1, 1]
        assert curator.residuals([(0, 2)], Q(1), step="g", source="")[0].tolist() == [0.5]
        assert curator.noisy_associations([(0, 2)], Q(1), step="k", source="")[0].tolist() == [0.5]
        assert len(curator.ledger.entries) == 1
        assert curator.ledger.epsilon == math.inf
        assert curator.ledger.verdict().startswith("NOT PRIVATE")


class TestSurface:
    def test_the_records_are_behind_the_door(self):
        curator = ask()
        public = {name: value for name, value in vars(curator).items() if not name.startswith("_")}
        assert set(public) == {"ledger", "schema", "released"}
        assert not hasattr(curator, "records")

    def test_nothing_of_the_records_is_in_the_representation(self):
        assert "array" not in repr(ask())

    def test_a_released_table_can_be_written_to_without_changing_the_records(self):
        curator = ask("none", NoNoise())
        curator.table((0, 1), TableBudget(Q(1)), step="t").counts[0, 0] = 99
        assert curator.table((0, 1), TableBudget(Q(1)), step="t").counts[0, 0] == 2

    def test_a_single_record_and_a_constant_column_are_fine(self):
        curator = curator_of([[0, 1, 2]], SIZES, Silent(), epsilon=Q(10))
        for question in questions().values():
            question(curator)
        assert curator.ledger.check() == []

    def test_what_it_costs_never_depends_on_the_records(self):
        rng = np.random.Generator(np.random.PCG64(5))
        entries = set()
        for _ in range(5):
            curator = curator_of(
                rng.integers(0, SIZES, size=(8, 3)), SIZES, Silent(), epsilon=Q(10)
            )
            for question in questions().values():
                question(curator)
            entries.add(curator.ledger.entries)
        assert len(entries) == 1


def test_a_pairwise_score_adds_up_and_has_the_sensitivity_of_all_its_members():
    """Three parents that turn together: the sum moves by 3 S, which a mechanism calibrated for S
    undercharges."""
    sizes, rows = (2, 2, 2, 2), [[0, 0, 0, 0]] * 30
    door = curator_of(rows, sizes, ExactNoise(1), Q(1), "published")
    pair = Candidates(((np.array([0, 0]), np.array([[1, 2, 3], [1, 2, 3]])),))
    door.select(pair, "R", Q(1), printed_sensitivity=4 * 29, step="s", source="x", pairwise=True)
    line = door.ledger.entries[-1]
    assert (line.claimed, line.epsilon, line.sensitivity) == (1, 3, 3 * 4 * 29)
    assert [v[:2] for v in door.ledger.check() if not v.startswith("L10")] == ["L8"]
    door = curator_of([[0, 0, 0, 0], [1, 1, 1, 0]] * 5, sizes, NoNoise(), Q(1), "none")
    best = door.select(
        Candidates(((np.array([0, 0]), np.array([[1, 2], [1, 3]])),)),
        "R",
        Q(1),
        step="s",
        source="x",
        pairwise=True,
    )
    assert best == (0, (1, 2))


class TestPrintedScales:
    BUDGET = PrintedBudget(Q(1), source="line 4", scale=Q(1))

    def test_a_door_of_printed_algorithms_takes_them_and_says_what_they_cost(self):
        door = ask("published")
        assert door.table((0, 1), self.BUDGET, step="t").scale == 1
        (line,) = door.ledger.entries
        assert (line.claimed, line.epsilon, line.scale) == (1, 2, 1)

    def test_a_strict_door_refuses_them_before_anything_is_read_or_drawn(self):
        class Own(TableBudget):
            """A budget that might bring anything."""

        noise = Silent()
        door = Curator(ask()._records, Ledger(Q(9)), noise)
        for budget in (self.BUDGET, Own(Q(1)), Q(1), Q(2, 3)):
            for question in (
                lambda b=budget: door.table((0, 1), b, step="t"),
                lambda b=budget: next(door.tables([((0, 1), b, "t")])),
            ):
                with pytest.raises(PrivacyError, match="paid for by a TableBudget"):
                    question()
        assert (noise.asked, door.ledger.entries) == ([], ())

    def test_a_count_of_one_record_more_costs_twice_where_one_is_replaced(self):
        door = ask("published")
        door.table((0, 1), one_record_more(Q(1, 2), "PriView"), step="t")
        (line,) = door.ledger.entries
        assert (line.scale, line.sensitivity, line.epsilon, line.cost) == (2, 1, Q(1, 2), 1)


class TestManyTables:
    def test_they_are_those_of_one_question_each_in_order_and_charged_when_taken(self):
        sets, budget = [(0, 1), (2,), (0, 2)], TableBudget(Q(1))
        one, many = ask(noise=ExactNoise(1)), ask(noise=ExactNoise(1))
        alone = [one.table(columns, budget, step=str(columns)) for columns in sets]
        answers = many.tables((columns, budget, str(columns)) for columns in sets)
        for number, (first, second) in enumerate(zip(alone, answers, strict=True), 1):
            assert np.array_equal(first.counts, second.counts)
            width = laplace_width(Q(2), first.counts.size)
            assert first[1:] == second[1:] == (width, f"s{number:02d}")
            assert len(many.ledger.entries) == number
        assert one.ledger.entries == many.ledger.entries


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_the_number_that_sensitivities_follow_from_never_changes(relation):
    """K moves by 4(n − 1): with a noisy n of 2 in place of 8 noise would be a seventh of it."""
    noise = Silent()
    records = Records(np.array(ROWS, dtype=np.uint8), schema_of(SIZES))
    door = Curator(records, Ledger(Q(1), relation=relation), noise)
    public = relation == "replace_one"
    first = door.n if public else door.count_records(Q(1, 20))
    lines, asked = len(door.ledger.entries), len(noise.asked)
    assert door.count_records(Q(1, 20)) == door.n == door.binary().n == first
    assert (len(door.ledger.entries), len(noise.asked)) == (lines, asked)
    if public:
        door.noisy_associations([(0, 1)], Q(1, 10), step="k", source="")
        assert door.ledger.entries[-1].sensitivity == 28  # 4(n − 1), of n = 8

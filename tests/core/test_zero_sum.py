"""Zero-sum noise: its law, its loss in exact fractions, where it is used, and what it saves."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pandas as pd
import pytest
from fit_tools import PASS, chi_square, zero_sum_law
from privacy_tools import curator_of, schema_of

import pdsynth as pds
from pdsynth.audit.detectors import BatchedNoise, zero_sum_rows
from pdsynth.audit.power import draw_zero_sum as draw_quickly
from pdsynth.audit.tape import Asked, compare
from pdsynth.core import curator as curator_room
from pdsynth.core.errors import BudgetError
from pdsynth.core.noise import ExactNoise, laplace_width, zero_sum_mechanism
from pdsynth.core.unit import TableBudget, Unit
from pdsynth.published.noise import CommonNoise

SCALES = Q(1, 2), Q(7, 3), Q(4)
CELLS = 2, 3, 4


def count(rows):
    return Counter(map(tuple, np.asarray(rows).tolist()))


class TestLaw:
    @pytest.mark.parametrize("scale", SCALES)
    @pytest.mark.parametrize("cells", CELLS)
    def test_numbers_one_by_one_and_in_arrays_against_the_enumerated_law(self, cells, scale):
        if cells == 4:
            scale /= 2  # few tables to enumerate
        law, noise = zero_sum_law(cells, scale), ExactNoise(5)
        singly = [noise.zero_sum_laplace(scale, (cells,)) for _ in range(6_000)]
        quickly = draw_quickly(np.random.default_rng(5), float(scale), 20_000, cells)
        for rows in (singly, zero_sum_rows(noise, scale, 20_000, cells), quickly):
            assert chi_square(count(rows), law) > PASS

    def test_numbers_below_a_long_bound_are_all_as_likely(self):
        """2^64 is 5 and a third of this bound: its first third would come up 6 times of 16."""
        below, third = ExactNoise(4)._one_by_one(), 2**60
        found = Counter((below(3 * third) // third,) for _ in range(6_000))
        assert chi_square(found, {(0,): 1 / 3, (1,): 1 / 3}) > PASS

    def test_twin_another_scale_is_seen(self):
        noise = ExactNoise(6)
        drawn = count([noise.zero_sum_laplace(Q(7, 3), (3,)) for _ in range(6_000)])
        assert chi_square(drawn, zero_sum_law(3, Q(7, 3) * Q(9, 8))) < PASS

    def test_twin_laplace_noise_less_its_mean_has_another_law(self):
        free = ExactNoise(7).discrete_laplace(np.array(Q(2)), (6_000, 1))
        assert chi_square(count(np.hstack([free, -free])), zero_sum_law(2, Q(2))) < PASS

    @pytest.mark.parametrize("scale", [Q(10**9), Q(2**61, 2**20 + 1), Q(1, 10**6)])
    def test_scales_of_any_size_take_no_time(self, scale):
        drawn = [ExactNoise(s).zero_sum_laplace(scale, (2, 4)) for s in range(200)]
        assert all(v.sum() == 0 and v.dtype == np.int64 for v in drawn)
        mean = np.mean([np.abs(v).sum() for v in drawn]) / 7
        assert mean == pytest.approx(float(scale) if scale > 1 else 0, rel=0.2)

    def test_a_scale_beyond_any_use_is_refused(self):
        with pytest.raises(BudgetError, match="leaves nothing of any count"):
            ExactNoise(1).zero_sum_laplace(Q(2**53), (2,))

    def test_seeds(self):
        one, again, other = (ExactNoise(s).zero_sum_laplace(Q(99), (9,)) for s in (1, 1, 2))
        assert one.tolist() == again.tolist() != other.tolist()
        fresh = {tuple(ExactNoise().zero_sum_laplace(Q(10**6), (4,))) for _ in range(3)}
        assert len(fresh) == 3

    def test_many_runs_at_once_are_independent_tables(self):
        drawn = BatchedNoise(50, 3).zero_sum_laplace(Q(20), (2, 3))
        assert drawn.shape == (50, 2, 3) and not drawn.sum(axis=(1, 2)).any()
        assert len(count(drawn.reshape(50, 6))) > 40

    def test_panels_move_smoothly(self):
        cache_of = CommonNoise(4)
        first, again, wider = (
            cache_of.fresh().child("t").zero_sum_laplace(b, (6,)) for b in (Q(50), Q(50), Q(51))
        )
        assert first.tolist() == again.tolist() and first.sum() == wider.sum() == 0
        assert np.abs(first - wider).max() <= 0.1 * np.abs(first).max() + 1


class TestLoss:
    """lemma:zero_sum by enumeration: weights are 2^−|v|, so all of it is exact."""

    @staticmethod
    def worst(cells, move):
        """Max of |log₂ p/p'| over all tables that the noise of these neighbours can lead to."""
        reach = range(-4, 5)
        tables = (v for v in itertools.product(reach, repeat=cells) if not sum(v))
        losses = []
        for v in tables:
            other = [x - m for x, m in zip(v, move, strict=True)]
            assert sum(other) == 0  # the neighbour can give this table, too
            ratio = Q(2) ** (sum(map(abs, other)) - sum(map(abs, v)))
            losses.append(abs(ratio.numerator.bit_length() - ratio.denominator.bit_length()))
        return max(losses)

    @pytest.mark.parametrize("cells", CELLS)
    def test_a_replaced_record_loses_two_over_the_scale_and_m_of_them_m_times_that(self, cells):
        for i, j in itertools.permutations(range(cells), 2):
            move = [(c == i) - (c == j) for c in range(cells)]
            assert self.worst(cells, move) == 2
        assert self.worst(cells, [2, -2] + [0] * (cells - 2)) == 4
        spread = [1, 1, -1, -1][:cells]
        if not sum(spread):
            assert self.worst(cells, spread) <= 4

    def test_twin_an_added_record_leaves_no_table_that_both_can_give(self):
        with pytest.raises(AssertionError):
            self.worst(3, [1, 0, 0])

    def test_the_mechanism_s_arguments(self):
        with pytest.raises(BudgetError, match="must be positive"):
            zero_sum_mechanism(np.zeros(3, dtype=np.int64), Q(0), ExactNoise(1))
        with pytest.raises(BudgetError, match="at least two cells"):
            zero_sum_mechanism(np.zeros(1, dtype=np.int64), Q(1), ExactNoise(1))


@pytest.fixture
def table_of_three():
    schema = schema_of((2, 3, 2))
    rows = np.array([[i % 2, i % 3, i // 5 % 2] for i in range(60)], dtype=np.uint8)
    return schema.decode(rows), schema


ROWS = [[i % 2, i % 3, i % 17] for i in range(40)]
SIZES = (2, 3, 17)


def measure(columns, noise=None, **options):
    curator = curator_of(ROWS, SIZES, noise or ExactNoise(), **options)
    if options.get("relation"):
        curator.count_records(Q(1, 2))
    answer = curator.table(columns, TableBudget(Q(1, 2)), step="t")
    return answer, curator.ledger


class TestWhere:
    @pytest.mark.parametrize(
        ("columns", "zero_sum"), [((0,), True), ((0, 1), True), ((2,), True), ((0, 2), False)]
    )
    def test_tables_of_at_most_32_cells(self, columns, zero_sum):
        answer, ledger = measure(columns)
        (line,) = ledger.entries
        assert line.mechanism == ("zero_sum_laplace" if zero_sum else "discrete_laplace")
        assert (line.epsilon, line.scale, line.sensitivity) == (Q(1, 2), Q(4), 2)
        assert ledger.check() == [] and ledger.epsilon == Q(1, 2)
        sums = {int(measure(columns)[0].counts.sum()) for _ in range(9)}
        assert (sums == {len(ROWS)}) == zero_sum
        cells = answer.counts.size
        assert answer.scale == (laplace_width(Q(4), cells) if zero_sum else 4)

    def test_not_where_n_is_secret_nor_for_weights_nor_in_what_papers_print(self):
        curator = curator_of(ROWS, SIZES, ExactNoise())
        weighted = TableBudget(Q(1), weights=(Q(1), Q(1, 2)))
        curator.table((0, 1), weighted, step="weights")
        printed = curator_of(ROWS, SIZES, ExactNoise(), guarantee="published")
        printed.table((0,), TableBudget(Q(1)), step="t")
        for door in (curator, printed):
            assert [e.mechanism for e in door.ledger.entries] == ["discrete_laplace"]
        assert not Unit("add_remove").sums_to_n(4) and Unit("replace_one", 3).sums_to_n(4)
        assert not Unit().sums_to_n(1) and Unit().sums_to_n(32) and not Unit().sums_to_n(33)

    @pytest.mark.parametrize("weight", [Q(1), Q(1, 7)])
    @pytest.mark.parametrize("columns", [(0,), (0, 1), (0, 2)])
    def test_equal_weights_are_none(self, columns, weight):
        weighted = TableBudget(Q(1, 2), weights=(weight,) * SIZES[columns[0]])
        doors = [curator_of(ROWS, SIZES, ExactNoise(3)) for _ in range(2)]
        answers = [
            door.table(columns, budget, step="t")
            for door, budget in zip(doors, (weighted, TableBudget(Q(1, 2))), strict=True)
        ]
        assert np.array_equal(answers[0].counts, answers[1].counts)
        assert answers[0].scale == answers[1].scale
        assert doors[0].ledger.entries == doors[1].ledger.entries

    @pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
    def test_whole_fits(self, table_of_three, relation):
        frame, schema = table_of_three
        for made in (pds.baselines.Independent(1, relation=relation), pds.ConsistentBayes(1)):
            fitted = made.fit(frame, schema)
            laws = {e.mechanism for e in fitted.ledger_.entries}
            secret = getattr(made, "relation", "") == "add_remove"
            assert ("zero_sum_laplace" in laws) != secret
            assert fitted.ledger_.check() == [] and fitted.ledger_.epsilon == 1

    def test_a_person_with_m_records_pays_m_times(self, table_of_three):
        frame, schema = table_of_three
        fitted = pds.PrivBayes(1, k=1, records_per_person=3).fit(frame, schema)
        lines = [e for e in fitted.ledger_.entries if e.mechanism == "zero_sum_laplace"]
        assert lines and all(e.sensitivity == 6 and e.epsilon == 6 / e.scale for e in lines)
        assert fitted.ledger_.check() == [] and fitted.ledger_.epsilon == 1


class TestRules:
    """What a ledger from a file may not say of it."""

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"relation": "add_remove"}, "zero-sum noise shows n"),
            ({"record_filter": "records:a in {x}"}, "how many records a part has"),
            ({"lemma": "lemma:joint_counts"}, "is for one table of counts"),
            ({"lemma": ""}, "is for one table of counts"),
            ({"n_records": None}, "is for one table of counts"),
            ({"domain_sizes": None}, "is for one table of counts"),
            ({"scale": (Q(4), Q(4))}, "one scale for all cells"),
            ({"scale": Q(2)}, "sensitivity ÷ scale gives 1"),
            ({"sensitivity": Q(1), "epsilon": Q(1, 4)}, "lemma:zero_sum gives 2"),
        ],
    )
    def test_each_condition_of_the_lemma(self, change, words):
        ledger = measure((0, 1))[1]
        assert ledger.check() == []
        ledger._entries[0] = replace(ledger._entries[0], **change)
        assert any(found.startswith("L3 s01") and words in found for found in ledger.check())

    def test_a_model_file_keeps_it(self, table_of_three, tmp_path):
        frame, schema = table_of_three
        model = pds.PrivBayes(1, k=1).fit(frame, schema).model_
        model.to_json(tmp_path / "m.json")
        again = pds.Model.from_json(tmp_path / "m.json")
        assert again.private and again.ledger.entries == model.ledger.entries


def test_replay_counts_its_loss_exactly_and_sees_zero_sum_noise_on_a_secret_n(monkeypatch):
    schema = pds.Schema(tuple(pds.Attribute.categorical(x, ["n", "y"]) for x in "ab"))
    one = pd.DataFrame({"a": list("nny"), "b": list("nyn")})
    other = one.assign(b=list("nyy"))
    made = pds.baselines.Independent(epsilon=1)
    found = pds.audit.replay(made, one, other, schema)
    assert found.ok and found.log_ratio == 0.5
    assert {s.mechanism for s in found.steps} == {"zero_sum_laplace", "none"}
    monkeypatch.setattr(
        curator_room,
        "zero_sum_mechanism",
        lambda counts, scale, noise: zero_sum_mechanism(counts, scale / 2, noise),
    )
    assert not pds.audit.replay(made, one, other, schema).ok, "failing twin: half of the noise"


def test_twin_under_add_remove_the_door_refuses_it_and_replay_finds_no_epsilon(monkeypatch):
    schema = pds.Schema(tuple(pds.Attribute.categorical(x, ["n", "y"]) for x in "ab"))
    one = pd.DataFrame({"a": list("nny"), "b": list("nyn")})
    more = pd.DataFrame({"a": list("nnyy"), "b": list("nyny")})
    made = pds.baselines.Independent(1, relation="add_remove")
    assert pds.audit.replay(made, one, more, schema).ok
    monkeypatch.setattr(Unit, "sums_to_n", lambda unit, cells: True)
    with pytest.raises(pds.PrivacyError, match="has a sensitivity for replace_one only"):
        made.fit(one, schema)
    law = np.asarray(Q(2), dtype=object)
    asked = [Asked(("t",), "table", np.array(c), law, zero_sum=True) for c in ([2, 1], [2, 2])]
    assert compare(*asked).forward == math.inf
    assert compare(*(replace(a, zero_sum=False) for a in asked)).forward == Q(1, 2)
    assert compare(asked[0], replace(asked[0], data=np.array([1, 2]))).forward == 1


def expected(epsilon, cells, **options):
    return curator_of(ROWS, SIZES, ExactNoise(1), **options).expected_noise(epsilon, cells)


class TestWhatItSaves:
    def test_hand_worked_two_cells(self):
        """v = (x, −x) with P(x) ∝ 4^−|x| for scale 1/ln 2: E|x| = 8/15; Laplace's 2^−|z|: 4/3."""
        scale = 1 / math.log(2)
        law = zero_sum_law(2, Q(scale), reach=40)
        assert sum(abs(v[0]) * p for v, p in law.items()) == pytest.approx(8 / 15)

    @pytest.mark.parametrize("cells", [2, 3, 5, 9, 17, 32])
    def test_expected_noise_and_width_are_those_of_large_scales(self, cells):
        scale, seed = Q(5000), cells
        rows = zero_sum_rows(ExactNoise(seed), scale, 6_000, cells)
        l1 = np.abs(rows).sum(axis=1).mean()
        assert l1 == pytest.approx(float(expected(2 / scale, cells)), rel=0.1)
        flat = ExactNoise([seed, 1]).discrete_laplace(np.array(scale), rows.shape).astype(float)
        flat -= flat.mean(axis=1, keepdims=True)
        width = float(laplace_width(scale, cells) / scale)
        assert math.sqrt(rows.var() / flat.var()) == pytest.approx(width, rel=0.08)

    def test_expected_noise_of_laplace_tables(self):
        assert expected(Q(1, 2), 33) == 33 * 4 and expected(Q(1, 2), 32) == 31 * 4
        assert expected(Q(1, 2), 32, guarantee="published") == 32 * 4

    def test_a_column_of_two_values_is_nearer_by_a_third(self):
        """What a fit of one two-valued column releases, made to sum to n: 600 fits each."""
        scale, errors = Q(20), {}
        for source in ("zero-sum", "Laplace"):
            noise = ExactNoise(8)
            tables = (
                [noise.zero_sum_laplace(scale, (2,)) for _ in range(3_000)]
                if source == "zero-sum"
                else noise.discrete_laplace(np.array(scale), (3_000, 2))
            )
            made = np.array(tables, dtype=float)
            errors[source] = np.abs(made - made.mean(axis=1, keepdims=True)).mean()
        assert errors["zero-sum"] <= 0.7 * errors["Laplace"]

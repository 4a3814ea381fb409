"""Counting: marginals, partitions and the entropy lattice against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from privacy_tools import records_of, schema_of

from pdsynth.core import records as lattice
from pdsynth.core.errors import BudgetError
from pdsynth.core.measures import association, entropy, mutual_information
from pdsynth.core.records import Codes, Lattice, Records, marginal, pack
from pdsynth.published.partitions import count_sparsely


@st.composite
def coded(draw, most=5):
    """Sizes and codes of a random table, unused values and constant columns included."""
    sizes = draw(st.lists(st.integers(2, 5), min_size=2, max_size=most))
    n = draw(
        st.integers(1, 25) | st.sampled_from([60, 200, 700])
    )  # tables both larger and smaller than the records
    seed = draw(st.integers(0, 2**32 - 1))
    codes = np.random.Generator(np.random.PCG64(seed)).integers(0, sizes, size=(n, len(sizes)))
    if draw(st.booleans()):
        codes[:, 0] = 0
    return sizes, np.asfortranarray(codes.astype(np.uint8))


def brute(codes, sizes, columns):
    """The contingency table, one record at a time."""
    out = np.zeros([sizes[j] for j in columns], dtype=np.int64)
    for row in codes.tolist():
        out[tuple(row[j] for j in columns)] += 1
    return out


def brute_fast(codes, sizes, columns):
    return np.unique(codes[:, columns], axis=0, return_counts=True)[1]


def kept_keys(lattice):
    """Keys of all sets whose entropy is kept."""
    kept = [kept for (kind, _), kept in lattice._kept.items() if kind == "H"]
    return sorted(k for one in kept for keys, _ in one.runs for k in keys.tolist())


def everything(d, size):
    return np.array(list(itertools.combinations(range(d), size)))


class TestMarginal:
    @given(coded(), st.randoms(use_true_random=False))
    @settings(max_examples=60)
    def test_any_columns_in_any_order(self, case, rng):
        sizes, codes = case
        columns = rng.sample(range(len(sizes)), rng.randint(1, len(sizes)))
        table = marginal(codes, sizes, columns)
        assert table.dtype == np.int64
        assert table.tolist() == brute(codes, sizes, columns).tolist()
        assert table.sum() == len(codes)

    def test_no_columns_count_the_records(self):
        assert marginal(np.zeros((5, 2), dtype=np.uint8), (2, 2), ()) == 5

    def test_more_than_256_values(self):
        codes = np.array([[299, 1], [0, 0], [299, 1]], dtype=np.uint16)
        table = marginal(codes, (300, 2), (1, 0))
        assert (table.shape, table[1, 299], table[0, 0], table.sum()) == ((2, 300), 2, 1, 3)

    def test_a_table_too_large_for_memory_says_how_large(self):
        with pytest.raises(
            BudgetError, match=r"10 attributes has 10,000,000,000 cells \(74.5 GiB\).*lower k"
        ):
            marginal(np.zeros((3, 10), dtype=np.uint8), (10,) * 10, range(10))


class TestPack:
    @given(st.sets(st.integers(0, 254), min_size=1, max_size=lattice.MAX_MEMBERS))
    def test_a_digit_per_member_the_first_one_highest(self, members):
        digits = [j + 1 for j in sorted(members)]
        key = sum(digit << (8 * i) for i, digit in enumerate(reversed(digits)))
        assert pack(np.array([sorted(members)])) == key

    def test_keys_rise_with_sets_in_lexicographic_order(self):
        for s in range(1, 5):
            keys = pack(np.array(list(itertools.combinations(range(12), s))))
            assert (keys[1:] > keys[:-1]).all()

    def test_different_sets_have_different_keys(self):
        sets = [np.array(list(itertools.combinations(range(12), s))) for s in range(1, 5)]
        keys = np.concatenate([pack(s) for s in sets])
        assert len(np.unique(keys)) == len(keys)
        assert pack(np.zeros((3, 0), dtype=np.int64)).tolist() == [0, 0, 0]


class TestLattice:
    @pytest.mark.slow
    @given(coded(), st.booleans(), st.randoms(use_true_random=False))
    @settings(max_examples=60)
    def test_entropies_of_all_sets_in_any_order(self, case, build, rng):
        sizes, codes = case
        lattice = Lattice(Codes(codes, sizes))
        if build:
            lattice.build(rng.randint(1, len(sizes)))
        for size in range(1, len(sizes) + 1):
            sets = everything(len(sizes), size)
            want = [entropy(brute(codes, sizes, row)) for row in sets.tolist()]
            shuffled = np.array([rng.sample(row, len(row)) for row in sets.tolist()])
            assert lattice.entropies(shuffled).tolist() == pytest.approx(want, abs=1e-10)

    @given(coded(most=4), st.booleans())
    @settings(max_examples=60)
    def test_scores_of_all_pairs(self, case, build):
        sizes, codes = case
        d = len(sizes)
        lattice = Lattice(Codes(codes, sizes))
        if build:
            lattice.build(d).build(d, kind="K")
        for size in range(1, d):
            pairs = [
                (c, p)
                for c in range(d)
                for p in itertools.permutations([j for j in range(d) if j != c], size)
            ]
            children, parents = np.array([c for c, _ in pairs]), np.array([p for _, p in pairs])
            tables = [brute(codes, sizes, (c, *p)).reshape(sizes[c], -1) for c, p in pairs]
            assert lattice.association(children, parents).tolist() == [
                association(t) for t in tables
            ]
            assert lattice.information(children, parents).tolist() == pytest.approx(
                [mutual_information(t) for t in tables], abs=1e-10
            )

    @given(coded(), st.integers(1, 4), st.integers(4, 60))
    @settings(max_examples=40)
    def test_building_all_at_once_equals_counting_on_demand(self, case, size, most_cells):
        sizes, codes = case
        size = min(size, len(sizes))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lattice, "MAX_CELLS", most_cells)
            built = Lattice(Codes(codes, sizes)).build(size)
        for s in range(1, size + 1):
            sets = everything(len(sizes), s)
            assert built.entropies(sets).tolist() == pytest.approx(
                Lattice(Codes(codes, sizes)).entropies(sets).tolist(), abs=1e-10
            )
            kept = [r for r in sets.tolist() if np.prod([sizes[j] for j in r]) <= most_cells]
            assert np.isin(
                pack(np.array(kept, dtype=np.int64).reshape(-1, s)), kept_keys(built)
            ).all(), "every set that fits is filled"
            rows, rows_on_demand = (
                x._look_up("K", sets)[:, :s]
                for x in (built.build(size, kind="K"), Lattice(Codes(codes, sizes)))
            )
            assert rows.tolist() == rows_on_demand.tolist()

    def test_building_keeps_sets_within_the_cells_and_only_looks_up_afterwards(self, monkeypatch):
        codes = (
            np.random.Generator(np.random.PCG64(3)).integers(0, 3, size=(40, 5)).astype(np.uint8)
        )
        monkeypatch.setattr(lattice, "MAX_CELLS", 27)
        built = Lattice(Codes(codes, (3,) * 5)).build(3)
        with monkeypatch.context() as patch:
            patch.setattr(Lattice, "_fill", lambda *_: pytest.fail("counted again"))
            for s in (1, 2, 3):
                built.entropies(everything(5, s))
            patch.setattr(Lattice, "_value", lambda *_: pytest.fail("counted again"))
            built.build(3).build(2)
        monkeypatch.setattr(lattice, "MAX_CELLS", 9)
        small = Lattice(Codes(codes, (3,) * 5)).build(3)
        assert len(kept_keys(small)) == 5 + 10, "sets of three have 27 cells"

    def test_entropies_are_exact_to_a_grid_step_on_many_records(self):
        """Scores enter mechanisms in steps of 2^-30 bit; what the lattice rounds must stay far
        below one step."""
        n, sizes = 50_021, (40, 30, 2)
        codes = (np.random.Generator(np.random.PCG64(7)).random((n, 3)) ** 3 * sizes).astype(
            np.uint8
        )
        lattice = Lattice(Codes(codes, sizes)).build(3)
        for member in [(0,), (0, 1), (0, 1, 2), (1, 2)]:
            counts_of = [int(c) for c in brute_fast(codes, sizes, member) if c]
            exact = math.log2(n) - math.fsum(c * math.log2(c) for c in counts_of) / n
            assert abs(lattice.entropies(np.array([member]))[0] - exact) < 2**-36

    def test_no_parents_carry_no_information(self):
        lattice = Lattice(Codes(np.array([[0, 1], [1, 0]], dtype=np.uint8), (2, 2)))
        none = np.zeros((2, 0), dtype=np.int64)
        assert lattice.information(np.array([0, 1]), none).tolist() == [0, 0]
        assert lattice.association(np.array([0, 1]), none).tolist() == [0, 0]

    @pytest.mark.parametrize("size", [8, 9, 10])
    def test_sets_larger_than_a_packed_key(self, size):
        """Nine or ten members don't fit into 64 bits: they must be counted, never confused with
        another set."""
        sizes = (2,) * 11
        codes = (
            np.random.Generator(np.random.PCG64(5)).integers(0, 2, size=(50, 11)).astype(np.uint8)
        )
        lattice = Lattice(Codes(codes, sizes)).build(3)
        sets = everything(11, size)[::7]
        assert lattice.entropies(sets).tolist() == pytest.approx(
            [entropy(brute(codes, sizes, row)) for row in sets.tolist()], abs=1e-10
        )
        for child in (0, -1):
            children, parents = sets[:, child], np.delete(sets, child, axis=1)
            tables = [
                brute(codes, sizes, (c, *p)).reshape(2, -1)
                for c, p in zip(children.tolist(), parents.tolist(), strict=True)
            ]
            assert lattice.association(children, parents).tolist() == [
                association(t) for t in tables
            ]
            assert lattice.information(children, parents).tolist() == pytest.approx(
                [mutual_information(t) for t in tables], abs=1e-10
            )

    def test_building_more_than_a_packed_key_holds_stops_there(self):
        codes = (
            np.random.Generator(np.random.PCG64(5)).integers(0, 2, size=(20, 9)).astype(np.uint8)
        )
        lattice = Lattice(Codes(codes, (2,) * 9)).build(9)
        assert lattice.entropies(np.arange(9)[None]).tolist() == pytest.approx(
            [entropy(brute(codes, (2,) * 9, range(9)))], abs=1e-10
        )
        assert lattice.entropies(np.arange(8)[None]).tolist() == pytest.approx(
            [entropy(brute(codes, (2,) * 9, range(8)))], abs=1e-10
        )

    def test_refusals_name_their_numbers(self):
        with pytest.raises(BudgetError, match="10,000,000,000 cells"):
            Lattice(Codes(np.zeros((2, 5), dtype=np.uint8), (100,) * 5)).entropies(
                np.arange(5)[None]
            )

    def test_beyond_256_columns_no_two_sets_share_a_key(self):
        """In base 256, columns 1 and 2 would have the key of columns 0 and 258."""
        codes = np.zeros((4, 300), dtype=np.uint8)
        codes[:2, 1] = codes[::2, 2] = 1
        found = Records(codes, schema_of((2,) * 300)).lattice
        sets = np.array([[1, 2], [0, 258]])
        assert found.entropies(sets).tolist() == [2, 0]
        assert len({*pack(sets, 301).tolist()}) > len({*pack(sets, 256).tolist()}), "failing twin"


class TestSortedRuns:
    @given(
        st.lists(st.lists(st.integers(0, 60), min_size=1, max_size=12, unique=True), max_size=9),
        st.sampled_from([2**23, 10]),
    )
    def test_what_was_put_there_is_found_while_it_fits(self, batches, most):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lattice, "MAX_KEPT", most)
            shelf, put = lattice._SortedRuns(float), {}
            for batch in batches:
                keys = np.array(batch, dtype=np.uint64)
                shelf.add(keys, keys * 0.5)
                put.update(zip(batch, keys * 0.5, strict=True))
                values, found = shelf.find(np.arange(61, dtype=np.uint64))
                assert values[found].tolist() == (np.flatnonzero(found) * 0.5).tolist()
                assert found[batch].all()
                assert (set(np.flatnonzero(found).tolist()) == set(put)) or most == 10
                assert most != 10 or sum(len(k) for k, _ in shelf.runs) <= max(most, len(batch))
                lengths = [len(k) for k, _ in shelf.runs]
                assert all(a >= 2 * b for a, b in itertools.pairwise(lengths)), "few runs"

    def test_a_full_lattice_counts_again(self, monkeypatch):
        codes = (
            np.random.Generator(np.random.PCG64(3)).integers(0, 3, size=(40, 5)).astype(np.uint8)
        )
        kept = Lattice(Codes(codes, (3,) * 5)).build(3)
        monkeypatch.setattr(lattice, "MAX_KEPT", 4)
        short = Lattice(Codes(codes, (3,) * 5)).build(3)
        for size in (1, 2, 3):
            assert (
                short.entropies(everything(5, size)).tolist()
                == kept.entropies(everything(5, size)).tolist()
            )


class TestRecords:
    def test_tables_are_kept_and_read_only(self):
        records = records_of([[0, 1], [1, 1], [0, 1]], (2, 3))
        table = records.table((1, 0))
        assert table.tolist() == [[0, 0], [2, 1], [0, 0]]
        assert records.table((1, 0)) is table
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1

    def test_the_lattice_is_kept(self):
        records = records_of([[0, 1], [1, 1]], (2, 3))
        assert records.lattice is records.lattice

    def test_the_cache_is_bounded(self):
        schema = schema_of((2000, 3000, 2000))
        records = Records(np.zeros((2, 3), dtype=np.uint16), schema)
        for columns in ((0, 1), (1, 2), (2, 1), (1, 0)):
            records.table(columns)
        assert sum(t.size for t in records._tables.values()) <= 2**24

    def test_sparse_tables_are_the_dense_ones_where_something_occurs(self):
        """Also where parents have other sizes than the child: configurations stay apart."""
        sizes, rng = (2, 3, 4), np.random.default_rng(5)
        rows = rng.integers(0, sizes, size=(40, 3))
        for columns in itertools.permutations(range(3)):
            dense = records_of(rows, sizes).table(columns).reshape(sizes[columns[0]], -1)
            keys, counts = count_sparsely(records_of(rows, sizes), columns)
            assert keys.tolist() == np.flatnonzero(dense.any(axis=0)).tolist()
            assert counts.tolist() == dense[:, keys].tolist()

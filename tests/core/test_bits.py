"""Tables of many two-valued sets at once: equal, bit by bit, to counting set after set."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth.core import measures
from pdsynth.core import views as bits
from pdsynth.core.measures import CountLogs
from pdsynth.core.network import subsets
from pdsynth.core.records import Codes, Lattice, marginal, pack
from pdsynth.core.views import BitTables, associations, entropies


@st.composite
def bit_rows(draw, most=8):
    """Random bits (n, d), around the borders of a word, with constant and repeated columns."""
    n, d = draw(st.sampled_from([1, 2, 7, 63, 64, 65, 130, 300])), draw(st.integers(2, most))
    random = np.random.Generator(np.random.PCG64(draw(st.integers(0, 2**32 - 1))))
    rows = (random.random((n, d)) < random.random(d)).astype(np.uint8)
    if draw(st.booleans()):
        rows[:, 0] = draw(st.integers(0, 1))
        rows[:, -1] = rows[:, d // 2]
    return np.asfortranarray(rows)


def tables_of(rows):
    return BitTables(list(rows.T), len(rows))


def one_by_one(lattice, kind, sets):
    """The slow path: each set counted from the records, cell by cell."""
    rows = [tuple(row) for row in sets.tolist()]
    return [lattice._value(kind, row, *lattice.counter.tables([((), row)])) for row in rows]


class TestBitTables:
    def test_by_hand(self):
        rows = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 0]], dtype=np.uint8)
        ((where, cells),) = tables_of(rows).cells(np.array([[0, 1], [1, 2]]))
        assert (where, cells.T.tolist()) == (slice(0, 2), [[1, 1, 1, 2], [1, 1, 0, 3]])
        assert associations(tables_of(rows).cells(np.array([[0, 1]])), 5).tolist() == [
            [4, 4]
        ]  # |5·1 − 2·2| four times

    @given(bit_rows(), st.integers(1, 6), st.randoms(use_true_random=False))
    @settings(max_examples=60)
    def test_cells_entropies_and_associations_equal_the_slow_path(self, rows, size, rng):
        n, d = rows.shape
        sets = subsets(range(d), min(size, d))
        sets = sets[rng.sample(range(len(sets)), len(sets))]
        lattice, many = Lattice(Codes(rows, (2,) * d)), tables_of(rows)
        for where, cells in many.cells(sets):
            assert cells.T.tolist() == [
                marginal(rows, (2,) * d, row).ravel().tolist() for row in sets[where].tolist()
            ]
        assert entropies(many.cells(sets), n, CountLogs(n)).tolist() == one_by_one(
            lattice, "H", sets
        ), "the same bits"
        assert associations(many.cells(sets), n).tolist() == one_by_one(lattice, "K", sets)

    @given(bit_rows(), st.integers(1, 3), st.integers(1, 99), st.sampled_from([0, 2**25]))
    @settings(max_examples=30)
    def test_blocks_of_any_length(self, rows, words, block, kept):
        sets = subsets(range(rows.shape[1]), min(4, rows.shape[1]))
        whole = associations(tables_of(rows).cells(sets), len(rows))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bits, "WORDS", words)
            patch.setattr(bits, "CELLS", block)
            patch.setattr(bits, "KEPT", kept)
            again = associations(tables_of(rows).cells(sets), len(rows))
            assert again.tolist() == whole.tolist()

    def test_subsets_are_all_of_them_in_order(self):
        assert subsets((7, 1, 3), 2).tolist() == [[1, 3], [1, 7], [3, 7]]
        assert subsets(range(3), 4).shape == (0, 4)
        assert subsets(range(3), 0).shape == (1, 0)


class TestLatticeOfBits:
    @given(bit_rows(), st.sampled_from("HK"), st.booleans())
    @settings(max_examples=40)
    def test_look_ups_equal_the_slow_path(self, rows, kind, build):
        d = rows.shape[1]
        lattice = Lattice(Codes(rows, (2,) * d))
        if build:
            lattice.build(3, kind=kind)
        for size in range(1, d + 1):
            sets = subsets(range(d), size)
            found = (
                lattice.entropies(sets[:, ::-1]) if kind == "H" else lattice._look_up(kind, sets)
            )
            slow = one_by_one(lattice, kind, sets)
            assert (found if kind == "H" else found[:, :size]).tolist() == slow

    @given(bit_rows(most=6), st.randoms(use_true_random=False))
    @settings(max_examples=30)
    def test_two_valued_sets_among_others(self, rows, rng):
        """Columns with three values are counted one by one, the rest together; a mixed request gets
        both."""
        codes, sizes = rows.copy(), [2] * rows.shape[1]
        wide = rng.randrange(len(sizes))
        codes[:, wide] += codes[:, wide - 1]
        sizes[wide] = 3
        lattice = Lattice(Codes(codes, sizes))
        for size in (1, 2, 3):
            sets = subsets(range(len(sizes)), min(size, len(sizes)))
            assert lattice.entropies(sets).tolist() == one_by_one(lattice, "H", sets)
            assert lattice._look_up("K", sets)[:, : sets.shape[1]].tolist() == one_by_one(
                lattice, "K", sets
            )

    @given(bit_rows(), st.randoms(use_true_random=False), st.booleans())
    @settings(max_examples=30)
    def test_building_some_members_fills_their_sets_and_no_others(self, rows, rng, wide):
        d = rows.shape[1]
        members, sizes = sorted(rng.sample(range(d), rng.randint(1, d))), [2] * d
        if wide:
            sizes[members[0]] = 3
        lattice = Lattice(Codes(rows, sizes)).build(3, members=members[::-1])
        wanted = [s for size in (1, 2, 3) for s in itertools.combinations(members, size)]
        shelves = [lattice._runs("H", size) for size in (1, 2, 3)]
        kept = {
            key: value
            for shelf in shelves
            for keys, values in shelf.runs
            for key, value in zip(keys.tolist(), values, strict=True)
        }
        assert kept == {
            int(pack(np.array([s]))[0]): one_by_one(lattice, "H", np.array([s]))[0] for s in wanted
        }

    def test_built_sets_are_only_looked_up(self, monkeypatch):
        rows = np.random.Generator(np.random.PCG64(2)).integers(0, 2, size=(90, 7)).astype(np.uint8)
        lattice = (
            Lattice(Codes(rows, (2,) * 7))
            .build(4)
            .build(4, kind="K")
            .build(3, kind="K", members=(1, 2))
        )
        monkeypatch.setattr(Lattice, "_fill", lambda *_: pytest.fail("counted again"))
        for size in (1, 2, 3, 4):
            lattice.entropies(subsets(range(7), size))
            lattice._look_up("K", subsets(range(7), size))
        lattice.build(4).build(2, kind="K")

    def test_all_sets_of_four_among_thirty_bits(self):
        """27,405 sets on more records than a block holds; a sample is counted one by one."""
        random = np.random.Generator(np.random.PCG64(4))
        rows = np.asfortranarray((random.random((3000, 30)) < random.random(30)).astype(np.uint8))
        lattice = Lattice(Codes(rows, (2,) * 30)).build(4).build(4, kind="K")
        sets = subsets(range(30), 4)[:: math.comb(30, 4) // 60]
        assert lattice.entropies(sets).tolist() == one_by_one(lattice, "H", sets)
        assert lattice._look_up("K", sets)[:, :4].tolist() == one_by_one(lattice, "K", sets)


def test_logarithms_that_are_computed_are_those_that_are_listed(monkeypatch):
    counts = np.random.default_rng(3).integers(0, 5001, 4000)
    listed = CountLogs(5000)
    monkeypatch.setattr(measures, "LISTED", 10)
    computed = CountLogs(5000)
    assert listed.unit == computed.unit
    assert listed.take(counts).tolist() == computed.take(counts).tolist()

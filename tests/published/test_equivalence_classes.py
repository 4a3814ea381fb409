"""Parent sets of any size: distinct rows, their classes, and the store of PrivABN's dynamic
programme."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth.core.errors import BudgetError
from pdsynth.core.measures import mutual_information
from pdsynth.core.records import Codes, Lattice, marginal
from pdsynth.published import partitions
from pdsynth.published.partitions import ParentSets, Partitions, distinct_rows


@st.composite
def coded(draw, most_values=4, most=6):
    """Sizes and codes of a random table."""
    sizes = draw(st.lists(st.integers(2, most_values), min_size=2, max_size=most))
    n, seed = draw(st.integers(1, 60)), draw(st.integers(0, 2**32 - 1))
    random = np.random.Generator(np.random.PCG64(seed))
    codes = (random.random((n, len(sizes))) ** draw(st.sampled_from([1, 3])) * sizes).astype(
        np.uint8
    )
    if draw(st.booleans()):
        codes[:, 0] = 1
    return sizes, codes


def classes_of(labels):
    """The partition itself, without the numbers of its classes."""
    return sorted(tuple(np.flatnonzero(labels == c).tolist()) for c in range(labels.max() + 1))


class Classes(Partitions):
    """Parent sets without any cleverness: labels (m,), the class 0, 1, … of each distinct row."""

    def whole(self):
        return np.zeros(len(self), dtype=np.int64)

    def refine(self, labels, f):
        """Labels of Π ∪ {f} from those of Π; classes in the order of (class of Π, value of f)."""
        return np.unique(labels * self.sizes[f] + self.columns[f], return_inverse=True)[1]

    def labels(self, columns):
        out = self.whole()
        for f in columns:
            out = self.refine(out, f)
        return out

    def table(self, child, labels):
        out = np.zeros((self.sizes[child], labels.max(initial=-1) + 1), dtype=np.int64)
        np.add.at(out, (self.columns[child], labels), self.weights)
        return out

    def information(self, children, labels):
        """I(S;Π) in bits, summed in integers: no order of rows or columns changes a bit of it."""
        x, found = self.logs.take, []
        for table in (self.table(child, labels) for child in children):
            within = int(x(table.sum(axis=0)).sum()) - int(x(table).sum())  # n·H(S|Π)
            child = int(x(np.array(self.n))) - int(x(table.sum(axis=1)).sum())  # n·H(S)
            found.append((child - within) * self.logs.unit / self.n)
        return np.array(found)


class OneByOne:
    """The same store without any cleverness: every set is refined and counted anew."""

    def __init__(self, partitions, children, most=None):
        self.p, self.children, self.most = partitions, list(children), most or len(partitions.sizes)
        self.sets = [[partitions.whole()] for _ in children]

    def grow(self, f):
        self.f = f
        return np.array(
            [
                [
                    float(self.p.information([c], self.p.refine(labels, f))[0])
                    for labels in own[: self.most]
                ]
                for c, own in zip(self.children, self.sets, strict=True)
            ]
        )

    def keep(self, which):
        for own, taken in zip(self.sets, which, strict=True):
            old = list(own)
            for j, new in enumerate(taken):
                own[j + 1 : j + 2] = [self.p.refine(old[j], self.f) if new else old[j + 1]]

    def drop(self, child):
        at = self.children.index(child)
        del self.children[at], self.sets[at]


def walk(codes, seed, most=None, compiled=False):
    """ABN's steps with random choices in both stores: a list of pairs of equal arrays, if all is
    right."""
    d, random = codes.shape[1], np.random.Generator(np.random.PCG64(seed))
    p = Classes(codes, (2,) * d)
    order = random.permutation(d).tolist()
    fast, slow = ParentSets(p, order[1:], most, compiled=compiled), OneByOne(p, order[1:], most)
    found = []
    for f in order[:-1]:
        if f in fast.children:
            fast.drop(f)
            slow.drop(f)
        found.append((fast.grow(f), slow.grow(f)))
        which = random.random(found[-1][0].shape) < 0.6
        which[:, -1] |= which.shape[1] > fast.size
        fast.keep(which)
        slow.keep(which)
    return found


class TestDistinct:
    @given(coded(), st.integers(1, 3))
    @settings(max_examples=60)
    def test_every_row_once_with_its_number(self, case, copies):
        _, codes = case
        codes = np.tile(codes, (copies, 1))
        rows, weights = distinct_rows(codes)
        assert dict(zip(map(tuple, rows.tolist()), weights.tolist(), strict=True)) == Counter(
            map(tuple, codes.tolist())
        )
        assert len(rows) == len(weights) == len({tuple(r) for r in codes.tolist()})

    @pytest.mark.parametrize("d", [1, 8, 63, 64, 65, 130])
    def test_bits_of_one_and_of_several_words(self, d):
        random = np.random.Generator(np.random.PCG64(d))
        codes = np.asfortranarray((random.random((300, d)) < 0.02).astype(np.uint8))
        rows, weights = distinct_rows(codes)
        assert dict(zip(map(tuple, rows.tolist()), weights.tolist(), strict=True)) == Counter(
            map(tuple, codes.tolist())
        )

    def test_more_than_256_values(self):
        rows, weights = distinct_rows(np.array([[299, 1], [43, 1], [299, 1]], dtype=np.uint16))
        assert (rows.tolist(), weights.tolist()) == ([[43, 1], [299, 1]], [1, 2])


class TestPartitions:
    def test_by_hand(self):
        codes = np.array(
            [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]] * 2, dtype=np.uint8
        )  # the third is the exclusive or
        p = Classes(codes, (2, 2, 2))
        assert (len(p), p.n, p.weights.tolist()) == (4, 8, [2, 2, 2, 2])
        one = p.refine(p.whole(), 0)
        both = p.refine(one, 1)
        assert (one.tolist(), both.tolist()) == ([0, 0, 1, 1], [0, 1, 2, 3])
        assert p.table(2, one).tolist() == [[2, 2], [2, 2]]
        assert p.information([2, 0], one).tolist() == [0, 1]
        assert p.information([2], both).tolist() == [1]

    @given(coded(), st.randoms(use_true_random=False))
    @settings(max_examples=60)
    def test_tables_and_information_of_any_parents(self, case, rng):
        sizes, codes = case
        p = Classes(codes, sizes)
        child, *parents = rng.sample(range(len(sizes)), rng.randint(1, len(sizes)))
        labels = p.labels(parents)
        whole = marginal(codes, sizes, (child, *parents)).reshape(sizes[child], -1)
        assert p.table(child, labels).tolist() == whole[:, whole.any(axis=0)].tolist(), (
            "occupied configurations in order"
        )
        assert labels.max() < len(p)
        assert p.information([child], labels)[0] == pytest.approx(
            mutual_information(whole), abs=1e-10
        )
        if parents:
            lattice = Lattice(Codes(codes, sizes)).information(
                np.array([child]), np.array([parents])
            )
            assert p.information([child], labels)[0] == pytest.approx(lattice[0], abs=1e-12)
            assert (
                p.information([child], p.labels(parents[::-1])).tolist()
                == p.information([child], labels).tolist()
            ), "bit by bit"

    @given(coded())
    @settings(max_examples=30)
    def test_no_order_matters_to_the_classes(self, case):
        sizes, codes = case
        p = Classes(codes, sizes)
        kinds = {
            tuple(classes_of(p.labels(order)))
            for order in itertools.permutations(range(min(len(sizes), 3)))
        }
        assert len(kinds) == 1

    def test_classes_never_outnumber_the_rows(self):
        codes = (
            np.random.Generator(np.random.PCG64(1)).integers(0, 2, size=(40, 70)).astype(np.uint8)
        )
        labels = Classes(codes, (2,) * 70).labels(range(70))
        assert labels.max() + 1 == len(Classes(codes, (2,) * 70)) == 40


class TestParentSets:
    def test_by_hand(self):
        """Columns a, b, a xor b, and a copy of a; the programme starts at a."""
        codes = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 1]], dtype=np.uint8)
        sets = Partitions(codes, (2,) * 4).parent_sets([1, 2, 3])
        assert sets.grow(0).tolist() == [[0], [0], [1]]
        sets.keep(np.ones((3, 1), dtype=bool))
        sets.drop(1)
        assert sets.grow(1).tolist() == [[0, 1], [0, 1]], (
            "neither parent says anything of the exclusive or, both say all"
        )
        sets.keep(np.array([[True, True], [False, True]]))
        assert (sets.size, sets.children) == (2, (2, 3))
        sets.drop(2)
        assert sets.grow(2).tolist() == [[0, 1, 1]], "the copy kept its single parent a"

    @given(
        coded(most_values=2, most=8), st.integers(0, 2**32 - 1), st.sampled_from([None, 1, 2, 3])
    )
    @settings(max_examples=60)
    def test_any_steps_equal_counting_anew_bit_by_bit(self, case, seed, most):
        for fast, slow in walk(case[1], seed, most):
            assert fast.tolist() == slow.tolist()

    @pytest.mark.parametrize("density", [0.08, 0.5, 0.9])
    @pytest.mark.parametrize("wide", [False, True], ids=["uint16", "int32"])
    def test_many_rows_whose_classes_are_numbered_anew(self, density, wide, monkeypatch):
        random = np.random.Generator(np.random.PCG64(6))
        codes = (random.random((3000, 14)) < density).astype(np.uint8)
        renumbered = []
        plain = partitions._renumber
        monkeypatch.setattr(partitions, "_renumber", lambda *a: renumbered.append(1) or plain(*a))
        if wide:
            monkeypatch.setattr(partitions, "SHORT", 0)
        for fast, slow in walk(codes, 3):
            assert fast.tolist() == slow.tolist()
        assert renumbered or density != 0.5

    def test_labels_stay_below_twice_the_rows(self):
        codes = (
            np.random.Generator(np.random.PCG64(8)).integers(0, 2, size=(500, 12)).astype(np.uint8)
        )
        sets = Partitions(codes, (2,) * 12).parent_sets(range(1, 12))
        for f in range(11):
            sets.drop(f) if f in sets.children else None
            grown = sets.grow(f)
            sets.keep(np.ones(grown.shape, dtype=bool))
            assert max(np.diff(ends).max() for ends in sets._ends) < 2 * len(sets.partitions) + 32

    def test_identical_and_constant_columns(self):
        codes = np.array([[0, 0, 1], [1, 1, 1]], dtype=np.uint8)[[0, 1, 1, 0, 1]]
        sets = Partitions(codes, (2, 2, 2)).parent_sets([1, 2])
        entropy = -(0.4 * math.log2(0.4) + 0.6 * math.log2(0.6))
        assert sets.grow(0)[:, 0] == pytest.approx([entropy, 0], abs=1e-12)

    def test_refusals(self):
        with pytest.raises(BudgetError, match="two-valued"):
            Partitions(np.array([[0, 2]], dtype=np.uint8), (2, 3)).parent_sets([0])
        sets = Partitions(np.array([[0, 1], [1, 1]], dtype=np.uint8), (2, 2)).parent_sets([0])
        sets.grow(1)
        for wrong in (np.zeros((1, 1), dtype=bool), np.ones((1, 2), dtype=bool)):
            with pytest.raises(ValueError, match="last column"):
                sets.keep(wrong)


class TestCompiled:
    @pytest.mark.slow
    @pytest.mark.parametrize("density", [0.08, 0.5, 0.9])
    @pytest.mark.parametrize("most", [None, 3])
    def test_compiled_equals_numpy_bit_by_bit(self, density, most):
        random = np.random.Generator(np.random.PCG64(9))
        codes = (random.random((1500, 12)) < density).astype(np.uint8)
        for fast, slow in walk(codes, 5, most, compiled=True):
            assert fast.tolist() == slow.tolist()

    def test_only_large_tables_are_worth_compiling(self, monkeypatch):
        codes = (
            np.random.Generator(np.random.PCG64(9)).integers(0, 2, size=(50, 6)).astype(np.uint8)
        )
        p, asked = Partitions(codes, (2,) * 6), []
        # None, as without numba
        monkeypatch.setattr(partitions, "_compile", lambda: asked.append(1))
        p.parent_sets([1, 2])
        ParentSets(p, [1, 2], compiled=False)
        assert not asked
        monkeypatch.setattr(partitions, "LARGE", 10)
        p.parent_sets([1, 2])
        assert asked
        for fast, slow in walk(codes, 5, compiled=True):
            assert fast.tolist() == slow.tolist()

"""Public limits on what a search counts: exact numbers, promises on whole selections, wide tables
end to end."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import pdsynth as pds
from pdsynth.core import structure as limits
from pdsynth.core.errors import BudgetError
from pdsynth.core.network import Restriction
from pdsynth.core.records import Records, pack
from pdsynth.core.schema import Facts
from pdsynth.core.structure import AUTO_PAIRS, LEAST, SETS, MaxCells, list_candidates, parent_rule

Q = Fraction


def make(sizes):
    attributes = (pds.Attribute.categorical(f"c{j}", list(range(s))) for j, s in enumerate(sizes))
    return pds.Schema(tuple(attributes))


def chained(sizes, n, seed=0):
    """Records in which every column follows the one before it."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, s, n) for s in sizes], axis=1).astype(np.uint8)
    for j in range(1, len(sizes)):
        same = rng.random(n) < 0.7
        codes[same, j] = codes[same, j - 1] % sizes[j]
    return Records(codes, make(sizes))


@pytest.mark.parametrize("sizes", [(2, 2, 3, 5), (2,) * 6, (3, 4, 4, 7, 9)])
@pytest.mark.parametrize("cells", [4, 12, 60, 10**6])
def test_sets_are_counted_as_by_hand(sizes, cells):
    members = len(sizes)
    every = [
        sum(math.prod(s) <= cells for s in itertools.combinations(sizes, m))
        for m in range(members + 1)
    ]
    assert list(limits.count_sets(sizes, cells, members)) == every


SIZES = {
    "small": [2, 3, 5, 4] * 4,
    "hundred": [2 + j % 15 for j in range(100)],
    "two-valued but one": [2] * 99 + [3],
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("n", [10**4, 10**6, 10**8])
def test_no_selection_has_more_candidates_than_promised(name, n):
    sizes = tuple(SIZES[name])
    d, facts = len(sizes), Facts(make(sizes), n, Q(1), "strict", Q(7, 10))
    rule = parent_rule("auto", facts, Q(4))
    permitted = Restriction().on(facts.schema.names)
    for placed in (d // 4, d // 2, 2 * d // 3, d - 1) if rule else ():
        order = np.random.default_rng(placed).permutation(d).tolist()
        found = list_candidates(rule, tuple(order[:placed]), order[placed:], sizes, permitted)
        assert 0 < len(found) <= min(AUTO_PAIRS, max(SETS, LEAST * d))
        for children, parents in found.by_size:
            cells = np.array(sizes)[children] * np.array(sizes)[parents].prod(axis=1)
            assert parents.shape[1] == 0 or cells.max() <= rule.cells


def test_twin_without_the_limit_there_are_more(monkeypatch):
    sizes = tuple(SIZES["hundred"])
    rule = MaxCells(Q(875))
    permitted = Restriction().on(make(sizes).names)
    placed = tuple(range(40))
    found = list_candidates(rule, placed, range(40, 100), sizes, permitted)
    assert len(found) > AUTO_PAIRS


def test_small_tables_are_as_they_were():
    """The limit acts where sets are too many, so nothing changes where they aren't."""
    for sizes, n in ((SIZES["small"], 50_000), ([2, 16, 7, 15, 42, 5] * 2, 45_222)):
        facts = Facts(make(sizes), n, Q(1), "strict", Q(7, 10))
        found = parent_rule("auto", facts, Q(4))
        assert found == MaxCells.of(n, len(sizes), Q(7, 10), Q(4))


@pytest.mark.parametrize("seed", range(5))
def test_maximal_sets_of_few_parents_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    sizes = tuple(rng.integers(2, 6, 8).tolist())
    rule, child = MaxCells(Q(60), 2), 7

    def fits(s):
        return len(s) <= 2 and sizes[child] * math.prod(sizes[j] for j in s) <= 60

    every = [s for m in range(4) for s in itertools.combinations(range(7), m) if fits(s)]
    maximal = {s for s in every if not any(set(s) < set(t) for t in every)}
    found = rule.parent_sets(tuple(range(7)), sizes[child], sizes)
    assert {tuple(row) for block in found for row in block.tolist()} == maximal


def test_cost_grows_with_n_no_faster_than_linearly_once_tables_are_large():
    """Sets × records of HPPrivBayes and PrivBayes on fifteen columns: from 1M to 50M rows."""
    sizes = [2, 2, 5, 6, 7, 9, 15, *[16] * 7, 42]

    def sets(n):
        rule = parent_rule("auto", Facts(make(sizes), n, Q(1), "strict", Q(7, 10)), Q(4))
        return sum(limits.count_sets(tuple(sizes), int(rule.cells), rule.most + 1))

    assert sets(10**6) == sets(5 * 10**6) >= sets(5 * 10**7) > 100


@pytest.mark.parametrize("d", [256, 300])
def test_a_lattice_keeps_apart_sets_of_many_columns(d):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (200, d)).astype(np.uint8)
    codes[:, -1] = codes[:, 0]
    lattice = Records(codes, make([2] * d)).lattice
    sets = np.array([[0, d - 1], [0, 1], [1, d - 1], [254, 255]])
    assert lattice.information(sets[:1, 0], sets[:1, 1:])[0] > 0.9
    small = Records(codes[:, [254, 255]], make([2, 2])).lattice
    assert lattice.entropies(sets[3:])[0] == small.entropies(np.array([[0, 1]]))[0]
    keys = pack(np.array(list(itertools.combinations(range(d), 2))), d + 1)
    assert len(np.unique(keys)) == len(keys)


WIDE = make([2] * 260)


@pytest.mark.parametrize(
    "made",
    [
        pds.HMPrivBayes(),
        pds.GeneticBayes(search="hill"),
        pds.GeneticBayes(),
        pds.HPPrivBayes(sensitive="c0"),
        pds.PPBA(),
        pds.PrivABN(),
        pds.ConsistentBayes(),
        pds.ConsistentBayes(rounds=0),
        pds.PrivBayes(),
        pds.baselines.JTree(),
        pds.baselines.ELPrivBayes(),
        pds.baselines.SAPrivBayes(),
        pds.baselines.PrivSCBN(),
    ],
    ids=lambda made: repr(made)[:30],
)
def test_who_compares_all_pairs_says_so_in_one_sentence(made):
    with pytest.raises(
        BudgetError, match="compares? all pairs of them, at most 255: leave columns"
    ):
        made.prepare(WIDE, 10_000)


def test_twin_the_same_with_fewer_columns_is_fine():
    pds.HMPrivBayes().prepare(make([2] * 255), 10_000)
    pds.PrivBayes(k=1).prepare(WIDE, 10_000)
    pds.baselines.Independent().prepare(WIDE, 10_000)

"""A fit of tables starts near its end: the same answer as from nothing, in fewer steps."""

from fractions import Fraction as Q

import numpy as np
import pytest

from pdsynth.core.agreement import NoisyTable, fit_tables, project
from pdsynth.core.factors import CliqueTree, junction_tree


def noisy(sets, sizes, seed, by_cell=False):
    rng, found = np.random.default_rng(seed), []
    for columns in sets:
        shape = [sizes[j] for j in columns]
        counts = rng.normal(50 / np.prod(shape), 6, shape)
        weight = rng.uniform(0.1, 2, shape) if by_cell else float(rng.uniform(0.1, 2))
        found.append(NoisyTable(columns, counts, weight))
    return found


def geometry(sets, sizes):
    edges = {(i, j) for s in sets for i in s for j in s if i < j}
    return CliqueTree(junction_tree(len(sizes), edges), sizes)


def test_nearest_counts_by_hand():
    # 5 + 3 − 4 should be 6: without the negative one, each loses (8 − 6) / 2
    assert project(np.array([5.0, -4.0, 3.0]), 6) == pytest.approx([4, 0, 2])
    assert project(np.array([-9.0, -5.0]), 4) == pytest.approx([0, 4])
    assert project(np.array([1.0]), 7) == pytest.approx([7])


@pytest.mark.parametrize("seed", range(5))
def test_nearest_counts_are_nearer_than_all_others_on_a_lattice(seed):
    counts = np.random.default_rng(seed).normal(2, 4, 3)
    found = project(counts, 6)
    step = Q(1, 4)
    lattice = [
        np.array([a * step, b * step, 6 - (a + b) * step], dtype=float)
        for a in range(25)
        for b in range(25 - a)
    ]
    assert found.sum() == pytest.approx(6) and found.min() >= 0
    least = min(float(np.square(counts - one).sum()) for one in lattice)
    assert float(np.square(counts - found).sum()) <= least + 1e-9


def test_columns_alone_need_no_steps_and_are_what_many_steps_find():
    sizes = (3, 4, 2)
    tables = noisy([(0,), (1,), (2,)], sizes, 1)
    at_once = fit_tables(geometry([], sizes), tables, 50)
    zeros = [np.zeros(t.counts.shape) for t in tables]
    slow = fit_tables(geometry([], sizes), tables, 50, start=zeros, tolerance=1e-9)
    assert at_once.steps == 1 < slow.steps
    assert at_once.loss == pytest.approx(slow.loss, rel=1e-4)
    for j, table in enumerate(tables):
        assert at_once.margin((j,)) == pytest.approx(project(table.counts, 50), abs=1e-6)


SETS = {
    "forest": [(0,), (1,), (2,), (3,), (0, 1), (1, 2)],
    "a column measured twice": [(0,), (0,), (1,), (2,), (3,)],
    "triple and pair": [(0,), (2,), (0, 1, 2), (2, 3), (2, 3)],
}


@pytest.mark.parametrize("by_cell", [False, True])
@pytest.mark.parametrize("sets", SETS.values(), ids=SETS)
def test_the_start_moves_no_answer(sets, by_cell):
    sizes = (3, 2, 4, 2)
    tables = noisy(sets, sizes, 3, by_cell)
    zeros = [np.zeros(t.counts.shape) for t in tables]
    near = fit_tables(geometry(sets, sizes), tables, 50, tolerance=1e-7)
    slow = fit_tables(geometry(sets, sizes), tables, 50, start=zeros, tolerance=1e-7)
    assert near.loss == pytest.approx(slow.loss, rel=1e-3)
    assert near.steps > 1, "only columns that were measured once are done at once"

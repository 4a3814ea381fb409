"""Tables that agree: against Private-PGM's authors' own solver, and against what they promise."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from pdsynth.core.agreement import NoisyTable, fit_tables
from pdsynth.core.factors import SMALL, CliqueTree, fold, junction_tree

ORACLE = Path(__file__).parents[1] / "oracles" / "agree.json"
PROBLEMS = {p["name"]: p for p in json.loads(ORACLE.read_text(encoding="utf-8"))["problems"]}
problems = pytest.mark.parametrize("name", PROBLEMS)


def posed(name):
    """The tree, the noisy tables and n of a problem."""
    p = PROBLEMS[name]
    noisy = [
        NoisyTable(tuple(m["attributes"]), np.array(m["table"], float), 1 / m["scale"] ** 2)
        for m in p["measurements"]
    ]
    edges = {(i, j) for t in noisy for i in t.columns for j in t.columns if i < j}
    tree = junction_tree(len(p["sizes"]), edges)
    return CliqueTree(tree, tuple(p["sizes"])), noisy, p["n"]


def loss_of(tables, noisy):
    return sum(
        float((t.weight * (m - t.counts) ** 2).sum() / 2)
        for m, t in zip(tables, noisy, strict=True)
    )


@problems
@pytest.mark.parametrize(("tolerance", "above"), [(1e-2, 0.12), (2e-3, 2e-3), (1e-4, 1.3e-3)])
def test_the_loss_is_near_the_oracle_s(name, tolerance, above):
    tree, noisy, n = posed(name)
    fitted = fit_tables(tree, noisy, n, tolerance=tolerance)
    found = loss_of([fitted.margin(t.columns) for t in noisy], noisy)
    assert found == pytest.approx(fitted.loss)
    least = PROBLEMS[name]["loss"]
    assert least * (1 - 1e-6) <= found <= least * (1 + above)


@problems
def test_the_margins_are_near_the_oracle_s(name):
    """The loss is strictly convex in them: its excess bounds their distance in each table's noise,
    Σ ‖μ − μ*‖² / (2b²) ≤ loss − least."""
    tree, noisy, n = posed(name)
    fitted = fit_tables(tree, noisy, n)
    held = PROBLEMS[name]["marginals"]
    apart = sum(
        float((t.weight * (fitted.margin(t.columns) - np.array(m)) ** 2).sum() / 2)
        for t, m in zip(noisy, held, strict=True)
    )
    assert apart <= fitted.loss - PROBLEMS[name]["loss"] + 1e-3


@problems
def test_tables_agree_are_not_negative_and_of_sum_n(name):
    tree, noisy, n = posed(name)
    fitted = fit_tables(tree, noisy, n, tolerance=0.01)
    for table in fitted.tables:
        assert table.min() >= 0
        assert table.sum() == pytest.approx(n)
    pairs = zip(tree.cliques[1:], tree.graph.parents[1:], strict=True)
    for at, ((clique, up), both) in enumerate(zip(pairs, tree.graph.separators, strict=True), 1):
        one, other = (fitted.tables[i].sum(axis=tree.place(i, both).out) for i in (at, up))
        assert one == pytest.approx(other, abs=1e-6 * n), clique


@problems
def test_a_warm_start_is_no_worse_and_faster(name):
    tree, noisy, n = posed(name)
    cold = fit_tables(tree, noisy, n, tolerance=1e-3)
    warm = fit_tables(tree, noisy, n, start=cold.potentials, tolerance=1e-3)
    assert warm.loss <= cold.loss * 1.01
    few = fit_tables(tree, noisy, n, start=cold.potentials, most=10)
    from_nothing = fit_tables(tree, noisy, n, most=10)
    assert few.loss <= from_nothing.loss * (1 + 1e-9)


def test_a_start_from_fewer_tables():
    tree, noisy, n = posed("a tree of five")
    first = fit_tables(tree, noisy[:-1], n, tolerance=1e-3)
    grown = fit_tables(tree, noisy, n, start=first.potentials)
    assert grown.loss <= PROBLEMS["a tree of five"]["loss"] * (1 + 1e-3)


def test_after_an_early_stop_a_step_set_by_the_most_precise_table_would_stall():
    """Columns at scale 1 and one pair at 400: the pair, all that is known of the tie, still counts:
    its own noise moves it to its place, given the columns."""
    rng = np.random.default_rng(5)
    true = np.diag([900.0, 60, 30, 10]) + 20
    n = true.sum()
    columns = [NoisyTable((j,), true.sum(axis=1 - j), 1.0) for j in (0, 1)]
    pair = NoisyTable((0, 1), true + rng.laplace(scale=40, size=(4, 4)), 1 / 40**2)
    tree = CliqueTree(junction_tree(2, [(0, 1)]), (4, 4))
    fitted = fit_tables(tree, [*columns, pair], n, tolerance=0.01)
    exact = fit_tables(tree, [*columns, pair], n, tolerance=1e-9, most=30_000)
    assert fitted.loss <= exact.loss * 1.02
    alone = np.outer(*(t.counts for t in columns)) / n
    table = fitted.margin((0, 1))
    assert np.abs(table - true).sum() < 0.7 * np.abs(alone - true).sum()


def test_tables_that_agree_already_are_soon_found():
    """The loss tends to 0, which no relative criterion would ever reach."""
    table = np.arange(1.0, 13).reshape(3, 4)
    noisy = [NoisyTable((0, 1), table, 1.0), NoisyTable((0,), table.sum(axis=1), 4.0)]
    tree = CliqueTree(junction_tree(2, [(0, 1)]), (3, 4))
    fitted = fit_tables(tree, noisy, table.sum(), tolerance=0.01)
    assert fitted.steps < 300
    assert fitted.margin((0, 1)) == pytest.approx(table, abs=0.2)


def test_a_precise_fit_of_one_table_by_hand():
    """Nearest to (10, −4, 0) of sum 6 in squares: 4/3 more than 6 goes first to the negative cell,
    whose place is 0; then (6, 0, 0) is nearest."""
    tree = CliqueTree(junction_tree(1, []), (3,))
    noisy = [NoisyTable((0,), np.array([10.0, -4, 0]), 1.0)]
    fitted = fit_tables(tree, noisy, 6, tolerance=1e-6)
    assert fitted.margin((0,)) == pytest.approx([6, 0, 0], abs=0.02)


def test_nothing_measured_is_uniform():
    tree = CliqueTree(junction_tree(2, []), (2, 3))
    fitted = fit_tables(tree, [], 12)
    assert fitted.margin((0,)) == pytest.approx([6, 6])
    assert fitted.margin((1,)) == pytest.approx([4, 4, 4])


def test_a_fit_is_the_same_to_the_last_bit_whatever_threads_there_are():
    """An inner product of BLAS adds up in another order with two threads."""
    limit = pytest.importorskip("threadpoolctl").threadpool_limits
    tree = CliqueTree(junction_tree(2, [(0, 1)]), (128, 128))
    counts = np.random.default_rng(0).integers(-9, 30, (128, 128)).astype(float)
    fits = []
    for threads in (1, 2):
        with limit(threads):
            fits.append(fit_tables(tree, [NoisyTable((0, 1), counts, 1.0)], 2e5, tolerance=0.01))
    one, two = fits
    assert one.loss == two.loss
    assert (one.tables[0] == two.tables[0]).all()


def test_weights_by_cell():
    """A cell with a hundredth of the noise stays where it is; the others share the rest."""
    tree = CliqueTree(junction_tree(1, []), (3,))
    weights = np.array([1e4, 1.0, 1.0])
    noisy = [NoisyTable((0,), np.array([50.0, 30, 30]), weights)]
    found = fit_tables(tree, noisy, 100, tolerance=1e-8).margin((0,))
    assert found == pytest.approx([50, 25, 25], abs=0.05)


SHAPES = [(5, 16, 7, 14, 5), (16, 7, 15, 9), (3, 40, 3, 31), (12, 11, 30, 1, 3), (9, 6, 8, 25, 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_axes_are_folded_as_numpy_folds_them_to_the_last_bit(shape):
    """Sums in another order differ in the last bits, and a fit of hundreds of steps in more."""
    table = np.exp(np.random.default_rng(0).normal(0, 9, shape))
    assert table.size > SMALL
    for count in range(len(shape) + 1):
        for out in itertools.combinations(range(len(shape)), count):
            for ufunc in (np.add, np.maximum):
                assert np.array_equal(fold(ufunc, table, out), ufunc.reduce(table, out))


def test_another_order_would_be_noticed():
    table = np.exp(np.random.default_rng(0).normal(0, 9, SHAPES[0]))
    assert not np.array_equal(table.sum(axis=4).sum(axis=0), table.sum(axis=0).sum(axis=3))

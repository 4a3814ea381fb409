"""Private edges: their law, over all tiny tables and neighbours, and what they look like."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdsynth.binning.edges import candidate_edges, plan_edges, private_edges
from pdsynth.core.noise import ExactNoise, Noise

EPSILON = Q(3, 2)


class Script(Noise):
    """Makes the choices of a script, and adds up the logarithm of their chance."""

    def __init__(self, script):
        super().__init__()
        self.script, self.log, self.open = list(script), 0.0, []

    def _stream(self, label):
        return self

    def choose(self, gaps, times, denominator, *, permute, among=None):
        weights = np.exp(-gaps.astype(float) * times / denominator)
        at = self.script.pop(0) if self.script else 0
        self.open.append(len(gaps))
        self.log += math.log(weights[at] / weights.sum())
        return at


def law(counts, number, heavy, moved, epsilon=EPSILON, run=private_edges):
    """P of every way through the choices, by the choices made."""
    found, todo = {}, [()]
    while todo:
        script = todo.pop()
        noise = Script(script)
        edges = run(np.array(counts), number, heavy, moved, epsilon, noise)
        path = (*script, *[0] * (len(noise.open) - len(script)))
        found[path, tuple(edges)] = noise.log
        for i in range(len(script), len(noise.open)):
            todo += [(*path[:i], other) for other in range(1, noise.open[i])]
    return found


def of_edges(law_of_paths):
    out = defaultdict(float)
    for (_, edges), log in law_of_paths.items():
        out[edges] += math.exp(log)
    return out


def worst(first, second):
    """The largest |ln p/q| over paths; the same paths are open in both tables."""
    assert first.keys() == second.keys()
    return max(abs(first[path] - second[path]) for path in first)


def tables(n, cells):
    return [c for c in itertools.product(range(n + 1), repeat=cells) if sum(c) == n]


def replaced(counts):
    for a, b in itertools.permutations(range(len(counts)), 2):
        if counts[a]:
            other = list(counts)
            other[a], other[b] = other[a] - 1, other[b] + 1
            yield tuple(other)


def added(counts):
    for a in range(len(counts)):
        yield tuple(c + (i == a) for i, c in enumerate(counts))


SHAPES = [(3, 4, 2), (3, 5, 3), (2, 5, 4), (4, 4, 2)]


@pytest.mark.parametrize(("n", "cells", "number"), SHAPES)
def test_every_neighbour_of_every_tiny_table_replaced(n, cells, number):
    laws = {c: law(c, number, 1, 2) for c in tables(n, cells)}
    assert all(sum(map(math.exp, one.values())) == pytest.approx(1) for one in laws.values())
    losses = [worst(laws[c], laws[o]) for c in laws for o in replaced(c)]
    assert max(losses) <= float(EPSILON) + 1e-9
    assert max(losses) > 0.4 * float(EPSILON)


@pytest.mark.parametrize(("n", "cells", "number"), SHAPES)
def test_every_neighbour_of_every_tiny_table_added(n, cells, number):
    laws = {c: law(c, number, 1, 1) for m in (n, n + 1) for c in tables(m, cells)}
    losses = [worst(laws[c], laws[o]) for c in tables(n, cells) for o in added(c)]
    assert 0.4 * float(EPSILON) < max(losses) <= float(EPSILON) + 1e-9


def test_twin_a_sensitivity_of_one_under_replacement_loses_more():
    laws = {c: law(c, 2, 1, 1) for c in tables(4, 4)}
    assert max(worst(laws[c], laws[o]) for c in laws for o in replaced(c)) > 1.05 * float(EPSILON)


@pytest.mark.parametrize("moved", [1, 2])
def test_a_cell_with_as_many_records_as_a_bin_weighs_as_much_as_stop(moved):
    """STOP is scored as a cell of ``heavy`` records, whatever a neighbour may change."""
    seen = []

    class Watch(Script):
        def choose(self, gaps, *rest, **more):
            seen.append(gaps.tolist())
            return super().choose(gaps, *rest, **more)

    private_edges(np.array([0, 5, 2, 9, 1]), 4, 5, moved, EPSILON, Watch([4 + 5]))
    assert seen[0] == [moved * (9 - c) for c in (0, 5, 2, 9, 1)] + [moved * (9 - 5)] * 5


def test_two_levels_halve_each_and_a_record_that_changes_its_node_pays_in_both():
    """Four bins without heavy cells: nodes of the second level lose together what one may."""

    def deep(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pdsynth.binning.edges.plan_edges", lambda number: (2, 0))
            return private_edges(*arguments)

    laws = {c: law(c, 4, 1, 2, run=deep) for c in tables(3, 6)}
    losses = [worst(laws[c], laws[o]) for c in laws for o in replaced(c)]
    assert 0.5 * float(EPSILON) < max(losses) <= float(EPSILON) + 1e-9


def test_the_law_of_the_sampler_is_the_enumerated_one():
    counts, runs = np.array([5, 0, 3, 1]), 3000
    expected = of_edges(law(counts, 2, 4, 2))
    seen = defaultdict(int)
    for seed in range(runs):
        seen[tuple(private_edges(counts, 2, 4, 2, EPSILON, ExactNoise(seed)))] += 1
    off = {e: (seen[e] / runs - p) / math.sqrt(p * (1 - p) / runs) for e, p in expected.items()}
    assert set(seen) <= set(expected) and max(map(abs, off.values())) < 4


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 40), st.integers(1, 400), st.integers(0, 10**6))
def test_there_are_always_so_many_bins_and_no_empty_one(number, more, seed):
    counts = np.random.default_rng(seed).poisson(3, number + more).astype(np.int64)
    before = counts.copy()
    edges = private_edges(counts, number, int(counts.sum()) // number, 2, Q(1), ExactNoise(seed))
    assert len(edges) == number - 1 and sorted({*edges}) == edges
    assert 0 < edges[0] and edges[-1] < len(counts) and (counts == before).all()
    depth, atoms = plan_edges(number)
    assert 2**depth - 1 + 2 * atoms <= number - 1


def test_heavy_values_stand_alone_and_medians_halve():
    counts = np.full(1000, 10)
    counts[[0, 400]] = 20_000
    for seed in range(20):
        edges = private_edges(counts, 16, int(counts.sum()) // 16, 2, Q(1), ExactNoise(seed))
        assert {1, 400, 401} <= {*edges}
    middle = private_edges(np.full(1000, 100), 2, 50_000, 2, Q(1), ExactNoise(1))
    assert abs(middle[0] - 500) < 20


def test_three_heavy_values_stand_alone_though_the_first_outweighs_the_others():
    counts = np.full(1000, 10)
    counts[[100, 500, 800]] = 200_000, 60_000, 40_000
    for seed in range(5):
        edges = private_edges(counts, 16, int(counts.sum()) // 16, 2, Q(1), ExactNoise(seed))
        assert {100, 101, 500, 501, 800, 801} <= {*edges}


class Prices(Script):
    """Adds up what each choice costs where its score moves by ``moved``, a level once."""

    def __init__(self, script, moved):
        super().__init__(script)
        self.moved, self.label, self.costs = moved, "", {}

    def _stream(self, label):
        self.label = label.split(", from")[0]
        return self

    def choose(self, gaps, times, denominator, *, permute, among=None):
        self.costs[self.label] = Q(2 * self.moved * times, denominator)
        return super().choose(gaps, times, denominator, permute=permute, among=among)


@pytest.mark.parametrize("script", [(8,), (0, 8), (0, 0), (0, 5, 8)])
def test_choices_cost_in_all_what_was_given(script):
    """Whether no heavy cell was looked for a second time (8 stands for STOP), or two, or three."""
    noise = Prices(script, 2)
    private_edges(np.array([9, 1, 1, 2, 1, 7, 1, 1]), 16 if len(script) > 2 else 8, 3, 2, EPSILON,
                  noise)  # fmt: skip
    assert sum(noise.costs.values()) == EPSILON
    assert any("heavy" in label for label in noise.costs)


def test_light_cells_don_t_stand_alone_because_they_are_many():
    """Twin: with one STOP instead of as many as cells, chance picks a cell nearly always."""
    counts = np.full(5000, 2)
    alone = 0
    for seed in range(60):
        edges = private_edges(counts, 16, 625, 2, Q(1, 20), ExactNoise(seed))
        alone += 1 in np.diff([0, *edges, 5000])
    assert alone < 50


def test_candidates_lie_inside_and_stand_once():
    for low, high in [(0, 1), (3, 5), (0, 64), (0, 65), (10, 16394), (5, 200)]:
        found = candidate_edges(low, high)
        assert sorted({*found.tolist()}) == found.tolist()
        assert ((low < found) & (found < high)).all() and (len(found) > 0) == (high - low > 1)

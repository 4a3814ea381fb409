"""Exercises of lessons 08 to 11: the right answer passes, the likely mistakes are named, an open answer is only open."""

import math
from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest

from pdsynth.lessons import lesson_08, lesson_09, lesson_10, lesson_11
from pdsynth.measures import mutual_information
from pdsynth.partition import affinity
from pdsynth.structure.adaptive import ParentChoice


def repaired(counts, m, epsilon2, rng):
    noisy = np.maximum(counts + rng.laplace(scale=2 * m / epsilon2, size=counts.shape), 0)
    total = noisy.sum(axis=0)
    return np.where(total > 0, noisy / np.where(total > 0, total, 1), 0.5)


def printed(counts, m, epsilon2, rng):
    p = counts / np.maximum(counts.sum(axis=0), 1)
    p = np.maximum(p + rng.laplace(scale=2 * m / (counts.sum() * epsilon2), size=p.shape), 0)
    return p / np.maximum(p.sum(axis=0), 1e-9)


def half_noise(counts, m, epsilon2, rng):
    noisy = np.maximum(counts + rng.laplace(scale=m / epsilon2, size=counts.shape), 0)
    return noisy / np.maximum(noisy.sum(axis=0), 1)


def one_draw_a_column(counts, m, epsilon2, rng):
    noisy = np.maximum(counts + rng.laplace(scale=2 * m / epsilon2, size=counts.shape[1:]), 0)
    return noisy / np.maximum(noisy.sum(axis=0), 1)


def unclipped(counts, m, epsilon2, rng):
    noisy = counts + rng.laplace(scale=2 * m / epsilon2, size=counts.shape)
    return noisy / noisy.sum(axis=0)


def empty_column(counts, m, epsilon2, rng):
    noisy = np.maximum(counts + rng.laplace(scale=2 * m / epsilon2, size=counts.shape), 0)
    with np.errstate(invalid="ignore"):
        return noisy / noisy.sum(axis=0)


def true_cost(d, k, columns=True, clusters=True, floor=True):
    a1, a2 = Q(d - 1), Q(2 * d, k)
    half = d // 2 if floor else Q(d, 2)
    return ((half if columns else 1) * a1 + (k if clusters else 1) * 2 * a2) / (a1 + 2 * a2)


XOR = [(a, b, c, a ^ b) for a, b, c in product((0, 1), repeat=3)]


RIGHT = [
    (lesson_08.q1, (1,)),
    (lesson_08.q2, (affinity,)),
    (lesson_08.q3, ("disjoint", 26)),
    (lesson_09.q1, (Q(7, 12),)),
    (lesson_09.q2, (lambda oe: np.exp(-np.array(oe)) / np.exp(-np.array(oe)).sum(),)),
    (lesson_09.q3, ("len(column)",)),
    (lesson_10.q1, (40, 20)),
    (lesson_10.q2, (true_cost,)),
    (lesson_10.q3, ("records",)),
    (lesson_11.q1, (XOR,)),
    (lesson_11.q2, (2, 33.709)),
    (lesson_11.q3, (repaired,)),
]

WRONG = [
    (lesson_08.q1, (2,), "Divide by log₂"),
    (lesson_08.q1, (0.5,), "min(a, b)"),
    (lesson_08.q1, (0.8113,), "all grids"),
    (lesson_08.q2, (lambda s: affinity(s, reading="printed"),), "printed sign"),
    (lesson_08.q2, (lambda s: s.copy(),), "negative"),
    (lesson_08.q2, (lambda s: np.maximum(s, 0),), "above 1"),
    (lesson_08.q2, (lambda s: np.clip(s, 0, 1) + np.eye(4),), "diagonal"),
    (lesson_08.q2, (lambda s: np.clip(np.triu(s), 0, 1),), "symmetric"),
    (lesson_08.q2, (lambda s: np.clip(s, 0, 1, out=s),), "copy"),
    (lesson_08.q2, (lambda s: s[:2],), "shape"),
    (lesson_08.q2, (lambda s: s * np.nan,), "finite"),
    (lesson_08.q2, (lambda s: np.ones((4, 4)) - np.eye(4),), "same weight"),
    (lesson_08.q3, ("clip", 26), "post-processing"),
    (lesson_08.q3, ("scale", 26), "comment"),
    (lesson_08.q3, ("columns", 26), "answer"),
    (lesson_08.q3, ("disjoint", 1), "one record stands"),
    (lesson_08.q3, ("disjoint", 51), "number of rounds"),
    (lesson_08.q3, ("disjoint", 1326), "divide"),
    (lesson_08.q3, ("disjoint", 7), "how many pairs"),
    (lesson_09.q1, (7 / 8,), "declared"),
    (lesson_09.q1, (7 / 16,), "number of records"),
    (lesson_09.q1, (7 / 4,), "not normalised"),
    (lesson_09.q1, (7 / 12 * math.log(2),), "base cancels"),
    (lesson_09.q2, (lambda oe: np.exp(-np.array(oe)),), "add up to"),
    (lesson_09.q2, (lambda oe: np.exp(np.array(oe)) / np.exp(np.array(oe)).sum(),), "turned round"),
    (lesson_09.q2, (lambda oe: [1 / len(oe)] * len(oe),), "exp(−OE)"),
    (lesson_09.q2, (lambda oe: [1.0],), "1 numbers for 2"),
    (lesson_09.q3, ("log2",), "any logarithm"),
    (lesson_09.q3, ("p > 0",), "tends to 0"),
    (lesson_10.q1, (20, 40), "turned round"),
    (lesson_10.q1, (20, 10), "half of what is needed"),
    (lesson_10.q1, (40, 40), "can't be equal"),
    (lesson_10.q1, (40, 7), "five tables"),
    (lesson_10.q1, (7, 20), "ten tables"),
    (lesson_10.q2, (lambda d, k: Q(1),), "claimed"),
    (lesson_10.q2, (lambda d, k: true_cost(d, k, clusters=False),), "forgets the clusters"),
    (lesson_10.q2, (lambda d, k: true_cost(d, k, columns=False),), "forgets DPSC"),
    (lesson_10.q2, (lambda d, k: true_cost(d, k, floor=False),), "d // 2"),
    (lesson_10.q2, (lambda d, k: Q(5),), "divide by their sum"),
    (lesson_10.q3, ("noisy",), "paid for"),
    (lesson_10.q3, ("eta",), "public"),
    (lesson_11.q1, ([(a, b, c, a) for a, b, c in product((0, 1), repeat=3)],), "as much as any pair"),
    (lesson_11.q1, ([(a, b, c, 0) for a, b, c in product((0, 1), repeat=3)],), "no pair of parents"),
    (lesson_11.q1, ([(0, 1, 2, 3)],), "each 0 or 1"),
    (lesson_11.q2, (2 / 21_574, 33.7), "joint"),
    (lesson_11.q2, (1, 33.7), "comes back"),
    (lesson_11.q2, (2, 1 / 640), "claims for a node"),
    (lesson_11.q2, (2, 33.7 / 2), "uses 1"),
    (lesson_11.q2, (2, 33.709 * 16), "all nodes"),
    (lesson_11.q3, (printed,), "keeps the printed scale"),
    (lesson_11.q3, (half_noise,), "moves two counts"),
    (lesson_11.q3, (one_draw_a_column,), "every cell"),
    (lesson_11.q3, (unclipped,), "negative counts"),
    (lesson_11.q3, (empty_column,), "no positive count left"),
    (lesson_11.q3, (lambda counts, m, e, rng: None,), "returns nothing yet"),
    (lesson_11.q3, (lambda counts, m, e, rng: counts / 2,), "0 times"),
]


@pytest.mark.parametrize(("exercise", "answer"), RIGHT)
def test_the_right_answer_passes(exercise, answer):
    verdict = exercise.check(*answer)
    assert verdict.right, verdict.text
    assert "Correct" in verdict.text


@pytest.mark.parametrize(("exercise", "answer", "words"), WRONG)
def test_a_wrong_answer_names_the_likely_mistake(exercise, answer, words):
    verdict = exercise.check(*answer)
    assert not verdict.right
    assert words in verdict.text, verdict.text


@pytest.mark.parametrize("exercise", [e for e, _ in RIGHT])
def test_an_open_answer_is_open_and_help_is_there(exercise):
    assert exercise.check(None).kind == "open"
    assert not exercise.check(lambda *anything: 1 / 0).right
    assert exercise.hint().text.startswith("Hint.")
    assert exercise.solution().text.startswith("Solution.")


def test_information_of_rows_by_hand():
    rows = np.array(XOR)
    assert lesson_11.information(rows, 3, (0,)) == 0
    assert lesson_11.information(rows, 3, (0, 1)) == 1
    assert lesson_11.information(rows, 3, ()) == 0
    assert lesson_11.information(rows[:, [0, 1, 2, 0]], 3, (0, 2)) == mutual_information(np.array([[4, 0], [0, 4]])) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_lesson_s_programme_is_the_library_s(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (60, 5))
    rows[:, 4] = rows[:, 0] & rows[:, 2] ^ (rng.random(60) < 0.2)
    choice = ParentChoice([4])
    for f in (1, 3, 0, 2):
        before = [(), *choice.sets[4]]
        grown = [round(lesson_11.information(rows, 4, (*p, f)) * 2**30) for p in before]
        choice.offer(f, np.array([grown]))
    found = lesson_11.gparentset(rows, 4, (1, 3, 0, 2))
    assert [found[j] for j in range(1, 5)] == choice.sets[4]


def test_the_order_of_arrival_decides_what_gparentset_misses():
    rows = np.array(XOR)
    assert set(lesson_11.gparentset(rows, 3, (0, 2, 1))[2]) != {0, 1}
    assert set(lesson_11.gparentset(rows, 3, (0, 1, 2))[2]) == {0, 1}

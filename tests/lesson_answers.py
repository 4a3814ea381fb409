"""Answers to the exercises of all lessons: right ones, and the likely mistakes with words that must name them."""

import math
from fractions import Fraction as Q
from itertools import product

import numpy as np
import pandas as pd

from pdsynth.audit import bugs
from pdsynth.audit.estimator import lower_limit, upper_limit
from pdsynth.course.exercises import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_08,
    lesson_09,
    lesson_10,
    lesson_11,
    lesson_12,
    lesson_13,
    lesson_14,
    lesson_16,
    lesson_17,
    lesson_18,
)  # fmt: skip
from pdsynth.measures import mutual_information
from pdsynth.privacy.mechanisms import exponential_probabilities
from pdsynth.structure.clustering import affinity

LN2 = math.log(2)
XOR = [(a, b, c, a ^ b) for a, b, c in product((0, 1), repeat=3)]


def table_and_epsilon(epsilon):
    return pd.DataFrame({"a": [1]}), epsilon


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


def bound(hits, misses, runs, alpha=0.025):
    return np.log(lower_limit(hits, runs, alpha) / upper_limit(misses, runs, alpha))


def loss_of_tables(tables, name):
    return sum((cost for names, cost in tables if name in names), Q(0))


def loss(network, budgets, attribute):
    return sum(budgets[child] for child, parents in network.pairs if attribute in (child, *parents))


def largest(limit):
    def largest_k(n, d, size, epsilon):
        return max((k for k in range(d) if 2 * (d - k) / (epsilon * (0.7 if k else 1)) * size ** (k + 1) / n <= limit), default=0)

    return largest_k


def right_fitness(order, sets, weights):
    return sum(weights[j][a] for j in range(len(order)) for a in sets[j] if order.index(a) < order.index(j))


def right_gcap(key, target, rows):
    apart = [sum(a != b for a, b in zip(key, other, strict=True)) for other, _ in rows]
    near = [t for (_, t), gap in zip(rows, apart, strict=True) if gap == min(apart)]
    return near.count(target) / len(near)


def near_rows(key, rows):
    apart = [sum(a != b for a, b in zip(key, other, strict=True)) for other, _ in rows]
    return [t for (_, t), gap in zip(rows, apart, strict=True) if gap == min(apart)]


RIGHT = [
    (lesson_00.q1, (1.5,)),
    (lesson_00.q2, (lambda e: table_and_epsilon(Q(str(e))),)),
    (lesson_00.q3, ("seed",)),
    (lesson_01.q1, (Q(8),)),
    (lesson_01.q2, (exponential_probabilities,)),
    (lesson_01.q3, ("scale", 1000.0)),
    (lesson_01.q4, ("difference",)),
    (lesson_02.q1, (Q(1, 2),)),
    (lesson_02.q2, (lambda steps: sum((Q(s) / Q(b) for s, b in steps), Q(0)),)),
    (lesson_02.q3, ("records", 14)),
    (lesson_03.q1, (1.5,)),
    (lesson_03.q2, (mutual_information,)),
    (lesson_03.q3, ("units", 1.44)),
    (lesson_03.q4, ("empty cells",)),
    (lesson_04.q1, (Q(240, 7),)),
    (lesson_04.q2, (lambda i, d, k: (d - i + 1) * math.comb(i - 1, min(k, i - 1)),)),
    (lesson_04.q3, (1.4,)),
    (lesson_05.q1, (7128,)),
    (lesson_05.q2, (lambda m: (m - np.diag(np.diag(m))).sum(1) / (len(m) - 1),)),
    (lesson_05.q3, (14,)),
    (lesson_06.q1, (0.005,)),
    (lesson_06.q2, (lambda w, e: [2 * max(w) / (x * e) for x in w],)),
    (lesson_06.q3, ("frame",)),
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
    (lesson_12.q1, (Q(1, 20), 40)), (lesson_12.q1, (0.05, 40.0)), (lesson_12.q2, (loss,)), (lesson_12.q3, ("weights",)),
    (lesson_13.q1, (2,)),
    (lesson_13.q2, (right_fitness,)),
    (lesson_13.q3, ("no copy",)),
    (lesson_14.q1, (Q(7, 150),)),
    (lesson_14.q1, (0.7 / 15,)),
    (lesson_14.q2, (right_gcap,)),
    (lesson_14.q3, ("raw counts",)),
    (lesson_16.q1, (7.9,)), (lesson_16.q1, (math.log(10_000 / 3.69),)), (lesson_16.q2, (bound,)), (lesson_16.q3, (bugs.table,)),
    (lesson_17.q1, ("restriction",)), (lesson_17.q1, ("Custom network",)), (lesson_17.q2, (loss_of_tables,)),
    (lesson_17.q3, (5 / 24,)), (lesson_17.q3, (0.208,)),
    (lesson_18.q1, ((2 * 8 / 0.7) / (10_000 / 64),)), (lesson_18.q2, (largest(1 / 4),)), (lesson_18.q3, (4, "score")),
]  # fmt: skip

WRONG = [
    (lesson_00.q1, (1,), "larger"),
    (lesson_00.q1, (0.5,), "last release"),
    (lesson_00.q2, (lambda e: pd.DataFrame(),), "pair"),
    (lesson_00.q2, (lambda e: table_and_epsilon(1),), "pass epsilon on"),
    (lesson_00.q3, ("scale",), "default_rng"),
    (lesson_01.q1, (4,), "two cells"),
    (lesson_01.q1, (0.5,), "divide"),
    (lesson_01.q2, (lambda u, s, e: exponential_probabilities(u, s / 2, e),), "forgets the 2"),
    (lesson_01.q2, (lambda u, s, e: np.exp(np.array(u) * e / (2 * s)),), "add up"),
    (lesson_01.q3, ("scale", 500), "divide the sensitivity"),
    (lesson_01.q3, ("seed", 1000), "handed in"),
    (lesson_01.q4, ("sum",), "twice"),
    (lesson_02.q1, (1.0,), "at most two cells"),
    (lesson_02.q1, (0.25,), "one cell"),
    (lesson_02.q2, (lambda steps: sum(Q(b) / Q(s) for s, b in steps),), "less"),
    (lesson_02.q2, (lambda steps: sum(float(s) / float(b) for s, b in steps) + 0.0,), "Q"),
    (lesson_02.q3, ("disjoint", 14), "what has to be disjoint"),
    (lesson_02.q3, ("records", 1), "each of the 14"),
    (lesson_03.q1, (1.5 * LN2,), "nats"),
    (lesson_03.q1, (math.log2(3),), "equally frequent"),
    (lesson_03.q2, (lambda t: mutual_information(t) * LN2,), "log2"),
    (lesson_03.q2, (lambda t: -mutual_information(t),), "sign"),
    (lesson_03.q2, (lambda t: float("nan"),), "NaN"),
    (lesson_03.q3, ("units", LN2), "upside down"),
    (lesson_03.q4, ("order",), "rows are there"),
    (lesson_04.q1, (24,), "structure"),
    (lesson_04.q1, (40,), "derived"),
    (lesson_04.q1, (Q(120, 7),), "sensitivity is 2"),
    (lesson_04.q1, (80,), "ε₂"),
    (lesson_04.q3, (1,), "loop"),
    (lesson_04.q3, (Q(5, 7),), "upside down"),
    (lesson_04.q2, (lambda i, d, k: (d - i + 1) * math.comb(i - 1, k),), "min(k"),
    (lesson_04.q2, (lambda i, d, k: (d - i) * math.comb(i - 1, min(k, i - 1)),), "d − (i − 1)"),
    (lesson_04.q2, (None,), "isn't answered"),
    (lesson_05.q1, (3564,), "twice"),
    (lesson_05.q1, (7200,), "n − 1"),
    (lesson_05.q1, (594,), "single K"),
    (lesson_05.q1, (9504,), "itself"),
    (lesson_05.q3, (1,), "all can move"),
    (lesson_05.q3, (91,), "pairs"),
    (lesson_05.q3, (13,), "d − 1"),
    (lesson_05.q2, (lambda m: m.sum(1) / (len(m) - 1),), "diagonal"),
    (lesson_05.q2, (lambda m: (m - np.diag(np.diag(m))).sum(1) / len(m),), "divides by d"),
    (lesson_05.q2, (lambda m: np.fill_diagonal(m, 0) or m.sum(1) / (len(m) - 1),), "copy"),
    (lesson_05.q2, (lambda m: (m - np.diag(np.diag(m))).sum(1),), "forgets"),
    (lesson_06.q1, (0.08,), "two cells"),
    (lesson_06.q1, (0.0025,), "twice"),
    (lesson_06.q1, (1.28,), "divided"),
    (lesson_06.q3, ("max",), "repair"),
    (lesson_06.q3, ("noisy",), "paid for"),
    (lesson_06.q3, ("w",), "answer"),
    (lesson_06.q2, (lambda w, e: [2 / (x * e) for x in w],), "printed"),
    (lesson_06.q2, (lambda w, e: [max(w) / (x * e) for x in w],), "twice"),
    (lesson_06.q2, (lambda w, e: [2 / e for _ in w],), "proportional"),
    (lesson_06.q2, (lambda w, e: None,), "nothing yet"),
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
    (lesson_12.q1, (Q(2, 5), 5), "lightest table"),
    (lesson_12.q1, (Q(1, 15), 30), "its *share*"),
    (lesson_12.q1, (Q(3, 16), 40), "equal share"),
    (lesson_12.q1, (Q(1, 3), 40), "1 : 2 : 4 : 8"),
    (lesson_12.q1, (Q(1, 20), 20), "half of what is needed"),
    (lesson_12.q1, (Q(1, 20), 7), "sensitivity 2 divided"),
    (lesson_12.q2, (lambda network, budgets, a: budgets[a],), "its own table"),
    (lesson_12.q2, (lambda network, budgets, a: loss(network, budgets, a) - budgets[a],), "own table is missing"),
    (lesson_12.q2, (lambda network, budgets, a: Q(1, 3),), "stands in have"),
    (lesson_12.q3, ("matrix",), "noise is paid for"),
    (lesson_12.q3, ("tables",), "what decides"),
    (lesson_12.q3, ("frame",), "left of a line"),
    (lesson_13.q1, (6,), "all three sets"),
    (lesson_13.q1, (4,), "stands behind"),
    (lesson_13.q1, (3,), "before b"),
    (lesson_13.q1, (5,), "before a"),
    (lesson_13.q1, (7,), "valid parents"),
    (lesson_13.q3, ("no crossover",), "never gets worse"),
    (lesson_13.q3, ("wrong size",), "exactly size"),
    (lesson_13.q3, ("mutation",), "names point"),
    (lesson_13.q2, (lambda o, s, w: sum(w[j][a] for j in range(len(o)) for a in s[j]),), "every member"),
    (lesson_13.q2, (lambda o, s, w: sum(w[j][a] for j in range(len(o)) for a in s[j] if o.index(a) > o.index(j)),), "behind"),
    (lesson_13.q2, (lambda o, s, w: sum(w[j][a] for j in range(len(o)) for a in s[j] if a < j),), "numbers"),
    (lesson_13.q2, (lambda o, s, w: sum(w[o[j]][a] for j in range(len(o)) for a in s[j] if o.index(a) < j),), "independent"),
    (lesson_13.q2, (lambda o, s, w: math.pi,), "valid parents"),
    (lesson_13.q2, (lambda o, s, w: None,), "nothing yet"),
    (lesson_14.q1, (1,), "everything"),
    (lesson_14.q1, (0.7,), "all 15 tables"),
    (lesson_14.q1, (Q(1, 15),), "30 %"),
    (lesson_14.q1, (0.3 + 0.7 / 15,), "the sketch"),
    (lesson_14.q1, (1.4 / 15,), "two tables"),
    (lesson_14.q1, (0.5,), "price of one table"),
    (lesson_14.q3, ("wrong parent",), "probabilities"),
    (lesson_14.q3, ("dropped column",), "last line"),
    (lesson_14.q2, (lambda k, t, rows: right_gcap(k, t, rows) if k in [x for x, _ in rows] else 0,), "CAP with a hole"),
    (lesson_14.q2, (lambda k, t, rows: max(set(near_rows(k, rows)), key=near_rows(k, rows).count) == t,), "most frequent"),
    (lesson_14.q2, (lambda k, t, rows: near_rows(k, rows).count(t) / len(rows),), "all rows"),
    (lesson_14.q2, (lambda k, t, rows: math.pi,), "nearest rows have"),
    (lesson_14.q2, (lambda k, t, rows: None,), "nothing yet"),
    (lesson_16.q1, (math.log(20_000),), "counts all runs"),
    (lesson_16.q1, (math.log(10_000),), "as large as 3.69"),
    (lesson_16.q1, (math.log(20_000 / 3.69),), "only half of the runs"),
    (lesson_16.q1, (3.0,), "in all of h runs"),
    (lesson_16.q2, (lambda h, m, n: np.log(h / max(m, 1e-9)),), "takes the shares"),
    (lesson_16.q2, (lambda h, m, n: bound(h, m, n, 0.05),), "0.025 each"),
    (lesson_16.q2, (lambda h, m, n: np.log(upper_limit(h, n, 0.025) / lower_limit(m, n, 0.025)),), "not how bad it is for certain"),
    (lesson_16.q2, (lambda h, m, n: 1.0,), "lower limit of the hits"),
    (lesson_16.q3, (bugs.seen_cells,), "noise in one world only"),
    (lesson_16.q3, (bugs.add_remove,), "lemma:joint_counts"),
    (lesson_16.q3, (bugs.default_seed,), "L10"),
    (lesson_16.q3, (lambda codes, sizes, epsilon, noise: np.zeros(sizes, dtype=int),), "still be the table"),
    (lesson_17.q1, ("theta",), "is decided by the network"),
    (lesson_17.q1, ("ledger",), "afterwards"),
    (lesson_17.q1, ("noise",), "which of the levers"),
    (lesson_17.q2, (lambda t, n: sum((c for names, c in t if names[0] == n), Q(0)),), "As a parent"),
    (lesson_17.q2, (lambda t, n: sum((c for _, c in t), Q(0)),), "whole record"),
    (lesson_17.q2, (lambda t, n: Q(7),), "as child or parent"),
    (lesson_17.q3, (1 / 12,), "inside the rare row"),
    (lesson_17.q3, (1 / 3,), "One of the two cells"),
    (lesson_17.q3, (1 / 24,), "one cell"),
    (lesson_17.q3, (2 / 15,), "scales don't"),
    (lesson_17.q3, (0.9,), "one over each"),
    (lesson_18.q1, (0.0731,), "half"),
    (lesson_18.q1, (0.1829,), "eight are measured"),
    (lesson_18.q1, (0.1024,), "all of ε"),
    (lesson_18.q1, (6.836,), "upside down"),
    (lesson_18.q1, (22.857,), "noise scale"),
    (lesson_18.q1, (3.0,), "scale ÷"),
    (lesson_18.q2, (largest(1),), "four"),
    (lesson_18.q2, (lambda *a: largest(1 / 4)(*a) + 1,), "too large"),
    (lesson_18.q2, (lambda *a: 99,), "at most"),
    (lesson_18.q2, (lambda *a: -1,), "not 1"),
    (lesson_18.q3, (1, "score"), "How many fits"),
    (lesson_18.q3, (4, "tried"), "counted in"),
    (lesson_18.q3, (4, "k"), "smallest"),
    (lesson_18.q3, (4, "return"), '"tried"'),
]

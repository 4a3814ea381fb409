"""The bug zoo: defects of papers and of public code, each beside the part as it should be.

Every function is of one of the kinds of :mod:`pdsynth.audit.zoo`. The tables are made up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction as Q
from typing import Any

import numpy as np

from ..counting.tables import marginal
from ..measures import (
    GRID,
    SCORES,
    association,
    association_sensitivity,
    entropy,
    mutual_information,
    sensitivity_weights,
)
from ..privacy.mechanisms import (
    ExactNoise,
    Noise,
    Quantity,
    exponential_mechanism,
    laplace_mechanism,
)

Codes = np.ndarray  # (n, d)
Table = np.ndarray
Sizes = Sequence[int]
Pair = tuple[int, tuple[int, ...]]  # child, parents
Pairs = Sequence[Pair]


def count(codes: Codes, sizes: Sizes, columns: Sequence[int] | None = None) -> Table:
    """Joint counts of some columns, or of all. **Privacy:** raw counts of made-up tables."""
    return marginal(codes, tuple(sizes), tuple(range(len(sizes)) if columns is None else columns))


# --- one table ----------------------------------------------------------------


def table(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Right: noise of scale 2/ε in every declared cell. **Privacy:** ε."""
    return laplace_mechanism(count(codes, sizes), 2 / epsilon, noise.child("table"))


def probability_scale(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: the scale of a probability, 2/(nε), on counts. **Privacy:** nε."""
    return table(codes, sizes, len(codes) * epsilon, noise)


def add_remove(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: sensitivity 1, though a record is replaced. **Privacy:** 2ε."""
    return laplace_mechanism(count(codes, sizes), 1 / epsilon, noise.child("table"))


def default_seed(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise, seed: int = 0) -> Table:
    """Wrong: a public default seed. **Privacy:** none: everybody can subtract the noise."""
    return laplace_mechanism(count(codes, sizes), 2 / epsilon, ExactNoise(seed))


def raw_scale(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: weights from raw frequencies set the scale of each row (HPPrivBayes, Algorithm 6).

    **Privacy:** none: the scales tell the frequencies.
    """
    weights = np.maximum(sensitivity_weights(count(codes, sizes, (0,))), 1e-3)
    scales = tuple(2 / (Q(float(w)).limit_denominator(10**6) * epsilon) for w in weights)
    return laplace_mechanism(count(codes, sizes), scales, noise.child("table"))


def seen_cells(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: cells without records stay zero. **Privacy:** none: a cell with noise has a record."""
    return np.where(count(codes, sizes) > 0, table(codes, sizes, epsilon, noise), 0)


def own_domain(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: the domain is what occurs. **Privacy:** none: the shape tells the largest values."""
    return table(codes, tuple(codes.max(axis=0).astype(int) + 1), epsilon, noise)


def shared_number(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: one number per row (thesis code). **Privacy:** none: row differences are exact."""
    counts = count(codes, sizes)
    scale = np.array([2 / epsilon], dtype=object)
    return counts + noise.child("table").discrete_laplace(scale, (len(counts), 1))


# --- several tables -----------------------------------------------------------


def add_noise(codes: Codes, sizes: Sizes, columns: Sequence[int], scale: Q,
              noise: Noise) -> list[Table]:
    """Histograms of some columns. **Privacy:** 2 ÷ scale for each."""
    return [laplace_mechanism(count(codes, sizes, (j,)), scale, noise.child(f"x{j}"))
            for j in columns]


def histograms(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Right: d histograms that share ε. **Privacy:** ε."""
    d = len(sizes)
    return add_noise(codes, sizes, range(d), 2 * d / epsilon, noise)


def on_top(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: more histograms on top of ε (DataSynthesizer, correlated mode). **Privacy:** 3ε."""
    first = histograms(codes, sizes, epsilon, noise)
    return first + histograms(codes, sizes, 2 * epsilon, noise)


def over_columns(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: "disjoint" columns in parallel (HMPrivBayes, Theorem 3). **Privacy:** dε."""
    return add_noise(codes, sizes, range(len(sizes)), 2 / epsilon, noise)


def every_cluster(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: three clusters have ε each (HMPrivBayes, Algorithms 3 and 4). **Privacy:** 3ε."""
    clusters = [range(c, len(sizes), 3) for c in range(3)]
    return [table for c in clusters
            for table in add_noise(codes, sizes, c, 2 * len(c) / epsilon, noise)]


def paid_for_less(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: d tables, d−4 paid for (HPPrivBayes, Algorithms 5, 6). **Privacy:** d/(d−4) ε."""
    d = len(sizes)
    return add_noise(codes, sizes, range(d), 2 * (d - 4) / epsilon, noise)


def raw_facts(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Any]:
    """Wrong: exact share of missing values (the largest code), least, largest (DataSynthesizer).

    **Privacy:** none.
    """
    missing = (codes == np.array(sizes) - 1).mean()
    facts = [missing, codes.min(axis=0), codes.max(axis=0)]
    return histograms(codes, sizes, epsilon, noise) + facts


def seeded_again(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: each table starts the same stream. **Privacy:** none: table differences are exact."""
    scale, seed = 2 * len(sizes) / epsilon, noise.below(2**40)
    return [laplace_mechanism(count(codes, sizes, (j,)), scale, ExactNoise(seed)) for j in range(2)]


# --- conditionals -------------------------------------------------------------


def conditional(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Right: noise on the joint counts, then P(x0 | x1). **Privacy:** ε."""
    noisy = np.maximum(table(codes, sizes, epsilon, noise), 0) + 0.5
    return noisy / noisy.sum(axis=0)


def noisy_conditional(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: scale 2/(nε) on P(x0 | x1) itself (PrivABN, Algorithm 4). **Privacy:** about nε."""
    counts = count(codes, sizes)
    steps = counts * GRID // np.maximum(counts.sum(axis=0), 1)
    scale = 2 * GRID / (epsilon * len(codes))
    return laplace_mechanism(steps, scale, noise.child("conditional")) / GRID


# --- selections ---------------------------------------------------------------


def score(codes: Codes, sizes: Sizes, pairs: Pairs,
          measure: Callable[[Table], float] = mutual_information) -> np.ndarray:
    """Sums over single parents of a measure of (child, parent), in steps of 2^-30.

    **Privacy:** raw scores of made-up tables.
    """
    singles = {(child, parent) for child, parents in pairs for parent in parents}
    known = {single: measure(count(codes, sizes, single)) for single in singles}
    sums = [sum(known[child, parent] for parent in parents) for child, parents in pairs]
    return np.rint(np.array(sums) * GRID).astype(np.int64)


def sensitivity(codes: Codes, sizes: Sizes, pairs: Pairs) -> int:
    """Of a sum of informations in bits: for the declared domains, times the number of terms."""
    terms = max(len(parents) for _, parents in pairs)
    return terms * max(SCORES["I"].sensitivity(len(codes), sizes[child], sizes[parent])
                       for child, parents in pairs for parent in parents)


def choose(scores: np.ndarray, delta: int, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """The exponential mechanism."""
    drawn = exponential_mechanism(Quantity(scores, "bit"), Quantity(delta, "bit"), epsilon,
                                  noise.child("pair"))
    return pairs[drawn]


def selection(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Right: mutual information, with its own sensitivity. **Privacy:** ε."""
    delta = sensitivity(codes, sizes, pairs)
    return choose(score(codes, sizes, pairs), delta, pairs, epsilon, noise)


def normalised(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: normalised mutual information with the sensitivity of mutual information.

    **Privacy:** none worth the name: the ratio of two small numbers can jump by 1.
    """

    def ratio(counts: Table) -> float:
        least = min(entropy(counts.sum(axis=0)), entropy(counts.sum(axis=1)))
        return mutual_information(counts) / least if least > 0 else 0.0

    delta = sensitivity(codes, sizes, pairs)
    return choose(score(codes, sizes, pairs, ratio), delta, pairs, epsilon, noise)


def bits_and_nats(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: score in bits, sensitivity in nats (PrivABN; hazy/dpart). **Privacy:** 1.44 ε."""
    delta = int(sensitivity(codes, sizes, pairs) * np.log(2))
    return choose(score(codes, sizes, pairs), delta, pairs, epsilon, noise)


def two_values_bound(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: the sensitivity for two values, on larger domains. **Privacy:** 1.84 ε."""
    delta = sensitivity(codes, [2] * len(sizes), pairs)
    return choose(score(codes, sizes, pairs), delta, pairs, epsilon, noise)


def one_of_k(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: a sum over k parents, the sensitivity of one (EL, SA-PrivBayes). **Privacy:** kε."""
    delta = sensitivity(codes, sizes, [(child, parents[:1]) for child, parents in pairs])
    return choose(score(codes, sizes, pairs), delta, pairs, epsilon, noise)


def raw_list(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: only the better half of the candidates by raw information takes part (PrivABN, SA).

    **Privacy:** none: who is chosen was among the better half.
    """
    scores = score(codes, sizes, pairs)
    kept = np.argsort(-scores, kind="stable")[: max(1, len(pairs) // 2)]
    delta = sensitivity(codes, sizes, pairs)
    return choose(scores[kept], delta, [pairs[i] for i in kept], epsilon, noise)


# --- orders and groups: of x0 and x1, by how they go with x2 ------------------


def associations(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Noisy integers K with x2. **Privacy:** ε: their sensitivities add up."""
    k = np.array([association(count(codes, sizes, (j, 2))) for j in (0, 1)])
    total = sum(association_sensitivity(len(codes), sizes[j], sizes[2]) for j in (0, 1))
    return laplace_mechanism(k, total / epsilon, noise.child("associations"))


def information(codes: Codes, sizes: Sizes) -> np.ndarray:
    """Mutual informations with x2, in bits. **Privacy:** none, they are raw."""
    return np.array([mutual_information(count(codes, sizes, (j, 2))) for j in (0, 1)])


def order(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Right: an order by noisy association. **Privacy:** ε."""
    return tuple(np.argsort(-associations(codes, sizes, epsilon, noise), kind="stable").tolist())


def raw_order(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Wrong: an order by raw information (HPPrivBayes Alg 3, HM Alg 4). **Privacy:** none."""
    return tuple(np.argsort(-information(codes, sizes), kind="stable").tolist())


def group(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Right: who reaches a public threshold by noisy association. **Privacy:** ε."""
    noisy = associations(codes, sizes, epsilon, noise)
    return tuple(np.flatnonzero(noisy >= len(codes) ** 2 // 4).tolist())


def raw_threshold(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Wrong: who reaches 0.1 bit by raw information (HPPrivBayes Alg 4). **Privacy:** none."""
    return tuple(np.flatnonzero(information(codes, sizes) >= 0.1).tolist())


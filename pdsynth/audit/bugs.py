"""The bug zoo: defects of papers and of public code, each planted in a small copy of the right part, beside the part as it should be.

Every function is of one of the kinds of :mod:`pdsynth.audit.zoo`. The tables are made up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

Sizes = Sequence[int]
Pairs = Sequence[tuple[int, tuple[int, ...]]]


@dataclass(frozen=True)
class Bug:
    """One inmate: its name in `trust`, where it was found, the kind of function, the right and the wrong copy, the rule it breaks."""

    name: str
    found: str
    kind: str
    right: Callable[..., Any]
    wrong: Callable[..., Any]
    code: str


def counted(codes: np.ndarray, sizes: Sizes, columns: Sequence[int]) -> np.ndarray:
    """Joint counts.

    **Privacy:** raw counts of made-up tables.
    """
    return marginal(codes, tuple(sizes), tuple(columns))


# --- one table --------------------------------------------------------------------------------------------------------------


def table(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Right: noise of scale 2/ε in every declared cell.

    **Privacy:** ε.
    """
    return laplace_mechanism(counted(codes, sizes, range(len(sizes))), 2 / epsilon, noise.child("table"))


def probability_scale(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Wrong: the scale of a probability, 2/(nε), on counts.

    **Privacy:** nε.
    """
    return laplace_mechanism(counted(codes, sizes, range(len(sizes))), 2 / (epsilon * len(codes)), noise.child("table"))


def add_remove(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Wrong: sensitivity 1, though a record is replaced.

    **Privacy:** 2ε.
    """
    return laplace_mechanism(counted(codes, sizes, range(len(sizes))), 1 / epsilon, noise.child("table"))


def default_seed(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise, seed: int = 0) -> np.ndarray:
    """Wrong: a public default seed.

    **Privacy:** none: everybody can subtract the noise.
    """
    return laplace_mechanism(counted(codes, sizes, range(len(sizes))), 2 / epsilon, ExactNoise(seed))


def raw_scale(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Wrong: value weights from raw frequencies set the scale of each row (HPPrivBayes, Algorithm 6).

    **Privacy:** none: the scales tell the frequencies.
    """
    weights = np.maximum(sensitivity_weights(counted(codes, sizes, (0,))), 1e-3)
    scales = tuple(2 / (Q(float(w)).limit_denominator(10**6) * epsilon) for w in weights)
    return laplace_mechanism(counted(codes, sizes, range(len(sizes))), scales, noise.child("table"))


def seen_cells(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Wrong: cells without records stay zero.

    **Privacy:** none: a cell with noise has a record.
    """
    counts = counted(codes, sizes, range(len(sizes)))
    return np.where(counts > 0, laplace_mechanism(counts, 2 / epsilon, noise.child("table")), 0)


def own_domain(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Wrong: the domain is what occurs.

    **Privacy:** none: the shape tells the largest values.
    """
    return table(codes, tuple(int(top) + 1 for top in codes.max(axis=0)), epsilon, noise)


def shared_number(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Wrong: one noise number a row (thesis code, group A).

    **Privacy:** none: differences inside a row are exact.
    """
    counts = counted(codes, sizes, range(len(sizes)))
    return counts + noise.child("table").discrete_laplace(np.array([2 / epsilon], dtype=object), (len(counts), 1))


# --- several tables -----------------------------------------------------------------------------------------------------------


def histograms(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> list[np.ndarray]:
    """Right: d histograms that share ε.

    **Privacy:** ε.
    """
    d = len(sizes)
    return [laplace_mechanism(counted(codes, sizes, (j,)), 2 * d / epsilon, noise.child(f"x{j}")) for j in range(d)]


def on_top(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> list[np.ndarray]:
    """Wrong: the tables have used ε up, and histograms with ε come on top (DataSynthesizer's correlated mode).

    **Privacy:** 3ε.
    """
    return [*histograms(codes, sizes, epsilon, noise), *histograms(codes, sizes, 2 * epsilon, noise)]


def over_columns(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> list[np.ndarray]:
    """Wrong: "disjoint" columns in parallel, ε for each (HMPrivBayes, Theorem 3).

    **Privacy:** dε.
    """
    return [laplace_mechanism(counted(codes, sizes, (j,)), 2 / epsilon, noise.child(f"x{j}")) for j in range(len(sizes))]


def every_cluster(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> list[np.ndarray]:
    """Wrong: each of three clusters of attributes has the whole ε (HMPrivBayes, Algorithms 3 and 4).

    **Privacy:** 3ε.
    """
    clusters = [range(c, len(sizes), 3) for c in range(3)]
    return [laplace_mechanism(counted(codes, sizes, (j,)), 2 * len(c) / epsilon, noise.child(f"x{j}")) for c in clusters for j in c]


def paid_for_less(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> list[np.ndarray]:
    """Wrong: d tables have noise, d−k are paid for, here k = 4 (HPPrivBayes, Algorithms 5 and 6).

    **Privacy:** d/(d−k) times ε.
    """
    paid = len(sizes) - 4
    return [laplace_mechanism(counted(codes, sizes, (j,)), 2 * paid / epsilon, noise.child(f"x{j}")) for j in range(len(sizes))]


def raw_facts(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Any]:
    """Wrong: share of missing values (the largest code), least and largest value are described exactly (DataSynthesizer).

    **Privacy:** none.
    """
    missing = (codes == np.array(sizes) - 1).mean()
    return [*histograms(codes, sizes, epsilon, noise), missing, codes.min(axis=0), codes.max(axis=0)]


def seeded_again(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> list[np.ndarray]:
    """Wrong: every table starts the same stream again, so that noise cancels in differences.

    **Privacy:** none: two tables minus each other are exact.
    """
    d, seed = len(sizes), noise.below(2**40)
    return [laplace_mechanism(counted(codes, sizes, (j,)), 2 * d / epsilon, ExactNoise(seed)) for j in range(2)]


# --- conditionals -------------------------------------------------------------------------------------------------------------


def conditional(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Right: noise on the joint counts, then P(x0 | x1).

    **Privacy:** ε.
    """
    noisy = np.maximum(table(codes, sizes, epsilon, noise), 0) + 0.5
    return noisy / noisy.sum(axis=0)


def noisy_conditional(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Wrong: noise of scale 2/(nε) on P(x0 | x1) itself (PrivABN, Algorithm 4).

    **Privacy:** about nε.
    """
    counts = counted(codes, sizes, (0, 1))
    steps = counts * GRID // np.maximum(counts.sum(axis=0), 1)
    return laplace_mechanism(steps, 2 * GRID / (epsilon * len(codes)), noise.child("conditional")) / GRID


# --- selections ---------------------------------------------------------------------------------------------------------------


def scored(score: Callable[[np.ndarray], float], codes: np.ndarray, sizes: Sizes, pairs: Pairs) -> np.ndarray:
    """Sums over single parents of a score of (child, parent), in steps of 2^-30.

    **Privacy:** raw scores of made-up tables.
    """
    known: dict[tuple[int, int], float] = {}
    for child, parents in pairs:
        for parent in parents:
            if (child, parent) not in known:
                known[child, parent] = score(counted(codes, sizes, (child, parent)))
    return np.rint(np.array([sum(known[c, p] for p in parents) for c, parents in pairs]) * GRID).astype(np.int64)


def sensitivity(codes: np.ndarray, sizes: Sizes, pairs: Pairs) -> int:
    """Of a sum of mutual informations in bits: for the declared domains, times the number of terms."""
    terms = max(len(parents) for _, parents in pairs)
    return terms * max(SCORES["I"].sensitivity(len(codes), sizes[c], sizes[p]) for c, parents in pairs for p in parents)


def choose(scores: np.ndarray, delta: int, pairs: Pairs, epsilon: Q, noise: Noise) -> tuple[int, tuple[int, ...]]:
    """The exponential mechanism."""
    return pairs[exponential_mechanism(Quantity(scores, "bit"), Quantity(delta, "bit"), epsilon, noise.child("pair"))]


def selection(codes: np.ndarray, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Any:
    """Right: mutual information, with its own sensitivity.

    **Privacy:** ε.
    """
    return choose(scored(mutual_information, codes, sizes, pairs), sensitivity(codes, sizes, pairs), pairs, epsilon, noise)


def normalised(codes: np.ndarray, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Any:
    """Wrong: normalised mutual information with the sensitivity of mutual information.

    **Privacy:** none worth the name: the ratio of two small numbers can jump by 1.
    """

    def ratio(counts: np.ndarray) -> float:
        least = min(entropy(counts.sum(axis=0)), entropy(counts.sum(axis=1)))
        return mutual_information(counts) / least if least > 0 else 0.0

    return choose(scored(ratio, codes, sizes, pairs), sensitivity(codes, sizes, pairs), pairs, epsilon, noise)


def bits_and_nats(codes: np.ndarray, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Any:
    """Wrong: the score in bits, its sensitivity in nats (PrivABN; hazy/dpart).

    **Privacy:** 1.44 ε.
    """
    nats = int(sensitivity(codes, sizes, pairs) * np.log(2))
    return choose(scored(mutual_information, codes, sizes, pairs), nats, pairs, epsilon, noise)


def two_values_bound(codes: np.ndarray, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Any:
    """Wrong: the sensitivity for two values, on larger domains.

    **Privacy:** 1.84 ε.
    """
    return choose(scored(mutual_information, codes, sizes, pairs), sensitivity(codes, [2] * len(sizes), pairs), pairs, epsilon, noise)


def one_of_k(codes: np.ndarray, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Any:
    """Wrong: a sum over k parents with the sensitivity of one (ELPrivBayes, SA-PrivBayes).

    **Privacy:** kε.
    """
    delta = sensitivity(codes, sizes, [(c, parents[:1]) for c, parents in pairs])
    return choose(scored(mutual_information, codes, sizes, pairs), delta, pairs, epsilon, noise)


def raw_list(codes: np.ndarray, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Any:
    """Wrong: only the better half of the candidates by raw mutual information takes part (PrivABN, SA-PrivBayes).

    **Privacy:** none: who is chosen was among the better half.
    """
    scores = scored(mutual_information, codes, sizes, pairs)
    kept = np.argsort(-scores, kind="stable")[: max(1, len(pairs) // 2)]
    return choose(scores[kept], sensitivity(codes, sizes, pairs), [pairs[i] for i in kept], epsilon, noise)


# --- orders and groups ----------------------------------------------------------------------------------------------------------


def associations(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Noisy integers K of x2 with each other attribute.

    **Privacy:** ε: their sensitivities add up.
    """
    k = np.array([association(counted(codes, sizes, (j, 2))) for j in range(len(sizes)) if j != 2])
    total = sum(association_sensitivity(len(codes), sizes[j], sizes[2]) for j in range(len(sizes)) if j != 2)
    return laplace_mechanism(k, total / epsilon, noise.child("associations"))


def information(codes: np.ndarray, sizes: Sizes) -> np.ndarray:
    """Raw mutual informations with x2, in bits.

    **Privacy:** none.
    """
    return np.array([mutual_information(counted(codes, sizes, (j, 2))) for j in range(len(sizes)) if j != 2])


def order(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Right: an order by noisy association.

    **Privacy:** ε.
    """
    return tuple(np.argsort(-associations(codes, sizes, epsilon, noise), kind="stable").tolist())


def raw_order(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Wrong: order and root by raw mutual information (HPPrivBayes, Algorithm 3; HMPrivBayes, Algorithm 4).

    **Privacy:** none.
    """
    return tuple(np.argsort(-information(codes, sizes), kind="stable").tolist())


def group(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Right: the attributes whose noisy association reaches a public threshold.

    **Privacy:** ε.
    """
    return tuple(np.flatnonzero(associations(codes, sizes, epsilon, noise) >= len(codes) ** 2 // 4).tolist())


def raw_threshold(codes: np.ndarray, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Wrong: the attributes whose raw mutual information reaches 0.1 bit (HPPrivBayes, Algorithm 4).

    **Privacy:** none.
    """
    return tuple(np.flatnonzero(information(codes, sizes) >= 0.1).tolist())


DATASYNTHESIZER = "DataSynthesizer"
ZOO = (
    Bug("counts noised with a probability's scale", "public code", "table", table, probability_scale, "L3"),
    Bug("marginals published on top of the budget", DATASYNTHESIZER, "tables", histograms, on_top, "L6"),
    Bug("a re-seeded stream that lets noise cancel", "public code", "tables", histograms, seeded_again, "L10"),
    Bug("a public default seed", DATASYNTHESIZER, "table", table, default_seed, "L10"),
    Bug("normalised MI with MI's sensitivity", "public code", "selection", selection, normalised, "L4"),
    Bug("score in bits, sensitivity in nats", "PrivABN; hazy/dpart", "selection", selection, bits_and_nats, "L4"),
    Bug("binary sensitivity on larger domains", "thesis", "selection", selection, two_values_bound, "L4"),
    Bug("a raw-MI threshold", "HPPrivBayes Alg 4", "choice", group, raw_threshold, "L1"),
    Bug("a raw-MI candidate list", "PrivABN Alg 3; SA-PrivBayes", "selection", selection, raw_list, "L4"),
    Bug("noise on a conditional", "PrivABN Alg 4", "conditional", conditional, noisy_conditional, "L3 conditional"),
    Bug("parallel composition over columns", "HMPrivBayes Theorem 3", "tables", histograms, over_columns, "L6"),
    Bug("a budget reused per cluster", "HMPrivBayes Algs 3, 4", "tables", histograms, every_cluster, "L6"),
    Bug("a noise scale computed from raw data", "HPPrivBayes Alg 6", "table", table, raw_scale, "L5"),
    Bug("unseen cells left without noise", "public code", "table", table, seen_cells, "L9"),
    Bug("domain from data", "DataSynthesizer; Reprosyn", "table", table, own_domain, "L9"),
    Bug("exact missing rate, n, min, max published", DATASYNTHESIZER, "tables", histograms, raw_facts, "L1"),
    Bug("sensitivity 1 with replace-one neighbours", DATASYNTHESIZER, "table", table, add_remove, "L3"),
    Bug("a data-dependent root or order", "HPPrivBayes Alg 3", "choice", order, raw_order, "L1"),
    Bug("d tables noised while paying for d−k", "HPPrivBayes Algs 5, 6", "tables", histograms, paid_for_less, "L6"),
    Bug("one noise number shared by a row", "thesis code", "table", table, shared_number, "L3 independent"),
    Bug("sum-of-k score with the sensitivity of one", "ELPrivBayes; SA-PrivBayes", "selection", selection, one_of_k, "L4"),
)

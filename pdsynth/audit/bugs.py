"""The bug zoo: defects of papers and of public code, each beside the part as it should be.

Each function is of a kind of :mod:`pdsynth.audit.zoo`; ``zoo.toml`` says where a defect was found
and which rule it breaks. The tables are made up.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction as Q
from functools import reduce
from typing import Any

import numpy as np

from ..baselines import Independent
from ..concentrated import DiscreteGaussian, rho_of, round_root
from ..core import (
    GRID,
    SCORES,
    Attribute,
    ExactNoise,
    Noise,
    Quantity,
    Records,
    Schema,
    association,
    association_sensitivity,
    entropy,
    exponential_mechanism,
    laplace_mechanism,
    marginal,
    mutual_information,
    zero_sum_mechanism,
)
from ..published.budgets import sensitivity_weights

Codes = np.ndarray  # (n, d)
Table = np.ndarray
Sizes = Sequence[int]
Pair = tuple[int, tuple[int, ...]]  # child, parents
Pairs = Sequence[Pair]
DELTA = Q(1, 10**9)


def count(codes: Codes, sizes: Sizes, columns: Sequence[int] | None = None) -> Table:
    """Joint counts of some columns, or of all. **Privacy:** raw counts of made-up tables."""
    return marginal(codes, tuple(sizes), tuple(range(len(sizes)) if columns is None else columns))


# --- one table ------------------------------------------------------------------


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
    return table(codes, sizes, epsilon, ExactNoise(seed))


def raw_scale(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: raw frequencies set the scale of each row. **Privacy:** none: the scales tell them."""
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
    """Wrong: one number per row. **Privacy:** none: differences inside a row are exact."""
    counts, scale = count(codes, sizes), np.array([2 / epsilon], dtype=object)
    return counts + noise.child("table").discrete_laplace(scale, (len(counts), 1))


def zero_sum(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Right: noise of sum 0 and scale 2/ε, where a record is replaced. **Privacy:** ε."""
    return zero_sum_mechanism(count(codes, sizes), 2 / epsilon, noise.child("table"))


def added_table(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Right: noise of scale 1/ε in every declared cell, where a record is added.

    **Privacy:** ε.
    """
    return laplace_mechanism(count(codes, sizes), 1 / epsilon, noise.child("table"))


def added_zero_sum(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: noise of sum 0, though n is secret. **Privacy:** none: the table's sum is n."""
    return zero_sum_mechanism(count(codes, sizes), 1 / epsilon, noise.child("table"))


# --- several tables -------------------------------------------------------------


def histogram(codes: Codes, sizes: Sizes, j: int, scale: Q, noise: Noise) -> Table:
    """Counts of one column. **Privacy:** 2 ÷ scale."""
    return laplace_mechanism(count(codes, sizes, (j,)), scale, noise.child(f"x{j}"))


def histograms(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Right: d histograms that share ε. **Privacy:** ε."""
    d = len(sizes)
    return [histogram(codes, sizes, j, 2 * d / epsilon, noise) for j in range(d)]


def on_top(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: the tables have used ε up, and more histograms come on top. **Privacy:** 3ε."""
    first = histograms(codes, sizes, epsilon, noise)
    return first + histograms(codes, sizes, 2 * epsilon, noise)


def over_columns(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: "disjoint" columns in parallel, ε for each. **Privacy:** dε."""
    return [histogram(codes, sizes, j, 2 / epsilon, noise) for j in range(len(sizes))]


def every_cluster(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: each of three clusters of attributes has the whole ε. **Privacy:** 3ε."""
    clusters = [range(c, len(sizes), 3) for c in range(3)]
    return [histogram(codes, sizes, j, 2 * len(c) / epsilon, noise) for c in clusters for j in c]


def paid_for_less(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: d tables have noise, d−4 are paid for. **Privacy:** d/(d−4) times ε."""
    d = len(sizes)
    return [histogram(codes, sizes, j, 2 * (d - 4) / epsilon, noise) for j in range(d)]


def raw_facts(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Any]:
    """Wrong: exact share of missing values (the largest code), least and largest value.

    **Privacy:** none.
    """
    missing = (codes == np.array(sizes) - 1).mean()
    facts = [missing, codes.min(axis=0), codes.max(axis=0)]
    return histograms(codes, sizes, epsilon, noise) + facts


def seeded_again(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: each table starts the same stream. **Privacy:** none: table differences are exact."""
    scale, seed = 2 * len(sizes) / epsilon, noise.below(2**40)
    return [laplace_mechanism(count(codes, sizes, (j,)), scale, ExactNoise(seed)) for j in range(2)]


# --- conditionals ---------------------------------------------------------------


def conditional(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Right: noise on the joint counts, then P(x0 | x1). **Privacy:** ε."""
    noisy = np.maximum(table(codes, sizes, epsilon, noise), 0) + 0.5
    return noisy / noisy.sum(axis=0)


def noisy_conditional(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: noise of scale 2/(nε) on P(x0 | x1) itself. **Privacy:** about nε."""
    counts = count(codes, sizes)
    steps = counts * GRID // np.maximum(counts.sum(axis=0), 1)
    scale = 2 * GRID / (epsilon * len(codes))
    return laplace_mechanism(steps, scale, noise.child("conditional")) / GRID


# --- selections -----------------------------------------------------------------


def score(
    codes: Codes, sizes: Sizes, pairs: Pairs, measure: Callable[[Table], float] = mutual_information
) -> np.ndarray:
    """Sums over single parents of a measure of (child, parent), in steps of 2^-30.

    **Privacy:** raw scores of made-up tables.
    """
    singles = {(child, parent) for child, parents in pairs for parent in parents}
    values = {single: measure(count(codes, sizes, single)) for single in singles}
    sums = [sum(values[child, parent] for parent in parents) for child, parents in pairs]
    return np.rint(np.array(sums) * GRID).astype(np.int64)


def sensitivity(codes: Codes, sizes: Sizes, pairs: Pairs) -> int:
    """Of a sum of informations in bits: for the declared domains, times the number of terms."""
    one, n = SCORES["I"].sensitivity, len(codes)
    terms = max(len(parents) for _, parents in pairs)
    return terms * max(one(n, sizes[child], sizes[p]) for child, parents in pairs for p in parents)


def selection(
    codes: Codes,
    sizes: Sizes,
    pairs: Pairs,
    epsilon: Q,
    noise: Noise,
    measure: Callable[[Table], float] = mutual_information,
    delta: int | None = None,
) -> Pair:
    """Right: mutual information, with its own sensitivity. **Privacy:** ε."""
    scores = Quantity(score(codes, sizes, pairs, measure), "bit")
    limit = Quantity(sensitivity(codes, sizes, pairs) if delta is None else delta, "bit")
    return pairs[exponential_mechanism(scores, limit, epsilon, noise.child("pair"))]


def normalised(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: normalised mutual information with the sensitivity of mutual information.

    **Privacy:** none worth the name: the ratio of two small numbers can jump by 1.
    """

    def ratio(counts: Table) -> float:
        least = min(entropy(counts.sum(axis=axis)) for axis in (0, 1))
        return mutual_information(counts) / least if least > 0 else 0.0

    return selection(codes, sizes, pairs, epsilon, noise, ratio)


def bits_and_nats(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: the score in bits, its sensitivity in nats. **Privacy:** 1.44 ε."""
    nats = int(sensitivity(codes, sizes, pairs) * np.log(2))
    return selection(codes, sizes, pairs, epsilon, noise, delta=nats)


def two_values_bound(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: the sensitivity for two values, on larger domains. **Privacy:** 1.84 ε."""
    delta = sensitivity(codes, [2] * len(sizes), pairs)
    return selection(codes, sizes, pairs, epsilon, noise, delta=delta)


def one_of_k(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: a sum over k parents with the sensitivity of one. **Privacy:** kε."""
    delta = sensitivity(codes, sizes, [(child, parents[:1]) for child, parents in pairs])
    return selection(codes, sizes, pairs, epsilon, noise, delta=delta)


def raw_list(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: only the better half of the candidates by raw mutual information takes part.

    **Privacy:** none: who is chosen was among the better half.
    """
    ranked = np.argsort(-score(codes, sizes, pairs), kind="stable")
    half = [pairs[i] for i in ranked[: max(1, len(pairs) // 2)]]
    return selection(codes, sizes, half, epsilon, noise, delta=sensitivity(codes, sizes, pairs))


def residual(
    codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise, raw: bool = False
) -> Pair:
    """Right: records that differ from what releases expect, here all values alike. **Privacy:** ε.

    A replaced record moves two cells of the counts by one each, and no cell of a release.
    """

    def differ(columns: tuple[int, ...]) -> int:
        counts = count(codes, sizes, columns)
        alone = [count(codes, sizes, (j,)) / len(codes) for j in columns]
        share = reduce(np.multiply.outer, alone) if raw else 1 / counts.size
        return int(np.abs(counts - np.rint(len(codes) * share)).sum())

    scores = Quantity(np.array([differ((child, *parents)) for child, parents in pairs]), "records")
    return pairs[exponential_mechanism(scores, Quantity(2, "records"), epsilon, noise.child("p"))]


def raw_residual(codes: Codes, sizes: Sizes, pairs: Pairs, epsilon: Q, noise: Noise) -> Pair:
    """Wrong: raw one-way tables expect, and go with the record. **Privacy:** 2ε: it moves by 4."""
    return residual(codes, sizes, pairs, epsilon, noise, raw=True)


# --- orders and groups of x0 and x1, by how they go with x2 -----------------------


def associations(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> np.ndarray:
    """Noisy integers K with x2. **Privacy:** ε: their sensitivities add up."""
    n = len(codes)
    k = np.array([association(count(codes, sizes, (j, 2))) for j in (0, 1)])
    total = sum(association_sensitivity(n, sizes[j], sizes[2]) for j in (0, 1))
    return laplace_mechanism(k, total / epsilon, noise.child("associations"))


def information(codes: Codes, sizes: Sizes) -> np.ndarray:
    """Mutual informations with x2, in bits. **Privacy:** none, they are raw."""
    return np.array([mutual_information(count(codes, sizes, (j, 2))) for j in (0, 1)])


def order(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Right: an order by noisy association. **Privacy:** ε."""
    return tuple(np.argsort(-associations(codes, sizes, epsilon, noise), kind="stable").tolist())


def raw_order(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Wrong: order and root by raw mutual information. **Privacy:** none."""
    return tuple(np.argsort(-information(codes, sizes), kind="stable").tolist())


def group(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Right: whose noisy association reaches a public threshold. **Privacy:** ε."""
    noisy = associations(codes, sizes, epsilon, noise)
    return tuple(np.flatnonzero(noisy >= len(codes) ** 2 // 4).tolist())


def raw_threshold(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> tuple[int, ...]:
    """Wrong: whose raw mutual information reaches 0.1 bit. **Privacy:** none."""
    return tuple(np.flatnonzero(information(codes, sizes) >= 0.1).tolist())


# --- with δ = 1e-9, in zCDP ---------------------------------------------------------


def gaussian_tables(
    codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise, times: int = 1
) -> list[Table]:
    """Right: two histograms that share ρ, σ² = 2/ρ. **Privacy:** (ε, δ), not pure ε."""
    law = DiscreteGaussian(2 / (times * rho_of(epsilon, DELTA)))
    streams = [noise.child(f"x{j}") for j in (0, 1)]
    return [s.add_law(count(codes, sizes, (j,)), law) for j, s in enumerate(streams)]


def delta_twice(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> list[Table]:
    """Wrong: two fits that keep (ε, δ) each, as if both together did. **Privacy:** 2ρ."""
    return gaussian_tables(codes, sizes, epsilon, noise, times=2)


def root_for_square(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> Table:
    """Wrong: σ where its square belongs. **Privacy:** √ρ, which is more than ρ."""
    root = Q(float(1 / rho_of(epsilon, DELTA)) ** 0.5).limit_denominator(10**6)
    return noise.child("x0").add_law(count(codes, sizes, (0,)), DiscreteGaussian(root))


def eighth(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise, times: int = 1) -> int:
    """Right: a choice of which ρ = e²/8, e its exponent. **Privacy:** (ε, δ), not pure ε.

    The first scores how far its counts are from equal ones, the second how near: a replaced record
    moves either by 2 at most, also away from each other.
    """
    exponent = times * round_root(8 * rho_of(epsilon, DELTA))
    tables = [count(codes, sizes, (j,)) for j in (0, 1)]
    far, near = (int(np.abs(t - len(codes) // t.size).sum()) for t in tables)
    one = Quantity(np.array([far, 2 - near]), "records"), Quantity(2, "records")
    return exponential_mechanism(*one, exponent, noise.child("column"))


def half_for_eighth(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> int:
    """Wrong: the exponent of e²/2 where e²/8 is charged. **Privacy:** up to 4ρ."""
    return eighth(codes, sizes, epsilon, noise, times=2)


# --- files ------------------------------------------------------------------------


def model_file(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> dict[str, Any]:
    """Right: the file of a fit, whose ledger pays for every table. **Privacy:** ε."""
    schema = Schema(tuple(Attribute.categorical(f"x{j}", range(s)) for j, s in enumerate(sizes)))
    return Independent(float(epsilon)).fit(Records(codes, schema), noise=noise).model_.to_dict()


def forged_file(codes: Codes, sizes: Sizes, epsilon: Q, noise: Noise) -> dict[str, Any]:
    """Wrong: raw counts in the tables, the ledger's lines deleted, its verdict written by hand.

    **Privacy:** none, though what is left of the ledger says 0 of ε.
    """
    data = model_file(codes, sizes, epsilon, noise)
    data["tables"] = [count(codes, sizes, (j,)).tolist() for j in range(len(sizes))]
    ledger = {**data["ledger"], "entries": [], "notes": []}
    verdict = f"Pure ε-differential privacy (replace one record): ε = 0 of {epsilon}."
    return {**data, "private": True, "verdict": verdict, "sources": [], "ledger": ledger}

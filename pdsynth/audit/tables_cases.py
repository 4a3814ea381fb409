"""Cases of noisy tables: what papers print about noise on counts, conditionals, rows and groups."""

from __future__ import annotations

from fractions import Fraction as Q
from typing import Any

import numpy as np

from ..budgets import uniform
from ..conditionals import noisy_tables
from ..curator import Curator
from ..mechanisms import Noise
from ..network import Network
from ..synthesizers.privabn import printed_scale
from .case import NOT_REFUTED, Case, Sampled
from .estimator import quantise
from .tables import Pair, zeros_to_ones

NLTCS, NLTCS_BITS = 21_574, 16  # records and attributes of PrivABN's first table


def alone(d: int) -> Network:
    """A public network without edges: one table an attribute."""
    return Network(tuple((f"x{j}", ()) for j in range(d)))


def lone_record() -> Pair:
    """One record alone in the parent configuration x0 = 1; it changes its x1."""
    before = np.zeros((NLTCS, 2), dtype=np.uint8)
    before[-1] = 1
    after = before.copy()
    after[-1, 1] = 0
    return Pair(before, after, (2, 2), "the only record with x0 = 1 changes from x1 = 1 to x1 = 0")


# --- PrivABN --------------------------------------------------------------------------------------------------------------


def printed_conditional(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """One noisy column of Algorithm 4 as PrivABN would release it among 16: (…, 2, 2) in steps of 2^-30.

    **Privacy:** none worth the name, as the case shows.
    """
    scale = printed_scale(NLTCS_BITS, door.n, epsilon / 2)
    return door.conditionals((1, 0), scale, step="conditional(x1 | x0)", source="PrivABN Alg 4 line 5", claimed=epsilon / 2 / NLTCS_BITS)[1]


def chance_of_one(released: np.ndarray, pair: Pair) -> np.ndarray:
    """P*[x1 = 1 | x0 = 1] after clipping and normalising, in 2^-20."""
    kept = np.maximum(released[..., 1], 0).astype(float)
    whole = kept.sum(axis=-1)
    return quantise(np.where(whole > 0, kept[..., 1] / np.where(whole > 0, whole, 1), 0.5), 2.0**-20)


def joint_instead(door: Curator, noise: Noise, epsilon: Q) -> list[np.ndarray]:
    """The strict form: the joint counts of the same pair with the noise of one table among 16.

    **Privacy:** ε/2/16 by L1 sensitivity 2.
    """
    b = uniform(NLTCS_BITS, epsilon / 2)
    return [door.table((1, 0), b.scale, step="table(x1 | x0)", source="algorithms §6.4", claimed=b.claimed)]


def synthetic_rows(door: Curator, noise: Noise, epsilon: Q) -> np.ndarray:
    """PrivABN's synthetic table of two attributes, by its cell counts: (…, 2) numbers of rows (1, 0) and (1, 1).

    **Privacy:** post-processing of what Algorithm 4 releases, which is hardly private.
    """
    scale = printed_scale(NLTCS_BITS, door.n, epsilon / 2)
    root = door.conditionals((0,), scale, step="conditional(x0)", source="PrivABN Alg 4 line 5", claimed=epsilon / 2 / NLTCS_BITS)[1]
    chance = chance_of_one(np.concatenate([root, root], axis=-1), lone_record()) / 2**20
    given = chance_of_one(printed_conditional(door, noise, epsilon), lone_record()) / 2**20
    rng = np.random.default_rng(np.abs(root).ravel()[:64])  # the sampler's stream only has to differ from run to run
    ones = rng.binomial(door.n, np.clip(chance, 0, 1))
    both = rng.binomial(ones, np.clip(given, 0, 1))
    return np.stack([ones - both, both], axis=-1)


def lopsided(released: np.ndarray, pair: Pair) -> np.ndarray:
    """(#11 − #10)/√#1., in quarters: in how many standard deviations the synthetic rows with x0 = 1 prefer x1 = 1."""
    ten, eleven = released[..., 0], released[..., 1]
    return quantise((eleven - ten) / np.sqrt(np.maximum(ten + eleven, 1)), 0.25)


# --- whole tables ---------------------------------------------------------------------------------------------------------


def seven_tables(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """Seven one-way tables that share ε.

    **Privacy:** ε.
    """
    return noisy_tables(door, alone(7), dict.fromkeys(door.schema.names, uniform(7, epsilon)))


CASES = [
    Case("privabn-conditional-noise",
         "Laplace noise of 2m/(n ε₂) on a conditional distribution; a lone record changes it by 2, not 2/n",
         "PrivABN Alg 4 line 5", lone_record, Sampled(printed_conditional, chance_of_one), Q(1, 20),
         lambda e: NLTCS * float(e) / 2 / NLTCS_BITS, twin="strict-joint-counts"),
    Case("privabn-black-box", "the same, seen through synthetic rows alone", "PrivABN Alg 4", lone_record,
         Sampled(synthetic_rows, lopsided), Q(1, 20), lambda e: NLTCS * float(e) / 2 / NLTCS_BITS, tier="T0", twin="strict-joint-counts"),
    Case("strict-joint-counts", "joint counts of the same pair, conditioned afterwards", "algorithms §6.4", lone_record,
         Sampled(joint_instead), Q(1, 20), lambda e: float(e) / 2 / NLTCS_BITS, NOT_REFUTED, "strict"),
    Case("strict-seven-tables", "seven noisy tables that share ε", "PrivBayes Alg 2 line 4", lambda: zeros_to_ones(7),
         Sampled(seven_tables), Q(1), float, NOT_REFUTED, "strict"),
]  # fmt: skip

"""Cases of structure learning: orders, candidate lists, scores and their sensitivities. Their laws are finite, so they are exact."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction as Q
from functools import cache
from typing import Any

import numpy as np

from ..measures import GRID, SCORES, entropy_sensitivity, mutual_information_sensitivity
from ..network import Network
from ..privacy.curator import Candidates, Curator
from ..privacy.mechanisms import Noise
from ..structure.adaptive import abn_published, abn_strict, printed_sensitivity
from ..synthesizers import GeneticBayes
from ..synthesizers.parts import Ordered, PairwiseSums, SpanningTree
from .case import Case, OneSelection, Release, SameTwice, Sampled, WholeLaw, sound, times
from .tables import Pair, zeros_to_ones

CHILDREN, PARENTS = 9, 40  # of the pairs that lose what one pair gains
ELP_PARENTS = 30
GENERAL = mutual_information_sensitivity(2001, 3, 3) / entropy_sensitivity(2001)  # S_gen over S_bin


# --- pairs of tables -------------------------------------------------------------------------------------------------------


@cache
def straddle() -> Pair:
    """x0 and x1 follow x2 but for 99 and 100 records, 90 of them in common; one record makes it 100 and 99."""
    before = np.repeat(np.arange(1001)[:, None] % 2, 3, axis=1).astype(np.uint8)
    before[1:100, 0] ^= 1
    before[10:110, 1] ^= 1
    after = before.copy()
    after[105, :2] ^= 1
    return Pair(before, after, (2, 2, 2), "x0 agrees with x2 in one record more than x1 does → in one record less")


@cache
def straddle_in_order() -> Pair:
    """The same with a copy of x0, which keeps the order of all attributes by their associations."""
    first = straddle()
    before, after = (np.column_stack([t, t[:, 0]]) for t in (first.before, first.after))
    return Pair(before, after, (2,) * 4, first.words)


@cache
def lone_ones(n: int = 1000) -> Pair:
    """Attributes A, B gain a joint lone 1 in the record in which C₁ … C₉ and D₁ … D₄₀ lose theirs: every pair moves by S_bin."""
    before = np.zeros((n, 2 + CHILDREN + PARENTS), dtype=np.uint8)
    after = before.copy()
    before[-1, 2:], after[-1, :2] = 1, 1
    return Pair(before, after, (2,) * before.shape[1], f"x0 and x1 gain a joint lone 1, the other {before.shape[1] - 2} lose theirs")


@cache
def three_values(n: int = 2001) -> Pair:
    """The same with three values: (1, 2) and (2, 1) in halves; one record goes from (2, 2) to (0, 0) in x0, x1 and back in the others."""
    half = np.arange(n - 1) % 2
    before = np.zeros((n, 2 + CHILDREN + PARENTS), dtype=np.uint8)
    child = [0, *range(2, 2 + CHILDREN)]
    for j in range(before.shape[1]):
        before[:-1, j] = 1 + half if j in child else 2 - half
    after = before.copy()
    before[-1, :2], after[-1, 2:] = 2, 2
    return Pair(before, after, (3,) * before.shape[1], "one record goes from (2, 2) to (0, 0) in x0 and x1, and back in all other pairs")


def parents_together(k: int) -> Callable[[], Pair]:
    """x0 is rare; k attributes that follow it except in one record are righted there, while ``ELP_PARENTS`` others go wrong."""

    @cache
    def make() -> Pair:
        rare = np.arange(10_001) >= 9951
        before = np.repeat(rare[:, None], 1 + k + ELP_PARENTS, axis=1).astype(np.uint8)
        after = before.copy()
        before[-1, 1 : k + 1], after[-1, k + 1 :] = 0, 0
        return Pair(before, after, (2,) * before.shape[1], f"x0's {k} parents x1 … x{k} agree in one record more, the others in one less")

    return make


# --- selections ------------------------------------------------------------------------------------------------------------


def all_pairs() -> Candidates:
    """Every child among A, C₁ … C₉ with every parent among B, D₁ … D₄₀."""
    children, parents = [0, *range(2, 2 + CHILDREN)], [1, *range(2 + CHILDREN, 2 + CHILDREN + PARENTS)]
    grid = np.array(list(itertools.product(children, parents)))
    return Candidates(((grid[:, 0], grid[:, 1:]),))


def one_pair(printed: Callable[[int], int] | None) -> OneSelection:
    """An exponential mechanism over :func:`all_pairs` with mutual information in bits; ``printed(n)`` stands in for its sensitivity."""

    def release(door: Curator, noise: Noise, epsilon: Q) -> Any:
        given = None if printed is None else printed(door.n)
        return door.select(all_pairs(), "I", epsilon, step="pair", source="exponential mechanism", printed_sensitivity=given)

    return OneSelection(release)


def sum_of_pairs(k: int, printed: bool) -> OneSelection:
    """The selection of x0's k parents by the sum of k mutual informations, with the sensitivity of one of them, or of k."""
    sets = np.array(list(itertools.combinations(range(1, 1 + k + ELP_PARENTS), k)))

    def release(door: Curator, noise: Noise, epsilon: Q) -> Any:
        given = int(SCORES["I"].sensitivity(door.n, 2, 2)) if printed else None
        candidates = Candidates(((np.zeros(len(sets), dtype=np.int64), sets),))
        return door.select(candidates, "I", epsilon, step="parents of x0", source="ELPrivBayes", pairwise=True, printed_sensitivity=given)

    return OneSelection(release)


def binary_bound(n: int) -> int:
    """S_bin in bits, in steps of 2^-30 bit: proved for two values."""
    return math.ceil(entropy_sensitivity(n) * GRID)


def binary_bound_in_nats(n: int) -> int:
    """S_bin with natural logarithms, for scores in bits."""
    return math.ceil(entropy_sensitivity(n) * math.log(2) * GRID)


# --- whole structures -------------------------------------------------------------------------------------------------------


def learnt(part: Any) -> Release:
    """The network that a part draws with all of ε."""
    return lambda door, noise, epsilon: part.learn(door, noise, epsilon, Q(1)).network


def grown(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """ABN's pairs as printed.

    **Privacy:** none: see :func:`pdsynth.structure.adaptive.abn_published`.
    """
    return Network.of_columns(abn_published(door, epsilon, noise), door.schema.names)


def nested_instead(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """The strict form of ABN.

    **Privacy:** at most three selections of ε/3.
    """
    return Network.of_columns(abn_strict(door, epsilon / 3, noise, most=2, tables=3, epsilon2=Q(1))[0], door.schema.names)


def searched(guarantee: str) -> Release:
    """GeneticBayes' network of at most one parent, by exact search."""

    def release(door: Curator, noise: Noise, epsilon: Q) -> Any:
        return GeneticBayes(float(epsilon), k=1, search="exact", guarantee=guarantee)._recipe(door, noise, epsilon)[0]

    return release


def noisy_averages(door: Curator, noise: Noise, epsilon: Q) -> Any:
    """The average associations that strict HPPrivBayes orders its attributes by, as the integers that carry the noise.

    **Privacy:** ε.
    """
    strength, _ = door.average_association(epsilon, step="order", source="algorithms §3.4")
    return [np.rint(strength * 2 * door.n**2 * (len(door.schema) - 1)).astype(np.int64)]


CASES = [
    Case("privabn-candidates", "candidate sets are argmaxes over the records: neighbours offer different ones",
         "PrivABN Alg 2 line 5", straddle, WholeLaw(grown), Q(1, 2), times(math.inf), twin="strict-nested-selections"),
    sound("strict-nested-selections", "all placed attributes are candidates, one parent at a time", "algorithms §6.4", straddle,
         WholeLaw(nested_instead), Q(1, 2)),
    Case("privabn-units", "the score is in bits, its sensitivity in nats", "PrivABN formulas (7) and (10)", lone_ones,
         one_pair(printed_sensitivity), Q(1), times(1 / math.log(2)), twin="strict-selection"),
    sound("strict-selection", "score and sensitivity in bits", "PrivBayes Alg 1", lone_ones, one_pair(None), Q(1)),
    Case("binary-sensitivity-on-three-values", "the bound proved for two values, used where both sides have three",
         "PrivBayes, Lemma 4.1; PrivABN formula (10)", three_values, one_pair(binary_bound), Q(1), times(GENERAL),
         twin="strict-selection-of-three-values"),
    Case("binary-sensitivity-in-nats", "the same bound in nats, for a score in bits", "hazy/dpart@af27738", three_values,
         one_pair(binary_bound_in_nats), Q(1), times(GENERAL / math.log(2)), twin="strict-selection-of-three-values"),
    sound("strict-selection-of-three-values", "the general bound where both sides have three values", "PrivBayes, Lemma 4.1", three_values,
         one_pair(None), Q(1)),
    *(Case(f"sum-of-{k}-scores", f"a sum of {k} mutual informations has the sensitivity of one", "ELPrivBayes, SA-PrivBayes (public code)",
           parents_together(k), sum_of_pairs(k, True), Q(1), times(k), twin="strict-sum-of-4-scores") for k in (2, 4)),
    sound("strict-sum-of-4-scores", "the same sum with four times the sensitivity", "algorithms §8", parents_together(4),
         sum_of_pairs(4, False), Q(1)),
    Case("hpprivbayes-order", "attributes enter by raw average mutual information: neighbours allow different networks",
         "thesis Alg 3 line 2", straddle, WholeLaw(learnt(Ordered(k=1))), Q(1), times(math.inf), twin="strict-order"),
    sound("strict-order", "the order comes from noisy average associations", "algorithms §3.4", lambda: zeros_to_ones(4, 1000),
          Sampled(noisy_averages), Q(1)),
    Case("elprivbayes-order", "the order is that of the raw row sums", "ELPrivBayes: order", straddle, WholeLaw(learnt(PairwiseSums(k=1))),
         Q(1), times(math.inf), twin="strict-sketch"),
    Case("saprivbayes-filter", "of the candidate sets only the best two thirds by raw scores stay: neighbours keep different ones",
         "SA-PrivBayes (public code)", straddle_in_order, WholeLaw(learnt(PairwiseSums(k=1, keep=2 / 3))), Q(1), times(math.inf),
         twin="strict-sketch"),
    Case("ppba-tree", "tree and candidates are functions of raw associations (reconstruction)", "PPBA abstract", straddle,
         WholeLaw(learnt(SpanningTree(k=1))), Q(1), times(math.inf), twin="strict-sketch"),
    Case("genetic-raw-search", "the network is an argmax over raw mutual information, under a knob called ε",
         "EnhancedDataSynthesizer@3e57a13; GA paper, section III", straddle, SameTwice(searched("published")), Q(1), times(math.inf),
         twin="strict-search-on-a-sketch"),
    sound("strict-search-on-a-sketch", "the same search on a noisy sketch", "algorithms §5.4", straddle,
          SameTwice(searched("strict")), Q(1)),
]  # fmt: skip

"""JTree as it prints: edges by a sparse vector test that no ε covers (from literature)."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

from ..baselines import GRAPH, CliqueTables
from ..core import Curator, Edge, Facts
from .doors import raw_door

SVT = (
    "JTree's sparse vector test, from literature: Algorithm 6 in Lyu, Su, Li (VLDB 2017), lines 4–5"
)
WHY = (
    "the number of positives has no bound, so no ε covers any number of pairs (∞-DP); composing "
    "the {0} tests of this run one by one would give {0}/2 times the claim"
)


@dataclass(frozen=True)
class PrintedCliques(CliqueTables):
    """A test of mutual information; it says no strengths, so pairs with fewer cells come first.

    **Privacy:** the test claims ε₁, but has no bound on its positives: unaccounted.
    """

    def rank(
        self, curator: Curator, pairs: list[Edge], epsilon: Fraction, facts: Facts
    ) -> list[Edge]:
        """Pairs that pass the test, fewest joint cells first.

        **Privacy:** a test of I that has no finite ε.
        """
        passed = raw_door(curator).sparse_vector_test(
            pairs,
            (self.thresholds(pairs, facts) / math.log(2)).tolist(),
            epsilon,
            step=GRAPH,
            source=SVT,
            why=WHY.format(len(pairs)),
        )
        sizes = facts.schema.sizes
        return sorted(
            itertools.compress(pairs, passed), key=lambda pair: sizes[pair[0]] * sizes[pair[1]]
        )

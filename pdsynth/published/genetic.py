"""GeneticBayes as its paper and its public tool do it: the network is raw and free.

The paper runs without ε. Its tool offers one: the tables get ε/2 at the scale (d−k)/(ε/2), which is
right for adding or removing a record only. The tool also stores histograms that cost the full ε
once more (DataSynthesizer's double spending, not the paper's), which is left out here.

How ambiguous lines are read: 1. Fitness counts valid parents only, so an early attribute loses
score, as in the paper. 2. The i' of a crossover may be i. 3. Line 7 of Initialization doesn't
exclude f_j itself: excluded. 4. One generator for everything (the public code seeds after its first
population). 5. Edges of weight 0 are left out: they add nothing to the fitness and only noise to a
table. 6. The public code turns the first k+1 attributes into a complete graph and loses C; the
paper doesn't, nor do we.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ..algorithms import PAIRS, GeneticSearch
from ..algorithms import SEARCH_STEP as STEP
from ..core import Curator, Facts, Pairs, Parts, Recipe, Shares, StructureResult, Uniform
from .budgets import PrintedBudget, tool_budget
from .doors import raw_door

TOOL = "EnhancedDataSynthesizer, lib/PrivBayes.py, laplace_noise_parameter"
RAW = (
    "the paper makes no claim of privacy; its tool searches on raw mutual information, and "
    "charges no ε for the network"
)


@dataclass(frozen=True)
class PrintedSearch(GeneticSearch):
    """A search on raw mutual information.

    **Privacy:** none: one unaccounted access; its share is left unused.
    """

    split: ClassVar[Shares] = {"associations": Fraction(1)}

    def sketch(self, curator: Curator, pairs: Pairs, shares: Shares) -> tuple[np.ndarray, str]:
        """Raw mutual information of pairs of columns, float (pairs,), and its ledger entry.

        **Privacy:** none.
        """
        return raw_door(curator).noisy_associations(
            pairs, Fraction(0), step=STEP, source=PAIRS, raw_measure="I", reason=RAW
        )

    def threshold(self, facts: Facts) -> float:
        """Raw values have no noise to take off."""
        return 0.0


@dataclass(frozen=True)
class ToolScales(Uniform):
    """The public tool's scale (d−k)/(ε/2) of a table of k parents: adding or removing a record."""

    source: str = TOOL

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, PrintedBudget]:
        """ε/2d claimed per table, whatever it costs.

        **Privacy:** reads nothing.
        """
        return {
            child: tool_budget(len(facts.schema), len(parents), facts.epsilon, self.source)
            for child, parents in learnt.network.pairs
        }


def printed_genetic(recipe: Recipe, facts: Facts, parts: Parts) -> tuple[Facts, Parts]:
    """The tool's scales; without noise they don't matter.

    **Privacy:** none: the pairwise information is raw, no finite ε holds.
    """
    budget = ToolScales() if facts.guarantee == "published" else parts.budget
    return facts, parts._replace(budget=budget)

"""PrivBayes as the thesis reprints Algorithm 2: half the noise, 1.5 ε in all.

How ambiguous lines are read: 1. Algorithm 2 has Lap(2(d−k)/(nε)) for a step with ε/2: its ε is read
as ε₂. 2. |Π| ≤ k is read as exactly min(k, i−1), without which the first k conditionals can't be
derived. 3. Equation (5) is read as the product of Pr[X_i | Π_i]; Var of Lap(λ) is 2λ², not 2λ. 4.
All information is in bits. 5. The largest useful k is taken (the public MATLAB code returns the
first that isn't), with ε₂ and the true domain.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..algorithms import PrivBayes
from ..core import Curator, Facts, Parts, Shares, StructureResult, TableBudget, Uniform
from .at_most import AtMostGreedy
from .budgets import printed_half


@dataclass(frozen=True)
class PrintedUniform(Uniform):
    """The same noise for every table; ``reading="thesis"``: the printed scale 2m/ε for ε/2.

    **Privacy:** costs what it claims; as the thesis prints it, twice that.
    """

    readings: ClassVar[tuple[str, ...]] = ("tods", "thesis")

    def allocate(
        self, curator: Curator, learnt: StructureResult, shares: Shares, facts: Facts
    ) -> Mapping[str, TableBudget]:
        """ε/m per table, or the printed scale.

        **Privacy:** reads nothing.
        """
        if self.reading == "tods":
            return super().allocate(curator, learnt, shares, facts)
        measured = learnt.network.order[learnt.derived :]
        each = printed_half(len(measured), facts.epsilon, shares["tables"], self.source)
        return dict.fromkeys(measured, each)


def printed_privbayes(recipe: PrivBayes, facts: Facts, parts: Parts) -> tuple[Facts, Parts]:
    """As ``recipe.reading`` says: half of ε for the tables (thesis), |Π| ≤ k; else TODS, score I.

    **Privacy:** TODS, bits and |Π| ≤ k, which pays for all d tables, keep their claim of ε; the
    thesis' tables have half the noise, 1.5 ε in all.
    """
    structure, *_ = parts
    if recipe.reading == "thesis":
        facts = replace(facts, epsilon2=facts.epsilon / 2)
        parts = parts._replace(budget=Uniform("thesis Alg 2 line 4", "thesis"))
    if recipe.reading == "at most k":
        parts = parts._replace(structure=AtMostGreedy(**vars(structure)))
    return facts, parts

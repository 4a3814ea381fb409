"""Parts of different papers that fit together; ``pds.Synthesizer`` takes any combination of them.

Structures learn a network, budgets split ε over its tables, conditionals say where the noise goes,
and the last kind reconciles what was measured.
"""

from typing import Any

from ..agreement import Agree, AsMeasured
from ..budgets import Geometric, Groups, RiskEntropy, SensitivityGroups, Uniform
from ..conditionals import JointCounts
from ..structure.adaptive import Adaptive
from ..structure.greedy import Greedy
from ..structure.learner import Fixed
from ..structure.ordered import Ordered
from ..structure.pairwise import PairwiseSums
from ..structure.restrictions import Restriction
from ..structure.searching import GeneticSearch
from ..structure.tree import SpanningTree
from .consistent import ResidualForest, ResidualRounds

__all__ = [
    "Adaptive",
    "Agree",
    "AsMeasured",
    "ConditionalNoise",  # noqa: F822 - see __getattr__
    "Fixed",
    "GeneticSearch",
    "Geometric",
    "Greedy",
    "Groups",
    "JointCounts",
    "Ordered",
    "PairwiseSums",
    "ResidualForest",
    "ResidualRounds",
    "Restriction",
    "RiskEntropy",
    "SensitivityGroups",
    "SpanningTree",
    "Uniform",
]


def __getattr__(name: str) -> Any:
    """The part that isn't private is loaded when it is asked for."""
    if name == "ConditionalNoise":
        from ..published import ConditionalNoise  # noqa: PLC0415

        return ConditionalNoise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

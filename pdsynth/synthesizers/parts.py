"""Parts of different papers that fit together; ``pds.Synthesizer`` takes any combination of them.

Structures learn a network, budgets split ε over its tables, conditionals say where the noise goes,
and the last kind reconciles what was measured.
"""

from ..agreement import Agree, AsMeasured
from ..budgets import Geometric, Groups, RiskEntropy, SensitivityGroups, Uniform
from ..conditionals import ConditionalNoise, JointCounts
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
    "ConditionalNoise",
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


def __dir__() -> list[str]:
    return __all__

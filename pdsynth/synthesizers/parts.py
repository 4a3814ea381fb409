"""Parts of different papers that fit together: structures, budgets and the place of the noise.

``Synthesizer(structure=…, budget=…, conditionals=…)`` takes any combination; the papers' classes are presets of it.
"""

from ..structure.restrictions import Restriction
from .allocations import Budget, Geometric, Groups, RiskEntropy, Uniform
from .groups import SensitivityGroups, TwoGroups
from .searching import GeneticSearch
from .structures import Adaptive, Fixed, Greedy, Ordered, PairwiseSums, SpanningTree, Structure, StructureResult

__all__ = [
    "Adaptive", "Budget", "Fixed", "GeneticSearch", "Geometric", "Greedy", "Groups", "StructureResult", "Ordered", "PairwiseSums", "Restriction",
    "RiskEntropy", "SensitivityGroups", "SpanningTree", "Structure", "TwoGroups", "Uniform",
]  # fmt: skip

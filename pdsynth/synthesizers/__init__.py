"""Algorithms: each class names the parts that one paper combines."""

from .consistent import ConsistentBayes
from .genetic import GeneticBayes
from .hmprivbayes import HMPrivBayes
from .hpprivbayes import HPPrivBayes
from .mixture import Synthesizer
from .plan import EdgePrice, Plan, plan
from .presets import PPBA, PrivBayes
from .privabn import PrivABN

__all__ = [
    "ConsistentBayes",
    "EdgePrice",
    "GeneticBayes",
    "HMPrivBayes",
    "HPPrivBayes",
    "PPBA",
    "Plan",
    "PrivABN",
    "PrivBayes",
    "Synthesizer",
    "plan",
]

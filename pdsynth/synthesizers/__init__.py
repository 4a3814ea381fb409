"""Algorithms: each file names the parts that one paper combines."""

from .base import Synthesizer
from .genetic import GeneticBayes
from .hmprivbayes import HMPrivBayes
from .hpprivbayes import HPPrivBayes
from .plan import EdgePrice, Plan, plan
from .ppba import PPBA
from .privabn import PrivABN
from .privbayes import PrivBayes

__all__ = [
    "PPBA", "EdgePrice", "GeneticBayes", "HMPrivBayes", "HPPrivBayes", "Plan", "PrivABN", "PrivBayes", "Synthesizer", "plan",
]  # fmt: skip

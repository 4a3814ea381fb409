"""Algorithms: each file names the parts that one paper combines."""

from .base import Synthesizer
from .genetic import GeneticBayes
from .hpprivbayes import HPPrivBayes
from .privabn import PrivABN
from .privbayes import PrivBayes

__all__ = ["GeneticBayes", "HPPrivBayes", "PrivABN", "PrivBayes", "Synthesizer"]

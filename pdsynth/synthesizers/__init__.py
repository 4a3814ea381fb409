"""Algorithms: each file names the parts that one paper combines."""

from .base import Synthesizer
from .hpprivbayes import HPPrivBayes
from .privbayes import PrivBayes

__all__ = ["HPPrivBayes", "PrivBayes", "Synthesizer"]

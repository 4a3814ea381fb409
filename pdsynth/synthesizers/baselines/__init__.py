"""Methods that the papers compare with, behind the same contract as every synthesizer."""

from ..presets import CSAPrivBayes, ELPrivBayes, Independent, SAPrivBayes, WeightedPrivBayes
from .jtree import JTree
from .priview import PriView
from .privscbn import PrivSCBN

__all__ = [
    "CSAPrivBayes",
    "ELPrivBayes",
    "Independent",
    "JTree",
    "PriView",
    "PrivSCBN",
    "SAPrivBayes",
    "WeightedPrivBayes",
]

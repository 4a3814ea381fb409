"""Methods that the papers compare with, behind the same contract as every synthesizer."""

from .csaprivbayes import CSAPrivBayes
from .elprivbayes import ELPrivBayes
from .saprivbayes import SAPrivBayes
from .weightedprivbayes import WeightedPrivBayes

__all__ = ["CSAPrivBayes", "ELPrivBayes", "SAPrivBayes", "WeightedPrivBayes"]

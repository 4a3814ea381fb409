"""Methods that the papers compare with, behind the same contract as every synthesizer."""

from .csaprivbayes import CSAPrivBayes
from .elprivbayes import ELPrivBayes
from .independent import Independent
from .jtree import JTree
from .priview import PriView
from .privscbn import PrivSCBN
from .saprivbayes import SAPrivBayes
from .weightedprivbayes import WeightedPrivBayes

__all__ = ["CSAPrivBayes", "ELPrivBayes", "Independent", "JTree", "PriView", "PrivSCBN", "SAPrivBayes", "WeightedPrivBayes"]

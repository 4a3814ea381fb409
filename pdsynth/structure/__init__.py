"""Structure learners: each draws a network through the curator, by a published rule."""

from .candidates import Degree, FixedDegree, Usefulness, useful_degree
from .greedy import greedy
from .ordered import ordered

__all__ = ["Degree", "FixedDegree", "Usefulness", "greedy", "ordered", "useful_degree"]

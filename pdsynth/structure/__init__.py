"""Structure learners: each draws a network through the curator, or from what the curator released, by a published rule."""

from .candidates import Degree, FixedDegree, Usefulness, useful_degree
from .exact import best_parents, exact, hill
from .genetic import Found, Parameters, genetic
from .greedy import greedy
from .informed import Ties, informed, most_parents
from .ordered import ordered
from .pairwise import symmetric
from .restrictions import Permitted, Restriction, check_restriction

__all__ = [
    "Degree", "FixedDegree", "Found", "Parameters", "Permitted", "Restriction", "Ties", "Usefulness", "best_parents",
    "check_restriction", "exact", "genetic", "greedy", "hill", "informed", "most_parents", "ordered", "symmetric", "useful_degree",
]  # fmt: skip

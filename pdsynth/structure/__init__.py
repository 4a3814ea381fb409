"""Structure learners: each draws a network through the curator, or from what the curator released, by a published rule."""

from .candidates import MaxCells, MaxParents, ParentRule, useful_degree
from .exact_search import best_parents, exact_search, hill
from .genetic import Parameters, SearchResult, genetic
from .greedy import greedy
from .ibayes import ParentFilter, ibayes, most_parents
from .ordered import ordered
from .pairwise import symmetric
from .restrictions import Permitted, Restriction, check_restriction

__all__ = [
    "ParentRule", "MaxParents", "SearchResult", "Parameters", "Permitted", "Restriction", "ParentFilter", "MaxCells", "best_parents",
    "check_restriction", "exact_search", "genetic", "greedy", "hill", "ibayes", "most_parents", "ordered", "symmetric", "useful_degree",
]  # fmt: skip

"""Structure learners: each draws a network through the curator, or from what it released."""

from .exact_search import best_parents, exact_search, hill
from .genetic import Parameters, SearchResult, genetic
from .greedy import greedy
from .ibayes import ParentFilter, ibayes, most_parents
from .ordered import ordered
from .parent_rules import MaxCells, MaxParents, ParentRule, useful_degree
from .restrictions import Permitted, Restriction, check_restriction

__all__ = [
    "MaxCells",
    "MaxParents",
    "Parameters",
    "ParentFilter",
    "ParentRule",
    "Permitted",
    "Restriction",
    "SearchResult",
    "best_parents",
    "check_restriction",
    "exact_search",
    "genetic",
    "greedy",
    "hill",
    "ibayes",
    "most_parents",
    "ordered",
    "useful_degree",
]

"""How good is a synthetic table? Marginal distances, query errors, classifiers, and whole grids of experiments.

Everything here reads real records exactly. It is for those who may see them; no result is covered by a privacy guarantee.
"""

from .compare import compare
from .marginals import Marginals, marginal_distance, marginal_distances, max_cell
from .queries import QueryErrors, query_errors, sum_mutual_information
from .utility import ACADEMIC_DEGREES, POST_SECONDARY, Utility, split, utility

__all__ = [
    "ACADEMIC_DEGREES", "POST_SECONDARY", "Marginals", "QueryErrors", "Utility", "compare", "marginal_distance",
    "marginal_distances", "max_cell", "query_errors", "split", "sum_mutual_information", "utility",
]  # fmt: skip

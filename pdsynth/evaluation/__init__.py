"""How good is a synthetic table? Distances, query errors, classifiers, attacks, whole experiments.

Everything here reads real records exactly. It is for those who may see them; no result is covered
by a privacy guarantee.
"""

from .classifiers import CLASSIFIERS, f2, five_classifiers
from .compare import compare
from .disclosure import ATTACKERS, Attribution, disclosure_risk, gcap, leak_probability, padded
from .marginals import Marginals, marginal_distance, marginal_distances, max_cell
from .protection import Protection, protection
from .queries import QueryErrors, counting_errors, query_errors, sum_mutual_information
from .report import Report, report
from .utility import ACADEMIC_DEGREES, POST_SECONDARY, Utility, split, utility

__all__ = [
    "ACADEMIC_DEGREES",
    "ATTACKERS",
    "CLASSIFIERS",
    "POST_SECONDARY",
    "Attribution",
    "Marginals",
    "Protection",
    "QueryErrors",
    "Report",
    "Utility",
    "compare",
    "counting_errors",
    "disclosure_risk",
    "f2",
    "five_classifiers",
    "gcap",
    "leak_probability",
    "marginal_distance",
    "marginal_distances",
    "max_cell",
    "padded",
    "protection",
    "query_errors",
    "report",
    "split",
    "sum_mutual_information",
    "utility",
]

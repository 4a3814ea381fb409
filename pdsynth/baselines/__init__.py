"""What the algorithms are measured against: other people's methods, each under the same recipe.

Independent columns, PrivBayes' relatives that only combine its parts, JTree, PrivSCBN and PriView;
for the genetic search the optimum, and climbs, which stand beside it.
"""

from .. import algorithms
from .pairs import AgreeInPairs, agree_in_pairs
from .priview import SOURCE, PriView, Views, covering_design
from .relatives import (
    GRAPH,
    NOTE,
    ABNInClusters,
    CliqueTables,
    CSAPrivBayes,
    ELPrivBayes,
    Independent,
    JTree,
    PrivSCBN,
    SAPrivBayes,
    WeightedPrivBayes,
)
from .searches import (
    MOST_EXACT,
    ONE,
    Parameters,
    SearchResult,
    best_parents,
    check_room,
    exact_search,
    genetic_search,
    hill,
    network_of,
)
from .sums import MATRIX, STEP, PairwiseSums, enter_by_sums, sum_over_pairs
from .ties import ByTies

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

# Every synthesizer by its name: the algorithms, and these.
METHODS = {name: getattr(algorithms, name) for name in algorithms.__all__}
METHODS |= {name: globals()[name] for name in __all__}

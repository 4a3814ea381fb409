"""One file for each paper: the parts that it combines."""

from .consistent import COLUMNS_RHO, MANY, ConsistentBayes
from .consistent_look import ALONE, LOOK, chance_of_columns, share_of_columns, share_of_look
from .consistent_policy import (
    LARGEST_SET,
    MASS,
    MOST_CANDIDATES,
    MOST_CELLS,
    SELECT,
    SET_CELLS,
    clique_limit,
)
from .genetic import PAIRS, SEARCH_STEP, GeneticBayes, GeneticSearch
from .hmprivbayes import (
    DPSC,
    TABLES,
    AttributeClusters,
    Clustered,
    Clustering,
    Clusters,
    HMPrivBayes,
    IBayesInClusters,
    InClusters,
    ParentFilter,
    affinity,
    ibayes,
    measure,
    spectral_clusters,
    spread_over_bits,
)
from .hpprivbayes import AVERAGES, HPPrivBayes, Ordered, entropies, ordered
from .parts import Synthesizer
from .personal import (
    ENTROPIES,
    FARTHEST,
    LINES,
    RARE_VALUES,
    Groups,
    GroupsOfNames,
    RiskEntropy,
    SensitivityGroups,
    risk_entropy_weights,
    ties_with,
    value_weights,
)
from .ppba import (
    PPBA,
    TREE_STEP,
    TREE_WEIGHTS,
    Geometric,
    SpanningTree,
    result_of_sums,
    symmetric_matrix,
)
from .privabn import SDG, SELECTION, Adaptive, PrivABN, abn_strict, count_selections
from .privbayes import Greedy, Preset, PrivBayes, greedy

__all__ = [
    "ConsistentBayes",
    "GeneticBayes",
    "HMPrivBayes",
    "HPPrivBayes",
    "PPBA",
    "PrivABN",
    "PrivBayes",
    "Synthesizer",
]
